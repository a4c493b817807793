"""What `allocate` says of a cluster's pods and claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from poolwright.allocation.claim import Allocation
from poolwright.allocation.reasons.reason import Reason
from poolwright.specs.finding import Finding

ClaimOutcome = Literal["allocated", "alreadyAllocated", "unsatisfied", "error", "gaveUp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """What an answer rests on, in sentences without their full stop."""

    modelled: tuple[str, ...] = ()  # looked at
    discharged: tuple[str, ...] = ()  # shown not to matter
    assumed: tuple[str, ...] = ()  # taken for granted


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimAnswer:
    """What becomes of a claim."""

    namespace: str
    name: str
    is_made_up: bool = False  # it isn't there yet: made from a template or of extended resources, under a name of ours
    subject: str = ""  # the pod it is placed with, as Subject.title; empty: it was allocated before
    outcome: ClaimOutcome
    node: str | None = None  # None: none, or the claim binds its users to no single node
    allocation: Allocation | None = None
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectAnswer:
    """What becomes of a pod, or of a claim on its own."""

    kind: str
    namespace: str
    name: str
    outcome: ClaimOutcome
    node: str | None = None
    claims: tuple[tuple[str, str], ...] = ()  # namespace and name, in its order
    reasons: tuple[Reason, ...] = ()

    @property
    def title(self) -> str:
        """As Subject.title."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What becomes of everything that was given."""

    kubernetes: str  # the minor version that was judged
    channel: str  # the implementation that this version runs with its gates
    gates: tuple[tuple[str, bool], ...] = ()  # those that were set otherwise than by default
    subjects: tuple[SubjectAnswer, ...] = ()  # in the order they were placed
    claims: tuple[ClaimAnswer, ...] = ()  # each once, by namespace and name
    as_released: tuple[str, ...] = ()  # what the release gives instead where it is wrong and a later one isn't
    assumptions: Assumptions
    notes: tuple[Finding, ...] = ()  # what was dropped or passed over while reading

    @property
    def exit_code(self) -> int:
        """0: everything has its devices; 1: something has not; 2: of something it isn't known."""
        outcomes = {subject.outcome for subject in self.subjects}
        if outcomes & {"unsatisfied", "error"}:
            return 1
        return 2 if "gaveUp" in outcomes else 0
