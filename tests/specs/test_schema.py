"""The published JSON Schemas: valid, strict, described, and taken by an editor that knows nothing of poolwright."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from fleet import list_specs, read_fleet
from fleet_variants import large_fleet
from poolwright.specs.document import Document, parse_documents
from poolwright.specs.model import API_VERSION, CUSTOM_FORMATS
from poolwright.specs.place import FieldPath
from poolwright.specs.scalar import FORMATS
from poolwright.specs.schema import KINDS, Schema, build_schema, field_schema
from poolwright.specs.shape import check_shape
from poolwright.trust.schema import trust_schema

SCHEMAS = {**{kind: build_schema(kind) for kind in KINDS}, "TrustPolicy": trust_schema()}
DOCUMENTS = {
    f"{file}-{number}": document
    for file, text in (list_specs(read_fleet()) | list_specs(large_fleet())).items()
    for number, document in enumerate(parse_documents(text, file))
}
# JSON Schema's own names: an editor would judge a value by its rule.
STANDARD_FORMATS = frozenset(
    [
        "date-time",
        "date",
        "time",
        "duration",
        "email",
        "idn-email",
        "hostname",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "uri",
        "uri-reference",
        "iri",
        "iri-reference",
        "uuid",
        "uri-template",
        "json-pointer",
        "relative-json-pointer",
        "regex",
    ]
)


def list_nodes(schema: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Schema]]:
    """Every schema within a schema, with its place."""
    yield path, schema
    for keyword in ("properties", "$defs"):
        for name, below in schema.get(keyword, {}).items():
            yield from list_nodes(below, (*path, keyword, name))
    for keyword in ("items", "additionalProperties", "propertyNames"):
        if isinstance(schema.get(keyword), dict):
            yield from list_nodes(schema[keyword], (*path, keyword))
    for index, below in enumerate(schema.get("anyOf", ())):
        yield from list_nodes(below, (*path, "anyOf", index))


NODES = {
    f"{kind} {'/'.join(map(str, path))}": (kind, node) for kind in SCHEMAS for path, node in list_nodes(SCHEMAS[kind])
}


@pytest.mark.parametrize("kind", SCHEMAS)
def test_schema_is_valid_and_names_itself(kind: str) -> None:
    schema = SCHEMAS[kind]
    jsonschema_rs.meta.validate(schema)
    assert (schema["$schema"], schema["$id"], schema["title"]) == (
        "https://json-schema.org/draft/2020-12/schema",
        f"https://poolwright.dev/schemas/v1alpha1/{kind.lower()}.json",
        kind,
    )
    assert kind not in KINDS or build_schema(kind) == schema  # the same again


def test_every_object_is_strict_and_every_list_says_of_what() -> None:
    for place, (_, node) in NODES.items():
        if node.get("type") == "object":
            assert node.get("additionalProperties") is False or isinstance(node["additionalProperties"], dict), place
            assert ("propertyNames" in node) == isinstance(node["additionalProperties"], dict), place
        if node.get("type") == "array":
            assert isinstance(node.get("items"), dict), place


def test_every_property_is_described_in_sentences() -> None:
    for place, (_, node) in NODES.items():
        for name, below in node.get("properties", {}).items():
            assert re.fullmatch(r"\S.*[.)]", below.get("description", "")), f"{place}/{name}"


def test_every_reference_leads_somewhere_and_every_definition_is_used() -> None:
    for kind in SCHEMAS:
        used = {node["$ref"] for _, node in list_nodes(SCHEMAS[kind]) if "$ref" in node}
        assert used == {f"#/$defs/{name}" for name in SCHEMAS[kind]["$defs"]}


def test_defaults_are_what_their_schema_takes_and_null_is_none() -> None:
    for place, (kind, node) in NODES.items():
        if "default" in node:
            assert node["default"] is not None, place
            whole = {**node, "$defs": SCHEMAS[kind]["$defs"]}
            assert jsonschema_rs.Draft202012Validator(whole).is_valid(node["default"]), place


def test_formats_are_ours_and_their_examples_are_taken() -> None:
    used = set()
    for place, (_, node) in NODES.items():
        if "format" in node:
            used.add(node["format"])
            assert node["examples"] == [FORMATS[node["format"]].example], place
            assert jsonschema_rs.Draft202012Validator(node, validate_formats=True).is_valid(node["examples"][0]), place
    assert used == FORMATS.keys()
    assert not used & STANDARD_FORMATS
    assert set(CUSTOM_FORMATS.values()) <= used


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_documents_are_taken_by_an_editor_and_by_us(document: Document) -> None:
    kind = document.scalar_text(("kind",))
    # As an editor does: no format of ours known, all standard ones judged.
    editor = jsonschema_rs.Draft202012Validator(SCHEMAS[kind], validate_formats=True)
    assert [str(error) for error in editor.iter_errors(document.value)] == []
    assert check_shape(document, kind) == ()


def test_an_editor_refuses_what_it_can_see() -> None:
    editor = jsonschema_rs.Draft202012Validator(SCHEMAS["Stack"], validate_formats=True)
    value = {
        "apiVersion": API_VERSION,
        "kind": "Stack",
        "metadata": {"name": "A"},
        "spec": {"kubernetes": {"version": 1.36}, "servingImages": [], "more": 1},
    }
    assert sorted((tuple(error.instance_path), error.kind.name) for error in editor.iter_errors(value)) == [
        (("metadata", "name"), "pattern"),
        (("spec",), "additionalProperties"),
        (("spec",), "required"),
        (("spec", "kubernetes", "version"), "type"),
        (("spec", "servingImages"), "minItems"),
    ]


FIELDS: dict[str, tuple[str, FieldPath, dict[str, object] | None]] = {
    "root": ("Pool", (), {"title": "Pool", "type": "object"}),
    "reference-keeps-the-description-that-stands-at-it": (
        "Pool",
        ("metadata",),
        {"title": "PoolMetadata", "description": "The spec's identity."},
    ),
    "through-a-list": ("Pool", ("spec", "deviceClasses", 3, "name"), {"format": "unit-name", "maxLength": 40}),
    "through-a-map": ("Pool", ("spec", "deviceClasses", 0, "capacity", "any", "min"), {"format": "quantity"}),
    "union-with-null": (
        "Placement",
        ("spec", "zone"),
        {"format": "label-value", "description": "The zone that pods must run in. Default: any."},
    ),
    "unknown-field": ("Pool", ("spec", "x"), None),
    "index-of-a-map": ("Pool", ("spec", 0), None),
    "field-of-a-list": ("Pool", ("spec", "deviceClasses", "name"), None),
    "below-a-text": ("Pool", ("metadata", "name", "x"), None),
}


@pytest.mark.parametrize(("kind", "path", "part"), FIELDS.values(), ids=FIELDS)
def test_field_schema(kind: str, path: FieldPath, part: dict[str, object] | None) -> None:
    found = field_schema(SCHEMAS[kind], path)
    assert part == (found and {key: found.get(key) for key in part or ()})


def test_the_schema_of_every_field_that_stands_somewhere_is_found() -> None:
    for document in DOCUMENTS.values():
        for path in list_paths(document.value):
            found = field_schema(SCHEMAS[document.scalar_text(("kind",))], path)
            assert found is not None, path
            assert {"type", "enum", "anyOf"} & found.keys(), path


def list_paths(value: object, path: FieldPath = ()) -> Iterator[FieldPath]:
    yield path
    for key, below in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from list_paths(below, (*path, key))
