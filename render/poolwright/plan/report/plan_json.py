"""A plan for other tools: JSON by a published schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.device_order import DeviceOrder
from poolwright.plan.report.additions import build_growth_json
from poolwright.plan.report.changes import build_change_json
from poolwright.plan.report.clearing import build_clearings_json
from poolwright.plan.report.live import build_live_part, build_running
from poolwright.plan.report.mends import render_mends
from poolwright.plan.report.prices import render_prices
from poolwright.plan.report.reservations import list_reservations
from poolwright.plan.report.rollouts import build_deadlocks_json, build_rollouts_json
from poolwright.plan.report.room import build_room_json
from poolwright.plan.report.slots import build_slots_json
from poolwright.plan.report.sources import render_origin, render_sources
from poolwright.plan.report.words import say_counts
from poolwright.plan.verdict import Contest, Count, Verdict, Witness
from poolwright.plan.what_if.loss import Loss
from poolwright.specs.report import build_finding_rows

API_VERSION: Final = "poolwright.dev/v1alpha1"
KIND: Final = "FitPlan"
_Json = dict[str, object]


def render_plan_json(answers: Sequence[ClusterAnswer]) -> str:
    """The document that `plan_schema` describes, in ASCII, ended by a line break. Texts are exact."""
    document: _Json = {"apiVersion": API_VERSION, "kind": KIND, "clusters": [_cluster(one) for one in answers]}
    return json.dumps(document, indent=2) + "\n"


def _cluster(answer: ClusterAnswer) -> _Json:
    judgement, assumptions = answer.judgement, answer.assumptions
    return {
        "name": answer.cluster.name,
        "kubernetes": answer.cluster.minor,
        "scenario": answer.demand.scenario,
        "demanded": judgement.demanded,
        "shortfall": _count(judgement.shortfall),
        "workloads": [
            {
                **_verdict(one),
                **render_origin(answer.demand, one),
                **build_running(answer, one.workload),
                **render_mends(answer, one),
                **render_prices(answer, one.workload),
            }
            for one in judgement.verdicts
        ],
        "reservations": list_reservations(answer),
        "overDemanded": [_contest(one) for one in judgement.over_demanded],
        "minimalContests": [_contest(one) for one in judgement.hall_sets],
        "clearings": build_clearings_json(answer.clearings),
        "addition": build_growth_json(answer.growth),
        "room": build_room_json(answer.room),
        "rollouts": build_rollouts_json(answer.rollouts, _witness),
        "gangDeadlocks": build_deadlocks_json(answer.deadlocks, _witness),
        "losses": [_loss(one) for one in answer.losses],
        "live": build_live_part(answer),
        "findings": build_finding_rows(answer.findings),
        "slots": build_slots_json(answer.slots),
        "assumptions": {
            "modelled": list(assumptions.modelled),
            "discharged": list(assumptions.discharged),
            "assumed": list(assumptions.assumed),
        },
    }


def _verdict(verdict: Verdict) -> _Json:
    return {
        "workload": verdict.workload,
        "verdict": verdict.word,
        "counts": say_counts(verdict),
        "replicas": verdict.replicas,
        "always": _count(verdict.always),
        "atBest": _count(verdict.at_best),
        "method": verdict.method,
        "landsOn": [
            {"product": one.product, "kind": one.kind, "alternative": one.alternative} for one in verdict.lands_on
        ],
        "headroomAlways": verdict.headroom_always,
        "headroomBest": verdict.headroom_best,
        "best": _witness(verdict.best),
        "worst": _witness(verdict.worst),
        "reasons": list(verdict.reasons),
        "qualifiers": [{"kind": one.kind, "reason": one.reason} for one in verdict.qualifiers],
        **render_sources(verdict),
    }


def _witness(witness: Witness | None) -> _Json | None:
    if witness is None:
        return None
    return {
        "placed": witness.placed,
        "replays": witness.replays,
        "deviceOrder": _device_order(witness.device_order),
        "moves": [
            {
                "workload": move.workload,
                "replica": move.replica,
                "pod": move.pod,
                "node": move.node,
                "devices": ["/".join(one) for one in move.devices],
            }
            for move in witness.moves
        ],
    }


def _device_order(order: DeviceOrder) -> object:
    return ["/".join(one) for one in order] if isinstance(order, tuple) else order


def _loss(loss: Loss) -> _Json:
    return {
        "thing": loss.thing,
        "names": list(loss.names),
        "devices": loss.devices,
        "shortfall": _count(loss.shortfall),
        "changes": [build_change_json(one) for one in loss.changes],
        "notes": list(loss.notes),
    }


def _count(count: Count) -> _Json:
    return {"least": count.least, "most": count.most}


def _contest(contest: Contest) -> _Json:
    return {
        "demanded": contest.demanded,
        "devices": contest.devices,
        "pods": [{"workload": title, "count": count} for title, count in contest.pods],
        "examples": ["/".join(one) for one in contest.examples],
    }
