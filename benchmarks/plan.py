"""Verdicts of large clusters, and the loss of every node, against one plan that places each pod once.

    python benchmarks/plan.py
    python benchmarks/plan.py --world sizes --divide 10
    python benchmarks/plan.py --divide 4 --divide 2 --divide 1   # growth with a quarter, a half and all of the size

The peer places the same pods one after the other on the first node that can serve each, which is what a simulation of
one order comes to. Both run in one process, in turn. Figures measured: docs/benchmarks.md. Nothing here is a test.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Final, TypeVar

from poolwright.allocation.claim import Claim, ClaimRequest, DeviceClass, Request
from poolwright.allocation.features import Features
from poolwright.allocation.placing import Placer
from poolwright.allocation.subject import Subject
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import AttributeOnDevice, Device, Placement, ResourceSlice
from poolwright.plan.demand import Demand, Workload, build_subjects
from poolwright.plan.engine import judge
from poolwright.plan.what_if.loss import judge_losses

T = TypeVar("T")

DRIVER: Final = "gpu.example.com"
NODES, PODS, PER_NODE = 1250, 5000, 8
PRODUCTS: Final = 5
WANTED: Final = (0,) * 9 + (1,) * 4 + (2,) * 3 + (PRODUCTS,) * 4  # by workload; the last: any product
WORKLOADS: Final = len(WANTED)  # of those for the first product there are more than it has devices
SIZES: Final = {"singles": (1,), "sizes": (1, 2, 4, 8)}  # devices of a pod; workloads take turns
GROWTH: Final = (100, 10, 4, 2, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """CPU time in seconds, of one run each in turn."""

    placing: float
    verdicts: float
    losses: float | None
    words: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A demand's size, and what its runs took."""

    nodes: int
    pods: int
    runs: tuple[Figures, ...]


PARTS: Final[dict[str, Callable[[Figures], float | None]]] = {
    "one plan": lambda one: one.placing,
    "verdicts": lambda one: one.verdicts,
    "every node lost": lambda one: one.losses,
}


def build_demand(world: str, divisor: int) -> Demand:
    """Nodes of eight devices of five products; workloads that are alike in number, each for one product or for any."""
    nodes, pods = max(1, NODES // divisor), max(WORKLOADS, PODS // divisor)
    sizes = SIZES[world]
    taken = sum(sizes) / len(sizes)
    replicas = max(1, int(pods / WORKLOADS / (taken if taken > 1 else 1)))
    return Demand(
        workloads=tuple(_build_workload(at, replicas, sizes[at % len(sizes)]) for at in range(WORKLOADS)),
        nodes=tuple(Node(name=f"node-{at:05d}") for at in range(nodes)),
        slices=tuple(_build_slice(at) for at in range(nodes)),
        classes={"gpu": DeviceClass(name="gpu", selectors=(f"device.driver == '{DRIVER}'",))},
        features=Features(minor="1.37", prioritized_list=True, partitionable_devices=True, device_taints=True),
    )


def _build_slice(at: int) -> ResourceSlice:
    name = f"node-{at:05d}"
    product = AttributeOnDevice(type="string", value=f"product-{at % PRODUCTS}")
    devices = tuple(
        Device(driver=DRIVER, pool=name, name=f"gpu-{number}", attributes={(DRIVER, "product"): product})
        for number in range(PER_NODE)
    )
    return ResourceSlice(
        name=name,
        driver=DRIVER,
        pool=name,
        generation=1,
        slice_count=1,
        placement=Placement(node_name=name),
        devices=devices,
    )


def _build_workload(at: int, replicas: int, count: int) -> Workload:
    product = f"device.attributes['{DRIVER}'].product == 'product-{WANTED[at]}'"
    selectors = () if WANTED[at] == PRODUCTS else (product,)
    asked = Request(name="gpu", class_name="gpu", count=count, selectors=selectors)
    claim = Claim(namespace="team", name="gpu", requests=(ClaimRequest(name="gpu", exactly=asked),))
    pod = Subject(kind="Pod", namespace="team", name=f"w{at}", claims=(claim,))
    return Workload(title=f"team/w{at}", replicas=replicas, pods=(pod,))


def place_all(demand: Demand) -> int:
    """Place every pod once, on the first node that can serve it; how many found one."""
    placer = Placer(demand.build_allocator(), demand.nodes, (), looks_everywhere=False)
    return sum(placer.place(pod).is_placed for replica in build_subjects(demand) for pod in replica.pods)


def measure(world: str, divisor: int, *, losses: bool) -> Figures:
    """One run of each, in turn, on demands of their own."""
    placing, _ = _time(lambda: place_all(build_demand(world, divisor)))
    demand = build_demand(world, divisor)
    verdicts, judgement = _time(lambda: judge(demand))
    lost = _time(lambda: judge_losses(build_demand(world, divisor), "node"))[0] if losses else None
    words = [one.word for one in judgement.verdicts]
    return Figures(
        placing=placing, verdicts=verdicts, losses=lost, words={word: words.count(word) for word in sorted(set(words))}
    )


def _time(run: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def measure_size(world: str, divisor: int, runs: int, *, losses: bool) -> Size:
    """So many runs of one size."""
    found = tuple(measure(world, divisor, losses=losses) for _ in range(runs))
    demand = build_demand(world, divisor)
    return Size(nodes=len(demand.nodes), pods=sum(one.replicas for one in demand.workloads), runs=found)


def _list_lines(world: str, size: Size, smaller: Size | None) -> Iterator[str]:
    placed = [one.placing for one in size.runs]
    judged = [one.verdicts / one.placing for one in size.runs]
    yield f"{world}, {size.nodes} nodes, {size.pods} pods; {size.runs[0].words}"
    yield f"  one plan {median(placed):.2f} s; verdicts / one plan {_say(judged)}"
    lost = [one.losses / one.verdicts for one in size.runs if one.losses is not None]
    if lost:
        yield f"  every node lost / verdicts {_say(lost)}"
    if smaller is not None:
        yield f"  growth from {smaller.nodes} nodes: {', '.join(_list_growth(smaller, size))}"


def _list_growth(smaller: Size, size: Size) -> Iterator[str]:
    """By what each is multiplied, medians by medians; where time grows as the pods do, the numbers are the same."""
    yield f"pods x{size.pods / smaller.pods:.1f}"
    for what, pick in PARTS.items():
        before, after = ([pick(one) for one in part.runs] for part in (smaller, size))
        if None not in (*before, *after):
            yield f"{what} x{median(map(float, after)) / median(map(float, before)):.1f}"


def _say(ratios: list[float]) -> str:
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def main() -> int:
    """Measure what was asked for, from small to large."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--world", choices=sorted(SIZES), action="append", help="default: all")
    parser.add_argument("--divide", type=int, action="append", metavar="N", help="a part of the size; default: growth")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-losses", action="store_true")
    asked = parser.parse_args()
    for world in asked.world or sorted(SIZES):
        smaller: Size | None = None
        for divisor in asked.divide or GROWTH:
            size = measure_size(world, divisor, asked.runs, losses=not asked.no_losses)
            for line in _list_lines(world, size, smaller):
                print(line, flush=True)
            smaller = size
    return 0


if __name__ == "__main__":
    sys.exit(main())
