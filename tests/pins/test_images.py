"""How firmly references name what they name."""

from __future__ import annotations

import pytest

from poolwright.pins.images import Firmness, judge_image, judge_revision

A, B = "sha256:" + "a" * 64, "sha256:" + "b" * 64
IMAGES: dict[str, Firmness] = {
    "registry.example.com/driver:595.91.07-ubuntu24.04": "versionOnly",
    # The digest decides, whatever the tag says.
    f"registry.example.com/gpu-operator:v26.7.0@{A}": "pinned",
    f"registry.example.com/vllm-openai@{B}": "pinned",
    "registry.example.com/vllm-openai:latest": "floating",
    "registry.example.com/vllm-openai": "floating",
    # A port is no tag.
    "registry.example.com:5000/vllm-openai": "floating",
    "registry.example.com/vllm-openai:v0": "floating",
}
REVISIONS: dict[tuple[str, bool], Firmness] = {
    ("0.5.0", False): "versionOnly",
    ("v26.*", False): "floating",
    (">=26.7.0", False): "floating",
    ("main", True): "floating",
    ("v1.2.3", True): "floating",  # a tag in Git can be moved
    ("3f1c0de000000000000000000000000000000000", True): "pinned",
    ("3f1c0de", True): "floating",
}


@pytest.mark.parametrize("reference", IMAGES)
def test_images(reference: str) -> None:
    assert judge_image(reference) == IMAGES[reference]


@pytest.mark.parametrize(("revision", "is_git"), REVISIONS)
def test_revisions(revision: str, is_git: bool) -> None:
    assert judge_revision(revision, is_git=is_git) == REVISIONS[revision, is_git]
