"""References followed to what they name. A reference that leads nowhere is in test_bad_specs.py."""

from __future__ import annotations

import pytest

from fleet import PLACEMENTS, POOL, STACK, Files, edit, list_specs, read_small_fleet
from fleet_variants import large_fleet
from poolwright.specs.finding import render_text
from poolwright.specs.parse import Specs, parse_specs
from poolwright.specs.resolve import cluster_of, resolve_cluster, resolve_placement

FLEET = read_small_fleet()


def parse(files: Files) -> Specs:
    return parse_specs(list_specs(files))


def test_a_cluster_has_the_stack_it_names() -> None:
    specs = parse(large_fleet())
    found = {name: resolve_cluster(specs, name) for name in ("east", "west")}
    assert {name: (on and (on.cluster.name, on.stack.value.identity), said) for name, (on, said) in found.items()} == {
        "east": (("east", "kubernetes-1-36"), []),
        "west": (("west", "next"), []),
    }


def test_placements_have_all_they_name_and_units_of_one_name_stay_apart() -> None:
    specs = parse(large_fleet())
    rows = []
    for placement in specs.placements:
        resolved, problems = resolve_placement(specs, placement)
        assert resolved is not None
        assert problems == []
        assert resolved.placement is placement
        assert resolved.envelope.value.metadata.version == placement.value.spec.envelope.version
        rows.append(
            (
                f"{resolved.on.cluster.name}/{placement.value.identity}",
                resolved.on.stack.value.identity,
                resolved.pool.value.identity,
                resolved.device_class.name,
                resolved.envelope.value.metadata.name,
                resolved.image.image,
            )
        )
    image = "registry.example.com/serving/vllm-openai:v0.33.0"
    assert rows == [
        ("east/chat-70b", "kubernetes-1-36", "h100-full", "interactive-80g", "chat-70b", image),
        ("east/chat-70b-next", "kubernetes-1-36", "h100-full", "interactive-80g", "chat-70b", image),
        (
            "west/embed-with-a-name-of-forty-characters-xx",
            "next",
            "mixed",
            "other-vendor",
            "embed",
            "registry.example.com:5000/serving/patched/vllm:1e3",
        ),
        ("west/chat-70b", "next", "second", "second-class", "chat-70b", "vllm"),
    ]


def test_the_cluster_of_a_pool() -> None:
    specs = parse(large_fleet())
    assert [cluster_of(specs, pool) for pool in specs.pools] == [("east", []), ("west", []), ("west", [])]


def test_every_problem_of_a_placement_is_told_with_none_that_follows_from_another() -> None:
    files = edit(
        FLEET, PLACEMENTS, ("version: 2.3.0", "version: 2.5.0"), ("surge: 1\n", "surge: 1\n  lane: experiment\n")
    )
    files = edit(files, POOL, ("- name: interactive-80g", "- name: whole-h100"))
    specs = parse(edit(files, STACK, ("- name: vllm", "- name: vllm-next")))
    resolved, problems = resolve_placement(specs, specs.placements[0])
    # Which image is missing can't be said of an envelope that isn't there, nor which namespace.
    assert (resolved, [(problem.code, problem.place.field) for problem in problems]) == (
        None,
        [
            ("dangling-reference", "spec.envelope.version"),
            ("dangling-reference", "spec.deviceClassNames[0]"),
            ("lane-consent", "spec.lane"),
        ],
    )


LANES = {
    "baseline-on-baseline": ("baseline", "", None),
    "said-twice": ("baseline", "lane: baseline", None),
    "experiment-on-experiment": ("experiment", "lane: experiment", None),
    "consent-missing": ("experiment", "", "spec.poolName"),
    "consent-denied": ("experiment", "lane: baseline", "spec.lane"),
    "consent-to-nothing": ("baseline", "lane: experiment", "spec.lane"),
}


@pytest.mark.parametrize(("pool", "said", "field"), LANES.values(), ids=LANES)
def test_lanes(pool: str, said: str, field: str | None) -> None:
    files = edit(FLEET, PLACEMENTS, ("surge: 1\n", f"surge: 1\n  {said}\n"))
    specs = parse(edit(files, POOL, ("lane: baseline", f"lane: {pool}")))
    resolved, problems = resolve_placement(specs, specs.placements[0])
    assert [(problem.code, problem.place.field) for problem in problems] == ([("lane-consent", field)] if field else [])
    assert (resolved is None) == (field is not None)


def test_of_many_known_names_twenty_are_listed() -> None:
    stack = FLEET[STACK].decode()
    more = "".join("---\n" + stack.replace("name: kubernetes-1-36", f"name: stack-{n:02}") for n in range(24))
    project = edit(FLEET, "poolwright.yaml", ("stackName: kubernetes-1-36", "stackName: none"))
    on, problems = resolve_cluster(parse({**project, "specs/more.yaml": more.encode()}), "east")
    assert on is None
    assert render_text(problems) == (
        'poolwright.yaml:12:18: cluster "east" runs the stack "none", which doesn\'t exist  [dangling-reference]\n'
        "  at   spec.clusters[0].stackName\n"
        "  why  nothing is rendered from a reference that leads nowhere (poolwright.dev/v1alpha1)\n"
        "  fix  name a stack that exists: kubernetes-1-36, "
        + ", ".join(f"stack-{n:02}" for n in range(19))
        + " and 5 more\n"
    )
