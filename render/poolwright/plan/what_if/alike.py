"""Nodes, devices, zones and families of hardware, and which of them are alike: losing either comes to the same.

A sort of devices is what verdicts can depend on: who takes them, what constraints compare, what they draw from
counters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from poolwright.allocation.held import DeviceId
from poolwright.allocation.trial import BLOCKING_EFFECTS
from poolwright.catalog.resource_slice import AttributeOnDevice, Device, QualifiedKey
from poolwright.plan.demand import Demand
from poolwright.plan.methods.context import Context
from poolwright.plan.what_if.pieces import list_pieces

Thing = Literal["node", "device", "zone", "family"]
_Counts = tuple[tuple[int, int], ...]  # numbers of sorts, and how many devices of each


@dataclass(frozen=True, slots=True)
class Alike:
    """Things of which it makes no difference which one is lost, or which one there is another of."""

    names: tuple[str, ...]  # sorted
    lost: Lost  # with the first one


def group_alike(context: Context, thing: Thing, *, goes_by_nodes: bool = False) -> tuple[Alike, ...]:
    """All things of a sort, those that are alike together, by the first name.

    goes_by_nodes: what nodes have beside devices makes a difference too.
    """
    things = list_things(context, thing)
    sort = LossSorter(context, goes_by_nodes=goes_by_nodes)
    alike: dict[object, list[str]] = {}
    for name in sorted(things):
        alike.setdefault(sort.build_key(things[name]), []).append(name)
    return tuple(Alike(tuple(names), things[names[0]]) for names in alike.values())


@dataclass(slots=True)
class Lost:
    """What goes with a thing, or with several."""

    devices: set[DeviceId]
    nodes: frozenset[str] = frozenset()


def list_things(context: Context, thing: Thing) -> dict[str, Lost]:
    """By name what is lost with it. What nodes elsewhere reach too is still there."""
    acceptance = context.acceptance
    found: dict[str, Lost] = {}
    if thing in ("node", "zone"):
        places = {node.name: node.name if thing == "node" else node.zone for node in acceptance.nodes}
        for place in dict.fromkeys(places.values()):
            if place is not None:
                found[place] = Lost(set(), frozenset(node for node, its in places.items() if its == place))
        for device, nodes in acceptance.nodes_of.items():
            homes = {places[node] for node in nodes}
            home = homes.pop()
            if not homes and home is not None:
                found[home].devices.add(device)
    elif thing == "device":
        known = {device: candidate.device for device, candidate in acceptance.candidates.items()}
        found = {name: Lost(devices) for name, devices in list_pieces(known).items()}
    else:
        for device, candidate in acceptance.candidates.items():
            found.setdefault(name_family(candidate.device), Lost(set())).devices.add(device)
    return found


def name_family(device: Device) -> str:
    """A device's product and type as published; of one without a product its driver."""
    said = {name: one.value for (_, name), one in sorted(device.attributes.items()) if name in ("productName", "type")}
    if "productName" not in said:
        said["productName"] = device.driver
    return " ".join(str(said[name]) for name in ("productName", "type") if name in said)


