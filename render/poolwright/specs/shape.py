"""Whether a document has the shape of its kind: every error at once, each in the words of the field it is about.

Runs only where the strict reading has failed, so it may be slow: jsonschema-rs walks the document against the published
schema, and each of its errors becomes one finding.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Any

import jsonschema_rs

from poolwright.specs.date import parse_date
from poolwright.specs.document import MAX_PROBLEMS, Document, Plain
from poolwright.specs.duration import parse_duration
from poolwright.specs.finding import Finding
from poolwright.specs.place import FieldPath, Place, render_field
from poolwright.specs.quantity import parse_quantity
from poolwright.specs.scalar import FORMATS
from poolwright.specs.schema import Schema, build_schema, field_schema
from poolwright.specs.version import parse_version, parse_version_range

_RULE = "poolwright.dev/v1alpha1"
_PARSERS: dict[str, Callable[[str], object]] = {
    "quantity": parse_quantity,
    "time-span": parse_duration,
    "version-range": parse_version_range,
    "version": parse_version,
    "day": parse_date,
}


def check_shape(document: Document, kind: str) -> tuple[Finding, ...]:
    """What keeps the document from being a spec of its kind, in no order; empty if nothing does.

    Everything, but of a hostile document only the first MAX_PROBLEMS: each may take long to put into words.
    """
    schema, validator = _validator(kind)
    return _check(document, schema, validator)


def check_against(document: Document, schema: Schema) -> tuple[Finding, ...]:
    """The same against a JSON Schema that isn't a spec's: what keeps the document from being as it says."""
    return _check(document, schema, jsonschema_rs.Draft202012Validator(schema))


def _check(document: Document, schema: Schema, validator: jsonschema_rs.Draft202012Validator) -> tuple[Finding, ...]:
    found: dict[tuple[str, str], Finding] = {}
    errors = validator.iter_errors(_without_whole_floats(document.value))
    findings = (finding for error in errors for finding in _findings(document, schema, error))
    for finding in islice(findings, MAX_PROBLEMS):
        # A value can break several rules of its format; one finding says what they all ask for.
        found.setdefault((finding.place.field, finding.what), finding)
    mistyped = {finding.place.field for finding in found.values() if finding.code == "wrong-type"}
    return tuple(f for f in found.values() if f.code == "wrong-type" or f.place.field not in mistyped)


def _without_whole_floats(value: Plain) -> Plain:
    """The value with 0.5 for every float: to JSON Schema 1.0 is an integer, to the strict reading a float is none."""
    if isinstance(value, dict):
        return {key: _without_whole_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_whole_floats(item) for item in value]
    return 0.5 if isinstance(value, float) else value


@cache
def _validator(kind: str) -> tuple[Schema, jsonschema_rs.Draft202012Validator]:
    schema = build_schema(kind)
    formats = {name: _accepts(parse) for name, parse in _PARSERS.items()}
    return schema, jsonschema_rs.Draft202012Validator(schema, validate_formats=True, formats=formats)


def _accepts(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def accepts(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return accepts


def _findings(document: Document, schema: Schema, error: Any) -> Iterator[Finding]:
    """Findings of one error; a union's error becomes those of its one real branch."""
    kind, path = error.kind, tuple(error.instance_path)
    value = _value_at(document.value, path)
    if kind.name == "anyOf":
        yield from _union_findings(document, schema, error)
    elif kind.name == "additionalProperties":
        for name in kind.unexpected:
            yield _unknown_field(document, schema, path, name)
    elif kind.name == "required":
        yield _missing_field(document, schema, path, kind.property)
    elif kind.name == "type":
        yield _wrong_type(document, schema, path, [str(t) for t in kind.types])
    elif kind.name in ("enum", "const"):
        options = kind.options if kind.name == "enum" else [kind.expected_value]
        yield _not_one_of(document, path, value, [str(option) for option in options])
    elif kind.name == "propertyNames":
        name = str(kind.error.instance)
        what = f'the key "{_cut(name)}" in {render_field(path)} is malformed'
        node = (field_schema(schema, path) or {})["propertyNames"]
        yield _bad_text(document.key_place((*path, name)), what, name, node)
    elif kind.name in ("pattern", "format", "minLength", "maxLength"):
        what = f'{render_field(path)} is "{_cut(str(value))}"'
        node = field_schema(schema, path) or {}
        limit = {"maxLength": kind.limit} if kind.name == "maxLength" else {}
        yield _bad_text(document.place(path), what, str(value), {**limit, **node})
    elif kind.name in ("minimum", "maximum"):
        yield _out_of_range(document, path, value, kind.name, kind.limit)
    elif kind.name in ("minItems", "maxItems"):
        yield _wrong_length(document, path, len(error.instance), kind.name, kind.limit)
    else:
        raise AssertionError(f"a schema keyword without words: {kind.name}")


