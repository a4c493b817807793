"""Rows about how the NVIDIA DRA driver and the GPU operator are configured: words of a stack, values of the charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from poolwright.catalog.facts import Fact


class DriverSettingFact(Fact, frozen=True, kw_only=True):
    """What a word of a setting turns into under an installer. A word that an installer can't be told has no row."""

    install: Literal["gpuOperator", "chart"]
    setting: str
    word: str  # `N`: any positive integer, and the value is that number
    is_default: bool = False
    helm_key: str  # of the operator's chart, or the driver's own
    value: bool | str | None  # None: the word itself; of the variable if there is one
    variable: str | None = None  # environment variable, an item of the list at helm_key
    needs_gate: str | None = None
    since: str


class HelmValueFact(Fact, frozen=True, kw_only=True):
    """A value that a chart knows."""

    chart: str
    version: str  # of the chart
    key: str  # dotted path
    type: Literal["bool", "int", "string", "list", "map"]  # map: any keys below
    default: bool | int | str | None = None  # None: empty, unset or no scalar
    removed: bool = False  # setting it fails the render


def find_unknown(known: Sequence[HelmValueFact], values: Mapping[str, object]) -> Iterator[str]:
    """Facts.unknown_helm_values over the rows of one chart."""
    facts = {fact.key: fact for fact in known if not fact.removed}
    groups = {".".join(key.split(".")[:depth]) for key in facts for depth in range(1, key.count(".") + 1)}
    yield from _walk(values, "", facts, groups)


def _walk(
    values: Mapping[str, object], prefix: str, facts: Mapping[str, HelmValueFact], groups: set[str]
) -> Iterator[str]:
    for name, value in sorted(values.items()):
        key = prefix + name
        if key in facts:
            continue
        if key in groups and isinstance(value, Mapping):
            yield from _walk(value, f"{key}.", facts, groups)
        else:
            yield key
