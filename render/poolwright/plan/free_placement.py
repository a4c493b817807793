"""Packings that no order of moves is known for: whether each pod could get its devices if only these were free."""

from __future__ import annotations

from poolwright.allocation.allocator import Allocator
from poolwright.allocation.claim import AllocatedDevice, Allocation
from poolwright.allocation.held import DeviceId, Held
from poolwright.allocation.outcome import Allocated
from poolwright.allocation.placing import find_bar, is_usable
from poolwright.allocation.subject import claim_key
from poolwright.plan.methods.acceptance import drop_charges
from poolwright.plan.replay import Replay
from poolwright.plan.supply import name_resource
from poolwright.plan.verdict import Move


class FreePlacement:
    """Puts pods on devices that are said, each judged as if it came when only they were left.

    Of a device that takes several claims what its shares take adds up. What devices draw on counters is compared in
    the end.
    """

    def __init__(self, replay: Replay) -> None:
        """Put them into a replay, in which nothing is placed."""
        demand = replay.demand
        self._replay = replay
        # Those that are held to leave the others free would draw on counters that nobody draws on.
        self._allocator = Allocator([drop_charges(one) for one in demand.slices], demand.classes, demand.features)
        self._features = demand.features
        self._taken: dict[DeviceId, list[AllocatedDevice]] = {}
        for claim in demand.held:
            if claim.allocation is not None:
                self._take(claim.allocation)

    def put(self, workload: int, move: Move) -> str:
        """Put the pod of a move on its devices; why not, or empty."""
        if not move.devices:
            return "the plan doesn't say which devices it gets, so it can't be checked"
        pod, node = self._replay.build(workload, move.replica).pods[move.pod], self._replay.nodes[move.node]
        usable = all(claim.allocation is None or is_usable(claim.allocation, node) for claim in pod.claims)
        if pod.problem or find_bar(pod, node) or not usable:
            return "the node isn't open to it any more"
        if lack := self._replay.find_lack(workload, move.pod, move.node):
            return f"the node has too little left for it: {name_resource(lack)}"
        own = {one.id: one for _, one in self._replay.allocator.pools(node).candidates if one.id in move.devices}
        if missing := next((one for one in move.devices if one not in own), None):
            return f"{'/'.join(missing)} isn't among the node's devices any more"
        if taken := next((one for one in move.devices if self._is_whole(one)), None):
            return f"{'/'.join(taken)} is taken already"
        if self._features.compatibility_groups and any(one.device.consumes for one in own.values()):
            return "the cluster compares compatibility groups, so it can't be checked"
        new = [claim for claim in pod.claims if claim.allocation is None]
        outcome = self._allocator.allocate(node, new, self._hold_others(move))
        if not isinstance(outcome, Allocated):
            return "the allocator doesn't give it these devices, even with no others free"
        given = sorted((one.driver, one.pool, one.device) for part in outcome.allocations for one in part.devices)
        if tuple(given) != move.devices:
            return "the allocator gives it only some of these devices, with no others free"
        for allocation in outcome.allocations:
            self._take(allocation)
        found = dict(zip(map(claim_key, new), outcome.allocations, strict=True))
        self._replay.keep(workload, move.replica, move.pod, move.node, found)
        return ""

    def find_overdrawn(self) -> str:
        """A pool whose counters don't suffice for what was put; empty: there is none."""
        for node in dict.fromkeys(move.node for move in self._replay.moves):
            for pool in self._replay.allocator.pools(self._replay.nodes[node]).pools:
                if self._replay.allocator.knowledge.available(pool, self._replay.held).is_overdrawn:
                    return f"the counters of pool {'/'.join(pool.id)} don't suffice for all of it"
        return ""

    def _take(self, allocation: Allocation) -> None:
        for one in allocation.devices:
            if not one.admin_access:
                self._taken.setdefault((one.driver, one.pool, one.device), []).append(one)

    def _is_whole(self, device: DeviceId) -> bool:
        """Whether a claim has all of a device."""
        shares = self._features.consumable_capacity
        return any(one.share_id is None or not shares for one in self._taken.get(device, ()))

    def _hold_others(self, move: Move) -> Held:
        """All devices of a node held but those of a move; of these what shares take already."""
        held, own = Held(self._features), set(move.devices)
        others = [one.id for _, one in self._allocator.pools(self._replay.nodes[move.node]).candidates]
        shares = [one for device in sorted(own) for one in self._taken.get(device, ())]
        held.add(Allocation(devices=(*(_whole(one) for one in others if one not in own), *shares)))
        return held


def _whole(device: DeviceId) -> AllocatedDevice:
    return AllocatedDevice(request="", driver=device[0], pool=device[1], device=device[2])
