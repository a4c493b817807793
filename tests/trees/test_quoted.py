"""What is printed for Argo CD means the same to every reader of YAML: PyYAML's 1.1, our 1.2, and Go's."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from typed_texts import PLAIN, TYPED, WORDS, render_documents

from fleet import load_closures, read_fleet
from needs import needs_go_program
from poolwright.objects.unit import build_objects
from poolwright.specs.document import parse_documents
from poolwright.trees.quoted import quote_typed
from poolwright.trees.yaml_text import render_objects


@pytest.mark.parametrize("text", TYPED, ids=TYPED.get)
def test_what_readers_differ_about_is_quoted(text: str) -> None:
    document = {"apiVersion": "v1", "a": text, "l": [text, [text]], "z": {text: 1}} if text != "<<" else {"a": text}
    printed = quote_typed(render_objects([document]))
    assert f'a: "{text}"' in printed.decode().splitlines()
    assert read_as_1_1(printed) == read_as_1_2(printed) == [document]


@pytest.mark.parametrize("text", [*WORDS, *PLAIN])
def test_what_everybody_reads_alike_is_as_kustomize_prints_it(text: str) -> None:
    document = {"a": text, "b": [text], "n": 3, "t": True, "e": None}
    printed = render_objects([document])
    assert quote_typed(printed) == printed
    assert read_as_1_1(printed) == read_as_1_2(printed) == [document]


BLOCK = "first\n2024-02-30\n= x\n1e400: y\n"


def test_texts_of_several_lines_stay_as_they_are() -> None:
    """They hold what would be quoted by itself."""
    document = {"a": BLOCK, "ä\U0001f600": BLOCK, "b": "x 1e400", "z": "1e400"}
    printed = quote_typed(render_objects([document, document]))
    assert printed == render_objects([document, document]).replace(b"z: 1e400", b'z: "1e400"')
    assert read_as_1_1(printed) == read_as_1_2(printed) == [document, document]


pieces = st.sampled_from(
    [*TYPED, *WORDS, *PLAIN, "0", "1", "9", "_", ".", ":", "-", "+", "e", "E", "x", "T", "Z", " ", "a", "\n", "#", "é"]
)
texts = st.lists(pieces, max_size=6).map("".join) | st.text("0123456789_.:-+eExobTZ =<", max_size=12)
keys = texts.filter(lambda text: text != "<<" and text.isprintable())
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.dictionaries(keys, values, min_size=1, max_size=4), min_size=1, max_size=3))
def test_no_reader_changes_an_object(objects: list[Mapping[str, object]]) -> None:
    try:
        printed = quote_typed(render_objects(objects))
    except ValueError:  # Kustomize has no order for such keys
        return
    assert read_as_1_1(printed) == read_as_1_2(printed) == objects


def test_nothing_of_the_example_needs_it() -> None:
    """So that what Argo CD is given is byte for byte what Kustomize builds."""
    printed = [render_objects(build_objects(closure)) for closure in load_closures(read_fleet())]
    assert len(printed) > 20
    assert [quote_typed(text) for text in printed] == printed
    for text in printed:
        assert read_as_1_1(text) == read_as_1_2(text)


# One document for each text, as sigs.k8s.io/yaml v1.6.0 reads what is printed of it: by it Argo CD reads a plugin.
RECORDED = Path(__file__).parent / "data" / "sigs_yaml.jsonl"


def test_go_reads_what_was_printed() -> None:
    documents, _ = render_documents()
    assert [json.loads(line) for line in RECORDED.read_text("utf-8").splitlines()] == documents


@pytest.mark.oracle
def test_go_still_answers_as_recorded(tmp_path: Path) -> None:
    program = needs_go_program(Path(__file__).parents[1] / "oracle" / "yaml", tmp_path / "oracle")
    answers = subprocess.run([program], input=render_documents()[1], check=True, capture_output=True).stdout
    assert answers.decode() == RECORDED.read_text("utf-8")


def read_as_1_1(text: bytes) -> list[object]:
    return list(yaml.load_all(text, yaml.CSafeLoader))


def read_as_1_2(text: bytes) -> list[object]:
    return [document.value for document in parse_documents(text, "x", max_bytes=1 << 30)]
