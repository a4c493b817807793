"""Whether versions go together: every row of the matrix at each of its boundaries, and the situations people met."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from fleet import FACTS
from own_facts import OURS, merge
from poolwright.catalog.compatibility import Answer, Word, find_worst, judge_stack, list_unspoken
from poolwright.specs.model import VersionRangeText
from poolwright.specs.stack import (
    ContainerRuntime,
    ContainerToolkit,
    DraDriver,
    GpuDriver,
    GpuOperator,
    Kubernetes,
    ServingImage,
    StackSpec,
)
from poolwright.specs.version import parse_version

IMAGES = (ServingImage(name="vllm", engine="vllm", version="0.33.0", image="registry.example.com/vllm:v0.33.0"),)


def build(
    *,
    kubernetes: str = "1.35.3",
    operator: str = "26.7.0",
    driver: str = "595.91.07",
    by_claims: bool = False,
    runtime: str | None = None,
    toolkit: str | None = None,
    dra: str | None = None,
) -> StackSpec:
    return StackSpec(
        kubernetes=Kubernetes(version=VersionRangeText(kubernetes)),
        gpu_operator=GpuOperator(version=operator, mode="gpuCluster" if by_claims else "clusterPolicy"),
        dra_drivers=(
            DraDriver(
                name="dra-driver-nvidia-gpu",
                version=dra or "0.5.0",
                install="gpuOperator" if by_claims else "chart",
                settings={"computeDomains": "disabled"},
            ),
        ),
        gpu_driver=GpuDriver(version=driver, install="nvidiaDriver"),
        container_runtime=ContainerRuntime(name="containerd", version=VersionRangeText(runtime)) if runtime else None,
        container_toolkit=ContainerToolkit(version=toolkit, install="host") if toolkit else None,
        serving_images=IMAGES,
    )


def ask(spec: StackSpec, subject: str) -> Answer:
    (found,) = [one for one in judge_stack(spec, FACTS) if one.subject == subject]
    return found


# --- situations: the answer of the worst row, and which row that is ---

OPERATOR = "operator-lines.json 26.7"
SITUATIONS: dict[str, tuple[StackSpec, Word, str]] = {
    "good": (build(by_claims=True), "supported", ""),
    "branch-that-is-not-in-the-matrix": (
        build(driver="570.172.08", by_claims=True),
        "unsupported",
        "operator-gpu-drivers.json 26.7",
    ),
    "branch-too-old-for-claims": (build(driver="535.309.01", by_claims=True), "unsupported", OPERATOR),
    # The same branch is listed where the device plugin hands GPUs out.
    "patch-too-old-for-claims": (build(kubernetes="1.34.1", by_claims=True), "unsupported", OPERATOR),
    # One row of the page prints 1.32, the others 1.33.
    "a-floor-that-two-rows-print-differently": (build(kubernetes="1.32.9"), "disputed", OPERATOR),
    "beyond-the-end-of-the-matrix": (build(kubernetes="1.37.0", by_claims=True), "unlisted", OPERATOR),
    "patch-that-is-not-listed": (
        build(driver="580.126.20", by_claims=True),
        "unlisted",
        "operator-gpu-drivers.json 26.7 580.173.02",
    ),
    "suffix-of-a-vendor": (
        build(kubernetes="v1.34.4-gke.1047000", driver="580.173.02", by_claims=True),
        "supported",
        "",
    ),
    "release-known-from-a-package-only": (
        build(operator="26.7.1", by_claims=True),
        "unlisted",
        "operator-releases.json 26.7.1",
    ),
    "line-at-its-end": (build(operator="25.10.1", dra="25.12.0"), "unsupported", "operator-lines.json 25.10"),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_situations(name: str) -> None:
    spec, word, row = SITUATIONS[name]
    answers = judge_stack(spec, FACTS)
    about = [one for one in answers if not one.subject.startswith("DRA driver")] if word != "supported" else answers
    assert find_worst(about) == word
    if row:
        assert row in [one.row for one in about if one.word == word]


def test_each_answer_names_its_row_and_what_that_rests_on() -> None:
    answers = judge_stack(build(by_claims=True, runtime="2.2.9", toolkit="1.20.0"), FACTS)
    assert len(answers) == 11
    assert [one for one in answers if not (one.row and one.source and one.date)] == []


# --- beyond what anybody says ---

ABOVE: dict[str, tuple[StackSpec, str, Word]] = {
    "kubernetes-after-all-known": (
        build(kubernetes="1.38.0", by_claims=True),
        "DRA driver 0.5.0 with Kubernetes 1.38.0",
        "unlisted",
    ),
    "newest-kubernetes": (
        build(kubernetes="1.37.9", by_claims=True),
        "DRA driver 0.5.0 with Kubernetes 1.37.9",
        "supported",
    ),
    "branch-after-all-known": (build(driver="611.1.1"), "DRA driver 0.5.0 with GPU driver 611.1.1", "unlisted"),
    "newest-branch": (build(driver="610.99.1"), "DRA driver 0.5.0 with GPU driver 610.99.1", "supported"),
    "toolkit-after-all-known": (build(toolkit="1.21.0"), "DRA driver 0.5.0 with container toolkit 1.21.0", "unlisted"),
    "newest-toolkit": (build(toolkit="1.20.9"), "DRA driver 0.5.0 with container toolkit 1.20.9", "supported"),
    "claims-after-all-known": (
        build(kubernetes="1.38.0", by_claims=True),
        "GPUCluster of 26.7.0 with Kubernetes 1.38.0",
        "unlisted",
    ),
    "release-that-nobody-knows": (build(dra="0.9.0"), "DRA driver 0.9.0", "unlisted"),
    "operator-without-claims": (
        build(operator="26.3.0", by_claims=True),
        "GPUCluster of GPU Operator 26.3.0",
        "unsupported",
    ),
    "operator-with-claims": (build(by_claims=True), "GPUCluster of GPU Operator 26.7.0", "supported"),
    "runtime-without-operator": (
        msgspec.structs.replace(build(runtime="2.2.1"), gpu_operator=None),
        "containerd 2.2.1",
        "unlisted",
    ),
    "runtime-whose-version-is-not-listed": (
        msgspec.structs.replace(
            build(), container_runtime=ContainerRuntime(name="crio", version=VersionRangeText("1.35.0"))
        ),
        "GPU Operator 26.7.0 with crio 1.35.0",
        "unlisted",
    ),
}


@pytest.mark.parametrize("name", ABOVE)
def test_what_nobody_tried_is_not_supported(name: str) -> None:
    spec, subject, word = ABOVE[name]
    assert ask(spec, subject).word == word


@pytest.mark.parametrize("version", ["v700.10.01", "700-1"])
def test_the_newest_branch_of_a_project_in_any_spelling(version: str) -> None:
    """Rows of a project's own: what they list is known, too."""
    facts = merge(operator_gpu_drivers=[{"line": "26.7", "release": None, "version": version, **OURS}])
    (found,) = [
        one
        for one in judge_stack(build(driver="650.1.1"), facts)
        if one.subject == "DRA driver 0.5.0 with GPU driver 650.1.1"
    ]
    assert found.word == "supported"


