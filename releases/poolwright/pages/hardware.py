"""The hardware of a cluster as columns: each device once, where it stands, and who has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import Placement
from poolwright.pages.document import MODES, DeviceColumns, DeviceSource, FleetNode, FleetPlace
from poolwright.pages.view import ClusterView
from poolwright.plan.what_if.alike import Thing, name_family
from poolwright.plan.what_if.pieces import list_pieces
from poolwright.receipts.document import DeviceKey, Mode
from poolwright.receipts.identity import Published, PublishedDevices

NONE: Final = -1
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A device, with what repeats by name."""

    key: DeviceKey
    node: int
    mode: Mode
    profile: str | None
    family: str


class Hardware:
    """The nodes and devices of a cluster in the order in which they are shown."""

    def __init__(self, view: ClusterView) -> None:
        self._view = view
        demand = view.answer.demand
        self._published = PublishedDevices(demand.slices)
        self._classes = {one.id: number for number, one in enumerate(view.losses.classes)}
        self.nodes = sorted(demand.nodes, key=_order_node)
        self._node_numbers = number_all(one.name for one in self.nodes)
        self.zones = sorted({one.zone for one in self.nodes if one.zone is not None})
        self._shares = demand.features.consumable_capacity
        self.rows = sorted(map(self._build_row, self._published.by_key.items()), key=_order_row)
        self.numbers: Mapping[DeviceKey, int] = number_all(one.key for one in self.rows)
        self.families = sorted({one.family for one in self.rows})
        self.profiles = sorted({one.profile for one in self.rows if one.profile is not None})
        self.sources = sorted({one.key[:2] for one in self.rows})

    def find_node(self, name: str | None) -> int:
        """The number of a node; NONE of one that isn't there."""
        return self._node_numbers.get(name or "", NONE)

    def build_nodes(self) -> tuple[FleetNode, ...]:
        """The nodes; a planned one is one whose devices are."""
        zones = number_all(self.zones)
        planned = {one.node for one in self.rows if one.node != NONE and self._published.by_key[one.key].device.planned}
        return tuple(
            FleetNode(
                name=one.name,
                zone=NONE if one.zone is None else zones[one.zone],
                loss_class=self._find_class("node", one.name),
                is_planned=number in planned,
            )
            for number, one in enumerate(self.nodes)
        )

    def build_places(self, thing: Thing, names: Iterable[str]) -> tuple[FleetPlace, ...]:
        """Zones, or families."""
        return tuple(FleetPlace(name=one, loss_class=self._find_class(thing, one)) for one in names)

    def build_sources(self) -> tuple[DeviceSource, ...]:
        """Where devices are published."""
        return tuple(DeviceSource(driver=driver, pool=pool) for driver, pool in self.sources)

    def build_columns(self, units: Mapping[DeviceKey, int], slots: Mapping[DeviceKey, int]) -> DeviceColumns:
        """The devices. units, slots: by device the number of the first that has it."""
        rows, lost = self.rows, self._view.losses.of_device
        profiles, families, sources = number_all(self.profiles), number_all(self.families), number_all(self.sources)
        pieces = self._number_pieces()
        return DeviceColumns(
            name=tuple(one.key[2] for one in rows),
            node=tuple(one.node for one in rows),
            source=tuple(sources[one.key[:2]] for one in rows),
            piece=tuple(pieces[one.key] for one in rows),
            mode=tuple(MODES.index(one.mode) for one in rows),
            profile=tuple(NONE if one.profile is None else profiles[one.profile] for one in rows),
            family=tuple(families[one.family] for one in rows),
            unit=tuple(units.get(one.key, NONE) for one in rows),
            slot=tuple(slots.get(one.key, NONE) for one in rows),
            loss_class=tuple(self._classes[lost[one.key][0]] if one.key in lost else NONE for one in rows),
        )

    def _build_row(self, found: tuple[DeviceKey, Published]) -> Row:
        key, published = found
        device = published.device
        is_share = device.allow_multiple_allocations and self._shares
        return Row(
            key=key,
            node=self.find_node(_find_home(device.placement or published.slice.placement)),
            mode=self._published.find_mode(key, is_share=is_share),
            profile=self._published.build_identity(key).profile,
            family=name_family(device),
        )

    def _number_pieces(self) -> dict[DeviceKey, int]:
        """Each device's piece of hardware; of one that is of several, the first."""
        pieces = list_pieces({key: one.device for key, one in self._published.by_key.items()})
        firsts = sorted(pieces.values(), key=lambda members: min(map(self.numbers.__getitem__, members)))
        found: dict[DeviceKey, int] = {}
        for number, members in enumerate(firsts):
            for one in members:
                found.setdefault(one, number)
        return found

    def _find_class(self, thing: Thing, name: str) -> int:
        return self._classes.get(self._view.losses.of_place.get((thing, name), ""), NONE)


def number_all(values: Iterable[_Value]) -> dict[_Value, int]:
    """Each value's place."""
    return {one: number for number, one in enumerate(values)}


def _find_home(placement: Placement) -> str | None:
    """The one node that reaches a device."""
    return placement.node_name


def _order_node(node: Node) -> tuple[bool, str, str]:
    return node.zone is None, node.zone or "", node.name


def _order_row(row: Row) -> tuple[bool, int, Sequence[str]]:
    return row.node == NONE, row.node, row.key
