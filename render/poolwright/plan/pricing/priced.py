"""The price of each placement on the smallest device of each class that it may get."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from poolwright.admission.admit import Admission, admit
from poolwright.admission.architecture import Unsupported
from poolwright.admission.deployment import Deployment, DeviceMemory
from poolwright.admission.mends import Mend, find_mends
from poolwright.admission.model_files import parse_deployment
from poolwright.admission.price import Constants, choose_constants
from poolwright.admission.report.words import say_refusal
from poolwright.admission.thresholds import Thresholds, find_thresholds
from poolwright.catalog.device_class import build_device_class
from poolwright.catalog.facts import Facts
from poolwright.plan.pricing.market import Market
from poolwright.plan.what_if.class_choices import may_name
from poolwright.specs.claim_plan import devices_per_replica
from poolwright.specs.parse import Specs
from poolwright.specs.place import Place
from poolwright.specs.resolve import ResolvedPlacement, resolve_placement


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """How many devices a placement takes."""

    replica: int  # of one replica
    rest: int  # at its most replicas
    rollout: int  # while an update adds its surge
    spare: int  # of replicas that may be away and are kept for that


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedClass:
    """A placement on one of its classes."""

    unit: str
    workload: str  # its title in the demand
    envelope: str  # name@version
    class_name: str
    place: Place  # where the placement names the class
    footprint: Footprint
    device: DeviceMemory  # the smallest of the class
    deployment: Deployment | None  # None: the formulas don't cover the envelope
    admission: Admission
    mends: tuple[Mend, ...] = ()  # of one that isn't admitted
    thresholds: Thresholds | None = None  # of one that is
    other_classes: tuple[str, ...] = ()  # of the same pool that it would be admitted on, each by itself

    @property
    def reason(self) -> str:
        """What decides; empty: it is admitted."""
        if self.deployment is None or not self.admission.refusals:
            return self.admission.reason
        return say_refusal(self.admission.refusals[0], self.deployment, self.device)


def price_placements(
    specs: Specs,
    cluster: str,
    market: Market,
    files: Mapping[str, bytes],
    facts: Facts,
) -> tuple[PricedClass, ...]:
    """The placements on a cluster's pools, in the order of their files, each with its classes in its own order.

    market: of the cluster, captured and planned; of a class without a device in it nothing is said.
    files:  those that envelopes name, by path; check_model_files finds nothing wrong with them.
    Specs are of a whole project, whose references all lead somewhere. An envelope whose declared load has no upper
    bound isn't priced.
    """
    found: list[PricedClass] = []
    for placement in specs.placements:
        resolved = resolve_placement(specs, placement)[0]
        if resolved is not None and resolved.on.cluster.name == cluster:
            found += _price(specs, resolved, market, files, facts)
    return tuple(found)


def list_refused(priced: Iterable[PricedClass]) -> frozenset[str]:
    """Units that each of their priced classes refuses."""
    words: dict[str, set[str]] = {}
    for one in priced:
        words.setdefault(one.unit, set()).add(one.admission.word)
    return frozenset(unit for unit, found in words.items() if found == {"refused"})


def _price(
    specs: Specs, resolved: ResolvedPlacement, market: Market, files: Mapping[str, bytes], facts: Facts
) -> Iterator[PricedClass]:
    spec, name = resolved.envelope.value.spec, resolved.placement.value.metadata.name
    constants = choose_constants(facts.engine_memory, spec.engine.type, resolved.image.version)
    deployment = parse_deployment(spec, files, version=resolved.image.version)
    for index, device_class in enumerate(resolved.device_classes):
        built = build_device_class(device_class)
        device = market.find_smallest(built)
        if device is None:
            continue
        admission, mends, thresholds = _judge(deployment, device, constants)
        yield PricedClass(
            unit=name,
            workload=f"{spec.namespace}/{name}",
            envelope=resolved.envelope.value.identity,
            class_name=built.name,
            place=resolved.placement.place("spec", "deviceClassNames", index),
            footprint=_count_devices(resolved),
            device=device,
            deployment=None if isinstance(deployment, Unsupported) else deployment,
            admission=admission,
            mends=mends,
            thresholds=thresholds,
            other_classes=()
            if admission.word == "admitted" or isinstance(deployment, Unsupported) or constants is None
            else tuple(_list_others(specs, resolved, market, deployment, constants, facts)),
        )


def _count_devices(resolved: ResolvedPlacement) -> Footprint:
    said, spec = resolved.placement.value.spec, resolved.envelope.value.spec
    each, most = devices_per_replica(spec.topology), said.max_replicas or said.min_replicas
    return Footprint(
        replica=each,
        rest=each * most,
        rollout=each * (most + (said.surge or 0)),
        spare=each * spec.recovery.spare_replicas,
    )


def _judge(
    deployment: Deployment | Unsupported, device: DeviceMemory, constants: Constants | None
) -> tuple[Admission, tuple[Mend, ...], Thresholds | None]:
    if isinstance(deployment, Unsupported):
        return Admission(word="unsupported", price=None, reason=deployment.reason), (), None
    if constants is None:
        reason = f"what memory {deployment.engine} {deployment.version} takes isn't known"
        return Admission(word="unsupported", price=None, reason=reason), (), None
    found = admit(deployment, device, constants)
    return found, find_mends(deployment, device, constants), find_thresholds(deployment, device, constants)


def _list_others(
    specs: Specs,
    resolved: ResolvedPlacement,
    market: Market,
    deployment: Deployment,
    constants: Constants,
    facts: Facts,
) -> Iterator[str]:
    """Classes of the pool that it may name instead, and would be admitted on."""
    named = {one.name for one in resolved.device_classes}
    for device_class in resolved.pool.value.spec.device_classes:
        device = None if device_class.name in named else market.find_smallest(build_device_class(device_class))
        if device is None or admit(deployment, device, constants).word != "admitted":
            continue
        if may_name(specs, resolved.placement, (device_class.name,), facts):
            yield device_class.name
