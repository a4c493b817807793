"""The Envelope: what one version of a model needs to serve. Owned by the model's team, never edited once placed."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from poolwright.specs.model import DurationText, Metadata, Model, QuantityText, SpecModel
from poolwright.specs.scalar import (
    Commit,
    DigestText,
    DnsLabel,
    DnsSubdomain,
    FullyQualifiedName,
    ImageReference,
    LabelValue,
    OneLine,
    RelativePath,
    Semver,
    ServerUrl,
    UnitName,
)
from poolwright.specs.stack import EngineType

ComputeClass = Literal["any", "bf16", "fp8", "fp4"]
ComputePrecision = Literal["bfloat16", "float16"]
WeightPrecision = Literal[
    "bfloat16", "float16", "fp8", "fp8Block128", "int8", "int4", "int4ZeroPoint", "nf4", "mxfp4", "nvfp4"
]
CachePrecision = Literal["bfloat16", "float16", "fp8"]
ReplicaBehavior = Literal["stable", "relocatable", "queueable"]
Isolation = Literal["exclusive", "partition", "shared"]
ClaimPattern = Literal["perPod", "perPodShared", "named"]


class EnvelopeMetadata(Metadata, frozen=True, kw_only=True):
    """The Envelope's identity: name@version."""

    name: Annotated[UnitName, Meta(description="Name of the envelope; versions of one name stand side by side.")]
    version: Annotated[Semver, Meta(description="Version; its text never changes once it is placed.")]


class PersistentVolumeClaimSource(Model, frozen=True, kw_only=True):
    """A volume that already holds the model's files."""

    claim_name: Annotated[DnsSubdomain, Meta(description="The PersistentVolumeClaim, in the envelope's namespace.")]
    path: Annotated[RelativePath, Meta(description="The model's folder in that volume.")]


class HuggingFaceSource(Model, frozen=True, kw_only=True):
    """A hub that the engine downloads the model from when it starts."""

    endpoint: Annotated[ServerUrl, Meta(description="Address of the hub, such as the team's mirror.")]
    repository: Annotated[OneLine, Meta(description="The model's repository there, OWNER/NAME.")]
    revision: Annotated[Commit, Meta(description="A full commit, never a branch: what runs is what was decided.")]
    token_secret_name: Annotated[
        DnsSubdomain | None, Meta(description="Secret with the key `token`, in the envelope's namespace.")
    ] = None


class ModelSource(Model, frozen=True, kw_only=True):
    """Where the weights come from: exactly one of the two."""

    persistent_volume_claim: Annotated[
        PersistentVolumeClaimSource | None,
        Meta(description="A volume that holds the files; mounted read-only at /models."),
    ] = None
    hugging_face: Annotated[
        HuggingFaceSource | None, Meta(description="A hub that the engine downloads from when it starts.")
    ] = None


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
    measured_profile: Annotated[
        RelativePath | None,
        Meta(
            description="What an engine printed when it ran the model as it is here, a JSON file in the repository: it "
            "replaces the formulas of the price."
        ),
    ] = None
    weights_size: Annotated[
        QuantityText | None,
        Meta(description="Bytes of the checkpoint's files, where they are known: they replace the formula of weights."),
    ] = None


class Precision(Model, frozen=True, kw_only=True):
    """Number formats."""

    weights: Annotated[
        WeightPrecision | None,
        Meta(description="Linear layers of the checkpoint. Default: what the model's config says."),
    ] = None
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
    concurrency: Annotated[
        Annotated[int, Meta(ge=1, le=1048576)] | None,
        Meta(description="Requests that a replica carries at once, each as long as contextTokens."),
    ] = None
    kv_budget: Annotated[
        QuantityText | None,
        Meta(description="KV cache of each device, at least what the load needs. Default: that."),
    ] = None
    shared_prefix_tokens: Annotated[
        int, Meta(ge=0, le=16777216, description="Tokens that all requests begin with: their cache is priced once.")
    ] = 0
    batch: Annotated[Batch, Meta(description="The engine's batch limits.")]


