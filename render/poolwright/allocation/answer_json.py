"""An allocation answer for other tools: JSON by a published schema."""

from __future__ import annotations

import json
from typing import Final

from poolwright.allocation.answer import Answer, ClaimAnswer, SubjectAnswer
from poolwright.allocation.claim import AllocatedConfig, AllocatedDevice, Toleration
from poolwright.allocation.reasons.reason import Part, Reason

API_VERSION: Final = "poolwright.dev/v1alpha1"
KIND: Final = "AllocationList"
_Json = dict[str, object]


def render_answer_json(answer: Answer) -> str:
    """The document that `answer_schema` describes, in ASCII, ended by a line break. Texts are exact."""
    document: _Json = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "kubernetes": answer.kubernetes,
        "allocator": answer.channel,
        "featureGates": dict(answer.gates),
        "pods": [_subject(subject) for subject in answer.subjects],
        "claims": [_claim(claim) for claim in answer.claims],
        "asReleased": list(answer.as_released),
        "assumptions": {
            "modelled": list(answer.assumptions.modelled),
            "discharged": list(answer.assumptions.discharged),
            "assumed": list(answer.assumptions.assumed),
        },
        "notes": [
            {
                "code": note.code,
                "severity": note.severity,
                "file": note.place.file,
                "line": note.place.line,
                "what": note.what,
                "why": note.why,
                "rule": note.rule,
                "fix": note.fix,
            }
            for note in answer.notes
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _subject(subject: SubjectAnswer) -> _Json:
    return {
        "kind": subject.kind,
        "namespace": subject.namespace,
        "name": subject.name,
        "outcome": subject.outcome,
        "node": subject.node,
        "claims": [{"namespace": namespace, "name": name} for namespace, name in subject.claims],
        "reasons": [_reason(reason) for reason in subject.reasons],
    }


def _claim(claim: ClaimAnswer) -> _Json:
    allocation = claim.allocation
    return {
        "namespace": claim.namespace,
        "name": claim.name,
        "madeUp": claim.is_made_up,
        "pod": claim.subject,
        "outcome": claim.outcome,
        "node": claim.node,
        "devices": [] if allocation is None else [_device(device) for device in allocation.devices],
        "config": [] if allocation is None else [_config(config) for config in allocation.config],
        "nodeSelector": None if allocation is None else allocation.node_selector,
        "reasons": [_reason(reason) for reason in claim.reasons],
    }


def _device(device: AllocatedDevice) -> _Json:
    consumed = device.consumed_capacity or {}
    return {
        "request": device.request,
        "driver": device.driver,
        "pool": device.pool,
        "device": device.device,
        "adminAccess": bool(device.admin_access),
        "shareID": device.share_id,
        "consumedCapacity": {name: amount.canonical for name, amount in sorted(consumed.items())},
        "tolerations": [_toleration(toleration) for toleration in device.tolerations],
        "bindingConditions": list(device.binding_conditions),
        "bindingFailureConditions": list(device.binding_failure_conditions),
        "skipNodeOperations": list(device.skip_node_operations),
    }


def _toleration(toleration: Toleration) -> _Json:
    return {
        "key": toleration.key,
        "operator": toleration.operator,
        "value": toleration.value,
        "effect": toleration.effect,
        "tolerationSeconds": toleration.seconds,
    }


def _config(config: AllocatedConfig) -> _Json:
    return {"source": config.source, "requests": list(config.requests), "content": dict(config.content)}


def _reason(reason: Reason) -> _Json:
    return {
        "kind": reason.kind,
        "line": reason.line,
        "claim": reason.claim,
        "request": reason.request,
        "asked": reason.asked,
        "devices": reason.devices,
        "left": reason.left,
        "most": reason.most,
        "nodes": list(reason.nodes),
        "parts": [_part(part) for part in reason.parts],
        "hint": reason.hint,
    }


def _part(part: Part) -> _Json:
    return {
        "kind": part.kind,
        "owner": part.owner,
        "what": part.what,
        "line": part.line,
        "devices": part.devices,
        "have": list(part.have),
        "holders": list(part.holders),
        "examples": list(part.examples),
        "hint": part.hint,
    }
