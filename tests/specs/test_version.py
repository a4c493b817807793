from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolwright.specs.version import Version, parse_version, parse_version_range

RELEASE = 4

PARSED = {
    "kubernetes": ("1.36.2", ((1, 36, 2), RELEASE, ()), "1.36"),
    "leading-v": ("v26.7.0", ((26, 7), RELEASE, ()), "26.7"),
    "two-numbers": ("1.36", ((1, 36), RELEASE, ()), "1.36"),
    "one-number": ("580", ((580,), RELEASE, ()), "580.0"),
    "zeros-in-front": ("580.173.02", ((580, 173, 2), RELEASE, ()), "580.173"),
    "zero": ("0.0.0", ((), RELEASE, ()), "0.0"),
    "zero-inside-counts": ("1.0.3", ((1, 0, 3), RELEASE, ()), "1.0"),
    "gke": ("1.36.2-gke.100", ((1, 36, 2), RELEASE, ()), "1.36"),
    "eks": ("v1.36.2-eks-abc", ((1, 36, 2), RELEASE, ()), "1.36"),
    "build": ("v1.36.2+k3s1", ((1, 36, 2), RELEASE, ()), "1.36"),
    "vendor-suffix-of-digits": ("4.6.0-4.8.3", ((4, 6), RELEASE, ()), "4.6"),
    "image-tag": ("12.8.1-cudnn-devel_x", ((12, 8, 1), RELEASE, ()), "12.8"),
    # Only the whole word is one: `develop` and `alpine` are the vendor's.
    "word-that-only-starts-like-a-stage": ("1.36.0-develop", ((1, 36), RELEASE, ()), "1.36"),
    "release-candidate": ("v0.36.0-rc.1", ((0, 36), 3, (1,)), "0.36"),
    "upper-case": ("1.0-RC1", ((1,), 3, (1,)), "1.0"),
    "alpha-with-commits": ("1.32.0-alpha.3.123+abcdef", ((1, 32), 1, (3, 123)), "1.32"),
    "stage-without-a-number": ("0.5.0-dev", ((0, 5), 0, ()), "0.5"),
    "stage-with-a-vendor-suffix": ("1.36.0-rc.1-gke.3", ((1, 36), 3, (1,)), "1.36"),
    "python-release-candidate": ("0.11.0rc2", ((0, 11), 3, (2,)), "0.11"),
    "python-beta": ("1.0b3", ((1,), 2, (3,)), "1.0"),
    "python-development": ("0.10.1.dev101", ((0, 10, 1), 0, (101,)), "0.10"),
    "python-post": ("0.8.5.post1", ((0, 8, 5), 5, (1,)), "0.8"),
    "python-local": ("0.11.0+cu128", ((0, 11), RELEASE, ()), "0.11"),
}


@pytest.mark.parametrize(("text", "key", "minor"), PARSED.values(), ids=PARSED)
def test_key(text: str, key: object, minor: str) -> None:
    version = parse_version(text)
    assert (version.key, version.minor, str(version)) == (key, minor, text)


ORDER = (
    ("0.5", "0.5.0-gke.2", "v0.5.0"),
    ("0.10.1.dev101",),
    ("0.10.1-alpha", "0.10.1a0"),
    ("0.10.1-alpha.2",),
    ("0.10.1-alpha.10", "0.10.1a10", "0.10.1-ALPHA10-gke.1"),
    ("0.10.1-beta.1", "0.10.1b1"),
    ("0.10.1-rc.1", "0.10.1rc1", "0.10.1-pre.1", "0.10.1-preview1"),
    ("0.10.1", "0.10.1-eks-1", "0.010.01+k3s1"),
    ("0.10.1.post1",),
    ("0.10.2-rc.1",),
    ("1", "1.0", "1.0.0"),
    ("1.9.9",),
    ("1.36.2", "1.36.2-gke.100", "v1.36.02"),
    ("580.95.05", "580.95.5"),
    ("580.173.02",),
)


def test_order_and_equality() -> None:
    versions = [[parse_version(text) for text in equal] for equal in ORDER]
    for equal in versions:
        assert len(set(equal)) == 1
    for lower, higher in itertools.combinations([version for equal in versions for version in equal], 2):
        assert (lower < higher) == (lower.key != higher.key)
        assert not lower > higher


