"""Rendered folders on disk: what is written, what is left alone, what is said."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from poolwright.files.disk import Disk, DiskError, Listing
from poolwright.files.write_folder import (
    FolderResult,
    check_folders,
    read_folder_paths,
    read_folder_state,
    write_folders,
)
from poolwright.specs.finding import render_text
from poolwright.trees.folder import JOURNAL_NAME, MANIFEST_NAME, Folder
from poolwright.trees.manifest import build_manifest, render_manifest

UNIT = "overlays/east/chat-70b"


class Link(str):
    """A symbolic link's text, in the place of a file's bytes."""

    __slots__ = ()


Tree = Mapping[str, "bytes | Link"]


def build_folder(files: Mapping[str, bytes], *, path: str = UNIT, closure: str = "c") -> Folder:
    unit = path.removeprefix("overlays/")
    return Folder(path=path, files=files, unit=unit, closure="sha256:" + closure * 64, render_format=1)


def lay(folder: Folder) -> dict[str, bytes | Link]:
    """The finished folder's files, by path below the root."""
    files: dict[str, bytes | Link] = {f"{folder.path}/{path}": data for path, data in folder.files.items()}
    return files | {f"{folder.path}/{MANIFEST_NAME}": render_manifest(build_manifest(folder))}


def put_tree(root: Path, tree: Tree) -> None:
    for path, data in tree.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, Link):
            place.symlink_to(data)
        else:
            place.write_bytes(data)


def read_tree(root: Path) -> dict[str, bytes | Link]:
    """Every file and link below root; an empty folder as its path with a slash."""
    found: dict[str, bytes | Link] = {}
    for place in sorted(root.rglob("*")):
        path = place.relative_to(root).as_posix()
        if place.is_symlink():
            found[path] = Link(place.readlink())
        elif place.is_file():
            found[path] = place.read_bytes()
        elif not any(place.iterdir()):
            found[path + "/"] = b""
    return found


class LoggingDisk(Disk):
    """Keeps what was done, in order; where an error is given, fails with it from a given step on."""

    def __init__(self, root: str, error: OSError | None = None, fails_from: int = 0) -> None:
        super().__init__(root)
        self.log: list[str] = []
        self.error, self.fails_from = error, fails_from

    def _step(self, text: str) -> None:
        if self.error and len(self.log) >= self.fails_from:
            raise self.error
        self.log.append(text)

    def make_folder(self, path: str) -> bool:
        self._step(f"mkdir {path}")
        return super().make_folder(path)

    def write_temp(self, path: str, data: bytes) -> str:
        self._step(f"write {path}")
        return super().write_temp(path, data)

    def rename(self, temp: str, path: str) -> None:
        self._step(f"rename {path}")
        super().rename(temp, path)

    def remove(self, path: str) -> None:
        self._step(f"remove {path}")
        super().remove(path)

    def remove_folder(self, path: str) -> bool:
        self._step(f"rmdir {path}")
        return super().remove_folder(path)

    def sync_folder(self, path: str) -> None:
        self._step(f"sync {path}")
        super().sync_folder(path)


def summarise(result: FolderResult) -> tuple[object, ...]:
    problems = [f"{finding.place}: {finding.code}" for finding in result.problems]
    return (result.before.kind, result.written, result.removed, problems)


OLD = build_folder({"kustomization.yaml": b"old\n", "service.yaml": b"same\n", "rules/a.yaml": b"a\n"}, closure="1")
NEW = build_folder({"kustomization.yaml": b"new\n", "service.yaml": b"same\n", "decisions/p.yaml": b"p\n"}, closure="2")
OTHER = build_folder({"x.yaml": b"x\n"}, path="overlays/west/embed")
STEP = (("decisions/p.yaml", "kustomization.yaml", MANIFEST_NAME), ("rules/a.yaml",))
EDIT = {f"{UNIT}/service.yaml": b"mine\n"}
NOTE = {f"{UNIT}/notes.txt": b"mine\n"}
EDITED = f"{UNIT}/service.yaml: folder-edited"
FOREIGN = f"{UNIT}/notes.txt: folder-foreign"

