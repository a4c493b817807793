"""Receipts of one cluster as data: which claim has, or will have, which devices, why these, and what if they go.

Planned receipts are slots: claims that replicas will need, with one packing of devices. Observed ones are claims that
have devices. What isn't known is null. `parse_receipts` reads a document back strictly: anybody may have made it.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from poolwright.plan.verdict import Word
from poolwright.plan.what_if.alike import Thing
from poolwright.specs.json_document import Part, build_schema, render_document
from poolwright.specs.model import API_VERSION, ApiVersion

KIND: Final = "Receipts"
MAX_RECEIPTS_BYTES: Final = 64 << 20
NOT_PRICED: Final = "not priced"
_MAX_SAID: Final = 200

Statement = Literal["planned", "observed"]
Mode = Literal["full", "mig", "share", "admin"]  # the last by adminAccess, beside who has it
TieKind = Literal["matchAttribute", "distinctAttribute"]
DeviceKey = tuple[str, str, str]  # driver, pool, device


class Pin(Part, frozen=True, kw_only=True):
    """A component of the cluster at one version."""

    component: Annotated[
        str, Meta(description="`kubernetes`, `gpuDriver`, `draDriver/NAME`, `chart/NAME`, `image/NAME`, and the like.")
    ]
    version: Annotated[str, Meta(description="The exact version; of an image its whole reference.")]
    digest: Annotated[str | None, Meta(description="Only if a registry or the stack gave it.")]


class Answer(Part, frozen=True, kw_only=True):
    """A verdict in short."""

    verdict: Annotated[Word, Meta(description="The word.")]
    counts: Annotated[str, Meta(description="The word in numbers: `3-6/6`.")]


class LossChange(Part, frozen=True, kw_only=True):
    """A workload whose verdict a loss changes."""

    workload: Annotated[str, Meta(description="Namespace and name.")]
    before: Annotated[Answer, Meta(description="With everything there.")]
    after: Annotated[Answer, Meta(description="Without what is lost.")]
    sentence: Annotated[str, Meta(description="What that means for its replicas.")]


class LossClass(Part, frozen=True, kw_only=True):
    """Things whose loss comes to the same: any one of them, not all of them."""

    id: Annotated[str, Meta(description="What receipts refer to.")]
    thing: Annotated[Thing, Meta(description="What is lost; a device goes with all its partitions.")]
    members: Annotated[tuple[str, ...], Meta(description="Sorted: DRIVER/POOL/DEVICE, or the node's or zone's name.")]
    lost: Annotated[int, Meta(description="Devices that are lost with each.", ge=0)]
    unsatisfied: Annotated[tuple[str, ...], Meta(description="Workloads that can't have all their replicas then.")]
    changes: Annotated[tuple[LossChange, ...], Meta(description="Workloads whose word or counts differ.")]
    shortfall: Annotated[str, Meta(description="Replicas of all workloads that stay without devices: `2`, `0-2`.")]
    sentence: Annotated[str, Meta(description="All of it in words.")]


class Clause(Part, frozen=True, kw_only=True):
    """A condition that devices had to meet."""

    owner: Annotated[str, Meta(description="`class NAME` or `request NAME`: whose selector it stands in.")]
    clause: Annotated[str, Meta(description="CEL: one operand of the selector's outermost &&.")]
    values: Annotated[
        tuple[str, ...], Meta(description="What it reads of the device, as its slice has it: `DOMAIN/NAME = VALUE`.")
    ]


class Grounds(Part, frozen=True, kw_only=True):
    """What made selectors true, for every device that has the same values."""

    id: Annotated[str, Meta(description="What devices refer to.")]
    clauses: Annotated[tuple[Clause, ...], Meta(description="Of class and request, in the order they are looked at.")]


class Filtered(Part, frozen=True, kw_only=True):
    """Devices, and how many of them each of the allocator's filters leaves, one after the other."""

    devices: Annotated[int, Meta(description="All that pods may get there.", ge=0)]
    selected: Annotated[int, Meta(description="By the selectors of class and request, with the capacity asked.", ge=0)]
    free: Annotated[int, Meta(description="Of these: nobody else has them, or a share is left.", ge=0)]
    counted: Annotated[int, Meta(description="Of these: their counters have enough left.", ge=0)]
    left: Annotated[int, Meta(description="Of these: every taint on them is tolerated.", ge=0)]


