"""What a lock says put in the place of what stacks leave open: ranges, and images without a digest."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from poolwright.specs.lock import Choice, ImageChoice, Lock, StackLock
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.stack import DraDriver, ServingImage, Stack, StackSpec
from poolwright.specs.version import parse_version, parse_version_range

V = TypeVar("V", bound=str)


def apply_lock(specs: Specs, lock: Lock | None) -> Specs:
    """The specs with stacks as the lock has them; None: as they are.

    What the lock says counts where the stack's own text holds it: a stack that was changed since is read as it stands,
    and `poolwright pin --check` says so.
    """
    if lock is None:
        return specs
    return msgspec.structs.replace(
        specs, stacks=tuple(_pin(stack, lock.stacks.get(stack.value.identity)) for stack in specs.stacks)
    )


def _pin(stack: Spec[Stack], lock: StackLock | None) -> Spec[Stack]:
    if lock is None:
        return stack
    value = msgspec.structs.replace(stack.value, spec=pin_stack(stack.value.spec, lock))
    return Spec(value=value, document=stack.document)


def pin_stack(spec: StackSpec, lock: StackLock) -> StackSpec:
    """A stack with the lock's versions and digests, where they are in its ranges and of its images."""
    drivers = tuple(_pin_driver(one, lock.dra_drivers.get(one.name)) for one in spec.dra_drivers)
    images = tuple(_pin_image(one, lock.images.get(one.name)) for one in spec.serving_images)
    changed = {
        name: msgspec.structs.replace(part, version=choose_locked(part.version, choice))
        for name, part, choice in (
            ("kubernetes", spec.kubernetes, lock.kubernetes),
            ("gpu_operator", spec.gpu_operator, lock.gpu_operator),
            ("gpu_driver", spec.gpu_driver, lock.gpu_driver),
            ("container_runtime", spec.container_runtime, lock.container_runtime),
            ("container_toolkit", spec.container_toolkit, lock.container_toolkit),
        )
        if part is not None
    }
    return msgspec.structs.replace(spec, dra_drivers=drivers, serving_images=images, **changed)


def choose_locked(text: V, choice: Choice | None) -> V:
    """The lock's version in the place of a range that holds it; else the text."""
    if choice is None or not leaves_choice(text):
        return text
    return type(text)(choice.version) if parse_version_range(text).contains(parse_version(choice.version)) else text


def leaves_choice(text: str) -> bool:
    """Whether a stack's text is a range; False too of what is no version at all."""
    try:
        found = parse_version_range(text)
    except ValueError:
        return False
    return bool(found.lines) or len(found.exact) > 1


def _pin_driver(driver: DraDriver, choice: Choice | None) -> DraDriver:
    return msgspec.structs.replace(driver, version=choose_locked(driver.version, choice))


def _pin_image(image: ServingImage, choice: ImageChoice | None) -> ServingImage:
    if choice is None or choice.digest is None or "@" in image.image or choice.image != image.image:
        return image
    return msgspec.structs.replace(image, image=f"{image.image}@{choice.digest}")
