"""A unit's finished objects: the base with a cluster's decisions taken, and the objects that only a cluster has."""

from __future__ import annotations

import msgspec

from poolwright.catalog.closure import BaseClosure, Closure, PlatformClosure, UnitClosure
from poolwright.objects.claim import build_claims, pod_claim
from poolwright.objects.decisions import decide_record, decide_service, decide_workload
from poolwright.objects.disruption import build_disruption_budget
from poolwright.objects.envelope import build_envelope
from poolwright.objects.kubernetes import Object
from poolwright.objects.monitoring import build_monitoring
from poolwright.objects.platform import build_platform
from poolwright.objects.routing import build_routing


def build_objects(closure: Closure) -> tuple[Object, ...]:
    """The finished objects of a closure, in the order they are listed and applied.

    These are the truth: the tree on disk is a factoring of them that real Kustomize must build back.
    """
    match closure:
        case BaseClosure():
            return build_envelope(closure.envelope)
        case PlatformClosure():
            return build_platform(closure)
        case UnitClosure():
            unit = build_unit(closure)
            return (*unit.before, *unit.decided, *unit.after)
    from poolwright.objects.argocd import build_argocd  # here: `generate` prints no Applications

    return build_argocd(closure)


class UnitObjects(msgspec.Struct, frozen=True, kw_only=True):
    """A placement's finished objects, by where they stand in its folder; listed and applied in this order."""

    before: tuple[Object, ...]  # whole objects that the workload needs
    base: tuple[Object, ...]  # the base's objects as the envelope alone gives them
    decided: tuple[Object, ...]  # the same with the cluster's decisions taken
    after: tuple[Object, ...]  # whole objects about the workload


def build_unit(closure: UnitClosure, base: tuple[Object, ...] | None = None) -> UnitObjects:
    """The objects of a placement's unit: claims, the base's with the decisions taken, and what is about them.

    base: what `build_envelope` gives for the closure's envelope, where the caller has it already; it isn't changed.
    """
    claims = build_claims(closure)
    base = build_envelope(closure.envelope) if base is None else base
    service, record, workload = base
    decided = (
        decide_service(service, closure),
        decide_record(record, closure),
        decide_workload(workload, closure, pod_claim(closure, claims)),
    )
    after = (*build_disruption_budget(closure), *build_routing(closure), *build_monitoring(closure))
    return UnitObjects(before=claims, base=base, decided=decided, after=after)
