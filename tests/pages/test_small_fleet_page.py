"""What pages show of the small fleet, whole: a plan of it, and what a change makes of it."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import msgspec

from fleet import PLACEMENTS, ROOT, SMALL_FLEET, edit, read_small_fleet
from folders import write_files
from golden import Golden
from poolwright.changes.build_report import build_report
from poolwright.changes.report import Revision
from poolwright.cli.built_objects import Workshop
from poolwright.cli.fleet_page import build_diff_page, build_plan_page
from poolwright.cli.plan_case import LoadedForPlan, load_for_plan
from poolwright.cli.progress import Progress
from poolwright.cli.sides import Compared, SideReader
from poolwright.pages.document import FleetReport, render_report
from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.engine import judge
from poolwright.plan.what_if.mend import find_mends

_WIDTH = 110
GOLDEN = ROOT / "tests/golden/fleet-report"


def test_a_plan(golden: Golden) -> None:
    given, workshop = load_for_plan(str(SMALL_FLEET)), Workshop()
    answers = [answer_of(given, name, workshop) for name in given.clusters]
    with Progress() as progress:
        report = build_plan_page(given, answers, workshop, progress)
    golden.compare(GOLDEN / "plan", {"report.json": show(report)})


def test_a_change(golden: Golden, tmp_path: Path) -> None:
    """The zone goes: replicas may stand on nodes that they couldn't, and one who had to wait need not."""
    after = edit(read_small_fleet(), PLACEMENTS, ("  zone: east-a\n", ""))
    sides = {"before": read_small_fleet(), "after": after}
    folders = {name: str(write_files(tmp_path / name, files)) for name, files in sides.items()}
    with Progress() as progress:
        reader = SideReader(progress)
        reads = [reader.read(folders[name], Revision(name=name, commit=None)) for name in ("before", "after")]
        old, new, untouched = reader.judge(*reads)
        changes = build_report(old, new, untouched=untouched, as_of=dt.date(2026, 11, 30), tool="TOOL")
        compared = Compared(report=changes, before=old, after=new, given=reads[1].given)
        report = build_diff_page(compared, progress, losses=False)
    assert report.changes == changes
    shown = msgspec.structs.replace(report, changes=None)
    golden.compare(GOLDEN / "change", {"report.json": show(shown)})


def answer_of(given: LoadedForPlan, name: str, workshop: Workshop) -> ClusterAnswer:
    case = given.build_case(name, workshop)
    judgement = judge(case.demand)
    return ClusterAnswer(
        cluster=case.cluster,
        demand=case.demand,
        judgement=judgement,
        prices=case.price().prices,
        mends=find_mends(case.demand, judgement, case.list_class_choices()),
    )


def show(report: FleetReport) -> bytes:
    """The document, whatever is short on a line of its own."""
    report = msgspec.structs.replace(report, tool="TOOL")
    return (lay_out(json.loads(render_report(report)), "") + "\n").encode()


def lay_out(value: object, margin: str) -> str:
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or len(line) + len(margin) < _WIDTH:
        return line
    inner = margin + " "
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {lay_out(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(f"{inner}{one}" for one in items) + f"\n{margin}}}"
    if all(isinstance(one, int | str) for one in value) and len(line) < 10 * _WIDTH:
        return line
    return "[\n" + ",\n".join(f"{inner}{lay_out(one, inner)}" for one in value) + f"\n{margin}]"
