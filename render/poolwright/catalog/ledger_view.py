"""The feature ledger to read: rows as lines of text, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from poolwright.catalog.feature_use import KUBERNETES
from poolwright.catalog.ledger import LedgerRow
from poolwright.catalog.ledger_answers import FIELDS, Answer, render_value

_NONE = "-"  # nothing is known, or nobody decided


def render_ledger(rows: Sequence[LedgerRow]) -> Iterator[str]:
    """Lines without line feeds: for each row its feature, what is known, what was decided, and who uses it.

    Disagreements stand beneath the field that they are about. No row: one line that says so.
    """
    if not rows:
        yield "no alpha or beta feature is in use"
    for number, row in enumerate(rows):
        if number:
            yield ""
        yield f"{row.title}, stack {row.use.stack} ({', '.join(row.use.clusters)})"
        for name, value in _list_fields(row):
            yield f"  {name:<18} {value}"
            for other in _list_others(row, name):
                yield f"  {'':<18} {other}"
        for reason in row.use.reasons:
            yield f"  {'used by':<18} {reason}"
        sources = sorted({source for answer in row.answers.values() for source in answer.sources})
        for source in sources:
            yield f"  {'source':<18} {source}"


def build_ledger_rows(rows: Sequence[LedgerRow]) -> list[dict[str, Any]]:
    """The rows as JSON-like data: every field is there, null where nothing is known or was decided."""
    return [_build_row(row) for row in rows]


def _list_fields(row: LedgerRow) -> Iterator[tuple[str, str]]:
    yield "Kubernetes", row.kubernetes
    if row.use.component != KUBERNETES:
        yield "GPU driver", row.gpu_driver or _NONE
        yield "Kubernetes gates", "; ".join(_list_gates(row)) or "none"
    for field in FIELDS:
        answer = row.answers[field]
        word = "" if answer.state == "known" else f" ({answer.state})"
        yield field, (_NONE if answer.value is None else render_value(answer.value)) + word
    decided = row.entry.value if row.entry else None
    yield "test cluster", (decided and decided.test_cluster_name) or _NONE
    yield "promotion owner", (decided and decided.promotion_owner) or _NONE
    yield "promotion criteria", (decided and decided.promotion_criteria) or _NONE
    yield "rollback", (decided and decided.rollback) or _NONE
    yield "evidence", ", ".join(f"{one.kind} {one.path}" for one in decided.evidence) if decided else _NONE


def _list_gates(row: LedgerRow) -> Iterator[str]:
    for gate in row.kubernetes_gates:
        state = {True: "on", False: "off", None: "not known to be on"}[gate.is_on]
        yield f"{gate.name} ({gate.stage or 'not known'}, {state})"


def _list_others(row: LedgerRow, name: str) -> Iterator[str]:
    answer = next((row.answers[field] for field in FIELDS if field == name), None)
    if answer is None:
        return
    for other in answer.others:
        yield f"{render_value(other.value)}, says {other.source}"
    if answer.settled is not None:
        yield f"{render_value(answer.settled.value)}, settled by {answer.settled.owner}: {answer.settled.source}"


def _build_row(row: LedgerRow) -> dict[str, Any]:
    use, decided = row.use, row.entry.value if row.entry else None
    return {
        "component": use.component,
        "feature": use.feature,
        "stack": use.stack,
        "clusters": list(use.clusters),
        "pools": list(use.pools),
        "usedBy": list(use.reasons),
        "version": row.component_version,
        "gpuDriver": row.gpu_driver,
        "kubernetes": row.kubernetes,
        "kubernetesGates": [{"name": one.name, "stage": one.stage, "on": one.is_on} for one in row.kubernetes_gates],
        **{field: _build_answer(row.answers[field]) for field in FIELDS},
        "testClusterName": decided.test_cluster_name if decided else None,
        "promotionOwner": decided.promotion_owner if decided else None,
        "promotionCriteria": decided.promotion_criteria if decided else None,
        "rollback": decided.rollback if decided else None,
        "evidence": [{"kind": one.kind, "path": one.path} for one in decided.evidence] if decided else [],
    }


def _build_answer(answer: Answer) -> dict[str, Any]:
    settled = answer.settled
    return {
        "value": _plain(answer.value),
        "state": answer.state,
        "sources": list(answer.sources),
        "others": [{"value": _plain(other.value), "source": other.source} for other in answer.others],
        "settledBy": {"owner": settled.owner, "source": settled.source} if settled else None,
    }


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
