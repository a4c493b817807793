"""What the loss of a device, a node or a zone changes, by classes of equals, as receipts refer to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from poolwright.plan.demand import Demand
from poolwright.plan.engine import judge_context
from poolwright.plan.methods.context import build_context
from poolwright.plan.report.words import count_of, say_counts, verb_of
from poolwright.plan.verdict import Count, Judgement, Verdict
from poolwright.plan.what_if.alike import Thing, list_things
from poolwright.plan.what_if.change import Change
from poolwright.plan.what_if.loss import Loss, judge_losses_of
from poolwright.receipts.document import Answer, DeviceKey, IfLost, LossChange, LossClass

OF_CLAIMS: Final[tuple[Thing, ...]] = ("device", "node", "zone")  # what a receipt says the loss of
ALL_THINGS: Final[tuple[Thing, ...]] = (*OF_CLAIMS, "family")


@dataclass(frozen=True, slots=True, kw_only=True)
class LossBook:
    """The loss classes of a cluster, and which of them each thing is in."""

    classes: tuple[LossClass, ...] = ()
    of_device: dict[DeviceKey, tuple[str, ...]] = field(default_factory=dict)
    of_place: dict[tuple[Thing, str], str] = field(default_factory=dict)  # nodes, zones and families by name

    def find(self, devices: Iterable[DeviceKey], node: str | None, zone: str | None) -> IfLost | None:
        """The classes of what a claim stands on; None: nothing was judged."""
        if not self.classes:
            return None
        return IfLost(
            devices=tuple(dict.fromkeys(name for one in devices for name in self.of_device.get(one, ()))),
            node=None if node is None else self.of_place.get(("node", node)),
            zone=None if zone is None else self.of_place.get(("zone", zone)),
        )


def judge_book(demand: Demand, judgement: Judgement | None = None, *, things: Iterable[Thing] = OF_CLAIMS) -> LossBook:
    """Judge each loss once for all that it comes to the same for.

    judgement: of the demand.
    things:    what is lost, in the order of the classes.
    Cost:      as `judge_losses` for these things, whose shapes are asked for once.
    """
    context = build_context(demand, shows=False)
    whole = judgement or judge_context(context)
    classes: list[LossClass] = []
    of_device: dict[DeviceKey, tuple[str, ...]] = {}
    of_place: dict[tuple[Thing, str], str] = {}
    for thing in things:
        named = {}
        for number, loss in enumerate(_merge(judge_losses_of(context, thing, whole)), start=1):
            classes.append(build_loss_class(f"{thing}-{number}", thing, loss, whole.shortfall))
            named.update(dict.fromkeys(loss.names, classes[-1].id))
        if thing != "device":
            of_place.update({(thing, name): found for name, found in named.items()})
            continue
        for name, lost in sorted(list_things(context, thing).items()):
            for device in lost.devices:  # of several pieces, with any of which it goes
                of_device[device] = tuple(dict.fromkeys((*of_device.get(device, ()), named[name])))
    return LossBook(classes=tuple(classes), of_device=of_device, of_place=of_place)


def _merge(losses: Iterable[Loss]) -> list[Loss]:
    """One for all that change the same, by the first name: things that aren't alike may come to the same too."""
    found: dict[object, Loss] = {}
    for one in losses:
        said = tuple((each.after.workload, _answer(each.before), _answer(each.after)) for each in one.changes)
        known = found.get((one.devices, one.shortfall, said))
        names = one.names if known is None else tuple(sorted((*known.names, *one.names)))
        found[one.devices, one.shortfall, said] = replace(known or one, names=names)
    return sorted(found.values(), key=lambda one: one.names)


def build_loss_class(name: str, thing: Thing, loss: Loss, before: Count) -> LossClass:
    """A loss as receipts say it; before: the shortfall with everything there."""
    changes = tuple(
        LossChange(
            workload=one.before.workload,
            before=_answer(one.before),
            after=_answer(one.after),
            sentence=say_change(one),
        )
        for one in loss.changes
    )
    return LossClass(
        id=name,
        thing=thing,
        members=loss.names,
        lost=loss.devices,
        unsatisfied=tuple(one.after.workload for one in loss.changes if one.after.word in ("unsatisfied", "error")),
        changes=changes,
        shortfall=str(loss.shortfall),
        sentence=_say_loss(thing, loss, before, changes),
    )


def _answer(verdict: Verdict) -> Answer:
    return Answer(verdict=verdict.word, counts=say_counts(verdict))


def _say_loss(thing: Thing, loss: Loss, before: Count, changes: Iterable[LossChange]) -> str:
    start = f"without this {thing} ({count_of(loss.devices, 'device')})"
    said = "; ".join(one.sentence for one in changes)
    if not said:
        return f"{start} every workload is served as before"
    short = f"; replicas without in all: {loss.shortfall}, {before} before"
    return f"{start}: {said}{short if loss.shortfall != before else ''}"


def say_change(change: Change) -> str:
    """`chat/chat-70b: at most 3 of 4 replicas find devices, 1 stays without (4/4 before)`."""
    before, after = change.before, change.after
    replicas = count_of(after.replicas, "replica")
    was = f"({say_counts(before)} before)"
    match after.word:
        case "unsatisfied":
            most = after.at_best.most
            left = after.replicas - most
            found = f"at most {most} of {replicas} {verb_of(most, 'find')} devices" if most else "no replica finds any"
            said = f"{found}, {left} {verb_of(left, 'stay')} without"
        case "order-dependent":
            said = f"{after.always.least} to {after.at_best.least} of {replicas}, whoever comes first"
        case "undecided":
            said = f"{say_counts(after)}, how many isn't known"
        case "error":
            said = "scheduling its pods ends in an error"
        case _:
            said = f"all of {replicas}, in every order"
    return f"{after.workload}: {said} {was}"
