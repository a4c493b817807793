"""Runs the rows of the allocator's tables: against our allocator, and as cases for upstream's."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Mapping
from typing import Any

import pytest
from case_values import Json, render_outcome
from catalogue_world import RELEASED, Row

from poolwright.allocation.allocator import Allocator
from poolwright.allocation.features import Features
from poolwright.allocation.held import Held
from poolwright.allocation.outcome import Outcome
from poolwright.allocation.parse_objects import parse_objects
from poolwright.specs.document import parse_documents


def list_runs(rows: Mapping[str, Row]) -> list[Any]:
    """Parameters `row` and `run`, of every row with every release that it says something of."""
    return [pytest.param(row, run, id=f"{name}-{run}") for name, row in rows.items() for run in row.runs]


def answer_row(row: Row, run: str) -> Json:
    """What our allocator makes of a row, the same in whatever order its objects come; steps if the row says any."""
    case = row.world.build_case(minor_of(run))
    given = answer(case, run)
    assert answer(shuffle(case), run) == given
    return given if row.steps is not None else {key: value for key, value in given.items() if key != "steps"}


def minor_of(run: str) -> str:
    """The minor release of a run."""
    return run.removesuffix(RELEASED)


def answer(case: Json, run: str) -> Json:
    """What our allocator makes of a case."""
    return render_outcome(allocate(case, as_released=run.endswith(RELEASED)))


def allocate(case: Json, *, as_released: bool = False, max_looks: int = 100_000) -> Outcome:
    """The outcome of a case; what the allocator is handed is compared before and after."""
    features = Features(minor=case["minor"], as_released=as_released, **case["features"])
    kinds = {"Node": [case["node"]], "DeviceClass": case["classes"], "ResourceSlice": case["slices"]}
    kinds["ResourceClaim"] = [*case["claims"], *case["held"]]
    items = [
        {"apiVersion": "v1" if kind == "Node" else "resource.k8s.io/v1", "kind": kind, **item}
        for kind, group in kinds.items()
        for item in group
    ]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    objects = parse_objects(parse_documents(text.encode(), "case", max_bytes=64 << 20))
    slices = tuple(placed.value for placed in objects.slices)
    classes = {placed.value.name: placed.value for placed in objects.classes}
    claims = [placed.value for placed in objects.claims if placed.value.namespace == "ns"]
    held = Held(features)
    for placed in objects.claims:
        if placed.value.allocation is not None:
            held.add(placed.value.allocation)
    inputs = (objects.nodes[0].value, slices, classes, claims, dump(held))
    before = copy.deepcopy(inputs)
    outcome = Allocator(slices, classes, features, max_looks=max_looks).allocate(objects.nodes[0].value, claims, held)
    assert (*inputs[:4], dump(held)) == before
    return outcome


def dump(held: Held) -> Json:
    """Everything that is known of what is held."""
    return copy.deepcopy({slot: getattr(held, slot) for slot in vars(held)})


def shuffle(case: Json) -> Json:
    """The case with its slices, its classes, what is held and all keys in another order."""
    rng = random.Random(json.dumps(case))
    mixed: Json = _shuffle_keys(case, rng)
    for name in ("slices", "classes", "held"):
        rng.shuffle(mixed[name])
    return mixed


def _shuffle_keys(value: Any, rng: random.Random) -> Any:
    if isinstance(value, list):
        return [_shuffle_keys(one, rng) for one in value]
    if not isinstance(value, dict):
        return value
    keys = list(value)
    rng.shuffle(keys)
    return {key: _shuffle_keys(value[key], rng) for key in keys}
