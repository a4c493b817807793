"""Where nodes run out of something before their devices do, and where it is proven that they don't."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from plan_world import Want, World, demand_of, pod_of
from poolwright.allocation.subject import Subject
from poolwright.plan.demand import Bystander, Demand, Turnover
from poolwright.plan.engine import judge
from poolwright.plan.recheck import recheck
from poolwright.plan.recorded import RecordedCluster, RecordedWitness
from poolwright.plan.report.resources import list_beside, list_counted, list_discharged, list_short, list_unknown
from poolwright.plan.report.words import say_counts
from poolwright.plan.what_if.loss import judge_losses
from poolwright.plan.what_if.rollout import judge_rollouts
from poolwright.specs.quantity import Quantity, parse_quantity

Given = Mapping[str, str]  # quantities by resource
ANY = (frozenset(range(16)),)
TEN_NODES = tuple(tuple(range(8 * at, 8 * at + 8)) for at in range(10))
FOUR, TWO_NODES = ((0, 1, 2, 3),), ((0, 1, 2, 3), (4, 5, 6, 7))


def wanted(replicas: int, count: int = 1, nodes: tuple[int, ...] | None = None) -> Want:
    return Want(replicas, ANY, count, nodes=nodes)


def wanted_of_all(replicas: int) -> Want:
    return Want(replicas, (frozenset(range(80)),))


def read(amounts: Given) -> dict[str, Quantity]:
    return {name: parse_quantity(text) for name, text in amounts.items()}


def build(
    nodes: tuple[tuple[int, ...], ...],
    there: Sequence[Given],
    *workloads: tuple[Want, Given],
    others: Sequence[tuple[str, int | None, Given]] = (),
) -> Demand:
    """there: by node, its allocatable; others: pods without claims, how many (None: one on each node), and requests."""
    plain = demand_of(World(nodes, tuple(want for want, _ in workloads)))
    return replace(
        plain,
        nodes=tuple(replace(node, allocatable=read(amounts)) for node, amounts in zip(plain.nodes, there, strict=True)),
        workloads=tuple(
            replace(one, pods=tuple(_asking(pod, asked) for pod in one.pods))
            for one, (_, asked) in zip(plain.workloads, workloads, strict=True)
        ),
        bystanders=tuple(
            Bystander(title=title, count=count, pod=_asking(pod_of(title), asked)) for title, count, asked in others
        ),
    )


def _asking(pod: Subject, asked: Given) -> Subject:
    return replace(pod, requests=read(asked))


# What is said of each workload, and of its reasons those that aren't of devices.
VERDICTS: dict[str, tuple[Demand, list[str], list[str]]] = {
    "enough": (build(FOUR, [{"cpu": "8"}], (wanted(4), {"cpu": "2"})), ["4/4 always-fits"], []),
    # Whichever three come first, the fourth finds a device and no CPU: that is certain.
    "too-little-for-all": (
        build(FOUR, [{"cpu": "7"}], (wanted(4), {"cpu": "2"})),
        ["at most 3/4 unsatisfied"],
        [
            "nodes are large enough for 3 of its 4 replicas, with nobody else there",
            "CPU may run out on node n0 before its devices do: up to 8 of 7, with 4 of w0",
        ],
    ),
    "others-may-take-it": (
        build(FOUR, [{"cpu": "8"}], (wanted(2), {"cpu": "1"}), (wanted(2), {"cpu": "4"})),
        ["0-2/2 order-dependent", "1-2/2 order-dependent"],
        ["CPU may run out on node n0 before its devices do: up to 10 of 8, with 2 of w0, 2 of w1"] * 2,
    ),
    "what-is-not-asked-for-is-not-missed": (
        build(FOUR, [{"cpu": "8"}], (wanted(2), {}), (wanted(2), {"cpu": "5"})),
        ["2/2 always-fits", "at most 1/2 unsatisfied"],
        [
            "nodes are large enough for 1 of its 2 replicas, with nobody else there",
            "CPU may run out on node n0 before its devices do: up to 10 of 8, with 2 of w1",
        ],
    ),
    "another-node-has-enough-for-all": (
        build(TWO_NODES, [{"cpu": "3"}, {"cpu": "99"}], (wanted(4), {"cpu": "2"})),
        ["4/4 always-fits"],
        [],
    ),
    # The others leave one device of the larger node, and the smaller one always has CPU for one.
    "proven-in-part": (
        build(
            TWO_NODES, [{"cpu": "3"}, {"cpu": "99"}], (wanted(3), {"cpu": "2"}), (wanted(3, nodes=(1,)), {"cpu": "2"})
        ),
        ["2-3/3 order-dependent", "1-3/3 order-dependent"],
        ["CPU may run out on node n0 before its devices do: up to 6 of 3, with 3 of w0"],
    ),
    # Ten nodes of eight devices have CPU for six of these each, which is enough for all.
    "fewer-on-each-node-than-devices": (
        build(TEN_NODES, [{"cpu": "96"}] * 10, (wanted_of_all(40), {"cpu": "16"})),
        ["40/40 always-fits"],
        [],
    ),
    "too-large-for-every-node": (
        build(TWO_NODES, [{"cpu": "96"}, {"cpu": "64"}], (wanted(2), {"cpu": "200"})),
        ["at most 0/2 unsatisfied"],
        ["CPU: it asks for 200, and no node that is open to it has more than 96"],
    ),
    "too-large-for-a-node": (
        build(TWO_NODES, [{"cpu": "96"}, {"cpu": "4"}], (wanted(5), {"cpu": "8"})),
        ["at most 4/5 unsatisfied"],
        [],
    ),
    "an-extended-resource-that-a-node-has-not": (
        build(FOUR, [{"cpu": "8"}], (wanted(1), {"example.com/nic": "1"})),
        ["at most 0/1 unsatisfied"],
        ["example.com/nic: it asks for 1, and no node that is open to it has more than 0"],
    ),
    "huge-pages": (
        build(FOUR, [{"hugepages-2Mi": "1Gi"}], (wanted(1), {"hugepages-2Mi": "2Gi"})),
        ["at most 0/1 unsatisfied"],
        ["hugepages-2Mi: it asks for 2Gi, and no node that is open to it has more than 1Gi"],
    ),
    # Each pod counts, whatever it asks for.
    "pods-of-a-node": (
        build(FOUR, [{"pods": "3"}], (wanted(4), {})),
        ["at most 3/4 unsatisfied"],
        [
            "nodes are large enough for 3 of its 4 replicas, with nobody else there",
            "pods per node may run out on node n0 before its devices do: up to 4 of 3, with 4 of w0",
        ],
    ),
    # A capture that was cut short says nothing of memory.
    "a-part-of-the-capture": (build(FOUR, [{"cpu": "8"}], (wanted(4), {"memory": "9Ti"})), ["4/4 always-fits"], []),
    "memory-to-the-byte": (
        build(FOUR, [{"memory": "1025Ki"}], (wanted(2), {"memory": "524801"})),
        ["at most 1/2 unsatisfied"],
        [
            "nodes are large enough for 1 of its 2 replicas, with nobody else there",
            "memory may run out on node n0 before its devices do: up to 1049602 of 1025Ki, with 2 of w0",
        ],
    ),
    "pods-without-devices-may-be-there-first": (
        build(FOUR, [{"cpu": "8"}], (wanted(2), {"cpu": "2"}), others=[("router", 5, {"cpu": "1"})]),
        ["1-2/2 undecided"],
        [
            "CPU may run out on node n0 before its devices do: up to 9 of 8, with 2 of w0, 5 of router",
            "neither that it always fits nor that an order leaves one out is proven",
        ],
    ),
    "daemons-take-theirs-on-each-node": (
        build(
            TWO_NODES, [{"cpu": "9"}, {"cpu": "9"}], (wanted(4), {"cpu": "2"}), others=[("agent", None, {"cpu": "1"})]
        ),
        ["4/4 always-fits"],
        [],
    ),
    # By devices alone the two others keep it out; but the node has CPU for one of them.
    "others-that-cannot-both-be-there": (
        build(((0, 1),), [{"cpu": "3"}], (wanted(1), {}), (wanted(2), {"cpu": "2"})),
        ["0-1/1 undecided", "at most 1/2 unsatisfied"],
        [
            "the order of devices that leaves some out asks more of a node than it has",
            "neither that it always fits nor that an order leaves one out is proven",
            "nodes are large enough for 1 of its 2 replicas, with nobody else there",
            "CPU may run out on node n0 before its devices do: up to 4 of 3, with 2 of w1",
        ],
    ),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_verdicts(name: str) -> None:
    demand, wanted_words, reasons = VERDICTS[name]
    found = judge(demand).verdicts
    assert [f"{say_counts(one)} {one.word}" for one in found] == wanted_words
    assert [
        line for one in found for line in one.reasons if "free device" not in line and "takes" not in line
    ] == reasons


UNKNOWN = "the nodes that pods may go to: their allocatable is not known"
BESIDE = "assumed: pods that are not among these objects take no more than what is left of nodes: daemons, system pods"
A_NODE, SOME = {"cpu": "16", "memory": "64Gi", "pods": "110"}, {"cpu": "2", "memory": "8Gi"}
SENTENCES: dict[str, tuple[Demand, list[str]]] = {
    "proven": (
        build(TWO_NODES, [A_NODE, {**A_NODE, "cpu": "20500m"}], (wanted(6), SOME)),
        [
            "discharged: CPU: at most 8 of 16 on any node (n0)",
            "discharged: memory: at most 32Gi of 64Gi on any node (n0)",
            "discharged: pods per node: at most 4 of 110 on any node (n0)",
            "discharged: no pod asks for ephemeral storage or huge pages",
            BESIDE,
        ],
    ),
    "known-of-some-nodes": (
        build(TWO_NODES, [A_NODE, {}], (wanted(6), {"cpu": "2"}), others=[("agent", None, {"cpu": "250m"})]),
        [
            "modelled: what 1 workload without devices may take of nodes at their peak",
            "discharged: CPU: at most 8.25 of 16 on 1 node whose allocatable is known (n0)",
            "discharged: pods per node: at most 5 of 110 on 1 node whose allocatable is known (n0)",
            "discharged: no pod asks for memory, ephemeral storage or huge pages",
            "assumed: CPU and pods per node suffice on 1 node whose allocatable is not known",
            BESIDE,
        ],
    ),
    "known-of-none": (
        build(TWO_NODES, [{}, {}], (wanted(6), SOME)),
        [
            "discharged: no pod asks for ephemeral storage or huge pages",
            f"assumed: CPU, memory and pods per node suffice on {UNKNOWN}",
            BESIDE,
        ],
    ),
    "may-run-out": (
        build(TWO_NODES, [{"cpu": "6"}, {"cpu": "6"}], (wanted(8), {"cpu": "2"})),
        [
            "modelled: CPU of nodes, which may run out on n0, n1",
            "discharged: no pod asks for memory, ephemeral storage or huge pages",
            f"assumed: pods per node suffice on {UNKNOWN}",
            BESIDE,
        ],
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences(name: str) -> None:
    demand, sentences = SENTENCES[name]
    assert list_sentences(demand) == sentences


def list_sentences(demand: Demand) -> list[str]:
    resources = judge(demand).resources
    return [
        *(f"modelled: {one}" for one in (*list_counted(demand), *list_short(resources))),
        *(f"discharged: {one}" for one in list_discharged(resources, demand)),
        *(f"assumed: {one}" for one in (*list_unknown(resources), *list_beside(demand))),
    ]


def test_what_is_not_looked_at_proves_nothing() -> None:
    """Devices that take of a node's CPU themselves: what pods ask for isn't all that is taken."""
    demand = SENTENCES["proven"][0]
    gate_on = replace(demand, features=replace(demand.features, node_allocatable=True))
    what = "what devices (DRANodeAllocatableResources) take of nodes, which is not looked at"
    assert f"assumed: {what}, leaves room for the pods" in list_sentences(gate_on)
    assert not any("at most" in one for one in list_sentences(gate_on))


def test_a_loss_leaves_less_of_nodes() -> None:
    """Without the larger node, the other one has CPU for one replica and devices for two; nodes of two sizes differ."""
    demand = build(((0, 1), (2, 3), (4, 5)), [{"cpu": "9"}, {"cpu": "3"}, {"cpu": "3"}], (wanted(3), {"cpu": "2"}))
    assert [say_counts(one) for one in judge(demand).verdicts] == ["3/3"]
    lost = {loss.names: [say_counts(one.after) for one in loss.changes] for loss in judge_losses(demand, "node")}
    assert lost == {("n0",): ["at most 2/3"], ("n1", "n2"): []}


FIXES = ("surge 0 and maxUnavailable 1", "at most 1 replica instead of 2")


@pytest.mark.parametrize(
    ("cpu", "outcome", "placed", "fixes"),
    [("12", "completes", None, ()), ("8", "can-stick", 2, FIXES), ("7", "can-stick", 1, ())],
    ids=["enough", "for-the-old-ones", "for-one"],
)
def test_a_rollout_for_which_nodes_have_devices(
    cpu: str, outcome: str, placed: int | None, fixes: tuple[str, ...]
) -> None:
    """Of two old replicas and a new one, which have devices beside each other, a node has CPU for so many."""
    plain = build(FOUR, [{"cpu": cpu}], (wanted(3), {"cpu": "4"}))
    turnover = Turnover(surge=1, unavailable=0)
    demand = replace(plain, workloads=tuple(replace(one, turnover=turnover) for one in plain.workloads))
    (found,) = judge_rollouts(demand, judge(demand))
    assert (found.outcome, found.witness and found.witness.placed, found.fixes) == (outcome, placed, fixes)


def test_witnesses_come_true_again_on_nodes_that_have_as_much() -> None:
    """Who is left out for want of CPU is so in a replay too; where nodes have more since, the replay says so."""
    demand = VERDICTS["others-may-take-it"][0]
    recorded = RecordedCluster(
        name="c",
        kubernetes="1.36",
        scenario="fresh",
        workloads=("w0", "w1"),
        witnesses=tuple(
            RecordedWitness(workloads=(one.workload,), role="worst", replicas=one.replicas, witness=one.worst)
            for one in judge(demand).verdicts
            if one.worst is not None
        ),
    )
    assert [one.problem for one in recheck(demand, recorded)] == ["", ""]
    ample = replace(demand, nodes=tuple(replace(node, allocatable=read({"cpu": "99"})) for node in demand.nodes))
    assert [one.problem for one in recheck(ample, recorded)] == [
        "another replica gets devices: w0#0 on n0",
        "another replica gets devices: w1#1 on n0",
    ]
