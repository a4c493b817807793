"""Known traps: what is known to go wrong with a stack as it runs, and with moving it to another one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

from poolwright.catalog.facts import Facts
from poolwright.catalog.gates import build_driver_gates, is_nvidia_package
from poolwright.catalog.tables.driver_release import release_key
from poolwright.specs.stack import DraDriver, StackSpec
from poolwright.specs.version import parse_version, parse_version_range

if TYPE_CHECKING:  # as in `facts`: the types of rows are large
    from poolwright.catalog.tables.pins import TrapFact, TrapPart

Kind = Literal[
    "devicePlugin", "draDriver", "hardware", "computeDomains", "gate", "mode", "rollback", "upgrade", "install"
]
MOVES: Final = ("rollback", "upgrade")  # kinds about a step from one version to another
_ALONE: Final = ("devicePlugin", "computeDomains", "upgrade")  # kinds without a value; an upgrade may have one
_RANGES: Final = ("draDriver", "rollback", "upgrade")
_WORDS: Final = {"mode": ("clusterPolicy", "gpuCluster"), "install": ("gpuOperator", "chart", "external")}


@dataclass(frozen=True, slots=True)
class When:
    """What it takes beside a version for a trap to be met."""

    kind: Kind
    value: str | None = None


def parse_when(text: str) -> When:
    """Read KIND or KIND:VALUE.

    Raises: ValueError, one sentence with what is known.
    """
    kind, colon, value = text.partition(":")
    if kind not in get_args(Kind):
        raise ValueError(f'"{kind[:60]}" is no kind: {", ".join(get_args(Kind))}')
    known = cast("Kind", kind)
    if not colon and kind in _ALONE:
        return When(known)
    never = kind in _ALONE and kind != "upgrade"
    if never or not value:
        raise ValueError(f'"{text[:60]}": {kind} takes {"no value" if never else "a value"}')
    if kind in _RANGES:
        parse_version_range(value)
    if value not in _WORDS.get(kind, (value,)):
        raise ValueError(f'"{text[:60]}": {kind} is one of {", ".join(_WORDS[kind])}')
    return When(known, value)


def list_traps(stack: StackSpec, models: Collection[str], facts: Facts) -> tuple[TrapFact, ...]:
    """What is known to go wrong with a stack as it runs, in the table's order; nothing about moving it.

    stack:  with exact versions; of a range nothing is said.
    models: accelerators in use, by their ids in the facts.
    """
    gates = _list_gates(stack, facts)
    return tuple(
        fact
        for fact in facts.known_traps
        if (when := parse_when(fact.when)).kind not in MOVES
        and any(_is_in(version, fact.versions) for version in _list_versions(stack, fact.component, facts))
        and _is_met(when, stack, models, gates, facts)
    )


def list_move_traps(before: StackSpec, after: StackSpec, facts: Facts) -> tuple[TrapFact, ...]:
    """What is known to go wrong on the way from one stack to another, in the table's order.

    before, after: with exact versions. A component that only one of the two has, and one that stays, doesn't move.
    What rests on the operator's mode is said where the mode changes.
    """
    found = []
    for fact in facts.known_traps:
        when = parse_when(fact.when)
        if when.kind == "mode":
            if _find_mode(before) not in (None, when.value) and _find_mode(after) == when.value:
                versions = _list_versions(after, fact.component, facts)
                found += [fact] if any(_is_in(version, fact.versions) for version in versions) else []
        elif any(_is_moved(fact, when, old, new) for old, new in _list_steps(before, after, fact.component, facts)):
            found.append(fact)
    return tuple(found)


def list_step_traps(part: TrapPart, before: str, after: str, facts: Facts) -> tuple[TrapFact, ...]:
    """The same of one component by itself, from one exact version to another: an upgrade, or a rollback."""
    return tuple(
        fact
        for fact in facts.known_traps
        if fact.component == part and _is_moved(fact, parse_when(fact.when), before, after)
    )


def _is_moved(fact: TrapFact, when: When, before: str, after: str) -> bool:
    """A row names the newer of the two versions, and its `when` the older one."""
    if before == after or when.kind not in MOVES:
        return False
    is_upgrade = _order(fact.component, after) > _order(fact.component, before)
    older, newer = (before, after) if is_upgrade else (after, before)
    if when.kind != ("upgrade" if is_upgrade else "rollback") or not _is_in(newer, fact.versions):
        return False
    return when.value is None or _is_in(older, (when.value,))


def _order(part: TrapPart, version: str) -> tuple[object, ...]:
    return release_key(version) if part == "draDriver" else parse_version(version).key


def _list_steps(before: StackSpec, after: StackSpec, part: TrapPart, facts: Facts) -> Iterator[tuple[str, str]]:
    """The versions of a component before and after; NVIDIA's DRA driver may have changed its package's name."""
    yield from zip(_list_versions(before, part, facts), _list_versions(after, part, facts), strict=False)


def _list_versions(stack: StackSpec, part: TrapPart, facts: Facts) -> list[str]:
    """The exact versions of a component."""
    if part == "draDriver":
        return [one.version for one in _list_drivers(stack, facts) if _is_exact(one.version, release_key)]
    named = stack.gpu_operator if part == "gpuOperator" else stack.gpu_driver
    return [named.version] if named and _is_exact(named.version) else []


def _list_drivers(stack: StackSpec, facts: Facts) -> list[DraDriver]:
    return [driver for driver in stack.dra_drivers if is_nvidia_package(driver.name, facts)]


def _is_exact(text: str, parse: Callable[[str], object] = parse_version) -> bool:
    try:
        parse_version(text)
        parse(text)
    except ValueError:
        return False
    return True


def _is_in(version: str, ranges: Collection[str]) -> bool:
    found = parse_version(version)
    return any(text == "any" or parse_version_range(text).contains(found) for text in ranges)


def _list_gates(stack: StackSpec, facts: Facts) -> set[str]:
    """Gates that are on, of Kubernetes by what the stack says and of NVIDIA's driver with its defaults."""
    gates = {name for name, value in stack.kubernetes.feature_gates.items() if value}
    for driver in _list_drivers(stack, facts):
        gates |= {name for name, value in build_driver_gates(driver, facts).items() if value}
    return gates


def _find_mode(stack: StackSpec) -> str | None:
    return stack.gpu_operator.mode if stack.gpu_operator else None


def _is_met(when: When, stack: StackSpec, models: Collection[str], gates: Collection[str], facts: Facts) -> bool:
    """Whether a stack as it runs has what a trap takes beside the version."""
    drivers = _list_drivers(stack, facts)
    match when.kind:
        case "devicePlugin":
            return _find_mode(stack) == "clusterPolicy" and not drivers
        case "draDriver":
            return any(_is_exact(one.version) and _is_in(one.version, (when.value or "",)) for one in drivers)
        case "hardware":
            return when.value in models
        case "computeDomains":
            return any(driver.settings.get("computeDomains") != "disabled" for driver in drivers)
        case "gate":
            return when.value in gates
        case "mode":
            return _find_mode(stack) == when.value
        case "install":
            return any(driver.install == when.value for driver in drivers)
    return False  # MOVES
