"""What a stack may not say: versions that don't go together, and who installs what. Judged against the facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from poolwright.catalog.driver_rules import INSTALLERS, check_driver, check_minimums
from poolwright.catalog.engine_rules import check_serving_images
from poolwright.catalog.facts import Facts
from poolwright.catalog.gates import (
    Settled,
    check_driver_gates,
    check_kubernetes_gates,
    is_nvidia_package,
    list_driver_names,
)
from poolwright.catalog.inventory import Inventory
from poolwright.catalog.operator_rules import check_chart_values, check_charts, check_operator
from poolwright.catalog.pool_gates import check_pool_gates
from poolwright.catalog.rules import check_kubernetes
from poolwright.specs.entries import repeated_entries
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.place import FieldPath, Place
from poolwright.specs.pool import Pool
from poolwright.specs.stack import Stack, StackSpec
from poolwright.specs.version import parse_version

_RULE: Final = "poolwright.dev/v1alpha1"
_NOTHING: Final[Settled] = MappingProxyType({})


def check_stacks(specs: Specs, facts: Facts) -> list[Finding]:
    """Everything the facts say against the project's stacks, and against what its pools expect of them.

    Warnings too: what is disputed, or isn't listed by anybody. References that dangle are left to `check_specs`.
    """
    settled = list_settled(specs) if specs.ledgers else {}
    problems = [finding for stack in specs.stacks for finding in check_stack_facts(stack, facts, settled)]
    stacks = {stack.value.identity: stack for stack in specs.stacks}
    names = {cluster.name: cluster.stack_name for cluster in specs.project.value.spec.clusters}
    for pool in specs.pools:
        on = stacks.get(names.get(pool.value.spec.cluster_name, ""))
        if on is not None:
            problems += check_pool_gates(pool, on, facts) + check_class_drivers(pool, on, facts)
    return problems


def check_stack_facts(stack: Spec[Stack], facts: Facts, settled: Settled = _NOTHING) -> list[Finding]:
    """What the facts say against one stack; settled: as `check_driver_gates`."""
    api, _ = check_kubernetes(stack, facts)  # its findings are `build_closures`' to say
    minor = api.minor if api else None
    said = stack.value.spec
    problems = repeated_entries(stack, ("spec", "draDrivers"), [driver.name for driver in said.dra_drivers])
    problems += _check_versions(stack)
    if problems:
        return problems
    problems += check_serving_images(stack, facts)
    problems += check_kubernetes_gates(stack, minor, facts) if minor else []
    problems += [*_check_modes(stack, facts), *check_operator(stack, minor, facts), *check_charts(stack, facts)]
    problems += _check_cdi(stack)
    for index, driver in enumerate(said.dra_drivers):
        problems += check_driver(stack, index, driver, facts)
        if is_nvidia_package(driver.name, facts) and facts.driver_release(driver.version):
            problems += check_driver_gates(stack, index, minor, facts, settled)
            problems += check_minimums(stack, driver, facts) if minor else []
    if all(problem.severity != "error" for problem in problems):
        problems += check_chart_values(stack, facts)
    return problems


def list_settled(specs: Specs) -> Settled:
    """What the project's ledgers say of gates that exclude each other on paper only."""
    return {
        (feature.component, feature.feature): (
            fact.value if isinstance(fact.value, tuple) else (),
            f"the ledger settles it by {fact.source} ({fact.owner})",
        )
        for ledger in reversed(specs.ledgers)
        for feature in reversed(ledger.value.spec.features)
        for fact in feature.facts
        if fact.field == "conflictsWith"
    }


