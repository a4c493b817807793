"""Why a pod has no devices: every kind of reason with its whole lines, and everything that would help is tried."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

import fleet
from case_clusters import (
    ROOT,
    build_amounts,
    build_fragmented_asked,
    build_fragmented_two,
    build_incomplete,
    build_missing_attribute,
    build_pairs,
    build_shares,
)
from given_cluster import (
    ANY,
    GPU,
    NETWORK,
    NIC,
    WHOLE,
    Json,
    answer,
    ask,
    build,
    claim,
    device,
    device_class,
    exactly,
    gpu,
    holds,
    node,
    pod,
    slice_of,
    template,
)
from given_objects import read
from golden import Golden
from poolwright.allocation.allocate import allocate
from poolwright.allocation.answer import Answer, SubjectAnswer
from poolwright.allocation.assumptions import Options
from poolwright.allocation.features import Features
from poolwright.allocation.reasons.reason import Reason

GOLDEN = fleet.ROOT / "tests" / "golden" / "allocation-reasons"
MEMORY = f"device.capacity['{GPU}'].memory.compareTo(quantity('90Gi')) >= 0"
PRODUCT = f"device.attributes['{GPU}'].productName == 'NVIDIA H200'"
BROKEN = {"key": "example.com/broken", "value": "yes", "effect": "NoSchedule"}


def build_fleet() -> list[Json]:
    """64 cards on eight nodes: 56 of another product, and 8 with too little memory; and cards of another driver."""
    found = [WHOLE, NETWORK]
    for number in range(8):
        product = "NVIDIA H200" if number == 7 else "NVIDIA H100 80GB HBM3"
        name = f"node-{number}"
        found.append(slice_of(name, *(gpu(n, product=product) for n in range(8))))
        found.append(slice_of(name, *(device(f"eth{n}", attributes={"rdma": True}) for n in range(8)), driver=NIC))
    return [*found, claim("want", exactly("gpu", GPU, PRODUCT, MEMORY))]


def build_one(*devices: Json, asked: Json | None = None, more: Sequence[Json] = ()) -> list[Json]:
    return [WHOLE, slice_of("node-a", *devices), claim("want", asked or exactly("gpu")), *more]


def build_counters(*, held: str = "ac") -> list[Json]:
    """Four quarters and two halves of a card."""

    def part(name: str, kind: str, quarters: Sequence[int]) -> Json:
        counters = {f"slice-{n}": {"value": "1"} for n in quarters}
        return device(name, attributes={"type": kind}, consumesCounters=[{"counterSet": "card", "counters": counters}])

    quarters = [part(f"quarter-{n}", "quarter", [n]) for n in range(4)]
    halves = [part(f"half-{n}", "half", [2 * n, 2 * n + 1]) for n in range(2)]
    sets = [{"name": "card", "counters": {f"slice-{n}": {"value": "1"} for n in range(4)}}]
    at = dict(zip("abcd", range(4), strict=True))
    return [
        ANY,
        slice_of("node-a", name="sets", count=2, sharedCounters=sets),
        slice_of("node-a", *quarters, *halves, name="parts", count=2),
        *(claim(name, exactly("gpu", "any"), held=[holds(f"quarter-{at[name]}")]) for name in held),
        claim("want", exactly("gpu", "any", f"device.attributes['{GPU}'].type == 'half'")),
    ]


def build_matched(values: Sequence[tuple[str, ...]], **constraint: str) -> list[Json]:
    """Devices of two types, each with a value."""
    found = [
        device(f"{kind}-{n}", attributes={"type": kind, "value": value})
        for kind, row in zip(("a", "b"), values, strict=True)
        for n, value in enumerate(row)
    ]
    asked = [exactly(kind, "any", f"device.attributes['{GPU}'].type == '{kind}'") for kind in ("a", "b")]
    return [ANY, slice_of("node-a", *found), claim("want", *asked, constraints=[constraint])]


def build_closed(**node_b: Any) -> list[Json]:
    """Only node-b has a card, and it isn't open to the pod."""
    waiting = pod("server", claims={"gpu": "want"}, nodeSelector={"zone": "a"} if "labels" in node_b else {})
    nodes = [node("node-a", labels={"zone": "a"}), node("node-b", **node_b)]
    return [WHOLE, slice_of("node-b", gpu(0)), claim("want"), *nodes, waiting]


