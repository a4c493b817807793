"""Our runner replies as argocd-cmp-server did: its recorded exchanges, which compare_live.py writes and nobody else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from live_cases import CASES
from live_exchange import call_ours, describe_reply, list_archive, open_archive

RECORDED = sorted((Path(__file__).parent / "recorded").glob("*/*.json"))


def test_every_case_is_recorded_by_every_version() -> None:
    folders = {file.parent for file in RECORDED}
    assert folders
    assert {folder.name: {file.stem for file in folder.glob("*.json")} ^ set(CASES) for folder in folders} == {
        folder.name: set() for folder in folders
    }


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_an_exchange(file: Path, tmp_path: Path) -> None:
    exchange, case = json.loads(file.read_text(encoding="utf-8")), CASES[file.stem]
    said = (case.method, json.loads(case.plugin_file()), case.app_path, case.timeout_s)
    assert said == tuple(exchange[name] for name in ("method", "plugin", "app_path", "timeout_s"))
    assert [list(one) for one in case.environment] == exchange["environment"]
    with open_archive(case, tmp_path) as archive:
        assert list_archive(archive) == exchange["archive"]["entries"]
        reply = call_ours(case, archive, tmp_path)
    assert json.loads(json.dumps(describe_reply(reply))) == exchange["reply"]
    assert list((tmp_path / "_cmp_server").iterdir()) == []
