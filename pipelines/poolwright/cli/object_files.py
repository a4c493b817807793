"""Files of plain Kubernetes objects, as they are named on a command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.parse_objects import parse_objects
from poolwright.specs.document import Document, parse_documents
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place

MAX_BYTES: Final = 64 << 20
STDIN: Final = "-"


def read_object_files(files: Sequence[str], problems: list[Finding]) -> Iterator[tuple[str, tuple[Document, ...]]]:
    """Each file's name as it is shown, and its documents; of what can't be read the problems are added instead.

    files: paths as typed, `-` for standard input; one that is named twice is read once.
    """
    for file in dict.fromkeys(files):
        name = "stdin" if file == STDIN else file.replace(os.sep, "/")
        try:
            yield name, parse_documents(_read(file, name), name, max_bytes=MAX_BYTES)
        except SpecError as error:
            problems += error.findings


def read_objects(files: Sequence[str]) -> ClusterObjects:
    """The objects of one cluster, from files that each hold some; paths as read_object_files takes them.

    Raises: SpecError with everything that can't be read.
    """
    problems: list[Finding] = []
    documents: list[Document] = []
    for name, found in read_object_files(files, problems):
        if not found:
            problems.append(build_empty(name))
        documents += found
    if problems:
        raise SpecError(problems)
    return parse_objects(documents)


def build_empty(name: str) -> Finding:
    """What is said of a file without an object."""
    return Finding(
        code="objects-empty",
        severity="error",
        place=Place(name),
        what="there is no object in it",
        why="whatever was to print objects most likely failed, and nothing would look like nothing wrong",
        rule="poolwright check",
        fix="see what the command before the pipe said, or leave the file out",
    )


def _read(file: str, name: str) -> bytes:
    """At most one byte more than is allowed, which is refused as too much."""
    try:
        if file == STDIN:
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with open(file, "rb") as opened:  # noqa: PTH123 (start-up: no pathlib)
            return opened.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SpecError([_unreadable(name, reason)]) from None


def _unreadable(name: str, reason: str) -> Finding:
    return Finding(
        code="file-unreadable",
        severity="error",
        place=Place(name),
        what=f"the file can't be read: {reason}",
        why="objects are judged together, so none is judged without the others",
        rule="poolwright check",
        fix="name files that hold manifests, or - for standard input",
    )
