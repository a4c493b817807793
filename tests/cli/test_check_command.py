"""`poolwright check`: stdout, stderr and exit code, whole."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import get_args

import pytest

from fleet import (
    ENVELOPE,
    PLACEMENTS,
    POOL,
    SMALL_FLEET,
    Files,
    edit,
    load_closures,
    read_fleet,
    read_small_fleet,
    render_small_tree,
)
from folders import read_files, write_files
from poolwright.cli.version import package_version
from poolwright.specs.finding import SpecError
from poolwright.specs.report import ReportFormat, render_findings
from run_poolwright import Ran, run

FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
OK = "ok: 1 cluster, 1 stack, 1 pool, 2 envelope versions, 2 placements\n"
# Something wrong in each of two files: both are said.
BAD = edit(
    edit(read_small_fleet(), ENVELOPE, ("kvCache: bfloat16", "kvcache: fp8")), POOL, ("lane: baseline", "lane: base")
)
BAD_TEXT = """\
specs/envelopes/chat-70b/2.3.0.yaml:18:34: unknown field "kvcache" in spec.precision  [unknown-field]
  at   spec.precision.kvcache
  why  a field that isn't in the schema would have no effect, so it is refused (poolwright.dev/v1alpha1)
  fix  did you mean "kvCache"? known here: compute, kvCache, weights
specs/pool.yaml:9:9: spec.lane is "base"  [unknown-value]
  at   spec.lane
  why  it must be one of: baseline, experiment (poolwright.dev/v1alpha1)
  fix  did you mean "baseline"?
"""
DANGLING = edit(read_small_fleet(), PLACEMENTS, ("version: 2.4.0", "version: 2.5.0"))
RISKY = edit(read_small_fleet(), PLACEMENTS, ("zone: east-a", "zone: east-c"))
NO_PROJECT = """\
poolwright.yaml: no poolwright.yaml in . or in any folder above it  [project-missing]
  why  that file is the root of a project: it names the clusters (poolwright project layout)
  fix  run inside a project, pass --project DIR, or make one with `poolwright init`
"""

CASES: dict[str, tuple[Files, Ran]] = {
    "specs-that-agree": (read_small_fleet(), Ran(0, OK, "")),
    "wrong-specs-are-a-no": (BAD, Ran(1, BAD_TEXT, "")),
    "a-dangling-reference-is-a-no": (
        DANGLING,
        Ran(
            1,
            """\
specs/placements.yaml:19:39: placement "chat-70b-next" places version 2.5.0 of "chat-70b", which doesn't exist  \
[dangling-reference]
  at   spec.envelope.version
  why  nothing is rendered from a reference that leads nowhere (poolwright.dev/v1alpha1)
  fix  did you mean "2.4.0"? name a version that exists: 2.3.0, 2.4.0
""",
            "",
        ),
    ),
    "a-warning-is-still-a-yes": (
        RISKY,
        Ran(
            0,
            """\
specs/placements.yaml:22:9: warning: no captured node is in zone "east-c"  [zone-unknown]
  at   spec.zone
  why  pods that must run in a zone without nodes stay Pending (label topology.kubernetes.io/zone)
  fix  zones of nodes captured in inventory/east.yaml: east-a, east-b
"""
            + OK,
            "",
        ),
    ),
    "a-capture-that-failed-is-a-no": (
        {**read_small_fleet(), "inventory/east.yaml": b""},
        Ran(
            1,
            """\
inventory/east.yaml: there is no object in it  [inventory-empty]
  why  what was to capture the cluster most likely failed, and nothing would be compared with its devices \
(poolwright.dev/v1alpha1)
  fix  capture it again: kubectl get nodes,resourceslices -o yaml; or remove the file
""",
            "",
        ),
    ),
    "no-project-is-no-answer": ({"specs/a.yaml": b""}, Ran(2, NO_PROJECT, "")),
}


@pytest.mark.parametrize("name", CASES)
def test_check(name: str, tmp_path: Path) -> None:
    files, expected = CASES[name]
    assert run("check", folder=write_files(tmp_path, files)) == expected


def test_what_planned_nodes_are_wrong_about_hides_nothing_else(tmp_path: Path) -> None:
    """Prices alone need the devices that a cluster will have."""
    files = edit(read_fleet(), "specs/pools/lab-full.yaml", ("h100-sxm5-80gb", "h100-sxm9-80gb"))
    files = edit(files, "specs/envelopes/rag-8b/1.1.0.yaml", ("concurrency: ", "#concurrency: "))
    files = {**files, "custom/east/gone/kustomization.yaml": b"kind: Component"}
    ran = run("check", folder=write_files(tmp_path, files))
    assert ran.code == 1
    assert sorted(re.findall(r"\[([a-z-]+)\]$", ran.stdout, re.MULTILINE)) == [
        "custom-unused",
        "hardware-unknown",
        "lock-stale",  # of the envelope without a price
        "unbounded-load",
    ]


@pytest.mark.parametrize("report", FORMATS)
def test_findings_in_each_format(report: ReportFormat, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as error:
        load_closures(DANGLING)
    expected = render_findings(error.value.findings, report, tool_version=package_version())
    assert run("check", "--format", report, folder=write_files(tmp_path, DANGLING)) == Ran(1, expected, "")


@pytest.mark.parametrize("report", [report for report in FORMATS if report != "text"])
def test_no_findings_are_a_whole_report_too(report: ReportFormat) -> None:
    expected = render_findings((), report, tool_version=package_version())
    assert run("check", "--format", report, folder=SMALL_FLEET) == Ran(0, expected, "")


def test_the_project_is_found_from_a_folder_in_it() -> None:
    assert run("check", folder=SMALL_FLEET / "specs" / "envelopes") == Ran(0, OK, "")


UNREADABLE = """\
{path}: {path} can't be read: {reason}  [file-unreadable]
  why  specs and the files they name are regular files inside the project, and nothing is rendered without them \
