"""How further replicas are said: lines for people, a part of the JSON, and that part's schema."""

from __future__ import annotations

from collections.abc import Iterator

from poolwright.plan.report.changes import build_change_json, change_schema, say_change
from poolwright.plan.report.words import count_of
from poolwright.plan.what_if.additions import Growth
from poolwright.specs.schema_parts import SchemaPart, build_count, build_list, build_object, build_text


def render_growth(growth: Growth | None) -> Iterator[str]:
    """`with 2 more replicas of chat/chat-70b:` and the verdicts that change."""
    if growth is None:
        return
    added = ", ".join(f"{count_of(one.replicas, 'more replica')} of {one.workload}" for one in growth.added)
    yield f"with {added}:"
    for one in growth.changes:
        yield from (f"  {line}" for line in say_change(one))


def build_growth_json(growth: Growth | None) -> dict[str, object] | None:
    """What `growth_schema` describes."""
    if growth is None:
        return None
    before = growth.shortfall_before
    return {
        "added": [{"workload": one.workload, "replicas": one.replicas} for one in growth.added],
        "shortfallBefore": {"least": before.least, "most": before.most},
        "changes": [build_change_json(one) for one in growth.changes],
    }


def growth_schema() -> SchemaPart:
    """The schema of the part."""
    added = {
        "workload": build_text("Namespace and name."),
        "replicas": build_count("So many more; they are counted in everything that is said of the cluster."),
    }
    before = {"least": build_count("At least."), "most": build_count("At most.")}
    known = build_object(
        "What was added with --add; null: nothing.",
        {
            "added": build_list("By workload.", build_object("Further replicas.", added)),
            "shortfallBefore": build_object("The shortfall without them.", before),
            "changes": build_list("Verdicts that change.", change_schema("Without them.", "With them.")),
        },
    )
    return {"anyOf": [known, {"type": "null"}]}
