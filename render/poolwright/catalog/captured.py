"""Typed access to Kubernetes objects as kubectl prints them: what has another type is noted, with its place."""

from __future__ import annotations

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
        """A map."""
        if isinstance(value, dict):
            return value
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


def list_objects(reader: CapturedReader) -> list[tuple[dict[str, Plain], FieldPath]]:
    """The objects of a document: itself, or those of a list."""
    value = reader.mapping(reader.document.value, ())
    if str(value.get("kind", "")).endswith("List"):
        listed = reader.sequence(value.get("items"), ("items",))
        return [(reader.mapping(item, ("items", index)), ("items", index)) for index, item in enumerate(listed)]
    return [(value, ())]
