"""The published JSON Schema of prices."""

from __future__ import annotations

from typing import get_args

from poolwright.admission.admit import Dimension, Failure, Word
from poolwright.admission.architecture import WeightFormat
from poolwright.admission.deployment import PricedEngine
from poolwright.admission.formats import CacheFormat
from poolwright.admission.mends import Field
from poolwright.admission.price import LineName
from poolwright.admission.report.price_json import API_VERSION, KIND
from poolwright.specs.schema_parts import (
    DIALECT,
    SchemaPart,
    build_count,
    build_flag,
    build_list,
    build_maybe,
    build_object,
    build_text,
)


def price_schema() -> SchemaPart:
    """The JSON Schema (draft 2020-12) of the document. Every property is always present."""
    return {
        "$schema": DIALECT,
        "title": KIND,
        **build_object(
            "What a model takes of devices, as `poolwright price --format json` prints it. Bytes are of the rank that "
            "has the least room.",
            {
                "apiVersion": {"description": "Version of this format.", "const": API_VERSION},
                "kind": {"description": "What this document is.", "const": KIND},
                "subject": build_text("What was priced: an envelope's name@version, or a file."),
                "prices": build_list("One for each device.", build_price_schema()),
                "notes": build_list("What was taken for granted, and what wasn't priced.", build_text("A sentence.")),
            },
        ),
    }


def build_price_schema() -> SchemaPart:
    """The part for one device."""
    failures = [*get_args(Failure), None]
    return build_object(
        "A model on a device.",
        {
            "device": build_text("A model of the hardware facts, or MODEL/PROFILE."),
            "isPartition": build_flag("Whether it is a part of a device."),
            "deviceMemoryBytes": build_count("What the CUDA runtime has of it."),
            "deviceMemorySource": build_text("Where that is known from."),
            "deployment": _deployment(),
            "admission": {"description": "The word.", "enum": list(get_args(Word))},
            "failure": {"description": "How it fails first; null: it doesn't, or isn't known to.", "enum": failures},
            "reason": build_text("What the formulas don't cover, or why the device isn't taken at all; else empty."),
            "kvTokens": _maybe("Tokens that the KV budget holds, in requests of contextTokens."),
            "maxConcurrency": _maybe("Requests of contextTokens that the KV budget of each copy holds at once."),
            "kvBytesNeeded": _maybe("KV cache of the declared load; null: no concurrency is declared."),
            **_price(),
            "refusals": build_list("What stands against it; what decides first.", _refusal("Something against it.")),
            "mends": build_list("Changes of one field each: those that are admitted, then those that help.", _mend()),
            "partitions": build_list(
                "What each partition of the device alone would say; empty: it has none, or they weren't asked.",
                _partition(),
            ),
            "thresholds": build_thresholds_schema(),
            "constants": build_object(
                "What an engine takes beside weights and KV cache.",
                {
                    "set": build_text("Engine and version that it is of."),
                    "extrapolated": build_flag("Whether it wasn't fitted on logs of the version that is priced."),
                },
            ),
        },
    )


def _partition() -> SchemaPart:
    words = [*get_args(Word), None]
    return build_object(
        "A partition.",
        {
            "profile": build_text("Its profile."),
            "admission": {"description": "The word; null: its memory isn't known.", "enum": words},
        },
    )


def build_thresholds_schema() -> SchemaPart:
    """The loads up to which something is admitted."""
    known = build_object(
        "The largest load that is admitted, one field at a time; null: it isn't admitted as it is.",
        {
            "concurrency": _maybe("Requests at once, of the declared contextTokens; null: no concurrency is declared."),
            "contextTokens": build_count("Tokens of each request, at the declared concurrency; in steps of 16."),
        },
    )
    return {**known, "type": ["object", "null"]}


def _deployment() -> SchemaPart:
    known = build_object(
        "What was priced; null: the formulas don't cover the model at all.",
        {
            "engine": {"description": "The engine.", "enum": list(get_args(PricedEngine))},
            "version": build_text("Its version."),
            "weights": {"description": "Format of the linear layers.", "enum": list(get_args(WeightFormat))},
            "kvCache": {"description": "Format of keys and values.", "enum": list(get_args(CacheFormat))},
            "tensorParallel": build_count("Devices that share each layer."),
            "pipelineParallel": build_count("Groups of layers."),
            "dataParallel": build_count("Copies of the model."),
            "contextTokens": build_count("Of the longest request."),
            "concurrency": _maybe("Requests at once, of all copies together; null: nobody says."),
            "batchedTokens": build_count("Tokens of one engine step."),
            "maxSequences": build_count("Sequences of one engine step."),
            "memoryPercent": build_count("The engine's share of the device."),
            "adapterSlots": build_count("Adapters that are resident at once."),
            "adapterRank": _maybe("The largest rank; null: there are no adapters."),
        },
    )
    return {**known, "type": ["object", "null"]}


def _price() -> dict[str, SchemaPart]:
    line: dict[str, SchemaPart] = {
        "name": {"description": "Which.", "enum": list(get_args(LineName))},
        "bytes": build_count("How much."),
        "source": build_text("Where it is known from."),
    }
    return {
        "stage": _maybe("The pipeline stage that has the least room, from 0; null here and below: there is no price."),
        "requestedBytes": _maybe("The engine's share."),
        "weightsBytes": _maybe("Weights."),
        "adapterBytes": _maybe("Slots of adapters."),
        "activationBytes": _maybe("Peak of a step; null: the engine doesn't take it of its share."),
        "runtimeBytes": _maybe("Communication, and what else isn't the framework's."),
        "graphBytes": _maybe("CUDA graphs; null: the engine doesn't take them of its share."),
        "kvBudgetBytes": build_maybe("integer", "What is left for the KV cache; negative: that much misses."),
        "kvBytesPerRequest": _maybe("KV cache of one request of contextTokens."),
        "bandBytes": _maybe("How far off the budget may be."),
        "outsideBytes": build_maybe("integer", "Of the device, outside the share."),
        "outsideNeededBytes": _maybe("What must stay free there."),
        "outsideBandBytes": _maybe("How far off that may be."),
        "lines": build_list("What is taken of the share.", build_object("A summand.", line)),
    }


def _refusal(description: str) -> SchemaPart:
    return build_object(
        description,
        {
            "failure": {
                "description": "It won't start; it starts and can't carry the load; it starts and may die later.",
                "enum": list(get_args(Failure)),
            },
            "dimension": {"description": "What is too large.", "enum": list(get_args(Dimension))},
            "what": build_text("A sentence without amounts of memory."),
            "neededBytes": _maybe("What it takes; null: no memory would mend it."),
            "availableBytes": build_maybe("integer", "What there is."),
            "isClose": build_flag("Whether the figures are less apart than they may be off."),
        },
    )


def _mend() -> SchemaPart:
    left = _refusal("What stands against it still, first; null: nothing.")
    return build_object(
        "A change.",
        {
            "field": {"description": "What is changed.", "enum": list(get_args(Field))},
            "was": build_text("Its value."),
            "now": build_text("The value that was priced."),
            "isEnough": build_flag("Whether it is admitted then. One step less isn't."),
            "maxConcurrency": _maybe("Requests of contextTokens that there is room for then."),
            "left": {**left, "type": ["object", "null"]},
        },
    )


def _maybe(description: str) -> SchemaPart:
    return {**build_maybe("integer", description), "minimum": 0}
