"""Two sources that print a value differently: both stand, and where the answers differ they are disputed."""

from __future__ import annotations

import pytest

from fleet import FACTS, edit, list_specs, read_fleet
from own_facts import OURS, Row, merge, take
from poolwright.catalog.compatibility import Answer, judge_stack
from poolwright.catalog.facts import Facts
from poolwright.catalog.readings import list_readings, parse_value, render_value
from poolwright.catalog.stack_rules import check_stacks
from poolwright.specs.finding import Finding
from poolwright.specs.parse import parse_specs

STACK = "specs/stacks/operator-26-7.yaml"
PAGE = (
    "NVIDIA/cloud-native-docs gpu-operator/platform-support.rst; lifecycle and upgrades: NVIDIA/cloud-native-docs "
    "review build pr-512, GPU Operator life cycle page"
)
LIST = "NVIDIA/cloud-native-docs gpu-operator/platform-support.rst"
LEAST = "kubernetes-sigs/dra-driver-nvidia-gpu site/content/docs/prerequisites.md"
CARRIED = next(
    row.source for row in FACTS.operator_components if (row.release, row.component) == ("26.7.0", "draDriver")
)


def line(**changes: object) -> dict[str, list[Row]]:
    return {"operator_lines": [take("operator-lines", by={"line": "26.7"}, **changes)]}


def judge(own: dict[str, list[Row]], *changes: tuple[str, str]) -> dict[str, Answer]:
    """What is said of the example's stack with exact versions, by subject."""
    exact = (("1.36.x", "1.36.2"), ("2.2.x", "2.2.9"))
    files = edit(read_fleet(), STACK, *exact)
    files = edit(files, STACK, *changes)
    (stack,) = [one for one in parse_specs(list_specs(files)).stacks if one.value.identity == "operator-26-7"]
    return {one.subject: one for one in judge_stack(stack.value.spec, merge(**own))}


def say(facts: Facts, *changes: tuple[str, str]) -> list[Finding]:
    specs = parse_specs(list_specs(edit(read_fleet(), STACK, *changes)))
    return [one for one in check_stacks(specs, facts) if one.place.file == STACK]


