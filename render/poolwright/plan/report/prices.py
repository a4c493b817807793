"""What placements cost, in a plan: the admission beside each verdict, which speaks of devices alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from poolwright.admission.admit import Word
from poolwright.admission.report.price_json import build_thresholds_json
from poolwright.admission.report.price_schema import build_thresholds_schema
from poolwright.admission.report.words import WORDS, say_gib, say_mends
from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.pricing.priced import Footprint, PricedClass
from poolwright.plan.report.words import count_of
from poolwright.specs.schema_parts import SchemaPart, build_count, build_list, build_maybe, build_object, build_text

_Json = dict[str, object]


def list_prices(answer: ClusterAnswer, workload: str) -> Iterator[str]:
    """A line for each class on which a workload isn't admitted, or one for all on which it is."""
    priced = _find_prices(answer, workload)
    if not priced and answer.prices is not None and workload in answer.cluster.envelopes:
        yield "price: none: no known device of its classes says what memory it has"
    admitted = [one for one in priced if one.admission.word == "admitted"]
    if admitted:
        yield f"price: admitted on {', '.join(map(_say_admitted, admitted))}; {_say_footprint(admitted[0].footprint)}"
    for one in priced:
        if one.admission.word != "admitted":
            is_unlike = one.device.is_shared and one.admission.word == "unsupported"  # measuring it gives it no price
            word = "unsupported" if is_unlike else WORDS[one.admission.word]
            yield f"price: {word} on {one.class_name}: {one.reason}"
            if one.mends:
                yield f"  {say_mends(one.mends)}"


def _find_prices(answer: ClusterAnswer, workload: str) -> list[PricedClass]:
    return [one for one in answer.prices or () if one.workload == workload]


def _say_footprint(one: Footprint) -> str:
    """`4 devices each, 12 at its most, 16 in a rollout, 4 of them spare`."""
    said = [f"{count_of(one.replica, 'device')} each", f"{one.rest} at its most"]
    said += [f"{one.rollout} in a rollout"] if one.rollout > one.rest else []
    said += [f"{one.spare} of them spare"] if one.spare else []
    return ", ".join(said)


def _say_admitted(one: PricedClass) -> str:
    price, need = one.admission.price, one.admission.kv_needed_bytes
    if price is None or need is None:
        return one.class_name
    off = ", extrapolated" if price.is_extrapolated else ""
    return f"{one.class_name} (KV cache: {say_gib(need)} of {say_gib(price.kv_budget_bytes)}{off})"


def render_prices(answer: ClusterAnswer, workload: str) -> _Json:
    """The part of a workload's JSON."""
    return {
        "admissions": [
            {
                "deviceClassName": one.class_name,
                "admission": one.admission.word,
                "reason": one.reason,
                "mends": say_mends(one.mends),
                "otherClasses": list(one.other_classes),
                "devices": {
                    "perReplica": one.footprint.replica,
                    "atRest": one.footprint.rest,
                    "inRollout": one.footprint.rollout,
                    "spare": one.footprint.spare,
                },
                "kvBytesNeeded": one.admission.kv_needed_bytes,
                "kvBudgetBytes": None if one.admission.price is None else one.admission.price.kv_budget_bytes,
                "maxConcurrency": one.admission.max_concurrency,
                "thresholds": build_thresholds_json(one.thresholds),
            }
            for one in _find_prices(answer, workload)
        ]
    }


def build_prices_schema() -> dict[str, SchemaPart]:
    """The schema of `render_prices`."""
    one: dict[str, SchemaPart] = {
        "deviceClassName": build_text("The class."),
        "admission": {"description": "The word.", "enum": list(get_args(Word))},
        "reason": build_text("What decides; empty: it is admitted."),
        "mends": build_text("Single changes that are enough, and those that help; empty: there are none."),
        "otherClasses": build_list("Of the pool, that it would be admitted on.", build_text("A class.")),
        "devices": build_object(
            "Devices that it takes.",
            {
                "perReplica": build_count("Of one replica."),
                "atRest": build_count("At its most replicas."),
                "inRollout": build_count("While an update adds its surge."),
                "spare": build_count("Of replicas that may be away, and are kept for that."),
            },
        ),
        "kvBytesNeeded": build_maybe("integer", "KV cache of one rank for the declared load."),
        "kvBudgetBytes": build_maybe("integer", "KV cache that one rank has room for; negative: it has none."),
        "maxConcurrency": build_maybe("integer", "Requests of the declared length that there is room for."),
        "thresholds": build_thresholds_schema(),
    }
    return {
        "admissions": build_list(
            "What it costs on the smallest device of each of its classes; none: it isn't priced.",
            build_object("A class.", one),
        )
    }
