"""Which spec lines a rendered field follows from: found by changing each spec value and building again.

Rendering is a pure function of the specs, so its dependencies can be measured instead of written down: a field follows
from a spec value if another value there gives another field. Nothing has to be kept in step with the builders. A place
that is named does decide the field: a build has shown it. One that isn't named may still: only a few other values of
each field are tried, one field at a time. It costs a few builds of the unit per spec value, and only `explain` pays it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from poolwright.objects.built import Built, list_changes, list_leaves
from poolwright.objects.kubernetes import Object, identify
from poolwright.objects.other_values import other_values
from poolwright.specs.document import Document
from poolwright.specs.place import FieldPath, Place, render_field
from poolwright.specs.schema import Schema, build_schema, field_schema

Build = Callable[[Mapping[str, Any]], Sequence[Object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A spec that a unit is built from."""

    key: str  # what links and changes call it
    kind: str
    document: Document


@dataclass(frozen=True, slots=True)
class End:
    """One end of a link: a value in a source."""

    key: str
    path: FieldPath


Link = tuple[End, ...]  # values that are equal in every valid project: a name and the references to it


def trace_objects(sources: Sequence[Source], links: Sequence[Link], build: Build) -> tuple[Built, ...]:
    """What `build({})` gives, each object with its origins.

    build: builds again with the plain value of some sources, by key, replaced; objects in any order, no two of one
           kind, namespace and name. Raises ValueError where the changed specs mean nothing: then the change says
           nothing.
    Cost:  nothing until origins are asked for; then, once for all objects, a few builds per spec value.
    """
    objects = tuple(build({}))

    @cache
    def measured() -> Mapping[tuple[int, str], frozenset[Place]]:
        return _measure(objects, sources, links, build)

    def find(number: int) -> Callable[[], Mapping[str, Sequence[Place]]]:
        return lambda: {
            pointer: tuple(sorted(measured().get((number, pointer), ()))) for pointer in list_leaves(objects[number])
        }

    return tuple(Built(document=document, find_origins=find(number)) for number, document in enumerate(objects))


def _measure(
    objects: Sequence[Object], sources: Sequence[Source], links: Sequence[Link], build: Build
) -> dict[tuple[int, str], frozenset[Place]]:
    found: dict[tuple[int, str], set[Link]] = {}
    single = [(end,) for link in links for end in link if len(link) > 1]
    for link, changed in _list_changes(sources, [*links, *single]):
        try:
            after = build(changed)
        except ValueError:
            continue
        for number, new in _pair_objects(objects, after):
            for pointer in list_changes(objects[number], new):
                found.setdefault((number, pointer), set()).add(link)
    documents = {source.key: source.document for source in sources}
    return {
        leaf: frozenset(_place(documents[end.key], end.path) for end in _innermost(_decisive(found_links)))
        for leaf, found_links in found.items()
    }


def _decisive(links: set[Link]) -> set[End]:
    """The ends of the links; of one that holds an end which changes the field alone, only such ends."""
    alone = {link[0] for link in links if len(link) == 1}
    return {end for link in links for end in link if end in alone or not alone.intersection(link)}


def _pair_objects(before: Sequence[Object], after: Sequence[Object]) -> Iterator[tuple[int, Object]]:
    """Numbers of objects before, each with what it is after.

    An object keeps its kind, namespace and name, or is renamed: then it is the new one of its kind that differs in
    the fewest leaves. One that is gone has no pair: none of its fields has another value.
    """
    appeared = {identify(document): document for document in after}
    if len(appeared) < len(after):  # two of one name: no project renders that
        return
    vanished = []
    for number, document in enumerate(before):
        same = appeared.pop(identify(document), None)
        if same is None:
            vanished.append(number)
        else:
            yield number, same
    likeness = {
        (number, identity): -sum(1 for _ in list_changes(before[number], document))
        for number in vanished
        for identity, document in appeared.items()
        if identity[0] == before[number]["kind"]
    }
    while likeness:
        number, identity = max(likeness, key=lambda pair: likeness[pair])
        yield number, appeared[identity]
        likeness = {pair: n for pair, n in likeness.items() if pair[0] != number and pair[1] != identity}


