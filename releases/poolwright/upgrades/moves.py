"""What moves from one set of versions to the next: hop by hop, in an order that stays supported."""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from msgspec.structs import replace

from poolwright.catalog.compatibility import judge_stack
from poolwright.catalog.facts import Facts
from poolwright.catalog.gates import is_nvidia_package
from poolwright.catalog.tables.driver_release import release_key
from poolwright.specs.lock import Choice, StackLock
from poolwright.specs.model import VersionRangeText
from poolwright.specs.stack import ContainerRuntime, ContainerToolkit, DraDriver, GpuDriver, ServingImage, StackSpec
from poolwright.specs.version import parse_version

Part = Literal[
    "kubernetes", "containerRuntime", "containerToolkit", "gpuOperator", "draDriver", "gpuDriver", "servingImage"
]
# What comes first where the facts don't mind: hosts before what runs on them, images last.
PARTS: Final[tuple[Part, ...]] = (
    "kubernetes",
    "containerRuntime",
    "containerToolkit",
    "gpuOperator",
    "draDriver",
    "gpuDriver",
    "servingImage",
)
_Versioned = ContainerRuntime | ContainerToolkit | GpuDriver
MAX_MINORS: Final = 20  # hops of Kubernetes that a plan lists; a way of more is one step, which is judged unsupported


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One component from one version to the next one on its way."""

    part: Part
    name: str  # of a DRA driver or an image; of another part the part's own
    before: str
    after: str
    carries: tuple[tuple[str, str, str], ...] = ()  # DRA drivers that an operator brings along: name, before, after

    @property
    def is_back(self) -> bool:
        """Whether it goes to an earlier version."""
        return _order(self.part, self.after) < _order(self.part, self.before)

    def reverse(self) -> Move:
        """The way back."""
        carries = tuple((name, after, before) for name, before, after in self.carries)
        return dataclasses.replace(self, before=self.after, after=self.before, carries=carries)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A stack after a move."""

    move: Move
    stack: StackSpec


def set_versions(spec: StackSpec, lock: StackLock) -> StackSpec:
    """A stack at the versions of a lock, whatever its own texts say; what the lock doesn't have stays.

    Of an earlier lock, give the stack at the later one's versions: a component that was added is then no step, and no
    range stays.
    """
    found = replace(
        spec,
        kubernetes=replace(spec.kubernetes, version=VersionRangeText(lock.kubernetes.version)),
        dra_drivers=tuple(_at(one, _version(lock.dra_drivers.get(one.name), one.version)) for one in spec.dra_drivers),
        serving_images=tuple(_at_image(one, lock) for one in spec.serving_images),
    )
    if found.gpu_operator:
        version = _version(lock.gpu_operator, found.gpu_operator.version)
        found = replace(found, gpu_operator=replace(found.gpu_operator, version=version))
    if found.gpu_driver:
        version = _version(lock.gpu_driver, found.gpu_driver.version)
        found = replace(found, gpu_driver=replace(found.gpu_driver, version=version))
    if found.container_toolkit:
        version = _version(lock.container_toolkit, found.container_toolkit.version)
        found = replace(found, container_toolkit=replace(found.container_toolkit, version=version))
    if found.container_runtime:
        version = VersionRangeText(_version(lock.container_runtime, found.container_runtime.version))
        found = replace(found, container_runtime=replace(found.container_runtime, version=version))
    return found


def _version(choice: Choice | None, text: str) -> str:
    return text if choice is None else choice.version


def _at_image(image: ServingImage, lock: StackLock) -> ServingImage:
    choice = lock.images.get(image.name)
    return image if choice is None else replace(image, image=choice.image)


def _at(driver: DraDriver, version: str) -> DraDriver:
    return replace(driver, version=version)


def plan_moves(before: StackSpec, after: StackSpec, facts: Facts) -> tuple[State, ...]:
    """The moves in an order with the fewest states that the facts call unsupported; of equal ones that of PARTS.

    Images come last, in their order, and aren't searched: no answer about a stack rests on them.

    before, after: the same stack at exact versions.
    Cost: the product of the lengths of all ways but the images', each state judged once.
    """
    found = [(part, track) for part in PARTS for track in _list_tracks(part, before, after, facts)]
    images = [track for part, track in found if part == "servingImage"]
    tracks = [track for part, track in found if part != "servingImage"]
    way = _find_order(before, tracks, facts)
    last = [len(tracks) + number for number, track in enumerate(images) for _ in track]
    return tuple(_walk(before, [*tracks, *images], [*way, *last]))


