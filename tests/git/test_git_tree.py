"""A commit's tree as files: what is laid out, what is left out, and trees that nobody's git would make."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from folders import read_files, write_files
from made_repository import commit, commit_tree, git, make_repository, opened, say, store_blob, store_tree
from poolwright.files.project import read_file
from poolwright.git import lay_out as laying
from poolwright.git import tree as trees
from poolwright.git.lay_out import LaidOut
from poolwright.git.tree import Tree

TREE = "  why  a tree is laid out as it is stored, within bounds, and nothing outside its folder is written "
TREE += "(poolwright reading of revisions)\n"
MEND = "  fix  mend the commit that brought it in: no tool of git makes such a tree\n"
SPLIT = "  fix  keep what isn't the project outside its folder, or split the project\n"
FILES = {
    "poolwright.yaml": b"a\n",
    "specs/b.yaml": b"b\r\n\0\xff",
    "specs/deep/er/c.yaml": b"",
    "specs/overlays/d.yaml": b"only the top is left out\n",
    "name with spaces: and [signs]*": b"e\n",
    "specs/\u00e9.yaml": b"f\n",
}
LEFT_OUT = {"overlays/east/x.yaml": b"x\n", "releases/1/x.yaml": b"x\n"}


def below(prefix: str, files: dict[str, bytes]) -> dict[str, bytes]:
    return {f"{prefix}/{path}": data for path, data in files.items()}


def read(folder: Path, revision: str = "main", prefix: str | None = None) -> Tree:
    repository = opened(folder)
    return repository.read_tree(repository.resolve(revision), prefix)


def lay_out(folder: Path, into: Path, revision: str = "main", like: LaidOut | None = None) -> LaidOut:
    repository = opened(folder)
    into.mkdir()
    return repository.lay_out(repository.read_tree(repository.resolve(revision)), str(into), like=like)


# --- what is laid out ---


def test_the_files_of_a_commit(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    commit(folder, FILES | LEFT_OUT, "one")
    write_files(folder, {"specs/b.yaml": b"not committed"})
    laid = lay_out(folder, tmp_path / "out")
    assert read_files(tmp_path / "out") == FILES
    assert laid.tree.blobs == {path: git(folder, "hash-object", "--stdin", stdin=FILES[path]) for path in sorted(FILES)}
    assert laid.tree.id == git(folder, "rev-parse", "main^{tree}")
    assert sorted(laid.tree.folders) == ["specs", "specs/deep", "specs/deep/er", "specs/overlays"]


def test_a_project_below_the_top(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    commit(folder, below("a/fleet", FILES | LEFT_OUT) | {"a/x": b"x", "overlays/x": b"x"}, "one")
    lay_out(folder / "a/fleet", tmp_path / "out")
    assert read_files(tmp_path / "out") == FILES
    assert read(folder, prefix="a").blobs.keys() >= {"x", "fleet/overlays/east/x.yaml"}


def test_files_of_equal_contents_are_alike_on_both_sides(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    commit(folder, FILES, "one")
    commit(folder, {"poolwright.yaml": b"b\n", "copy.yaml": FILES["specs/b.yaml"]}, "two")
    base, head = read(folder, "main~1").blobs, read(folder).blobs
    assert sorted(path for path in base.keys() | head.keys() if base.get(path) != head.get(path)) == [
        "copy.yaml",
        "poolwright.yaml",
    ]
    assert head["copy.yaml"] == head["specs/b.yaml"]


def test_files_that_are_laid_out_already_are_shared(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    commit(folder, FILES, "one")
    commit(folder, {"poolwright.yaml": b"b\n", "copy.yaml": FILES["specs/b.yaml"]}, "two")
    base = lay_out(folder, tmp_path / "base", "main~1")
    lay_out(folder, tmp_path / "head", like=base)
    assert read_files(tmp_path / "base") == FILES
    assert read_files(tmp_path / "head") == FILES | {"poolwright.yaml": b"b\n", "copy.yaml": FILES["specs/b.yaml"]}
    numbers = {path.stat().st_ino for path in (tmp_path / "base").rglob("*") if path.is_file()}
    new = [path.name for path in (tmp_path / "head").rglob("*") if path.is_file() and path.stat().st_ino not in numbers]
    assert new == ["poolwright.yaml"]


def test_what_can_t_be_shared_is_written(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    commit(folder, FILES, "one")
    base = lay_out(folder, tmp_path / "base")
    (tmp_path / "base/poolwright.yaml").unlink()
    lay_out(folder, tmp_path / "head", like=base)
    assert read_files(tmp_path / "head") == FILES


def test_modes_links_and_submodules(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    blob, secret = store_blob(folder, b"a"), store_blob(folder, b"/etc/passwd")
    inner = store_tree(folder, ("100644", b"file", blob))
    made = store_tree(
        folder,
        ("100755", b"executable", blob),
        ("040000", b"folder", inner),
        ("100664", b"group", blob),
        ("120000", b"link", secret),
        ("160000", b"submodule", "12" * 20),
    )
    commit_tree(folder, made)
    tree = lay_out(folder, tmp_path / "out").tree
    assert (list(tree.blobs), tree.links) == (["executable", "folder/file", "group"], ("link",))
    modes = {path.name: stat.filemode(path.lstat().st_mode) for path in (tmp_path / "out").rglob("*")}
    assert modes == {
        "executable": "-rw-------",
        "file": "-rw-------",
        "folder": "drwx------",
        "group": "-rw-------",
        "link": "lrwxrwxrwx",
    }
    assert not (tmp_path / "out/link").exists()  # it leads nowhere: no reader follows one
    assert "it is a link" in say(read_file, str(tmp_path / "out"), "link", max_bytes=9)


def test_names_that_aren_t_utf_8(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    blob = store_blob(folder, b"a")
    commit_tree(folder, store_tree(folder, ("100644", b"\xe9\xff.yaml", blob), ("100644", b"a\nb\x1b", blob)))
    assert list(lay_out(folder, tmp_path / "out").tree.blobs) == ["a\nb\x1b", "\udce9\udcff.yaml"]
    assert sorted(map(os.fsencode, (path.name for path in (tmp_path / "out").iterdir()))) == [
        b"a\nb\x1b",
        b"\xe9\xff.yaml",
    ]


@pytest.mark.parametrize("options", [(), ("--object-format=sha256",)], ids=["sha1", "sha256"])
def test_both_kinds_of_ids(options: tuple[str, ...], tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r", *options)
    commit(folder, FILES, "one")
    commit(folder, {"poolwright.yaml": b"b\n"}, "two")
    repository = opened(folder)
    base, head = repository.resolve("main~1"), repository.resolve("main")
    assert (repository.find_merge_base(base, head), repository.list_commits(base, head)) == (base, (head,))
    lay_out(folder, tmp_path / "out", "main~1")
    assert read_files(tmp_path / "out") == FILES


def test_what_a_filter_would_make_of_it(tmp_path: Path) -> None:
    """Line ends, an identifier, an encoding, large-file pointers: the stored bytes count."""
    stored = {
        "a.yaml": b"a\n$Id$\n",
        "b.yaml": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
        ".gitattributes": b"* text eol=crlf ident working-tree-encoding=UTF-16\nb.yaml filter=lfs\n",
    }
    folder = make_repository(tmp_path / "r")
    entries = [("100644", path.encode(), store_blob(folder, stored[path])) for path in sorted(stored)]
    commit_tree(folder, store_tree(folder, *entries))
    lay_out(folder, tmp_path / "out")
    assert read_files(tmp_path / "out") == stored


def test_plain_manifests_may_stand_in_any_folder(tmp_path: Path) -> None:
    """Without a poolwright.yaml nothing is what poolwright wrote."""
    files = {path: data for path, data in (FILES | LEFT_OUT).items() if path != "poolwright.yaml"}
    folder = make_repository(tmp_path / "r")
    commit(folder, files, "one")
    lay_out(folder, tmp_path / "out")
    assert read_files(tmp_path / "out") == files


# --- a folder that the commit doesn't have ---

MISSING = {
    "gone": "gone isn't there",
    "file": "file is a file",
    "link": "link is a link",
    "file/below": "file is a file",
    "folder/gone/more": "folder/gone isn't there",
    "sub": "sub is a submodule",
    "../r": ".. isn't there",
    "/folder": " isn't there",
}


@pytest.mark.parametrize("prefix", MISSING)
def test_a_commit_without_the_folder(prefix: str, tmp_path: Path) -> None:
    """Where it may lack it, only something else in its place is refused."""
    folder = make_repository(tmp_path / "r")
    blob = store_blob(folder, b"a")
    inner = store_tree(folder, ("100644", b"file", blob))
    entries = (("100644", b"file", blob), ("040000", b"folder", inner), ("120000", b"link", blob))
    made = commit_tree(folder, store_tree(folder, *entries, ("160000", b"sub", "12" * 20)))
    assert (
        say(read, folder, "main", prefix)
        == f"""\
{prefix}: commit {made[:12]} has no folder {prefix}: {MISSING[prefix]}  [git-path]
  why  both sides are read at the path where the project stands now (poolwright reading of revisions)
  fix  name a revision that has the project at this path
