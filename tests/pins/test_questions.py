"""What is asked of registries, and the findings that their answers come to."""

from __future__ import annotations

import pytest

from fleet import FACTS, list_specs, read_fleet
from poolwright.pins.build import PinRequest, resolve_stacks
from poolwright.pins.questions import ChartName, Question, Unanswered, build_digests, list_questions
from poolwright.specs.finding import SpecError, render_text
from poolwright.specs.parse import Specs, parse_specs
from poolwright.specs.place import Place

A, B = "sha256:" + "a" * 64, "sha256:" + "b" * 64
STACK = "specs/stacks/operator-26-7.yaml"
VLLM = "registry.example.com/serving/vllm-openai:v0.33.0"
SGLANG = "registry.example.com/serving/sglang:v0.5.23"


def load(*changes: tuple[str, str]) -> Specs:
    files = list_specs(read_fleet())
    text = files[STACK].decode()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return parse_specs({**files, STACK: text.encode()})


def ask(specs: Specs) -> tuple[Question, ...]:
    return list_questions(specs, resolve_stacks(specs, PinRequest(facts=FACTS)))


def summary(questions: tuple[Question, ...]) -> list[tuple[str, str | None, str]]:
    return [(one.subject, one.digest, str(one.place)) for one in questions]


def test_each_image_and_chart_of_the_example_once() -> None:
    """Both stacks of it have one operator and one vLLM; the first place of each is where findings point."""
    operator = "https://helm.ngc.nvidia.com/nvidia/gpu-operator:v26.7.0"
    assert summary(ask(load())) == [
        (f"chart {operator}", None, "specs/stacks/operator-26-7-shares.yaml:10:14"),
        (f"image {VLLM}", None, "specs/stacks/operator-26-7-shares.yaml:26:14"),
        (f"image {SGLANG}", None, f"{STACK}:33:14"),
    ]
    assert [one.chart for one in ask(load())] == [
        ChartName(repo_url="https://helm.ngc.nvidia.com/nvidia", chart="gpu-operator", version="v26.7.0"),
        None,
        None,
    ]


def test_a_digest_of_the_stack_is_asked_about_beside_the_tag() -> None:
    found = [one for one in ask(load((VLLM, f"{VLLM}@{A}"))) if one.reference == VLLM]
    assert [one.digest for one in found] == [None, A]  # the other stack writes none


def test_a_stack_that_no_cluster_runs_is_not_asked_about() -> None:
    """Nor is one that couldn't be resolved: what is asked is of the stacks given."""
    specs = load()
    stacks = resolve_stacks(specs, PinRequest(facts=FACTS))
    found = list_questions(specs, {"operator-26-7": stacks["operator-26-7"]})
    assert [str(one.place) for one in found] == [f"{STACK}:10:14", f"{STACK}:29:14", f"{STACK}:33:14"]


PLACE = Place("specs/stack.yaml", 9, 14, "spec.servingImages[0].image")
IMAGE = Question(reference=VLLM, place=PLACE)
PINNED = Question(reference=VLLM, digest=A, place=PLACE)
CHART = Question(
    reference="charts.example.com/gpu-operator:v26.7.0",
    chart=ChartName(repo_url="charts.example.com", chart="gpu-operator", version="v26.7.0"),
    place=Place("specs/stack.yaml", 5, 14, "spec.gpuOperator.version"),
)


def test_answers_are_digests_by_reference() -> None:
    assert build_digests({IMAGE: A, CHART: B}) == {VLLM: A, CHART.reference: B}
    assert build_digests({PINNED: A}) == {VLLM: A}


def test_a_tag_beside_the_wrong_digest_is_an_error_with_both() -> None:
    """Case 58: the digest decides, and a mismatch must be an error when online."""
    with pytest.raises(SpecError) as refused:
        build_digests({PINNED: B})
    assert render_text(refused.value.findings) == (
        f"specs/stack.yaml:9:14: image {VLLM} is {B} in its registry, and {A} in the stack  [registry-differs]\n"
        "  at   spec.servingImages[0].image\n"
        "  why  the digest decides what runs, so that the tag beside it says what isn't so (poolwright.dev/v1alpha1)\n"
        "  fix  write the digest that is meant, and the tag that has it\n"
    )


def test_each_reference_without_an_answer_is_a_finding() -> None:
    def fail(what: str) -> Unanswered:
        return Unanswered(code="registry-silent", what=what, fix="run it again")

    with pytest.raises(SpecError) as refused:
        build_digests({IMAGE: fail("it is silent"), CHART: fail("it is broken"), PINNED: A})
    assert render_text(refused.value.findings) == (
        "specs/stack.yaml:5:14: no digest of chart charts.example.com/gpu-operator:v26.7.0: it is broken"
        "  [registry-silent]\n"
        "  at   spec.gpuOperator.version\n"
        "  why  a digest is written only as a registry gives it, and the lock only once all are there "
        "(poolwright.dev/v1alpha1)\n"
        "  fix  run it again\n"
        f"specs/stack.yaml:9:14: no digest of image {VLLM}: it is silent  [registry-silent]\n"
        "  at   spec.servingImages[0].image\n"
        "  why  a digest is written only as a registry gives it, and the lock only once all are there "
        "(poolwright.dev/v1alpha1)\n"
        "  fix  run it again\n"
    )
