"""What Argo CD makes of a plugin's stdout."""

from __future__ import annotations

import pytest

from poolwright.argocd.runner.decode import Decoded, check_object, decode_stream
from poolwright.argocd.runner.go_yaml import YamlError, parse_yaml, resolve_scalar
from poolwright.specs.document import Plain

OBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
YAML = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
JSON = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}'
NOT_READ = "failed to unmarshal manifest: "
NOT_TAKEN = (
    "failed to convert CMP manifests to unstructured objects: failed to unmarshal manifest: "
    "error unmarshaling JSON: while decoding JSON: "
)


def good(*objects: dict[str, Plain]) -> Decoded:
    return Decoded(objects=objects)


STREAMS = {
    # The six rows of case 49.
    "a-line-of-a-log-in-front-is-no-object": (
        f"INFO rendering pool h100\n{YAML}",
        Decoded(
            error=f"{NOT_READ}error converting YAML to JSON: yaml: line 2: "
            "mapping values are not allowed in this context"
        ),
    ),
    "an-object": (YAML, good(OBJECT)),
    "values-are-no-object": (
        "image:\n  tag: v1\n",
        Decoded(error=NOT_TAKEN + 'Object \'Kind\' is missing in \'{"image":{"tag":"v1"}}\''),
    ),
    "empty-documents-are-dropped": (f"---\n---\n{YAML}---\n", good(OBJECT)),
    "an-object-of-json": (f"{JSON}\n", good(OBJECT)),
    "a-warning-in-a-comment": (f"{YAML}# Warning: 'commonLabels' is deprecated\n", good(OBJECT)),
    # A line that reads as YAML is worse than one that doesn't: it becomes part of the object.
    "a-line-that-is-a-field": (f"warning: old\n{YAML}", good({"warning": "old", **OBJECT})),
    "nothing": ("", Decoded()),
    "nulls-and-comments": ("---\nnull\n---\n# nothing\n---\n~\n", Decoded()),
    "json-after-json": (JSON * 3, good(OBJECT, OBJECT, OBJECT)),
    "json-lines-with-blank-ones": (f"\n  {JSON}\n\n{JSON}\n", good(OBJECT, OBJECT)),
    # One object of JSON doesn't settle it, two do.
    "yaml-after-one-of-json": (f"{JSON}\n---\n{YAML}", good(OBJECT, OBJECT)),
    "yaml-after-two-of-json": (
        f"{JSON}\n{JSON}\n---\n{YAML}",
        Decoded(error=f"{NOT_READ}Expecting value: line 3 column 1 (char 126)"),
    ),
    "a-brace-that-is-yaml": (
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n" + YAML,
        good(OBJECT, OBJECT),
    ),
    "text-behind-a-separator": (
        f"{YAML}--- warning\n{YAML}",
        Decoded(error=f"{NOT_READ}invalid Yaml document separator: warning"),
    ),
    "a-list-is-its-items": (
        f"apiVersion: v1\nkind: List\nitems:\n- {JSON}\n- {JSON}\n",
        good(OBJECT, OBJECT),
    ),
    "whatever-has-items-is-a-list": (f"apiVersion: v1\nkind: Basket\nitems: [{JSON}]\n", good(OBJECT)),
    "a-list-of-null-is-nothing": ("apiVersion: v1\nkind: ConfigMapList\nitems: null\n", good()),
    "an-item-that-is-no-object": (
        "apiVersion: v1\nkind: List\nitems: [a]\n",
        Decoded(error="items member is not an object: map[string]interface {}"),
    ),
    "a-document-that-is-no-object": (
        "- a\n",
        Decoded(
            error=NOT_TAKEN + "json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
    ),
    "of-a-repeated-key-the-last-counts": (f"{YAML}kind: Secret\n", good({**OBJECT, "kind": "Secret"})),
    "windows-line-ends": (YAML.replace("\n", "\r\n"), good(OBJECT)),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream(name: str) -> None:
    text, decoded = STREAMS[name]
    assert decode_stream(text.encode()) == decoded


SCALARS: dict[str, Plain] = {
    **dict.fromkeys(("y", "Y", "yes", "on", "True"), True),
    **dict.fromkeys(("n", "N", "no", "off", "FALSE"), False),
    **dict.fromkeys(("", "~", "null"), None),
    **dict.fromkeys(("010", "0o10", "0b1000", "0x8", "+8"), 8),
    "1_000": 1000,
    "08": 8.0,
    "1e3": 1000.0,
    ".5": 0.5,
    "18446744073709551615": (1 << 64) - 1,
    "18446744073709551616": float(1 << 64),
    # Strings, though another reader of YAML 1.1 takes them for a number or a date.
    **{text: text for text in ("12:30", "2026-11-30", "2026-11-30T12:00:00Z", "1.2.3", "0b", "yEs", "nope", "-", "a")},
}


@pytest.mark.parametrize("text", SCALARS, ids=lambda text: text or "empty")
def test_a_plain_scalar_is_what_goyaml_says(text: str) -> None:
    value = resolve_scalar(text)
    assert (type(value), value) == (type(SCALARS[text]), SCALARS[text])


def test_quotes_tags_merges_and_anchors() -> None:
    text = "a: 'yes'\nb: !!str 1\nc: &c {x: on}\nd: {<<: *c, 1: |\n  no\n}"
    assert parse_yaml(text.replace("|\n  no\n", "'no'")) == {
        "a": "yes",
        "b": "1",
        "c": {"x": True},
        "d": {"x": True, "1": "no"},
    }


def test_what_has_no_json() -> None:
    with pytest.raises(YamlError, match=r"^json: unsupported value: \.nan$"):
        parse_yaml("a: .nan")


def test_aliases_cannot_multiply() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    with pytest.raises(YamlError, match=r"^yaml: document contains excessive aliasing$"):
        parse_yaml("\n".join(lines))


OBJECTS = {
    "whole": (OBJECT, ""),
    "with-a-name-to-be-made": ({**OBJECT, "metadata": {"generateName": "a-"}}, ""),
    "without-apiversion": (
        {"kind": "A", "metadata": {"name": "a"}},
        'an object has no apiVersion: {"kind": "A", "metadata": {"name": "a"}}',
    ),
    "without-metadata": ({"apiVersion": "v1", "kind": "A"}, "a A has no metadata.name"),
    # As goyaml reads `namespace: n`.
    "with-a-namespace-that-is-no-text": (
        {**OBJECT, "metadata": {"name": "a", "namespace": False}},
        "metadata.namespace of a ConfigMap is read as false, which is no string",
    ),
    "with-an-empty-name": ({**OBJECT, "metadata": {"name": ""}}, "a ConfigMap has no metadata.name"),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_what_an_api_server_would_not_take(name: str) -> None:
    document, problem = OBJECTS[name]
    assert check_object(document) == problem
