"""What a change does, as data: the one document that every report, page and comment is made from.

`parse_report` reads it back strictly, because whoever posts a report may not have made it: every text in it is
somebody's, and nothing in it is markup.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from poolwright.plan.verdict import Word
from poolwright.specs.finding import Severity
from poolwright.specs.json_document import Part, build_schema, render_document
from poolwright.specs.model import API_VERSION, ApiVersion

KIND: Final = "ChangeReport"
MAX_REPORT_BYTES: Final = 32 << 20
_MAX_SAID: Final = 200

Step = Literal["none", "patch", "minor", "major"]
Direction = Literal["worse", "better", "same", "new", "gone"]
ReportScenario = Literal["fresh", "live"]
ClassChangeWord = Literal["new", "gone", "grew", "shrank", "moved", "reworded"]


class Revision(Part, frozen=True, kw_only=True):
    """One of the two sides."""

    name: Annotated[str, Meta(description="As it was asked for: a Git revision, or a folder.")]
    commit: Annotated[str | None, Meta(description="The whole commit id; null: a folder as it is on disk.")]


class Inventory(Part, frozen=True, kw_only=True):
    """What a cluster's devices were read from."""

    cluster: Annotated[str, Meta(description="The cluster.")]
    before: Annotated[str | None, Meta(description="SHA-256 of the file's bytes on the base; null: it has none.")]
    after: Annotated[str | None, Meta(description="The same on the head.")]


class Answer(Part, frozen=True, kw_only=True):
    """A verdict in short."""

    verdict: Annotated[Word, Meta(description="The word.")]
    counts: Annotated[str, Meta(description="The word in numbers: `3-6/6`.")]


class WorkloadChange(Part, frozen=True, kw_only=True):
    """A workload before and after."""

    cluster: Annotated[str, Meta(description="The cluster.")]
    name: Annotated[str, Meta(description="Namespace and name.")]
    scenario: Annotated[ReportScenario, Meta(description="Of a cluster that starts empty, or as it was captured.")]
    before: Annotated[Answer | None, Meta(description="Null: it wasn't there, or couldn't be judged.")]
    after: Annotated[Answer | None, Meta(description="Null: it isn't there any more.")]
    change: Annotated[Direction, Meta(description="Which way the verdict went.")]
    reasons: Annotated[tuple[str, ...], Meta(description="What the verdict after it comes from; of changed ones.")]


class Shortfall(Part, frozen=True, kw_only=True):
    """Replicas of a cluster that can't have devices at the same time, whoever of them is left out."""

    cluster: Annotated[str, Meta(description="The cluster.")]
    scenario: Annotated[ReportScenario, Meta(description="Of a cluster that starts empty, or as it was captured.")]
    replicas: Annotated[int, Meta(description="All replicas at their peak, or those still to be placed.", ge=0)]
    before: Annotated[int, Meta(description="How many at least were without on the base.", ge=0)]
    after: Annotated[int, Meta(description="How many at least are without now.", ge=0)]


class Hardware(Part, frozen=True, kw_only=True):
    """Devices that are alike."""

    product: Annotated[str, Meta(description="Product, or driver where none is published.")]
    kind: Annotated[str, Meta(description="Type as published, such as gpu or mig; may be empty.")]
    count: Annotated[int, Meta(description="How many devices.", ge=0)]


class ClassChange(Part, frozen=True, kw_only=True):
    """A device class whose selectors or devices differ."""

    cluster: Annotated[str, Meta(description="The cluster.")]
    name: Annotated[str, Meta(description="The DeviceClass.")]
    change: Annotated[
        ClassChangeWord,
        Meta(description="moved: it lost some and gained some; reworded: other selectors, the same devices."),
    ]
    before: Annotated[int | None, Meta(description="Devices that it selected; null: there was no such class.")]
    after: Annotated[int | None, Meta(description="Devices that it selects.")]
    lost: Annotated[tuple[Hardware, ...], Meta(description="Devices that it selects no longer.")]
    gained: Annotated[tuple[Hardware, ...], Meta(description="Devices that it didn't select.")]
    clauses: Annotated[tuple[str, ...], Meta(description="Selectors that came (+) or went (-).")]
    users: Annotated[tuple[str, ...], Meta(description="Workloads that claim by it on either side.")]