# before, wanted, discard_edits -> kind, written, removed, problems; and the tree afterwards, None: as before
WRITES: dict[str, tuple[Tree, Folder | None, bool, tuple[object, ...], Tree | None]] = {
    "first": ({}, NEW, False, ("absent", (*sorted(NEW.files), MANIFEST_NAME), (), []), lay(NEW)),
    "changed": (lay(OLD), NEW, False, ("stale", *STEP, []), lay(NEW)),
    "current": (lay(NEW), NEW, False, ("current", (), (), []), None),
    "only-the-closure-changed": (
        lay(build_folder(NEW.files, closure="3")),
        NEW,
        False,
        ("stale", (MANIFEST_NAME,), (), []),
        lay(NEW),
    ),
    "vanishes": (lay(OLD), None, False, ("stale", (), (*sorted(OLD.files), MANIFEST_NAME), []), {}),
    "vanished-already": ({}, None, False, ("absent", (), (), []), None),
    "vanishes-beside-somebody's": (
        lay(OLD) | {"overlays/notes.txt": b""},
        None,
        False,
        ("stale", (), (*sorted(OLD.files), MANIFEST_NAME), []),
        {"overlays/notes.txt": b""},
    ),
    "file-becomes-folder": (
        lay(build_folder({"a": b"1", "b/c/d": b"2"})),
        build_folder({"a/x": b"3", "b": b"4"}),
        False,
        ("stale", ("a/x", "b", MANIFEST_NAME), ("a", "b/c/d"), []),
        lay(build_folder({"a/x": b"3", "b": b"4"})),
    ),
    "empty-folder-in-the-way": (
        {f"{UNIT}/a/b/": b""},
        build_folder({"a": b"1"}),
        False,
        ("absent", ("a", MANIFEST_NAME), (), []),
        lay(build_folder({"a": b"1"})),
    ),
    "empty-folder-of-somebody's-stays": (
        lay(OLD) | {f"{UNIT}/drafts/": b""},
        NEW,
        False,
        ("stale", *STEP, []),
        lay(NEW) | {f"{UNIT}/drafts/": b""},
    ),
    "edited": (lay(OLD) | EDIT, NEW, False, ("edited", (), (), [EDITED]), None),
    "edited-and-discarded": (
        lay(OLD) | EDIT,
        NEW,
        True,
        ("edited", ("decisions/p.yaml", "kustomization.yaml", "service.yaml", MANIFEST_NAME), STEP[1], []),
        lay(NEW),
    ),
    "edited-to-vanish": (lay(OLD) | EDIT, None, False, ("edited", (), (), [EDITED]), None),
    "edited-to-vanish-and-discarded": (
        lay(OLD) | EDIT,
        None,
        True,
        ("edited", (), (*sorted(OLD.files), MANIFEST_NAME), []),
        {},
    ),
    "foreign": (lay(OLD) | NOTE, NEW, False, ("foreign", (), (), [FOREIGN]), None),
    "foreign-is-never-discarded": (lay(OLD) | NOTE | EDIT, NEW, True, ("foreign", (), (), [FOREIGN, EDITED]), None),
    "foreign-to-vanish": (lay(OLD) | NOTE, None, True, ("foreign", (), (), [FOREIGN]), None),
    "foreign-where-we-would-write": (
        {f"{UNIT}/kustomization.yaml": b"mine\n"},
        NEW,
        True,
        ("foreign", (), (), [f"{UNIT}/kustomization.yaml: folder-foreign"]),
        None,
    ),
    "merge-left-marks-in-the-manifest": (
        lay(OLD) | {f"{UNIT}/{MANIFEST_NAME}": b"<<<<<<< ours\n", f"{UNIT}/kustomization.yaml": b"<<<<<<< ours\n"},
        build_folder(dict(OLD.files)),
        False,
        (
            "edited",
            (),
            (),
            [f"{UNIT}/kustomization.yaml: folder-edited", f"{UNIT}/{MANIFEST_NAME}:1:1: folder-record"],
        ),
        None,
    ),
    "merge-left-marks-and-they-are-discarded": (
        lay(OLD) | {f"{UNIT}/{MANIFEST_NAME}": b"<<<<<<< ours\n", f"{UNIT}/kustomization.yaml": b"<<<<<<< ours\n"},
        build_folder(dict(OLD.files)),
        True,
        ("edited", ("kustomization.yaml", MANIFEST_NAME), (), []),
        lay(build_folder(dict(OLD.files))),
    ),
    "journal-unreadable-and-discarded": (
        lay(OLD) | {f"{UNIT}/{JOURNAL_NAME}": b"{"},
        OLD,
        True,
        ("edited", (), (), []),
        lay(OLD),
    ),
    "leftover-swept": (
        lay(OLD) | {f"{UNIT}/rules/.poolwright-tmp-next": b"ha"},
        OLD,
        False,
        ("interrupted", (), (), []),
        lay(OLD),
    ),
    "no-record-but-wanted-bytes": (
        {f"{UNIT}/service.yaml": b"same\n"},
        NEW,
        False,
        ("interrupted", ("decisions/p.yaml", "kustomization.yaml", MANIFEST_NAME), (), []),
        lay(NEW),
    ),
}


