"""Parts of the JSON Schemas of what Poolwright prints. Every property is always present, and no other one is."""

from __future__ import annotations

SchemaPart = dict[str, object]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def build_object(description: str, properties: dict[str, SchemaPart]) -> SchemaPart:
    """A map with just these properties."""
    return {
        "description": description,
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def build_list(description: str, items: SchemaPart) -> SchemaPart:
    """A list."""
    return {"description": description, "type": "array", "items": items}


def build_text(description: str) -> SchemaPart:
    """A string."""
    return {"description": description, "type": "string"}


def build_flag(description: str) -> SchemaPart:
    """true or false."""
    return {"description": description, "type": "boolean"}


def build_count(description: str) -> SchemaPart:
    """A whole number that isn't negative."""
    return {"description": description, "type": "integer", "minimum": 0}


def build_maybe(kind: str, description: str) -> SchemaPart:
    """A value of a JSON type, or null."""
    return {"description": description, "type": [kind, "null"]}
