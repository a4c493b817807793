"""Our evaluation beside that of the official CEL runtime, for what the standard alone defines."""

import random
from functools import cache
from typing import Any

from cel_expr_python import cel

from oracle.selectors.compare import FEATURES
from poolwright.allocation.selectors import Selector, compile_selector
from selector_rows import build_device

ROW: dict[str, Any] = {
    "driver": "a.com",
    "attributes": {"s": {"string": "A100"}, "i": {"int": 2}, "b": {"bool": True}, "l": {"ints": [3, 1, 2]}},
}
DATA = {
    "device.attributes": {"a.com": {"s": "A100", "i": 2, "b": True, "l": [3, 1, 2]}},
    "device.driver": "a.com",
}
CONFIG = """extensions:
  - {name: optional, version: 2}
variables:
  - {name: device.attributes, type: "map<string,map<string,dyn>>"}
  - {name: device.driver, type: string}
"""
LEAVES = {
    "bool": (
        "true",
        "false",
        'device.attributes["a.com"].b',
        'has(device.attributes["a.com"].none)',
        'device.attributes["a.com"].none',
    ),
    "int": ("0", "1", "-3", "7", "9223372036854775807", 'device.attributes["a.com"].i', "size(device.driver)"),
    "double": ("0.0", "2.0", "-1.5", "1e300"),
    "string": ('""', '"A"', '"é😀"', "device.driver", 'device.attributes["a.com"].s', "string(7)"),
    "list": ("[]", "[1, 2, 3]", "[2]", 'device.attributes["a.com"].l'),
}
FORMS = {
    "bool": (
        *("({bool} && {bool})", "({bool} || {bool})", "!{bool}", "({bool} ? {bool} : {bool})", "({int} == {int})"),
        *(
            "({int} < {int})",
            "({int} != {double})",
            "({string} == {string})",
            "({list} == {list})",
            "({double} <= {double})",
        ),
        *("{string}.contains({string})", "{string}.startsWith({string})", "{string}.endsWith({string})"),
        *(
            "({int} in ({list} + [7]))",
            '("s" in device.attributes["a.com"])',
            "{list}.all(x, x > {int})",
            "{list}.exists(x, x == {int})",
        ),
        *("{list}.exists_one(x, x % 2 == {int})", '{string}.matches("^A[0-9]+")', "(dyn({int}) == dyn({string}))"),
        'device.attributes["a.com"].?none.orValue({bool})',
    ),
    "int": (
        *("({int} + {int})", "({int} - {int})", "({int} * {int})", "({int} / {int})", "({int} % {int})", "-({int})"),
        *("size({string})", "size({list})", "({bool} ? {int} : {int})", "{list}[{int}]", "int({double} + 0.5)"),
        'device.attributes["a.com"].?i.orValue({int})',
    ),
    "double": ("({double} + {double})", "({double} * {double})", "({double} - {double})", "double({int})"),
    "string": ("({string} + {string})", "({bool} ? {string} : {string})", "string({int})", "string({bool})"),
    "list": ("({list} + {list})", "{list}.map(x, x + {int})", "{list}.filter(x, x < {int})", "[{int}]"),
}


def test_agrees_with_the_official_runtime() -> None:
    chance = random.Random(7)
    device = build_device(ROW)
    seen = {"true": 0, "false": 0, "error": 0}
    different = []
    for _ in range(1500):
        text = _write("bool", 3, chance)
        compiled = compile_selector(text, FEATURES)
        ours = str(compiled.evaluate(device)).lower() if isinstance(compiled, Selector) else "error"
        ours = ours if ours in seen else "error"
        seen[ours] += 1
        if ours != _evaluate(text):
            different.append((text, ours))
    assert different == []
    assert min(seen.values()) > 150


def _write(kind: str, depth: int, chance: random.Random) -> str:
    if not depth or chance.random() < 0.15:
        return chance.choice(LEAVES[kind])
    text = chance.choice(FORMS[kind])
    while "{" in text:
        start, end = text.index("{"), text.index("}")
        text = text[:start] + _write(text[start + 1 : end], depth - 1, chance) + text[end + 1 :]
    return text


@cache
def _environment() -> Any:
    return cel.NewEnv(config=cel.NewEnvConfigFromYaml(CONFIG))


def _evaluate(text: str) -> str:
    try:
        answer = _environment().compile(text).eval(data=DATA)
    except RuntimeError:
        return "error"
    return str(answer.value()).lower() if str(answer.type()) == "BOOL" else "error"