HELD = claim("holder", held=[holds("gpu-0")])
OBJECTS: dict[str, Callable[[], list[Json]]] = {
    "clauses": build_fleet,
    "held": lambda: build_one(gpu(0), gpu(1), more=[HELD, claim("other", held=[holds("gpu-1")])]),
    "counters": build_counters,
    "counters-together": lambda: build_counters(held="abcd"),
    "taint": lambda: build_one(gpu(0, taints=[BROKEN])),
    "taint-rule": lambda: build_one(
        gpu(0), more=[build("DeviceTaintRule", "r", spec={"deviceSelector": {"device": "gpu-0"}, "taint": BROKEN})]
    ),
    "incomplete": lambda: [WHOLE, slice_of("node-a", gpu(0), count=2), claim("want")],
    # A pool that is being published anew: node-a's old slices are no pool of their own any more.
    "obsolete": lambda: [
        WHOLE,
        slice_of("node-a", gpu(0), pool="shared", count=2),
        slice_of("node-b", gpu(1), pool="shared", count=2, generation=2),
        claim("want"),
    ],
    # One card is broken, and the network cards are of no interest.
    "foreign-pool": lambda: build_one(
        gpu(0, taints=[BROKEN]), more=[slice_of("node-a", device("eth0"), driver=NIC, count=2)]
    ),
    "match": lambda: build_matched((("1", "1", "2"), ("3",)), matchAttribute=f"{GPU}/value"),
    "distinct": lambda: build_matched((("1",), ("1",)), distinctAttribute=f"{GPU}/value"),
    "no-such-attribute": lambda: build_matched((("1",), ("1",)), matchAttribute=ROOT),
    "crowded": lambda: [
        *build_counters(held="")[:-1],
        claim("want", exactly("gpu", "any", count=5)),
    ],
    "each-but-not-both": lambda: [
        *build_counters(held="cd")[:-1],
        claim(
            "want",
            exactly("half", "any", f"device.attributes['{GPU}'].type == 'half'"),
            exactly("quarter", "any", f"device.attributes['{GPU}'].type == 'quarter'"),
        ),
    ],
    "too-few": lambda: build_one(gpu(0), gpu(1), asked=exactly("gpu", count=3)),
    "all-of-none": lambda: build_one(gpu(0), asked=exactly("gpu", GPU, PRODUCT, allocationMode="All")),
    "alternatives": lambda: build_one(
        gpu(0),
        asked={
            "name": "gpu",
            "firstAvailable": [{"name": "one", **ask(GPU, PRODUCT)}, {"name": "two", **ask(GPU, MEMORY)}],
        },
    ),
    "no-class": lambda: build_one(gpu(0), asked=exactly("gpu", "none")),
    "broken-selector": lambda: [device_class("bad", "device.nope"), *build_one(gpu(0), asked=exactly("gpu", "bad"))],
    "cordoned": lambda: build_closed(unschedulable=True),
    "tainted-node": lambda: build_closed(taints=[{"key": "down", "value": "now", "effect": "NoExecute"}]),
    "another-zone": lambda: build_closed(labels={"zone": "b"}),
    "no-claim": lambda: [pod("server", claims={"gpu": "none"})],
    "no-template": lambda: [pod("server", templates={"gpu": "none"})],
    "deleted": lambda: [
        claim("want", deletionTimestamp="2026-11-30T00:00:00Z", finalizers=["x"]),
        pod("server", claims={"gpu": "want"}),
    ],
    "gated": lambda: [*build_one(gpu(0)), pod("server", claims={"gpu": "want"}, schedulingGates=[{"name": "wait"}])],
}


