"""How what clears a shortfall is said: lines for people, a list for other tools, and that list's schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from poolwright.plan.report.contests import list_contested_first
from poolwright.plan.report.words import count_of
from poolwright.plan.verdict import Contest
from poolwright.plan.what_if.clearing import Clearing, Option
from poolwright.specs.schema_parts import SchemaPart, build_count, build_list, build_object, build_text

MAX_WORKLOADS: Final = 3  # that compete, of those that are named


def render_clearings(clearings: Sequence[Clearing], contests: Sequence[Contest]) -> Iterator[str]:
    """`shortfall of a, b: cleared by 2 more nodes like h100-0 (16 devices), or ...`.

    contests: the over-demanded ones of the same demand, whose members are named first.
    """
    for one in clearings:
        names = ", ".join(list_contested_first(one.workloads, contests)[:MAX_WORKLOADS])
        more = len(one.workloads) - MAX_WORKLOADS
        who = f"shortfall of {names}{f' and {more} more' if more > 0 else ''}"
        if one.options:
            said = ", or ".join(_say_option(option) for option in one.options)
            yield f"{who}: cleared by {said}; the fewest devices first, as nothing is known of prices"
            continue
        yield f"{who}: nothing was found that clears it"
        yield from (f"  {reason}" for reason in one.reasons)


def _say_option(option: Option) -> str:
    count = option.count
    said = f"{count_of(count.most, f'more {option.thing}')} like {option.like}"
    inside = [] if option.thing == "device" else [count_of(option.devices, "device")]
    if not count.is_exact:
        inside.append(f"at least {count.least} {'is' if count.least == 1 else 'are'} needed")
    return f"{said} ({'; '.join(inside)})" if inside else said


def build_clearings_json(clearings: Sequence[Clearing]) -> list[dict[str, object]]:
    """What `clearings_schema` describes."""
    return [
        {
            "workloads": list(one.workloads),
            "shortfall": {"least": one.shortfall.least, "most": one.shortfall.most},
            "options": [
                {
                    "thing": option.thing,
                    "like": option.like,
                    "count": {"least": option.count.least, "most": option.count.most},
                    "devices": option.devices,
                }
                for option in one.options
            ],
            "reasons": list(one.reasons),
        }
        for one in clearings
    ]


def clearings_schema() -> SchemaPart:
    """The schema of the list."""
    option: dict[str, SchemaPart] = {
        "thing": {"description": "Of what there would be more.", "enum": ["node", "device"]},
        "like": build_text("Like this one: a node's name, or driver/pool/device."),
        "count": _interval("So many more.", "Fewer are proven not to do.", "So many do."),
        "devices": build_count("That come with so many as do, and that these workloads take."),
    }
    return build_list(
        "Shortfalls that are certain, and more of what is there that clears each.",
        build_object(
            "A shortfall of workloads that compete with no other ones.",
            {
                "workloads": build_list("That compete.", build_text("Namespace and name.")),
                "shortfall": _interval("Replicas that no packing holds beside the others.", "At least.", "At most."),
                "options": build_list(
                    "Each by itself clears it; up to three, those with the fewest devices, these first.",
                    build_object("More hardware.", option),
                ),
                "reasons": build_list("Why there is none.", build_text("A sentence.")),
            },
        ),
    )


def _interval(description: str, least: str, most: str) -> SchemaPart:
    return build_object(description, {"least": build_count(least), "most": build_count(most)})
