"""`poolwright plan`: who fits, by cluster, whatever the order; and who may be left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from poolwright.allocation.gated_fields import strip_gated
from poolwright.allocation.server_rules import drop_refused
from poolwright.catalog.closure import PlatformClosure, UnitClosure
from poolwright.catalog.inventory import Inventory
from poolwright.catalog.published import check_devices
from poolwright.cli.built_objects import read_built_objects
from poolwright.cli.live import SnapshotError, judge_live_files
from poolwright.cli.load import LoadedProject, load_project, read_inventories
from poolwright.cli.output import say, tell
from poolwright.files.project import find_project
from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.cluster import build_cluster_plan
from poolwright.plan.engine import judge
from poolwright.plan.from_objects import build_demand
from poolwright.plan.report.plan_json import render_plan_json
from poolwright.plan.report.plan_text import render_plan_text
from poolwright.plan.what_if.alike import Thing
from poolwright.plan.what_if.gang import find_gang_deadlocks
from poolwright.plan.what_if.loss import judge_losses
from poolwright.plan.what_if.rollout import judge_rollouts
from poolwright.specs.finding import SpecError, escape_controls
from poolwright.specs.resolve import resolve_cluster

Format = Literal["text", "json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """What was asked for."""

    project: str  # the folder
    cluster: str | None = None  # None: all
    form: Format = "text"
    losses: tuple[Thing, ...] = ()  # of which each one's loss is judged too
    live: tuple[str, ...] = ()  # files that hold the one cluster as it runs; none: clusters that start empty


def run_plan(options: PlanOptions) -> int:
    """Print the verdicts; 0: nothing is certain to be left out, 1: something is, 2: not known, or no answer."""
    loaded = load_project(find_project(options.project))
    inventories = read_inventories(loaded)
    errors = [one for one in check_devices(loaded.specs, inventories, loaded.facts) if one.severity == "error"]
    if errors:
        raise SpecError(errors)
    known = [one.name for one in loaded.specs.project.value.spec.clusters]
    cluster = options.cluster
    if cluster is not None and cluster not in known:
        say(f"poolwright: --cluster: there is no such cluster; known: {', '.join(sorted(known))}\n", error=True)
        return 2
    if options.live and cluster is None and len(known) > 1:
        say(f"poolwright: --live: whose objects these are isn't said; add --cluster: {', '.join(known)}\n", error=True)
        return 2
    try:
        answers = [_judge(loaded, name, inventories.get(name), options) for name in known if cluster in (None, name)]
    except SnapshotError as error:
        say(f"poolwright: --live: {escape_controls(str(error))}\n", error=True)
        return 2
    if options.form == "json":
        say(render_plan_json(answers))
    else:
        for line in render_plan_text(answers):
            tell(line)
    codes = {one.exit_code for one in answers}
    return 1 if 1 in codes else max(codes, default=0)


def _judge(loaded: LoadedProject, name: str, inventory: Inventory | None, options: PlanOptions) -> ClusterAnswer:
    on = resolve_cluster(loaded.specs, name)[0]
    if on is None:
        raise AssertionError(f"{name}: load_project says so")
    cluster = build_cluster_plan(loaded.specs, on, inventory, loaded.facts)
    units = [
        one for one in loaded.closures if isinstance(one, UnitClosure | PlatformClosure) and one.on.cluster == name
    ]
    stripped, _ = strip_gated(read_built_objects(units, loaded.customs), cluster.gates)
    objects, _, found = drop_refused(stripped, minor=cluster.minor)
    errors = [one for one in found if one.severity == "error"]
    if errors:
        raise SpecError(errors)
    if options.live:
        return judge_live_files(options.live, objects, cluster, inventory)
    demand = build_demand(objects, cluster.features, nodes=cluster.nodes, slices=cluster.slices, peaks=cluster.peaks)
    judgement = judge(demand)
    asked = tuple(dict.fromkeys(options.losses))
    lost = tuple(loss for thing in asked for loss in judge_losses(demand, thing, judgement))
    return ClusterAnswer(
        cluster=cluster,
        demand=demand,
        judgement=judgement,
        asked=asked,
        losses=lost,
        rollouts=judge_rollouts(demand, judgement),
        deadlocks=find_gang_deadlocks(demand, judgement),
    )
