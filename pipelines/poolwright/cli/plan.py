"""`poolwright plan`: who fits, by cluster, whatever the order; and who may be left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from poolwright.cli.built_objects import Workshop
from poolwright.cli.live import OptionError, SnapshotError, choose_cluster, judge_live_files
from poolwright.cli.output import refuse, say, tell
from poolwright.cli.plan_case import LoadedForPlan, PlanCase, check_nodes, load_for_plan
from poolwright.cli.progress import Progress
from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.engine import judge
from poolwright.plan.pricing.check import check_prices
from poolwright.plan.promises.check import check_promises
from poolwright.plan.report.plan_json import render_plan_json
from poolwright.plan.report.plan_text import render_plan_text
from poolwright.plan.report.words import count_of
from poolwright.plan.slots import build_slots
from poolwright.plan.what_if.additions import (
    Added,
    Addition,
    AdditionError,
    add_replicas,
    build_growth,
    find_added,
    parse_addition,
)
from poolwright.plan.what_if.clearing import judge_clearing
from poolwright.plan.what_if.gang import find_gang_deadlocks
from poolwright.plan.what_if.gates import judge_rollback
from poolwright.plan.what_if.loss import Loss, LossOf, OnStep, judge_losses
from poolwright.plan.what_if.mend import find_mends
from poolwright.plan.what_if.rollout import judge_rollouts
from poolwright.plan.what_if.room import judge_room
from poolwright.specs.finding import sort_findings

Format = Literal["text", "json", "html"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """What was asked for."""

    project: str  # the folder
    cluster: str | None = None  # None: all
    form: Format = "text"
    losses: tuple[LossOf, ...] = ()  # of which each one's loss is judged too
    additions: tuple[str, ...] = ()  # COUNTxMODEL, each
    room: bool = False  # how many more replicas fit
    slots: bool = False  # a name for each claim is printed too, and devices that go together
    live: tuple[str, ...] = ()  # files that hold the one cluster as it runs; none: clusters that start empty


def run_plan(options: PlanOptions) -> int:
    """Print the verdicts; 0: nothing is certain to be left out, 1: something is, 2: not known, or no answer."""
    try:
        additions = [parse_addition(one) for one in options.additions]
        given = load_for_plan(options.project)
        if options.live or options.cluster is not None:
            choose_cluster(options.cluster, given.clusters)
        workshop = Workshop()
        with Progress() as progress:
            answers = _judge_all(given, workshop, additions, options, progress)
            page = _build_page(given, answers, workshop, progress) if options.form == "html" else b""
    except AdditionError as error:
        return refuse("--add", str(error))
    except OptionError as error:
        return refuse(error.option, str(error))
    except SnapshotError as error:
        return refuse("--live", str(error))
    if options.form == "html":
        say(page.decode())
    elif options.form == "json":
        say(render_plan_json(answers))
    else:
        for line in render_plan_text(answers):
            tell(line)
    codes = {one.exit_code for one in answers}
    return 1 if 1 in codes else max(codes, default=0)


def _build_page(
    given: LoadedForPlan, answers: Sequence[ClusterAnswer], workshop: Workshop, progress: Progress
) -> bytes:
    """The plan as something to look at."""
    from poolwright.cli.fleet_page import build_plan_page  # here: most runs don't need its rooms
    from poolwright.pages.html import render_page

    return render_page(build_plan_page(given, answers, workshop, progress))


def _judge_all(
    given: LoadedForPlan,
    workshop: Workshop,
    additions: Sequence[Addition],
    options: PlanOptions,
    progress: Progress,
) -> list[ClusterAnswer]:
    names = [one for one in given.clusters if options.cluster in (None, one)]
    cases, answers = [], []
    for name in progress.each(names):
        progress.tell("reading what is built")
        cases.append(given.build_case(name, workshop))
    added = find_added(additions, [target for case in cases for target in case.list_targets()])
    for name, case in zip(progress.each(names), cases, strict=True):
        answers.append(_judge(case, added.get(name, ()), options, progress))
    return answers


def _judge(case: PlanCase, added: Sequence[Added], options: PlanOptions, progress: Progress) -> ClusterAnswer:
    progress.tell(f"judging {count_of(len(case.demand.workloads), 'workload')}")
    if options.live:
        return judge_live_files(options.live, case.objects, case.cluster, case.inventory)
    check_nodes(case)
    demand = add_replicas(case.demand, added)
    judgement = judge(demand)
    asked = tuple(dict.fromkeys(options.losses))
    lost: list[Loss] = []
    for thing in asked:
        if thing == "gates":
            rollback, after = case.roll_back()
            lost.append(judge_rollback(rollback, demand, judgement, add_replicas(after, added)))
        else:
            lost += judge_losses(demand, thing, judgement, on_step=_tell_steps(progress, thing))
    progress.tell("checking rollouts, promises and prices")
    priced = case.price()
    return ClusterAnswer(
        cluster=case.cluster,
        demand=demand,
        judgement=judgement,
        asked=asked,
        losses=tuple(lost),
        growth=build_growth(added, judge(case.demand), judgement) if added else None,
        clearings=judge_clearing(demand, judgement),
        room=judge_room(demand, judgement) if options.room else (),
        slots=build_slots(demand, case.cluster.name) if options.slots else (),
        rollouts=judge_rollouts(demand, judgement),
        deadlocks=find_gang_deadlocks(demand, judgement),
        prices=priced.prices,
        findings=sort_findings(
            [*check_promises(case.cluster, demand, judgement), *check_prices(priced.prices, priced.room)]
        ),
        mends=find_mends(demand, judgement, case.list_class_choices()),
    )


def _tell_steps(progress: Progress, thing: str) -> OnStep:
    return lambda done, of: progress.tell(f"loss of each {thing}, {done} of {of} judged")