def check_captured_operands(specs: Specs, inventories: Mapping[str, Inventory]) -> Iterator[Finding]:
    """Clusters that have the GPU Operator's other resource than their stack's mode makes."""
    stacks = {stack.value.identity: stack for stack in specs.stacks}
    for cluster in specs.project.value.spec.clusters:
        stack, captured = stacks.get(cluster.stack_name), inventories.get(cluster.name)
        operator = stack.value.spec.gpu_operator if stack else None
        if stack is None or operator is None or captured is None:
            continue
        other = "ClusterPolicy" if operator.mode == "gpuCluster" else "GPUCluster"
        for operand in captured.operands:
            if operand.startswith(f"{other}/"):
                there = f'cluster "{cluster.name}" has {operand} ({captured.file})'
                what = f"{there}, and the stack's mode is {operator.mode}"
                why = (
                    "only one of the two may be there: beside a ClusterPolicy a GPUCluster stays notReady, and no way "
                )
                why += "leads from one to the other in place"
                fix = "make a new cluster for this mode and move workloads to it, or keep the mode that the cluster has"
                yield _finding(
                    "operator-mode", stack.place("spec", "gpuOperator", "mode"), what, why, _OPERATOR_RULE, fix
                )


def check_class_drivers(pool: Spec[Pool], stack: Spec[Stack], facts: Facts) -> list[Finding]:
    """Classes of devices that no driver of the stack publishes."""
    drivers = stack.value.spec.dra_drivers
    by_driver = [list_driver_names(driver, facts) for driver in drivers]
    if not all(by_driver):
        return []  # what one of them publishes isn't known, and that is said already
    known = sorted({name for names in by_driver for name in names})
    return [
        _finding(
            "class-driver-unknown",
            pool.place("spec", "deviceClasses", index, "driver"),
            f'class "{device_class.name}" is of driver {device_class.driver}, which stack "{stack.value.identity}" '
            "doesn't have",
            "without the driver there are no such devices on the cluster: a claim of the class is never allocated",
            _RULE,
            f"add the driver to the stack, or name one that it has: {', '.join(known)}",
        )
        for index, device_class in enumerate(pool.value.spec.device_classes)
        if device_class.driver not in known
    ]


def _check_versions(stack: Spec[Stack]) -> list[Finding]:
    """Texts that are to be versions and aren't."""
    said = stack.value.spec
    texts: list[tuple[FieldPath, str]] = [
        (("draDrivers", index, "version"), driver.version) for index, driver in enumerate(said.dra_drivers)
    ]
    for name, part in (
        ("gpuOperator", said.gpu_operator),
        ("gpuDriver", said.gpu_driver),
        ("containerToolkit", said.container_toolkit),
    ):
        texts += [((name, "version"), part.version)] if part else []
    problems = []
    for path, text in texts:
        try:
            parse_version(text)
        except ValueError as error:
            why = "versions are compared with those of the fact tables"
            fix = "write the exact release, as in 26.7.0"
            problems.append(_finding("invalid-value", stack.place("spec", *path), str(error), why, _RULE, fix))
    return problems


def _check_cdi(stack: Spec[Stack]) -> list[Finding]:
    """DRA drivers hand devices to containers by CDI, and by nothing else."""
    cdi = stack.value.spec.cdi
    if cdi is None or cdi.enabled:
        return []
    place = stack.place("spec", "cdi", "enabled")
    what = "CDI is off, and the stack has DRA drivers"
    why = "a DRA driver names devices to the runtime by CDI: containers would start without them"
    return [_finding("cdi-off", place, what, why, "Kubernetes kubelet plugin API for DRA", "switch CDI on")]


def _check_modes(stack: Spec[Stack], facts: Facts) -> list[Finding]:
    """Who installs what: the combinations that leave a part to nobody, or to two."""
    said = stack.value.spec
    problems = [
        _finding("operator-mode", stack.place("spec", *path), what, why, _OPERATOR_RULE, fix)
        for path, what, why, fix in (_list_modes(said, facts) if said.gpu_operator else _list_operatorless(said))
    ]
    line = facts.operator_line(said.gpu_operator.version) if said.gpu_operator else None
    if said.gpu_operator and said.gpu_operator.mode == "gpuCluster" and line and not line.manages_dra_driver:
        known = [fact.line for fact in facts.operator_lines if fact.manages_dra_driver]
        what = f"GPU Operator {said.gpu_operator.version} has no GPUCluster"
        why = "up to then its chart knows only the ClusterPolicy, and the DRA driver is installed by its own chart"
        fix = f"write mode: clusterPolicy, or choose a release of: {', '.join(known)}"
        place = stack.place("spec", "gpuOperator", "mode")
        problems.append(_finding("operator-mode", place, what, why, "poolwright facts, operator-lines.json", fix))
    return problems


