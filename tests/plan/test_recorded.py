"""Plans that are read back: what `plan` printed is, and nothing else is, however it was made."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from plan_world import FEATURES, World, demand_of
from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.cluster import ClusterPlan
from poolwright.plan.recorded import MAX_BYTES, RecordedCluster, RecordedWitness, parse_recorded
from poolwright.plan.report.plan_json import render_plan_json
from poolwright.plan.verdict import Judgement, Move, Verdict, Witness, exactly
from poolwright.specs.finding import SpecError, render_text

FIRST, SECOND = ("x.dev", "a/b", "d0"), ("x.dev", "a/b", "d1")
WITNESS = Witness(
    moves=(Move(workload="t/w", replica=0, node="n", devices=(FIRST, SECOND)),),
    placed=0,
    replays="after-reordering-or-restart",
    device_order=(SECOND,),
)


def print_plan() -> str:
    """What `plan` prints of a cluster with one workload and that witness."""
    verdict = Verdict(
        workload="t/w",
        word="order-dependent",
        replicas=1,
        always=exactly(0),
        at_best=exactly(1),
        method="alone",
        worst=WITNESS,
    )
    cluster = ClusterPlan(name="c", minor="1.37", gates={}, features=FEATURES, nodes=(), slices=(), peaks={})
    judgement = Judgement(verdicts=(verdict,), demanded=1, shortfall=exactly(0))
    return render_plan_json([ClusterAnswer(cluster=cluster, demand=demand_of(World((), ())), judgement=judgement)])


DOCUMENT: dict[str, Any] = json.loads(print_plan())
(CLUSTER,) = DOCUMENT["clusters"]
(VERDICT,) = CLUSTER["workloads"]


def test_what_is_read() -> None:
    (found,) = parse_recorded(print_plan().encode(), "plan.json")
    assert found == RecordedCluster(
        name="c",
        kubernetes="1.37",
        scenario="fresh",
        workloads=("t/w",),
        witnesses=(RecordedWitness(workloads=("t/w",), role="worst", replicas=1, witness=WITNESS),),
    )


def edit(change: Callable[[Any], object]) -> bytes:
    document = deepcopy(DOCUMENT)
    change(document)
    return json.dumps(document).encode()


def worst(document: Any) -> Any:
    return document["clusters"][0]["workloads"][0]["worst"]


WHERE = "clusters[0].workloads[0].worst"
REFUSED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "plan.json:1:1: it isn't JSON: Expecting value"),
    "yaml": (b"kind: FitPlan\n", "plan.json:1:1: it isn't JSON: Expecting value"),
    "half-of-it": (json.dumps(DOCUMENT).encode()[:-1], "plan.json:1:"),
    "two-of-it": (json.dumps(DOCUMENT).encode() * 2, "plan.json:1:"),
    "not-utf-8": (b'"\xff"', "plan.json: it isn't UTF-8"),
    "a-list": (b"[]", "plan.json: the document: it must be of type object"),
    "nothing": (b"null", "plan.json: the document: it must be of type object"),
    "deep": (b"[" * 100_000, "plan.json: it is nested more than 32 levels deep"),
    "deep-enough-to-parse": (b"[" * 33 + b"]" * 33, "plan.json: it is nested more than 32 levels deep"),
    "too-large": (b" " * (MAX_BYTES + 1), "plan.json: it has more than 67,108,864 bytes"),
    "too-many-values": (b"[" + b"0," * 4_000_000 + b"0]", "plan.json: it has more than 4,000,000 values"),
    "a-key-twice": (b'{"kind": "FitPlan", "kind": "FitPlan"}', "plan.json: a map in it repeats a key"),
    "a-fraction": (b"[1.0]", "plan.json: 1.0 is no number that a plan has: whole ones of up to 15 digits"),
    "an-exponent": (b"[1e2]", "plan.json: 1e2 is no number that a plan has: whole ones of up to 15 digits"),
    "not-a-number": (b"[NaN]", "plan.json: NaN is no number that a plan has: whole ones of up to 15 digits"),
    "a-long-number": (
        b"[" + b"9" * 100_000 + b"]",
        f"plan.json: {'9' * 20} is no number that a plan has: whole ones of up to 15 digits",
    ),
    "half-a-pair": (rb'["\ud800"]', "plan.json: a text in it has half a surrogate pair"),
    "half-a-pair-in-a-key": (rb'{"\ud800": 1}', "plan.json: a text in it has half a surrogate pair"),
    "another-kind": (
        edit(lambda it: it.update(kind="AllocationList")),
        "plan.json: kind: it must be FitPlan",
    ),
    "another-version": (
        edit(lambda it: it.update(apiVersion="poolwright.dev/v9")),
        "plan.json: apiVersion: it must be poolwright.dev/v1alpha1",
    ),
    "true-is-not-one": (
        edit(lambda it: worst(it).update(placed=True)),
        f"plan.json: {WHERE}.placed: it must be of type integer",
    ),
    "less-than-none": (
        edit(lambda it: worst(it)["moves"][0].update(replica=-1)),
        f"plan.json: {WHERE}.moves[0].replica: it must be at least 0",
    ),
    "something-more": (
        edit(lambda it: worst(it).update({"x" * 100: 1})),
        f'plan.json: {WHERE}: a plan has no "{"x" * 57}..." here',
    ),
    "something-less": (
        edit(lambda it: worst(it)["moves"][0].pop("node")),
        f'plan.json: {WHERE}.moves[0]: "node" is missing',
    ),
    "an-unknown-word": (
        edit(lambda it: worst(it).update(replays="never")),
        f"plan.json: {WHERE}.replays: it must be one of: now, after-reordering-or-restart, not-replayed",
    ),
    "an-unknown-order": (
        edit(lambda it: worst(it).update(deviceOrder="sorted")),
        f"plan.json: {WHERE}.deviceOrder: it isn't what the schema says",
    ),
    "an-order-without-need": (
        edit(lambda it: worst(it).update(replays="now")),
        'plan.json: "now" and its deviceOrder don\'t go together',
    ),
    "no-order": (
        edit(lambda it: worst(it).update(deviceOrder=None)),
        'plan.json: "after-reordering-or-restart" and its deviceOrder don\'t go together',
    ),
    "no-device": (
        edit(lambda it: worst(it)["moves"][0].update(devices=["x.dev/d1"])),
        'plan.json: "x.dev/d1" isn\'t driver/pool/device',
    ),
    "a-cluster-twice": (
        edit(lambda it: it.update(clusters=[CLUSTER, CLUSTER])),
        'plan.json: the cluster "c" stands in it twice',
    ),
    "a-workload-twice": (
        edit(lambda it: it["clusters"][0].update(workloads=[VERDICT, VERDICT])),
        'plan.json: the workload "t/w" stands in it twice',
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    data, said = REFUSED[name]
    with pytest.raises(SpecError) as caught:
        parse_recorded(data, "plan.json")
    (finding,) = caught.value.findings
    headline = render_text([finding]).splitlines()[0]
    assert headline.endswith("  [plan-unreadable]")
    assert headline.removesuffix("  [plan-unreadable]") == said or (said.endswith(":1:") and headline.startswith(said))


def test_controls_are_shown_as_escapes() -> None:
    with pytest.raises(SpecError) as caught:
        parse_recorded(edit(lambda it: worst(it).update({"\x1b[2J": 1})), "plan.json")
    assert 'a plan has no "\\x1b[2J" here' in render_text(caught.value.findings)


def test_many_things_wrong_take_little_memory() -> None:
    data = edit(lambda it: worst(it).update(moves=[0] * 500_000))
    with pytest.raises(SpecError) as caught:
        parse_recorded(data, "plan.json")
    assert [one.what for one in caught.value.findings] == [f"{WHERE}.moves[0]: it must be of type object"]
