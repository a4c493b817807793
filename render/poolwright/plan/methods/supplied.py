"""Verdicts where nodes may run out of CPU, memory or anything else before their devices do.

What was proven of devices alone is taken back as far as it rests on such nodes, and proven again where it can be: from
below by closing these nodes to the workload, from above by orders in which nodes have to have enough for each pod.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from poolwright.allocation.held import DeviceId
from poolwright.allocation.subject import claim_key
from poolwright.plan.discharge import Discharge, Tight
from poolwright.plan.methods.acceptance import Shape
from poolwright.plan.methods.bounds import prove_always
from poolwright.plan.methods.cells import NotSearchedError
from poolwright.plan.methods.context import Context
from poolwright.plan.methods.exact import Part, choose_word
from poolwright.plan.methods.general import NOT_PROVEN, NOT_SERVED
from poolwright.plan.methods.kinds import Field, build_field
from poolwright.plan.methods.node_search import build_node_search
from poolwright.plan.methods.packing import find_worst, list_orders, pack_all, pack_alone, pack_shared
from poolwright.plan.report.words import count_of
from poolwright.plan.supply import Amounts, count_requests, say_short
from poolwright.plan.verdict import Count, NodeTotal, Verdict, Witness

_UNDONE: Final = "the order of devices that leaves some out asks more of a node than it has"


def weaken(context: Context, found: Discharge, parts: Sequence[Part]) -> tuple[Part, ...]:
    """What holds of the parts whose pods nodes may have too little for; they become one, for they share nodes.

    A part none of whose pods can meet such a node stays as it is: every packing of devices is one of nodes too.
    Cost: where there is such a node, two bounds for each workload, and the orders of `packing`.
    """
    tight = {at: _join(context, found, at) for part in parts for at in part.verdicts}
    touched = [part for part in parts if any(tight[at] for at in part.verdicts)]
    if not touched:
        return tuple(parts)
    members = sorted(at for part in touched for at in part.verdicts)
    field = build_field(context.with_supply(), members)  # orders go by what nodes have
    verdicts = {
        at: _weaken(field, _Case(at, verdict, tuple(part.verdicts), tight[at]))
        for part in touched
        for at, verdict in part.verdicts.items()
    }
    shortfall = _count_shortfall(field, sum(part.shortfall.least for part in touched), verdicts)
    joined = Part(
        verdicts=verdicts,
        shortfall=shortfall,
        over_demanded=tuple(one for part in touched for one in part.over_demanded),
        hall_sets=tuple(one for part in touched for one in part.hall_sets),
    )
    return (*(part for part in parts if not any(tight[at] for at in part.verdicts)), joined)


@dataclass(frozen=True, slots=True)
class _Case:
    """A workload as devices alone have it."""

    at: int
    verdict: Verdict
    part: tuple[int, ...]  # the workloads it shares devices with, and itself
    tight: Mapping[str, Tight]  # by node


def _join(context: Context, found: Discharge, at: int) -> dict[str, Tight]:
    """The nodes that may have too little for some pod of a workload, with no numbers where a replica has several."""
    pods = range(len(context.shapes[at]))
    if len(pods) == 1:
        return dict(found.tight.get((at, 0), {}))
    lacks: dict[str, tuple[tuple[str, NodeTotal], ...]] = {}
    for pod in pods:
        for node, tight in found.tight.get((at, pod), {}).items():
            lacks[node] = tuple(dict.fromkeys((*lacks.get(node, ()), *tight.lacks)))
    return {node: Tight(lacks=own) for node, own in lacks.items()}


def _weaken(field: Field, case: _Case) -> Verdict:
    context, verdict = field.context, case.verdict
    replicas = verdict.replicas
    least = _prove_least(field, case)
    if least >= replicas:
        return replace(verdict, headroom_always=None, headroom_best=None)
    most = min(verdict.at_best.most, _bound_alone(context, case.at))
    best = _find_best(field, case)
    worst = _find_worst(field, case, least)
    ceiling = min(most, worst.placed if worst else replicas)
    always = Count(min(least, ceiling), ceiling)
    at_best = Count(min(most, max(least, best.placed if best else 0)), most)
    word = choose_word(always, at_best, replicas)
    shown = word in ("order-dependent", "undecided")
    return replace(
        verdict,
        word=word,
        always=always,
        at_best=at_best,
        method="bounds and witnesses",
        best=best if shown else None,
        worst=worst if shown else None,
        headroom_always=None,
        headroom_best=None,
        reasons=tuple(_list_reasons(case, most, word, is_undone=verdict.worst is not None and worst is None)),
    )


def _prove_least(field: Field, case: _Case) -> int:
    """So many replicas fit whatever others do.

    Each node that may have too little either has: then `fewest` are there. Or nothing but devices decides on it, as on
    all others. That needs devices and counters of a node to be its alone, and claims to be each pod's own.
    """
    context, verdict, tight = field.context, case.verdict, case.tight
    if not tight or not verdict.always.least:
        return verdict.always.least
    if not _is_apart(context, case.at):
        return 0
    # With these nodes closed, what is on them only leaves more to others.
    least = _prove_fewest(_close(context, case.at, tight.keys()), case)
    least = max(least, min(verdict.always.least, least + min(one.fewest for one in tight.values())))
    lost = [one.most - one.fewest for one in tight.values() if one.most is not None]
    if least < verdict.replicas and len(lost) == len(tight):
        # Were there as many of them as devices, each such node could lose no more than this of what devices serve.
        least = max(least, _prove_fewest(_multiply(context, case.at), case) - sum(lost))
    return min(least, verdict.always.least)


def _prove_fewest(context: Context, case: _Case) -> int:
    """So many replicas at least, by devices alone."""
    field = build_field(context, case.part)
    search = None if field.is_large else build_node_search(field)
    replicas = context.demand.workloads[case.at].replicas
    missing = 0
    for number, kind in enumerate(field.kinds):
        if kind.workload == case.at:
            least = prove_always(field, number)[0] if kind.shape.on_node else 0
            if least < replicas and kind.shape.on_node and search is not None:
                with suppress(NotSearchedError):
                    least = max(least, search.find_fewest(number)[0])
            missing += replicas - least
    return max(0, replicas - missing)


def _close(context: Context, at: int, nodes: Set[str]) -> Context:
    """Without these nodes for a workload; others may go there still."""
    shapes = tuple(_close_shape(shape, nodes) for shape in context.shapes[at])
    return replace(context, shapes=(*context.shapes[:at], shapes, *context.shapes[at + 1 :]))


def _close_shape(shape: Shape, nodes: Set[str]) -> Shape:
    on_node = {node: devices for node, devices in shape.on_node.items() if node not in nodes}
    left = frozenset[DeviceId]().union(*on_node.values())
    asks = tuple(replace(ask, accepted=ask.accepted & left) for ask in shape.asks)
    return replace(shape, key=f"{shape.key}, fewer nodes", on_node=on_node, asks=asks)


def _multiply(context: Context, at: int) -> Context:
    """With as many replicas of a workload as it has devices to choose from, if it has fewer."""
    workloads = list(context.demand.workloads)
    many = max(workloads[at].replicas, *(len(shape.accepted) for shape in context.shapes[at]))
    workloads[at] = replace(workloads[at], replicas=many)
    return replace(context, demand=replace(context.demand, workloads=tuple(workloads)))


def _is_apart(context: Context, at: int) -> bool:
    """Whether a workload's devices, and all that draw on their counters, are each one node's alone."""
    workload, nodes_of = context.demand.workloads[at], context.acceptance.nodes_of
    if any(claim_key(claim) in workload.shared for pod in workload.pods for claim in pod.claims):
        return False
    pools = {device[:2] for shape in context.shapes[at] for device in shape.accepted}
    homes: dict[tuple[str, str], set[str]] = {}
    for device, nodes in nodes_of.items():
        if device[:2] in pools:
            homes.setdefault(device[:2], set()).update(nodes)
    return all(len(nodes) == 1 for nodes in homes.values())


def _bound_alone(context: Context, at: int) -> int:
    """So many replicas at most, by what nodes have beside devices, with nobody else there."""
    workload = context.demand.workloads[at]
    counts = []
    for pod, shape in zip(workload.pods, context.shapes[at], strict=True):
        requests = count_requests(pod)
        counts.append(sum(_count_room(context, node, requests, workload.replicas) for node in shape.on_node))
    return min([workload.replicas, *counts])


def _count_room(context: Context, node: str, requests: Amounts, replicas: int) -> int:
    there = {one: context.acceptance.supply.find(node, one) for one in requests}
    return min([replicas, *(amount // requests[one] for one, amount in there.items() if amount is not None)])


def _find_best(field: Field, case: _Case) -> Witness | None:
    """An order that serves most with nobody else there, nodes having enough for each."""
    context, known = field.context, case.verdict.best
    if case.at in context.barred:
        return None
    if known is not None and _is_carried(context, known):
        return known
    return pack_alone(field, case.at) if _is_own(field, case.at) else pack_shared(field, case.at)


def _find_worst(field: Field, case: _Case, least: int) -> Witness | None:
    """An order that leaves replicas out, nodes having enough for each pod that is placed.

    None is looked for where replicas share their claims: devices let all of them run or none, and nodes don't.
    """
    if not _is_own(field, case.at):
        return None
    context, worst = field.context, case.verdict.worst
    known = [worst] if worst is not None and _is_carried(context, worst) else []
    if known and known[0].placed <= least:
        return known[0]
    numbers = (number for number, kind in enumerate(field.kinds) if kind.workload == case.at)
    tried = (find_worst(field, number, target=least) for number in numbers)
    return min((one for one in chain(known, tried) if one is not None), key=lambda one: one.placed, default=None)


def _is_own(field: Field, at: int) -> bool:
    """Whether each pod of a workload needs devices that none other brings."""
    return all(kind.is_own for kind in field.kinds if kind.workload == at)


def _is_carried(context: Context, witness: Witness) -> bool:
    """Whether nodes have enough for all the pods that an order places."""
    pods = {one.title: one.pods for one in context.demand.workloads}
    used: dict[str, dict[str, int]] = {}
    for move in witness.moves:
        there = used.setdefault(move.node, {})
        for resource, amount in count_requests(pods[move.workload][move.pod]).items():
            there[resource] = there.get(resource, 0) + amount
    supply = context.acceptance.supply
    return not any(supply.find_lack(node, total, {}) for node, total in used.items())


def _count_shortfall(field: Field, devices: int, verdicts: Mapping[int, Verdict]) -> Count:
    """Replicas that stay without: no fewer than there are too few devices for, and no more than an order leaves.

    devices: those for which there are too few of them.
    """
    least = max(devices, sum(one.replicas - one.at_best.most for one in verdicts.values()))
    # No packing that can't be extended leaves more of each than it may.
    most = max(least, sum(one.replicas - one.always.least for one in verdicts.values()))
    is_own = all(kind.is_own for kind in field.kinds)  # else whoever is placed brings others, if nodes let them
    for order in list_orders(field) if most > least and is_own else ():
        most = max(least, min(most, field.demanded - pack_all(field, order)))
    return Count(least, most)


def _list_reasons(case: _Case, most: int, word: str, *, is_undone: bool) -> Iterator[str]:
    verdict = case.verdict
    yield from (one for one in verdict.reasons if one not in (NOT_PROVEN, NOT_SERVED))
    if most < verdict.at_best.most:
        few = f"{most} of its {count_of(verdict.replicas, 'replica')}"
        yield f"nodes are large enough for {few}, with nobody else there"
    yield from say_short({node: tight.lacks for node, tight in case.tight.items()})
    if word == "undecided":
        yield from (_UNDONE, NOT_PROVEN) if is_undone else (NOT_PROVEN,)
