"""Amounts that an envelope asks for: a container needs some of each, and a start ends one day."""

from __future__ import annotations

from typing import Final

from poolwright.specs.envelope import Envelope
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.place import Place

MAX_STARTUP_S: Final = 7 * 86400
_RULE: Final = "poolwright.dev/v1alpha1"


def check_amounts(envelope: Spec[Envelope]) -> list[Finding]:
    """Amounts of an envelope that no container can have, or that nobody would wait for."""
    said = envelope.value.spec
    problems = []
    timeout_s = said.startup.timeout.milliseconds / 1000
    if not 1 <= timeout_s <= MAX_STARTUP_S:
        why = (
            f"a start takes at least 1s, and one of more than {MAX_STARTUP_S // 86400}d would never be noticed as stuck"
        )
        place = envelope.place("spec", "startup", "timeout")
        problems.append(
            _resource(place, f"spec.startup.timeout is {said.startup.timeout}", why, "write a time within it")
        )
    requests, limits = said.engine.resources.requests, said.engine.resources.limits
    path = ("spec", "engine", "resources")
    for key, name, amount in (
        ("requests", "cpu", requests.cpu),
        ("requests", "memory", requests.memory),
        ("limits", "memory", limits.memory),
    ):
        if amount and amount.quantity.nano <= 0:
            what = f"spec.engine.resources.{key}.{name} is {amount}"
            place = envelope.place(*path, key, name)
            problems.append(_resource(place, what, "a container needs some of it", "write an amount above 0"))
    if requests.memory and limits.memory and limits.memory.quantity < requests.memory.quantity:
        what = f"the memory limit {limits.memory} is below the request {requests.memory}"
        place = envelope.place(*path, "limits", "memory")
        problems.append(
            _resource(place, what, "the API server refuses such a pod", "raise the limit, or lower the request")
        )
    return problems


def _resource(place: Place, what: str, why: str, fix: str) -> Finding:
    return Finding(code="out-of-range", severity="error", place=place, what=what, why=why, rule=_RULE, fix=fix)
