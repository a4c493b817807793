"""Why a pod's claims have no devices: values that say it completely, each with one line for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
    what: str  # the clause, the counters, the taint, ...
    owner: str = ""  # of a clause: `class NAME` or `request NAME`
    devices: int
    have: tuple[str, ...] = ()  # what they have instead, the most frequent first
    holders: tuple[str, ...] = ()  # claims that are in the way, `namespace/name`
    examples: tuple[str, ...] = ()  # some of the devices, `driver/pool/device`
    line: str  # for people


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
    hint: str = ""  # of an error: how to mend it