"""
    )
    repository = opened(folder)
    commit = repository.resolve("main")
    if MISSING[prefix].endswith("isn't there"):
        nothing = Tree(commit=commit, id="", folders=(), blobs={}, links=())
        assert repository.read_tree(commit, prefix, may_lack=True) == nothing
    else:
        assert say(repository.read_tree, commit, prefix, may_lack=True) == say(read, folder, "main", prefix)


# --- trees that nobody's git would make ---

BAD_NAMES = {
    b"": "''",
    b".": "'.'",
    b"..": "'..'",
    b".git": "'.git'",
    b".GiT": "'.GiT'",
    b"a/b": "'a/b'",
    b"/etc/cron.d/x": "'/etc/cron.d/x'",
    b"../../x": "'../../x'",
    b"x" * 256: f"'{'x' * 200}...'",
}


@pytest.mark.parametrize("name", BAD_NAMES, ids=lambda name: ascii(name[:20]))
@pytest.mark.parametrize("mode", ["100644", "040000", "120000"])
def test_a_name_that_no_file_can_have(name: bytes, mode: str, tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    entry = store_tree(folder) if mode == "040000" else store_blob(folder, b"a")
    commit_tree(folder, store_tree(folder, ("040000", b"specs", store_tree(folder, (mode, name, entry)))))
    assert say(read, folder) == f"specs/: specs has an entry called {BAD_NAMES[name]}  [git-tree]\n{TREE}{MEND}"


def store(folder: Path, data: bytes) -> str:
    return git(folder, "hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=data)


def twice(folder: Path) -> str:
    """A link, and a folder of its name that would be written through it."""
    inner = store_tree(folder, ("100644", b"passwd", store_blob(folder, b"a")))
    return store_tree(folder, ("120000", b"specs", store_blob(folder, b"/etc")), ("040000", b"specs", inner))


def cut(folder: Path) -> str:
    return store(folder, b"100644 a\0" + bytes(19))


def without_a_name(folder: Path) -> str:
    return store(folder, b"100644")


def of_another_mode(folder: Path) -> str:
    return store_tree(folder, ("010644", b"pipe", store_blob(folder, b"a")))


def without_a_mode(folder: Path) -> str:
    return store_tree(folder, ("rw", b"a", store_blob(folder, b"a")))


CRAFTED = {
    twice: "the project's folder has two entries called 'specs'",
    cut: "the project's folder isn't stored as git stores a folder",
    without_a_name: "the project's folder isn't stored as git stores a folder",
    of_another_mode: "the project's folder has an entry of mode 010644",
    without_a_mode: "the project's folder has an entry of mode rw",
}


@pytest.mark.parametrize("make", CRAFTED)
def test_a_tree_that_can_t_be_laid_out(make: Callable[[Path], str], tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    commit_tree(folder, make(folder))
    assert say(read, folder) == f".: {CRAFTED[make]}  [git-tree]\n{TREE}{MEND}"


def nest(folder: Path, name: bytes, depth: int) -> str:
    tree = store_tree(folder, ("100644", b"file", store_blob(folder, b"a")))
    for _ in range(depth):
        tree = store_tree(folder, ("040000", name, tree))
    return tree


def test_folders_in_one_another(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    deepest = nest(folder, b"d", trees.MAX_DEPTH)
    commit_tree(folder, deepest)
    assert list(lay_out(folder, tmp_path / "out").tree.blobs) == ["d/" * 100 + "file"]
    commit_tree(folder, store_tree(folder, ("040000", b"d", deepest)))
    assert say(read, folder) == f".: the commit has more than 100 folders in one another  [git-tree]\n{TREE}{SPLIT}"


def test_a_path_that_is_too_long(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    commit_tree(folder, nest(folder, b"d" * 255, 4))
    assert say(read, folder) == f".: the commit has a path of more than 1,024 bytes  [git-tree]\n{TREE}{SPLIT}"


BOMBS = {"of-files": True, "of-folders-alone": False}


@pytest.mark.parametrize("name", BOMBS)
def test_a_tree_bomb(name: str, tmp_path: Path) -> None:
    """Ten folders, each ten times the one before: 10 ** 10 entries in eleven objects."""
    folder = make_repository(tmp_path / "r")
    tree = store_tree(folder, ("100644", b"file", store_blob(folder, b"a"))) if BOMBS[name] else store_tree(folder)
    for _ in range(10):
        tree = store_tree(folder, *(("040000", b"%d" % number, tree) for number in range(10)))
    commit_tree(folder, tree)
    assert say(read, folder) == f".: the commit has more than 200,000 files and folders  [git-tree]\n{TREE}{SPLIT}"


def test_what_is_left_out_isn_t_counted_nor_judged(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    blob = store_blob(folder, b"a")
    rendered = store_tree(folder, ("100644", b"..", blob))
    commit_tree(folder, store_tree(folder, ("040000", b"overlays", rendered), ("100644", b"poolwright.yaml", blob)))
    assert list(read(folder).blobs) == ["poolwright.yaml"]


def test_a_disk_that_doesn_t_tell_case(tmp_path: Path) -> None:
    """As it looks there: what is to be written is there already."""
    folder = make_repository(tmp_path / "r")
    commit(folder, FILES, "one")
    repository = opened(folder)
    tree = repository.read_tree(repository.resolve("main"))
    (tmp_path / "out").mkdir()
    (tmp_path / "out/POOLWRIGHT.yaml").touch()
    (tmp_path / "out/POOLWRIGHT.yaml").rename(tmp_path / "out/poolwright.yaml")
    assert say(repository.lay_out, tree, str(tmp_path / "out")) == (
        "poolwright.yaml: poolwright.yaml is there twice, by names that are one on this disk  [git-tree]\n"
        f"{TREE}  fix  rename one of the two\n"
    )


# --- size ---


def test_a_large_file_is_stood_in_for_by_its_size(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    size = laying.MAX_BLOB_BYTES + 1
    with (folder / "large.yaml").open("wb") as file:
        file.truncate(size)
    commit(folder, {"poolwright.yaml": b"a\n"}, "one")
    lay_out(folder, tmp_path / "out")
    status = (tmp_path / "out/large.yaml").stat()
    assert (status.st_size, status.st_blocks) == (size, 0)
    assert "it has 67,108,865 bytes, and 1,000 is the most" in say(
        read_file, str(tmp_path / "out"), "large.yaml", max_bytes=1000
    )
    assert (tmp_path / "out/poolwright.yaml").read_bytes() == b"a\n"


def test_too_much_of_it(tmp_path: Path) -> None:
    """One blob under many names: nine times 60 MiB."""
    folder = make_repository(tmp_path / "r")
    blob = store_blob(folder, bytes(60 << 20))
    commit_tree(folder, store_tree(folder, *(("100644", b"%d" % number, blob) for number in range(9))))
    assert say(lay_out, folder, tmp_path / "out") == (
        f".: the commit's files have more than 536,870,912 bytes together  [git-tree]\n{TREE}{SPLIT}"
    )
    assert read_files(tmp_path / "out") == {}


# --- objects that aren't there, or can't be read ---

OBJECT = """\
  why  a revision is read as a whole or not at all (poolwright reading of revisions)
  fix  clone again without --filter, for nothing is fetched here; `git fsck` says what is damaged