@dataclass(frozen=True)
class Mend:
    """Something that is said to help, and how it is done."""

    pattern: str
    apply: Callable[[list[Json], SubjectAnswer, re.Match[str]], list[Json]]


def test_lines(golden: Golden) -> None:
    """Every kind of reason; rooms for shares, refusals and selectors that fail are in the golden cases."""
    said = {name: list_lines(answer(objects())) for name, objects in OBJECTS.items()}
    text = "".join(f"{name}\n" + "".join(f"    {line}\n" for line in lines) for name, lines in said.items())
    golden.compare(GOLDEN, {"lines.txt": text.encode()})


def test_the_funnel_names_no_other_drivers_devices() -> None:
    assert list_lines(answer(build_fleet())) == [
        'request gpu: 64 devices on 8 nodes: 56 fail productName == "NVIDIA H200" (have NVIDIA H100 80GB HBM3), '
        "8 fail memory >= 90Gi (have 81559Mi (79.65Gi)); 0 left, 1 wanted"
    ]
    # For other tools all are there.
    (reason,) = answer(build_fleet()).subjects[0].reasons
    assert (reason.devices, reason.left, [part.devices for part in reason.parts]) == (128, 0, [64, 56, 8])


def test_gates_that_are_off_stand_against_devices() -> None:
    """An API server drops such fields, so only slices that were stored before can have them."""
    bound = device("bound", attributes={"type": "gpu"}, bindingConditions=["a"], bindingFailureConditions=["b"])
    given = read(json.dumps({"apiVersion": "v1", "kind": "List", "items": build_one(bound)}))
    found = allocate(given, Features(minor="1.37"), gates={})
    assert list_lines(found) == [
        "request gpu: 1 device on 1 node: 1 with binding conditions, whose gate is off; 0 left, 1 wanted"
    ]
    given = read(json.dumps({"apiVersion": "v1", "kind": "List", "items": build_counters(held="")}))
    found = allocate(given, Features(minor="1.37"), gates={})
    assert "half-0" not in "".join(list_lines(found))  # without the gate the slice with counter sets isn't looked at


def test_a_hint_is_near_or_none() -> None:
    said = {
        "71Gi": "memory 70Gi is just short of 71Gi: a card sold by the GB has fewer Gi; ask for 70Gi or less",
        "77Gi": "memory 70Gi is just short of 77Gi: a card sold by the GB has fewer Gi; ask for 70Gi or less",
        "78Gi": "",
    }
    for asked, hint in said.items():
        text = f"device.capacity['{GPU}'].memory.compareTo(quantity('{asked}')) >= 0"
        found = answer(build_one(gpu(0, memory="70Gi"), asked=exactly("gpu", GPU, text)))
        assert [reason.hint for reason in found.subjects[0].reasons] == [hint]


def test_a_hint_promises_no_more_than_the_clause_takes() -> None:
    """A strict bound isn't met by the amount itself, and only of memory in binary units the Gi are a reason."""
    card = device("c", attributes={"type": "gpu"}, memory="70Gi")
    card["capacity"]["cores"] = {"value": "95"}
    said = {
        "memory.compareTo(quantity('71Gi')) > 0": (
            "memory > 71Gi (have 70Gi)",
            "memory 70Gi is just short of 71Gi: a card sold by the GB has fewer Gi; ask for less than 70Gi",
        ),
        "cores.compareTo(quantity('100')) >= 0": (
            "cores >= 100 (have 95)",
            "cores 95 is just short of 100; ask for 95 or less",
        ),
        "memory.isLessThan(quantity('60Gi'))": ("memory < 60Gi (have 70Gi)", ""),
    }
    for clause, (failing, hint) in said.items():
        asked = exactly("gpu", GPU, f"device.capacity['{GPU}'].{clause}")
        (reason,) = answer(build_one(card, asked=asked)).subjects[0].reasons
        assert (reason.parts[0].line, reason.hint) == (f"1 fails {failing}", hint)
    asked = exactly("gpu", GPU, f"!device.capacity['{GPU}'].memory.isLessThan(quantity('80Gi'))")
    (reason,) = answer(build_one(card, asked=asked)).subjects[0].reasons
    assert reason.parts[0].line == "1 fails memory >= 80Gi (have 70Gi)"


