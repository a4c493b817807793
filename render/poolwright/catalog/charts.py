"""Helm charts that a stack installs: where each is, which version, and the values that the stack decides.

GPUCluster, ClusterPolicy and NVIDIADriver are reached only through these values: the charts make the resources.
"""

from __future__ import annotations

from typing import Any, Final

from poolwright.catalog.facts import Facts
from poolwright.catalog.gates import is_nvidia_package
from poolwright.specs.model import Model
from poolwright.specs.stack import ContainerToolkit, DraDriver, GpuDriver, GpuOperator, StackSpec

OPERATOR_CHART: Final = "gpu-operator"
# NVIDIA/cloud-native-docs gpu-operator/getting-started.rst: `helm repo add nvidia`.
_OPERATOR_REPOSITORY: Final = "https://helm.ngc.nvidia.com/nvidia"
# Where the operator's containers put the driver; a driver of the host is at its root.
_OPERATOR_DRIVER_ROOT: Final = "/run/nvidia/driver"

Values = dict[str, Any]  # of a chart: nested maps of booleans, texts and lists


class Chart(Model, frozen=True, kw_only=True):
    """A chart at one version, with its values."""

    chart: str  # also the release's name, and the Application's in its cluster
    repo_url: str  # as Argo CD has it: a registry without `oci://`
    version: str  # exact, as the repository spells it
    namespace: str
    api_versions: tuple[str, ...] = ()  # that the chart must be told are served; empty: those of the cluster
    admin_access: bool = False  # whether its namespace may use claims with adminAccess
    compute_domain_crd: bool = False  # whether it installs the CRD that two charts publish with a difference
    skip_crds: bool = False  # another chart of the stack installs its CRDs
    values: Values


def build_charts(stack: StackSpec, resource_api: str, facts: Facts) -> tuple[Chart, ...]:
    """The charts that a stack installs, by name.

    stack:        one without errors against the facts.
    resource_api: version of resource.k8s.io that the cluster serves.
    """
    charts = _list_charts(stack, resource_api, facts)
    if unknown := list_unknown_values(stack, facts):
        raise AssertionError(f"charts don't know {unknown}, and the stack was found right")
    return tuple(sorted(charts, key=lambda chart: chart.chart))


def list_unknown_values(stack: StackSpec, facts: Facts) -> list[tuple[str, str]]:
    """Values that would be set and that their chart doesn't know, as far as anybody read it: chart and dotted key.

    stack: one without other errors against the facts.
    """
    found = []
    for chart in _list_charts(stack, "v1", facts):  # which version is served changes no key
        read = find_read_version(chart.chart, chart.version, facts)
        found += [(chart.chart, key) for key in facts.unknown_helm_values(chart.chart, read or "", chart.values)]
    return sorted(found)


def _list_charts(stack: StackSpec, resource_api: str, facts: Facts) -> list[Chart]:
    charts = [_build_driver(stack, d, resource_api, facts) for d in stack.dra_drivers if d.install == "chart"]
    if stack.gpu_operator:
        charts.append(_build_operator(stack, stack.gpu_operator, resource_api, facts))
    return charts


def list_installed(stack: StackSpec, facts: Facts) -> list[tuple[str, str]]:
    """Name and version of each chart that a stack installs, as its repository spells them."""
    operator = [(OPERATOR_CHART, stack.gpu_operator.version)] if stack.gpu_operator else []
    releases = [facts.driver_release(driver.version) for driver in stack.dra_drivers if driver.install == "chart"]
    return [*operator, *((release.chart, release.version) for release in releases if release)]


def find_read_version(chart: str, version: str, facts: Facts) -> str | None:
    """The version of a chart whose values are known: this one, or else another of its line; None: neither is."""
    wanted = version.removeprefix("v")
    known = sorted({fact.version for fact in facts.helm_values if fact.chart == chart})
    near = [other for other in known if other.split(".")[:2] == wanted.split(".")[:2]]
    return wanted if wanted in known else next(iter(near), None)


