"""One implementation of a function, and which arguments it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from poolwright.allocation.selectors.values import LISTS, Value, type_name

SHORT_NAMES = {
    "duration": "google.protobuf.Duration",
    "timestamp": "google.protobuf.Timestamp",
    "optional": "optional_type",
    "quantity": "kubernetes.Quantity",
    "semver": "kubernetes.Semver",
    "url": "kubernetes.URL",
    "ip": "net.IP",
    "cidr": "net.CIDR",
    "format": "kubernetes.NamedFormat",
}


@dataclass(frozen=True, slots=True)
class Overload:
    """An overload under upstream's id."""

    id: str
    # `dyn`, `list(int)`, `list(dyn)` or a type's name, shortened as in SHORT_NAMES.
    arguments: tuple[str, ...]
    call: Callable[..., Value]
    is_guarded: bool = True  # upstream checks the arguments' types before it calls

    def takes(self, values: tuple[Value, ...]) -> bool:
        """Whether these are arguments for it; of a list only the first element counts, as upstream has it."""
        if len(values) != len(self.arguments):
            return False
        return not self.is_guarded or all(map(is_of_type, values, self.arguments))


def is_of_type(value: Value, wanted: str) -> bool:
    """Whether a value is of a type."""
    if wanted == "dyn":
        return True
    _, _, inside = wanted.partition("(")
    if not inside:
        return type_name(value) == SHORT_NAMES.get(wanted, wanted)
    if not isinstance(value, LISTS):
        return False
    return not value or is_of_type(value[0], inside.removesuffix(")"))
