"""`poolwright pin --plan`: the way from one lock to the next, with what is at risk in each state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Literal

import msgspec

from poolwright.allocation.features import MINORS
from poolwright.allocation.gated_fields import strip_gated
from poolwright.allocation.server_rules import drop_refused
from poolwright.catalog.facts import Facts
from poolwright.catalog.gates import is_nvidia_package
from poolwright.catalog.inventory import Inventory
from poolwright.catalog.resource_slice import AttributeOnDevice, Device, ResourceSlice
from poolwright.cli.output import say, tell
from poolwright.cli.plan_case import LoadedForPlan, PlanCase, load_for_plan
from poolwright.cli.progress import Progress
from poolwright.plan.cluster import build_cluster_plan
from poolwright.plan.demand import Demand
from poolwright.plan.from_objects import build_demand
from poolwright.specs.lock import Lock
from poolwright.specs.parse import Spec
from poolwright.specs.resolve import resolve_placement
from poolwright.specs.stack import Stack, StackSpec
from poolwright.specs.version import parse_version
from poolwright.upgrades.also import list_also
from poolwright.upgrades.moves import plain_numbers, plan_moves, set_versions
from poolwright.upgrades.report import list_unsupported, render_also_text, render_upgrade_json, render_upgrade_text
from poolwright.upgrades.risk import Risk, judge_steps
from poolwright.upgrades.steps import Step, build_steps

_DRIVER_VERSION = ("gpu.nvidia.com", "driverVersion")


def print_upgrade(root: str, before: Lock, after: Lock, form: Literal["text", "json"]) -> bool:
    """Print the plan of every stack that both locks have, and what else they differ in.

    Returns: whether no step is unsupported.
    Raises:  SpecError if the project can't be read.
    """
    given = load_for_plan(root)
    plans = [(name, *_plan(given, stack, before, after)) for name, stack in _list_stacks(given, before, after)]
    also = list_also(before, after, {name: steps for name, steps, _ in plans})
    if form == "json":
        say(render_upgrade_json(plans, also))
    else:
        texts = [render_upgrade_text(name, steps, risks) for name, steps, risks in plans]
        for line in chain(*texts, render_also_text(also)):
            tell(line)
    return not any(list_unsupported(steps) for _, steps, _ in plans)


def _list_stacks(given: LoadedForPlan, before: Lock, after: Lock) -> Iterator[tuple[str, Spec[Stack]]]:
    for stack in given.project.specs.stacks:
        name = stack.value.identity
        if name in before.stacks and name in after.stacks:
            yield name, stack


_Plan = tuple[tuple[Step, ...], dict[int, list[Risk]]]


def _plan(given: LoadedForPlan, stack: Spec[Stack], before: Lock, after: Lock) -> _Plan:
    name, facts = stack.value.identity, given.project.facts
    end = set_versions(stack.value.spec, after.stacks[name])
    start = set_versions(end, before.stacks[name])  # of `end`: what was added since is there from the start
    steps = build_steps(start, plan_moves(start, end, facts), facts)
    risks: dict[int, list[Risk]] = {}
    clusters = [one.name for one in given.project.specs.project.value.spec.clusters if one.stack_name == name and steps]
    with Progress() as progress:
        for cluster in progress.each(clusters):
            progress.tell(f"judging the states of {cluster}")
            case = given.build_case(cluster)
            builder = _DemandBuilder(case, facts)
            for number, risk in enumerate(judge_steps(cluster, start, steps, builder.build, _list_images(case))):
                risks.setdefault(number, []).append(risk)
    return steps, risks


def _list_images(case: PlanCase) -> Mapping[str, str]:
    """The name of the image that each workload runs, by the workload's title."""
    found = {}
    for placement in case.loaded.specs.placements:
        resolved = resolve_placement(case.loaded.specs, placement)[0]
        if resolved is not None and resolved.on.cluster.name == case.cluster.name:
            title = f"{resolved.envelope.value.spec.namespace}/{placement.value.metadata.name}"
            found[title] = resolved.image.name
    return found


class _DemandBuilder:
    """The demand of one cluster with other versions: its objects stay, what devices publish moves."""

    def __init__(self, case: PlanCase, facts: Facts) -> None:
        self._case = case
        self._facts = facts

    def build(self, spec: StackSpec) -> Demand | str:
        """The demand, or why it can't be judged."""
        case, facts = self._case, self._facts
        minor = parse_version(spec.kubernetes.version).minor
        if minor not in MINORS:
            return f"Kubernetes {minor} isn't modelled here: {MINORS[0]} to {MINORS[-1]} are"
        unknown = [
            one
            for one in spec.dra_drivers
            if is_nvidia_package(one.name, facts) and facts.driver_release(one.version) is None
        ]
        if unknown:
            return f"what {unknown[0].name} {unknown[0].version} publishes isn't known here"
        stack = case.on.stack
        on = msgspec.structs.replace(
            case.on, stack=Spec(value=msgspec.structs.replace(stack.value, spec=spec), document=stack.document)
        )
        inventory = _set_driver(case.inventory, spec)
        cluster = build_cluster_plan(case.loaded.specs, on, inventory, facts, case.loaded.named_files)
        stripped, _ = strip_gated(case.built, cluster.gates)
        objects, refused, _ = drop_refused(stripped, minor=cluster.minor)
        return build_demand(
            objects,
            cluster.features,
            nodes=cluster.nodes,
            slices=cluster.slices,
            peaks=cluster.peaks,
            reservations=cluster.reservations,
            refused=refused,
            sources=cluster.sources,
        )


def _set_driver(inventory: Inventory | None, spec: StackSpec) -> Inventory | None:
    """The capture as it would be with this GPU driver, as far as that is known: the version that devices publish."""
    if inventory is None or spec.gpu_driver is None:
        return inventory
    version = plain_numbers(spec.gpu_driver.version)
    return replace(inventory, slices=tuple(_set_slice(one, version) for one in inventory.slices))


def _set_slice(one: ResourceSlice, version: str) -> ResourceSlice:
    return replace(one, devices=tuple(_set_device(device, version) for device in one.devices))


def _set_device(device: Device, version: str) -> Device:
    if _DRIVER_VERSION not in device.attributes:
        return device
    moved = AttributeOnDevice(type="version", value=version)
    return replace(device, attributes={**device.attributes, _DRIVER_VERSION: moved})
