"""More replicas than specs say: what is understood, which workload is meant, and what the plan says of it."""

from __future__ import annotations

import json

import pytest

from fleet import FLEET, ROOT
from plan_world import Want, World, demand_of
from poolwright.plan.engine import judge
from poolwright.plan.what_if.additions import (
    Added,
    Addition,
    AdditionError,
    Target,
    add_replicas,
    build_growth,
    find_added,
    parse_addition,
)
from run_poolwright import run

ASKED: dict[str, tuple[str, Addition | str]] = {
    "a-model": ("2xchat-70b", Addition(count=2, name="chat-70b")),
    "a-name-with-an-x": ("10xx2x", Addition(count=10, name="x2x")),
    "with-its-namespace": ("1xchat/chat-70b", Addition(count=1, name="chat/chat-70b")),
    "the-most": ("1000xa", Addition(count=1000, name="a")),
    "no-count": ("x2", '"x2" isn\'t COUNTxMODEL, such as 2xchat-70b'),
    "no-name": ("2x", '"2x" isn\'t COUNTxMODEL, such as 2xchat-70b'),
    "no-x": ("2", '"2" isn\'t COUNTxMODEL, such as 2xchat-70b'),
    "nothing": ("", '"" isn\'t COUNTxMODEL, such as 2xchat-70b'),
    "fewer": ("-1xchat", '"-1xchat" isn\'t COUNTxMODEL, such as 2xchat-70b'),
    "a-line-break": ("1xchat\n", '"1xchat\n" isn\'t COUNTxMODEL, such as 2xchat-70b'),
    # Digits of another script aren't a count.
    "other-digits": ("٢xchat", '"٢xchat" isn\'t COUNTxMODEL, such as 2xchat-70b'),
    "none": ("0xchat", '"0xchat": the count is a number from 1 to 1000'),
    "too-many": ("1001xchat", '"1001xchat": the count is a number from 1 to 1000'),
    "far-too-many": (f"{'9' * 5000}xchat", f'"{"9" * 5000}xchat": the count is a number from 1 to 1000'),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_is_asked_for(name: str) -> None:
    text, expected = ASKED[name]
    if isinstance(expected, Addition):
        assert parse_addition(text) == expected
    else:
        with pytest.raises(AdditionError) as refused:
            parse_addition(text)
        assert str(refused.value) == expected


TARGETS = (
    Target(cluster="east", title="chat/big", envelope="big"),
    Target(cluster="east", title="chat/small", envelope="small"),
    Target(cluster="east", title="chat/small-b", envelope="small"),
    Target(cluster="east", title="ops/tool"),
    Target(cluster="east", title="search/twin", envelope="twin"),
    Target(cluster="east", title="chat/twin", envelope="twin"),
    Target(cluster="lab", title="chat/big", envelope="big"),
    Target(cluster="lab", title="lab/first", envelope="only-here"),
    Target(cluster="lab", title="lab/tiny-a", envelope="tiny"),
    Target(cluster="lab", title="lab/tiny-b", envelope="tiny"),
)
MEANT: dict[str, tuple[str, dict[str, tuple[Added, ...]] | str]] = {
    # It is also the envelope of two placements: a placement's own name goes first.
    "a-placement": ("small", {"east": (Added(workload="chat/small", replicas=1),)}),
    "by-namespace-and-name": ("chat/small-b", {"east": (Added(workload="chat/small-b", replicas=1),)}),
    "a-workload-without-placement": ("tool", {"east": (Added(workload="ops/tool", replicas=1),)}),
    "an-envelope-placed-once": ("only-here", {"lab": (Added(workload="lab/first", replicas=1),)}),
    "an-envelope-placed-twice": ("tiny", '"tiny" is several workloads: lab/tiny-a, lab/tiny-b; name one of them'),
    "in-two-namespaces": ("twin", '"twin" is several workloads: chat/twin, search/twin; name one of them'),
    "on-two-clusters": ("big", '"big" is on several clusters: east, lab; choose one with --cluster'),
    "unknown": (
        "bg",
        'there is no placement, workload or envelope "bg"; known: big, chat/big, chat/small, chat/small-b, chat/twin, '
        "lab/first, lab/tiny-a, lab/tiny-b, only-here, ops/tool, search/twin, small, tiny, twin",
    ),
}


@pytest.mark.parametrize("name", MEANT)
def test_what_a_name_means(name: str) -> None:
    asked, expected = MEANT[name]
    additions = [Addition(count=1, name=asked)]
    if isinstance(expected, str):
        with pytest.raises(AdditionError) as refused:
            find_added(additions, TARGETS)
        assert str(refused.value) == expected
    else:
        assert find_added(additions, TARGETS) == expected


def test_several_additions() -> None:
    asked = [Addition(count=2, name="small"), Addition(count=1, name="first"), Addition(count=3, name="chat/small")]
    assert find_added(asked, TARGETS) == {
        "east": (Added(workload="chat/small", replicas=5),),
        "lab": (Added(workload="lab/first", replicas=1),),
    }
    assert find_added([], TARGETS) == {}
    with pytest.raises(AdditionError, match="there are no workloads that claim devices"):
        find_added([Addition(count=1, name="a")], [])


def test_only_what_changes_is_said() -> None:
    demand = demand_of(World(((0, 1, 2),), (Want(1, (frozenset({0, 1}),)), Want(1, (frozenset({2}),)))))
    added = (Added(workload="w0", replicas=2),)
    grown = add_replicas(demand, added)
    assert [one.replicas for one in grown.workloads] == [3, 1]
    assert [one.replicas for one in demand.workloads] == [1, 1]
    growth = build_growth(added, judge(demand), judge(grown))
    assert [(one.before.word, one.after.word, one.after.workload) for one in growth.changes] == [
        ("always-fits", "unsatisfied", "w0")
    ]


def plan(*asked: str) -> tuple[int, str, str]:
    ran = run("plan", "--project", str(FLEET), *asked, folder=ROOT)
    return ran.code, ran.stdout, ran.stderr


def test_a_plan_with_more_replicas() -> None:
    code, out, err = plan("--cluster", "lab", "--add", "1xchat/chat-70b", "--room")
    assert (code, err) == (1, "")
    lines = [line for line in out.splitlines() if not line.startswith("  pods that need")]
    assert lines[1:12] == [
        "  chat/chat-70b  at most 2/3  unsatisfied  (specs/placements/lab.yaml:2:1)",
        "    there is room for 2 replicas of it at most, with nobody else there",
        "    mended by: one more node like h100-0 -> 3/3 always-fits (devices)",
        "    mended by: one replica less at the peak -> 2/2 always-fits (devices)",
        "    price: admitted on interactive-80g (KV cache: 40.0 GiB of 50.83 GiB, extrapolated); 4 devices each, "
        "4 at its most, 8 in a rollout, 4 of them spare",
        "  shortfall: at least 1 of 3 replicas stays without devices, whatever the order",
        "  shortfall of chat/chat-70b: cleared by 1 more node like h100-0 (8 devices); the fewest devices first, as "
        "nothing is known of prices",
        "  with 1 more replica of chat/chat-70b:",
        "    chat/chat-70b  2/2 -> at most 2/3  unsatisfied",
        "      there is room for 2 replicas of it at most, with nobody else there",
        "  room: chat/chat-70b  +0 always, +0 at best",
    ]
    assert "1 more of chat/chat-70b than specs say" in out


def test_json_says_what_was_added() -> None:
    (cluster,) = json.loads(plan("--cluster", "lab", "--add", "1xchat-70b", "--format", "json")[1])["clusters"]
    assert cluster["addition"] == {
        "added": [{"workload": "chat/chat-70b", "replicas": 1}],
        "shortfallBefore": {"least": 0, "most": 0},
        "changes": [
            {
                "workload": "chat/chat-70b",
                "before": {"verdict": "always-fits", "counts": "2/2"},
                "after": {"verdict": "unsatisfied", "counts": "at most 2/3"},
                "reasons": cluster["workloads"][0]["reasons"],
                "sources": [],
            }
        ],
    }
    assert cluster["clearings"] == [
        {
            "workloads": ["chat/chat-70b"],
            "shortfall": {"least": 1, "most": 1},
            "options": [{"thing": "node", "like": "h100-0", "count": {"least": 1, "most": 1}, "devices": 8}],
            "reasons": [],
        }
    ]
    assert (cluster["demanded"], cluster["room"]) == (3, [])


@pytest.mark.parametrize("asked", [("--add", "1xchat-70b"), ("--room",), ("--loss", "gates")])
def test_what_is_judged_of_a_cluster_that_starts_empty(asked: tuple[str, ...]) -> None:
    code, out, err = plan("--cluster", "lab", "--live", *asked, "objects.yaml")
    assert (code, out) == (2, "")
    assert err.endswith(f"Error: {asked[0]} is judged of a cluster that starts empty; leave out --live\n")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--add", "x2"), '"x2" isn\'t COUNTxMODEL, such as 2xchat-70b'),
        (("--add", "1x\x1b[2J"), None),
        (("--add", "1xchat-70b"), '"chat-70b" is on several clusters: east, lab; choose one with --cluster'),
        (
            ("--cluster", "lab", "--add", "1xrag-8b"),
            'there is no placement, workload or envelope "rag-8b"; known: chat-70b, chat/chat-70b',
        ),
    ],
)
def test_what_is_refused(asked: tuple[str, ...], said: str | None) -> None:
    code, out, err = plan(*asked)
    assert (code, out) == (2, "")
    assert err.startswith("poolwright: --add: ")
    assert err.count("\n") == 1
    assert "\x1b" not in err
    assert said is None or err == f"poolwright: --add: {said}\n"
