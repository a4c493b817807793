"""The published JSON Schema of a snapshot's lines."""

from __future__ import annotations

from typing import Final, get_args

from poolwright.snapshots.snapshot import KIND, LAYERS, Seen
from poolwright.specs.model import API_VERSION
from poolwright.specs.schema_parts import DIALECT, SchemaPart, build_object

TIME: Final = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"
_VERSION: Final = r"^v?[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}([-+][0-9A-Za-z][0-9A-Za-z.+_-]{0,90})?$"  # a Version reads it


def snapshot_schema() -> SchemaPart:
    """The JSON Schema (draft 2020-12) of a line: the first is a header, each other one an object.

    What a schema can't say: objects are sorted, none stands twice, each line is canonical JSON, and nothing is in them
    that a snapshot doesn't keep.
    """
    return {
        "$schema": DIALECT,
        "title": KIND,
        "description": "A line of a snapshot, which is JSON Lines: the first is the header, each other one an object.",
        "oneOf": [{"$ref": "#/$defs/header"}, {"$ref": "#/$defs/object"}],
        "$defs": {"header": header_schema(), "object": object_schema()},
    }


def header_schema() -> SchemaPart:
    """The JSON Schema of the first line."""
    layer: SchemaPart = {"description": "Whether it was captured.", "enum": list(get_args(Seen))}
    return build_object(
        "What the snapshot is of.",
        {
            "apiVersion": {"description": "Version of the format.", "const": API_VERSION},
            "kind": {"description": "What this document is.", "const": KIND},
            "cluster": _build_line("The cluster, as the Project calls it.", r"^\S+$"),
            "capturedAt": _build_line("When the capture began, RFC 3339 in UTC to the second.", TIME),
            "kubernetesVersion": _build_line("What its API server says: v1.36.2.", _VERSION),
            "resourceVersions": {
                "description": "Of the captured lists, by kind.",
                "type": "object",
                "additionalProperties": {"type": "string"},
            },
            "layers": build_object("What was looked at besides the API.", dict.fromkeys(LAYERS, layer)),
        },
    )


def object_schema() -> SchemaPart:
    """The JSON Schema of every other line."""
    name: SchemaPart = {"description": "Not empty.", "type": "string", "minLength": 1}
    return {
        "description": "An object as the API server has it, without what a snapshot doesn't keep.",
        "type": "object",
        "required": ["apiVersion", "kind", "metadata"],
        "properties": {
            "apiVersion": name,
            "kind": {**name, "not": {"const": KIND}},
            "metadata": {
                "description": "Its name, and what else the server keeps of it.",
                "type": "object",
                "required": ["name"],
                "properties": {"name": name, "namespace": {"description": "None of some kinds.", "type": "string"}},
            },
        },
    }


def _build_line(description: str, pattern: str) -> SchemaPart:
    return {"description": description, "type": "string", "pattern": pattern, "maxLength": 253}