@pytest.mark.parametrize(("before", "wanted", "discard", "said", "after"), WRITES.values(), ids=WRITES)
def test_write(
    tmp_path: Path, before: Tree, wanted: Folder | None, discard: bool, said: tuple[object, ...], after: Tree | None
) -> None:
    for path, data in before.items():
        if path.endswith("/"):
            (tmp_path / path).mkdir(parents=True)
        else:
            put_tree(tmp_path, {path: data})
    folders, removed = ([wanted], []) if wanted else ([], [UNIT])
    (result,) = write_folders(str(tmp_path), folders, removed, discard_edits=discard)
    assert summarise(result) == said
    assert (result.path, read_tree(tmp_path)) == (UNIT, dict(before if after is None else after))
    if not result.problems:  # and then there is nothing left to do
        disk = LoggingDisk(str(tmp_path))
        (again,) = write_folders(str(tmp_path), folders, removed, disk=lambda _: disk)
        assert summarise(again) == ("current" if wanted else "absent", (), (), [])
        assert disk.log == []


def test_steps_of_a_change_are_journal_manifest_files_manifest_journal(tmp_path: Path) -> None:
    put_tree(tmp_path, lay(OLD))
    disk = LoggingDisk(str(tmp_path))
    write_folders(str(tmp_path), [NEW], [], disk=lambda _: disk)
    assert [step.replace(UNIT, "U") for step in disk.log] == [
        f"write U/{JOURNAL_NAME}",
        f"rename U/{JOURNAL_NAME}",
        "sync U",
        f"remove U/{MANIFEST_NAME}",
        "remove U/rules/a.yaml",
        "rmdir U/rules",
        "mkdir U/decisions",
        "write U/decisions/p.yaml",
        "rename U/decisions/p.yaml",
        "write U/kustomization.yaml",
        "rename U/kustomization.yaml",
        "sync U/decisions",
        "sync U",
        f"write U/{MANIFEST_NAME}",
        f"rename U/{MANIFEST_NAME}",
        "sync U",
        f"remove U/{JOURNAL_NAME}",
    ]


def test_equal_files_keep_their_times_and_others_are_new_files(tmp_path: Path) -> None:
    put_tree(tmp_path, lay(OLD))
    service, changed = tmp_path / UNIT / "service.yaml", tmp_path / UNIT / "kustomization.yaml"
    os.utime(service, ns=(1, 1))
    os.link(changed, tmp_path / "elsewhere")  # a second name of the old file: it must not be written through
    write_folders(str(tmp_path), [NEW], [])
    assert service.stat().st_mtime_ns == 1
    assert ((tmp_path / "elsewhere").read_bytes(), changed.read_bytes()) == (b"old\n", b"new\n")


def test_new_files_have_the_rights_that_the_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_folders(str(tmp_path), [NEW], [])
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(place.stat().st_mode) for place in (tmp_path / UNIT).rglob("*") if place.is_file()}
    assert (modes, stat.S_IMODE((tmp_path / UNIT).stat().st_mode)) == ({0o640}, 0o750)


LINKS: dict[str, tuple[Tree, str]] = {
    "tree": ({"overlays": Link("away")}, UNIT),
    "cluster": ({"overlays/east": Link("../away")}, UNIT),
    "folder": ({UNIT: Link("../../away")}, UNIT),
    "folder-to-nowhere": ({UNIT: Link("gone")}, UNIT),
    "file-in-the-folder's-place": ({"overlays/east": b""}, UNIT),
    "folder-within": ({f"{UNIT}/decisions": Link("../../../away")}, f"{UNIT}/decisions"),
    "file": ({f"{UNIT}/kustomization.yaml": Link("../../../away/kept")}, f"{UNIT}/kustomization.yaml"),
    # Even one that reads as what is wanted.
    "file-with-wanted-bytes": ({f"{UNIT}/service.yaml": Link("../../../away/same")}, f"{UNIT}/service.yaml"),
    "manifest": ({f"{UNIT}/{MANIFEST_NAME}": Link("../../../away/kept")}, f"{UNIT}/{MANIFEST_NAME}"),
    "journal": ({f"{UNIT}/{JOURNAL_NAME}": Link("../../../away/kept")}, f"{UNIT}/{JOURNAL_NAME}"),
}


