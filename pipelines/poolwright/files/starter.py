"""The small repository that `poolwright init` writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_FOLDER = Path(__file__).parent / "starter"


def read_starter() -> dict[str, bytes]:
    """Its files by path, sorted."""
    return {path.relative_to(_FOLDER).as_posix(): path.read_bytes() for path in sorted(_list_files())}


def _list_files() -> Iterator[Path]:
    return (path for path in _FOLDER.rglob("*") if path.is_file())
