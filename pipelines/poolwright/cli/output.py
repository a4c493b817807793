"""Where words go: stdout is the product, stderr is for everything else."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from poolwright.specs.finding import escape_controls


def tell(line: str) -> None:
    """One line of the product, with nothing in it that could move a terminal's cursor."""
    sys.stdout.write(escape_controls(line) + "\n")


def say(text: str, *, error: bool = False) -> None:
    """Text that is printed as it is: every line of it has been escaped already."""
    (sys.stderr if error else sys.stdout).write(text)


def refuse(option: str, why: str) -> int:
    """Say why an option can't be used, and that there is no answer."""
    say(f"poolwright: {option}: {escape_controls(why)}\n", error=True)
    return 2


def write_file(path: str, data: bytes, *, new: bool = False) -> None:
    """Write a file; with `new` one that isn't there yet. Raises: OSError that names the file, a full disk's too."""
    try:
        with open(path, "xb" if new else "wb") as file:  # noqa: PTH123 (start-up: no pathlib)
            file.write(data)
    except OSError as error:
        error.filename = path
        raise


def write_whole(path: str, data: bytes) -> None:
    """Write a file in one step: whoever reads it, and whatever goes wrong, finds the old one or the new one.

    What isn't a regular file, such as a pipe, is written to; where a link leads, the file there is replaced.
    Raises: OSError that names the file.
    """
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113
        write_file(path, data)
        return
    target = os.path.realpath(path)
    beside = os.path.join(os.path.dirname(target), f".poolwright-{os.getpid()}")  # noqa: PTH118, PTH120
    try:
        try:
            write_file(beside, data, new=True)
            os.replace(beside, target)  # noqa: PTH105
        except BaseException:
            with suppress(OSError):
                os.unlink(beside)  # noqa: PTH108
            raise
    except OSError as error:
        error.filename = path
        raise
