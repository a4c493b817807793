"""What would mend a verdict that isn't `always-fits`: each change is judged before anything is said.

A change mends a verdict if the workload then always fits. One that doesn't is still of use where an unsatisfied
workload would fit in some order. Whoever gets a place by it may take others' devices, and hardware too may let a pod in
that had no node before. Those that fare worse are named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from poolwright.allocation.held import DeviceId
from poolwright.plan.demand import Demand, keep_workloads
from poolwright.plan.engine import is_plain, judge_context, split
from poolwright.plan.methods.context import Context, build_context
from poolwright.plan.methods.kinds import build_field
from poolwright.plan.verdict import Judgement, Verdict, Word
from poolwright.plan.what_if.class_choices import ClassChoice
from poolwright.plan.what_if.copies import list_own_devices
from poolwright.plan.what_if.edits import Edit, can_offer, find_zone, make_edit

MAX_TRIALS: Final = 8  # of a workload
MAX_ALIKE: Final = 2  # sorts of nodes, and of devices, that are tried
MAX_NODES: Final = 16  # more of one sort
MAX_OTHERS: Final = 3  # zones, and classes, that are tried
# What all trials of a cluster may cost: each its devices for every workload that is judged again, or a tenth where all
# pods take one device. Beyond that nothing is tried.
MAX_COST: Final = 20_000
_WORDS: Final[tuple[Word, ...]] = ("unsatisfied", "order-dependent", "undecided")  # the worst first


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A change that was judged."""

    edit: Edit
    after: Verdict  # of the workload
    worse: tuple[Verdict, ...] = ()  # of others that fare worse for it
    is_least: bool = True  # False: fewer nodes may do too, and weren't all tried


@dataclass(frozen=True, slots=True, kw_only=True)
class Mending:
    """What was tried for a workload."""

    before: Verdict
    trials: tuple[Trial, ...]  # in the order in which they were made

    @property
    def mends(self) -> tuple[Trial, ...]:
        """Those after which it always fits; if there are none, and it was unsatisfied, those after which it may.

        Of one sort of nodes it is the smallest number.
        """
        words: tuple[Word, ...] = ("always-fits", "order-dependent")
        found = ([one for one in self.trials if one.after.word == word] for word in words)
        whole, partial = (_drop_counts(several, keeps=min) for several in found)
        return whole or (partial if self.before.word == "unsatisfied" else ())

    @property
    def vain(self) -> tuple[Trial, ...]:
        """Those that are proven not to help. Of one sort of nodes it is the largest number."""
        vain: tuple[Word, ...] = ("unsatisfied", "error")
        if self.before.word != "unsatisfied":
            vain = (*vain, "order-dependent")
        return _drop_counts([one for one in self.trials if one.after.word in vain], keeps=max)


