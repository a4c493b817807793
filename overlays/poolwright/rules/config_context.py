"""Configuration for NVIDIA's driver in its claim: which devices it reaches, and which gates it needs or can't have.

Source: kubernetes-sigs/dra-driver-nvidia-gpu cmd/gpu-kubelet-plugin/device_state.go and sharing.go, main of 2026-08-07.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from poolwright.rules.claim import Alternative, Claim, Request, list_selectors
from poolwright.rules.devices import COMPUTE_DOMAIN, GPU
from poolwright.rules.nvidia_config import API_VERSION, REFUSED_LATE, list_needed_gates
from poolwright.rules.object_set import ObjectSet
from poolwright.rules.placed import Field
from poolwright.rules.selectors import list_way_types
from poolwright.specs.finding import Finding, Severity

# What each kind of configuration is for, by the type of device.
_TYPES: Final = {
    "GpuConfig": "gpu",
    "MigDeviceConfig": "mig",
    "VfioDeviceConfig": "vfio",
    "ComputeDomainChannelConfig": "channel",
    "ComputeDomainDaemonConfig": "daemon",
}
_NOT_WITH_MPS: Final = ("ConsumableShares", "DynamicMIG")
_FABRIC: Final = "FabricManagerPartitioning"
_NO_PARTITION: Final = (
    "while the gate FabricManagerPartitioning is on, the driver refuses on the node every set of GPUs that isn't "
    "exactly one partition"
)


def check_config_context(objects: ObjectSet, gates: Collection[str] | None) -> Iterator[Finding]:
    """Everything about configuration that its own text doesn't show.

    gates: of the driver, that are on; None: not known, and nothing is said of them.
    """
    for device_class in objects.classes.values():
        for config in _list_configs(device_class.root.get("spec")):
            yield from _check_gates(config, gates)
    for claims in objects.claims.values():
        for claim in claims:
            configs = _list_configs(claim.devices)
            for config in configs:
                yield from _check_gates(config, gates)
            yield from _check_reach(objects, claim, configs)
            yield from _check_partition(objects, claim, gates)
    yield from _check_shared(objects)


@dataclass(frozen=True, slots=True)
class _Config:
    """Opaque configuration for one of NVIDIA's drivers."""

    field: Field
    driver: str
    parameters: Field

    @property
    def kind(self) -> str:
        return self.parameters.get("kind").text

    @property
    def requests(self) -> tuple[str, ...]:
        return tuple(one.text for one in self.field.get("requests").list_items())

    def names(self, request: Request, way: Alternative) -> bool:
        """Whether it names the request, or this way to satisfy it."""
        return request.name in self.requests or f"{request.name}/{way.name}" in self.requests


def _list_configs(owner: Field) -> tuple[_Config, ...]:
    """Those of a claim's devices or of a class, in order."""
    found = []
    for field in owner.get("config").list_items():
        driver = field.get("opaque", "driver").text
        if driver in (GPU, COMPUTE_DOMAIN):
            found.append(_Config(field, driver, field.get("opaque", "parameters")))
    return tuple(found)


def _check_gates(config: _Config, gates: Collection[str] | None) -> Iterator[Finding]:
    if gates is None:
        return
    for gate, field in list_needed_gates(config.driver, config.parameters):
        if gate not in gates:
            what = f"{field.text} needs the driver's gate {gate}, which is off"
            yield _finding(field, what, REFUSED_LATE, f"turn {gate} on, or remove the configuration")
        excluded = [one for one in _NOT_WITH_MPS if one in gates] if field.text == "MPS" else []
        for other in excluded:
            what = f"MPS is asked for, and the driver's gate {other} is on, which excludes it"
            yield _finding(field, what, REFUSED_LATE, f"remove the configuration, or turn {other} off")


