"""A repository on its way to the plugin."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from folders import write_files
from poolwright.argocd.runner.transfer import TransferError, check_links, pack, secure_join, unpack


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """With everything that a repository can hold."""
    root = write_files(
        tmp_path / "repo", {".git/config": b"[core]", "base/pool.yaml": b"pool", "run.sh": b"#!/bin/sh", "z/a": b""}
    )
    (root / "run.sh").chmod(0o777)
    (root / "base/pool.yaml").chmod(0o600)
    (root / "empty").mkdir(0o700)
    (root / "prod").mkdir()
    (root / "prod/pool.yaml").symlink_to("../base/pool.yaml")
    (root / "copy").symlink_to("prod")
    os.mkfifo(root / "pipe")
    return root


def send(root: Path, to: Path, *, is_mode_kept: bool = False, excluded: tuple[str, ...] = ()) -> None:
    with TemporaryFile() as archive:
        pack(str(root), archive, excluded=excluded)
        to.mkdir()
        unpack(archive, str(to), is_mode_kept=is_mode_kept)


def describe(folder: Path) -> dict[str, str]:
    """Mode and kind of everything in a folder by its path, and where links lead."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode & 0o777
        kind = f"-> {path.readlink()}" if path.is_symlink() else f"{mode:o}{'/' if path.is_dir() else ''}"
        found[path.relative_to(folder).as_posix()] = kind
    return found


STRIPPED = {
    ".git": "755/",
    ".git/config": "644",
    "base": "755/",
    "base/pool.yaml": "644",
    "copy": "-> prod",
    "empty": "755/",
    "prod": "755/",
    "prod/pool.yaml": "-> ../base/pool.yaml",
    "run.sh": "644",
    "z": "755/",
    "z/a": "644",
}


def test_modes_are_stripped_and_pipes_stay_behind(repository: Path, tmp_path: Path) -> None:
    send(repository, tmp_path / "work")
    assert describe(tmp_path / "work") == STRIPPED
    assert (tmp_path / "work/prod/pool.yaml").read_bytes() == b"pool"


def test_modes_are_kept_where_the_plugin_says_so(repository: Path, tmp_path: Path) -> None:
    send(repository, tmp_path / "work", is_mode_kept=True)
    # The umask takes its part, as it does there.
    kept = {"run.sh": "755", "base/pool.yaml": "600", "empty": "700/"}
    assert describe(tmp_path / "work") == STRIPPED | kept


EXCLUDED = {
    ".git": {".git", ".git/config"},
    ".git/*": {".git/config"},
    "*/pool.yaml": {"base/pool.yaml", "prod/pool.yaml"},
    "pool.yaml": set(),
}


@pytest.mark.parametrize("pattern", EXCLUDED)
def test_a_pattern_leaves_out(pattern: str, repository: Path, tmp_path: Path) -> None:
    send(repository, tmp_path / "work", excluded=(pattern,))
    assert set(STRIPPED) - set(describe(tmp_path / "work")) == EXCLUDED[pattern]


def test_a_repository_without_a_file_is_not_sent(tmp_path: Path) -> None:
    (tmp_path / "repo/empty").mkdir(parents=True)
    (tmp_path / "repo/link").symlink_to("empty")
    with pytest.raises(TransferError) as refused:
        send(tmp_path / "repo", tmp_path / "work")
    assert str(refused.value) == f"no files to send({tmp_path}/repo)"


def test_a_bad_pattern(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(TransferError) as refused:
        send(repository, tmp_path / "work", excluded=("[",))
    said = "error compressing repo files: error creating app tgz file: error verifying exclusion pattern"
    assert str(refused.value) == f'{said} "[": syntax error in pattern'


# Case 52: what the repo-server says of a repository with the link, and argocd-cmp-server if the former lets all pass.
LINKS = {
    "prod/gpu-pool.yaml -> ../base/gpu-pool.yaml": ("", ""),
    "copy -> prod": ("", ""),
    "escape/values.yaml -> ../../outside/values.yaml": ("out of bounds", "illegal filepath in symlink: {}"),
    # Out and in again is out.
    "again -> ../repo/base": ("out of bounds", "illegal filepath in symlink: {}"),
    "absolute/values.yaml -> /etc/hostname": ("out of bounds", ""),
    # Neither looks where it leads; who follows it gets the error.
    "loop -> loop": ("", ""),
    "dangling/x.yaml -> missing.yaml": ("", ""),
}


@pytest.mark.parametrize("link", LINKS)
def test_a_link(link: str, tmp_path: Path) -> None:
    place, _, target = link.partition(" -> ")
    root = write_files(tmp_path / "repo", {"base/gpu-pool.yaml": b"pool", "prod/x": b""})
    (root / place).parent.mkdir(exist_ok=True)
    (root / place).symlink_to(target)
    at_repo_server, at_cmp_server = LINKS[link]
    try:
        check_links(str(root))
        refused = ""
    except TransferError as error:
        refused = str(error)
    expected = f"repository contains out-of-bounds symlinks. file: {place}" if at_repo_server else ""
    assert refused == expected
    leads_to = os.path.normpath(tmp_path / "work" / Path(place).parent / target)
    try:
        send(root, tmp_path / "work")
        refused = ""
    except TransferError as error:
        refused = str(error)
    assert refused == at_cmp_server.format(leads_to)


def test_an_absolute_link_is_put_below_its_own_folder(tmp_path: Path) -> None:
    root = write_files(tmp_path / "repo", {"a/etc/hostname": b"ours"})
    (root / "a/link").symlink_to("/etc/hostname")
    send(root, tmp_path / "work")
    assert (tmp_path / "work/a/link").readlink() == Path("etc/hostname")


JOINED = {
    "a/b": "a/b",
    "../../a": "a",
    "/a": "a",
    "": "",
    "up/x": "x",  # a link to /..
    "rooted/x": "etc/x",  # a link to /etc: that of the root it is joined to
    "gone/x": "gone/x",
}


@pytest.mark.parametrize("path", JOINED)
def test_a_path_is_joined_below_its_root(path: str, tmp_path: Path) -> None:
    (tmp_path / "up").symlink_to("/..")
    (tmp_path / "rooted").symlink_to("/etc")
    assert secure_join(str(tmp_path), path) == str(tmp_path / JOINED[path])


def test_a_circle_ends(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(TransferError, match=r"too many levels of symbolic links$"):
        secure_join(str(tmp_path), "loop/x")
