"""Git repositories made for a test: fixed names and dates, so that every id is always the same."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from folders import write_files
from needs import needs
from poolwright.git.repository import Repository, open_repository
from poolwright.specs.finding import SpecError, render_text

PLAIN = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
    "GIT_COMMITTER_NAME": "C",
    "GIT_COMMITTER_EMAIL": "c@example.com",
    "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
    "GIT_ALLOW_PROTOCOL": "file",
}


def git(folder: Path, *arguments: str, stdin: bytes = b"", fails: bool = False, **variables: str) -> str:
    """What plain git prints, without the last line's end."""
    ended = subprocess.run(
        (needs("git"), *arguments), cwd=folder, input=stdin, env=PLAIN | variables, capture_output=True, timeout=60
    )
    assert fails or ended.returncode == 0, ended.stderr.decode()
    return ended.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def make_repository(folder: Path, *options: str) -> Path:
    """An empty repository with the branch main."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main", *options)
    return folder


def commit(folder: Path, files: Mapping[str, bytes], message: str) -> str:
    """Write files and commit all there is; the id."""
    write_files(folder, files)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def commit_tree(folder: Path, tree: str, message: str = "made") -> str:
    """A commit of a tree that is there, on main; the id."""
    made = git(folder, "commit-tree", tree, "-m", message)
    git(folder, "update-ref", "refs/heads/main", made)
    return made


def store_tree(folder: Path, *entries: tuple[str, bytes, str]) -> str:
    """A tree of mode, name and id of each entry, whatever they are; its id."""
    data = b"".join(mode.encode() + b" " + name + b"\0" + bytes.fromhex(entry) for mode, name, entry in entries)
    return git(folder, "hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=data)


def store_blob(folder: Path, data: bytes) -> str:
    """A blob; its id."""
    return git(folder, "hash-object", "-w", "--stdin", stdin=data)


def opened(folder: Path, **variables: str) -> Repository:
    """The repository that holds a folder, found by PATH and by no other variable."""
    return open_repository(str(folder), {"PATH": PLAIN["PATH"], **variables})


def say(call: object, *arguments: object, **options: object) -> str:
    """What is said of a refusal."""
    assert callable(call)
    with pytest.raises(SpecError) as error:
        call(*arguments, **options)
    return render_text(error.value.findings)


def look(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Everything below a folder with mode, size, time of change and contents: what would show that it was written."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_size, status.st_mtime_ns, data)
    return found
