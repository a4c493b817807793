"""Why what the nodes say of a subject isn't the last word: something that decides on it wasn't given.

Labels of nodes decide which slices reach them, and nodes that nothing names may be open too. Whoever comes after a
subject of which it isn't known what it takes can't be promised devices that this one may take.
"""

from __future__ import annotations

from typing import Final

from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.held import PoolId
from poolwright.allocation.knowledge import Knowledge
from poolwright.allocation.nodes import GIVE_NODES, reaches_unnamed_nodes, selects_unknown_nodes
from poolwright.allocation.placing import Barred, Placement
from poolwright.allocation.reasons.reason import Reason
from poolwright.allocation.subject import Subject
from poolwright.catalog.resource_slice import Device

_BLIND: Final = Reason(
    kind="node",
    line="slices select nodes by labels, and no Node objects were given: whose devices those are isn't known",
    hint=GIVE_NODES,
)
_MORE: Final = Reason(
    kind="node",
    line="devices reach every node, and no Node objects were given: whether another one is open isn't known",
    hint=GIVE_NODES,
)


class Doubts:
    """What isn't known of a cluster, and of the subjects that came before."""

    def __init__(self, objects: ClusterObjects, knowledge: Knowledge) -> None:
        """knowledge: of the cluster's classes and what selectors say of its devices."""
        self._is_blind = selects_unknown_nodes(objects)
        self._has_more_nodes = reaches_unnamed_nodes(objects)
        self._knowledge = knowledge
        self._earlier: list[Subject] = []
        self._devices: dict[PoolId, list[Device]] = {}
        for placed in objects.slices:
            self._devices.setdefault((placed.value.driver, placed.value.pool), []).extend(placed.value.devices)

    def add(self, subject: Subject) -> None:
        """It isn't known what a subject takes."""
        self._earlier.append(subject)

    def find(self, placement: Placement) -> Reason | None:
        """Why it isn't known if this comes of a subject; None: it is known."""
        if not placement.answers:
            return None
        if self._is_blind:
            return _BLIND
        if self._has_more_nodes and all(isinstance(one, Barred) for one in placement.answers.values()):
            return _MORE
        given = [one for key, one in placement.allocations.items() if key not in placement.found]
        pools = sorted({(result.driver, result.pool) for one in given for result in one.devices})
        for earlier in self._earlier:
            if any(self._may_take(earlier, pool) for pool in pools):
                line = f"{earlier.title} comes first, and whether it takes devices of the same pool isn't known"
                return Reason(kind="node", line=line)
        return None

    def _may_take(self, subject: Subject, pool: PoolId) -> bool:
        """Whether a request of a subject may be for a device of a pool, by its class and selectors."""
        classes, matches = self._knowledge.classes, self._knowledge.selectors.matches
        selectors = [
            (*classes[request.class_name].selectors, *request.selectors)
            for claim in subject.claims
            for entry in claim.requests
            for request in (entry.exactly, *entry.first_available)
            if request is not None and request.class_name in classes
        ]
        return any(
            all(text is None or matches(text, device) is not False for text in texts)
            for texts in selectors
            for device in self._devices.get(pool, ())
        )
