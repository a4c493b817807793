"""The published JSON Schema of an allocation answer."""

from __future__ import annotations

from typing import get_args

from poolwright.allocation.answer import ClaimOutcome
from poolwright.allocation.answer_json import API_VERSION, KIND
from poolwright.allocation.reasons.reason import PartKind, ReasonKind
from poolwright.specs.schema_parts import (
    DIALECT,
    SchemaPart,
    build_count,
    build_flag,
    build_list,
    build_maybe,
    build_object,
    build_text,
)


def answer_schema() -> SchemaPart:
    """The JSON Schema (draft 2020-12) of the document. Every property is always present."""
    outcome: SchemaPart = {"description": "What became of it.", "enum": list(get_args(ClaimOutcome))}
    node = build_maybe("string", "Where it goes; null: nowhere, or to no node in particular.")
    return {
        "$schema": DIALECT,
        "title": KIND,
        **build_object(
            "The devices kube-scheduler would give to pods and claims, as `poolwright allocate --format json` prints.",
            {
                "apiVersion": {"description": "Version of this format.", "const": API_VERSION},
                "kind": {"description": "What this document is.", "const": KIND},
                "kubernetes": build_text("The minor version that was judged."),
                "allocator": {
                    "description": "Which of its allocators that version runs with these gates.",
                    "enum": ["stable", "incubating", "experimental"],
                },
                "featureGates": {
                    "description": "Gates that were set otherwise than by default.",
                    "type": "object",
                    "additionalProperties": {"type": "boolean"},
                },
                "pods": build_list(
                    "Pods with claims, and claims without a pod, in the order they were placed.",
                    build_object("One of them.", _subject_schema(outcome, node)),
                ),
                "claims": build_list(
                    "Each claim once, by namespace and name.", build_object("A claim.", _claim_schema(outcome, node))
                ),
                "asReleased": build_list(
                    "What that version's release gives instead, where it is wrong and a later one mends it.",
                    build_text("A sentence."),
                ),
                "assumptions": build_object(
                    "What the answer rests on, in sentences.",
                    {
                        "modelled": build_list("Looked at.", build_text("A sentence.")),
                        "discharged": build_list("Shown not to matter.", build_text("A sentence.")),
                        "assumed": build_list("Taken for granted.", build_text("A sentence.")),
                    },
                ),
                "notes": build_list(
                    "What was dropped or passed over while reading.",
                    build_object(
                        "One of them.",
                        _note_schema(),
                    ),
                ),
            },
        ),
    }


def _note_schema() -> dict[str, SchemaPart]:
    return {
        "code": build_text("Which rule it is about: kebab-case and stable."),
        "severity": build_text("error, warning or note."),
        "file": build_text("The file."),
        "line": build_count("Line, from 1; 0 where only the file is known."),
        "what": build_text("What it is."),
        "why": build_text("Why it matters."),
        "rule": build_text("Whose rule it is."),
        "fix": build_text("What to do."),
    }


def _subject_schema(outcome: SchemaPart, node: SchemaPart) -> dict[str, SchemaPart]:
    key = {"namespace": build_text("Its namespace."), "name": build_text("Its name.")}
    return {
        "kind": build_text("Pod, ResourceClaim, or a workload's kind and `pod`."),
        **key,
        "outcome": outcome,
        "node": node,
        "claims": build_list("Its claims, in its order.", build_object("A claim.", dict(key))),
        "reasons": build_list("Why it isn't placed, the deciding ones first.", _reason_schema()),
    }


def _claim_schema(outcome: SchemaPart, node: SchemaPart) -> dict[str, SchemaPart]:
    return {
        "namespace": build_text("Its namespace."),
        "name": build_text("Its name; of one that isn't there yet, made up from its pod's."),
        "madeUp": build_flag("Whether the claim isn't there yet."),
        "pod": build_text("What it was placed with, as kind, namespace and name."),
        "outcome": outcome,
        "node": node,
        "devices": build_list("The devices it has, in the order they were given.", _device_schema()),
        "config": build_list(
            "Configuration for the drivers, as in status.allocation.",
            build_object(
                "An entry.",
                {
                    "source": {"description": "Where it comes from.", "enum": ["FromClass", "FromClaim"]},
                    "requests": build_list("The requests it is for; none: all.", build_text("A request.")),
                    "content": {"description": "The configuration as written.", "type": "object"},
                },
            ),
        ),
        "nodeSelector": build_maybe(
            "object", "The nodes that can use it, a v1 NodeSelector; null: all, or it has no devices."
        ),
        "reasons": build_list("Why it has no devices, the deciding ones first.", _reason_schema()),
    }


def _device_schema() -> SchemaPart:
    return build_object(
        "A device.",
        {
            "request": build_text("The request, or request/alternative, that it is for."),
            "driver": build_text("Its driver."),
            "pool": build_text("Its pool."),
            "device": build_text("Its name in the pool."),
            "adminAccess": build_flag("Whether it was granted for administration."),
            "shareID": build_maybe("string", "The share, if it isn't the whole device; upstream makes up another one."),
            "consumedCapacity": {
                "description": "What the share takes, by capacity.",
                "type": "object",
                "additionalProperties": build_text("A quantity."),
            },
            "tolerations": build_list("The request's tolerations, which eviction goes by.", _toleration_schema()),
            "bindingConditions": build_list("Conditions that are waited for.", build_text("A condition.")),
            "bindingFailureConditions": build_list("Conditions that end the wait.", build_text("A condition.")),
            "skipNodeOperations": build_list("Operations that the node leaves out.", build_text("An operation.")),
        },
    )


def _toleration_schema() -> SchemaPart:
    return build_object(
        "A toleration.",
        {
            "key": build_text("The taint's key; empty: every one."),
            "operator": build_text("Equal or Exists."),
            "value": build_text("The taint's value, with Equal."),
            "effect": build_text("The taint's effect; empty: every one."),
            "tolerationSeconds": build_maybe("integer", "For how long; null: for ever."),
        },
    )


def _reason_schema() -> SchemaPart:
    return build_object(
        "A reason.",
        {
            "kind": {"description": "What it is about.", "enum": list(get_args(ReasonKind))},
            "line": build_text("For people, complete in itself."),
            "claim": build_text("Namespace and name of the claim; empty: of the pod as a whole."),
            "request": build_text("The request; empty: of the claim as a whole."),
            "asked": build_maybe("integer", "Devices wanted; null: all that match, or it isn't about a number."),
            "devices": build_maybe("integer", "Devices looked at."),
            "left": build_maybe("integer", "Devices that nothing stands against, one by one."),
            "most": build_maybe("integer", "Of those, the most on one node."),
            "nodes": build_list("The nodes it is about.", build_text("A node.")),
            "parts": build_list("What stands against which devices.", _part_schema()),
            "hint": build_text("How to mend it, if that is known."),
        },
    )


def _part_schema() -> SchemaPart:
    return build_object(
        "Devices that fail for the same reason.",
        {
            "kind": {"description": "What stands against them.", "enum": list(get_args(PartKind))},
            "owner": build_text("Of a clause: the class or request that has it."),
            "what": build_text("The clause, taint, counters, ... in full."),
            "line": build_text("For people."),
            "devices": build_count("How many."),
            "have": build_list("What they have instead, the most frequent first.", build_text("Values.")),
            "holders": build_list("Claims that are in the way.", build_text("Namespace and name.")),
            "examples": build_list("Some of them.", build_text("driver/pool/device.")),
            "hint": build_text("How to mend it, if that is known."),
        },
    )
