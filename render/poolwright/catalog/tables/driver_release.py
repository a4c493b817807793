"""Releases of the NVIDIA DRA driver in their order: 25.3, 25.8 and 25.12 came before 0.4, which renumbered them."""

from __future__ import annotations

from typing import Final

_RENUMBERED: Final[dict[tuple[int, ...], tuple[int, ...]]] = {
    (25, 3): (0, 1),
    (25, 8): (0, 2),
    (25, 12): (0, 3),
    (26, 4): (0, 4),
}


def is_within(release: str, since: str | None, until: str | None) -> bool:
    """Whether a release is none before `since` and none after `until`; a line such as 25.12 covers its patches."""
    key = (*_key(release), 0, 0)[:3]
    if since is not None and key < _key(since):
        return False
    return until is None or key[: len(_key(until))] <= _key(until)


def is_release(release: str, known: str) -> bool:
    """Whether a release is the known one, or a patch of the known line: v25.12.0 of 25.12."""
    text = release.removeprefix("v")
    return text == known or (known.count(".") == 1 and text.startswith(f"{known}."))


def release_key(release: str) -> tuple[int, ...]:
    """What releases of the NVIDIA DRA driver are put in order by: 0.4.0 comes after 25.12.0.

    Raises: ValueError if it is no version of numbers.
    """
    return (*_key(release), 0, 0)[:3]


def _key(release: str) -> tuple[int, ...]:
    """Raises: ValueError if it is no version of numbers."""
    numbers = tuple(int(part) for part in release.removeprefix("v").partition("-")[0].split("."))
    return (*_RENUMBERED.get(numbers[:2], numbers[:2]), *numbers[2:])
