"""Orders with nodes that are tried, each move carried out by the allocator: what they come to is possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as made
from heapq import heapify, heappop, heapreplace
from itertools import islice
from typing import Final

from poolwright.allocation.allocator import Allocator
from poolwright.allocation.subject import ClaimKey, claim_key
from poolwright.plan.methods.kinds import Field, Kind
from poolwright.plan.replay import Replay
from poolwright.plan.verdict import Witness

MAX_LEADS: Final = 16  # pods of others that are tried as the first, where a claim is shared


@dataclass(slots=True)
class Packer:
    """One order as it unfolds."""

    field: Field
    replay: Replay
    is_now: bool = True  # devices are in the order they are published in; else in the opposite one
    placed: Counter[tuple[int, int]] = made(default_factory=Counter)  # by workload and pod
    used: Counter[str] = made(default_factory=Counter)  # devices by node

    def place(self, kind: Kind, node: str) -> bool:
        """Place the next pod of a kind on a node, if there is one left and it goes there."""
        key = kind.workload, kind.pod
        if not self.has_left(kind) or node not in kind.shape.on_node:
            return False
        move = self.replay.place(kind.workload, self.placed[key], kind.pod, node)
        if move is None:
            return False
        self.placed[key] += 1
        self.used[node] += len(move.devices)
        return True

    def has_left(self, kind: Kind) -> bool:
        """Whether not all pods of a kind are placed."""
        return self.placed[kind.workload, kind.pod] < kind.count

    def undo(self, kind: Kind) -> None:
        """Take back the last move, which was of this kind."""
        move = self.replay.undo()
        self.placed[kind.workload, kind.pod] -= 1
        self.used[move.node] -= len(move.devices)

    def can_place(self, kind: Kind, node: str) -> bool:
        """Whether one more pod of a kind would go on a node."""
        return self.replay.can_place(kind.workload, self.placed[kind.workload, kind.pod], kind.pod, [node])

    def fill(self, kind: Kind) -> None:
        """Place pods of a kind until none goes anywhere, or all are placed."""
        is_done = False
        while not is_done:
            is_done = True
            for node in kind.shape.on_node:
                while self.place(kind, node):
                    is_done = not kind.shape.reached  # others of its nodes may be open now

    def fill_replicas(self, kind: Kind) -> None:
        """The same for all pods of its replicas: one may bring a claim that another one uses."""
        own = [one for one in self.field.kinds if one.workload == kind.workload] if kind.shares else []
        before = -1
        while before < self.placed.total():
            before = self.placed.total()
            for one in (kind, *own):
                self.fill(one)


def start(field: Field, allocator: Allocator | None = None) -> Packer:
    """Nothing is placed."""
    context = field.context
    replay = Replay(context.demand, allocator or context.acceptance.allocator, context.supply)
    return Packer(field, replay, allocator is None)


def pack_alone(field: Field, at: int) -> Witness:
    """As many replicas of a member as go with nobody else there, one after the other."""
    packer = start(field)
    kinds = [kind for kind in field.kinds if kind.workload == at]
    count = _pack_replicas(packer, kinds)
    return Witness(moves=tuple(packer.replay.moves), placed=count, replays="now")


def pack_shared(field: Field, at: int) -> Witness:
    """The replicas of a member that share all their claims, with nobody else there: all go where the first one does."""
    packer = start(field)
    kind = next(kind for kind in field.kinds if kind.workload == at)
    count = 0
    for node in kind.shape.on_node:
        while count < kind.weight and packer.replay.place(at, count, kind.pod, node) is not None:
            count += 1
        if count:
            break
    return Witness(moves=tuple(packer.replay.moves), placed=count, replays="now")


def pack_after_others(field: Field, at: int, most: int) -> Witness | None:
    """As many replicas of a member as go once another workload's pod got devices for what they share; None: none does.

    most: as many as it can be; when an order comes to it, no other is tried.
    """
    kinds = [kind for kind in field.kinds if kind.workload == at]
    best: Witness | None = None
    for lead, node in _list_leads(field, kinds, is_far=False):
        packer = start(field)
        count = _pack_replicas(packer, kinds) if packer.place(lead, node) else 0
        if count and (best is None or count > best.placed):
            best = Witness(moves=tuple(packer.replay.moves), placed=count, replays="now")
            if count >= most:
                break
    return best


def _list_leads(field: Field, kinds: Sequence[Kind], *, is_far: bool) -> Iterator[tuple[Kind, str]]:
    """Pods of other workloads that may get devices for a claim that kinds share with them, each with a node.

    is_far: nodes of other kinds alone, from where these can't use it.
    """
    open_ = {node for kind in kinds for node in kind.shape.on_node}
    shared = {key for kind in kinds for key in _list_shared(field, kind)}
    own = {kind.workload for kind in kinds}
    leads = (
        (kind, node)
        for kind in field.kinds
        if kind.workload not in own and not kind.is_barred and not shared.isdisjoint(_list_shared(field, kind))
        for node in kind.shape.on_node
        if not (is_far and node in open_)
    )
    return islice(leads, MAX_LEADS)


def _list_shared(field: Field, kind: Kind) -> Iterator[ClaimKey]:
    workload = field.context.demand.workloads[kind.workload]
    return (key for key in map(claim_key, workload.pods[kind.pod].claims) if key in workload.shared)


def pack_all(field: Field, order: Sequence[int]) -> int:
    """Replicas of all members that are placed, one workload after the other."""
    packer = start(field)
    total = 0
    for at in order:
        kinds = [(number, kind) for number, kind in enumerate(field.kinds) if kind.workload == at]
        if at in field.context.barred:
            continue
        if all(kind.is_own for _, kind in kinds):
            total += _pack_replicas(packer, [kind for _, kind in kinds])
        elif kinds[0][1].follows is None and _pack_replicas(packer, [kinds[0][1]]):
            # With the first one come all that share its claims.
            first = kinds[0][0]
            followers = (kind for number, kind in enumerate(field.kinds) if first in (number, kind.follows))
            total += sum(kind.weight for kind in followers if not kind.is_barred)
    return total


def _pack_replicas(packer: Packer, kinds: Sequence[Kind]) -> int:
    """Complete replicas, on the fullest nodes that can; one that isn't completed is taken back, and the last."""
    queues = [_queue(packer, kind) for kind in kinds]
    for number in range(min((kind.count for kind in kinds), default=0)):
        done: list[Kind] = []
        for kind, queue in zip(kinds, queues, strict=True):
            if not _place_fullest(packer, kind, queue):
                break
            done.append(kind)
        if len(done) < len(kinds):
            for kind in reversed(done):
                packer.undo(kind)
            return number
    return min((kind.count for kind in kinds), default=0)


