"""A packet's files named by its index, and the index's one form."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import jsonschema_rs
import pytest
from packet_indexes import INDEX, PARTS, SECOND, sealed

from folders import write_files
from needs import needs
from poolwright.packet.index import (
    MAX_INDEX_BYTES,
    PacketError,
    is_packet_path,
    name_packet,
    parse_index,
    render_index,
)
from poolwright.packet.parts import PacketPart
from poolwright.packet.schemas import packet_schema
from poolwright.specs.digest import digest_bytes


def test_the_index_names_every_other_file() -> None:
    made = sealed()
    assert [(one.path, one.size, one.sha256, one.role, one.cluster) for one in made.index.files] == [
        ("prices.json", 3, digest_bytes(b"{}\n"), "prices", None),
        ("receipts/east.json", 14, digest_bytes(b'{"a": [1, 2]}\n'), "receipts", "east"),
    ]
    assert sorted(made.files) == ["SHA256SUMS", "packet.json", "prices.json", "receipts/east.json"]


def test_sums_are_what_sha256sum_checks(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "r1", sealed().files)
    command = [needs("sha256sum"), "--strict", "--check", "SHA256SUMS"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert ended.stdout.decode().splitlines() == ["packet.json: OK", "prices.json: OK", "receipts/east.json: OK"]
    (folder / "prices.json").write_bytes(b"{ }")
    assert subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 1


def test_the_order_of_parts_means_nothing() -> None:
    assert sealed(INDEX, *PARTS).files == sealed(INDEX, *reversed(PARTS)).files


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        pytest.param(
            [PacketPart(path="a b", role="evidence", data=b"")],
            "'a b' can't be the path of a packet's file: letters, digits and ._@+- may",
            id="a-space",
        ),
        pytest.param([*PARTS, PARTS[0]], "two files of the packet would be prices.json", id="twice"),
    ],
)
def test_paths_that_no_packet_has(parts: list[PacketPart], said: str) -> None:
    with pytest.raises(PacketError) as error:
        sealed(INDEX, *parts)
    assert str(error.value) == said


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("a", True),
        ("manifests/east/chat-70b/objects.yaml", True),
        ("evidence/a_b@c+d.jsonl", True),
        ("", False),
        ("/a", False),
        ("a/", False),
        ("a//b", False),
        (".", False),
        ("..", False),
        ("a/../b", False),
        (".git/config", False),
        ("a/.b", False),
        ("a\\b", False),
        ("a:b", False),
        ("a\nb", False),
        ("a\n", False),
        ("\N{LATIN SMALL LETTER E WITH ACUTE}", False),
        ("packet.json", False),
        ("packet.json/a", False),
        ("SHA256SUMS", False),
        ("attestations/a", False),
        ("x" * 1024, True),
        ("x" * 1025, False),
    ],
)
def test_paths_of_a_packet(path: str, *, is_one: bool) -> None:
    assert is_packet_path(path) is is_one


def test_an_index_reads_back() -> None:
    data = sealed(SECOND).index_bytes
    assert parse_index(data) == sealed(SECOND).index
    assert name_packet(data) == digest_bytes(data)
    jsonschema_rs.validator_for(packet_schema("Packet")).validate(json.loads(data))


def change(**changes: object) -> bytes:
    """The index with other values, as canonical as before."""
    value = {**json.loads(sealed().index_bytes), **changes}
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def test_the_change_alone_refuses_nothing() -> None:
    assert change() == sealed().index_bytes


FILES = json.loads(sealed().index_bytes)["files"]
INPUT = json.loads(sealed().index_bytes)["inputs"][0]
PREVIOUS = {"name": "r0", "digest": "sha256:" + "1" * 64}
NO_PACKET = "packet.json is no Packet of poolwright.dev/v1alpha1: "
REFUSED = {
    "no-json": (b"{", NO_PACKET + "Input data was truncated"),
    "no-utf-8": (b'"\xff"', NO_PACKET),
    "too-deep": (b"[" * 5000, NO_PACKET),
    "too-large": (b" " * (MAX_INDEX_BYTES + 1), "packet.json has 16,777,217 bytes, and 16,777,216 is the most"),
    "another-kind": (change(kind="Report"), NO_PACKET + "Invalid enum value"),
    "an-unknown-property": (
        change(x=1),
        NO_PACKET + "Object contains unknown",
    ),
    "spaces": (sealed().index_bytes.replace(b":", b": ", 1), "packet.json isn't canonical JSON: "),
    "no-line-feed": (sealed().index_bytes[:-1], "packet.json isn't canonical JSON: "),
    "a-key-twice": (
        sealed().index_bytes.replace(b'"kind":"Packet",', b'"kind":"Packet","kind":"Packet",'),
        "packet.json isn't canonical JSON: ",
    ),
    "files-in-another-order": (change(files=FILES[::-1]), "packet.json: files aren't sorted by path, each once"),
    "a-file-twice": (change(files=[FILES[0], *FILES]), "packet.json: files aren't sorted by path, each once"),
    "inputs-twice": (change(inputs=[INPUT, INPUT]), "packet.json: inputs aren't sorted by path, each once"),
    "a-path-above": (
        change(files=[{**FILES[0], "path": "../a"}]),
        "packet.json: '../a' is no path of a packet's file",
    ),
    "absent-and-there": (
        change(absent=[{"role": "prices", "why": "x"}]),
        "packet.json: prices: said to be absent, and there",
    ),
    "absent-twice": (
        change(absent=[{"role": "drills", "why": "x"}] * 2),
        "packet.json: absent parts aren't sorted by role, each once",
    ),
    "the-first-after-another": (change(previous=PREVIOUS), "packet.json: the first release has sequence 1 and no"),
    "the-second-after-none": (change(sequence=2), "packet.json: the first release has sequence 1 and no previous one"),
    "no-day": (change(asOf="2026-02-30"), "packet.json: 2026-02-30 is no day"),
    "a-float": (
        change(sequence=1.5),
        NO_PACKET + "Expected `int`, got `float`",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_index_that_is_none(name: str) -> None:
    data, said = REFUSED[name]
    with pytest.raises(PacketError) as error:
        parse_index(data)
    assert str(error.value).startswith(said)


def test_a_path_that_is_long_is_not_said_whole() -> None:
    with pytest.raises(PacketError) as error:
        parse_index(change(**{"x" * 5000: 1}))
    assert len(str(error.value)) < 300


def test_equal_indexes_are_equal_bytes() -> None:
    assert render_index(sealed().index) == sealed().index_bytes