def _find_order(before: StackSpec, tracks: Sequence[Sequence[Move]], facts: Facts) -> tuple[int, ...]:
    """The number of the track that moves, for each move."""
    goal = tuple(len(track) for track in tracks)
    start = (0,) * len(tracks)
    queue: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = [(0, (), start)]
    seen: set[tuple[int, ...]] = set()
    judged = {goal: 0}  # the end is what is wanted, whatever is said of it
    while queue:
        cost, way, at = heapq.heappop(queue)
        if at == goal:
            return way
        if at in seen:
            continue
        seen.add(at)
        for number, track in enumerate(tracks):
            if at[number] < len(track):
                then = (*at[:number], at[number] + 1, *at[number + 1 :])
                if then not in judged:
                    judged[then] = _count_unsupported(_build(before, tracks, then), facts)
                heapq.heappush(queue, (cost + judged[then], (*way, number), then))
    raise AssertionError("the end can be reached by taking every way to its end")


def _walk(before: StackSpec, tracks: Sequence[Sequence[Move]], way: Sequence[int]) -> Iterator[State]:
    at, stack = [0] * len(tracks), before
    for number in way:
        move = tracks[number][at[number]]
        at[number] += 1
        stack = apply_move(stack, move)
        yield State(move=move, stack=stack)


def _build(before: StackSpec, tracks: Sequence[Sequence[Move]], at: Sequence[int]) -> StackSpec:
    for track, done in zip(tracks, at, strict=True):
        for move in track[:done]:
            before = apply_move(before, move)
    return before


def _count_unsupported(stack: StackSpec, facts: Facts) -> int:
    return sum(one.word == "unsupported" for one in judge_stack(stack, facts))


def apply_move(stack: StackSpec, move: Move) -> StackSpec:
    """The stack after a move, with what it brings along."""
    match move.part:
        case "kubernetes":
            return replace(stack, kubernetes=replace(stack.kubernetes, version=VersionRangeText(move.after)))
        case "containerRuntime" if stack.container_runtime:
            version = VersionRangeText(move.after)
            return replace(stack, container_runtime=replace(stack.container_runtime, version=version))
        case "containerToolkit" if stack.container_toolkit:
            return replace(stack, container_toolkit=replace(stack.container_toolkit, version=move.after))
        case "gpuOperator" if stack.gpu_operator:
            moved = {name: after for name, _, after in move.carries}
            drivers = tuple(_at(one, moved.get(one.name, one.version)) for one in stack.dra_drivers)
            operator = replace(stack.gpu_operator, version=move.after)
            return replace(stack, gpu_operator=operator, dra_drivers=drivers)
        case "draDriver":
            drivers = tuple(_at(one, move.after) if one.name == move.name else one for one in stack.dra_drivers)
            return replace(stack, dra_drivers=drivers)
        case "gpuDriver" if stack.gpu_driver:
            return replace(stack, gpu_driver=replace(stack.gpu_driver, version=move.after))
        case "servingImage":
            images = tuple(
                replace(one, image=move.after) if one.name == move.name else one for one in stack.serving_images
            )
            return replace(stack, serving_images=images)
    raise AssertionError(f"{move.part}: the stack has none")


def _list_tracks(part: Part, before: StackSpec, after: StackSpec, facts: Facts) -> Iterator[list[Move]]:
    """The ways of a part's components, each in its order."""
    match part:
        case "kubernetes":
            yield _chain(part, list(_list_minors(before.kubernetes.version, after.kubernetes.version, facts)))
        case "containerRuntime":
            yield from _single(part, before.container_runtime, after.container_runtime)
        case "containerToolkit":
            yield from _single(part, before.container_toolkit, after.container_toolkit)
        case "gpuOperator" if before.gpu_operator and after.gpu_operator:
            versions = list(_list_lines(before.gpu_operator.version, after.gpu_operator.version, facts))
            yield list(_bring(_chain(part, versions), before, after, facts))
        case "draDriver":
            for one in before.dra_drivers:
                other = next((other for other in after.dra_drivers if other.name == one.name), None)
                if other is not None and not _is_carried(one, before, after):
                    yield _chain(part, [one.version, other.version], one.name)
        case "gpuDriver":
            yield from _single(part, before.gpu_driver, after.gpu_driver)
        case "servingImage":
            for image in before.serving_images:
                then = next((then for then in after.serving_images if then.name == image.name), None)
                if then is not None:
                    yield _chain(part, [image.image, then.image], image.name)


