"""Rules that need facts, files or the CEL checker: what a cluster, a pool or a placement may not say."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from poolwright.catalog.closure import ClusterApi
from poolwright.catalog.facts import Facts
from poolwright.catalog.qualified_name import split_name
from poolwright.specs.envelope import Envelope
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.place import Place
from poolwright.specs.pool import DeviceClassSpec, Pool
from poolwright.specs.resolve import ResolvedPlacement
from poolwright.specs.stack import Stack
from poolwright.specs.version import VersionRange

_RULE: Final = "poolwright.dev/v1alpha1"


def check_kubernetes(stack: Spec[Stack], facts: Facts) -> tuple[ClusterApi | None, list[Finding]]:
    """What the stack's Kubernetes serves; None, with findings, if that isn't known."""
    wanted = stack.value.spec.kubernetes.version
    place = stack.place("spec", "kubernetes", "version")
    known = ", ".join(f"{fact.minor}.x" for fact in facts.kubernetes)
    apis = {minor: facts.kubernetes_minor(minor) for minor in _minors(wanted.range)}
    unknown = sorted(minor for minor, fact in apis.items() if fact is None)
    if unknown:
        return None, [
            Finding(
                code="kubernetes-unsupported",
                severity="error",
                place=place,
                what=f"Kubernetes {', '.join(unknown)} is not known to this release",
                why="which API versions a cluster serves decides what is rendered for it; it is never guessed",
                rule="poolwright facts, kubernetes.json",
                fix=f"pin one of: {known}",
            )
        ]
    if len(apis) > 1:
        return None, [
            Finding(
                code="kubernetes-range",
                severity="error",
                place=place,
                what=f'"{wanted}" spans several minor releases: {", ".join(sorted(apis))}',
                why="a cluster runs one minor release, and API versions and rules differ between two",
                rule=_RULE,
                fix="pin one minor release, such as 1.36.x",
            )
        ]
    fact = next(fact for fact in apis.values() if fact)
    return ClusterApi(minor=fact.minor, resource_api=fact.resource_api), []


def _minors(versions: VersionRange) -> list[str]:
    """The minor releases that a range names, in order; `1.x` names none that is known."""
    exact = {version.minor for version in versions.exact}
    lines = {".".join(map(str, line[:2])) if len(line) > 1 else f"{line[0]}.x" for line in versions.lines}
    return sorted(exact | lines)


def check_classes(pool: Spec[Pool], facts: Facts, *, only: str | None = None) -> list[Finding]:
    """Classes that select on what names one device, or whose raw CEL is no selector; only the named one, if one is."""
    problems = []
    for index, device_class in enumerate(pool.value.spec.device_classes):
        if only not in (None, device_class.name):
            continue
        path = ("spec", "deviceClasses", index)
        for group, name in _list_read(device_class):
            domain, identifier = split_name(device_class.driver, name)
            place = pool.document.key_place((*path, group, name))
            if _is_identity(facts, device_class.driver, domain, identifier):
                problems.append(_identity(place, device_class.name, name))
            else:
                problems += _check_version(place, device_class, group, name, facts)
        for number, selector in enumerate(device_class.selectors):
            place = pool.place(*path, "selectors", number, "cel", "expression")
            problems += _check_cel(place, device_class.name, device_class.driver, selector.cel.expression, facts)
    return problems


def _list_read(device_class: DeviceClassSpec) -> Iterator[tuple[str, str]]:
    """The attributes that structured lines read, with the field each stands in."""
    for name in device_class.attributes:
        yield "attributes", name
    for name in device_class.versions:
        yield "versions", name


def _check_version(place: Place, device_class: DeviceClassSpec, group: str, name: str, facts: Facts) -> list[Finding]:
    """Versions compared as something else, and the other way round."""
    fact = facts.attribute(device_class.driver, *split_name(device_class.driver, name))
    if fact is None or (fact.type == "version") == (group == "versions"):
        return []
    compared = "a version" if group == "versions" else "a value"
    return [
        Finding(
            code="class-attribute-type",
            severity="error",
            place=place,
            what=f'class "{device_class.name}" compares "{name}" as {compared}, and its driver publishes it with type '
            f"{fact.type}",
            why="in CEL that is false, or an error that aborts the pod's scheduling",
            rule="poolwright facts, device-attributes.json",
            fix=f"move it to {'attributes' if group == 'versions' else 'versions, as {min: ..., below: ...}'}",
        )
    ]


def check_compute_class(resolved: ResolvedPlacement, facts: Facts) -> list[Finding]:
    """Whether the facts say how the devices of each class show the arithmetic that the envelope asks for."""
    wanted = resolved.envelope.value.spec.compute_class
    known = sorted({fact.driver for fact in facts.compute_classes if fact.compute_class == wanted})
    return [
        Finding(
            code="compute-class",
            severity="error",
            place=resolved.placement.place("spec", "deviceClassNames", index),
            what=f"envelope {resolved.envelope.value.identity} asks for native {wanted} arithmetic, and no fact says "
            f'how devices of driver "{device_class.driver}" (class "{device_class.name}") show it',
            why="without an attribute to select on, the claim could get a device that can't run the model",
            rule="poolwright facts, compute-classes.json",
            fix=f"choose a class of a driver that is known ({', '.join(known)}), or write computeClass: any",
        )
        for index, device_class in enumerate(resolved.device_classes)
        if wanted != "any" and not facts.compute_class(device_class.driver, wanted)
    ]


def check_files(envelope: Spec[Envelope], files: Collection[str]) -> list[Finding]:
    """Whether the files that the envelope names are there."""
    said = envelope.value.spec
    named = (
        (("model", "configPath"), said.model.config_path),
        (("model", "measuredProfile"), said.model.measured_profile),
        (("engine", "template"), said.engine.template),
    )
    return [
        Finding(
            code="file-missing",
            severity="error",
            place=envelope.place("spec", *path),
            what=f'envelope {envelope.value.identity} names the file "{file}", which isn\'t in the project',
            why="the files an envelope names are part of its digest and of what runs",
            rule=_RULE,
            fix="add the file, or correct the path (it is relative to poolwright.yaml)",
        )
        for path, file in named
        if file is not None and file not in files
    ]


def _check_cel(place: Place, class_name: str, driver: str, expression: str, facts: Facts) -> list[Finding]:
    from poolwright.catalog.cel import CelError, find_reads, parse_cel  # a large shared object: only where there is CEL

    try:
        parsed = parse_cel(expression)
    except CelError as error:
        return [
            Finding(
                code="cel-invalid",
                severity="error",
                place=place,
                what=f'a selector of class "{class_name}" is not a device selector: {problem.message} '
                f"(line {problem.line}, column {problem.column} of the expression)",
                why="the API server refuses the class, and a scheduler that met it would abort every attempt",
                rule="Kubernetes DRA CEL",
                fix="correct the expression",
            )
            for problem in error.problems
        ]
    reads = [read for read in find_reads(parsed) if read.kind == "attribute"]
    unknown = [_unknown_read(place, class_name)] if any(not (read.domain and read.name) for read in reads) else []
    return unknown + [
        _identity(place, class_name, f"{read.domain}/{read.name}")
        for read in reads
        if read.domain and read.name and _is_identity(facts, driver, read.domain, read.name)
    ]


def _is_identity(facts: Facts, driver: str, domain: str, name: str) -> bool:
    fact = facts.attribute(driver, domain, name)
    return fact is not None and not fact.stable


def _unknown_read(place: Place, class_name: str) -> Finding:
    return Finding(
        code="class-identity",
        severity="error",
        place=place,
        what=f'a selector of class "{class_name}" reads attributes that it doesn\'t name',
        why="a computed name or a walk over all attributes can select on what names one device, and nobody can tell",
        rule="poolwright facts, device-attributes.json: stable is false",
        fix='name each attribute: device.attributes["DOMAIN"].NAME',
    )


def _identity(place: Place, class_name: str, name: str) -> Finding:
    return Finding(
        code="class-identity",
        severity="error",
        place=place,
        what=f'class "{class_name}" selects on "{name}", which names a device and not a kind of device',
        why="a class is policy: an identity changes with the next repair or restart, and ties workloads to one node",
        rule="poolwright facts, device-attributes.json: stable is false",
        fix="select on what the device is: productName, architecture, profile, memory",
    )
