"""The quick reading of a spec and the slow one that explains: they must refuse the same documents."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import pytest
import yaml

from fleet import FLEET, list_rehearsals, list_specs, read_fleet
from fleet_variants import large_fleet
from poolwright.specs.document import Document, parse_documents
from poolwright.specs.finding import SpecError
from poolwright.specs.lock import LOCK_FILE
from poolwright.specs.model import decode_custom
from poolwright.specs.schema import KINDS
from poolwright.specs.shape import check_shape

ROUNDS = 400  # of one to three edits, for each kind
FILES = list_specs(large_fleet()) | list_rehearsals(read_fleet())
VALID = (
    *(d for file, text in FILES.items() for d in parse_documents(text, file)),
    *parse_documents((FLEET / "specs/ledger.yaml").read_bytes(), "specs/ledger.yaml"),
    *parse_documents((FLEET / LOCK_FILE).read_bytes(), LOCK_FILE),
)

# What people and their tools put in place of a value, and numbers at the borders of what is read.
OTHER_VALUES = (
    *(None, True, False, 0, 1, -1, 2**31, 2**53, 2**63, -(2**63) - 1, 10**30),
    *(0.5, 1.0, 90.0, -0.0, 1e300, float("inf"), float("nan")),
    *(
        "",
        " ",
        "x",
        "X",
        "x\n",
        "\n",
        "1",
        "-1",
        "1.36",
        "1.36.x",
        "1.0.0",
        "01.0.0",
        "true",
        "null",
        "é",
        "a b",
        "x" * 41,
    ),
    *("x" * 64, "x" * 254, "a." * 126 + "a", "80Gi", "80GB", "-1Gi", "1e3", "15m", "m", "15 m", "..", "a/../b", "/a"),
    *(
        "a/b",
        "a/b/c",
        "A/b",
        "a:b",
        "a@sha256:" + "0" * 64,
        "sha256:" + "0" * 64,
        "sha256:" + "A" * 64,
        "gpu.nvidia.com",
    ),
    *("experiment", "Exists", "vllm", "fp8", "\u2003a", "\U0001f600" * 64, "\U0001f600" * 65),
    *([], {}, [None], ["x"], [["x"]], {"x": None}, {"name": "x"}, [{"name": "x"}], {"cel": {"expression": ""}}),
)


def refused_quickly(document: Document, kind: str) -> bool:
    try:
        msgspec.convert(document.value, KINDS[kind], dec_hook=decode_custom)
    except msgspec.ValidationError:
        return True
    return False


def list_parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container within a value with each of its keys or positions."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from list_parts(value[key])


def edit_once(random: Random, value: Any) -> None:
    """One edit as people make them: a part lost, renamed, added, moved, or of another value."""
    parent, key = random.choice(list(list_parts(value)) or [(value, "x")])
    match random.choice(("lose", "rename", "add", "text", "near", "near", "value", "value")):
        case "rename" if isinstance(parent, dict):
            parent[random.choice((key.upper(), key + "s", "x", "a/b", "memory", "é"))] = parent.pop(key, None)
        case "add" if isinstance(parent, dict):
            parent[random.choice(("x", "name", "value", "a/b", "X" * 33, "zone"))] = random.choice(OTHER_VALUES)
        case "add":
            parent += [random.choice((*OTHER_VALUES, copy.deepcopy(parent[key])))] * random.choice((1, 1, 1, 70))
        case "text" if key in parent if isinstance(parent, dict) else isinstance(parent[key], str):
            text = str(parent[key])
            at = random.randint(0, len(text))
            cut = text[:at] + random.choice(("", "-", ".", "/", "0", "A", "_", "é", "\n", ":", "@", " ")) + text[at:]
            parent[key] = random.choice((cut, text[:at], text + "\n", text.upper(), text * 9))
        case "near" if isinstance(parent, list) or key in parent:
            old = parent[key]
            number = isinstance(old, int) and not isinstance(old, bool)
            parent[key] = (
                old + random.choice((-1, 1, 100)) if number else f"{old}{random.choice(('', '0', 'x', '.', ' '))}"
            )
        case "lose" if isinstance(parent, list) or key in parent:
            del parent[key]
        case _:
            parent[key] = copy.deepcopy(random.choice(OTHER_VALUES))


def edited_documents(kind: str) -> Iterator[tuple[int, Document]]:
    """The same ones in every run; the number says which."""
    valid = [document for document in VALID if document.value["kind"] == kind]
    for number in range(ROUNDS):
        random = Random(f"{kind} {number}")
        value = copy.deepcopy(random.choice(valid).value)
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            edit_once(random, value)
        try:
            yield from (
                (number, d) for d in parse_documents(yaml.safe_dump(value, allow_unicode=True).encode(), "f.yaml")
            )
        except SpecError:
            continue  # a character that no file may hold


@pytest.mark.parametrize("kind", KINDS)
def test_both_readings_refuse_the_same(kind: str) -> None:
    answers = {True: 0, False: 0}
    for number, document in edited_documents(kind):
        findings, refused = check_shape(document, kind), refused_quickly(document, kind)
        assert bool(findings) == refused, f"edit {number}: {findings}: {document.value}"
        answers[refused] += 1
    # Neither answer may be all there is: then the edits would test nothing.
    assert min(answers.values()) > ROUNDS // 50, answers
