"""Selectors evaluated once per distinct tuple of what they read."""

from __future__ import annotations

from collections.abc import Callable

from poolwright.allocation.features import Features
from poolwright.allocation.selectors.problem import SelectorProblem
from poolwright.allocation.selectors.selector import Selector, compile_selector
from poolwright.allocation.selectors.values import Failure
from poolwright.catalog.cel import Read
from poolwright.catalog.resource_slice import AttributeOnDevice, CapacityOnDevice, Device

_Key = tuple[object, ...]
_ReadKey = Callable[[Device], object]


class SelectorCache:
    """Answers for devices under one set of features.

    Devices are told apart by identity, and kept, so that a device asked about again is a lookup. Devices that agree
    in all a selector reads share one evaluation; a hint is each device's own.
    Cost: two dictionary lookups for a device seen before, else some microseconds and, for a new tuple, an evaluation.
    """

    def __init__(self, features: Features) -> None:
        self._features = features
        self.evaluations = 0  # how many selectors were run, not looked up
        self._answers: dict[str, dict[int, bool | SelectorProblem]] = {}
        self._selectors: dict[str, _Shared | SelectorProblem] = {}
        self._devices: dict[int, Device] = {}
        self._failures: dict[int, Failure | None] = {}  # what makes every selector fail on a device

    def matches(self, text: str, device: Device) -> bool | SelectorProblem:
        """Whether a device matches a selector, or why there is no answer."""
        try:
            return self._answers[text][id(device)]
        except KeyError:
            answer = self._ask(text, device)
            self._answers.setdefault(text, {})[id(device)] = answer
            return answer

    def _ask(self, text: str, device: Device) -> bool | SelectorProblem:
        shared = self._selectors.get(text)
        if shared is None:
            compiled = compile_selector(text, self._features)
            shared = compiled if isinstance(compiled, SelectorProblem) else _Shared(compiled)
            self._selectors[text] = shared
        self._devices[id(device)] = device
        if isinstance(shared, SelectorProblem):
            return shared
        if id(device) not in self._failures:
            self._failures[id(device)] = shared.selector.check(device)
        failed = self._failures[id(device)]
        if failed is not None:
            return shared.selector.explain(failed, device)
        key = tuple(read(device) for read in shared.reads)
        answer = shared.answers.get(key)
        if answer is None:
            self.evaluations += 1
            answer = shared.answers[key] = shared.selector.run(device)[0]
        return shared.selector.explain(answer, device)


class _Shared:
    """A selector, how to find its tuple on a device, and its answer for each tuple."""

    def __init__(self, selector: Selector) -> None:
        self.selector = selector
        self.reads = tuple(_build_key(read) for read in selector.reads)
        self.answers: dict[_Key, bool | Failure] = {}


def _build_key(read: Read) -> _ReadKey:
    domain, name = read.domain, read.name
    match read.kind:
        case "driver":
            return lambda device: device.driver
        case "allowMultipleAllocations":
            return lambda device: device.allow_multiple_allocations
        case "attribute" if domain is not None and name is not None:
            key = (domain, name)
            return lambda device: _describe_attribute(device.attributes.get(key))
        case "attribute":
            return lambda device: tuple(
                (key, _describe_attribute(device.attributes[key]))
                for key in sorted(device.attributes)
                if domain is None or key[0] == domain
            )
        case _ if domain is not None and name is not None:
            key = (domain, name)
            return lambda device: _describe_capacity(device.capacity.get(key))
    return lambda device: tuple(
        (key, _describe_capacity(device.capacity[key]))
        for key in sorted(device.capacity)
        if domain is None or key[0] == domain
    )


def _describe_attribute(attribute: AttributeOnDevice | None) -> object:
    return None if attribute is None else (attribute.type, attribute.value)


def _describe_capacity(capacity: CapacityOnDevice | None) -> object:
    """The canonical text too: asInteger() tells apart what has the same value."""
    if capacity is None or capacity.value is None:
        return capacity is None
    return (capacity.value.nano, capacity.value.canonical)
