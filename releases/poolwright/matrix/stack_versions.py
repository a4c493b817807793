"""What a stack runs, as exact as it is known: from the lock, or from the stack where that is exact."""

from __future__ import annotations

from dataclasses import dataclass

from poolwright.specs.lock import LOCK_FILE, Choice, StackLock
from poolwright.specs.model import VersionRangeText, VersionText
from poolwright.specs.rehearsal import GateDifferences, NamedVersion, RuntimeVersion
from poolwright.specs.stack import Stack, StackSpec
from poolwright.specs.version import parse_version, parse_version_range


@dataclass(frozen=True, slots=True, kw_only=True)
class StackVersions:
    """The part of a combination that all rows of a stack have alike."""

    kubernetes: VersionText
    feature_gates: GateDifferences
    gpu_operator: VersionText | None
    dra_drivers: tuple[NamedVersion, ...]  # by name
    gpu_driver: VersionText | None
    container_runtime: RuntimeVersion | None
    container_toolkit: VersionText | None
    cdi: bool | None
    unresolved: tuple[str, ...]  # as Row.unresolved


def build_stack_versions(stack: Stack, lock: StackLock | None) -> StackVersions:
    """A stack's versions.

    lock: what the stack resolves to; None: nobody pinned it.
    """
    spec, pins, chooser = stack.spec, _Pins(lock), _Chooser(is_pinned=lock is not None)
    operator, driver, toolkit = spec.gpu_operator, spec.gpu_driver, spec.container_toolkit
    kubernetes = chooser.choose("kubernetes", spec.kubernetes.version, pins.find("kubernetes"))
    return StackVersions(
        kubernetes=kubernetes,
        feature_gates=_build_gates(spec),
        gpu_operator=None
        if operator is None
        else chooser.choose("gpuOperator", operator.version, pins.find("gpu_operator")),
        dra_drivers=tuple(
            NamedVersion(
                name=one.name,
                version=chooser.choose(f"draDrivers.{one.name}", one.version, pins.find_driver(one.name)),
            )
            for one in sorted(spec.dra_drivers, key=lambda one: one.name)
        ),
        gpu_driver=None if driver is None else chooser.choose("gpuDriver", driver.version, pins.find("gpu_driver")),
        container_runtime=_choose_runtime(spec, pins, chooser),
        container_toolkit=None
        if toolkit is None
        else chooser.choose("containerToolkit", toolkit.version, pins.find("container_toolkit")),
        cdi=spec.cdi.enabled if spec.cdi else None,
        unresolved=tuple(chooser.unresolved),
    )


def check_exact(field: str, version: str) -> str:
    """Why a text is no one version, in a sentence; empty: it is."""
    try:
        parse_version(version)
    except ValueError:
        return f'{field} is "{version}", which is no version: it may be another one tomorrow'
    return ""


def _choose_runtime(spec: StackSpec, pins: _Pins, chooser: _Chooser) -> RuntimeVersion | None:
    runtime = spec.container_runtime
    if runtime is None:
        return None
    version = chooser.choose("containerRuntime", runtime.version, pins.find("container_runtime"))
    return RuntimeVersion(name=runtime.name, version=version)


@dataclass(frozen=True, slots=True)
class _Pins:
    """What is pinned of a stack."""

    lock: StackLock | None

    def find(self, component: str) -> Choice | None:
        """The choice under a field of the lock."""
        found: Choice | None = getattr(self.lock, component, None)
        return found

    def find_driver(self, name: str) -> Choice | None:
        """The choice of a DRA driver."""
        return None if self.lock is None else self.lock.dra_drivers.get(name)


class _Chooser:
    """Chooses one version for each component, and notes where there is none."""

    def __init__(self, *, is_pinned: bool) -> None:
        self.unresolved: list[str] = []
        self._is_pinned = is_pinned

    def choose(self, field: str, said: str, pinned: Choice | None) -> VersionText:
        """The pinned version if the stack's range has it, or what the stack says if that is exact."""
        if pinned is not None and (problem := _check_pinned(field, said, pinned.version)):
            self.unresolved.append(problem)
            return VersionText(said)
        text = said if pinned is None else pinned.version
        if pinned is None and isinstance(said, VersionRangeText) and not _is_exact(said):
            lacks = "doesn't pin it" if self._is_pinned else "doesn't pin the stack"
            self.unresolved.append(f'{field} is the range "{said}", and {LOCK_FILE} {lacks}')
        elif problem := check_exact(field, text):
            self.unresolved.append(problem)
        return VersionText(text)


def _is_exact(said: VersionRangeText) -> bool:
    return len(said.range.exact) == 1 and not said.range.lines


def _check_pinned(field: str, said: str, pinned: str) -> str:
    """Why a pinned version isn't what the stack asks for, in a sentence; empty: it is."""
    try:
        if said == pinned or parse_version_range(said).contains(parse_version(pinned)):
            return ""
    except ValueError:
        pass
    return f'{field} is "{said}" in the stack, and {LOCK_FILE} has {pinned}'


def _build_gates(spec: StackSpec) -> GateDifferences:
    drivers = {one.name: one.feature_gates for one in spec.dra_drivers if one.feature_gates}
    return GateDifferences(kubernetes=spec.kubernetes.feature_gates, dra_drivers=drivers)
