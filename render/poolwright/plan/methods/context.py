"""What every method works on: a demand with the shapes of its pods, and orders carried out for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

from poolwright.allocation.allocator import Allocator
from poolwright.allocation.held import DeviceId
from poolwright.allocation.placing import find_bar
from poolwright.catalog.resource_slice import Device
from poolwright.plan.demand import Demand, Workload
from poolwright.plan.device_order import DeviceOrder
from poolwright.plan.methods.acceptance import Acceptance, Shape
from poolwright.plan.methods.market import Handed
from poolwright.plan.replay import Replay
from poolwright.plan.supply import Supply
from poolwright.plan.verdict import Landing, Move, Witness


@dataclass(frozen=True, slots=True)
class Step:
    """A pod of a workload is to be placed on a node."""

    workload: int
    pod: int
    node: str
    devices: tuple[DeviceId, ...] = ()  # that it is meant to get, sorted; none: whichever it gets


@dataclass
class Context:
    """A demand and what was worked out for it."""

    demand: Demand
    acceptance: Acceptance
    shapes: tuple[tuple[Shape, ...], ...]  # by workload and pod
    titles: tuple[str, ...]
    ranks: dict[DeviceId, int] = field(default_factory=dict)  # the order in which a node's devices are tried
    shows: bool = True  # orders are carried out for exact verdicts too, to be shown
    barred: frozenset[int] = frozenset()  # workloads that no order may rest on: what they do isn't known
    uncertain: Mapping[int, str] = field(default_factory=dict)  # of these, those that may do without devices, and why
    supply: Supply | None = None  # orders go by what nodes have beside devices too; None: by devices alone

    @cached_property
    def turned(self) -> Allocator:
        """The allocator over the same devices, each slice's in the opposite order."""
        return self.demand.build_allocator("reversed")

    def with_supply(self) -> Context:
        """The same, where orders go by what nodes have beside devices."""
        return replace(self, supply=self.acceptance.supply) if self.acceptance.supply.is_known else self

    def narrow(self, demand: Demand, members: Sequence[int]) -> Context:
        """The same for some workloads, which compete with no other ones.

        demand: these alone, which need what they do here, but may have other numbers of replicas.
        """
        return replace(
            self,
            demand=demand,
            shapes=tuple(self.shapes[at] for at in members),
            titles=tuple(self.titles[at] for at in members),
            barred=frozenset(number for number, at in enumerate(members) if at in self.barred),
            uncertain={number: self.uncertain[at] for number, at in enumerate(members) if at in self.uncertain},
        )

    def list_steps(self, handed: Iterable[Handed]) -> list[Step]:
        """Steps for pods of one device, in the order of the devices."""
        steps = []
        for entry, device in handed:
            on_node = self.shapes[entry.workload][entry.pod].on_node
            node = next(name for name in self.acceptance.nodes_of[device] if device in on_node.get(name, ()))
            steps.append(Step(entry.workload, entry.pod, node, (device,)))
        return steps

    def list_landings(self, workload: int) -> tuple[Landing, ...]:
        """The hardware that a workload's pods may get."""
        found = set()
        for shape in self.shapes[workload]:
            for request, device in shape.alternatives:
                found.add(build_landing(self.acceptance.candidates[device].device, request))
        return tuple(sorted(found))

    def show(self, steps: Sequence[Step], workload: int, pod: int, *, target: int, replicas: int) -> Witness:
        """An order that leaves a workload with `target` of its pods, carried out as faithfully as can be.

        steps: of all others' pods, and of the workload's own; those of its own that still fit are added.
        """
        by_rank = sorted(steps, key=lambda step: [self.ranks.get(device, 0) for device in step.devices])
        partly: Witness | None = None
        for order in (by_rank, list(steps), list(reversed(steps))):
            witness = self.run(order, self.acceptance.allocator, workload, pod)
            if witness.placed == target:
                return witness
            if witness.placed < replicas and (partly is None or witness.placed < partly.placed):
                partly = witness
        first = tuple(dict.fromkeys(device for step in steps for device in step.devices))
        witness = self.run(steps, self.demand.build_allocator(first), workload, pod, device_order=first)
        if witness.placed == target:
            return witness
        return partly or Witness(moves=self._describe_steps(steps), placed=target, replays="not-replayed")

    def run(
        self, steps: Sequence[Step], allocator: Allocator, workload: int, pod: int, *, device_order: DeviceOrder = None
    ) -> Witness:
        """Carry out the steps that can be, then place what still fits of the workload's own pods.

        allocator: over devices in this order.
        """
        replay = Replay(self.demand, allocator, self.supply)
        placed = [[0] * len(one.pods) for one in self.demand.workloads]
        for step in steps:
            number = placed[step.workload][step.pod]
            if number < self.demand.workloads[step.workload].replicas:
                done = replay.place(step.workload, number, step.pod, step.node)
                placed[step.workload][step.pod] += done is not None
        shape, is_done = self.shapes[workload][pod], False
        while not is_done:
            is_done = True
            for node in shape.on_node:
                while placed[workload][pod] < self.demand.workloads[workload].replicas:
                    if replay.place(workload, placed[workload][pod], pod, node) is None:
                        break
                    placed[workload][pod] += 1
                    is_done = not shape.reached  # others of its nodes may be open now
        return Witness(
            moves=tuple(replay.moves),
            placed=placed[workload][pod],
            replays="now" if device_order is None else "after-reordering-or-restart",
            device_order=device_order,
        )

    def _describe_steps(self, steps: Sequence[Step]) -> tuple[Move, ...]:
        counts: dict[tuple[int, int], int] = {}
        moves = []
        for step in steps:
            key = step.workload, step.pod
            counts[key] = number = counts.get(key, -1) + 1
            moves.append(
                Move(
                    workload=self.titles[step.workload],
                    replica=number,
                    pod=step.pod,
                    node=step.node,
                    devices=step.devices,
                )
            )
        return tuple(moves)


