"""Rows about the feature gates of the NVIDIA DRA driver."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from poolwright.catalog.facts import Fact
from poolwright.catalog.tables.driver_release import is_within


class NvidiaGateFact(Fact, frozen=True, kw_only=True):
    """A gate, whatever the release."""

    name: str
    component: Literal["gpu", "computeDomain"]
    since: str | None  # the first release that knows it; None: none of those known here
    kubernetes_minimum: str | None = None
    gpu_driver_minimum: str | None = None
    host_needs: str | None = None  # what the node must have besides


class GateReleaseFact(Fact, frozen=True, kw_only=True):
    """A gate in a release of the driver, or in a line of releases."""

    name: str
    release: str
    stage: Literal["absent", "alpha", "beta", "ga"]  # absent: the plugin exits if it is set
    default: bool | None  # None: absent


class GateRuleFact(Fact, frozen=True, kw_only=True):
    """What a gate or a setting excludes or needs."""

    gate: str | None = None  # None: the rule is about the setting
    setting: str | None = None  # as driver-settings has it; `claimConfig` is the sharing strategy of a claim
    word: str | None = None  # its value; `*`: any but the default
    relation: Literal["excludes", "needs", "refused"]  # refused: whatever else is set
    other_gate: str | None = None
    by: Literal["enforced", "documented", "forcedOff"]  # enforced: refused; forcedOff: the gate is turned off silently
    at: Literal["start", "claim", "render"]  # where it is noticed
    since: str | None  # None: not known
    until: str | None = None

    def is_broken(self, release: str, enabled: Collection[str], settings: Mapping[str, str]) -> bool:
        """Whether gates that are on and settings break the rule at a release of the driver."""
        if not is_within(release, self.since, self.until) or not self._applies(enabled, settings):
            return False
        if self.relation == "needs":
            return self.other_gate not in enabled
        return self.other_gate is None or self.other_gate in enabled  # None: the setting itself is what is excluded

    def _applies(self, enabled: Collection[str], settings: Mapping[str, str]) -> bool:
        if self.gate is not None and self.gate not in enabled:
            return False
        if self.setting is None:
            return True
        word = settings.get(self.setting)
        return word is not None and self.word in (word, "*")


class GateNeedFact(Fact, frozen=True, kw_only=True):
    """A gate of Kubernetes that a gate of the driver needs."""

    name: str  # the driver's gate
    kubernetes_gate: str
    components: tuple[str, ...]  # of Kubernetes, where it must be on
