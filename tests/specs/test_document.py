"""YAML to plain values as version 1.2 means it, and the place of every value. Refusals are in test_bad_specs.py."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolwright.specs.document import MAX_DEPTH, Document, iterate_nodes, parse_documents
from poolwright.specs.finding import SpecError
from poolwright.specs.place import FieldPath, Place

VALUES = {
    "plain-text": ("east", "east"),
    # YAML 1.1 reads these as true, false, 1 hour in seconds, a date and 10.
    "what-1.1-reads-as-something-else": (
        "[yes, No, on, 60:00, 2026-11-30, 1_0, 0b1, +.5_, =, <<]",
        ["yes", "No", "on", "60:00", "2026-11-30", "1_0", "0b1", "+.5_", "=", "<<"],
    ),
    "versions": ("[1.36, 1.36.2, 1.36.x, 2.3.0]", [1.36, "1.36.2", "1.36.x", "2.3.0"]),
    "integers": ("[0, -1, +7, 007, 0x1F, 0o17, 0o8]", [0, -1, 7, 7, 31, 15, "0o8"]),
    "numbers": ("[1.0, .5, 1., 1e3, 12e03, -1E+2]", [1.0, 0.5, 1.0, 1000.0, 12000.0, -100.0]),
    "infinities": ("[.inf, -.INF, +.Inf]", [math.inf, -math.inf, math.inf]),
    "booleans-in-three-spellings": ("[true, True, TRUE, false, tRUE]", [True, True, True, False, "tRUE"]),
    "null-in-all-spellings": (
        "{a: , b: ~, c: null, d: Null, e: NULL, f: nULL}",
        dict.fromkeys("abcde") | {"f": "nULL"},
    ),
    "quotes-make-text": ("['1', \"true\", 'null', \"\"]", ["1", "true", "null", ""]),
    "core-tags-that-hold": ("[!!str 1, !!int '1', !!float 1, !!bool 'true', !!null '']", ["1", 1, 1.0, True, None]),
    "blocks": ("a: |\n  x\n  y\nb: >-\n  x\n  y\n", {"a": "x\ny\n", "b": "x y"}),
    "anchor-that-nothing-repeats": ("a: &x 1", {"a": 1}),
    "windows-lines": ("a: 1\r\nb: [x,\r\n y]\r\n", {"a": 1, "b": ["x", "y"]}),
    "byte-order-mark-in-front": ("\ufeffa: 1", {"a": 1}),
    "letters-of-all-scripts": ("日本: 'ü\u200d😀'", {"日本": "ü\u200d😀"}),
    "as-deep-as-it-may-be": ("[" * MAX_DEPTH + "1" + "]" * MAX_DEPTH, None),
}


@pytest.mark.parametrize(("text", "value"), VALUES.values(), ids=VALUES)
def test_values(text: str, value: object) -> None:
    (document,) = parse_documents(text.encode(), "f.yaml")
    if value is None:
        assert json.dumps(document.value) == text
    else:
        # repr tells 1 from true and 1.0, which are equal.
        assert repr(document.value) == repr(value)


DOCUMENTS = {
    "none-in-an-empty-file": ("", []),
    "none-among-comments": ("# a\n---\n# b\n---\n", []),
    "empty-ones-are-passed-over": ("---\na: 1\n---\n---\nnull\n---\nb: 2\n...\n", [{"a": 1}, {"b": 2}]),
    "false-is-not-empty": ("false\n--- 0\n", [False, 0]),
}


@pytest.mark.parametrize(("text", "values"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_documents(text: str, values: list[object]) -> None:
    assert [document.value for document in parse_documents(text.encode(), "f.yaml")] == values


TEXT = """\
# comment
kind: Pool
metadata: {name: "a", version: 1.0.0}
spec:
  classes:
    - name: x
      'é.b/c':  [1, ü]