class Move(Part, frozen=True, kw_only=True):
    """A workload that may get other hardware though no object of it differs."""

    cluster: Annotated[str, Meta(description="The cluster.")]
    workload: Annotated[str, Meta(description="Namespace and name.")]
    before: Annotated[tuple[str, ...], Meta(description="Hardware that some packing gave it.")]
    after: Annotated[tuple[str, ...], Meta(description="Hardware that some packing gives it now.")]


class Stranded(Part, frozen=True, kw_only=True):
    """Replicas that run on, and that couldn't all be placed again."""

    cluster: Annotated[str, Meta(description="The cluster.")]
    workload: Annotated[str, Meta(description="Namespace and name.")]
    scenario: Annotated[ReportScenario, Meta(description="live: as captured; fresh: of its peak, nothing captured.")]
    replicas: Annotated[int, Meta(description="Replicas that run, or at the peak.", ge=0)]
    stuck: Annotated[int, Meta(description="Of these, how many would find no device.", ge=0)]
    reasons: Annotated[tuple[str, ...], Meta(description="Why.")]


class RolloutRisk(Part, frozen=True, kw_only=True):
    """A workload whose pods this change replaces, and whose rollout may not complete."""

    cluster: Annotated[str, Meta(description="The cluster.")]
    workload: Annotated[str, Meta(description="Namespace and name.")]
    outcome: Annotated[Literal["can-stick", "not-known"], Meta(description="What is known of it.")]
    why: Annotated[str, Meta(description="A sentence.")]
    fixes: Annotated[tuple[str, ...], Meta(description="Each by itself makes it complete in every order.")]


class Taint(Part, frozen=True, kw_only=True):
    """A taint that is new, and whom it reaches."""

    cluster: Annotated[str, Meta(description="The cluster.")]
    target: Annotated[str, Meta(description="The node or device that has it: `node h100-a-0`.")]
    taint: Annotated[str, Meta(description="key=value:effect.")]
    devices: Annotated[int, Meta(description="Devices that are behind it.", ge=0)]
    evicts: Annotated[bool, Meta(description="Whether pods that run there must leave.")]
    workloads: Annotated[tuple[str, ...], Meta(description="Those that could use the devices and don't tolerate it.")]


class PriceChange(Part, frozen=True, kw_only=True):
    """What a placement costs on the smallest device of a class."""

    cluster: Annotated[str, Meta(description="The cluster.")]
    unit: Annotated[str, Meta(description="The placement.")]
    class_name: Annotated[str, Meta(description="The device class.")]
    before: Annotated[str, Meta(description="Whether it was admitted, and its KV cache of each device.")]
    after: Annotated[str, Meta(description="The same now.")]
    is_worse: Annotated[bool, Meta(description="Whether it was admitted and isn't any more.")]


class ValueChange(Part, frozen=True, kw_only=True):
    """A choice that differs: a pin, a gate, a lane, a decision of the ledger."""

    path: Annotated[str, Meta(description="What it is: keys with points between them.")]
    before: Annotated[str | None, Meta(description="Null: it is new.")]
    after: Annotated[str | None, Meta(description="Null: it is gone.")]
    note: Annotated[str, Meta(description="What comes of it or why it was chosen; may be empty.")]


class FieldChange(Part, frozen=True, kw_only=True):
    """A field of an object that differs. Hidden values are never in a report, nor anything derived from them."""

    path: Annotated[str, Meta(description="Items of lists by their key: `containers[name=engine].image`.")]
    before: Annotated[str | None, Meta(description="JSON text; null: it wasn't there, or is hidden.")]
    after: Annotated[str | None, Meta(description="JSON text; null: it isn't there, or is hidden.")]
    change: Annotated[Literal["added", "removed", "changed"], Meta(description="What became of it.")]
    is_hidden: Annotated[bool, Meta(description="Whether its values are kept out of the report.")]


class ObjectChange(Part, frozen=True, kw_only=True):
    """A finished object that is added, changed or removed."""

    cluster: Annotated[str, Meta(description="The cluster that it is applied to.")]
    unit: Annotated[str, Meta(description="The placement, `platform`, or `argocd`.")]
    change: Annotated[Literal["added", "removed", "changed"], Meta(description="What becomes of it.")]
    api_version: Annotated[str, Meta(description="Its API version, of the head if it is there.")]
    kind: Annotated[str, Meta(description="Its kind.")]
    namespace: Annotated[str, Meta(description="Its namespace; empty: it has none.")]
    name: Annotated[str, Meta(description="Its name.")]
    fields: Annotated[tuple[FieldChange, ...], Meta(description="Of a changed one.")]


