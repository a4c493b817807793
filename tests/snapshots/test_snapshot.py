"""A snapshot's one form: written the same from any order, read back, and every other form refused with its line."""

from __future__ import annotations

import itertools
import json
from random import Random
from typing import Any

import jsonschema_rs
import pytest
import yaml
from captured import FILE, HEADER, HEADER_LINE, capture, read

from fleet import FACTS
from given_cluster import Json, as_file, build, claim, device_class, gpu, node, slice_of
from poolwright.snapshots.build_snapshot import build_snapshot
from poolwright.snapshots.cleanse import LAST_APPLIED
from poolwright.snapshots.cluster import find_features
from poolwright.snapshots.parse_snapshot import parse_snapshot
from poolwright.snapshots.schema import snapshot_schema
from poolwright.snapshots.snapshot import MAX_BYTES, Snapshot, render_snapshot
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import SpecError, render_text
from poolwright.specs.version import parse_version

OBJECTS: tuple[Json, ...] = (
    claim("b"),
    claim("a"),
    claim("a", namespace="chat"),
    node("n"),
    slice_of("n", gpu(0)),
    device_class("c"),
)


def say(data: bytes) -> str:
    with pytest.raises(SpecError) as caught:
        parse_snapshot(data, FILE)
    return render_text(caught.value.findings)


def test_any_order_and_any_form_give_the_same_bytes() -> None:
    expected = render_snapshot(capture(OBJECTS))
    for order in itertools.islice(itertools.permutations(OBJECTS), 50):
        assert render_snapshot(capture(order)) == expected
    # As YAML, one by one and some of them twice.
    text = yaml.safe_dump_all([*OBJECTS, OBJECTS[2]]).encode()
    assert render_snapshot(build_snapshot(HEADER, parse_documents(text, "capture"))) == expected


def test_the_whole_text() -> None:
    data = render_snapshot(capture([build("ResourceClaim", "a", namespace="é", spec={"z": 1, "a": [True]}), node("n")]))
    assert data.decode() == (
        f"{HEADER_LINE}"
        '{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"a","namespace":"é"},'
        '"spec":{"a":[true],"z":1}}\n'
        '{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"spec":{}}\n'
    )


def test_what_is_written_is_read_back() -> None:
    snapshot = capture(OBJECTS)
    assert parse_snapshot(render_snapshot(snapshot), FILE) == snapshot
    assert [placed.value.title for placed in read(*OBJECTS).claims] == ["chat/a", "inference/a", "inference/b"]


def test_places_of_objects_are_lines_of_the_snapshot() -> None:
    places = [placed.place for placed in read(*OBJECTS).claims]
    assert [(place.file, place.line) for place in places] == [(FILE, 3), (FILE, 4), (FILE, 5)]


def test_the_schema_takes_every_line() -> None:
    validator = jsonschema_rs.Draft202012Validator(snapshot_schema())
    for line in render_snapshot(capture(OBJECTS)).splitlines():
        validator.validate(json.loads(line))


def env(*entries: Json) -> Json:
    return {"containers": [{"name": "engine", "args": ["--port=8000"], "env": list(entries)}]}


