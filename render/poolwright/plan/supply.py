"""What nodes have beside devices and what pods ask of it, in the whole numbers that the scheduler counts in.

Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/noderesources fitsRequest: a pod counts as one of `pods`,
and what it doesn't ask for never keeps it from a node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from poolwright.allocation.subject import Subject
from poolwright.catalog.inventory import Node
from poolwright.plan.verdict import NodeTotal
from poolwright.specs.quantity import NANO, Quantity, render_quantity

CPU: Final = "cpu"
PODS: Final = "pods"
_OF_EVERY_NODE: Final = (CPU, "ephemeral-storage", "memory", PODS)
_MILLI: Final = NANO // 1000
_NAMES: Final = {CPU: "CPU", "ephemeral-storage": "ephemeral storage", PODS: "pods per node"}
MAX_SHORT: Final = 2  # nodes that may run out of something, of those that a sentence names

Amounts = Mapping[str, int]  # by resource: of cpu thousandths, of all others whole ones; none is 0


class Supply:
    """The allocatable of nodes."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._of_node = {node.name: _count(node.allocatable) for node in nodes if node.allocatable}

    @property
    def is_known(self) -> bool:
        """Whether it is known of any node."""
        return bool(self._of_node)

    def find(self, node: str, resource: str) -> int | None:
        """What a node has of a resource; None: not known.

        Every node has CPU, memory, storage and room for pods: a capture that lacks them was cut short. Of anything else
        a node that says what it has, has none if it says none.
        """
        known = self._of_node.get(node)
        if known is None or (resource in _OF_EVERY_NODE and resource not in known):
            return None
        return known.get(resource, 0)

    def find_lack(self, node: str, requests: Amounts, used: Amounts) -> str | None:
        """The first resource by name of which a node has too little left for a pod; None: it has enough, or may have.

        used: by pods that are there.
        """
        for resource in sorted(requests):
            there = self.find(node, resource)
            if there is not None and used.get(resource, 0) + requests[resource] > there:
                return resource
        return None


def count_requests(pod: Subject) -> dict[str, int]:
    """What a pod takes of its node."""
    return {**{name: count for name, count in _count(pod.requests).items() if count > 0}, PODS: 1}


def name_resource(resource: str) -> str:
    """What people call it."""
    return _NAMES.get(resource, resource)


def say_amount(resource: str, count: int) -> str:
    """`16`, `223.84`, `128Gi`: what a count of a resource stands for, exactly; of CPU in cores."""
    if resource == CPU:
        return f"{count // 1000}.{count % 1000:03}".rstrip("0").rstrip(".")
    is_bytes = resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")
    return render_quantity(Quantity(count * NANO, "BinarySI"), binary=True) if is_bytes else str(count)


def say_total(resource: str, total: NodeTotal) -> str:
    """`62 of 96`."""
    return f"{say_amount(resource, total.most)} of {say_amount(resource, total.there)}"


def say_short(short: Mapping[str, Sequence[tuple[str, NodeTotal]]]) -> Iterator[str]:
    """Why devices alone don't decide.

    short: by node, the resources that it may run out of.
    """
    for node in sorted(short)[:MAX_SHORT]:
        for resource, total in short[node]:
            pods = ", ".join(f"{count} of {title}" for title, count in total.pods)
            with_whom = f", with {pods}" if pods else ""
            said = f"up to {say_total(resource, total)}{with_whom}"
            yield f"{name_resource(resource)} may run out on node {node} before its devices do: {said}"
    if len(short) > MAX_SHORT:
        yield f"the same may happen on {len(short) - MAX_SHORT} more of its nodes"


def _count(amounts: Mapping[str, Quantity]) -> dict[str, int]:
    return {name: -(-amount.nano // _MILLI) if name == CPU else amount.value_ceil for name, amount in amounts.items()}
