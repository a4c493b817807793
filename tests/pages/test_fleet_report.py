"""The document of a page says what was judged, of every device once, and every number in it leads somewhere."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from fleet_views import report_of, reserve_first, view_demand

from poolwright.pages.document import (
    DeviceColumns,
    FleetCluster,
    ReportError,
    SlotColumns,
    fleet_schema,
    parse_report,
    render_report,
)
from poolwright.pages.units import say_numbers
from poolwright.pages.view import ClusterView
from poolwright.plan.demand import Demand
from poolwright.plan.report.plan_json import render_plan_json
from poolwright.receipts.identity import PublishedDevices
from poolwright.receipts.losses import LossBook
from receipt_worlds import build_small_world

WORLDS = {
    **{f"{name}-{seed}": (name, seed) for name in ("singles", "mixed", "partitions") for seed in range(12)},
    "four": ("four", 0),
}
VALIDATE = jsonschema_rs.validator_for(fleet_schema()).validate


def demands_of(name: str) -> tuple[Demand, Demand]:
    """Two clusters: the second one reserves what the first workload of the first one has."""
    demand = build_small_world(*WORLDS[name])
    return demand, reserve_first(demand)


@pytest.fixture(scope="module", params=WORLDS)
def views(request: pytest.FixtureRequest) -> tuple[ClusterView, ClusterView]:
    one, other = demands_of(request.param)
    return view_demand(one, "lab"), view_demand(other, "east")


def test_each_device_stands_once_and_columns_have_one_length(views: tuple[ClusterView, ...]) -> None:
    for view, cluster in zip(views, report_of(*views).after.clusters, strict=True):
        assert len({len(column) for column in columns_of(cluster.devices)}) == 1
        assert len({len(column) for column in columns_of(cluster.slots)}) == 1
        found = list(list_keys(cluster))
        assert sorted(found) == sorted(PublishedDevices(view.answer.demand.slices).by_key)
        homes = [cluster.nodes[at].name if at >= 0 else None for at in cluster.devices.node]
        assert homes == [pool for _, pool, _ in found]  # in these worlds pools are called after their nodes


def test_every_number_leads_somewhere(views: tuple[ClusterView, ...]) -> None:
    side = report_of(*views).after
    for cluster in side.clusters:
        devices, slots = cluster.devices, cluster.slots
        tables = {
            "node": cluster.nodes,
            "source": cluster.sources,
            "profile": cluster.profiles,
            "family": cluster.families,
            "unit": side.units,
            "slot": slots.receipt,
            "loss_class": cluster.loss_classes,
        }
        for name, table in tables.items():
            assert is_within(getattr(devices, name), table), name
        assert set(devices.mode) <= {0, 1, 2}
        assert sorted(set(devices.piece)) == list(range(len(set(devices.piece))))
        assert is_within(slots.unit, side.units, least=0)
        assert is_within(slots.node, cluster.nodes)
        assert is_within(slots.note, cluster.notes)
        assert is_within((row for rows in slots.devices for row in rows), devices.name, least=0)
        for at, unit in zip(slots.claim, slots.unit, strict=True):
            assert is_within([at], side.units[unit].lineage.claims, least=0)
        assert is_within((one.zone for one in cluster.nodes), cluster.zones)
    steps = [step.unit for one in side.units if one.witness for step in one.witness.steps]
    assert is_within(steps, side.units, least=0)


def test_a_loss_class_is_of_the_things_that_point_to_it(views: tuple[ClusterView, ...]) -> None:
    side = report_of(*views).after
    for cluster in side.clusters:
        pieces = dict(zip(cluster.devices.piece, cluster.devices.loss_class, strict=True))
        pointing = {
            "device": Counter(at for at in pieces.values() if at >= 0),
            **{
                thing: Counter(one.loss_class for one in places if one.loss_class >= 0)
                for thing, places in (("node", cluster.nodes), ("zone", cluster.zones), ("family", cluster.families))
            },
        }
        known = {(one.thing, at): one.members for at, one in enumerate(cluster.loss_classes)}
        assert {(thing, at): count for thing, found in pointing.items() for at, count in found.items()} == known
        assert len({one.id for one in cluster.loss_classes}) == len(cluster.loss_classes)
        for loss in cluster.loss_classes:
            changed = {each.unit: each.verdict for each in loss.changes}
            assert all(side.units[at].cluster == cluster.name for at in changed)
            assert set(loss.unsatisfied) == {at for at, word in changed.items() if word in ("unsatisfied", "error")}


def test_it_says_what_the_plan_says(views: tuple[ClusterView, ...]) -> None:
    side = report_of(*views).after
    plan = json.loads(render_plan_json([one.answer for one in views]))
    told = [
        (cluster["name"], *(one[key] for key in ("workload", "verdict", "counts", "replicas", "always", "atBest")))
        for cluster in plan["clusters"]
        for one in cluster["workloads"]
    ]
    said = [
        (one.cluster, one.workload, one.verdict, one.counts, one.replicas, plain(one.always), plain(one.at_best))
        for one in side.units
    ]
    assert said == told
    demanded = [(one["name"], one["demanded"], one["shortfall"]) for one in plan["clusters"]]
    assert [(one.name, one.demanded, plain(one.shortfall)) for one in side.clusters] == demanded
    left_out = [
        (one["workload"], one["replicas"] - one["worst"]["placed"], len(one["worst"]["moves"]))
        for cluster in plan["clusters"]
        for one in cluster["workloads"]
        if one["verdict"] == "order-dependent" and one["worst"]
    ]
    witnesses = [(one.workload, one.witness) for one in side.units if one.witness is not None]
    assert [(name, one.left_out) for name, one in witnesses] == [(name, count) for name, count, _ in left_out]


def test_a_device_belongs_to_who_has_it(views: tuple[ClusterView, ...]) -> None:
    side = report_of(*views).after
    for view, cluster in zip(views, side.clusters, strict=True):
        devices, slots = cluster.devices, cluster.slots
        owners: dict[int, set[tuple[int, int]]] = {}
        for at, rows in enumerate(slots.devices):
            for row in rows:
                owners.setdefault(row, set()).add((slots.unit[at], at))
        others = {key: side.units[unit].workload for key, unit in zip(list_keys(cluster), devices.unit, strict=True)}
        titles = [one.title for one in view.answer.demand.workloads]
        reserved = {key: titles[at] for key, at in view.packed.others.items()}
        assert {key: others[key] for key in reserved} == reserved
        for row, (unit, slot) in enumerate(zip(devices.unit, devices.slot, strict=True)):
            if slot >= 0:
                assert (unit, slot) in owners[row]
            else:
                assert row not in owners
                assert unit < 0 or side.units[unit].kind == "reservation"


def test_what_is_written_is_valid_and_read_back(views: tuple[ClusterView, ...]) -> None:
    report = report_of(*views, before=views[:1])
    data = render_report(report)
    assert parse_report(data) == report
    VALIDATE(json.loads(data))
    assert render_report(report_of(*views, before=views[:1])) == data


def test_losses_that_were_not_judged_are_said_not_to_be() -> None:
    demand = build_small_world("mixed", 3)
    (cluster,) = report_of(view_demand(demand, losses=LossBook())).after.clusters
    assert (cluster.losses_judged, cluster.loss_classes) == (False, ())
    assert set(cluster.devices.loss_class) | {one.loss_class for one in cluster.nodes} == {-1}
    (judged,) = report_of(view_demand(demand)).after.clusters
    assert judged.losses_judged
    assert "a GPU is lost with its partitions" in " ".join(judged.assumptions.assumed)
    assert "a GPU is lost with its partitions" not in " ".join(cluster.assumptions.assumed)


HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>",
    "a\u2028b\u2029c",
    "\x00\x1b[31m\r\n\t\x7f\x85",
    "\u202egpj.exe",
    "\"'`\\ \\u003c &lt;",
    "\U0001f4a5\ufeff",
    "__proto__",
    "x" * 5000,
)


@pytest.mark.parametrize("text", HOSTILE)
def test_names_of_others_survive_exactly(text: str) -> None:
    demand = build_small_world("four", 0)
    (slice_,) = demand.slices
    demand = replace(
        demand,
        workloads=tuple(replace(one, title=f"t/{text}", owner=("Deployment", "t", text)) for one in demand.workloads),
        nodes=tuple(replace(one, name=text) for one in demand.nodes),
        slices=(
            replace(
                slice_,
                pool=text,
                placement=replace(slice_.placement, node_name=text),
                devices=tuple(replace(one, pool=text, name=f"{one.name}{text}") for one in slice_.devices),
            ),
        ),
    )
    side = parse_report(render_report(report_of(view_demand(demand, text)))).after
    (cluster,), (unit,) = side.clusters, side.units
    assert (cluster.name, unit.cluster, unit.name, unit.workload) == (text, text, text, f"t/{text}")
    assert [one.name for one in cluster.nodes] == [text]
    assert [one.pool for one in cluster.sources] == [text]
    assert cluster.devices.name == tuple(f"d{at}{text}" for at in range(4))


REFUSED: dict[str, tuple[bytes, str]] = {
    "no-json": (b"{", "it is no FleetReport of poolwright.dev/v1alpha1: Input data was truncated"),
    "another-kind": (
        b'{"apiVersion": "poolwright.dev/v1alpha1", "kind": "ChangeReport"}',
        "it is no FleetReport of poolwright.dev/v1alpha1: Invalid enum value 'ChangeReport' - at `$.kind`",
    ),
    "an-unknown-property": (
        b'{"more": 1}',
        "it is no FleetReport of poolwright.dev/v1alpha1: Object contains unknown field `more`",
    ),
    "not-utf-8": (b'{"kind": "\xff"}', "it is no FleetReport of poolwright.dev/v1alpha1: "),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_report_is_refused(name: str) -> None:
    data, why = REFUSED[name]
    with pytest.raises(ReportError) as caught:
        parse_report(data)
    assert str(caught.value).startswith(why)


NUMBERS = {(0,): "0", (3, 1, 2): "1-3", (0, 1, 4, 6, 7): "0-1, 4, 6-7", (2, 2): "2"}


@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
def test_numbers_in_a_row_are_a_range(numbers: tuple[int, ...]) -> None:
    assert say_numbers(numbers) == NUMBERS[numbers]


def columns_of(value: DeviceColumns | SlotColumns) -> Iterable[tuple[Any, ...]]:
    return (getattr(value, name) for name in value.__struct_fields__)


def list_keys(cluster: FleetCluster) -> Iterable[tuple[str, str, str]]:
    for name, at in zip(cluster.devices.name, cluster.devices.source, strict=True):
        yield cluster.sources[at].driver, cluster.sources[at].pool, name


def is_within(numbers: Iterable[int], table: Iterable[object], *, least: int = -1) -> bool:
    many = len(list(table))
    return all(least <= one < many for one in numbers)


def plain(value: msgspec.Struct) -> dict[str, int]:
    found: dict[str, int] = msgspec.to_builtins(value)
    return found
