"""What a selector's parts evaluate to: CEL's values in Python, failures included.

null, bool, int, double, string and bytes are Python's own (a CEL int is an `int` that is no bool and no Uint). The
rest stands here. A failure is a value too, because `&&` and `||` may absorb it and its cost counts all the same.

Source: cel-go v0.29 common/types and k8s.io/apiserver/pkg/cel v0.37.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

Value = Any  # any of the above or below: what CEL calls dyn


class Uint(int):
    """An unsigned number, 0 to 2^64 - 1."""

    __slots__ = ()


class ConcatList(tuple[Value, ...]):
    """The sum of two lists with elements. Upstream compares it by other rules than a list that was written down."""

    __slots__ = ()


class SharedList(list[Value]):
    """A list that upstream appends to in place: an empty one that a fold started with.

    Every other list is a tuple.
    """

    __slots__ = ()


LISTS: Final = (tuple, SharedList)


@dataclass(frozen=True, slots=True)
class CelType:
    """A type as a value; two are equal if their names are."""

    name: str


@dataclass(frozen=True, slots=True)
class Duration:
    """A span of time, as whole nanoseconds within 64 bits."""

    nanoseconds: int


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A point in time, and the offset it was written with, which only its text shows."""

    nanoseconds: int  # since 1970-01-01T00:00:00Z
    offset_minutes: int = 0


class Optional:
    """A value or none. `optional.none()` is NONE."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    @property
    def has_value(self) -> bool:
        """Whether there is one."""
        return self.value is not MISSING


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, in upstream's meaning."""

    message: str
    # The attribute or capacity that wasn't there: `attribute` or `capacity`, domain, name.
    missing: tuple[str, str, str] | None = None


class EvaluationAbortedError(Exception):
    """The whole evaluation ends here, and no `||` absorbs it: upstream panics or stops, or this tool can't tell."""


# What this tool refuses to evaluate, because it can't be sure of upstream's answer. There is nothing else.
NOT_EVALUATED: Final = {
    "list-added-to-itself": "an empty list of cel.bind() that is added to, and then to itself",
    "precision": "a precision of more than 100,000 digits",
    "quantity": "a quantity without a digit, with an exponent beyond 999 or of more than 256 characters",
    "sort": "sortBy() of more than 12 elements where keys are equal or no numbers",
    "time-zone": "a time zone by its name",
    "url": "a URL whose escapes are no UTF-8",
}


def refuse(what: str) -> NoReturn:
    """End the evaluation with what can't be evaluated here, a key of NOT_EVALUATED."""
    raise EvaluationAbortedError(f"this tool doesn't evaluate {NOT_EVALUATED[what]}")


class _Missing:
    __slots__ = ()


COST_LIMIT: Final = 1_000_000  # k8s.io/api resource/v1, CELSelectorExpressionMaxCost
COST_EXCEEDED: Final = "operation cancelled: actual cost limit exceeded"
MISSING: Final = _Missing()  # of a lookup: there is no such key
UNKNOWN: Final = _Missing()  # an attribute of a planned device that nobody can know before
NONE: Final = Optional(MISSING)


class CelMap:
    """A map. Keys of different kinds are different keys, though a number finds its equal of another kind."""

    __slots__ = ("_entries", "is_shared")

    def __init__(self, pairs: Iterable[tuple[Value, Value]] = ()) -> None:
        self._entries: dict[object, tuple[Value, Value]] = {}
        self.is_shared = False  # a fold's own, inserted into in place
        for key, value in pairs:
            self.insert(key, value)

    def __len__(self) -> int:
        return len(self._entries)

    def insert(self, key: Value, value: Value) -> None:
        """Set a key's value."""
        self._entries[_hash_key(key)] = (key, value)

    def remove(self, key: Value) -> None:
        """Forget a key, if it is there."""
        self._entries.pop(_hash_key(key), None)

    def find(self, key: Value) -> Value:
        """The value of a key; MISSING if it isn't there."""
        if not self._entries:
            return MISSING
        for candidate in _equal_keys(key):
            found = self._entries.get(_hash_key(candidate))
            if found is not None:
                return found[1]
        return MISSING

    def contains(self, key: Value) -> bool:
        """Whether `key in map`."""
        return self.find(key) is not MISSING

    def pairs(self) -> Iterator[tuple[Value, Value]]:
        """Keys and values; upstream's order is random, here it is that of insertion."""
        return iter(list(self._entries.values()))


class NameMap(CelMap):
    """The attributes or capacities of one domain, by name."""

    __slots__ = ("_by_name", "_kind", "domain")

    def __init__(self, kind: str, domain: str, by_name: dict[str, Value]) -> None:
        self._kind = kind
        self.domain = domain
        self._by_name = by_name

    def __len__(self) -> int:
        return len(self._by_name)

    def find(self, key: Value) -> Value:
        """The value of a name."""
        found = self._by_name.get(key, MISSING) if type(key) is str else MISSING
        if found is UNKNOWN:
            raise EvaluationAbortedError(f'{self._kind} "{self.domain}/{key}" of a planned device isn\'t known before')
        return found

    def contains(self, key: Value) -> bool:
        """Whether the name is there."""
        return type(key) is str and key in self._by_name

    def pairs(self) -> Iterator[tuple[Value, Value]]:
        """Names and values, by name."""
        return iter([(name, self.find(name)) for name in sorted(self._by_name)])

    def fail(self, name: Value) -> Failure:
        """The failure of looking up a name that isn't there."""
        missing = (self._kind, self.domain, name) if isinstance(name, str) else None
        return Failure(f"no such key: {render_key(name)}", missing)