def test_what_no_table_speaks_of_is_named_and_counts_in_no_answer() -> None:
    foreign = DraDriver(name="nic-dra-driver", version="1.4.0", install="external")
    spec = build(by_claims=True)
    both = msgspec.structs.replace(spec, dra_drivers=(*spec.dra_drivers, foreign))
    assert list_unspoken(both, FACTS) == ("nic-dra-driver 1.4.0",)
    assert judge_stack(both, FACTS) == judge_stack(spec, FACTS)


def test_nothing_is_said_of_a_range() -> None:
    spec = build(kubernetes="1.36.x", runtime="2.2.x")
    assert not any("1.36" in one.subject or "containerd" in one.subject for one in judge_stack(spec, FACTS))


# --- every row at each boundary, from the rows themselves ---

Case = tuple[str, StackSpec, str, Word]  # id, stack, subject, answer


def _step(minor: str, by: int) -> str:
    major, number = minor.split(".")
    return f"{major}.{int(number) + by}"


def list_kubernetes() -> Iterator[Case]:
    """Below, first, last and above of each line, patches and a vendor's suffix; the maximum from its release on."""
    for line in FACTS.operator_lines:
        releases = [one.version for one in FACTS.operator_releases if one.line == line.line]
        newest = max(releases, key=parse_version)
        low, high, since = line.kubernetes_minimum, line.kubernetes_maximum, line.kubernetes_maximum_since
        disputed = {one.value for one in line.disagreements if one.field == "kubernetesMinimum"}
        below: Word = "disputed" if _step(low, -1) in disputed else "unsupported"
        for release in releases:
            last: Word = "unsupported" if since and parse_version(release) < parse_version(since) else "supported"
            for text, word in (
                (f"{_step(low, -1)}.99", below),
                (f"{_step(low, -2)}.0", "unsupported"),
                (f"{low}.0", "supported"),
                (f"v{low}.7-eks-1234", "supported"),
                (f"{high}.0", last),
                (f"{high}.99", last),
                (f"{_step(high, 1)}.0", "unlisted"),
            ):
                subject = f"GPU Operator {release} with Kubernetes {text}"
                yield f"{release}-{text}", build(operator=release, kubernetes=text), subject, word
        text = f"{_step(low, 1)}.3"
        yield (
            f"{newest}-between",
            build(operator=newest, kubernetes=text),
            f"GPU Operator {newest} with Kubernetes {text}",
            "supported",
        )


