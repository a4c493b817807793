"""What may be called pinned."""

import pytest

from poolwright.rules.reference import Pinning, ReferenceKind, classify_reference

DIGEST = "sha256:" + "a" * 64
CASES: dict[str, tuple[ReferenceKind, str, Pinning]] = {
    "image-by-version": ("image", "nvcr.io/nvidia/driver:595.91.07-ubuntu24.04", "versionOnly"),
    # The digest decides; that the tag still means the same is for whoever is online to say.
    "image-by-version-and-digest": ("image", f"nvcr.io/nvidia/gpu-operator:v26.7.0@{DIGEST}", "pinned"),
    "image-by-latest": ("image", "vllm/vllm-openai:latest", "floating"),
    "image-by-digest": ("image", f"vllm/vllm-openai@{DIGEST}", "pinned"),
    "image-by-name": ("image", "vllm/vllm-openai", "floating"),
    "image-by-half-a-digest": ("image", "vllm/vllm-openai@sha256:abc", "floating"),
    "image-port-is-no-tag": ("image", "example.com:5000/vllm", "floating"),
    "image-after-a-port": ("image", "example.com:5000/vllm:v0.33.0", "versionOnly"),
    # 22 moves with every 22.x.
    "image-by-major-alone": ("image", "node:22", "floating"),
    "image-by-month": ("image", "nvcr.io/nvidia/pytorch:24.05-py3", "versionOnly"),
    "image-version-behind-a-word": ("image", "example.com/a:cu128-v0.5.1", "versionOnly"),
    "image-by-nightly": ("image", "vllm/vllm-openai:nightly", "floating"),
    "image-by-nightly-of-a-version": ("image", "example.com/a:1.2.3-nightly", "floating"),
    "image-by-commit": ("image", "vllm/vllm-openai:nightly-3f1c0de0123", "versionOnly"),
    "image-by-date": ("image", "example.com/a:20261130", "versionOnly"),
    "image-by-a-word": ("image", "example.com/a:prod", "floating"),
    "image-empty": ("image", "", "floating"),
    "chart-by-version": ("chart", "0.5.0", "versionOnly"),
    "chart-by-version-with-v": ("chart", "v26.7.0", "versionOnly"),
    "chart-by-wildcard": ("chart", "v26.*", "floating"),
    "chart-by-range": ("chart", ">=0.5.0", "floating"),
    "chart-by-caret": ("chart", "^0.5.0", "floating"),
    "chart-by-two-numbers": ("chart", "0.5", "floating"),
    "chart-by-nothing": ("chart", "", "floating"),
    "chart-by-digest": ("chart", DIGEST, "pinned"),
    "git-by-branch": ("git", "main", "floating"),
    "git-by-head": ("git", "HEAD", "floating"),
    "git-by-nothing": ("git", "", "floating"),
    "git-by-commit": ("git", "3f1c0de" + "0" * 33, "pinned"),
    "git-by-short-commit": ("git", "3f1c0de", "versionOnly"),
    "git-by-tag": ("git", "v1.2.3", "versionOnly"),
    "git-by-tag-reference": ("git", "refs/tags/release", "versionOnly"),
    # Letters alone may be a commit, and are more likely a branch.
    "git-by-a-word-of-hex-letters": ("git", "facade", "floating"),
}


@pytest.mark.parametrize(("kind", "text", "pinning"), CASES.values(), ids=CASES)
def test_classify_reference(kind: ReferenceKind, text: str, pinning: Pinning) -> None:
    assert classify_reference(kind, text) == pinning
