"""Which further classes a placement may name: those that the rules of specs would let it name."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from poolwright.catalog.device_mode import check_modes
from poolwright.catalog.facts import Facts
from poolwright.catalog.rules import check_compute_class
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.placement import Placement
from poolwright.specs.resolve import ResolvedPlacement, resolve_placement


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassChoice:
    """The classes that a workload's accelerators may be of."""

    named: tuple[str, ...]
    further: tuple[str, ...]  # one of which could be named too; in the order in which they are tried


def list_class_choices(specs: Specs, cluster: str, facts: Facts) -> dict[str, ClassChoice]:
    """By namespace and name of the workload, for each placement on the cluster.

    A further class is one of the pool's, of the same driver, that breaks no rule where the placement names it last: of
    tiers, of isolation, of arithmetic. Whether the model fits its devices' memory isn't looked at.
    specs: of a whole project, whose references all lead somewhere.
    """
    found = {}
    for placement in specs.placements:
        resolved = resolve_placement(specs, placement)[0]
        if resolved is not None and resolved.on.cluster.name == cluster:
            title = f"{resolved.envelope.value.spec.namespace}/{placement.value.metadata.name}"
            named = tuple(one.name for one in resolved.device_classes)
            found[title] = ClassChoice(named=named, further=_list_further(specs, resolved, facts))
    return found


def _list_further(specs: Specs, resolved: ResolvedPlacement, facts: Facts) -> tuple[str, ...]:
    named = {one.name for one in resolved.device_classes}
    if any(one.name in named for one in resolved.extra_classes):
        return ()  # which requests are for accelerators doesn't show in their classes
    drivers, order = {one.driver for one in resolved.device_classes}, resolved.placement.value.spec.device_class_names
    return tuple(
        one.name
        for one in resolved.pool.value.spec.device_classes
        if one.name not in named
        and one.driver in drivers
        and may_name(specs, resolved.placement, (*order, one.name), facts)
    )


def may_name(specs: Specs, placement: Spec[Placement], names: tuple[str, ...], facts: Facts) -> bool:
    """Whether a placement breaks no rule of specs where these are its classes."""
    said = placement.value.spec
    more = msgspec.structs.replace(said, device_class_names=names)
    changed = Spec(value=msgspec.structs.replace(placement.value, spec=more), document=placement.document)
    resolved = resolve_placement(specs, changed)[0]
    if resolved is None:
        return False
    problems = [*check_compute_class(resolved, facts), *check_modes(resolved, facts)]
    return not any(one.severity == "error" for one in problems)