def _queue(packer: Packer, kind: Kind) -> list[tuple[int, str]]:
    """A heap of nodes by how many devices they have left."""
    queue = [(len(devices) - packer.used[node], node) for node, devices in kind.shape.on_node.items()]
    heapify(queue)
    return queue


def _place_fullest(packer: Packer, kind: Kind, queue: list[tuple[int, str]]) -> bool:
    if kind.shape.reached:  # others may make room on a node
        return any(packer.place(kind, node) for node in kind.shape.on_node)
    while queue:
        left, node = queue[0]
        now = len(kind.shape.on_node[node]) - packer.used[node]
        if left != now:
            heapreplace(queue, (now, node))
        elif packer.place(kind, node):
            return True
        else:
            heappop(queue)  # more that is held never makes room
    return False


def list_orders(field: Field) -> Iterator[tuple[int, ...]]:
    """Orders of the members to try: small pods first, which places the most; large ones first; scarce; as given."""
    sizes = {at: sum(kind.size for kind in field.kinds if kind.workload == at) for at in field.members}
    room = {at: sum(len(kind.shape.accepted) for kind in field.kinds if kind.workload == at) for at in field.members}
    large = tuple(sorted(field.members, key=lambda at: -sizes[at]))
    scarce = tuple(sorted(field.members, key=lambda at: room[at]))
    orders = dict.fromkeys((large[::-1], large, scarce, field.members, field.members[::-1]))
    yield from list(orders)[: 2 if field.is_large else None]


def find_worst(field: Field, at: int, *, target: int) -> Witness | None:
    """The order found that leaves the most pods of a kind out; None: none leaves any out.

    target: so many are proven to fit always: when an order comes to it, no other is tried.
    """
    kind = field.kinds[at]
    worst: Witness | None = None
    for packer, others, takes_back in _list_plans(field, at):
        block(packer, kind, others, takes_back=takes_back)
        packer.fill_replicas(kind)
        count = packer.placed[kind.workload, kind.pod]
        if count < kind.count and (worst is None or count < worst.placed):
            worst = Witness(
                moves=tuple(packer.replay.moves),
                placed=count,
                replays="now" if packer.is_now else "after-reordering-or-restart",
                device_order=None if packer.is_now else "reversed",
            )
        if worst is not None and (worst.placed <= target or field.is_large):
            break
    return worst


def _list_plans(field: Field, at: int) -> Iterator[tuple[Packer, list[Kind], bool]]:
    """Ways to keep a kind from its nodes: who goes first, and whether a node that stays open is given up."""
    others = [one for number, one in enumerate(field.kinds) if number != at and not one.is_barred]
    orders = [
        sorted(others, key=lambda one: one.size),
        sorted(others, key=lambda one: -one.size),
        sorted(others, key=lambda one: len(one.shape.accepted)),
        others[::-1],
    ]
    if field.is_large:
        orders = orders[:2]
    for lead, node in _list_leads(field, [field.kinds[at]], is_far=True):
        packer = start(field)
        if packer.place(lead, node):
            yield packer, others, False
    for is_now in (True, False):
        for order in orders:
            for takes_back in (True, False):
                yield start(field, None if is_now else field.context.turned), order, takes_back


def block(packer: Packer, kind: Kind, others: Sequence[Kind], *, takes_back: bool) -> None:
    """Place others where they keep a kind's pods away, the nodes with the fewest devices first."""
    on_node = kind.shape.on_node
    for node in sorted(on_node, key=lambda node: (len(on_node[node]), node)):
        done: list[Kind] = []
        refused: set[str] = set()  # more that is held on the node never makes room on it
        while packer.can_place(kind, node):
            placed = _place_first(packer, others, node, refused)
            if placed is None:
                break
            done.append(placed)
        else:
            continue
        if takes_back:
            for other in reversed(done):
                packer.undo(other)


def _place_first(packer: Packer, others: Sequence[Kind], node: str, refused: set[str]) -> Kind | None:
    """The first kind of which a pod is left and goes on a node."""
    for other in others:
        if other.shape.key not in refused and packer.has_left(other):
            if packer.place(other, node):
                return other
            refused.add(other.shape.key)
    return None
