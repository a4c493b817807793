"""Values as JSON text: exactly, to compare by, and as they are shown, within bounds."""

from __future__ import annotations

import json
from typing import Any, Final

from poolwright.changes.objects.secrets import Concealed, reveal

MAX_SHOWN: Final = 400  # characters of a value
_CONTEXT: Final = 60  # of what two long values begin with, how much is shown before they part


def exact_json(value: Any) -> str:
    """JSON text that is equal for equal values only: keys sorted, types told apart, secrets as they are."""
    return _ENCODER.encode(value)


def shown_json(value: Any) -> str:
    """The same with every secret hidden, and without lone surrogates, which no report can hold."""
    return clean(exact_json(reveal(value)))


def clean(text: str) -> str:
    """Text that has a UTF-8 form: a lone surrogate is its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shorten(before: str | None, after: str | None) -> tuple[str | None, str | None]:
    """Both within bounds: of two long texts the parts from a little before where they differ, and how much is left out.

    Texts that differ still do.
    """
    start = 0
    if before is not None and after is not None and max(len(before), len(after)) > MAX_SHOWN:
        start = max(0, _find_parting(before, after) - _CONTEXT)
    return _cut(before, start), _cut(after, start)


def _cut(text: str | None, start: int) -> str | None:
    if text is None or (start == 0 and len(text) <= MAX_SHOWN):
        return text
    rest = len(text) - start - MAX_SHOWN
    head = f"({start:,} characters left out) ..." if start else ""
    tail = f"... ({rest:,} characters left out)" if rest > 0 else ""
    return f"{head}{text[start : start + MAX_SHOWN]}{tail}"


def _find_parting(one: str, other: str) -> int:
    """How many characters both begin with, by halves: each step compares at C speed."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _exact(value: Any) -> Any:
    # What YAML reads beyond JSON, a date say, is told by its text; it is never equal to that text in quotes.
    return value.exact if isinstance(value, Concealed) else {type(value).__name__: str(value)}


_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_exact)