def _check_reach(objects: ObjectSet, claim: Claim, configs: Sequence[_Config]) -> Iterator[Finding]:
    """Configuration that names devices of another kind, that no device gets, or that there is one too much of."""
    if not configs:
        return
    ways = [(request, way, *list_way_types(objects, way)) for request in claim.requests for way in request.alternatives]
    used: set[int] = set()
    passed: set[int | None] = set()  # which configuration GPUs for virtual machines get; None: the default one
    for request, way, driver, types in ways:
        chosen = _choose(configs, request, way, driver, types)
        used |= {index for index in range(len(configs)) if not types and _may_reach(configs[index], request, way)}
        used |= {chosen} if chosen is not None else set()
        if types == {"vfio"}:
            passed.add(chosen)
    for index, config in enumerate(configs):
        if config.kind not in _TYPES:
            continue  # refused already
        for request, way, driver, types in ways:
            if config.names(request, way) and types and (driver != config.driver or _TYPES[config.kind] not in types):
                what = f'{config.kind} names the request "{request.name}", whose devices are of type '
                what += ", ".join(sorted(types))
                right = ", ".join(sorted(kind for kind, one in _TYPES.items() if one in types))
                yield _finding(config.parameters.get("kind"), what, REFUSED_LATE, f"write {right}, or another request")
                used.add(index)
        if index not in used and ways:
            what = f"no device of {claim.owner.title} gets this {config.kind}"
            why = "the last configuration that fits a request wins: earlier ones for it, and those for no device of "
            why += "the claim, do nothing"
            yield _finding(config.field, what, why, "remove it, or name the requests it is for", "warning")
    if len(passed) > 1:
        what = f"GPUs for virtual machines of {claim.owner.title} get {len(passed)} different configurations"
        where = next(config.field for config in configs if config.kind == "VfioDeviceConfig")
        yield _finding(where, what, REFUSED_LATE, "give all of them one VfioDeviceConfig, or split the claim")


def _choose(
    configs: Sequence[_Config], request: Request, way: Alternative, driver: str, types: frozenset[str]
) -> int | None:
    """The last configuration that is for the devices of a way; None: the class's or the driver's own."""
    for index in reversed(range(len(configs))):
        config = configs[index]
        if not _may_reach(config, request, way) or driver != config.driver:
            continue
        if config.names(request, way) or _TYPES.get(config.kind) in types:
            return index
    return None


def _may_reach(config: _Config, request: Request, way: Alternative) -> bool:
    return not config.requests or config.names(request, way)


def _check_partition(objects: ObjectSet, claim: Claim, gates: Collection[str] | None) -> Iterator[Finding]:
    """Several whole GPUs while the driver hands out partitions of the fabric only."""
    if gates is None or _FABRIC not in gates:
        return
    for request in claim.requests:
        for way in request.alternatives:
            _, types = list_way_types(objects, way)
            if types != {"gpu"} or way.count in (None, 1) or way.is_admin:
                continue
            wanted = f"{GPU}/partition{way.count}"
            if not any(_compares(one, request, wanted) for one in claim.devices.get("constraints").list_items()):
                what = (
                    f'request "{request.name}" asks for {way.count} GPUs that needn\'t be one partition of the fabric'
                )
                fix = f"add a constraint: matchAttribute: {wanted}"
                yield _finding(way.field, what, _NO_PARTITION, fix)


def _compares(constraint: Field, request: Request, attribute: str) -> bool:
    named = [one.text for one in constraint.get("requests").list_items()]
    return constraint.get("matchAttribute").text == attribute and (not named or request.name in named)


def _check_shared(objects: ObjectSet) -> Iterator[Finding]:
    """Claims that may have the same device at once, with different configuration for it."""
    first: dict[str, tuple[str, Claim]] = {}
    for claims in objects.claims.values():
        for claim in claims:
            configs = _list_configs(claim.devices)
            for request in claim.requests:
                for way in request.alternatives:
                    if not _is_shared(objects, way.class_name):
                        continue
                    chosen = _choose(configs, request, way, *list_way_types(objects, way))
                    said = (
                        ""
                        if chosen is None
                        else json.dumps(configs[chosen].parameters.value, sort_keys=True, default=str)
                    )
                    before, other = first.setdefault(way.class_name, (said, claim))
                    if before != said:
                        what = (
                            f'{claim.owner.title} and {other.owner.title} configure shares of class "{way.class_name}" '
                        )
                        what += "differently"
                        why = "a device that one claim has is refused to another with other configuration, on the node"
                        where = configs[chosen].field if chosen is not None else way.field
                        yield _finding(
                            where, what, why, "write the same configuration, or put it into the class", "warning"
                        )


def _is_shared(objects: ObjectSet, name: str) -> bool:
    owner = objects.classes.get(name)
    texts = [one.text for one in list_selectors(owner.root.get("spec"))] if owner else []
    return any("device.allowMultipleAllocations" in text and "!device.allow" not in text for text in texts)


def _finding(field: Field, what: str, why: str, fix: str, severity: Severity = "error") -> Finding:
    return Finding(
        code="device-config",
        severity=severity,
        place=field.place,
        what=what,
        why=why,
        rule=f"NVIDIA DRA driver, {API_VERSION}",
        fix=fix,
    )