def _build_operator(stack: StackSpec, operator: GpuOperator, resource_api: str, facts: Facts) -> Chart:
    by_claims = operator.mode == "gpuCluster"
    line = facts.operator_line(operator.version)
    values: Values = {}
    _set(values, "clusterPolicy.deployCR", not by_claims)
    _set(values, "gpuCluster.deployCR", by_claims)
    # Argo CD applies the CRDs of a chart at every sync; the chart's own job would do it a second time.
    _set(values, "operator.upgradeCRD", False)
    _set(values, "dcgmExporter.enabled", True)
    if stack.gpu_driver:
        _set_gpu_driver(values, stack.gpu_driver)
    if not by_claims:
        _set_cluster_policy(values, stack, facts)
    for driver in stack.dra_drivers:
        if driver.install == "gpuOperator":
            _set_all(values, "draDriver.featureGates", driver)
            _set_settings(values, driver, facts)
    return Chart(
        chart=OPERATOR_CHART,
        repo_url=_OPERATOR_REPOSITORY,
        version="v" + operator.version.removeprefix("v"),
        namespace=operator.namespace,
        # `helm template` knows of no cluster, and the chart refuses to render a GPUCluster for one without DRA.
        api_versions=(f"resource.k8s.io/{resource_api}/DeviceClass",) if by_claims else (),
        admin_access=by_claims,
        compute_domain_crd=line is not None and line.manages_dra_driver,
        values=values,
    )


def _set_gpu_driver(values: Values, driver: GpuDriver) -> None:
    _set(values, "driver.enabled", driver.install != "host")
    _set(values, "driver.nvidiaDriverCRD.enabled", driver.install == "nvidiaDriver")
    if driver.install != "host":
        _set(values, "driver.version", driver.version.removeprefix("v"))


def _set_cluster_policy(values: Values, stack: StackSpec, facts: Facts) -> None:
    toolkit: ContainerToolkit | None = stack.container_toolkit
    if toolkit:
        _set(values, "toolkit.enabled", toolkit.install == "clusterPolicy")
        if toolkit.install == "clusterPolicy":
            _set(values, "toolkit.version", "v" + toolkit.version.removeprefix("v"))
    if stack.cdi:
        _set(values, "cdi.enabled", stack.cdi.enabled)
    if any(is_nvidia_package(driver.name, facts) for driver in stack.dra_drivers):
        # The device plugin would hand out the GPUs that the DRA driver allocates, a second time.
        _set(values, "devicePlugin.enabled", False)
    if any(driver.feature_gates.get("DynamicMIG") for driver in stack.dra_drivers):
        # The driver destroys MIG devices that it didn't make, and the manager makes some.
        _set(values, "migManager.enabled", False)


def _build_driver(stack: StackSpec, driver: DraDriver, resource_api: str, facts: Facts) -> Chart:
    release = facts.driver_release(driver.version)
    if release is None or not release.chart_registries:
        raise AssertionError(f"{driver.name} {driver.version}: no chart, and the stack was found right")
    registry, _, chart = release.chart_registries[0].removeprefix("oci://").rpartition("/")
    by_operator = stack.gpu_driver is not None and stack.gpu_driver.install != "host"
    line = facts.operator_line(stack.gpu_operator.version) if stack.gpu_operator else None
    carried = line is not None and line.manages_dra_driver  # from then on the operator's chart has these CRDs too
    values: Values = {}
    _set(values, "nvidiaDriverRoot", _OPERATOR_DRIVER_ROOT if by_operator else "/")
    # The chart refuses to serve GPUs unless told that no device plugin serves them.
    _set(values, "gpuResourcesEnabledOverride", True)
    _set(values, "resources.gpus.enabled", True)
    _set(values, "resourceApiVersion", f"resource.k8s.io/{resource_api}")
    _set_all(values, "featureGates", driver)
    _set_settings(values, driver, facts)
    return Chart(
        chart=chart,
        repo_url=registry,
        version=driver.version.removeprefix("v"),
        namespace=chart,
        compute_domain_crd=not carried,
        skip_crds=carried,
        values=values,
    )


def _set_all(values: Values, key: str, driver: DraDriver) -> None:
    if driver.feature_gates:
        _set(values, key, dict(sorted(driver.feature_gates.items())))


def _set_settings(values: Values, driver: DraDriver, facts: Facts) -> None:
    for name, word in sorted(driver.settings.items()):
        fact = facts.driver_setting(driver.install, name, str(word))
        if fact is None:
            raise AssertionError(f"{driver.name}: {name}: {word} isn't known, and the stack was found right")
        value: object = str(word) if fact.value is None else fact.value
        _set(values, fact.helm_key, value if fact.variable is None else [{"name": fact.variable, "value": value}])


def _set(values: Values, key: str, value: object) -> None:
    """Put a value at its dotted key; lists that are there already get longer."""
    *groups, name = key.split(".")
    for group in groups:
        values = values.setdefault(group, {})
    values[name] = [*values.get(name, []), *value] if isinstance(value, list) else value
