"""Configuration for NVIDIA's drivers: what they refuse when a claim is prepared, on the node, after scheduling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from poolwright.rules.placed import Field
from poolwright.specs.finding import Finding
from poolwright.specs.quantity import parse_quantity

API_VERSION: Final = "resource.nvidia.com/v1beta1"
REFUSED_LATE: Final = (
    "without its webhook the driver refuses this only on the node, when the pod is already scheduled there"
)
_UID: Final = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_DEVICE_KEY: Final = rf"[0-9]+|(GPU|MIG)-{_UID}"
_GPU: Final = "gpu.nvidia.com"
_COMPUTE_DOMAIN: Final = "compute-domain.nvidia.com"
# Fields below apiVersion and kind. Source: kubernetes-sigs/dra-driver-nvidia-gpu api/nvidia.com/resource/v1beta1.
_KINDS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    _GPU: {
        "GpuConfig": ("sharing",),
        "MigDeviceConfig": ("sharing",),
        "VfioDeviceConfig": ("iommu",),
    },
    _COMPUTE_DOMAIN: {
        "ComputeDomainChannelConfig": ("domainID", "allocationMode"),
        "ComputeDomainDaemonConfig": ("domainID",),
    },
}
_SHARING: Final = {
    "GpuConfig": ("strategy", "timeSlicingConfig", "mpsConfig"),
    "MigDeviceConfig": ("strategy", "mpsConfig"),
}
_GATES: Final = {
    "TimeSlicing": "TimeSlicingSettings",
    "MPS": "MPSSupport",
    "VfioDeviceConfig": "PassthroughSupport",
}
_OTHER_STRATEGY: Final = {"timeSlicingConfig": "MPS", "mpsConfig": "TimeSlicing"}
_MPS: Final = (
    "defaultActiveThreadPercentage",
    "defaultPinnedDeviceMemoryLimit",
    "defaultPerDevicePinnedMemoryLimit",
    "multiUser",
)
_IOMMU: Final = ("backendPolicy", "enableAPIDevice")
_BACKENDS: Final = ("LegacyOnly", "PreferIommuFD")
_ALLOCATION_MODES: Final = ("Single", "All")
_MIN_LIMIT: Final = parse_quantity("1Mi")
_INTERVALS: Final = ("Default", "Short", "Medium", "Long")


def check_nvidia_config(driver: str, parameters: Field) -> Iterator[Finding]:
    """What the named driver refuses in parameters; nothing for drivers of others."""
    kinds = _KINDS.get(driver)
    if kinds is None:
        return
    api_version, kind = parameters.get("apiVersion"), parameters.get("kind")
    if api_version.text != API_VERSION:
        yield _refused(api_version, f'apiVersion "{api_version.text}" is not known', f"write {API_VERSION}")
        return
    if kind.text not in kinds:
        yield _refused(kind, f'driver {driver} has no kind "{kind.text}"', f"write one of: {', '.join(kinds)}")
        return
    yield from _check_known(parameters, ("apiVersion", "kind", *kinds[kind.text]), kind.text)
    if kind.text in _SHARING:
        yield from _check_sharing(parameters.get("sharing"), _SHARING[kind.text])
    if kind.text == "MigDeviceConfig" and parameters.get("sharing", "strategy").text == "TimeSlicing":
        yield _idle(parameters.get("sharing", "strategy"))
    yield from _check_iommu(parameters.get("iommu"))
    if driver == _COMPUTE_DOMAIN:
        yield from _check_domain(parameters, kind.text)


def _check_domain(parameters: Field, kind: str) -> Iterator[Finding]:
    domain, mode = parameters.get("domainID"), parameters.get("allocationMode")
    if not domain.text:
        yield _refused(domain, f"{kind} has no domainID", "write the ComputeDomain's uid")
    elif not re.fullmatch(_UID, domain.text):
        yield _refused(domain, f'"{domain.text}" is no uid of a ComputeDomain', "write the ComputeDomain's uid")
    if mode.is_set and mode.text not in _ALLOCATION_MODES:
        what = f'"{mode.text or mode.value}" is no allocationMode'
        yield _refused(mode, what, f"write one of: {', '.join(_ALLOCATION_MODES)}")


def _check_iommu(iommu: Field) -> Iterator[Finding]:
    if not iommu.is_set:
        return
    yield from _check_known(iommu, _IOMMU, "iommu")
    policy, device = iommu.get("backendPolicy"), iommu.get("enableAPIDevice")
    if policy.text not in _BACKENDS:
        what = f'"{policy.text or policy.value}" is no backendPolicy' if policy.is_set else "iommu has no backendPolicy"
        yield _refused(policy, what, f"write one of: {', '.join(_BACKENDS)}")
    if device.is_set and not isinstance(device.value, bool):
        yield _refused(device, f"enableAPIDevice is {device.value}", "write true or false")


def _check_sharing(sharing: Field, known: tuple[str, ...]) -> Iterator[Finding]:
    if not sharing.is_set:
        return
    yield from _check_known(sharing, known, "sharing")
    strategy = sharing.get("strategy")
    if strategy.text not in ("TimeSlicing", "MPS"):
        yield _refused(strategy, f'sharing has no strategy "{strategy.text}"', "write TimeSlicing or MPS")
    for name, other in _OTHER_STRATEGY.items():
        if sharing.get(name).is_set and strategy.text == other:
            yield _refused(sharing.get(name), f"{name} stands beside strategy {other}", f"remove {name}")
    yield from _check_time_slicing(sharing.get("timeSlicingConfig"))
    yield from _check_mps(sharing.get("mpsConfig"))


def list_needed_gates(driver: str, parameters: Field) -> tuple[tuple[str, Field], ...]:
    """Gates without which the driver refuses parameters, each with what needs it."""
    kind, strategy = parameters.get("kind"), parameters.get("sharing", "strategy")
    if driver != _GPU:
        return ()
    needed = []
    if kind.text in _SHARING and strategy.text in _GATES:
        needed.append((_GATES[strategy.text], strategy))
    if kind.text == "VfioDeviceConfig":
        needed.append((_GATES[kind.text], kind))
    return tuple(needed)


def _check_time_slicing(config: Field) -> Iterator[Finding]:
    if not config.is_set:
        return
    yield from _check_known(config, ("interval",), "timeSlicingConfig")
    interval = config.get("interval")
    if interval.text not in _INTERVALS:
        what = f'"{interval.text}" is no interval' if interval.is_set else "timeSlicingConfig has no interval"
        yield _refused(interval, what, f"write one of: {', '.join(_INTERVALS)}")


def _check_mps(config: Field) -> Iterator[Finding]:
    yield from _check_known(config, _MPS, "mpsConfig")
    percentage = config.get("defaultActiveThreadPercentage")
    if percentage.is_set and (percentage.number is None or not 0 <= percentage.number <= 100):
        yield _refused(percentage, f"defaultActiveThreadPercentage is {percentage.value}", "write 0 to 100")
    user = config.get("multiUser")
    if user.is_set and not isinstance(user.value, bool):
        yield _refused(user, f"multiUser is {user.value}", "write true or false")
    yield from _check_limit(config.get("defaultPinnedDeviceMemoryLimit"))
    for key, limit in config.get("defaultPerDevicePinnedMemoryLimit").list_entries():
        if not re.fullmatch(_DEVICE_KEY, key):
            what = f'"{key}" is neither an index among the claim\'s devices nor a UUID'
            yield _refused(limit, what, "write 0, 1 and so on, or the device's UUID")
        yield from _check_limit(limit)


def _check_limit(limit: Field) -> Iterator[Finding]:
    """A limit in whole mebibytes, at least one."""
    if not limit.is_set:
        return
    try:
        enough = not isinstance(limit.value, bool) and parse_quantity(str(limit.value)) >= _MIN_LIMIT
    except ValueError:
        yield _refused(limit, f'"{limit.value}" is no quantity', "write a quantity such as 10Gi")
        return
    if not enough:
        yield _refused(limit, f"a limit of {limit.value} is less than 1Mi", "write at least 1Mi")


def _check_known(field: Field, known: tuple[str, ...], what: str) -> Iterator[Finding]:
    for key, value in field.list_entries():
        if key not in known:
            yield _refused(value, f'{what} has no field "{key}"', f"remove it; there are {', '.join(known)}")


def _idle(field: Field) -> Finding:
    return Finding(
        code="device-config",
        severity="warning",
        place=field.place,
        what="TimeSlicing is set for partitions, where it does nothing",
        why="the driver takes it and leaves the partition as it is: who counts on slices of time has none",
        rule=f"NVIDIA DRA driver, {API_VERSION}",
        fix="remove the configuration, or ask for whole GPUs with a GpuConfig",
    )


def _refused(field: Field, what: str, fix: str) -> Finding:
    return Finding(
        code="device-config",
        severity="error",
        place=field.place,
        what=what,
        why=REFUSED_LATE,
        rule=f"NVIDIA DRA driver, {API_VERSION}",
        fix=fix,
    )
