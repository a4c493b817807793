"""Kubernetes' own compiler beside ours: the same selectors compile, and the same functions exist.

Recorded from k8s.io/dynamic-resource-allocation and k8s.io/apiserver v0.37.2 with tests/oracle/cel:

    go run . < ../../catalog/data/cel-verdicts.jsonl > new.jsonl    (a line's expression is the question)
    go run . -functions > ../../catalog/data/cel-functions.txt
"""

import json
import re
import subprocess
from pathlib import Path

import pytest

from needs import needs_go_program
from poolwright.catalog.cel import CelError, parse_cel
from poolwright.catalog.cel.environment import declare_environment

DATA = Path(__file__).parent / "data"
ORACLE = Path(__file__).parents[1] / "oracle" / "cel"

# Selectors that Kubernetes takes and we refuse, each with the words that say so.
REFUSED_HERE = {
    "has(device.driver)": "can't be judged here",
    "device.?driver.hasValue()": "device can't be a value of its own here",
    'cel.bind(d, device, d.driver == "a")': "device can't be a value of its own here",
    "device == device": "device can't be a value of its own here",
    "[device].size() == 1": "device can't be a value of its own here",
    "google.protobuf.BoolValue{value: true} == true": "a message can't be built in a selector here",
    'google.protobuf.Duration{seconds: 1} == duration("1s")': "a message can't be built in a selector here",
    # The official C++ parser reads 32 levels where Go's reads 250.
    "(" * 40 + "true" + ")" * 40: "nested more than about 30 levels deep",
    "1 + " * 40 + "1 == 41": "nested more than about 30 levels deep",
    'device.attributes["a"].x' + ".y" * 40: "nested more than about 30 levels deep",
    "optional.of(1)" + ".optMap(a, a)" * 5 + ".hasValue()": "optMap and optFlatMap may stand here 4 times at most",
    # A slip of upstream's: a variable can't be called .x.
    "[1].exists(.x, true)": "variable name must be a simple identifier",
}
# What upstream gives another result type: the library's flatten() forgets what its lists hold, so `checks.py` looks
# at the argument itself.
OTHER_RESULT = {"list_flatten"}


def test_compiles_what_kubernetes_compiles() -> None:
    upstream = {row["expression"]: row["ok"] for row in map(json.loads, _lines("cel-verdicts.jsonl"))}
    assert len(upstream) > 700
    ours = {expression: _refuse(expression) for expression in upstream}
    differences = {e: ours[e] or "taken" for e, ok in upstream.items() if ok == bool(ours[e])}
    assert {e: REFUSED_HERE.get(e, "?") in words for e, words in differences.items()} == dict.fromkeys(
        REFUSED_HERE, True
    )


def _refuse(expression: str) -> str:
    try:
        parse_cel(expression)
    except CelError as error:
        return str(error)
    return ""


def test_knows_the_functions_kubernetes_knows() -> None:
    rows = [row for line in _lines("cel-functions.txt") if (row := _parse_overload(line))]
    names = {text: f"v{at}" for at, text in enumerate(sorted({text for _, _, types, _ in rows for text in types}))}
    environment = declare_environment({name: text for text, name in names.items()})
    expected, found = {}, {}
    for overload, pattern, (*arguments, result), is_named in rows:
        checked = environment.compile(pattern.format(*(names[text] for text in arguments)))
        expected[overload] = (str(environment.compile(names[result]).return_type()), True)
        # Upstream's ids serve whoever evaluates the tree; lists.range is the one that the library calls otherwise.
        found[overload] = (str(checked.return_type()), is_named or overload.encode() in checked.serialize())
    assert len(rows) > 300
    assert {name: pair for name, pair in found.items() if pair != expected[name]}.keys() == OTHER_RESULT


@pytest.mark.oracle
def test_upstream_still_answers_as_recorded(tmp_path: Path) -> None:
    program = needs_go_program(ORACLE, tmp_path / "oracle")
    recorded = (DATA / "cel-verdicts.jsonl").read_bytes()
    assert subprocess.run([program], input=recorded, check=True, capture_output=True).stdout == recorded
    functions = subprocess.run([program, "-functions"], check=True, capture_output=True).stdout
    assert functions == (DATA / "cel-functions.txt").read_bytes()


# How operators are written; the other functions with signs in their names are the macros' own.
OPERATORS = {"!_": "!{}", "-_": "-{}", "@in": "{} in {}", "_?_:_": "{} ? {} : {}", "_[_]": "{}[{}]", "_[?_]": "{}[?{}]"}
PARAMETERS = {"<A>": "int", "<B>": "string", "<K>": "string", "<T>": "int", "<V>": "int"}
SPELLINGS = {"google.protobuf.Duration": "duration", "google.protobuf.Timestamp": "timestamp", ", ": ","}
# Without an argument or a named field there is nothing that fixes a result's type.
UNTYPED = ("optional_none", "select_optional_field")


def _parse_overload(line: str) -> tuple[str, str, list[str], bool] | None:
    """An overload's id, a call of it with holes for arguments, the types of arguments and result."""
    overload, _, rest = line.partition(": ")
    call, _, result = rest.rpartition(" -> ")
    found = re.fullmatch(r"(?:\((?P<receiver>.*?)\)\.)?(?P<name>[^(]+)\((?P<arguments>.*)\)", call)
    assert found, line
    name, arguments = found["name"], [text for text in found["arguments"].split("; ") if text]
    if overload in UNTYPED or (re.search(r"\W", name.replace(".", "")) and name not in OPERATORS and name[0] != "_"):
        return None
    if name in OPERATORS:
        pattern = OPERATORS[name]
    elif operator := re.fullmatch(r"_(\W+)_", name):
        pattern = f"{{}} {operator[1]} {{}}"
    elif name in ("in", "_in_", "__not_strictly_false__"):
        return None
    elif found["receiver"]:
        pattern = f"{{}}.{name}({', '.join('{}' for _ in arguments)})"
        arguments = [found["receiver"], *arguments]
    else:
        pattern = f"{name}({', '.join('{}' for _ in arguments)})"
    return overload, pattern, [_spell(text) for text in (*arguments, result)], overload == "lists_range"


def _spell(text: str) -> str:
    for old, new in (PARAMETERS | SPELLINGS).items():
        text = text.replace(old, new)
    return text.replace("(", "<").replace(")", ">")


def _lines(name: str) -> list[str]:
    return (DATA / name).read_text(encoding="utf-8").splitlines()
