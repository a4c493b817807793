"""Device classes: structured pool fields and raw CEL as one list of selectors in normal form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.catalog.qualified_name import split_name
from poolwright.specs.model import Model
from poolwright.specs.pool import AttributeValue, CapacityRange, DeviceClassSpec, Tier, VersionRangeOfAttribute

MEMORY: Final = "memory"  # the capacity that drivers publish of a device's memory
# Words that CEL reserves: they can't stand after a dot.
_RESERVED: Final = frozenset(
    (
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop"),
        *("namespace", "null", "package", "return", "true", "var", "void", "while"),
    )
)


class DeviceClass(Model, frozen=True, kw_only=True):
    """A device class as it is rendered."""

    name: str
    tier: Tier
    driver: str
    selectors: tuple[str, ...]  # CEL in normal form: the driver, attributes, versions, capacities, raw ones
    extended_resource_name: str | None = None  # as what pods may ask for the class without a claim


def build_device_class(spec: DeviceClassSpec) -> DeviceClass:
    """The class with one selector for each line of its fields.

    A false selector ends the evaluation of a device, so the driver stands first: no later one runs on another driver's
    devices, where an attribute may be missing. Each of the others checks with has() that the device publishes what it
    reads: reading what isn't there is no mismatch but an error that ends the whole scheduling attempt.

    Raises: CelError if a raw selector is no selector; its `selector` is the index.
    """
    return DeviceClass(
        name=spec.name,
        tier=spec.tier,
        driver=spec.driver,
        selectors=tuple(_selectors(spec)),
        extended_resource_name=spec.extended_resource_name,
    )


def _selectors(spec: DeviceClassSpec) -> Iterator[str]:
    yield f'device.driver == "{spec.driver}"'
    for name, values in sorted(spec.attributes.items()):
        yield attribute_selector(spec.driver, name, values)
    for name, versions in sorted(spec.versions.items()):
        yield version_range_selector(spec.driver, name, versions)
    for name, bounds in sorted(spec.capacity.items()):
        yield capacity_selector(spec.driver, name, bounds)
    if spec.selectors:
        # Here, not at the top: the official parser is a large shared object, and most classes have no raw selector.
        from poolwright.catalog.cel import parse_cel, render_cel

        for selector in spec.selectors:
            yield render_cel(parse_cel(selector.cel.expression))


def attribute_selector(driver: str, name: str, values: tuple[AttributeValue, ...]) -> str:
    """CEL that holds where the attribute is published with one of the values (at least one, all of one type)."""
    guard, read = _published("attributes", driver, name)
    literals = sorted({_literal(value) for value in values})
    if set(literals) == {"true", "false"}:
        return guard
    if literals == ["true"]:
        return f"{guard} && {read}"
    if literals == ["false"]:
        return f"{guard} && !{read}"
    if len(literals) == 1:
        return f"{guard} && {read} == {literals[0]}"
    return f"{guard} && {read} in [{', '.join(literals)}]"


def version_selector(driver: str, name: str, minimum: str) -> str:
    """CEL that holds where the attribute is published as a version of at least minimum (a semantic version)."""
    return version_range_selector(driver, name, VersionRangeOfAttribute(min=minimum))


def version_range_selector(driver: str, name: str, bounds: VersionRangeOfAttribute) -> str:
    """CEL that holds where the attribute is published as a version within the bounds."""
    guard, read = _published("attributes", driver, name)
    clauses = [guard]
    if bounds.min is not None:
        clauses.append(f'{read}.compareTo(semver("{bounds.min}")) >= 0')
    if bounds.below is not None:
        clauses.append(f'{read}.compareTo(semver("{bounds.below}")) < 0')
    return " && ".join(clauses)


def capacity_selector(driver: str, name: str, bounds: CapacityRange) -> str:
    """CEL that holds where the capacity is published within the bounds."""
    guard, read = _published("capacity", driver, name)
    clauses = [guard]
    if bounds.min is not None:
        clauses.append(f'{read}.compareTo(quantity("{bounds.min}")) >= 0')
    if bounds.below is not None:
        clauses.append(f'{read}.compareTo(quantity("{bounds.below}")) < 0')
    return " && ".join(clauses)


def _published(group: str, driver: str, name: str) -> tuple[str, str]:
    """The check that a device publishes a value, and the reading of it."""
    domain, identifier = split_name(driver, name)
    owner = f'device.{group}["{domain}"]'
    if identifier in _RESERVED:
        return f'"{identifier}" in {owner}', f'{owner}["{identifier}"]'
    return f"has({owner}.{identifier})", f"{owner}.{identifier}"


def _literal(value: AttributeValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    if not value.isascii():
        # Here, as above: how the normal form escapes other characters is the printer's to say.
        from poolwright.catalog.cel import parse_cel, render_cel

        return render_cel(parse_cel(f'"" == "{quoted}"')).removeprefix('"" == ')
    return f'"{quoted}"'