(poolwright project layout)
  fix  put a readable regular file there
"""


@pytest.mark.parametrize("command", ["check", "render", "generate"])
@pytest.mark.parametrize("kind", ["link", "pipe", "linked-folder", "linked-specs"])
def test_what_is_no_file_is_refused_in_one_message(kind: str, command: str, tmp_path: Path) -> None:
    """A link is not followed, and a named pipe not waited for."""
    project = write_files(tmp_path / "project", read_small_fleet())
    path, reason = "specs/trap.yaml", "it is a link"
    if kind == "link":
        (project / path).symlink_to(tmp_path / "elsewhere.yaml")
    elif kind == "linked-folder":
        path = "specs/trap"
        (project / path).symlink_to(tmp_path)
    elif kind == "linked-specs":
        path = "specs"
        (project / path).rename(tmp_path / path)
        (project / path).symlink_to(tmp_path / path)
    else:
        os.mkfifo(project / path)
        reason = "it is no regular file"
    options = ("--cluster=east", "--unit=platform") if command == "generate" else ()
    ran = run(command, *options, folder=project)
    text = UNREADABLE.format(path=path, reason=reason)
    if command == "check":
        assert ran == Ran(2, text, "")
    elif command == "render":
        assert ran == Ran(2, "", text)
    else:
        refusal = f"poolwright: east/platform refused: {path}: {path} can't be read: {reason}"
        assert ran == Ran(2, "", f"{text}{refusal}; fix: put a readable regular file there\n")


@pytest.mark.parametrize("command", ["check", "render", "generate"])
def test_reading_is_bounded(command: str, tmp_path: Path) -> None:
    project = write_files(tmp_path, read_small_fleet())
    (project / "specs" / "/".join("d" * 65)).mkdir(parents=True)
    options = ("--cluster=east", "--unit=platform") if command == "generate" else ()
    ran = run(command, *options, folder=project)
    what = "specs/ holds more than 64 folders in one another"
    text = (
        f"specs: {what}  [project-too-large]\n"
        "  why  what is read is bounded, so that no repository can exhaust memory or time (poolwright project layout)\n"
        "  fix  keep what isn't a spec outside specs/, or split the project\n"
    )
    if command == "check":
        assert ran == Ran(2, text, "")
    elif command == "render":
        assert ran == Ran(2, "", text)
    else:
        fix = "keep what isn't a spec outside specs/, or split the project"
        assert ran == Ran(2, "", f"{text}poolwright: east/platform refused: specs: {what}; fix: {fix}\n")


HOSTILE = {"newline": "a\n::error::b", "escape-sequence": "a\x1b[2Jb", "not-utf-8": "a\udcffb"}


@pytest.mark.parametrize("report", FORMATS)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_names_in_each_format(name: str, report: ReportFormat, tmp_path: Path) -> None:
    project = write_files(tmp_path, {**read_small_fleet(), f"specs/{HOSTILE[name]}.yaml": b"kind: Nope\n"})
    ran = run("check", "--format", report, folder=project)
    assert (ran.code, ran.stderr) == (1, "")
    assert all(line.isprintable() for line in ran.stdout.split("\n"))
    if report in ("json", "sarif"):
        json.loads(ran.stdout)
    elif report == "github":
        assert [line[:8] for line in ran.stdout.splitlines()] == ["::error "]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_spec_may_have_any_file_name(name: str, tmp_path: Path) -> None:
    """It changes nothing, and is shown on one line where a field comes from."""
    files = dict(read_small_fleet())
    files[f"specs/{HOSTILE[name]}.yaml"] = files.pop(PLACEMENTS)
    project = write_files(tmp_path, files)
    assert run("check", folder=project) == Ran(0, OK, "")
    assert run("render", folder=project).code == 0
    assert {path: data for path, data in read_files(project).items() if path not in files} == render_small_tree()
    unit = ("generate", "--cluster=east", "--unit=chat-70b")
    assert run(*unit, folder=project) == run(*unit, folder=SMALL_FLEET)
    explained = run("explain", "east/chat-70b/Deployment/chat-70b", folder=project)
    assert explained.code == 0
    shown = f"specs/{HOSTILE[name]}.yaml".encode("unicode_escape").decode()
    assert f"    {shown}:" in explained.stdout
    assert all(line.isprintable() for line in explained.stdout.split("\n"))
