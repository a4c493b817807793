"""What one random case is about: its random numbers, its features, and which of them its objects make use of."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

Json = dict[str, Any]
T = TypeVar("T")

BETA: Final = (
    "admin_access",
    "prioritized_list",
    "partitionable_devices",
    "device_taints",
    "binding_conditions",
    "consumable_capacity",
)
LATER: Final[
    Mapping[str, tuple[str, ...]]
] = {  # what a minor has besides; all off by default but the fractional ranges
    "1.34": (),
    "1.35": (),
    "1.36": ("list_type_attributes",),
    "1.37": (
        "fractional_capacity_range",
        "list_type_attributes",
        "derived_attributes",
        "compatibility_groups",
        "optional_node_operations",
    ),
}
# A case is about a few of these, so that combinations of two to four are common and most cases can still be served.
THEMES: Final = (
    *("admin", "all", "alternatives", "binding", "configs", "constraints", "counters", "groups", "held", "limits"),
    *("lists", "node-operations", "oddities", "odd-capacity", "placement", "pools", "selectors", "shares", "taints"),
    "tight",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """The dice of a case and what was decided for all of it."""

    rng: random.Random
    minor: str
    features: Mapping[str, bool]
    used: Mapping[str, bool]  # by feature: whether objects have its fields; seldom if it's off, as after a switch-off
    themes: tuple[str, ...]
    drivers: tuple[str, ...]  # those that publish pools
    is_large: bool  # more devices than a claim may hold, and requests that find them without much search

    @property
    def key(self) -> int:
        return int(self.minor.partition(".")[2])

    def about(self, theme: str, *, at_most: float = 0.7, at_least: float = 0.04) -> bool:
        """Whether to do something that a theme is about: often in a case about it, seldom in others."""
        return self.rng.random() < (at_most if theme in self.themes else at_least * at_most)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def pick(self, options: Sequence[T]) -> T:
        return options[self.rng.randrange(len(options))]

    def some(self, options: Sequence[T], *, least: int = 1) -> list[T]:
        """A few of the options, in their order."""
        chosen = self.rng.sample(range(len(options)), self.rng.randint(min(least, len(options)), len(options)))
        return [options[index] for index in sorted(chosen)]


def build_draw(seed: int, minor: str) -> Draw:
    """The dice of a seed."""
    rng = random.Random(f"{minor}/{seed}")
    themes = tuple(sorted(rng.sample(THEMES, rng.choice((1, 2, 3, 3, 4, 5)))))
    features = _choose_features(rng, minor)
    # As of a cluster whose gate was on when the object was made.
    used = {name: on or rng.random() < 0.12 for name, on in features.items()}
    drivers = ("gpu.example.com", "nic.example.com") if rng.random() < 0.35 else ("gpu.example.com",)
    is_large = rng.random() < 0.02
    if is_large:
        themes, drivers = ("all", "alternatives", "limits", "tight"), drivers[:1]
    return Draw(rng=rng, minor=minor, features=features, used=used, themes=themes, drivers=drivers, is_large=is_large)


def _choose_features(rng: random.Random, minor: str) -> dict[str, bool]:
    # By default most of these are off before 1.36, where consumable capacity has errors that hide everything else.
    often = 0.9 if minor >= "1.36" else 0.5
    features = {name: rng.random() < (0.93 if name in BETA[:2] else often) for name in BETA}
    if rng.random() < 0.1:  # what the stable implementation of 1.36 and 1.37 can do
        features |= {"binding_conditions": False, "consumable_capacity": False}
    elif rng.random() < 0.05:
        features = dict.fromkeys(BETA, False)
    with_alpha = rng.random() < 0.4
    for name in LATER[minor]:
        if name == "fractional_capacity_range":
            features[name] = features["consumable_capacity"] and rng.random() < 0.8
        else:
            features[name] = with_alpha and rng.random() < 0.7
    return features
