"""Selectors on devices: recorded answers of Kubernetes, and the words for what goes wrong.

The vectors were recorded from k8s.io/dynamic-resource-allocation v0.37.2 with tests/oracle/selectors:

    go build -o /tmp/selectors .
    python compare.py /tmp/selectors 2600 21 --record ../../allocation/data/selector-vectors.jsonl
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from needs import needs_go_program
from oracle.selectors.compare import FEATURES, answer, ask_upstream, differs
from oracle.selectors.questions import write_questions
from poolwright.allocation.selectors import Selector, SelectorProblem, compile_selector
from poolwright.allocation.selectors.functions.registry import find_function
from poolwright.allocation.selectors.values import NOT_EVALUATED, EvaluationAbortedError
from poolwright.catalog.cel import Read
from poolwright.catalog.resource_slice import AttributeOnDevice, CapacityOnDevice
from selector_rows import build_device

DATA = Path(__file__).parent / "data"
ORACLE = Path(__file__).parents[1] / "oracle" / "selectors"
FUNCTIONS = Path(__file__).parents[1] / "catalog" / "data" / "cel-functions.txt"

GPU: dict[str, Any] = {
    "driver": "gpu.example.com",
    "attributes": {
        "model": {"string": "A100"},
        "index": {"int": 2},
        "driverVersion": {"version": "1.4.2"},
        "topo.example.org/rack": {"string": "r7"},
    },
    "capacity": {"memory": {"value": "40Gi"}},
}


def _read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


CASES = {row["id"]: row for row in _read("selector-cases.jsonl")}


@pytest.mark.parametrize("name", CASES)
def test_gives_what_the_scheduler_gives(name: str) -> None:
    row = CASES[name]
    outcome, cost, _ = answer(row)
    assert (outcome, cost if "cost" in row else None) == (row["outcome"], row.get("cost"))


def test_there_are_all_cases() -> None:
    assert len(CASES) == 102


def test_gives_what_upstream_gave_to_random_selectors() -> None:
    rows = _read("selector-vectors.jsonl")
    assert len(rows) > 1500
    ours = [answer(row)[:2] for row in rows]
    wrong = [
        (row["expression"], found)
        for row, found in zip(rows, ours, strict=True)
        if found != (row["outcome"], row["cost"])
    ]
    assert wrong == []


@pytest.mark.oracle
def test_upstream_gives_the_same_now(tmp_path: Path) -> None:
    program = str(needs_go_program(ORACLE, tmp_path / "oracle"))
    questions = [*CASES.values(), *write_questions(4000, 1)]
    different = []
    for question, upstream in zip(questions, ask_upstream(program, questions), strict=True):
        ours = answer(question)
        if differs(ours, upstream) not in ("", "panic upstream"):
            different.append((question["expression"], ours, upstream))
    # The two checkers give a few selectors different types, about one in three thousand: one refuses them, or they
    # find other overloads.
    assert len(different) <= 6, different
    assert [row for row in different if "error-compile" not in (row[1][0], row[2]["outcome"])] == []


PROBLEMS = {
    "missing-with-a-near-name": (
        'device.attributes["gpu.example.com"].Model == "A100"',
        SelectorProblem(
            kind="runtime",
            message="no such key: Model",
            hint='the device publishes device.attributes["gpu.example.com"].model; if that isn\'t meant, guard it with '
            'has(device.attributes["gpu.example.com"].Model), or write '
            'device.attributes["gpu.example.com"].?Model.orValue(...)',
        ),
    ),
    "the-name-is-in-another-domain": (
        'device.attributes["gpu.example.com"].rack == "r7"',
        SelectorProblem(
            kind="runtime",
            message="no such key: rack",
            hint='the device publishes device.attributes["topo.example.org"].rack; if that isn\'t meant, guard it with '
            'has(device.attributes["gpu.example.com"].rack), or write '
            'device.attributes["gpu.example.com"].?rack.orValue(...)',
        ),
    ),
    "the-domain-is-misspelled": (
        'device.capacity["gpu.exmaple.com"].memory.isGreaterThan(quantity("1"))',
        SelectorProblem(
            kind="runtime",
            message="no such key: memory",
            hint='the device publishes device.capacity["gpu.example.com"].memory; if that isn\'t meant, guard it with '
            'has(device.capacity["gpu.exmaple.com"].memory), or write '
            'device.capacity["gpu.exmaple.com"].?memory.orValue(...)',
        ),
    ),
    "nothing-is-near": (
        'device.attributes["net.example.com"].rdma',
        SelectorProblem(
            kind="runtime",
            message="no such key: rdma",
            hint='guard it with has(device.attributes["net.example.com"].rdma), or write '
            'device.attributes["net.example.com"].?rdma.orValue(...)',
        ),
    ),
    "not-a-bool": (
        'device.attributes["gpu.example.com"].model',
        SelectorProblem(kind="runtime", message="CEL result of type string could not be converted to bool"),
    ),
    "too-expensive": (
        "lists.range(999).all(x, lists.range(999).all(y, x + y >= 0))",
        SelectorProblem(kind="runtime", message="operation cancelled: actual cost limit exceeded"),
    ),
    "wrong-type": (
        'device.attributes["gpu.example.com"].index.startsWith("2")',
        SelectorProblem(kind="runtime", message="no such overload"),
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_says_what_went_wrong(name: str) -> None:
    text, problem = PROBLEMS[name]
    compiled = compile_selector(text, FEATURES)
    assert isinstance(compiled, Selector)
    assert compiled.evaluate(build_device(GPU)) == problem


COMPILE = {
    "no-such-field": (
        'device.name == "gpu-0"',
        "compilation failed: line 1, column 7: device has no field name; there are device.allowMultipleAllocations, "
        "device.attributes, device.capacity, device.driver",
    ),
    "not-a-bool": (
        "1",
        "compilation failed: line 1, column 1: a selector must be a bool, or an attribute that may be one, and this is "
        "of type int",
    ),
    "too-long": (
        "true" + " " * 10237,
        "compilation failed: line 1, column 1: the expression has 10,241 bytes and may have 10,240",
    ),
    "can-only-fail": (
        "bool(string(2.5))",
        "program instantiation failed: type conversion error from 'string' to 'bool'",
    ),
    "a-variable-that-is-a-type": (
        "cel.bind(t, type(1), t == int)",
        "program instantiation failed: reference to undefined type: t",
    ),
}


@pytest.mark.parametrize("name", COMPILE)
def test_says_why_it_does_not_compile(name: str) -> None:
    text, message = COMPILE[name]
    assert compile_selector(text, FEATURES) == SelectorProblem(kind="compile", message=message)


# Whatever a selector reads, it fails on a device that has one of these.
BROKEN = {
    "of-no-known-type": (
        AttributeOnDevice(type="unsupported", value=None),
        "attribute gpu.example.com/odd: unsupported attribute value",
    ),
    "no-semantic-version": (
        AttributeOnDevice(type="version", value="580.95"),
        'attribute gpu.example.com/odd: parse semantic version: "580.95" is no semantic version such as 1.2.3',
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_attribute_breaks_every_selector(name: str) -> None:
    attribute, message = BROKEN[name]
    device = build_device({"driver": "gpu.example.com"})
    device = type(device)(driver=device.driver, pool="p", name="d", attributes={("gpu.example.com", "odd"): attribute})
    compiled = compile_selector("true", FEATURES)
    assert isinstance(compiled, Selector)
    assert compiled.evaluate(device) == SelectorProblem(kind="runtime", message=message)


def test_what_is_not_known_before_is_no_answer() -> None:
    planned = type(build_device(GPU))(
        driver="a.com",
        pool="p",
        name="d",
        attributes={("a.com", "uuid"): AttributeOnDevice(type="string", value=None)},
        planned=True,
    )
    compiled = compile_selector('device.attributes["a.com"].uuid == "x"', FEATURES)
    assert isinstance(compiled, Selector)
    assert compiled.reads == (Read(kind="attribute", domain="a.com", name="uuid"),)
    assert compiled.evaluate(planned) == SelectorProblem(
        kind="runtime", message='attribute "a.com/uuid" of a planned device isn\'t known before'
    )
    present = compile_selector('has(device.attributes["a.com"].uuid) && "uuid" in device.attributes["a.com"]', FEATURES)
    assert isinstance(present, Selector)


NEVER_GUESSED = {
    "list-added-to-itself": "cel.bind(x, [], size(x + [1] + x) == 2)",
    "precision": '["%.100001f"].exists(f, f.format([1.0]) == "")',
    "quantity": 'isQuantity("Gi")',
    "sort": "lists.range(13).sortBy(x, 0)[0] == 0",
    "time-zone": 'timestamp("2024-05-01T12:00:00Z").getHours("Europe/Paris") == 14 || true',
    "url": 'url("https://a/?x=%FF").getQuery().size() == 1',
}


@pytest.mark.parametrize("what", NOT_EVALUATED)
def test_what_is_not_evaluated_says_so(what: str) -> None:
    compiled = compile_selector(NEVER_GUESSED[what], FEATURES)
    assert isinstance(compiled, Selector)
    assert compiled.evaluate(build_device(GPU)) == SelectorProblem(
        kind="runtime", message=f"this tool doesn't evaluate {NOT_EVALUATED[what]}"
    )


# A selector can't have an authorizer, and what the planner makes of operators is no function.
UNREACHABLE = re.compile(r"authorizer|check_|groupcheck|resourcecheck|pathcheck|decision")
OPERATORS = ("_&&_", "_||_", "_?_:_", "_==_", "_!=_", "_[_]", "_[?_]", "_?._", "or", "orValue", "in", "_in_")
OPERATORS += ("@not_strictly_false", "__not_strictly_false__")


def test_every_function_of_kubernetes_is_there() -> None:
    missing = []
    for line in FUNCTIONS.read_text(encoding="utf-8").splitlines():
        overload, _, rest = line.partition(": ")
        found = re.match(r"(?:\((?P<receiver>.*?)\)\.)?(?P<name>[^(]+)\((?P<arguments>.*)\) ->", rest)
        assert found, line
        if found["name"] in OPERATORS or UNREACHABLE.match(overload):
            continue
        count = bool(found["receiver"]) + len([text for text in found["arguments"].split("; ") if text])
        function = find_function(found["name"], (overload,), count)
        try:
            function.call(*[None] * count)
        except EvaluationAbortedError as error:
            missing.append(str(error))
        except (TypeError, AttributeError):  # what has no guard of its own is never called with these
            pass
    assert missing == []


# What could make Python stumble where Go doesn't.
EXTREMES = {
    'quantity("1e400").asApproximateFloat() > 1e308': True,
    'quantity("-1e400").asApproximateFloat() < 0.0': True,
    '["%.' + "9" * 5000 + 'f"].all(f, f.format([1.0]) == "")': "error during formatting: the precision is no number",
    'isSemver("' + "9" * 5000 + '.0.0")': False,
    'int(dyn("' + "0" * 50 + '7")) == 7': True,
    '"aaa".replace("a", "b", 9223372036854775807) == "bbb"': True,
    '"a,b".split(",", 9223372036854775807).size() == 2': True,
    '"abc".lastIndexOf("c", 9223372036854775807) == -1': True,
    "lists.range(1000001).size() == 1": "lists.range: size 1000001 exceeds maximum allowed (1000000)",
    "lists.range(1000000).distinct().size() == 1": "operation cancelled: actual cost limit exceeded",
}


@pytest.mark.parametrize("text", EXTREMES, ids=lambda text: text[:40])
def test_extremes(text: str) -> None:
    compiled = compile_selector(text, FEATURES)
    assert isinstance(compiled, Selector)
    found = compiled.evaluate(build_device(GPU))
    assert (found if isinstance(found, bool) else found.message) == EXTREMES[text]


def test_inputs_are_left_alone() -> None:
    device = build_device(GPU)
    before = repr(device)
    compiled = compile_selector('device.attributes["gpu.example.com"].map(k, k).size() == 3', FEATURES)
    assert isinstance(compiled, Selector)
    assert compiled.evaluate(device) is True
    assert repr(device) == before
    assert isinstance(next(iter(device.capacity.values())), CapacityOnDevice)
