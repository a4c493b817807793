"""Which repository holds a folder, and which git is asked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from folders import write_files
from made_repository import PLAIN, commit, git, make_repository, opened, say
from needs import needs
from poolwright.git.find import find_repository
from poolwright.git.repository import open_repository
from poolwright.git.tree import Tree

FILES = {"fleet/poolwright.yaml": b"a\n", "fleet/specs/b.yaml": b"b\n", "README.md": b"c\n"}


def make(folder: Path, *options: str) -> Path:
    commit(make_repository(folder, *options), FILES, "one")
    return folder


def list_blobs(folder: Path) -> tuple[str, list[str]]:
    """Where a folder stands in its repository, and what HEAD has there."""
    repository = opened(folder)
    tree: Tree = repository.read_tree(repository.resolve("HEAD"))
    return repository.prefix, list(tree.blobs)


# --- the ways to be held by a repository ---


def ordinary(folder: Path) -> Path:
    return make(folder)


def below_the_top(folder: Path) -> Path:
    return make(folder) / "fleet"


def over_a_link(folder: Path) -> Path:
    (make(folder) / "link").symlink_to("fleet")
    return folder / "link"


def bare(folder: Path) -> Path:
    git(make(folder).parent, "clone", "--quiet", "--bare", str(folder), "bare.git")
    return folder.parent / "bare.git"


def linked(folder: Path) -> Path:
    git(make(folder), "worktree", "add", "--quiet", "../linked")
    return folder.parent / "linked/fleet"


def linked_to_bare(folder: Path) -> Path:
    git(bare(folder), "worktree", "add", "--quiet", "../linked", "main")
    return folder.parent / "linked/fleet"


def separate(folder: Path) -> Path:
    return make(folder, "--separate-git-dir", str(folder.parent / "elsewhere"))


def submodule(folder: Path) -> Path:
    make_repository(make(folder).parent / "around")
    git(folder.parent / "around", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(folder), "sub")
    return folder.parent / "around/sub/fleet"


def alternates(folder: Path) -> Path:
    git(make(folder).parent, "clone", "--quiet", "--shared", str(folder), "shared")
    return folder.parent / "shared"


def no_longer_there(folder: Path) -> Path:
    """core.worktree of a repository that was moved, or is seen from within a container."""
    git(make(folder), "config", "core.worktree", "../../nonexistent")
    return folder


def sha256(folder: Path) -> Path:
    return make(folder, "--object-format=sha256")


def packed(folder: Path) -> Path:
    git(make(folder), "gc", "--quiet")
    return folder


def nested(folder: Path) -> Path:
    """A folder with an empty .git isn't a repository, and what is above it counts."""
    (make(folder) / "fleet/.git").mkdir()
    return folder / "fleet"


TOP = ("", ["README.md", "fleet/poolwright.yaml", "fleet/specs/b.yaml"])
FLEET = ("fleet", ["poolwright.yaml", "specs/b.yaml"])
HELD = {
    ordinary: TOP,
    below_the_top: FLEET,
    over_a_link: FLEET,
    bare: TOP,
    linked: FLEET,
    linked_to_bare: FLEET,
    separate: TOP,
    submodule: FLEET,
    alternates: TOP,
    no_longer_there: TOP,
    sha256: TOP,
    packed: TOP,
    nested: FLEET,
}


@pytest.mark.parametrize("make_folder", HELD)
def test_a_repository_is_found(make_folder: Callable[[Path], Path], tmp_path: Path) -> None:
    assert list_blobs(make_folder(tmp_path / "r")) == HELD[make_folder]


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a repository away, which only root may")
def test_a_repository_may_be_somebody_elses(tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, 12345, 12345, follow_symlinks=False)
    assert git(folder, "rev-parse", "HEAD", fails=True) == ""  # git by itself refuses
    assert list_blobs(folder) == TOP


def test_a_linked_working_tree_has_its_own_head(tmp_path: Path) -> None:
    folder = linked(tmp_path / "r")
    commit(folder, {"fleet/c.yaml": b"c\n"}, "two")
    assert [opened(at).resolve("HEAD").subject for at in (folder, tmp_path / "r")] == ["two", "one"]


def test_what_a_commit_makes_look_like_a_repository_isn_t_one(tmp_path: Path) -> None:
    """Its history would stand in the place of the real one, and its settings would be read."""
    planted = {f"fleet/{name}": b"ref: refs/heads/main\n" for name in ("HEAD", "objects/x", "refs/x")}
    folder = make(tmp_path / "r")
    commit(folder, planted, "two")
    assert find_repository(str(folder / "fleet")).git_dir == str(folder / ".git")


# --- what isn't held ---

WHY = "  why  a revision is one of the repository that holds the project (poolwright reading of revisions)\n"


def none(folder: Path) -> Path:
    folder.mkdir()
    return folder


