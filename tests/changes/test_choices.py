"""Choices that differ: pins, gates, the ledger, lanes and consents; and what placements cost."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from change_sides import compare, read_sides, say_findings
from fleet import NEXT_ENVELOPE, PLACEMENTS, POOL, STACK, Files, edit, read_fleet, read_small_fleet
from poolwright.admission.admit import Word
from poolwright.changes.prices import check_prices
from poolwright.changes.report import PriceChange, ValueChange
from poolwright.changes.side import ClusterPair

SMALL = read_small_fleet()
FLEET = read_fleet()
LEDGER = "specs/ledger.yaml"
NEW = "specs/envelopes/chat-70b/2.4.1.yaml"
LANE = edit(
    edit(SMALL, POOL, ("lane: baseline", "lane: experiment")), PLACEMENTS, ("  surge:", "  lane: experiment\n  surge:")
)
GATE = "stacks.kubernetes-1-36.draDrivers.dra-driver-nvidia-gpu.featureGates.TimeSlicingSettings"


def value(path: str, before: str | None, after: str | None, note: str = "") -> ValueChange:
    return ValueChange(path=path, before=before, after=after, note=note)


def promote(*changes: tuple[str, str], files: Files = SMALL) -> Files:
    """The placement in east-a with a version of its own, which differs in some texts."""
    text = edit(files, NEXT_ENVELOPE, ("version: 2.4.0", "version: 2.4.1"), *changes)[NEXT_ENVELOPE]
    return edit({**files, NEW: text}, PLACEMENTS, ("version: 2.4.0", "version: 2.4.1"))


def set_gate(state: str, files: Files = LANE) -> Files:
    return edit(
        files, STACK, ("install: external}", f"install: external, featureGates: {{TimeSlicingSettings: {state}}}}}")
    )


# --- gates

POOL_STATUS = edit(LANE, STACK, ("1.36.x", "1.36.x\n    featureGates: {DRAResourcePoolStatus: true}"))
GATES: dict[str, tuple[Files, Files, tuple[ValueChange, ...]]] = {
    "of-a-driver-on": (LANE, set_gate("true"), (value(GATE, None, "on"),)),
    "of-a-driver-off": (set_gate("true"), set_gate("false"), (value(GATE, "on", "off"),)),
    "of-a-driver-not-said-any-more": (set_gate("false"), LANE, (value(GATE, "off", None),)),
    "of-a-cluster": (LANE, POOL_STATUS, (value("clusters.east.featureGates.DRAResourcePoolStatus", "off", "on"),)),
    "that-stay": (LANE, edit(LANE, POOL, ("platform-gpu", "platform-hpc")), ()),
}


@pytest.mark.parametrize("case", GATES)
def test_gates(case: str) -> None:
    before, after, rows = GATES[case]
    assert compare(before, after).gates == rows


def test_another_kubernetes_brings_its_own_gates() -> None:
    rows = compare(SMALL, edit(SMALL, STACK, ("1.36.x", "1.35.x"))).gates
    assert rows
    assert value("clusters.east.featureGates.DRADeviceTaints", "on", "off") in rows


# --- the ledger


def test_a_decision_that_is_taken_otherwise() -> None:
    after = edit(FLEET, LEDGER, ("promotionOwner: platform-gpu", "promotionOwner: platform-hpc"))
    rows = compare(FLEET, after).ledger
    assert rows
    assert {(one.path.rpartition(".")[2], one.before, one.after) for one in rows} == {
        ("promotionOwner", "platform-gpu", "platform-hpc")
    }


def test_a_feature_that_leaves_the_ledger_loses_each_of_its_fields() -> None:
    rows = compare(FLEET, {path: data for path, data in FLEET.items() if path != LEDGER}).ledger
    assert {one.after for one in rows} == {None}
    assert value("dra-driver-nvidia-gpu.ConsumableShares.testClusterName", "lab-alpha", None) in rows


# --- pins

LOCK = "poolwright.lock"


def test_a_pin_that_is_another_one() -> None:
    lock = json.loads(FLEET[LOCK])
    lock["memoryBounds"]["east/chat-70b"] |= {"bound": "71Gi", "reason": "kept: 71Gi holds 70Gi"}
    after = {**FLEET, LOCK: (json.dumps(lock, indent=2) + "\n").encode()}
    (row,) = compare(FLEET, after).pins
    assert (row.path, row.before, row.after) == ("memoryBounds.east/chat-70b", "70Gi", "71Gi")


def test_a_lock_that_goes_takes_all_its_pins_along() -> None:
    rows = compare(FLEET, {path: data for path, data in FLEET.items() if path != LOCK}).pins
    assert rows
    assert {(one.after, one.note) for one in rows} == {(None, "the lock is gone")}


DRIVER = "stacks.kubernetes-1-36.draDrivers.dra-driver-nvidia-gpu"
IMAGE = "registry.example.com/serving/vllm-openai:v0.33.0"
STACKS: dict[str, tuple[tuple[str, str], tuple[ValueChange, ...]]] = {
    "a-driver": (("version: 0.5.0", "version: 0.4.0"), (value(DRIVER, "0.5.0", "0.4.0"),)),
    "kubernetes": (("1.36.x", "1.35.x"), (value("stacks.kubernetes-1-36.kubernetes", "1.36.x", "1.35.x"),)),
    "an-image": (
        (IMAGE, f"{IMAGE}-1"),
        (value("stacks.kubernetes-1-36.images.vllm", f"0.33.0 {IMAGE}", f"0.33.0 {IMAGE}-1"),),
    ),
    "a-comment": (("# What the cluster runs.", "# What it runs."), ()),
}


@pytest.mark.parametrize("case", STACKS)
def test_what_a_stack_says_without_a_lock(case: str) -> None:
    """A driver that isn't installed by these objects changes none of them, and is another driver all the same."""
    edits, rows = STACKS[case]
    assert compare(SMALL, edit(SMALL, STACK, edits)).pins == rows


