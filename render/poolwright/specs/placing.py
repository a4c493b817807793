"""What an envelope may not ask for on a pool, and a placement not say: tiers, classes, replicas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from poolwright.specs.claim_plan import devices_per_pod, list_paired
from poolwright.specs.envelope import Envelope, ReplicaBehavior
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.place import Place
from poolwright.specs.placement import Placement
from poolwright.specs.pool import DeviceClassSpec, Tier

_RULE: Final = "poolwright.dev/v1alpha1"
_BEHAVIORS: Final[dict[Tier, tuple[ReplicaBehavior, ...]]] = {
    "interactive": ("stable", "relocatable"),
    "batch": ("relocatable", "queueable"),
}


def check_placement(placement: Spec[Placement]) -> list[Finding]:
    """What is wrong within one placement beyond its shape."""
    said = placement.value.spec
    problems = []
    first: dict[str, int] = {}
    for index, name in enumerate(said.device_class_names):
        if first.setdefault(name, index) != index:
            problems.append(_class_twice(placement, index, name))
    if said.max_replicas is not None and said.max_replicas < said.min_replicas:
        problems.append(
            Finding(
                code="replica-bounds",
                severity="error",
                place=placement.place("spec", "maxReplicas"),
                what=f'placement "{placement.value.identity}" has maxReplicas {said.max_replicas} and minReplicas '
                f"{said.min_replicas}",
                why="what an autoscaler may have at most is no less than what is always there",
                rule=_RULE,
                fix="raise maxReplicas, lower minReplicas, or remove maxReplicas",
            )
        )
    return problems


def check_placing(
    placement: Spec[Placement],
    envelope: Spec[Envelope],
    device_classes: Sequence[DeviceClassSpec],
    extra_classes: Sequence[DeviceClassSpec],
) -> list[Finding]:
    """What an envelope may not ask for where it is placed.

    device_classes: the placement's alternatives, first choice first; at least one.
    extra_classes:  one for each extra request of the envelope, in its order; fewer if one of them dangles: then
                    nothing is said of them.
    """
    tier = device_classes[0].tier
    return [
        *_check_tiers(placement, envelope, device_classes, extra_classes),
        *_check_behavior(placement, envelope, tier),
        *_check_surge(placement, tier),
        *_check_named(placement, envelope),
        *_check_paired(placement, envelope),
    ]


def _class_twice(placement: Spec[Placement], index: int, name: str) -> Finding:
    return Finding(
        code="class-twice",
        severity="error",
        place=placement.place("spec", "deviceClassNames", index),
        what=f'placement "{placement.value.identity}" names the class "{name}" twice',
        why="a second try of the same class finds what the first one found",
        rule=_RULE,
        fix="keep it where it is first",
    )


def _check_tiers(
    placement: Spec[Placement],
    envelope: Spec[Envelope],
    device_classes: Sequence[DeviceClassSpec],
    extra_classes: Sequence[DeviceClassSpec],
) -> Iterator[Finding]:
    first = device_classes[0]
    for index, device_class in enumerate(device_classes):
        if device_class.tier != first.tier:
            yield Finding(
                code="alternatives-tier",
                severity="error",
                place=placement.place("spec", "deviceClassNames", index),
                what=f'class "{device_class.name}" is {device_class.tier}, and "{first.name}" is {first.tier}',
                why="the tier decides priority, queueing and alerts, whichever class the devices come from",
                rule=_RULE,
                fix="name classes of one tier",
            )
    requests = envelope.value.spec.claim.extra_requests
    for index, (request, device_class) in enumerate(zip(requests, extra_classes, strict=False)):
        if device_class.tier != first.tier and len(requests) == len(extra_classes):
            yield Finding(
                code="extra-tier",
                severity="error",
                place=envelope.place("spec", "claim", "extraRequests", index, "deviceClassName"),
                what=f'the extra request "{request.name}" is for class "{device_class.name}" of tier '
                f'{device_class.tier}, and placement "{placement.value.identity}" is {first.tier}',
                why="all devices of a pod are promised alike, or the least promise counts for all",
                rule=_RULE,
                fix=f"name a class of tier {first.tier}, or place the envelope on classes of tier {device_class.tier}",
            )


def _check_behavior(placement: Spec[Placement], envelope: Spec[Envelope], tier: Tier) -> Iterator[Finding]:
    behavior = envelope.value.spec.replica_behavior
    if behavior not in _BEHAVIORS[tier]:
        yield Finding(
            code="tier-behavior",
            severity="error",
            place=placement.place("spec", "deviceClassNames"),
            what=f"envelope {envelope.value.identity} is {behavior}, and placement "
            f'"{placement.value.identity}" is on a class of tier {tier}',
            why="interactive replicas don't wait, and batch ones may be moved",
            rule=_RULE,
            fix=f"choose classes of the other tier, or an envelope that is {' or '.join(_BEHAVIORS[tier])}",
        )


def _check_surge(placement: Spec[Placement], tier: Tier) -> Iterator[Finding]:
    surge, unit = placement.value.spec.surge, placement.value.identity
    if tier == "interactive" and surge is None:
        yield Finding(
            code="surge-tier",
            severity="error",
            place=placement.place("spec"),
            what=f'placement "{unit}" is interactive and says nothing of surge',
            why="whether an update has devices of its own, or takes a replica down first, is a visible choice",
            rule=_RULE,
            fix="write surge: 1 (and have the devices), or surge: 0",
        )
    if tier == "batch" and surge:
        yield Finding(
            code="surge-tier",
            severity="error",
            place=placement.place("spec", "surge"),
            what=f'placement "{unit}" is batch and has surge {surge}',
            why="batch replicas may wait, so no device is held free for their updates",
            rule=_RULE,
            fix="remove surge",
        )


def _check_named(placement: Spec[Placement], envelope: Spec[Envelope]) -> Iterator[Finding]:
    said, claim = placement.value.spec, envelope.value.spec.claim
    if claim.pattern != "named":
        return
    replicas = "minReplicas" if said.max_replicas is None else "maxReplicas"
    if (said.max_replicas or said.min_replicas) > 1:
        yield _shared_by_replicas(placement.place("spec", replicas), placement, f"{replicas}: 1", envelope)
    if said.surge:
        yield _shared_by_replicas(placement.place("spec", "surge"), placement, "surge: 0", envelope)


def _shared_by_replicas(place: Place, placement: Spec[Placement], wanted: str, envelope: Spec[Envelope]) -> Finding:
    return Finding(
        code="claim-pattern",
        severity="error",
        place=place,
        what=f'placement "{placement.value.identity}" may have several replicas, and envelope '
        f'{envelope.value.identity} has the one claim "{envelope.value.spec.claim.name}"',
        why="all pods with a named claim run on the same devices, which were meant for one of them",
        rule=_RULE,
        fix=f"write {wanted}",
    )


def _check_paired(placement: Spec[Placement], envelope: Spec[Envelope]) -> Iterator[Finding]:
    count = devices_per_pod(envelope.value.spec.topology)
    if count > 1 and len(placement.value.spec.device_class_names) > 1 and list_paired(envelope.value.spec):
        yield Finding(
            code="alternatives-paired",
            severity="error",
            place=placement.place("spec", "deviceClassNames"),
            what=f'placement "{placement.value.identity}" has several classes, and envelope '
            f"{envelope.value.identity} pairs a device with each of {count} accelerators",
            why="each accelerator then has a request of its own and takes the first class it can, so that one replica "
            "could run on unlike devices",
            rule="Kubernetes resource/v1 firstAvailable",
            fix="name one class, or remove matchAttribute from the envelope's extraRequests",
        )
