"""Verdicts where pods take several devices, shares or partitions: proofs from both sides, never a guess.

The fewest replicas are bounded from below by giving others more than they have and from above by an order that was
carried out; the most from above by leaving out what ties devices and from below by an order again. Where the two
don't meet and no exact method applies, the word is `undecided` with what is proven.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from poolwright.allocation.placing import MAX_USERS
from poolwright.plan.methods.bounds import bound_alone, bound_shortfall, bound_together, plan_blocking, prove_always
from poolwright.plan.methods.cells import NotSearchedError
from poolwright.plan.methods.contests import count_devices
from poolwright.plan.methods.context import Context
from poolwright.plan.methods.exact import NONE_ACCEPTED, Part, choose_word
from poolwright.plan.methods.kinds import Field, Kind, build_field
from poolwright.plan.methods.node_search import NodeSearch, build_node_search
from poolwright.plan.methods.packing import (
    find_worst,
    list_orders,
    pack_after_others,
    pack_all,
    pack_alone,
    pack_shared,
)
from poolwright.plan.report.words import count_of, verb_of
from poolwright.plan.verdict import Count, Method, Verdict, Witness, exactly

NOT_PROVEN: Final = "neither that it always fits nor that an order leaves one out is proven"
NOT_SERVED: Final = "an order leaves one out, and that some order serves all of them isn't proven"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    """What is proven of the pods of one kind."""

    always: Count
    most: int  # alone
    method: Method
    worst: Witness | None = None
    reason: str = ""


def judge_mixed(context: Context, members: Sequence[int], only: int | None = None) -> Part:
    """What can be proven of workloads that compete with no other ones.

    only: the one whose verdict is wanted, without the shortfall; None: all.
    """
    field, search = _prepare(context, members)
    if only is not None:
        return Part(verdicts={only: _judge(field, only, search)}, shortfall=Count(0, field.demanded))
    verdicts = {at: _judge(field, at, search) for at in members}
    contest = count_devices(field).contest
    return Part(
        verdicts=verdicts,
        shortfall=_count_shortfall(field, search, [verdicts[at] for at in members]),
        over_demanded=() if contest is None else (contest,),
    )


def count_shortfall(context: Context, members: Sequence[int]) -> Count:
    """What can be proven of their shortfall, without a verdict of each."""
    field, search = _prepare(context, members)
    most = {at: context.demand.workloads[at].replicas for at in members}
    for kind in field.kinds:
        own = kind if kind.follows is None else field.kinds[kind.follows]
        alone = bound_alone(field, own) * kind.weight if own.shape.on_node else 0
        most[kind.workload] = min(most[kind.workload], alone)
    return _pack_shortfall(field, search, list(most.values()))


def _prepare(context: Context, members: Sequence[int]) -> tuple[Field, NodeSearch | None]:
    field = build_field(context, members)
    return field, None if field.is_large else build_node_search(field)


def _judge(field: Field, at: int, search: NodeSearch | None) -> Verdict:
    context = field.context
    workload = context.demand.workloads[at]
    numbers = [number for number, kind in enumerate(field.kinds) if kind.workload == at]
    findings = [_find(field, number, search) for number in numbers]
    weakest = min(findings, key=lambda one: (one.always.most, one.always.least))
    missing = sum(workload.replicas - one.always.least for one in findings)
    always = Count(max(0, workload.replicas - missing), weakest.always.most)
    best = None
    at_best = exactly(workload.replicas)
    if always.least < workload.replicas:
        pack = pack_alone if all(field.kinds[number].is_own for number in numbers) else pack_shared
        best = pack(field, at) if at not in context.barred else None
        most = min((one.most for one in findings), default=workload.replicas)
        if workload.is_group:
            most = min(most, bound_together(field, [field.kinds[number] for number in numbers]))
        if best is not None and best.placed < most and any(field.kinds[number].shares for number in numbers):
            later = pack_after_others(field, at, most)
            best = later if later is not None and later.placed > best.placed else best
        at_best = Count(min(most, max(always.least, best.placed if best else 0)), most)
    always = Count(min(always.least, at_best.most), min(always.most, at_best.most))
    word = choose_word(always, at_best, workload.replicas)
    return Verdict(
        workload=workload.title,
        word=word,
        replicas=workload.replicas,
        always=always,
        at_best=at_best,
        method=weakest.method,
        best=best if word in ("order-dependent", "undecided") else None,
        worst=weakest.worst if word in ("order-dependent", "undecided") else None,
        lands_on=context.list_landings(at),
        reasons=_say(
            findings,
            word,
            room=_say_room(context, at_best.most),
            doubt=NOT_SERVED if always.most < workload.replicas else NOT_PROVEN,
            is_group=workload.is_group,
        ),
    )


def _find(field: Field, number: int, search: NodeSearch | None) -> _Finding:
    """The fewest and most pods of a kind; of those that share all their claims, all run or none."""
    kind = field.kinds[number]
    found = _find_own(field, number if kind.follows is None else kind.follows, search)
    if kind.is_own:
        return found
    always = Count(found.always.least * kind.weight, found.always.most * kind.weight)
    return replace(found, always=always, most=found.most * kind.weight)


def _find_own(field: Field, number: int, search: NodeSearch | None) -> _Finding:
    """The fewest and most pods of a kind, by whichever method comes to an end first."""
    kind = field.kinds[number]
    if kind.shape.needs_nothing:
        count = kind.count if kind.shape.on_node else 0
        users = _count_users(field, kind)
        if users is not None and count > users:
            return _Finding(always=Count(0, users), most=users, method="alone", reason=f"its claim takes {users} more")
        return _Finding(always=exactly(count), most=count, method="alone")
    if not kind.shape.on_node:
        beside = " beside what is held" if field.context.demand.held else ", with nobody else there"
        reason = NONE_ACCEPTED if kind.shape.takes_one and not kind.shape.accepted else f"no node can serve it{beside}"
        return _Finding(always=exactly(0), most=0, method="alone", reason=reason)
    most = bound_alone(field, kind)
    least, total, others = prove_always(field, number)
    # With nobody else there, an order that places none could be extended.
    least = min(max(least, int(_is_alone(field))), most)
    if least >= kind.count:
        return _Finding(always=exactly(kind.count), most=kind.count, method=_name(field, number, least, others, total))
    method = _name(field, number, least, others, total)
    exact = None if method == "blocking flow" else _search(field, search, number)
    if exact is not None:
        return exact
    worst = find_worst(field, number, target=least)
    if method == "blocking flow" and (worst is None or worst.placed > least):
        steps = plan_blocking(field, number)
        worst = field.context.show(steps, kind.workload, kind.pod, target=least, replicas=kind.count)
    # With single devices alone against it, what they can take on paper they can take.
    ceiling = least if method == "blocking flow" else min(most, kind.count if worst is None else worst.placed)
    said = f"to keep it away takes {count_of(total, 'device')}, of which others can take {others}" if total else ""
    return _Finding(
        always=Count(min(least, ceiling), ceiling),
        most=most,
        method=method,
        worst=worst,
        reason=said,
    )


def _is_alone(field: Field) -> bool:
    if len(field.kinds) != 1 or field.kinds[0].is_barred:
        return False
    return any(node not in field.kinds[0].shape.reached for node in field.kinds[0].shape.on_node)


def _name(field: Field, number: int, least: int, others: int, total: int) -> Method:
    """Whether the bound is the truth: one kind of any size against single devices that can block it, or can't."""
    kind = field.kinds[number]
    against = [one for at, one in enumerate(field.kinds) if at != number]
    is_flow = (kind.shape.is_counted or kind.shape.is_single) and total > 0 and not kind.is_barred
    is_flow = is_flow and all(one.shape.is_single and not one.is_barred for one in against)
    is_exact = is_flow and (least >= kind.count or others >= total)
    if is_exact and not against:
        return "alone"
    if _is_alone(field) and least >= kind.count:
        return "alone"
    return "blocking flow" if is_exact else "bounds and witnesses"


