"""The serving images of a stack, with digests that somebody gave."""

from __future__ import annotations

from collections.abc import Mapping

from poolwright.specs.lock import ImageChoice, StackLock
from poolwright.specs.stack import ServingImage, StackSpec


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
    if before is not None and before.image == reference and before.by == "registry":  # what a stack took back is gone
        return before
    return ImageChoice(image=reference, reason="the stack writes no digest, and no registry was asked")
