"""What became of a plan's witnesses, for other tools: JSON by a published schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from poolwright.plan.recheck import Recheck, Rechecked
from poolwright.plan.report.plan_json import API_VERSION

KIND: Final = "FitReplay"


def render_replay_json(rechecked: Sequence[Rechecked]) -> str:
    """The document that `replay_schema` describes, in ASCII, ended by a line break. Texts are exact."""
    clusters = [
        {
            "name": cluster.name,
            "madeFor": cluster.made_for,
            "judgedWith": cluster.judged_with,
            "witnesses": [_witness(one) for one in cluster.rechecks],
        }
        for cluster in rechecked
    ]
    return json.dumps({"apiVersion": API_VERSION, "kind": KIND, "clusters": clusters}, indent=2) + "\n"


def _witness(one: Recheck) -> dict[str, object]:
    return {
        "workloads": list(one.recorded.workloads),
        "role": one.recorded.role,
        "replays": one.recorded.witness.replays,
        "same": not one.problem,
        "moves": len(one.recorded.witness.moves),
        "done": one.done,
        "replicas": one.recorded.replicas,
        "served": one.end and one.end.served,
        "leftOut": one.end and one.end.left_out,
        "holding": one.end and one.end.holding,
        "problem": one.problem,
    }
