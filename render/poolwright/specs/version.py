"""Versions as people, drivers, charts and clouds write them, and ranges of them."""

from __future__ import annotations

import re

import msgspec

VersionKey = tuple[tuple[int, ...], int, tuple[int, ...]]

MAX_TEXT = 128  # as long as an image tag may be

# Words that move a version before its release, and one that moves it behind. Every other suffix is the vendor's.
_RELEASE = 4
_STAGES = {"dev": 0, "nightly": 0, "snapshot": 0, "alpha": 1, "a": 1, "beta": 2, "b": 2}
_STAGES |= {"pre": 3, "preview": 3, "rc": 3, "c": 3, "post": 5}

_NUMBERS = r"v?([0-9]+(?:\.[0-9]+)*)"
_WORD = r"(?i:dev|nightly|snapshot|alpha|beta|preview|pre|rc|post)(?![A-Za-z])"
_STAGE = rf"(?:[-._]?({_WORD})|([abc])(?=[0-9]))(?:[-._]?([0-9]+(?:\.[0-9]+)*))?(?:[-+._][0-9A-Za-z.+_-]+)?"
_VENDOR = rf"[-+_](?!{_WORD})[0-9A-Za-z][0-9A-Za-z.+_-]*"
_VERSION = rf"{_NUMBERS}(?:{_STAGE}|{_VENDOR})?"


class Version(msgspec.Struct, frozen=True, eq=False):
    """A version. Equality, order and hash go by `key` alone: `v1.36`, `1.36.0` and `1.36.0-gke.100` are equal.

    Set aside are a leading `v`, zeros in front of a number, missing parts (they are 0) and the vendor's suffix, which
    is everything after `-`, `+` or `_` that doesn't start with one of these words: dev, nightly and snapshot sort
    first, then alpha, beta, rc (or pre, preview), then the release itself, then post. The number after such a word
    counts (`rc.2` < `rc.10`), what follows that doesn't. The short forms of Python packages (`1.0a1`, `1.0rc1`,
    `1.0.post1`) are read too. This departs from semver, for which `1.34.4-gke.100` comes before 1.34.4.
    """

    key: VersionKey  # numbers without zeros at the end, stage, numbers of the stage likewise
    text: str  # as written

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Version) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __lt__(self, other: Version) -> bool:
        return self.key < other.key

    def __le__(self, other: Version) -> bool:
        return self.key <= other.key

    def __str__(self) -> str:
        return self.text

    @property
    def minor(self) -> str:
        """The first two numbers: `1.36` of `v1.36.2-gke.100`. A text: to compare, use `parse_version` of it."""
        major, minor = (*self.key[0], 0, 0)[:2]
        return f"{major}.{minor}"

    @property
    def is_prerelease(self) -> bool:
        """Whether it comes before the release of its number."""
        return self.key[1] < _RELEASE


class VersionRange(msgspec.Struct, frozen=True):
    """A set of versions: exact ones, and every release of a line such as `1.36.x`."""

    text: str  # as written
    exact: tuple[Version, ...]
    lines: tuple[tuple[int, ...], ...]  # (1, 36) for `1.36.x`

    def __str__(self) -> str:
        return self.text

    def contains(self, version: Version) -> bool:
        """Whether a version is in the range, its vendor's suffix set aside.

        A line holds releases (and what comes after one, `post`); a pre-release only counts where it is named exactly.
        """
        if version in self.exact:
            return True
        numbers = version.key[0]
        return not version.is_prerelease and any(
            (*numbers, *([0] * len(line)))[: len(line)] == line for line in self.lines
        )


def parse_version(text: str) -> Version:
    """Read a version, `580.173.02`, `v26.7.0` or `1.36.2-gke.100`.

    Raises: ValueError, one sentence with the value and what to write instead.
    """
    match = re.fullmatch(_VERSION, text) if len(text) <= MAX_TEXT else None
    if match is None:
        raise ValueError(f'"{text[:60]}" is not a version: {_advice(text)}')
    numbers, long_stage, short_stage, stage_numbers = match.groups()
    stage = (long_stage or short_stage or "").lower()
    return Version((_numbers(numbers), _STAGES.get(stage, _RELEASE), _numbers(stage_numbers or "0")), text)


def parse_version_range(text: str) -> VersionRange:
    """Read a range: an exact version, a line such as `1.36.x`, or a list of these with commas between them.

    An exact version is that one alone: `1.36` is 1.36.0, not every 1.36.
    Raises: ValueError, one sentence with the value and what to write instead.
    """
    exact: list[Version] = []
    lines: list[tuple[int, ...]] = []
    for item in text.split(","):
        stripped = item.strip()
        line = re.fullmatch(rf"{_NUMBERS}\.x", stripped) if len(stripped) <= MAX_TEXT else None
        if line is not None:
            lines.append(_numbers(line[1], keep_zeros=True))
        elif re.match(rf"{_NUMBERS}-[0-9]", stripped):
            # A Version may end so (dcgm 4.6.0-1), but here most would mean `1.33-1.36`, from and to.
            raise ValueError(f'"{stripped[:60]}" is not a version range: write each line, as in 1.35.x, 1.36.x')
        else:
            try:
                exact.append(parse_version(stripped))
            except ValueError:
                raise ValueError(
                    f'"{stripped[:60]}" is not a version range: '
                    "write exact versions or lines such as 1.36.x, with commas between them"
                ) from None
    return VersionRange(text, tuple(exact), tuple(lines))


def _numbers(text: str, *, keep_zeros: bool = False) -> tuple[int, ...]:
    numbers = [int(part) for part in text.split(".")]
    while not keep_zeros and numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _advice(text: str) -> str:
    """What to write instead of a text that is not a version, for the mistakes people make."""
    if re.fullmatch(rf"{_NUMBERS}\.[xX*]", text):
        return "it is a range of them; write one, with all its numbers"
    if re.match(r"[=<>~^!]", text):
        return "write the version alone, without an operator"
    if text != text.strip():
        return "write it without spaces around it"
    return "write numbers with points between them, as in 1.36.2, v26.7.0 or 1.36.2-gke.100"
