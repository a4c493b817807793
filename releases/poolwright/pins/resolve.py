"""A stack resolved to exact versions: what the lock says of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from poolwright.catalog.charts import Chart, build_charts
from poolwright.catalog.facts import Facts
from poolwright.catalog.gates import is_nvidia_package
from poolwright.catalog.locked import leaves_choice, pin_stack
from poolwright.catalog.stack_rules import check_stack_facts
from poolwright.catalog.tables.driver_release import is_within, release_key
from poolwright.pins.choose import Candidate, Unresolved, choose
from poolwright.pins.images import choose_images
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.lock import ChartChoice, Choice, StackLock
from poolwright.specs.model import VersionRangeText, VersionText
from poolwright.specs.parse import Spec
from poolwright.specs.place import FieldPath
from poolwright.specs.stack import (
    ContainerRuntime,
    ContainerToolkit,
    DraDriver,
    GpuDriver,
    GpuOperator,
    Kubernetes,
    Stack,
    StackSpec,
)
from poolwright.specs.version import parse_version

# Components that may be moved by themselves, as the command line and the lock call them; a DRA driver is called so too.
COMPONENTS: Final = ("kubernetes", "gpuOperator", "gpuDriver", "containerRuntime", "containerToolkit")
_RULE: Final = "poolwright.dev/v1alpha1"
_Part = Kubernetes | GpuOperator | GpuDriver | ContainerRuntime | ContainerToolkit | DraDriver


# Exact versions that rehearsals name, of components whose releases are many: kubernetes and containerRuntime.
Rehearsed = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a stack is resolved with."""

    facts: Facts
    previous: StackLock | None = None  # what the lock says so far: kept, as long as it is in the stack's ranges
    upgraded: Collection[str] = ()  # of COMPONENTS, or a driver's name: those that may move
    rehearsed: Rehearsed = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)  # of images and charts by reference, from registries


def resolve_stack(stack: Spec[Stack], resource_api: str, known: Known) -> StackLock:
    """The stack's part of the lock.

    resource_api: version of resource.k8s.io that its Kubernetes serves.
    Raises:       SpecError with every range of which no version is known, or with what the facts say against it.
    """
    resolver = _Resolver(stack, known)
    versions = resolver.resolve()
    if resolver.problems:
        raise SpecError(resolver.problems)
    exact = pin_stack(stack.value.spec, versions)
    _check_facts(stack, exact, known.facts)
    charts = {chart.chart: _choose_chart(chart, known) for chart in build_charts(exact, resource_api, known.facts)}
    images = choose_images(exact, known.digests, known.previous)
    return msgspec.structs.replace(versions, charts=charts, images=images)


def _check_facts(stack: Spec[Stack], exact: StackSpec, facts: Facts) -> None:
    """Raises: SpecError with what the facts say against the resolved stack: what doesn't go together isn't pinned."""
    resolved = Spec(value=msgspec.structs.replace(stack.value, spec=exact), document=stack.document)
    if errors := [one for one in check_stack_facts(resolved, facts) if one.severity == "error"]:
        raise SpecError(errors)


