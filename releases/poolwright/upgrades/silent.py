"""What a version changes of allocations though no manifest changes: gates, and what devices publish."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.catalog.facts import Facts
from poolwright.catalog.gates import is_nvidia_package
from poolwright.specs.stack import StackSpec
from poolwright.specs.version import parse_version
from poolwright.upgrades.moves import Move, plain_numbers

_MIG_NAMES: Final = "names of partitions follow the driver: 1g.23gb and 1g.24gb, 3g.39gb and 3g.40gb are the same ones"


def list_silent(before: StackSpec, move: Move, facts: Facts) -> Iterator[str]:
    """Sentences, those that every class feels first."""
    match move.part:
        case "kubernetes":
            yield from _list_kubernetes(before, move, facts)
        case "gpuOperator":
            for name, old, new in move.carries:
                if is_nvidia_package(name, facts):
                    yield from _list_driver(name, old, new, before, facts)
        case "draDriver" if is_nvidia_package(move.name, facts):
            yield from _list_driver(move.name, move.before, move.after, before, facts)
        case "gpuDriver":
            old, new = plain_numbers(move.before), plain_numbers(move.after)
            yield f"devices publish driverVersion {new} and no longer {old}"
            if parse_version(move.before).key[0][:1] != parse_version(move.after).key[0][:1]:
                yield _MIG_NAMES


def _list_kubernetes(stack: StackSpec, move: Move, facts: Facts) -> Iterator[str]:
    old, new = parse_version(move.before).minor, parse_version(move.after).minor
    if old == new:
        return
    known = {fact.minor for fact in facts.kubernetes}
    if unknown := [minor for minor in (old, new) if minor not in known]:
        yield f"which gates Kubernetes {unknown[0]} has isn't known here"
        return
    said = stack.kubernetes.feature_gates
    for name in sorted({fact.name for fact in facts.kubernetes_gates}):
        was, will = facts.kubernetes_gate(old, name), facts.kubernetes_gate(new, name)
        one = bool(was and was.default) if name not in said else said[name]
        two = bool(will and will.default) if name not in said else said[name]
        if one != two:
            yield f"the gate {name} goes {'on' if two else 'off'} by default"
        elif name in said and was and will and was.stage != will.stage:
            yield f"the gate {name}, which the stack sets, is {will.stage} now ({was.stage} before)"
    api = {fact.minor: fact.resource_api for fact in facts.kubernetes}
    if old in api and new in api and api[old] != api[new]:
        yield f"claims and classes are rendered as resource.k8s.io/{api[new]}"


def _list_driver(name: str, old: str, new: str, stack: StackSpec, facts: Facts) -> Iterator[str]:
    """Attributes, capacities and gates; of gates those that the stack doesn't set."""
    for kind in facts.device_types:
        one = {f"{f.domain}/{f.name}" for f in facts.published_attributes(kind.id, plain_numbers(old))}
        two = {f"{f.domain}/{f.name}" for f in facts.published_attributes(kind.id, plain_numbers(new))}
        if gone := sorted(one - two):
            yield f"devices of type {kind.id} no longer publish {', '.join(gone)}: who selects by it finds none"
        if added := sorted(two - one):
            yield f"devices of type {kind.id} publish {', '.join(added)} too"
    driver = next((one for one in stack.dra_drivers if one.name == name), None)
    said = driver.feature_gates if driver else {}
    for fact in facts.nvidia_gates:
        was, will = facts.nvidia_gate(old, fact.name), facts.nvidia_gate(new, fact.name)
        if was is None or will is None:
            continue
        if fact.name in said and will.stage == "absent":
            yield f"it has no gate {fact.name}, which the stack sets: the plugin exits"
        elif fact.name not in said and bool(was.default) != bool(will.default):
            yield f"the gate {fact.name} goes {'on' if will.default else 'off'} by default"