@pytest.mark.parametrize("wanted", [NEW, None], ids=["wanted", "unwanted"])
@pytest.mark.parametrize(("tree", "place"), LINKS.values(), ids=LINKS)
def test_nothing_is_written_or_removed_through_a_link(
    tmp_path: Path, tree: Tree, place: str, wanted: Folder | None
) -> None:
    put_tree(tmp_path, {**tree, "away/kept": b"", "away/same": b"same\n", f"away/chat-70b/{MANIFEST_NAME}": b""})
    before = read_tree(tmp_path)
    (result,) = write_folders(str(tmp_path), [wanted] if wanted else [], [] if wanted else [UNIT], discard_edits=True)
    assert summarise(result) == ("foreign", (), (), [f"{place}: folder-foreign"])
    assert read_tree(tmp_path) == before


def test_link_put_there_after_the_look_is_not_followed(tmp_path: Path) -> None:
    put_tree(tmp_path, {**lay(OLD), "away/x": b""})

    class LateLink(Disk):
        def write_temp(self, path: str, data: bytes) -> str:
            if path == f"{UNIT}/decisions/p.yaml":
                (tmp_path / UNIT / "decisions").rmdir()
                (tmp_path / UNIT / "decisions").symlink_to(tmp_path / "away")
            return super().write_temp(path, data)

    with pytest.raises(DiskError, match=r"Not a directory|symbolic links"):
        write_folders(str(tmp_path), [NEW], [], disk=LateLink)
    assert read_tree(tmp_path / "away") == {"x": b""}


@pytest.mark.parametrize("path", ["../x", "a/../x", "/x", "a//x", ".", "a/.."])
def test_disk_refuses_paths_that_leave_it(tmp_path: Path, path: str) -> None:
    for act in (Disk(str(tmp_path)).remove, Disk(str(tmp_path)).make_folder, Disk(str(tmp_path)).sync_folder):
        with pytest.raises(ValueError, match="leaves the tree"):
            act(path)


def test_pipe_is_foreign_and_not_waited_for(tmp_path: Path) -> None:
    put_tree(tmp_path, lay(NEW))
    (tmp_path / UNIT / "service.yaml").unlink()
    os.mkfifo(tmp_path / UNIT / "service.yaml")
    (result,) = check_folders(str(tmp_path), [NEW], [])
    assert summarise(result) == ("foreign", (), (), [f"{UNIT}/service.yaml: folder-foreign"])
    with pytest.raises(OSError, match="not a regular file"):
        Disk(str(tmp_path)).read_digest(f"{UNIT}/service.yaml")


def test_folder_with_problems_is_left_alone_and_the_others_are_written(tmp_path: Path) -> None:
    put_tree(tmp_path, {**lay(OLD), **EDIT})
    results = write_folders(str(tmp_path), [OTHER, NEW], ["overlays/gone"])
    assert [(result.path, *summarise(result)) for result in results] == [
        (UNIT, "edited", (), (), [EDITED]),
        ("overlays/gone", "absent", (), (), []),
        (OTHER.path, "absent", ("x.yaml", MANIFEST_NAME), (), []),
    ]
    assert read_tree(tmp_path) == {**lay(OLD), **EDIT, **lay(OTHER)}


def test_every_folder_is_looked_at_before_one_is_written(tmp_path: Path) -> None:
    put_tree(tmp_path, lay(OLD))

    class UnreadableWest(LoggingDisk):
        def list_folder(self, path: str) -> Listing | None:
            if path == OTHER.path:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return super().list_folder(path)

    disk = UnreadableWest(str(tmp_path))
    with pytest.raises(DiskError) as caught:
        write_folders(str(tmp_path), [NEW, OTHER], [], disk=lambda _: disk)
    assert (caught.value.finding.place.file, disk.log) == (OTHER.path, [])


WRONG_CALLS: dict[str, tuple[list[Folder], list[str], str]] = {
    "twice": ([NEW, OLD], [], "a folder is given twice"),
    "wanted-and-removed": ([NEW], [UNIT], "a folder is given twice"),
    "one-in-another": ([NEW], ["overlays/east"], "'overlays/east' is no folder to write, or holds another one"),
    "outside": ([], ["../x"], "'../x' is no folder to write, or holds another one"),
    "root": ([], [""], "'' is no folder to write, or holds another one"),
}


