"""The FeatureLedger: what people decide about each alpha or beta feature in use. The rest is joined from the facts."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from poolwright.specs.model import Model, SpecModel
from poolwright.specs.scalar import GateName, LabelValue, OneLine, RelativePath, UnitName
from poolwright.specs.waiver import Waivers

EvidenceKind = Literal["rehearsal", "recovery", "rollback", "drill"]
FactField = Literal["stage", "default", "conflictsWith", "needs"]
FactValue = (
    Annotated[str, Meta(max_length=63)] | Annotated[bool, Meta()] | Annotated[tuple[GateName, ...], Meta(max_length=64)]
)


class Evidence(Model, frozen=True, kw_only=True):
    """Something that was tried, and what it left behind."""

    kind: Annotated[
        EvidenceKind,
        Meta(
            description="rehearsal: a Rehearsal record, whose own step counts. recovery, rollback: one of that step. "
            "drill: anything else that was written down."
        ),
    ]
    path: Annotated[RelativePath, Meta(description="The file in the project.")]


class SettledFact(Model, frozen=True, kw_only=True):
    """What counts where sources disagree, or where none says anything."""

    field: Annotated[
        FactField,
        Meta(
            description="What it is about: stage, default, conflictsWith (gates that may not be on beside it) or needs "
            "(gates that must be)."
        ),
    ]
    value: Annotated[
        FactValue, Meta(description="Of stage a word, of default true or false, of the others a list of gates.")
    ]
    source: Annotated[OneLine, Meta(description="What says so.")]
    owner: Annotated[LabelValue, Meta(description="The team that answers for taking this one.")]


class LedgerFeature(Model, frozen=True, kw_only=True):
    """What was decided about one feature. An empty field is a decision that nobody took yet."""

    component: Annotated[
        UnitName, Meta(description="What has the feature: kubernetes, or the package of a DRA driver of a stack.")
    ]
    feature: Annotated[GateName, Meta(description="The feature gate.")]
    test_cluster_name: Annotated[UnitName | None, Meta(description="The cluster on which it is tried.")] = None
    promotion_owner: Annotated[
        LabelValue | None, Meta(description="The team that decides when it leaves the experiment lane.")
    ] = None
    promotion_criteria: Annotated[OneLine | None, Meta(description="What must be so by then.")] = None
    rollback: Annotated[OneLine | None, Meta(description="What happens when it is turned off.")] = None
    evidence: Annotated[
        tuple[Evidence, ...],
        Meta(
            max_length=64,
            description="What was tried. An alpha feature needs a recovery and a rollback, each with the driver's "
            "version that the stack has.",
        ),
    ] = ()
    facts: Annotated[
        tuple[SettledFact, ...],
        Meta(max_length=8, description="Settles what sources disagree about; in every other field they speak alone."),
    ] = ()


class FeatureLedgerSpec(Model, frozen=True, kw_only=True):
    """What the FeatureLedger says."""

    features: Annotated[
        tuple[LedgerFeature, ...], Meta(min_length=1, description="The features, keyed by component and feature.")
    ]
    waivers: Waivers = ()


class FeatureLedger(SpecModel, frozen=True, kw_only=True):
    """Decisions about alpha and beta features in use: gaps never stop a sync, they stop a promotion."""

    kind: Annotated[Literal["FeatureLedger"], Meta(description="The kind of spec.")]
    spec: Annotated[FeatureLedgerSpec, Meta(description="What the FeatureLedger says.")]
