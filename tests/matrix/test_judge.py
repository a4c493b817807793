"""Rows held against records: proven, stale, missing, unresolved, and what refuses a record; every text whole."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import pytest
from matrix_fleet import AS_OF, build_fleet_rows, build_lock, judge, judge_all, read_whole_fleet

from fleet import FACTS, Files, edit
from poolwright.matrix.fields import Difference
from poolwright.matrix.findings import list_findings, summarize_unrehearsed
from poolwright.matrix.judge import Matrix, can_promote, judge_matrix
from poolwright.matrix.refuse import Grounds, check_record
from poolwright.matrix.row import Row
from poolwright.specs.digest import digest_bytes
from poolwright.specs.finding import render_text
from poolwright.specs.parse_rehearsals import parse_rehearsals
from poolwright.specs.rehearsal import STEPS

FILES = read_whole_fleet()
RECORDS = "rehearsals/26-7/h100-full-perpod-vllm"
ID = "matrix[h100-sxm5-80gb/full/perPod/vllm]"
INSTALL, UPGRADE = f"{RECORDS}/install.yaml", f"{RECORDS}/upgrade.yaml"
ROWS = tuple(row for row in build_fleet_rows(FILES, build_lock()) if row.id == ID)


def judge_row(
    files: Files, *, rows: Sequence[Row] = ROWS, as_of: dt.date | None = AS_OF, synthetic: bool = True
) -> Matrix:
    """One row, and the records of it alone."""
    own = {path: data for path, data in files.items() if path.startswith(RECORDS)}
    return judge_matrix(rows, judge_all(own, as_of=as_of, takes_synthetic=synthetic, evidence=files), as_of=as_of)


def statuses(matrix: Matrix) -> dict[str, str]:
    (judged,) = matrix.rows
    return {step.step: step.status for step in judged.steps}


PROVEN = dict.fromkeys(STEPS, "proven")
WITHOUT_INSTALL = {path: data for path, data in FILES.items() if path != INSTALL}
USED = "east/chat-70b, east/prefill-8b, east/tenants-8b and 2 more run on it"
NOT_PROMOTED = "it is rendered and not promoted"
MISSING = f"""\
specs/stacks/operator-26-7.yaml:5:9: warning: no rehearsal of the step install of {ID} of stack "operator-26-7"  \
[rehearsal-missing]
  at   {ID}.install
  why  {USED}, and whether that works nobody has tried: {NOT_PROMOTED} (poolwright.dev/v1alpha1)
  fix  carry it out on kubernetes 1.36.2, gpuOperator 26.7.0, draDrivers.dra-driver-nvidia-gpu 0.5.0, \
draDrivers.nic-dra-driver 1.4.0, gpuDriver 580.173.02, containerRuntime.containerd 2.2.1, containerToolkit 1.20.0, \
cdi true, hardware.model h100-sxm5-80gb, hardware.mode full, claimPattern perPod, servingImage.vllm 0.33.0, and add \
the record under rehearsals/
"""


def stale(differences: str) -> str:
    return f"""\
specs/stacks/operator-26-7.yaml:5:9: warning: the step install of {ID} of stack "operator-26-7" was rehearsed with \
{differences}  [rehearsal-stale]
  at   {ID}.install
  why  {USED}, and a record proves what it was carried out on: {NOT_PROMOTED} (nearest record: {INSTALL} of \
2026-10-01) (poolwright.dev/v1alpha1)
  fix  carry it out again and add a new record; the old one stays as it is
"""


def refused(file: str, at: str, what: str, why: str, fix: str) -> str:
    name = file.removeprefix("rehearsals/26-7/").removesuffix(".yaml").replace("/", "-")
    place, _, field = at.partition(" ")
    return f"""\
{file}:{place}: warning: rehearsal "{name}" {what}  [rehearsal-refused]
  at   {field}
  why  {why} (poolwright.dev/v1alpha1)
  fix  {fix}
