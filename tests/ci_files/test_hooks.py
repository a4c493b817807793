"""The hooks of pre-commit do what their names say, in a working copy."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from copied import HOOKS, Runner, git, read_yaml
from two_branches import Branches

from fleet import PLACEMENTS

# what somebody does to the working copy of the first branch -> code of each hook
EDITS = {
    "nothing": ("true", [0, 0, 0]),
    "forgets-to-render": (f"sed -i s/minReplicas:.3/minReplicas:\\ 2/ {PLACEMENTS}", [0, 1, 0]),
    "misspells": (f"sed -i s/minReplicas/minReplica/ {PLACEMENTS}", [1, 2, 2]),
}


@pytest.mark.parametrize(("command", "codes"), EDITS.values(), ids=EDITS)
def test_hooks(command: str, codes: list[int], branches: Branches, tmp_path: Path) -> None:
    git(branches.folder, "checkout", "--quiet", "--detach", branches.more)
    git(branches.folder, "update-ref", "refs/remotes/origin/main", branches.base)
    temp = tmp_path / "temp"
    temp.mkdir()
    runner = Runner(branches.folder, temp, {})
    assert runner.run(command, {}).code == 0
    ended = {
        hook["id"]: runner.run(f"{hook['entry']} {shlex.join(hook.get('args', []))}", {}) for hook in read_yaml(HOOKS)
    }
    expected = dict(zip(("poolwright-check", "poolwright-render-check", "poolwright-diff"), codes, strict=True))
    assert {name: one.code for name, one in ended.items()} == expected, ended
