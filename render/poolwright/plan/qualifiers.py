"""What a verdict leaves open: devices of which not all is known, and devices that a driver may refuse to prepare.

Neither changes the word: the allocator does as it says. But a pod whose devices can't be prepared doesn't start.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.allocation.claim import EXACT_COUNT, Claim, ClaimRequest, Request
from poolwright.allocation.constraints import applies_to
from poolwright.allocation.held import DeviceId
from poolwright.plan.methods.context import Context
from poolwright.plan.verdict import Qualifier, Verdict

_NVIDIA: Final = "gpu.nvidia.com"
_FABRIC: Final = "partition"  # partition1, partition2, ...: published while the driver makes fabric partitions
MAX_NAMED: Final = 3


def list_qualifiers(context: Context, at: int, verdict: Verdict) -> tuple[Qualifier, ...]:
    """What qualifies the verdict of a workload, in a fixed order.

    unknown:      it may land on planned hardware of which no source confirms something, or a pool that could serve
                  it isn't complete; more of that can only make a verdict better, so a yes is not qualified by it.
    prepare-risk: the scheduler gives the devices, and the driver may refuse them when the pod starts.
    """
    unknown = list(_list_unconfirmed(context, at))
    if verdict.word != "always-fits":
        unknown += _list_incomplete(context, at)
    risks = dict.fromkeys(_list_fabric_risks(context, at))
    return (
        *(Qualifier(kind="unknown", reason=reason) for reason in unknown),
        *(Qualifier(kind="prepare-risk", reason=reason) for reason in risks),
    )


def _list_unconfirmed(context: Context, at: int) -> Iterator[str]:
    devices = frozenset[DeviceId]().union(*(shape.accepted for shape in context.shapes[at]))
    doubts = {doubt for one in devices for doubt in context.acceptance.candidates[one].device.unverified}
    if doubts:
        yield f"planned hardware of which no source confirms {_name(sorted(doubts))}"


def _list_incomplete(context: Context, at: int) -> Iterator[str]:
    """Pools of nodes that are open to it, of which slices are missing."""
    acceptance = context.acceptance
    found: dict[str, list[str]] = {}
    for pod in context.demand.workloads[at].pods:
        for node in acceptance.list_open(pod):
            for pool in acceptance.allocator.pools(node).pools:
                if pool.state == "incomplete":
                    names = found.setdefault(f"{pool.id[0]}/{pool.id[1]}", [])
                    names += [node.name] if node.name not in names else []
    for pool_name, nodes in sorted(found.items()):
        yield f"pool {pool_name} isn't complete, seen from {_name(nodes)}"


def _list_fabric_risks(context: Context, at: int) -> Iterator[str]:
    """Several GPUs for one claim that needn't be one fabric partition, where the driver insists on that."""
    for pod, shapes in zip(context.demand.workloads[at].pods, context.shapes[at], strict=True):
        options = iter(shapes.options)
        for claim in pod.claims:
            if claim.allocation is None:
                asked = [
                    (entry, any(_has_partitions(context, one.accepted) for one in next(options, ())))
                    for entry in claim.requests
                ]
                yield from _check_fabric(claim, [entry for entry, is_gpu in asked if is_gpu])


def _has_partitions(context: Context, devices: frozenset[DeviceId]) -> bool:
    return any(
        domain == _NVIDIA and name.removeprefix(_FABRIC).isdecimal()
        for one in devices
        for domain, name in context.acceptance.candidates[one].device.attributes
        if name.startswith(_FABRIC)
    )


def _check_fabric(claim: Claim, entries: list[ClaimRequest]) -> Iterator[str]:
    """claim: whose entries may be given GPUs of fabric partitions."""
    alternatives = [(entry.exactly,) if entry.exactly else entry.first_available for entry in entries]
    least = sum(min(map(_count, several)) for several in alternatives)
    most = sum(max(map(_count, several)) for several in alternatives)
    if most < 2:
        return
    is_known = least == most and all(one.mode == EXACT_COUNT for several in alternatives for one in several)
    wanted = f"{_NVIDIA}/{_FABRIC}{most if is_known else 'N'}"
    is_tied = is_known and any(
        tie.match_attribute == wanted and all(applies_to(tie, entry.name, "") for entry in entries)
        for tie in claim.constraints
    )
    if not is_tied:
        yield (
            f"its {f'{most} ' if is_known else ''}GPUs needn't be one fabric partition, which the driver refuses when "
            f"the pod starts: matchAttribute {wanted} makes them one"
        )


def _count(request: Request) -> int:
    return request.count if request.mode == EXACT_COUNT else 2  # all may be several


def _name(names: list[str]) -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f"{', '.join(names[:MAX_NAMED])}{more}"