"""


def but_refused(count: str) -> str:
    return MISSING.replace(NOT_PROMOTED, f"{NOT_PROMOTED}; {count}: {INSTALL}")


# What is done to the record of the install, and all that is said then.
TEXTS: dict[str, tuple[Files, str]] = {
    "equal-records-prove": (FILES, ""),
    "no-record": (WITHOUT_INSTALL, MISSING),
    # Not what is written but what it means is compared.
    "the-same-version-in-another-spelling": (
        edit(FILES, INSTALL, ("26.7.0", "v26.7.0"), ("580.173.02", "580.173.2")),
        "",
    ),
    "another-driver": (
        edit(FILES, INSTALL, ("580.173.02", "580.167.08")),
        stale("gpuDriver 580.167.08, and the row has 580.173.02"),
    ),
    # A vendor's build of a release is another build.
    "a-vendors-build": (
        edit(FILES, INSTALL, ("kubernetes: 1.36.2", "kubernetes: 1.36.2-gke.100")),
        stale("kubernetes 1.36.2-gke.100, and the row has 1.36.2"),
    ),
    "several-fields": (
        edit(
            FILES,
            INSTALL,
            ("featureGates: {}", "featureGates: {kubernetes: {DRAAdminAccess: true}}"),
            (", {name: nic-dra-driver, version: 1.4.0}", ""),
            ("    cdi: true\n", ""),
            ("name: containerd", "name: crio"),
            ("version: 0.33.0", "version: 0.34.0"),
        ),
        stale(
            "draDrivers.nic-dra-driver none, and the row has 1.4.0; containerRuntime.containerd none, and the row has "
            "2.2.1; cdi none, and the row has true; servingImage.vllm 0.34.0, and the row has 0.33.0; "
            "containerRuntime.crio 2.2.1, and the row has none; featureGates.kubernetes.DRAAdminAccess true, and the "
            "row has none"
        ),
    ),
    # Hardware, mode, pattern and image are the row: a record of others is of another row, and not of an older one.
    "another-row": (edit(FILES, INSTALL, ("mode: full", "mode: partition")), MISSING),
    "nodes-changed-by-hand": (
        edit(FILES, INSTALL, ("nodeChanges: []", "nodeChanges: [h100-0 had its kubelet edited, b, c, d]")),
        refused(
            INSTALL,
            "27:16 spec.nodeChanges",
            "was carried out with 4 node changes by hand: h100-0 had its kubelet edited; b; c; ...",
            "what somebody changed by hand isn't in Git, so the next node won't have it",
            "put the change where nodes get it from, and rehearse again",
        )
        + but_refused("a record of it is refused"),
    ),
    "a-day-to-come": (
        edit(FILES, INSTALL, ("date: 2026-10-01", "date: 2026-12-01")),
        refused(
            INSTALL,
            "20:9 spec.date",
            "is of 2026-12-01, after 2026-11-30",
            "what hasn't happened yet proves nothing",
            "correct the date in a new record, or judge as of a later day",
        )
        + but_refused("a record of it is refused"),
    ),
    # The operator's release is of 2026-08-21, the driver's of 2026-08-19; of Kubernetes no day is known.
    "a-day-before-the-releases": (
        edit(FILES, INSTALL, ("date: 2026-10-01", "date: 2026-08-18")),
        refused(
            INSTALL,
            "20:9 spec.date",
            "is of 2026-08-18, before the release of what it names: gpuOperator 26.7.0, released on 2026-08-21; "
            "dra-driver-nvidia-gpu 0.5.0, released on 2026-08-19",
            "nobody can have carried out a step with what wasn't there yet",
            "write a new record with the day and the versions as they were",
        )
        + but_refused("a record of it is refused"),
    ),
    "the-day-of-the-last-release": (edit(FILES, INSTALL, ("date: 2026-10-01", "date: 2026-08-21")), ""),
    "a-cluster-that-is-none": (
        edit(FILES, INSTALL, ("clusterName: lab", "clusterName: labs")),
        refused(
            INSTALL,
            "21:16 spec.clusterName",
            'names the cluster "labs"',
            "the project has no such cluster: nobody can look there",
            "did you mean lab? name a cluster of the project in a new record: east, lab, lab-alpha",
        )
        + but_refused("a record of it is refused"),
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_said(name: str) -> None:
    files, expected = TEXTS[name]
    assert render_text(list_findings(judge_row(files))) == expected


ENDS: dict[str, tuple[str, tuple[str, str], str]] = {
    "an-upgrade-from-nowhere": (
        UPGRADE,
        ("  from: {gpuDriver: 580.167.08}\n", ""),
        refused(
            UPGRADE,
            "18:9 spec.step",
            'is of the step upgrade and doesn\'t say "from"',
            "an upgrade is between two combinations, and only one of them is known",
            "write a new record with `from`: what differed at the other end",
        ),
    ),
    "a-rollback-to-nowhere": (
        f"{RECORDS}/rollback.yaml",
        ("  to: {gpuDriver: 580.167.08}\n", ""),
        refused(
            f"{RECORDS}/rollback.yaml",
            "18:9 spec.step",
            'is of the step rollback and doesn\'t say "to"',
            "a rollback is between two combinations, and only one of them is known",
            "write a new record with `to`: what differed at the other end",
        ),
    ),
    "an-end-where-the-step-has-none": (
        INSTALL,
        ("step: install\n", "step: install\n  to: {gpuDriver: 580.167.08}\n"),
        refused(
            INSTALL,
            "19:7 spec.to",
            'is of the step install and says "to"',
            "upgrades come from another combination and rollbacks go to one; other steps have one end",
            "write a new record with the step that was carried out, or without the field",
        ),
    ),
    "an-end-that-is-the-same": (
        UPGRADE,
        ("from: {gpuDriver: 580.167.08}", "from: {gpuDriver: 580.173.2, draDrivers: []}"),
        refused(
            UPGRADE,
            "19:9 spec.from",
            'says "from" and nothing that differed there',
            "from a combination to the same one nothing is rehearsed",
            "write what differed at the other end",
        ),
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_what_refuses_an_end(name: str) -> None:
    file, change, expected = ENDS[name]
    matrix = judge_row(edit(FILES, file, change))
    assert render_text(matrix.refused) == expected
    assert [status for status in statuses(matrix).values() if status == "missing"] == ["missing"]


def test_of_many_clusters_a_few_are_named() -> None:
    clusters = tuple(f"site-{number}" for number in range(9, 0, -1))
    grounds = Grounds(as_of=AS_OF, takes_synthetic=True, clusters=clusters, facts=FACTS)
    (record,) = parse_rehearsals({INSTALL: FILES[INSTALL]})
    (finding,) = check_record(record, grounds)
    assert finding.fix == (
        "name a cluster of the project in a new record: site-1, site-2, site-3, site-4, site-5 and 4 more"
    )


def test_the_other_end_was_released_too() -> None:
    """What an upgrade came from is named as well: here a release that came out after the day."""
    earlier = ("version: 0.5.0", "version: 0.4.0"), ("gpuOperator: 26.7.0", "gpuOperator: 26.3.0")
    files = edit(FILES, UPGRADE, *earlier, ("{gpuDriver: 580.167.08}", "{gpuOperator: v26.3.3}"))
    assert judge_row(files).refused == ()
    (finding,) = judge_row(edit(files, UPGRADE, ("date: 2026-10-02", "date: 2026-06-01"))).refused
    assert finding.what.endswith("what it names: gpuOperator 26.3.3, released on 2026-06-23")


def test_a_record_whose_snapshot_was_edited_proves_nothing() -> None:
    after = "evidence/26-7/h100-full-perpod-vllm/upgrade/after.jsonl"
    matrix = judge_row({**FILES, after: FILES[after] + b"\n"})
    assert statuses(matrix) == {**PROVEN, "upgrade": "missing"}
    assert [(finding.code, finding.place.file) for finding in matrix.refused] == [("rehearsal-refused", UPGRADE)]
    gone = {path: data for path, data in FILES.items() if path != after}
    assert statuses(judge_row(gone)) == PROVEN


def test_an_allocation_that_is_not_understood_is_said_and_refuses_nothing() -> None:
    after = "evidence/26-7/h100-full-perpod-vllm/upgrade/after.jsonl"
    files = edit(FILES, after, ('"device":"gpu-1"', '"device":"gpu-0"'))
    files = edit(files, UPGRADE, (digest_bytes(FILES[after]), digest_bytes(files[after])))
    matrix = judge_row(files)
    assert (statuses(matrix), matrix.refused) == (PROVEN, ())
    assert [finding.code for finding in list_findings(matrix)] == ["rehearsal-claims"] * 2


def test_gates_at_the_other_end_are_all_that_were_set_there() -> None:
    """Here the combination sets none, so that one set there differs; the shares' record is the other way round."""
    files = edit(FILES, UPGRADE, ("from: {gpuDriver: 580.167.08}", "from: {featureGates: {kubernetes: {A: true}}}"))
    assert judge_row(files).refused == ()
    shares = "rehearsals/26-7-shares/h200-shared-perpod-vllm/upgrade.yaml"
    changed = edit(FILES, shares, ("from: {gpuDriver: 595.71.05}", "from: {featureGates: {}}"))
    assert judge(changed, build_lock()).refused == ()


