"""A repository's settings, and the caller's environment: nothing of either acts, fetches or redirects."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from folders import read_files, write_files
from made_repository import PLAIN, commit, commit_tree, git, look, make_repository, opened, say, store_blob, store_tree
from needs import needs
from poolwright.git import process
from poolwright.git.process import Limits
from poolwright.git.repository import open_repository

FILES = {"poolwright.yaml": b"a\n", "specs/b.yaml": b"b\n", ".gitattributes": b"* filter=f diff=d text eol=crlf\n"}


def read_everything(folder: Path, into: Path, **variables: str) -> dict[str, bytes]:
    """All that is ever asked of a repository; what HEAD's files are."""
    repository = opened(folder, **variables)
    head = repository.resolve("HEAD")
    base, between = repository.resolve("HEAD~2"), repository.resolve("HEAD~1")
    assert repository.find_merge_base(base, head) == base
    assert repository.list_commits(base, head) == (between, head)
    into.mkdir()
    return read_files(Path(repository.lay_out(repository.read_tree(head), str(into)).folder))


def make(folder: Path) -> Path:
    make_repository(folder)
    commit(folder, {"poolwright.yaml": b"old\n"}, "one")
    commit(folder, {}, "between")
    commit(folder, FILES, "two")
    return folder


# --- settings, each with what plain git does by it ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    settings: tuple[tuple[str, str], ...]  # SCRIPT is a program that leaves a mark
    act: tuple[str, ...]  # a command of plain git that runs what is planted
    before: Callable[[Path, Path], object] = lambda folder, script: None


def on_terminal(folder: Path, *arguments: str) -> None:
    """Plain git with a terminal to print to."""
    ours, theirs = pty.openpty()
    try:
        subprocess.run((needs("git"), *arguments), cwd=folder, env=PLAIN, stdout=theirs, stderr=theirs, timeout=60)
    finally:
        os.close(ours)
        os.close(theirs)


def plant_hook(folder: Path, script: Path) -> None:
    (folder / ".git/planted").mkdir()
    (folder / ".git/planted/reference-transaction").symlink_to(script)


def sign(folder: Path, script: Path) -> None:
    """HEAD with a signature that git would have checked."""
    text = git(folder, "cat-file", "commit", "HEAD")
    signed = text.replace("\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n\n", 1)
    made = git(folder, "hash-object", "-t", "commit", "-w", "--stdin", stdin=f"{signed}\n".encode())
    git(folder, "update-ref", "refs/heads/main", made)


def include(folder: Path, script: Path) -> None:
    write_files(folder, {".git/more": f"[core]\n\tfsmonitor = {script}\n".encode()})


def set_worktree(folder: Path, script: Path) -> None:
    write_files(folder, {".git/config.worktree": f"[core]\n\tfsmonitor = {script}\n".encode()})


PLANTS = {
    "fsmonitor": Plant(settings=(("core.fsmonitor", "SCRIPT"),), act=("status",)),
    "hooks": Plant(
        settings=(("core.hooksPath", ".git/planted"),), act=("update-ref", "refs/heads/x", "HEAD"), before=plant_hook
    ),
    "pager": Plant(settings=(("core.pager", "SCRIPT"),), act=("log",)),
    "pager-of-plumbing": Plant(settings=(("pager.rev-list", "SCRIPT"),), act=("rev-list", "HEAD")),
    "alias": Plant(settings=(("alias.planted", "!SCRIPT"),), act=("planted",)),
    "filter": Plant(settings=(("filter.f.smudge", "SCRIPT"),), act=("cat-file", "--filters", "HEAD:specs/b.yaml")),
    "filter-process": Plant(
        settings=(("filter.f.process", "SCRIPT"),), act=("cat-file", "--filters", "HEAD:specs/b.yaml")
    ),
    "textconv": Plant(settings=(("diff.d.textconv", "SCRIPT"),), act=("cat-file", "--textconv", "HEAD:specs/b.yaml")),
    "external-diff": Plant(settings=(("diff.external", "SCRIPT"),), act=("diff", "HEAD~1", "HEAD")),
    "signature": Plant(settings=(("log.showSignature", "true"), ("gpg.program", "SCRIPT")), act=("log",), before=sign),
    "included-file": Plant(settings=(("include.path", "more"),), act=("status",), before=include),
    "settings-of-a-working-tree": Plant(
        settings=(("core.repositoryFormatVersion", "1"), ("extensions.worktreeConfig", "true")),
        act=("status",),
        before=set_worktree,
    ),
}
LACKING = "0123456789" * 4
PROMISOR = (
    ("core.repositoryFormatVersion", "1"),
    ("extensions.partialClone", "origin"),
    ("remote.origin.promisor", "true"),
)
FETCH = ("cat-file", "-p", LACKING)
FETCHES = {
    "by-a-program": Plant(
        settings=(*PROMISOR, ("remote.origin.url", "ext::SCRIPT"), ("protocol.ext.allow", "always")), act=FETCH
    ),
    "by-ssh": Plant(
        settings=(*PROMISOR, ("remote.origin.url", "ssh://example.com/x"), ("core.sshCommand", "SCRIPT")), act=FETCH
    ),
    "by-a-proxy": Plant(
        settings=(*PROMISOR, ("remote.origin.url", "git://example.com/x"), ("core.gitProxy", "SCRIPT")), act=FETCH
    ),
    "by-upload-pack": Plant(
        settings=(*PROMISOR, ("remote.origin.url", "."), ("remote.origin.uploadpack", "SCRIPT")), act=FETCH
    ),
}


