"""`poolwright receipts`: which claim has which devices, why these, and what if they go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from poolwright.cli.live import OptionError, choose_cluster
from poolwright.cli.output import refuse, say, tell
from poolwright.cli.plan_case import LoadedForPlan, load_for_plan
from poolwright.cli.progress import Progress
from poolwright.cli.receipts_input import (
    InputError,
    is_receipts,
    observe_receipts,
    parse_given,
    plan_receipts,
    read_given,
)
from poolwright.receipts.compare import compare_planned
from poolwright.receipts.comparison import Comparison, list_comparison_lines, render_comparison
from poolwright.receipts.document import Receipts, render_receipts
from poolwright.receipts.find import Query, find_receipts, narrow_receipts, say_nothing
from poolwright.receipts.restore import compare_restored
from poolwright.receipts.text import list_answer_lines, list_summary_lines

Format = Literal["text", "json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptsOptions:
    """What was asked for."""

    project: str | None = None  # None: the folder that this runs in, unless files say it all
    cluster: str | None = None
    live: tuple[str, ...] = ()
    made: str | None = None  # a file with receipts
    kubernetes: str | None = None
    form: Format = "text"
    query: Query = field(default_factory=Query)


def run_receipts(options: ReceiptsOptions) -> int:
    """Print receipts; 0: some were found, 1: none was, 2: no answer."""
    try:
        found = _read(options)
    except OptionError as error:
        return refuse(error.option, str(error))
    except InputError as error:
        return refuse("receipts", str(error))
    rows = [(one, find_receipts(one, options.query)) for one in found]
    if not any(each for _, each in rows) and not options.query.is_empty:
        return _say_none(say_nothing(found, options.query))
    if options.form == "json":
        ((one, each),) = rows
        say((render_receipts(one if options.query.is_empty else narrow_receipts(one, each))).decode())
    else:
        for one, each in rows:
            for line in list_summary_lines(one) if options.query.is_empty else list_answer_lines(one, each):
                tell(line)
    return 0


def run_compare(files: tuple[str, ...], options: ReceiptsOptions) -> int:
    """Print what differs between two; 0: nothing that matters, 1: something does, 2: that can't be said."""
    try:
        comparison = _compare(files, options)
    except OptionError as error:
        return refuse(error.option, str(error))
    except InputError as error:
        return refuse("receipts compare", str(error))
    if options.form == "json":
        say(render_comparison(comparison).decode())
    else:
        for line in list_comparison_lines(comparison):
            tell(line)
    return comparison.exit_code


def _read(options: ReceiptsOptions) -> list[Receipts]:
    if options.made is not None:
        found = parse_given(read_given(options.made))
        if options.cluster not in (None, found.cluster):
            raise OptionError("--cluster", f"{options.made} is of the cluster {found.cluster}")
        return [found]
    if options.live:
        return [_observe(options.live, options)]
    given = load_for_plan(options.project or ".")
    if options.cluster is not None:
        choose_cluster(options.cluster, given.clusters)
    names = [name for name in given.clusters if options.cluster in (None, name)]
    if options.form == "json" and len(names) > 1:
        raise OptionError("--cluster", f"JSON is of one cluster; name it: {', '.join(names)}")
    with Progress() as progress:
        return [_plan(given, name, progress) for name in progress.each(names)]


def _plan(given: LoadedForPlan, name: str, progress: Progress) -> Receipts:
    progress.tell("giving devices and judging losses")
    return plan_receipts(given, name)


def _observe(files: tuple[str, ...], options: ReceiptsOptions) -> Receipts:
    case = None
    if options.project is not None:
        given = load_for_plan(options.project)
        case = given.build_case(choose_cluster(options.cluster, given.clusters))
    read = [read_given(file) for file in dict.fromkeys(files)]
    return observe_receipts(read, case=case, cluster=options.cluster, kubernetes=options.kubernetes)


def _compare(files: tuple[str, ...], options: ReceiptsOptions) -> Comparison:
    first = _read_side(files[0], options)
    second = _observe(options.live, options) if options.live else _read_side(files[1], options)
    named = second.cluster != "unnamed" and first.cluster != "unnamed"
    if named and first.cluster != second.cluster:
        raise InputError(f"one is of the cluster {first.cluster}, the other of {second.cluster}")
    if second.statement != "observed":
        raise InputError("the second is planned: what is there is compared with a plan, or with what was there")
    return compare_planned(first, second) if first.statement == "planned" else compare_restored(first, second)


def _read_side(file: str, options: ReceiptsOptions) -> Receipts:
    given = read_given(file)
    if is_receipts(given):
        return parse_given(given)
    return observe_receipts([given], case=None, cluster=options.cluster, kubernetes=options.kubernetes)


def _say_none(sentence: str) -> int:
    tell(sentence)
    return 1
