"""A selector taken apart: the clauses that all must hold, and the first one that a device fails."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from poolwright.allocation.selectors import SelectorCache, SelectorProblem
from poolwright.catalog.cel import Call, CelError, CelExpression, Read, find_reads, parse_cel, render_cel
from poolwright.catalog.resource_slice import AttributeOnDevice, Device
from poolwright.specs.quantity import Quantity, parse_quantity

MAX_HAVE: Final = 3
_AT_LEAST: Final = re.compile(
    r'device\.capacity\["(?P<domain>[^"\\]*)"\](?:\.|\[")(?P<name>\w+)(?:"\])?'
    r'\.compareTo\(quantity\("(?P<amount>[^"\\]*)"\)\) >=? 0'
)
_ORDER_SIGNS: Final = {"isGreaterThan": ">", "isLessThan": "<", "!isGreaterThan": "<=", "!isLessThan": ">="}


def find_failing_clause(text: str, device: Device, selectors: SelectorCache) -> str | SelectorProblem | None:
    """The first clause that a device fails, or what is wrong with the whole; None: the device passes.

    A selector that is an `&&` of clauses is false because one of them is, whatever errors the others give.
    """
    answer = selectors.matches(text, device)
    if answer is True:
        return None
    if isinstance(answer, SelectorProblem):
        return answer
    clauses = split_clauses(text)
    if len(clauses) == 1:
        return clauses[0]
    return next((clause for clause in clauses if selectors.matches(clause, device) is False), text)


@lru_cache(maxsize=4096)  # a fleet has few selectors
def split_clauses(text: str) -> tuple[str, ...]:
    """The operands of a selector's outermost `&&`, or the selector alone if it has none; each in the normal form."""
    try:
        root = parse_cel(text).root
    except CelError:
        return (text,)
    match root:
        case Call(function="_&&_", args=args):
            return tuple(render_cel(CelExpression(root=arg, result="bool", text="")) for arg in args)
    return (render_cel(CelExpression(root=root, result="bool", text="")),)


@lru_cache(maxsize=4096)
def is_about_driver(clause: str) -> bool:
    """Whether a clause reads nothing of a device but its driver."""
    try:
        reads = find_reads(parse_cel(clause))
    except CelError:
        return False
    return bool(reads) and all(read.kind == "driver" for read in reads)


def find_bound(clause: str) -> tuple[tuple[str, str], Quantity] | None:
    """Of a clause that asks for at least or more than an amount of a capacity: its domain and name, and the amount."""
    found = _AT_LEAST.fullmatch(clause)
    if found is None:
        return None
    try:
        return (found["domain"], found["name"]), parse_quantity(found["amount"])
    except ValueError:
        return None


def is_strict(clause: str) -> bool:
    """Whether a clause that `find_bound` reads asks for more than the amount."""
    return clause.endswith(" > 0")


def list_values(clause: str, devices: Iterable[Device]) -> tuple[str, ...]:
    """What devices have of what a clause reads, the most frequent first; "" where it reads nothing nameable."""
    try:
        reads = find_reads(parse_cel(clause))
    except CelError:
        return ()
    seen = Counter(_say_values(device, reads) for device in devices)
    seen.pop("", None)
    ordered = sorted(seen.items(), key=lambda entry: (-entry[1], entry[0]))
    return tuple(value for value, _ in ordered)


def shorten(clause: str) -> str:
    """A clause for people: names without their map and domain, comparisons of amounts with their sign.

    `device.capacity["d"].memory.compareTo(quantity("90Gi")) >= 0` gives `memory >= 90Gi`.
    """
    text = re.sub(r'device\.(?:attributes|capacity)\["[^"\\]*"\](?:\.|\.\?|\[")(\w+)(?:"\])?', r"\1", clause)
    text = re.sub(r'\.compareTo\((?:quantity|semver)\("([^"\\]*)"\)\) (==|!=|<=|>=|<|>) 0', r" \2 \1", text)
    return re.sub(
        r'(!\w+|)\.(isGreaterThan|isLessThan)\((?:quantity|semver)\("([^"\\]*)"\)\)',
        lambda found: f"{found[1][1:]} {_ORDER_SIGNS[found[1][:1] + found[2]]} {found[3]}",
        text,
    )


def say_quantity(quantity: Quantity) -> str:
    """An amount as it is published, and in Gi where that isn't a whole number: `81559Mi (79.65Gi)`."""
    text = quantity.canonical
    if quantity.format == "BinarySI" and quantity.nano > 0 and text[-2:] in ("Ki", "Mi"):
        gibi = quantity.value_ceil / 2**30
        return f"{text} ({gibi:.2f}Gi)" if gibi >= 1 else text
    return text


def say_attribute(attribute: AttributeOnDevice) -> str:
    """An attribute's value as CEL would write it, without quotes."""
    values = attribute.value if isinstance(attribute.value, tuple) else (attribute.value,)
    texts = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
    return f"[{', '.join(texts)}]" if isinstance(attribute.value, tuple) else texts[0]


def _say_values(device: Device, reads: tuple[Read, ...]) -> str:
    texts = []
    for read in reads:
        match read.kind:
            case "driver":
                texts.append(f"driver {device.driver}")
            case "allowMultipleAllocations":
                texts.append(f"allowMultipleAllocations {str(device.allow_multiple_allocations).lower()}")
            case kind if read.domain is not None and read.name is not None:
                texts.append(_say_value(device, kind, (read.domain, read.name)))
    return ", ".join(dict.fromkeys(texts))


def _say_value(device: Device, kind: str, key: tuple[str, str]) -> str:
    if kind == "capacity":
        capacity = device.capacity.get(key)
        return f"no {key[1]}" if capacity is None or capacity.value is None else say_quantity(capacity.value)
    attribute = device.attributes.get(key)
    return f"no {key[1]}" if attribute is None else say_attribute(attribute)
