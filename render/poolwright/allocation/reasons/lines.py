"""What stands against devices, as lines for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from poolwright.allocation.claim import Request
from poolwright.allocation.pools import Candidate, CounterId
from poolwright.allocation.reasons.clauses import (
    MAX_HAVE,
    find_bound,
    is_about_driver,
    is_strict,
    say_quantity,
    shorten,
)
from poolwright.allocation.reasons.reason import Part, PartKind
from poolwright.catalog.resource_slice import Device
from poolwright.specs.quantity import Quantity

MAX_PARTS: Final = 8  # that a line has; the JSON form has all
_NEAR: Final = 10  # an amount is a near miss if no more than a tenth is missing


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What stands against a device."""

    kind: PartKind
    what: str
    owner: str = ""
    counters: tuple[CounterId, ...] = ()  # those that are short, sorted


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Devices with the same obstacle."""

    obstacle: Obstacle
    candidates: Sequence[Candidate]
    have: Sequence[str] = ()
    holders: Sequence[str] = ()
    takers: Mapping[CounterId, Sequence[str]]  # who takes from the counters that are short


def say_part(group: Group) -> str:
    """A line for the devices of a group."""
    one, count = group.obstacle, len(group.candidates)
    match one.kind:
        case "clause":
            return _say_clause(group)
        case "selector-error":
            return f"on {count} the selector has an error: {one.what}"
        case "binding":
            return f"{count} with binding conditions, whose gate is off"
        case "capacity":
            return f"{count} can't serve the request for {one.what}"
        case "held":
            return f"{count} held{_say_holders(group.holders)}"
        case "room":
            return f"{count} without room ({one.what}), taken{_say_holders(group.holders)}"
        case "counters":
            return _say_counters(group)
        case "taint":
            return f"{count} with the taint {one.what}, which the request doesn't tolerate"


def say_funnel(
    name: str, asked: int | None, total: int, nodes: int, parts: Sequence[Part], left: int, most: int
) -> str:
    """What is left of all devices for a request. Other drivers' devices are left out, unless there are no others."""
    foreign = sum(part.devices for part in parts if part.is_foreign)
    if foreign < total:
        total, parts = total - foreign, [part for part in parts if not part.is_foreign]
    where = f"on {nodes} node{'s' if nodes != 1 else ''}"
    start = f"request {name}: {total or 'no'} device{'s' if total > 1 else ''} {where}"
    shown = [part.line for part in parts[:MAX_PARTS]]
    rest = sum(part.devices for part in parts[MAX_PARTS:])
    if rest:
        shown.append(f"{rest} for other reasons")
    wanted = "all that match wanted" if asked is None else f"{asked} wanted"
    end = f"{left} left, {wanted}" + (f", at most {most} on one node" if nodes > 1 and left else "")
    return f"{start}: {', '.join(shown)}; {end}" if shown else f"{start}; {end}"


def find_near_miss(group: Group) -> str:
    """A hint for devices that have nearly as much of a capacity as a clause asks for; "" if none has."""
    bound = find_bound(group.obstacle.what) if group.obstacle.kind == "clause" else None
    if bound is None:
        return ""
    key, asked = bound
    found = [one.device.capacity[key].value for one in group.candidates if key in one.device.capacity]
    below = [amount for amount in found if amount is not None and amount < asked]
    nearest = max(below, default=None)
    if nearest is None or (asked.nano - nearest.nano) * _NEAR > asked.nano:
        return ""
    why = ": a card sold by the GB has fewer Gi" if key[1] == "memory" and nearest.format == "BinarySI" else ""
    mend = f"less than {nearest.canonical}" if is_strict(group.obstacle.what) else f"{nearest.canonical} or less"
    return f"{key[1]} {say_quantity(nearest)} is just short of {asked.canonical}{why}; ask for {mend}"


def say_request(request: Request, device: Device) -> str:
    """The capacity that a request asks for, and what a device has of it: `memory 81Gi (have 80Gi)`."""
    published = {one.name: one.value for one in device.capacity.values()}
    asked = []
    for name, amount in sorted((request.capacity or {}).items()):
        found = published.get(name)
        asked.append(f"{name} {amount.canonical} (have {'none' if found is None else say_quantity(found)})")
    return ", ".join(asked) or "their whole capacity"


def say_room(consumed: Mapping[str, Quantity], candidate: Candidate, held: Mapping[str, int]) -> str:
    """What a share would take, and what is free."""
    texts = []
    for capacity in candidate.device.capacity.values():
        taken = held.get(capacity.name, 0)
        if capacity.value is not None and taken:
            free = Quantity(capacity.value.nano - taken, capacity.value.format)
            texts.append(f"{capacity.name}: takes {say_quantity(consumed[capacity.name])}, free {say_quantity(free)}")
    return "; ".join(texts)


def _say_clause(group: Group) -> str:
    count, have = len(group.candidates), group.have
    shown = ", ".join(have[:MAX_HAVE]) + (f" and {len(have) - MAX_HAVE} more" if len(have) > MAX_HAVE else "")
    if is_about_driver(group.obstacle.what) and shown:
        return f"{count} of other drivers ({shown.replace('driver ', '')})"
    fail = "fails" if count == 1 else "fail"
    return f"{count} {fail} {shorten(group.obstacle.what)}" + (f" (have {shown})" if shown else "")


def _say_counters(group: Group) -> str:
    """`mig-3g without counters of gpu-0 (slice-4 and slice-5 taken by team-a/one; slice-6 taken by team-a/two)`."""
    count = len(group.candidates)
    who = group.candidates[0].device.name if count == 1 else str(count)
    if not group.obstacle.counters:
        return f"{who} with counters, whose gate is off"
    takers: dict[tuple[str, Sequence[str]], list[str]] = {}
    for counter_set, name in group.obstacle.counters:
        takers.setdefault((counter_set, tuple(group.takers.get((counter_set, name), ()))), []).append(name)
    sets = sorted({counter_set for counter_set, _ in takers})
    said = []
    for one in sets:
        parts = [
            f"{', '.join(names)} taken{_say_holders(holders)}" if holders else f"{', '.join(names)} has too little"
            for (owner, holders), names in takers.items()
            if owner == one
        ]
        said.append(f"{one} ({'; '.join(parts)})")
    return f"{who} without counters of {', '.join(said)}"


def _say_holders(holders: Sequence[str]) -> str:
    if not holders:
        return ""
    more = f" and {len(holders) - MAX_HAVE} more" if len(holders) > MAX_HAVE else ""
    return f" by {', '.join(holders[:MAX_HAVE])}{more}"
