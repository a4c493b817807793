"""The Pool: device classes of one cluster, and who may claim them."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from poolwright.specs.model import Metadata, Model, QuantityText, SpecModel
from poolwright.specs.scalar import (
    CelText,
    DnsLabel,
    DriverName,
    ExtendedResourceName,
    GateName,
    LabelValue,
    OneLine,
    QualifiedName,
    Semver,
    TaintKey,
    UnitName,
)
from poolwright.specs.waiver import Waivers

Lane = Literal["baseline", "experiment"]
Tier = Literal["interactive", "batch"]
# What a driver can publish: k8s.io/api resource/v1 DeviceAttribute.
AttributeValue = (
    Annotated[str, Meta(max_length=64)] | Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | Annotated[bool, Meta()]
)


class PoolMetadata(Metadata, frozen=True, kw_only=True):
    """The Pool's identity."""

    name: Annotated[UnitName, Meta(description="Name of the pool, unique in the project; a label of its classes.")]
    version: Annotated[Semver, Meta(description="Version of the pool's text; an annotation of its device classes.")]


class CapacityRange(Model, frozen=True, kw_only=True):
    """Bounds of a capacity; at least one of the two."""

    min: Annotated[QuantityText | None, Meta(description="The least a device must have.")] = None
    below: Annotated[
        QuantityText | None, Meta(description="What a device must stay below: keeps larger parts out.")
    ] = None


class VersionRangeOfAttribute(Model, frozen=True, kw_only=True):
    """Bounds of a version attribute; at least one of the two."""

    min: Annotated[Semver | None, Meta(description="The least a device must have.")] = None
    below: Annotated[Semver | None, Meta(description="What a device must stay below.")] = None


class CelSelector(Model, frozen=True, kw_only=True):
    """A raw selector's expression."""

    expression: Annotated[
        CelText,
        Meta(description="CEL as DRA spells it; parsed, type-checked and printed in one normal form."),
    ]


class Selector(Model, frozen=True, kw_only=True):
    """A raw selector, added after what the structured fields compile to."""

    cel: Annotated[CelSelector, Meta(description="The expression.")]


class DeviceClassSpec(Model, frozen=True, kw_only=True):
    """A device class: platform policy as a selection. Each structured line becomes one CEL selector."""

    name: Annotated[UnitName, Meta(description="Name of the DeviceClass; what placements and quotas call it.")]
    tier: Annotated[Tier, Meta(description="The service tier the class is for; a label of the class and its pods.")]
    driver: Annotated[DriverName, Meta(description="The DRA driver whose devices the class selects.")]
    attributes: Annotated[
        dict[QualifiedName, Annotated[tuple[AttributeValue, ...], Meta(min_length=1, max_length=64)]],
        Meta(
            description="Attributes by name (the driver's own domain unless DOMAIN/NAME): the device must have one "
            "of the listed values, and every attribute must match."
        ),
    ] = msgspec.field(default_factory=dict)
    versions: Annotated[
        dict[QualifiedName, VersionRangeOfAttribute],
        Meta(description="Attributes that are versions, by name, with bounds: `cudaComputeCapability: {min: 9.0.0}`."),
    ] = msgspec.field(default_factory=dict)
    capacity: Annotated[
        dict[QualifiedName, CapacityRange],
        Meta(description="Capacities by name, with bounds: `memory: {min: 79Gi, below: 90Gi}`."),
    ] = msgspec.field(default_factory=dict)
    extended_resource_name: Annotated[
        ExtendedResourceName | None, Meta(description="Lets pods ask for the class by an extended resource name.")
    ] = None
    features: Annotated[
        tuple[GateName, ...],
        Meta(description="Driver gates without which the class matches nothing; the stack must have them on."),
    ] = ()
    selectors: Annotated[
        tuple[Selector, ...],
        Meta(max_length=16, description="Raw CEL, in order, after what the fields above compile to."),
    ] = ()


class PartitionLayout(Model, frozen=True, kw_only=True):
    """How some of a planned node's accelerators are cut. The host makes it; here it is only expected."""

    devices: Annotated[int, Meta(ge=1, le=64, description="This many of the node's accelerators are cut this way.")]
    profiles: Annotated[
        dict[OneLine, Annotated[int, Meta(ge=1, le=64)]],
        Meta(description="How many partitions of each profile an accelerator has: `{3g.40gb: 1, 1g.10gb: 2}`."),
    ]


class Companion(Model, frozen=True, kw_only=True):
    """Devices of another driver that come with each accelerator, on its PCIe root: network cards, say."""

    driver: Annotated[DriverName, Meta(description="Their DRA driver.")]
    per_device: Annotated[int, Meta(ge=1, le=16, description="How many beside each accelerator.")] = 1
    attributes: Annotated[
        dict[QualifiedName, AttributeValue],
        Meta(description="Attributes they publish, of the driver's domain."),
    ] = msgspec.field(default_factory=dict)


