"""An engine that is wrong in one place is found out by the oracles within a few catalogs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from lies import find_lies
from oracles import try_packings
from plan_draws import DRAWS

from plan_world import demand_of
from poolwright.allocation import attempt
from poolwright.allocation.claim import ALL, EXACT_COUNT, ClaimRequest, Request
from poolwright.catalog.resource_slice import ResourceSlice
from poolwright.plan.engine import judge
from poolwright.plan.methods import acceptance, exact, general, kinds, market, single
from poolwright.plan.methods.acceptance import Ask, Shape
from poolwright.plan.methods.cells import Cells
from poolwright.plan.methods.context import Context, Step
from poolwright.plan.methods.kinds import Field, build_field
from poolwright.plan.methods.node_search import NodeSearch
from poolwright.plan.verdict import Count, exactly

COUNT = 80
Plant = Callable[[pytest.MonkeyPatch], None]


def match_one_too_many(patch: pytest.MonkeyPatch) -> None:
    true = single.match_others

    def others(of: market.Market, entry: market.Entry) -> int:
        return min(of.count_devices(of.groups[of.find_group(entry)].classes), true(of, entry) + 1)

    patch.setattr(single, "match_others", others)


def match_one_too_few(patch: pytest.MonkeyPatch) -> None:
    true = single.match_others
    patch.setattr(single, "match_others", lambda of, entry: max(0, true(of, entry) - 1))


def forget_siblings(patch: pytest.MonkeyPatch) -> None:
    def others(of: market.Market, entry: market.Entry) -> int:
        at = of.find_group(entry)
        return of.match(of.count_others(at, of.groups[at].count), set(of.groups[at].classes)).size

    patch.setattr(single, "match_others", others)


def call_worst_best(patch: pytest.MonkeyPatch) -> None:
    true = exact.count_entry

    def count(of: market.Market, entry: market.Entry) -> single.Numbers:
        numbers = true(of, entry)
        return replace(numbers, at_best=numbers.always)

    patch.setattr(exact, "count_entry", count)


def prove_one_too_many(patch: pytest.MonkeyPatch) -> None:
    true = general.prove_always

    def prove(field: Field, at: int) -> tuple[int, int, int]:
        least, total, others = true(field, at)
        return min(field.kinds[at].count, least + 1), total, others

    patch.setattr(general, "prove_always", prove)


def bound_one_too_low(patch: pytest.MonkeyPatch) -> None:
    true = general.bound_alone
    patch.setattr(general, "bound_alone", lambda field, kind: max(0, true(field, kind) - 1))


def search_one_too_many(patch: pytest.MonkeyPatch) -> None:
    true = NodeSearch.find_fewest

    def find(search: NodeSearch, kind: int) -> tuple[int, list[Step]]:
        fewest, steps = true(search, kind)
        return min(search.field.kinds[kind].count, fewest + 1), steps

    patch.setattr(NodeSearch, "find_fewest", find)


def count_one_short(patch: pytest.MonkeyPatch) -> None:
    true = general.bound_shortfall
    patch.setattr(general, "bound_shortfall", lambda field, most: true(field, most) + 1)


def count_groups_by_one_pod(patch: pytest.MonkeyPatch) -> None:
    def count(_: object, __: object, numbers: Sequence[single.Numbers], ___: int) -> tuple[Count, Count]:
        return exactly(min(one.always for one in numbers)), exactly(min(one.at_best for one in numbers))

    patch.setattr(exact, "_count_replicas", count)


def count_shared_claims_by_replica(patch: pytest.MonkeyPatch) -> None:
    def build(context: Context, members: Sequence[int]) -> Field:
        field = build_field(context, members)
        return replace(field, kinds=tuple(replace(kind, shares=False) for kind in field.kinds))

    patch.setattr(general, "build_field", build)


def take_every_device_for_one(patch: pytest.MonkeyPatch) -> None:
    true = acceptance._build_ask

    def build(entry: ClaimRequest, found: object) -> Ask:
        is_all = entry.exactly is not None and entry.exactly.mode == ALL
        one = replace(entry.exactly, mode=EXACT_COUNT, count=1) if is_all and entry.exactly else entry.exactly
        return true(replace(entry, exactly=one), found)  # type: ignore[arg-type]

    patch.setattr(acceptance, "_build_ask", build)


def ignore_matches(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(attempt, "applies_to", lambda constraint, request, alternative: False)


def take_shares_for_devices(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kinds, "_takes_shares", lambda context, shape: False)


def take_the_first_alternative(patch: pytest.MonkeyPatch) -> None:
    def only(entry: ClaimRequest) -> tuple[Request, ...]:
        return entry.first_available[:1] if entry.exactly is None else (entry.exactly,)

    patch.setattr(acceptance, "_list_alternatives", only)


def overlook_taints(patch: pytest.MonkeyPatch) -> None:
    true = acceptance.drop_charges

    def drop(one: ResourceSlice) -> ResourceSlice:
        return replace(true(one), devices=tuple(replace(device, consumes=(), taints=()) for device in one.devices))

    patch.setattr(acceptance, "drop_charges", drop)


def take_what_is_looked_after(patch: pytest.MonkeyPatch) -> None:
    true_ask, true_shape = acceptance._build_ask, acceptance.Acceptance._build_shape

    def build_ask(entry: ClaimRequest, found: object) -> Ask:
        one = replace(entry.exactly, admin_access=None) if entry.exactly else None
        return true_ask(replace(entry, exactly=one), found)  # type: ignore[arg-type]

    def build_shape(self: acceptance.Acceptance, *given: object) -> Shape:
        shape = true_shape(self, *given)  # type: ignore[arg-type]
        return replace(shape, is_exclusive=False, watched=shape.accepted)

    patch.setattr(acceptance, "_build_ask", build_ask)
    patch.setattr(acceptance.Acceptance, "_build_shape", build_shape)


def look_after_without_room(patch: pytest.MonkeyPatch) -> None:
    true = acceptance.Acceptance._build_shape

    def build(self: acceptance.Acceptance, *given: object) -> Shape:
        shape = true(self, *given)  # type: ignore[arg-type]
        return replace(shape, watched=frozenset(), needs_nothing=not shape.asks)

    patch.setattr(acceptance.Acceptance, "_build_shape", build)


def forget_counters(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(acceptance.Acceptance, "is_divisible", lambda self, device: False)


def search_without_ties(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Cells, "_list_ties", lambda self, device: ["one cell"])
    patch.setattr(Cells, "_is_tied", lambda *given: True)


def search_without_counters(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Cells, "_count_room", lambda self, node, own: defaultdict(lambda: 10**12))


PLANTED: tuple[tuple[Plant, str], ...] = (
    (match_one_too_many, "singles"),
    (match_one_too_few, "singles"),
    (forget_siblings, "singles"),
    (call_worst_best, "singles"),
    (prove_one_too_many, "mixed"),
    (bound_one_too_low, "mixed"),
    (search_one_too_many, "mixed"),
    (count_one_short, "mixed"),
    (forget_counters, "partitions"),
    (search_without_counters, "partitions"),
    (count_groups_by_one_pod, "groups"),
    (count_shared_claims_by_replica, "shared claims"),
    (take_every_device_for_one, "every device"),
    (ignore_matches, "pairs"),
    (search_without_ties, "pairs"),
    (take_shares_for_devices, "shares"),
    (take_the_first_alternative, "alternatives"),
    (overlook_taints, "taints"),
    (take_what_is_looked_after, "administration"),
    (look_after_without_room, "administration"),
)


@pytest.mark.parametrize(("plant", "family"), PLANTED, ids=[plant.__name__ for plant, _ in PLANTED])
def test_planted_errors_are_caught(plant: Plant, family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    caught = 0
    for seed in range(COUNT):
        world = DRAWS[family](seed)
        caught += bool(find_lies(judge(demand_of(world)), try_packings(world), is_exact=family == "singles"))
    print(f"{plant.__name__}: {caught} of {COUNT}")
    assert caught > 0
