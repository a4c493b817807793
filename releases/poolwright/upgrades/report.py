"""An upgrade plan, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, get_args

from poolwright.catalog.compatibility import Word
from poolwright.plan.report.changes import build_change_json, change_schema, say_change
from poolwright.specs.model import API_VERSION
from poolwright.specs.schema_parts import DIALECT, SchemaPart, build_list, build_maybe, build_object, build_text
from poolwright.upgrades.also import Also
from poolwright.upgrades.risk import Risk
from poolwright.upgrades.steps import Disturbance, Step
from poolwright.upgrades.ways import Way

KIND: Final = "UpgradePlan"
_MAX_NAMES: Final = 3
_DISTURBANCES: Final[dict[Disturbance, str]] = {
    "nothing": "it hands out no device: claims and those that have one are left alone",
    "newClaims": "pods that run keep their devices; those that start meanwhile wait until the plugin is back",
    "eachNode": "the claims on a node are given back when it is drained, and their pods need devices elsewhere",
    "rollout": "each replica's claim is made anew; a replica that finds no device holds the rollout up",
}


_NOTE: Final = (
    "the operator's mode and feature gates aren't in a lock: they are taken as the specs have them now, and a change "
    "in them isn't in this plan"
)


def render_upgrade_text(stack: str, steps: Sequence[Step], risks: Mapping[int, Sequence[Risk]]) -> Iterator[str]:
    """The steps of a stack by line, in their order.

    risks: of each step by its number, a cluster each.
    """
    if not steps:
        yield f"stack {stack}: nothing moves"
        return
    count = f"{len(steps)} {'step' if len(steps) == 1 else 'steps'}"
    yield f"stack {stack}: {', '.join((count, *_say_unsupported(steps), _say_back(steps)))}"
    for number, step in enumerate(steps):
        move = step.move
        name = move.part if move.name == move.part else f"{move.part} {move.name}"
        yield f"{number + 1}. {name} {move.before} -> {move.after}{', back' if move.is_back else ''}"
        yield from (f"   do      {action}" for action in step.actions)
        yield f"   claims  {_DISTURBANCES[step.disturbance]}"
        yield from (f"   silent  {one}" for one in step.silent)
        yield from (f"   known   {one.effect}: {one.remedy} ({one.source})" for one in step.traps)
        yield from (f"   state   {one.word}: {one.subject}: {one.why} ({one.row})" for one in step.answers)
        yield f"   way     {step.way.word}: {step.way.why}"
        yield f"   back    {step.back.word}: {step.back.why}"
        for risk in risks.get(number, ()):
            yield from (f"   {line}" for line in _say_risk(risk))


def render_also_text(also: Sequence[Also]) -> Iterator[str]:
    """What no step covers, a line each, and at the end what no lock has."""
    for one in also:
        moved = f"new: {one.after}" if one.before is None else f"{one.before} -> {one.after or 'gone'}"
        yield "; ".join(part for part in (f"also    {one.path}  {moved}", one.reason, one.effect) if part)
    yield f"note    {_NOTE}"


def list_unsupported(steps: Sequence[Step]) -> tuple[int, ...]:
    """The numbers of steps that aren't supported, from 1 on."""
    return tuple(number for number, step in enumerate(steps, 1) if step.way.word == "unsupported")


def _say_unsupported(steps: Sequence[Step]) -> Iterator[str]:
    if numbers := list_unsupported(steps):
        *first, last = map(str, numbers)
        yield f"steps {', '.join(first)} and {last} unsupported" if first else f"step {last} unsupported"


def _say_back(steps: Sequence[Step]) -> str:
    words = {step.back.word for step in steps}
    if "unsupported" in words:
        number = next(n for n, step in enumerate(steps, 1) if step.back.word == "unsupported")
        return f"and no supported way back once step {number} is done"
    return "each with a way back" if words == {"supported"} else "with ways back that nobody promises"


def _say_risk(risk: Risk) -> Iterator[str]:
    if risk.unjudged:
        yield f"{risk.cluster}: not judged: {risk.unjudged}"
        return
    said = False
    for change in risk.after:
        said = True
        yield f"{risk.cluster}: after it  {next(say_change(change))}"
    for away in risk.away:
        said = True
        more = f" (as any of {len(away.names)})" if len(away.names) > 1 else ""
        for change in away.changes:
            yield f"{risk.cluster}: while {away.names[0]} is away{more}  {next(say_change(change))}"
    if risk.stuck:
        said = True
        names = ", ".join(risk.stuck[:_MAX_NAMES])
        more = f" and {len(risk.stuck) - _MAX_NAMES} more" if len(risk.stuck) > _MAX_NAMES else ""
        yield f"{risk.cluster}: the rollout of {names}{more} can stick; see poolwright plan"
    if not said:
        yield f"{risk.cluster}: every verdict as before"


