"""The parts of a plan's JSON Schema that speak of a cluster that runs."""

from __future__ import annotations

from typing import get_args

from poolwright.plan.live.snapshot import Source
from poolwright.specs.schema_parts import SchemaPart, build_count, build_list, build_maybe, build_object, build_text


def running_schema() -> dict[str, SchemaPart]:
    """The properties of a workload."""
    known = build_object(
        "What is observed of a workload of a cluster that runs.",
        {
            "toPlace": build_count("Replicas between those that run and the peak."),
            "begun": build_list(
                "Those of them that have a part of their devices.", build_text("The pod, or the group, by name.")
            ),
            "olderTemplate": build_count("Running replicas that were made from another template."),
            "leavingPods": build_count("Pods that are being deleted and hold devices still."),
            "bypassedPods": build_count("Pods with a node and without devices, which they never get there."),
            "stuckAfterRestart": build_count("Running replicas that couldn't be placed again, each restarted alone."),
            "unknownAfterRestart": build_count("Running replicas of which that isn't known."),
            "stuckReasons": build_list("Why the first of them couldn't.", build_text("A sentence.")),
        },
    )
    return {
        "running": build_maybe(
            "integer", "Replicas whose pods have their nodes and all their devices; null: nothing was observed."
        ),
        "live": {"anyOf": [known, {"type": "null"}]},
    }


def live_schema() -> SchemaPart:
    """The property of a cluster."""
    sources = list(get_args(Source))
    device = {"device": build_text("driver/pool/device."), "claim": build_text("Namespace and name of its holder.")}
    known = build_object(
        "What a cluster that runs holds; null: it is judged as one that starts empty.",
        {
            "heldClaims": build_count("Claims that hold devices, none of which departs."),
            "othersClaims": build_count("Those of them that no judged workload's pod uses."),
            "unpublished": build_list("Held devices that no slice has.", build_object("A device.", device)),
            "nodesFrom": {"description": "Where nodes were taken from.", "enum": sources},
            "slicesFrom": {"description": "Where slices were taken from.", "enum": sources},
            "newestPod": build_maybe("string", "When the newest pod was made; null: none says."),
            "claimsOfUnknownUsers": build_count("Held claims whose users aren't among the pods."),
            "uncountedPods": build_count("Others' waiting pods of which it isn't known what for."),
        },
    )
    return {"anyOf": [known, {"type": "null"}]}