def test_a_pod_isnt_told_to_release_its_own_claim() -> None:
    objects = [
        WHOLE,
        slice_of("node-a", gpu(0)),
        claim("mine", held=[holds("gpu-0")], node="node-a"),
        template("t"),
        pod("p", claims={"one": "mine"}, templates={"two": "t"}),
    ]
    (subject,) = answer(objects).subjects
    assert [(reason.kind, reason.line) for reason in subject.reasons] == [
        ("devices", "request gpu: 1 device on 1 node: 1 held by inference/mine; 0 left, 1 wanted")
    ]
    more = [slice_of("node-a", gpu(0), gpu(1)), claim("other", held=[holds("gpu-1")])]
    (subject,) = answer([*objects[:1], *more, *objects[2:]]).subjects
    assert [reason.line for reason in subject.reasons if reason.kind == "mend"] == [
        "releasing claim inference/other (gpu-1) would make room: gpu-1 on node-a"
    ]


BACK = (
    "kube-scheduler takes back what claim inference/c has, which is reserved for no other pod, and tries again: "
    "then node-b could serve it (gpu-0)"
)


@pytest.mark.parametrize(
    ("reserved", "more", "said"),
    [
        ((), [], [BACK]),
        (("uid-p",), [], [BACK]),
        (("uid-other",), [], []),
        ((), [claim("d", held=[holds("gpu-0", pool="node-b")], node="node-b")], []),  # there is no room there either
    ],
    ids=["nobody", "itself", "another", "no-room"],
)
def test_a_claim_that_keeps_its_only_pod_from_every_node_is_given_back(
    reserved: Sequence[str], more: list[Json], said: list[str]
) -> None:
    """The pod isn't on its way while its claim is where it can't run, but it is said what becomes of it."""
    held = claim("c", held=[holds("gpu-0")], node="node-a", reserved=reserved)
    away = pod("p", claims={"gpu": "c"}, metadata={"uid": "uid-p"}, nodeSelector={"zone": "b"})
    nodes = [node("node-a"), node("node-b", labels={"zone": "b"})]
    cluster = [WHOLE, slice_of("node-a", gpu(0)), slice_of("node-b", gpu(0)), *nodes]
    (subject,) = [one for one in answer([*cluster, held, away, *more]).subjects if one.kind == "Pod"]
    assert subject.outcome == "unsatisfied"
    assert [one.line for one in subject.reasons if one.kind == "mend"] == said


def test_where_the_attempt_ends_nothing_else_is_said_to_help() -> None:
    """Room on node-a doesn't help as long as a device of node-b ends the attempt."""
    text = f"device.attributes['{GPU}'].rank > 0"
    objects = [
        WHOLE,
        slice_of("node-a", gpu(0, of={"rank": 1})),
        slice_of("node-b", gpu(0)),
        claim("held", held=[holds("gpu-0")]),
        claim("c", exactly("gpu", GPU, text)),
    ]
    (subject,) = answer(objects).subjects
    assert (subject.outcome, [reason.kind for reason in subject.reasons]) == ("error", ["error", "devices"])


