"""The trust file on disk: the sidecar's own, never one that a repository could bring."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

import msgspec

from poolwright.files.import_path import find_inside_project
from poolwright.specs.document import MAX_SPEC_BYTES
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place
from poolwright.trust.policy import TrustPolicy, parse_trust

TRUST: Final = "POOLWRIGHT_TRUST"
TRUST_FILE: Final = "/etc/poolwright/trust.yaml"


class Reader(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks for the trust file, in the words of what is wrong with it."""

    rule: str
    why_needed: str
    fix_missing: str
    why_outside: str
    fix_inside: str


_SIDECAR: Final = Reader(
    rule="poolwright trust in parameters",
    why_needed="it says which Argo CD projects may have which units; without one nobody may have any",
    fix_missing=f"mount one there (kind: TrustPolicy, with `allow`), or name it in {TRUST} of the sidecar",
    why_outside="who may write to a repository would decide what they may have",
    fix_inside=f"mount it from outside, at {TRUST_FILE}, or name another in {TRUST} of the sidecar",
)


def trust_path(environ: Mapping[str, str]) -> str:
    """Where the trust file is."""
    return environ.get(TRUST) or TRUST_FILE


def read_trust(path: str, folders: tuple[str, ...], reader: Reader = _SIDECAR) -> TrustPolicy:
    """The trust file. Links are followed: a ConfigMap's files are links.

    folders: what was sent by Argo CD, say; neither these nor any project may hold the file, by its name or its links.
    Raises:  SpecError if it isn't there, lies where a repository could put it, or has anything wrong in it.
    """
    real = os.path.realpath(path)
    sent = tuple(f"{os.path.realpath(folder)}/" for folder in folders)
    for place in (os.path.abspath(path), real):  # noqa: PTH100 (start-up: no pathlib)
        if place.startswith(sent) or find_inside_project([os.path.dirname(place)]):  # noqa: PTH120
            raise SpecError([_inside(path, reader)])
    try:
        text = _read(real)
    except FileNotFoundError:
        raise SpecError([_missing(path, "isn't there", reader)]) from None
    except OSError as error:
        raise SpecError([_missing(path, f"can't be read: {(error.strerror or '').lower()}", reader)]) from None
    return parse_trust(text, path)


def _read(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        return os.read(file, MAX_SPEC_BYTES + 1)  # a longer one is refused by its reader
    finally:
        os.close(file)


def _missing(path: str, reason: str, reader: Reader) -> Finding:
    return Finding(
        code="trust-missing",
        severity="error",
        place=Place(path),
        what=f"the trust file {reason}",
        why=reader.why_needed,
        rule=reader.rule,
        fix=reader.fix_missing,
    )


def _inside(path: str, reader: Reader) -> Finding:
    return Finding(
        code="trust-inside",
        severity="error",
        place=Place(path),
        what="the trust file lies in a project",
        why=reader.why_outside,
        rule=reader.rule,
        fix=reader.fix_inside,
    )
