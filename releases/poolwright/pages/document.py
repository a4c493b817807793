"""`report.json`: everything that the page shows of a fleet, and nothing that has to be worked out again.

A fleet is drawn device by device, so devices and slots are columns: arrays of one length, with an index for whatever
repeats. An index of -1 says that there is none. What is lost together stands once, in a loss class that nodes, zones,
families and devices point to.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from poolwright.admission.admit import Word as AdmissionWord
from poolwright.changes.report import FindingRow, Report
from poolwright.packet.index import PacketWaiver
from poolwright.packet.ledger import FeatureState
from poolwright.plan.demand import Scenario
from poolwright.plan.verdict import Replays, Word
from poolwright.plan.what_if.alike import Thing
from poolwright.receipts.document import Mode, Model, Pin
from poolwright.specs.json_document import Part, build_schema
from poolwright.specs.model import API_VERSION, ApiVersion

KIND: Final = "FleetReport"
MAX_REPORT_BYTES: Final = 64 << 20
MODES: Final[tuple[Mode, ...]] = ("full", "mig", "share")
_MAX_SAID: Final = 200

Subject = Literal["release", "plan", "diff"]
UnitKind = Literal["placement", "reservation", "workload"]
Index = Annotated[int, Meta(ge=-1)]
Number = Annotated[int, Meta(ge=0)]
Column = tuple[Index, ...]


class Range(Part, frozen=True, kw_only=True):
    """A number that lies between two others; exact when they are equal."""

    least: Annotated[Number, Meta(description="At least.")]
    most: Annotated[Number, Meta(description="At most.")]


class FleetPlace(Part, frozen=True, kw_only=True):
    """A zone, or a family of hardware."""

    name: Annotated[str, Meta(description="Its name.")]
    loss_class: Annotated[Index, Meta(description="Of the cluster's loss classes; -1: not judged.")]


class FleetNode(Part, frozen=True, kw_only=True):
    """A node of a cluster."""

    name: Annotated[str, Meta(description="Its name.")]
    zone: Annotated[Index, Meta(description="Of the cluster's zones; -1: it has no zone label.")]
    loss_class: Annotated[Index, Meta(description="Of the cluster's loss classes; -1: not judged.")]
    is_planned: Annotated[bool, Meta(description="On order: names of its devices are made up.")]


class DeviceSource(Part, frozen=True, kw_only=True):
    """Where devices are published."""

    driver: Annotated[str, Meta(description="Their driver.")]
    pool: Annotated[str, Meta(description="Their pool.")]


class DeviceColumns(Part, frozen=True, kw_only=True):
    """Every device of every slice of a cluster, once: by node, source and name. Columns have one length."""

    name: Annotated[tuple[str, ...], Meta(description="In its pool.")]
    node: Annotated[Column, Meta(description="Of the cluster's nodes; -1: several nodes reach it, or none does.")]
    source: Annotated[Column, Meta(description="Of the cluster's sources.")]
    piece: Annotated[
        Column,
        Meta(description="Number of the piece of hardware: a GPU and its partitions have the same."),
    ]
    mode: Annotated[Column, Meta(description="0 full: a whole device, 1 mig: a partition, 2 share: shared by claims.")]
    profile: Annotated[Column, Meta(description="Of the cluster's profiles; -1: it is no partition.")]
    family: Annotated[Column, Meta(description="Of the cluster's families.")]
    unit: Annotated[Column, Meta(description="Of the side's units: the first that has it; -1: none has it itself.")]
    slot: Annotated[Column, Meta(description="Of the cluster's slots: the first that has it; -1: none, or reserved.")]
    loss_class: Annotated[
        Column, Meta(description="Of the cluster's loss classes, of its piece; -1: not judged, or nobody may get it.")
    ]


class SlotColumns(Part, frozen=True, kw_only=True):
    """Every claim of every replica at its peak, in the order of the receipts. Columns have one length."""

    receipt: Annotated[tuple[str, ...], Meta(description="Id of its receipt.")]
    unit: Annotated[Column, Meta(description="Of the side's units.")]
    ordinal: Annotated[tuple[Number, ...], Meta(description="The replica, from 0.")]
    pod: Annotated[tuple[Number, ...], Meta(description="Of the replica's pods, from 0.")]
    claim: Annotated[Column, Meta(description="Of the unit's lineage claims; -1: not known.")]
    node: Annotated[Column, Meta(description="Of the cluster's nodes; -1: it has no devices, or no single node.")]
    devices: Annotated[tuple[tuple[Number, ...], ...], Meta(description="Rows of the cluster's devices.")]
    note: Annotated[Column, Meta(description="Of the cluster's notes: why it has no devices; -1: none.")]


class FleetLossChange(Part, frozen=True, kw_only=True):
    """A unit whose verdict a loss changes."""

    unit: Annotated[Number, Meta(description="Of the side's units.")]
    verdict: Annotated[Word, Meta(description="The word without what is lost.")]
    counts: Annotated[str, Meta(description="That in numbers.")]
    sentence: Annotated[str, Meta(description="What it means for its replicas.")]


class FleetLoss(Part, frozen=True, kw_only=True):
    """Things whose loss comes to the same: any one of them, not all of them. Who they are, they say themselves."""

    id: Annotated[str, Meta(description="As in the receipts.")]
    thing: Annotated[Thing, Meta(description="What is lost; a device goes with all its partitions.")]
    members: Annotated[Number, Meta(description="How many things are in the class.")]
    lost: Annotated[Number, Meta(description="Devices that are lost with each.")]
    unsatisfied: Annotated[tuple[Number, ...], Meta(description="Units that can't have all their replicas then.")]
    changes: Annotated[tuple[FleetLossChange, ...], Meta(description="Units whose word or counts differ.")]
    shortfall: Annotated[str, Meta(description="Replicas of all units that stay without devices: `2`, `0-2`.")]
    sentence: Annotated[str, Meta(description="All of it in words.")]


class Assumptions(Part, frozen=True, kw_only=True):
    """What a cluster's verdicts rest on, in sentences."""

    modelled: Annotated[tuple[str, ...], Meta(description="What is looked at.")]
    discharged: Annotated[tuple[str, ...], Meta(description="What is proven not to matter.")]
    assumed: Annotated[tuple[str, ...], Meta(description="What is taken for granted.")]


