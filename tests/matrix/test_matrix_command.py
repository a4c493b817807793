"""What `check` says of rehearsals, and what `pin --matrix` reads: from disk, whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from matrix_fleet import AS_OF, judge_all, read_whole_fleet

from fleet import FACTS, Files, edit, list_specs
from folders import write_files
from poolwright.cli.load import load_project, read_inventories
from poolwright.cli.matrix import (
    check_rehearsals,
    list_proofs,
    list_rehearsed,
    load_matrix,
    read_evidence,
    read_records,
)
from poolwright.matrix.evidence import say_evidence
from poolwright.matrix.judge import can_promote
from poolwright.specs.digest import digest_bytes
from poolwright.specs.finding import SpecError
from poolwright.specs.lock import LOCK_FILE
from poolwright.specs.parse import parse_specs
from run_poolwright import run, start

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
  but  waived until 2027-02-28 by platform-gpu: The lab's partitioned node was needed elsewhere before its loss could \
be tried, and is back in February.
"""
NONE = """\
poolwright.yaml: warning: 7 combinations are in use, and nothing of 28 steps is rehearsed  [rehearsal-missing]
  why  whether they work nobody has tried: it is rendered and not promoted (poolwright.dev/v1alpha1)
  fix  see what is owed with `poolwright pin --matrix`, and add a record of each step under rehearsals/
"""
EDITED = f"""\
{RECORD}:27:12: warning: rehearsal "h100-full-perpod-vllm-upgrade" names \
{digest_bytes(PINNED[f"{EVIDENCE}/after.jsonl"])}, and {EVIDENCE}/after.jsonl has \
{digest_bytes(PINNED[f"{EVIDENCE}/before.jsonl"])}  [rehearsal-refused]
  at   spec.claims.after
  why  what isn't the snapshot that was taken shows nothing of the rehearsal (poolwright.dev/v1alpha1)
  fix  put back the snapshots that were taken, or rehearse again
"""
MISSING_UPGRADE = f"""\
specs/stacks/operator-26-7.yaml:5:9: warning: no rehearsal of the step upgrade of \
matrix[h100-sxm5-80gb/full/perPod/vllm] of stack "operator-26-7"  [rehearsal-missing]
  at   matrix[h100-sxm5-80gb/full/perPod/vllm].upgrade
  why  east/chat-70b, east/prefill-8b, east/tenants-8b and 2 more run on it, and whether that works nobody has tried: \
it is rendered and not promoted; a record of it is refused: {RECORD} (poolwright.dev/v1alpha1)
  fix  carry it out on kubernetes 1.36.2, gpuOperator 26.7.0, draDrivers.dra-driver-nvidia-gpu 0.5.0, \
draDrivers.nic-dra-driver 1.4.0, gpuDriver 580.173.02, containerRuntime.containerd 2.2.1, containerToolkit 1.20.0, cdi \
true, hardware.model h100-sxm5-80gb, hardware.mode full, claimPattern perPod, servingImage.vllm 0.33.0, and add the \
record under rehearsals/
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
    "a-snapshot-that-was-edited": (
        {**PINNED, f"{EVIDENCE}/after.jsonl": PINNED[f"{EVIDENCE}/before.jsonl"]},
        0,
        EDITED + MISSING_UPGRADE + MISSING,
    ),
    # What is wrong with a record is said also where nothing is owed.
    "a-snapshot-that-was-edited-and-no-lock": (
        {**UNPINNED, f"{EVIDENCE}/after.jsonl": PINNED[f"{EVIDENCE}/before.jsonl"]},
        0,
        EDITED,
    ),
    "no-record-at-all": (without(PINNED, "rehearsals/"), 0, NONE),
    "a-record-that-is-wrong": (edit(UNPINNED, RECORD, ("step: upgrade", "step: upgraded")), 1, BAD),
}


@pytest.mark.parametrize("name", CASES)
def test_check(name: str, tmp_path: Path) -> None:
    files, code, expected = CASES[name]
    ran = run("check", f"--as-of={AS_OF}", folder=write_files(tmp_path, files))
    blocks = re.split(r"(?m)^(?=\S)", ran.stdout)
    said = "".join(one for one in blocks if "  [rehearsal-" in one or one.startswith("rehearsals/"))
    assert (ran.code, said, ran.stderr) == (code, expected, "")


def test_synthetic_records_count_where_the_project_says_so(tmp_path: Path) -> None:
    files = edit(PINNED, "poolwright.yaml", ("syntheticRehearsals: accepted", "syntheticRehearsals: refused"))
    project = load_project(str(write_files(tmp_path, files)))
    records = read_records(project.root, project.specs, project.facts, as_of=AS_OF)
    matrix = load_matrix(project, read_inventories(project), project.lock, records, as_of=AS_OF)
    assert [can_promote(judged) for judged in matrix.rows] == [False] * 7
    assert {finding.code for finding in check_rehearsals(project, read_inventories(project), records, as_of=AS_OF)} == {
        "rehearsal-missing",
        "rehearsal-refused",
    }


def test_evidence_is_read_from_the_project(tmp_path: Path) -> None:
    project = load_project(str(write_files(tmp_path, PINNED)))
    records = read_records(project.root, project.specs, project.facts, as_of=AS_OF)
    assert all(one.counts for one in records)
    said = {one.file: say_evidence(one.evidence) for one in records}
    assert said.pop(RECORD).startswith("claims: 1 gone, 1 kept, 1 new; 4 of 4 ")
    assert all(text.startswith("not verifiable here: ") for text in said.values())


def test_linked_evidence_is_refused(tmp_path: Path) -> None:
    project = load_project(str(write_files(tmp_path, PINNED)))
    records = read_records(project.root, project.specs, project.facts, as_of=AS_OF)
    record = next(one.record for one in records if one.file == RECORD)
    (tmp_path / EVIDENCE / "after.jsonl").replace(tmp_path / "elsewhere")
    (tmp_path / EVIDENCE / "after.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SpecError, match="it is a link"):
        read_evidence(project.root, record, project.facts)


def test_check_judges_as_of_a_day(tmp_path: Path) -> None:
    """Of the day before the first record none is proof, of features neither; without --as-of today is the day."""
    folder = write_files(tmp_path, PINNED)
    early = run("check", "--as-of=2026-09-30", folder=folder)
    assert (early.code, early.stdout.count("[rehearsal-refused]"), early.stdout.count("[rehearsal-missing]")) == (
        *(0, 27, 28),
    )
    assert early.stdout.count("[ledger-incomplete]") == 2
    late = edit(PINNED, RECORD, ("date: 2026-10-02", "date: 9999-12-31"))
    ran = start("check", folder=write_files(tmp_path, late))
    assert re.search(rf"{RECORD}:21:9: warning: rehearsal \S+ is of 9999-12-31, after \d{{4}}-\d\d-\d\d  ", ran.stdout)
    assert ran.code == 0
    ran = run("check", "--as-of=2026-13-01", folder=folder)
    assert (ran.code, ran.stdout) == (2, "")


def test_a_project_without_records_reads_no_evidence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = write_files(tmp_path, without(PINNED, "rehearsals/"))
    monkeypatch.setattr("poolwright.cli.matrix.read_evidence", None)  # a call would fail
    assert run("check", f"--as-of={AS_OF}", folder=folder).code == 0


STACK = "operator-26-7-shares"
SHARES = "rehearsals/26-7-shares/h200-shared-perpod-vllm"
FOUR = tuple(f"{SHARES}/{step}.yaml" for step in ("install", "upgrade", "rollback", "recovery"))
KEPT = {"kubernetes": ("1.36.2",) * 4, "containerRuntime": ("2.2.1",) * 4}
LESS = {"kubernetes": ("1.36.2",) * 3, "containerRuntime": ("2.2.1",) * 3}
# One of the lab's four records is changed; what `pin` may prefer by them then.
PREFERRED: dict[str, tuple[tuple[str, str], dict[str, tuple[str, ...]]]] = {
    "all-count": (("by: ana", "by: eve"), KEPT),
    "nodes-changed-by-hand": (("nodeChanges: []", "nodeChanges: [x]"), LESS),
    "a-day-to-come": (("date: 2026-11-10", "date: 2026-12-10"), LESS),
    "a-day-before-the-releases": (("date: 2026-11-10", "date: 2026-08-01"), LESS),
    # A runtime's version says nothing of another runtime, and Kubernetes was rehearsed all the same.
    "another-runtime": (("name: containerd", "name: crio"), {**KEPT, "containerRuntime": ("2.2.1",) * 3}),
    "another-cluster": (("clusterName: lab-alpha", "clusterName: lab-beta"), LESS),
}


@pytest.mark.parametrize("name", PREFERRED)
def test_pin_prefers_what_records_that_count_name(name: str) -> None:
    change, expected = PREFERRED[name]
    files = edit(PINNED, FOUR[0], change)
    assert list_rehearsed(parse_specs(list_specs(files)), judge_all(files))[STACK] == expected


def test_refused_records_prove_nothing_of_features() -> None:
    files = edit(PINNED, FOUR[2], ("nodeChanges: []", "nodeChanges: [x]"))
    proofs = list_proofs(judge_all(files), FACTS)
    assert [file for file in FOUR if file in proofs] == [FOUR[0], FOUR[1], FOUR[3]]
    kubernetes, driver = proofs[FOUR[0]]
    assert (kubernetes.component, kubernetes.version, driver.component, driver.version) == (
        *("kubernetes", "1.36.2", "dra-driver-nvidia-gpu", "0.5.0"),
    )
    # DRAConsumableCapacity is on by default, ConsumableShares by the record.
    assert "DRAConsumableCapacity" in kubernetes.gates
    assert {"ConsumableShares", "MPSSupport"} & driver.gates == {"ConsumableShares"}
    assert {(one.step, one.cluster, one.date) for one in (kubernetes, driver)} == {
        ("install", "lab-alpha", "2026-11-10")
    }
