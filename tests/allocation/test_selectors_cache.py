"""A selector is evaluated once per distinct tuple of what it reads, not once per device."""

from dataclasses import replace

import pytest

from poolwright.allocation.features import Features
from poolwright.allocation.selectors import SelectorCache, SelectorProblem
from poolwright.catalog.resource_slice import AttributeOnDevice, Device
from selector_rows import build_device

FEATURES = Features(minor="1.37")
MODEL = 'device.attributes["a.com"].model == "A"'


def _device(index: int, **attributes: str) -> Device:
    published = {name: {"string": value} for name, value in attributes.items()}
    row = {"driver": "a.com", "attributes": {"index": {"int": index}, **published}, "capacity": {"m": {"value": "1Gi"}}}
    return build_device(row)


FLEET = [_device(index, model="AB"[index % 2]) for index in range(12)]

# A selector, and how many distinct tuples of what it reads twelve devices have.
EVALUATIONS = {
    "one-attribute": (MODEL, 2),
    "the-driver": ('device.driver == "a.com"', 1),
    "nothing": ("true", 1),
    "two-attributes": (f'{MODEL} && device.attributes["a.com"].index < 9', 12),
    "absent-everywhere": ('has(device.attributes["a.com"].none)', 1),
    "another-domain": ('device.attributes["b.com"].exists(k, k == "x")', 1),
    "a-whole-domain": ('device.attributes["a.com"].exists(k, k == "model")', 12),
    "every-domain": ('device.attributes.exists(d, d == "a.com")', 12),
    "capacity": ('device.capacity["a.com"].m.isGreaterThan(quantity("1"))', 1),
    "a-name-that-is-computed": ('device.attributes["a.com"][device.driver + "x"] == 1', 12),
}


@pytest.mark.parametrize("name", EVALUATIONS)
def test_evaluates_once_per_tuple(name: str) -> None:
    text, count = EVALUATIONS[name]
    cache = SelectorCache(FEATURES)
    first = [cache.matches(text, device) for device in FLEET]
    assert cache.evaluations == count
    assert [cache.matches(text, device) for device in FLEET] == first
    assert cache.evaluations == count


def test_answers_are_those_of_each_device() -> None:
    cache = SelectorCache(FEATURES)
    assert [cache.matches(MODEL, device) for device in FLEET] == [True, False] * 6


def test_an_equal_device_shares_the_evaluation_but_not_the_lookup() -> None:
    cache = SelectorCache(FEATURES)
    assert cache.matches(MODEL, FLEET[0]) is True
    assert cache.matches(MODEL, replace(FLEET[0], name="other")) is True
    assert cache.evaluations == 1


def test_quantities_of_one_value_are_told_apart_where_upstream_does() -> None:
    cache = SelectorCache(FEATURES)
    text = 'device.capacity["a.com"].m.isInteger()'
    rows = [{"driver": "a.com", "capacity": {"m": {"value": value}}} for value in ("1", "1000m", "1e3", "1k")]
    assert [cache.matches(text, build_device(row)) for row in rows] == [True, True, True, True]
    assert cache.evaluations == 3  # 1 and 1000m are stored alike


def test_a_hint_is_each_devices_own() -> None:
    cache = SelectorCache(FEATURES)
    hints = [
        problem.hint.partition(";")[0]
        for device in (_device(0, models="A"), _device(0, modell="A"))
        if isinstance(problem := cache.matches(MODEL, device), SelectorProblem)
    ]
    assert hints == [
        'the device publishes device.attributes["a.com"].models',
        'the device publishes device.attributes["a.com"].modell',
    ]
    assert cache.evaluations == 1


def test_problems_need_no_evaluation() -> None:
    broken = replace(FLEET[0], attributes={("a.com", "odd"): AttributeOnDevice(type="unsupported", value=None)})
    cache = SelectorCache(FEATURES)
    assert cache.matches(MODEL, broken) == SelectorProblem(
        kind="runtime", message="attribute a.com/odd: unsupported attribute value"
    )
    refused = cache.matches("1", broken)
    assert isinstance(refused, SelectorProblem)
    assert refused.kind == "compile"
    # A selector that compiles sees what is broken also after one that doesn't.
    other = SelectorCache(FEATURES)
    other.matches("1", broken)
    assert other.matches("true", broken) == cache.matches("true", broken)
    assert cache.evaluations == other.evaluations == 0