@pytest.mark.parametrize(("folders", "removed", "message"), WRONG_CALLS.values(), ids=WRONG_CALLS)
def test_folders_that_are_no_set_of_folders_are_a_bug(
    tmp_path: Path, folders: list[Folder], removed: list[str], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        write_folders(str(tmp_path), folders, removed)
    assert read_tree(tmp_path) == {}


# --- what is said ------------------------------------------------------------------------------------------------


def test_problems_read_whole(tmp_path: Path) -> None:
    copy = "overlays/west/chat-70b"
    put_tree(tmp_path, {**lay(OLD), **EDIT, **NOTE, OTHER.path: Link("/etc")})
    put_tree(tmp_path, {f"{copy}/{MANIFEST_NAME}": lay(OLD)[f"{UNIT}/{MANIFEST_NAME}"]})
    results = write_folders(str(tmp_path), [OTHER, NEW], [copy])
    why = "  why  a rendered folder holds what its manifest lists and nothing else; a file not in it is never touched"
    assert "".join(render_text(result.problems) for result in results) == (
        "overlays/east/chat-70b/notes.txt: poolwright didn't write this file  [folder-foreign]\n"
        f"{why} (poolwright's tree on disk)\n"
        "  fix  move it out of overlays/, or delete it\n"
        "overlays/east/chat-70b/service.yaml: this rendered file was changed by hand  [folder-edited]\n"
        "  why  rendering would lose the change, so the whole folder is left as it is (poolwright's tree on disk)\n"
        "  fix  restore the file and change the specs, or lose the change with `poolwright render --discard-edits`\n"
        'overlays/west/chat-70b/poolwright-manifest.json: this folder is a copy of "east/chat-70b"  [folder-foreign]\n'
        f"{why} (poolwright's tree on disk)\n"
        "  fix  delete the folder, or move it elsewhere\n"
        "overlays/west/embed: a link or a file stands where this folder has to be  [folder-foreign]\n"
        f"{why} (poolwright's tree on disk)\n"
        "  fix  delete it: below overlays/ are only folders\n"
    )


CHECKS: dict[str, tuple[Tree, Folder | None, tuple[object, ...], str]] = {
    "current": (lay(NEW), NEW, ("current", (), ()), ""),
    "nothing-to-vanish": ({}, None, ("absent", (), ()), ""),
    "absent": (
        {},
        NEW,
        ("absent", (*sorted(NEW.files), MANIFEST_NAME), ()),
        "folder-absent: this folder isn't rendered",
    ),
    "stale": (
        lay(OLD),
        NEW,
        ("stale", *STEP),
        "folder-stale: this folder isn't what the specs give; files to write or remove: 4",
    ),
    "manifest-stale": (
        lay(build_folder(NEW.files)),
        NEW,
        ("stale", (MANIFEST_NAME,), ()),
        "folder-stale: this folder isn't what the specs give; files to write or remove: 1",
    ),
    "to-vanish": (
        lay(OTHER) | lay(OLD),
        None,
        ("stale", (), (*sorted(OLD.files), MANIFEST_NAME)),
        "folder-stale: nothing in the specs gives this folder any more",
    ),
    "interrupted": (
        {path: data for path, data in lay(NEW).items() if not path.endswith(MANIFEST_NAME)},
        NEW,
        ("interrupted", (MANIFEST_NAME,), ()),
        "folder-interrupted: a render of this folder was stopped before its end",
    ),
    "edited": (lay(NEW) | EDIT, NEW, ("edited", (), ()), "folder-edited: this rendered file was changed by hand"),
}


@pytest.mark.parametrize(("tree", "wanted", "result", "problem"), CHECKS.values(), ids=CHECKS)
def test_check_says_what_a_write_would_do_and_writes_nothing(
    tmp_path: Path, tree: Tree, wanted: Folder | None, result: tuple[object, ...], problem: str
) -> None:
    put_tree(tmp_path, tree)
    disk = LoggingDisk(str(tmp_path))
    folders, removed = ([wanted], []) if wanted else ([], [UNIT])
    with Disk(str(tmp_path)).lock():  # a check waits for no writer and keeps none out
        (said,) = check_folders(str(tmp_path), folders, removed, disk=lambda _: disk)
    assert (said.before.kind, said.written, said.removed) == result
    assert [f"{finding.code}: {finding.what}" for finding in said.problems] == ([problem] if problem else [])
    assert (disk.log, read_tree(tmp_path)) == ([], dict(tree))
    if said.before.kind != "edited":
        (done,) = write_folders(str(tmp_path), folders, removed)
        assert (done.before, done.written, done.removed) == (said.before, said.written, said.removed)


def test_folder_state_without_specs(tmp_path: Path) -> None:
    put_tree(tmp_path, lay(OLD))
    state = read_folder_state(str(tmp_path), UNIT)
    assert (state.kind, state.record.manifest) == ("current", build_manifest(OLD))
    assert read_folder_state(str(tmp_path), OTHER.path).kind == "absent"
    put_tree(tmp_path, EDIT)
    assert read_folder_state(str(tmp_path), UNIT).kind == "edited"


def test_folder_paths_are_those_a_writer_began_or_finished(tmp_path: Path) -> None:
    put_tree(
        tmp_path,
        {
            **lay(OLD),
            f"{UNIT}/deep/{MANIFEST_NAME}": b"",  # within another one
            **lay(OTHER),
            f"overlays/b/{JOURNAL_NAME}": b"",
            "overlays/c/.poolwright-tmp-next": b"",
            "overlays/mine/kustomization.yaml": b"",
            "overlays/link": Link("east"),
            f"elsewhere/{MANIFEST_NAME}": b"",
        },
    )
    assert read_folder_paths(str(tmp_path), "overlays") == ("overlays/b", "overlays/c", UNIT, OTHER.path)
    assert read_folder_paths(str(tmp_path), "nowhere") == ()


def test_manifest_beyond_bounds_is_not_taken_into_memory(tmp_path: Path) -> None:
    put_tree(tmp_path, lay(NEW))
    with (tmp_path / UNIT / MANIFEST_NAME).open("wb") as file:
        file.truncate(1 << 40)  # a hole: a terabyte that takes no room
    state = read_folder_state(str(tmp_path), UNIT)
    assert (state.kind, len(state.record.manifest_bytes or b"")) == ("foreign", 4 << 20)


# --- what can't be done ------------------------------------------------------------------------------------------


def test_writer_in_the_tree_keeps_others_out_and_is_named(tmp_path: Path) -> None:
    with Disk(str(tmp_path)).lock(), pytest.raises(DiskError) as caught:
        write_folders(str(tmp_path), [NEW], [])
    assert read_tree(tmp_path) == {}
    assert render_text([caught.value.finding]) == (
        ".: another poolwright is writing this tree  [tree-locked]\n"
        "  why  two writers at once would leave a mixture of both\n"
        "  fix  wait until it is done, then run this again\n"
    )
    write_folders(str(tmp_path), [NEW], [])
    assert read_tree(tmp_path) == lay(NEW)  # the root folder itself is the lock: no lock file


ERRORS = {
    "disk-full": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    "permission-denied": PermissionError(errno.EACCES, os.strerror(errno.EACCES)),
}


@pytest.mark.parametrize("step", range(17))  # as many as a change has, see above
@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_disk_that_refuses_a_step_is_one_finding_and_the_next_run_heals(
    tmp_path: Path, error: OSError, step: int
) -> None:
    put_tree(tmp_path, lay(OLD))
    disk = LoggingDisk(str(tmp_path), error, step)
    with pytest.raises(DiskError) as caught:
        write_folders(str(tmp_path), [NEW], [], disk=lambda _: disk)
    assert render_text([caught.value.finding]) == (
        f"{UNIT}: the disk refuses: {error.strerror}  [disk-error]\n"
        "  why  a folder can't be judged or finished like that; what was begun is finished by the next render\n"
        "  fix  mend that (space, permissions, a read-only mount), then run this again\n"
    )
    write_folders(str(tmp_path), [NEW], [])
    assert read_tree(tmp_path) == lay(NEW)


def test_file_that_did_not_fit_is_gone_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_tree(tmp_path, lay(OLD))
    real = os.write

    def write_little(file: int, data: bytes) -> int:
        if len(data) < 100:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(file, data[:100])  # a short write, as a nearly full disk gives

    monkeypatch.setattr(os, "write", write_little)
    with pytest.raises(DiskError, match="No space left"):
        write_folders(str(tmp_path), [NEW], [])
    assert read_tree(tmp_path) == lay(OLD)  # not even the journal was begun


def test_root_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(DiskError, match=r"^\.: the disk refuses: No such file or directory \[disk-error\]$"):
        write_folders(str(tmp_path / "nowhere"), [NEW], [])
