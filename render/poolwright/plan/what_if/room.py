"""How many more replicas of a workload fit, one workload at a time, while all others stay as they are.

More replicas never fit where fewer don't. A packing of fewer that keeps the next one out is a packing of more, too,
that leaves some out; and a packing that holds more holds fewer. So a number that is proven to fit proves all below it,
and one that is proven not to fit all above, and the border is looked for by doubling and halving.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from poolwright.allocation.placing import MAX_USERS
from poolwright.allocation.subject import ClaimKey, claim_key
from poolwright.plan.demand import Demand, Workload
from poolwright.plan.engine import count_shortfall_of, judge_one, split
from poolwright.plan.methods.context import Context, build_context
from poolwright.plan.verdict import Judgement
from poolwright.plan.what_if.border import find_last

MAX_FURTHER: Final = 256  # replicas that are tried where devices don't bound them


@dataclass(frozen=True, slots=True)
class Further:
    """How many further replicas, as far as it is proven."""

    least: int  # so many are proven to fit
    most: int | None  # more are proven not to; None: no number is

    def __str__(self) -> str:
        if self.most == self.least:
            return f"+{self.least}"
        return f"+{self.least} or more" if self.most is None else f"+{self.least} to +{self.most}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The room for more replicas of a workload."""

    workload: str
    always: Further | None = None  # that would still be always-fits with those there are; None: it isn't judged
    best: Further | None = None  # that some packing holds beside everything it competes with
    reasons: tuple[str, ...] = ()  # why it isn't judged


def judge_room(demand: Demand, judgement: Judgement) -> tuple[Room, ...]:
    """The room of every workload that isn't a reservation, in the demand's order.

    judgement: of the demand.
    Cost:      nothing where every pod takes one device; elsewhere at most four verdicts of the workload and four
               shortfalls of what it competes with for each doubling of the number.
    """
    context = build_context(demand, shows=False)
    found: dict[int, Room] = {}
    for part in split(context):
        running = [at for at in part if judgement.verdicts[at].word != "error" or demand.workloads[at].is_group]
        for at in part:
            if not demand.workloads[at].is_reservation:
                found[at] = _judge(context, running, at, judgement)
    return tuple(found[at] for at in sorted(found))


def _judge(context: Context, part: Sequence[int], at: int, judgement: Judgement) -> Room:
    workload, verdict = context.demand.workloads[at], judgement.verdicts[at]
    if verdict.word == "error" or at in context.barred:
        return Room(workload=workload.title, reasons=verdict.reasons)
    if workload.is_per_node:
        return Room(workload=workload.title, reasons=("it has a pod for each node",))
    if all(shape.needs_nothing for shape in context.shapes[at]):
        return Room(workload=workload.title, reasons=("it takes no device of its own",))
    always, best = verdict.headroom_always, verdict.headroom_best
    # These go by devices alone.
    if always is not None and best is not None and not context.acceptance.supply.is_known:
        return Room(workload=workload.title, always=Further(always, always), best=Further(best, best))
    growth = _Growth(context, part, at)
    top = _bound_users(context.demand, workload) if workload.shared else _bound(context, at)
    return Room(
        workload=workload.title,
        always=_bracket(cache(growth.fits_always), top),
        best=_bracket(cache(growth.fits), top),
    )


class _Growth:
    """A workload with more and more replicas among those it competes with."""

    def __init__(self, context: Context, part: Sequence[int], at: int) -> None:
        self._context, self._part, self._at = context, part, at

    def fits_always(self, further: int) -> bool | None:
        """Whether so many further replicas, and those there are, fit in every order; None: not decided."""
        verdict = judge_one(self._grow(further), self._part, self._at)
        if verdict.always.least >= verdict.replicas:
            return True
        return False if verdict.always.most < verdict.replicas else None

    def fits(self, further: int) -> bool | None:
        """Whether some packing holds so many further replicas and everything else; None: not decided."""
        shortfall = count_shortfall_of(self._grow(further), self._part)
        return True if shortfall.most == 0 else False if shortfall.least > 0 else None

    def _grow(self, further: int) -> Context:
        """With so many more replicas; what a pod takes doesn't depend on how many there are."""
        demand = self._context.demand
        workloads = tuple(
            replace(one, replicas=one.replicas + further) if at == self._at else one
            for at, one in enumerate(demand.workloads)
        )
        return replace(self._context, demand=replace(demand, workloads=workloads))


def _bound(context: Context, at: int) -> int | None:
    """So many further at most, as each pod takes devices that no other one has; None: devices may be shared."""
    candidates = context.acceptance.candidates
    bounds = []
    for shape in context.shapes[at]:
        is_shared = any(candidates[device].device.allow_multiple_allocations for device in shape.accepted)
        if shape.least and not is_shared:
            bounds.append(len(shape.accepted) // shape.least)
    return max(0, min(bounds) - context.demand.workloads[at].replicas) if bounds else None


def _bound_users(demand: Demand, workload: Workload) -> int:
    """So many further at most, as a claim has so many users at most."""
    users: Counter[ClaimKey] = Counter()
    for one in demand.workloads:
        for pod in one.pods:
            users.update({claim_key(claim): one.replicas for claim in pod.claims if claim_key(claim) in one.shared})
    own = Counter(key for pod in workload.pods for key in map(claim_key, pod.claims) if key in workload.shared)
    return max(0, min((MAX_USERS - users[key]) // pods for key, pods in own.items()))


def _bracket(test: Callable[[int], bool | None], top: int | None) -> Further:
    """What is proven of the largest number that passes a test which no larger number passes.

    top: no number above it does; None: not known.
    """
    end = (MAX_FURTHER if top is None else top) + 1
    now = test(0)
    if now is False:
        return Further(0, 0)
    least = find_last(lambda number: test(number) is True, 0, end) if now else 0
    most = find_last(lambda number: test(number) is not False, least, end)
    return Further(least, None if top is None and most + 1 == end else most)
