"""Changes that people can make to a cluster or a workload, as values, and a demand with one of them made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from poolwright.allocation.claim import Claim, ClaimRequest, Request
from poolwright.allocation.held import DeviceId
from poolwright.allocation.subject import Subject
from poolwright.catalog.inventory import ZONE_LABEL
from poolwright.plan.demand import Demand, Workload
from poolwright.plan.what_if.copies import add_devices, add_nodes

EditKind = Literal["node", "device", "zone", "class", "replicas"]
MAX_ALTERNATIVES: Final = 8  # of a request; resource/v1 FirstAvailableDeviceRequestMaxSize


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change. It adds hardware, or is about a workload that isn't named here."""

    kind: EditKind
    # Of a node: one that is there, and the new ones are like it. Of a device: its node, if it is that one's alone. Of a
    # zone or a class: the new one; an empty zone: any.
    name: str = ""
    device: DeviceId | None = None  # that is there, and the new ones are like it
    was: str = ""  # of a zone: the one that the pods select now
    named: tuple[str, ...] = ()  # of a class: requests get it that ask for these classes alone
    count: int = 1  # of nodes and devices: how many more; of replicas: how many fewer at the peak


def make_edit(demand: Demand, at: int, edit: Edit) -> Demand:
    """The demand with the change.

    at: index of the workload that it is about; hardware is everyone's.
    """
    if edit.kind == "node":
        return add_nodes(demand, edit.name, edit.count)
    if edit.device is not None:
        return add_devices(demand, edit.device, edit.count)
    changed = _change(demand.workloads[at], edit)
    return replace(demand, workloads=(*demand.workloads[:at], changed, *demand.workloads[at + 1 :]))


def find_zone(workload: Workload) -> str:
    """The zone that all pods of a workload select by its label; "": they don't, or are each bound to a node."""
    zones = {pod.node_selector.get(ZONE_LABEL, "") for pod in workload.pods}
    return zones.pop() if len(zones) == 1 and not workload.is_per_node else ""


def can_offer(workload: Workload, edit: Edit) -> bool:
    """Whether a class can be one more alternative of a workload's requests: some ask for those it is beside.

    Not so where one of them has it, has all the alternatives that there may be, or is for administration; nor where
    others use the claim too.
    """
    new = [claim for pod in workload.pods for claim in pod.claims if claim.allocation is None]
    entries = [entry for claim in new for entry in claim.requests if _is_meant(entry, edit)]
    ways = [one for entry in entries for one in _list_ways(entry)]
    return (
        bool(entries)
        and not workload.shared
        and all(len(entry.first_available) < MAX_ALTERNATIVES for entry in entries)
        and not any(edit.name in (one.class_name, one.name) or one.admin_access for one in ways)
    )


def _change(workload: Workload, edit: Edit) -> Workload:
    match edit.kind:
        case "replicas":
            return replace(workload, replicas=workload.replicas - edit.count)
        case "zone":
            return replace(workload, pods=tuple(_move(pod, edit.name) for pod in workload.pods))
        case _:
            return replace(workload, pods=tuple(_offer(pod, edit) for pod in workload.pods))


def _move(pod: Subject, zone: str) -> Subject:
    others = {key: value for key, value in pod.node_selector.items() if key != ZONE_LABEL}
    return replace(pod, node_selector={**others, ZONE_LABEL: zone} if zone else others)


def _offer(pod: Subject, edit: Edit) -> Subject:
    return replace(pod, claims=tuple(_offer_in(claim, edit) for claim in pod.claims))


def _offer_in(claim: Claim, edit: Edit) -> Claim:
    if claim.allocation is not None:
        return claim
    entries = tuple(_add_way(one, edit.name) if _is_meant(one, edit) else one for one in claim.requests)
    return replace(claim, requests=entries)


def _add_way(entry: ClaimRequest, name: str) -> ClaimRequest:
    """The request with the class after those it has, each called after its class, as a placement's alternatives are.

    The new one asks for as many devices by the same selectors as the last one.
    """
    ways = _list_ways(entry)
    if entry.exactly is not None:
        ways = (replace(entry.exactly, name=entry.exactly.class_name),)
    return replace(entry, exactly=None, first_available=(*ways, replace(ways[-1], name=name, class_name=name)))


def _is_meant(entry: ClaimRequest, edit: Edit) -> bool:
    return all(one.class_name in edit.named for one in _list_ways(entry))


def _list_ways(entry: ClaimRequest) -> tuple[Request, ...]:
    return entry.first_available if entry.exactly is None else (entry.exactly,)
