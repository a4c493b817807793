"""The work that placing takes on small worlds of the benchmark: a search that looks at more fails here, on any machine.

What is counted depends on no clock. A lower number is an improvement, to be written down here; a higher one is a loss.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass

import pytest

from fleet import FACTS, ROOT
from poolwright.allocation import attempt
from poolwright.allocation.allocator import Allocator
from poolwright.allocation.search import Search

sys.path.append(str(ROOT / "benchmarks"))  # last: benchmarks/fleet.py has the name of a module here
ours = importlib.import_module("allocate_ours")
worlds = importlib.import_module("allocate_worlds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """The work that the claims of a world took together."""

    placed: int
    attempts: int  # a claim on a node
    steps: int  # as upstream counts them
    looks: int  # at candidates
    evaluations: int  # of selectors on devices


# More claims than the nodes can serve, so that the last ones meet full nodes only.
SIZES = {
    "whole": worlds.Size(nodes=6, claims=60),
    "pairs": worlds.Size(nodes=6, claims=40),
    "mig": worlds.Size(nodes=3, claims=120),
}
CASES = {
    # 48 devices and a no from each of the 6 nodes: after it a node isn't asked again.
    "whole": (ours.place_remembering, Effort(placed=48, attempts=54, steps=198, looks=264, evaluations=2)),
    "pairs": (ours.place_remembering, Effort(placed=21, attempts=27, steps=284, looks=1652, evaluations=5)),
    "mig": (ours.place_remembering, Effort(placed=34, attempts=49, steps=151, looks=4508, evaluations=32)),
    # Every claim asks the nodes anew, as upstream does; no selector is run more often for it.
    "whole-asking": (ours.ask_every_node, Effort(placed=48, attempts=240, steps=384, looks=1752, evaluations=2)),
    "pairs-asking": (ours.ask_every_node, Effort(placed=21, attempts=196, steps=2039, looks=17044, evaluations=5)),
    "mig-asking": (ours.ask_every_node, Effort(placed=34, attempts=335, steps=437, looks=45224, evaluations=32)),
}


@pytest.mark.parametrize("name", CASES)
def test_placing_takes_no_more_work_than_it_did(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[Search] = []

    class Counted(Search):
        def run(self) -> bool:
            searches.append(self)
            return super().run()

    monkeypatch.setattr(attempt, "Search", Counted)
    build, expected = CASES[name]
    world_name = name.partition("-")[0]
    gates = FACTS.effective_gates(worlds.MINOR, {})
    world = ours.parse_world(worlds.build_world(world_name, SIZES[world_name], gates))
    allocator = Allocator(world.slices, world.classes, world.features)
    serve = build(allocator, world)
    found = Effort(
        placed=sum(serve(claim) is not None for claim in world.claims),
        attempts=len(searches),
        steps=sum(search.steps for search in searches),
        looks=sum(search.looks for search in searches),
        evaluations=allocator.knowledge.selectors.evaluations,
    )
    assert found == expected