def build_landing(device: Device, request: str) -> Landing:
    """The hardware that a device is, for a request or `request/alternative`."""
    said = {}
    for wanted in ("productName", "type"):
        found = next((one.value for (_, name), one in sorted(device.attributes.items()) if name == wanted), None)
        said[wanted] = found if isinstance(found, str) else ""
    alternative = request if "/" in request else ""
    return Landing(product=said["productName"] or device.driver, kind=said["type"], alternative=alternative)


def build_context(
    demand: Demand, *, shows: bool = True, like: Context | None = None, touched: Set[str] = frozenset()
) -> Context:
    """Ask for every pod's shape.

    like: of the demand that this one was made from, to ask only the nodes that were touched; see `Acceptance`.
    Cost: the devices of each node, squared, for every two pods that differ.
    """
    acceptance = Acceptance(demand, None if like is None else like.acceptance, touched)
    found = [acceptance.shape(workload, pod) for workload in demand.workloads for pod in workload.pods]
    settled = iter(acceptance.settle(found))
    shapes = tuple(tuple(next(settled) for _ in workload.pods) for workload in demand.workloads)
    ranks: dict[DeviceId, int] = {}
    for node in acceptance.nodes:
        for at, (_, candidate) in enumerate(acceptance.allocator.pools(node).candidates):
            ranks.setdefault(candidate.id, at)
    uncertain = {at: said for at, one in enumerate(demand.workloads) if (said := _find_uncertain(one, acceptance))}
    barred = frozenset(
        at
        for at, workload in enumerate(demand.workloads)
        if workload.unjudged or at in uncertain or any(shape.risk for shape in shapes[at])
    )
    titles = tuple(one.title for one in demand.workloads)
    return Context(demand, acceptance, shapes, titles, ranks, shows, barred, uncertain)


def _find_uncertain(workload: Workload, acceptance: Acceptance) -> str:
    """Why it isn't known if a workload needs devices; "": it is."""
    for pod in workload.pods:
        nodes = acceptance.list_served(pod)
        bar = find_bar(pod, nodes[0]) if nodes else None
        if bar is not None:
            more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
            return f"node {nodes[0].name}{more}: {bar.reason}"
    return ""
