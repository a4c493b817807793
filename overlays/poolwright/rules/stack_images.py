"""Serving images of stacks against the project's policy."""

from __future__ import annotations

from collections.abc import Iterator

from poolwright.rules.reference import classify_reference
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Specs


def check_images(specs: Specs) -> Iterator[Finding]:
    """Images that nothing pins: where the policy is versions those that name none, where it is digests all without one.

    specs: with the lock applied: a digest that stands there counts.
    """
    policy = specs.project.value.spec.policy.images
    used = {cluster.stack_name for cluster in specs.project.value.spec.clusters}
    for stack in specs.stacks:
        for index, image in enumerate(stack.value.spec.serving_images if stack.value.identity in used else ()):
            pinning = classify_reference("image", image.image)
            if pinning == "pinned" or (policy == "version" and pinning == "versionOnly"):
                continue
            what = "names no version that holds still" if pinning == "floating" else "has a tag and no digest"
            yield Finding(
                code="image-not-pinned",
                severity="error",
                place=stack.place("spec", "servingImages", index, "image"),
                what=f'image "{image.name}" {what}',
                why=f"a tag is a name that can come to mean another image; the project's policy is {policy}s",
                rule="poolwright.dev/v1alpha1: policy.images",
                fix="write @sha256:..., or ask the registry: poolwright pin --online",
            )
