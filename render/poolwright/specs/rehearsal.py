"""The Rehearsal: a record that one step was carried out on one combination of versions, and what it left."""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import Meta

from poolwright.specs.envelope import ClaimPattern
from poolwright.specs.model import DateText, Metadata, Model, SpecModel, VersionText
from poolwright.specs.scalar import Commit, DigestText, GateName, OneLine, RelativeFolder, UnitName

Step = Literal["install", "upgrade", "rollback", "recovery"]
HardwareMode = Literal["full", "partition", "shared"]
RuntimeName = Literal["containerd", "crio"]
STEPS: Final[tuple[Step, ...]] = get_args(Step)


class RehearsalMetadata(Metadata, frozen=True, kw_only=True):
    """The record's identity."""

    name: Annotated[UnitName, Meta(description="Name of the record, unique in the project.")]


class GateDifferences(Model, frozen=True, kw_only=True):
    """Feature gates that differ from their releases' defaults."""

    kubernetes: Annotated[dict[GateName, bool], Meta(description="Gates of Kubernetes.")] = msgspec.field(
        default_factory=dict
    )
    dra_drivers: Annotated[
        dict[UnitName, dict[GateName, bool]], Meta(description="Gates of DRA drivers, by package.")
    ] = msgspec.field(default_factory=dict)


class NamedVersion(Model, frozen=True, kw_only=True):
    """One version of something that has a name."""

    name: Annotated[UnitName, Meta(description="Its name, as the stack has it.")]
    version: Annotated[VersionText, Meta(description="The exact version, quoted if it has no more than one point.")]


class RuntimeVersion(Model, frozen=True, kw_only=True):
    """A container runtime."""

    name: Annotated[RuntimeName, Meta(description="Which one it is.")]
    version: Annotated[VersionText, Meta(description="The exact version.")]


class Hardware(Model, frozen=True, kw_only=True):
    """Accelerators, and how much of one a claim gets."""

    model: Annotated[OneLine, Meta(description="The accelerator, by its id in the facts: h100-sxm5-80gb.")]
    mode: Annotated[
        HardwareMode, Meta(description="Whether a claim gets a whole one, a hardware partition, or a share of one.")
    ]


class Combination(Model, frozen=True, kw_only=True):
    """What runs together: a row of the matrix. What a cluster doesn't have is left out."""

    kubernetes: Annotated[VersionText, Meta(description="Kubernetes, the exact version.")]
    feature_gates: Annotated[GateDifferences, Meta(description="Gates as the stack sets them.")] = GateDifferences()
    gpu_operator: Annotated[VersionText | None, Meta(description="NVIDIA's GPU Operator.")] = None
    dra_drivers: Annotated[
        tuple[NamedVersion, ...], Meta(min_length=1, description="The DRA drivers, keyed by name; all of the cluster.")
    ]
    gpu_driver: Annotated[VersionText | None, Meta(description="The kernel driver of the GPUs.")] = None
    container_runtime: Annotated[RuntimeVersion | None, Meta(description="What runs the nodes' containers.")] = None
    container_toolkit: Annotated[VersionText | None, Meta(description="NVIDIA's container toolkit.")] = None
    cdi: Annotated[
        bool | None, Meta(description="Whether the Container Device Interface is on; left out: the stack doesn't say.")
    ] = None
    hardware: Annotated[Hardware, Meta(description="The accelerators.")]
    claim_pattern: Annotated[ClaimPattern, Meta(description="Who shares a claim.")]
    serving_image: Annotated[NamedVersion, Meta(description="The serving image, by the name that the stack gives it.")]


class OtherEnd(Model, frozen=True, kw_only=True):
    """What differed at the other end of an upgrade or a rollback. What isn't written was the same there."""

    kubernetes: Annotated[VersionText | None, Meta(description="Kubernetes.")] = None
    feature_gates: Annotated[GateDifferences | None, Meta(description="All gates as they were set there.")] = None
    gpu_operator: Annotated[VersionText | None, Meta(description="NVIDIA's GPU Operator.")] = None
    dra_drivers: Annotated[tuple[NamedVersion, ...], Meta(description="The DRA drivers that differed.")] = ()
    gpu_driver: Annotated[VersionText | None, Meta(description="The kernel driver of the GPUs.")] = None
    container_runtime: Annotated[RuntimeVersion | None, Meta(description="The container runtime.")] = None
    container_toolkit: Annotated[VersionText | None, Meta(description="NVIDIA's container toolkit.")] = None
    cdi: Annotated[bool | None, Meta(description="Whether the Container Device Interface was on.")] = None
    serving_image: Annotated[NamedVersion | None, Meta(description="The serving image.")] = None


class ClaimSnapshots(Model, frozen=True, kw_only=True):
    """The cluster's snapshots around the step. What became of each claim is recomputed from them, never written."""

    before: Annotated[DigestText, Meta(description="SHA-256 of the snapshot before the step: before.jsonl.")]
    after: Annotated[DigestText, Meta(description="SHA-256 of the snapshot after the step: after.jsonl.")]


class RehearsalSpec(Model, frozen=True, kw_only=True):
    """What the record says."""

    combination: Annotated[Combination, Meta(description="What ran together.")]
    step: Annotated[Step, Meta(description="What was carried out: an upgrade to the combination, a rollback from it.")]
    from_: Annotated[OtherEnd | None, Meta(description="Of an upgrade: what differed before it.")] = msgspec.field(
        name="from", default=None
    )
    to: Annotated[OtherEnd | None, Meta(description="Of a rollback: what differed after it.")] = None
    by: Annotated[OneLine, Meta(description="Who carried it out.")]
    date: Annotated[DateText, Meta(description="The day, YYYY-MM-DD.")]
    cluster_name: Annotated[UnitName, Meta(description="The cluster it was carried out on.")]
    commit: Annotated[Commit, Meta(description="The commit of this repository that was rendered.")]
    evidence: Annotated[
        RelativeFolder, Meta(description="The folder that holds before.jsonl, after.jsonl and whatever else was kept.")
    ]
    claims: Annotated[ClaimSnapshots, Meta(description="Snapshots before and after, by digest.")]
    node_changes: Annotated[
        tuple[OneLine, ...],
        Meta(description="Nodes that were changed by hand, and how. Anything but [] refuses the record."),
    ]
    synthetic: Annotated[bool, Meta(description="Made up for an example; elsewhere it refuses the record.")] = False


class Rehearsal(SpecModel, frozen=True, kw_only=True):
    """A record of a step on a combination; one per file under rehearsals/, never edited."""

    kind: Annotated[Literal["Rehearsal"], Meta(description="The kind of spec.")]
    metadata: Annotated[RehearsalMetadata, Meta(description="The record's identity.")]
    spec: Annotated[RehearsalSpec, Meta(description="What the record says.")]