class FleetCluster(Part, frozen=True, kw_only=True):
    """A cluster: its hardware, who has it, and what the loss of any of it does."""

    name: Annotated[str, Meta(description="Its name.")]
    kubernetes: Annotated[str, Meta(description="The minor version whose allocator is gone by.")]
    scenario: Annotated[Scenario, Meta(description="What is held at the start; fresh: nothing.")]
    demanded: Annotated[Number, Meta(description="Replicas at their peak.")]
    shortfall: Annotated[Range, Meta(description="Replicas that find no devices, whoever of them is left out.")]
    contests: Annotated[tuple[str, ...], Meta(description="Who competes for fewer devices, and what clears it.")]
    rollouts: Annotated[tuple[str, ...], Meta(description="What is known of updates, in lines.")]
    zones: Annotated[tuple[FleetPlace, ...], Meta(description="Sorted by name.")]
    families: Annotated[tuple[FleetPlace, ...], Meta(description="Hardware by product and type, sorted.")]
    nodes: Annotated[tuple[FleetNode, ...], Meta(description="By zone, then by name; those without a zone last.")]
    sources: Annotated[tuple[DeviceSource, ...], Meta(description="Sorted.")]
    profiles: Annotated[tuple[str, ...], Meta(description="Of partitions, sorted.")]
    devices: Annotated[DeviceColumns, Meta(description="Its devices.")]
    slots: Annotated[SlotColumns, Meta(description="Its claims, and one packing of devices: not a prediction.")]
    notes: Annotated[tuple[str, ...], Meta(description="Why slots have no devices.")]
    losses_judged: Annotated[bool, Meta(description="Whether losses were looked at; false: loss classes are none.")]
    loss_classes: Annotated[tuple[FleetLoss, ...], Meta(description="Devices, nodes, zones, families.")]
    assumptions: Annotated[Assumptions, Meta(description="What its verdicts rest on.")]


class WitnessStep(Part, frozen=True, kw_only=True):
    """Pods of one unit that get devices on one node, one after the other."""

    unit: Annotated[Number, Meta(description="Of the side's units.")]
    replicas: Annotated[str, Meta(description="Numbers of the replicas, from 0: `0-3, 5`.")]
    node: Annotated[str, Meta(description="Where; empty: bound to no node.")]
    devices: Annotated[Number, Meta(description="Devices that they get.")]


class UnitWitness(Part, frozen=True, kw_only=True):
    """An order that leaves replicas of a unit out: first these steps, then there is nothing left for them."""

    left_out: Annotated[Number, Meta(description="Replicas that stay without devices at the end.")]
    replays: Annotated[Replays, Meta(description="Whether the allocator does so with devices as they are published.")]
    sentence: Annotated[str, Meta(description="All of it in a line, long orders cut.")]
    steps: Annotated[tuple[WitnessStep, ...], Meta(description="In this order.")]
    steps_left: Annotated[Number, Meta(description="Further steps that aren't written here.")]


