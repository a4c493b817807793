"""What `kubectl get` printed as a snapshot."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from poolwright.catalog.captured import CapturedReader, Source, list_objects
from poolwright.snapshots.cleanse import cleanse, is_secret
from poolwright.snapshots.snapshot import Header, Json, ObjectKey, Snapshot, object_key
from poolwright.specs.canonical import canonical_json
from poolwright.specs.document import Document
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import FieldPath

SOURCE: Final = Source(
    code="snapshot-unreadable",
    rule="poolwright snapshot format",
    why="an object is known by its apiVersion, kind, namespace and name",
    fix="capture it again: kubectl get resourceclaims,pods,resourceslices,nodes -A -o yaml",
)


def build_snapshot(header: Header, documents: Iterable[Document]) -> Snapshot:
    """The objects of documents, single ones and lists, cleansed and in their order.

    Secrets are left out. An object that stands twice and is the same counts once.
    Raises: SpecError with every object that has no name or no canonical form, or stands twice and differs.
    """
    problems: list[Finding] = []
    found: dict[ObjectKey, Json] = {}
    for document in documents:
        reader = CapturedReader(document, problems, SOURCE)
        for item, path in list_objects(reader):
            line = _build_line(reader, item, path)
            if line is not None and found.setdefault(object_key(line), line) != line:
                why = "a cluster has one object of a kind and name, and which of the two it has isn't known"
                reader.note(path, f"{_title(line)} stands a second time and differs", why, "capture it once")
    if problems:
        raise SpecError(problems)
    return Snapshot(header=header, objects=tuple(found[key] for key in sorted(found)))


def _build_line(reader: CapturedReader, item: dict[str, Any], path: FieldPath) -> Json | None:
    """An object's line; None: it is a Secret, or can't be read, which is noted."""
    if is_secret(item):
        return None
    metadata = reader.mapping(item.get("metadata"), (*path, "metadata"))
    named = (
        _has_text(reader, item, "apiVersion", path),
        _has_text(reader, item, "kind", path),
        _has_text(reader, metadata, "name", (*path, "metadata")),
    )
    namespace = reader.text(metadata.get("namespace", ""), (*path, "metadata", "namespace"))
    if not all(named) or namespace != metadata.get("namespace", ""):
        return None
    line = cleanse(item).value
    try:
        canonical_json(line)
    except (TypeError, ValueError, RecursionError) as error:
        why = f"{error}: the same snapshot would have several spellings, and digests"
        reader.note(path, f"{_title(line)} has no canonical form", why, "leave the object out")
        return None
    return line


def _has_text(reader: CapturedReader, value: dict[str, Any], key: str, path: FieldPath) -> bool:
    """Whether a text that isn't empty stands under a key; if not, that is noted."""
    text = reader.text(value.get(key), (*path, key))
    if not text:
        reader.note((*path, key), f"{key} is empty", SOURCE.why)
    return bool(text)


def _title(line: Json) -> str:
    _, kind, namespace, name = object_key(line)
    return f'{kind} "{namespace}/{name}"' if namespace else f'{kind} "{name}"'