def _drop_counts(trials: Sequence[Trial], *, keeps: Callable[[Iterable[int]], int]) -> tuple[Trial, ...]:
    """The same, with one number of each sort of nodes."""
    counts: dict[str, list[int]] = {}
    for one in trials:
        if one.edit.kind == "node":
            counts.setdefault(one.edit.name, []).append(one.edit.count)
    return tuple(one for one in trials if one.edit.kind != "node" or one.edit.count == keeps(counts[one.edit.name]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mends:
    """What would mend the verdicts of a demand."""

    workloads: tuple[Mending, ...] = ()  # in the demand's order; none for those that nothing was tried for

    @property
    def assumed(self) -> Iterator[str]:
        """What it rests on."""
        said = [one.edit for mending in self.workloads for one in mending.mends]
        kinds = {one.kind for one in said}
        if kinds & {"node", "device"}:
            yield "hardware that would mend a verdict is as what it is like, and nobody else's"
        if "class" in kinds:
            yield "whether a model fits the memory of a further class's devices isn't looked at"


def find_mends(demand: Demand, before: Judgement, choices: Mapping[str, ClassChoice] | None = None) -> Mends:
    """What would mend each verdict that isn't always-fits.

    before:  the verdicts of the demand.
    choices: by workload, where specs say which classes a placement may name; of others, any class of the demand.
    Cost:    of each trial one judgement of the workloads that compete; up to MAX_TRIALS a workload and some more to
             find how many nodes would do, those that add hardware made once for all that compete, and no more in all
             than MAX_COST.
    """
    devices = sum(len(one.devices) for one in demand.slices)
    if all(one.word == "always-fits" for one in before.verdicts) or devices > MAX_COST:
        return Mends()
    bench = _Bench(demand, before)
    words = [one.word for one in before.verdicts]
    found = {
        at: mending
        for word in _WORDS
        for at in range(len(words))
        if words[at] == word and bench.is_open(at) and (mending := _mend(bench, at, choices or {})).trials
    }
    return Mends(workloads=tuple(found[at] for at in sorted(found)))


class _Bench:
    """Judges changes of a demand, within what may be spent on them."""

    def __init__(self, demand: Demand, before: Judgement) -> None:
        self.demand = demand
        self.before = before
        self.context = build_context(demand, shows=False)
        self.parts = [tuple(part) for part in split(self.context)]
        self.takers = _list_takers(self.context)
        self._left = MAX_COST
        self._known: dict[tuple[tuple[int, ...], Edit], tuple[Context, Judgement] | None] = {}

    def is_open(self, at: int) -> bool:
        """Whether changes are tried for a workload: one of the demand's own, of whose pods something is known."""
        return at not in self.context.barred and not self.demand.workloads[at].is_reservation

    def find_part(self, at: int) -> tuple[int, ...]:
        """The workloads that a workload competes with, and itself."""
        return next(part for part in self.parts if at in part)

    def judge(self, at: int, edit: Edit) -> tuple[Context, Judgement] | None:
        """Those that compete with a workload once a change is made; None: nothing more may be tried."""
        part, everyone = self.find_part(at), tuple(range(len(self.demand.workloads)))
        if edit.kind == "replicas":
            return self._judge(part, at, edit)  # who competes stays as it is
        if edit.kind in ("zone", "class"):
            return self._judge(everyone, at, edit)
        if (part, edit) not in self._known:
            self._known[part, edit] = self._judge(everyone, at, edit)
        return self._known[part, edit]

    def spend(self, context: Context, members: Sequence[int]) -> bool:
        """Whether judging some workloads may still be paid for; then it is."""
        cost = len(context.acceptance.candidates) * len(members)
        if is_plain(context, members):
            cost //= 10
        elif build_field(context, members).is_large:
            return False
        if cost > self._left:
            return False
        self._left -= cost
        return True

    def _judge(self, members: tuple[int, ...], at: int, edit: Edit) -> tuple[Context, Judgement] | None:
        known = self.find_part(at)
        if not self.spend(self.context, known):
            return None
        own = keep_workloads(self.demand, members)
        changed = build_context(make_edit(own, members.index(at), edit), shows=False)
        part = next(part for part in split(changed) if members.index(at) in part)
        if tuple(members[one] for one in part) != known and not self.spend(changed, part):
            return None
        focused = changed.narrow(keep_workloads(changed.demand, part), part)
        return focused, judge_context(focused)


def _mend(bench: _Bench, at: int, choices: Mapping[str, ClassChoice]) -> Mending:
    before = bench.before.verdicts[at]
    trials: list[Trial] = []

    def try_out(edit: Edit) -> Trial | None:
        judged = bench.judge(at, edit)
        if judged is None or (edit.kind == "class" and _has_other_drivers(bench, at, edit, judged[0])):
            return None
        after = _find(judged[1], before.workload)
        worse = () if edit.kind == "replicas" else _list_worse(bench.before, judged[1], before.workload)
        return Trial(edit=edit, after=after, worse=worse)

    for edit in islice(_list_edits(bench, at, before, choices), MAX_TRIALS):
        if any(
            one.edit.kind == edit.kind == "node" and one.edit.name == edit.name and _is_whole(one) for one in trials
        ):
            continue  # fewer of them do
        trial = try_out(edit)
        trials += [] if trial is None else [trial]
    for name in dict.fromkeys(one.edit.name for one in trials if one.edit.kind == "node"):
        trials += _find_enough(try_out, [one for one in trials if one.edit.kind == "node" and one.edit.name == name])
    return Mending(before=before, trials=tuple(trials))


def _find_enough(try_out: Callable[[Edit], Trial | None], tried: Sequence[Trial]) -> list[Trial]:
    """What else was tried of one sort of nodes: twice as many until they do, and then as few as were seen to do."""
    if any(map(_is_whole, tried)):
        return []
    found: list[Trial] = []
    edit = max((one.edit for one in tried), key=lambda one: one.count)
    few, count = edit.count, min(2 * edit.count, MAX_NODES)
    many = MAX_NODES + 1
    while few + 1 < many and few < MAX_NODES:
        trial = try_out(replace(edit, count=count))
        if trial is None:  # that is all that may be spent
            return [replace(one, is_least=False) if one.edit.count == many else one for one in found]
        found.append(trial)
        few, many = (few, count) if _is_whole(trial) else (count, many)
        count = min(2 * few, MAX_NODES) if many > MAX_NODES else (few + many) // 2
    return found


def _is_whole(trial: Trial) -> bool:
    return trial.after.word == "always-fits"


def _find(judgement: Judgement, title: str) -> Verdict:
    return next(one for one in judgement.verdicts if one.workload == title)


def _list_worse(before: Judgement, after: Judgement, besides: str) -> tuple[Verdict, ...]:
    """Others that always fit no more, or of which fewer are proven to."""
    was = {one.workload: one for one in before.verdicts}
    return tuple(
        one for one in after.verdicts if one.workload != besides and one.always.least < was[one.workload].always.least
    )


def _has_other_drivers(bench: _Bench, at: int, edit: Edit, changed: Context) -> bool:
    """Whether a class gives a workload devices of a kind that it has no use for: of a driver that it names nowhere."""
    now = {device[0] for shape in bench.context.shapes[at] for device in shape.accepted}
    number = changed.titles.index(bench.demand.workloads[at].title)
    given = {
        device[0]
        for shape in changed.shapes[number]
        for request, device in shape.alternatives
        if request.endswith(f"/{edit.name}")
    }
    return bool(now) and not given <= now


def _list_edits(bench: _Bench, at: int, before: Verdict, choices: Mapping[str, ClassChoice]) -> Iterator[Edit]:
    """Changes to try, the most telling first."""
    workload = bench.demand.workloads[at]
    if all(shape.is_single for shape in bench.context.shapes[at]):
        yield from _list_devices(bench, at)
    yield from _list_nodes(bench, at)
    zone = find_zone(workload)
    if zone:
        others = sorted({node.zone for node in bench.demand.nodes if node.zone} - {zone})
        yield Edit(kind="zone", was=zone)
        yield from (Edit(kind="zone", name=other, was=zone) for other in others[:MAX_OTHERS])
    choice = choices.get(workload.title) or _choose_any(bench, at)
    if choice is not None and bench.demand.features.prioritized_list:
        further = [name for name in choice.further if name in bench.demand.classes]
        offers = [Edit(kind="class", name=name, named=choice.named) for name in further]
        yield from [one for one in offers if can_offer(workload, one)][:MAX_OTHERS]
    fewer = _count_fewer(before)
    if 0 < fewer < workload.replicas:
        yield Edit(kind="replicas", count=fewer)


def _list_nodes(bench: _Bench, at: int) -> Iterator[Edit]:
    """Nodes like those that serve a workload, by sort; for a group, also as many as a replica has pods."""
    shapes, workload = bench.context.shapes[at], bench.demand.workloads[at]
    found: dict[str, str] = {}
    for node in sorted({node for shape in shapes for node, devices in shape.on_node.items() if devices}):
        if list_own_devices(bench.demand, node):
            found.setdefault(_describe_node(bench, node), node)
    for node in islice(found.values(), MAX_ALIKE):
        yield Edit(kind="node", name=node)
        if workload.is_group and not workload.is_per_node:
            yield Edit(kind="node", name=node, count=len(workload.pods))


def _list_devices(bench: _Bench, at: int) -> Iterator[Edit]:
    """Devices like those that a workload takes, by sort; those first that the fewest others take."""
    accepted = sorted({one for shape in bench.context.shapes[at] for one in shape.accepted})
    found = {bench.takers[device]: device for device in reversed(accepted)}
    for _, device in sorted(found.items(), key=lambda one: (len(one[0]), one[1]))[:MAX_ALIKE]:
        if not bench.context.acceptance.candidates[device].device.consumes:  # an accelerator isn't cut into more
            homes = bench.context.acceptance.nodes_of[device]
            yield Edit(kind="device", name=homes[0] if len(homes) == 1 else "", device=device)


def _list_takers(context: Context) -> dict[DeviceId, tuple[tuple[int, int], ...]]:
    """Of each device the workloads and pods that take it."""
    takers: dict[DeviceId, list[tuple[int, int]]] = {device: [] for device in context.acceptance.candidates}
    for at, shapes in enumerate(context.shapes):
        for pod, shape in enumerate(shapes):
            for device in shape.accepted:
                takers[device].append((at, pod))
    return {device: tuple(found) for device, found in takers.items()}


def _describe_node(bench: _Bench, node: str) -> str:
    """Equal for nodes that as many devices of each sort are for."""
    devices = {device for one in bench.context.shapes for shape in one for device in shape.on_node.get(node, ())}
    return repr(sorted(Counter(bench.takers[device] for device in devices).items()))


def _choose_any(bench: _Bench, at: int) -> ClassChoice | None:
    """Every other class, for pods whose requests are all of one and take devices; None: they aren't, or don't."""
    pods, shapes = bench.demand.workloads[at].pods, bench.context.shapes[at]
    if not any(shape.accepted for shape in shapes):
        return None  # of which driver they want devices isn't known then
    claims = [claim for pod in pods for claim in pod.claims if claim.allocation is None]
    entries = [entry for claim in claims for entry in claim.requests]
    named = {one.class_name for entry in entries for one in (entry.exactly, *entry.first_available) if one is not None}
    if len(named) != 1:
        return None
    return ClassChoice(named=tuple(named), further=tuple(sorted(set(bench.demand.classes) - named)))


def _count_fewer(before: Verdict) -> int:
    """How many replicas less to try: as many as some order leaves out, where that is known exactly.

    With no more replicas than every order serves, every order serves all of them. If none is served always, as many
    less as some order serves.
    """
    if not before.always.is_exact:
        return 1
    least = before.always.least or (before.at_best.least if before.word == "unsatisfied" else 0)
    return before.replicas - least
