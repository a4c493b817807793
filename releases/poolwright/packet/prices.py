"""`prices.json` and `thresholds.json`: what each placement costs on its classes, and how much more it would carry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, Literal

from msgspec import Meta

from poolwright.admission.admit import Word
from poolwright.plan.pricing.priced import PricedClass
from poolwright.specs.json_document import Part
from poolwright.specs.model import API_VERSION, ApiVersion

PRICES: Final = "PacketPrices"
THRESHOLDS: Final = "PacketThresholds"


class Line(Part, frozen=True, kw_only=True):
    """A part of a price."""

    name: Annotated[str, Meta(description="What takes the memory.")]
    bytes: Annotated[int, Meta(description="Of one device.")]
    source: Annotated[str, Meta(description="Where the figure comes from.")]


class Devices(Part, frozen=True, kw_only=True):
    """Devices that a placement takes."""

    per_replica: Annotated[int, Meta(description="Of one replica.")]
    at_rest: Annotated[int, Meta(description="At its most replicas.")]
    in_rollout: Annotated[int, Meta(description="While an update adds its surge.")]
    spare: Annotated[int, Meta(description="Of replicas that may be away, and are kept for that.")]


class PriceRow(Part, frozen=True, kw_only=True):
    """A placement on the smallest device of one of its classes."""

    cluster: Annotated[str, Meta(description="The cluster.")]
    unit: Annotated[str, Meta(description="The placement.")]
    envelope: Annotated[str, Meta(description="name@version.")]
    device_class_name: Annotated[str, Meta(description="The class.")]
    device: Annotated[str, Meta(description="Its smallest device.")]
    admission: Annotated[Word, Meta(description="The word.")]
    reason: Annotated[str, Meta(description="What decides; empty: it is admitted.")]
    kv_bytes_needed: Annotated[int | None, Meta(description="KV cache of one rank for the declared load.")]
    kv_budget_bytes: Annotated[int | None, Meta(description="KV cache that one rank has room for; negative: none.")]
    max_concurrency: Annotated[int | None, Meta(description="Requests of the declared length that there is room for.")]
    constants: Annotated[str | None, Meta(description="The set of pricing constants; null: it isn't priced.")]
    devices: Annotated[Devices, Meta(description="Devices that it takes.")]
    lines: Annotated[tuple[Line, ...], Meta(description="The price by line; none: it isn't priced.")]


class Prices(Part, frozen=True, kw_only=True):
    """Prices of a release."""

    api_version: Annotated[ApiVersion, Meta(description="Version of this format.")]
    kind: Annotated[Literal["PacketPrices"], Meta(description="What this document is.")]
    prices: Annotated[tuple[PriceRow, ...], Meta(description="By cluster, then in the order of the specs.")]


class ThresholdRow(Part, frozen=True, kw_only=True):
    """The largest load that a placement is admitted with, while the other load stays as it is declared."""

    cluster: Annotated[str, Meta(description="The cluster.")]
    unit: Annotated[str, Meta(description="The placement.")]
    envelope: Annotated[str, Meta(description="name@version.")]
    device_class_name: Annotated[str, Meta(description="The class.")]
    concurrency: Annotated[int | None, Meta(description="Declared requests at once; null: none are declared.")]
    most_concurrency: Annotated[int | None, Meta(description="The most that is admitted; null: any number is.")]
    context_tokens: Annotated[int, Meta(description="Declared tokens of a request.")]
    most_context_tokens: Annotated[int, Meta(description="The most that is admitted, in steps of pricing.")]


class ThresholdList(Part, frozen=True, kw_only=True):
    """Admission thresholds of a release: of what is admitted; of anything else there is none."""

    api_version: Annotated[ApiVersion, Meta(description="Version of this format.")]
    kind: Annotated[Literal["PacketThresholds"], Meta(description="What this document is.")]
    thresholds: Annotated[tuple[ThresholdRow, ...], Meta(description="By cluster, then in the order of the specs.")]


def build_prices(priced: Mapping[str, Sequence[PricedClass]]) -> Prices:
    """The document. priced: by cluster."""
    rows = [_build_price(cluster, one) for cluster in sorted(priced) for one in priced[cluster]]
    return Prices(api_version=API_VERSION, kind="PacketPrices", prices=tuple(rows))


def build_thresholds(priced: Mapping[str, Sequence[PricedClass]]) -> ThresholdList:
    """The document. priced: by cluster."""
    rows = [row for cluster in sorted(priced) for row in _list_thresholds(cluster, priced[cluster])]
    return ThresholdList(api_version=API_VERSION, kind="PacketThresholds", thresholds=tuple(rows))


def _build_price(cluster: str, one: PricedClass) -> PriceRow:
    admission, price, took = one.admission, one.admission.price, one.footprint
    return PriceRow(
        cluster=cluster,
        unit=one.unit,
        envelope=one.envelope,
        device_class_name=one.class_name,
        device=one.device.name,
        admission=admission.word,
        reason=one.reason,
        kv_bytes_needed=admission.kv_needed_bytes,
        kv_budget_bytes=None if price is None else price.kv_budget_bytes,
        max_concurrency=admission.max_concurrency,
        constants=None if price is None else price.constants,
        devices=Devices(per_replica=took.replica, at_rest=took.rest, in_rollout=took.rollout, spare=took.spare),
        lines=() if price is None else tuple(Line(name=x.name, bytes=x.bytes, source=x.source) for x in price.lines),
    )


def _list_thresholds(cluster: str, priced: Sequence[PricedClass]) -> Iterable[ThresholdRow]:
    for one in priced:
        if one.thresholds is None or one.deployment is None:
            continue
        yield ThresholdRow(
            cluster=cluster,
            unit=one.unit,
            envelope=one.envelope,
            device_class_name=one.class_name,
            concurrency=one.deployment.load.concurrency,
            most_concurrency=one.thresholds.concurrency,
            context_tokens=one.deployment.load.context_tokens,
            most_context_tokens=one.thresholds.context_tokens,
        )
