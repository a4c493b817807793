"""`poolwright diff` as a process: what it leaves behind, whatever happens, and the same bytes wherever it runs."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from diff_project import BASE, make

from fleet import read_fleet
from folders import write_files
from made_repository import commit, git, look, make_repository
from run_poolwright import Ran, start

COMMAND = (sys.executable, "-P", "-m", "poolwright", "diff")
DAY = ("--as-of", "2026-11-30")


def begin(
    *arguments: str, folder: Path, temp: Path, limit: Callable[[], None] | None = None, **variables: str
) -> subprocess.Popen[bytes]:
    """A run with a folder of its own for temporary files."""
    temp.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(temp), **variables}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen((*COMMAND, *arguments), cwd=folder, env=environment, preexec_fn=limit, **pipes)  # type: ignore[call-overload,no-any-return]


def end(process: subprocess.Popen[bytes]) -> Ran:
    stdout, stderr = process.communicate(timeout=120)
    return Ran(process.returncode, stdout.decode(), stderr.decode())


LEFT = {
    "an-answer": (("main", "more"), 1),
    "every-commit": (("main", "--each-commit"), 1),
    "a-side-that-is-wrong": (("main", "broken"), 2),
    "no-such-side": (("main", "gone"), 2),
}


@pytest.mark.parametrize("name", LEFT)
def test_nothing_is_written_but_the_answer(name: str, tmp_path: Path) -> None:
    """Not into the project, its repository, or where temporary files are."""
    folder = make(tmp_path / "r")
    git(folder, "checkout", "--quiet", "-b", "broken")
    commit(folder, {"specs/pool.yaml": b"a: ["}, "broken")
    git(folder, "checkout", "--quiet", "more")
    arguments, code = LEFT[name]
    before = look(folder)
    assert end(begin(*arguments, folder=folder, temp=tmp_path / "temp")).code == code
    assert look(folder) == before
    assert list((tmp_path / "temp").iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("seen", ["poolwright-diff-*", "poolwright-diff-*/1/*", "poolwright-diff-*/2/specs/*"])
def test_who_interrupts_it_finds_nothing_left(seen: str, number: signal.Signals, tmp_path: Path) -> None:
    """Once the folder for temporary files is there, a revision is laid out, and the next one is."""
    folder = make(tmp_path / "r")
    commit(folder, BASE, "back")
    process = begin("main", "more", "--each-commit", folder=folder, temp=tmp_path / "temp")
    while process.poll() is None and not list((tmp_path / "temp").glob(seen)):
        time.sleep(0.001)
    process.send_signal(number)
    assert end(process) == Ran(2, "", "")
    assert list((tmp_path / "temp").iterdir()) == []


def limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


def test_a_disk_that_refuses_is_said(tmp_path: Path) -> None:
    """As a full one does: here no file may have more than 100 bytes."""
    folder = make(tmp_path / "r")
    ran = end(begin("main", "more", folder=folder, temp=tmp_path / "temp", limit=limit_files))
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"poolwright: {tmp_path}/temp/poolwright-diff-")
    assert ran.stderr.endswith(": File too large\n")
    assert ran.stderr.count("\n") == 1
    assert list((tmp_path / "temp").iterdir()) == []


def limit_all_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_no_folder_for_temporary_files_is_said(tmp_path: Path) -> None:
    ran = end(begin("main", folder=make(tmp_path / "r"), temp=tmp_path / "temp", limit=limit_all_files))
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("poolwright: a temporary folder: No usable temporary directory found in [")
    assert ran.stderr.count("\n") == 1


def test_the_same_bytes_wherever_it_runs(tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    (tmp_path / "elsewhere").mkdir()
    arguments = ("main", "more", "--each-commit", "--format", "json", *DAY)
    first = end(begin(*arguments, folder=folder, temp=tmp_path / "one", PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C"))
    second = end(
        begin(
            "--project",
            str(folder),
            *arguments,
            folder=tmp_path / "elsewhere",
            temp=tmp_path / "two",
            PYTHONHASHSEED="2",
            TZ="Pacific/Kiritimati",
            LC_ALL="tr_TR.UTF-8",
            LANG="tr_TR.UTF-8",
        )
    )
    assert (first.code, first.stderr) == (1, "")
    assert second == first


# --- a team's own component ---

COMPONENT = "custom/east/rewrite-0b6/rewrite-eval.yaml"
NO_KUSTOMIZE = """\
HEAD:custom/east/rewrite-0b6/kustomization.yaml: POOLWRIGHT_KUSTOMIZE isn't a program: /nonexistent  [custom-build]
  why  the unit is its own objects with the team's component applied by real Kustomize, and never without (poolwright \
custom components)
  fix  give an executable file's path
"""


@pytest.fixture
def with_component(tmp_path: Path) -> Path:
    """The example, with a line of a component changed."""
    folder = make_repository(tmp_path / "r")
    commit(folder, read_fleet(), "first")
    return write_files(folder, {COMPONENT: read_fleet()[COMPONENT].replace(b"30 2", b"30 3")})


def test_a_component_is_built_on_both_sides(with_component: Path) -> None:
    ran = start("diff", "HEAD", *DAY, folder=with_component)
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.stdout.partition("\nobjects:\n")[2].splitlines() == [
        "  changed east/rewrite-0b6  CronJob search/rewrite-eval",
        '    spec.schedule  "30 2 * * *" -> "30 3 * * *"',
        "objects: 1 changed; found: nothing",
    ]


def test_without_kustomize_a_component_can_t_be_compared(with_component: Path) -> None:
    environment = {**os.environ, "POOLWRIGHT_KUSTOMIZE": "/nonexistent"}
    assert start("diff", "HEAD", *DAY, folder=with_component, environment=environment) == Ran(2, "", NO_KUSTOMIZE)


def test_a_component_of_a_cluster_that_is_the_same_needs_no_kustomize(with_component: Path) -> None:
    write_files(with_component, {COMPONENT: read_fleet()[COMPONENT]})
    environment = {**os.environ, "POOLWRIGHT_KUSTOMIZE": "/nonexistent"}
    ran = start("diff", "HEAD", *DAY, folder=with_component, environment=environment)
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.stdout.endswith("\nuntouched: east, lab, lab-alpha\nnothing changes in the clusters\n")
