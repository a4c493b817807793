"""What placements are refused for: the price of their envelopes on the devices they would get."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from poolwright.admission.report.words import say_band, say_mends
from poolwright.plan.pricing.priced import PricedClass
from poolwright.plan.pricing.takers import Room
from poolwright.specs.finding import Finding, Severity
from poolwright.specs.parse import Specs
from poolwright.specs.place import Place
from poolwright.specs.resolve import ResolvedPlacement, resolve_placement

RULE = "poolwright.dev/v1alpha1"


def check_loads(specs: Specs) -> Iterator[Finding]:
    """Envelopes that say no upper bound of what a replica carries."""
    for envelope in specs.envelopes:
        if envelope.value.spec.load.concurrency is None:
            yield Finding(
                code="unbounded-load",
                severity="error",
                place=envelope.place("spec", "load"),
                what=f"envelope {envelope.value.identity} says how long requests are, not how many come at once",
                why="without both there is no telling what KV cache it needs, and any number is admitted",
                rule=RULE,
                fix="write load.concurrency: the requests that one replica carries at once",
            )


def check_peaks(specs: Specs) -> Iterator[Finding]:
    """Router pools whose peak is more than their replicas carry without the spare ones, and peaks of no pool."""
    found = [one for placement in specs.placements if (one := resolve_placement(specs, placement)[0]) is not None]
    for owner in found:
        router = owner.placement.value.spec.router
        if router is None or router.peak_concurrency is None:
            continue
        place = owner.placement.place("spec", "router", "peakConcurrency")
        if owner.router_owner.value is not owner.placement.value:
            yield _refuse_joined(owner, place)
            continue
        members = [one for one in found if one.router_owner.value is owner.placement.value]
        carried = _count_carried(members)
        if carried is not None and carried < router.peak_concurrency:
            yield _refuse_peak(owner, place, carried, router.peak_concurrency)


def _count_carried(members: Sequence[ResolvedPlacement]) -> int | None:
    """Requests that all replicas at their minimum carry but the spare ones; None: some doesn't say how many."""
    each = []
    for one in members:
        spec = one.envelope.value.spec
        if spec.load.concurrency is None:
            return None
        each.append((spec.load.concurrency, one.placement.value.spec.min_replicas, spec.recovery.spare_replicas))
    spare = max((spare for _, _, spare in each), default=0)
    return sum(concurrency * least for concurrency, least, _ in each) - spare * max(each)[0]


def _refuse_peak(owner: ResolvedPlacement, place: Place, carried: int, peak: int) -> Finding:
    return Finding(
        code="peak-short",
        severity="error",
        place=place,
        what=f'the replicas of router pool "{owner.placement.value.identity}" carry {carried} requests at once, '
        f"and its peak is {peak}",
        why="counted are all placements of the pool at minReplicas, without the spare replicas that may be away, each "
        "with its envelope's load.concurrency",
        rule=RULE,
        fix="raise minReplicas, or the envelope's concurrency, or promise less",
    )


def _refuse_joined(owner: ResolvedPlacement, place: Place) -> Finding:
    mine, other = owner.placement.value.identity, owner.router_owner.value.identity
    return Finding(
        code="peak-short",
        severity="error",
        place=place,
        what=f'placement "{mine}" has a peak and joins the router pool of "{other}"',
        why="a pool has one peak, its owner's, which all its placements carry together",
        rule=RULE,
        fix=f'move peakConcurrency to "{other}"',
    )


def check_prices(priced: Iterable[PricedClass], room: Room) -> Iterator[Finding]:
    """Classes that an envelope doesn't fit, is too close to, or has no price on.

    room: of the cluster that they were priced on.
    """
    for one in priced:
        word = one.admission.word
        if word == "refused":
            is_budget = one.admission.refusals[0].dimension == "kvBudget"
            yield _build(one, room, "kv-budget" if is_budget else "price-refused", "error", "doesn't fit")
        elif word == "tooClose":
            yield _build(one, room, "price-close", "warning", "is too close to call")
        elif word == "unsupported":
            yield _build(one, room, "price-unsupported", "warning", "has no price")


def _list_classes(one: PricedClass, room: Room) -> Iterator[str]:
    """Other classes that admit it: those that surely have room, then the others, as no way out."""
    sure = [name for name in one.other_classes if room.has_room(one.unit, name)]
    if sure:
        yield f"class {' or '.join(sure)}"
    for name in one.other_classes:
        if name not in sure:
            yield f"class {name} would admit it: poolwright plan says whether it has room"


def _list_mends(one: PricedClass, room: Room) -> Iterator[str]:
    """Changes of one field; more devices for each replica are a way out only where there are as many."""
    wide = [mend for mend in one.mends if mend.field == "tensorParallel" and mend.is_enough]
    short = [mend for mend in wide if not room.has_room(one.unit, times=-(-int(mend.now) // int(mend.was)))]
    ways = [mend for mend in one.mends if mend not in short]
    if ways:
        yield say_mends(ways)
    for mend in short:
        yield f"tensorParallel {mend.now} would admit it: poolwright plan says whether there is room"


def _build(one: PricedClass, room: Room, code: str, severity: Severity, verb: str) -> Finding:
    ways = list(_list_mends(one, room))
    ways += _list_classes(one, room)
    measure = "measure it, and name the figures as model.measuredProfile"
    if one.device.is_shared:  # what is measured depends on the others
        measure = "place it on a class whose devices are one pod's alone"
    fix = "; ".join(ways) or (measure if severity == "warning" else "a smaller load, a larger class, or more devices")
    band = say_band(one.admission.price, one.admission.refusals[0]) if one.admission.refusals else ""
    return Finding(
        code=code,
        severity=severity,
        place=one.place,
        what=f"envelope {one.envelope} {verb} on class {one.class_name}: {one.reason}",
        why=f"the price of one rank on the smallest device of the class{f'; {band}' if band else ''}",
        rule=RULE,
        fix=fix,
    )
