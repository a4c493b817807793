"""An allocation answer for people: a line a pod, its devices or its reasons below, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from poolwright.allocation.answer import Answer, ClaimAnswer, SubjectAnswer
from poolwright.allocation.claim import AllocatedDevice
from poolwright.allocation.reasons.reason import Reason

LONE: Final = "ResourceClaim"  # the kind of a subject that is no pod
MAX_REASONS: Final = 8  # of a pod; all of them are in the JSON form
_WORDS: Final = {
    "allocated": "allocated",
    "alreadyAllocated": "already allocated",
    "unsatisfied": "unsatisfied",
    "error": "error",
    "gaveUp": "not known",
}


def render_answer_text(answer: Answer) -> tuple[str, ...]:
    """The lines of an answer, not escaped: they quote objects that nobody vouches for."""
    claims = {(claim.namespace, claim.name): claim for claim in answer.claims}
    lines = [line for alike in _group(answer.subjects) for line in _render_subject(alike, claims)]
    released = [f"as released, {answer.kubernetes} is mistaken: {line}" for line in answer.as_released]
    return (*lines, *([""] if lines else []), _render_counts(answer), *released, *_render_assumptions(answer))


def _group(subjects: Sequence[SubjectAnswer]) -> Iterator[Sequence[SubjectAnswer]]:
    """Pods that a workload has yet to make stand together where the same stands against them."""
    alike: list[SubjectAnswer] = []
    for subject in subjects:
        if alike and not (subject.kind.endswith(" pod") and _say_why(subject) == _say_why(alike[0])):
            yield alike
            alike = []
        alike.append(subject)
    if alike:
        yield alike


def _say_why(subject: SubjectAnswer) -> tuple[object, ...]:
    lines = tuple(reason.line for reason in subject.reasons)
    return (subject.kind, subject.namespace, lines or subject.name)


def _render_subject(alike: Sequence[SubjectAnswer], claims: Mapping[tuple[str, str], ClaimAnswer]) -> Iterator[str]:
    subject = alike[0]
    more = f" and {len(alike) - 1} more" if len(alike) > 1 else ""
    where = f" on {subject.node}" if subject.node else ""
    yield f"{subject.title}{more}: {_WORDS[subject.outcome]}{where}"
    for key in subject.claims:
        claim = claims.get(key)
        if claim is not None and claim.allocation is not None:
            for device in claim.allocation.devices:
                yield f"  {_render_device(claim, device)}"
    for reason in subject.reasons[:MAX_REASONS]:
        yield f"  {_render_reason(reason, several=len(subject.claims) > 1)}"
        if reason.hint:
            yield f"    hint: {reason.hint}"
    if len(subject.reasons) > MAX_REASONS:
        yield f"  and {len(subject.reasons) - MAX_REASONS} more reasons (--format json has all)"


def _render_device(claim: ClaimAnswer, device: AllocatedDevice) -> str:
    notes = ["admin access"] if device.admin_access else []
    if device.share_id is not None:
        taken = [f"{name} {amount.canonical}" for name, amount in sorted((device.consumed_capacity or {}).items())]
        notes.append(f"a share: {', '.join(taken)}" if taken else "a share")
    for toleration in device.tolerations:
        effect = f":{toleration.effect}" if toleration.effect else ""
        seconds = "" if toleration.seconds is None else f" for {toleration.seconds}s"
        notes.append(f"tolerates {toleration.key or 'every taint'}{effect}{seconds}")
    said = f" ({'; '.join(notes)})" if notes else ""
    return f"{claim.name} {device.request}: {device.driver}/{device.pool}/{device.device}{said}"


def _render_reason(reason: Reason, *, several: bool) -> str:
    name = reason.claim.rpartition("/")[2]
    return f"{name}: {reason.line}" if several and name and reason.kind in ("devices", "constraint") else reason.line


def _render_counts(answer: Answer) -> str:
    if not answer.subjects:
        return "nothing that was asked about waits: neither a pod that has claims, nor a claim without a pod or devices"
    lone = sum(subject.kind == LONE for subject in answer.subjects)
    kinds = [_count(len(answer.subjects) - lone, "pod"), _count(lone, "claim without a pod", "claims without a pod")]
    counts = [
        f"{count} {word}"
        for outcome, word in _WORDS.items()
        if (count := sum(subject.outcome == outcome for subject in answer.subjects))
    ]
    return f"{', '.join(kind for kind in kinds if kind)}: {', '.join(counts)}"


def _count(count: int, one: str, many: str = "") -> str:
    return "" if not count else f"{count} {one if count == 1 else many or one + 's'}"


def _render_assumptions(answer: Answer) -> Iterator[str]:
    yield f"modelled: {'; '.join(answer.assumptions.modelled)}"
    yield f"assumed: {'; '.join(answer.assumptions.assumed)}"
