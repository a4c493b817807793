"""What the loss of a node, a device, a zone or a family of hardware changes, for all of them.

Things whose loss takes as many of each sort of device are lost alike, so one of them is judged for all. A sort is what
verdicts can depend on: who takes the device, what constraints compare, what it draws from counters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final, Literal

from poolwright.allocation.held import DeviceId
from poolwright.allocation.pools import Candidate
from poolwright.catalog.resource_slice import Device, ResourceSlice
from poolwright.plan.demand import Demand
from poolwright.plan.engine import judge_context, split
from poolwright.plan.methods.context import Context, build_context
from poolwright.plan.verdict import Count, Judgement, Verdict
from poolwright.plan.why import explain_nowhere

NVIDIA: Final = "gpu.nvidia.com"
Thing = Literal["node", "device", "zone", "family"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A verdict with everything there, and without what is lost."""

    before: Verdict
    after: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What happens when one of some things that are alike is lost."""

    thing: Thing
    names: tuple[str, ...]  # sorted
    devices: int  # that are lost with each
    changes: tuple[Change, ...]  # of words and counts, in the demand's order
    shortfall: Count  # of everything, after it


def judge_losses(demand: Demand, thing: Thing, before: Judgement | None = None) -> tuple[Loss, ...]:
    """The loss of every node, device, zone or family, those that are alike together, by the first name.

    Everyone's peak demand is judged on what is left: where survivors run at the moment doesn't matter.
    Cost: one judgement for all of it, and for each sort of loss one of the workloads that it touches.
    """
    context = build_context(demand, shows=False)
    whole = before or judge_context(context)
    things = _list_things(context, thing)
    sort = _Sorter(context)
    alike: dict[object, list[str]] = {}
    for name in sorted(things):
        alike.setdefault(sort.build_key(things[name]), []).append(name)
    judge_loss = _Judge(context, whole)
    found = []
    for names in alike.values():
        lost = things[names[0]]
        changes, shortfall = judge_loss(lost)
        found.append(
            Loss(thing=thing, names=tuple(names), devices=len(lost.devices), changes=changes, shortfall=shortfall)
        )
    return tuple(sorted(found, key=lambda one: one.names))


@dataclass(slots=True)
class _Lost:
    """What goes with a thing."""

    devices: set[DeviceId]
    nodes: frozenset[str] = frozenset()


def _list_things(context: Context, thing: Thing) -> dict[str, _Lost]:
    """By name what is lost with it. What nodes elsewhere reach too is still there."""
    acceptance = context.acceptance
    found: dict[str, _Lost] = {}
    if thing in ("node", "zone"):
        places = {node.name: node.name if thing == "node" else node.zone for node in acceptance.nodes}
        for place in dict.fromkeys(places.values()):
            if place is not None:
                found[place] = _Lost(set(), frozenset(node for node, its in places.items() if its == place))
        for device, nodes in acceptance.nodes_of.items():
            homes = {places[node] for node in nodes}
            home = homes.pop()
            if not homes and home is not None:
                found[home].devices.add(device)
    else:
        for device, candidate in acceptance.candidates.items():
            name = "/".join(_whole(candidate)) if thing == "device" else _family(candidate.device)
            found.setdefault(name, _Lost(set())).devices.add(device)
    return found


def _whole(candidate: Candidate) -> DeviceId:
    """What is lost with a device: of a partition its GPU, with all others of that.

    Partitions draw on counters of their GPU, or have its name before their own, as NVIDIA's do:
    `gpu-0-mig-1g10gb-19-2`.
    """
    driver, pool, name = candidate.id
    if driver == NVIDIA and "-mig-" in name:
        return driver, pool, name.partition("-mig-")[0]
    sets = sorted({one.counter_set for one in candidate.device.consumes})
    return (driver, pool, "+".join(sets)) if sets and driver != NVIDIA else candidate.id


def _family(device: Device) -> str:
    said = {name: one.value for (_, name), one in sorted(device.attributes.items()) if name in ("productName", "type")}
    if "productName" not in said:
        said["productName"] = device.driver
    return " ".join(str(said[name]) for name in ("productName", "type") if name in said)


class _Sorter:
    """Keys that are equal for things whose loss comes to the same."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._sorts = _sort_devices(context)
        on_node: dict[str, list[DeviceId]] = {}
        for device, nodes in sorted(context.acceptance.nodes_of.items()):
            for node in nodes:
                on_node.setdefault(node, []).append(device)
        self._whole = {node: self._count(devices) for node, devices in on_node.items()}

    def build_key(self, lost: _Lost) -> object:
        """Of each node that loses something: what it has, what it loses, and which pods may go there."""
        by_node: dict[str, list[DeviceId]] = {node: [] for node in lost.nodes}
        for device in lost.devices:
            for node in self._context.acceptance.nodes_of[device]:
                by_node.setdefault(node, []).append(device)
        return tuple(
            sorted(
                (self._whole.get(node, ()), self._count(devices), node in lost.nodes, self._list_open(node))
                for node, devices in by_node.items()
            )
        )

    def _count(self, devices: Iterable[DeviceId]) -> tuple[tuple[int, int], ...]:
        return tuple(sorted(Counter(self._sorts[one] for one in devices).items()))

    def _list_open(self, node: str) -> tuple[tuple[int, int], ...]:
        return tuple(
            (at, pod)
            for at, shapes in enumerate(self._context.shapes)
            for pod, shape in enumerate(shapes)
            if node in shape.on_node
        )


