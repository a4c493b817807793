"""The pods of a part of a demand by kind, and where their devices are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from poolwright.allocation.held import DeviceId
from poolwright.allocation.subject import claim_key
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
    shares: bool  # its replicas use one claim together

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
    kinds = []
    for at in members:
        workload = context.demand.workloads[at]
        for number, (pod, shape) in enumerate(zip(workload.pods, context.shapes[at], strict=True)):
            new = [claim for claim in pod.claims if claim.allocation is None]
            kinds.append(
                Kind(
                    workload=at,
                    pod=number,
                    count=workload.replicas,
                    shape=shape,
                    is_local=all(len(context.acceptance.nodes_of[device]) == 1 for device in shape.accepted),
                    is_barred=at in context.barred,
                    shares=any(claim_key(claim) in workload.shared for claim in new),
                )
            )
    return Field(context, tuple(members), tuple(kinds))
