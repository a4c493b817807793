"""The rows of the feature ledger: each feature in use that isn't stable, with what facts, stack and people say of it.

Sources that disagree stand side by side, and nothing is preferred until the ledger's own facts settle it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from poolwright.catalog.facts import Facts
from poolwright.catalog.feature_use import KUBERNETES, FeatureUse, list_uses
from poolwright.catalog.gates import is_nvidia_package
from poolwright.catalog.ledger_answers import Answer, answer_kubernetes, answer_nvidia, answer_unknown, settle_pairs
from poolwright.catalog.rules import check_kubernetes
from poolwright.specs.ledger import FeatureLedger, LedgerFeature, SettledFact
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.place import Place
from poolwright.specs.stack import DraDriver, Stack

FeatureKey = tuple[str, str]  # component and feature
Maturity = Literal["alpha", "beta", "ga", "unknown"]
_MATURITIES: Final[tuple[Maturity, ...]] = ("alpha", "beta", "ga")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What a ledger says of a feature, and where."""

    value: LedgerFeature
    ledger: Spec[FeatureLedger]
    index: int  # among the ledger's features

    def place(self, *path: str | int) -> Place:
        """Where a field of the entry stands, or its nearest parent."""
        return self.ledger.place("spec", "features", self.index, *path)


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesGate:
    """A gate of Kubernetes that a feature needs, or is."""

    name: str
    stage: str | None  # None: nothing is known of it
    is_on: bool | None  # on the stack; None: its default isn't known


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """One feature as the clusters of one stack use it."""

    use: FeatureUse
    kubernetes: str  # minor release
    component_version: str  # of the driver's package, or Kubernetes' minor release
    gpu_driver: str | None  # None: of Kubernetes, or not said
    is_nvidia: bool  # whether the feature is one of NVIDIA's driver
    kubernetes_gates: tuple[KubernetesGate, ...]  # in the order of the facts
    answers: Mapping[str, Answer]  # stage, default, conflictsWith, needs
    entry: Entry | None  # what people decided; None: nothing

    @property
    def stage(self) -> str | None:
        """alpha, beta or ga; None: it isn't known."""
        value = self.answers["stage"].value
        return value if isinstance(value, str) else None

    @property
    def maturity(self) -> Maturity:
        """The stage by which the ledger judges it: while sources disagree, the earliest."""
        stages = {self.stage, *(other.value for other in self.answers["stage"].open)}
        return next((stage for stage in _MATURITIES if stage in stages), "unknown")

    @property
    def title(self) -> str:
        """`ConsumableShares of dra-driver-nvidia-gpu 0.5.0`."""
        return f"{self.use.feature} of {self.use.component} {self.component_version}"


def build_ledger(specs: Specs, facts: Facts) -> tuple[LedgerRow, ...]:
    """A row for each feature in use that is alpha, beta or of no known stage, by component, feature and stack.

    specs: of a whole project without errors. A feature that several stacks use has a row for each, as their versions
           differ; a stack whose Kubernetes isn't known has none, and neither has a gate that its release lacks.
    """
    entries = list_entries(specs)
    stacks = {stack.value.identity: stack for stack in specs.stacks}
    rows = []
    for use in list_uses(specs, facts):
        stack = stacks[use.stack]
        api, _ = check_kubernetes(stack, facts)
        if api is not None:
            row = _build_row(use, stack, api.minor, entries, facts)
            rows += [row] if row.maturity != "ga" and row.stage != "absent" else []
    return tuple(rows)


def list_entries(specs: Specs) -> dict[FeatureKey, Entry]:
    """What the project's ledgers say, by component and feature; of two entries the first."""
    found: dict[FeatureKey, Entry] = {}
    for entry in iterate_entries(specs):
        found.setdefault((entry.value.component, entry.value.feature), entry)
    return found


def iterate_entries(specs: Specs) -> Iterator[Entry]:
    """Every entry of every ledger, in order of file and place."""
    for ledger in specs.ledgers:
        for index, feature in enumerate(ledger.value.spec.features):
            yield Entry(value=feature, ledger=ledger, index=index)


def _build_row(
    use: FeatureUse, stack: Spec[Stack], minor: str, entries: Mapping[FeatureKey, Entry], facts: Facts
) -> LedgerRow:
    entry = entries.get((use.component, use.feature))
    settled = entry.value.facts if entry else ()
    gates = stack.value.spec.kubernetes.feature_gates
    if use.component == KUBERNETES:
        return LedgerRow(
            use=use,
            kubernetes=minor,
            component_version=minor,
            gpu_driver=None,
            is_nvidia=False,
            kubernetes_gates=_find_gates((use.feature,), minor, gates, facts),
            answers=answer_kubernetes(minor, use.feature, settled, facts),
            entry=entry,
        )
    driver = _find_driver(stack, use.component)
    is_nvidia = is_nvidia_package(driver.name, facts)
    needs = tuple(need.kubernetes_gate for need in facts.nvidia_gate_needs if is_nvidia and need.name == use.feature)
    answers = answer_nvidia(driver.version, use.feature, settled, facts) if is_nvidia else answer_unknown(settled)
    gpu_driver = stack.value.spec.gpu_driver
    return LedgerRow(
        use=use,
        kubernetes=minor,
        component_version=driver.version,
        gpu_driver=gpu_driver.version if is_nvidia and gpu_driver else None,
        is_nvidia=is_nvidia,
        kubernetes_gates=_find_gates(needs, minor, gates, facts),
        answers=settle_pairs(answers, use.feature, _list_conflicts(use.component, entries)),
        entry=entry,
    )


def _list_conflicts(component: str, entries: Mapping[FeatureKey, Entry]) -> dict[str, SettledFact]:
    """What the rows of a component settle of conflicts, by feature."""
    return {
        feature: fact
        for (owner, feature), entry in entries.items()
        for fact in entry.value.facts
        if owner == component and fact.field == "conflictsWith"
    }


def _find_driver(stack: Spec[Stack], name: str) -> DraDriver:
    return next(driver for driver in stack.value.spec.dra_drivers if driver.name == name)


def _find_gates(
    names: tuple[str, ...], minor: str, overrides: Mapping[str, bool], facts: Facts
) -> tuple[KubernetesGate, ...]:
    states = facts.effective_gates(minor, overrides)
    found = []
    for name in names:
        fact = facts.kubernetes_gate(minor, name)
        found.append(KubernetesGate(name=name, stage=fact.stage if fact else None, is_on=states.get(name)))
    return tuple(found)
