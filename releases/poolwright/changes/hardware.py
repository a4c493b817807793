"""Devices of a cluster before and after: which ones each class selects, and who gets other hardware unasked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from poolwright.allocation.claim import DeviceClass, Request
from poolwright.allocation.held import DeviceId
from poolwright.allocation.reasons.clauses import split_clauses
from poolwright.allocation.selectors import SelectorCache
from poolwright.allocation.subject import Subject
from poolwright.catalog.resource_slice import Device, newest_pools
from poolwright.changes.report import ClassChange, ClassChangeWord, Hardware, Move
from poolwright.changes.side import ClusterPair, ClusterSide
from poolwright.changes.verdicts import RULE
from poolwright.plan.demand import Demand, Workload
from poolwright.plan.report.words import count_of, verb_of
from poolwright.plan.verdict import Landing, Verdict
from poolwright.specs.finding import Finding
from poolwright.specs.parse import PROJECT_FILE, Specs
from poolwright.specs.place import Place

_MAX_NAMES: Final = 5  # of workloads in a sentence


def list_class_changes(pair: ClusterPair) -> Iterator[ClassChange]:
    """Classes whose selectors or whose devices differ, by name. A device that became other hardware is another one.

    Cost: a class that reads the same is asked only about devices that differ.
    """
    old, new = SelectedDevices(pair.before), SelectedDevices(pair.after)
    moved = old.devices.keys() ^ new.devices.keys()
    moved |= {one for one in old.devices.keys() & new.devices.keys() if old.devices[one] != new.devices[one]}
    for name in sorted(old.classes.keys() | new.classes.keys()):
        one, other = old.classes.get(name), new.classes.get(name)
        is_reworded = _selectors(one) != _selectors(other)
        asked = None if is_reworded else moved  # None: all
        if not is_reworded and not moved:
            continue
        before, after = old.select(one, asked), new.select(other, asked)
        kept = {found for found in before & after if old.read_kind(found) == new.read_kind(found)}
        if before == after == kept and not is_reworded:
            continue
        yield ClassChange(
            cluster=pair.name,
            name=name,
            change=_name_change(one, other, before - kept, after - kept),
            before=None if one is None else len(old.select(one)),
            after=None if other is None else len(new.select(other)),
            lost=old.describe(before - kept),
            gained=new.describe(after - kept),
            clauses=tuple(_list_clauses(one, other)),
            users=tuple(sorted({*old.find_users(name), *new.find_users(name)})),
        )


def check_classes(pair: ClusterPair, changes: Iterable[ClassChange], specs: Specs) -> Iterator[Finding]:
    """A warning for each class that lost devices, and that somebody claims by still."""
    used = set() if pair.after is None else {n for one in pair.after.demand.workloads for n in list_class_names(one)}
    for one in changes:
        if one.lost and one.name in used:
            who = f"{say_names(one.users)} {verb_of(len(one.users), 'claim')} by it"
            left = "the class is gone" if one.after is None else f"{count_of(one.after, 'device')} left"
            yield Finding(
                code="class-lost-devices",
                severity="warning",
                place=find_class_place(specs, pair.name, one.name),
                what=f"{pair.name}: class {one.name} selects {say_hardware(one.lost)} no longer: {left}",
                why=f"{who}: pods that run keep what they have, and a restart chooses among what is left",
                rule=RULE,
                fix="if that isn't meant, widen the class again; the verdicts say whether all still find devices",
            )


def list_moves(pair: ClusterPair) -> Iterator[Move]:
    """Workloads no object of which differs, and that get other hardware in some packing."""
    if pair.before is None or pair.after is None:
        return
    earlier = {one.workload: one for one in pair.before.judgement.verdicts}
    reserved = {one.title for one in pair.after.demand.workloads if one.is_reservation}
    for verdict in pair.after.judgement.verdicts:
        old = earlier.get(verdict.workload)
        if old is None or verdict.workload in pair.touched or verdict.workload in reserved:
            continue
        if old.lands_on == verdict.lands_on:
            continue
        before, after = _list_hardware(pair.before, old), _list_hardware(pair.after, verdict)
        if before and after and before != after:
            yield Move(cluster=pair.name, workload=verdict.workload, before=before, after=after)


def check_moves(pair: ClusterPair, moves: Iterable[Move]) -> Iterator[Finding]:
    """A warning for each."""
    for one in moves:
        workload = None if pair.after is None else find_workload(pair.after.demand, one.workload)
        origin = None if workload is None else workload.origin
        yield Finding(
            code="silent-move",
            severity="warning",
            place=origin if isinstance(origin, Place) else Place(PROJECT_FILE),
            what=f"{pair.name}: {one.workload} may get {' or '.join(one.after)}, before {' or '.join(one.before)}, "
            "though none of its objects changes",
            why="its pods aren't replaced, so nothing shows until one of them starts on other hardware",
            rule=RULE,
            fix="if that isn't meant, bound the class (a product, a memory range); else say it in the pull request",
        )


class SelectedDevices:
    """The devices of a side, and which of them its classes let through."""

    def __init__(self, side: ClusterSide | None) -> None:
        demand = None if side is None else side.demand
        self.classes: Mapping[str, DeviceClass] = {} if demand is None else demand.classes
        self.devices: dict[DeviceId, Device] = {}
        self._users: dict[str, set[str]] = {}
        self._found: dict[str, frozenset[DeviceId]] = {}
        if demand is None:
            return
        self._selectors = SelectorCache(demand.features)
        for pool in newest_pools(demand.slices).values():
            for one in pool:
                self.devices.update(((device.driver, device.pool, device.name), device) for device in one.devices)
        for workload in demand.workloads:
            for name in list_class_names(workload):
                self._users.setdefault(name, set()).add(workload.title)

    def select(self, device_class: DeviceClass | None, among: Iterable[DeviceId] | None = None) -> frozenset[DeviceId]:
        """Those that a class lets through, of all or of some of which not all need be there."""
        if device_class is None:
            return frozenset()
        if among is None:
            if device_class.name not in self._found:
                self._found[device_class.name] = self._ask(device_class, self.devices)
            return self._found[device_class.name]
        return self._ask(device_class, among)

    def select_for(self, request: Request, among: Iterable[DeviceId]) -> frozenset[DeviceId]:
        """Those that a request is met by: of its class, and let through by its own selectors."""
        found = self.select(self.classes.get(request.class_name), among)
        return frozenset(one for one in found if self._passes(request.selectors, self.devices[one]))

    def _ask(self, device_class: DeviceClass, among: Iterable[DeviceId]) -> frozenset[DeviceId]:
        return frozenset(
            one
            for one in among
            if (device := self.devices.get(one)) is not None and self._passes(device_class.selectors, device)
        )

    def _passes(self, selectors: Iterable[str | None], device: Device) -> bool:
        return all(text is not None and self._selectors.matches(text, device) is True for text in selectors)

    def describe(self, devices: Iterable[DeviceId]) -> tuple[Hardware, ...]:
        """How many there are of each kind."""
        counts = Counter(map(self.read_kind, devices))
        return tuple(Hardware(product=p, kind=k, count=n) for (p, k), n in sorted(counts.items()))

    def read_kind(self, device: DeviceId) -> tuple[str, str]:
        """Product and type of a device."""
        return describe_device(self.devices[device])

    def find_users(self, name: str) -> set[str]:
        """Workloads that claim by a class."""
        return self._users.get(name, set())


def describe_device(device: Device) -> tuple[str, str]:
    """Its product, or its driver if it says none, and its type as published."""
    said = {name: one.value for (_, name), one in sorted(device.attributes.items()) if isinstance(one.value, str)}
    return said.get("productName", device.driver), said.get("type", "")


def list_class_names(workload: Workload) -> Iterator[str]:
    """The classes that a workload's claims name, alternatives too."""
    for pod in workload.pods:
        yield from (one.class_name for one in list_requests(pod))