class Restart(Part, frozen=True, kw_only=True):
    """A workload whose pods are replaced."""

    cluster: Annotated[str, Meta(description="The cluster.")]
    unit: Annotated[str, Meta(description="The placement.")]
    kind: Annotated[str, Meta(description="Kind of the workload.")]
    name: Annotated[str, Meta(description="Namespace and name.")]
    replicas: Annotated[int, Meta(description="Replicas before the change, without what an autoscaler adds.", ge=0)]
    fields: Annotated[tuple[str, ...], Meta(description="Fields of the pod template that differ.")]


class EnvelopeEdit(Part, frozen=True, kw_only=True):
    """An envelope version that isn't what it was."""

    name: Annotated[str, Meta(description="name@version.")]
    before: Annotated[str, Meta(description="Its digest on the base.")]
    after: Annotated[str, Meta(description="Its digest on the head.")]
    units: Annotated[tuple[str, ...], Meta(description="Placements that run it, as cluster/name.")]


class SpecStep(Part, frozen=True, kw_only=True):
    """The version step that a spec took, and the one that it deserves."""

    kind: Annotated[Literal["Pool", "Envelope"], Meta(description="Its kind.")]
    name: Annotated[str, Meta(description="Its name.")]
    file: Annotated[str, Meta(description="Where it is written.")]
    before: Annotated[str, Meta(description="Version on the base.")]
    after: Annotated[str, Meta(description="Version on the head.")]
    taken: Annotated[Step | Literal["back"], Meta(description="The step from one to the other.")]
    deserved: Annotated[Step, Meta(description="The least that says what changed.")]
    reasons: Annotated[tuple[str, ...], Meta(description="What makes it that, sentences.")]


class CommitAnswer(Part, frozen=True, kw_only=True):
    """A commit on the way from base to head, judged by itself."""

    commit: Annotated[str, Meta(description="The whole commit id.")]
    subject: Annotated[str, Meta(description="The first line of its message.")]
    is_safe: Annotated[bool, Meta(description="Whether nothing is wrong there that isn't wrong on the base.")]
    problems: Annotated[tuple[str, ...], Meta(description="What is wrong there, in sentences.")]


class WaiverRow(Part, frozen=True, kw_only=True):
    """What makes a finding a warning until a day."""

    kind: Annotated[str, Meta(description="Kind of the spec that the waiver is written in.")]
    name: Annotated[str, Meta(description="Name of that spec; of a placement, cluster/name.")]
    file: Annotated[str, Meta(description="Its file.")]
    path: Annotated[str | None, Meta(description="The path that the waiver has; null: none.")]
    reason: Annotated[str, Meta(description="Why it is so.")]
    owner: Annotated[str, Meta(description="The team that answers for it.")]
    expires: Annotated[str, Meta(description="The last day on which it counts, YYYY-MM-DD.")]


class FindingRow(Part, frozen=True, kw_only=True):
    """One thing to mend or to know; as in a FindingList."""

    code: Annotated[str, Meta(description="Which rule: `poolwright explain CODE` says more.")]
    severity: Annotated[Severity, Meta(description="How much it matters.")]
    file: Annotated[str, Meta(description="The file, relative to the project.")]
    line: Annotated[int, Meta(description="Line, from 1; 0 where only the file is known.", ge=0)]
    column: Annotated[int, Meta(description="Column, from 1; 0 where only the file is known.", ge=0)]
    field: Annotated[str, Meta(description="Path of the field; may be empty.")]
    what: Annotated[str, Meta(description="What is wrong, or what comes of the change.")]
    why: Annotated[str, Meta(description="Why it matters.")]
    rule: Annotated[str, Meta(description="Whose rule it is; may be empty.")]
    fix: Annotated[str, Meta(description="What to do.")]
    waived: Annotated[WaiverRow | None, Meta(description="The waiver that covers it; null: none does.")]


