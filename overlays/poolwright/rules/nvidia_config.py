"""Configuration for NVIDIA's drivers: what they refuse when a claim is prepared, on the node, after scheduling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.rules.placed import Field
from poolwright.specs.finding import Finding

API_VERSION: Final = "resource.nvidia.com/v1beta1"
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
_OTHER_STRATEGY: Final = {"timeSlicingConfig": "MPS", "mpsConfig": "TimeSlicing"}
_MPS: Final = (
    "defaultActiveThreadPercentage",
    "defaultPinnedDeviceMemoryLimit",
    "defaultPerDevicePinnedMemoryLimit",
    "multiUser",
)
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
    if driver == _COMPUTE_DOMAIN and not parameters.get("domainID").text:
        yield _refused(parameters.get("domainID"), f"{kind.text} has no domainID", "write the ComputeDomain's uid")


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


def _check_known(field: Field, known: tuple[str, ...], what: str) -> Iterator[Finding]:
    for key, value in field.list_entries():
        if key not in known:
            yield _refused(value, f'{what} has no field "{key}"', f"remove it; there are {', '.join(known)}")


def _refused(field: Field, what: str, fix: str) -> Finding:
    return Finding(
        code="device-config",
        severity="error",
        place=field.place,
        what=what,
        why="without its webhook the driver refuses this only on the node, when the pod is already scheduled there",
        rule=f"NVIDIA DRA driver, {API_VERSION}",
        fix=fix,
    )