def _innermost(ends: set[End]) -> Iterator[End]:
    """The ends without the maps and lists that another end is in: that one says it more exactly."""
    around = {(end.key, end.path[:length]) for end in ends for length in range(len(end.path))}
    return (end for end in ends if (end.key, end.path) not in around)


def _list_changes(sources: Sequence[Source], links: Sequence[Link]) -> Iterator[tuple[Link, dict[str, Any]]]:
    """Everything that is changed, with the plain values of the sources that it changes.

    The links as a whole; each other scalar by itself, written or by default; and what is written and needn't be, left
    out: optional values, and entries of lists and maps.
    """
    by_key = {source.key: source for source in sources}
    linked = {end for link in links for end in link}
    links = list(links)
    for source in sources:
        schema = _schema(source.kind)
        ends = (End(source.key, path) for path in _list_scalars(source.document.value, schema, schema, ()))
        links += [(end,) for end in ends if end.path not in (("apiVersion",), ("kind",)) and end not in linked]
    for link in links:
        for changed in _change(by_key, link):
            yield link, changed
    for source in sources:
        schema = _schema(source.kind)
        for path in _list_optional(source.document.value, schema, ()):
            plain = copy.deepcopy(source.document.value)
            del _value_at(plain, path[:-1])[path[-1]]
            yield (End(source.key, path),), {source.key: plain}


def _list_scalars(value: Any, schema: Schema, node: Schema, path: FieldPath) -> Iterator[FieldPath]:
    """Paths of scalars, in schema order; those that aren't written count where every map on the way has a default."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _list_scalars(item, schema, field_schema(schema, (*path, index)) or {}, (*path, index))
    elif isinstance(value, dict) or (value is None and "properties" in node):
        written = value or {}
        for name in dict.fromkeys((*node.get("properties", {}), *written)):
            below = field_schema(schema, (*path, name)) or {}
            if name in written or name not in node.get("required", ()):
                yield from _list_scalars(written.get(name), schema, below, (*path, name))
    elif "properties" not in node and node.get("type") not in ("array", "object"):
        yield path


def _list_optional(value: Any, schema: Schema, path: FieldPath) -> Iterator[FieldPath]:
    """Paths of what is written and may be left out; a list may still need one entry."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield (*path, index)
            yield from _list_optional(item, schema, (*path, index))
    elif isinstance(value, dict):
        required = (field_schema(schema, path) or {}).get("required", ())
        for name, item in value.items():
            if name not in required:
                yield (*path, name)
            yield from _list_optional(item, schema, (*path, name))


def _change(by_key: Mapping[str, Source], link: Link) -> Iterator[dict[str, Any]]:
    """The sources' plain values with all ends of the link set to another value, for a few other values."""
    first = by_key[link[0].key]
    schema = field_schema(_schema(first.kind), link[0].path) or {}
    for other in other_values(schema, _value_at(first.document.value, link[0].path)):
        changed: dict[str, Any] = {}
        for end in link:
            if end.key not in changed:
                changed[end.key] = copy.deepcopy(by_key[end.key].document.value)
            _set(changed[end.key], end.path, other)
        yield changed


@cache
def _schema(kind: str) -> Schema:
    return build_schema(kind)


def _value_at(value: Any, path: FieldPath) -> Any:
    for step in path:
        if value is None:
            return None
        value = value.get(step) if isinstance(value, dict) else value[step]
    return value


def _set(plain: Any, path: FieldPath, value: Any) -> None:
    for step, following in zip(path, (*path[1:], None), strict=True):
        if following is None:
            plain[step] = value
        elif isinstance(plain, dict):
            plain = plain.setdefault(step, {})
        else:
            plain = plain[step]


def _place(document: Document, path: FieldPath) -> Place:
    """Where the value stands; for one that isn't written, its nearest parent, and the field marked as its default."""
    place, field = document.place(path), render_field(path)
    if place.field == field:
        return place
    return Place(place.file, place.line, place.column, f"{field} (default)")
