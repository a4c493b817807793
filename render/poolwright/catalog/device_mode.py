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
    from poolwright.catalog.cel import Call, Expr

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
    without facts are whole ones. A class that reads `device.allowMultipleAllocations` asks for shares, unless it says
    that devices may not be shared.
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
    known = _known_types(device_class.driver, facts)
    is_shared, types = _read_selectors(device_class, known)
    for name, values in device_class.attributes.items():
        if split_name(device_class.driver, name) == (device_class.driver, _TYPE):
            types.append(frozenset(str(value) for value in values))
    return is_shared, frozenset.intersection(*types) if types else known


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


def _known_types(driver: str, facts: Facts) -> frozenset[str]:
    return frozenset(fact.type_attribute for fact in facts.device_types if fact.driver == driver)


def _read_selectors(device_class: DeviceClassSpec, known: frozenset[str]) -> tuple[bool, list[frozenset[str]]]:
    """Whether raw selectors ask for shares, and the types that each condition on the type leaves.

    A selector that reads whether a device may be shared, in whatever words, asks for shares unless a condition says
    that it may not.
    """
    if not device_class.selectors:
        return False, []
    # Here, not at the top: the official parser is a large shared object, and most classes have no raw selector.
    from poolwright.catalog.cel import find_reads, parse_cel

    reads, excludes, types = False, False, []
    for selector in device_class.selectors:
        expression = parse_cel(selector.cel.expression)
        reads |= any(read.kind == "allowMultipleAllocations" for read in find_reads(expression))
        for clause in _list_clauses(expression.root):
            excludes |= _is_shareable(clause) is False
            values = _find_types(clause, device_class.driver, known)
            types += [values] if values is not None else []
    return reads and not excludes, types


def _list_clauses(expr: Expr) -> Iterator[Expr]:
    """The conditions that must all hold."""
    from poolwright.catalog.cel import Call

    if isinstance(expr, Call) and expr.function == "_&&_":
        for part in expr.args:
            yield from _list_clauses(part)
    else:
        yield expr


def _is_shareable(expr: Expr) -> bool | None:
    """Whether a condition holds where a device may be shared (True), or where it may not; None: it is another one."""
    from poolwright.catalog.cel import Call, Const, Ident

    match expr:
        case Ident(name="device.allowMultipleAllocations"):
            return True
        case Call(function="!_", args=(part,)):
            found = _is_shareable(part)
            return None if found is None else not found
        case (
            Call(function="_==_" | "_!=_" as function, args=(part, Const(value=bool() as value)))
            | Call(function="_==_" | "_!=_" as function, args=(Const(value=bool() as value), part))
        ):
            found = _is_shareable(part)
            return None if found is None else found is (value is (function == "_==_"))
    return None


def _find_types(expr: Expr, driver: str, known: frozenset[str]) -> frozenset[str] | None:
    """The types that a condition leaves, of the known ones and those that it names; None: it may leave any.

    Only the type alone is followed: through `==`, `!=`, `in`, the beginning and the end of a text, not, and and or.
    """
    from poolwright.catalog.cel import Call, Const

    match expr:
        case Const(value=bool() as value):
            return None if value else frozenset()
        case Call(function="_==_" | "_!=_" | "@in"):
            return _find_compared(expr, driver, known)
        case Call(function="startsWith" | "endsWith" as function, target=read, args=(Const(value=str() as part),)):
            if read is None or not _reads_type(read, driver):
                return None
            begins = function == "startsWith"
            return frozenset(one for one in known if (one.startswith(part) if begins else one.endswith(part)))
        case Call(function="!_", args=(part,)):
            inner = _find_types(part, driver, known)
            return None if inner is None or not _is_of_type(part, driver) else known - inner
        case Call(function="_&&_", args=parts):
            found = [types for one in parts if (types := _find_types(one, driver, known)) is not None]
            return frozenset.intersection(*found) if found else None
        case Call(function="_||_", args=parts):
            either = [_find_types(one, driver, known) for one in parts]
            return None if None in either else frozenset().union(*(one for one in either if one is not None))
    return None


def _find_compared(expr: Call, driver: str, known: frozenset[str]) -> frozenset[str] | None:
    from poolwright.catalog.cel import Call, Const, ListExpr

    match expr:
        case Call(args=(Const() as one, read)) | Call(args=(read, Const() as one)):
            values: Collection[Expr] = (one,)
        case Call(function="@in", args=(read, ListExpr(elements=elements))):
            values = elements
        case _:
            return None
    named = frozenset(value.value for value in values if isinstance(value, Const) and isinstance(value.value, str))
    if not _reads_type(read, driver) or not all(isinstance(value, Const) for value in values):
        return None
    return known - named if expr.function == "_!=_" else named


def _is_of_type(expr: Expr, driver: str) -> bool:
    """Whether a condition rests on the type and nothing else, so that its opposite leaves the other types."""
    from poolwright.catalog.cel import Call, Const

    match expr:
        case Const(value=bool()):
            return True
        case Call(function="!_" | "_&&_" | "_||_", args=parts):
            return all(_is_of_type(part, driver) for part in parts)
    return _find_types(expr, driver, frozenset()) is not None


def _reads_type(expr: Expr, driver: str) -> bool:
    from poolwright.catalog.cel import Call, Const, Ident, Select

    match expr:
        case Select(operand=attributes, field=name, test_only=False):
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
