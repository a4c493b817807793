"""Orders after which a rollout doesn't move, carried out by the allocator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, Literal, TypeVar

from poolwright.allocation.held import DeviceId
from poolwright.plan.methods.kinds import Field, Kind
from poolwright.plan.methods.packing import Packer, block, start
from poolwright.plan.replay import Replay
from poolwright.plan.verdict import Move, Witness

MAX_MOVES: Final = 24  # of an order of which it is tried whether it does with fewer
MAX_PODS: Final = 2_000  # in all the orders that are tried together
T = TypeVar("T")
_Choice = Literal["fullest", "emptiest", "first"]  # the node that a replica's pod goes to
_CHOICES: Final[tuple[_Choice, ...]] = ("fullest", "emptiest", "first")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """When a rollout of a workload doesn't move: with so many replicas in place no further one finds room."""

    workload: int  # index in the demand
    held: int  # replicas in place at least as long as none fails: old ones aren't let go before others are ready
    most: int  # with one more in place it moves


def find_stuck(field: Field, stop: Stop, known: Witness | None) -> Witness | None:
    """An order that ends with a rollout stuck; None: none was found.

    known:   the order that the workload's verdict has for leaving replicas out.
    Returns: one with at least `held` replicas in place before one with fewer, one that happens with devices as they are
             published now before another one.
    Cost:    some dozen orders, fewer of a large field: see `thin_out`.
    """
    found = _use_known(field, stop, known)
    if not any(_is_best(one, stop) for one in found):
        for packer in _list_orders(field, stop):
            witness = _end(packer, stop)
            if witness is not None:
                found.append(witness)
                if _is_best(witness, stop):
                    break
    best = min(found, key=lambda one: (one.placed < stop.held, one.replays != "now", len(one.moves)), default=None)
    return None if best is None else _shorten(field, stop, best)


def _is_best(witness: Witness, stop: Stop) -> bool:
    return witness.placed >= stop.held and witness.replays == "now"


def _use_known(field: Field, stop: Stop, known: Witness | None) -> list[Witness]:
    """The known order if it ends stuck, and the same with others left out who keep old replicas from their places."""
    if known is None or known.replays == "not-replayed":
        return []
    packer = _carry_out(field, known.moves, is_now=known.replays == "now")
    witness = None if packer is None else _end(packer, stop)
    if witness is None:
        return []
    if witness.placed < stop.held and len(witness.moves) <= MAX_MOVES:
        return [witness, *_make_way(field, stop, witness)]
    return [witness]


def _end(packer: Packer, stop: Stop) -> Witness | None:
    """What has been carried out, if no further replica of the workload finds room; None: one does, or enough are there.

    One does, if each of its pods does.
    """
    own = _list_own(packer.field, stop)
    stays_out = any(
        packer.placed[kind.workload, kind.pod] <= stop.most
        and not any(packer.can_place(kind, node) for node in kind.shape.on_node)
        for kind in own
    )
    if not stays_out:
        return None
    moves = tuple(packer.replay.moves)
    if not packer.is_now:
        # The order of devices that the moves themselves tell must do it too: that is how it is carried out again.
        again = _carry_out(packer.field, moves, is_now=False)
        if again is None or tuple(again.replay.moves) != moves:
            return None
    return Witness(
        moves=moves,
        placed=min(packer.placed[kind.workload, kind.pod] for kind in own),
        replays="now" if packer.is_now else "after-reordering-or-restart",
        device_order=None if packer.is_now else _list_first(moves),
    )


def _list_own(field: Field, stop: Stop) -> list[Kind]:
    return [kind for kind in field.kinds if kind.workload == stop.workload]


