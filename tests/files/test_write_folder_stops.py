"""A writer stopped after any step, by a kill or by a power cut: every file is whole, and the next writer heals."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from poolwright.files.disk import Disk
from poolwright.files.write_folder import check_folders, read_folder_paths, write_folders
from poolwright.trees.folder import JOURNAL_NAME, MANIFEST_NAME, Folder, is_own_name
from poolwright.trees.manifest import build_manifest, render_manifest

UNIT = "overlays/east/chat-70b"
NOTE = "overlays/east/notes.txt"  # somebody's, beside the folder


def build_folder(files: Mapping[str, bytes], closure: str) -> Folder:
    return Folder(path=UNIT, files=files, unit="east/chat-70b", closure="sha256:" + closure * 64, render_format=1)


A = build_folder({"a.yaml": b"first", "k.yaml": b"same", "old/x.yaml": b"x", "place": b"a file"}, "a")
B = build_folder({"a.yaml": b"second", "k.yaml": b"same", "new/y.yaml": b"y", "place/z": b"in a folder"}, "b")
C = build_folder({"a.yaml": b"third", "new/y.yaml": b"y of the third", "old/x.yaml": b"x of the third"}, "c")
SMALL = build_folder({"a.yaml": b"first"}, "d")
SAME_FILES = build_folder(A.files, "e")

Want = Folder | None  # None: the folder is to vanish
STEPS: dict[str, tuple[Want, Want]] = {
    "create": (None, A),
    "change": (A, B),
    "change-back": (B, A),
    "shrink": (A, SMALL),
    "grow": (SMALL, A),
    "only-the-manifest": (A, SAME_FILES),
    "vanish": (B, None),
}


class Stopped(BaseException):
    """Nothing catches it, as nothing catches SIGKILL."""


class StoppingDisk(Disk):
    """Stops before the step numbered `stop`; with `torn`, within it, where a file is written then."""

    def __init__(self, root: str, stop: int, *, torn: bool = False) -> None:
        super().__init__(root)
        self.left, self.torn = stop, torn
        self.tore = False

    def _step(self) -> None:
        if self.left == 0:
            raise Stopped
        self.left -= 1

    def make_folder(self, path: str) -> bool:
        self._step()
        return super().make_folder(path)

    def write_temp(self, path: str, data: bytes) -> str:
        if self.left == 0 and self.torn:
            super().write_temp(path, data[: len(data) // 2])
            self.tore = True
        self._step()
        return super().write_temp(path, data)

    def rename(self, temp: str, path: str) -> None:
        self._step()
        super().rename(temp, path)

    def remove(self, path: str) -> None:
        self._step()
        super().remove(path)

    def remove_folder(self, path: str) -> bool:
        self._step()
        return super().remove_folder(path)

    def sync_folder(self, path: str) -> None:
        self._step()
        super().sync_folder(path)


@pytest.fixture(autouse=True)
def _without_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    # Only the order of the steps is judged here. What a sync is for, `LossyDisk` judges.
    monkeypatch.setattr(os, "fsync", lambda file: None)


def give(want: Want) -> tuple[list[Folder], list[str]]:
    return ([want], []) if want else ([], [UNIT])


def lay(want: Want) -> dict[str, bytes]:
    files = {f"{UNIT}/{path}": data for path, data in want.files.items()} if want else {}
    return files | ({f"{UNIT}/{MANIFEST_NAME}": render_manifest(build_manifest(want))} if want else {})


def read_tree(root: Path) -> dict[str, bytes]:
    return {place.relative_to(root).as_posix(): place.read_bytes() for place in root.rglob("*") if place.is_file()}


def read_kind(root: Path, want: Want) -> str:
    (result,) = check_folders(str(root), *give(want))
    return result.before.kind


def start_tree(root: Path, want: Want) -> None:
    shutil.rmtree(root, ignore_errors=True)
    for path, data in {**lay(want), NOTE: b"mine"}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def write_until(disk: Disk, want: Want) -> bool:
    """Whether the writer was stopped before its end."""
    try:
        write_folders(disk.root, *give(want), disk=lambda _: disk)
    except Stopped:
        return True
    return False


def list_stops(root: Path, before: Want, want: Want) -> Iterator[int]:
    """The tree after each step at which a writer can be stopped, and with each file half-written."""
    stop = 0
    while True:
        for torn in (False, True):
            start_tree(root, before)
            disk = StoppingDisk(str(root), stop, torn=torn)
            if not write_until(disk, want):
                return
            if disk.tore == torn:
                yield stop
        stop += 1


def check_whole(root: Path, *wants: Want) -> None:
    """Every file but those on their way has the bytes that one of the trees gives it."""
    trees = [lay(want) for want in wants]
    for path, data in read_tree(root).items():
        if path != NOTE and not is_own_name(path.rpartition("/")[2]):
            assert data in [tree[path] for tree in trees if path in tree]


def expect_kind(root: Path, before: Want, want: Want) -> str:
    """Interrupted, but at the two ends."""
    tree = {path: data for path, data in read_tree(root).items() if path != NOTE}
    if tree == lay(want):
        return "current" if want else "absent"
    if tree == lay(before):
        return "stale" if before else "absent"
    return "interrupted"


@pytest.mark.parametrize(("before", "want"), STEPS.values(), ids=STEPS)
def test_stopped_writer_leaves_whole_files_and_says_interrupted(tmp_path: Path, before: Want, want: Want) -> None:
    kinds = []
    for _ in list_stops(tmp_path, before, want):
        check_whole(tmp_path, before, want)
        kinds.append(read_kind(tmp_path, want))
        assert kinds[-1] == expect_kind(tmp_path, before, want)
    assert "interrupted" in kinds or (before is A and want is SAME_FILES)
    assert read_kind(tmp_path, want) == ("current" if want else "absent")


@pytest.mark.parametrize("heal", [A, B, C, None], ids=["to-a", "to-b", "to-c", "to-nothing"])
@pytest.mark.parametrize(("before", "want"), STEPS.values(), ids=STEPS)
def test_next_writer_heals_to_whatever_it_is_asked_for(tmp_path: Path, before: Want, want: Want, heal: Want) -> None:
    for _ in list_stops(tmp_path, before, want):
        assert read_folder_paths(str(tmp_path), "overlays") in ((UNIT,), ())
        (result,) = write_folders(str(tmp_path), *give(heal))
        assert result.problems == ()
        assert read_tree(tmp_path) == {**lay(heal), NOTE: b"mine"}
        assert not [place for place in tmp_path.rglob("*") if place.is_dir() and not any(place.iterdir())]
        assert read_kind(tmp_path, heal) == ("current" if heal else "absent")


@pytest.mark.parametrize("heal", [B, C, None], ids=["to-b", "to-c", "to-nothing"])
@pytest.mark.parametrize(("before", "want"), [(A, B), (None, A)], ids=["change", "create"])
def test_healer_may_be_stopped_as_well(tmp_path: Path, before: Want, want: Want, heal: Want) -> None:
    """Kill the writer, then kill the one that heals to another tree, then heal to a third one."""
    stopped, kept = tmp_path / "stopped", tmp_path / "kept"
    for stop in list_stops(stopped, before, want):
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(stopped, kept)
        again = stop % 5  # every fifth step, others each time
        while write_until(StoppingDisk(str(stopped), again, torn=again % 2 == 1), heal):
            check_whole(stopped, before, want, heal)
            assert read_kind(stopped, A) in ("interrupted", "stale", "current", "absent")
            write_folders(str(stopped), *give(A))
            assert read_tree(stopped) == {**lay(A), NOTE: b"mine"}
            shutil.rmtree(stopped)
            shutil.copytree(kept, stopped)
            again += 5
        assert read_kind(stopped, heal) == ("current" if heal else "absent")


@pytest.mark.parametrize("name", ["notes.txt", "new/notes.txt", "place/notes.txt"])
def test_somebody_s_file_put_into_a_half_written_folder_survives(tmp_path: Path, name: str) -> None:
    note = f"{UNIT}/{name}"
    for _ in list_stops(tmp_path, SMALL, B):
        (tmp_path / note).parent.mkdir(exist_ok=True)
        (tmp_path / note).write_bytes(b"mine")
        before = read_tree(tmp_path)
        for want in (B, C, None):
            (result,) = write_folders(str(tmp_path), *give(want), discard_edits=True)
            assert (result.before.kind, result.before.foreign) == ("foreign", (name,))
            assert read_tree(tmp_path) == before
        (tmp_path / note).unlink()
        write_folders(str(tmp_path), *give(C))
        assert read_tree(tmp_path) == {**lay(C), NOTE: b"mine"}


def test_edit_of_a_half_written_folder_is_seen(tmp_path: Path) -> None:
    for _ in list_stops(tmp_path, A, B):
        (tmp_path / UNIT / "a.yaml").write_bytes(b"mine")
        before = read_tree(tmp_path)
        (result,) = write_folders(str(tmp_path), *give(B))
        assert (result.before.kind, result.before.edited) == ("edited", ("a.yaml",))
        assert read_tree(tmp_path) == before
        write_folders(str(tmp_path), *give(B), discard_edits=True)
        assert read_tree(tmp_path) == {**lay(B), NOTE: b"mine"}


def test_edits_once_given_up_do_not_stop_the_next_run(tmp_path: Path) -> None:
    stop = 0
    while True:
        start_tree(tmp_path, A)
        (tmp_path / UNIT / "a.yaml").write_bytes(b"mine")
        disk = StoppingDisk(str(tmp_path), stop)
        try:
            write_folders(str(tmp_path), *give(B), disk=lambda _, disk=disk: disk, discard_edits=True)
        except Stopped:
            begun = (tmp_path / UNIT / JOURNAL_NAME).exists()
            assert read_kind(tmp_path, B) == ("interrupted" if begun else "edited")
        else:
            break
        stop += 1
    assert stop > 15
    assert read_kind(tmp_path, B) == "current"


# --- power cuts --------------------------------------------------------------------------------------------------


class LossyDisk(StoppingDisk):
    """Remembers what a power cut may undo: any of the changes in a folder since it was last synced, each by itself.

    That is more than a journalling file system loses; a file's own bytes are safe, `write_temp` synced them.
    """

    def __init__(self, root: str, stop: int, unsynced: dict[str, dict[str, list[bytes | None]]]) -> None:
        super().__init__(root, stop)
        self.unsynced = unsynced  # folder -> name in it -> what may be there again, b"/" for a folder

    def _note(self, path: str) -> None:
        place = Path(self.root, path)
        then = b"/" if place.is_dir() else place.read_bytes() if place.is_file() else None
        folder, _, name = path.rpartition("/")
        self.unsynced.setdefault(folder, {}).setdefault(name, []).append(then)

    def make_folder(self, path: str) -> bool:
        if self.left and not Path(self.root, path).exists():
            self._note(path)
        return super().make_folder(path)

    def rename(self, temp: str, path: str) -> None:
        if self.left:
            self._note(temp)
            self._note(path)
        super().rename(temp, path)

    def remove(self, path: str) -> None:
        if self.left:
            self._note(path)
        super().remove(path)

    def remove_folder(self, path: str) -> bool:
        if self.left and Path(self.root, path).exists() and not any(Path(self.root, path).iterdir()):
            self._note(path)
            self.unsynced.pop(path, None)
        return super().remove_folder(path)

    def sync_folder(self, path: str) -> None:
        super().sync_folder(path)
        self.unsynced.pop(path, None)

    def cut_power(self, dice: random.Random) -> None:
        for folder, names in sorted(self.unsynced.items()):
            for name, earlier in sorted(names.items()):
                place = Path(self.root, folder, name)
                if dice.random() < 0.5 or not place.parent.is_dir():
                    continue
                then = dice.choice(earlier)
                if place.is_dir():
                    shutil.rmtree(place)
                place.unlink(missing_ok=True)
                if then == b"/":
                    place.mkdir()
                elif then is not None:
                    place.write_bytes(then)
        self.unsynced.clear()


@pytest.mark.parametrize("heal", [A, B, C, None], ids=["to-a", "to-b", "to-c", "to-nothing"])
@pytest.mark.parametrize(("before", "want"), STEPS.values(), ids=STEPS)
def test_power_cut_during_a_write_or_the_healing_of_a_killed_one(
    tmp_path: Path, before: Want, want: Want, heal: Want
) -> None:
    """Kill a writer, let the next one run until the power is cut; nothing of ours may look like somebody's work."""
    dice = random.Random(f"{before} {want} {heal}")
    for _ in range(25):
        start_tree(tmp_path, before)
        disk = LossyDisk(str(tmp_path), dice.randrange(30), {})
        write_until(disk, want)
        if dice.random() < 0.7:
            disk = LossyDisk(str(tmp_path), dice.randrange(30), disk.unsynced)
            write_until(disk, heal)
        disk.cut_power(dice)
        check_whole(tmp_path, before, want, heal)
        for asked in (A, B, C, None):
            assert read_kind(tmp_path, asked) in ("absent", "current", "stale", "interrupted")
        write_folders(str(tmp_path), *give(heal))
        assert read_tree(tmp_path) == {**lay(heal), NOTE: b"mine"}


@pytest.mark.parametrize(("before", "want"), STEPS.values(), ids=STEPS)
def test_what_was_written_outlasts_a_power_cut(tmp_path: Path, before: Want, want: Want) -> None:
    dice = random.Random(f"{before} {want}")
    for _ in range(20):
        start_tree(tmp_path, before)
        disk = LossyDisk(str(tmp_path), 1000, {})
        assert not write_until(disk, want)
        disk.cut_power(dice)  # may bring the journal back: all it says is true
        (tmp_path / UNIT / JOURNAL_NAME).unlink(missing_ok=True)
        assert read_tree(tmp_path) == {**lay(want), NOTE: b"mine"}
