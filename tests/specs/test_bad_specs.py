"""Every way in which specs are refused, with the whole text that says so: the cases are in bad/*.yaml.

Each case edits the valid fleet in bad/fleet: `new` takes the place of `old` in `file`, or is the file where there is no
`old`. `says` is what a terminal shows; `--update-golden` rewrites it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet import FACTS
from folders import read_files
from poolwright.catalog.units import build_closures
from poolwright.specs.document import MAX_SPEC_BYTES
from poolwright.specs.finding import SpecError, render_text
from poolwright.specs.parse import parse_specs
from poolwright.specs.risks import check_risks

BAD = Path(__file__).parent / "bad"
CASES = {
    f"{path.stem}-{name}": case
    for path in sorted(BAD.glob("*.yaml"))
    for name, case in yaml.safe_load(path.read_text("utf-8")).items()
}


def read_valid() -> dict[str, bytes]:
    return read_files(BAD / "fleet")


def judge(files: Mapping[str, bytes]) -> str:
    """What `check` says of the files; the one that the envelope names is there."""
    try:
        specs = parse_specs(files)
        build_closures(specs, {"models/chat/config.json": b"{}"}, FACTS)
    except SpecError as error:
        return render_text(error.findings)
    return render_text(check_risks(specs))


def apply_case(case: Mapping[str, Any]) -> dict[str, bytes]:
    files = read_valid()
    for change in case.get("edits", [case]):
        name, text = change["file"], files.get(change["file"], b"").decode()
        if "copy" in change:
            files[name] = files[change["copy"]]
            continue
        if "old" in change:
            assert text.count(change["old"]) == 1, f"{name} must have {change['old']!r} once"
        files[name] = (text.replace(change["old"], change["new"]) if "old" in change else change["new"]).encode()
    return files


def test_the_fleet_that_the_cases_edit_is_valid() -> None:
    assert judge(read_valid()) == ""


GENERATED = {
    "bytes-that-are-not-utf-8": (
        read_valid()["specs/pools.yaml"].replace(b"research", "forschung-münchen".encode("latin-1")),
        "specs/pools.yaml:36:21: byte 0xfc is not UTF-8  [yaml-encoding]\n"
        "  why  specs are UTF-8 text, so that every tool reads the same characters (poolwright spec format)\n"
        "  fix  save the file as UTF-8\n",
    ),
    "nested-too-deep": (
        b"kind: " + b"[" * 70 + b"]" * 70,
        f"specs/pools.yaml:1:71: the value is nested more than 64 levels deep  [yaml-depth]\n"
        f"  at   kind{'[0]' * 64}\n"
        "  why  no spec needs that depth, and reading is bounded in time and memory (poolwright limit)\n"
        "  fix  flatten the value\n",
    ),
    # The parser gives up by itself before it runs out of stack.
    "nested-without-end": (
        b"[" * 100_000,
        "specs/pools.yaml:1:1001: this is not YAML: exceeded maximum nesting depth, while increasing flow level"
        "  [yaml-syntax]\n"
        "  why  nothing of a file is used unless all of it can be read (YAML 1.2.2)\n"
        "  fix  mend the syntax here or on a line above: often an indent, a missing bracket, or a colon in plain"
        " text\n",
    ),
    "number-too-long": (
        b"kind: " + b"9" * 5000,
        "specs/pools.yaml:1:7: a number of 5,000 characters  [yaml-number]\n"
        "  at   kind\n"
        "  why  numbers are read up to 400 characters, so that reading is bounded in time (poolwright limit)\n"
        "  fix  shorten it, or quote it if it is text\n",
    ),
    "file-too-large": (
        b"#" * (MAX_SPEC_BYTES + 1),
        "specs/pools.yaml: the file has 1,048,577 bytes  [file-too-large]\n"
        "  why  a file of this kind is read up to 1,048,576 bytes, so that reading is bounded in time and memory"
        " (poolwright limit)\n"
        "  fix  split it into several files; any file layout will do\n",
    ),
}


@pytest.mark.parametrize(("pools", "says"), GENERATED.values(), ids=GENERATED)
def test_bad_pool_file(pools: bytes, says: str) -> None:
    assert judge({**read_valid(), "specs/pools.yaml": pools}) == says


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_bad_specs(case: Mapping[str, Any], request: pytest.FixtureRequest) -> None:
    says = judge(apply_case(case))
    if says and request.config.getoption("--update-golden"):
        rewrite_case(*request.node.callspec.id.split("-", 1), says)
    else:
        assert says == case["says"]


def rewrite_case(stem: str, name: str, says: str) -> None:
    """Put another text behind `says` of one case; all else in its file stays."""
    path = BAD / f"{stem}.yaml"
    head, said = rf"^{name}:\n(?:  .*\n)*?  says: \|\n", r"(?:    .*\n)*"
    text = textwrap.indent(says, "    ")
    path.write_text(
        re.sub(f"({head}){said}", lambda found: found[1] + text, path.read_text("utf-8"), flags=re.M), "utf-8"
    )
