"""One repository for all, and copies of it."""

from pathlib import Path

import pytest
from two_branches import Branches, build_branches, copy_branches


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Branches:
    return build_branches(tmp_path_factory.mktemp("branches") / "fleet")


@pytest.fixture
def branches(built: Branches, tmp_path: Path) -> Branches:
    """To check things out in."""
    return copy_branches(built, tmp_path)