def list_requests(pod: Subject) -> Iterator[Request]:
    """What a pod's claims ask for, alternatives too."""
    for claim in pod.claims:
        for request in claim.requests:
            yield from (one for one in (request.exactly, *request.first_available) if one is not None)


def find_workload(demand: Demand, title: str) -> Workload | None:
    """A workload by its title."""
    return next((one for one in demand.workloads if one.title == title), None)


def find_class_place(specs: Specs, cluster: str, name: str) -> Place:
    """Where a class is written; where it isn't, the pool files of its cluster, or the project's."""
    for pool in specs.pools:
        if pool.value.spec.cluster_name == cluster:
            for at, device_class in enumerate(pool.value.spec.device_classes):
                if device_class.name == name:
                    return pool.place("spec", "deviceClasses", at)
    return Place(PROJECT_FILE)


def say_hardware(parts: Iterable[Hardware]) -> str:
    """`8 NVIDIA H100 80GB HBM3, 2 NVIDIA H100 80GB HBM3 (mig)`."""
    return ", ".join(
        f"{one.count} {one.product}{f' ({one.kind})' if one.kind not in ('', 'gpu') else ''}" for one in parts
    )


def say_names(names: Iterable[str]) -> str:
    """The first few, and how many more."""
    listed = list(names)
    more = len(listed) - _MAX_NAMES
    return ", ".join(listed[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


def _selectors(device_class: DeviceClass | None) -> object:
    return None if device_class is None else device_class.selectors


def _name_change(one: object, other: object, lost: frozenset[DeviceId], gained: frozenset[DeviceId]) -> ClassChangeWord:
    if one is None or other is None:
        return "new" if one is None else "gone"
    if not lost and not gained:
        return "reworded"
    if lost and gained:
        return "moved"
    return "shrank" if lost else "grew"


def _list_clauses(one: DeviceClass | None, other: DeviceClass | None) -> Iterator[str]:
    """Clauses that went and came, in the order of their class."""
    if one is None or other is None:
        return
    before = [clause for text in one.selectors if text for clause in split_clauses(text)]
    after = [clause for text in other.selectors if text for clause in split_clauses(text)]
    yield from (f"- {clause}" for clause in before if clause not in after)
    yield from (f"+ {clause}" for clause in after if clause not in before)


def _list_hardware(side: ClusterSide, verdict: Verdict) -> tuple[str, ...]:
    """What a workload may get, in words.

    Where a selector fails, a plan counts on every device of the node: of these only what some request selects is said.
    """
    landings = verdict.lands_on
    if verdict.method == "not judged" and (workload := find_workload(side.demand, verdict.workload)) is not None:
        known = SelectedDevices(side)
        wanted = [part for pod in workload.pods for part in list_requests(pod)]
        kinds = {known.read_kind(one) for part in wanted for one in known.select_for(part, known.devices)}
        landings = tuple(one for one in landings if (one.product, one.kind) in kinds)
    return tuple(sorted({_say_landing(one) for one in landings}))


def _say_landing(landing: Landing) -> str:
    return landing.product + (f" ({landing.kind})" if landing.kind not in ("", "gpu") else "")
