"""Rows that versions are pinned by: which releases there are, what their charts bring, what is known to go wrong."""

from __future__ import annotations

from typing import Literal

from poolwright.catalog.facts import Fact

TrapPart = Literal["gpuOperator", "draDriver", "gpuDriver"]


class ReleaseFact(Fact, frozen=True, kw_only=True):
    """A release that exists, of a component whose range a stack may write."""

    component: Literal["kubernetes", "containerd", "crio"]
    version: str


class ChartCrdFact(Fact, frozen=True, kw_only=True):
    """A CRD that comes with a chart."""

    chart: str
    since: str  # the first version of the chart
    until: str | None = None  # the last one
    crd: str
    upgraded_by_hook: bool  # False: an upgrade of the chart leaves the old one, which must be applied first


class TrapFact(Fact, frozen=True, kw_only=True):
    """What is known to go wrong with a version, where something else is there or is done."""

    trap: str
    component: TrapPart
    versions: tuple[str, ...]  # versions and lines of the component; `any`
    when: str  # what it takes besides: KIND or KIND:VALUE, as `catalog/traps` reads them
    effect: str
    remedy: str
