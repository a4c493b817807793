"""The lock of a project: its stacks resolved, and the memory that its claims ask for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from poolwright.catalog.closure import UnitClosure
from poolwright.catalog.facts import Facts
from poolwright.catalog.rules import check_kubernetes
from poolwright.pins.resolve import COMPONENTS, Known, Rehearsed, resolve_stack
from poolwright.specs.digest import digest_value
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.lock import (
    RENDER_FORMAT,
    TOOL_VERSION,
    BoundChoice,
    FormatChoice,
    Lock,
    PricingChoice,
    StackLock,
)
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.quantity import parse_quantity
from poolwright.specs.stack import Stack

PRICING: Final = "pricing"  # the amounts that prices rest on
BOUNDS: Final = "bounds"  # the memory of every claim


@dataclass(frozen=True, slots=True, kw_only=True)
class PinRequest:
    """What is known and what may move."""

    facts: Facts
    previous: Lock | None = None
    upgraded: Collection[str] = ()  # names in COMPONENTS, of drivers, PRICING or BOUNDS
    rehearsed: Mapping[str, Rehearsed] = field(default_factory=dict)  # by stack
    digests: Mapping[str, str] = field(default_factory=dict)  # by reference, from registries


def list_upgradable(specs: Specs) -> list[str]:
    """Names that an upgrade may be asked of."""
    drivers = {driver.name for stack in specs.stacks for driver in stack.value.spec.dra_drivers}
    return [*COMPONENTS, *sorted(drivers), PRICING, BOUNDS]


def resolve_stacks(specs: Specs, request: PinRequest) -> dict[str, StackLock]:
    """What each stack that a cluster runs resolves to, by name.

    Raises: SpecError with every version that can't be resolved, of all stacks.
    """
    used = {cluster.stack_name for cluster in specs.project.value.spec.clusters}
    found: dict[str, StackLock] = {}
    problems: list[Finding] = []
    for stack in specs.stacks:
        if stack.value.identity in used:
            try:
                found[stack.value.identity] = _resolve(stack, request)
            except SpecError as error:
                problems += error.findings
    if problems:
        raise SpecError(problems)
    return found


def _resolve(stack: Spec[Stack], request: PinRequest) -> StackLock:
    name, previous = stack.value.identity, request.previous
    served, problems = check_kubernetes(stack, request.facts)
    if served is None:
        raise SpecError(problems)
    known = Known(
        facts=request.facts,
        previous=previous.stacks.get(name) if previous else None,
        upgraded=request.upgraded,
        rehearsed=request.rehearsed.get(name, {}),
        digests=request.digests,
    )
    return resolve_stack(stack, served.resource_api, known)


def build_lock(stacks: Mapping[str, StackLock], units: Iterable[UnitClosure], request: PinRequest) -> Lock:
    """The lock.

    stacks: what `resolve_stacks` gave.
    units:  every unit of the project, its claim bounded by today's prices on these stacks.
    """
    return Lock(
        api_version="poolwright.dev/v1alpha1",
        kind="Lock",
        min_poolwright=_choose_oldest(request.previous),
        render_format=FormatChoice(version=RENDER_FORMAT, reason="the one that this release writes"),
        pricing=_choose_pricing(request),
        stacks=dict(stacks),
        memory_bounds=dict(_list_bounds(units, request)),
    )


def _choose_oldest(previous: Lock | None) -> str:
    """The release whose format this is: it stays while the format does."""
    return previous.min_poolwright if previous else TOOL_VERSION


def _choose_pricing(request: PinRequest) -> PricingChoice:
    """The set that bounds were priced with: it moves only when it is asked to."""
    today = digest_value(msgspec.to_builtins(request.facts.engine_memory))
    previous = request.previous.pricing if request.previous else None
    if previous is None or previous.set == today or PRICING in request.upgraded:
        return PricingChoice(set=today, reason="engine-memory.json of this release")
    return previous


def _list_bounds(units: Iterable[UnitClosure], request: PinRequest) -> Iterator[tuple[str, BoundChoice]]:
    """A unit's claim asks one amount of every class that says its memory. A larger one from before is kept."""
    before = request.previous.memory_bounds if request.previous else {}
    moves = PRICING in request.upgraded or BOUNDS in request.upgraded
    for unit in units:
        priced = {way.memory for way in unit.alternatives if way.memory is not None}
        if not priced:
            continue
        (bound,) = priced
        key, envelope = f"{unit.on.cluster}/{unit.unit}", f"{unit.envelope.name}@{unit.envelope.version}"
        kept = before.get(key)
        if kept and kept.envelope == envelope and not moves and parse_quantity(kept.bound) >= bound.quantity:
            yield key, kept
        else:
            yield key, BoundChoice(bound=str(bound), envelope=envelope, reason=f"priced {bound}, in whole Gi")