class Choice(Part, frozen=True, kw_only=True):
    """What a request could choose from when its pod's turn came; of an observed one at the capture."""

    on_node: Annotated[Filtered, Meta(description="On the node that the pod is on.")]
    in_cluster: Annotated[Filtered, Meta(description="On all nodes that are open to the pod.")]
    nodes: Annotated[int, Meta(description="Nodes that are open to the pod.", ge=0)]


class RequestRow(Part, frozen=True, kw_only=True):
    """A request of the claim, or the alternative of it that was served."""

    request: Annotated[str, Meta(description="Its name; `request/alternative` for a firstAvailable.")]
    class_name: Annotated[str | None, Meta(description="Its DeviceClass.")]
    count: Annotated[int | None, Meta(description="Devices that it asks for; null: all that match.")]
    price: Annotated[str, Meta(description="What the admission says of the class, or `not priced`.")]
    candidates: Annotated[Choice | None, Meta(description="Null: not known.")]


class Tolerated(Part, frozen=True, kw_only=True):
    """A taint of a device, and what lets the claim have it all the same."""

    taint: Annotated[str, Meta(description="key=value:effect.")]
    toleration: Annotated[str | None, Meta(description="That covers it; null: none does.")]
    seconds: Annotated[int | None, Meta(description="tolerationSeconds; null: for ever, or no toleration.")]
    is_recorded: Annotated[
        bool | None, Meta(description="Whether the allocation holds the toleration, by which evictions go.")
    ]


class Lineage(Part, frozen=True, kw_only=True):
    """The names by which telemetry follows a request to its device, once that is known."""

    claim_name: str | None = msgspec.field(name="dra.claim.name")
    claim_uid: str | None = msgspec.field(name="dra.claim.uid")
    request: str | None = msgspec.field(name="dra.request")
    driver: str | None = msgspec.field(name="dra.driver")
    pool: str | None = msgspec.field(name="dra.pool")
    generation: int | None = msgspec.field(name="dra.pool.generation")
    device: str | None = msgspec.field(name="dra.device")
    slice: str | None = msgspec.field(name="dra.slice")
    hw_id: str | None = msgspec.field(name="hw.id")
    hw_parent: str | None = msgspec.field(name="hw.parent")
    profile: str | None = msgspec.field(name="dra.mig.profile")
    numa_node: str | None = msgspec.field(name="dra.numa.node")
    bus_id: str | None = msgspec.field(name="dra.pci.bus_id")
    cdi_device: str | None = msgspec.field(name="dra.cdi.device")
    receipt: str | None = msgspec.field(name="poolwright.receipt")
    release: str | None = msgspec.field(name="poolwright.release")


class Identity(Part, frozen=True, kw_only=True):
    """A device as its slice has it."""

    driver: Annotated[str, Meta(description="Its driver.")]
    pool: Annotated[str, Meta(description="Its pool.")]
    device: Annotated[str, Meta(description="Its name in the pool: another card may have it after a restart.")]
    slice: Annotated[str | None, Meta(description="The ResourceSlice; null: none publishes it, or it is planned.")]
    generation: Annotated[int | None, Meta(description="The pool's generation then; null: not captured.")]
    uuid: Annotated[str | None, Meta(description="As published; null: it isn't. Never made up.")]
    pci_bus_id: Annotated[str | None, Meta(description="As published.")] = msgspec.field(name="pciBusID")
    numa_node: Annotated[str | None, Meta(description="As published.")]
    profile: Annotated[str | None, Meta(description="Of a partition.")]
    parent: Annotated[str | None, Meta(description="The uuid of the device that a partition is of.")]

    @property
    def key(self) -> DeviceKey:
        """What it goes by in its cluster."""
        return self.driver, self.pool, self.device

    @property
    def title(self) -> str:
        """`DRIVER/POOL/DEVICE`."""
        return "/".join(self.key)


