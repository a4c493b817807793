"""Documents for other tools, as JSON: strict values with a schema, and one form of the bytes."""

from __future__ import annotations

from typing import Any

import msgspec

from poolwright.specs.schema_parts import DIALECT


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A part of a document: every property is always present, unknown ones are refused."""


def render_document(document: Part) -> bytes:
    """Indented UTF-8, for people compare them in Git: equal documents are equal bytes."""
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def build_schema(document: type[Part], title: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a document. Every property is always present."""
    generated = msgspec.json.schema(document)
    definitions = dict(sorted(generated["$defs"].items()))
    return {"$schema": DIALECT, **definitions.pop(document.__name__), "title": title, "$defs": definitions}
