"""Replica groups that hold a part of their devices each and wait for one another: the gang deadlock.

The default scheduler places pods one by one. An order is looked for after which no pod of a half-placed group finds
room, although there is room for a whole one, or for somebody else who waits, once half-placed ones give theirs back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, Literal

from poolwright.plan.demand import Demand
from poolwright.plan.engine import split
from poolwright.plan.methods.context import Context, build_context
from poolwright.plan.methods.kinds import Field, Kind, build_field
from poolwright.plan.methods.packing import start
from poolwright.plan.report.words import count_of
from poolwright.plan.verdict import Judgement, Move, Witness
from poolwright.plan.what_if.stuck import thin_out

GATES_SINCE: Final = 35  # the minor of Kubernetes 1 that has gang scheduling first. Source: KEP-4671
_Pod = tuple[int, int, int]  # workload, replica and pod
_Choice = Literal["emptiest", "fullest", "first", "last"]  # the node that a pod goes to
_Others = Literal["none", "before", "between"]  # when the pods of other workloads come
_CHOICES: Final[tuple[_Choice, ...]] = ("emptiest", "fullest", "first", "last")


@dataclass(frozen=True, slots=True, kw_only=True)
class GangDeadlock:
    """An order after which replica groups hold devices for nothing."""

    workloads: tuple[str, ...]  # of the replicas that hold a part, in the demand's order
    holding: int  # replicas that hold a part and wait for the rest
    complete: int  # replicas of these workloads that are complete
    gained: tuple[tuple[str, int], ...]  # replicas that there is room for once those give theirs back, by workload
    why: str  # a sentence
    fix: str
    witness: Witness


def find_gang_deadlocks(demand: Demand, judgement: Judgement) -> tuple[GangDeadlock, ...]:
    """Deadlocks of a fresh cluster's replica groups: one for each part of the demand that has one, if one is found.

    judgement: of the same demand. Groups that always fit are in none: all their pods find devices in every order.
    Returns:   none isn't a proof that there is none.
    Cost:      some dozen orders for each part, fewer of a large one. Where devices are held nothing is looked at.
    """
    open_ = {
        at
        for at, (workload, verdict) in enumerate(zip(demand.workloads, judgement.verdicts, strict=True))
        if workload.is_group and not workload.is_per_node and verdict.word not in ("always-fits", "error")
    }
    if demand.held or demand.scenario != "fresh" or not open_:
        return ()
    context = build_context(demand, shows=False)
    found = (_search(context, part, open_) for part in split(context) if open_ & set(part))
    return tuple(one for one in found if one is not None)


def _search(context: Context, part: Sequence[int], open_: set[int]) -> GangDeadlock | None:
    field = build_field(context.with_supply(), part)
    sharing = {kind.workload for kind in field.kinds if kind.shares or not kind.is_own}
    groups = [at for at in part if at in open_ and at not in context.barred and at not in sharing]
    if not groups:
        return None
    others = [kind for kind in field.kinds if kind.workload not in open_ and kind.is_own and not kind.is_barred]
    by_size = sorted(others, key=lambda one: one.size)
    orders = [others] if by_size == others else [others, by_size]
    whens: tuple[_Others, ...] = ("none", "before", "between") if others else ("none",)
    for fills in (False, True) if others else (False,):
        ways = list(product(whens, list(_list_starts(field, groups)), _CHOICES, orders))
        for when, pods, choice, order in thin_out(ways, field):
            attempt = _Attempt(field, groups, choice)
            attempt.run(pods, order, when, fills=fills)
            deadlock = attempt.find_deadlock(order if fills else ())
            if deadlock is not None:
                return deadlock
    return None


def _list_starts(field: Field, groups: Sequence[int]) -> Iterator[list[_Pod]]:
    """Orders of all groups' pods: the first of every replica, then the second; or with another first for each."""
    workloads = field.context.demand.workloads
    replicas = [(at, number) for at in groups for number in range(workloads[at].replicas)]
    sizes = {at: len(workloads[at].pods) for at in groups}
    largest = max(sizes.values())
    by_pod = [(at, number, pod) for pod in range(largest) for at, number in replicas if pod < sizes[at]]
    yield by_pod
    yield by_pod[::-1]
    yield [
        (at, number, (turn + index) % sizes[at])
        for turn in range(largest)
        for index, (at, number) in enumerate(replicas)
        if turn < sizes[at]
    ]
    if largest > 2:
        yield [(at, number, pod) for at, number in replicas for pod in range(sizes[at] - 1)] + [
            (at, number, sizes[at] - 1) for at, number in replicas
        ]


