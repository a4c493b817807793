"""Writers in processes of their own: killed at random moments, read from meanwhile, and two at once.

Run as a program (`python FILE ROOT SEED [TIMES]`) this file is such a writer. It says `ready`, waits for a line, and
then writes one random tree after the other: so many, and says how often it found another writer there; else for ever.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from poolwright.files.disk import DiskError
from poolwright.files.write_folder import check_folders, write_folders
from poolwright.trees.folder import MANIFEST_NAME, Folder, is_own_name
from poolwright.trees.manifest import build_manifest, render_manifest

PATHS = ("overlays/base/chat-70b/2.3.0", "overlays/east/chat-70b", "overlays/east/platform")
NAMES = ("kustomization.yaml", "objects.yaml", "decisions/pins.yaml", "decisions/more/rules.yaml", "swap")
BYTES = 20_000


def build_data(path: str, version: int) -> bytes:
    """Bytes from which their place and length can be told, so that a piece or a mixture of two is seen."""
    line = f"{path} {version}\n".encode()
    return line * (BYTES // len(line)) + b"end\n"


def build_tree(dice: random.Random) -> tuple[list[Folder], list[str]]:
    """A random tree: some folders wanted with some files, the others to vanish; `swap` is a file or a folder."""
    folders, removed = [], []
    for path in PATHS:
        names = [name for name in NAMES if dice.random() < 0.6]
        if not names:
            removed.append(path)
            continue
        names = ["swap/x.yaml" if name == "swap" and dice.random() < 0.5 else name for name in names]
        files = {name: build_data(f"{path}/{name}", dice.randrange(3)) for name in names}
        unit = path.removeprefix("overlays/")
        folders.append(
            Folder(path=path, files=files, unit=unit, closure="sha256:" + dice.choice("ab") * 64, render_format=1)
        )
    return folders, removed


def is_whole(path: str, data: bytes) -> bool:
    """Whether these are all the bytes of one version of the file."""
    name = path.rpartition("/")[2]
    if is_own_name(name):
        return data.endswith(b"}\n")
    return data in [build_data(path, version) for version in range(3)]


def read_tree(root: Path) -> dict[str, bytes]:
    return {place.relative_to(root).as_posix(): place.read_bytes() for place in root.rglob("*") if place.is_file()}


def lay(folders: list[Folder]) -> dict[str, bytes]:
    tree: dict[str, bytes] = {}
    for folder in folders:
        tree |= {f"{folder.path}/{path}": data for path, data in folder.files.items()}
        tree[f"{folder.path}/{MANIFEST_NAME}"] = render_manifest(build_manifest(folder))
    return tree


def start_writer(root: Path, seed: int, times: int | None = None) -> subprocess.Popen[str]:
    """A writer that has said `ready`."""
    arguments = [str(root), str(seed)] + ([] if times is None else [str(times)])
    writer = subprocess.Popen(
        [sys.executable, __file__, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout.readline() == "ready\n"
    return writer


def let_go(writer: subprocess.Popen[str]) -> None:
    writer.stdin.write("go\n")
    writer.stdin.flush()


def test_twenty_killed_writers_leave_whole_files_and_are_healed(tmp_path: Path) -> None:
    dice = random.Random(20)
    note = tmp_path / "overlays" / "east" / "notes.txt"
    note.parent.mkdir(parents=True)
    note.write_bytes(b"mine")
    kinds: list[str] = []
    for seed in range(20):
        with start_writer(tmp_path, seed) as writer:
            let_go(writer)
            time.sleep(dice.uniform(0.0, 0.05))
            writer.kill()
        assert writer.returncode == -9
        for path, data in read_tree(tmp_path).items():
            name = path.rpartition("/")[2]
            assert name.startswith(".poolwright-tmp-") or path.endswith("notes.txt") or is_whole(path, data)
        folders, removed = build_tree(dice)
        results = check_folders(str(tmp_path), folders, removed)
        kinds += [result.before.kind for result in results]
        assert {"edited", "foreign"}.isdisjoint(kinds)
        if seed % 3:  # else the next writer heals, or is killed as well
            assert [r.problems for r in write_folders(str(tmp_path), folders, removed)] == [()] * len(PATHS)
            assert read_tree(tmp_path) == {**lay(folders), "overlays/east/notes.txt": b"mine"}
    assert "interrupted" in kinds  # some were at work on a folder when they were killed


def test_reader_in_another_process_never_sees_part_of_a_file(tmp_path: Path) -> None:
    reads, versions = 0, set()
    with start_writer(tmp_path, 1, times=60) as writer:
        let_go(writer)
        while writer.poll() is None:
            for path in PATHS:
                for name in (*NAMES, "swap/x.yaml", MANIFEST_NAME):
                    try:
                        data = (tmp_path / path / name).read_bytes()
                    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
                        continue
                    assert is_whole(f"{path}/{name}", data)
                    reads += 1
                    versions.add(data)
    assert writer.returncode == 0
    assert reads > 100
    assert len(versions) > 10


def test_two_writers_at_once_keep_each_other_out(tmp_path: Path) -> None:
    with start_writer(tmp_path, 1, times=40) as first, start_writer(tmp_path, 2, times=40) as second:
        let_go(first)
        let_go(second)
        refusals = [int(writer.communicate()[0]) for writer in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0)
    assert sum(refusals) > 0  # they did meet
    # Whoever was last, what stands is exactly one of its trees: every folder whole, none half-way between two.
    for path in PATHS:
        (result,) = check_folders(str(tmp_path), [], [path])
        assert result.before.kind in ("stale", "absent")


def run_writer(root: str, seed: int, times: int | None) -> None:
    dice = random.Random(seed)
    print("ready", flush=True)
    sys.stdin.readline()
    written = refused = 0
    while written != times:
        try:
            results = write_folders(root, *build_tree(dice))
        except DiskError as error:
            if error.finding.code != "tree-locked":
                raise
            refused += 1
            continue
        if problems := [result.problems for result in results if result.problems]:
            raise RuntimeError(str(problems))
        written += 1
    print(refused)


if __name__ == "__main__":
    run_writer(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else None)
