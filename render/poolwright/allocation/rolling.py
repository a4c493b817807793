"""How a workload replaces its replicas by new ones, as its object says or the API server fills in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from poolwright.catalog.captured import CapturedField


@dataclass(frozen=True, slots=True)
class Share:
    """A number of replicas, or a percentage of them."""

    number: int
    is_percent: bool = False

    def count(self, replicas: int, *, rounds_up: bool) -> int:
        """How many of so many replicas that is."""
        if not self.is_percent:
            return self.number
        product = self.number * replicas
        return -(-product // 100) if rounds_up else product // 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Rolling:
    """What may be there beside the replicas that are wanted, and how many of them may be away, while they change."""

    surge: Share  # of a percentage rounded up
    unavailable: Share  # rounded down
    waits_for_all: bool = False  # ready replicas count from the last one of the surge: one that waits holds up all

    def count(self, replicas: int) -> tuple[int, int]:
        """Surge and unavailable replicas, neither more than the replicas; one of the two isn't zero.

        Source: kubernetes/kubernetes pkg/controller/deployment/util ResolveFenceposts.
        """
        surge = min(replicas, self.surge.count(replicas, rounds_up=True))
        unavailable = min(replicas, self.unavailable.count(replicas, rounds_up=False))
        return surge, unavailable if surge else max(unavailable, min(1, replicas))


NONE: Final = Share(0)
ALL: Final = Share(100, is_percent=True)
_QUARTER: Final = Share(25, is_percent=True)


def parse_rolling(root: CapturedField) -> Rolling | None:
    """How a workload rolls; None: its pods aren't replaced when its template changes, or node by node.

    Source: k8s.io/api apps/v1; leaderworkerset.x-k8s.io/v1, whose controller counts ready groups from the last one, a
    surged one first (pkg/controllers rollingUpdatePartition).
    """
    spec, kind = root.get("spec"), root.get("kind").text()
    if kind == "Deployment":
        if spec.get("strategy", "type").text() == "Recreate":
            return Rolling(surge=NONE, unavailable=ALL)
        given = spec.get("strategy", "rollingUpdate")
        return Rolling(
            surge=_parse_share(given.get("maxSurge"), _QUARTER),
            unavailable=_parse_share(given.get("maxUnavailable"), _QUARTER),
        )
    if kind == "StatefulSet":
        if spec.get("updateStrategy", "type").text() == "OnDelete":
            return None
        # Its maxUnavailable is behind a gate; whatever it is, a rollout comes to a stop where one pod has no room.
        return Rolling(surge=NONE, unavailable=Share(1))
    if kind == "LeaderWorkerSet":
        given = spec.get("rolloutStrategy", "rollingUpdateConfiguration")
        return Rolling(
            surge=_parse_share(given.get("maxSurge"), NONE),
            unavailable=_parse_share(given.get("maxUnavailable"), Share(1)),
            waits_for_all=True,
        )
    return None


def _parse_share(field: CapturedField, default: Share) -> Share:
    value = field.value
    if value is None:
        return default
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31:
        return Share(value)
    if isinstance(value, str) and value.endswith("%") and value[:-1].isascii() and value[:-1].isdigit():
        percent = value[:-1].lstrip("0") or "0"
        if len(percent) <= len("2147483647"):
            return Share(int(percent), is_percent=True)
    field.note("is neither a whole number of at least 0 nor a percentage", "it says how many replicas change at once")
    return default
