"""Private keys: read from a file or a descriptor, and written once. No message shows what was read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from poolwright.attestations.keys import (
    MAX_KEY_BYTES,
    SEED_BYTES,
    KeyRefusedError,
    PrivateKey,
    build_private_key,
    parse_private_key,
    render_private_key,
)
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place

_RULE: Final = "poolwright releases"
_WHY: Final = "who signs has to have the private key, and nothing else is taken for it"


def read_keys(files: Sequence[str], descriptors: Sequence[int]) -> tuple[PrivateKey, ...]:
    """Each key once, in that order: of files, then of descriptors, which are closed.

    Raises: SpecError with everything that is wrong with them.
    """
    keys: dict[str, PrivateKey] = {}
    problems: list[Finding] = []
    sources: list[tuple[str, str | int]] = [(one, one) for one in files]
    sources += [(f"--key-fd {one}", one) for one in descriptors]
    for place, source in sources:
        try:
            key = parse_private_key(_read(source))
        except KeyRefusedError as error:
            problems.append(_build_unusable(place, error.what, error.fix))
        except OSError as error:
            what = f"it can't be read: {(error.strerror or 'unknown').lower()}"
            problems.append(
                _build_unusable(place, what, "name a file or an open descriptor that holds the private key")
            )
        else:
            keys.setdefault(key.public.id, key)
    if problems:
        raise SpecError(problems)
    return tuple(keys.values())


def write_new_key(path: str) -> PrivateKey:
    """A new Ed25519 key, in a file that wasn't there and that only this user may read.

    Raises: SpecError if something is there already; OSError that names the file.
    """
    key = build_private_key(os.urandom(SEED_BYTES))
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise SpecError([_build_taken(path)]) from None
    try:
        with open(file, "wb") as stream:  # noqa: PTH123 (start-up: no pathlib)
            stream.write(render_private_key(key))
            stream.flush()
            os.fsync(file)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108
        if isinstance(error, OSError):
            error.filename = path
        raise
    return key


def _read(source: str | int) -> bytes:
    """A key's text, and a byte more of a longer one. The descriptor is handed on to no other program."""
    if isinstance(source, int):
        os.set_inheritable(source, False)
    else:
        source = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
    with open(source, "rb", buffering=0) as stream:  # noqa: PTH123
        text = b""
        while len(text) <= MAX_KEY_BYTES and (more := stream.read(MAX_KEY_BYTES + 1 - len(text))):
            text += more
    return text


def _build_unusable(place: str, what: str, fix: str) -> Finding:
    return Finding(code="key-unusable", severity="error", place=Place(place), what=what, why=_WHY, rule=_RULE, fix=fix)


def _build_taken(path: str) -> Finding:
    return Finding(
        code="key-taken",
        severity="error",
        place=Place(path),
        what="there is something of that name already",
        why="a key that is overwritten is gone, and what it signed can be signed no more",
        rule=_RULE,
        fix="name another file",
    )
