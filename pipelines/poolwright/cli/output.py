"""Where words go: stdout is the product, stderr is for everything else."""

from __future__ import annotations

import sys

from poolwright.specs.finding import escape_controls


def tell(line: str) -> None:
    """One line of the product, with nothing in it that could move a terminal's cursor."""
    sys.stdout.write(escape_controls(line) + "\n")


def say(text: str, *, error: bool = False) -> None:
    """Text that is printed as it is: every line of it has been escaped already."""
    (sys.stderr if error else sys.stdout).write(text)


def write_file(path: str, data: bytes, *, new: bool = False) -> None:
    """Write a file; with `new` one that isn't there yet. Raises: OSError that names the file, a full disk's too."""
    try:
        with open(path, "xb" if new else "wb") as file:  # noqa: PTH123 (start-up: no pathlib)
            file.write(data)
    except OSError as error:
        error.filename = path
        raise
