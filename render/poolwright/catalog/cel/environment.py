"""The CEL environment of a device selector, declared for the official parser and type checker."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from poolwright.catalog.cel.functions import REDECLARED, build_overloads

# Versions as in Kubernetes 1.37, except lists: the library counts differently, and its 2 is upstream's 3.
_EXTENSIONS = """extensions:
  - {name: lists, version: 2}
  - {name: sets}
  - {name: two-var-comprehensions}
  - {name: bindings, version: 0}
  - {name: optional, version: 2}"""
# The library can declare an object type only with the protobuf package at hand, so `device` is its four fields,
# each a variable of its own. That makes `device.drivr` an error, and `device` alone one too.
VARIABLES = {
    "device.driver": "string",
    "device.allowMultipleAllocations": "bool",
    "device.attributes": "map<string,map<string,dyn>>",
    "device.capacity": "map<string,map<string,kubernetes.Quantity>>",
}
FIELDS = tuple(sorted(name.removeprefix("device.") for name in VARIABLES))


@cache
def build_environment() -> Any:
    """The `cel_expr_python.cel.Env` that knows what a selector in Kubernetes 1.37's scheduler may name.

    Cost: about 10 ms, once in a process, half of it for loading the library; so it isn't loaded before it is needed.
    """
    return declare_environment(VARIABLES)


def check_pattern(pattern: str) -> str | None:
    """What is wrong with a regular expression, in RE2's own words; None if nothing is.

    Kubernetes has Go's regexp, whose syntax is RE2's but for `\\C`. RE2 also stops at smaller programs: 60,000
    repetitions pass, a million don't.
    """
    if re.search(r"(?<!\\)(?:\\\\)*\\C", pattern):
        return "invalid escape sequence: \\C"
    # The library would end the pattern at a NUL.
    answer = _build_probe().eval(data={"device.driver": pattern.replace("\0", "\\x00")})
    if str(answer.type()) != "ERROR":
        return None
    return str(answer.value()).removeprefix("INVALID_ARGUMENT: ").removeprefix("invalid regular expression: ")


@cache
def _build_probe() -> Any:
    return build_environment().compile("''.matches(device.driver)")


def declare_environment(variables: Mapping[str, str]) -> Any:
    """An environment with these variables, given by the types' names, and with every function of a selector."""
    from cel_expr_python import cel  # type: ignore[import-untyped]  # it has stubs, but no py.typed to say so

    functions: dict[str, list[_Overload]] = {}
    generic = set()
    for line in build_overloads():
        overload = _split(line)
        functions.setdefault(overload[1], []).append(overload)
        if "~" in line or "optional_type<" in line:
            generic.add(overload[1])
    # The library's Python side knows neither type parameters nor optionals, and its YAML is slow; each has its share.
    config = _render_config(variables, {name: functions[name] for name in functions if name in generic})
    declared = [
        cel.FunctionDecl(name, [_build_overload(cel, overload) for overload in overloads])
        for name, overloads in functions.items()
        if name not in generic
    ]
    return cel.NewEnv(config=cel.NewEnvConfigFromYaml(config), functions=declared)


_Overload = tuple[str, str, str, tuple[str, ...], str]  # id, name, receiver's type or "", arguments' types, result's


def _split(line: str) -> _Overload:
    overload_id, _, rest = line.partition(": ")
    call, _, result = rest.partition(" -> ")
    receiver = ""
    if call.startswith("("):
        receiver, _, call = call[1:].partition(").")
    name, _, arguments = call.removesuffix(")").partition("(")
    return overload_id, name, receiver, tuple(text for text in arguments.split(", ") if text), result


def _build_overload(cel: Any, overload: _Overload) -> Any:
    overload_id, _, receiver, arguments, result = overload
    parameters = [_build_type(cel, text) for text in (receiver, *arguments) if text]
    return cel.Overload(overload_id, _build_type(cel, result), parameters, bool(receiver))


def _build_type(cel: Any, text: str) -> Any:
    """A type from `int`, `kubernetes.Quantity`, `list<int>` or `map<string,list<string>>`."""
    head, _, inside = text.removesuffix(">").partition("<")
    match head:
        case "list":
            return cel.Type.List(_build_type(cel, inside))
        case "map":  # every key here is a plain name, so the first comma ends it
            key, _, value = inside.partition(",")
            return cel.Type.Map(_build_type(cel, key), _build_type(cel, value))
        case _:
            return cel.Type.AbstractType(text, []) if "." in text else cel.Type(text)


def _render_config(variables: Mapping[str, str], functions: Mapping[str, list[_Overload]]) -> str:
    lines = [_EXTENSIONS, "stdlib:", "  exclude_functions:"]
    lines += [f'    - {{name: "{name}"}}' for name in REDECLARED]
    lines += ["variables:", *(f'  - {{name: {name}, type: "{text}"}}' for name, text in variables.items())]
    lines += ["functions:"]
    for name, overloads in functions.items():
        lines += [
            f"  - name: {name}",
            "    overloads:",
            *(f"      - {_render_overload(overload)}" for overload in overloads),
        ]
    return "\n".join(lines) + "\n"


def _render_overload(overload: _Overload) -> str:
    overload_id, _, receiver, arguments, result = overload
    target = f'target: {{type: "{receiver}"}}, ' if receiver else ""
    types = ", ".join(f'{{type: "{text}"}}' for text in arguments)
    return f'{{id: {overload_id}, {target}args: [{types}], return: {{type: "{result}"}}}}'
