"""Semver objects.

Source: k8s.io/apiserver v0.37 pkg/cel/library/semverlib.go and github.com/blang/semver v4, semver 2.0 by the letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from poolwright.allocation.selectors.functions.overload import Overload
from poolwright.allocation.selectors.values import Failure, Semver, Value

_NUMBER = r"(0|[1-9][0-9]*)"
_PRE = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_PRE}(?:\.{_PRE})*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
_MAX = 2**64 - 1


def parse_semver(text: str) -> Semver:
    """Read a semantic version.

    Raises: ValueError where it isn't one, by the letter of semver 2.0.
    """
    found = re.fullmatch(_SEMVER, text)
    if not found:
        raise ValueError(f'"{text}" is no semantic version such as 1.2.3')
    parts = tuple(int(part) if part.isdigit() else part for part in (found[4] or "").split(".") if part)
    major, minor, patch = int(found[1]), int(found[2]), int(found[3])
    if max(major, minor, patch, *(part for part in parts if isinstance(part, int)), 0) > _MAX:
        raise ValueError(f'"{text}" has a number beyond 64 bits')
    return Semver(major, minor, patch, parts, text)


def compare_semver(one: Semver, other: Semver) -> int:
    """-1, 0 or 1; a pre-release comes before its release, numbers before words."""
    left, right = _sort_key(one), _sort_key(other)
    return (left > right) - (left < right)


def _sort_key(version: Semver) -> tuple[object, ...]:
    parts = tuple((0, part, "") if isinstance(part, int) else (1, 0, part) for part in version.prerelease)
    return (version.major, version.minor, version.patch, not parts, parts)


def _normalize(text: str) -> str:
    """`v01.2` as `1.2.0`: without the letter and zeros in front, and with all three numbers."""
    parts = text.removeprefix("v").split(".", 2)
    for at, part in enumerate(parts):
        if len(part) > 1:
            short = part.lstrip("0")
            parts[at] = short if short[:1].isascii() and short[:1].isdigit() else f"0{short}"
    if len(parts) < 3 and re.search(r"[+-]", parts[-1]):
        raise ValueError("short version cannot contain PreRelease/Build meta data")
    return ".".join((*parts, *["0"] * (3 - len(parts))))


def _read(text: str, normalize: bool = False) -> Value:
    try:
        return parse_semver(_normalize(text) if normalize else text)
    except ValueError as error:
        return Failure(str(error))


def _is_semver(text: str, normalize: bool = False) -> bool:
    return isinstance(_read(text, normalize), Semver)


def _to_int(part: Callable[[Semver], int]) -> Callable[[Semver], int]:
    """Upstream casts an unsigned number to a signed one."""
    return lambda version: part(version) - (2**64 if part(version) >= 2**63 else 0)


_V = "semver"
OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "semver": (
        Overload("string_to_semver", ("string",), _read),
        Overload("string_bool_to_semver", ("string", "bool"), _read),
    ),
    "isSemver": (
        Overload("is_semver_string", ("string",), _is_semver),
        Overload("is_semver_string_bool", ("string", "bool"), _is_semver),
    ),
    "isGreaterThan": (
        Overload("semver_is_greater_than", (_V, _V), lambda one, other: compare_semver(one, other) == 1),
    ),
    "isLessThan": (Overload("semver_is_less_than", (_V, _V), lambda one, other: compare_semver(one, other) == -1),),
    "compareTo": (Overload("semver_compare_to", (_V, _V), compare_semver),),
    "major": (Overload("semver_major", (_V,), _to_int(lambda version: version.major)),),
    "minor": (Overload("semver_minor", (_V,), _to_int(lambda version: version.minor)),),
    "patch": (Overload("semver_patch", (_V,), _to_int(lambda version: version.patch)),),
}
