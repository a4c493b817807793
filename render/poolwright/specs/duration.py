"""Durations as specs write them: `90s`, `1h30m`, `400d`."""

from __future__ import annotations

import re

_UNITS_MS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}  # largest first
_DURATION = "".join(f"(?:([0-9]{{1,18}}){unit})?" for unit in _UNITS_MS)
MAX_MS = (2**63 - 1) // 10**6  # the longest that Go's time.Duration holds, 292 years


def parse_duration(text: str) -> int:
    """Milliseconds of a duration: whole numbers with the units d, h, m, s, ms, the largest first, each at most once.

    A day is 24 hours. Nothing is implied: `0s` is a duration, `0` and the empty text aren't.
    Raises: ValueError, one sentence with the value and what to write instead.
    """
    match = re.fullmatch(_DURATION, text)
    if match is None or not text:
        raise ValueError(f'"{text[:60]}" is not a duration: {_advice(text[:200])}')
    duration_ms = sum(int(number or 0) * unit for number, unit in zip(match.groups(), _UNITS_MS.values(), strict=True))
    if duration_ms > MAX_MS:
        raise ValueError(f'"{text}" is too long a duration: the longest is {MAX_MS // _UNITS_MS["d"]}d')
    return duration_ms


def render_duration(duration_ms: int) -> str:
    """The one text of a duration that isn't negative: largest units first, no zeros but in `0s`; 90s gives `1m30s`.

    Days are a unit here and in Prometheus, not in Go's time.ParseDuration nor in Gateway API durations.
    """
    text = ""
    for unit, unit_ms in _UNITS_MS.items():
        count, duration_ms = divmod(duration_ms, unit_ms)
        if count:
            text += f"{count}{unit}"
    return text or "0s"


def _advice(text: str) -> str:
    """What to write instead of a text that is not a duration, for the mistakes people make."""
    squeezed = "".join(text.split())
    if re.fullmatch(r"[0-9]{1,18}", squeezed):
        return f"it has no unit; write {squeezed}s for seconds"
    parts = re.findall(r"([0-9]{1,18})(\.[0-9]{1,18})?(ms|[dhms])", squeezed)
    if "".join("".join(part) for part in parts) == squeezed and parts:
        # Known units, but in another order, twice, with fractions or spaces: the sum says what was meant.
        scaled = [(int(whole + tail[1:]) * _UNITS_MS[unit], 10 ** max(0, len(tail) - 1)) for whole, tail, unit in parts]
        if all(amount % divisor == 0 for amount, divisor in scaled):
            meant_ms = sum(amount // divisor for amount, divisor in scaled)
            if meant_ms <= MAX_MS:
                return f"write {render_duration(meant_ms)}"
        return "write whole numbers, down to ms"
    if squeezed[:1] in ("-", "+"):
        return "write it without a sign"
    return "write whole numbers with the units d, h, m, s, ms, the largest first, as in 1h30m"