def missing(folder: Path) -> Path:
    return folder


def bare_in_another(folder: Path) -> Path:
    git(make(folder), "clone", "--quiet", "--bare", str(folder), "bare.git")
    return folder / "bare.git"


def broken_link(folder: Path) -> Path:
    write_files(make(folder), {"fleet/.git": b"gitdir: /nonexistent\n"})
    return folder / "fleet"


NOT_HELD = {
    none: f"""\
.: no Git repository holds FOLDER  [git-repository]
{WHY}  fix  run inside a clone, pass --project DIR, or compare two folders
""",
    missing: f"""\
.: there is no folder FOLDER  [git-repository]
{WHY}  fix  pass --project DIR, a folder of the repository
""",
    bare_in_another: f"""\
.: FOLDER looks like a bare repository, and stands in the working tree of another  [git-repository]
{WHY}  fix  move it out of there, or clone it
""",
    broken_link: f"""\
.: the repository that holds FOLDER can't be opened: not a git repository: /nonexistent  [git-repository]
{WHY}  fix  mend it: `git status` there says the same
""",
}


@pytest.mark.parametrize("make_folder", NOT_HELD)
def test_a_folder_that_no_repository_holds(make_folder: Callable[[Path], Path], tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "r")
    assert say(open_repository, str(folder), PLAIN).replace(str(folder), "FOLDER") == NOT_HELD[make_folder]


# --- which git ---

MISSING = """\
.: {}  [git-missing]
  why  revisions are read by git's own plumbing (poolwright reading of revisions)
  fix  install git 2.30 or later, or compare two folders
"""


def put_git(folder: Path, text: str) -> str:
    """A program called git, which says something."""
    write_files(folder, {"git": f"#!/bin/sh\n{text}\n".encode()})
    (folder / "git").chmod(0o755)
    return str(folder)


def empty_path(folder: Path) -> str:
    return ""


def no_git_there(folder: Path) -> str:
    return str(folder)


def folder_that_moves(folder: Path) -> str:
    return os.path.relpath(put_git(folder / "bin", "echo git version 2.40.0"))


def folder_of_a_project(folder: Path) -> str:
    write_files(folder, {"poolwright.yaml": b""})
    return put_git(folder / "tools/bin", "echo git version 2.40.0")


def link_into_a_project(folder: Path) -> str:
    write_files(folder, {"poolwright.yaml": b""})
    put_git(folder / "bin", "echo git version 2.40.0")
    (folder.parent / "link").symlink_to(folder / "bin")
    return str(folder.parent / "link")


def old(folder: Path) -> str:
    return put_git(folder, "echo git version 2.29.3")


def silent(folder: Path) -> str:
    return put_git(folder, "exit 0")


def without_interpreter(folder: Path) -> str:
    write_files(folder, {"git": b"#!/nonexistent\n"})
    (folder / "git").chmod(0o755)
    return str(folder)


PROGRAMS = {
    empty_path: "git isn't installed, or isn't on PATH",
    no_git_there: "git isn't installed, or isn't on PATH",
    folder_that_moves: "git isn't installed, or isn't on PATH",
    folder_of_a_project: "git isn't installed, or isn't on PATH",
    link_into_a_project: "git isn't installed, or isn't on PATH",
    old: "git is 2.29, which is too old",
    silent: "BIN/git doesn't say which git it is",
    without_interpreter: "BIN/git doesn't say which git it is",
}


@pytest.mark.parametrize("make_path", PROGRAMS)
def test_a_git_that_can_t_be_asked(make_path: Callable[[Path], str], tmp_path: Path) -> None:
    folder, programs = make(tmp_path / "r"), tmp_path / "bin"
    programs.mkdir()
    said = say(open_repository, str(folder), {"PATH": make_path(programs)})
    assert said.replace(str(programs), "BIN") == MISSING.format(PROGRAMS[make_path])


def test_gitpython_is_imported_in_silence_without_running_anything(tmp_path: Path) -> None:
    """Even where git is missing; and the environment is what it was."""
    code = (
        "import os; before = dict(os.environ); from poolwright.git.gitpython import load_git; load_git();"
        "assert dict(os.environ) == before; import subprocess; print('imported')"
    )
    trace = tmp_path / "trace"
    options = ("-f", "-qq", "-o", str(trace), "-e", "trace=execve")
    variables = {"PATH": "/nonexistent", "PYTHONPATH": os.pathsep.join(sys.path), "GIT_PYTHON_REFRESH": "raise"}
    ended = subprocess.run(
        (needs("strace"), *options, sys.executable, "-W", "error", "-c", code), env=variables, capture_output=True
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"imported\n", b"")
    started = [line for line in trace.read_text().splitlines() if "= 0" in line]
    assert len(started) == 1  # Python itself
