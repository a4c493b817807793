"""Patterns as Go's filepath.Match, its Glob and zglob read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from folders import write_files
from poolwright.argocd.runner.go_glob import compile_match, find_anywhere, find_files

MATCHES = {
    (".git", ".git"): True,
    (".git/*", ".git/config"): True,
    (".git/*", ".git"): False,  # so that an empty folder is left
    (".git/*", ".git/objects/aa"): False,
    ("**", "a/b"): False,
    ("**/x", "a/x"): True,  # two stars are one
    ("**/x", "a/b/x"): False,
    ("?", "/"): False,
    ("[a-c]", "b"): True,
    ("[^a]", "b"): True,
    ("[!a]", "b"): False,
    ("[!a]", "!"): True,
    ("[^a]", "/"): False,
    ("[a\\]]", "]"): True,
    ("[c-a]", "b"): False,
    ("\\*", "*"): True,
    ("\\*", "a"): False,
    ("{a,b}", "a"): False,
    ("a.b", "axb"): False,
}


@pytest.mark.parametrize(("pattern", "name"), MATCHES)
def test_a_match(pattern: str, name: str) -> None:
    assert bool(compile_match(pattern).fullmatch(name)) == MATCHES[pattern, name]


@pytest.mark.parametrize("pattern", ["[", "[]", "[a", "[-a]", "a\\", "[a-]", "[\\"])
def test_a_bad_pattern(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"^syntax error in pattern$"):
        compile_match(pattern)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_files(tmp_path, {"pool.yaml": b"", "apps/web/kustomization.yaml": b"", "apps/web/deep/er/x.jsonnet": b""})
    (tmp_path / "link").symlink_to("apps")
    (tmp_path / "dangling").symlink_to("nowhere")
    return tmp_path


FILES = {
    "pool.yaml": True,
    "*.yaml": True,
    "*.yml": False,
    "./pool.yaml": True,
    "apps/*/kustomization.yaml": True,
    "link/web/*": True,  # a link to a folder is followed
    "**/x.jsonnet": False,
    "apps/**/x.jsonnet": False,
    "dangling": True,  # what counts is that it is there
}


@pytest.mark.parametrize("pattern", FILES)
def test_discovery_by_file_name(pattern: str, folder: Path) -> None:
    assert find_files(str(folder), pattern) == FILES[pattern]


ANYWHERE = {
    "**/*.jsonnet": True,
    "**/pool.yaml": True,  # `**/` may be no folder at all
    "apps/**/x.jsonnet": True,
    "{pool,cluster}.yaml": True,
    "{a,b}.yaml": False,
    "link/web/*": False,  # no link is followed
    "**/web": True,  # a folder counts
    "*.yml": False,
    "pool.yaml": True,
}


@pytest.mark.parametrize("pattern", ANYWHERE)
def test_discovery_by_glob(pattern: str, folder: Path) -> None:
    assert find_anywhere(str(folder), pattern) == ANYWHERE[pattern]


def test_a_glob_without_a_star_fails_where_it_finds_nothing(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"^file does not exist$"):
        find_anywhere(str(folder), "gone.yaml")