class PlannedNode(Model, frozen=True, kw_only=True):
    """Nodes that the captured inventory doesn't have yet."""

    name: Annotated[UnitName, Meta(description="Name of the group; nodes are called NAME-0, NAME-1 and so on.")]
    count: Annotated[int, Meta(ge=1, le=10000, description="How many nodes.")]
    hardware_model: Annotated[OneLine, Meta(description="The accelerator, by its id in the facts: h100-sxm5-80gb.")]
    devices_per_node: Annotated[int, Meta(ge=1, le=64, description="Accelerators of each node.")]
    zone: Annotated[LabelValue, Meta(description="Zone of the nodes.")]
    partitions: Annotated[
        tuple[PartitionLayout, ...], Meta(description="Accelerators that are cut into partitions; the rest stay whole.")
    ] = ()
    companions: Annotated[
        tuple[Companion, ...], Meta(description="Devices of other drivers that come with each accelerator.")
    ] = ()


class Toleration(Model, frozen=True, kw_only=True):
    """A node taint that pods placed on the pool tolerate, as Kubernetes has it."""

    key: Annotated[TaintKey, Meta(description="The taint's key.")]
    operator: Annotated[Literal["Exists", "Equal"], Meta(description="Whether the value counts.")] = "Equal"
    value: Annotated[LabelValue | None, Meta(description="The taint's value, with operator Equal.")] = None
    effect: Annotated[
        Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None,
        Meta(description="The effect; none: every effect."),
    ] = None


class PoolNamespace(Model, frozen=True, kw_only=True):
    """A namespace whose workloads may be placed on the pool."""

    name: Annotated[DnsLabel, Meta(description="The namespace; rendered in the cluster's platform unit.")]
    quota: Annotated[
        dict[UnitName, Annotated[int, Meta(ge=0, le=1_000_000)]],
        Meta(description="Devices per class that the namespace may claim at once, surge included."),
    ] = msgspec.field(default_factory=dict)


class PoolReservation(Model, frozen=True, kw_only=True):
    """Devices that others use, whose workloads aren't placed here."""

    device_class_name: Annotated[UnitName, Meta(description="The class of the devices, one of the pool's.")]
    count: Annotated[
        int, Meta(ge=1, le=10000, description="How many devices: every verdict counts as many claims of one device.")
    ]
    reason: Annotated[OneLine, Meta(description="What they are for; `poolwright plan` prints it.")]
    owner: Annotated[LabelValue, Meta(description="The team that uses them; plans call the reservation after it.")]


class LossTolerance(Model, frozen=True, kw_only=True):
    """What may be lost at once, whichever it is; at least one of the three, each judged by itself."""

    nodes: Annotated[Annotated[int, Meta(ge=1, le=100)] | None, Meta(description="Any so many nodes.")] = None
    devices: Annotated[
        Annotated[int, Meta(ge=1, le=100)] | None,
        Meta(description="Any so many devices; a GPU is lost with all its partitions."),
    ] = None
    zones: Annotated[Annotated[int, Meta(ge=1, le=100)] | None, Meta(description="Any so many zones.")] = None


class Headroom(Model, frozen=True, kw_only=True):
    """What the pool keeps free."""

    tolerate_loss: Annotated[
        LossTolerance,
        Meta(
            description="After any such loss every minReplicas placed on the pool still finds its devices, with every "
            "workload of the cluster at its minimum; `poolwright plan` judges it."
        ),
    ]


class PoolSpec(Model, frozen=True, kw_only=True):
    """What the Pool says."""

    cluster_name: Annotated[UnitName, Meta(description="The cluster the pool is in.")]
    owner: Annotated[LabelValue, Meta(description="The team that answers for the pool; a label of its device classes.")]
    lane: Annotated[
        Lane,
        Meta(description="baseline, or experiment: a placement on an experiment pool must say `lane: experiment`."),
    ]
    planned_nodes: Annotated[
        tuple[PlannedNode, ...], Meta(description="Nodes that the inventory doesn't have yet, keyed by name.")
    ] = ()
    device_classes: Annotated[
        tuple[DeviceClassSpec, ...],
        Meta(min_length=1, description="The classes, keyed by name; each becomes a DeviceClass."),
    ]
    reservations: Annotated[
        tuple[PoolReservation, ...],
        Meta(max_length=256, description="Devices that others use: every verdict counts them, nothing is rendered."),
    ] = ()
    tolerations: Annotated[
        tuple[Toleration, ...], Meta(max_length=16, description="Added to every pod that is placed on the pool.")
    ] = ()
    namespaces: Annotated[tuple[PoolNamespace, ...], Meta(min_length=1, description="Who may claim, keyed by name.")]
    headroom: Annotated[
        Headroom | None, Meta(description="What the pool keeps free. Default: it promises nothing of losses.")
    ] = None
    waivers: Waivers = ()


class Pool(SpecModel, frozen=True, kw_only=True):
    """Devices of one cluster as classes, and the namespaces that may claim them."""

    kind: Annotated[Literal["Pool"], Meta(description="The kind of spec.")]
    metadata: Annotated[PoolMetadata, Meta(description="The spec's identity.")]
    spec: Annotated[PoolSpec, Meta(description="What the Pool says.")]
