"""What would mend a verdict, in every report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.report.changes import build_side, render_side
from poolwright.plan.report.words import count_of, say_counts, say_word
from poolwright.plan.verdict import Verdict
from poolwright.plan.what_if.edits import Edit, EditKind
from poolwright.plan.what_if.mend import Mending, Trial
from poolwright.specs.schema_parts import SchemaPart, build_count, build_list, build_object, build_text

_Json = dict[str, object]


def say_edit(edit: Edit) -> str:
    """`one more node like h100-b-0`, `without zone east-b`, `2 replicas less at the peak`."""
    match edit.kind:
        case "node" if edit.count == 1:
            return f"one more node like {edit.name}"
        case "node":
            return f"{edit.count} more nodes like {edit.name}"
        case "zone":
            return f"zone {edit.name} instead of {edit.was}" if edit.name else f"without zone {edit.was}"
        case "class":
            return f"class {edit.name} as a further alternative"
        case "replicas":
            return f"{'one replica' if edit.count == 1 else count_of(edit.count, 'replica')} less at the peak"
    device = edit.device or ("", "", "")
    where = f"{device[2]} on node {edit.name}" if edit.name else "/".join(device)
    return f"one more device like {where}"


def list_mends(answer: ClusterAnswer, verdict: Verdict) -> Iterator[str]:
    """Lines for a workload: what mends it; if nothing does, what helps; if nothing does that either, what doesn't."""
    mending = _find(answer, verdict)
    if mending is None:
        return
    for trial in mending.mends:
        start = "mended by" if trial.after.word == "always-fits" else "helped by"
        yield f"{start}: {_say_trial(answer, trial)}"
    if mending.vain and not mending.mends:
        yield f"not mended by: {'; '.join(say_edit(one.edit) for one in mending.vain)}"


def render_mends(answer: ClusterAnswer, verdict: Verdict) -> _Json:
    """The part of a workload's JSON."""
    mending = _find(answer, verdict)
    return {
        "mends": [_render_trial(one) for one in mending.mends] if mending else [],
        "mendsTried": [_render_trial(one) for one in mending.trials] if mending else [],
    }


def build_mends_schema() -> dict[str, SchemaPart]:
    """The schema of `render_mends`."""
    side = build_side()
    worse = {"workload": build_text("Namespace and name."), **side}
    trial = build_object(
        "A change that was judged.",
        {
            **_build_edit(),
            "then": build_object("The workload's verdict with it.", side),
            "worse": build_list("Others that fare worse with it.", build_object("A workload.", worse)),
        },
    )
    return {
        "mends": build_list(
            "Changes with which it always fits; if there is none, those that make an unsatisfied one order-dependent.",
            trial,
        ),
        "mendsTried": build_list("All changes that were judged; none: it wasn't looked at.", trial),
    }


def _build_edit() -> dict[str, SchemaPart]:
    return {
        "kind": {"description": "What it changes.", "enum": list(get_args(EditKind))},
        "name": build_text("The node, device, zone or class; empty: any zone, or fewer replicas."),
        "count": build_count("Nodes, devices or replicas."),
        "what": build_text("The change in words."),
    }


def _find(answer: ClusterAnswer, verdict: Verdict) -> Mending | None:
    return next((one for one in answer.mends.workloads if one.before.workload == verdict.workload), None)


def _say_trial(answer: ClusterAnswer, trial: Trial) -> str:
    after = trial.after
    minimum = next(one.minimum for one in answer.demand.workloads if one.title == after.workload)
    below = f" (below its minimum of {minimum})" if after.replicas < minimum else ""
    worse = [f"{one.workload} {say_counts(one)} {say_word(one)}" for one in trial.worse]
    but = f", but then {', '.join(worse)}" if worse else ""
    fewer = "" if trial.is_least else ", or fewer,"
    return f"{say_edit(trial.edit)}{fewer}{below} -> {say_counts(after)} {say_word(after)}{but}"


def _render_trial(trial: Trial) -> _Json:
    return {
        **_render_edit(trial.edit),
        "then": render_side(trial.after),
        "worse": [{"workload": one.workload, **render_side(one)} for one in trial.worse],
    }


def _render_edit(edit: Edit) -> _Json:
    name = edit.name if edit.device is None else "/".join(edit.device)
    return {"kind": edit.kind, "name": name, "count": edit.count, "what": say_edit(edit)}
