"""Rollouts that can stick and gang deadlocks, in the reports of a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import get_args

from poolwright.plan.report.words import say_moves
from poolwright.plan.verdict import Witness
from poolwright.plan.what_if.gang import GangDeadlock
from poolwright.plan.what_if.rollout import Outcome, Rollout
from poolwright.specs.schema_parts import SchemaPart, build_count, build_list, build_object, build_text

_Json = dict[str, object]
_Say = Callable[[Witness | None], _Json | None]


def render_rollouts(rollouts: Sequence[Rollout], deadlocks: Sequence[GangDeadlock]) -> Iterator[str]:
    """Lines for what doesn't complete in every order; none where all is well."""
    for one in rollouts:
        if one.outcome == "completes":
            continue
        said = "can stick" if one.outcome == "can-stick" else "it isn't known whether it completes"
        yield f"rollout of {one.workload}: {said}: {one.why}"
        if one.witness is not None and one.witness.moves:
            yield f"  after: {say_moves(one.witness)}"
        if one.fixes:
            yield f"  mended by: {'; or '.join(one.fixes)}"
    for deadlock in deadlocks:
        yield deadlock.why
        yield f"  after: {say_moves(deadlock.witness)}"
        yield f"  mended by: {deadlock.fix}"


def build_rollouts_json(rollouts: Sequence[Rollout], say: _Say) -> list[_Json]:
    """The property `rollouts`. say: how the document says a witness."""
    return [
        {
            "workload": one.workload,
            "outcome": one.outcome,
            "maximum": one.maximum,
            "surge": one.surge,
            "maxUnavailable": one.unavailable,
            "why": one.why,
            "fixes": list(one.fixes),
            "witness": say(one.witness),
        }
        for one in rollouts
    ]


def build_deadlocks_json(deadlocks: Sequence[GangDeadlock], say: _Say) -> list[_Json]:
    """The property `gangDeadlocks`."""
    return [
        {
            "workloads": list(one.workloads),
            "holding": one.holding,
            "complete": one.complete,
            "gained": [{"workload": title, "count": count} for title, count in one.gained],
            "why": one.why,
            "fix": one.fix,
            "witness": say(one.witness),
        }
        for one in deadlocks
    ]


def rollouts_schema(witness: Callable[[str], SchemaPart]) -> dict[str, SchemaPart]:
    """The schemas of both properties. witness: that of a witness, by its description."""
    rollout: dict[str, SchemaPart] = {
        "workload": build_text("Namespace and name."),
        "outcome": {"description": "Whether it completes in every order.", "enum": list(get_args(Outcome))},
        "maximum": build_count("Replicas at the peak, without the surge."),
        "surge": build_count("Replicas that a rollout adds."),
        "maxUnavailable": build_count("Old replicas that may be let go before new ones are ready."),
        "why": build_text("A sentence."),
        "fixes": build_list("What makes it complete in every order, each by itself.", build_text("What to set.")),
        "witness": witness("An order that ends stuck; null: it completes, or none was found."),
    }
    gained = {"workload": build_text("Namespace and name."), "count": build_count("Replicas.")}
    deadlock = {
        "workloads": build_list("Whose replicas hold a part.", build_text("Namespace and name.")),
        "holding": build_count("Replicas that hold a part of their devices and wait for the rest."),
        "complete": build_count("Replicas of these workloads that are complete."),
        "gained": build_list(
            "Replicas that there is room for once those give back what they hold.",
            build_object("By workload.", gained),
        ),
        "why": build_text("A sentence."),
        "fix": build_text("What prevents it."),
        "witness": witness("An order that ends in it."),
    }
    return {
        "rollouts": build_list(
            "Of workloads whose replicas are replaced by new ones, in a fixed order; with --live none.",
            build_object(
                "Whether replacing all replicas of a workload by new ones that ask for the same ends.", rollout
            ),
        ),
        "gangDeadlocks": build_list(
            "Those that were found, with --live none; that there are no others isn't proven.",
            build_object("Replica groups that hold devices for nothing.", deadlock),
        ),
    }
