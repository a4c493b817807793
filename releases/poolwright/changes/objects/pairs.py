"""The objects of one cluster before and after, each with its other self."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from poolwright.objects.kubernetes import Object

# Names that end with a hash of what the object says: ours of claim templates, and Kustomize's of its generators.
_HASHED: Final = {
    ("resource.k8s.io", "ResourceClaimTemplate"): re.compile(r"(.+-devices)-[0-9a-f]{10}"),
    ("", "ConfigMap"): re.compile(r"(.+)-[2456789bcdfghkmt]{10}"),
    ("", "Secret"): re.compile(r"(.+)-[2456789bcdfghkmt]{10}"),
}


@dataclass(frozen=True, slots=True, order=True)
class Identity:
    """What the API server tells objects apart by, the version left out."""

    kind: str
    namespace: str  # empty: none is written
    name: str
    group: str

    @property
    def title(self) -> str:
        """How findings call it: `Deployment "chat/vllm"`."""
        return f'{self.kind} "{self.namespace}/{self.name}"' if self.namespace else f'{self.kind} "{self.name}"'


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitObject:
    """A finished object and the unit whose Application applies it."""

    unit: str  # the placement, `platform` or `argocd`; of plain manifests what their folder is called, or empty
    value: Object  # with apiVersion, kind and metadata.name; never changed here

    @property
    def identity(self) -> Identity:
        """Group, kind, namespace and name; what is missing or no text is empty."""
        metadata = self.value.get("metadata")
        named = metadata if isinstance(metadata, dict) else {}
        return Identity(
            kind=_text(self.value.get("kind")),
            namespace=_text(named.get("namespace")),
            name=_text(named.get("name")),
            group=_text(self.value.get("apiVersion")).rpartition("/")[0],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One object on both sides, or on the one where it is; never None twice."""

    before: UnitObject | None
    after: UnitObject | None
    is_equal: bool  # same value, whichever units apply it

    @property
    def last(self) -> UnitObject:
        """It as it is in the end: of the head if it is there."""
        found = self.after or self.before
        if found is None:
            raise AssertionError("a pair of nothing")
        return found

    @property
    def changed(self) -> tuple[UnitObject, UnitObject] | None:
        """Both sides where they differ; None: equal, new or gone."""
        return (self.before, self.after) if self.before and self.after and not self.is_equal else None


def pair_objects(before: Iterable[UnitObject], after: Iterable[UnitObject]) -> tuple[Pair, ...]:
    """Every object of either side once, sorted by identity.

    One that several units have is paired unit by unit first. A removed object and an added one whose names differ in
    their hash alone are one that changed, where there is one of each.
    Cost: linear; equal objects are compared once, and not at all where both sides are the same value.
    """
    old, new = _index(before), _index(after)
    pairs = [pair for one in sorted(old.keys() | new.keys()) for pair in _pair(old.get(one, []), new.get(one, []))]
    return tuple(_join_renamed(pairs))


def is_same(one: Any, other: Any) -> bool:
    """Whether two JSON-like values are equal in their types too: 1, 1.0, true and "1" are four values."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return len(one) == len(other) and all(key in other and is_same(part, other[key]) for key, part in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return bool(one == other)


def _index(objects: Iterable[UnitObject]) -> dict[Identity, list[UnitObject]]:
    found: dict[Identity, list[UnitObject]] = {}
    for obj in objects:
        found.setdefault(obj.identity, []).append(obj)
    return found


def _pair(old: Sequence[UnitObject], new: Sequence[UnitObject]) -> Iterator[Pair]:
    if len(old) == 1 and len(new) == 1:
        yield _build(old[0], new[0])
        return
    rest = sorted(new, key=lambda obj: obj.unit)
    left: list[UnitObject] = []
    for obj in sorted(old, key=lambda obj: obj.unit):
        partner = next((other for other in rest if other.unit == obj.unit), None)
        if partner is None:
            left.append(obj)
            continue
        rest.remove(partner)
        yield _build(obj, partner)
    for index in range(max(len(left), len(rest))):
        yield _build(left[index] if index < len(left) else None, rest[index] if index < len(rest) else None)


def _build(before: UnitObject | None, after: UnitObject | None) -> Pair:
    is_equal = before is not None and after is not None and is_same(before.value, after.value)
    return Pair(before=before, after=after, is_equal=is_equal)


def _join_renamed(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """The pairs with what is removed and added under another hash as one, where the added one stands."""
    removed: dict[tuple[str, ...], list[Pair]] = {}
    added: dict[tuple[str, ...], list[Pair]] = {}
    for pair in pairs:
        stem = _find_stem(pair)
        if stem is not None:
            (removed if pair.after is None else added).setdefault(stem, []).append(pair)
    joined: dict[int, Pair] = {}
    gone: set[int] = set()
    for stem, olds in removed.items():
        news = added.get(stem, [])
        if len(olds) == len(news) == 1:
            joined[id(news[0])] = Pair(before=olds[0].before, after=news[0].after, is_equal=False)
            gone.add(id(olds[0]))
    for pair in pairs:
        if id(pair) not in gone:
            yield joined.get(id(pair), pair)


def _find_stem(pair: Pair) -> tuple[str, ...] | None:
    if pair.before and pair.after:
        return None
    identity = pair.last.identity
    pattern = _HASHED.get((identity.group, identity.kind))
    found = pattern.fullmatch(identity.name) if pattern else None
    return (identity.kind, identity.namespace, found[1]) if found else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