class Report(Part, frozen=True, kw_only=True):
    """What a change does to every cluster of a project."""

    api_version: Annotated[ApiVersion, Meta(description="Version of this format.")]
    kind: Annotated[Literal["ChangeReport"], Meta(description="What this document is.")]
    tool: Annotated[str, Meta(description="Version of Poolwright.")]
    project: Annotated[str, Meta(description="Name of the project; of plain manifests, of their folder.")]
    as_of: Annotated[str, Meta(description="The day that it is judged on, YYYY-MM-DD.")]
    base: Annotated[Revision, Meta(description="What the change starts from.")]
    head: Annotated[Revision, Meta(description="What it ends with.")]
    clusters: Annotated[tuple[str, ...], Meta(description="Clusters of which something differs, sorted.")]
    untouched: Annotated[tuple[str, ...], Meta(description="Clusters of which nothing differs: none is judged.")]
    inventories: Annotated[tuple[Inventory, ...], Meta(description="What devices of these clusters were read from.")]
    findings: Annotated[tuple[FindingRow, ...], Meta(description="What to mend or to know, the worst first.")]
    workloads: Annotated[tuple[WorkloadChange, ...], Meta(description="All of these clusters, changed or not.")]
    shortfalls: Annotated[tuple[Shortfall, ...], Meta(description="Of clusters where the number differs.")]
    classes: Annotated[tuple[ClassChange, ...], Meta(description="Those that differ.")]
    moves: Annotated[tuple[Move, ...], Meta(description="Other hardware, same objects.")]
    stranded: Annotated[tuple[Stranded, ...], Meta(description="Replicas that couldn't be placed again.")]
    rollouts: Annotated[tuple[RolloutRisk, ...], Meta(description="Rollouts that this change starts and may stick.")]
    taints: Annotated[tuple[Taint, ...], Meta(description="New ones.")]
    restarts: Annotated[tuple[Restart, ...], Meta(description="Workloads whose pods are replaced.")]
    envelopes: Annotated[tuple[EnvelopeEdit, ...], Meta(description="Versions changed in place.")]
    prices: Annotated[tuple[PriceChange, ...], Meta(description="Those that differ.")]
    pins: Annotated[tuple[ValueChange, ...], Meta(description="Choices of the lock that differ.")]
    gates: Annotated[tuple[ValueChange, ...], Meta(description="Feature gates that differ.")]
    ledger: Annotated[tuple[ValueChange, ...], Meta(description="What is decided of alpha and beta features.")]
    lanes: Annotated[tuple[ValueChange, ...], Meta(description="Pools, and consents, whose lane differs.")]
    waivers: Annotated[tuple[ValueChange, ...], Meta(description="Exceptions that are new, gone, or say otherwise.")]
    steps: Annotated[tuple[SpecStep, ...], Meta(description="Versions of the specs that changed.")]
    objects: Annotated[tuple[ObjectChange, ...], Meta(description="Finished objects that differ.")]
    commits: Annotated[tuple[CommitAnswer, ...], Meta(description="With --each-commit: every commit between.")]
    assumptions: Annotated[tuple[str, ...], Meta(description="What the answers rest on, sentences.")]

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all differs: no object, verdict, pin or finding."""
        parts = (
            *(
                self.findings,
                self.shortfalls,
                self.classes,
                self.moves,
                self.stranded,
                self.rollouts,
                self.taints,
                self.restarts,
            ),
            *(self.envelopes, self.prices, self.pins, self.gates, self.ledger, self.lanes),
            *(self.waivers, self.steps, self.objects),
        )
        unsafe = any(not one.is_safe for one in self.commits)
        return not any(parts) and not unsafe and all(one.change == "same" for one in self.workloads)


class ReportError(Exception):
    """A document that is no report of this version; the text is a sentence."""


def render_report(report: Report) -> bytes:
    """The document, indented UTF-8: equal reports are equal bytes."""
    return render_document(report)


def parse_report(data: bytes) -> Report:
    """A document that anybody may have made.

    Raises: ReportError if it is none: too large, no JSON, another kind, an unknown or missing property, a wrong type.
    """
    if len(data) > MAX_REPORT_BYTES:
        raise ReportError(f"the report has {len(data):,} bytes, and {MAX_REPORT_BYTES:,} is the most")
    try:
        return msgspec.json.decode(data, type=Report)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        what = str(error)
        said = what if len(what) <= _MAX_SAID else f"{what[:_MAX_SAID]}..."  # a name in it may be as long as the report
        raise ReportError(f"it is no {KIND} of {API_VERSION}: {said}") from None


def report_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the document. Every property is always present."""
    return build_schema(Report, KIND)
