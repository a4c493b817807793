"""Kubernetes objects as somebody wrote them, and where each of their fields stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from poolwright.objects.kubernetes import Object
from poolwright.specs.document import Document
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import FieldPath, Place, render_field

Locate = Callable[[FieldPath], Place]  # for a path that isn't there, where its nearest parent stands


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedObject:
    """An object with apiVersion and kind; below those, anything may be missing or of another type."""

    value: Object
    locate: Locate
    locate_key: Locate

    @property
    def api_version(self) -> str:
        """Group and version."""
        return str(self.value.get("apiVersion", ""))

    @property
    def kind(self) -> str:
        """The kind."""
        return str(self.value.get("kind", ""))

    @property
    def name(self) -> str:
        """The name; empty where there is none (`generateName`)."""
        return self.root.get("metadata", "name").text

    @property
    def namespace(self) -> str:
        """The namespace; empty where none is written, which for a namespaced object says nothing."""
        return self.root.get("metadata", "namespace").text

    @property
    def title(self) -> str:
        """How findings call it: `Deployment "vllm"`."""
        return f'{self.kind} "{self.name}"' if self.name else self.kind

    @property
    def root(self) -> Field:
        """The whole object as a field."""
        return Field(self, (), self.value)

    def is_of(self, group: str, *kinds: str) -> bool:
        """Whether it is of one of these kinds of an API group, in any version; "" is the core group."""
        return self.kind in kinds and self.api_version.rpartition("/")[0] == group


@dataclass(frozen=True, slots=True)
class Field:
    """A value in an object, there or not: reading one that isn't there, or is of another type, gives nothing."""

    owner: PlacedObject
    path: FieldPath
    value: Any

    def get(self, *keys: str) -> Field:
        """The field below by keys."""
        value = self.value
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return Field(self.owner, (*self.path, *keys), value)

    def list_items(self) -> tuple[Field, ...]:
        """The entries of a list; none of anything else."""
        if not isinstance(self.value, list):
            return ()
        return tuple(Field(self.owner, (*self.path, index), value) for index, value in enumerate(self.value))

    def list_entries(self) -> tuple[tuple[str, Field], ...]:
        """The keys of a map with their values, in the order written; none of anything else."""
        return tuple((key, self.get(key)) for key in self.value) if isinstance(self.value, dict) else ()

    @property
    def text(self) -> str:
        """The value of a string; empty of anything else."""
        return self.value if isinstance(self.value, str) else ""

    @property
    def number(self) -> int | None:
        """The value of an integer."""
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else None

    @property
    def is_set(self) -> bool:
        """Whether something stands there; null is nothing, as for the API server."""
        return self.value is not None

    @property
    def place(self) -> Place:
        """Where the value stands."""
        return self.owner.locate(self.path)

    @property
    def key_place(self) -> Place:
        """Where the key stands, of a list's entry the entry."""
        return self.owner.locate_key(self.path)


def parse_objects(documents: Iterable[Document]) -> tuple[PlacedObject, ...]:
    """The objects in documents, those of kubectl's lists one by one, in order.

    Raises: SpecError with every document or item that is no object.
    """
    problems: list[Finding] = []
    objects = tuple(
        placed for document in documents for placed in _find_objects(document, document.value, (), problems)
    )
    if problems:
        raise SpecError(problems)
    return objects


def place_object(value: Object, file: str) -> PlacedObject:
    """An object that was made and not read: its findings name the file and the field, no line."""

    def locate(path: FieldPath) -> Place:
        return Place(file, field=render_field(path))

    return PlacedObject(value=value, locate=locate, locate_key=locate)


def _find_objects(document: Document, value: Any, path: FieldPath, problems: list[Finding]) -> Iterator[PlacedObject]:
    if not isinstance(value, dict) or not all(_is_text(value.get(key)) for key in ("apiVersion", "kind")):
        problems.append(_no_object(document.place(path)))
    elif str(value["kind"]).endswith("List") and isinstance(value.get("items"), list):
        for index, item in enumerate(value["items"]):
            yield from _find_objects(document, item, (*path, "items", index), problems)
    else:
        yield PlacedObject(
            value=value,
            locate=lambda below: document.place((*path, *below)),
            locate_key=lambda below: document.key_place((*path, *below)),
        )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _no_object(place: Place) -> Finding:
    return Finding(
        code="not-an-object",
        severity="error",
        place=place,
        what="this is no Kubernetes object: it has no apiVersion or no kind",
        why="only whole objects can be judged, and a file that is left out could hold what another one names",
        rule="Kubernetes API conventions",
        fix="give manifests only; of a kustomization, what it builds: kubectl kustomize DIR | poolwright check "
        "--objects -",
    )
