"""A project's facts on disk: what is read, and what isn't followed, listed or taken."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet import FACTS
from own_facts import OURS, write
from poolwright.files.facts import read_facts
from poolwright.files.own_facts import MAX_FACT_ENTRIES
from poolwright.specs.document import MAX_SPEC_BYTES
from poolwright.specs.finding import SpecError

DRIVERS = write([{"line": "26.7", "release": None, "version": "580.200.01", **OURS}])
YAML = """\
# Which drivers we run.
facts:
  - line: "26.7"
    release:
    version: 580.200.01
    source: our rehearsal of 2026-11-20
    date: 2026-11-20
    verified: true
"""


def has_ours(root: Path) -> bool:
    return any(fact.version == "580.200.01" for fact in read_facts(str(root)).operator_gpu_drivers)


def put(root: Path, name: str, data: bytes | str) -> None:
    (root / "facts").mkdir(exist_ok=True)
    (root / "facts" / name).write_bytes(data.encode() if isinstance(data, str) else data)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("operator-gpu-drivers.json", DRIVERS),
        ("operator-gpu-drivers.yaml", YAML),
        ("operator-gpu-drivers.yml", YAML),
    ],
)
def test_json_and_yaml_say_the_same(tmp_path: Path, name: str, data: bytes | str) -> None:
    put(tmp_path, name, data)
    put(tmp_path, "README.md", "passed over")
    put(tmp_path, ".hidden.yaml", "passed over")
    facts = read_facts(str(tmp_path))
    assert has_ours(tmp_path)
    assert facts.list_own_sources() == {"our rehearsal of 2026-11-20"}


def test_without_a_folder_the_facts_are_those_that_ship(tmp_path: Path) -> None:
    before = set(sys.modules)
    facts = read_facts(str(tmp_path))
    assert facts.table("hardware") == FACTS.table("hardware")
    assert facts.list_own_sources() == frozenset()
    (tmp_path / "facts").mkdir()
    assert read_facts(str(tmp_path)).list_own_sources() == frozenset()
    assert not {name for name in set(sys.modules) - before if name.startswith("poolwright.plan")}


def link_file(root: Path) -> None:
    (root / "elsewhere.json").write_bytes(DRIVERS)
    (root / "facts").mkdir()
    (root / "facts" / "operator-gpu-drivers.json").symlink_to(root / "elsewhere.json")


def link_folder(root: Path) -> None:
    (root / "elsewhere").mkdir()
    (root / "elsewhere" / "operator-gpu-drivers.json").write_bytes(DRIVERS)
    (root / "facts").symlink_to(root / "elsewhere")


def pipe(root: Path) -> None:
    (root / "facts").mkdir()
    os.mkfifo(root / "facts" / "hardware.yaml")


def nest(root: Path) -> None:
    put(root, "hardware.yaml", "facts: []\n")
    (root / "facts" / "more").mkdir()


def crowd(root: Path) -> None:
    for number in range(MAX_FACT_ENTRIES + 1):
        put(root, f"{number}.txt", "")


def confuse(root: Path) -> None:
    put(root, "hardware.yaml", "facts: [1]\n")
    put(root, "hardwear.json", "{")


def stand_in(root: Path) -> None:
    (root / "facts").write_text(YAML)


REFUSED: dict[str, tuple[Callable[[Path], None], list[str]]] = {
    "link": (
        link_file,
        ["facts/operator-gpu-drivers.json: facts/operator-gpu-drivers.json can't be read: it is a link"],
    ),
    "folder-that-is-a-link": (link_folder, ["facts: facts can't be read: it is a link"]),
    "file-for-the-folder": (
        stand_in,
        ["facts: facts can't be read: it is no folder"],
    ),
    "pipe": (pipe, ["facts/hardware.yaml: facts/hardware.yaml can't be read: it is no regular file"]),
    "folder-in-the-folder": (nest, ["facts/more: facts/more is a folder"]),
    "too-many": (crowd, ["facts: facts/ holds more than 1,000 files and folders"]),
    "huge": (
        lambda root: put(root, "hardware.yaml", b"#" * (MAX_SPEC_BYTES + 1)),
        [
            "facts/hardware.yaml: facts/hardware.yaml can't be read: it has 1,048,577 bytes, and 1,048,576 is the most",
        ],
    ),
    "dense": (
        lambda root: put(root, "hardware.yaml", b"facts: [" + b"1," * 100_000 + b"1]"),
        ["facts/hardware.yaml: the file has 100,001 lines and separators"],
    ),
    "all-at-once": (
        confuse,
        [
            "facts/hardware.yaml:1:9: facts[0] is the number 1",
            'facts/hardwear.json: there is no table of facts "hardwear"',
        ],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(tmp_path: Path, name: str) -> None:
    build, expected = REFUSED[name]
    build(tmp_path)
    with pytest.raises(SpecError) as error:
        read_facts(str(tmp_path))
    assert [f"{one.place}: {one.what}" for one in error.value.findings] == expected