class LossSorter:
    """Keys that are equal for things whose loss comes to the same."""

    def __init__(self, context: Context, *, goes_by_nodes: bool) -> None:
        self._context = context
        there = context.demand.nodes if goes_by_nodes else ()
        self._there = {one.name: tuple(sorted(one.allocatable.items())) for one in there}
        self._sorts, self._cells = _sort_devices(context)
        on_node: dict[str, list[DeviceId]] = {}
        for device, nodes in sorted(context.acceptance.nodes_of.items()):
            for node in nodes:
                on_node.setdefault(node, []).append(device)
        self._whole = {node: _count(devices, self._sorts) for node, devices in on_node.items()}
        self._turned = {node: _count(devices, self._cells.sorts) for node, devices in on_node.items()}

    def build_key(self, lost: Lost) -> object:
        """Of each node that loses something: what it has, what it loses, and which pods may go there."""
        by_node: dict[str, list[DeviceId]] = {node: [] for node in lost.nodes}
        for device in lost.devices:
            for node in self._context.acceptance.nodes_of[device]:
                by_node.setdefault(node, []).append(device)
        return tuple(
            sorted(
                (
                    *self._count(node, devices, is_whole=node in lost.nodes),
                    self._list_open(node),
                    self._there.get(node, ()),
                )
                for node, devices in by_node.items()
            )
        )

    def _count(self, node: str, devices: Sequence[DeviceId], *, is_whole: bool) -> tuple[bool, bool, _Counts, _Counts]:
        """What a node has, and what of it is lost, by sorts.

        What is alike but for which devices of its node it shares a value with is told apart only where several such
        groups lose something and others don't: else each can stand for each other.
        """
        turns = is_whole or len({self._cells.of.get(one) for one in devices}) == 1
        if turns and self._cells.are_free:
            return is_whole, True, self._turned.get(node, ()), _count(devices, self._cells.sorts)
        return is_whole, False, self._whole.get(node, ()), _count(devices, self._sorts)

    def _list_open(self, node: str) -> tuple[tuple[int, int], ...]:
        return tuple(
            (at, pod)
            for at, shapes in enumerate(self._context.shapes)
            for pod, shape in enumerate(shapes)
            if node in shape.on_node
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cells:
    """Devices of a node that have the value of the one attribute that constraints compare.

    Constraints ask only whether values are the same. So of two cells of a node that hold as many of each sort, it makes
    no difference which one is which.
    """

    are_free: bool  # whether that is so: one attribute is compared, of devices that are on one node each
    of: Mapping[DeviceId, object]  # by device; a device without the value is in none
    sorts: Mapping[DeviceId, int]  # devices by their sort, values aside, and by what else is in their cell


def _count(devices: Iterable[DeviceId], sorts: Mapping[DeviceId, int]) -> _Counts:
    return tuple(sorted(Counter(sorts[one] for one in devices).items()))


def _sort_devices(context: Context) -> tuple[dict[DeviceId, int], _Cells]:
    """Devices by number of their sort."""
    say_values = _Values(context)
    takers: dict[DeviceId, list[tuple[int, int, int]]] = {}  # workloads, their pods, and which alternative of all
    for at, shapes in enumerate(context.shapes):
        for pod, shape in enumerate(shapes):
            for number, option in enumerate(one for several in shape.options for one in several):
                for device in option.accepted:
                    takers.setdefault(device, []).append((at, pod, number))
            if any(option.count is None for several in shape.options for option in several):
                # A node that can't give all now might, without some of them.
                for number, device in context.acceptance.list_selected(context.demand.workloads[at].pods[pod]):
                    takers.setdefault(device, []).append((at, pod, -1 - number))
    barring = _list_barring(context)
    numbers: dict[object, int] = {}
    found = {}
    plain: dict[DeviceId, object] = {}  # sorts, values aside
    cells: dict[DeviceId, object] = {}
    for device, candidate in sorted(context.acceptance.candidates.items()):
        one = candidate.device
        nodes = context.acceptance.nodes_of[device]
        is_plain = not one.consumes and not one.allow_multiple_allocations
        values = say_values(device)
        key = (
            tuple(sorted(takers.get(device, ()))),
            "" if is_plain else repr((one.consumes, sorted(one.capacity.items()), device[:2])),
            # A device of several nodes is like none that isn't of the same ones.
            tuple(nodes) if len(nodes) > 1 else (),
            device if device in barring else (),
        )
        found[device] = numbers.setdefault((key, values), len(numbers))
        plain[device] = key, tuple(value[:2] for value in values if isinstance(value, tuple))
        if values:
            cells[device] = tuple(nodes), values
    return found, _find_cells(plain, cells, are_free=say_values.is_one)


def _find_cells(plain: Mapping[DeviceId, object], cells: Mapping[DeviceId, object], *, are_free: bool) -> _Cells:
    numbers: dict[object, int] = {}
    sorts = {device: numbers.setdefault(key, len(numbers)) for device, key in plain.items()}
    inside: dict[object, list[DeviceId]] = {}
    for device, cell in cells.items():
        inside.setdefault(cell, []).append(device)
    contents = {cell: _count(devices, sorts) for cell, devices in inside.items()}
    both: dict[object, int] = {}
    own = {device: (sorts[device], contents[cells[device]] if device in cells else ()) for device in plain}
    return _Cells(
        are_free=are_free,
        of=cells,
        sorts={device: both.setdefault(key, len(both)) for device, key in own.items()},
    )


def _list_barring(context: Context) -> frozenset[DeviceId]:
    """Devices that may keep who asks for all of a node's from it: selectors say which these are, whoever gets them."""
    options = (one for shapes in context.shapes for shape in shapes for several in shape.options for one in several)
    if all(one.count is not None for one in options):
        return frozenset()
    held = context.acceptance.build_held()
    return frozenset(
        device
        for device, candidate in context.acceptance.candidates.items()
        if held.is_held(device) or any(taint.effect in BLOCKING_EFFECTS for taint in candidate.device.taints)
    )


class _Values:
    """The attributes of devices that constraints go by, as far as it matters what they are.

    Constraints compare values on one node alone. So on each node they are numbered in the order of its devices, and
    nodes whose values differ in the same places are alike.
    """

    def __init__(self, context: Context) -> None:
        self._acceptance = context.acceptance
        self._compared, self._derives = _list_compared(context.demand)
        homes = context.acceptance.nodes_of
        said = [(device, value) for device in homes for _, value in self._list(device)]
        # Lists are compared by what they have in common, and a device of several nodes is compared on each.
        self._is_plain = not self._derives and not any(
            isinstance(value.value, tuple) or len(homes[device]) > 1 for device, value in said
        )
        self._numbers: dict[tuple[str, QualifiedKey], dict[str, int]] = {}  # by node and attribute, of each value
        # Whether constraints compare one attribute, of devices that have one value of it at most, and one node each.
        named = {key for device in homes for key, _ in self._list(device)}
        self.is_one = self._is_plain and len(named) <= 1

    def __call__(self, device: DeviceId) -> tuple[object, ...]:
        """What is to be asked for in the order of the devices."""
        if not self._is_plain:
            return tuple(repr(value) for _, value in self._list(device))
        (node, *_), found = self._acceptance.nodes_of[device], []
        for key, value in self._list(device):
            numbers = self._numbers.setdefault((node, key), {})
            # Of a type that isn't known no value is like another one, not even like itself.
            found.append((key, value.type, numbers.setdefault(repr((value.type, value.value)), len(numbers))))
        return tuple(found)

    def _list(self, device: DeviceId) -> list[tuple[QualifiedKey, AttributeOnDevice]]:
        attributes = sorted(self._acceptance.candidates[device].device.attributes.items())
        return [one for one in attributes if self._derives or one[0][1] in self._compared]


def _list_compared(demand: Demand) -> tuple[frozenset[str], bool]:
    """Attributes that constraints go by, without their domain; and whether some are derived, from any others."""
    claims = [claim for workload in demand.workloads for pod in workload.pods for claim in pod.claims]
    ties = [tie for claim in claims for tie in claim.constraints]
    names = (name for tie in ties for name in (tie.match_attribute, tie.distinct_attribute) if name)
    requests = (one for claim in claims for entry in claim.requests for one in (entry.exactly, *entry.first_available))
    derives = any(one is not None and one.derived_attributes for one in requests)
    return frozenset(name.rpartition("/")[2] for name in names), derives
