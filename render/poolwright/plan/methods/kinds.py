"""The pods of a part of a demand by kind, and where their devices are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from poolwright.allocation.held import DeviceId
from poolwright.allocation.placing import MAX_USERS
from poolwright.allocation.subject import ClaimKey, claim_key
from poolwright.plan.methods.acceptance import Shape
from poolwright.plan.methods.context import Context

MANY: Final = 400  # pods of a part that is large


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """The pods of a workload that stand at one place of its replicas."""

    workload: int
    pod: int
    count: int
    shape: Shape
    is_barred: bool  # no order may rest on it
    is_local: bool  # each device that it takes is one node's alone
    takes_shares: bool  # a device may serve several of its pods
    shares: bool = False  # it uses a claim together with others, and they aren't all alike
    # Replicas that come to run with one of its pods: all of them, where they share all their claims. Then count is 1.
    weight: int = 1
    follows: int | None = None  # the kind, by index, whose pods' claims it shares all of: it runs if one of them does

    @property
    def is_own(self) -> bool:
        """Whether each of its pods needs what none other brings."""
        return self.weight == 1 and self.follows is None

    @property
    def size(self) -> int:
        """Devices that one of its pods takes at most."""
        return self.shape.most


@dataclass(frozen=True, slots=True)
class Field:
    """The kinds of a part that competes with no other one."""

    context: Context
    members: tuple[int, ...]
    kinds: tuple[Kind, ...]

    @property
    def is_large(self) -> bool:
        """Whether fewer orders are tried, and the first that leaves a pod out is shown."""
        return sum(kind.count for kind in self.kinds) > MANY

    @property
    def demanded(self) -> int:
        """Replicas."""
        return sum(self.context.demand.workloads[at].replicas for at in self.members)

    def home(self, device: DeviceId) -> str:
        """The first node that a device is for."""
        return self.context.acceptance.nodes_of[device][0]


def build_field(context: Context, members: Sequence[int]) -> Field:
    """The kinds of some workloads, in the demand's order."""
    kinds: list[Kind] = []
    users = _list_users(context, members)
    carriers: dict[frozenset[ClaimKey], int] = {}
    for at in members:
        workload = context.demand.workloads[at]
        for number, (pod, shape) in enumerate(zip(workload.pods, context.shapes[at], strict=True)):
            new = frozenset(claim_key(claim) for claim in pod.claims if claim.allocation is None)
            shared = new & workload.shared
            is_alike = bool(shared and workload.replicas) and _are_alike(context, new, users)
            first = carriers.setdefault(new, len(kinds)) if is_alike else len(kinds)
            is_first = first == len(kinds)
            kinds.append(
                Kind(
                    workload=at,
                    pod=number,
                    count=workload.replicas if not is_alike else int(is_first),
                    shape=shape,
                    is_local=all(len(context.acceptance.nodes_of[device]) == 1 for device in shape.accepted),
                    takes_shares=_takes_shares(context, shape),
                    is_barred=at in context.barred,
                    shares=bool(shared) and not is_alike,
                    weight=workload.replicas if is_alike else 1,
                    follows=None if is_first else first,
                )
            )
    return Field(context, tuple(members), tuple(kinds))


def _takes_shares(context: Context, shape: Shape) -> bool:
    acceptance = context.acceptance
    return any(acceptance.is_shareable(acceptance.candidates[device].device) for device in shape.accepted)


_Users = Mapping[ClaimKey, Sequence[tuple[int, int]]]  # workloads and their pods by claim


def _list_users(context: Context, members: Sequence[int]) -> _Users:
    users: dict[ClaimKey, list[tuple[int, int]]] = {}
    for at in members:
        workload = context.demand.workloads[at]
        for number, pod in enumerate(workload.pods if workload.replicas else ()):
            for claim in pod.claims:
                if claim.allocation is None and claim_key(claim) in workload.shared:
                    users.setdefault(claim_key(claim), []).append((at, number))
    return users


def _are_alike(context: Context, claims: frozenset[ClaimKey], users: _Users) -> bool:
    """Whether all who use these claims use all of them and no others, and may go to the same nodes.

    Then whoever of them comes first settles it for all: the others need nothing but to go to its node.
    """
    pods = {one for claim in claims for one in users.get(claim, ())}
    demand = context.demand
    found = set()
    for at, number in pods:
        workload = demand.workloads[at]
        own = frozenset(claim_key(claim) for claim in workload.pods[number].claims if claim.allocation is None)
        shape = context.shapes[at][number]
        is_whole = own == claims and own <= workload.shared and not workload.is_group and not shape.reached
        found.add((is_whole, frozenset(shape.on_node)))
    count = sum(demand.workloads[at].replicas for at, _ in pods)
    return count <= MAX_USERS and len(found) == 1 and all(is_whole for is_whole, _ in found)
