"""Whether each allocation of a snapshot is one that the allocator can make.

Which devices a claim got depended on who came before it, and that isn't in a snapshot. So no order is replayed: of each
claim it is asked whether the allocator gives it these devices when everybody else has theirs. Others' devices are held,
and free ones are taken away, so that it can give these or none; which of its requests has which isn't compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from poolwright.allocation.allocator import Allocator
from poolwright.allocation.claim import ALL, Allocation, Claim, ClaimRequest, DeviceClass, Request
from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.features import Features
from poolwright.allocation.held import DeviceId, Held
from poolwright.allocation.node_selector import find_named_node
from poolwright.allocation.nodes import list_nodes
from poolwright.allocation.outcome import Allocated, AttemptError, GaveUp
from poolwright.allocation.placing import is_usable
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import ResourceSlice, newest_pools
from poolwright.snapshots.fates import list_devices

# possible: the allocator gives the claim these devices. impossible: it doesn't. unknown: it gave up.
Possible = Literal["possible", "impossible", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimReplay:
    """What the allocator says of one allocation."""

    namespace: str
    name: str
    devices: tuple[DeviceId, ...]  # sorted
    possible: Possible
    why: str = ""  # of an impossible or unknown one, in a sentence

    @property
    def title(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"


def replay_claims(objects: ClusterObjects, features: Features) -> tuple[ClaimReplay, ...]:
    """Every allocated claim, by namespace and name.

    objects: as the scheduler goes by them.
    Cost:    one attempt for each claim, on the node that it is allocated for, or on all that it may be used on.
    """
    return _Replayer(objects, features).run()


class _Replayer:
    def __init__(self, objects: ClusterObjects, features: Features) -> None:
        claims = [placed.value for placed in objects.claims]
        self._claims = sorted((one for one in claims if one.allocation), key=lambda one: (one.namespace, one.name))
        self._nodes = list_nodes(objects)
        self._classes: dict[str, DeviceClass] = {placed.value.name: placed.value for placed in objects.classes}
        self._features = features
        self._slices = [placed.value for placed in objects.slices]
        newest = (one for pool in newest_pools(self._slices).values() for one in pool)
        self._published = {(one.driver, one.pool, device.name) for one in newest for device in one.devices}
        self._holders = Counter(device for one in self._claims for device in set(_list_whole(one, features)))
        self._held = Held(features)
        for one in self._claims:
            self._held.add(_allocation(one))
        given = {device for one in self._claims for device in list_devices(one)}
        self._allocator = Allocator(_keep(self._slices, given), self._classes, features)
        self._whole: Allocator | None = None  # over every device: needed for requests that ask for all of a class

    def run(self) -> tuple[ClaimReplay, ...]:
        return tuple(self._replay(one) for one in self._claims)

    def _replay(self, claim: Claim) -> ClaimReplay:
        possible, why = self._judge(claim)
        return ClaimReplay(
            namespace=claim.namespace, name=claim.name, devices=list_devices(claim), possible=possible, why=why
        )

    def _judge(self, claim: Claim) -> tuple[Possible, str]:
        devices = list_devices(claim)
        if lost := [device for device in devices if device not in self._published]:
            return "impossible", f"no slice publishes {_say(lost)}"
        if twice := [device for device in _list_whole(claim, self._features) if self._holders[device] > 1]:
            return "impossible", f"another claim holds {_say(twice)} too"
        if missing := sorted(name for name in _list_classes(claim) if name not in self._classes):
            return "unknown", f"the snapshot has no device class {', '.join(missing)}"
        nodes = self._list_nodes(claim)
        if not nodes:
            return "impossible", "no node of the snapshot is one that the allocation is for"
        self._held.remove(_allocation(claim))
        try:
            answers = [self._ask(claim, node) for node in nodes]
        finally:
            self._held.add(_allocation(claim))
        return next((one for one in answers if one[0] == "possible"), answers[0])

    def _ask(self, claim: Claim, node: Node) -> tuple[Possible, str]:
        outcome = self._choose_allocator(claim).allocate(node, [_pin(claim)], self._held)
        if isinstance(outcome, GaveUp):
            return "unknown", f"the search on {node.name} took more steps than it may"
        if isinstance(outcome, AttemptError):
            return "impossible", f"on {node.name} the attempt ends: {outcome.message}"
        if not isinstance(outcome, Allocated):
            return "impossible", f"on {node.name} the allocator doesn't give it {_say(list_devices(claim))}"
        given = list_devices(replace(claim, allocation=outcome.allocations[0]))
        if given != list_devices(claim):
            return "impossible", f"on {node.name} the allocator gives it {_say(given)}"
        return "possible", ""

    def _choose_allocator(self, claim: Claim) -> Allocator:
        """Of who asks for all devices of a class no free one may be taken away."""
        if not any(request.mode == ALL for request in _list_requests(claim)):
            return self._allocator
        if self._whole is None:
            self._whole = Allocator(self._slices, self._classes, self._features)
        return self._whole

    def _list_nodes(self, claim: Claim) -> list[Node]:
        allocation = _allocation(claim)
        name = find_named_node(allocation.node_selector)
        return [one for one in self._nodes if (one.name == name if name else is_usable(allocation, one))]


def _allocation(claim: Claim) -> Allocation:
    if claim.allocation is None:
        raise AssertionError(f"{claim.title}: only allocated claims are replayed")
    return claim.allocation


def _keep(slices: Sequence[ResourceSlice], devices: set[DeviceId]) -> list[ResourceSlice]:
    """The slices with these devices alone, and all counters."""
    return [
        replace(one, devices=tuple(of for of in one.devices if (of.driver, of.pool, of.name) in devices))
        for one in slices
    ]


def _pin(claim: Claim) -> Claim:
    """The claim without its allocation; of alternatives only the one that was taken is left."""
    taken = {one.request for one in _allocation(claim).devices}
    return replace(claim, allocation=None, requests=tuple(_pin_entry(entry, taken) for entry in claim.requests))


def _pin_entry(entry: ClaimRequest, taken: set[str]) -> ClaimRequest:
    chosen = tuple(one for one in entry.first_available if f"{entry.name}/{one.name}" in taken)
    return replace(entry, first_available=chosen) if chosen else entry


def _list_whole(claim: Claim, features: Features) -> list[DeviceId]:
    """The devices that a claim has alone, sorted."""
    return sorted(
        (one.driver, one.pool, one.device)
        for one in _allocation(claim).devices
        if not one.admin_access and (one.share_id is None or not features.consumable_capacity)
    )


def _list_requests(claim: Claim) -> Iterator[Request]:
    for entry in claim.requests:
        yield from (one for one in (entry.exactly, *entry.first_available) if one is not None)


def _list_classes(claim: Claim) -> set[str]:
    return {request.class_name for request in _list_requests(claim)}


def _say(devices: Iterable[DeviceId]) -> str:
    return ", ".join("/".join(device) for device in devices) or "nothing"