def list_gpu_drivers() -> Iterator[Case]:
    """Each listed driver, its first and last patch, one beside them, and a branch that isn't listed."""
    releases = {
        line.line: [f.version for f in FACTS.operator_releases if f.line == line.line] for line in FACTS.operator_lines
    }
    for line, versions in releases.items():
        for release in versions:
            rows = [f for f in FACTS.operator_gpu_drivers if f.line == line and f.release in (None, release)]
            texts: dict[str, Word] = {}
            for fact in rows:
                texts[fact.version] = texts[fact.version_maximum or fact.version] = "supported"
                texts.setdefault(f"{fact.version.split('.')[0]}.1.1", "unlisted")
            texts["999.1.1"] = "unsupported" if rows else "unlisted"
            for text, word in texts.items():
                yield (
                    f"{release}-{text}",
                    build(operator=release, driver=text),
                    f"GPU Operator {release} with GPU driver {text}",
                    word,
                )


def list_runtimes() -> Iterator[Case]:
    for line in FACTS.operator_lines:
        release = next(one.version for one in FACTS.operator_releases if one.line == line.line)
        low, high = line.containerd_minimum, line.containerd_maximum
        disputed = {one.value for one in line.disagreements if one.field == "containerdMaximum"}
        last: Word = "disputed" if disputed else "supported"
        for text, word in (
            (f"{_step(low, -1)}.9", "unsupported"),
            (f"{low}.0", "supported"),
            (f"{high}.9", last),
            (f"{_step(high, 1)}.0", "unlisted"),
        ):
            subject = f"GPU Operator {release} with containerd {text}"
            yield f"{release}-containerd-{text}", build(operator=release, runtime=text), subject, word


CASES = {name: rest for name, *rest in (*list_kubernetes(), *list_gpu_drivers(), *list_runtimes())}


@pytest.mark.parametrize("name", CASES)
def test_every_row_at_its_boundaries(name: str) -> None:
    spec, subject, word = CASES[name]
    found = ask(spec, subject)
    assert (found.word, bool(found.row)) == (word, True)


@pytest.mark.parametrize("fact", FACTS.driver_minimums, ids=lambda fact: f"{fact.part}-{fact.use}-{fact.install}")
def test_minimums_of_the_dra_driver(fact) -> None:  # type: ignore[no-untyped-def]
    """The least, and the patch before it; a part that no stack names isn't judged."""
    numbers = [int(part) for part in fact.minimum.removesuffix(".0").split(".")]
    earlier = ".".join(map(str, [*numbers[:-1], numbers[-1] - 1, 99]))
    row = f"driver-minimums.json {fact.part} {fact.use} {fact.install}"
    for text, word in ((fact.minimum, "supported"), (earlier, "unsupported")):
        fields = {"kubernetes": "kubernetes", "gpuDriver": "driver", "containerToolkit": "toolkit"}
        if fact.part not in fields or fact.use == "computeDomains":
            return
        spec = build(by_claims=fact.install == "gpuOperator", **{fields[fact.part]: text})
        assert [one.word for one in judge_stack(spec, FACTS) if one.row == row] == [word]