class PriceLine(Part, frozen=True, kw_only=True):
    """A part of a price."""

    name: Annotated[str, Meta(description="What takes the memory.")]
    bytes: Annotated[int, Meta(description="Of one device.")]
    source: Annotated[str, Meta(description="Where the figure comes from.")]


class LoadThresholds(Part, frozen=True, kw_only=True):
    """The largest load that is admitted, while the other load stays as it is declared."""

    concurrency: Annotated[int | None, Meta(description="Declared requests at once; null: none are declared.")]
    most_concurrency: Annotated[int | None, Meta(description="The most that is admitted; null: any number is.")]
    context_tokens: Annotated[int, Meta(description="Declared tokens of a request.")]
    most_context_tokens: Annotated[int, Meta(description="The most that is admitted, in steps of pricing.")]


class PriceBar(Part, frozen=True, kw_only=True):
    """What a unit costs on the smallest device of one of its classes, beside what there is."""

    class_name: Annotated[str, Meta(description="The device class.")]
    device: Annotated[str, Meta(description="Its smallest device.")]
    admission: Annotated[AdmissionWord, Meta(description="The word.")]
    reason: Annotated[str, Meta(description="What decides; empty: it is admitted.")]
    need_bytes: Annotated[int | None, Meta(description="KV cache of one rank for the declared load.")]
    budget_bytes: Annotated[int | None, Meta(description="KV cache that one rank has room for; negative: none.")]
    memory_bytes: Annotated[int | None, Meta(description="Of the device; null: it doesn't say.")]
    max_concurrency: Annotated[int | None, Meta(description="Requests of the declared length there is room for.")]
    is_extrapolated: Annotated[bool, Meta(description="Whether the price goes beyond what was measured.")]
    lines: Annotated[tuple[PriceLine, ...], Meta(description="The price by line; none: it isn't priced.")]
    thresholds: Annotated[LoadThresholds | None, Meta(description="Null: it isn't admitted.")]
    mends: Annotated[str, Meta(description="What would make it admitted, or helps; empty: nothing, or it is.")]
    other_classes: Annotated[tuple[str, ...], Meta(description="Of the pool, that it would be admitted on.")]


class RouterStep(Part, frozen=True, kw_only=True):
    """Where requests come in."""

    pool: Annotated[str, Meta(description="Router pool, as pods are labelled with.")]
    hostnames: Annotated[tuple[str, ...], Meta(description="Of its route; none: it is reached by its Service.")]
    route: Annotated[str | None, Meta(description="Kind and name of the route; null: there is none.")]
    backend: Annotated[str | None, Meta(description="Kind and name of what it leads to; null: no route.")]


class ClaimStep(Part, frozen=True, kw_only=True):
    """A claim of a unit's pods."""

    name: Annotated[str, Meta(description="What the pod calls it.")]
    object: Annotated[str, Meta(description="ResourceClaimTemplate/NAME or ResourceClaim/NAME; empty: not known.")]
    classes: Annotated[tuple[str, ...], Meta(description="Device classes that it may be served by, in its order.")]


class UnitLineage(Part, frozen=True, kw_only=True):
    """From the router to the claim; which devices a claim has, its slots say."""

    router: Annotated[RouterStep | None, Meta(description="Null: its pods are in no router pool.")]
    services: Annotated[tuple[str, ...], Meta(description="Names of Services that select its pods.")]
    workload: Annotated[str, Meta(description="Kind and name; empty: not known.")]
    claims: Annotated[tuple[ClaimStep, ...], Meta(description="In the order of its pods.")]


