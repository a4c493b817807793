"""Devices and the ResourceSlices they stand in, as a driver published them or would publish them.

Typed is what allocation goes by and what is compared here. Node selectors and every field of a slice or device that
isn't listed are kept as they were captured (`node_selector`, `aside`): a newer API may add some, and what reads them
judges them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from poolwright.specs.document import Plain
from poolwright.specs.quantity import Quantity

QualifiedKey = tuple[str, str]  # domain and identifier
UNSUPPORTED: Final = "unsupported"  # type of an attribute whose value is of no type that is known here


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeOnDevice:
    """An attribute: published, or of a planned device."""

    type: str  # string | int | bool | version, each of these with an s for a list, or UNSUPPORTED
    # None: unsupported, or of a planned device and not known before
    value: str | int | bool | tuple[str | int | bool, ...] | None
    certain: bool = True  # False: a planned device may turn out not to have it


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidRange:
    """The amounts from min up to max; with a step, min and each that is a multiple of it above."""

    min: Quantity | None = None  # the API wants it; upstream's code copes with a stored one that has none
    max: Quantity | None = None  # None: up to the capacity
    step: Quantity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPolicy:
    """How much of a capacity can be asked for; amounts in between are rounded up to the next that can."""

    default: Quantity | None = None  # for who doesn't ask; None: all of it
    valid_values: tuple[Quantity, ...] = ()
    valid_range: ValidRange | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityOnDevice:
    """A capacity: published, or of a planned device."""

    name: str  # as published, with its domain or without: requests are compared with it letter by letter
    value: Quantity | None  # None: of a planned device, and not known before
    request_policy: RequestPolicy | None = None  # None: it can't be asked for in shares


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """A taint of a node or of a device."""

    key: str
    value: str = ""
    effect: str
    time_added: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """A counter set of a pool, or what a device takes from it."""

    counter_set: str
    counters: Mapping[str, Quantity]
    compatibility_groups: tuple[str, ...] = ()  # of what a device takes; alpha in 1.37


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Which nodes can reach a slice's devices, or one of them: exactly one of these."""

    node_name: str | None = None
    node_selector: Mapping[str, Plain] | None = None  # as captured
    all_nodes: bool = False
    per_device: bool = False  # each device says it; never of a device


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A device as its driver published it in a ResourceSlice, or would publish it."""

    driver: str
    pool: str
    name: str
    attributes: Mapping[QualifiedKey, AttributeOnDevice] = field(default_factory=dict)
    capacity: Mapping[QualifiedKey, CapacityOnDevice] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    consumes: tuple[Counters, ...] = ()
    allow_multiple_allocations: bool = False
    # None: not published, which differs from an empty list where pools are put in order
    binding_conditions: tuple[str, ...] | None = None
    binding_failure_conditions: tuple[str, ...] | None = None
    binds_to_node: bool = False  # once allocated, the claim can only be used on the node that was chosen
    placement: Placement | None = None  # None: that of its slice
    planned: bool = False  # expanded from a plan: nothing of it was measured
    unverified: tuple[str, ...] = ()  # of a planned device: what it rests on that no source confirms
    aside: Mapping[str, Plain] = field(default_factory=dict)  # other fields, as captured


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceSlice:
    """A ResourceSlice: part of what a driver publishes in one pool."""

    name: str
    driver: str
    pool: str
    generation: int
    slice_count: int  # of the pool in this generation
    placement: Placement
    devices: tuple[Device, ...] = ()
    shared_counters: tuple[Counters, ...] = ()
    skip_node_operations: tuple[str, ...] = ()  # alpha in 1.37
    planned: bool = False
    aside: Mapping[str, Plain] = field(default_factory=dict)  # other fields, as captured


def newest_pools(slices: Iterable[ResourceSlice]) -> dict[tuple[str, str], tuple[ResourceSlice, ...]]:
    """Slices by driver and pool, in their order; those that a newer generation replaces are left out."""
    pools: dict[tuple[str, str], tuple[ResourceSlice, ...]] = {}
    for one in slices:
        key = (one.driver, one.pool)
        known = pools.get(key, ())
        if not known or one.generation > known[0].generation:
            pools[key] = (one,)
        elif one.generation == known[0].generation:
            pools[key] = (*known, one)
    return pools


def is_complete(pool: tuple[ResourceSlice, ...]) -> bool:
    """Whether all slices of a pool's generation are there. Schedulers leave a pool alone that isn't complete."""
    return len(pool) == pool[0].slice_count
