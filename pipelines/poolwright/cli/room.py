"""A temporary folder of ours, and signals that end a command only once it is removed."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# Ctrl-C, what `kill` and a job's time limit send, and the end of a terminal.
ENDINGS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def make_room(prefix: str) -> Iterator[str]:
    """An empty folder of ours while it is needed: signals wait while it is made and while it is removed.

    Raises: OSError that names where it was to be.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    try:
        with _open_room(prefix) as folder:
            try:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
                yield folder
            finally:
                signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def end_in_order() -> Iterator[None]:
    """SIGTERM and SIGHUP raise KeyboardInterrupt, as Ctrl-C does, so that nothing is left; what is ignored stays so."""
    before = {number: signal.getsignal(number) for number in ENDINGS[1:]}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _open_room(prefix: str) -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix=prefix)
    except OSError as error:
        error.filename = error.filename or "a temporary folder"
        raise
