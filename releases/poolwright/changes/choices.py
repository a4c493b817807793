"""Choices that differ: pins of the lock, gates of clusters and drivers, decisions of the ledger, lanes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from poolwright.changes.report import ValueChange
from poolwright.changes.side import ClusterSide, Side
from poolwright.changes.verdicts import RULE
from poolwright.pins.changes import list_changes
from poolwright.specs.canonical import canonical_json
from poolwright.specs.finding import Finding
from poolwright.specs.ledger import FeatureLedger
from poolwright.specs.model import plain_spec
from poolwright.specs.parse import Spec
from poolwright.specs.place import Place
from poolwright.specs.waiver_rules import list_waivers as list_written


def list_pins(before: Side, after: Side) -> Iterator[ValueChange]:
    """Choices of the two locks, and what stacks that both sides have say of the same themselves; by path."""
    locked = list(_list_locked(before, after))
    known = {one.path for one in locked}
    said = _compare("", dict(_list_versions(before)), dict(_list_versions(after)), only_both=True)
    yield from sorted((*locked, *(one for one in said if one.path not in known)), key=lambda one: one.path)


def _list_locked(before: Side, after: Side) -> Iterator[ValueChange]:
    """A lock that isn't there chooses nothing."""
    if after.lock is not None:
        for one in list_changes(before.lock, after.lock):
            yield ValueChange(path=one.path, before=one.before, after=one.after, note=one.reason)
    elif before.lock is not None:
        for one in list_changes(None, before.lock):
            yield ValueChange(path=one.path, before=one.after, after=None, note="the lock is gone")


def _list_versions(side: Side) -> Iterator[tuple[str, str]]:
    """What each stack runs, by the path that a lock has for it."""
    for stack in side.specs.stacks:
        said, path = stack.value.spec, f"stacks.{stack.value.identity}"
        for name, part in (
            ("kubernetes", said.kubernetes),
            ("gpuOperator", said.gpu_operator),
            ("gpuDriver", said.gpu_driver),
            ("containerRuntime", said.container_runtime),
            ("containerToolkit", said.container_toolkit),
        ):
            if part is not None:
                yield f"{path}.{name}", part.version
        yield from ((f"{path}.draDrivers.{one.name}", one.version) for one in said.dra_drivers)
        yield from ((f"{path}.images.{one.name}", f"{one.version} {one.image}") for one in said.serving_images)


def list_gates(before: Side, after: Side) -> Iterator[ValueChange]:
    """Gates by cluster as its version and stack have them, then those that stacks set for drivers."""
    for name in sorted(before.clusters.keys() | after.clusters.keys()):
        one, other = _gates(before.clusters.get(name)), _gates(after.clusters.get(name))
        if name in before.clusters and name in after.clusters:
            yield from _compare(f"clusters.{name}.featureGates", one, other)
    yield from _compare("stacks", dict(_list_driver_gates(before)), dict(_list_driver_gates(after)))


def list_ledger(before: Side, after: Side) -> Iterator[ValueChange]:
    """Decisions about features, field by field."""
    yield from _compare("", dict(_list_decisions(before)), dict(_list_decisions(after)))


def list_lanes(before: Side, after: Side) -> Iterator[ValueChange]:
    """Lanes of pools, placements' consents to a lane, and the isolation that they come to: theirs or the envelope's."""
    yield from _compare("", dict(_list_lanes(before)), dict(_list_lanes(after)), only_both=True)


def list_waivers(before: Side, after: Side) -> Iterator[ValueChange]:
    """Exceptions by the spec that they are written in, with the day on which each ends, its owner and its reason."""
    yield from _compare("", dict(_list_waivers(before)), dict(_list_waivers(after)))


def check_lanes(changes: Iterable[ValueChange], after: Side) -> Iterator[Finding]:
    """A warning for each pool whose lane is another one, and for each placement whose consent is."""
    for one in changes:
        yield Finding(
            code="lane-changed",
            severity="warning",
            place=_find_place(one.path, after),
            what=f"{one.path} was {one.before} and is {one.after}",
            why="lane and isolation are consents: to gates that may go away, and to devices that others are on too",
            rule=RULE,
            fix="say in the pull request who agreed to it",
        )


def _find_place(path: str, side: Side) -> Place:
    kind, name, field = path.split(".")
    if kind == "pools":
        return side.specs.pools_by_name[name].place("spec", field)
    cluster, _, unit = name.partition("/")
    return side.specs.placements_by_cluster[cluster][unit].place("spec", field)


def _gates(side: ClusterSide | None) -> dict[str, str]:
    return {} if side is None else {name: _say_gate(on) for name, on in side.plan.gates.items()}


def _list_driver_gates(side: Side) -> Iterator[tuple[str, str]]:
    for stack in side.specs.stacks:
        for driver in stack.value.spec.dra_drivers:
            for gate, on in driver.feature_gates.items():
                yield f"{stack.value.identity}.draDrivers.{driver.name}.featureGates.{gate}", _say_gate(on)


def _say_gate(is_on: bool) -> str:
    return "on" if is_on else "off"


def _list_decisions(side: Side) -> Iterator[tuple[str, str]]:
    for ledger in side.specs.ledgers:
        yield from _list_features(ledger)


def _list_features(ledger: Spec[FeatureLedger]) -> Iterator[tuple[str, str]]:
    for feature in ledger.value.spec.features:
        said = plain_spec(feature)
        if not isinstance(said, dict):
            continue
        for key, value in said.items():
            if key not in ("component", "feature"):
                yield f"{feature.component}.{feature.feature}.{key}", _say_value(value)


def _list_waivers(side: Side) -> Iterator[tuple[str, str]]:
    for one in list_written(side.specs):
        said = one.waiver
        at = f"[{said.path}]" if said.path else ""
        kind = "ledgers" if one.kind == "FeatureLedger" else f"{one.kind.lower()}s"
        yield f"{kind}.{one.name}.{said.rule}{at}", f"until {said.expires} by {said.owner}: {said.reason}"


def _say_value(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value).decode()


def _list_lanes(side: Side) -> Iterator[tuple[str, str]]:
    for pool in side.specs.pools:
        yield f"pools.{pool.value.identity}.lane", pool.value.spec.lane
    for cluster, placements in side.specs.placements_by_cluster.items():
        for name, placement in placements.items():
            said = placement.value.spec
            yield f"placements.{cluster}/{name}.lane", said.lane
            envelope = side.specs.envelopes_by_identity[f"{said.envelope.name}@{said.envelope.version}"]
            yield f"placements.{cluster}/{name}.isolation", said.isolation or envelope.value.spec.isolation


def _compare(
    prefix: str, before: Mapping[str, str], after: Mapping[str, str], *, only_both: bool = False
) -> Iterator[ValueChange]:
    """What differs, by path. only_both: of what is new or gone nothing is said."""
    for path in sorted(before.keys() & after.keys() if only_both else before.keys() | after.keys()):
        one, other = before.get(path), after.get(path)
        if one != other:
            yield ValueChange(path=f"{prefix}.{path}" if prefix else path, before=one, after=other, note="")