# --- lanes and consents

CONSENT = "placements.east/chat-70b-next.isolation"
LANES: dict[str, tuple[Files, Files, tuple[ValueChange, ...]]] = {
    "to-the-experiment": (
        SMALL,
        LANE,
        (
            value("placements.east/chat-70b-next.lane", "baseline", "experiment"),
            value("placements.east/chat-70b.lane", "baseline", "experiment"),
            value("pools.h100-full.lane", "baseline", "experiment"),
        ),
    ),
    # It comes to devices that others are on, whoever wrote it.
    "an-envelope-of-weaker-isolation": (
        SMALL,
        promote(("replicaBehavior: stable", "replicaBehavior: stable\n  isolation: partition")),
        (value(CONSENT, "exclusive", "partition"),),
    ),
    "a-placement-that-is-new": ({**SMALL, PLACEMENTS: SMALL[PLACEMENTS].partition(b"---\n")[0]}, SMALL, ()),
}


@pytest.mark.parametrize("case", LANES)
def test_lanes(case: str) -> None:
    before, after, rows = LANES[case]
    assert compare(before, after).lanes == rows


def test_what_is_said_of_lanes() -> None:
    why = (
        "  why  lane and isolation are consents: to gates that may go away, and to devices that others are on too "
        "(poolwright diff)\n"
        "  fix  say in the pull request who agreed to it\n"
    )
    before, after, _ = LANES["an-envelope-of-weaker-isolation"]
    assert say_findings(compare(before, after), "lane-changed") == (
        "specs/placements.yaml:19:3: warning: placements.east/chat-70b-next.isolation was exclusive and is partition  "
        "[lane-changed]\n"
        f"  at   spec\n{why}"
    )
    text = say_findings(compare(LANE, SMALL), "lane-changed")
    assert text.endswith(
        "specs/pool.yaml:9:9: warning: pools.h100-full.lane was experiment and is baseline  [lane-changed]\n"
        f"  at   spec.lane\n{why}"
    )
    assert text.count("[lane-changed]") == 3


# --- waivers


