"""A server with acme/fleet#7 on it, and somebody who posts there."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from contract_server import ContractServer, run_contract_server
from github_run import Poster


@pytest.fixture
def server() -> Iterator[ContractServer]:
    with run_contract_server(ContractServer()) as found:
        yield found


@pytest.fixture
def anyone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Poster:
    """A poster without a token."""
    return Poster(tmp_path, monkeypatch)


@pytest.fixture
def poster(anyone: Poster, server: ContractServer) -> Poster:
    anyone.use(server)
    return anyone
