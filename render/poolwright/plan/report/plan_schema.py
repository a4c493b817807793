"""The published JSON Schema of a plan."""

from __future__ import annotations

from typing import get_args

from poolwright.plan.demand import Scenario
from poolwright.plan.report.additions import growth_schema
from poolwright.plan.report.changes import change_schema
from poolwright.plan.report.clearing import clearings_schema
from poolwright.plan.report.live_schema import live_schema, running_schema
from poolwright.plan.report.mends import build_mends_schema
from poolwright.plan.report.plan_json import API_VERSION, KIND
from poolwright.plan.report.prices import build_prices_schema
from poolwright.plan.report.reservations import reservation_schema
from poolwright.plan.report.rollouts import rollouts_schema
from poolwright.plan.report.room import room_schema
from poolwright.plan.report.slots import slots_schema
from poolwright.plan.report.sources import build_origin_schema, build_sources_schema
from poolwright.plan.verdict import Doubt, Method, Replays, Word
from poolwright.plan.what_if.loss import LossOf
from poolwright.specs.report import finding_rows_schema
from poolwright.specs.schema_parts import (
    DIALECT,
    SchemaPart,
    build_count,
    build_list,
    build_maybe,
    build_object,
    build_text,
)


def plan_schema() -> SchemaPart:
    """The JSON Schema (draft 2020-12) of the document. Every property is always present."""
    return {
        "$schema": DIALECT,
        "title": KIND,
        **build_object(
            "Which workloads fit, whatever the order, as `poolwright plan --format json` prints it.",
            {
                "apiVersion": {"description": "Version of this format.", "const": API_VERSION},
                "kind": {"description": "What this document is.", "const": KIND},
                "clusters": build_list("In the Project's order.", _cluster()),
            },
        ),
    }


def _cluster() -> SchemaPart:
    sentences = build_text("A sentence.")
    return build_object(
        "A cluster.",
        {
            "name": build_text("Its name."),
            "kubernetes": build_text("The minor version that was judged."),
            "scenario": {"description": "What is held at the start.", "enum": list(get_args(Scenario))},
            "demanded": build_count("Replicas of all workloads at their peak."),
            "shortfall": _interval("Replicas that no packing holds beside the others."),
            "workloads": build_list("In a fixed order.", _verdict()),
            "reservations": build_list("Devices that others use, counted in every verdict.", reservation_schema()),
            "overDemanded": build_list("Devices that more pods need than there are.", _contest()),
            "minimalContests": build_list("The same, as small as they can be.", _contest()),
            "clearings": clearings_schema(),
            "addition": growth_schema(),
            "room": room_schema(),
            **rollouts_schema(_witness),
            "losses": build_list("What was asked for with --loss.", _loss()),
            "live": live_schema(),
            "findings": finding_rows_schema(),
            "slots": slots_schema(),
            "assumptions": build_object(
                "What the verdicts rest on.",
                {
                    "modelled": build_list("Looked at.", sentences),
                    "discharged": build_list("Shown not to matter.", sentences),
                    "assumed": build_list("Taken for granted.", sentences),
                },
            ),
        },
    )


def _verdict() -> SchemaPart:
    landing = {
        "product": build_text("The product, or the driver where none is published."),
        "kind": build_text("The device's type."),
        "alternative": build_text("`request/alternative` of a firstAvailable; empty: none."),
    }
    qualifier: dict[str, SchemaPart] = {
        "kind": {
            "description": "Whether not all is known, or a driver may refuse the devices when the pod starts.",
            "enum": list(get_args(Doubt)),
        },
        "reason": build_text("A sentence."),
    }
    return build_object(
        "A workload and its verdict, about devices alone.",
        {
            "workload": build_text("Namespace and name."),
            "verdict": {"description": "The word.", "enum": list(get_args(Word))},
            "counts": build_text("The word in numbers: `4/4`, `3-6/6`, `at most 4/6`, `2-?/6`, `?/6`."),
            "replicas": build_count("At the peak."),
            "always": _interval("Replicas that are served in every order."),
            "atBest": _interval("Replicas that are served in the best order."),
            "method": {"description": "What proved it.", "enum": list(get_args(Method))},
            "landsOn": build_list("Hardware that some packing gives it.", build_object("Hardware.", landing)),
            "headroomAlways": build_maybe(
                "integer",
                "Further replicas that every order would still serve; null: a pod takes several devices, see room.",
            ),
            "headroomBest": build_maybe(
                "integer", "Further replicas that some packing holds; null: a pod takes several devices, see room."
            ),
            "best": _witness("An order that serves most; null: not needed, or there is none."),
            "worst": _witness("An order that leaves replicas out; null: there is none, or none was found."),
            "reasons": build_list("What ended it.", build_text("A sentence.")),
            "qualifiers": build_list("What it leaves open.", build_object("Something that isn't settled.", qualifier)),
            **running_schema(),
            **build_sources_schema(),
            **build_origin_schema(),
            **build_mends_schema(),
            **build_prices_schema(),
        },
    )


def _witness(description: str) -> SchemaPart:
    move = {
        "workload": build_text("Namespace and name."),
        "replica": build_count("From 0; of a cluster that runs, those that run come first."),
        "pod": build_count("Of the replica's pods, from 0."),
        "node": build_text("Where it goes; empty: bound to none."),
        "devices": build_list("What it gets.", build_text("driver/pool/device.")),
    }
    known = build_object(
        description,
        {
            "placed": build_count(
                "Replicas of the workload that are complete in the end; of several pods each, at most."
            ),
            "replays": {"description": "Whether the allocator does so.", "enum": list(get_args(Replays))},
            "deviceOrder": _device_order(),
            "moves": build_list("Pods in order.", build_object("A pod.", move)),
        },
    )
    return {**known, "type": ["object", "null"]}


def _device_order() -> SchemaPart:
    said = (
        "The order of the devices of each slice that it rests on: null, as they are published; `reversed`, turned "
        "round; a list, these first and the others as they are."
    )
    items = build_text("driver/pool/device.")
    return {"description": said, "type": ["null", "string", "array"], "pattern": "^reversed$", "items": items}


def _contest() -> SchemaPart:
    pod = {"workload": build_text("Namespace and name."), "count": build_count("How many of its pods.")}
    return build_object(
        "Pods that compete for fewer devices.",
        {
            "demanded": build_count("Devices that these need at least."),
            "devices": build_count("Devices."),
            "pods": build_list("By workload.", build_object("A workload.", pod)),
            "examples": build_list("Some of the devices.", build_text("driver/pool/device.")),
        },
    )


def _loss() -> SchemaPart:
    return build_object(
        "One of some things that are alike is lost; of gates, all that are alpha.",
        {
            "thing": {"description": "What it is.", "enum": list(get_args(LossOf))},
            "names": build_list("Those that are lost alike, sorted.", build_text("Its name.")),
            "devices": build_count("Devices that are lost with one of them."),
            "shortfall": _interval("Replicas that no packing holds on what is left."),
            "changes": build_list("Verdicts that change.", change_schema("With everything there.", "Without it.")),
            "notes": build_list("What it rests on.", build_text("A sentence.")),
        },
    )


def _interval(description: str) -> SchemaPart:
    return build_object(description, {"least": build_count("At least."), "most": build_count("At most.")})