def _list_orders(field: Field, stop: Stop) -> Iterator[Packer]:
    """Others keep the workload's pods away: after its old replicas are in place, or before."""
    own = _list_own(field, stop)
    others = [kind for kind in field.kinds if kind.workload != stop.workload and not kind.is_barred]
    keys: tuple[Callable[[Kind], int], ...] = (
        lambda one: one.size,
        lambda one: -one.size,
        lambda one: len(one.shape.accepted),
    )
    orders = {tuple(field.kinds.index(one) for one in sorted(others, key=key)): None for key in keys}
    ways = list(product((True, False), own, _CHOICES, (True, False), orders, (True, False)))
    for is_now, target, choice, old_first, numbers, takes_back in thin_out(ways, field):
        order = [field.kinds[number] for number in numbers]
        packer = start(field, None if is_now else field.context.turned)
        if old_first:
            _place_own(packer, own, stop.held, choice)
        block(packer, target, order, takes_back=takes_back)
        _place_own(packer, own, stop.most, choice)
        block(packer, target, order, takes_back=takes_back)
        done = packer if is_now else _carry_out(field, packer.replay.moves, is_now=False)
        if done is not None:
            yield done


def thin_out(ways: Sequence[T], field: Field) -> Sequence[T]:
    """Some of the ways to try, all over the list; all where the pods of all orders together aren't too many."""
    pods = len(ways) * sum(kind.count for kind in field.kinds)
    return ways[:: max(1, -(-pods // MAX_PODS))]


def _place_own(packer: Packer, own: Sequence[Kind], count: int, choice: _Choice) -> None:
    """Place replicas until so many are there, or a pod of the next one goes nowhere."""
    closed: set[tuple[int, str]] = set()  # more that is held never makes room
    for _ in range(count - min((packer.placed[kind.workload, kind.pod] for kind in own), default=count)):
        for kind in own:
            if packer.placed[kind.workload, kind.pod] < count and not _place_one(packer, kind, choice, closed):
                return


def _place_one(packer: Packer, kind: Kind, choice: _Choice, closed: set[tuple[int, str]]) -> bool:
    on_node = kind.shape.on_node
    nodes = [node for node in on_node if (kind.pod, node) not in closed]
    if choice != "first":
        sign = 1 if choice == "fullest" else -1
        nodes.sort(key=lambda node: (sign * (len(on_node[node]) - packer.used[node]), node))
    for node in nodes:
        if packer.place(kind, node):
            return True
        if not kind.shape.reached:
            closed.add((kind.pod, node))
    return False


def _make_way(field: Field, stop: Stop, witness: Witness) -> list[Witness]:
    """The order without as many others as it takes to have the old replicas in place; none: it can't be made so."""
    for at in reversed(range(len(witness.moves))):
        packer = _leave_out(field, stop, witness, at)
        if packer is None:
            continue
        _place_own(packer, _list_own(field, stop), stop.held, "first")
        end = _end(packer, stop)
        if end is None or end.placed <= witness.placed:
            continue
        if end.placed >= stop.held:
            return [end]
        witness = end
    return []


def _shorten(field: Field, stop: Stop, witness: Witness) -> Witness:
    """The same end without others who make no difference to it."""
    if len(witness.moves) <= MAX_MOVES:
        for at in reversed(range(len(witness.moves))):
            packer = _leave_out(field, stop, witness, at)
            end = None if packer is None else _end(packer, stop)
            if end is not None and end.placed == witness.placed:
                witness = end
    return witness


def _leave_out(field: Field, stop: Stop, witness: Witness, at: int) -> Packer | None:
    """An order without another workload's move; None: it is the workload's own, or others hang on it."""
    if witness.moves[at].workload == field.context.titles[stop.workload]:
        return None
    fewer = witness.moves[:at] + witness.moves[at + 1 :]
    return _carry_out(field, fewer, is_now=witness.replays == "now")


def _carry_out(field: Field, moves: Iterable[Move], *, is_now: bool) -> Packer | None:
    """The same pods on the same nodes; None: one of them doesn't go there.

    is_now: with devices as they are published; else with those of the moves before all others.
    """
    context, moves = field.context, tuple(moves)
    allocator = context.acceptance.allocator
    if not is_now:
        allocator = context.demand.build_allocator(_list_first(moves))
    packer = Packer(field, Replay(context.demand, allocator, context.supply), is_now)
    kinds = {(context.titles[kind.workload], kind.pod): kind for kind in field.kinds}
    for move in moves:
        if not packer.place(kinds[move.workload, move.pod], move.node):
            return None
    return packer


def _list_first(moves: Iterable[Move]) -> tuple[DeviceId, ...]:
    """The devices of moves, as they come, each once."""
    return tuple(dict.fromkeys(device for move in moves for device in move.devices))