class DomainMap(CelMap):
    """All attributes or capacities, by domain. An unknown domain is found, as an empty map, but not iterated over."""

    __slots__ = ("_by_domain", "_kind")

    def __init__(self, kind: str, by_domain: dict[str, dict[str, Value]]) -> None:
        self._kind = kind
        self._by_domain = {domain: NameMap(kind, domain, names) for domain, names in sorted(by_domain.items())}

    def __len__(self) -> int:
        return len(self._by_domain)

    def find(self, key: Value) -> Value:
        """A domain's map, or an empty one."""
        found = self._by_domain.get(key) if type(key) is str else None
        return NameMap(self._kind, key if type(key) is str else "", {}) if found is None else found

    def contains(self, key: Value) -> bool:
        """Whether the domain is really there."""
        return type(key) is str and key in self._by_domain

    def pairs(self) -> Iterator[tuple[Value, Value]]:
        """Domains and their maps, by domain."""
        return iter(self._by_domain.items())


@dataclass(frozen=True, slots=True)
class CelQuantity:
    """A Quantity object."""

    nano: int  # the value in billionths
    # Mantissa and power of ten as upstream holds them, which asInteger() and asApproximateFloat() can tell.
    mantissa: int
    power: int
    is_small: bool  # held in 64 bits
    is_sum: bool = False  # made by add() or sub(); as the right side of == that is an error upstream


@dataclass(frozen=True, slots=True)
class Semver:
    """A Semver object. The build metadata is set aside when comparing."""

    major: int
    minor: int
    patch: int
    prerelease: tuple[int | str, ...] = ()
    text: str = field(default="", compare=False)  # as it was written


@dataclass(frozen=True, slots=True)
class IpAddress:
    """An IP object."""

    version: int  # 4 | 6
    number: int


@dataclass(frozen=True, slots=True)
class Cidr:
    """A CIDR object, its host bits kept."""

    address: IpAddress
    prefix: int


@dataclass(frozen=True, slots=True)
class Url:
    """A URL object."""

    scheme: str
    host: str
    escaped_path: str
    raw_query: str
    text: str  # by which two are compared


@dataclass(frozen=True, slots=True)
class NamedFormat:
    """A format of the format library; compared by name."""

    name: str
    pattern_size: int  # what its validation is charged for
    validate: Callable[[str], tuple[str, ...]]


TYPE_NAMES: Final[dict[type, str]] = {
    type(None): "null_type",
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    tuple: "list",
    ConcatList: "list",
    SharedList: "list",
    CelMap: "map",
    NameMap: "map",
    DomainMap: "map",
    CelType: "type",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    Optional: "optional_type",
    CelQuantity: "kubernetes.Quantity",
    Semver: "kubernetes.Semver",
    IpAddress: "net.IP",
    Cidr: "net.CIDR",
    Url: "kubernetes.URL",
    NamedFormat: "kubernetes.NamedFormat",
}


def type_name(value: Value) -> str:
    """A value's type as `type(value)` names it."""
    return TYPE_NAMES[type(value)]


def render_key(key: Value) -> str:
    """A key as upstream's messages show it."""
    if isinstance(key, bool):
        return "true" if key else "false"
    return key if isinstance(key, str) else str(key)


def is_number(value: Value) -> bool:
    """Whether this is an int, uint or double."""
    return type(value) in (int, Uint, float)


def no_overload(*_: Value) -> Failure:
    """The failure of a function that isn't there for these values."""
    return Failure("no such overload")


def check_hashable(key: Value) -> None:
    """Raise EvaluationAbortedError for what upstream can't look up in a map: it panics, which nothing absorbs."""
    if type(key) in (bytes, Semver, NamedFormat):
        raise EvaluationAbortedError(f"internal error: a value of type {type_name(key)} can't be looked up")


def _hash_key(key: Value) -> object:
    check_hashable(key)
    if key != key or not isinstance(key, (str, int, float, type(None), CelType, Duration, Timestamp)):
        return (object, id(key))  # not a number, or compared by identity upstream
    return (type(key), key)


def _equal_keys(key: Value) -> tuple[Value, ...]:
    """The key, and its equals of the other kinds of numbers; a double is never found by a number of another kind."""
    match key:
        case float():
            whole = int(key) if key == key and abs(key) < 2**65 and key == int(key) else None
            if whole is None:
                return (key,)
            signed = (whole,) if -(2**63) < whole < 2**63 else ()
            unsigned = (Uint(whole),) if 0 <= whole < 2**64 else ()
            return (key, *signed, *unsigned)
        case Uint():
            return (key, int(key)) if key < 2**63 else (key,)
        case bool():
            return (key,)
        case int():
            return (key, Uint(key)) if key >= 0 else (key,)
        case _:
            return (key,)