"""


def partial(folder: Path, kind: str) -> Path:
    git(folder, "config", "uploadpack.allowFilter", "true")
    git(folder.parent, "clone", "--quiet", "--no-checkout", f"--filter={kind}", folder.as_uri(), "partial")
    return folder.parent / "partial"


def test_a_clone_without_blobs_fetches_none(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    commit(folder, {"poolwright.yaml": b"a\n"}, "one")
    clone = partial(folder, "blob:none")
    blob = git(folder, "rev-parse", "main:poolwright.yaml")
    assert read(clone).blobs == {"poolwright.yaml": blob}
    before = sorted((clone / ".git").rglob("*"))
    assert say(lay_out, clone, tmp_path / "out") == (
        f".: object {blob} isn't in this partial clone  [git-object]\n{OBJECT}"
    )
    assert sorted((clone / ".git").rglob("*")) == before
    assert git(clone, "cat-file", "-p", blob) == "a"  # git by itself fetches it


def test_a_clone_without_trees(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    commit(folder, {"poolwright.yaml": b"a\n"}, "one")
    tree = git(folder, "rev-parse", "main^{tree}")
    assert say(read, partial(folder, "tree:0")) == (
        f".: object {tree} isn't in this partial clone  [git-object]\n{OBJECT}"
    )


def test_a_tree_that_names_what_isn_t_one(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    blob = store_blob(folder, b"a")
    commit_tree(folder, store_tree(folder, ("040000", b"specs", blob)))
    assert say(read, folder) == f".: object {blob} is a blob, where a tree is named  [git-object]\n{OBJECT}"


def test_a_file_that_is_none(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    inner = store_tree(folder)
    commit_tree(folder, store_tree(folder, ("100644", b"a", inner)))
    assert say(lay_out, folder, tmp_path / "out") == (
        f".: object {inner} is a tree, where a blob is named  [git-object]\n{OBJECT}"
    )


def test_a_blob_that_is_damaged(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    data = os.urandom(100_000)
    commit(folder, {"poolwright.yaml": data}, "one")
    blob = git(folder, "hash-object", "--stdin", stdin=data)
    path = folder / ".git/objects" / blob[:2] / blob[2:]
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:50_000])
    said = say(lay_out, folder, tmp_path / "out")
    assert said.startswith(f".: git can't read {blob}: ")
    assert said.endswith(f"  [git-object]\n{OBJECT}")
