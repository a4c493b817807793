"""How far a long command is, in one line on a terminal: it is written over, and gone when the command is done."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Final

from poolwright.specs.finding import escape_controls

_ERASE: Final = "\r\x1b[K"


class Progress:
    """A line on stderr, where that is a terminal that can erase one; elsewhere nothing.

    Where the terminal is gone there is nobody to tell, and the command goes on.
    """

    def __init__(self) -> None:
        self._head = ""  # in front of every line
        self._is_shown = _is_terminal()
        self._is_dirty = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.erase()

    def each(self, names: Sequence[str]) -> Iterator[str]:
        """The names, one by one; what is told meanwhile is of the one that was taken last."""
        for number, name in enumerate(names, 1):
            self._head = f"{name} ({number} of {len(names)}): "
            yield name
        self._head = ""

    def tell(self, doing: str) -> None:
        """What is being done; as many columns of it as the terminal has."""
        if self._is_shown:
            self._write(_ERASE + escape_controls(self._head + doing)[: _count_columns() - 1])
            self._is_dirty = True

    def erase(self) -> None:
        """Leave the terminal as it was."""
        if self._is_dirty:
            self._write(_ERASE)
            self._is_dirty = False

    def _write(self, text: str) -> None:
        # Past the stream's buffer: what a terminal that is gone doesn't take would be tried again on the way out.
        with suppress(OSError):
            os.write(sys.stderr.fileno(), text.encode("utf-8", "backslashreplace"))


def _is_terminal() -> bool:
    """Whether stderr is a terminal that knows how to erase a line. Colors are never used, so NO_COLOR has no say."""
    try:
        return sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
    except ValueError:  # it is closed
        return False


def _count_columns() -> int:
    with suppress(OSError, ValueError):
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    return 80
