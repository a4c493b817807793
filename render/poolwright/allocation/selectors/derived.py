"""Attributes that a request derives from a device by CEL, for its claim's constraints: alpha in Kubernetes 1.37.

Source: k8s.io/dynamic-resource-allocation v0.37 cel/compile.go, EvaluateDerivedAttribute.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from poolwright.allocation.selectors.device_values import build_values, check_attributes
from poolwright.allocation.selectors.evaluate import PlanError, Program
from poolwright.allocation.selectors.problem import SelectorProblem, build_compile_problem
from poolwright.allocation.selectors.suggest import suggest
from poolwright.allocation.selectors.values import LISTS, Failure, Semver, Value, type_name
from poolwright.catalog.cel import CelError, CelExpression, parse_derived_cel
from poolwright.catalog.resource_slice import AttributeOnDevice, Device

_TYPES: Final[dict[type, str]] = {bool: "bool", int: "int", str: "string", Semver: "version"}


class Derivation:
    """An expression that derives an attribute."""

    def __init__(self, expression: CelExpression) -> None:
        self._program = Program(expression.root)

    def evaluate(self, device: Device) -> AttributeOnDevice | SelectorProblem:
        """The attribute that the device has by it, or what went wrong at run time; never raises."""
        failed = check_attributes(device, knows_lists=True)
        value = failed if failed is not None else self._program.run(build_values(device))[0]
        found = value if isinstance(value, Failure) else _to_attribute(value)
        if isinstance(found, Failure):
            return SelectorProblem(kind="runtime", message=found.message, hint=suggest(found, device))
        return found


@lru_cache(maxsize=4096)  # a fleet has few of them
def compile_derived(text: str) -> Derivation | SelectorProblem:
    """The derivation in a text, or why it doesn't compile for the scheduler of 1.37."""
    try:
        return Derivation(parse_derived_cel(text))
    except CelError as error:
        return build_compile_problem(error)
    except PlanError as error:
        return SelectorProblem(kind="compile", message=f"program instantiation failed: {error}")


def _to_attribute(value: Value) -> AttributeOnDevice | Failure:
    if isinstance(value, LISTS):
        return _to_list(value)
    kind = _TYPES.get(type(value))
    if kind is None:
        return Failure(f"unsupported CEL return type: {type_name(value)}")
    return AttributeOnDevice(type=kind, value=_to_plain(value))


def _to_list(values: Value) -> AttributeOnDevice | Failure:
    if not values:
        return AttributeOnDevice(type="strings", value=())
    kind = _TYPES.get(type(values[0]))
    if kind is None:
        return Failure(f"unsupported list element type: {type_name(values[0])}")
    for index, value in enumerate(values):
        if type(value) is not type(values[0]):
            return Failure(f"expected list element at index {index} to be {kind}, got {type_name(value)}")
    return AttributeOnDevice(type=f"{kind}s", value=tuple(_to_plain(value) for value in values))


def _to_plain(value: Value) -> str | int | bool:
    plain: str | int | bool = value.text if isinstance(value, Semver) else value
    return plain
