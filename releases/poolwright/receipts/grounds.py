"""What made the selectors of class and request true for a device, so that a person can check it against the slice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from poolwright.allocation.claim import DeviceClass, Request
from poolwright.allocation.reasons.clauses import say_attribute, say_quantity, split_clauses
from poolwright.catalog.cel import CelError, Read, find_reads, parse_cel
from poolwright.catalog.resource_slice import Device, QualifiedKey
from poolwright.receipts.document import Clause, Grounds


class GroundsBook:
    """The grounds of a document: devices with the same values share one entry."""

    def __init__(self, classes: Mapping[str, DeviceClass]) -> None:
        self._classes = classes
        self._ids: dict[tuple[Clause, ...], str] = {}

    def find(self, request: Request, name: str, device: Device) -> str | None:
        """The entry of a device that a request got; None: its class isn't known.

        name: of the request, with the alternative's if it is one.
        """
        device_class = self._classes.get(request.class_name)
        if device_class is None:
            return None
        owners = (
            (f"class {device_class.name}", device_class.selectors),
            (f"request {name}", request.selectors),
        )
        clauses = tuple(
            Clause(owner=owner, clause=clause, values=tuple(_list_values(clause, device)))
            for owner, selectors in owners
            for text in selectors
            for clause in split_clauses(text or "")
        )
        return self._ids.setdefault(clauses, f"grounds-{len(self._ids) + 1}")

    def list(self) -> tuple[Grounds, ...]:
        """All entries, in the order in which they were found."""
        return tuple(Grounds(id=name, clauses=clauses) for clauses, name in self._ids.items())


def _list_values(clause: str, device: Device) -> Iterator[str]:
    try:
        reads = find_reads(parse_cel(clause))
    except CelError:
        return
    # What is read both with a guard and without stands in the list twice.
    yield from dict.fromkeys(line for read in reads for line in _say_read(read, device))


def _say_read(read: Read, device: Device) -> Iterator[str]:
    match read.kind:
        case "driver":
            yield f"driver = {device.driver}"
        case "allowMultipleAllocations":
            yield f"allowMultipleAllocations = {str(device.allow_multiple_allocations).lower()}"
        case "attribute":
            for key in _list_keys(read, device.attributes):
                attribute = device.attributes.get(key)
                said = "none" if attribute is None or attribute.value is None else say_attribute(attribute)
                yield f"{key[0]}/{key[1]} = {said}"
        case "capacity":
            for key in _list_keys(read, device.capacity):
                capacity = device.capacity.get(key)
                said = "none" if capacity is None or capacity.value is None else say_quantity(capacity.value)
                yield f"{key[0]}/{key[1]} = {said}"


def _list_keys(read: Read, published: Iterable[QualifiedKey]) -> list[QualifiedKey]:
    """What a read is of: one name, or of any that is published."""
    if read.domain is not None and read.name is not None:
        return [(read.domain, read.name)]
    return [key for key in sorted(published) if read.domain in (None, key[0]) and read.name in (None, key[1])]