class FleetUnit(Part, frozen=True, kw_only=True):
    """A workload that claims devices: what is said of it, and what leads to it."""

    cluster: Annotated[str, Meta(description="Its cluster.")]
    workload: Annotated[str, Meta(description="Namespace and name: what verdicts call it. One of its cluster has it.")]
    kind: Annotated[UnitKind, Meta(description="A placement; others' reserved demand; or plain objects.")]
    name: Annotated[str, Meta(description="The placement's name; of others their own.")]
    namespace: Annotated[str, Meta(description="Its namespace; empty: it has none.")]
    envelope: Annotated[str | None, Meta(description="name@version; null: it is no placement.")]
    model: Annotated[Model | None, Meta(description="Null: it is no placement.")]
    verdict: Annotated[Word, Meta(description="The word.")]
    counts: Annotated[str, Meta(description="The word in numbers: `3-6/6`.")]
    replicas: Annotated[Number, Meta(description="At the peak.")]
    minimum: Annotated[Number, Meta(description="That must serve.")]
    always: Annotated[Range, Meta(description="Replicas that find devices in every order.")]
    at_best: Annotated[Range, Meta(description="Replicas that find devices in the best order.")]
    reasons: Annotated[tuple[str, ...], Meta(description="What the verdict comes from, in sentences.")]
    qualifiers: Annotated[tuple[str, ...], Meta(description="What else stands between it and a pod that runs.")]
    witness: Annotated[UnitWitness | None, Meta(description="Who is left out, and how; of order-dependent.")]
    mends: Annotated[tuple[str, ...], Meta(description="What would mend it, or what doesn't, in lines.")]
    headroom: Annotated[int | None, Meta(description="Further replicas that would always fit; null: not known.")]
    lands_on: Annotated[tuple[str, ...], Meta(description="Hardware that some packing gives it.")]
    origin: Annotated[str, Meta(description="Where it is written; empty: not known.")]
    prices: Annotated[tuple[PriceBar, ...], Meta(description="By class; none: it isn't priced.")]
    lineage: Annotated[UnitLineage, Meta(description="From router to claim.")]


class FleetSide(Part, frozen=True, kw_only=True):
    """A fleet as it is at one time."""

    name: Annotated[str, Meta(description="The release, the revision, or `plan`.")]
    commit: Annotated[str | None, Meta(description="The whole commit id; null: a folder as it is on disk.")]
    clusters: Annotated[tuple[FleetCluster, ...], Meta(description="In the order of the project.")]
    units: Annotated[tuple[FleetUnit, ...], Meta(description="By cluster, then in the order of the plan.")]


class StackPins(Part, frozen=True, kw_only=True):
    """What the lock pins for the clusters of a stack."""

    stack: Annotated[str, Meta(description="name@version.")]
    clusters: Annotated[tuple[str, ...], Meta(description="That run it.")]
    pins: Annotated[tuple[Pin, ...], Meta(description="By component; none: nothing is pinned.")]


class FleetReport(Part, frozen=True, kw_only=True):
    """A fleet to look at: of a release, of a plan, or before and after a change."""

    api_version: Annotated[ApiVersion, Meta(description="Version of this format.")]
    kind: Annotated[Literal["FleetReport"], Meta(description="What this document is.")]
    tool: Annotated[str, Meta(description="Version of Poolwright.")]
    project: Annotated[str, Meta(description="Name of the project.")]
    subject: Annotated[Subject, Meta(description="What it is of.")]
    title: Annotated[str, Meta(description="`release NAME`, `plan of PROJECT`, `BASE to HEAD`.")]
    as_of: Annotated[str | None, Meta(description="The day that it is judged on, YYYY-MM-DD; null: of none.")]
    before: Annotated[FleetSide | None, Meta(description="Of a diff what it starts from; null: only one side.")]
    after: Annotated[FleetSide, Meta(description="The fleet; of a diff what it ends with.")]
    changes: Annotated[Report | None, Meta(description="Since the release before, or of the diff; null: of a plan.")]
    pins: Annotated[tuple[StackPins, ...], Meta(description="By stack.")]
    ledger: Annotated[tuple[FeatureState, ...], Meta(description="Alpha and beta features in use.")]
    waivers: Annotated[tuple[PacketWaiver, ...], Meta(description="Findings that somebody answers for.")]
    findings: Annotated[tuple[FindingRow, ...], Meta(description="What to mend or to know, the worst first.")]


class ReportError(Exception):
    """A document that is no report of this version; the text is a sentence."""


def render_report(report: FleetReport) -> bytes:
    """The document, compact UTF-8 and a line feed: equal reports are equal bytes.

    Not indented as others are: each device of a column would have a line of its own.
    """
    return msgspec.json.encode(report) + b"\n"


def parse_report(data: bytes) -> FleetReport:
    """A document that anybody may have made.

    Raises: ReportError if it is none: too large, no JSON, another kind, an unknown or missing property, a wrong type.
    """
    if len(data) > MAX_REPORT_BYTES:
        raise ReportError(f"the report has {len(data):,} bytes, and {MAX_REPORT_BYTES:,} is the most")
    try:
        return msgspec.json.decode(data, type=FleetReport)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        what = str(error)
        said = what if len(what) <= _MAX_SAID else f"{what[:_MAX_SAID]}..."
        raise ReportError(f"it is no {KIND} of {API_VERSION}: {said}") from None


def fleet_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the document. Every property is always present."""
    return build_schema(FleetReport, KIND)
