"""matches(), find() and findAll(), by RE2's rules.

Source: cel-go v0.29 common/types/string.go; k8s.io/apiserver v0.37 pkg/cel/library/regex.go; Go's regexp.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from poolwright.allocation.selectors.functions.overload import Overload
from poolwright.allocation.selectors.values import Failure, Value
from poolwright.catalog.cel.environment import check_pattern


def _matches(text: str, pattern: str) -> Value:
    compiled = _compile(pattern)
    return compiled if isinstance(compiled, Failure) else compiled.search(text) is not None


def _find(text: str, pattern: str) -> Value:
    compiled = _compile(pattern)
    if isinstance(compiled, Failure):
        return compiled
    found = compiled.search(text)
    return found.group() if found else ""


def _find_all(text: str, pattern: str, count: int = -1) -> Value:
    """The first matches from left to right; an empty one doesn't follow another directly."""
    compiled = _compile(pattern)
    if isinstance(compiled, Failure):
        return compiled
    limit = len(text) + 1 if count < 0 else count
    found: list[str] = []
    at, previous_end = 0, -1
    while at <= len(text) and len(found) < limit:
        match = compiled.search(text, at)
        if match is None:
            break
        start, end = match.span()
        if end > at:
            at = end
        else:
            at += 1
            if start == previous_end:
                previous_end = end
                continue
        previous_end = end
        found.append(match.group())
    return tuple(found)


@lru_cache(maxsize=256)
def _compile(pattern: str) -> Any:
    """The pattern, as google-re2 compiles it, or the failure of being none."""
    import re2  # only a selector with a pattern needs it

    complaint = check_pattern(pattern)
    if complaint:
        return Failure(f"{complaint}: no regular expression")
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    return re2.compile(pattern, options)


OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "matches": (
        Overload("matches", ("string", "string"), _matches),
        Overload("matches_string", ("string", "string"), _matches),
    ),
    "find": (Overload("string_find_string", ("string", "string"), _find),),
    "findAll": (
        Overload("string_find_all_string", ("string", "string"), _find_all),
        Overload("string_find_all_string_int", ("string", "string", "int"), _find_all),
    ),
}
