"""`ledger.json`: the alpha and beta features that the release uses, what is known of each, and who decided what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from poolwright.catalog.ledger import LedgerRow
from poolwright.catalog.ledger_answers import State
from poolwright.catalog.ledger_view import build_ledger_rows
from poolwright.specs.json_document import Part
from poolwright.specs.model import API_VERSION, ApiVersion

KIND: Final = "PacketLedger"
Value = str | bool | tuple[str, ...] | None


class GateState(Part, frozen=True, kw_only=True):
    """A gate of Kubernetes that a feature needs, or is."""

    name: Annotated[str, Meta(description="The gate.")]
    stage: Annotated[str | None, Meta(description="alpha, beta or ga; null: nothing is known of it.")]
    on: Annotated[bool | None, Meta(description="On the stack; null: its default isn't known.")]


class Other(Part, frozen=True, kw_only=True):
    """What another source says."""

    value: Annotated[Value, Meta(description="The value.")]
    source: Annotated[str, Meta(description="Who says so.")]


class SettledBy(Part, frozen=True, kw_only=True):
    """Who settled a dispute."""

    owner: Annotated[str, Meta(description="Who answers for it.")]
    source: Annotated[str, Meta(description="What it rests on.")]


class Known(Part, frozen=True, kw_only=True):
    """What is known of a field."""

    value: Annotated[Value, Meta(description="The value that counts; null: no source says anything.")]
    state: Annotated[State, Meta(description="Whether it can be relied on.")]
    sources: Annotated[tuple[str, ...], Meta(description="Who says so.")]
    others: Annotated[tuple[Other, ...], Meta(description="What other sources say.")]
    settled_by: Annotated[SettledBy | None, Meta(description="Null: nobody had to, or nobody did.")]


class Proof(Part, frozen=True, kw_only=True):
    """Evidence that a decision names."""

    kind: Annotated[str, Meta(description="What it shows.")]
    path: Annotated[str, Meta(description="Where it stands in the project.")]


class FeatureState(Part, frozen=True, kw_only=True):
    """A feature as the clusters of a stack use it."""

    component: Annotated[str, Meta(description="Kubernetes, or a driver's package.")]
    feature: Annotated[str, Meta(description="The gate or field.")]
    stack: Annotated[str, Meta(description="The stack.")]
    clusters: Annotated[tuple[str, ...], Meta(description="That run it.")]
    pools: Annotated[tuple[str, ...], Meta(description="That use the feature.")]
    used_by: Annotated[tuple[str, ...], Meta(description="Why it is in use, in sentences.")]
    version: Annotated[str, Meta(description="Of the component.")]
    gpu_driver: Annotated[str | None, Meta(description="Version of the GPU driver; null: not said.")]
    kubernetes: Annotated[str, Meta(description="Minor release.")]
    kubernetes_gates: Annotated[tuple[GateState, ...], Meta(description="Gates that it needs.")]
    stage: Annotated[Known, Meta(description="alpha or beta.")]
    default: Annotated[Known, Meta(description="Whether it is on unless somebody turns it off.")]
    conflicts_with: Annotated[Known, Meta(description="What it can't be on with.")]
    needs: Annotated[Known, Meta(description="What it needs.")]
    test_cluster_name: Annotated[str | None, Meta(description="Null: nobody decided.")]
    promotion_owner: Annotated[str | None, Meta(description="Null: nobody decided.")]
    promotion_criteria: Annotated[str | None, Meta(description="Null: nobody decided.")]
    rollback: Annotated[str | None, Meta(description="Null: nobody decided.")]
    evidence: Annotated[tuple[Proof, ...], Meta(description="What the decision rests on.")]


class Ledger(Part, frozen=True, kw_only=True):
    """Features of a release that aren't stable."""

    api_version: Annotated[ApiVersion, Meta(description="Version of this format.")]
    kind: Annotated[Literal["PacketLedger"], Meta(description="What this document is.")]
    features: Annotated[tuple[FeatureState, ...], Meta(description="By stack, component and feature.")]


def build_ledger_document(rows: Sequence[LedgerRow]) -> Ledger:
    """The document. rows: as the catalog joins them."""
    features = msgspec.convert(build_ledger_rows(rows), tuple[FeatureState, ...])
    return Ledger(api_version=API_VERSION, kind="PacketLedger", features=features)
