"""What git may use: time, answers, memory; and what is left of it afterwards."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from folders import write_files
from made_repository import PLAIN, commit, git, make_repository, opened, say
from needs import needs
from poolwright.git.process import Limits, run_git
from poolwright.git.repository import Repository, open_repository

LIMIT = """\
  why  what git may use is bounded, so that no repository can exhaust memory or time (poolwright reading of revisions)
  fix  look for what holds git up: a file that the repository's config includes, a network disk, a damaged pack
"""
LIMITS = Limits(time_s=2, output_bytes=1000)


def open_with(folder: Path, behaviour: str) -> Repository:
    """A repository, by a git that does as told when it is asked for anything but its version."""
    make_repository(folder / "r")
    script = f'#!/bin/sh\nfor last; do :; done\n[ "$last" = version ] && exec echo git version 2.40.0\n{behaviour}\n'
    write_files(folder, {"bin/git": script.encode()})
    (folder / "bin/git").chmod(0o755)
    environ = {"PATH": f"{folder}/bin{os.pathsep}{PLAIN['PATH']}"}
    return open_repository(str(folder / "r"), environ, limits=LIMITS)


REFUSED = {
    "silent": ("sleep 60", "takes more than 2 s"),
    # Its shell is gone, and what it started keeps the pipes.
    "left-behind": ("sleep 60 & exit 0", "takes more than 2 s"),
    "busy": ("while :; do :; done", "takes more than 2 s"),
    "now-and-then": ("while :; do echo; sleep 0.2; done", "takes more than 2 s"),
    "says-too-much": ("yes", "prints more than 1,000 bytes"),
    "never-ends-a-line": ("yes | tr -d '\\n'", "prints more than 1,000 bytes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_git_that_goes_over_a_limit(name: str, tmp_path: Path) -> None:
    behaviour, what = REFUSED[name]
    started = time.monotonic()
    assert (
        say(open_with, tmp_path, f'echo $$ >"{tmp_path}/pid"; {behaviour}')
        == f".: `git rev-parse` {what}  [git-limit]\n{LIMIT}"
    )
    assert time.monotonic() - started < 30
    assert ends(int((tmp_path / "pid").read_text()))


def ends(group: int) -> bool:
    """Whether a whole group of processes is gone, or going."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


ENDS = {
    "by-a-signal": "kill -9 $$",
    "without-a-word": "exit 3",
}


@pytest.mark.parametrize("name", ENDS)
def test_a_git_that_doesn_t_say_why(name: str, tmp_path: Path) -> None:
    assert (
        say(open_with, tmp_path, ENDS[name]).replace(str(tmp_path), "FOLDER")
        == """\
.: the repository that holds FOLDER/r can't be opened: it doesn't say why  [git-repository]
  why  a revision is one of the repository that holds the project (poolwright reading of revisions)
  fix  mend it: `git status` there says the same
"""
    )


def test_a_git_that_warns_at_length_is_heard_to_its_end(tmp_path: Path) -> None:
    repository = open_with(tmp_path, "head -c 1000000 /dev/zero | tr '\\0' w >&2; echo false")
    assert not repository.is_shallow
    assert len(run_git(repository.store, "rev-parse").stderr) == 16 << 10


def test_an_answer_that_is_no_object(tmp_path: Path) -> None:
    """A line that never ends, from a git that is asked for an object."""
    repository = open_with(tmp_path, 'case "$*" in *rev-parse*) echo false;; *) yes | tr -d "\\n";; esac')
    assert say(repository.resolve, "HEAD") == f".: `git cat-file` prints more than 1,000 bytes  [git-limit]\n{LIMIT}"


def test_memory(tmp_path: Path) -> None:
    """A config that includes a file without end is read until the memory is used up."""
    needs("prlimit")  # where the kernel has that, there is a limit
    folder = make_repository(tmp_path / "r")
    commit(folder, {}, "one")
    with (tmp_path / "endless").open("wb") as file:
        file.write(b"[a]\nb = ")
        file.truncate(4 << 30)
    git(folder, "config", "include.path", str(tmp_path / "endless"))
    said = say(open_repository, str(folder), PLAIN, limits=Limits(memory_bytes=64 << 20, time_s=60))
    assert said.replace(str(folder), "FOLDER").startswith(
        ".: the repository that holds FOLDER can't be opened: Out of memory, realloc failed  [git-repository]\n"
    )


def test_a_large_commit(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    text = f"tree {git(folder, 'mktree')}\nauthor a <a> 0 +0000\ncommitter a <a> 0 +0000\n\n".encode() + b"x" * (
        4 << 20
    )
    made = git(folder, "hash-object", "-t", "commit", "-w", "--stdin", stdin=text)
    assert say(opened(folder).resolve, made) == (
        f".: commit {made} has {len(text):,} bytes, and 4,194,304 is the most  [git-limit]\n{LIMIT}"
    )