HALVES = [
    slice_of("node-a", name="sets", count=2, sharedCounters=[{"name": "s", "counters": {"a": {"value": "1"}}}]),
    slice_of(
        "node-a",
        *(device(name, consumesCounters=[{"counterSet": "s", "counters": {"a": {"value": "1"}}}]) for name in "xy"),
        count=2,
    ),
]
EACH = {"name": "any", "firstAvailable": [{"name": "two", "deviceClassName": GPU, "count": 2}]}
EVERY = exactly("all", allocationMode="All")
ONE_ONLY = "its devices take from the same counters or exclude each other"
# Requests for devices that are left one by one, and what is said last.
AT_ONCE = {
    "so-many": ([exactly("r", count=2)], f"request r: 2 wanted, at most 1 can be given at once: {ONE_ONLY}"),
    "all": ([EVERY], f"request all: all that match are wanted, and can't be given at once: {ONE_ONLY}"),
    "alternatives": ([EACH], f"request any: no alternative can be given whole: {ONE_ONLY}"),
    "all-beside-another": (
        [exactly("r"), EVERY],
        f"request all: all that match are wanted, and can't be given at once: {ONE_ONLY}",
    ),
    "each-by-itself": (
        [exactly("r"), exactly("q")],
        "each request can be served by itself, but not all on one node: inference/c: r, inference/c: q",
    ),
}


@pytest.mark.parametrize("name", AT_ONCE)
def test_devices_that_exclude_each_other(name: str) -> None:
    requests, line = AT_ONCE[name]
    anything = device_class(GPU, f"device.driver == '{GPU}'")
    assert list_lines(answer([anything, *HALVES, claim("c", *requests)]))[-1] == line


@pytest.mark.parametrize(("tries", "said"), [(200, "at most 1 can be given"), (2, "not as many can be given")])
def test_what_was_not_tried_is_not_said_to_be_impossible(
    monkeypatch: pytest.MonkeyPatch, tries: int, said: str
) -> None:
    monkeypatch.setattr("poolwright.allocation.reasons.trials.MAX_TRIALS", tries)
    takes = [{"counterSet": "s", "counters": {"a": {"value": "1"}}}]
    four = slice_of("node-a", *(device(name, consumesCounters=takes) for name in "wxyz"), count=2)
    anything = device_class(GPU, f"device.driver == '{GPU}'")
    lines = list_lines(answer([anything, HALVES[0], four, claim("c", exactly("r", count=4))]))
    assert lines[-1] == f"request r: 4 wanted, {said} at once: {ONE_ONLY}"


# --- what would help, done ---


def release(objects: list[Json], names: Sequence[str]) -> list[Json]:
    for one in objects:
        if one["kind"] == "ResourceClaim" and one["metadata"]["name"] in names:
            del one["status"]["allocation"]
            one["status"]["reservedFor"] = [{"resource": "pods", "name": "gone", "uid": "gone"}]
    return objects


def leave_out(objects: list[Json], names: Sequence[str]) -> list[Json]:
    return [
        one
        for one in objects
        if one["metadata"]["name"] not in names
        and not any(use.get("resourceClaimName") in names for use in one.get("spec", {}).get("resourceClaims", ()))
    ]


def drop_constraints(objects: list[Json], subject: SubjectAnswer, attribute: str) -> list[Json]:
    names = [name for _, name in subject.claims]
    for one in objects:
        if one["kind"] == "ResourceClaim" and one["metadata"]["name"] in names:
            found = one["spec"]["devices"]
            found["constraints"] = [each for each in found.get("constraints", ()) if attribute not in each.values()]
    return objects


def open_node(objects: list[Json], name: str) -> list[Json]:
    for one in objects:
        if one["kind"] == "Node" and one["metadata"]["name"] == name:
            one["spec"] = {}
            one["metadata"]["labels"] = {"zone": "a"}
    return objects


def ask_for_less(objects: list[Json], asked: str, amount: str) -> list[Json]:
    return list(json.loads(json.dumps(objects).replace(f"quantity('{asked}')", f"quantity('{amount}')")))


def find_names(found: re.Match[str]) -> list[str]:
    return re.findall(r"inference/([\w-]+) \(", found[0])


