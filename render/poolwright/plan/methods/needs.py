"""What pods take, as exact searches see it: devices that are chosen together, and those that are chosen one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final

from poolwright.allocation.claim import MAX_RESULTS, Claim, Constraint
from poolwright.allocation.constraints import applies_to
from poolwright.allocation.held import DeviceId
from poolwright.catalog.resource_slice import Device
from poolwright.plan.methods.acceptance import Option
from poolwright.plan.methods.kinds import Field, Kind
from poolwright.specs.quantity import Quantity

MAX_ALTERNATIVES: Final = 16  # of a pod: choices of all its requests together


@dataclass(frozen=True, slots=True)
class Part:
    """Devices of one request."""

    accepted: frozenset[DeviceId]
    count: int | None  # None: all that are accepted on the node
    capacity: tuple[tuple[str, Quantity], ...] | None = None  # asked of a device that takes several, sorted


@dataclass(frozen=True, slots=True)
class Tie:
    """What the devices of some parts have in common, or must not."""

    attribute: str  # fully qualified
    is_distinct: bool
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bundle:
    """Devices that something ties to each other; with no ties it is one request."""

    parts: tuple[Part, ...]
    ties: tuple[Tie, ...] = ()


Need = tuple[tuple[Bundle, ...], ...]  # the alternatives of a pod; of each all bundles are taken


def build_need(field: Field, kind: Kind) -> Need | None:
    """What a pod of a kind takes on a node; None: shares, administration or something else is in it that isn't counted.

    A single device's own constraints are part of what it accepts; all other requests are for devices by clause alone,
    and what ties them stands in the ties.
    """
    demand = field.context.demand
    pod = demand.workloads[kind.workload].pods[kind.pod]
    new = [claim for claim in pod.claims if claim.allocation is None]
    entries = [(claim, entry.name) for claim in new for entry in claim.requests]
    options = kind.shape.options
    if kind.shares or not kind.is_local or kind.is_barred or not entries or len(options) != len(entries):
        return None
    if prod(map(len, options)) > MAX_ALTERNATIVES or _is_unknown(field, kind, new):
        return None
    if kind.shape.takes_one and not _shares(field, kind):
        return ((Bundle((Part(kind.shape.accepted, 1),)),),)
    if demand.held and any(one.count is None for several in options for one in several):
        return None  # of all devices some may be held, and then none is given
    choices = [chosen for chosen in product(*options) if _is_within_limit(entries, chosen)]
    need = tuple(tuple(_join(entries, chosen)) for chosen in choices)
    if any(part.count is None for several in need for one in several if one.ties for part in one.parts):
        return None
    return need


def _is_unknown(field: Field, kind: Kind, claims: Sequence[Claim]) -> bool:
    """Whether something decides what a placement is that isn't counted here."""
    acceptance, features = field.context.acceptance, field.context.demand.features
    devices = [acceptance.candidates[one].device for one in kind.shape.accepted]
    is_charged = any(one.consumes for one in devices)
    # Of shares one request gets several of one device in some versions, and in others not.
    counts = {option.count for several in kind.shape.options for option in several}
    requests = [one for claim in claims for entry in claim.requests for one in (entry.exactly, *entry.first_available)]
    return (
        (_shares(field, kind) and (counts != {1} or any(map(_is_both, devices))))
        or (is_charged and (features.compatibility_groups or features.key == 34 or not features.partitionable_devices))
        or any(one is not None and (one.admin_access or one.derived_attributes) for one in requests)
        or any(tie.match_attribute is None and not features.mended for claim in claims for tie in claim.constraints)
    )


def _is_within_limit(entries: Sequence[tuple[Claim, str]], chosen: Sequence[Option]) -> bool:
    """Whether no claim gets more devices than its allocation holds."""
    total: Counter[int] = Counter()
    for (claim, _), option in zip(entries, chosen, strict=True):
        total[id(claim)] += option.count or 1
    return all(count <= MAX_RESULTS for count in total.values())


def _shares(field: Field, kind: Kind) -> bool:
    acceptance = field.context.acceptance
    return any(acceptance.is_shareable(acceptance.candidates[one].device) for one in kind.shape.accepted)


def _is_both(device: Device) -> bool:
    """Whether a device is a partition and takes several pods."""
    return bool(device.consumes) and device.allow_multiple_allocations


def _join(entries: Sequence[tuple[Claim, str]], chosen: Sequence[Option]) -> Iterator[Bundle]:
    """The bundles of one choice of alternatives: requests that a constraint names together are one."""
    ties: list[tuple[Constraint, list[int]]] = []
    for claim in dict.fromkeys(id(claim) for claim, _ in entries):
        own = [at for at, (its, _) in enumerate(entries) if id(its) == claim]
        for constraint in entries[own[0]][0].constraints:
            members = [at for at in own if applies_to(constraint, entries[at][1], chosen[at].alternative)]
            if members:
                ties.append((constraint, members))
    left = list(range(len(entries)))
    while left:
        group = {left[0]}
        while grown := {at for _, members in ties if group & set(members) for at in members} - group:
            group |= grown
        members = sorted(group)
        left = [at for at in left if at not in group]
        yield _build_bundle(members, chosen, [tie for tie in ties if set(tie[1]) <= group])


def _build_bundle(
    members: Sequence[int], chosen: Sequence[Option], ties: Sequence[tuple[Constraint, Sequence[int]]]
) -> Bundle:
    return Bundle(
        parts=tuple(Part(chosen[at].accepted, chosen[at].count, chosen[at].capacity) for at in members),
        ties=tuple(
            Tie(
                attribute=str(one.match_attribute or one.distinct_attribute),
                is_distinct=one.match_attribute is None,
                parts=tuple(members.index(at) for at in its),
            )
            for one, its in ties
        ),
    )
