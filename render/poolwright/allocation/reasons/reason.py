"""Why a pod's claims have no devices: values that say it completely, each with one line for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from poolwright.allocation.reasons.clauses import is_about_driver

ReasonKind = Literal[
    "claim",  # it can't be placed whatever the nodes have: something is missing, being deleted, or against the rules
    "node",  # nodes that aren't open to the pod
    "pool",  # pools that nothing is given from
    "devices",  # what stands against each device for one request
    "constraint",  # a constraint that no choice of devices meets
    "together",  # requests or claims that could be served one by one
    "error",  # what ends the scheduling attempt
    "gave-up",  # the search took too long
    "mend",  # what would help; it was tried
]
PartKind = Literal["clause", "selector-error", "binding", "capacity", "held", "room", "counters", "taint"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Devices that fail for the same reason."""

    kind: PartKind
    what: str  # the clause, the counters, the taint, ...; in full
    owner: str = ""  # of a clause: `class NAME` or `request NAME`
    devices: int
    have: tuple[str, ...] = ()  # what they have instead, the most frequent first
    holders: tuple[str, ...] = ()  # claims that are in the way, `namespace/name`
    examples: tuple[str, ...] = ()  # some of the devices, `driver/pool/device`
    line: str  # for people
    hint: str = ""  # how to mend it, if that is known

    @property
    def is_foreign(self) -> bool:
        """Whether all that stands against them is that they are another driver's."""
        return self.kind == "clause" and is_about_driver(self.what)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One reason."""

    kind: ReasonKind
    line: str  # for people, complete in itself
    claim: str = ""  # `namespace/name`; empty: of the pod as a whole
    request: str = ""  # of kind devices and error, if it is about one
    asked: int | None = None  # devices wanted; None: all, or it isn't about a number
    devices: int | None = None  # looked at
    left: int | None = None  # that nothing stands against
    most: int | None = None  # of those left, the most on one node
    nodes: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    hint: str = ""  # how to mend it, if that is known