class DeviceRow(Identity, frozen=True, kw_only=True):
    """A device of a claim."""

    request: Annotated[str, Meta(description="That it is given for; `request/alternative` for a firstAvailable.")]
    mode: Annotated[
        Mode, Meta(description="A whole device, a hardware partition or a share of one, or access beside who has it.")
    ]
    exact: Annotated[bool, Meta(description="Captured; else of a planned node: then its name is made up.")]
    is_published: Annotated[bool, Meta(description="Whether some slice has it; a planned one counts.")]
    interchangeable: Annotated[
        int | None,
        Meta(description="Devices of its node that do as well by every clause of the claim, with itself."),
    ]
    share_id: Annotated[str | None, Meta(description="Of a share.")] = msgspec.field(name="shareID")
    taints: Annotated[tuple[Tolerated, ...], Meta(description="That keep pods away which don't tolerate them.")]
    grounds: Annotated[str | None, Meta(description="What made it match; null: not known.")]
    lineage: Annotated[Lineage | None, Meta(description="Of an observed one; null: planned.")]


class Topology(Part, frozen=True, kw_only=True):
    """What devices of a claim must have in common, or must not."""

    kind: Annotated[TieKind, Meta(description="Which of the two.")]
    attribute: Annotated[str, Meta(description="Fully qualified.")]
    requests: Annotated[tuple[str, ...], Meta(description="That it ties; none: all of the claim.")]
    values: Annotated[tuple[str | None, ...], Meta(description="Of the devices that it ties, in the row's order.")]
    is_met: Annotated[bool | None, Meta(description="By these values; null: some aren't known.")]


class Model(Part, frozen=True, kw_only=True):
    """A model that is served."""

    name: Annotated[str, Meta(description="What clients ask for.")]
    digest: Annotated[str, Meta(description="Of its weights.")]


class PodUser(Part, frozen=True, kw_only=True):
    """A pod that a claim is reserved for."""

    uid: Annotated[str, Meta(description="Its uid.")]
    name: Annotated[str | None, Meta(description="Null: it wasn't captured.")]


class Why(Part, frozen=True, kw_only=True):
    """Why this node; why these devices stands in their grounds, in the counts of each request and in the tie rule."""

    node: Annotated[str, Meta(description="Why this node.")]
    served_by: Annotated[tuple[str, ...], Meta(description="Of an observed one: nodes that could have served it.")]


class IfLost(Part, frozen=True, kw_only=True):
    """The loss classes of what a claim stands on."""

    devices: Annotated[tuple[str, ...], Meta(description="Of each of its devices, each class once.")]
    node: Annotated[str | None, Meta(description="Of its node.")]
    zone: Annotated[str | None, Meta(description="Of its zone.")]


class Receipt(Part, frozen=True, kw_only=True):
    """One claim: planned, or as it was observed."""

    id: Annotated[str, Meta(description="`slot:sha256:HEX`, or `claim:UID`.")]
    slot: Annotated[str | None, Meta(description="Of a planned one, as in a plan; null: observed.")]
    claim_uid: Annotated[str | None, Meta(description="Null: planned, or not captured.")] = msgspec.field(
        name="claimUID"
    )
    claim: Annotated[str | None, Meta(description="The ResourceClaim's name; null: there is none yet.")]
    cluster: Annotated[str, Meta(description="The cluster.")]
    namespace: Annotated[str, Meta(description="Of the claim.")]
    workload: Annotated[str | None, Meta(description="Kind and name; null: not known.")]
    ordinal: Annotated[int | None, Meta(description="The replica, from 0; null: observed.")]
    pod: Annotated[int | None, Meta(description="Of the replica's pods, from 0; null: observed.")]
    pod_claim: Annotated[str | None, Meta(description="What the pod calls it; empty: for extended resources.")]
    users: Annotated[tuple[PodUser, ...], Meta(description="Of an observed one: the pods that it is reserved for.")]
    is_shared: Annotated[bool, Meta(description="Several replicas use the same claim.")]
    must_serve: Annotated[bool | None, Meta(description="It is of a replica that always serves; null: observed.")]
    unit: Annotated[str | None, Meta(description="The placement; null: not known.")]
    release: Annotated[str | None, Meta(description="That it is a part of, or that the pod's labels name.")]
    envelope: Annotated[str | None, Meta(description="name@version.")]
    model: Annotated[Model | None, Meta(description="Null: not known.")]
    node: Annotated[str | None, Meta(description="Null: it has no devices, or several nodes reach them.")]
    zone: Annotated[str | None, Meta(description="Of the node; null: it has no zone label.")]
    requests: Annotated[tuple[RequestRow, ...], Meta(description="Of the claim, in its order.")]
    devices: Annotated[tuple[DeviceRow, ...], Meta(description="In the order of the allocation.")]
    topology: Annotated[tuple[Topology, ...], Meta(description="The claim's constraints.")]
    prepared_at: Annotated[str | None, Meta(description="RFC 3339; null: not observed.")]
    unprepared_at: Annotated[str | None, Meta(description="RFC 3339; null: not observed.")]
    pins: Annotated[tuple[str, ...], Meta(description="Components that it rests on beside the cluster's own.")]
    why: Annotated[Why | None, Meta(description="Null: it has no devices.")]
    if_lost: Annotated[IfLost | None, Meta(description="Null: it has no devices, or that wasn't judged.")]
    notes: Annotated[tuple[str, ...], Meta(description="Why it has no devices; what is wrong or not known; sentences.")]