US = OURS["source"]
K8S = "GPU Operator 26.7.0 with Kubernetes {}"
JUDGED: dict[str, tuple[dict[str, list[Row]], tuple[tuple[str, str], ...], str, str, str]] = {
    # own rows, changes of the stack, subject, answer, why
    "kubernetes-maximum-above": (
        line(kubernetesMaximum="1.37"),
        (("1.36.2", "1.37.1"),),
        K8S.format("1.37.1"),
        "disputed",
        f"1.33 to 1.37 are listed: supported by kubernetesMaximum 1.37 ({US}); unlisted by "
        f"kubernetesMaximum 1.36 ({PAGE})",
    ),
    "kubernetes-maximum-below": (
        line(kubernetesMaximum="1.35"),
        (),
        K8S.format("1.36.2"),
        "disputed",
        f"1.33 to 1.35 are listed: the matrix ends there: unlisted by kubernetesMaximum 1.35 ({US}); "
        f"supported by kubernetesMaximum 1.36 ({PAGE})",
    ),
    "kubernetes-that-both-list": (
        line(kubernetesMaximum="1.37"),
        (),
        K8S.format("1.36.2"),
        "supported",
        "1.33 to 1.37 are listed",
    ),
    "kubernetes-that-neither-lists": (
        line(kubernetesMaximum="1.37", kubernetesMinimum="1.34"),
        (("1.36.2", "1.31.1"),),
        K8S.format("1.31.1"),
        "unsupported",
        "1.34 to 1.37 are listed",
    ),
    # What a source says counts as a whole: nobody says 1.30 to 1.36.
    "both-ends-moved-by-one-source": (
        line(kubernetesMinimum="1.30", kubernetesMaximum="1.31"),
        (("1.36.2", "1.32.1"),),
        K8S.format("1.32.1"),
        "disputed",
        "1.30 to 1.31 are listed: the matrix ends there: unlisted by kubernetesMinimum 1.30, kubernetesMaximum 1.31 "
        f"({US}); unsupported by kubernetesMinimum 1.33, kubernetesMaximum 1.36 ({PAGE})",
    ),
    "containerd-minimum": (
        line(containerdMinimum="2.3"),
        (),
        "GPU Operator 26.7.0 with containerd 2.2.9",
        "disputed",
        f"2.3 to 2.3 are listed: unsupported by containerdMinimum 2.3 ({US}); supported by "
        f"containerdMinimum 1.8 ({PAGE})",
    ),
    "life-cycle": (
        line(lifecycle="endOfSupport"),
        (),
        "GPU Operator 26.7.0",
        "disputed",
        f"the line 26.7 is at the end of its support: unsupported by lifecycle endOfSupport ({US}); "
        f"supported by lifecycle supported ({PAGE})",
    ),
    "least-kubernetes-of-claims": (
        line(draKubernetesMinimum="1.36.5"),
        (),
        "GPUCluster of 26.7.0 with Kubernetes 1.36.2",
        "disputed",
        f"1.36.5 is the least: unsupported by draKubernetesMinimum 1.36.5 ({US}); supported by "
        f"draKubernetesMinimum 1.34.2 ({PAGE})",
    ),
    "least-that-only-the-other-source-asks": (
        line(draGpuDriverMinimum=None),
        (("580.173.02", "535.309.01"),),
        "GPUCluster of 26.7.0 with GPU driver 535.309.01",
        "disputed",
        f"nothing is the least: supported by draGpuDriverMinimum null ({US}); unsupported by "
        f"draGpuDriverMinimum 580 ({PAGE})",
    ),
    "range-of-gpu-drivers": (
        {
            "operator_gpu_drivers": [
                take("operator-gpu-drivers", by={"line": "26.7", "version": "580.173.02"}, versionMaximum="580.180.01")
            ]
        },
        (("580.173.02", "580.178.04"),),
        "GPU Operator 26.7.0 with GPU driver 580.178.04",
        "disputed",
        f"580.173.02 to 580.180.01 is listed: supported by versionMaximum 580.180.01 ({US}); unlisted "
        f"by versionMaximum null ({LIST})",
    ),
    "carried-driver": (
        {
            "operator_components": [
                take("operator-components", by={"release": "26.7.0", "component": "draDriver"}, version="v0.5.1")
            ]
        },
        (),
        "GPU Operator 26.7.0 with DRA driver 0.5.0",
        "disputed",
        f"its chart carries v0.5.1: unsupported by version v0.5.1 ({US}); supported by version v0.5.0 ({CARRIED})",
    ),
    "minimum-of-the-driver": (
        {"driver_minimums": [take("driver-minimums", by={"part": "containerToolkit", "use": "all"}, minimum="1.21")]},
        (),
        "DRA driver 0.5.0 with container toolkit 1.20.0",
        "disputed",
        f"1.21 is the least: unsupported by minimum 1.21 ({US}); supported by minimum 1.18 ({LEAST})",
    ),
    "minimum-on-which-the-answer-does-not-hang": (
        {"driver_minimums": [take("driver-minimums", by={"part": "containerToolkit", "use": "all"}, minimum="1.19")]},
        (),
        "DRA driver 0.5.0 with container toolkit 1.20.0",
        "supported",
        "1.19 is the least",
    ),
    "driver-that-we-add": (
        {"operator_gpu_drivers": [{"line": "26.7", "release": None, "version": "580.200.01", **OURS}]},
        (("580.173.02", "580.200.01"),),
        "GPU Operator 26.7.0 with GPU driver 580.200.01",
        "supported",
        "580.200.01 is listed",
    ),
}


@pytest.mark.parametrize("name", JUDGED)
def test_answers(name: str) -> None:
    own, changes, subject, word, why = JUDGED[name]
    found = judge(own, *changes)[subject]
    assert (found.word, found.why, found.source, found.own) == (word, why, OURS["source"], True)


def test_an_answer_of_a_shipped_row_is_nobodys_own() -> None:
    assert {one.own for one in judge({}).values()} == {False}