_OPERATOR_RULE: Final = "NVIDIA GPU Operator: one of ClusterPolicy and GPUCluster"

_Mode = tuple[FieldPath, str, str, str]  # place below spec, what, why, fix


def _list_modes(said: StackSpec, facts: Facts) -> Iterator[_Mode]:
    if said.gpu_operator is None:
        return
    mode = said.gpu_operator.mode
    if said.gpu_driver is None:
        why = "the operator installs the GPU driver unless it is told not to"
        fix = "add gpuDriver, with install: nvidiaDriver or host"
        yield ("gpuOperator",), "the stack doesn't say who installs the GPU driver", why, fix
    drivers = [(index, d) for index, d in enumerate(said.dra_drivers) if is_nvidia_package(d.name, facts)]
    for index, driver in drivers:
        path: FieldPath = ("draDrivers", index, "install")
        if mode == "clusterPolicy" and driver.install == "gpuOperator":
            what = f"{driver.name} is installed by the GPU Operator, whose mode is clusterPolicy"
            why = "a ClusterPolicy deploys the device plugin and no DRA driver"
            yield path, what, why, "write mode: gpuCluster, or install: chart"
        if mode == "gpuCluster" and driver.install != "gpuOperator":
            what = f"{driver.name} is installed by {INSTALLERS[driver.install]}, and the operator's mode is gpuCluster"
            why = "a GPUCluster deploys the DRA driver itself: a second one would publish every GPU twice"
            yield path, what, why, "write install: gpuOperator, or mode: clusterPolicy"
    if mode == "gpuCluster":
        if not drivers:
            why = "a GPUCluster always deploys it: what publishes the devices stands in the stack"
            fix = "add dra-driver-nvidia-gpu with install: gpuOperator"
            yield ("gpuOperator", "mode"), "mode is gpuCluster, and NVIDIA's DRA driver isn't in draDrivers", why, fix
        if said.gpu_driver and said.gpu_driver.install == "clusterPolicy":
            what = "the GPU driver is installed by the ClusterPolicy, and the GPU Operator's mode is gpuCluster"
            why = "only one of the two resources is ever deployed: nobody would install the driver"
            yield ("gpuDriver", "install"), what, why, "write install: nvidiaDriver or host, or mode: clusterPolicy"
        if said.container_toolkit and said.container_toolkit.install == "clusterPolicy":
            what = "the container toolkit is installed by the ClusterPolicy, and the GPU Operator's mode is gpuCluster"
            why = "only one of the two resources is ever deployed: nobody would install the toolkit"
            yield ("containerToolkit", "install"), what, why, "write install: host, or mode: clusterPolicy"


def _list_operatorless(said: StackSpec) -> Iterator[_Mode]:
    why, fix = "nobody would install it", "add gpuOperator, or write install: host"
    if said.gpu_driver and said.gpu_driver.install != "host":
        resource = "NVIDIADriver" if said.gpu_driver.install == "nvidiaDriver" else "ClusterPolicy"
        what = f"the GPU driver is installed by the {resource}, and the stack has no gpuOperator"
        yield ("gpuDriver", "install"), what, why, fix
    if said.container_toolkit and said.container_toolkit.install != "host":
        what = "the container toolkit is installed by the ClusterPolicy, and the stack has no gpuOperator"
        yield ("containerToolkit", "install"), what, why, fix
    for index, driver in enumerate(said.dra_drivers):
        if driver.install == "gpuOperator":
            what = f"{driver.name} is installed by the GPU Operator, and the stack has no gpuOperator"
            yield ("draDrivers", index, "install"), what, why, "add gpuOperator, or write install: chart or external"


def _finding(code: str, place: Place, what: str, why: str, rule: str, fix: str) -> Finding:
    return Finding(code=code, severity="error", place=place, what=what, why=why, rule=rule, fix=fix)