def test_synthetic_records_count_in_examples_only() -> None:
    matrix = judge_row(FILES, synthetic=False)
    assert statuses(matrix) == dict.fromkeys(STEPS, "missing")
    assert render_text(matrix.refused[:1]) == refused(
        INSTALL,
        "28:14 spec.synthetic",
        "is synthetic",
        "nobody carried it out: such records are for examples",
        "rehearse the step; only an example's Project says `syntheticRehearsals: accepted`",
    )


def test_without_a_day_dates_are_not_compared() -> None:
    assert statuses(judge_row(edit(FILES, INSTALL, ("date: 2026-10-01", "date: 9999-12-31")), as_of=None)) == PROVEN


def test_a_record_of_the_day_itself_counts() -> None:
    assert statuses(judge_row(FILES, as_of=dt.date(2026, 10, 3))) == PROVEN
    assert statuses(judge_row(FILES, as_of=dt.date(2026, 10, 2)))["recovery"] == "missing"


def test_the_newest_equal_record_proves_and_the_nearest_other_one_is_named() -> None:
    again = edit(FILES, INSTALL, ("vllm-install", "vllm-again"), ("date: 2026-10-01", "date: 2026-11-01"))[INSTALL]
    files = {**FILES, f"{RECORDS}/again.yaml": again}
    install = judge_row(files).rows[0].steps[0]
    assert install.record is not None
    assert install.record.document.file == f"{RECORDS}/again.yaml"
    old = edit(files, f"{RECORDS}/again.yaml", ("580.173.02", "570.1.2"), ("26.7.0", "26.3.0"))
    both = edit(old, INSTALL, ("580.173.02", "570.1.2"))
    install = judge_row(both).rows[0].steps[0]
    assert install.record is not None
    assert (install.status, install.record.document.file, install.differences) == (
        "stale",
        INSTALL,
        (Difference(field="gpuDriver", wanted="580.173.02", rehearsed="570.1.2"),),
    )


