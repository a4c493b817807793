"""Slots as they are printed: lines for people, their part of the JSON, and its schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from poolwright.plan.slots import Slot
from poolwright.specs.schema_parts import (
    SchemaPart,
    build_count,
    build_flag,
    build_list,
    build_maybe,
    build_object,
    build_text,
)

_SHOWN: Final = 12  # of the digits of a slot's name


def list_slot_lines(slots: Sequence[Slot]) -> Iterator[str]:
    """A table of slots; none: no line."""
    if not slots:
        return
    without = sum(not one.node for one in slots)
    yield f"slots: {len(slots)}, {without} of them without devices"
    rows = [(_say_id(one), _say_claim(one), one.node or "-", _say_devices(one)) for one in slots]
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    for row in rows:
        columns = [f"{text:<{width}}" for text, width in zip(row, widths, strict=False)]
        yield f"  {'  '.join((*columns, row[3]))}".rstrip()


def _say_id(slot: Slot) -> str:
    return slot.id.rpartition(":")[2][:_SHOWN]


def _say_claim(slot: Slot) -> str:
    pod = f".{slot.pod}" if slot.pod else ""
    return f"{slot.namespace}/{slot.workload}#{slot.ordinal}{pod} {slot.pod_claim or '(extended resources)'}"


def _say_devices(slot: Slot) -> str:
    """The devices by request, planned ones in brackets; or why there is none."""
    if not slot.node:
        return f"none: {slot.reasons[0]}" if slot.reasons else "none"
    by_request: dict[str, list[str]] = {}
    for one in slot.devices:
        by_request.setdefault(one.request, []).append(one.device if one.exact else f"({one.device})")
    return "; ".join(f"{request}: {', '.join(devices)}" for request, devices in by_request.items())


def build_slots_json(slots: Sequence[Slot]) -> list[dict[str, object]]:
    """The part that `slots_schema` describes."""
    return [
        {
            "slot": one.id,
            "claimUID": None,
            "namespace": one.namespace,
            "workload": one.workload,
            "ordinal": one.ordinal,
            "pod": one.pod,
            "podClaim": one.pod_claim,
            "shared": one.shared,
            "node": one.node or None,
            "devices": [
                {
                    "request": device.request,
                    "driver": device.driver,
                    "pool": device.pool,
                    "device": device.device,
                    "identity": "exact" if device.exact else "planned",
                    "interchangeable": device.interchangeable,
                }
                for device in one.devices
            ],
            "reasons": list(one.reasons),
        }
        for one in slots
    ]


def slots_schema() -> SchemaPart:
    """The schema of a cluster's slots."""
    device: dict[str, SchemaPart] = {
        "request": build_text("Of the claim; `request/alternative` for a firstAvailable."),
        "driver": build_text("Its driver."),
        "pool": build_text("Its pool."),
        "device": build_text("Its name in the pool."),
        "identity": {
            "description": "`exact`: captured. `planned`: of a node that isn't there yet: its name is made up.",
            "enum": ["exact", "planned"],
        },
        "interchangeable": build_count(
            "Devices of its node that do as well by every clause of the claim, with itself."
        ),
    }
    slot: dict[str, SchemaPart] = {
        "slot": {
            **build_text(
                "SHA-256 of the canonical JSON of [cluster, namespace, workload, ordinal, podClaim], of pods after a "
                "replica's first one with pod behind them, of a DaemonSet's pods with the node that each is for. It "
                "stays while the claim's template changes."
            ),
            "pattern": "^slot:sha256:[0-9a-f]{64}$",
        },
        "claimUID": {"description": "There is no claim yet.", "type": "null"},
        "namespace": build_text("Of the workload."),
        "workload": build_text("Kind and name."),
        "ordinal": build_count("The replica, from 0."),
        "pod": build_count("Of the replica's pods, from 0."),
        "podClaim": build_text("What the pod calls its claim; empty: that of its extended resources."),
        "shared": build_flag("All replicas use the same claim, so its devices stand in the slot of each."),
        "node": build_maybe("string", "Where the pod goes; null: it has no devices."),
        "devices": build_list("In the order of the allocation.", build_object("A device.", device)),
        "reasons": build_list("Why the pod has no devices.", build_text("A sentence.")),
    }
    said = (
        "What was asked for with --slots, replica by replica at the peak. One packing and not a prediction: workloads "
        "in the order of this plan, replicas by number, each pod on the first node by name that can serve it."
    )
    return build_list(said, build_object("A claim that a replica will need.", slot))
