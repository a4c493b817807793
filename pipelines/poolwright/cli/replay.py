"""`poolwright plan --replay`: whether the witnesses of a plan that was printed before come to the same now."""

from __future__ import annotations

import os
import sys
from typing import Final

from poolwright.cli.output import refuse, say, tell
from poolwright.cli.plan import Format
from poolwright.cli.plan_case import check_nodes, load_for_plan
from poolwright.cli.progress import Progress
from poolwright.plan.recheck import Rechecked, check_fresh, check_same_cluster, recheck_cluster
from poolwright.plan.recorded import MAX_BYTES, parse_recorded
from poolwright.plan.report.replay_json import render_replay_json
from poolwright.plan.report.replay_text import render_replay_text
from poolwright.plan.report.words import count_of
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place

STDIN: Final = "-"


def run_replay(project: str, cluster: str | None, form: Format, file: str) -> int:
    """Print what became of each witness; 0: all come to the same, 1: some don't, 2: it can't be said.

    cluster: None: all that the plan is of.
    file:    what `plan --format json` printed, or - for standard input.
    """
    name = "stdin" if file == STDIN else file.replace(os.sep, "/")
    recorded = parse_recorded(_read(file, name), name)
    given = load_for_plan(project)
    if cluster not in (None, *given.clusters):
        return refuse("--cluster", f"there is no such cluster; known: {', '.join(sorted(given.clusters))}")
    asked = [one for one in recorded if cluster in (None, one.name)]
    if not asked:
        return refuse("--replay", f"the plan has no cluster {cluster or ''}".rstrip())
    check_fresh(asked, name)
    known = {one.name for one in asked} & set(given.clusters)
    with Progress() as progress:
        progress.tell("reading what is built")
        cases = {one: given.build_case(one) for one in given.clusters if one in known}
        for case in cases.values():
            check_nodes(case)
        demands = {one: case.demand for one, case in cases.items()}
        check_same_cluster(demands, given.clusters, asked, name)
        rechecked: list[Rechecked] = []
        for one in asked:
            progress.tell(f"{one.name}: carrying out {count_of(len(one.witnesses), 'order')}")
            rechecked.append(recheck_cluster(demands[one.name], one))
    if form == "json":
        say(render_replay_json(rechecked))
    else:
        for line in render_replay_text(rechecked):
            tell(line)
    return int(any(one.problem for found in rechecked for one in found.rechecks))


def _read(file: str, name: str) -> bytes:
    """At most one byte more than is allowed, which is refused as too much."""
    try:
        if file == STDIN:
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with open(file, "rb") as opened:  # noqa: PTH123 (start-up: no pathlib)
            return opened.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        finding = Finding(
            code="file-unreadable",
            severity="error",
            place=Place(name),
            what=f"the file can't be read: {reason}",
            why="its witnesses are what would be replayed",
            rule="poolwright plan --replay",
            fix="name a file that `poolwright plan --format json` was written to, or - for standard input",
        )
        raise SpecError([finding]) from None
