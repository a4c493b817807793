"""The depth-first search for devices: the first complete solution for all claims wins.

It visits what upstream's recursion visits, in the same order, and counts a step where that counts one. It has a stack
of its own, because a pod may ask for more devices than Python's has frames.

Source: k8s.io/dynamic-resource-allocation structured, allocator_incubating.go of v0.36 and v0.37.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from poolwright.allocation.claim import MAX_RESULTS
from poolwright.allocation.features import Features
from poolwright.allocation.need import Need, NeedsOfClaim
from poolwright.allocation.pools import Candidate, Pool
from poolwright.allocation.trial import Trial, Undo


class Found(Enum):
    """What a call comes back with."""

    YES = auto()
    NO = auto()
    TOO_MANY = auto()  # no, and all because one claim can't hold so many devices
    OPEN = auto()  # not back yet: the frame on top of the stack goes on


class SearchLimitError(Exception):
    """More candidates were looked at than may be."""


@dataclass(slots=True)
class _Frame:
    """A call that waits for another one."""

    position: _Position
    need: Need | None = None  # of a device; None: the end of a claim, or a choice among alternatives
    next: int = 0  # the candidate, or the alternative, to try next
    undo: Undo | None = None  # of the candidate that is taken at the moment
    started: bool = False
    all_too_many: bool = True  # of a choice


class _Position(NamedTuple):
    """Which device is looked for: the n-th of an alternative of a request of a claim."""

    claim: int = 0
    request: int = 0
    alternative: int = 0
    chosen: bool = False  # whether the alternative is settled
    device: int = 0
    start: int = 0  # the first candidate to look at


@dataclass(slots=True)
class Search:
    """One attempt for the claims of a pod on one node."""

    needs: Sequence[NeedsOfClaim]  # by claim
    candidates: Sequence[tuple[Pool, Candidate]]
    trial: Trial
    features: Features
    is_selectable: Callable[[Need, Pool, Candidate], bool]
    has_capacity: Callable[[Need, Candidate, Trial], bool]
    max_looks: int
    steps: int = 0
    looks: int = 0
    _stack: list[_Frame] = field(default_factory=list)

    def run(self) -> bool:
        """Whether there is a solution; then the trial holds it.

        Raises: what the callables raise, and SearchLimitError.
        """
        found = self._call(_Position())
        while self._stack and found is not Found.YES:
            found = self._resume(self._stack[-1], found)
        return found is Found.YES

    def chosen(self) -> dict[tuple[int, int], int]:
        """After a solution: the index of the alternative that each claim's request got."""
        return {
            (frame.position.claim, frame.position.request): frame.next - 1
            for frame in self._stack
            if frame.need is None and frame.position.request < len(self.needs[frame.position.claim])
        }

    def _call(self, at: _Position) -> Found:
        while True:
            self.steps += 1
            if at.claim >= len(self.needs):
                return Found.YES
            requests = self.needs[at.claim]
            if at.request >= len(requests):
                self._stack.append(_Frame(at))
                at = _Position(at.claim + 1)
                continue
            alternatives = requests[at.request]
            if not at.chosen and alternatives[0].alternative:
                self._stack.append(_Frame(at))
                return Found.OPEN
            need = alternatives[at.alternative]
            if need.all_devices is not None and not need.all_devices:
                return Found.NO
            if at.device >= need.count:
                at = _Position(at.claim, at.request + 1)
                continue
            if need.count - at.device > MAX_RESULTS - len(self.trial.results[at.claim]):
                return Found.TOO_MANY
            self._stack.append(_Frame(at, need, at.start))
            return Found.OPEN

    def _resume(self, frame: _Frame, found: Found) -> Found:
        if frame.need is not None:
            if frame.need.all_devices is not None:
                return self._take_next_of_all(frame, frame.need, found)
            return self._take_any(frame, frame.need, found)
        if frame.position.request >= len(self.needs[frame.position.claim]):
            self._stack.pop()
            # Another claim before it may leave this one an alternative with fewer devices.
            return Found.NO
        return self._choose(frame, found)

    def _choose(self, frame: _Frame, found: Found) -> Found:
        if found is Found.NO:
            frame.all_too_many = False
        at = frame.position
        if frame.next >= len(self.needs[at.claim][at.request]):
            self._stack.pop()
            return Found.TOO_MANY if frame.all_too_many else Found.NO
        frame.next += 1
        return self._call(_Position(at.claim, at.request, frame.next - 1, chosen=True))

    def _take_next_of_all(self, frame: _Frame, need: Need, found: Found) -> Found:
        if frame.started:
            self._take_back(frame)
            self._stack.pop()
            return found
        frame.started = True
        at = frame.position
        assert need.all_devices is not None  # noqa: S101 - the caller looked
        pool, candidate = need.all_devices[at.device]
        if self.looks >= self.max_looks:
            raise SearchLimitError
        self.looks += 1
        frame.undo = self.trial.take(need, pool, candidate, must=True)
        if frame.undo is None:
            self._stack.pop()
            return Found.NO
        return self._call(_Position(at.claim, at.request, at.alternative, at.chosen, at.device + 1))

    def _take_any(self, frame: _Frame, need: Need, found: Found) -> Found:
        if frame.undo is not None:
            self._take_back(frame)
            if found is Found.TOO_MANY:
                self._stack.pop()
                return found
        trial, candidates, is_taken = self.trial, self.candidates, self.trial.is_taken
        for index in range(frame.next, len(candidates)):
            pool, candidate = candidates[index]
            if self.looks >= self.max_looks:
                raise SearchLimitError
            self.looks += 1
            if is_taken(need, candidate) or not self.is_selectable(need, pool, candidate):
                continue
            if self.features.consumable_capacity and not self.has_capacity(need, candidate, trial):
                continue
            undo = trial.take(need, pool, candidate, must=False)
            if undo is None:
                continue
            frame.undo, frame.next = undo, index + 1
            at = frame.position
            start = index + 1
            if self.features.key < 36 and candidate.device.allow_multiple_allocations:
                start = index  # until 1.35 the search begins anew for each device, so one may give several shares
            return self._call(_Position(at.claim, at.request, at.alternative, at.chosen, at.device + 1, start))
        self._stack.pop()
        return Found.NO

    def _take_back(self, frame: _Frame) -> None:
        if frame.undo is not None:
            self.trial.give_back(frame.undo)
            frame.undo = None
