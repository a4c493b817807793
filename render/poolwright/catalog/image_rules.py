"""Serving images against the project's policy."""

from __future__ import annotations

from collections.abc import Iterator

from poolwright.specs.finding import Finding
from poolwright.specs.parse import Specs


def check_images(specs: Specs) -> Iterator[Finding]:
    """Images without a digest, where the policy is digests.

    specs: with the lock applied: a digest that stands there counts.
    """
    if specs.project.value.spec.policy.images != "digest":
        return
    used = {cluster.stack_name for cluster in specs.project.value.spec.clusters}
    for stack in specs.stacks:
        for index, image in enumerate(stack.value.spec.serving_images if stack.value.identity in used else ()):
            if "@" not in image.image:
                yield Finding(
                    code="image-not-pinned",
                    severity="error",
                    place=stack.place("spec", "servingImages", index, "image"),
                    what=f'image "{image.name}" has a tag and no digest',
                    why="a tag is a name that can come to mean another image; the project's policy is digests",
                    rule="poolwright.dev/v1alpha1: policy.images",
                    fix="write @sha256:..., or ask the registry: poolwright pin --online",
                )
