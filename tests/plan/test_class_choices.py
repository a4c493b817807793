"""Further classes that a placement may name: those that break no rule of specs."""

from __future__ import annotations

import pytest

from fleet import FACTS, edit, read_fleet
from poolwright.plan.what_if.class_choices import ClassChoice, list_class_choices
from poolwright.specs.parse import parse_specs

POOL = "specs/pools/h100-full.yaml"
# A class more in the pool, and whether the two placements may name it: of an envelope that takes what it is given, and
# of one on four devices.
CLASSES = {
    "same-tier-and-driver": ("tier: interactive, driver: gpu.nvidia.com, attributes: {type: [gpu]}", True),
    "other-tier": ("tier: batch, driver: gpu.nvidia.com, attributes: {type: [gpu]}", False),
    "other-driver": ("tier: interactive, driver: nic.example.com", False),
    "partitions-where-whole-devices-are-asked-for": (
        "tier: interactive, driver: gpu.nvidia.com, attributes: {type: [mig]}",
        False,
    ),
}


@pytest.mark.parametrize("name", CLASSES)
def test_further_classes(name: str) -> None:
    said, may_name = CLASSES[name]
    further = ("more",) if may_name else ()
    files = edit(read_fleet(), POOL, ("  deviceClasses:\n", f"  deviceClasses:\n    - {{name: more, {said}}}\n"))
    choices = list_class_choices(parse_specs(_keep_specs(files)), "east", FACTS)
    assert choices["chat/chat-70b"] == ClassChoice(named=("interactive-80g",), further=further)
    # Placed on another pool.
    assert choices["guard/guard-1b7"] == ClassChoice(named=("mig-20g",), further=())


def test_of_other_clusters_nothing_is_said() -> None:
    choices = list_class_choices(parse_specs(_keep_specs(read_fleet())), "lab-alpha", FACTS)
    assert set(choices) == {"guard/guard-1b7"}


def test_requests_beside_the_accelerators_of_the_same_class() -> None:
    """A further class would be for the accelerators alone, and requests of one class can't be told apart."""
    more = ("  deviceClasses:\n", "  deviceClasses:\n    - {name: more, tier: interactive, driver: gpu.nvidia.com}\n")
    files = edit(read_fleet(), POOL, more)
    assert list_class_choices(parse_specs(_keep_specs(files)), "east", FACTS)["chat/prefill-8b"].further == ()
    envelope = "specs/envelopes/prefill-8b/0.1.0.yaml"
    files = edit(files, envelope, ("deviceClassName: rdma-nic", "deviceClassName: interactive-80g"))
    assert list_class_choices(parse_specs(_keep_specs(files)), "east", FACTS)["chat/prefill-8b"].further == ()


def _keep_specs(files: dict[str, bytes]) -> dict[str, bytes]:
    return {path: text for path, text in files.items() if path.startswith(("specs/", "poolwright.yaml"))}