def test_an_unresolved_row_is_not_promoted_whatever_is_recorded() -> None:
    rows = tuple(row for row in build_fleet_rows(FILES, build_lock(kubernetes="1.35.4")) if row.id == ID)
    matrix = judge_row(FILES, rows=rows)
    assert statuses(matrix) == dict.fromkeys(STEPS, "unresolved")
    assert (
        render_text(list_findings(matrix))
        == f"""\
specs/stacks/operator-26-7.yaml:5:9: warning: {ID} of stack "operator-26-7" is no exact combination: kubernetes is \
"1.36.x" in the stack, and poolwright.lock has 1.35.4  [matrix-unresolved]
  at   {ID}
  why  no record can be equal to it, so {NOT_PROMOTED} ({USED.removesuffix(" on it")}) (poolwright.dev/v1alpha1)
  fix  pin the stack with `poolwright pin`, capture the cluster's devices, or add the hardware to the facts
"""
    )


@pytest.mark.parametrize(
    ("files", "promoted"),
    [(FILES, True), (WITHOUT_INSTALL, False), (edit(FILES, INSTALL, ("cdi: true", "cdi: false")), False)],
)
def test_a_row_is_promoted_with_evidence_of_every_step(files: Files, promoted: bool) -> None:
    (judged,) = judge_row(files).rows
    assert can_promote(judged) is promoted
    assert bool(judged.owed) is not promoted


def test_the_example_owes_one_step() -> None:
    matrix = judge(FILES, build_lock())
    assert [(row.row.id, step.step) for row in matrix.rows for step in row.owed] == [
        ("matrix[h100-sxm5-80gb/partition/perPod/vllm]", "recovery")
    ]
    assert [finding.code for finding in list_findings(matrix)] == ["rehearsal-missing"]


def test_a_project_without_records_is_told_so_once() -> None:
    matrix = judge_matrix(build_fleet_rows(FILES, build_lock()), (), as_of=AS_OF)
    assert (
        render_text([summarize_unrehearsed(matrix, "poolwright.yaml")])
        == f"""\
poolwright.yaml: warning: 7 combinations are in use, and nothing of 28 steps is rehearsed  [rehearsal-missing]
  why  whether they work nobody has tried: {NOT_PROMOTED} (poolwright.dev/v1alpha1)
  fix  see what is owed with `poolwright pin --matrix`, and add a record of each step under rehearsals/
"""
    )
