"""Where the partitions of one accelerator can lie: profiles on the placements that the hardware has for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from poolwright.catalog.tables.hardware import MigProfileFact, Placement


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A partition of an accelerator, where it lies."""

    profile: MigProfileFact
    start: int  # memory slice
    size: int  # memory slices

    @property
    def slices(self) -> range:
        """The memory slices that it occupies."""
        return range(self.start, self.start + self.size)


def place_partitions(asked: Mapping[str, int], profiles: Sequence[MigProfileFact]) -> tuple[Partition, ...]:
    """What of a layout fits on one accelerator, by place: all of it, or the part that covers most memory.

    asked:    how many of each profile, by name; each must be among the profiles.
    profiles: those of the accelerator's model.
    Of several ways to lay the same partitions out the host takes one, which nobody can know before: here large ones
    come first, each as far back as it can.
    Cost:     the profiles' largest instance counts times 2 to the memory slices, at most 4,096 of them today.
    """
    by_name = {profile.name: profile for profile in profiles}
    wanted = [by_name[name] for name in sorted(asked, key=lambda name: _size_first(by_name[name]))]
    # More than its instance count never fits, whatever else there is.
    instances = [p for p in wanted for _ in range(min(asked[p.name], p.max_instances))]

    @cache
    def place(index: int, taken: int) -> tuple[int, tuple[Partition, ...]]:
        """Memory slices covered by the instances from index on, and where they lie, with `taken` of the slices gone."""
        if index == len(instances):
            return 0, ()
        best = place(index + 1, taken)
        for placement in sorted(instances[index].placements, key=lambda p: p.start, reverse=True):
            mask = _mask(placement)
            if not taken & mask:
                covered, rest = place(index + 1, taken | mask)
                here = Partition(profile=instances[index], start=placement.start, size=placement.size)
                if (covered + placement.size, len(rest) + 1) > (best[0], len(best[1])):
                    best = covered + placement.size, (here, *rest)
        return best

    return tuple(sorted(place(0, 0)[1], key=lambda partition: partition.start))


def count_profiles(partitions: Sequence[Partition]) -> dict[str, int]:
    """How many there are of each profile, large ones first."""
    counts: dict[str, int] = {}
    for partition in sorted(partitions, key=lambda partition: _size_first(partition.profile)):
        counts[partition.profile.name] = counts.get(partition.profile.name, 0) + 1
    return counts


def _size_first(profile: MigProfileFact) -> tuple[int, str]:
    return -max((placement.size for placement in profile.placements), default=0), profile.name


def _mask(placement: Placement) -> int:
    return ((1 << placement.size) - 1) << placement.start