class AdapterItem(Model, frozen=True, kw_only=True):
    """One adapter."""

    name: Annotated[UnitName, Meta(description="The name that clients ask for.")]
    path: Annotated[RelativePath, Meta(description="The adapter's folder in the model's volume.")]
    rank: Annotated[int, Meta(ge=1, le=1024, description="Its rank; at most maxRank.")]
    digest: Annotated[DigestText, Meta(description="Digest of its weights; new weights restart the pods.")]


class Adapters(Model, frozen=True, kw_only=True):
    """LoRA adapters that are served beside the model."""

    slots: Annotated[int, Meta(ge=1, le=1024, description="Adapters that are resident at once; items may be more.")]
    max_rank: Annotated[int, Meta(ge=1, le=1024, description="The largest rank that fits a slot.")]
    items: Annotated[tuple[AdapterItem, ...], Meta(min_length=1, description="The adapters, keyed by name.")]


class Topology(Model, frozen=True, kw_only=True):
    """How the model is spread over devices: their number is the product of the three, evenly over the nodes."""

    tensor_parallel: Annotated[int, Meta(ge=1, le=1024, description="Devices that share each layer.")] = 1
    pipeline_parallel: Annotated[int, Meta(ge=1, le=1024, description="Groups of layers, one after the other.")] = 1
    data_parallel: Annotated[int, Meta(ge=1, le=1024, description="Copies of the model within one replica.")] = 1
    nodes: Annotated[int, Meta(ge=1, le=128, description="Pods of one replica; above 1 it is a LeaderWorkerSet.")] = 1


class LatencyObjective(Model, frozen=True, kw_only=True):
    """A latency that requests must stay below."""

    p95: Annotated[DurationText, Meta(description="For 95 of 100 requests.")]


class ServiceLevel(Model, frozen=True, kw_only=True):
    """What clients were promised; each line becomes an alert."""

    time_to_first_token: Annotated[LatencyObjective | None, Meta(description="From request to first token.")] = None
    inter_token_latency: Annotated[LatencyObjective | None, Meta(description="Between two tokens.")] = None


class Recovery(Model, frozen=True, kw_only=True):
    """What must survive a loss."""

    spare_replicas: Annotated[
        int, Meta(ge=0, le=1000, description="Replicas that may be away at once: the disruption budget's size.")
    ] = 0
    objective: Annotated[
        DurationText | None,
        Meta(
            description="Until what a loss took serves again. Without a spare replica it is no shorter than "
            "startup.timeout."
        ),
    ] = None


class Constraint(Model, frozen=True, kw_only=True):
    """What the claimed devices must have in common."""

    match_attribute: Annotated[
        FullyQualifiedName, Meta(description="An attribute that is the same on all accelerators of a pod, DOMAIN/NAME.")
    ]


class ExtraRequest(Model, frozen=True, kw_only=True):
    """Devices beside the accelerators: exactly one of count and perDevice."""

    name: Annotated[UnitName, Meta(description="Name of the request.")]
    device_class_name: Annotated[UnitName, Meta(description="Their class, one of the pool's and of the same tier.")]
    count: Annotated[Annotated[int, Meta(ge=1, le=31)] | None, Meta(description="How many for the pod.")] = None
    per_device: Annotated[
        Annotated[int, Meta(ge=1, le=8)] | None, Meta(description="How many beside each accelerator.")
    ] = None
    match_attribute: Annotated[
        FullyQualifiedName | None,
        Meta(description="With perDevice: what each shares with its accelerator: resource.kubernetes.io/pcieRoot."),
    ] = None


class Consumer(Model, frozen=True, kw_only=True):
    """A workload beside the unit's own that mounts its named claim."""

    kind: Annotated[
        Literal["CronJob", "DaemonSet", "Deployment", "Job", "Pod", "StatefulSet"], Meta(description="Its kind.")
    ]
    name: Annotated[DnsSubdomain, Meta(description="Its name, in the envelope's namespace.")]
    device_memory: Annotated[
        QuantityText | None, Meta(description="Most memory that it takes of each device, its CUDA context included.")
    ] = None


