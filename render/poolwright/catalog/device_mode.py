"""How much of a device a claim on a class gets: a whole one, a hardware partition, or a share of one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Final

from poolwright.catalog.facts import Facts
from poolwright.catalog.qualified_name import split_name
from poolwright.specs.envelope import Isolation
from poolwright.specs.finding import Finding
from poolwright.specs.pool import DeviceClassSpec
from poolwright.specs.resolve import ResolvedPlacement
from poolwright.specs.stack import Stack

if TYPE_CHECKING:
    from poolwright.catalog.cel import Expr

# From the strongest: what each mode lets others have of the same device.
_ORDER: Final[tuple[Isolation, ...]] = ("exclusive", "partition", "shared")
SHARES_GATE: Final = "ConsumableShares"  # of NVIDIA's driver: with it every GPU may be allocated several times
_NVIDIA: Final = "gpu.nvidia.com"
_TYPE: Final = "type"  # the attribute, of the driver's own domain, that says what kind of device one is
_PARTITIONS: Final = ("mig",)  # its values for partitions; every other device is a whole one
_RULE: Final = "poolwright.dev/v1alpha1"


def device_mode(device_class: DeviceClassSpec, facts: Facts) -> Isolation:
    """The weakest mode of any device that the class takes.

    A class that says nothing of the type takes every type that the facts know of its driver; the devices of a driver
    without facts are whole ones. Shares are what a class asks for by `device.allowMultipleAllocations`.
    Raises: CelError if a raw selector is no selector.
    """
    is_shared, taken = read_types(device_class, facts)
    if is_shared:
        return "shared"
    return "exclusive" if taken.isdisjoint(_PARTITIONS) else "partition"


def read_types(device_class: DeviceClassSpec, facts: Facts) -> tuple[bool, frozenset[str]]:
    """Whether the class asks for shares, and the types of device that it takes, as their attribute has them.

    Raises: CelError as device_mode.
    """
    is_shared, types = _read_selectors(device_class)
    for name, values in device_class.attributes.items():
        if split_name(device_class.driver, name) == (device_class.driver, _TYPE):
            types.append({str(value) for value in values})
    return is_shared, frozenset(set.intersection(*types) if types else _known_types(device_class.driver, facts))


def may_share(device_class: DeviceClassSpec, stack: Stack, facts: Facts) -> bool:
    """Whether several pods may have one of the class's devices: it asks for shares, or its driver shares all it has.

    Raises: CelError as device_mode.
    """
    if device_class.selectors and device_mode(device_class, facts) == "shared":
        return True
    return any(
        driver.feature_gates.get(SHARES_GATE) and device_class.driver in (*driver.driver_names, _NVIDIA)
        for driver in stack.spec.dra_drivers
    )


def check_modes(resolved: ResolvedPlacement, facts: Facts) -> list[Finding]:
    """Classes that give less of a device than the envelope asks for, and consent that consents to nothing.

    Raises: CelError as device_mode.
    """
    wanted, consent = resolved.envelope.value.spec.isolation, resolved.placement.value.spec.isolation
    problems = []
    if consent is not None and not _is_weaker(consent, wanted):
        problems.append(_no_consent(resolved, consent, wanted))
    for index, device_class in enumerate(resolved.device_classes):
        mode = device_mode(device_class, facts)
        if _is_weaker(mode, wanted) and (consent is None or _is_weaker(mode, consent)):
            problems.append(_weaker(resolved, index, mode, consent or wanted))
        if mode == "partition" and resolved.envelope.value.spec.topology.tensor_parallel > 1:
            problems.append(_split_partition(resolved, index))
    return problems


def _is_weaker(mode: Isolation, than: Isolation) -> bool:
    return _ORDER.index(mode) > _ORDER.index(than)


def _known_types(driver: str, facts: Facts) -> set[str]:
    return {fact.type_attribute for fact in facts.device_types if fact.driver == driver}


def _read_selectors(device_class: DeviceClassSpec) -> tuple[bool, list[set[str]]]:
    """Whether raw selectors ask for shares, and the types that each condition on the type leaves."""
    if not device_class.selectors:
        return False, []
    # Here, not at the top: the official parser is a large shared object, and most classes have no raw selector.
    from poolwright.catalog.cel import Ident, parse_cel

    is_shared, types = False, []
    for selector in device_class.selectors:
        for clause in _list_clauses(parse_cel(selector.cel.expression).root):
            is_shared |= isinstance(clause, Ident) and clause.name == "device.allowMultipleAllocations"
            values = _compared_types(clause, device_class.driver)
            types += [values] if values is not None else []
    return is_shared, types


def _list_clauses(expr: Expr) -> Iterator[Expr]:
    """The conditions that must all hold."""
    from poolwright.catalog.cel import Call

    if isinstance(expr, Call) and expr.function == "_&&_":
        for part in expr.args:
            yield from _list_clauses(part)
    else:
        yield expr


def _compared_types(clause: Expr, driver: str) -> set[str] | None:
    """The values that `type == "a"` or `type in ["a", "b"]` leaves; None of any other condition."""
    from poolwright.catalog.cel import Call, Const, ListExpr

    match clause:
        case Call(function="_==_", args=(Const() as one, read)) | Call(function="_==_", args=(read, Const() as one)):
            values: Collection[Expr] = (one,)
        case Call(function="@in", args=(read, ListExpr(elements=elements))):
            values = elements
        case _:
            return None
    if not _reads_type(read, driver):
        return None
    return {str(value.value) for value in values if isinstance(value, Const)}


def _reads_type(expr: Expr, driver: str) -> bool:
    from poolwright.catalog.cel import Call, Const, Ident, Select

    match expr:
        case Select(operand=attributes, field=name):
            pass
        case Call(function="_[_]", args=(attributes, Const(value=str() as name))):
            pass
        case _:
            return False
    match attributes:
        case Call(function="_[_]", args=(Ident(name="device.attributes"), Const(value=domain))):
            return (domain, name) == (driver, _TYPE)
    return False


def _weaker(resolved: ResolvedPlacement, index: int, mode: Isolation, accepted: Isolation) -> Finding:
    device_class, identity = resolved.device_classes[index], resolved.envelope.value.identity
    gives = {"partition": "partitions of a device", "shared": "shares of a device"}
    fix = f"choose another class, or consent in the placement: isolation: {mode}"
    if mode == "partition":
        fix += "; a class that is meant for whole devices says attributes: {type: [gpu]}"
    return Finding(
        code="isolation-weaker",
        severity="error",
        place=resolved.placement.place("spec", "deviceClassNames", index),
        what=f'class "{device_class.name}" may give {gives[mode]}, and envelope {identity} is placed with isolation '
        f"{accepted}",
        why="how much of a device others may have is the model's promise: less of it is a visible choice",
        rule=_RULE,
        fix=fix,
    )


def _no_consent(resolved: ResolvedPlacement, consent: Isolation, wanted: Isolation) -> Finding:
    return Finding(
        code="isolation-weaker",
        severity="error",
        place=resolved.placement.place("spec", "isolation"),
        what=f'placement "{resolved.placement.value.identity}" consents to isolation {consent}, and envelope '
        f"{resolved.envelope.value.identity} asks for {wanted}",
        why="consent to what the envelope accepts by itself consents to nothing",
        rule=_RULE,
        fix="remove isolation from the placement",
    )


def _split_partition(resolved: ResolvedPlacement, index: int) -> Finding:
    count = resolved.envelope.value.spec.topology.tensor_parallel
    return Finding(
        code="partition-parallel",
        severity="error",
        place=resolved.placement.place("spec", "deviceClassNames", index),
        what=f'class "{resolved.device_classes[index].name}" may give partitions, and envelope '
        f"{resolved.envelope.value.identity} spreads each layer over {count} devices",
        why="partitions have no direct path to each other, and the ranks' communication library refuses them",
        rule=_RULE,
        fix="choose a class of whole devices, or an envelope with tensorParallel: 1",
    )
