"""One side of a change: a project, or plain manifests, with what clusters are asked to hold and the answer to that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from poolwright.catalog.closure import BaseClosure, Closure
from poolwright.changes.report import Revision
from poolwright.objects.kubernetes import Object
from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.cluster import ClusterPlan
from poolwright.plan.demand import Demand
from poolwright.plan.pricing.priced import PricedClass
from poolwright.plan.verdict import Judgement
from poolwright.specs.digest import Digest
from poolwright.specs.finding import Finding
from poolwright.specs.lock import Lock
from poolwright.specs.parse import Specs

_NO_SPECS: Final = Specs(projects=(), stacks=(), pools=(), envelopes=(), placements=())


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSide:
    """A cluster on one side."""

    plan: ClusterPlan
    demand: Demand  # of a cluster that starts empty, every workload at its peak
    judgement: Judgement  # of it; one value for two sides whose demands come to the same
    live: ClusterAnswer | None = None  # beside what runs, where it was captured
    prices: tuple[PricedClass, ...] = ()
    inventory: Digest | None = None  # of the file with its captured nodes and devices; None: there is none
    objects: Mapping[str, tuple[Object, ...]] = field(default_factory=dict)  # finished, by unit; `argocd` is one too
    asked_by: str = ""  # the command that says more of its verdicts

    @property
    def name(self) -> str:
        """The cluster."""
        return self.plan.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A project on one side."""

    revision: Revision
    project: str  # its name; of plain manifests, that of their folder
    clusters: Mapping[str, ClusterSide]
    specs: Specs = _NO_SPECS  # with what the lock decides
    closures: tuple[Closure, ...] = ()
    lock: Lock | None = None
    findings: tuple[Finding, ...] = ()  # on plain manifests

    @property
    def bases(self) -> dict[str, BaseClosure]:
        """Envelope versions by NAME@VERSION."""
        found = (one for one in self.closures if isinstance(one, BaseClosure))
        return {f"{one.envelope.name}@{one.envelope.version}": one for one in found}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPair:
    """A cluster before and after: at least one of the two is there."""

    name: str
    before: ClusterSide | None
    after: ClusterSide | None
    restarted: frozenset[str] = frozenset()  # workloads, as NAMESPACE/NAME, whose pods the change replaces
    touched: frozenset[str] = frozenset()  # workloads with some object that differs

    @property
    def is_same(self) -> bool:
        """Whether both sides have the same verdicts, because their demands come to the same."""
        old, new = self.before, self.after
        return old is not None and new is not None and old.judgement is new.judgement and old.live == new.live
