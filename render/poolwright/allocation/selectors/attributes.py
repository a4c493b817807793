"""Chains of selections and indices: `device.attributes["a"].?b[0]`.

cel-go evaluates a chain as a whole, and charges it as a whole. From the first optional step on (or where it starts
with an optional) the rest is looked up if present, and the result is an optional.

Source: cel-go v0.29 interpreter/attributes.go and interpretable.go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from poolwright.allocation.selectors.values import (
    LISTS,
    MISSING,
    NONE,
    CelMap,
    Failure,
    NameMap,
    Optional,
    Uint,
    Value,
    no_overload,
    render_key,
)

Frame = Any  # evaluate.Frame, which is made of what stands here
Run = Callable[[Frame], Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One selection or index."""

    key: Value = MISSING  # a constant
    compute: Run | None = None  # a key that isn't
    is_optional: bool = False
    is_test: bool = False  # has()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Steps from a value on."""

    start: Run
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """`condition ? yes : no`, and the steps after it on either side."""

    condition: Run
    yes: Chain | Choice
    no: Chain | Choice


def add_step(attribute: Chain | Choice, step: Step) -> Chain | Choice:
    """The attribute with one more step."""
    if isinstance(attribute, Chain):
        return replace(attribute, steps=(*attribute.steps, step))
    return replace(attribute, yes=add_step(attribute.yes, step), no=add_step(attribute.no, step))


def build_resolver(attribute: Chain | Choice) -> Run:
    """What gives an attribute's value; the steps charge for themselves, the whole doesn't."""
    if isinstance(attribute, Choice):
        return _build_choice(attribute)
    start, steps = attribute.start, tuple(map(_build_step, attribute.steps))

    def resolve(frame: Frame) -> Value:
        value = start(frame)
        is_optional = False
        if isinstance(value, Optional):
            if not value.has_value:
                return value
            value, is_optional = value.value, True
        elif isinstance(value, Failure):
            return value
        for starts_optional, look_up in steps:
            is_optional = is_optional or starts_optional
            value = look_up(frame, value, is_optional)
            if value is MISSING:
                return NONE
            if isinstance(value, Failure):
                return value
        return Optional(value) if is_optional else value

    return resolve


def _build_choice(attribute: Choice) -> Run:
    condition, yes, no = attribute.condition, build_resolver(attribute.yes), build_resolver(attribute.no)

    def resolve(frame: Frame) -> Value:
        chosen = condition(frame)
        if chosen is True:
            return yes(frame)
        if chosen is False:
            return no(frame)
        return chosen if isinstance(chosen, Failure) else no_overload()

    return resolve


_LookUp = Callable[[Frame, Value, bool], Value]


def _build_step(step: Step) -> tuple[bool, _LookUp]:
    """Whether it starts the optional part, and its lookup: a value, a Failure, or MISSING if presence is asked for."""
    key, compute, is_test = step.key, step.compute, step.is_test

    def look_up(frame: Frame, value: Value, if_present: bool) -> Value:
        wanted = key
        if compute is not None:
            wanted = compute(frame)
            if isinstance(wanted, Failure):
                if not if_present:
                    frame.spend(1)
                return wanted
        found = find(value, wanted, if_present or is_test)
        if is_test and not if_present:
            found = found if isinstance(found, Failure) else found is not MISSING
        if not if_present or not (found is MISSING or isinstance(found, Failure)):
            frame.spend(1)
        return found

    return step.is_optional, look_up


def find(value: Value, key: Value, if_present: bool) -> Value:
    """`value[key]`.

    if_present: what isn't there is MISSING, not a Failure.
    """
    if isinstance(key, (str, int, float)):
        if isinstance(value, CelMap):
            found = value.find(key)
            if found is MISSING and not if_present:
                return value.fail(key) if isinstance(value, NameMap) else Failure(f"no such key: {render_key(key)}")
            return found
        if isinstance(value, LISTS):
            return _find_element(value, key, if_present)
        return MISSING if if_present else Failure(f"no such key: {render_key(key)}")
    return Failure("invalid qualifier type")


def _find_element(values: Value, key: Value, if_present: bool) -> Value:
    if isinstance(key, (str, bool)):
        return Failure(f"unsupported index type '{'bool' if isinstance(key, bool) else 'string'}' in list")
    if isinstance(key, float) and not (abs(key) < 2**63 and key == int(key)):
        return Failure(f"unsupported index value {key} in list")
    if isinstance(key, Uint) and key >= 2**63:
        return Failure(f"unsupported index value {key} in list")
    at = int(key)
    if 0 <= at < len(values):
        return values[at]
    return MISSING if if_present else Failure(f"index out of bounds: {at}")
