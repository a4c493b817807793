"""The constraints of a claim, checked on the devices that it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from poolwright.allocation.claim import Claim, Constraint
from poolwright.allocation.constraints import applies_to, build_constraint, find_attribute
from poolwright.allocation.features import Features
from poolwright.allocation.reasons.clauses import say_attribute
from poolwright.catalog.resource_slice import AttributeOnDevice, Device
from poolwright.receipts.document import Topology


def list_topology(claim: Claim, given: Sequence[tuple[str, Device | None]], features: Features) -> tuple[Topology, ...]:
    """Each constraint with the values of the devices that it ties.

    given: of each device of the claim the request, or `request/alternative`, and itself; None: no slice has it.
    """
    return tuple(_list(claim.constraints, given, features))


def _list(
    constraints: Sequence[Constraint], given: Sequence[tuple[str, Device | None]], features: Features
) -> Iterator[Topology]:
    for one in constraints:
        name = one.match_attribute or one.distinct_attribute
        if name is None:
            continue
        tied = [
            (request, None if device is None else find_attribute(device, name))
            for request, device in given
            if applies_to(one, request.partition("/")[0], request.partition("/")[2])
        ]
        yield Topology(
            kind="matchAttribute" if one.match_attribute else "distinctAttribute",
            attribute=name,
            requests=one.requests,
            values=tuple(None if of is None or of.value is None else say_attribute(of) for _, of in tied),
            is_met=_judge(one, tied, features),
        )


def _judge(
    constraint: Constraint, tied: Sequence[tuple[str, AttributeOnDevice | None]], features: Features
) -> bool | None:
    """Whether the allocator would take the devices together; None: a value isn't known."""
    known = [(request, of) for request, of in tied if of is not None and of.value is not None]
    state = build_constraint(constraint, features)
    if state is None:
        return None
    if not all(state.add(of, request.partition("/")[0]) for request, of in known):
        return False
    return True if len(known) == len(tied) else None
