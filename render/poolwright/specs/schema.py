"""One JSON Schema per spec kind, made from the models that read the specs."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from poolwright.specs.envelope import Envelope
from poolwright.specs.ledger import FeatureLedger
from poolwright.specs.lock import Lock
from poolwright.specs.model import CUSTOM_FORMATS, Model
from poolwright.specs.place import FieldPath
from poolwright.specs.placement import Placement
from poolwright.specs.pool import Pool
from poolwright.specs.project import Project
from poolwright.specs.rehearsal import Rehearsal
from poolwright.specs.scalar import FORMATS
from poolwright.specs.stack import Stack

Schema = dict[str, Any]

KINDS: Final[dict[str, type[Model]]] = {
    "Project": Project,
    "Stack": Stack,
    "Pool": Pool,
    "Envelope": Envelope,
    "Placement": Placement,
    "FeatureLedger": FeatureLedger,
    "Lock": Lock,
    "Rehearsal": Rehearsal,
}


def build_schema(kind: str) -> Schema:
    """The JSON Schema (draft 2020-12) of a kind: strict, with descriptions, defaults, formats and examples.

    kind: a key of KINDS.
    """
    return build_model_schema(kind, KINDS[kind])


def build_model_schema(kind: str, model: type[Model]) -> Schema:
    """The same of a document that isn't part of a project."""
    generated = msgspec.json.schema(model, schema_hook=_custom_schema)
    definitions = {name: _tidy(definition) for name, definition in sorted(generated["$defs"].items())}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://poolwright.dev/schemas/v1alpha1/{kind.lower()}.json",
        **definitions.pop(kind),
        "$defs": definitions,
    }


def field_schema(schema: Schema, path: FieldPath) -> Schema | None:
    """The part of a kind's schema that speaks of the field at path, references and null unions resolved; or None.

    A description at the reference wins over the one of what it refers to.
    """
    node = schema
    for step in path:
        below = node.get("items") if isinstance(step, int) else node.get("properties", {}).get(step)
        if below is None and isinstance(step, str):
            below = node.get("additionalProperties")
        if not isinstance(below, dict):
            return None
        node = _resolve(schema, below)
    return node


def _resolve(schema: Schema, node: Schema) -> Schema:
    branches = [branch for branch in node.get("anyOf", ()) if branch != {"type": "null"}]
    if len(branches) == 1:
        node = {**branches[0], **{key: value for key, value in node.items() if key != "anyOf"}}
    if "$ref" in node:
        target = schema["$defs"][node["$ref"].removeprefix("#/$defs/")]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    return node


# For editors, which don't know our formats; everything that a format takes matches its pattern.
_PATTERNS: Final = {
    "quantity": {"pattern": r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?$"},
    "time-span": {"pattern": "^(?=[0-9])([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$"},
    "day": {"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
}


def _custom_schema(kind: type) -> Schema:
    name = CUSTOM_FORMATS[kind]
    return {
        "type": ["string", "integer"] if name == "quantity" else "string",
        "format": name,
        **_PATTERNS.get(name, {}),
        "examples": [FORMATS[name].example],
    }


def _tidy(node: Any) -> Any:
    """Without `default: null` (absent says it) and without the nulls inside default objects."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    tidy = {key: _tidy(value) for key, value in node.items() if not (key == "default" and value is None)}
    if isinstance(tidy.get("default"), dict):
        tidy["default"] = {key: value for key, value in tidy["default"].items() if value is not None}
    return tidy
