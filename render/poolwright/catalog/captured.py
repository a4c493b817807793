"""Typed access to Kubernetes objects as kubectl prints them: what has another type is noted, with its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from poolwright.specs.document import MAX_PROBLEMS, Document, Plain
from poolwright.specs.finding import Finding
from poolwright.specs.place import FieldPath, render_field
from poolwright.specs.quantity import Quantity, parse_quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What findings say of objects that can't be read."""

    code: str
    rule: str  # whose rule it is that they break
    why: str  # of a value that is missing or of another type
    fix: str


class CapturedReader:
    """Typed access to a document's objects; what has another type is noted once and read as empty."""

    def __init__(self, document: Document, problems: list[Finding], source: Source) -> None:
        """problems: where findings go, those of other documents too."""
        self.document = document
        self.problems = problems
        self.source = source
        self._broken: list[FieldPath] = []

    def about(self, source: Source) -> CapturedReader:
        """The same document, of which other things are said."""
        other = CapturedReader(self.document, self.problems, source)
        other._broken = self._broken
        return other

    def mapping(self, value: Plain, path: FieldPath) -> dict[str, Plain]:
        """A map, without what is null in it: for the API server that is as good as nothing."""
        if isinstance(value, dict):
            return value if None not in value.values() else {key: of for key, of in value.items() if of is not None}
        self._wrong(value, path, "a map")
        return {}

    def sequence(self, value: Plain, path: FieldPath) -> list[Plain]:
        """A list."""
        if isinstance(value, list):
            return value
        self._wrong(value, path, "a list")
        return []

    def text(self, value: Plain, path: FieldPath) -> str:
        """A string."""
        if isinstance(value, str):
            return value
        self._wrong(value, path, "a string")
        return ""

    def flag(self, value: Plain, path: FieldPath) -> bool:
        """true or false."""
        if isinstance(value, bool):
            return value
        self._wrong(value, path, "true or false")
        return False

    def number(self, value: Plain, path: FieldPath, *, least: int) -> int:
        """A whole number of at least `least`."""
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        self._wrong(value, path, f"a whole number of at least {least}")
        return least

    def integer(self, value: Plain, path: FieldPath) -> int:
        """A whole number of 64 bits."""
        if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
            return value
        self._wrong(value, path, "a whole number of 64 bits")
        return 0

    def quantity(self, value: Plain, path: FieldPath, what: str) -> Quantity:
        """A quantity; Kubernetes takes whole numbers too."""
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else self.text(value, path)
        try:
            return parse_quantity(text)
        except ValueError as error:
            self.note(path, f"{what} is no quantity", str(error))
            return parse_quantity("0")

    def note(self, path: FieldPath, what: str, why: str, fix: str = "") -> None:
        """Note a problem, unless it follows from one above it; of a document as many as are of use.

        fix: empty: the one of the source.
        """
        if len(self._broken) >= MAX_PROBLEMS or any(path[: len(broken)] == broken for broken in self._broken):
            return
        self._broken.append(path)
        self.problems.append(
            Finding(
                code=self.source.code,
                severity="error",
                place=self.document.place(path),
                what=what,
                why=why,
                rule=self.source.rule,
                fix=fix or self.source.fix,
            )
        )

    def _wrong(self, value: Plain, path: FieldPath, wanted: str) -> None:
        problem = "is missing" if value is None else f"is not {wanted}"
        self.note(path, f"{render_field(path) or 'the document'} {problem}", self.source.why)


@dataclass(frozen=True, slots=True)
class CapturedField:
    """A value in an object, there or not."""

    reader: CapturedReader
    value: Plain
    path: FieldPath

    def get(self, *keys: str) -> CapturedField:
        """The field below by keys; of what isn't a map that is noted, and nothing is below."""
        value, path = self.value, self.path
        for key in keys:
            value = None if value is None else self.reader.mapping(value, path).get(key)
            path = (*path, key)
        return CapturedField(self.reader, value, path)

    @property
    def is_set(self) -> bool:
        """Whether something stands there."""
        return self.value is not None

    def keys(self) -> tuple[str, ...]:
        """The keys of a map that something stands under, in the order written."""
        return tuple(self.plain())

    def entries(self) -> tuple[tuple[str, CapturedField], ...]:
        """The keys of a map with what stands under them."""
        return tuple((key, self.get(key)) for key in self.keys())

    def items(self) -> tuple[CapturedField, ...]:
        """The entries of a list."""
        listed = [] if self.value is None else self.reader.sequence(self.value, self.path)
        return tuple(CapturedField(self.reader, value, (*self.path, index)) for index, value in enumerate(listed))

    def plain(self) -> dict[str, Plain]:
        """A map as it stands."""
        return {} if self.value is None else self.reader.mapping(self.value, self.path)

    def name(self) -> str:
        """A string that must be there and not empty."""
        text = self.reader.text(self.value, self.path)
        if text == "" and self.value == "":
            self.note("is empty", self.reader.source.why)
        return text

    def text(self) -> str:
        """A string; empty if there is none."""
        return "" if self.value is None else self.reader.text(self.value, self.path)

    def optional_text(self) -> str | None:
        """A string; None if there is none."""
        return None if self.value is None else self.reader.text(self.value, self.path)

    def texts(self) -> tuple[str, ...]:
        """A list of strings."""
        return tuple(self.reader.text(item.value, item.path) for item in self.items())

    def text_map(self) -> dict[str, str]:
        """A map of strings."""
        return {key: self.reader.text(entry.value, entry.path) for key, entry in self.entries()}

    def flag(self) -> bool | None:
        """true or false; None if it isn't said."""
        return None if self.value is None else self.reader.flag(self.value, self.path)

    def number(self) -> int | None:
        """A whole number of 64 bits; None if there is none."""
        return None if self.value is None else self.reader.integer(self.value, self.path)

    def quantities(self, what: str) -> dict[str, Quantity]:
        """A map of quantities; what: how findings call one of them."""
        return {key: self.reader.quantity(entry.value, entry.path, f'{what} "{key}"') for key, entry in self.entries()}

    def note(self, problem: str, why: str, fix: str = "") -> None:
        """Note what is wrong with the field, which the text starts with."""
        self.reader.note(self.path, f"{render_field(self.path) or 'the document'} {problem}", why, fix)


def list_objects(reader: CapturedReader) -> list[tuple[dict[str, Plain], FieldPath]]:
    """The objects of a document: itself, or those of a list, which may hold lists."""
    return list(_iterate_objects(reader, reader.document.value, ()))


def _iterate_objects(
    reader: CapturedReader, value: Plain, path: FieldPath
) -> Iterator[tuple[dict[str, Plain], FieldPath]]:
    item = reader.mapping(value, path)
    if not str(item.get("kind", "")).endswith("List"):
        yield item, path
        return
    for index, entry in enumerate(reader.sequence(item.get("items"), (*path, "items"))):
        yield from _iterate_objects(reader, entry, (*path, "items", index))