def plant(one: Plant, folder: Path) -> Path:
    """Put it into a repository; the mark that it leaves."""
    marker = folder.with_name("marker")
    script = (
        write_files(folder.parent, {"leave-a-mark": f'#!/bin/sh\n: > "{marker}"\nexit 1\n'.encode()}) / "leave-a-mark"
    )
    script.chmod(0o755)
    one.before(folder, script)
    for key, value in one.settings:
        git(folder, "config", key, value.replace("SCRIPT", str(script)))
    marker.unlink(missing_ok=True)
    return marker


@pytest.mark.parametrize("name", PLANTS)
def test_a_setting_that_runs_something_runs_nothing(name: str, tmp_path: Path) -> None:
    folder, one = make(tmp_path / "r"), PLANTS[name]
    marker = plant(one, folder)
    assert read_everything(folder, tmp_path / "out") == FILES
    assert not marker.exists()
    # The plant is alive: git by itself runs it.
    if "pager" in name:
        on_terminal(folder, *one.act)
    else:
        git(folder, *one.act, fails=True)
    assert marker.exists()


@pytest.mark.parametrize("is_old_git", [False, True], ids=["this-git", "a-git-without-GIT_NO_LAZY_FETCH"])
@pytest.mark.parametrize("name", FETCHES)
def test_a_missing_blob_is_not_fetched(
    name: str, is_old_git: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_old_git:
        monkeypatch.delitem(process._ENVIRONMENT, "GIT_NO_LAZY_FETCH")
    folder = make(tmp_path / "r")
    commit_tree(folder, store_tree(folder, ("100644", b"poolwright.yaml", LACKING)))
    marker = plant(FETCHES[name], folder)
    repository = opened(folder)
    tree = repository.read_tree(repository.resolve("main"))
    (tmp_path / "out").mkdir()
    assert (
        say(repository.lay_out, tree, str(tmp_path / "out"))
        == f"""\
.: poolwright.yaml is blob {LACKING}, which isn't in the repository  [git-object]
  why  a revision is read as a whole or not at all (poolwright reading of revisions)
  fix  clone again without --filter, for nothing is fetched here; `git fsck` says what is damaged
"""
    )
    assert not marker.exists()
    git(folder, *FETCHES[name].act, fails=True, GIT_ALLOW_PROTOCOL="ext:ssh:git:file")
    assert marker.exists()


# --- what makes git tell another history or other contents than are stored ---


def replace_commit(folder: Path) -> None:
    git(folder, "replace", "HEAD~1", git(folder, "commit-tree", "HEAD^{tree}", "-m", "another"))


def replace_blob(folder: Path) -> None:
    git(folder, "replace", git(folder, "rev-parse", "HEAD:specs/b.yaml"), store_blob(folder, b"another\n"))


def graft(folder: Path) -> None:
    write_files(folder, {".git/info/grafts": git(folder, "rev-parse", "HEAD").encode() + b"\n"})


def lie_in_commit_graph(folder: Path) -> None:
    """A commit-graph that is right but for one commit's parents."""
    git(folder, "commit-graph", "write", "--reachable")
    path = folder / ".git/objects/info/commit-graph"
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    ids = git(folder, "rev-list", "HEAD").split()
    at = data.index(b"CDAT")
    start = int.from_bytes(data[at + 4 : at + 12])
    order = sorted(ids).index(ids[1])
    data[start + order * 36 + 20 : start + order * 36 + 24] = (0x70000000).to_bytes(4)  # no parent
    path.write_bytes(data)


def damage_index_of_packs(folder: Path) -> None:
    git(folder, "repack", "-adq")
    git(folder, "multi-pack-index", "write")
    path = folder / ".git/objects/pack/multi-pack-index"
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    at = data.index(b"OOFF")
    start = int.from_bytes(data[at + 4 : at + 12])
    data[start:-20] = b"\x7f" * (len(data) - 20 - start)
    path.write_bytes(data)


OTHERS = {
    "index-of-packs": (damage_index_of_packs, ("cat-file", "-p", "HEAD:specs/b.yaml"), ""),
    "replaced-commit": (replace_commit, ("log", "-1", "--format=%s", "HEAD~1"), "another"),
    "replaced-blob": (replace_blob, ("cat-file", "-p", "HEAD:specs/b.yaml"), "another"),
    "graft": (graft, ("rev-list", "--count", "HEAD"), "1"),
    "commit-graph": (lie_in_commit_graph, ("rev-list", "--count", "HEAD"), "2"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_stored_counts(name: str, tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    put, command, answer = OTHERS[name]
    put(folder)
    assert git(folder, *command, fails=answer == "") == answer  # by itself git tells the other thing
    assert read_everything(folder, tmp_path / "out") == FILES


# --- the caller's environment ---

VARIABLES = {
    "GIT_DIR": "OTHER/.git",
    "GIT_COMMON_DIR": "OTHER/.git",
    "GIT_WORK_TREE": "OTHER",
    "GIT_INDEX_FILE": "OTHER/.git/index",
    "GIT_OBJECT_DIRECTORY": "OTHER/.git/objects",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES": "OTHER/.git/objects",
    "GIT_NAMESPACE": "other",
    "GIT_REPLACE_REF_BASE": "refs/heads/",
    "GIT_SHALLOW_FILE": "OTHER/shallow",
    "GIT_CEILING_DIRECTORIES": "/",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.repositoryFormatVersion",
    "GIT_CONFIG_VALUE_0": "99",
    "GIT_CONFIG_PARAMETERS": "'core.repositoryformatversion=99'",
    "GIT_CONFIG_GLOBAL": "OTHER/settings",
    "GIT_EXEC_PATH": "OTHER",
    "GIT_EXTERNAL_DIFF": "OTHER/leave-a-mark",
    "GIT_SSH_COMMAND": "OTHER/leave-a-mark",
    "GIT_PAGER": "OTHER/leave-a-mark",
    "GIT_TRACE": "OTHER/trace",
    "GIT_TRACE2_EVENT": "OTHER/trace",
    "GIT_TRACE_SETUP": "OTHER/trace",
    "GIT_PYTHON_GIT_EXECUTABLE": "OTHER/leave-a-mark",
    "GIT_PYTHON_TRACE": "full",
    "HOME": "OTHER",
}


@pytest.mark.parametrize("name", [*VARIABLES, "all"])
def test_no_variable_but_path_has_an_effect(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, other = make(tmp_path / "r"), make_repository(tmp_path / "other")
    commit(other, {"poolwright.yaml": b"other\n"}, "other")
    write_files(other, {"settings": b"[core]\n\trepositoryFormatVersion = 99\n", ".gitconfig": b"["})
    before = look(other)
    for key, value in VARIABLES.items() if name == "all" else ((name, VARIABLES[name]),):
        monkeypatch.setenv(key, value.replace("OTHER", str(other)))
    assert read_everything(folder, tmp_path / "out") == FILES
    assert look(other) == before


def test_what_a_hook_sets_leads_to_the_repository_that_is_found_anyway(tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    code = (
        "import os, sys; from poolwright.git.repository import open_repository;"
        "print(open_repository('.', os.environ).resolve('HEAD').subject, 'GIT_INDEX_FILE' in os.environ)"
    )
    hook = (
        f'#!/bin/sh\nPYTHONPATH="{os.pathsep.join(sys.path)}" exec "{sys.executable}" -c "{code}" >"{tmp_path}/said"\n'
    )
    write_files(folder, {".git/hooks/pre-commit": hook.encode()})
    (folder / ".git/hooks/pre-commit").chmod(0o755)
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "three")
    assert (tmp_path / "said").read_text() == "two True\n"


# --- nothing is written ---


def test_a_repository_is_as_it_was(tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    git(folder, "pack-refs", "--all")
    write_files(folder, {"poolwright.yaml": b"not committed\n"})  # an index that git would like to refresh
    before = look(folder)
    assert read_everything(folder, tmp_path / "out") == FILES
    assert look(folder) == before


def test_a_folder_that_nobody_may_write_to_is_read(tmp_path: Path) -> None:
    """Also as root, whom modes don't stop: what is traced is what is opened to be written."""
    folder = make(tmp_path / "r")
    trace = tmp_path / "trace"
    code = (
        "import os; from poolwright.git.repository import open_repository;"
        f"r = open_repository({str(folder)!r}, os.environ); c = r.resolve('HEAD');"
        f"os.mkdir({str(tmp_path / 'out')!r}); r.list_commits(r.resolve('HEAD~1'), c);"
        f"r.lay_out(r.read_tree(c), {str(tmp_path / 'out')!r})"
    )
    options = ("-f", "-qq", "-y", "-o", str(trace), "-e", "trace=openat,open,creat,mkdir,rename,unlink,link,symlink")
    subprocess.run((needs("strace"), *options, sys.executable, "-c", code), env=python_environment(), check=True)
    writes = [
        line
        for line in trace.read_text().splitlines()
        if str(folder) in line and ("O_WRONLY" in line or "O_RDWR" in line or "O_CREAT" in line or "mkdir(" in line)
    ]
    assert writes == []
    assert any(str(folder) in line for line in trace.read_text().splitlines())  # the trace sees what is opened


def python_environment() -> dict[str, str]:
    return {"PATH": PLAIN["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}


# --- what holds git up, and what it can't read ---


def pipe_included(folder: Path) -> None:
    os.mkfifo(folder / ".git/pipe")
    git(folder, "config", "include.path", "pipe")


def pipe_as_settings(folder: Path) -> None:
    (folder / ".git/config").unlink()
    os.mkfifo(folder / ".git/config")


def newer_format(folder: Path) -> None:
    git(folder, "config", "core.repositoryFormatVersion", "99")


def unknown_extension(folder: Path) -> None:
    git(folder, "config", "core.repositoryFormatVersion", "1")
    git(folder, "config", "extensions.planted", "true")


def settings_without_sense(folder: Path) -> None:
    (folder / ".git/config").write_text("[core\n")


HELD_UP = """\
.: `git rev-parse` takes more than 1 s  [git-limit]
  why  what git may use is bounded, so that no repository can exhaust memory or time (poolwright reading of revisions)
  fix  look for what holds git up: a file that the repository's config includes, a network disk, a damaged pack
"""
CANT_OPEN = """\
.: the repository that holds FOLDER can't be opened: {}  [git-repository]
  why  a revision is one of the repository that holds the project (poolwright reading of revisions)
  fix  mend it: `git status` there says the same
"""
SETTINGS = {
    pipe_included: HELD_UP,
    pipe_as_settings: HELD_UP,
    newer_format: CANT_OPEN.format("Expected git repo version <= 1, found 99"),
    unknown_extension: CANT_OPEN.format("unknown repository extension found: planted"),
    settings_without_sense: CANT_OPEN.format("bad config line 1 in file FOLDER/.git/config"),
}


@pytest.mark.parametrize("happen", SETTINGS)
def test_settings_that_git_stops_at(happen: Callable[[Path], None], tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    happen(folder)
    said = say(open_repository, str(folder), PLAIN, limits=Limits(time_s=1))
    assert said.replace(str(folder), "FOLDER") == SETTINGS[happen]
