"""Objects as they are stored: one process of git for many of them."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from poolwright.git.process import Running, Store, start_git
from poolwright.git.refusals import refuse_limit, refuse_object, shorten_words

_HEADER: Final = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64}) (commit|tree|blob|tag) ([0-9]{1,19})")
_NOT_FETCHED: Final = re.compile(rb"could not fetch ([0-9a-f]{40,64}) from promisor remote")


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What an object is, without what is in it."""

    id: str
    kind: str  # commit, tree, blob or tag
    size_bytes: int


class Reader:
    """Reads objects one after another."""

    def __init__(self, running: Running) -> None:
        self._running = running

    def read(self, name: str, kind: str, *, max_bytes: int) -> tuple[str, bytes] | None:
        """The id and the contents of what a name means; None: nothing, or nothing that can be told.

        name:   an id, or what else git takes for one object; one line. It reaches git on stdin and is no option.
        Raises: SpecError if it is of another kind, larger than max_bytes, or can't be read.
        """
        self._running.write(name.encode("utf-8", "surrogateescape") + b"\n")
        return self.read_next(name, kind, max_bytes=max_bytes)

    def read_next(self, name: str, kind: str, *, max_bytes: int) -> tuple[str, bytes] | None:
        """The same of what was asked for already."""
        header = read_header(self._running, name)
        if header is None:
            return None
        if header.kind != kind:
            raise refuse_object(f"object {header.id} is a {header.kind}, where a {kind} is named")
        if header.size_bytes > max_bytes:
            raise refuse_limit(f"{kind} {header.id} has {header.size_bytes:,} bytes, and {max_bytes:,} is the most")
        data = self._running.read_exactly(header.size_bytes + 1)
        if len(data) <= header.size_bytes:
            raise refuse_damaged(self._running, name)
        return header.id, data[:-1]

    def end(self) -> bytes:
        """Ask for no more; what git said on stderr."""
        return self._running.end()[1]


@contextmanager
def open_objects(store: Store) -> Iterator[Reader]:
    """A reader of objects; a process of git as long as the context lasts."""
    with start_git(store, "cat-file", "--batch", stdin=subprocess.PIPE) as running:
        yield Reader(running)


def read_each(store: Store, ids: Iterable[str], kind: str, *, max_bytes: int) -> Generator[bytes]:
    """The contents of objects, in this order, each read when it is asked for.

    Raises: SpecError if one is missing, of another kind, larger than max_bytes, or can't be read.
    """
    with _ask(store, ids, "--batch") as (running, names):
        reader = Reader(running)
        for name in names:
            found = reader.read_next(name, kind, max_bytes=max_bytes)
            if found is None:
                raise refuse_absent(kind, name)
            yield found[1]


def read_headers(store: Store, ids: Iterable[str]) -> dict[str, Header | None]:
    """What objects are, by id; None: missing."""
    with _ask(store, ids, "--batch-check") as (running, names):
        return {name: read_header(running, name) for name in names}


@contextmanager
def _ask(store: Store, ids: Iterable[str], how: str) -> Iterator[tuple[Running, list[str]]]:
    names = list(ids)
    with tempfile.TemporaryFile(prefix="poolwright-") as questions:  # a file: neither side waits for the other
        questions.writelines(name.encode("ascii") + b"\n" for name in names)
        questions.seek(0)
        with start_git(store, "cat-file", how, stdin=questions) as running:
            yield running, names


def read_header(running: Running, name: str) -> Header | None:
    """The line that says what an object is; None: git says that there is none, or that there are several."""
    line = running.read_line()
    if line is None:
        raise refuse_damaged(running, name)
    match = _HEADER.fullmatch(line)
    if match is None:
        return None
    return Header(id=match[1].decode(), kind=match[2].decode(), size_bytes=int(match[3]))


def refuse_absent(kind: str, name: str) -> Exception:
    """The error for an object that another one names and that isn't in the store."""
    return refuse_object(f"{kind} {name} isn't in the repository")


def refuse_damaged(running: Running, name: str) -> Exception:
    """The error for an object that git stops at, with its reason."""
    stderr = running.end()[1]
    lacking = _NOT_FETCHED.search(stderr)
    if lacking is not None:
        return refuse_object(f"object {lacking[1].decode()} isn't in this partial clone")
    return refuse_object(f"git can't read {name}: {shorten_words(stderr)}")