def _sort_devices(context: Context) -> dict[DeviceId, int]:
    """Devices by number of their sort."""
    compared, derives = _list_compared(context.demand)
    takers: dict[DeviceId, list[tuple[int, int, int]]] = {}
    for at, shapes in enumerate(context.shapes):
        for pod, shape in enumerate(shapes):
            for number, ask in enumerate(shape.asks):
                for device in ask.accepted:
                    takers.setdefault(device, []).append((at, pod, number))
    numbers: dict[object, int] = {}
    found = {}
    for device, candidate in sorted(context.acceptance.candidates.items()):
        one = candidate.device
        nodes = context.acceptance.nodes_of[device]
        is_plain = not one.consumes and not one.allow_multiple_allocations
        key = (
            tuple(takers.get(device, ())),
            tuple(repr(value) for (_, name), value in sorted(one.attributes.items()) if derives or name in compared),
            "" if is_plain else repr((one.consumes, sorted(one.capacity.items()), device[:2])),
            # A device of several nodes is like none that isn't of the same ones.
            tuple(nodes) if len(nodes) > 1 else (),
        )
        found[device] = numbers.setdefault(key, len(numbers))
    return found


def _list_compared(demand: Demand) -> tuple[frozenset[str], bool]:
    """Attributes that constraints go by, without their domain; and whether some are derived, from any others."""
    claims = [claim for workload in demand.workloads for pod in workload.pods for claim in pod.claims]
    ties = [tie for claim in claims for tie in claim.constraints]
    names = (name for tie in ties for name in (tie.match_attribute, tie.distinct_attribute) if name)
    requests = (one for claim in claims for entry in claim.requests for one in (entry.exactly, *entry.first_available))
    derives = any(one is not None and one.derived_attributes for one in requests)
    return frozenset(name.rpartition("/")[2] for name in names), derives


class _Judge:
    """Judges what is left, of the parts of the demand that a loss touches."""

    def __init__(self, context: Context, whole: Judgement) -> None:
        self._context = context
        self._whole = whole
        self._parts = [tuple(part) for part in split(context)]
        self._intact: dict[tuple[int, ...], Count] = {}  # by touched workloads their shortfall before

    def __call__(self, lost: _Lost) -> tuple[tuple[Change, ...], Count]:
        """What changes, and the shortfall of everything."""
        touched = tuple(sorted(at for part in self._parts if self._is_touched(part, lost) for at in part))
        if not touched:
            return (), self._whole.shortfall
        demand = self._context.demand
        own = replace(demand, workloads=tuple(demand.workloads[at] for at in touched))
        if touched not in self._intact:
            self._intact[touched] = judge_context(build_context(own, shows=False)).shortfall
        left = replace(
            own,
            nodes=tuple(node for node in demand.nodes if node.name not in lost.nodes),
            slices=tuple(_drop(one, lost.devices) for one in demand.slices),
        )
        after = judge_context(build_context(left, shows=False))
        whole, before = self._whole.shortfall, self._intact[touched]
        # Parts that aren't touched keep theirs.
        shortfall = Count(
            whole.least - before.least + after.shortfall.least, whole.most - before.most + after.shortfall.most
        )
        return _list_changes([self._whole.verdicts[at] for at in touched], after, left), shortfall

    def _is_touched(self, part: Sequence[int], lost: _Lost) -> bool:
        shapes = [shape for at in part for shape in self._context.shapes[at]]
        return any(
            not lost.nodes.isdisjoint(shape.on_node) or not lost.devices.isdisjoint(shape.accepted) for shape in shapes
        )


def _list_changes(before: Sequence[Verdict], after: Judgement, left: Demand) -> tuple[Change, ...]:
    return tuple(
        Change(before=old, after=explain_nowhere(left, new))
        for old, new in zip(before, after.verdicts, strict=True)
        if (old.word, old.always, old.at_best) != (new.word, new.always, new.at_best)
    )


def _drop(one: ResourceSlice, lost: Set[DeviceId]) -> ResourceSlice:
    left = tuple(device for device in one.devices if (device.driver, device.pool, device.name) not in lost)
    return one if len(left) == len(one.devices) else replace(one, devices=left)
