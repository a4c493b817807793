"""A node of a selector that is ready to run."""

from __future__ import annotations

from poolwright.allocation.selectors.attributes import Chain, Choice, Run
from poolwright.allocation.selectors.values import MISSING, Value


class Planned:
    """What gives a node's value, and what may be known about it beforehand."""

    __slots__ = ("attribute", "constant", "run")

    def __init__(self, run: Run, *, constant: Value = MISSING, attribute: Chain | Choice | None = None) -> None:
        self.run = run  # charges for the node and all below it
        self.constant = constant  # MISSING: it isn't one
        self.attribute = attribute  # set: more steps may be added to it

    @classmethod
    def of_constant(cls, value: Value) -> Planned:
        """A node that always gives this, free of charge."""
        return cls(lambda _: value, constant=value)

    @property
    def is_constant(self) -> bool:
        """Whether its value is known."""
        return self.constant is not MISSING