FROM = {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
# What a capture has, and what of it is kept.
KEPT: dict[str, tuple[list[Json], list[Json]]] = {
    "no-secrets": ([{**build("Secret", "s", spec={}, api="v1"), "data": {"token": "eA=="}}], []),
    # Another group's kind of that name isn't Kubernetes' own.
    "secrets-of-another-group": (
        [build("Secret", "s", spec={}, api="example.com/v1")],
        [build("Secret", "s", spec={}, api="example.com/v1")],
    ),
    "no-managed-fields": ([build("Node", "n", spec={}, api="v1", managedFields=[{"manager": "kubelet"}])], [node("n")]),
    "a-field-of-that-name-elsewhere": (
        [build("Node", "n", spec={"managedFields": [1]}, api="v1")],
        [build("Node", "n", spec={"managedFields": [1]}, api="v1")],
    ),
    # The annotation repeats the object with every value that is dropped here.
    "no-last-applied": (
        [build("Node", "n", spec={}, api="v1", annotations={LAST_APPLIED: '{"env":"secret"}', "a": "b"})],
        [build("Node", "n", spec={}, api="v1", annotations={"a": "b"})],
    ),
    "no-literal-env-but-ours": (
        [
            build(
                *("Pod", "p"),
                api="v1",
                spec=env(
                    {"name": "HF_TOKEN", "value": "hf_x"},
                    {"name": "POOLWRIGHT_UNIT", "value": "chat"},
                    {"name": "OTEL_RESOURCE_ATTRIBUTES", "value": "a=b"},
                    {"value": "nameless"},
                    FROM,
                ),
            )
        ],
        [
            build(
                *("Pod", "p"),
                api="v1",
                spec=env(
                    {"name": "HF_TOKEN"},
                    {"name": "POOLWRIGHT_UNIT", "value": "chat"},
                    {"name": "OTEL_RESOURCE_ATTRIBUTES", "value": "a=b"},
                    {},
                    FROM,
                ),
            )
        ],
    ),
    "templates-too": (
        [build("Deployment", "d", api="apps/v1", spec={"template": {"spec": env({"name": "A", "value": "x"})}})],
        [build("Deployment", "d", api="apps/v1", spec={"template": {"spec": env({"name": "A"})}})],
    ),
    "env-as-a-map": (
        [build("Engine", "e", api="example.com/v1", spec={"env": {"A": "x", "POOLWRIGHT_UNIT": "chat", "B": FROM}})],
        [build("Engine", "e", api="example.com/v1", spec={"env": {"POOLWRIGHT_UNIT": "chat", "B": FROM}})],
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept(name: str) -> None:
    given, kept = KEPT[name]
    before = json.dumps(given)
    snapshot = capture(given)
    assert list(snapshot.objects) == kept
    assert json.dumps(given) == before
    assert parse_snapshot(render_snapshot(snapshot), FILE) == snapshot


@pytest.mark.parametrize("name", [name for name, (given, kept) in KEPT.items() if given != kept])
def test_what_is_not_kept_is_refused_where_it_stands(name: str) -> None:
    given, _ = KEPT[name]
    text = say(render_snapshot(Snapshot(header=HEADER, objects=tuple(given))))
    assert text.startswith(f"{FILE}:2:1: ")
    assert "snapshots are passed on, and hold no s" in text


LINE = b'{"apiVersion":"v1","kind":"Node","metadata":{"name":"%s"}}\n'
HEAD = HEADER_LINE.encode()
FORM = "a digest stands for the bytes, so that equal captures have to be equal bytes"
SHAPE = "each line after the first is an object"
ORDER = "objects are sorted by apiVersion, kind, namespace and name"


def refused(place: str, what: str, why: str, at: str = "") -> str:
    field = f"  at   {at}\n" if at else ""
    return (
        f"{FILE}{place}: {what}  [snapshot-unreadable]\n{field}  why  {why} (poolwright snapshot format)\n"
        "  fix  capture the cluster again; a snapshot is never edited\n"
    )


WHOLE: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", refused("", "it is empty", "the first line is the header")),
    "not-ended": (HEAD[:-1], refused(":1:1", "the last line isn't ended", "it may have been cut short")),
    "no-header": (
        LINE % b"n",
        "".join(
            refused(":1:1", what, "the first line is the header", at)
            for what, at in (
                ('"capturedAt" is missing', ""),
                ('"cluster" is missing', ""),
                ('"kubernetesVersion" is missing', ""),
                ('"layers" is missing', ""),
                ('"resourceVersions" is missing', ""),
                ('unknown field "metadata"', ""),
                ("apiVersion isn't poolwright.dev/v1alpha1", "apiVersion"),
                ("kind isn't Snapshot", "kind"),
            )
        ),
    ),
    "two-headers": (HEAD + HEAD, ""),
    "a-layer-of-another-word": (
        HEAD.replace(b'"cdi":"absent"', b'"cdi":"seen"'),
        refused(":1:1", "layers.cdi isn't one of: observed, absent", "the first line is the header", "layers.cdi"),
    ),
    "a-time-that-is-local": (
        HEAD.replace(b"09:00:00Z", b"09:00:00+02:00"),
        refused(":1:1", "capturedAt isn't what the schema says", "the first line is the header", "capturedAt"),
    ),
    "not-json": (
        HEAD + b"{\n",
        refused(":2:2", "the line isn't JSON: Expecting property name enclosed in double quotes", FORM),
    ),
    "an-empty-line": (HEAD + b"\n", refused(":2:1", "the line isn't JSON: Expecting value", FORM)),
    "not-utf-8": (HEAD + b'{"a":"\xff"}\n', refused(":2:7", "the line isn't UTF-8", FORM)),
    "a-list": (HEAD + b"[]\n", refused(":2:1", "the line isn't an object", FORM)),
    "a-repeated-key": (HEAD + b'{"a":1,"a":1}\n', refused(":2:1", "a map in the line repeats a key", FORM)),
    "spaces": (
        HEAD + (LINE % b"n").replace(b":{", b": {"),
        refused(":2:45", "the line isn't canonical JSON: no spaces, keys sorted, one spelling", FORM),
    ),
    "a-float": (
        HEAD + b'{"a":1.0}\n',
        refused(":2:1", "the line has no canonical form: canonical JSON has no form for float", FORM),
    ),
    "out-of-order": (
        HEAD + LINE % b"b" + LINE % b"a" + LINE % b"c",
        refused(":3:1", "Node a is out of order", ORDER),
    ),
    "twice": (HEAD + LINE % b"a" + LINE % b"a", refused(":3:1", "Node a stands a second time", ORDER)),
    "no-name": (HEAD + LINE % b"", refused(":2:1", "metadata.name is empty", SHAPE, "metadata.name")),
    "a-secret": (
        HEAD + (LINE % b"s").replace(b"Node", b"Secret"),
        refused(":2:1", "a Secret stands in it", "snapshots are passed on, and hold no secrets"),
    ),
    "several-lines-at-once": (
        HEAD + b"{}\n" + b"[]\n",
        "".join(refused(":2:1", f'"{name}" is missing', SHAPE) for name in ("apiVersion", "kind", "metadata"))
        + refused(":3:1", "the line isn't an object", FORM),
    ),
}


@pytest.mark.parametrize("name", [name for name, (_, said) in WHOLE.items() if said])
def test_what_is_refused(name: str) -> None:
    data, expected = WHOLE[name]
    assert say(data) == expected


def test_there_is_one_header() -> None:
    assert "kind is Snapshot: there is one header  [snapshot-unreadable]" in say(WHOLE["two-headers"][0])


HOSTILE: dict[str, tuple[bytes, str]] = {
    "deep": (HEAD + b'{"a":' * 100 + b"1" + b"}" * 100 + b"\n", "nested more than 64 levels"),
    "very-deep": (HEAD + b"[" * 100_000 + b"\n", "nested more than 64 levels"),
    "a-long-number": (HEAD + b'{"a":' + b"9" * 5000 + b"}\n", "a number of 5,000 digits"),
    "a-large-number": (HEAD + b'{"a":9007199254740993}\n', "2^53 - 1"),
    "half-a-character": (HEAD + b'{"a":"\\ud800"}\n', "no canonical form"),
    "many-values": (HEAD + b"[" * 4_000_001, "more than 4,000,000 values"),
    "not-a-number": (HEAD + b'{"a":NaN}\n', "no canonical form"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_lines_are_refused(name: str) -> None:
    data, said = HOSTILE[name]
    assert said in say(data)


def test_problems_and_bytes_are_bounded() -> None:
    assert say(HEAD + b"[]\n" * 5000).count("[snapshot-unreadable]") == 100
    assert say(bytes(MAX_BYTES + 1)).startswith(f"{FILE}: it has more than 67,108,864 bytes")


UNWRITABLE: dict[str, tuple[list[Any], str]] = {
    "twice-and-different": (
        [claim("a"), claim("a", uid="1")],
        'ResourceClaim "inference/a" stands a second time and differs',
    ),
    "no-name": ([{"apiVersion": "v1", "kind": "Node", "metadata": {}}], "items[0].metadata.name is missing"),
    "an-empty-name": ([node("")], "name is empty"),
    "a-float": ([build("Engine", "e", spec={"rate": 0.5}, api="example.com/v1")], 'Engine "e" has no canonical form'),
    "no-object": ([[]], "items[0] is not a map"),
}


@pytest.mark.parametrize("name", UNWRITABLE)
def test_what_no_snapshot_can_be_made_of(name: str) -> None:
    objects, said = UNWRITABLE[name]
    with pytest.raises(SpecError) as caught:
        build_snapshot(HEADER, parse_documents(as_file(objects), "capture"))
    assert [(finding.what, finding.code) for finding in caught.value.findings] == [(said, "snapshot-unreadable")]


@pytest.mark.parametrize("suffix", ["-gke.100", "+k3s1", "-rc.1", "-" + "a" * 91, ""])
def test_a_version_that_the_schema_takes_is_read_as_one(suffix: str) -> None:
    data = HEAD.replace(b"v1.36.2", f"v1.36.2{suffix}".encode())
    assert parse_version(parse_snapshot(data, FILE).header.kubernetes_version).minor == "1.36"


EDITS = (b"", b"a", b'"', b"}", b"\n", b"0", b"\xc3", b"{")


def test_edited_bytes_are_a_snapshot_or_refused() -> None:
    """Whatever is done to one: it is read as it stands, or what is said are findings."""
    data, random = render_snapshot(capture(OBJECTS)), Random("edited snapshots")
    codes, read = set(), 0
    for _ in range(2000):
        edited = bytearray(data)
        for _ in range(random.choice((1, 1, 2, 5))):
            at = random.randrange(len(edited))
            edited[at : at + random.choice((0, 1, 1, 9))] = random.choice(EDITS)
        try:
            snapshot = parse_snapshot(bytes(edited), FILE)
        except SpecError as error:
            codes |= {finding.code for finding in error.findings}
            continue
        read += render_snapshot(snapshot) == edited and bool(find_features(snapshot, {}, FACTS))
    assert codes == {"snapshot-unreadable"}
    assert 20 < read < 1000
