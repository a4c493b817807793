"""The waiver: an exception to one rule, with who answers for it and the day on which it ends."""

from __future__ import annotations

from typing import Annotated, TypeVar

from msgspec import Meta
from msgspec.structs import replace

from poolwright.specs.model import DateText, Model
from poolwright.specs.scalar import LabelValue, OneLine


class Waiver(Model, frozen=True, kw_only=True):
    """An exception: findings of one rule on this spec are warnings until a day."""

    rule: Annotated[OneLine, Meta(description="The rule, as it stands in brackets at the end of its findings.")]
    path: Annotated[
        OneLine | None,
        Meta(
            description="The field as findings print it after `at`, with everything below it; in the Project also a "
            "file that no other spec stands in, as FILE or FILE:FIELD. Default: the whole spec."
        ),
    ] = None
    reason: Annotated[OneLine, Meta(description="Why it is so, one sentence; every waived finding says it.")]
    owner: Annotated[LabelValue, Meta(description="The team that answers for it.")]
    expires: Annotated[DateText, Meta(description="The last day on which it counts.")]


Waivers = Annotated[
    tuple[Waiver, ...],
    Meta(max_length=256, description="Exceptions that people answer for, each until a day; nothing is rendered of it."),
]

M = TypeVar("M", bound=Model)


def strip_waivers(said: M) -> M:
    """What a spec says without its waivers: all that is rendered and judged of it."""
    return replace(said, waivers=()) if getattr(said, "waivers", ()) else said
