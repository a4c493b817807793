"""A packet against what its commit gives: which files differ, in what, and what that comes from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from poolwright.changes.objects.changed import list_object_changes
from poolwright.changes.objects.pairs import UnitObject, pair_objects
from poolwright.changes.report import ObjectChange
from poolwright.packet.index import INDEX, SUMS, PacketIndex
from poolwright.packet.parts import Sealed
from poolwright.plan.report.words import count_of
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import SpecError

_FOLLOWS: Final = {"report.html": "report.json"}  # what is made from another file alone
MAX_SAID: Final = 3  # differences of a file that a sentence names
_MAX_TEXT: Final = 80
_MAX_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDifference:
    """A file that isn't what the commit gives."""

    path: str
    how: str  # a phrase: what differs


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """What came of rebuilding a packet."""

    causes: tuple[str, ...]  # sentences: tool, Kustomize, inputs; of the same of all of them none
    files: tuple[FileDifference, ...]  # sorted by path; none: it is the same, byte for byte

    @property
    def is_same(self) -> bool:
        """Whether the commit gives this packet."""
        return not self.files


def compare_packets(index: PacketIndex, files: Mapping[str, bytes], rebuilt: Sealed) -> Rebuilt:
    """What differs between a packet and its rebuild, and what that comes from.

    index: of the packet. files: of it, by path, packet.json and SHA256SUMS among them.
    """
    found = tuple(_list_files(files, rebuilt.files))
    return Rebuilt(causes=tuple(_list_causes(index, rebuilt.index)) if found else (), files=found)


def _list_causes(recorded: PacketIndex, rebuilt: PacketIndex) -> Iterator[str]:
    old, new = recorded.tool, rebuilt.tool
    if old.poolwright != new.poolwright:
        yield f"tool: it was made by Poolwright {old.poolwright}, and rebuilt by {new.poolwright}"
    if old.render_format != new.render_format:
        yield f"tool: it says render format {old.render_format}, and the commit's lock says {new.render_format}"
    if old.kustomize != new.kustomize:
        yield f"kustomize: it was made with {old.kustomize or 'none'}, and rebuilt with {new.kustomize or 'none'}"
    before, after = ({one.path: one.sha256 for one in side.inputs} for side in (recorded, rebuilt))
    differing = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    if differing:
        yield f"input: {_join(differing)}: not what the commit has"
    if recorded.previous != rebuilt.previous or recorded.sequence != rebuilt.sequence:
        yield (
            f"input: it says that it is number {recorded.sequence} after {_name(recorded)}, and by the commit's own "
            f"releases it is number {rebuilt.sequence} after {_name(rebuilt)}"
        )


def _name(index: PacketIndex) -> str:
    return "none" if index.previous is None else f"{index.previous.name} ({index.previous.digest[7:19]})"


def _list_files(recorded: Mapping[str, bytes], rebuilt: Mapping[str, bytes]) -> Iterator[FileDifference]:
    """Those that differ; of what follows from other files that differ too, only what doesn't follow."""
    differing = sorted(path for path in recorded.keys() | rebuilt.keys() if recorded.get(path) != rebuilt.get(path))
    others = [path for path in differing if path not in (INDEX, SUMS)]
    for path in differing:
        old, new = recorded.get(path), rebuilt.get(path)
        if (path == SUMS and len(differing) > 1) or _FOLLOWS.get(path) in differing:
            continue
        if path == INDEX and old is not None and new is not None:
            said = [one for one in _compare_json(old, new) if not (others and one.startswith("/files"))]
            if said or not others:
                yield FileDifference(path=path, how=_join_all(said) if said else _compare_lines(old, new))
        elif new is None:
            yield FileDifference(path=path, how="the commit gives no such file")
        elif old is None:
            yield FileDifference(path=path, how="the commit gives it, and it isn't there")
        else:
            yield FileDifference(path=path, how=_say_difference(path, old, new))


def _say_difference(path: str, old: bytes, new: bytes) -> str:
    said: list[str] = []
    if path.startswith("manifests/") and path.endswith(".yaml"):
        said = _compare_objects(old, new)
    elif path.endswith(".json"):
        said = _compare_json(old, new)
    return _join_all(said) if said else _compare_lines(old, new)


def _join_all(said: Sequence[str]) -> str:
    more = f", and {len(said) - MAX_SAID} more" if len(said) > MAX_SAID else ""
    return "; ".join(said[:MAX_SAID]) + more


def _compare_objects(old: bytes, new: bytes) -> list[str]:
    sides = []
    try:
        for data in (old, new):
            values = [one.value for one in parse_documents(data, "", max_bytes=_MAX_BYTES)]
            sides.append([UnitObject(unit="", value=one) for one in values if isinstance(one, dict)])
    except SpecError:
        return []
    return [_say_object(one) for one in list_object_changes("", pair_objects(*sides))]


def _say_object(one: ObjectChange) -> str:
    title = f"{one.kind} {one.namespace}/{one.name}" if one.namespace else f"{one.kind} {one.name}"
    if one.change == "added":
        return f"it lacks {title}"
    if one.change == "removed":
        return f"it has {title}, and the commit gives none"
    fields = [field.path for field in one.fields]
    return f"{title} differs in {_join(fields)}"


def _compare_json(old: bytes, new: bytes) -> list[str]:
    try:
        one, other = json.loads(old), json.loads(new)
    except (ValueError, RecursionError):
        return []
    return [
        f"{pointer or 'all of it'}: {_cut(a)}, and the commit gives {_cut(b)}"
        for pointer, a, b in _walk("", one, other)
    ]


def _walk(at: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    """Where two values differ, by JSON pointer."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from _walk(f"{at}/{key}", one.get(key), other.get(key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _walk(f"{at}/{number}", left, right)
    elif one != other or type(one) is not type(other):
        yield at, one, other


def _compare_lines(old: bytes, new: bytes) -> str:
    lines = zip(old.split(b"\n"), new.split(b"\n"), strict=False)
    at = next((number for number, (one, other) in enumerate(lines, 1) if one != other), None)
    if at is None:
        return f"it has {count_of(len(old), 'byte')}, and the commit gives {len(new)}"
    return f"line {at} differs first"


def _cut(value: Any) -> str:
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    text = json.dumps(value)
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}..."


def _join(names: list[str]) -> str:
    more = f" and {len(names) - MAX_SAID} more" if len(names) > MAX_SAID else ""
    return ", ".join(names[:MAX_SAID]) + more
