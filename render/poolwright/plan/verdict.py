"""What is said of a demand: per workload a word with counts and proofs, and what is true of all of them together.

The words are those of the design: `always` is the fewest replicas in any packing that can't be extended by another one
of the workload, `at_best` the most in any packing. Both speak of devices, and of what nodes are known to have beside
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from poolwright.allocation.held import DeviceId
from poolwright.plan.device_order import DeviceOrder
from poolwright.plan.sources import ReasonSource

Word = Literal["always-fits", "order-dependent", "unsatisfied", "undecided", "error"]
# How a witness comes true: with the devices in the order they are published in now; with them in another order, as a
# restarted driver may publish them; or the allocator wasn't brought to do it, and the packing alone is shown.
Replays = Literal["now", "after-reordering-or-restart", "not-replayed"]
Doubt = Literal["unknown", "prepare-risk"]  # not all is known; or a driver may refuse the devices when the pod starts
Method = Literal[
    "single-device flow",  # exact: every pod it competes with takes one device for itself
    "blocking flow",  # exact: one pod of several devices against pods of one
    "node search",  # exact: everything that each node may hold was listed
    "alone",  # no node can serve it, or nobody competes with it
    "running",  # every replica has its devices, so that nothing is to be placed
    "bounds and witnesses",  # a proof from above and below, each side by relaxation or by a replayed order
    "not judged",  # something that it goes by isn't modelled, or a selector fails
]


@dataclass(frozen=True, slots=True, order=True)
class Count:
    """A number that lies between two others; exact when they are equal."""

    least: int
    most: int

    @property
    def is_exact(self) -> bool:
        """Whether the number is known."""
        return self.least == self.most

    def __str__(self) -> str:
        return str(self.least) if self.is_exact else f"{self.least}-{self.most}"


def exactly(number: int) -> Count:
    """A number that is known."""
    return Count(number, number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A pod gets its devices on a node."""

    workload: str
    replica: int  # from 0
    pod: int = 0  # of the replica's pods
    node: str  # "": bound to none
    devices: tuple[DeviceId, ...] = ()  # of its new claims, sorted


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """An order with nodes that ends with so many replicas of a workload, and no room for another one."""

    moves: tuple[Move, ...]
    placed: int  # replicas of the workload that are complete; of a worst one with several pods each, at most
    replays: Replays
    device_order: DeviceOrder = None  # that it rests on; the published one but after a reordering

    def __post_init__(self) -> None:
        if (self.device_order is None) == (self.replays == "after-reordering-or-restart"):
            raise ValueError(f"{self.replays} with the device order {self.device_order}")


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Landing:
    """Hardware that some packing gives to a workload."""

    product: str  # the device's product, or its driver if it names none
    kind: str = ""  # the device's type, as published
    alternative: str = ""  # `request/alternative` of a firstAvailable, "" for others


@dataclass(frozen=True, slots=True, kw_only=True)
class Qualifier:
    """Something that a verdict leaves open."""

    kind: Doubt
    reason: str  # a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict of one workload."""

    workload: str
    word: Word
    replicas: int
    always: Count
    at_best: Count
    method: Method
    best: Witness | None = None  # places at_best.least; None: not needed for the word, or there is none
    worst: Witness | None = None  # leaves replicas out; of order-dependent
    lands_on: tuple[Landing, ...] = ()  # sorted
    # Further replicas that would still be always-fits, by devices alone; None: not known.
    headroom_always: int | None = None
    headroom_best: int | None = None  # further replicas that some packing holds beside everything, by devices alone
    reasons: tuple[str, ...] = ()  # sentences: what ended it, what it rests on
    qualifiers: tuple[Qualifier, ...] = ()  # what else stands between it and a pod that runs
    sources: tuple[ReasonSource, ...] = ()  # where reasons are written, as far as specs say it


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Replicas that compete for devices of which there are fewer."""

    pods: tuple[tuple[str, int], ...]  # by workload: its title and how many of its pods; in the demand's order
    demanded: int  # devices that they need at least
    devices: int  # that there are
    examples: tuple[DeviceId, ...] = ()  # the first few of the devices, sorted


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTotal:
    """What pods come to on a node at most, as far as devices let them be there together."""

    node: str
    most: int  # in the counts of `supply`
    there: int  # what the node has
    pods: tuple[tuple[str, int], ...] = ()  # pods that come to it, by workload; (): the total is a bound alone

    @property
    def is_enough(self) -> bool:
        """Whether the node never runs out of it."""
        return self.most <= self.there


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceBound:
    """What is proven of a resource of nodes beside devices."""

    resource: str
    known: int = 0  # nodes that pods asking for it may go to, and that are known to have so much of it
    unknown: int = 0  # those of which it isn't known what they have
    fullest: NodeTotal | None = None  # of those known, the one that can be filled most
    short: tuple[NodeTotal, ...] = ()  # where it may run out; by name


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdicts of a demand."""

    verdicts: tuple[Verdict, ...]  # in the demand's order
    demanded: int  # replicas
    shortfall: Count  # replicas that no packing holds beside the others
    over_demanded: tuple[Contest, ...] = ()  # where some stay without in every packing: canonical
    hall_sets: tuple[Contest, ...] = ()  # inclusion-minimal proofs of shortfalls, shortest of those found first
    resources: tuple[ResourceBound, ...] = ()  # beside devices; those that some pod asks for, by name
