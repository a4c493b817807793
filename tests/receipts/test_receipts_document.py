"""The document of receipts read back: anybody may have made it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from given_cluster import WHOLE, gpu, node, slice_of
from poolwright.plan.engine import judge
from poolwright.receipts.document import (
    MAX_RECEIPTS_BYTES,
    Pin,
    Receipts,
    ReceiptsError,
    parse_receipts,
    render_receipts,
)
from poolwright.receipts.find import Query, find_receipts, narrow_receipts, say_nothing
from poolwright.receipts.planned import build_planned
from receipt_worlds import build_small_world, given, observe


def build() -> Receipts:
    demand = build_small_world("four", 0)
    pins = (Pin(component="kubernetes", version="1.36.2", digest=None),)
    return build_planned(demand, judge(demand), cluster="c", units={}, prices=(), pins=pins)


DATA = render_receipts(build())
SAID = "it is no Receipts of poolwright.dev/v1alpha1: "


def edit(change: Callable[[Any], object]) -> bytes:
    document = json.loads(DATA)
    change(document)
    return json.dumps(document).encode()


WRONG = {
    "no-json": (b"{", f"{SAID}Input data was truncated"),
    "no-utf-8": (b'{"kind": "\xff"}', f"{SAID}Invalid UTF-8"),
    "another-kind": (edit(lambda one: one.update(kind="FitPlan")), f"{SAID}Invalid enum value 'FitPlan' - at `$.kind`"),
    "an-unknown-property": (edit(lambda one: one.update(more=1)), f"{SAID}Object contains unknown field `more`"),
    "a-missing-property": (edit(lambda one: one.pop("tie")), f"{SAID}Object missing required field `tie`"),
    "a-repeated-property": (
        DATA.replace(b'"cluster": "c",', b'"cluster": "c", "cluster": "d",', 1),
        f"{SAID}a part of it says cluster twice",
    ),
    "true-for-a-number": (
        edit(lambda one: one["receipts"][0].update(ordinal=True)),
        f"{SAID}Expected `int | null`, got `bool` - at `$.receipts[0].ordinal`",
    ),
    "one-id-twice": (
        edit(lambda one: one["receipts"].append(one["receipts"][0])),
        f"two of its receipts are called {json.loads(DATA)['receipts'][0]['id']}",
    ),
    "grounds-that-are-not-there": (
        edit(lambda one: one.update(grounds=[])),
        f"{json.loads(DATA)['receipts'][0]['id']} names the grounds grounds-1, which isn't there",
    ),
    "a-loss-that-is-not-there": (
        edit(lambda one: one.update(lossClasses=[])),
        f"{json.loads(DATA)['receipts'][0]['id']} names the loss class device-1, which isn't there",
    ),
    "a-pin-that-is-not-there": (
        edit(lambda one: one["receipts"][0].update(pins=["gpuDriver"])),
        f"{json.loads(DATA)['receipts'][0]['id']} names the pin gpuDriver, which isn't there",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_document_of_ours_is_refused(name: str) -> None:
    data, said = WRONG[name]
    with pytest.raises(ReceiptsError) as refused:
        parse_receipts(data)
    assert str(refused.value).startswith(said)
    assert len(str(refused.value)) < 400


def test_too_much_is_refused_before_it_is_read() -> None:
    with pytest.raises(ReceiptsError, match="bytes, and 67,108,864 is the most"):
        parse_receipts(b" " * (MAX_RECEIPTS_BYTES + 1))


def test_what_was_written_is_read_back() -> None:
    assert render_receipts(parse_receipts(DATA)) == DATA


OBSERVED = observe(
    node("node-a"),
    WHOLE,
    slice_of("node-a", gpu(0), gpu(1), gpu(2)),
    given("chat-0", "gpu-0", uid="c0", of="p0"),
    given("chat-1", "gpu-1", uid="c1", of="p1"),
)
QUERIES: dict[str, tuple[Query, list[str]]] = {
    "everything": (Query(), ["chat-0", "chat-1"]),
    "claim-uid": (Query(claim="c1"), ["chat-1"]),
    "claim-name": (Query(claim="chat-0"), ["chat-0"]),
    "claim-with-namespace": (Query(claim="inference/chat-0"), ["chat-0"]),
    "pod-uid": (Query(pod="p0"), ["chat-0"]),
    "device-uuid": (Query(device="GPU-0001"), ["chat-1"]),
    "device-name": (Query(device="node-a/gpu-1"), ["chat-1"]),
    "all-must-hold": (Query(device="GPU-0001", claim="c0"), []),
    # No beginning of a name, and nothing by an empty one.
    "half-a-name": (Query(claim="chat"), []),
    "an-empty-slot": (Query(slot=""), []),
}


@pytest.mark.parametrize("name", QUERIES)
def test_receipts_are_found(name: str) -> None:
    query, claims = QUERIES[name]
    rows = find_receipts(OBSERVED, query)
    assert [row.claim for row in rows] == claims
    narrowed = narrow_receipts(OBSERVED, rows)
    assert parse_receipts(render_receipts(narrowed)) == narrowed


def test_a_slot_is_found_by_its_first_digits() -> None:
    found = build()
    (first, second) = found.receipts
    digits = (first.slot or "").removeprefix("slot:sha256:")
    assert find_receipts(found, Query(slot=digits[:12])) == find_receipts(found, Query(slot=first.slot)) == (first,)
    assert find_receipts(found, Query(slot=second.id)) == (second,)


NOTHING = {
    "near": (Query(claim="chat-2"), "claim chat-2; searched: 2 observed of lab; near: chat-1, chat-0"),
    "free": (
        Query(device="GPU-0002"),
        "device GPU-0002; searched: 2 observed of lab. gpu.nvidia.com/node-a/gpu-2 is there, and no claim has it",
    ),
    "nothing-alike": (Query(model="zzz"), "model zzz; searched: 2 observed of lab"),
    "each-alone-is-there": (
        Query(claim="c0", device="GPU-0001"),
        "claim c0 and device GPU-0001; searched: 2 observed of lab",
    ),
}


@pytest.mark.parametrize("name", NOTHING)
def test_what_is_not_found_is_said(name: str) -> None:
    query, said = NOTHING[name]
    assert say_nothing([OBSERVED], query) == f"no receipt has {said}"


def test_equal_values_are_equal_bytes() -> None:
    copied = msgspec.convert(msgspec.to_builtins(build()), Receipts)
    assert render_receipts(copied) == DATA
