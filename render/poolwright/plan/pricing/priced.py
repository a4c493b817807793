"""The price of each placement on the smallest device of each class that it may get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from poolwright.admission.admit import Admission, admit
from poolwright.admission.architecture import Unsupported
from poolwright.admission.deployment import Deployment, DeviceMemory
from poolwright.admission.mends import Mend, find_mends
from poolwright.admission.model_files import parse_deployment
from poolwright.admission.price import Constants, choose_constants
from poolwright.admission.report.words import say_refusal
from poolwright.allocation.features import Features
from poolwright.allocation.selectors.cache import SelectorCache
from poolwright.catalog.device_class import MEMORY, DeviceClass, build_device_class
from poolwright.catalog.facts import Facts
from poolwright.catalog.resource_slice import Device, ResourceSlice
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
    slices: Sequence[ResourceSlice],
    features: Features,
    files: Mapping[str, bytes],
    facts: Facts,
) -> tuple[PricedClass, ...]:
    """The placements on a cluster's pools, in the order of their files, each with its classes in its own order.

    slices: of the cluster, captured and planned; of a class without a device among them nothing is said.
    files:  those that envelopes name, by path; check_model_files finds nothing wrong with them.
    Specs are of a whole project, whose references all lead somewhere. An envelope whose declared load has no upper
    bound isn't priced.
    """
    market = _Market(slices, features)
    found: list[PricedClass] = []
    for placement in specs.placements:
        resolved = resolve_placement(specs, placement)[0]
        if resolved is not None and resolved.on.cluster.name == cluster:
            found += _price(resolved, market, files, facts)
    return tuple(found)


class _Market:
    """The devices of a cluster, by class."""

    def __init__(self, slices: Sequence[ResourceSlice], features: Features) -> None:
        self._devices = [device for one in slices for device in one.devices]
        self._selectors = SelectorCache(features)
        self._known: dict[DeviceClass, DeviceMemory | None] = {}

    def find_smallest(self, device_class: DeviceClass) -> DeviceMemory | None:
        """The memory of the smallest device that a class lets through; None: there is none, or it says no memory."""
        if device_class not in self._known:
            sizes = sorted(
                (size, _is_partition(device), device.allow_multiple_allocations)
                for device in self._devices
                if (size := _find_memory(device)) is not None and self._is_in(device, device_class)
            )
            self._known[device_class] = (
                None
                if not sizes
                else DeviceMemory.of_published(
                    device_class.name,
                    sizes[0][0],
                    is_partition=any(is_partition for _, is_partition, _ in sizes),
                    is_shared=any(is_shared for _, _, is_shared in sizes),
                )
            )
        return self._known[device_class]

    def _is_in(self, device: Device, device_class: DeviceClass) -> bool:
        return all(self._selectors.matches(text, device) is True for text in device_class.selectors)


def _find_memory(device: Device) -> int | None:
    capacity = device.capacity.get((device.driver, MEMORY))
    return None if capacity is None or capacity.value is None else capacity.value.bytes


def _is_partition(device: Device) -> bool:
    said = device.attributes.get((device.driver, "type"))
    return said is not None and said.value == "mig"


def _price(
    resolved: ResolvedPlacement, market: _Market, files: Mapping[str, bytes], facts: Facts
) -> Iterator[PricedClass]:
    spec, name = resolved.envelope.value.spec, resolved.placement.value.metadata.name
    constants = choose_constants(facts.engine_memory, spec.engine.type, resolved.image.version)
    deployment = parse_deployment(spec, files, version=resolved.image.version)
    for index, device_class in enumerate(resolved.device_classes):
        built = build_device_class(device_class)
        device = market.find_smallest(built)
        if device is None:
            continue
        admission, mends = _judge(deployment, device, constants)
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
            other_classes=()
            if admission.word == "admitted" or isinstance(deployment, Unsupported) or constants is None
            else tuple(_list_others(resolved, market, deployment, constants)),
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
) -> tuple[Admission, tuple[Mend, ...]]:
    if isinstance(deployment, Unsupported):
        return Admission(word="unsupported", price=None, reason=deployment.reason), ()
    if constants is None:
        reason = f"what memory {deployment.engine} {deployment.version} takes isn't known"
        return Admission(word="unsupported", price=None, reason=reason), ()
    found = admit(deployment, device, constants)
    return found, find_mends(deployment, device, constants)


def _list_others(
    resolved: ResolvedPlacement, market: _Market, deployment: Deployment, constants: Constants
) -> Iterator[str]:
    """Classes of the pool that it would be admitted on."""
    named = {one.name for one in resolved.device_classes}
    for device_class in resolved.pool.value.spec.device_classes:
        device = None if device_class.name in named else market.find_smallest(build_device_class(device_class))
        if device is not None and admit(deployment, device, constants).word == "admitted":
            yield device_class.name
