"""Observed receipts: the claims of a running cluster that have devices, from its objects and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from poolwright.allocation.claim import ALL, AllocatedDevice, Claim
from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.features import Features
from poolwright.allocation.node_selector import find_named_node
from poolwright.allocation.pod import Pod
from poolwright.allocation.selectors import SelectorCache
from poolwright.allocation.subject import Subject
from poolwright.catalog.resource_slice import Device
from poolwright.plan.candidates import find_request
from poolwright.plan.report.words import count_of
from poolwright.receipts.document import (
    KIND,
    NOT_PRICED,
    DeviceRow,
    Lineage,
    Model,
    Pin,
    PodUser,
    Receipt,
    Receipts,
    RequestRow,
    Why,
)
from poolwright.receipts.grounds import GroundsBook
from poolwright.receipts.identity import PublishedDevices, list_tolerated
from poolwright.receipts.losses import LossBook, judge_book
from poolwright.receipts.observed_pods import (
    ObservedPods,
    build_observed_demand,
    find_envelope,
    find_pod_claim,
    find_release,
    find_unit,
    find_workload,
)
from poolwright.receipts.planned import TIE, build_choice
from poolwright.receipts.served_by import Instead
from poolwright.receipts.topology import list_topology
from poolwright.receipts.units import Unit
from poolwright.specs.model import API_VERSION

MAX_NAMED: Final = 8  # nodes that could have served a claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What the project says of a cluster, where there is one; and what nodes say of preparation."""

    units: Mapping[str, Unit] = field(default_factory=dict)  # as `list_units` finds them
    prices: Mapping[tuple[str, str], str] = field(
        default_factory=dict
    )  # by title of the workload and class, as `say_price` has them
    pins: Sequence[Pin] = ()
    losses: LossBook | None = None  # None: judged of what runs
    # By claim uid when its devices were prepared, and unprepared: RFC 3339; None: not observed.
    prepared: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)


def build_observed(
    objects: ClusterObjects,
    features: Features,
    *,
    cluster: str,
    captured_at: str | None = None,
    beside: Beside | None = None,
) -> Receipts:
    """A receipt for each claim that has devices, by namespace and name.

    objects: as the scheduler goes by them: as the API server stores them, every taint in its slice.
    Cost:    one attempt on each node for all pods that ask for the same, and one judgement for each sort of loss.
    """
    builder = _Builder(objects, features, cluster, beside or Beside())
    claims = sorted((placed.value for placed in objects.claims), key=lambda one: (one.namespace, one.name, one.uid))
    receipts = tuple(builder.build(claim) for claim in claims if claim.allocation is not None)
    given = {one.key for row in receipts for one in row.devices}
    devices = builder.devices
    return Receipts(
        api_version=API_VERSION,
        kind=KIND,
        cluster=cluster,
        statement="observed",
        captured_at=captured_at,
        kubernetes=features.minor,
        order=None,
        tie=TIE,
        pins=tuple(sorted(builder.beside.pins, key=lambda pin: pin.component)),
        loss_classes=builder.losses.classes,
        grounds=builder.grounds.list(),
        receipts=receipts,
        unassigned=tuple(devices.build_identity(key) for key in sorted(devices.by_key) if key not in given),
    )


