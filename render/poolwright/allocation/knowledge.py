"""What is worked out once for a cluster and used by every attempt: pools, selectors' answers, amounts, counters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from poolwright.allocation.claim import DeviceClass, Request
from poolwright.allocation.features import Features
from poolwright.allocation.groups import GroupState, join_groups
from poolwright.allocation.held import DeviceId, Held
from poolwright.allocation.need import Consumption, Matches
from poolwright.allocation.pools import CounterId, NodePools, Pool, PoolIndex
from poolwright.allocation.selectors import SelectorCache
from poolwright.allocation.trial import Available
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import ResourceSlice
from poolwright.specs.quantity import Quantity


class Knowledge:
    """What follows from the slices and classes of a cluster alone, and what of it was needed last of what is held."""

    def __init__(self, slices: Iterable[ResourceSlice], classes: Mapping[str, DeviceClass], features: Features) -> None:
        self.features = features
        self.classes = classes
        self.selectors = SelectorCache(features)
        self._index = PoolIndex(slices, features)
        self._pools: dict[str, NodePools] = {}
        self._matches: dict[tuple[str, Sequence[str | None]], Matches] = {}
        self._consumption: dict[tuple[tuple[str, Quantity], ...] | None, Consumption] = {}
        self._available: dict[Pool, tuple[Held, int, Available]] = {}

    def pools(self, node: Node) -> NodePools:
        """The pools of a node; of two nodes with one name the first one's."""
        found = self._pools.get(node.name)
        if found is None:
            found = self._pools[node.name] = self._index.gather(node)
        return found

    def matches(self, device_class: DeviceClass, request: Request) -> Matches:
        """What is known of which devices the selectors of both take; whoever finds out more adds it."""
        return self._matches.setdefault((device_class.name, request.selectors), {})

    def consumption(self, request: Request) -> Consumption:
        """What is known of which capacity the request takes of devices; whoever finds out more adds it."""
        key = None if request.capacity is None else tuple(sorted(request.capacity.items()))
        return self._consumption.setdefault(key, {})

    def available(self, pool: Pool, held: Held) -> Available:
        """What is left of a pool's counters."""
        known = self._available.get(pool)
        version = held.version(pool.id)
        if known is not None and known[0] is held and known[1] == version:
            return known[2]
        left: dict[CounterId, int] = dict(pool.counters)
        for candidate in (*pool.candidates, *pool.elsewhere):
            if candidate.charges and self._is_charged(candidate.id, held):
                for counter, amount in candidate.charges:
                    left[counter] -= amount
        available = Available(left, any(amount < 0 for amount in left.values()))
        self._available[pool] = (held, version, available)
        return available

    def peers(self, pool: Pool, held: Held) -> dict[str, GroupState]:
        """The compatibility groups of what is held, by counter set."""
        peers: dict[str, GroupState] = {}
        for candidate in (*pool.candidates, *pool.elsewhere):
            if held.is_held(candidate.id):
                for consumed in candidate.device.consumes:
                    name = consumed.counter_set
                    peers[name] = join_groups(peers.get(name), consumed.compatibility_groups)
        return peers

    def _is_charged(self, device: DeviceId, held: Held) -> bool:
        """A share counts too; until 1.35 it was forgotten (kubernetes/kubernetes#139034)."""
        counts_shares = self.features.mended or self.features.key >= 36
        return held.is_held(device) if counts_shares else held.is_dedicated(device)
