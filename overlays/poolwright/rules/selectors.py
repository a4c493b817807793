"""CEL selectors of classes and claims: whether they compile, and whether they can fail or never match."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from poolwright.catalog.cel import CelError, CelExpression, find_reads, parse_cel
from poolwright.rules.claim import Alternative, list_selectors
from poolwright.rules.comparisons import check_comparisons
from poolwright.rules.devices import (
    CAPACITIES,
    CLASSES,
    GPU,
    STANDARD,
    TYPES,
    is_always_published,
    is_ever_published,
    list_types,
)
from poolwright.rules.object_set import ObjectSet
from poolwright.rules.placed import Field
from poolwright.rules.selector_facts import Context, Value, narrow
from poolwright.specs.finding import Finding

_RULE = "Kubernetes DRA CEL"


def check_selectors(objects: ObjectSet) -> list[Finding]:
    """Findings for every selector of the set, each in the light of those that are evaluated before it."""
    walk = _Walk()
    contexts = {
        name: walk.check(list_selectors(device_class.root.get("spec")), Context())
        for name, device_class in objects.classes.items()
    }
    for claims in objects.claims.values():
        for claim in claims:
            for request in claim.requests:
                for way in request.alternatives:
                    walk.check(way.selectors, contexts.get(way.class_name) or _known_class(way.class_name))
    return walk.problems


def list_way_types(objects: ObjectSet, way: Alternative) -> tuple[str, frozenset[str]]:
    """The driver whose devices a way to satisfy a request takes, and their types; empty: that isn't known."""
    owner = objects.classes.get(way.class_name)
    context = Context() if owner else _known_class(way.class_name)
    for selector in (*(list_selectors(owner.root.get("spec")) if owner else ()), *way.selectors):
        try:
            context = narrow(context, parse_cel(selector.text))
        except CelError:
            continue
    return context.driver, context.types


def _known_class(name: str) -> Context:
    """What a class that isn't in the set lets through, where a driver's installer makes one of that name."""
    if name in CLASSES:
        driver, device_type = CLASSES[name]
        return Context(driver=driver, types=frozenset({device_type}))
    return Context(is_assumed=True)


class _Walk:
    """Checks selectors and gathers findings; the same text is parsed once."""

    def __init__(self) -> None:
        self.problems: list[Finding] = []
        self._parsed: dict[str, CelExpression | CelError] = {}

    def check(self, selectors: Sequence[Field], context: Context) -> Context:
        """Check selectors in their order; what holds of a device that passes the last one."""
        for selector in selectors:
            parsed = self._parse(selector.text)
            if isinstance(parsed, CelError):
                self.problems += _invalid(selector, parsed)
                continue
            context = narrow(context, parsed)
            self.problems += _check_reads(selector, parsed, context)
            self.problems += check_comparisons(selector, parsed)
        return context

    def _parse(self, text: str) -> CelExpression | CelError:
        if text not in self._parsed:
            try:
                self._parsed[text] = parse_cel(text)
            except CelError as error:
                self._parsed[text] = error
        return self._parsed[text]


def _check_reads(selector: Field, parsed: CelExpression, context: Context) -> Iterator[Finding]:
    reads = find_reads(parsed)
    guarded = {(read.kind, read.domain, read.name) for read in reads if read.guarded}
    for read in reads:
        if read.kind not in ("attribute", "capacity") or not read.domain or not read.name:
            continue
        value = Value(kind=read.kind, domain=read.domain, name=read.name)
        driver, types = _devices(context, value)
        if driver and not is_ever_published(driver, value.kind, value.domain, value.name):
            yield _unpublished(selector, value, driver)
        elif read.guarded or (read.kind, read.domain, read.name) in guarded or value in context.published:
            continue
        elif not is_always_published(driver, types, value.kind, value.domain, value.name):
            yield _unguarded(selector, value, driver, context)


def _devices(context: Context, value: Value) -> tuple[str, frozenset[str]]:
    """The driver and the types of the devices that a read meets; of a class that isn't at hand the likely ones."""
    driver = context.driver
    if not driver and context.is_assumed and list_types(value.domain):
        driver = value.domain
    known = list_types(driver)
    return driver, context.types & known or known


def _invalid(selector: Field, error: CelError) -> Iterator[Finding]:
    for problem in error.problems:
        yield Finding(
            code="cel-invalid",
            severity="error",
            place=selector.place,
            what=f"this is not a device selector: {problem.message} (line {problem.line}, column {problem.column} of "
            "the expression)",
            why="the API server refuses it, and a scheduler that met it would abort every attempt",
            rule=_RULE,
            fix="correct the expression",
        )


def _unguarded(selector: Field, value: Value, driver: str, context: Context) -> Finding:
    guard = f"put `has({value.cel}) &&` in front of the comparison"
    if driver:
        what = f'the selector reads {value.cel}, which not every device of driver "{driver}" is known to publish'
    elif context.is_assumed:
        what = f"the selector reads {value.cel}, which not every device is known to publish"
    else:
        what = f"the selector reads {value.cel} on devices of any driver"
    # Only parts whose memory is the host's are known to leave it out.
    is_memory = driver == GPU and (value.kind, value.name) == ("capacity", "memory")
    return Finding(
        code="cel-unguarded",
        severity="note" if is_memory else "warning",
        place=selector.place,
        what=what,
        why="reading what a device doesn't have is no mismatch but an error, and aborts the pod's whole scheduling "
        "attempt, even where another device would match",
        rule=_RULE,
        fix=_restrict(value, guard) if not driver and not context.is_assumed else guard,
    )


def _restrict(value: Value, guard: str) -> str:
    """How a class that meets devices of any driver leaves out those that lack the value."""
    if value.domain == STANDARD:
        return guard
    restrict = f'let a selector before it say device.driver == "{value.domain}"'
    types = list_types(value.domain)
    is_enough = is_always_published(value.domain, types, value.kind, value.domain, value.name)
    return restrict if is_enough else f"{restrict}, and {guard}"


def _unpublished(selector: Field, value: Value, driver: str) -> Finding:
    names = TYPES if value.kind == "attribute" else CAPACITIES
    known = sorted(f"{domain}/{name}" for domain, name in names if domain in (driver, STANDARD))
    same = f"{driver}/{value.name}"
    near = [same] if same in known else difflib.get_close_matches(f"{value.domain}/{value.name}", known, 1, 0.6)
    return Finding(
        code="cel-unpublished",
        severity="warning",
        place=selector.place,
        what=f'no device of driver "{driver}" is known to publish the {value.kind} "{value.domain}/{value.name}"',
        why="unguarded, the read aborts every scheduling attempt; guarded, nothing ever matches",
        rule="what the NVIDIA DRA driver publishes",
        fix=(f'did you mean "{near[0]}"? ' if near else "") + f"published: {', '.join(known)}",
    )
