"""The feature ledger: its rows, what is wrong with it, and what it owes. Texts are in data/ledger."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from fleet import FACTS, Files, edit, list_specs, read_fleet
from golden import Golden
from poolwright.catalog.ledger import build_ledger
from poolwright.catalog.ledger_evidence import DrillRecord, Records
from poolwright.catalog.ledger_rules import check_ledger, list_evidence
from poolwright.catalog.ledger_view import build_ledger_rows, render_ledger
from poolwright.catalog.stack_rules import check_stacks
from poolwright.specs.codes import CODES
from poolwright.specs.finding import Finding, render_text, sort_findings
from poolwright.specs.parse import parse_specs

TEXTS = Path(__file__).parent / "data" / "ledger"
FLEET = read_fleet()
LEDGER, SHARES = "specs/ledger.yaml", "specs/stacks/operator-26-7-shares.yaml"
BASELINE = "specs/stacks/operator-26-7.yaml"
NVIDIA = "dra-driver-nvidia-gpu"
GATES = "{ConsumableShares: true}"
ROLLBACK, RECOVERY, INSTALL = (
    f"rehearsals/26-7-shares/h200-shared-perpod-vllm/{step}.yaml" for step in ("rollback", "recovery", "install")
)
MPS = "{ConsumableShares: true, MPSSupport: true, NVMLDeviceHealthCheck: true}"
MPS_ROW = """\
    - component: dra-driver-nvidia-gpu
      feature: MPSSupport
      testClusterName: lab-alpha
      promotionOwner: platform-gpu
      promotionCriteria: Alpha ends upstream.
      rollback: Pods lose their limits.
      evidence: [{kind: rollback, path: ROLLBACK}, {kind: recovery, path: RECOVERY}]
      facts:
        - {field: conflictsWith, value: [NVMLDeviceHealthCheck], source: driver docs of August, owner: platform-gpu}
""".replace("ROLLBACK", ROLLBACK).replace("RECOVERY", RECOVERY)
BARE_ROW = MPS_ROW.partition("      facts")[0]
NICS = """\
    - name: nic-dra-driver
      version: 1.4.0
      install: external
      driverNames: [nic.example.com]
