"""What differs between a packet and what its commit gives, and what that comes from."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from packet_indexes import INDEX, SECOND, sealed

from poolwright.packet.differences import FileDifference, Rebuilt, compare_packets
from poolwright.packet.index import Input, PacketIndex, Previous, Tool
from poolwright.packet.parts import PacketPart

OBJECTS = b"""\
apiVersion: v1
kind: Service
metadata: {name: chat, namespace: chat}
spec: {clusterIP: None, ports: [{name: http, port: 8000}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: notes, namespace: chat}
data: {a: "1"}
"""


def compare(recorded: PacketIndex, files: dict[str, bytes], rebuilt: PacketIndex = INDEX) -> Rebuilt:
    """A packet of PARTS with some files changed, against what its commit gives."""
    made = sealed(recorded)
    return compare_packets(made.index, {**made.files, **files}, sealed(rebuilt))


def test_the_same() -> None:
    assert compare(INDEX, {}) == Rebuilt(causes=(), files=())
    assert compare(INDEX, {}).is_same


HOW = {
    "a-value-of-json": (
        {"receipts/east.json": b'{"a": [1, 3]}\n'},
        FileDifference(path="receipts/east.json", how="/a/1: 3, and the commit gives 2"),
    ),
    "one-and-true": (
        {"receipts/east.json": b'{"a": [true, 2]}\n'},
        FileDifference(path="receipts/east.json", how="/a/0: true, and the commit gives 1"),
    ),
    "a-list-of-another-length": (
        {"receipts/east.json": b'{"a": [1]}\n'},
        FileDifference(path="receipts/east.json", how="/a: a list of 1, and the commit gives a list of 2"),
    ),
    "several-values": (
        {"prices.json": b'{"a": 1, "b": 2, "c": 3, "d": 4}\n'},
        FileDifference(
            path="prices.json",
            how="/a: 1, and the commit gives null; /b: 2, and the commit gives null; /c: 3, and the commit gives null, "
            "and 1 more",
        ),
    ),
    "the-same-value-in-other-bytes": (
        {"prices.json": b"{ }\n"},
        FileDifference(path="prices.json", how="line 1 differs first"),
    ),
    "bytes-at-the-end": (
        {"prices.json": b"{}\n\n"},
        FileDifference(path="prices.json", how="it has 4 bytes, and the commit gives 3"),
    ),
    "no-json-any-more": (
        {"prices.json": b"{"},
        FileDifference(path="prices.json", how="line 1 differs first"),
    ),
    "the-page-alone": (
        {"report.html": b"<p>"},
        FileDifference(path="report.html", how="the commit gives no such file"),
    ),
    "the-page-follows-from-its-data": (
        {"report.html": b"<p>", "report.json": b"{}"},
        FileDifference(path="report.json", how="the commit gives no such file"),
    ),
    "one-more": (
        {"prices.yaml": b""},
        FileDifference(path="prices.yaml", how="the commit gives no such file"),
    ),
}


@pytest.mark.parametrize("name", HOW)
def test_how_a_file_differs(name: str) -> None:
    files, difference = HOW[name]
    assert compare(INDEX, files) == Rebuilt(causes=(), files=(difference,))


def test_one_is_missing() -> None:
    made = sealed()
    rest = {path: data for path, data in made.files.items() if path != "prices.json"}
    how = "the commit gives it, and it isn't there"
    assert compare_packets(made.index, rest, made).files == (FileDifference(path="prices.json", how=how),)


MANIFESTS = {
    "a-field": (
        OBJECTS.replace(b"clusterIP: None", b"clusterIP: 10.0.0.1"),
        "Service chat/chat differs in spec.clusterIP",
    ),
    "one-object-more": (
        OBJECTS + b"---\n{apiVersion: v1, kind: Secret, metadata: {name: extra}}\n",
        "it has Secret extra, and the commit gives none",
    ),
    "one-object-less": (OBJECTS.partition(b"---\n")[0], "it lacks ConfigMap chat/notes"),
    "no-yaml-any-more": (b"{", "line 1 differs first"),
    "a-comment": (b"# hello\n" + OBJECTS, "line 1 differs first"),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_how_objects_differ(name: str) -> None:
    data, how = MANIFESTS[name]
    path = "manifests/east/chat/objects.yaml"
    made = sealed(INDEX, PacketPart(path=path, role="manifests", data=OBJECTS))
    found = compare_packets(made.index, {**made.files, path: data}, made)
    assert found.files == (FileDifference(path=path, how=how),)


CAUSES = {
    "another-tool": (
        replace(INDEX, tool=Tool(poolwright="0.2.0", render_format=1, kustomize=None)),
        INDEX,
        ("tool: it was made by Poolwright 0.2.0, and rebuilt by 0.1.0",),
    ),
    "another-render-format": (
        replace(INDEX, tool=Tool(poolwright="0.1.0", render_format=2, kustomize=None)),
        INDEX,
        ("tool: it says render format 2, and the commit's lock says 1",),
    ),
    "another-kustomize": (
        replace(INDEX, tool=Tool(poolwright="0.1.0", render_format=1, kustomize="v5.8.1")),
        replace(INDEX, tool=Tool(poolwright="0.1.0", render_format=1, kustomize="v5.9.0")),
        ("kustomize: it was made with v5.8.1, and rebuilt with v5.9.0",),
    ),
    "other-inputs": (
        replace(INDEX, inputs=(Input(path="a", sha256="sha256:" + "2" * 64),)),
        INDEX,
        ("input: a, poolwright.yaml: not what the commit has",),
    ),
    "another-place-in-the-row": (
        replace(SECOND, name="r1"),
        replace(SECOND, name="r1", sequence=3, previous=Previous(name="r0", digest="sha256:" + "1" * 64)),
        (
            "input: it says that it is number 2 after r1 (000000000000), and by the commit's own releases it is number "
            "3 after r0 (111111111111)",
        ),
    ),
}


@pytest.mark.parametrize("name", CAUSES)
def test_what_it_comes_from(name: str) -> None:
    recorded, rebuilt, causes = CAUSES[name]
    found = compare(recorded, {}, rebuilt)
    assert found.causes == causes
    assert [one.path for one in found.files] == ["packet.json"]
