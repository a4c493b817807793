"""Where a working tree isn't what its commit has, whatever the index and the settings say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from folders import write_files
from made_repository import commit, git, make_repository, opened

FILES = {"a": b"1\n", "b/c": b"2\n", "b/d": b"3\n", ".gitignore": b"*.log\nout/\n"}


def leave(folder: Path) -> None:
    pass


def change(folder: Path) -> None:
    write_files(folder, {"b/c": b"4\n"})


def change_as_long_and_as_old(folder: Path) -> None:
    """What Git, by size and time, may take for the same."""
    git(folder, "update-index", "--assume-unchanged", "a")
    write_files(folder, {"a": b"9\n"})


def stage(folder: Path) -> None:
    change(folder)
    git(folder, "add", "--all")


def remove(folder: Path) -> None:
    (folder / "b/c").unlink()


def add(folder: Path) -> None:
    write_files(folder, {"new": b"", "b/e/f": b""})


def add_ignored(folder: Path) -> None:
    write_files(folder, {"x.log": b"", "out/y": b"", "b/z.log": b""})


def exclude(folder: Path) -> None:
    write_files(folder, {".git/info/exclude": b"new\n", "new": b""})


def link(folder: Path) -> None:
    (folder / "a").unlink()
    (folder / "a").symlink_to("b/c")


def link_a_folder(folder: Path) -> None:
    (folder / "b").rename(folder / "e")
    (folder / "b").symlink_to("e")


def make_executable(folder: Path) -> None:
    (folder / "a").chmod(0o755)


def end_lines_otherwise(folder: Path) -> None:
    git(folder, "config", "core.autocrlf", "true")
    write_files(folder, {"a": b"1\r\n"})


DIRTY: dict[str, tuple[Callable[[Path], None], tuple[str, ...]]] = {
    "nothing": (leave, ()),
    "other-bytes": (change, ("b/c",)),
    "other-bytes-that-git-does-not-look-at": (change_as_long_and_as_old, ("a",)),
    "other-bytes-that-are-staged": (stage, ("b/c",)),
    "one-that-is-missing": (remove, ("b/c",)),
    "new-ones": (add, ("b/e/f", "new")),
    "ignored-ones": (add_ignored, ()),
    "one-that-is-excluded-here-alone": (exclude, ()),
    "a-link-in-place-of-a-file": (link, ("a",)),
    "a-link-in-place-of-a-folder": (link_a_folder, ("b", "b/c", "b/d", "e/c", "e/d")),
    "a-bit-that-makes-it-run": (make_executable, ()),
    "other-ends-of-lines": (end_lines_otherwise, ("a",)),
}


@pytest.mark.parametrize("hashes", ["sha1", "sha256"])
@pytest.mark.parametrize("name", DIRTY)
def test_what_differs(name: str, hashes: str, tmp_path: Path) -> None:
    spoil, dirty = DIRTY[name]
    folder = make_repository(tmp_path / "r", f"--object-format={hashes}")
    commit(folder, FILES, "first")
    spoil(folder)
    repository = opened(folder)
    assert repository.list_dirty(repository.resolve("HEAD"), str(folder)) == dirty


def test_only_the_folder_that_it_was_opened_for_counts(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    commit(folder, {"project/a": b"1", "other": b"2"}, "first")
    write_files(folder, {"other": b"3", "project/b": b""})
    repository = opened(folder / "project")
    assert repository.list_dirty(repository.resolve("HEAD"), str(folder / "project")) == ("b",)


def test_a_committed_link_is_compared_by_where_it_leads(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    (folder / "l").symlink_to("a")
    commit(folder, {"a": b""}, "first")
    repository = opened(folder)
    head = repository.resolve("HEAD")
    assert repository.list_dirty(head, str(folder)) == ()
    (folder / "l").unlink()
    (folder / "l").symlink_to("b")
    assert repository.list_dirty(head, str(folder)) == ("l",)
