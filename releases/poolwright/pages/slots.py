"""The slots of a cluster as columns, and which devices they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from poolwright.pages.document import FleetUnit, SlotColumns
from poolwright.pages.hardware import NONE, Hardware
from poolwright.pages.view import ClusterView
from poolwright.plan.slots import Slot
from poolwright.receipts.document import DeviceKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Who has what."""

    columns: SlotColumns
    units: Mapping[DeviceKey, int]  # by device the number of the unit that has it first
    slots: Mapping[DeviceKey, int]  # by device that of the slot
    notes: tuple[str, ...]  # why slots have no devices


def build_slots(view: ClusterView, hardware: Hardware, units: Sequence[FleetUnit], first: int) -> Given:
    """The slots of a cluster.

    units: of the cluster, in the order of its verdicts.
    first: number of the first of them on its side.
    """
    workloads = view.answer.demand.workloads
    owners = {one.owner: number for number, one in enumerate(workloads) if one.owner is not None}
    rows, notes = view.packed.slots, dict[str, int]()
    of_slot = [owners[_find_owner(one)] for one in rows]
    has: dict[DeviceKey, int] = {key: first + at for key, at in view.packed.others.items()}
    slots: dict[DeviceKey, int] = {}
    for number, (slot, at) in enumerate(zip(rows, of_slot, strict=True)):
        for one in slot.devices:
            has.setdefault((one.driver, one.pool, one.device), first + at)
            slots.setdefault((one.driver, one.pool, one.device), number)
    claims = [{one.name: number for number, one in enumerate(unit.lineage.claims)} for unit in units]
    return Given(
        columns=SlotColumns(
            receipt=tuple(one.id for one in rows),
            unit=tuple(first + at for at in of_slot),
            ordinal=tuple(one.ordinal for one in rows),
            pod=tuple(one.pod for one in rows),
            claim=tuple(claims[at].get(one.pod_claim, NONE) for one, at in zip(rows, of_slot, strict=True)),
            node=tuple(hardware.find_node(one.node) for one in rows),
            devices=tuple(
                tuple(hardware.numbers[each.driver, each.pool, each.device] for each in one.devices) for one in rows
            ),
            note=tuple(_number(notes, "; ".join(one.reasons)) for one in rows),
        ),
        units=has,
        slots=slots,
        notes=tuple(notes),
    )


def _find_owner(slot: Slot) -> tuple[str, str, str]:
    kind, _, name = slot.workload.partition("/")
    return kind, slot.namespace, name


def _number(known: dict[str, int], text: str) -> int:
    return known.setdefault(text, len(known)) if text else NONE