ADVICE = "write numbers with points between them, as in 1.36.2, v26.7.0 or 1.36.2-gke.100"
REFUSED = {
    "empty": ("", f'"" is not a version: {ADVICE}'),
    "word": ("main", f'"main" is not a version: {ADVICE}'),
    "v-alone": ("v", f'"v" is not a version: {ADVICE}'),
    "number-missing": ("1..2", f'"1..2" is not a version: {ADVICE}'),
    "point-behind": ("1.36.", f'"1.36." is not a version: {ADVICE}'),
    "letter-without-a-sign": ("1.36.2g", f'"1.36.2g" is not a version: {ADVICE}'),
    "suffix-missing": ("1.36.2-", f'"1.36.2-" is not a version: {ADVICE}'),
    # Taken for a vendor's suffix it would count as the release.
    "stage-with-something-glued-on": ("1.36.2-rc1x", f'"1.36.2-rc1x" is not a version: {ADVICE}'),
    "other-digits": ("1.٣", f'"1.٣" is not a version: {ADVICE}'),
    "digest": ("1.2@sha256:00", f'"1.2@sha256:00" is not a version: {ADVICE}'),
    "line": ("1.36.x", '"1.36.x" is not a version: it is a range of them; write one, with all its numbers'),
    "operator": (">=1.34.2", '">=1.34.2" is not a version: write the version alone, without an operator'),
    "space": ("1.36 ", '"1.36 " is not a version: write it without spaces around it'),
    "too-long": ("1" * 129, f'"{"1" * 60}" is not a version: {ADVICE}'),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_refusal_says_what_to_write(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}\Z"):
        parse_version(text)


RANGES = {
    "exact": ("1.36.2", ("1.36.2", "v1.36.2", "1.36.2-gke.100"), ("1.36.1", "1.36.3", "1.36", "1.36.2-rc.1")),
    # Missing numbers are 0 here too.
    "exact-minor-is-its-first-patch": ("1.36", ("1.36", "1.36.0"), ("1.36.1",)),
    "line": (
        "1.36.x",
        ("1.36", "1.36.0", "1.36.99", "1.36.2+k3s1", "1.36.2.post1"),
        ("1.35.9", "1.37.0", "1.3.6", "1"),
    ),
    "line-of-a-major": ("26.x", ("26", "26.7.1"), ("25.10.1", "27.0")),
    "line-with-a-zero": ("1.0.x", ("1", "1.0.5"), ("1.1", "0.1")),
    "line-of-zero": ("v0.0.x", ("0.0.7", "0"), ("0.1",)),
    "line-has-no-pre-releases": ("1.36.x", ("1.36.0",), ("1.36.0-rc.1", "1.36.3-alpha.1", "1.37.0-rc.1")),
    "pre-release-by-name": ("1.36.x, 1.37.0-rc.1", ("1.36.0", "1.37.0-rc.1"), ("1.36.0-rc.1", "1.37.0", "1.37.0-rc.2")),
    "list": ("1.35.x,1.36.2 , v1.37.0", ("1.35.1", "1.36.2", "1.37"), ("1.36.1", "1.37.1", "1.34.9")),
    "driver": ("580.173.x, 595.91.07", ("580.173.02", "595.91.7"), ("580.95.05", "595.91.08")),
}


@pytest.mark.parametrize(("text", "inside", "outside"), RANGES.values(), ids=RANGES)
def test_range(text: str, inside: tuple[str, ...], outside: tuple[str, ...]) -> None:
    versions = parse_version_range(text)
    assert [candidate for candidate in (*inside, *outside) if versions.contains(parse_version(candidate))] == list(
        inside
    )
    assert str(versions) == text


RANGE_ADVICE = "write exact versions or lines such as 1.36.x, with commas between them"
REFUSED_RANGES = {
    "empty": ("", f'"" is not a version range: {RANGE_ADVICE}'),
    "empty-item": ("1.36.x,", f'"" is not a version range: {RANGE_ADVICE}'),
    "operator": (">=1.34.2", f'">=1.34.2" is not a version range: {RANGE_ADVICE}'),
    "star": ("1.36.*", f'"1.36.*" is not a version range: {RANGE_ADVICE}'),
    "everything": ("x", f'"x" is not a version range: {RANGE_ADVICE}'),
    "the-item-is-named": ("1.35.x, latest", f'"latest" is not a version range: {RANGE_ADVICE}'),
    # Read as a vendor's suffix it would mean 1.33.0 alone.
    "from-to": ("1.33-1.36", '"1.33-1.36" is not a version range: write each line, as in 1.35.x, 1.36.x'),
}


@pytest.mark.parametrize(("text", "message"), REFUSED_RANGES.values(), ids=REFUSED_RANGES)
def test_refused_range_says_what_to_write(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}\Z"):
        parse_version_range(text)


numbers = st.lists(st.integers(0, 999), min_size=1, max_size=4)


def _release(parts: list[int]) -> Version:
    return parse_version(".".join(map(str, parts)))


@given(numbers, numbers)
def test_releases_are_ordered_as_their_numbers(one: list[int], other: list[int]) -> None:
    padded_one, padded_other = (parts + [0] * (4 - len(parts)) for parts in (one, other))
    assert (_release(one) < _release(other), _release(one) == _release(other)) == (
        padded_one < padded_other,
        padded_one == padded_other,
    )


@given(numbers, st.from_regex(r"[-+][0-9a-z]{1,4}(\.[0-9a-z]{1,3}|-[0-9a-z]{1,3}){0,2}", fullmatch=True))
def test_suffixes_move_a_version_before_or_after_its_release_but_past_no_other(parts: list[int], suffix: str) -> None:
    before = [*parts, 0, 0, 0, 0][:4]
    text = ".".join(map(str, before)) + suffix
    try:
        version = parse_version(text)
    except ValueError:
        return  # a stage with something glued on
    following = [*before[:3], before[3] + 1]
    assert version < _release(following)
    if version.is_prerelease:
        assert version < _release(before)
        assert not parse_version_range(f"{before[0]}.x").contains(version)
    else:
        assert version >= _release(before)
        assert parse_version_range(f"{before[0]}.x").contains(version)
