"""What the tests on hostile repositories share: an installed `poolwright`, and a repository to spoil."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_run import Installed, World, create_world, install


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Poolwright outside of any project."""
    return install(tmp_path_factory.mktemp("installed"))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """An empty repository; removed at once, for some hold hundreds of thousands of files."""
    yield create_world(tmp_path)
    subprocess.run(["rm", "-rf", tmp_path], check=True)  # deeper trees than Python removes