class _Resolver:
    """Chooses component by component: later ones may follow from earlier ones."""

    def __init__(self, stack: Spec[Stack], known: Known) -> None:
        self._stack = stack
        self._spec: StackSpec = stack.value.spec
        self._known = known
        self._previous = {} if known.previous is None else list_choices(known.previous)
        self.problems: list[Finding] = []

    def resolve(self) -> StackLock:
        spec = self._spec
        kubernetes = self._choose("kubernetes", spec.kubernetes, self._list_kubernetes())
        operator = self._choose_part("gpuOperator", spec.gpu_operator, self._list_operators())
        release = operator.version if operator else None
        drivers = {one.name: self._choose_driver(index, one, release) for index, one in enumerate(spec.dra_drivers)}
        return StackLock(
            kubernetes=kubernetes,
            gpu_operator=operator,
            dra_drivers=drivers,
            gpu_driver=self._choose_part("gpuDriver", spec.gpu_driver, self._list_gpu_drivers(release)),
            container_runtime=self._choose_part("containerRuntime", spec.container_runtime, self._list_runtimes()),
            container_toolkit=self._choose_part(
                "containerToolkit", spec.container_toolkit, self._list_components(release, "toolkit")
            ),
        )

    def _choose(self, component: str, part: _Part, candidates: Iterable[Candidate]) -> Choice:
        was = self._previous.get(component)
        found = choose(part.version, candidates, was, upgrade=component in self._known.upgraded)
        return found if isinstance(found, Choice) else self._refuse((component, "version"), component, found)

    def _choose_part(self, component: str, part: _Part | None, candidates: Iterable[Candidate]) -> Choice | None:
        return None if part is None else self._choose(component, part, candidates)

    def _choose_driver(self, index: int, driver: DraDriver, operator: str | None) -> Choice:
        was, upgrade = self._previous.get(driver.name), driver.name in self._known.upgraded
        if is_nvidia_package(driver.name, self._known.facts):
            is_carried = driver.install == "gpuOperator"
            known = self._list_components(operator, "draDriver") if is_carried else self._list_drivers()
            found = choose(driver.version, known, was, upgrade=upgrade, key=release_key)  # they were renumbered once
        else:
            found = choose(driver.version, (), was, upgrade=upgrade)
        if isinstance(found, Choice):
            return found
        return self._refuse(("draDrivers", index, "version"), driver.name, found)

    def _list_kubernetes(self) -> list[Candidate]:
        return self._prefer_rehearsed("kubernetes", self._spec.kubernetes.version, "kubernetes")

    def _list_runtimes(self) -> list[Candidate]:
        runtime = self._spec.container_runtime
        return self._prefer_rehearsed("containerRuntime", runtime.version, runtime.name) if runtime else []

    def _prefer_rehearsed(self, component: str, text: VersionRangeText, release_of: str) -> list[Candidate]:
        """Versions that somebody rehearsed, if one is in the range; else the releases that are known."""
        rehearsed = [
            Candidate(version=one, said="that is rehearsed", source="rehearsals/")
            for one in self._known.rehearsed.get(component, ())
        ]
        if any(text.range.contains(parse_version(one.version)) for one in rehearsed):
            return rehearsed
        return self._list_releases(release_of)

    def _list_operators(self) -> list[Candidate]:
        return [
            Candidate(version=fact.version, said="that is known here", source=f"operator-releases.json: {fact.source}")
            for fact in self._known.facts.operator_releases
            if fact.verified
        ]

    def _list_releases(self, component: str) -> list[Candidate]:
        return [
            Candidate(version=fact.version, said="that is known here", source=f"releases.json: {fact.source}")
            for fact in self._known.facts.releases
            if fact.component == component
        ]

    def _list_components(self, operator: str | None, component: str) -> Iterator[Candidate]:
        """What a release of the operator carries; nothing, if there is none."""
        fact = self._known.facts.operator_component(operator, component) if operator else None
        if fact is not None and fact.version is not None:
            source = f"operator-components.json: {fact.source}"
            said = f"that the chart v{fact.release} carries"
            yield Candidate(version=fact.version.removeprefix("v"), said=said, source=source)

    def _list_drivers(self) -> Iterator[Candidate]:
        for fact in self._known.facts.driver_releases:
            if fact.verified and fact.chart_registries:
                source = f"driver-releases.json: {fact.source}"
                yield Candidate(version=fact.version, said="that is known here", source=source)

    def _list_gpu_drivers(self, operator: str | None) -> list[Candidate]:
        line = ".".join(operator.split(".")[:2]) if operator else None
        return [
            Candidate(
                version=fact.version, said=f"that {operator} lists", source=f"operator-gpu-drivers.json: {fact.source}"
            )
            for fact in self._known.facts.operator_gpu_drivers
            if fact.line == line and fact.release in (None, operator)
        ]

    def _refuse(self, path: FieldPath, component: str, found: Unresolved) -> Choice:
        known = ", ".join(found.known[:5])
        self.problems.append(
            Finding(
                code="version-unresolved",
                severity="error",
                place=self._stack.place("spec", *path),
                what=f"no version of {component} is known here that is in {found.range}",
                why="what is pinned is a release that exists; none is made up",
                rule=_RULE,
                fix=f"write the exact version, or add it to the facts{f'; known are {known}' if known else ''}",
            )
        )
        return Choice(version=VersionText(found.range), reason="not resolved")


def _choose_chart(chart: Chart, known: Known) -> ChartChoice:
    crds = [
        fact
        for fact in known.facts.chart_crds
        if fact.chart == chart.chart and is_within(chart.version, fact.since, fact.until) and not chart.skip_crds
    ]
    reference = f"{chart.repo_url}/{chart.chart}:{chart.version}"
    before = known.previous.charts.get(chart.chart) if known.previous else None
    kept = before.digest if before and (before.repository, before.version) == (chart.repo_url, chart.version) else None
    return ChartChoice(
        repository=chart.repo_url,
        version=chart.version,
        digest=known.digests.get(reference, kept),
        crds=tuple(sorted(fact.crd for fact in crds)),
        reason=f"the chart of {chart.chart} {chart.version}; its own range of Kubernetes is too wide to rely on",
    )


def list_choices(lock: StackLock) -> dict[str, Choice]:
    """The choices of a stack's lock by component; a DRA driver by its name."""
    parts = (lock.kubernetes, lock.gpu_operator, lock.gpu_driver, lock.container_runtime, lock.container_toolkit)
    named = {name: part for name, part in zip(COMPONENTS, parts, strict=True) if part is not None}
    return {**named, **lock.dra_drivers}


def list_ranges(stack: StackSpec) -> Iterator[str]:
    """Components of a stack whose text leaves a choice: those that can be upgraded alone."""
    own = (stack.kubernetes, stack.gpu_operator, stack.gpu_driver, stack.container_runtime, stack.container_toolkit)
    parts: list[tuple[str, _Part | None]] = [*zip(COMPONENTS, own, strict=True)]
    parts += [(driver.name, driver) for driver in stack.dra_drivers]
    for name, part in parts:
        if part is not None and leaves_choice(part.version):
            yield name