"""
NO_CONFLICT = MPS_ROW.replace("[NVMLDeviceHealthCheck]", "[]")


def change(*edits: tuple[str, str, str], add: str = "") -> Files:
    """The example with edits, and with entries added to its ledger."""
    files = FLEET
    for path, old, new in edits:
        files = edit(files, path, (old, new))
    return {**files, LEDGER: files[LEDGER].rstrip() + b"\n" + add.encode()} if add else files


def without_ledger(*edits: tuple[str, str, str]) -> Files:
    return {path: data for path, data in change(*edits).items() if path != LEDGER}


def record(
    step: str,
    version: str = "0.5.0",
    date: str = "2026-11-11",
    component: str = NVIDIA,
    cluster: str = "lab-alpha",
    gates: tuple[str, ...] = ("ConsumableShares", "MPSSupport", "NVMLDeviceHealthCheck"),
) -> DrillRecord:
    return DrillRecord(
        component=component, version=version, step=step, date=date, cluster=cluster, gates=frozenset(gates)
    )


OWN: Records = {ROLLBACK: (record("rollback"),), RECOVERY: (record("recovery"),), INSTALL: (record("install"),)}

CASES: dict[str, tuple[Files, Records | None]] = {
    "no-ledger": (without_ledger(), None),
    "no-ledger-and-a-driver-nobody-knows": (
        without_ledger((BASELINE, "install: external", "install: external\n      featureGates: {FastRings: true}")),
        None,
    ),
    "empty-fields": (
        change(
            (LEDGER, "      promotionOwner: platform-gpu\n", ""),
            (LEDGER, "      testClusterName: lab-alpha\n      promotionOwner: platform-kubernetes\n", ""),
            (LEDGER, f"      evidence:\n        - {{kind: rehearsal, path: {INSTALL}}}\n", ""),
        ),
        None,
    ),
    "no-gpu-driver": (change((SHARES, "  gpuDriver: {version: 595.91.07, install: nvidiaDriver}\n", "")), None),
    "evidence-that-is-not-there": (change((LEDGER, "rollback.yaml", "rolled-back.yaml")), None),
    "evidence-of-no-recovery": (
        change(
            (LEDGER, f"kind: rehearsal, path: {ROLLBACK}", f"kind: rollback, path: {ROLLBACK}"),
            (LEDGER, f"kind: rehearsal, path: {RECOVERY}", f"kind: drill, path: {RECOVERY}"),
        ),
        None,
    ),
    "records-of-an-older-driver": (FLEET, {**OWN, RECOVERY: (record("recovery", "0.4.1"),)}),
    "records-older-than-the-driver": (FLEET, {**OWN, RECOVERY: (record("recovery", date="2026-08-18"),)}),
    "records-of-another-step": (FLEET, {**OWN, ROLLBACK: (record("install"),)}),
    "records-of-another-component": (FLEET, {**OWN, ROLLBACK: (record("rollback", component="nic-dra-driver"),)}),
    "records-of-another-cluster": (FLEET, {**OWN, ROLLBACK: (record("rollback", cluster="lab"),)}),
    "records-with-the-gate-off": (FLEET, {**OWN, RECOVERY: (record("recovery", gates=("MPSSupport",)),)}),
    "records-that-are-none": (FLEET, {}),
    "row-that-nothing-uses": (change(add=MPS_ROW), OWN),
    "row-of-a-stable-feature": (
        change(add=BARE_ROW.replace(NVIDIA, "kubernetes").replace("MPSSupport", "DRAPrioritizedList")),
        OWN,
    ),
    "component-misspelled": (
        change((LEDGER, "component: dra-driver-nvidia-gpu", "component: dra-driver-nvidia")),
        None,
    ),
    "feature-misspelled": (change((LEDGER, "feature: ConsumableShares", "feature: ConsumableShare")), None),
    "gate-of-kubernetes-misspelled": (
        change((LEDGER, "feature: DRAConsumableCapacity", "feature: DRAConsumableCapacities")),
        None,
    ),
    "cluster-that-is-none": (change((LEDGER, "testClusterName: lab-alpha", "testClusterName: lab-alfa")), None),
    "cluster-with-the-gate-off": (change((LEDGER, "testClusterName: lab-alpha", "testClusterName: lab")), OWN),
    "cluster-without-the-driver": (
        change(
            (SHARES, "      settings: {computeDomains", "      settings: {computeDomains"),
            (BASELINE, "install: external", "install: external\n      featureGates: {FastRings: true}"),
            add=BARE_ROW.replace(NVIDIA, "nic-dra-driver").replace("MPSSupport", "FastRings"),
        ),
        None,
    ),
    # What another driver's gate is by default no facts say.
    "cluster-whose-default-is-not-known": (
        change(
            (BASELINE, "install: external", "install: external\n      featureGates: {FastRings: true}"),
            (SHARES, "  gpuDriver:", f"{NICS}  gpuDriver:"),
            add=BARE_ROW.replace(NVIDIA, "nic-dra-driver").replace("MPSSupport", "FastRings"),
        ),
        None,
    ),
    "row-twice": (change(add=MPS_ROW.replace("MPSSupport", "ConsumableShares")), OWN),
    "disputed": (change((SHARES, GATES, MPS), add=BARE_ROW), OWN),
    "settled-as-a-conflict": (change((SHARES, GATES, MPS), add=MPS_ROW), OWN),
    "settled-as-none": (change((SHARES, GATES, MPS), add=NO_CONFLICT), OWN),
    "settled-though-sources-agree": (
        change(
            (SHARES, GATES, MPS),
            add=MPS_ROW.replace("conflictsWith, value: [NVMLDeviceHealthCheck]", "stage, value: beta"),
        ),
        OWN,
    ),
    # The row of the one gate settles it for the other.
    "settled-by-the-other-gate": (
        change(
            (SHARES, GATES, MPS),
            add=BARE_ROW
            + NO_CONFLICT.replace("MPSSupport", "X")
            .replace("NVMLDeviceHealthCheck", "MPSSupport")
            .replace("feature: X", "feature: NVMLDeviceHealthCheck"),
        ),
        OWN,
    ),
    "settled-as-nonsense": (
        change((SHARES, GATES, MPS), add=MPS_ROW.replace("value: [NVMLDeviceHealthCheck]", "value: never")),
        OWN,
    ),
}


def judge(files: Files, records: Records | None) -> tuple[Finding, ...]:
    specs = parse_specs(list_specs(files))
    existing = [path for path in list_evidence(specs) if path in files]
    conflicts = [one for one in check_stacks(specs, FACTS) if one.code == "gate-conflict"]
    return sort_findings([*check_ledger(specs, FACTS, existing=existing, records=records), *conflicts])


def test_what_is_said(golden: Golden) -> None:
    golden.compare(TEXTS, {f"{name}.txt": render_text(judge(*case)).encode() for name, case in CASES.items()})


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_something_is_said_and_no_gap_is_an_error(case: tuple[Files, Records | None]) -> None:
    findings = judge(*case)
    assert findings
    gaps = ("ledger-incomplete", "ledger-disputed", "ledger-evidence")
    assert {finding.severity for finding in findings if finding.code in gaps} <= {"warning"}


def test_every_code_of_the_ledger_is_shown() -> None:
    found = {finding.code for case in CASES.values() for finding in judge(*case)}
    assert {code for code in CODES if code.startswith("ledger-")} <= found


@pytest.mark.parametrize("records", [None, OWN], ids=["kinds-at-their-word", "records"])
def test_the_example_owes_nothing(records: Records | None) -> None:
    assert judge(FLEET, records) == ()


def test_a_recovery_of_kubernetes_counts_for_any_patch_of_the_release() -> None:
    gate = "DRANodeAllocatableResources"
    row = BARE_ROW.replace(NVIDIA, "kubernetes").replace("MPSSupport", gate)
    files = change((SHARES, "version: 1.36.x", f"version: 1.36.x\n    featureGates: {{{gate}: true}}"), add=row)
    both = {
        path: (*OWN[path], record(step, "1.36.2", component="kubernetes", gates=(gate,)))
        for path, step in ((ROLLBACK, "rollback"), (RECOVERY, "recovery"))
    }
    assert judge(files, {**OWN, **both}) == ()
    assert [finding.code for finding in judge(files, OWN)] == ["ledger-incomplete"] * 2


VIEWS = {
    "example": FLEET,
    "nothing-decided": without_ledger((SHARES, GATES, MPS)),
    "settled": change((SHARES, GATES, MPS), add=MPS_ROW),
}


def test_rows_to_read(golden: Golden) -> None:
    files = {}
    for name, fleet in VIEWS.items():
        rows = build_ledger(parse_specs(list_specs(fleet)), FACTS)
        files[f"{name}.txt"] = "".join(f"{line}\n" for line in render_ledger(rows)).encode()
        files[f"{name}.json"] = msgspec.json.format(msgspec.json.encode(build_ledger_rows(rows))) + b"\n"
    golden.compare(TEXTS.parent / "ledger-rows", files)


def test_no_row_is_said() -> None:
    assert list(render_ledger(())) == ["no alpha or beta feature is in use"]
    assert build_ledger_rows(()) == []


def test_rows_are_the_same_in_any_order_of_files() -> None:
    files = list_specs(VIEWS["settled"])
    rows = build_ledger(parse_specs(files), FACTS)
    backwards = build_ledger(parse_specs(dict(reversed(files.items()))), FACTS)
    assert build_ledger_rows(rows) == build_ledger_rows(backwards)
    keys = [(row.use.component, row.use.feature, row.use.stack) for row in rows]
    assert keys == sorted(keys)
