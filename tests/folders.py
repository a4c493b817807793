"""Folders on disk as values: bytes by path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def read_files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by its path from there, sorted."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def write_files(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write files below a folder; the folder."""
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder
