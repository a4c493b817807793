"""Every spec field has an effect: some other valid value of it changes a rendered byte, or is found wrong or risky."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from fleet import Files, Scalar, list_scalars, read_fleet, read_small_fleet, write_scalars
from folders import write_files
from poolwright.catalog.ledger import build_ledger
from poolwright.catalog.ledger_view import build_ledger_rows
from poolwright.catalog.published import check_devices
from poolwright.catalog.stack_rules import check_stacks
from poolwright.cli.load import LoadedProject, load_project, read_inventories
from poolwright.plan.pricing.check import check_peaks
from poolwright.specs.finding import Finding, SpecError
from poolwright.trees.tree import build_folder
from spec_values import FIXED, OTHER_VALUES

# Of the small fleet every line is edited; of the example, which takes longer to load, lines of a field until one shows.
FLEETS = {"small": read_small_fleet(), "example": read_fleet()}
BY_FIELD: dict[tuple[str, str], list[Scalar]] = {}
for _fleet, _files in FLEETS.items():
    for _scalar in list_scalars(_files):
        if _scalar.path[0] not in FIXED:
            BY_FIELD.setdefault((_fleet, _scalar.field), []).append(_scalar)

Effect = tuple[dict[str, dict[str, bytes]], tuple[Finding, ...]]
# That a text isn't valid is no effect of what it says.
SHAPE = {
    "invalid-value",
    "missing-field",
    "out-of-range",
    "unknown-field",
    "unknown-value",
    "wrong-length",
    "wrong-type",
}
# Fields without an effect, and why they are there all the same.
WITHOUT: dict[str, str] = {
    "Pool.spec.plannedNodes.name": "planned ResourceSlices are called after it; they're compared with and not written",
    "Pool.spec.plannedNodes.count": "one planned node answers whether devices fit a class; how many is for capacity",
    **dict.fromkeys(
        (
            "Pool.spec.reservations.count",
            "Pool.spec.reservations.owner",
            "Pool.spec.reservations.reason",
            "Pool.spec.headroom.tolerateLoss.nodes",
            "Pool.spec.headroom.tolerateLoss.devices",
        ),
        "verdicts go by it, and no rendered byte: tests/plan/test_promises_output.py",
    ),
    "FeatureLedger.metadata.name": "its features are found by component and gate, in whichever ledger they stand",
    "Project.spec.syntheticRehearsals": "it decides which records count: tests/matrix/test_matrix_command.py",
    **dict.fromkeys(
        (f"Stack.spec.waivers.{field}" for field in ("rule", "path", "reason", "owner", "expires")),
        "findings that `check` and `diff` show go by it, and no rendered byte: tests/specs/test_waiving.py",
    ),
    "Pool.spec.plannedNodes.companions.attributes.rdma": "the example's class finds what it wants on a captured node",
    "Stack.spec.containerRuntime.name": "`pin` says whether it goes with the rest: tests/catalog/test_compatibility.py",
}


def measure(root: Path, files: Files) -> Effect:
    """What the project renders and what is found, written to disk and read anew."""
    write_files(root, files)
    try:
        project = load_project(str(root))
        devices = check_devices(project.specs, read_inventories(project), project.facts)
        findings = (*devices, *check_stacks(project.specs, project.facts), *check_peaks(project.specs))
    except SpecError as error:
        return {}, error.findings
    tree = {folder.path: dict(folder.files) for folder in map(build_folder, project.closures)}
    return {**tree, "ledger": _print_ledger(project)}, findings


def _print_ledger(project: LoadedProject) -> dict[str, bytes]:
    rows = build_ledger_rows(build_ledger(project.specs, project.facts))
    return {f"{row['component']}/{row['feature']}/{row['stack']}": msgspec.json.encode(row) for row in rows}


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Effect]]:
    """A folder for each fleet, and what it is there before any edit."""
    folders = {fleet: tmp_path_factory.mktemp(fleet) for fleet in FLEETS}
    return {fleet: (folder, measure(folder, FLEETS[fleet])) for fleet, folder in folders.items()}


def shows(scalar: Scalar, files: Files, root: Path, before: Effect) -> bool:
    """Whether some other value of the line has an effect, other than that it isn't valid."""
    for other in OTHER_VALUES[scalar.field]:
        if other != scalar.text:
            tree, findings = measure(root, write_scalars(files, {scalar: other}))
            if not {finding.code for finding in findings} & SHAPE and (tree, findings) != before:
                return True
    return False


@pytest.mark.parametrize(("fleet", "field"), BY_FIELD, ids=map("-".join, BY_FIELD))
def test_another_value_shows(fleet: str, field: str, roots: dict[str, tuple[Path, Effect]]) -> None:
    root, before = roots[fleet]
    lines = BY_FIELD[fleet, field]
    shown = (shows(scalar, FLEETS[fleet], root, before) for scalar in lines)
    every = fleet == "small" and field not in WITHOUT
    assert (all(shown) if every else any(shown)) == (field not in WITHOUT)


def test_there_are_other_values_for_every_field_that_the_examples_write() -> None:
    assert sorted(OTHER_VALUES) == sorted({field for _, field in BY_FIELD})
