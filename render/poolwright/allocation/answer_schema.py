"""The published JSON Schema of an allocation answer."""

from __future__ import annotations

from typing import get_args

from poolwright.allocation.answer import ClaimOutcome
from poolwright.allocation.answer_json import API_VERSION, KIND
from poolwright.allocation.reasons.reason import PartKind, ReasonKind

_Json = dict[str, object]


def answer_schema() -> _Json:
    """The JSON Schema (draft 2020-12) of the document. Every property is always present."""
    outcome: _Json = {"description": "What became of it.", "enum": list(get_args(ClaimOutcome))}
    node = _maybe("string", "Where it goes; null: nowhere, or to no node in particular.")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": KIND,
        **_object(
            "The devices kube-scheduler would give to pods and claims, as `poolwright allocate --format json` prints.",
            {
                "apiVersion": {"description": "Version of this format.", "const": API_VERSION},
                "kind": {"description": "What this document is.", "const": KIND},
                "kubernetes": _text("The minor version that was judged."),
                "allocator": {
                    "description": "Which of its allocators that version runs with these gates.",
                    "enum": ["stable", "incubating", "experimental"],
                },
                "featureGates": {
                    "description": "Gates that were set otherwise than by default.",
                    "type": "object",
                    "additionalProperties": {"type": "boolean"},
                },
                "pods": _list(
                    "Pods with claims, and claims without a pod, in the order they were placed.",
                    _object("One of them.", _subject_schema(outcome, node)),
                ),
                "claims": _list(
                    "Each claim once, by namespace and name.", _object("A claim.", _claim_schema(outcome, node))
                ),
                "asReleased": _list(
                    "What that version's release gives instead, where it is wrong and a later one mends it.",
                    _text("A sentence."),
                ),
                "assumptions": _object(
                    "What the answer rests on, in sentences.",
                    {
                        "modelled": _list("Looked at.", _text("A sentence.")),
                        "discharged": _list("Shown not to matter.", _text("A sentence.")),
                        "assumed": _list("Taken for granted.", _text("A sentence.")),
                    },
                ),
                "notes": _list(
                    "What was dropped or passed over while reading.",
                    _object(
                        "One of them.",
                        _note_schema(),
                    ),
                ),
            },
        ),
    }


def _note_schema() -> dict[str, _Json]:
    return {
        "code": _text("Which rule it is about: kebab-case and stable."),
        "severity": _text("error, warning or note."),
        "file": _text("The file."),
        "line": _count("Line, from 1; 0 where only the file is known."),
        "what": _text("What it is."),
        "why": _text("Why it matters."),
        "rule": _text("Whose rule it is."),
        "fix": _text("What to do."),
    }


def _subject_schema(outcome: _Json, node: _Json) -> dict[str, _Json]:
    key = {"namespace": _text("Its namespace."), "name": _text("Its name.")}
    return {
        "kind": _text("Pod, ResourceClaim, or a workload's kind and `pod`."),
        **key,
        "outcome": outcome,
        "node": node,
        "claims": _list("Its claims, in its order.", _object("A claim.", dict(key))),
        "reasons": _list("Why it isn't placed, the deciding ones first.", _reason_schema()),
    }


def _claim_schema(outcome: _Json, node: _Json) -> dict[str, _Json]:
    return {
        "namespace": _text("Its namespace."),
        "name": _text("Its name; of one that isn't there yet, made up from its pod's."),
        "madeUp": _flag("Whether the claim isn't there yet."),
        "pod": _text("What it was placed with, as kind, namespace and name."),
        "outcome": outcome,
        "node": node,
        "devices": _list("The devices it has, in the order they were given.", _device_schema()),
        "config": _list(
            "Configuration for the drivers, as in status.allocation.",
            _object(
                "An entry.",
                {
                    "source": {"description": "Where it comes from.", "enum": ["FromClass", "FromClaim"]},
                    "requests": _list("The requests it is for; none: all.", _text("A request.")),
                    "content": {"description": "The configuration as written.", "type": "object"},
                },
            ),
        ),
        "nodeSelector": _maybe(
            "object", "The nodes that can use it, a v1 NodeSelector; null: all, or it has no devices."
        ),
        "reasons": _list("Why it has no devices, the deciding ones first.", _reason_schema()),
    }


def _device_schema() -> _Json:
    return _object(
        "A device.",
        {
            "request": _text("The request, or request/alternative, that it is for."),
            "driver": _text("Its driver."),
            "pool": _text("Its pool."),
            "device": _text("Its name in the pool."),
            "adminAccess": _flag("Whether it was granted for administration."),
            "shareID": _maybe("string", "The share, if it isn't the whole device; upstream makes up another one."),
            "consumedCapacity": {
                "description": "What the share takes, by capacity.",
                "type": "object",
                "additionalProperties": _text("A quantity."),
            },
            "tolerations": _list("The request's tolerations, which eviction goes by.", _toleration_schema()),
            "bindingConditions": _list("Conditions that are waited for.", _text("A condition.")),
            "bindingFailureConditions": _list("Conditions that end the wait.", _text("A condition.")),
            "skipNodeOperations": _list("Operations that the node leaves out.", _text("An operation.")),
        },
    )


def _toleration_schema() -> _Json:
    return _object(
        "A toleration.",
        {
            "key": _text("The taint's key; empty: every one."),
            "operator": _text("Equal or Exists."),
            "value": _text("The taint's value, with Equal."),
            "effect": _text("The taint's effect; empty: every one."),
            "tolerationSeconds": _maybe("integer", "For how long; null: for ever."),
        },
    )


def _reason_schema() -> _Json:
    return _object(
        "A reason.",
        {
            "kind": {"description": "What it is about.", "enum": list(get_args(ReasonKind))},
            "line": _text("For people, complete in itself."),
            "claim": _text("Namespace and name of the claim; empty: of the pod as a whole."),
            "request": _text("The request; empty: of the claim as a whole."),
            "asked": _maybe("integer", "Devices wanted; null: all that match, or it isn't about a number."),
            "devices": _maybe("integer", "Devices looked at."),
            "left": _maybe("integer", "Devices that nothing stands against, one by one."),
            "most": _maybe("integer", "Of those, the most on one node."),
            "nodes": _list("The nodes it is about.", _text("A node.")),
            "parts": _list("What stands against which devices.", _part_schema()),
            "hint": _text("How to mend it, if that is known."),
        },
    )


def _part_schema() -> _Json:
    return _object(
        "Devices that fail for the same reason.",
        {
            "kind": {"description": "What stands against them.", "enum": list(get_args(PartKind))},
            "owner": _text("Of a clause: the class or request that has it."),
            "what": _text("The clause, taint, counters, ... in full."),
            "line": _text("For people."),
            "devices": _count("How many."),
            "have": _list("What they have instead, the most frequent first.", _text("Values.")),
            "holders": _list("Claims that are in the way.", _text("Namespace and name.")),
            "examples": _list("Some of them.", _text("driver/pool/device.")),
            "hint": _text("How to mend it, if that is known."),
        },
    )


def _object(description: str, properties: dict[str, _Json]) -> _Json:
    return {
        "description": description,
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def _list(description: str, items: _Json) -> _Json:
    return {"description": description, "type": "array", "items": items}


def _text(description: str) -> _Json:
    return {"description": description, "type": "string"}


def _flag(description: str) -> _Json:
    return {"description": description, "type": "boolean"}


def _count(description: str) -> _Json:
    return {"description": description, "type": "integer", "minimum": 0}


def _maybe(kind: str, description: str) -> _Json:
    return {"description": description, "type": [kind, "null"]}