def waive(rule: str, expires: str, files: Files = SMALL, path: str = "spec.surge") -> Files:
    """A waiver of the placement in production."""
    waiver = f"{{rule: {rule}, path: {path}, reason: Until more come., owner: team-chat, expires: {expires}}}"
    return edit(files, PLACEMENTS, ("  surge: 1\n", f"  surge: 1\n  waivers:\n    - {waiver}\n"))


WAIVED = "placements.east/chat-70b.surge-short[spec.surge]"
UNTIL = "until {} by team-chat: Until more come."
WAIVERS: dict[str, tuple[Files, Files, tuple[ValueChange, ...]]] = {
    "new": (
        SMALL,
        waive("surge-short", "2027-01-31"),
        (value(WAIVED, None, UNTIL.format("2027-01-31")),),
    ),
    "for-longer": (
        waive("surge-short", "2027-01-31"),
        waive("surge-short", "2027-02-28"),
        (value(WAIVED, UNTIL.format("2027-01-31"), UNTIL.format("2027-02-28")),),
    ),
    "gone": (
        waive("surge-short", "2027-01-31"),
        SMALL,
        (value(WAIVED, UNTIL.format("2027-01-31"), None),),
    ),
    "that-stays": (waive("surge-short", "2027-01-31"), waive("surge-short", "2027-01-31"), ()),
}


@pytest.mark.parametrize("case", WAIVERS)
def test_waivers(case: str) -> None:
    """A waiver is a change by itself: of no object, verdict or version, and of no cluster."""
    before, after, rows = WAIVERS[case]
    report = compare(before, after)
    others = (report.objects, report.clusters, report.steps, report.findings)
    assert (report.waivers, others, report.is_empty) == (rows, ((), (), (), ()), not rows)


QUOTA = ("    - name: chat\n", "    - {name: chat, quota: {interactive-80g: 1}}\n")
SHORT = edit(SMALL, POOL, QUOTA)
SHORT_WAIVED = edit(
    SMALL,
    POOL,
    (
        QUOTA[0],
        f"{QUOTA[1]}  waivers:\n"
        "    - {rule: quota-short, reason: Until more come., owner: platform-gpu, expires: 2027-01-31}\n",
    ),
)
SHORT_TEXT = """\
  at   spec.namespaces[0].quota.interactive-80g
  why  above the quota the API server refuses a pod's claim: replicas are missing, or an update stands still \
(Kubernetes ResourceQuota)
  fix  raise the quota to 12, or lower maxReplicas or surge
"""
NEEDS = (
    'namespace "chat" may claim 1 devices of class "interactive-80g", and its placements need 12 (chat-70b 8, '
    "chat-70b-next 4)  [quota-short]\n"
)
RISKS: dict[str, tuple[Files, Files, str]] = {
    "that-is-new": (SMALL, SHORT, f"specs/pool.yaml:28:45: {NEEDS}{SHORT_TEXT}"),
    "that-was-there": (SHORT, SHORT, ""),
    "that-is-waived": (
        SMALL,
        SHORT_WAIVED,
        f"specs/pool.yaml:28:45: warning: {NEEDS}{SHORT_TEXT}"
        "  but  waived until 2027-01-31 by platform-gpu: Until more come.\n",
    ),
}


@pytest.mark.parametrize("case", RISKS)
def test_risks_of_specs(case: str) -> None:
    before, after, text = RISKS[case]
    report = compare(before, after)
    assert say_findings(report, "quota-short") == text
    assert {one.code for one in report.findings} - {"step-too-small"} == ({"quota-short"} if text else set())