def _single(part: Part, before: _Versioned | None, after: _Versioned | None) -> Iterator[list[Move]]:
    if before is not None and after is not None:
        yield _chain(part, [before.version, after.version])


def _chain(part: Part, versions: Sequence[str], name: str = "") -> list[Move]:
    return [Move(part=part, name=name or part, before=one, after=two) for one, two in pairwise(versions) if one != two]


def _is_carried(driver: DraDriver, before: StackSpec, after: StackSpec) -> bool:
    """Whether it is moved on the operator's way, by the operator or after it."""
    return driver.install == "gpuOperator" and before.gpu_operator is not None and after.gpu_operator is not None


def _bring(moves: Sequence[Move], before: StackSpec, after: StackSpec, facts: Facts) -> Iterator[Move]:
    """The operator's moves, each with the DRA drivers that it brings; at the end those that none of them brought.

    A release brings drivers only if its line manages them; of a line that isn't known the stack's word is taken. The
    last one brings what the stack says, which is judged against what its chart carries.
    """
    ends = {one.name: one.version for one in after.dra_drivers}
    now = {one.name: one.version for one in before.dra_drivers if _is_carried(one, before, after) and one.name in ends}
    for number, move in enumerate(moves, 1):
        line = facts.operator_line(move.after)
        carried = facts.operator_component(move.after, "draDriver")
        found = []
        for name, version in now.items() if line is None or line.manages_dra_driver else ():
            then = version
            if number == len(moves):
                then = ends[name]
            elif carried and carried.version and is_nvidia_package(name, facts):
                then = carried.version.removeprefix("v")
            if then != version:
                found.append((name, version, then))
        now |= {name: then for name, _, then in found}
        yield dataclasses.replace(move, carries=tuple(found))
    for name, version in now.items():
        yield from _chain("draDriver", [version, ends[name]], name)


def count_minors(before: str, after: str) -> int | None:
    """How many minor releases of Kubernetes lie between two versions, less than 0 on the way back; None: no number
    says it, as their majors differ.
    """
    one, two = (tuple(map(int, parse_version(text).minor.split("."))) for text in (before, after))
    return two[1] - one[1] if one[0] == two[0] else None


def _list_minors(before: str, after: str, facts: Facts) -> Iterator[str]:
    """Kubernetes goes one minor release at a time: the newest patch of each that is known."""
    yield before
    count = count_minors(before, after)
    if count is not None and abs(count) <= MAX_MINORS:
        major, low = map(int, parse_version(before).minor.split("."))
        for number in range(low + 1, low + count) if count > 0 else range(low - 1, low + count, -1):
            minor = f"{major}.{number}"
            known = [f.version for f in facts.releases if f.component == "kubernetes" and _is_minor(f.version, minor)]
            yield max(known, key=parse_version, default=f"{minor}.0")
    yield after


def _is_minor(version: str, minor: str) -> bool:
    return parse_version(version).minor == minor


def _list_lines(before: str, after: str, facts: Facts) -> Iterator[str]:
    """The operator goes from line to line as its life-cycle page says: the newest release of each on the way."""
    yield before
    ways = {line.line: line.upgrades_from for line in facts.operator_lines}
    for line in _find_way(ways, operator_line(before), operator_line(after))[1:-1]:
        known = [f.version for f in facts.operator_releases if f.line == line and f.verified]
        yield max(known, key=parse_version, default=f"{line}.0")
    yield after


def operator_line(version: str) -> str:
    """The line of a release of the operator, known or not: 26.7 of v26.7.2."""
    return ".".join(version.removeprefix("v").split(".")[:2])


def _find_way(ways: dict[str, tuple[str, ...]], start: str, end: str) -> list[str]:
    """The shortest way from line to line; start and end alone, if there is none: `judge_step` refuses that step."""
    reached: dict[str, list[str]] = {start: [start]}
    pending = [start]
    while pending:
        at = pending.pop(0)
        for line, sources in ways.items():
            if at in sources and line not in reached:
                reached[line] = [*reached[at], line]
                pending.append(line)
    return reached.get(end, [start, end])


def _order(part: Part, version: str) -> tuple[object, ...]:
    """Images are put in no order: a tag is a name."""
    if part == "servingImage":
        return ()
    found = parse_version(version)
    return (release_key(plain_numbers(version)), *found.key[1:]) if part == "draDriver" else found.key


def plain_numbers(version: str) -> str:
    """A version's numbers alone, three of them at least and without zeros in front: 580.173.2 of v580.173.02-1."""
    numbers = parse_version(version).key[0]
    return ".".join(map(str, (*numbers, *(0,) * (3 - len(numbers)))))