FOUND: dict[str, tuple[dict[str, list[Row]], tuple[tuple[str, str], ...], list[tuple[str, str, str, str]]]] = {
    # own rows, changes of the stack, findings: code, severity, what, why
    "what-we-allow-and-the-page-does-not-list": (
        line(kubernetesMaximum="1.37"),
        (("1.36.x", "1.37.x"),),
        [
            (
                "operator-kubernetes",
                "warning",
                "disputed: GPU Operator 26.7.0 lists Kubernetes 1.33 to 1.36, and the stack runs 1.37",
                f"so says {PAGE}: kubernetesMaximum 1.36; what counts here is kubernetesMaximum 1.37 ({US})",
            )
        ],
    ),
    "what-we-refuse-and-the-page-lists": (
        line(kubernetesMaximum="1.35"),
        (),
        [
            (
                "operator-kubernetes",
                "error",
                "GPU Operator 26.7.0 lists Kubernetes 1.33 to 1.35, and the stack runs 1.36",
                "NVIDIA tests no other combination, and its chart takes any: nothing else would stop it; "
                f"{PAGE} says kubernetesMaximum 1.36",
            )
        ],
    ),
    "containerd": (
        line(containerdMaximum="2.1"),
        (),
        [
            (
                "operator-runtime",
                "warning",
                "GPU Operator 26.7.0 lists containerd 1.8 to 2.1, and the stack runs 2.2.x",
                "NVIDIA tests no other combination, and its chart takes any: nothing else would stop it; "
                f"{PAGE} says containerdMaximum 2.3",
            )
        ],
    ),
    "carried-driver": (
        {
            "operator_components": [
                take("operator-components", by={"release": "26.7.0", "component": "draDriver"}, version="v0.5.1")
            ]
        },
        (),
        [
            (
                "operator-driver",
                "error",
                "the stack has dra-driver-nvidia-gpu 0.5.0, and GPU Operator 26.7.0 carries v0.5.1",
                f"the operator deploys what its chart pins, tested together; the stack says what runs; {CARRIED} says "
                "version v0.5.0",
            )
        ],
    ),
    "minimum-that-the-page-has-higher": (
        {"driver_minimums": [take("driver-minimums", by={"part": "containerToolkit", "use": "all"}, minimum="1.10")]},
        (("version: 1.20.0", "version: 1.17.0"),),
        [
            (
                "driver-minimum",
                "warning",
                "disputed: dra-driver-nvidia-gpu 0.5.0 needs the container toolkit 1.18 or later; the stack has 1.17.0",
                f"so says {LEAST}: minimum 1.18; what counts here is minimum 1.10 ({US})",
            )
        ],
    ),
    "driver-that-we-add": (
        {"operator_gpu_drivers": [{"line": "26.7", "release": None, "version": "580.200.01", **OURS}]},
        (("580.173.02", "580.200.01"),),
        [],
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_findings(name: str) -> None:
    own, changes, expected = FOUND[name]
    found = say(merge(**own), *changes)
    assert [(one.code, one.severity, one.what, one.why) for one in found] == expected


def test_a_value_is_read_as_it_was_written() -> None:
    for value, kind in (
        ("1.36", str),
        ("1.36", str | None),
        (None, str | None),
        (None, int | None),
        (40448, int | None),
        (True, bool),
        (("26.3", "26.7"), tuple[str, ...]),
        ((), tuple[str, ...]),
        ({"a": "b"}, dict[str, str]),
    ):
        assert parse_value(render_value(value), kind) == value


def test_readings_are_by_source_and_pass_over_what_is_no_value() -> None:
    """Of one row: a minimum by one source; a line in words and a feature's maturity are no values of it."""
    fact = FACTS.operator_line("26.7.0")
    assert fact
    assert [(one.source.rpartition(", ")[2], dict(one.changes)) for one in list_readings("operator-lines", [fact])] == [
        ("the row of Ubuntu 24.04", {"kubernetes_minimum": "1.32"})
    ]
    carried = FACTS.operator_component("26.7.0", "draDriver")
    assert carried
    assert (len(carried.disagreements), list(list_readings("operator-components", [carried]))) == (1, [])
