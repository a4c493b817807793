"""Reasons that point to the lines they are from: the right ones, and none where no spec says it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fleet import FACTS, read_fleet
from plan_world import DRIVER, Want, World, demand_of
from poolwright.allocation.reasons.clauses import split_clauses
from poolwright.catalog.inventory import ZONE_LABEL
from poolwright.catalog.resource_slice import Taint
from poolwright.objects.built import list_leaves
from poolwright.objects.trace import trace_platform, trace_unit
from poolwright.plan.demand import Demand
from poolwright.plan.engine import judge
from poolwright.plan.report.sources import say_reasons
from poolwright.plan.sources import Sources, WorkloadSources
from poolwright.plan.spec_sources import build_sources
from poolwright.specs.parse import Specs, parse_specs
from poolwright.specs.place import Place
from poolwright.specs.resolve import resolve_cluster, resolve_placement

LINE = Place("specs/a.yaml", 3, 5, "spec.x")
BOTH = frozenset({0, 1})
ALL_FOUND = Sources(
    classes={("any", f'device.driver == "{DRIVER}"'): LINE},
    workloads={
        "w0": WorkloadSources(
            zone="a",
            zone_place=LINE,
            counts={"r": (3, LINE)},
            clauses={("r", f'device.attributes["{DRIVER}"].id in [7]'): LINE},
            matches={f"{DRIVER}/x": LINE},
        )
    },
    nodes={"n0": Place("inventory/a.yaml")},
)
ONE_NODE = World(((0, 1),), (Want(1, (BOTH,)),))


def select_zone(zone: str) -> Demand:
    demand = demand_of(ONE_NODE)
    (workload,) = demand.workloads
    pods = tuple(replace(pod, node_selector={ZONE_LABEL: zone}) for pod in workload.pods)
    return replace(demand, workloads=(replace(workload, pods=pods),))


def taint(demand: Demand) -> Demand:
    nodes = tuple(replace(node, taints=(Taint(key="down", effect="NoSchedule"),)) for node in demand.nodes)
    return replace(demand, nodes=nodes)


def other_driver(demand: Demand) -> Demand:
    devices = tuple(replace(device, driver="y.dev") for device in demand.slices[0].devices)
    return replace(demand, slices=(replace(demand.slices[0], driver="y.dev", devices=devices),))


ASKS_FOR_7 = demand_of(World(((0, 1),), (Want(1, (frozenset({7}),)),)))
VALUES = {0: {"x": 1}, 1: {"x": 2}}
# What can't be served: the reason that is written somewhere, and where. None: no spec says it.
REASONS: dict[str, tuple[Demand, tuple[str, str] | None]] = {
    "clause-of-the-request": (ASKS_FOR_7, ("request r: 2 devices on 1 node: 2 fail id in [7]", str(LINE))),
    "clause-of-the-class": (
        other_driver(demand_of(ONE_NODE)),
        ("request r: 2 devices on 1 node: 2 of other", str(LINE)),
    ),
    # A team's own component may ask for something else.
    "clause-that-no-spec-has": (demand_of(World(((0, 1),), (Want(1, (frozenset({8}),)),))), None),
    "more-than-a-node-has": (
        demand_of(World(((0, 1),), (Want(1, (BOTH,), 3),))),
        ("request r: 2 devices on 1 node; 2 left, 3 wanted", str(LINE)),
    ),
    "a-count-that-no-spec-has": (demand_of(World(((0, 1),), (Want(1, (BOTH,), 4),))), None),
    "zone-without-a-node": (select_zone("a"), ("n0: the node doesn't match", str(LINE))),
    "a-zone-that-no-spec-has": (select_zone("b"), None),
    "taint-of-a-captured-node": (taint(demand_of(ONE_NODE)), ("n0: the node has the taint", "inventory/a.yaml")),
    "attribute-that-differs": (
        demand_of(World(((0, 1),), (Want(1, (BOTH,), 2, "x"),), VALUES)),
        ("matchAttribute x.dev/x can't be met", str(LINE)),
    ),
}


@pytest.mark.parametrize("name", REASONS)
def test_reasons(name: str) -> None:
    demand, said = REASONS[name]
    (verdict,) = judge(replace(demand, sources=ALL_FOUND)).verdicts
    (plain,) = judge(demand).verdicts
    assert (verdict.word, verdict.at_best.most, verdict.reasons) == ("unsatisfied", 0, plain.reasons)
    assert plain.sources == ()
    pointed = [reason for reason in say_reasons(verdict) if reason not in verdict.reasons]
    assert len(pointed) == len(verdict.sources) == (said is not None)
    if said is not None:
        assert pointed[0].startswith(said[0])
        assert pointed[0] == f"{verdict.sources[0].reason} ({said[1]})"
    assert list(say_reasons(plain)) == list(plain.reasons)


def test_a_planned_node_has_no_capture() -> None:
    demand = replace(taint(demand_of(ONE_NODE)), sources=replace(ALL_FOUND, nodes={}))
    assert judge(demand).verdicts[0].sources == ()


def test_a_request_of_which_there_are_enough_is_not_to_blame() -> None:
    """Its line says how many are left; the one that has none points to its clause."""
    (workload,) = ASKS_FOR_7.workloads
    (pod,) = workload.pods
    (claim,) = pod.claims
    fine = demand_of(ONE_NODE).workloads[0].pods[0].claims[0].requests[0]
    both = replace(claim, requests=(replace(fine, name="fine"), *claim.requests))
    demand = replace(
        ASKS_FOR_7, workloads=(replace(workload, pods=(replace(pod, claims=(both,)),)),), sources=ALL_FOUND
    )
    assert [one.reason.split(":")[0] for one in judge(demand).verdicts[0].sources] == ["request r"]


def test_specs_are_quoted_as_explain_measures_them() -> None:
    """Whatever a clause, count or zone of the example's objects is said to follow from, changing that changes it."""
    files = read_fleet()
    specs = parse_specs({path: text for path, text in files.items() if path.startswith(("specs/", "poolwright.yaml"))})
    sources = build_sources(specs, "east", None, FACTS, files)
    looked_at = check_classes(specs, sources) + check_claims(specs, sources, files)
    assert looked_at > 40


