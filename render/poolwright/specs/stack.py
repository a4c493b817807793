"""The Stack: the versions that one cluster runs."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from poolwright.specs.model import Metadata, Model, SpecModel, VersionRangeText
from poolwright.specs.scalar import DnsLabel, DriverName, GateName, ImageReference, OneLine, UnitName
from poolwright.specs.waiver import Waivers

EngineType = Literal["vllm", "sglang", "custom"]
OperatorMode = Literal["gpuCluster", "clusterPolicy"]


class StackMetadata(Metadata, frozen=True, kw_only=True):
    """The Stack's identity."""

    name: Annotated[UnitName, Meta(description="Name of the stack, unique in the project.")]


class Kubernetes(Model, frozen=True, kw_only=True):
    """The Kubernetes that the cluster runs."""

    version: Annotated[
        VersionRangeText,
        Meta(description="Version or range within one minor release, quoted; decides which API versions are rendered."),
    ]
    feature_gates: Annotated[
        dict[GateName, bool], Meta(description="Gates that differ from the release's defaults.")
    ] = msgspec.field(default_factory=dict)


class GpuOperator(Model, frozen=True, kw_only=True):
    """NVIDIA's GPU Operator, installed as a Helm Application."""

    version: Annotated[OneLine, Meta(description="Exact release, such as 26.7.0.")]
    mode: Annotated[
        OperatorMode,
        Meta(description="Which of its two custom resources is deployed; gpuCluster allocates by DRA."),
    ]
    namespace: Annotated[DnsLabel, Meta(description="Where it is installed.")] = "gpu-operator"


class DraDriver(Model, frozen=True, kw_only=True):
    """A DRA driver of the cluster."""

    name: Annotated[UnitName, Meta(description="The driver's package, such as dra-driver-nvidia-gpu.")]
    version: Annotated[OneLine, Meta(description="Exact release.")]
    install: Annotated[
        Literal["gpuOperator", "chart", "external"],
        Meta(description="Who installs it: the GPU Operator, a Helm Application, or somebody else."),
    ]
    driver_names: Annotated[
        tuple[DriverName, ...],
        Meta(description="What it is called in ResourceSlices. Default: what the facts say of the package."),
    ] = ()
    feature_gates: Annotated[
        dict[GateName, bool], Meta(description="Gates of the driver that differ from its release's defaults.")
    ] = msgspec.field(default_factory=dict)
    settings: Annotated[
        dict[OneLine, str | int],
        Meta(description="Settings in words of the facts, such as computeDomains: disabled."),
    ] = msgspec.field(default_factory=dict)


class GpuDriver(Model, frozen=True, kw_only=True):
    """The kernel driver of the GPUs."""

    version: Annotated[OneLine, Meta(description="Exact release, such as 580.173.02.")]
    install: Annotated[
        Literal["nvidiaDriver", "clusterPolicy", "host"],
        Meta(description="Who installs it: the NVIDIADriver resource, the ClusterPolicy, or the host's image."),
    ]


class ContainerToolkit(Model, frozen=True, kw_only=True):
    """NVIDIA's container toolkit."""

    version: Annotated[OneLine, Meta(description="Exact release.")]
    install: Annotated[
        Literal["clusterPolicy", "host"], Meta(description="Who installs it; under gpuCluster only the host can.")
    ]


class ContainerRuntime(Model, frozen=True, kw_only=True):
    """What runs the containers of the nodes."""

    name: Annotated[Literal["containerd", "crio"], Meta(description="Which one it is.")]
    version: Annotated[
        VersionRangeText, Meta(description="Version or range, quoted; compared with what the GPU Operator lists.")
    ]


class Cdi(Model, frozen=True, kw_only=True):
    """The Container Device Interface, by which devices get into containers."""

    enabled: Annotated[bool, Meta(description="Whether the runtime of the nodes has it on.")] = True


class ServingImage(Model, frozen=True, kw_only=True):
    """A serving engine's image."""

    name: Annotated[UnitName, Meta(description="What envelopes call the image (engine.imageName).")]
    engine: Annotated[EngineType, Meta(description="The engine in it; must be the engine of envelopes that name it.")]
    version: Annotated[OneLine, Meta(description="The engine's version: decides how its arguments are spelled.")]
    image: Annotated[ImageReference, Meta(description="The image, with a tag, a digest or both; set by every overlay.")]


class StackSpec(Model, frozen=True, kw_only=True):
    """What the Stack says."""

    kubernetes: Annotated[Kubernetes, Meta(description="The cluster's Kubernetes.")]
    gpu_operator: Annotated[
        GpuOperator | None, Meta(description="NVIDIA's GPU Operator; none on a cluster without NVIDIA devices.")
    ] = None
    dra_drivers: Annotated[
        tuple[DraDriver, ...], Meta(min_length=1, description="The DRA drivers, keyed by name; of any vendor.")
    ]
    gpu_driver: Annotated[GpuDriver | None, Meta(description="The kernel driver of NVIDIA GPUs.")] = None
    container_toolkit: Annotated[ContainerToolkit | None, Meta(description="NVIDIA's container toolkit.")] = None
    container_runtime: Annotated[ContainerRuntime | None, Meta(description="What runs the nodes' containers.")] = None
    cdi: Annotated[Cdi | None, Meta(description="The Container Device Interface; DRA drivers need it.")] = None
    serving_images: Annotated[
        tuple[ServingImage, ...],
        Meta(
            min_length=1, description="Serving images, keyed by name, so that a bump is one line for the whole cluster."
        ),
    ]
    waivers: Waivers = ()


class Stack(SpecModel, frozen=True, kw_only=True):
    """The versions of one cluster: Kubernetes and the serving images."""

    kind: Annotated[Literal["Stack"], Meta(description="The kind of spec.")]
    metadata: Annotated[StackMetadata, Meta(description="The spec's identity.")]
    spec: Annotated[StackSpec, Meta(description="What the Stack says.")]