ENDED = waive("surge-short", "2026-11-29")
WRONG: dict[str, tuple[Files, Files, str]] = {
    "one-that-is-over-and-new": (SMALL, ENDED, "waiver-expired"),
    "one-that-was-over-before": (ENDED, ENDED, ""),
    "one-of-a-rule-that-has-no-exceptions": (SMALL, waive("surge-tier", "2027-01-31"), "waiver-forbidden"),
    # What it is for needn't differ in this change.
    "one-that-nothing-here-needs": (SMALL, waive("surge-short", "2027-01-31"), ""),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_waivers(case: str) -> None:
    before, after, code = WRONG[case]
    assert [one.code for one in compare(before, after).findings] == ([code] if code else [])


# --- prices


def price(before: str, after: str, *, is_worse: bool) -> PriceChange:
    return PriceChange(
        cluster="east",
        unit="chat-70b-next",
        class_name="interactive-80g",
        before=f"{before} of 50.83 GiB on interactive-80g",
        after=f"{after} of 50.83 GiB on interactive-80g",
        is_worse=is_worse,
    )


MORE, TOO_MUCH = promote(("concurrency: 32", "concurrency: 33")), promote(("concurrency: 32", "concurrency: 64"))
PRICES: dict[str, tuple[Files, Files, tuple[PriceChange, ...]]] = {
    "the-same": (SMALL, promote(("team-chat", "team-next")), ()),
    "dearer-and-admitted": (
        SMALL,
        MORE,
        (price("admitted: KV cache 40.0 GiB", "admitted: KV cache 41.25 GiB", is_worse=False),),
    ),
    "refused": (
        SMALL,
        TOO_MUCH,
        (price("admitted: KV cache 40.0 GiB", "refused: KV cache 80.0 GiB", is_worse=True),),
    ),
    "admitted-again": (
        TOO_MUCH,
        SMALL,
        (price("refused: KV cache 80.0 GiB", "admitted: KV cache 40.0 GiB", is_worse=False),),
    ),
    # On only one side there is nothing to compare.
    "new": ({**TOO_MUCH, PLACEMENTS: SMALL[PLACEMENTS].partition(b"---\n")[0]}, TOO_MUCH, ()),
}
REFUSED = (
    "specs/placements.yaml:21:22: east: chat-70b-next is refused on interactive-80g{}: 64 concurrent requests of 32768 "
    "tokens need 80.0 GiB of KV cache per GPU, the budget is 50.83 GiB  [price-worse]\n"
    "  at   spec.deviceClassNames[0]\n"
    "  why  a replica that its device has no memory for doesn't start, or fails under the load it promises (poolwright "
    "diff)\n"
    "  fix  lower concurrency to 38, or contextTokens to 19536, or raise tensorParallel to 8\n"
)
SAID = {"refused": REFUSED.format(", and was admitted"), "new": REFUSED.format("")}


@pytest.mark.parametrize("case", PRICES)
def test_prices(case: str) -> None:
    before, after, rows = PRICES[case]
    report = compare(before, after)
    assert report.prices == rows
    assert say_findings(report, "price-worse") == SAID.get(case, "")


def build_pair(before: Word, after: Word) -> ClusterPair:
    """A cluster whose one price is known so well before and after."""
    (old, _) = read_sides(SMALL, MORE)
    side = old.clusters["east"]
    (first, _) = side.prices
    priced = [
        replace(side, prices=(replace(first, admission=replace(first.admission, word=word)),))
        for word in (before, after)
    ]
    return ClusterPair(name="east", before=priced[0], after=priced[1])


# What was known of a price and what is known now, and how bad that is.
WORDS: dict[str, tuple[Word, Word, str | None]] = {
    "less-is-known": ("admitted", "unsupported", "warning"),
    "too-close": ("admitted", "tooClose", "warning"),
    "no-longer-close": ("tooClose", "unsupported", "warning"),
    "a-no": ("tooClose", "refused", "error"),
    "a-no-where-nothing-was-known": ("unsupported", "refused", "error"),
    # None of these is worse than it was.
    "no-longer-a-no": ("refused", "unsupported", None),
    "nearly-a-yes": ("refused", "tooClose", None),
    "a-no-as-before": ("refused", "refused", None),
    "nothing-known-as-before": ("unsupported", "unsupported", None),
    "a-yes": ("unsupported", "admitted", None),
}


@pytest.mark.parametrize("case", WORDS)
def test_what_is_worse_of_a_price(case: str) -> None:
    before, after, severity = WORDS[case]
    pair = build_pair(before, after)
    assert [one.severity for one in check_prices(pair)] == ([] if severity is None else [severity])
