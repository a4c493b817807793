"""`poolwright init`: a small working repository to edit."""

from __future__ import annotations

from pathlib import Path

from poolwright.cli.output import tell, write_file
from poolwright.files.starter import read_starter
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place


def run_init(folder: str) -> int:
    """Write the starter repository; nothing that exists is touched.

    Raises: SpecError if one of its files is there already; then nothing is written.
    """
    root, files = Path(folder), read_starter()
    if taken := [path for path in files if (root / path).exists() or (root / path).is_symlink()]:
        raise SpecError([_exists(path) for path in taken])
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        write_file(str(root / path), data, new=True)  # another process may have been quicker
        tell(f"wrote {(root / path).as_posix()}")
    tell(f"next: cd {root.as_posix()} && poolwright check && poolwright render")
    return 0


def _exists(path: str) -> Finding:
    return Finding(
        code="init-exists",
        severity="error",
        place=Place(path),
        what=f"{path} exists already",
        why="init writes a new repository and overwrites nothing",
        rule="poolwright init",
        fix="name an empty folder: poolwright init DIR",
    )
