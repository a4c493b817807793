"""What an observed claim could have had instead: at the capture, with everything that others hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from poolwright.allocation.allocator import Allocator
from poolwright.allocation.claim import Claim
from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.constraints import applies_to, find_attribute
from poolwright.allocation.features import Features
from poolwright.allocation.held import DeviceId, Held
from poolwright.allocation.nodes import list_nodes
from poolwright.allocation.outcome import Allocated
from poolwright.allocation.placing import find_bar
from poolwright.allocation.reasons.devices import DeviceReasons
from poolwright.allocation.reasons.holders import Holders
from poolwright.allocation.subject import Subject
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import Device
from poolwright.plan.candidates import Candidates, NodeCounter, find_request


class Instead:
    """Asks the allocator; what was found out for one claim serves all that ask for the same."""

    def __init__(self, objects: ClusterObjects, features: Features) -> None:
        self.nodes = {node.name: node for node in sorted(list_nodes(objects), key=lambda node: node.name)}
        classes = {placed.value.name: placed.value for placed in objects.classes}
        self._allocator = Allocator([placed.value for placed in objects.slices], classes, features)
        self._features = features
        self._held = Held(features)
        for placed in objects.claims:
            if placed.value.allocation is not None:
                self._held.add(placed.value.allocation)
        knowledge = self._allocator.knowledge
        self._count = NodeCounter(knowledge, self._held)
        self._empty = DeviceReasons(knowledge, Held(features), Holders({}))
        self._open: dict[str, list[Node]] = {}
        self._serving: dict[str, frozenset[str]] = {}
        self._alike: dict[tuple[str, str], dict[DeviceId, Device]] = {}

    def count(self, claim: Claim, request: str, subject: Subject | None, node: str | None) -> Candidates | None:
        """What a request could choose from if its claim had nothing; None: its node or class isn't known."""
        found = find_request(claim, request)
        home = None if node is None else self.nodes.get(node)
        if found is None or home is None or claim.allocation is None:
            return None
        if found.class_name not in self._allocator.knowledge.classes:
            return None
        open_to_it = self._list_open(subject)
        self._held.remove(claim.allocation)
        try:
            return Candidates(
                request=request,
                on_node=self._count.count(found, [home]),
                in_cluster=self._count.count(found, open_to_it),
                nodes=len(open_to_it),
                before=0,
            )
        finally:
            self._held.add(claim.allocation)

    def list_serving(self, subject: Subject, node: str | None) -> tuple[str, ...]:
        """The nodes that could serve all claims of a pod: its own, and those with room for one more like it."""
        claims = [replace(claim, allocation=None) for claim in subject.claims]
        key = repr((subject.node_key, [(claim.requests, claim.constraints) for claim in claims]))
        if key not in self._serving:
            self._serving[key] = frozenset(
                one.name
                for one in self._list_open(subject)
                if isinstance(self._allocator.allocate(one, claims, self._held), Allocated)
            )
        return tuple(sorted(self._serving[key] | ({node} if node is not None else frozenset())))

    def list_lacking(self, claim: Claim) -> frozenset[str]:
        """The device classes of a claim that weren't captured."""
        requests = (one for entry in claim.requests for one in (entry.exactly, *entry.first_available))
        known = self._allocator.knowledge.classes
        return frozenset(one.class_name for one in requests if one is not None and one.class_name not in known)

    def count_alike(self, claim: Claim, request: str, device: DeviceId, node: str | None) -> int | None:
        """Devices of a node that do as well by every clause, itself included; None: it doesn't do by them itself."""
        there = self._list_alike(claim, request, node)
        own = there.get(device)
        if own is None:
            return None
        base, _, alternative = request.partition("/")
        ties = [one for one in claim.constraints if applies_to(one, base, alternative)]
        names = [name for one in ties for name in (one.match_attribute, one.distinct_attribute) if name]
        wanted = [repr(find_attribute(own, name)) for name in names]
        return sum([repr(find_attribute(one, name)) for name in names] == wanted for one in there.values())

    def _list_alike(self, claim: Claim, request: str, node: str | None) -> dict[DeviceId, Device]:
        found = find_request(claim, request)
        home = None if node is None else self.nodes.get(node)
        device_class = None if found is None else self._allocator.knowledge.classes.get(found.class_name)
        if found is None or home is None or device_class is None:
            return {}
        key = repr(found), home.name
        if key not in self._alike:
            self._alike[key] = {
                candidate.id: candidate.device
                for candidate, obstacle in self._empty.sort(found, device_class, home)
                if obstacle is None
            }
        return self._alike[key]

    def _list_open(self, subject: Subject | None) -> list[Node]:
        """The nodes that are open to a pod, whatever their devices; of a claim without one all."""
        key = "" if subject is None else subject.node_key
        if key not in self._open:
            self._open[key] = list(self._iterate_open(subject))
        return self._open[key]

    def _iterate_open(self, subject: Subject | None) -> Iterator[Node]:
        for node in self.nodes.values():
            if subject is None or find_bar(subject, node) is None:
                yield node
