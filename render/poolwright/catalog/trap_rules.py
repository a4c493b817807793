"""Warnings of a project's stacks: known traps that they meet as they run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from poolwright.catalog.facts import Facts
from poolwright.catalog.inventory import Inventory
from poolwright.catalog.traps import list_traps
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.place import FieldPath
from poolwright.specs.stack import Stack

if TYPE_CHECKING:  # as in `facts`
    from poolwright.catalog.tables.pins import TrapFact

# Not said of a stack as it runs. The first is about the way there, which `list_move_traps` has; what the second takes,
# a pod that asks for nvidia.com/gpu, is refused in everything that is rendered (`node-contract`).
_NOT_STANDING: Final = ("gpucluster-new-only", "extended-resource-lost")
_PARTS: Final = {"gpuOperator": "GPU Operator", "draDriver": "the DRA driver", "gpuDriver": "GPU driver"}


def check_traps(specs: Specs, inventories: Mapping[str, Inventory], facts: Facts) -> list[Finding]:
    """A warning for each known trap that a stack meets on some cluster, at the component that it is of.

    inventories: captured devices by cluster; they and planned nodes say which accelerators are in use.
    """
    clusters: dict[str, list[str]] = {}
    for cluster in specs.project.value.spec.clusters:
        clusters.setdefault(cluster.stack_name, []).append(cluster.name)
    problems = []
    for stack in specs.stacks:
        models: set[str] = set()
        for name in clusters.get(stack.value.identity, ()):
            models |= list_models(specs, name, inventories.get(name), facts)
        for trap in list_traps(stack.value.spec, models, facts):
            if trap.trap not in _NOT_STANDING:
                problems.append(_finding(stack, trap, facts))
    return problems


def list_models(specs: Specs, cluster: str, inventory: Inventory | None, facts: Facts) -> set[str]:
    """Accelerators of a cluster by their ids in the facts: planned ones, and those whose product was captured."""
    models = {
        entry.hardware_model
        for pool in specs.pools
        if pool.value.spec.cluster_name == cluster
        for entry in pool.value.spec.planned_nodes
    }
    products = set()
    for one in inventory.slices if inventory else ():
        for device in one.devices:
            name = device.attributes.get((device.driver, "productName"))
            products |= {name.value} if name else set()
    return models | {fact.model for fact in facts.hardware if fact.product_name in products}


def _finding(stack: Spec[Stack], trap: TrapFact, facts: Facts) -> Finding:
    path, version = _find_part(stack, trap, facts)
    return Finding(
        code="known-trap",
        severity="warning",
        place=stack.place("spec", *path, "version"),
        what=f'stack "{stack.value.identity}" has {_PARTS[trap.component]} {version}: {trap.effect}',
        why=f"known trap {trap.trap}, {trap.when}: {trap.source}{'' if trap.verified else '; not verified'}",
        rule="poolwright facts, known-traps.json",
        fix=trap.remedy,
    )


def _find_part(stack: Spec[Stack], trap: TrapFact, facts: Facts) -> tuple[FieldPath, str]:
    """The place of a trap's component in the stack, and its version; the stack has one."""
    spec = stack.value.spec
    if trap.component == "draDriver":
        charts = {fact.chart for fact in facts.driver_releases}
        index, driver = next((at, one) for at, one in enumerate(spec.dra_drivers) if one.name in charts)
        return ("draDrivers", index), driver.version
    part = spec.gpu_operator if trap.component == "gpuOperator" else spec.gpu_driver
    if part is None:
        raise AssertionError(f"{trap.trap}: the stack has no {trap.component}")
    return (trap.component,), part.version
