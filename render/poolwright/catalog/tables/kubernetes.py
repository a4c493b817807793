"""Rows about Kubernetes: feature gates, and which API versions are served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from poolwright.catalog.facts import Fact


class KubernetesGateFact(Fact, frozen=True, kw_only=True):
    """A feature gate in a minor release."""

    minor: str
    name: str
    stage: Literal["absent", "alpha", "beta", "ga"]  # absent: the release doesn't know the gate
    default: bool | None  # None: absent, or not known
    locked: bool = False  # whether it can't be set to anything but its default

    def takes(self, value: bool) -> bool:
        """Whether a component of the release starts with the gate set so."""
        return self.stage != "absent" and not (self.locked and value != self.default)


class ServedApiFact(Fact, frozen=True, kw_only=True):
    """A kind in an API version."""

    api_version: str
    kind: str
    namespaced: bool
    minors: tuple[str, ...]  # the releases known here that have it
    by_default: bool  # False: only with --runtime-config
    gate: str | None = None  # that must be on besides


def build_effective_gates(
    gates: Sequence[KubernetesGateFact], minor: str, overrides: Mapping[str, bool]
) -> Mapping[str, bool]:
    """Facts.effective_gates over these rows."""
    facts = {fact.name: fact for fact in gates if fact.minor == minor}
    states = {name: fact.default for name, fact in facts.items() if fact.default is not None}
    for name, value in overrides.items():
        if name not in facts or facts[name].takes(value):
            states[name] = value
    return dict(sorted(states.items()))
