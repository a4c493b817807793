"""A row of the matrix: versions, hardware, claim pattern and serving image that are in use together."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from poolwright.specs.place import Place
from poolwright.specs.rehearsal import Combination, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What some placements run on together. It owes a record of each of the four steps."""

    stack: str
    place: Place  # where the stack has its name
    # With everything that is known: where `unresolved` says why not, a range or a word stands in a version's place.
    combination: Combination
    units: tuple[str, ...]  # `cluster/unit` of the placements, sorted
    unresolved: tuple[str, ...] = ()  # what keeps it from being one exact combination, in sentences

    @property
    def id(self) -> str:
        """`matrix[h100-sxm5-80gb/full/perPod/vllm]`: unique within the stack, whose versions say the rest."""
        return render_id(self.combination)

    def locate(self, step: Step | None = None) -> Place:
        """Where findings about the row stand, or about one of its steps: the stack, with the row as the field."""
        return replace(self.place, field=self.id if step is None else f"{self.id}.{step}")


def render_id(combination: Combination) -> str:
    """What a combination is called within its stack."""
    hardware, image = combination.hardware, combination.serving_image
    return f"matrix[{hardware.model}/{hardware.mode}/{combination.claim_pattern}/{image.name}]"
