"""What became of a run, as people and programs read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from poolwright.argocd.runner.transfer import Packed
from poolwright.specs.document import Plain

# empty: a success without objects, which prunes everything. refused: printed, and no API server would take it.
Verdict = Literal["accepted", "empty", "refused", "failed", "no-plugin"]
_MOST_NAMED: Final = 20
_WORDS: Final[dict[Verdict, str]] = {
    "accepted": "accepted",
    "empty": "EMPTY",
    "refused": "refused",
    "failed": "failed",
    "no-plugin": "no plugin",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What Argo CD would make of a run."""

    verdict: Verdict
    reason: str = ""  # ours
    message: str = ""  # Argo CD's: what the Application's condition says
    hint: str = ""
    plugin: str = ""
    objects: tuple[Mapping[str, Plain], ...] = ()
    announced: tuple[Mapping[str, Plain], ...] | None = None  # parameters, where it was asked for them
    packed: Packed | None = None
    stderr: bytes = b""

    @property
    def is_accepted(self) -> bool:
        """Whether Argo CD would go on with it."""
        return self.verdict == "accepted"


def list_pruned(answer: Answer, previous: Iterable[Mapping[str, Plain]]) -> tuple[str, ...]:
    """Which of the objects that were there before an accepted or empty answer leaves out."""
    if answer.verdict not in ("accepted", "empty"):
        return ()
    now = {_identity(one) for one in answer.objects}
    return tuple(sorted({name_object(one) for one in previous if _identity(one) not in now}))


def name_object(document: Mapping[str, Plain]) -> str:
    """Kind, namespace and name."""
    _, kind, namespace, name = _identity(document)
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def _identity(document: Mapping[str, Plain]) -> tuple[str, str, str, str]:
    """What Argo CD tells objects apart by; a version of the group isn't among it."""
    metadata = document.get("metadata")
    names = metadata if isinstance(metadata, dict) else {}
    group = str(document.get("apiVersion", "")).rpartition("/")[0]
    return group, str(document.get("kind", "")), str(names.get("namespace") or ""), str(names.get("name") or "")


def list_lines(answer: Answer, pruned: tuple[str, ...] | None) -> list[str]:
    """The verdict, the reason, and the objects.

    pruned: None where it isn't known what was there before.
    """
    lines = []
    if answer.packed:
        packed = answer.packed
        counts = f"{packed.files} files, {packed.folders} folders, {packed.links} links, {packed.size_bytes:,} bytes"
        lines.append(f"sent      {counts}")
    if answer.plugin:
        lines.append(f"plugin    {answer.plugin}")
    lines.append(f"verdict   {_WORDS[answer.verdict]}{_count(answer)}")
    for label, text in (("reason", answer.reason), ("message", answer.message), ("hint", answer.hint)):
        if text:
            lines.append(f"{label:9} {text}")
    for one in answer.announced or ():
        lines.append(f"parameter {one.get('name', '')}: {one.get('title') or one.get('tooltip') or ''}".rstrip(": "))
    lines += [f"object    {name_object(one)} ({one.get('apiVersion')})" for one in answer.objects]
    if answer.verdict == "empty" and pruned is None:
        lines.append("prune     Argo CD would prune everything that the application has")
    elif pruned:
        lines.append(f"prune     Argo CD would prune {_objects(len(pruned))}: {', '.join(pruned[:_MOST_NAMED])}")
        if len(pruned) > _MOST_NAMED:
            lines[-1] += f" and {len(pruned) - _MOST_NAMED} more"
    return lines


def build_report(answer: Answer, pruned: tuple[str, ...] | None) -> dict[str, object]:
    """The same for programs, with whole objects."""
    packed = answer.packed
    return {
        "verdict": answer.verdict,
        "plugin": answer.plugin or None,
        "reason": answer.reason or None,
        "message": answer.message or None,
        "hint": answer.hint or None,
        "sent": packed
        and {
            "files": packed.files,
            "folders": packed.folders,
            "links": packed.links,
            "bytes": packed.size_bytes,
            "digest": packed.digest,
        },
        "objects": list(answer.objects),
        "parameters": None if answer.announced is None else list(answer.announced),
        "pruned": None if pruned is None else list(pruned),
        "stderr": answer.stderr.decode("utf-8", "replace"),
    }


def _count(answer: Answer) -> str:
    if not answer.is_accepted:
        return ""
    if answer.announced is not None:
        return f", {len(answer.announced)} parameter{'' if len(answer.announced) == 1 else 's'}"
    return f", {_objects(len(answer.objects))}"


def _objects(count: int) -> str:
    return f"{count} object{'' if count == 1 else 's'}"
