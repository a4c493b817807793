"""Golden files: trees that are compared byte for byte, and rewritten by `--update-golden`, never in CI."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from folders import read_files, write_files


@dataclass(frozen=True, slots=True)
class Golden:
    """Compares, or rewrites if asked to."""

    update: bool

    def compare(self, folder: Path, files: Mapping[str, bytes]) -> None:
        """Fail unless the folder holds exactly these files; to update, make it so."""
        if self.update:
            for path in read_files(folder).keys() - files.keys():
                (folder / path).unlink()
            write_files(folder, files)
        assert read_files(folder) == dict(files)


def add_option(parser: pytest.Parser) -> None:
    """Add `--update-golden`."""
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files (refused where CI=true)")


def refuse_in_ci(config: pytest.Config) -> None:
    """Stop the run if golden files were to be rewritten where nobody reviews the difference."""
    if config.getoption("--update-golden") and os.environ.get("CI", "").lower() == "true":
        raise pytest.UsageError("--update-golden is refused in CI: its difference is reviewed like code")
