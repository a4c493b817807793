"""Upgrade plans: whole texts from one set of versions to the next, and the order that is chosen."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fleet import FACTS
from golden import Golden
from own_facts import merge, take
from poolwright.catalog.compatibility import Answer, judge_stack
from poolwright.catalog.facts import Facts
from poolwright.specs.model import VersionRangeText
from poolwright.specs.stack import (
    ContainerRuntime,
    ContainerToolkit,
    DraDriver,
    GpuDriver,
    GpuOperator,
    Kubernetes,
    OperatorMode,
    ServingImage,
    StackSpec,
)
from poolwright.upgrades import moves
from poolwright.upgrades.moves import apply_move, plan_moves
from poolwright.upgrades.report import render_upgrade_text
from poolwright.upgrades.steps import build_steps

IMAGE = "registry.example.com/vllm:v0.33.0"


def build(
    *,
    kubernetes: str = "1.36.2",
    operator: str | None = "26.7.0",
    mode: OperatorMode = "gpuCluster",
    dra: str = "0.5.0",
    gates: dict[str, bool] | None = None,
    driver: str = "580.173.02",
    by_host: bool = False,
    runtime: str = "2.2.1",
    toolkit: str = "1.20.0",
    image: str = IMAGE,
) -> StackSpec:
    by_claims = operator is not None and mode == "gpuCluster"
    return StackSpec(
        kubernetes=Kubernetes(version=VersionRangeText(kubernetes)),
        gpu_operator=GpuOperator(version=operator, mode=mode) if operator else None,
        dra_drivers=(
            DraDriver(
                name="dra-driver-nvidia-gpu",
                version=dra,
                install="gpuOperator" if by_claims else "chart",
                feature_gates=gates or {},
                settings={"computeDomains": "disabled"},
            ),
        ),
        gpu_driver=GpuDriver(version=driver, install="host" if by_host else "nvidiaDriver"),
        container_runtime=ContainerRuntime(name="containerd", version=VersionRangeText(runtime)),
        container_toolkit=ContainerToolkit(version=toolkit, install="host"),
        serving_images=(ServingImage(name="vllm", engine="vllm", version="0.33.0", image=image),),
    )


POLICY: dict[str, Any] = {"mode": "clusterPolicy", "operator": "26.3.3", "dra": "0.4.1"}
PLANS: dict[str, tuple[StackSpec, StackSpec]] = {
    "nothing": (build(), build()),
    "operator-patch-with-its-driver": (build(), build(operator="26.7.2", dra="0.5.1")),
    "operator-to-the-next-line": (build(**POLICY), build(**POLICY | {"operator": "26.7.0"})),
    # No step leads from 25.10 to 26.7, nor does one chart go with both.
    "operator-over-a-line": (
        build(**POLICY | {"operator": "25.10.1", "dra": "25.12.0", "kubernetes": "1.35.3"}),
        build(**POLICY | {"operator": "26.7.0", "kubernetes": "1.35.3"}),
    ),
    # No list names the line 24.9.
    "operator-from-a-line-that-is-not-listed": (build(**POLICY | {"operator": "24.9.0"}), build(**POLICY)),
    "operator-patch-back": (build(operator="26.7.2", dra="0.5.1"), build()),
    "operator-back": (build(**POLICY | {"operator": "26.7.0"}), build(**POLICY)),
    # What a line brings that the one before didn't have.
    "gpucluster-in-place": (build(operator="26.3.3", dra="0.4.1"), build()),
    # The line 26.3 manages no DRA driver, so that the operator brings none there, and takes none back.
    "gpucluster-over-two-lines": (
        build(operator="25.10.1", dra="0.4.1", kubernetes="1.35.3"),
        build(kubernetes="1.35.3"),
    ),
    "gpucluster-back": (build(), build(operator="26.3.3", dra="0.4.1")),
    "kubernetes-patch": (build(), build(kubernetes="1.36.6")),
    "kubernetes-two-minors": (build(kubernetes="1.34.2"), build()),
    "kubernetes-beyond-the-matrix": (build(), build(kubernetes="1.37.2")),
    "kubernetes-patch-back": (build(kubernetes="1.36.6"), build()),
    "kubernetes-of-another-major": (build(), build(kubernetes="2.1.0")),
    "kubernetes-beyond-what-is-listed": (build(kubernetes="1.11.0"), build()),
    "kubernetes-back": (build(), build(kubernetes="1.35.10")),
    "gpu-driver-of-another-branch": (build(), build(driver="595.91.07")),
    "gpu-driver-of-the-host": (build(by_host=True), build(driver="595.91.07", by_host=True)),
    "gpu-driver-of-a-vendor": (build(driver="v580.173.02-1ubuntu"), build(driver="595.91.07+2", dra="0.5.0-rc.1")),
    "gpu-driver-that-is-not-listed": (build(driver="580.167.08"), build()),
    # The line lists the branch for its device plugin, and claims need a later one: there is no way back.
    "gpu-driver-from-one-too-old-for-claims": (build(driver="535.309.01"), build()),
    "driver-chart-patch": (build(**POLICY | {"dra": "0.4.0"}), build(**POLICY)),
    "driver-chart-renamed": (
        build(**POLICY | {"dra": "25.12.0", "operator": "25.10.1", "kubernetes": "1.35.3"}),
        build(**POLICY | {"operator": "25.10.1", "kubernetes": "1.35.3"}),
    ),
    "driver-chart-back": (
        build(operator=None, dra="0.4.1", by_host=True),
        build(operator=None, dra="25.12.0", by_host=True),
    ),
    "driver-without-a-gate-that-is-set": (
        build(operator=None, dra="0.5.0", by_host=True, gates={"ConsumableShares": True}),
        build(operator=None, dra="0.4.1", by_host=True, gates={"ConsumableShares": True}),
    ),
    "hosts": (build(), build(runtime="2.3.4", toolkit="1.20.2")),
    "image": (build(), build(image="registry.example.com/vllm:v0.34.0")),
    "everything": (
        build(**POLICY | {"kubernetes": "1.34.6", "driver": "580.126.20", "runtime": "2.1.3", "toolkit": "1.19.1"}),
        build(**POLICY | {"operator": "26.7.0", "driver": "595.91.07"}),
    ),
}


def say(before: StackSpec, after: StackSpec) -> str:
    steps = build_steps(before, plan_moves(before, after, FACTS), FACTS)
    return "".join(f"{line}\n" for line in render_upgrade_text("a-stack", steps, {}))


def test_a_way_that_sources_print_differently_is_disputed() -> None:
    row = take("operator-lines", by={"line": "26.3"}, managesDraDriver=True)
    before, after = PLANS["gpucluster-in-place"]
    facts = merge(operator_lines=[row])
    (step,) = build_steps(before, plan_moves(before, after, facts), facts)
    assert (step.way.word, "our rehearsal of 2026-11-20" in step.way.why) == ("disputed", True)


def test_whole_plans(golden: Golden) -> None:
    printed = {f"{name}.txt": say(*PLANS[name]).encode() for name in PLANS}
    golden.compare(Path(__file__).parent / "plans", printed)


@pytest.mark.parametrize("name", PLANS)
def test_steps_lead_from_one_end_to_the_other(name: str) -> None:
    before, after = PLANS[name]
    states = plan_moves(before, after, FACTS)
    assert (states[-1].stack if states else before) == after


def test_a_step_back_is_the_way_back_of_the_step_forward() -> None:
    """Of every plan that is one step there and one step back."""
    words = set()
    for before, after in PLANS.values():
        there, back = (
            build_steps(one, plan_moves(one, other, FACTS), FACTS) for one, other in ((before, after), (after, before))
        )
        if (len(there), len(back)) == (1, 1):
            assert (there[0].way, there[0].back) == (back[0].back, back[0].way)
            words.add((there[0].move.part, there[0].way.word, there[0].back.word))
    assert ("kubernetes", "supported", "unsupported") in words
    assert ("kubernetes", "unsupported", "supported") in words
    assert ("draDriver", "unsupported", "unlisted") in words


def test_each_hop_brings_the_driver_from_where_the_one_before_left_it() -> None:
    line = next(one for one in FACTS.operator_lines if one.line == "26.7")
    release = next(one for one in FACTS.operator_releases if one.version == "26.7.0")
    carried = next(one for one in FACTS.operator_components if (one.release, one.component) == ("26.7.0", "draDriver"))
    facts = FACTS
    for name, source, version in (("27.1", "26.7", "0.6.0"), ("27.4", "27.1", "0.7.0")):
        rows = (*facts.operator_lines, replace(line, line=name, upgrades_from=(source, name)))
        facts = facts.with_rows("operator-lines", rows)
        rows = (*facts.operator_releases, replace(release, line=name, version=f"{name}.0"))
        facts = facts.with_rows("operator-releases", rows)
        rows = (*facts.operator_components, replace(carried, release=f"{name}.0", version=f"v{version}"))
        facts = facts.with_rows("operator-components", rows)
    # The stack says 0.7.1 at the end, which no chart carries: that is where the way ends all the same.
    states = plan_moves(build(), build(operator="27.4.0", dra="0.7.1"), facts)
    assert [(one.move.after, one.move.carries) for one in states] == [
        ("27.1.0", (("dra-driver-nvidia-gpu", "0.5.0", "0.6.0"),)),
        ("27.4.0", (("dra-driver-nvidia-gpu", "0.6.0", "0.7.1"),)),
    ]


def test_images_cost_the_search_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[StackSpec] = []

    def count(stack: StackSpec, facts: Facts) -> tuple[Answer, ...]:
        judged.append(stack)
        return judge_stack(stack, facts)

    monkeypatch.setattr(moves, "judge_stack", count)
    before, after = PLANS["everything"]
    expected = [one.move for one in plan_moves(before, after, FACTS)]
    states = len(judged)
    names = [f"image-{number:02}" for number in range(30)]
    old, new = (
        replace(
            stack,
            serving_images=tuple(replace(stack.serving_images[0], name=one, image=f"{IMAGE}{tag}") for one in names),
        )
        for stack, tag in ((before, "-1"), (after, "-2"))
    )
    judged.clear()
    found = plan_moves(old, new, FACTS)
    assert [one.move for one in found[: len(expected)]] == expected
    assert [one.move.name for one in found[len(expected) :]] == names
    assert (len(judged), found[-1].stack) == (states, new)
    assert len(set(map(str, judged))) == len(judged)  # each state once


def count_unsupported(stack: StackSpec) -> int:
    return sum(one.word == "unsupported" for one in judge_stack(stack, FACTS))


@pytest.mark.parametrize("name", ["everything", "hosts", "operator-over-a-line", "driver-chart-renamed"])
def test_no_order_has_fewer_states_that_are_unsupported(name: str) -> None:
    """All orders that keep each component's own."""
    before, after = PLANS[name]
    states = plan_moves(before, after, FACTS)
    moved = [state.move for state in states]
    chosen = sum(count_unsupported(state.stack) for state in states[:-1])
    best = chosen
    for order in permutations(range(len(moved))):
        tracks: dict[tuple[str, str], list[int]] = {}
        for number in order:
            tracks.setdefault((moved[number].part, moved[number].name), []).append(number)
        if any(numbers != sorted(numbers) for numbers in tracks.values()):
            continue
        stack, bad = before, 0
        for number in order[:-1]:
            stack = apply_move(stack, moved[number])
            bad += count_unsupported(stack)
        best = min(best, bad)
    assert chosen == best
