"""What a ResourceClaim or ResourceClaimTemplate asks for, read the same way from every API version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from poolwright.rules.placed import Field, PlacedObject
from poolwright.rules.served import GROUP

CLAIM: Final = "ResourceClaim"
TEMPLATE: Final = "ResourceClaimTemplate"

# A class or driver with one of these words in its name hands out no accelerator that an engine computes on.
_NO_ACCELERATOR: Final = frozenset(
    (
        *("channel", "cpu", "daemon", "dranet", "fpga", "ib", "infiniband", "mem", "net", "network", "nic", "nics"),
        *("nvme", "rdma", "rnic", "roce", "sriov", "storage"),
    )
)
_NETWORK_DRIVERS: Final = ("dra.net",)  # the last part of a domain says nothing, but for this one


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """One way to satisfy a request."""

    name: str  # of the subrequest; empty where there is only one way
    class_name: str
    count: int | None  # None: every matching device, or nothing that can be read
    is_admin: bool
    field: Field  # what holds deviceClassName

    @property
    def selectors(self) -> tuple[Field, ...]:
        """Its CEL expressions."""
        return list_selectors(self.field)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request of a claim; without an alternative where it names no class."""

    name: str
    alternatives: tuple[Alternative, ...]
    field: Field


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim, or what a template makes claims from."""

    owner: PlacedObject
    devices: Field  # `spec.devices`, of a template `spec.spec.devices`
    requests: tuple[Request, ...]

    def request(self, name: str) -> Request | None:
        """The request of that name."""
        return next((request for request in self.requests if request.name == name), None)


def parse_claim(obj: PlacedObject) -> Claim | None:
    """The claim that an object is; None of any other object. What can't be read is left out."""
    if not obj.is_of(GROUP, CLAIM, TEMPLATE):
        return None
    devices = obj.root.get("spec", "spec", "devices") if obj.kind == TEMPLATE else obj.root.get("spec", "devices")
    return Claim(
        owner=obj,
        devices=devices,
        requests=tuple(_parse_request(field) for field in devices.get("requests").list_items()),
    )


def list_selectors(field: Field) -> tuple[Field, ...]:
    """The CEL expressions of a class or request that are texts."""
    expressions = (selector.get("cel", "expression") for selector in field.get("selectors").list_items())
    return tuple(expression for expression in expressions if expression.text)


def is_accelerator(class_name: str) -> bool:
    """Whether devices of the class or driver count as what an engine computes on: all whose name says nothing else."""
    name, _, top = class_name.lower().rpartition(".")
    words = re.split(r"[.-]", name if name and class_name not in _NETWORK_DRIVERS else f"{name}.{top}")
    return _NO_ACCELERATOR.isdisjoint(words)


def _parse_request(field: Field) -> Request:
    return Request(name=field.get("name").text, alternatives=tuple(_parse_alternatives(field)), field=field)


def _parse_alternatives(field: Field) -> Iterator[Alternative]:
    ways = [*field.get("firstAvailable").list_items(), field.get("exactly"), field]
    for way in ways:
        class_name = way.get("deviceClassName").text
        if class_name:
            yield Alternative(
                name=way.get("name").text if way.path != field.path else "",
                class_name=class_name,
                count=_count(way),
                is_admin=way.get("adminAccess").value is True,
                field=way,
            )


def _count(way: Field) -> int | None:
    if way.get("allocationMode").value not in (None, "ExactCount"):
        return None
    return way.get("count").number if way.get("count").is_set else 1