MENDS = (
    Mend("releasing claims? .* would make room", lambda objects, _, found: release(objects, find_names(found))),
    Mend(
        "not giving devices to claims? .* would make room",
        lambda objects, _, found: leave_out(objects, find_names(found)),
    ),
    Mend(
        r"Attribute (\S+) (?:over .*)?can't be met: .*; without it",
        lambda objects, subject, found: drop_constraints(objects, subject, found[1]),
    ),
    Mend(r"^(\S+) has the devices \(", lambda objects, _, found: open_node(objects, found[1])),
    Mend(
        r"is just short of (\w+): .*; ask for (\w+) or less",
        lambda objects, _, found: ask_for_less(objects, found[1], found[2]),
    ),
)
ALONE = Options(each_alone=True)
CLUSTERS: dict[str, tuple[Callable[[], list[Json]], Options]] = {
    **{name: (objects, Options()) for name, objects in OBJECTS.items()},
    "pairs": (build_pairs, Options()),
    "fragmented": (build_fragmented_asked, ALONE),
    "two-pods": (lambda: build_fragmented_two(same_pod=False), Options()),
    "shares": (build_shares, Options()),
    "shares-alone": (build_shares, ALONE),
    "amounts": (build_amounts, ALONE),
}


@pytest.mark.parametrize("name", CLUSTERS)
def test_what_is_said_to_help_helps(name: str) -> None:
    """Room for one, that is: others that wait may take it first, so they are left out."""
    build_objects, options = CLUSTERS[name]
    before = answer(build_objects(), options=options)
    waiting = [one for one in before.subjects if one.outcome != "allocated"]
    for subject in waiting:
        others = [key[1] for one in waiting if one != subject for key in one.claims]
        for reason in subject.reasons:
            for mend, found in list_mends(f"{reason.line}\n{reason.hint}"):
                after = answer(mend.apply(leave_out(build_objects(), others), subject, found), options=options)
                outcome = next(one.outcome for one in after.subjects if one.title == subject.title)
                assert outcome == "allocated", reason.line


def test_every_mend_was_tried() -> None:
    said = [
        f"{reason.line}\n{reason.hint}"
        for objects, options in CLUSTERS.values()
        for subject in answer(objects(), options=options).subjects
        for reason in subject.reasons
    ]
    assert [
        mend.pattern for mend in MENDS if not any(re.search(mend.pattern, text, re.MULTILINE) for text in said)
    ] == []
    mends = [reason.line for objects, _ in CLUSTERS.values() for reason in list_mend_reasons(answer(objects()))]
    assert [line for line in mends if not list_mends(line)] == []


@pytest.mark.parametrize("objects", [build_incomplete, build_missing_attribute])
def test_a_node_that_could_serve_does(objects: Callable[[], list[Json]]) -> None:
    found = answer(objects(), options=ALONE)
    said = [
        (one.title, reason)
        for one in found.subjects
        for reason in one.reasons
        if "could serve it; the error" in reason.line
    ]
    assert said
    for title, reason in said:
        (name,) = reason.nodes
        alone = answer(objects(), options=Options(each_alone=True, node=name))
        assert [one.outcome for one in alone.subjects if one.title == title] == ["allocated"]


def list_mends(text: str) -> list[tuple[Mend, re.Match[str]]]:
    found = ((mend, re.search(mend.pattern, text, re.MULTILINE)) for mend in MENDS)
    return [(mend, match) for mend, match in found if match]


def list_mend_reasons(found: Answer) -> list[Reason]:
    return [
        reason
        for one in found.subjects
        for reason in one.reasons
        if reason.kind == "mend" and "error on" not in reason.line
    ]


def list_lines(found: Answer) -> list[str]:
    lines = []
    for subject in found.subjects:
        for reason in subject.reasons:
            lines += [reason.line, *([f"hint: {reason.hint}"] if reason.hint else [])]
    return lines