def _search(field: Field, search: NodeSearch | None, number: int) -> _Finding | None:
    """What the contents of all nodes say of a kind; None: they weren't listed."""
    if search is None:
        return None
    kind = field.kinds[number]
    try:
        count, steps = search.find_fewest(number)
        most = search.count_alone(number)
    except NotSearchedError:
        return None
    worst = None
    if steps and count < kind.count:
        worst = field.context.show(steps, kind.workload, kind.pod, target=count, replicas=kind.count)
    others = sum(step.workload != kind.workload or step.pod != kind.pod for step in steps)
    said = _say_others(others, len(kind.shape.on_node)) if others else ""
    return _Finding(always=exactly(min(count, most)), most=most, method="node search", worst=worst, reason=said)


def _say_others(others: int, nodes: int) -> str:
    where = "the one node" if nodes == 1 else f"all {nodes} nodes"
    return f"{count_of(others, 'other pod')} {verb_of(others, 'keep')} it off {where} that it may use"


def _count_shortfall(field: Field, search: NodeSearch | None, verdicts: Sequence[Verdict]) -> Count:
    """Replicas that stay without: proven by counting devices from below, by orders carried out from above."""
    if all(verdict.word == "always-fits" for verdict in verdicts) and field.context.barred.isdisjoint(field.members):
        return exactly(0)
    return _pack_shortfall(field, search, [verdict.at_best.most for verdict in verdicts])


def _pack_shortfall(field: Field, search: NodeSearch | None, at_best: Sequence[int]) -> Count:
    """The same; at_best: by member, the most replicas that are known to be possible alone."""
    is_simple = all(len(field.context.shapes[at]) == 1 for at in field.members)
    is_simple = is_simple and all(kind.is_own for kind in field.kinds)
    least = bound_shortfall(field, at_best)
    if search is not None and is_simple:
        with suppress(NotSearchedError):
            least = max(least, field.demanded - search.count_most())
    placed = 0
    for order in list_orders(field):
        placed = max(placed, pack_all(field, order))
        if field.demanded - placed <= least:
            break
    return Count(least, field.demanded - placed)


def _count_users(field: Field, kind: Kind) -> int | None:
    """So many more pods of a kind may use the claims that they have together; None: they have none."""
    pod = field.context.demand.workloads[kind.workload].pods[kind.pod]
    left = [MAX_USERS - len(claim.reserved_for) for claim in pod.claims if claim.allocation is not None]
    return max(0, min(left)) if left else None


def _say_room(context: Context, most: int) -> str:
    beside = "beside what is held" if context.demand.held else "with nobody else there"
    return f"there is room for {count_of(most, 'replica')} of it at most, {beside}"


def _say(findings: Sequence[_Finding], word: str, *, room: str, doubt: str, is_group: bool) -> tuple[str, ...]:
    """room: for how many of an unsatisfied one, not said where no node can serve it; doubt: of an undecided one."""
    if word == "always-fits":
        return ()
    said = list(dict.fromkeys(one.reason for one in findings if one.reason))
    if word == "unsatisfied" and (not said or all(one.most for one in findings)):
        said.insert(0, room)
    if word == "undecided":
        said.append(doubt)
    if is_group:
        said.append("the pods of a replica are placed one by one: replicas that hold a part of theirs can block others")
    return tuple(said)
