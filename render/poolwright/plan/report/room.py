"""How the room for more replicas is said: lines for people, a list for other tools, and that list's schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from poolwright.plan.what_if.room import Further, Room
from poolwright.specs.schema_parts import SchemaPart, build_count, build_list, build_maybe, build_object, build_text


def render_room(rooms: Sequence[Room]) -> Iterator[str]:
    """`room: search/rag-8b  +15 always, +15 at best`, a line for each workload."""
    names = max((len(one.workload) for one in rooms), default=0)
    for one in rooms:
        if one.always is None or one.best is None:
            said = f"not known: {'; '.join(one.reasons)}"
        else:
            said = f"{one.always} always, {one.best} at best"
        yield f"room: {one.workload:<{names}}  {said}"


def build_room_json(rooms: Sequence[Room]) -> list[dict[str, object]]:
    """What `room_schema` describes."""
    return [
        {
            "workload": one.workload,
            "always": _further(one.always),
            "atBest": _further(one.best),
            "reasons": list(one.reasons),
        }
        for one in rooms
    ]


def room_schema() -> SchemaPart:
    """The schema of the list."""
    return build_list(
        "What was asked for with --room: further replicas of one workload, all others staying as they are.",
        build_object(
            "A workload's room, about devices alone.",
            {
                "workload": build_text("Namespace and name."),
                "always": _further_schema("That every order would serve, with those there are; null: not judged."),
                "atBest": _further_schema("That some packing holds beside what it competes with; null: not judged."),
                "reasons": build_list("Why it isn't judged.", build_text("A sentence.")),
            },
        ),
    )


def _further(further: Further | None) -> dict[str, object] | None:
    return None if further is None else {"least": further.least, "most": further.most}


def _further_schema(description: str) -> SchemaPart:
    known = build_object(
        description,
        {
            "least": build_count("So many are proven to fit."),
            "most": build_maybe("integer", "More are proven not to; null: no number is."),
        },
    )
    return {"anyOf": [known, {"type": "null"}]}