def check_classes(specs: Specs, sources: Sources) -> int:
    on = resolve_cluster(specs, "east")[0]
    assert on is not None
    pools = tuple(pool for pool in specs.pools if pool.value.spec.cluster_name == "east")
    count = 0
    for built in trace_platform(specs, on, pools, FACTS):
        if built.document["kind"] == "DeviceClass":
            for at, selector in enumerate(built.document["spec"]["selectors"]):
                measured = built.origins[f"/spec/selectors/{at}/cel/expression"]
                for clause in split_clauses(selector["cel"]["expression"]):
                    assert_among(sources.classes[built.document["metadata"]["name"], clause], measured)
                    count += 1
    return count


def check_claims(specs: Specs, sources: Sources, files: dict[str, bytes]) -> int:
    count = 0
    for placement in specs.placements:
        resolved = resolve_placement(specs, placement)[0]
        assert resolved is not None
        if resolved.on.cluster.name != "east" or resolved.envelope.value.spec.engine.template is not None:
            continue
        said = sources.workloads[f"{resolved.envelope.value.spec.namespace}/{placement.value.metadata.name}"]
        for built in trace_unit(specs, resolved, FACTS, files):
            for pointer, value in list_leaves(built.document).items():
                if pointer.endswith("nodeSelector/topology.kubernetes.io~1zone"):
                    assert said.zone == value
                    assert said.zone_place in built.origins[pointer]
                    count += 1
            if built.document["kind"] == "ResourceClaimTemplate":
                devices = built.document["spec"]["spec"]["devices"]
                for at, request in enumerate(devices["requests"]):
                    start = f"/spec/spec/devices/requests/{at}"
                    if "exactly" in request and request["name"] in said.counts:
                        number, place = said.counts[request["name"]]
                        assert number == request["exactly"]["count"]
                        assert any(one.field.startswith(place.field) for one in built.origins[f"{start}/exactly/count"])
                        count += 1
                    ways = request.get("firstAvailable") or [{**request["exactly"], "name": request["name"]}]
                    for number, way in enumerate(ways):
                        below = f"firstAvailable/{number}" if "firstAvailable" in request else "exactly"
                        for index, selector in enumerate(way.get("selectors", ())):
                            measured = built.origins[f"{start}/{below}/selectors/{index}/cel/expression"]
                            for clause in split_clauses(selector["cel"]["expression"]):
                                assert_among(said.clauses[way["name"], clause], measured)
                                count += 1
                for at, tie in enumerate(devices.get("constraints", ())):
                    assert (
                        said.matches[tie["matchAttribute"]]
                        in (built.origins[f"/spec/spec/devices/constraints/{at}/matchAttribute"])
                    )
                    count += 1
    return count


def assert_among(place: Place, measured: object) -> None:
    assert isinstance(measured, tuple)
    assert any(one.file == place.file and one.field.startswith(place.field) for one in measured), (place, measured)
