"""Rows about the GPU operator and the NVIDIA DRA driver: what runs with what."""

from __future__ import annotations

from typing import Literal

from poolwright.catalog.facts import Fact


class OperatorLineFact(Fact, frozen=True, kw_only=True):
    """A line of the GPU operator, YY.MM."""

    line: str
    lifecycle: Literal["supported", "deprecated", "endOfSupport"]
    upgrades_from: tuple[str, ...]  # lines from which one step leads here
    kubernetes_minimum: str
    kubernetes_maximum: str
    kubernetes_maximum_since: str | None = None  # the first release of the line that lists the maximum
    openshift_minimum: str
    openshift_maximum: str
    containerd_minimum: str
    containerd_maximum: str
    crio: bool
    operating_systems: tuple[str, ...]
    manages_dra_driver: bool
    standalone_dra_drivers: tuple[str, ...] = ()  # releases of the separate chart that go with it
    dra_kubernetes_minimum: str | None = None
    dra_gpu_driver_minimum: str | None = None
    chart_kube_version: str  # what Helm enforces


class OperatorReleaseFact(Fact, frozen=True, kw_only=True):
    """A release of the GPU operator."""

    version: str
    line: str
    released: str | None
    gpu_driver_recommended: str | None = None  # where the documentation recommends one


class ComponentFact(Fact, frozen=True, kw_only=True):
    """What a release of the operator pins for one of its components."""

    release: str
    component: str
    version: str | None  # as the chart's values print it, without the suffix of the base image; None: it has none


class GpuDriverFact(Fact, frozen=True, kw_only=True):
    """A GPU driver that a line of the operator lists as tested."""

    line: str
    release: str | None  # the only release of the line that lists it; None: not said
    version: str
    version_maximum: str | None = None  # where a range is listed


class DriverReleaseFact(Fact, frozen=True, kw_only=True):
    """A release of the NVIDIA DRA driver."""

    version: str
    released: str | None
    chart: str
    chart_registries: tuple[str, ...]
    kubernetes_libraries: str | None


class MinimumFact(Fact, frozen=True, kw_only=True):
    """The least version of a part that the NVIDIA DRA driver documents."""

    part: Literal["kubernetes", "gpuDriver", "containerToolkit", "nodeFeatureDiscovery", "gpuFeatureDiscovery"]
    use: str  # gpus, computeDomains, chart, or all
    install: Literal["any", "gpuOperator", "chart"]
    minimum: str
