"""Devices that others use, as a plan's JSON lists them."""

from __future__ import annotations

from poolwright.plan.answer import ClusterAnswer
from poolwright.specs.schema_parts import SchemaPart, build_count, build_object, build_text


def list_reservations(answer: ClusterAnswer) -> list[dict[str, object]]:
    """What pools reserve, in the order of their files."""
    return [
        {
            "workload": one.name,
            "deviceClassName": one.class_name,
            "count": one.count,
            "owner": one.owner,
            "reason": one.reason,
        }
        for one in answer.cluster.reservations
    ]


def reservation_schema() -> SchemaPart:
    """The JSON Schema of one of them."""
    return build_object(
        "Devices that others use.",
        {
            "workload": build_text("What verdicts and witnesses call it; no namespace and name."),
            "deviceClassName": build_text("The class of the devices."),
            "count": build_count("How many, each as a claim of its own."),
            "owner": build_text("The team that uses them."),
            "reason": build_text("What for."),
        },
    )
