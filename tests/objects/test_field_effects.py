"""Every spec field has an effect: some other valid value of it changes a rendered byte, or is found wrong or risky."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet import Files, Scalar, list_scalars, read_fleet, write_scalars
from folders import write_files
from poolwright.catalog.published import check_published
from poolwright.cli.load import load_project, read_inventories
from poolwright.specs.finding import Finding, SpecError
from poolwright.trees.tree import build_folder
from spec_values import FIXED, OTHER_VALUES

FLEET = read_fleet()
BY_FIELD: dict[str, list[Scalar]] = {}
for _scalar in list_scalars(FLEET):
    if _scalar.path[0] not in FIXED:
        BY_FIELD.setdefault(_scalar.field, []).append(_scalar)

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
WITHOUT = {
    "Envelope.spec.engine.type": "there is one engine so far; it is written because arguments and probes are its own",
}


def measure(root: Path, files: Files) -> Effect:
    """What the project renders and what is found, written to disk and read anew."""
    write_files(root, files)
    try:
        project = load_project(str(root))
        findings = tuple(check_published(project.specs, read_inventories(project)))
    except SpecError as error:
        return {}, error.findings
    return {folder.path: dict(folder.files) for folder in map(build_folder, project.closures)}, findings


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fleet")


@pytest.mark.parametrize("field", OTHER_VALUES)
def test_another_value_shows(field: str, root: Path) -> None:
    before = measure(root, FLEET)
    for scalar in BY_FIELD[field]:
        effects = []
        for other in OTHER_VALUES[field]:
            if other != scalar.text:
                tree, findings = measure(root, write_scalars(FLEET, {scalar: other}))
                shape = {finding.code for finding in findings} & SHAPE
                effects.append(not shape and (tree, findings) != before)
        assert any(effects) == (field not in WITHOUT), scalar


def test_there_are_other_values_for_every_field_that_the_example_writes() -> None:
    assert sorted(OTHER_VALUES) == sorted(BY_FIELD)