def _union_findings(document: Document, schema: Schema, error: Any) -> Iterator[Finding]:
    """Of a union's branches the one whose type the value has says what is wrong; if it has none, all types do."""
    path = tuple(error.instance_path)
    branches = [branch for branch in error.kind.context if branch]
    fitting = [branch for branch in branches if not any(_is_type_error(inner, path) for inner in branch)]
    real = [branch for branch in branches if not _is_null_branch(branch)]
    chosen = fitting or real
    if len(chosen) == 1:
        for inner in chosen[0]:
            yield from _findings(document, schema, inner)
    else:
        types = [str(t) for branch in chosen for inner in branch if inner.kind.name == "type" for t in inner.kind.types]
        yield _wrong_type(document, schema, path, types)


def _is_type_error(error: Any, path: FieldPath) -> bool:
    return error.kind.name == "type" and tuple(error.instance_path) == path


def _is_null_branch(branch: list[Any]) -> bool:
    return len(branch) == 1 and branch[0].kind.name == "type" and branch[0].kind.types == ["null"]


def _value_at(value: Plain, path: FieldPath) -> Plain:
    at: Any = value  # the path comes from a walk of this very value
    for step in path:
        at = at[step]
    found: Plain = at
    return found


def _unknown_field(document: Document, schema: Schema, path: FieldPath, name: str) -> Finding:
    known = sorted((field_schema(schema, path) or {}).get("properties", {}))
    near = difflib.get_close_matches(name, known, 1, 0.6)
    hint = f'did you mean "{near[0]}"? ' if near else ""
    return Finding(
        code="unknown-field",
        severity="error",
        place=document.key_place((*path, name)),
        what=f'unknown field "{name}"' + (f" in {render_field(path)}" if path else ""),
        why="a field that isn't in the schema would have no effect, so it is refused",
        rule=_RULE,
        fix=f"{hint}known here: {', '.join(known)}",
    )


def _missing_field(document: Document, schema: Schema, path: FieldPath, name: str) -> Finding:
    about = (field_schema(schema, (*path, name)) or {}).get("description", "").rstrip(".")
    return Finding(
        code="missing-field",
        severity="error",
        place=document.key_place(path),
        what=f'"{name}" is missing' + (f" in {render_field(path)}" if path else ""),
        why=f"it is required: {about}" if about else "it is required",
        rule=_RULE,
        fix=f'add "{name}"',
    )


_TYPE_NAMES = {
    "string": "a string",
    "integer": "an integer",
    "boolean": "true or false",
    "object": "a map",
    "array": "a list",
    "null": "null",
    "number": "a number",
}


def _wrong_type(document: Document, schema: Schema, path: FieldPath, types: list[str]) -> Finding:
    value = _value_at(document.value, path)
    wanted = [_TYPE_NAMES[name] for name in dict.fromkeys(types) if name != "null"]
    return Finding(
        code="wrong-type",
        severity="error",
        place=document.place(path),
        what=f"{render_field(path) or 'the document'} is {_shown(value)}",
        why=f"it must be {' or '.join(wanted)}",
        rule=_RULE,
        fix=_type_fix(value, wanted, document.scalar_text(path), field_schema(schema, path) or {}),
    )


