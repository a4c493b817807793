"""What two documents of receipts have in common and what differs, as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from poolwright.specs.json_document import Part, build_schema, render_document
from poolwright.specs.model import ApiVersion

KIND: Final = "ReceiptComparison"

Outcome = Literal[
    "same",  # planned against observed: the very devices
    "other-device",  # of the same node
    "other-card",  # under the planned name another card is published now
    "other-node",
    "other-class",
    "unplanned-devices",  # the slot had none
    "missing",
    "extra",  # one more than the plan has of the workload
    "ghost",  # nobody plans it, or what it has isn't published
    "topology",
    "intact",  # before against after
    "moved",
    "gone",
    "reallocated",
    "released",
    "new",
    "unproven",
    "collision",
    "overlap",
]


class Row(Part, frozen=True, kw_only=True):
    """One thing that is the same, or differs."""

    outcome: Annotated[Outcome, Meta(description="What became of it.")]
    matters: Annotated[
        bool | None, Meta(description="Whether it is a difference to act on; null: what is there can't tell.")
    ]
    workload: Annotated[str | None, Meta(description="Namespace, kind and name; null: not known.")]
    first: Annotated[str | None, Meta(description="The planned, or earlier, receipt; null: there is none.")]
    second: Annotated[str | None, Meta(description="The observed, or later, receipt; null: there is none.")]
    sentence: Annotated[str, Meta(description="What differs, and why that matters or not.")]


class Comparison(Part, frozen=True, kw_only=True):
    """Two documents compared."""

    api_version: Annotated[ApiVersion, Meta(description="Version of this format.")]
    kind: Annotated[Literal["ReceiptComparison"], Meta(description="What this document is.")]
    cluster: Annotated[str, Meta(description="The cluster.")]
    of: Annotated[
        Literal["planned-observed", "before-after"],
        Meta(description="A plan against what is there, as multisets; or what was there against what is."),
    ]
    rows: Annotated[tuple[Row, ...], Meta(description="By workload, those of one receipt together.")]
    action: Annotated[str | None, Meta(description="What to do; null: nothing.")]

    @property
    def exit_code(self) -> int:
        """0: no difference that matters; 1: there are some; 2: whether there are isn't known."""
        found = {row.matters for row in self.rows}
        return 1 if True in found else 2 if None in found else 0


def render_comparison(comparison: Comparison) -> bytes:
    """The document, indented UTF-8."""
    return render_document(comparison)


def list_comparison_lines(comparison: Comparison) -> Iterator[str]:
    """The same for people: what matters first."""
    words = {True: "differs", None: "not known", False: "fine"}
    counts = {word: sum(row.matters is value for row in comparison.rows) for value, word in words.items()}
    said = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    yield f"{comparison.cluster}, {comparison.of.replace('-', ' against ')}: {said or 'nothing to compare'}"
    for value, word in words.items():
        for row in comparison.rows:
            if row.matters is value:
                yield f"  {word}: {row.sentence}"
    if comparison.action is not None:
        yield f"action: {comparison.action}"


def comparison_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the document."""
    return build_schema(Comparison, KIND)