def render_upgrade_json(
    plans: Sequence[tuple[str, Sequence[Step], Mapping[int, Sequence[Risk]]]], also: Sequence[Also]
) -> str:
    """The document that `upgrade_schema` describes."""
    document = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "stacks": [
            {"name": stack, "steps": [_step(step, risks.get(number, ())) for number, step in enumerate(steps)]}
            for stack, steps, risks in plans
        ],
        "also": [
            {"path": one.path, "before": one.before, "after": one.after, "reason": one.reason, "effect": one.effect}
            for one in also
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _step(step: Step, risks: Sequence[Risk]) -> dict[str, object]:
    move = step.move
    return {
        "part": move.part,
        "name": move.name,
        "before": move.before,
        "after": move.after,
        "actions": list(step.actions),
        "claims": step.disturbance,
        "silent": list(step.silent),
        "traps": [{"effect": one.effect, "remedy": one.remedy, "source": one.source} for one in step.traps],
        "state": [{"subject": one.subject, "answer": one.word, "why": one.why, "row": one.row} for one in step.answers],
        "way": _way(step.way),
        "back": _way(step.back),
        "clusters": [
            {
                "name": risk.cluster,
                "notJudged": risk.unjudged,
                "after": [build_change_json(one) for one in risk.after],
                "nodesAway": [
                    {"nodes": list(one.names), "changes": [build_change_json(change) for change in one.changes]}
                    for one in risk.away
                ],
                "stuckRollouts": list(risk.stuck),
            }
            for risk in risks
        ],
    }


def _way(way: Way) -> dict[str, object]:
    return {"answer": way.word, "why": way.why, "source": way.source}


def upgrade_schema() -> SchemaPart:
    """The JSON Schema (draft 2020-12) of the document. Every property is always present."""
    words = list(get_args(Word))
    change = change_schema("Before the step, or with every node there.", "After it, or without the node.")
    away = build_object(
        "One node away, of those that are alike.",
        {
            "nodes": build_list("Each alone.", build_text("A node.")),
            "changes": build_list("Verdicts that differ then.", change),
        },
    )
    cluster = build_object(
        "What the step does to a cluster's claims.",
        {
            "name": build_text("The cluster."),
            "notJudged": build_text("Why nothing is said; empty: it is."),
            "after": build_list("Verdicts that differ once the step is done.", change),
            "nodesAway": build_list("While a node is drained: those nodes whose loss changes a verdict.", away),
            "stuckRollouts": build_list("Workloads whose rollout may not complete.", build_text("A workload.")),
        },
    )
    trap = build_object(
        "What is known to go wrong.",
        {
            "effect": build_text("What happens."),
            "remedy": build_text("What helps."),
            "source": build_text("Who says so."),
        },
    )
    state = build_object(
        "An answer about the stack after the step that isn't `supported`.",
        {
            "subject": build_text("Which versions."),
            "answer": {"description": "The word.", "enum": words},
            "why": build_text("What is listed."),
            "row": build_text("The row of the facts."),
        },
    )
    step = build_object(
        "One component from one version to the next.",
        {
            "part": build_text("Which sort of component."),
            "name": build_text("Its name: of a DRA driver or an image; else the part."),
            "before": build_text("The version, or reference, before it."),
            "after": build_text("After it."),
            "actions": build_list("What is done, in this order.", build_text("A sentence.")),
            "claims": {"description": "What claims feel meanwhile.", "enum": list(get_args(Disturbance))},
            "silent": build_list("What may change allocations though no manifest does.", build_text("A sentence.")),
            "traps": build_list("What is known to go wrong.", trap),
            "state": build_list("What isn't supported of the stack after it.", state),
            "way": _way_schema("The step itself, whether it goes on or back."),
            "back": _way_schema("The way back from it: judged like a step."),
            "clusters": build_list("The clusters that run the stack.", cluster),
        },
    )
    also = build_object(
        "What differs and isn't covered by a step.",
        {
            "path": build_text("The keys that lead to it, with points between them."),
            "before": build_maybe("string", "What the earlier lock has; null: it is new."),
            "after": build_maybe("string", "What the later one has; null: it is gone."),
            "reason": build_text("The lock's reason for it; empty: it has none of its own."),
            "effect": build_text("What comes of it; empty: nothing that is known here."),
        },
    )
    return {
        "$schema": DIALECT,
        "title": KIND,
        **build_object(
            "How clusters get from one lock to another. The operator's mode and feature gates aren't in a lock: they "
            "are taken as the specs have them now.",
            {
                "apiVersion": {"description": "Version of this format.", "const": API_VERSION},
                "kind": {"description": "What this document is.", "const": KIND},
                "stacks": build_list(
                    "Stacks that both locks have.",
                    build_object(
                        "A stack.",
                        {"name": build_text("Its name."), "steps": build_list("Its steps, in their order.", step)},
                    ),
                ),
                "also": build_list("Every other difference of the two locks.", also),
            },
        ),
    }


def _way_schema(description: str) -> SchemaPart:
    return build_object(
        description,
        {
            "answer": {"description": "The word.", "enum": list(get_args(Word))},
            "why": build_text("Why."),
            "source": build_text("Who says so; empty: nobody."),
        },
    )
