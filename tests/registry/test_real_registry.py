"""Digests of a real registry are what it says itself, and the SHA-256 of its bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from asked import ask, chart, image, said

from loopback_registry import (
    CHART_CONFIG,
    DOCKER_LIST,
    DOCKER_MANIFEST,
    OCI_INDEX,
    OCI_MANIFEST,
    Registry,
    run_registry,
)
from needs import needs
from poolwright.pins.questions import Unanswered
from poolwright.registry.ask import ask_registries

needs("docker-registry")


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with run_registry(tmp_path_factory.mktemp("registry")) as found:
        yield found


def check(registry: Registry, name: str, pushed: str) -> None:
    stated, data = registry.read_manifest(name)
    assert ask(image(f"{registry.host}/{name}")) == stated == pushed == f"sha256:{hashlib.sha256(data).hexdigest()}"


@pytest.mark.parametrize("media_type", [OCI_MANIFEST, DOCKER_MANIFEST])
def test_an_image(media_type: str, registry: Registry) -> None:
    name = f"serving/one:{media_type[16:20]}"
    check(registry, name, registry.push_image(name, "one", media_type))


@pytest.mark.parametrize("media_type", [OCI_INDEX, DOCKER_LIST])
def test_an_image_for_several_architectures_is_its_index(media_type: str, registry: Registry) -> None:
    name = f"serving/several:{media_type[16:20]}"
    pushed = registry.push_index(name, {"amd64": "a", "arm64": "b"}, media_type)
    check(registry, name, pushed)
    assert pushed not in {registry.read_manifest(f"serving/several:{one}")[0] for one in ("amd64", "arm64")}


def test_without_a_tag_it_is_the_latest(registry: Registry) -> None:
    pushed = registry.push_image("serving/untagged:latest", "latest")
    assert ask(image(f"{registry.host}/serving/untagged")) == pushed


def test_a_digest_alone_is_looked_for(registry: Registry) -> None:
    pushed = registry.push_image("serving/exact:v1", "exact")
    assert ask(image(f"{registry.host}/serving/exact", pushed)) == pushed
    absent = "sha256:" + "a" * 64
    assert said(image(f"{registry.host}/serving/exact", absent)) == (
        "registry-lacks",
        f"{registry.host} has no such repository or tag (404)",
    )


def test_beside_a_digest_the_tag_is_what_is_asked_for(registry: Registry) -> None:
    pushed = registry.push_image("serving/both:v1", "both")
    assert ask(image(f"{registry.host}/serving/both:v1", "sha256:" + "a" * 64)) == pushed


def test_a_chart_by_its_version(registry: Registry) -> None:
    pushed = registry.push_image("charts/dra-driver:0.5.0_build.7", "chart", config_type=CHART_CONFIG)
    for repo_url in (f"{registry.host}/charts", f"oci://{registry.host}/charts"):
        assert ask(chart(repo_url, "dra-driver", "0.5.0+build.7")) == pushed


def test_what_is_no_chart_is_refused(registry: Registry) -> None:
    registry.push_image("charts/an-image:1.0.0", "image")
    registry.push_index("charts/an-index:1.0.0", {"amd64": "a"})
    for name in ("an-image", "an-index"):
        assert said(chart(f"{registry.host}/charts", name, "1.0.0")) == (
            "registry-lacks",
            f"what {registry.host} has under the name isn't a chart",
        )


@pytest.mark.parametrize("name", ["serving/one:v9", "serving/none:v1"])
def test_what_is_not_there_is_said(name: str, registry: Registry) -> None:
    assert said(image(f"{registry.host}/{name}")) == (
        "registry-lacks",
        f"{registry.host} has no such repository or tag (404)",
    )


def test_answers_come_in_the_order_of_questions(registry: Registry) -> None:
    names = [f"serving/many:v{number}" for number in range(12)]
    pushed = [registry.push_image(name, name) for name in names]
    questions = [image(f"{registry.host}/{name}") for name in (*names, "serving/none:v1")]
    answers = ask_registries(questions)
    assert list(answers) == questions
    assert list(answers.values())[:-1] == pushed
    assert isinstance(answers[questions[-1]], Unanswered)


def test_one_that_wants_a_password_is_refused(tmp_path: Path) -> None:
    (tmp_path / "htpasswd").write_text("")
    auth = {"htpasswd": {"realm": "basic", "path": str(tmp_path / "htpasswd")}}
    with run_registry(tmp_path, auth) as closed:
        assert said(image(f"{closed.host}/serving/one:v1")) == (
            "registry-denied",
            f"{closed.host} shows it to nobody without credentials (401)",
        )