def _shown(value: object) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "the boolean true" if value else "the boolean false"
    if isinstance(value, dict | list):
        return "a map" if isinstance(value, dict) else "a list"
    if isinstance(value, str):
        return f'the string "{_cut(value)}"'
    return f"the number {_cut(str(value))}"


def _type_fix(value: object, wanted: list[str], text: str, schema: Schema) -> str:
    if "a string" in wanted and isinstance(value, bool | int | float):
        is_fine = re.search(schema.get("pattern", ""), text) and not _parser_words(schema.get("format", ""), text)
        return f'quote it: "{_cut(text)}"' if is_fine else _text_advice(text, schema)[1]
    if isinstance(value, str) and "an integer" in wanted and value.lstrip("-").isdigit():
        return "remove the quotes"
    if wanted == ["a list"] and text:
        return f"write a list: [{_cut(text)}]"
    if isinstance(value, str) and "true or false" in wanted:
        return "write true or false, without quotes"
    return f"write {' or '.join(wanted)}"


def _not_one_of(document: Document, path: FieldPath, value: object, options: list[str]) -> Finding:
    near = difflib.get_close_matches(str(value), options, 1, 0.6)
    return Finding(
        code="unknown-value",
        severity="error",
        place=document.place(path),
        what=f'{render_field(path)} is "{_cut(value)}"'
        if isinstance(value, str)
        else f"{render_field(path)} is {_shown(value)}",
        why=f"it must be one of: {', '.join(options)}" if len(options) > 1 else f"it must be {options[0]}",
        rule=_RULE,
        fix=f'did you mean "{near[0]}"?'
        if near
        else "write one of them"
        if len(options) > 1
        else f"write {options[0]}",
    )


def _bad_text(place: Place, what: str, text: str, schema: Schema) -> Finding:
    """A string, or the key of a map, that isn't what its part of the schema says."""
    most = schema.get("maxLength", len(text))
    if len(text) > most:
        why, fix = f"it has {len(text)} characters, and {most} is the most", "shorten it"
    elif text.endswith("\n"):
        why, fix = "it ends with a line feed", "write it behind its key: a block after | or > ends with a line feed"
    else:
        why, fix = _text_advice(text, schema)
    return Finding(code="invalid-value", severity="error", place=place, what=what, why=why, rule=_RULE, fix=fix)


def _text_advice(text: str, schema: Schema) -> tuple[str, str]:
    """Why a text isn't what its format says, and what to write instead; of the parser's words where it has some."""
    form = FORMATS[schema["format"]]
    why, fix = f"it must be {form.what}", f"write it as in {form.example}"
    said = _parser_words(schema["format"], text)
    if advice := re.match(r'"(.*)" is not an? [^:]*: (.*)', said):
        # Of a list the parser names the entry that is wrong; the headline has the whole.
        return why, advice[2] if advice[1] == text else f'of "{advice[1]}": {advice[2]}'
    return said or why, fix


def _parser_words(format_name: str, text: str) -> str:
    parse = _PARSERS.get(format_name)
    if parse:
        try:
            parse(text)
        except ValueError as error:
            return str(error)
    return ""


def _out_of_range(document: Document, path: FieldPath, value: object, keyword: str, limit: object) -> Finding:
    side = "at least" if keyword == "minimum" else "at most"
    return Finding(
        code="out-of-range",
        severity="error",
        place=document.place(path),
        what=f"{render_field(path)} is {value}",
        why=f"it must be {side} {limit}",
        rule=_RULE,
        fix=f"write {limit} or {'more' if keyword == 'minimum' else 'less'}",
    )


def _wrong_length(document: Document, path: FieldPath, length: int, keyword: str, limit: int) -> Finding:
    side = "at least" if keyword == "minItems" else "at most"
    entries = "entry" if limit == 1 else "entries"
    return Finding(
        code="wrong-length",
        severity="error",
        place=document.place(path),
        what=f"{render_field(path)} has {length} {'entry' if length == 1 else 'entries'}",
        why=f"it must have {side} {limit} {entries}",
        rule=_RULE,
        fix="add entries" if keyword == "minItems" else "remove entries",
    )


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