class _Builder:
    """Everything that receipts of one cluster share."""

    def __init__(self, objects: ClusterObjects, features: Features, cluster: str, beside: Beside) -> None:
        self.beside = beside
        self.devices = PublishedDevices(placed.value for placed in objects.slices)
        classes = {placed.value.name: placed.value for placed in objects.classes}
        self.grounds = GroundsBook(classes)
        self._classes = classes
        self._selectors = SelectorCache(features)
        self._features = features
        self._cluster = cluster
        self._pods = ObservedPods(objects, features)
        self._instead = Instead(objects, features)
        self.losses = beside.losses or LossBook()
        # What asks by a class that wasn't captured would look like what fits nowhere.
        if beside.losses is None and not any(self._instead.list_lacking(one.value) for one in objects.claims):
            self.losses = judge_book(build_observed_demand(objects, features))

    def build(self, claim: Claim) -> Receipt:
        """The receipt of an allocated claim."""
        pod = self._pods.find_user(claim)
        users = self._pods.list_users(claim)
        subject = None if pod is None else self._pods.build_subject(pod)
        title = _find_title(claim, pod)
        unit = self.beside.units.get(title or "")
        node = self._find_node(claim, pod)
        zone = self._instead.nodes[node].zone if node in self._instead.nodes else None
        results = () if claim.allocation is None else claim.allocation.devices
        receipt = f"claim:{claim.uid or f'{claim.namespace}/{claim.name}'}"
        release = None if pod is None else find_release(pod)
        rows = tuple(self._build_device(claim, one, node, receipt, release) for one in results)
        prepared, unprepared = self.beside.prepared.get(claim.uid, (None, None))
        image = None if unit is None else f"image/{unit.image}"
        return Receipt(
            id=receipt,
            slot=None,
            claim_uid=claim.uid or None,
            claim=claim.name,
            cluster=self._cluster,
            namespace=claim.namespace,
            workload=None if pod is None else find_workload(pod),
            ordinal=None,
            pod=None,
            pod_claim=None if pod is None else find_pod_claim(pod, claim),
            users=tuple(PodUser(uid=uid, name=None if one is None else one.name) for uid, one in users),
            is_shared=len(users) > 1,
            must_serve=None,
            unit=None if pod is None else find_unit(pod),
            release=release,
            envelope=None if pod is None else find_envelope(pod),
            model=None if unit is None else Model(name=unit.model_name, digest=unit.model_digest),
            node=node,
            zone=zone,
            requests=tuple(self._list_requests(claim, title, subject, node, {one.request for one in rows})),
            devices=rows,
            topology=list_topology(claim, [(one.request, self._find(one)) for one in results], self._features),
            prepared_at=prepared,
            unprepared_at=unprepared,
            pins=(image,) if image in {pin.component for pin in self.beside.pins} and image is not None else (),
            why=Why(node=self._say_node(subject, node), served_by=self._list_serving(subject, node)),
            if_lost=self.losses.find([one.key for one in rows], node, zone),
            notes=tuple(self._list_notes(claim, rows, [uid for uid, one in users if one is None])),
        )

    def _find_node(self, claim: Claim, pod: Pod | None) -> str | None:
        """The node that the allocation is for, that its pod is on, or that alone reaches the devices."""
        if claim.allocation is None:
            return None
        found = find_named_node(claim.allocation.node_selector) or (pod.node_name if pod is not None else "")
        if found:
            return found
        keys = [(one.driver, one.pool, one.device) for one in claim.allocation.devices]
        there = [self.devices.by_key[key].slice.placement.node_name for key in keys if key in self.devices.by_key]
        return there[0] if there and len(set(there)) == 1 else None

    def _list_requests(
        self, claim: Claim, title: str | None, subject: Subject | None, node: str | None, taken: set[str]
    ) -> Iterator[RequestRow]:
        for name in sorted(taken, key=lambda one: _find_order(claim, one)):
            request = find_request(claim, name)
            yield RequestRow(
                request=name,
                class_name=None if request is None else request.class_name,
                count=None if request is None or request.mode == ALL else request.count,
                price=NOT_PRICED
                if request is None
                else self.beside.prices.get((title or "", request.class_name), NOT_PRICED),
                candidates=build_choice(self._instead.count(claim, name, subject, node)),
            )

    def _build_device(
        self, claim: Claim, one: AllocatedDevice, node: str | None, receipt: str, release: str | None
    ) -> DeviceRow:
        key = (one.driver, one.pool, one.device)
        device, request = self._find(one), find_request(claim, one.request)
        identity = self.devices.build_identity(key)
        return DeviceRow(
            **{name: getattr(identity, name) for name in identity.__struct_fields__},
            request=one.request,
            mode="admin" if one.admin_access else self.devices.find_mode(key, is_share=one.share_id is not None),
            exact=device is not None,
            is_published=device is not None,
            interchangeable=self._instead.count_alike(claim, one.request, key, node),
            share_id=one.share_id,
            taints=list_tolerated(device, () if request is None else request.tolerations, one.tolerations),
            grounds=None if request is None or device is None else self.grounds.find(request, one.request, device),
            lineage=Lineage(
                claim_name=claim.name,
                claim_uid=claim.uid or None,
                request=one.request,
                driver=one.driver,
                pool=one.pool,
                generation=identity.generation,
                device=one.device,
                slice=identity.slice,
                hw_id=identity.uuid,
                hw_parent=identity.parent,
                profile=identity.profile,
                numa_node=identity.numa_node,
                bus_id=identity.pci_bus_id,
                cdi_device=None,
                receipt=receipt,
                release=release,
            ),
        )

    def _find(self, one: AllocatedDevice) -> Device | None:
        found = self.devices.by_key.get((one.driver, one.pool, one.device))
        return None if found is None else found.device

    def _list_serving(self, subject: Subject | None, node: str | None) -> tuple[str, ...]:
        if subject is None or any(self._instead.list_lacking(claim) for claim in subject.claims):
            return ()
        return self._instead.list_serving(subject, node)[:MAX_NAMED]

    def _say_node(self, subject: Subject | None, node: str | None) -> str:
        if node is None:
            return "its devices aren't of one node, and its pod wasn't captured"
        if subject is None:
            return f"{node} was chosen by the scheduler; which others could have served it isn't known without its pod"
        lacking = sorted({name for claim in subject.claims for name in self._instead.list_lacking(claim)})
        if lacking:
            start = f"{node} was chosen by the scheduler; which others could have served it isn't known"
            return f"{start}: device class {', '.join(lacking)} wasn't captured"
        serving = self._instead.list_serving(subject, node)
        others = [name for name in serving if name != node]
        if not others:
            return f"{node} was chosen by the scheduler; at the capture no other node could have served the pod"
        more = f" and {len(serving) - MAX_NAMED} more" if len(serving) > MAX_NAMED else ""
        return (
            f"{node} was chosen by the scheduler; at the capture {count_of(len(serving), 'node')} could have served "
            f"the pod: {', '.join(serving[:MAX_NAMED])}{more}"
        )

    def _list_notes(self, claim: Claim, rows: Iterable[DeviceRow], unknown: Sequence[str]) -> Iterator[str]:
        for one in rows:
            if not one.is_published:
                yield f"no slice publishes {one.title}"
                continue
            if one.uuid is None and one.mode != "full":
                of = f"; it is of {one.parent}" if one.parent else ""
                yield f"the driver publishes no uuid of {one.title}{of}"
            yield from self._list_failing(claim, one)
            for taint in one.taints:
                if taint.toleration is None:
                    yield f"{one.title} has the taint {taint.taint}, which nothing tolerates"
                elif not taint.is_recorded:
                    yield (
                        f"the allocation of {one.title} lacks the toleration of {taint.taint}: evictions go by the "
                        "allocation, not by the request"
                    )
        for uid in unknown:
            yield f"it is reserved for the pod with uid {uid}, which wasn't captured"

    def _list_failing(self, claim: Claim, one: DeviceRow) -> Iterator[str]:
        request, device = find_request(claim, one.request), self.devices.by_key[one.key].device
        device_class = None if request is None else self._classes.get(request.class_name)
        if request is None:
            yield f"its request {one.request} isn't in the claim"
        elif device_class is None:
            yield f"device class {request.class_name} wasn't captured, so what made {one.title} match isn't known"
        elif not all(
            self._selectors.matches(text or "", device) is True
            for text in (*device_class.selectors, *request.selectors)
        ):
            yield f"{one.title} doesn't meet all selectors as it is published now"


def _find_title(claim: Claim, pod: Pod | None) -> str | None:
    """Namespace and name of the workload."""
    workload = None if pod is None else find_workload(pod)
    return None if workload is None else f"{claim.namespace}/{workload.partition('/')[2]}"


def _find_order(claim: Claim, name: str) -> tuple[int, str]:
    base = name.partition("/")[0]
    return next((at for at, entry in enumerate(claim.requests) if entry.name == base), len(claim.requests)), name