class _Attempt:
    """An order as it unfolds, pod by pod."""

    def __init__(self, field: Field, groups: Sequence[int], choice: _Choice) -> None:
        self._field = field
        self._groups = groups
        self._choice: _Choice = choice
        self._packer = start(field)
        self._kinds = {(kind.workload, kind.pod): kind for kind in field.kinds}
        self._placed: dict[_Pod, Move] = {}  # of groups
        self._closed: set[tuple[int, int, str]] = set()  # pods by kind that a node refused: more held never makes room

    def run(self, pods: Sequence[_Pod], others: Sequence[Kind], when: _Others, *, fills: bool) -> None:
        """Place all pods of groups that find room, in this order.

        fills: in the end also all others that do.
        """
        if when == "before":
            self._fill(others)
        for at, number, pod in pods:
            if when == "between" and any(one[:2] == (at, number) for one in self._placed):
                self._block((at, number, pod), others)
            self._place((at, number, pod), self._choice)
        if fills:
            self._fill(others)

    def find_deadlock(self, others: Sequence[Kind]) -> GangDeadlock | None:
        """What half-placed replicas keep from being complete; None: nothing, or there are none.

        others: those of whom all are there that find room, who may gain too.
        """
        replay = self._packer.replay
        holding = sorted({pod[:2] for pod, move in self._placed.items() if move.devices and not self._is_complete(pod)})
        missing = [pod for at, number in holding for pod in self._list_pods(at, number) if pod not in self._placed]
        # Seen anew: where more that is held does make room, what was refused on the way is no proof.
        if not holding or any(replay.can_place(*pod, list(replay.nodes)) for pod in missing):
            return None
        involved = tuple(dict.fromkeys(at for at, _ in holding))
        complete = len({pod[:2] for pod in self._placed if pod[0] in involved and self._is_complete(pod)})
        witness = Witness(moves=tuple(replay.moves), placed=complete, replays="now")
        for at, number in holding:
            replay.leave(at, number)
            for pod in self._list_pods(at, number):
                self._placed.pop(pod, None)
        gained = self._count_gained(others)
        return _build(self._field.context, involved, len(holding), gained, witness) if gained else None

    def _list_pods(self, at: int, number: int) -> list[_Pod]:
        return [(at, number, pod) for pod in range(len(self._field.context.demand.workloads[at].pods))]

    def _is_complete(self, pod: _Pod) -> bool:
        return all(one in self._placed for one in self._list_pods(pod[0], pod[1]))

    def _place(self, pod: _Pod, choice: _Choice) -> bool:
        at, number, index = pod
        kind, used = self._kinds[at, index], self._packer.used
        nodes = [node for node in kind.shape.on_node if (at, index, node) not in self._closed]
        if choice in ("first", "last"):
            nodes.sort(reverse=choice == "last")
        else:
            sign = 1 if choice == "fullest" else -1
            nodes.sort(key=lambda node: (sign * (len(kind.shape.on_node[node]) - used[node]), node))
        for node in nodes:
            move = self._packer.replay.place(at, number, index, node)
            if move is not None:
                self._placed[pod] = move
                used[node] += len(move.devices)
                return True
            self._closed.add((at, index, node))
        return False

    def _fill(self, others: Sequence[Kind]) -> None:
        for kind in others:
            self._packer.fill(kind)

    def _block(self, pod: _Pod, others: Sequence[Kind]) -> None:
        """Place others on the nodes that a pod could go to, until it can't, or no other goes there."""
        for node in self._kinds[pod[0], pod[2]].shape.on_node:
            while self._packer.replay.can_place(*pod, [node]):
                if not any(self._packer.place(kind, node) for kind in others):
                    break

    def _count_gained(self, others: Sequence[Kind]) -> list[tuple[int, int]]:
        """Whole replicas that find room one after the other, by workload: of groups, then of others."""
        gained: Counter[int] = Counter()
        for at in self._groups:
            for number in range(self._field.context.demand.workloads[at].replicas):
                pods = self._list_pods(at, number)
                if self._is_complete(pods[0]):
                    continue
                if not any(self._place_whole(pods, choice) for choice in _CHOICES):
                    break  # the next one asks for the same
                gained[at] += 1
        for kind in others:
            before = self._packer.placed[kind.workload, kind.pod]
            self._packer.fill(kind)
            gained[kind.workload] += self._packer.placed[kind.workload, kind.pod] - before
        return sorted((at, count) for at, count in gained.items() if count)

    def _place_whole(self, pods: Sequence[_Pod], choice: _Choice) -> bool:
        """Place all of a replica's pods, or none."""
        self._closed.clear()  # something was given back since
        for index, pod in enumerate(pods):
            if not self._place(pod, choice):
                for done in reversed(pods[:index]):
                    move = self._packer.replay.undo()
                    self._packer.used[move.node] -= len(move.devices)
                    del self._placed[done]
                return False
        return True


def _build(
    context: Context, involved: Sequence[int], holding: int, gained: Sequence[tuple[int, int]], witness: Witness
) -> GangDeadlock:
    titles = tuple(context.titles[at] for at in involved)
    replicas = f"{count_of(holding, 'replica')} of {' and '.join(titles)}"
    named = tuple((context.titles[at], count) for at, count in gained)
    said = ", ".join(f"{count} of {title}" for title, count in named)
    part = "holds a part and isn't" if holding == 1 else "hold a part each and none of them is"
    room = f"once {'it gives that' if holding == 1 else 'they give those'} back there is room for {said}, whole"
    return GangDeadlock(
        workloads=titles,
        holding=holding,
        complete=witness.placed,
        gained=named,
        why=f"{replicas} {part} complete: a gang deadlock; {room}",
        fix=_say_fix(context.demand),
        witness=witness,
    )


def _say_fix(demand: Demand) -> str:
    """Gang scheduling, so that no replica holds a part: for what is gained there was room then, whole."""
    fix = "gang scheduling, by which a replica's pods get their devices together or not at all"
    if demand.features.key < GATES_SINCE:
        return f"{fix}; Kubernetes {demand.features.minor} has none, other schedulers do"
    gates = f"Kubernetes has it since 1.{GATES_SINCE}, behind the gates GenericWorkload and GangScheduling"
    return f"{fix}; {gates}; other schedulers have it too"
