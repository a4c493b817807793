"""Our side of benchmarks/allocate.py: what `allocator -bench` of tests/oracle/allocator does, with our allocator.

    python benchmarks/allocate_ours.py < world.json
    python benchmarks/allocate_ours.py --ask-every-node < world.json

The answer has the oracle's form. Starting Python and reading the objects aren't counted in `seconds` and `cpu_seconds`,
as they aren't there; arranging what was read is counted, and so is compiling selectors.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from poolwright.allocation.allocator import Allocator
from poolwright.allocation.claim import Allocation, Claim, DeviceClass
from poolwright.allocation.features import Features
from poolwright.allocation.held import Held
from poolwright.allocation.outcome import Allocated, AttemptError, GaveUp
from poolwright.allocation.parse_objects import parse_objects
from poolwright.allocation.placing import Placer
from poolwright.allocation.subject import Subject
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import ResourceSlice
from poolwright.specs.document import parse_documents

Json = dict[str, Any]
Placed = tuple[str, Allocation]  # the node, and what the claim got there
_KINDS: Final = {
    "nodes": ("v1", "Node"),
    "classes": ("resource.k8s.io/v1", "DeviceClass"),
    "slices": ("resource.k8s.io/v1", "ResourceSlice"),
    "claims": ("resource.k8s.io/v1", "ResourceClaim"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What `allocate_worlds.build_world` made, as our values."""

    features: Features
    nodes: tuple[Node, ...]
    classes: dict[str, DeviceClass]
    slices: tuple[ResourceSlice, ...]
    claims: tuple[Claim, ...]


def main() -> int:
    """Read a world, allocate, print what came of it."""
    parser = argparse.ArgumentParser(description="Allocate a world's claims with Poolwright's allocator.")
    parser.add_argument("--ask-every-node", action="store_true", help="ask every node anew for every claim")
    options = parser.parse_args()
    world = parse_world(json.load(sys.stdin))
    build = ask_every_node if options.ask_every_node else place_remembering
    started, cpu_started = time.perf_counter(), time.process_time()
    allocator = Allocator(world.slices, world.classes, world.features)
    serve = build(allocator, world)
    placements = list(_list_placements(serve, world.claims))
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
    said = {
        "placed": len(placements),
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "evaluations": allocator.knowledge.selectors.evaluations,
        "placements": placements,
    }
    print(json.dumps(said))
    return 0


def parse_world(world: Json) -> World:
    """A world as values; features are as the world says."""
    items = [
        {"apiVersion": api, "kind": kind, **item} for group, (api, kind) in _KINDS.items() for item in world[group]
    ]
    # Without the lines that things stand on, which nobody asks for: finding them takes minutes for so many objects.
    (empty,) = parse_documents(b"{}", "world")
    objects = parse_objects(
        [msgspec.structs.replace(empty, value={"apiVersion": "v1", "kind": "List", "items": items})]
    )
    return World(
        features=Features(minor=world["minor"], **world["features"]),
        nodes=tuple(placed.value for placed in objects.nodes),
        classes={placed.value.name: placed.value for placed in objects.classes},
        slices=tuple(placed.value for placed in objects.slices),
        claims=tuple(placed.value for placed in objects.claims),
    )


def place_remembering(allocator: Allocator, world: World) -> Callable[[Claim], Placed | None]:
    """Up to the first node that can serve; what said no isn't asked for the same again. `allocate` asks them all."""
    placer = Placer(allocator, world.nodes, world.claims, looks_everywhere=False)

    def serve(claim: Claim) -> Placed | None:
        subject = Subject(kind="ResourceClaim", namespace=claim.namespace, name=claim.name, claims=(claim,))
        placement = placer.place(subject)
        if placement.node is None:
            return None
        return placement.node, placement.allocations[claim.namespace, claim.name]

    return serve


def ask_every_node(allocator: Allocator, world: World) -> Callable[[Claim], Placed | None]:
    """As upstream's allocator is driven: every claim asks the nodes from the first one on."""
    held = Held(world.features)

    def serve(claim: Claim) -> Placed | None:
        for node in world.nodes:
            outcome = allocator.allocate(node, (claim,), held)
            if isinstance(outcome, Allocated):
                held.add(outcome.allocations[0])
                return node.name, outcome.allocations[0]
            if isinstance(outcome, AttemptError | GaveUp):
                raise ValueError(f"{claim.title} on {node.name}: {outcome}")
        return None

    return serve


def _list_placements(serve: Callable[[Claim], Placed | None], claims: tuple[Claim, ...]) -> Iterator[list[Any]]:
    for claim in claims:
        placed = serve(claim)
        if placed is not None:
            node, allocation = placed
            yield [claim.name, node, [f"{one.driver}/{one.pool}/{one.device}" for one in allocation.devices]]


if __name__ == "__main__":
    sys.exit(main())