class Claim(Model, frozen=True, kw_only=True):
    """Who shares the devices, and what they must have in common."""

    pattern: Annotated[
        ClaimPattern,
        Meta(
            description="perPod: the engine's container alone. perPodShared: the listed containers of the pod. "
            "named: one claim that outlives its pods, for the unit and the listed consumers."
        ),
    ] = "perPod"
    containers: Annotated[
        tuple[UnitName, ...], Meta(description="With perPodShared: exactly the containers that use the devices.")
    ] = ()
    name: Annotated[
        UnitName | None,
        Meta(description="With named: the claim's name. Its spec can't be changed: a change takes a new name."),
    ] = None
    consumers: Annotated[
        tuple[Consumer, ...],
        Meta(description="With named: workloads beside the unit's own; anyone else is a finding."),
    ] = ()
    constraints: Annotated[
        tuple[Constraint, ...], Meta(max_length=16, description="What the accelerators of a pod have in common.")
    ] = ()
    extra_requests: Annotated[
        tuple[ExtraRequest, ...], Meta(max_length=8, description="Devices beside the accelerators, keyed by name.")
    ] = ()


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


class Sidecar(Model, frozen=True, kw_only=True):
    """A container beside the engine's."""

    name: Annotated[UnitName, Meta(description="Name of the container.")]
    image: Annotated[ImageReference, Meta(description="Its image.")]
    device_memory: Annotated[
        QuantityText | None, Meta(description="Most memory that it takes of each device, its CUDA context included.")
    ] = None
    port: Annotated[Annotated[int, Meta(ge=1, le=65535)] | None, Meta(description="A port it listens on.")] = None
    resources: Annotated[Resources, Meta(description="Host resources.")] = Resources()


class EndpointPicker(Model, frozen=True, kw_only=True):
    """The service that chooses a replica for each request."""

    service_name: Annotated[DnsLabel, Meta(description="Its Service, in the envelope's namespace.")]
    port: Annotated[int, Meta(ge=1, le=65535, description="Its port.")]


class EnvelopeRouter(Model, frozen=True, kw_only=True):
    """How replicas are chosen."""

    endpoint_picker: Annotated[EndpointPicker, Meta(description="The service that chooses a replica for each request.")]


class Startup(Model, frozen=True, kw_only=True):
    """How long a replica may take to start."""

    timeout: Annotated[DurationText, Meta(description="Until the replica must serve: the start-up probe's budget.")]


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
    args: Annotated[
        tuple[OneLine, ...],
        Meta(max_length=64, description="More arguments, as they are; none that the envelope's own fields decide."),
    ] = ()
    template: Annotated[
        RelativePath | None,
        Meta(description="The team's own workload, a Jinja2 template in the repository; its SHA-256 is in the digest."),
    ] = None


class EnvelopeSpec(Model, frozen=True, kw_only=True):
    """What the Envelope says."""

    owner: Annotated[LabelValue, Meta(description="The team that answers for the model; a label of its objects.")]
    namespace: Annotated[DnsLabel, Meta(description="Namespace of all the envelope's objects.")]
    compute_class: Annotated[
        ComputeClass,
        Meta(description="Native arithmetic the device must have; becomes a selector of the claim. any: no selector."),
    ]
    replica_behavior: Annotated[
        ReplicaBehavior,
        Meta(
            description="stable: a replica may neither move nor wait. relocatable: it may move. queueable: it may "
            "wait. Decides which tiers may take it."
        ),
    ]
    model: Annotated[ServedModel, Meta(description="The model.")]
    precision: Annotated[Precision, Meta(description="Number formats.")] = Precision()
    load: Annotated[Load, Meta(description="What one replica carries.")]
    topology: Annotated[Topology, Meta(description="How the model is spread over devices.")] = Topology()
    adapters: Annotated[Adapters | None, Meta(description="LoRA adapters served beside the model.")] = None
    isolation: Annotated[
        Isolation,
        Meta(description="The weakest device that serves: a whole one, a hardware partition, or a share of one."),
    ] = "exclusive"
    slo: Annotated[ServiceLevel, Meta(description="What clients were promised.")] = ServiceLevel()
    recovery: Annotated[Recovery, Meta(description="What must survive a loss.")] = Recovery()
    claim: Annotated[Claim, Meta(description="Who shares the devices, and what they have in common.")] = Claim()
    sidecars: Annotated[
        tuple[Sidecar, ...], Meta(max_length=8, description="Containers beside the engine's, keyed by name.")
    ] = ()
    router: Annotated[EnvelopeRouter | None, Meta(description="How replicas are chosen for requests.")] = None
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
