"""Golden files: what `--update-golden` does, and where it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from folders import read_files, write_files
from golden import Golden, refuse_in_ci

OLD = {"kept.yaml": b"a", "gone.yaml": b"b", "folder/changed.yaml": b"c"}
NEW = {"kept.yaml": b"a", "folder/changed.yaml": b"d", "new/file.yaml": b"e"}


def test_a_difference_fails_and_writes_nothing(tmp_path: Path) -> None:
    write_files(tmp_path, OLD)
    with pytest.raises(AssertionError):
        Golden(update=False).compare(tmp_path, NEW)
    assert read_files(tmp_path) == OLD


def test_an_update_leaves_exactly_the_new_files(tmp_path: Path) -> None:
    Golden(update=True).compare(write_files(tmp_path, OLD), NEW)
    assert read_files(tmp_path) == NEW


@pytest.mark.parametrize("ci", ["true", "True"])
def test_an_update_is_refused_in_ci(ci: str, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", ci)
    refuse_in_ci(pytestconfig)
    monkeypatch.setattr(pytestconfig.option, "update_golden", True)
    with pytest.raises(pytest.UsageError, match="refused in CI"):
        refuse_in_ci(pytestconfig)
