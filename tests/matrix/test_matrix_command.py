"""What `check` says of rehearsals, and what `pin --matrix` reads: from disk, whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from matrix_fleet import AS_OF, read_whole_fleet

from fleet import Files, edit
from folders import write_files
from poolwright.cli.load import load_project, read_inventories
from poolwright.cli.matrix import check_rehearsals, load_matrix, read_evidence
from poolwright.matrix.evidence import say_evidence
from poolwright.matrix.judge import can_promote
from poolwright.specs.finding import SpecError
from poolwright.specs.lock import LOCK_FILE
from run_poolwright import run

PINNED = read_whole_fleet()
UNPINNED = {path: data for path, data in PINNED.items() if path != LOCK_FILE}
RECORD = "rehearsals/26-7/h100-full-perpod-vllm/upgrade.yaml"
EVIDENCE = "evidence/26-7/h100-full-perpod-vllm/upgrade"
MISSING = """\
specs/stacks/operator-26-7.yaml:5:9: warning: no rehearsal of the step recovery of \
matrix[h100-sxm5-80gb/partition/perPod/vllm] of stack "operator-26-7"  [rehearsal-missing]
  at   matrix[h100-sxm5-80gb/partition/perPod/vllm].recovery
  why  east/guard-1b7, east/summarise-20b run on it, and whether that works nobody has tried: it is rendered and not \
promoted (poolwright.dev/v1alpha1)
  fix  carry it out on kubernetes 1.36.2, gpuOperator 26.7.0, draDrivers.dra-driver-nvidia-gpu 0.5.0, \
draDrivers.nic-dra-driver 1.4.0, gpuDriver 580.173.02, containerRuntime.containerd 2.2.1, containerToolkit 1.20.0, cdi \
true, hardware.model h100-sxm5-80gb, hardware.mode partition, claimPattern perPod, servingImage.vllm 0.33.0, and add \
the record under rehearsals/
"""
NONE = """\
poolwright.yaml: warning: 7 combinations are in use, and nothing of 28 steps is rehearsed  [rehearsal-missing]
  why  whether they work nobody has tried: it is rendered and not promoted (poolwright.dev/v1alpha1)
  fix  see what is owed with `poolwright pin --matrix`, and add a record of each step under rehearsals/
"""
BAD = """\
rehearsals/26-7/h100-full-perpod-vllm/upgrade.yaml:18:9: spec.step is "upgraded"  [unknown-value]
  at   spec.step
  why  it must be one of: install, recovery, rollback, upgrade (poolwright.dev/v1alpha1)
  fix  did you mean "upgrade"?
"""


def without(files: Files, top: str) -> Files:
    return {path: data for path, data in files.items() if not path.startswith(top)}


# Exit code and what is said of rehearsals; the example has other warnings.
CASES: dict[str, tuple[Files, int, str]] = {
    # Nothing is pinned, so that nothing can be equal to what runs.
    "no-lock": (UNPINNED, 0, ""),
    "what-is-owed-is-a-warning": (PINNED, 0, MISSING),
    "no-record-at-all": (without(PINNED, "rehearsals/"), 0, NONE),
    "a-record-that-is-wrong": (edit(UNPINNED, RECORD, ("step: upgrade", "step: upgraded")), 1, BAD),
}


@pytest.mark.parametrize("name", CASES)
def test_check(name: str, tmp_path: Path) -> None:
    files, code, expected = CASES[name]
    ran = run("check", folder=write_files(tmp_path, files))
    blocks = re.split(r"(?m)^(?=\S)", ran.stdout)
    said = "".join(one for one in blocks if "  [rehearsal-" in one or one.startswith("rehearsals/"))
    assert (ran.code, said, ran.stderr) == (code, expected, "")


def test_synthetic_records_count_where_the_project_says_so(tmp_path: Path) -> None:
    files = edit(PINNED, "poolwright.yaml", ("syntheticRehearsals: accepted", "syntheticRehearsals: refused"))
    project = load_project(str(write_files(tmp_path, files)))
    matrix = load_matrix(project, read_inventories(project), project.lock, as_of=AS_OF)
    assert [can_promote(judged) for judged in matrix.rows] == [False] * 7
    assert {finding.code for finding in check_rehearsals(project, read_inventories(project))} == {
        "rehearsal-missing",
        "rehearsal-refused",
    }


def test_evidence_is_read_from_the_project(tmp_path: Path) -> None:
    project = load_project(str(write_files(tmp_path, PINNED)))
    matrix = load_matrix(project, read_inventories(project), project.lock, as_of=AS_OF)
    said = {
        step.record.document.file: say_evidence(read_evidence(project, step.record))
        for judged in matrix.rows
        for step in judged.steps
        if step.record is not None
    }
    assert said.pop(RECORD).startswith("claims: 1 gone, 1 kept, 1 new; 4 of 4 ")
    assert all(text.startswith("not verifiable here: ") for text in said.values())


def test_linked_evidence_is_refused(tmp_path: Path) -> None:
    project = load_project(str(write_files(tmp_path, PINNED)))
    matrix = load_matrix(project, read_inventories(project), project.lock, as_of=AS_OF)
    record = next(step.record for step in matrix.rows[2].steps if step.step == "upgrade")
    assert record is not None
    (tmp_path / EVIDENCE / "after.jsonl").replace(tmp_path / "elsewhere")
    (tmp_path / EVIDENCE / "after.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SpecError, match="it is a link"):
        read_evidence(project, record)
