"""The published JSON Schema of what became of a plan's witnesses."""

from __future__ import annotations

from typing import get_args

from poolwright.plan.recorded import Role
from poolwright.plan.report.plan_json import API_VERSION
from poolwright.plan.report.replay_json import KIND
from poolwright.plan.verdict import Replays
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


def replay_schema() -> SchemaPart:
    """The JSON Schema (draft 2020-12) of the document. Every property is always present."""
    cluster = {
        "name": build_text("Its name."),
        "madeFor": build_text("The version of Kubernetes that the plan was made for."),
        "judgedWith": build_text(
            "The version that the cluster has now, by whose rules the witnesses were carried out."
        ),
        "witnesses": build_list("By workload best and worst, then of rollouts, then of deadlocks.", _witness()),
    }
    return {
        "$schema": DIALECT,
        "title": KIND,
        **build_object(
            "Whether the witnesses of a plan come to the same now, as `poolwright plan --replay` prints it.",
            {
                "apiVersion": {"description": "Version of this format.", "const": API_VERSION},
                "kind": {"description": "What this document is.", "const": KIND},
                "clusters": build_list("In the plan's order.", build_object("A cluster.", cluster)),
            },
        ),
    }


def _witness() -> SchemaPart:
    return build_object(
        "A witness of the plan.",
        {
            "workloads": build_list("That it is about; several of a deadlock.", build_text("Namespace and name.")),
            "role": {"description": "Which one.", "enum": list(get_args(Role))},
            "replays": {"description": "How the plan says that it comes true.", "enum": list(get_args(Replays))},
            "same": build_flag("Every pod got the same devices, and the end is the same."),
            "moves": build_count("That it has."),
            "done": build_count("Of these, the first ones, that came as told."),
            "replicas": build_count("At the peak, by the plan; of a deadlock those that hold a part."),
            "served": build_maybe(
                "integer", "Replicas with all their devices in the end; null: a move came otherwise."
            ),
            "leftOut": build_maybe("integer", "Replicas that no node takes in the end; null: a move came otherwise."),
            "holding": build_maybe("integer", "Replicas in the end with a part of their devices; null as well."),
            "problem": build_text("What came otherwise; empty: nothing."),
        },
    )