"""
PLACES: dict[str, tuple[FieldPath, tuple[int, int, str], tuple[int, int, str]]] = {
    "root": ((), (2, 1, ""), (2, 1, "")),
    "scalar-and-its-key": (("kind",), (2, 7, "kind"), (2, 1, "kind")),
    "within-braces": (("metadata", "version"), (3, 32, "metadata.version"), (3, 23, "metadata.version")),
    # A block begins with its first key.
    "block": (("spec",), (5, 3, "spec"), (4, 1, "spec")),
    "entry": (("spec", "classes", 0), (6, 7, "spec.classes[0]"), (6, 7, "spec.classes[0]")),
    "columns-count-characters": (
        ("spec", "classes", 0, "é.b/c", 1),
        (7, 21, 'spec.classes[0]["é.b/c"][1]'),
        (7, 21, 'spec.classes[0]["é.b/c"][1]'),
    ),
    "absent-field": (("spec", "owner"), (5, 3, "spec"), (5, 3, "spec")),
    "absent-entry": (("spec", "classes", 7, "name"), (6, 5, "spec.classes"), (6, 5, "spec.classes")),
    "below-a-scalar": (("kind", "name"), (2, 7, "kind"), (2, 7, "kind")),
    "key-for-an-index": (("spec", "classes", "name"), (6, 5, "spec.classes"), (6, 5, "spec.classes")),
}


@pytest.mark.parametrize(("path", "value", "key"), PLACES.values(), ids=PLACES)
def test_places(path: FieldPath, value: tuple[int, int, str], key: tuple[int, int, str]) -> None:
    document = parse()
    assert (document.place(path), document.key_place(path)) == (Place("f.yaml", *value), Place("f.yaml", *key))


def parse(text: str = TEXT) -> Document:
    (document,) = parse_documents(text.encode(), "f.yaml")
    return document


SCALAR_TEXTS = {
    "as-written": (("metadata", "version"), "1.0.0"),
    "without-quotes": (("metadata", "name"), "a"),
    "number": (("spec", "classes", 0, "é.b/c", 0), "1"),
    "none-of-a-map": (("metadata",), ""),
    "none-of-what-is-not-there": (("spec", "owner", "x"), ""),
}


@pytest.mark.parametrize(("path", "text"), SCALAR_TEXTS.values(), ids=SCALAR_TEXTS)
def test_scalar_text(path: FieldPath, text: str) -> None:
    assert parse().scalar_text(path) == text


def test_nodes_in_document_order() -> None:
    assert [path for path, _ in iterate_nodes(parse("a: {b: [1, 2]}\nc: 3").root)] == [
        (),
        ("a",),
        ("a", "b"),
        ("a", "b", 0),
        ("a", "b", 1),
        ("c",),
    ]


def test_every_problem_of_a_file_is_told() -> None:
    text = 'a: !x 1\n1: b\nc: {d: 1, d: 2}\n---\ne: "\\a"\nf: 1\n'
    with pytest.raises(SpecError) as caught:
        parse_documents(text.encode(), "f.yaml")
    assert [(f.code, f.place.line, f.place.column) for f in caught.value.findings] == [
        ("yaml-tag", 1, 4),
        ("yaml-key", 2, 1),
        ("yaml-duplicate-key", 3, 11),
        ("yaml-character", 5, 4),
    ]


def test_a_larger_file_may_be_allowed() -> None:
    with pytest.raises(SpecError):
        parse_documents(b"a: 1 # ...", "f.yaml", max_bytes=9)
    assert parse_documents(b"a: 1 # ...", "f.yaml", max_bytes=10)[0].value == {"a": 1}


_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(st.characters(codec="utf-8", min_codepoint=32)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc/.é ", min_size=1), inner, max_size=3),
    max_leaves=8,
)
_REFUSED = [
    *map(chr, range(0x7F, 0xA0)),
    *"\ufeff\u2028\u2029",
    *map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))),
]


@given(st.dictionaries(st.sampled_from("ab"), _PLAIN, min_size=1))
def test_json_is_read_as_json_unless_a_character_is_refused(value: dict[str, object]) -> None:
    text = json.dumps(value, ensure_ascii=False)
    if any(character in text for character in _REFUSED):
        with pytest.raises(SpecError):
            parse_documents(text.encode(), "f.yaml")
        return
    assert [document.value for document in parse_documents(text.encode(), "f.yaml")] == [value]


@given(st.text(st.sampled_from("ab:-[]{}&*!|>'\"%@#,? \n\t\r\\x\0\u202eé"), max_size=40) | st.binary(max_size=40))
def test_any_text_is_read_or_refused_with_places_inside_it(text: str | bytes) -> None:
    data = text.encode() if isinstance(text, str) else text
    try:
        parse_documents(data, "f.yaml")
    except SpecError as error:
        lines = data.decode("utf-8", "replace").split("\n")
        for finding in error.findings:
            assert 1 <= finding.place.line <= len(lines) + 1, finding
            line = lines[finding.place.line - 1] if finding.place.line <= len(lines) else ""
            assert 1 <= finding.place.column <= len(line.encode()) + 1, finding
