"""What is left of a cluster once every alpha gate is rolled back, of Kubernetes and of its DRA drivers.

The objects stay as they are in Git; the API server drops their fields whose gate is off, and the drivers publish what
they publish without theirs. A cluster that has such a gate on may have no baseline pool (`lane-stack`), so only
placements that say `lane: experiment` can lose anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from msgspec.structs import replace as having

from poolwright.allocation.features import JUDGED_GATES
from poolwright.catalog.facts import Facts
from poolwright.catalog.gates import Experiment, is_nvidia_package, list_driver_names, list_experiments
from poolwright.catalog.inventory import Inventory
from poolwright.catalog.ungated import DeviceName, drop_gated
from poolwright.plan.demand import Demand
from poolwright.plan.engine import judge
from poolwright.plan.report.words import count_of
from poolwright.plan.verdict import Count, Judgement, Verdict
from poolwright.plan.what_if.change import list_changes
from poolwright.plan.what_if.loss import Loss
from poolwright.specs.resolve import ResolvedCluster
from poolwright.specs.stack import DraDriver, Stack

MAX_NAMES: Final = 3  # of devices that are named


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback:
    """A cluster without its alpha gates."""

    names: tuple[str, ...]  # of the gates that were on, sorted
    on: ResolvedCluster
    inventory: Inventory | None
    notes: tuple[str, ...] = ()  # what that rests on


def roll_back(on: ResolvedCluster, minor: str, inventory: Inventory | None, facts: Facts) -> Rollback:
    """The cluster's stack and inventory with every alpha gate off; the same ones if none is on."""
    experiments = tuple(list_experiments(on.stack, minor, facts))
    stack = on.stack.value
    notes = list(_list_unlooked(experiments))
    for index, driver in enumerate(stack.spec.dra_drivers):
        gates = frozenset(one.gate for one in experiments if one.driver == index)
        if gates and inventory is not None:
            inventory, said = _strip(inventory, driver, gates, facts)
            notes += said
    names = sorted(f"{one.gate} of {_name_owner(stack, one)}" for one in experiments)
    rolled = having(on, stack=having(on.stack, value=_turn_off(stack, experiments)))
    return Rollback(names=tuple(names), on=rolled, inventory=inventory, notes=tuple(notes))


def judge_rollback(rollback: Rollback, demand: Demand, before: Judgement, after: Demand) -> Loss:
    """What a rollback changes.

    before: of the demand.
    after:  the demand of the same objects on the cluster without the gates.
    """
    judgement = judge(after)
    found = {one.workload: one for one in judgement.verdicts}
    verdicts = [found.get(one.workload) or _miss(one) for one in before.verdicts]
    return Loss(
        thing="gates",
        names=rollback.names,
        devices=len(_list_devices(demand) - _list_devices(after)),
        changes=list_changes(before.verdicts, verdicts),
        shortfall=judgement.shortfall,
        notes=rollback.notes,
    )


def _miss(verdict: Verdict) -> Verdict:
    """The verdict of a workload that claims nothing any more."""
    return replace(
        verdict,
        word="undecided",
        always=Count(0, verdict.replicas),
        at_best=Count(0, verdict.replicas),
        method="not judged",
        best=None,
        worst=None,
        lands_on=(),
        headroom_always=None,
        headroom_best=None,
        reasons=("without the gates its pods claim no device that is looked at",),
    )


def _list_devices(demand: Demand) -> set[DeviceName]:
    return {(device.driver, device.pool, device.name) for one in demand.slices for device in one.devices}


def _turn_off(stack: Stack, experiments: Sequence[Experiment]) -> Stack:
    spec = stack.spec
    off = {one.gate: False for one in experiments if one.driver is None}
    kubernetes = having(spec.kubernetes, feature_gates={**spec.kubernetes.feature_gates, **off})
    drivers = tuple(
        having(
            driver,
            feature_gates={
                **driver.feature_gates,
                **{one.gate: False for one in experiments if one.driver == index},
            },
        )
        for index, driver in enumerate(spec.dra_drivers)
    )
    return having(stack, spec=having(spec, kubernetes=kubernetes, dra_drivers=drivers))


def _name_owner(stack: Stack, one: Experiment) -> str:
    return "Kubernetes" if one.driver is None else stack.spec.dra_drivers[one.driver].name


def _list_unlooked(experiments: Sequence[Experiment]) -> Iterator[str]:
    names = [one.gate for one in experiments if one.driver is None and one.gate not in JUDGED_GATES]
    if names:
        yield f"no verdict goes by the gates {', '.join(names)}: what depends on them alone isn't seen"


def _strip(
    inventory: Inventory, driver: DraDriver, gates: frozenset[str], facts: Facts
) -> tuple[Inventory, Iterator[str]]:
    """The inventory without what gates of a driver bring, and what is said of that."""
    said = ", ".join(sorted(gates))
    if not is_nvidia_package(driver.name, facts):
        note = f"what {driver.name} publishes without {said} isn't known: its captured devices count"
        return inventory, iter((note,))
    names = list_driver_names(driver, facts)
    found = drop_gated(inventory.slices, drivers=names, release=driver.version, gates=gates, facts=facts)
    notes = (
        f"{count_of(len(devices), 'captured device')} {what} without {said}: {_name_some(devices)}"
        for devices, what in (
            (found.gone, "doesn't count" if len(found.gone) == 1 else "don't count"),
            (found.altered, "counts as it is published" if len(found.altered) == 1 else "count as they are published"),
        )
        if devices
    )
    return replace(inventory, slices=found.slices), notes


def _name_some(devices: Sequence[DeviceName]) -> str:
    more = " and others" if len(devices) > MAX_NAMES else ""
    return ", ".join("/".join(one) for one in devices[:MAX_NAMES]) + more
