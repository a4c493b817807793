"""What the devices of a claim must have in common, or must not, kept up while a search adds and takes back devices."""

from __future__ import annotations

from collections.abc import Iterable

from poolwright.allocation.claim import Constraint
from poolwright.allocation.features import Features
from poolwright.catalog.qualified_name import split_name
from poolwright.catalog.resource_slice import AttributeOnDevice, Device

_SCALARS = ("string", "int", "bool", "version")

_Values = frozenset[tuple[str, str | int | bool | None]]  # each with its type: True is not 1


class MatchState:
    """The devices so far share a value: the same one, or, with list attributes, at least one."""

    def __init__(self, constraint: Constraint, features: Features) -> None:
        self.constraint = constraint
        self.name = str(constraint.match_attribute)
        self._lists = features.list_type_attributes
        self._taken: list[AttributeOnDevice] = []
        self._shared: list[_Values] = []  # with list attributes: what is shared after each device

    def add(self, attribute: AttributeOnDevice | None, request: str) -> bool:  # noqa: ARG002 - both kinds are called alike
        """Take a device in by its attribute, if it fits."""
        if attribute is None:
            return False
        if self._lists:
            values = as_values(attribute)
            shared = values & self._shared[-1] if self._shared else values
            if not shared:
                return False
            self._shared.append(shared)
        elif self._taken and not is_same(attribute, self._taken[0]):
            return False
        self._taken.append(attribute)
        return True

    def remove(self, request: str) -> None:  # noqa: ARG002 - both kinds are called alike
        """Take the last device out again."""
        self._taken.pop()
        if self._lists:
            self._shared.pop()


class ReleasedMatchState(MatchState):
    """As MatchState before 1.37, which didn't widen again what list attributes share when a device was taken back."""

    def remove(self, request: str) -> None:
        """Take the last device out again."""
        narrowed = self._shared[-1:]
        super().remove(request)
        if self._shared:
            self._shared[-1:] = narrowed


class DistinctState:
    """No two devices share a value."""

    def __init__(self, constraint: Constraint, features: Features) -> None:
        self.constraint = constraint
        self.name = str(constraint.distinct_attribute)
        self._lists = features.list_type_attributes
        self._taken: list[AttributeOnDevice] = []

    def add(self, attribute: AttributeOnDevice | None, request: str) -> bool:  # noqa: ARG002 - both kinds are called alike
        """Take a device in by its attribute, if it fits."""
        if attribute is None or not _is_new(attribute, self._taken, lists=self._lists):
            return False
        self._taken.append(attribute)
        return True

    def remove(self, request: str) -> None:  # noqa: ARG002 - both kinds are called alike
        """Take the last device out again."""
        self._taken.pop()


class ReleasedDistinctState(DistinctState):
    """As DistinctState before 1.37, which kept one device for each request: kubernetes/kubernetes#140438.

    Within one request only the last device was compared with, and taking that one back forgot them all. Even a first
    device of an unknown type was taken.
    """

    def __init__(self, constraint: Constraint, features: Features) -> None:
        super().__init__(constraint, features)
        self._by_request: dict[str, AttributeOnDevice] = {}
        self._count = 0

    def add(self, attribute: AttributeOnDevice | None, request: str) -> bool:
        """Take a device in by its attribute, if it fits. request: the base name of the request it is for."""
        if attribute is None:
            return False
        if self._count and not _is_new(attribute, self._by_request.values(), lists=self._lists):
            return False
        self._by_request[request] = attribute
        self._count += 1
        return True

    def remove(self, request: str) -> None:
        """Take the last device out again."""
        self._by_request.pop(request, None)
        self._count -= 1


def _is_new(attribute: AttributeOnDevice, taken: Iterable[AttributeOnDevice], *, lists: bool) -> bool:
    if lists:
        values = as_values(attribute)
        return bool(values) and not any(values & as_values(other) for other in taken)
    return not any(attribute.type not in _SCALARS or is_same(attribute, other) for other in taken)


ConstraintState = MatchState | DistinctState


def build_constraint(constraint: Constraint, features: Features) -> ConstraintState | None:
    """The state of a constraint before any device; None: it is of no kind that the implementation knows."""
    if constraint.match_attribute is not None:
        return MatchState(constraint, features) if features.mended else ReleasedMatchState(constraint, features)
    if constraint.distinct_attribute is not None and features.knows_shares:
        return DistinctState(constraint, features) if features.mended else ReleasedDistinctState(constraint, features)
    return None


def applies_to(constraint: Constraint, request: str, alternative: str) -> bool:
    """Whether a constraint is about a request, or about one of its alternatives ("" for a request without any)."""
    names = constraint.requests
    return not names or request in names or (alternative != "" and f"{request}/{alternative}" in names)


def find_attribute(device: Device, name: str) -> AttributeOnDevice | None:
    """A device's attribute by its fully qualified name. Published bare, it is in its driver's domain."""
    return device.attributes.get(split_name("", name))


def is_same(attribute: AttributeOnDevice, other: AttributeOnDevice) -> bool:
    """Whether two attributes have the same type and value; versions are compared as text. Lists are never the same."""
    return attribute.type in _SCALARS and attribute.type == other.type and attribute.value == other.value


def as_values(attribute: AttributeOnDevice) -> _Values:
    """The values of an attribute, one for a scalar; none of an unknown type."""
    if isinstance(attribute.value, tuple):
        return frozenset((attribute.type.removesuffix("s"), value) for value in attribute.value)
    return frozenset([(attribute.type, attribute.value)]) if attribute.type in _SCALARS else frozenset()
