"""File patterns as Argo CD's Go libraries read them. Python's own, and wcmatch's, differ: `[^a]`, `{a,b}`, errors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

BAD_PATTERN = "syntax error in pattern"  # what Go says


def compile_match(pattern: str) -> re.Pattern[str]:
    """A pattern of Go's filepath.Match, to be used with fullmatch: `*` and `?` stop at a slash, there is no `**`.

    Raises: ValueError where Go would call the pattern bad.
    """
    out, at = [], 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "*":
            out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif char == "[":
            text, at = _read_class(pattern, at)
            out.append(text)
        elif char == "\\":
            if at == len(pattern):
                raise ValueError(BAD_PATTERN)
            out.append(re.escape(pattern[at]))
            at += 1
        else:
            out.append(re.escape(char))
    return re.compile("".join(out), re.DOTALL)


def _read_class(pattern: str, at: int) -> tuple[str, int]:
    """What stands behind a `[`, as a class of re, and where it ends. `^` negates, `!` doesn't; none matches a slash."""
    is_negated = pattern.startswith("^", at)
    at += is_negated
    ranges: list[str] = []
    while not (ranges and pattern.startswith("]", at)):
        low, at = _read_char(pattern, at)
        high = low
        if pattern.startswith("-", at):
            high, at = _read_char(pattern, at + 1)
        if low <= high:
            ranges.append(f"{re.escape(low)}-{re.escape(high)}")
        else:
            ranges.append("")  # an empty range, which Go lets pass
    body = "".join(ranges)
    if not body:
        return ("[^/]" if is_negated else "(?!)"), at + 1
    return f"(?!/)[{'^' if is_negated else ''}{body}]", at + 1


def _read_char(pattern: str, at: int) -> tuple[str, int]:
    if at >= len(pattern) or pattern[at] in "-]":
        raise ValueError(BAD_PATTERN)
    at += pattern[at] == "\\"
    if at + 1 >= len(pattern):  # the closing bracket has to come yet
        raise ValueError(BAD_PATTERN)
    return pattern[at], at + 1


def find_files(folder: str, pattern: str) -> bool:
    """Whether Go's filepath.Glob finds anything below a folder: name by name, links to folders followed.

    Raises: ValueError for a bad pattern.
    """
    names = [name for name in os.path.normpath(pattern).split("/") if name != "."]
    matches = [compile_match(name) for name in names]
    return any(_glob(folder, list(zip(names, matches, strict=True))))


def _glob(folder: str, steps: list[tuple[str, re.Pattern[str]]]) -> Iterator[str]:
    if not steps:
        yield folder
        return
    (name, match), *rest = steps
    if not any(char in name for char in "*?[\\"):
        if os.path.lexists(os.path.join(folder, name)):
            yield from _glob(os.path.join(folder, name), rest)
        return
    try:
        entries = sorted(os.listdir(folder))
    except OSError:
        return
    for entry in entries:
        if match.fullmatch(entry):
            yield from _glob(os.path.join(folder, entry), rest)


def find_anywhere(folder: str, pattern: str) -> bool:
    """Whether zglob finds anything below a folder: `**/` is any folders, `{a,b}` either; no link is followed.

    Raises: ValueError for what it doesn't find without a `*` or `{` in the pattern (an error there, not a "no"), and
            for `!(...)`, which isn't emulated.
    """
    pattern = os.path.normpath(pattern).lstrip("/")
    if "!(" in pattern:
        raise ValueError("!(...) in a glob is read by Argo CD, and not by this runner")
    if not any(char in pattern for char in "*{"):
        if not os.path.exists(os.path.join(folder, pattern)):
            raise ValueError("file does not exist")
        return True
    match = re.compile(_translate(pattern), re.DOTALL)
    for above, folders, files in os.walk(folder):
        below = os.path.relpath(above, folder)
        for name in (*folders, *files):
            if match.fullmatch(name if below == "." else f"{below}/{name}"):
                return True
    return False


def _translate(pattern: str) -> str:
    out, at = [], 0
    while at < len(pattern):
        char = pattern[at]
        if pattern.startswith("**/", at):
            out.append("(.*/)?")
            at += 3
        elif char == "*":
            out.append("[^/]*")
            at += 1
        elif char in "[{" and (end := pattern.find("]" if char == "[" else "}", at)) > at + 1:
            inside = pattern[at + 1 : end]
            out.append(f"[{inside}]" if char == "[" else f"({'|'.join(map(re.escape, inside.split(',')))})")
            at = end + 1
        elif char == "\\" and at < len(pattern) - 2:
            out.append(re.escape(pattern[at + 1]))
            at += 2
        else:
            out.append(re.escape(char))
            at += 1
    return "".join(out)
