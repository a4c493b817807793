"""What one lock says that another doesn't: a line a choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from poolwright.specs.lock import Lock
from poolwright.specs.model import plain_spec

_WORD = ("version", "bound", "set", "image", "digest")  # the field of a choice that names what was chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A choice that differs."""

    path: str  # `stacks.operator-26-7.kubernetes`
    before: str | None  # None: it is new
    after: str | None  # None: it is gone
    reason: str  # of the later one, or of the earlier one if there is none


def list_changes(before: Lock | None, after: Lock) -> tuple[Change, ...]:
    """Choices that differ, by path; in what they choose, not in the reason alone."""
    old = {} if before is None else dict(_flatten("", plain_spec(before)))
    new = dict(_flatten("", plain_spec(after)))
    changes = []
    for path in sorted(old.keys() | new.keys()):
        one, other = old.get(path), new.get(path)
        if _word(one) != _word(other):
            reason = str((other or one or {}).get("reason", ""))
            changes.append(Change(path=path, before=_word(one), after=_word(other), reason=reason))
    return tuple(changes)


def _flatten(path: str, value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each choice, which is a map with a reason, by the keys that lead to it."""
    if not isinstance(value, dict):
        return
    if "reason" in value:
        yield path, value
        return
    for key, part in value.items():
        yield from _flatten(f"{path}.{key}" if path else str(key), part)


def _word(choice: Mapping[str, Any] | None) -> str | None:
    if choice is None:
        return None
    return " ".join(str(choice[name]) for name in _WORD if name in choice)
