"""The Envelope: what one version of a model needs to serve. Owned by the model's team, never edited once placed."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from poolwright.specs.model import DurationText, Metadata, Model, QuantityText, SpecModel
from poolwright.specs.scalar import (
    DigestText,
    DnsLabel,
    DnsSubdomain,
    LabelValue,
    OneLine,
    RelativePath,
    Semver,
    UnitName,
)

ComputeClass = Literal["any", "bf16", "fp8", "fp4"]
ComputePrecision = Literal["bfloat16", "float16"]
CachePrecision = Literal["bfloat16", "float16", "fp8"]
EngineType = Literal["vllm"]


class EnvelopeMetadata(Metadata, frozen=True, kw_only=True):
    """The Envelope's identity: name@version."""

    name: Annotated[UnitName, Meta(description="Name of the envelope; versions of one name stand side by side.")]
    version: Annotated[Semver, Meta(description="Version; its text never changes once it is placed.")]


class PersistentVolumeClaimSource(Model, frozen=True, kw_only=True):
    """A volume that already holds the model's files."""

    claim_name: Annotated[DnsSubdomain, Meta(description="The PersistentVolumeClaim, in the envelope's namespace.")]
    path: Annotated[RelativePath, Meta(description="The model's folder in that volume.")]


class ModelSource(Model, frozen=True, kw_only=True):
    """Where the weights come from."""

    persistent_volume_claim: Annotated[
        PersistentVolumeClaimSource, Meta(description="A volume that holds the files; mounted read-only at /models.")
    ]


class ServedModel(Model, frozen=True, kw_only=True):
    """The model."""

    name: Annotated[OneLine, Meta(description="The name that clients ask for; the engine serves under it.")]
    digest: Annotated[
        DigestText, Meta(description="Digest of the weights; new weights under one path restart the pods.")
    ]
    source: Annotated[ModelSource, Meta(description="Where the weights come from.")]
    config_path: Annotated[
        RelativePath,
        Meta(
            description="The model's own config.json in the repository; its SHA-256 is part of the envelope's digest."
        ),
    ]


class Precision(Model, frozen=True, kw_only=True):
    """Number formats."""

    compute: Annotated[ComputePrecision, Meta(description="Activations and arithmetic: the engine's dtype.")] = (
        "bfloat16"
    )
    kv_cache: Annotated[CachePrecision, Meta(description="Keys and values: the engine's KV cache dtype.")] = "bfloat16"


class Batch(Model, frozen=True, kw_only=True):
    """The engine's batch limits."""

    max_sequences: Annotated[int, Meta(ge=1, le=65536, description="Sequences that the engine runs at once.")]
    max_tokens: Annotated[int, Meta(ge=1, le=16777216, description="Tokens of one engine step.")]


class Load(Model, frozen=True, kw_only=True):
    """What one replica carries, all of it at the same time."""

    context_tokens: Annotated[
        int, Meta(ge=1, le=16777216, description="Longest request, prompt and answer together, in tokens.")
    ]
    batch: Annotated[Batch, Meta(description="The engine's batch limits.")]


class Topology(Model, frozen=True, kw_only=True):
    """How the model is spread over devices."""

    tensor_parallel: Annotated[
        int, Meta(ge=1, le=32, description="Devices that share each layer; the number of devices a pod claims.")
    ] = 1


class Startup(Model, frozen=True, kw_only=True):
    """How long a replica may take to start."""

    timeout: Annotated[DurationText, Meta(description="Until the replica must serve: the start-up probe's budget.")]


class ResourceRequests(Model, frozen=True, kw_only=True):
    """Host resources that a replica asks for."""

    cpu: Annotated[QuantityText | None, Meta(description="Processor cores.")] = None
    memory: Annotated[QuantityText | None, Meta(description="Host memory.")] = None


class ResourceLimits(Model, frozen=True, kw_only=True):
    """Host resources that a replica may not exceed."""

    memory: Annotated[QuantityText | None, Meta(description="Host memory.")] = None


class Resources(Model, frozen=True, kw_only=True):
    """Host resources; accelerators are claimed, never requested here."""

    requests: Annotated[ResourceRequests, Meta(description="What the scheduler sets aside.")] = ResourceRequests()
    limits: Annotated[ResourceLimits, Meta(description="What the kubelet enforces.")] = ResourceLimits()


class Engine(Model, frozen=True, kw_only=True):
    """The serving engine."""

    type: Annotated[EngineType, Meta(description="The engine; decides arguments and probes.")]
    image_name: Annotated[
        UnitName | None, Meta(description="Which of the stack's serving images. Default: the engine's type.")
    ] = None
    device_memory_percent: Annotated[
        int, Meta(ge=1, le=100, description="Share of each device's memory that the engine may use.")
    ] = 90
    resources: Annotated[Resources, Meta(description="Host resources of the engine's container.")] = Resources()


class EnvelopeSpec(Model, frozen=True, kw_only=True):
    """What the Envelope says."""

    owner: Annotated[LabelValue, Meta(description="The team that answers for the model; a label of its objects.")]
    namespace: Annotated[DnsLabel, Meta(description="Namespace of all the envelope's objects.")]
    compute_class: Annotated[
        ComputeClass,
        Meta(description="Native arithmetic the device must have; becomes a selector of the claim. any: no selector."),
    ]
    model: Annotated[ServedModel, Meta(description="The model.")]
    precision: Annotated[Precision, Meta(description="Number formats.")] = Precision()
    load: Annotated[Load, Meta(description="What one replica carries.")]
    topology: Annotated[Topology, Meta(description="How the model is spread over devices.")] = Topology()
    startup: Annotated[Startup, Meta(description="How long a replica may take to start.")]
    engine: Annotated[Engine, Meta(description="The serving engine.")]


class Envelope(SpecModel, frozen=True, kw_only=True):
    """The decision record of one model version: what a replica needs, whatever cluster it runs on."""

    kind: Annotated[Literal["Envelope"], Meta(description="The kind of spec.")]
    metadata: Annotated[EnvelopeMetadata, Meta(description="The spec's identity.")]
    spec: Annotated[EnvelopeSpec, Meta(description="What the Envelope says.")]

    @property
    def identity(self) -> str:
        """What findings and references call it: name@version."""
        return f"{self.metadata.name}@{self.metadata.version}"
