"""What placements are refused for: the price of their envelopes on the devices they would get."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from poolwright.admission.words import say_band, say_mends, say_reason
from poolwright.plan.pricing.priced import PricedClass
from poolwright.specs.finding import Finding, Severity
from poolwright.specs.parse import Specs

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


def check_prices(priced: Iterable[PricedClass]) -> Iterator[Finding]:
    """Classes that an envelope doesn't fit, is too close to, or has no price on."""
    for one in priced:
        word = one.admission.word
        if word == "refused":
            is_budget = one.admission.refusals[0].dimension == "kvBudget"
            yield _build(one, "kv-budget" if is_budget else "price-refused", "error", "doesn't fit")
        elif word == "tooClose":
            yield _build(one, "price-close", "warning", "is too close to call")
        elif word == "unsupported":
            yield _build(one, "price-unsupported", "warning", "has no price")


def _build(one: PricedClass, code: str, severity: Severity, verb: str) -> Finding:
    ways = [say_mends(one.mends)] if one.mends else []
    ways += [f"class {' or '.join(one.other_classes)}"] if one.other_classes else []
    measure = "measure it, and name the figures as model.measuredProfile"
    fix = "; ".join(ways) or (measure if severity == "warning" else "a smaller load, a larger class, or more devices")
    band = say_band(one.admission)
    return Finding(
        code=code,
        severity=severity,
        place=one.place,
        what=f"envelope {one.envelope} {verb} on class {one.class_name}: {say_reason(one.admission)}",
        why=f"the price of one rank on the smallest device of the class{f'; {band}' if band else ''}",
        rule=RULE,
        fix=fix,
    )