class Receipts(Part, frozen=True, kw_only=True):
    """All receipts of a cluster, planned or observed."""

    api_version: Annotated[ApiVersion, Meta(description="Version of this format.")]
    kind: Annotated[Literal["Receipts"], Meta(description="What this document is.")]
    cluster: Annotated[str, Meta(description="The cluster.")]
    statement: Annotated[
        Statement, Meta(description="planned: slots, one packing. observed: what claims have; about no packet's bytes.")
    ]
    captured_at: Annotated[str | None, Meta(description="Of what is observed, RFC 3339; null: planned, or not said.")]
    kubernetes: Annotated[str, Meta(description="The minor version whose allocator is gone by.")]
    order: Annotated[str | None, Meta(description="How planned devices were given; null: observed.")]
    tie: Annotated[str, Meta(description="Which of the devices that are left on a node the allocator takes.")]
    pins: Annotated[
        tuple[Pin, ...], Meta(description="What the cluster runs, by component; all count that no receipt names too.")
    ]
    loss_classes: Annotated[tuple[LossClass, ...], Meta(description="What a loss changes; not judged where none are.")]
    grounds: Annotated[tuple[Grounds, ...], Meta(description="What made devices match.")]
    receipts: Annotated[tuple[Receipt, ...], Meta(description="By workload and replica, or by namespace and claim.")]
    unassigned: Annotated[
        tuple[Identity, ...], Meta(description="Devices that are published or planned, and that no claim here has.")
    ]


class ReceiptsError(Exception):
    """A document that isn't receipts of this version; the text is a sentence."""


def render_receipts(receipts: Receipts) -> bytes:
    """The document, indented UTF-8: equal receipts are equal bytes."""
    return render_document(receipts)


def parse_receipts(data: bytes) -> Receipts:
    """A document that anybody may have made.

    Raises: ReceiptsError if it is none: too large, no JSON, another kind, an unknown, missing or repeated property, a
            wrong type, two receipts of one id, or a reference to what isn't there.
    """
    if len(data) > MAX_RECEIPTS_BYTES:
        raise ReceiptsError(f"the receipts have {len(data):,} bytes, and {MAX_RECEIPTS_BYTES:,} is the most")
    try:
        found = msgspec.json.decode(data, type=Receipts)
        json.loads(data, object_pairs_hook=_refuse_repeated)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise ReceiptsError(f"it is no {KIND} of {API_VERSION}: {_shorten(str(error))}") from None
    _check_references(found)
    return found


def _refuse_repeated(pairs: list[tuple[str, object]]) -> None:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise ValueError(f"a part of it says {name} twice")
        seen.add(name)


def _check_references(found: Receipts) -> None:
    grounds, losses = {one.id for one in found.grounds}, {one.id for one in found.loss_classes}
    pins, seen = {one.component for one in found.pins}, set[str]()
    for row in found.receipts:
        if row.id in seen:
            raise ReceiptsError(f"two of its receipts are called {_shorten(row.id)}")
        seen.add(row.id)
        lost = [] if row.if_lost is None else [*row.if_lost.devices, row.if_lost.node, row.if_lost.zone]
        for kind, known, names in (
            ("grounds", grounds, [one.grounds for one in row.devices]),
            ("loss class", losses, lost),
            ("pin", pins, row.pins),
        ):
            for name in names:
                if name is not None and name not in known:
                    raise ReceiptsError(f"{_shorten(row.id)} names the {kind} {_shorten(name)}, which isn't there")


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_SAID else f"{text[:_MAX_SAID]}..."  # a name in it may be as long as the document


def receipts_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the document. Every property is always present."""
    return build_schema(Receipts, KIND)
