"""Images of a stack, and how firmly a reference names what it names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from poolwright.specs.lock import ImageChoice, StackLock
from poolwright.specs.stack import ServingImage, StackSpec

Firmness = Literal["pinned", "versionOnly", "floating"]
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_MOVING: Final = re.compile(r"latest|main|master|stable|edge|nightly|dev(el)?|HEAD|v?[0-9]+(\.[0-9]+)?")


def choose_images(spec: StackSpec, digests: Mapping[str, str], previous: StackLock | None) -> dict[str, ImageChoice]:
    """The serving images by name.

    digests: that registries gave, by reference. One that they gave before is kept for the same reference.
    """
    return {
        image.name: _choose(image, digests, previous.images.get(image.name) if previous else None)
        for image in spec.serving_images
    }


def _choose(image: ServingImage, digests: Mapping[str, str], before: ImageChoice | None) -> ImageChoice:
    reference, _, digest = image.image.partition("@")
    if digest:
        return ImageChoice(image=reference, digest=digest, by="stack", reason="written in the stack")
    if reference in digests:
        return ImageChoice(
            image=reference, digest=digests[reference], by="registry", reason="what its registry has under the tag"
        )
    if before is not None and before.image == reference and before.digest is not None:
        return before
    return ImageChoice(image=reference, reason="the stack writes no digest, and no registry was asked")


def judge_image(reference: str) -> Firmness:
    """How firmly an image reference names an image: a digest decides, and a tag is a name that can move."""
    name, _, digest = reference.partition("@")
    if digest:
        return "pinned"
    tag = name.rpartition("/")[2].partition(":")[2]
    return "floating" if not tag or _MOVING.fullmatch(tag) else "versionOnly"


def judge_revision(revision: str, *, is_git: bool) -> Firmness:
    """The same of what an Application follows: a commit is pinned, a chart's exact version a name, all else moves."""
    if is_git:
        return "pinned" if _COMMIT.fullmatch(revision) else "floating"
    exact = re.fullmatch(r"v?[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?", revision)
    return "versionOnly" if exact else "floating"
