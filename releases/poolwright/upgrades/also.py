"""What two locks differ in that no step of a plan covers: nothing that differs goes unsaid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from poolwright.pins.changes import Change, list_changes
from poolwright.specs.lock import Lock
from poolwright.upgrades.moves import Part
from poolwright.upgrades.steps import Step

_PARTS: Final[dict[str, Part]] = {
    "kubernetes": "kubernetes",
    "containerRuntime": "containerRuntime",
    "containerToolkit": "containerToolkit",
    "gpuOperator": "gpuOperator",
    "draDrivers": "draDriver",
    "gpuDriver": "gpuDriver",
    "images": "servingImage",
}
_BOUND: Final = "claim templates get another name with it, so that the unit's pods are made anew"
_DIGEST: Final = "the tag stays and the digest doesn't: pods that run it are made anew, each with a new claim"
_FORMAT: Final = "anything that is rendered may differ, and models may start again"
_ALONE: Final = "nothing that is chosen differs"
_Ends = dict[tuple[Part, str], tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Also:
    """A difference, and what comes of it where that isn't plain."""

    path: str  # `memoryBounds.east/chat`
    before: str | None  # None: it is new
    after: str | None  # None: it is gone
    reason: str = ""
    effect: str = ""


def list_also(before: Lock, after: Lock, plans: Mapping[str, Sequence[Step]]) -> tuple[Also, ...]:
    """The differences by path; one at least if the locks differ and there is no step.

    plans: the steps of stacks, by name.
    """
    ends = {name: _list_ends(steps) for name, steps in plans.items()}
    changes = [one for one in list_changes(before, after) if not _is_covered(one, ends)]
    found = [
        Also(path=one.path, before=one.before, after=one.after, reason=one.reason, effect=_find_effect(one, before))
        for one in changes
    ]
    found += _list_beside(before, after)
    if not found and not any(plans.values()) and before != after:
        found = [Also(path="reasons", before="those of the earlier lock", after="others", effect=_ALONE)]
    return tuple(sorted(found, key=lambda one: one.path))


def _list_ends(steps: Sequence[Step]) -> _Ends:
    """Where each component comes from and gets to."""
    ends: _Ends = {}
    for move in (step.move for step in steps):
        moved: list[tuple[Part, str, str, str]] = [(move.part, move.name, move.before, move.after)]
        moved += [("draDriver", *carried) for carried in move.carries]
        for part, name, old, new in moved:
            ends[part, name] = (ends.get((part, name), (old,))[0], new)
    return ends


def _is_covered(change: Change, plans: Mapping[str, _Ends]) -> bool:
    """Whether steps lead from the one to the other; of a chart, those of what it installs."""
    kind, *keys = change.path.split(".", 3)
    if kind != "stacks" or len(keys) < 2 or change.before is None or change.after is None:
        return False
    ends, field, name = plans.get(keys[0], {}), keys[1], keys[-1]
    old, new = (text.split(" ")[0] for text in (change.before, change.after))  # a digest comes after it
    if field == "charts":
        moved = {way for (part, _), way in ends.items() if part in ("gpuOperator", "draDriver")}
        return (old.removeprefix("v"), new.removeprefix("v")) in {
            (one.removeprefix("v"), two.removeprefix("v")) for one, two in moved
        }
    return field in _PARTS and ends.get((_PARTS[field], name)) == (old, new)


def _find_effect(change: Change, before: Lock) -> str:
    if change.path == "renderFormat":
        return _FORMAT
    if change.before is None or change.after is None:
        return ""
    if change.path.startswith("memoryBounds."):
        return _BOUND
    is_image = any(change.path == f"stacks.{stack}.images.{n}" for stack, s in before.stacks.items() for n in s.images)
    return _DIGEST if is_image and change.before.split(" ")[0] == change.after.split(" ")[0] else ""


def _list_beside(before: Lock, after: Lock) -> Iterator[Also]:
    """What is no choice of its own, and goes with one."""
    pairs: list[tuple[str, str, str]] = [("minPoolwright", before.min_poolwright, after.min_poolwright)]
    for stack in before.stacks.keys() & after.stacks.keys():
        old, new = before.stacks[stack].charts, after.stacks[stack].charts
        for name in old.keys() & new.keys():
            path = f"stacks.{stack}.charts.{name}"
            pairs.append((f"{path}.repository", old[name].repository, new[name].repository))
            pairs.append((f"{path}.crds", ", ".join(old[name].crds) or "none", ", ".join(new[name].crds) or "none"))
    for unit in before.memory_bounds.keys() & after.memory_bounds.keys():
        one, other = before.memory_bounds[unit], after.memory_bounds[unit]
        pairs.append((f"memoryBounds.{unit}.envelope", one.envelope, other.envelope))
    yield from (Also(path=path, before=one, after=other) for path, one, other in pairs if one != other)
