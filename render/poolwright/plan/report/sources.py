"""Where it is written, in every report: behind a workload's row its placement, behind a reason the lines it is from."""

from __future__ import annotations

from collections.abc import Iterator

from poolwright.plan.demand import Demand
from poolwright.plan.verdict import Verdict
from poolwright.specs.place import Place
from poolwright.specs.schema_parts import SchemaPart, build_count, build_list, build_object, build_text

_Json = dict[str, object]


def say_origin(demand: Demand, verdict: Verdict) -> str:
    """`  (specs/placements/east.yaml:57:1)` for a workload that doesn't always fit; empty where no spec places it."""
    place = find_origin(demand, verdict)
    return "" if place is None or verdict.word == "always-fits" else f"  ({place})"


def say_reasons(verdict: Verdict) -> Iterator[str]:
    """The reasons, each with the places that it is from: `... (specs/pools/h100-full.yaml:24:15)`."""
    places = {one.reason: one.places for one in verdict.sources}
    for reason in verdict.reasons:
        found = dict.fromkeys(map(str, places.get(reason, ())))
        yield f"{reason} ({', '.join(found)})" if found else reason


def render_origin(demand: Demand, verdict: Verdict) -> _Json:
    """The part of a workload's JSON about its row."""
    place = find_origin(demand, verdict)
    return {"source": None if place is None else _render_place(place)}


def render_sources(verdict: Verdict) -> _Json:
    """The part of a verdict's JSON about its reasons."""
    return {
        "sources": [
            {"reason": one.reason, "places": [_render_place(place) for place in one.places]} for one in verdict.sources
        ]
    }


def build_origin_schema() -> dict[str, SchemaPart]:
    """The schema of `render_origin`."""
    place = build_object("Where its placement is written; null: no spec places it.", _build_place())
    return {"source": {"anyOf": [place, {"type": "null"}]}}


def build_sources_schema() -> dict[str, SchemaPart]:
    """The schema of `render_sources`."""
    said = {
        "reason": build_text("One of the reasons."),
        "places": build_list("At least one.", build_object("A place.", _build_place())),
    }
    return {"sources": build_list("Where reasons are written, as far as specs say it.", build_object("One.", said))}


def find_origin(demand: Demand, verdict: Verdict) -> Place | None:
    """Where a workload's placement is written; None: no spec places it."""
    origin = next((one.origin for one in demand.workloads if one.title == verdict.workload), None)
    return origin if isinstance(origin, Place) else None


def _render_place(place: Place) -> _Json:
    return {"file": place.file, "line": place.line, "column": place.column, "field": place.field}


def _build_place() -> dict[str, SchemaPart]:
    return {
        "file": build_text("Relative to the project."),
        "line": build_count("From 1; 0: only the file is known."),
        "column": build_count("From 1; 0: only the file is known."),
        "field": build_text("The field that stands there; empty: the whole document."),
    }
