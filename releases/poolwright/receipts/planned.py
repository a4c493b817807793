"""Planned receipts: the slots of a cluster with their devices, and why these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from poolwright.admission.report.words import WORDS, say_gib
from poolwright.allocation.claim import ALL, AllocatedDevice, Claim
from poolwright.catalog.resource_slice import Device
from poolwright.plan.candidates import Candidates, Funnel, find_request
from poolwright.plan.demand import Demand, Workload
from poolwright.plan.pricing.priced import PricedClass
from poolwright.plan.report.words import count_of
from poolwright.plan.slots import ORDER, Packed, Slot, SlotDevice, pack_slots
from poolwright.plan.verdict import Judgement
from poolwright.receipts.document import (
    KIND,
    NOT_PRICED,
    Choice,
    DeviceRow,
    Filtered,
    Model,
    Pin,
    Receipt,
    Receipts,
    RequestRow,
    Why,
)
from poolwright.receipts.grounds import GroundsBook
from poolwright.receipts.identity import PublishedDevices, list_tolerated
from poolwright.receipts.losses import OF_CLAIMS, LossBook, judge_book
from poolwright.receipts.topology import list_topology
from poolwright.receipts.units import Unit
from poolwright.specs.model import API_VERSION

TIE: Final = (
    "of the devices that are left on the node the first that meet all requests and constraints together: pools by "
    "driver and name, those with binding conditions last, devices as their slices list them"
)


def build_planned(
    demand: Demand,
    judgement: Judgement,
    *,
    cluster: str,
    units: Mapping[str, Unit],
    prices: Iterable[PricedClass],
    pins: Sequence[Pin],
    release: str | None = None,
    losses: LossBook | None = None,
    packed: Packed | None = None,
) -> Receipts:
    """The receipts of every claim that a cluster's workloads will need at their peak.

    demand:    fresh; of the cluster as its specs have it.
    judgement: of the demand.
    units:     as `list_units` finds them.
    prices:    of the placements on their classes.
    pins:      as `list_pins` finds them.
    release:   that they are a part of.
    losses:    of the demand; None: they are judged here, and an empty book: they aren't judged.
    packed:    the demand's slots with their counts; None: they are packed here.
    Cost:      one plan that places each pod once, and one judgement for each sort of loss.
    """
    book = judge_book(demand, judgement) if losses is None else losses
    builder = _Builder(demand, book, cluster, units, prices, pins, release)
    slots = (packed or pack_slots(demand, cluster, counts=True)).slots
    receipts = tuple(builder.build(slot) for slot in slots)
    given = {one.key for row in receipts for one in row.devices}
    devices = builder.devices
    return Receipts(
        api_version=API_VERSION,
        kind=KIND,
        cluster=cluster,
        statement="planned",
        captured_at=None,
        kubernetes=demand.features.minor,
        order=ORDER,
        tie=TIE,
        pins=tuple(sorted(pins, key=lambda pin: pin.component)),
        loss_classes=tuple(one for one in builder.losses.classes if one.thing in OF_CLAIMS),
        grounds=builder.grounds.list(),
        receipts=receipts,
        unassigned=tuple(devices.build_identity(key) for key in sorted(devices.by_key) if key not in given),
    )


class _Builder:
    """Everything that receipts of one cluster share."""

    def __init__(
        self,
        demand: Demand,
        losses: LossBook,
        cluster: str,
        units: Mapping[str, Unit],
        prices: Iterable[PricedClass],
        pins: Sequence[Pin],
        release: str | None,
    ) -> None:
        self.losses = losses
        self._release = release
        self.devices = PublishedDevices(demand.slices)
        self.grounds = GroundsBook(demand.classes)
        self._features = demand.features
        self._cluster = cluster
        self._units = units
        self._prices = {(one.workload, one.class_name): say_price(one) for one in prices}
        self._pins = {pin.component for pin in pins}
        self._zones = {node.name: node.zone for node in demand.nodes}
        self._workloads = {one.owner: one for one in demand.workloads if one.owner is not None}

    def build(self, slot: Slot) -> Receipt:
        """The receipt of a slot."""
        kind, _, name = slot.workload.partition("/")
        workload = self._workloads[kind, slot.namespace, name]
        claim = _find_claim(workload, slot)
        unit = self._units.get(workload.title)
        node = slot.node or None
        zone = None if node is None else self._zones.get(node)
        rows = tuple(self._build_device(claim, one) for one in slot.devices)
        return Receipt(
            id=slot.id,
            slot=slot.id,
            claim_uid=None,
            claim=None,
            cluster=self._cluster,
            namespace=slot.namespace,
            workload=slot.workload,
            ordinal=slot.ordinal,
            pod=slot.pod,
            pod_claim=slot.pod_claim,
            users=(),
            is_shared=slot.shared,
            must_serve=slot.ordinal < workload.minimum,
            unit=None if unit is None else unit.name,
            release=self._release,
            envelope=None if unit is None else unit.envelope,
            model=None if unit is None else Model(name=unit.model_name, digest=unit.model_digest),
            node=node,
            zone=zone,
            requests=self._list_requests(workload, claim, slot),
            devices=rows,
            topology=list_topology(claim, [(one.request, self._find(one)) for one in slot.devices], self._features),
            prepared_at=None,
            unprepared_at=None,
            pins=() if unit is None or f"image/{unit.image}" not in self._pins else (f"image/{unit.image}",),
            why=None if node is None else Why(node=_say_node(slot), served_by=()),
            if_lost=None if node is None else self.losses.find([one.key for one in rows], node, zone),
            notes=slot.reasons,
        )

    def _list_requests(self, workload: Workload, claim: Claim, slot: Slot) -> tuple[RequestRow, ...]:
        """Those that are served, as they are; of a claim without devices all that it might be served by."""
        taken = {one.request.partition("/")[0]: one.request for one in slot.devices}
        counted = {one.request: one for one in slot.candidates}
        found = []
        for entry in claim.requests:
            names = [taken[entry.name]] if entry.name in taken else [entry.name]
            if entry.name not in taken and entry.first_available:
                names = [f"{entry.name}/{one.name}" for one in entry.first_available]
            for name in names:
                request = find_request(claim, name)
                if request is not None:
                    price = self._prices.get((workload.title, request.class_name), NOT_PRICED)
                    found.append(
                        RequestRow(
                            request=name,
                            class_name=request.class_name,
                            count=None if request.mode == ALL else request.count,
                            price=price,
                            candidates=build_choice(counted.get(name)),
                        )
                    )
        return tuple(found)

    def _build_device(self, claim: Claim, one: SlotDevice) -> DeviceRow:
        key = (one.driver, one.pool, one.device)
        device, request = self._find(one), find_request(claim, one.request)
        identity = self.devices.build_identity(key)
        is_share = device is not None and device.allow_multiple_allocations and self._features.consumable_capacity
        is_admin = request is not None and bool(request.admin_access)
        return DeviceRow(
            **{name: getattr(identity, name) for name in identity.__struct_fields__},
            request=one.request,
            mode="admin" if is_admin else self.devices.find_mode(key, is_share=is_share),
            exact=one.exact,
            is_published=device is not None,
            interchangeable=one.interchangeable,
            share_id=None,
            taints=list_tolerated(device, () if request is None else request.tolerations, None),
            grounds=None if request is None or device is None else self.grounds.find(request, one.request, device),
            lineage=None,
        )

    def _find(self, one: SlotDevice | AllocatedDevice) -> Device | None:
        found = self.devices.by_key.get((one.driver, one.pool, one.device))
        return None if found is None else found.device


def _find_claim(workload: Workload, slot: Slot) -> Claim:
    pod = workload.pods[slot.pod]
    return pod.claims[pod.claim_names.index(slot.pod_claim)]


def _say_node(slot: Slot) -> str:
    before = max((one.before for one in slot.candidates), default=0)
    others = f", after {count_of(before, 'node')} that can't" if before else ""
    return f"{slot.node} is the first node by name that can serve the pod{others}"


def say_price(one: PricedClass) -> str:
    """`admitted: KV cache 24.0 GiB of 37.28 GiB`, or what stands against it."""
    if one.admission.word != "admitted":
        return f"{WORDS[one.admission.word]}: {one.reason}"
    price, need = one.admission.price, one.admission.kv_needed_bytes
    if price is None or need is None:
        return WORDS["admitted"]
    off = ", extrapolated" if price.is_extrapolated else ""
    return f"{WORDS['admitted']}: KV cache {say_gib(need)} of {say_gib(price.kv_budget_bytes)} on each device{off}"


def build_choice(found: Candidates | None) -> Choice | None:
    """What was counted, as the document has it."""
    if found is None:
        return None
    return Choice(on_node=build_filtered(found.on_node), in_cluster=build_filtered(found.in_cluster), nodes=found.nodes)


def build_filtered(one: Funnel) -> Filtered:
    """The same."""
    return Filtered(devices=one.devices, selected=one.selected, free=one.free, counted=one.counted, left=one.left)
