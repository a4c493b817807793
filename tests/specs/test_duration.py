from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolwright.specs.duration import MAX_MS, parse_duration, render_duration

PARSED = {
    "seconds": ("90s", 90_000, "1m30s"),
    "minutes": ("15m", 900_000, "15m"),
    "several-units": ("1h30m", 5_400_000, "1h30m"),
    # Not minutes and seconds.
    "milliseconds": ("1500ms", 1500, "1s500ms"),
    "days": ("400d", 34_560_000_000, "400d"),
    "every-unit": ("1d2h3m4s5ms", 93_784_005, "1d2h3m4s5ms"),
    "units-may-be-left-out": ("1d5ms", 86_400_005, "1d5ms"),
    "zero-has-a-unit": ("0s", 0, "0s"),
    "zeros-in-front": ("005m", 300_000, "5m"),
    "parts-are-not-limited-by-the-next-unit": ("0d48h90m", 178_200_000, "2d1h30m"),
    "longest": ("106751d23h47m16s854ms", MAX_MS, "106751d23h47m16s854ms"),
}


@pytest.mark.parametrize(("text", "duration_ms", "rendered"), PARSED.values(), ids=PARSED)
def test_parse_and_render(text: str, duration_ms: int, rendered: str) -> None:
    assert parse_duration(text) == duration_ms
    assert render_duration(duration_ms) == rendered


ANY_UNIT = "write whole numbers with the units d, h, m, s, ms, the largest first, as in 1h30m"
REFUSED = {
    "empty": ("", f'"" is not a duration: {ANY_UNIT}'),
    "no-unit": ("90", '"90" is not a duration: it has no unit; write 90s for seconds'),
    "zero-without-a-unit": ("0", '"0" is not a duration: it has no unit; write 0s for seconds'),
    "no-number": ("m", f'"m" is not a duration: {ANY_UNIT}'),
    "fraction": ("1.5h", '"1.5h" is not a duration: write 1h30m'),
    "fraction-of-a-millisecond": ("1.0005s", '"1.0005s" is not a duration: write whole numbers, down to ms'),
    "sign": ("-5m", '"-5m" is not a duration: write it without a sign'),
    "space-between": ("1h 30m", '"1h 30m" is not a duration: write 1h30m'),
    "space-behind": ("5m\n", '"5m\n" is not a duration: write 5m'),
    "smaller-unit-first": ("30m1h", '"30m1h" is not a duration: write 1h30m'),
    "unit-twice": ("1m1m", '"1m1m" is not a duration: write 2m'),
    "weeks": ("1w", f'"1w" is not a duration: {ANY_UNIT}'),
    "word": ("5min", f'"5min" is not a duration: {ANY_UNIT}'),
    "upper-case": ("5M", f'"5M" is not a duration: {ANY_UNIT}'),
    "digits-of-another-script": ("٥m", f'"٥m" is not a duration: {ANY_UNIT}'),
    "too-long": ("106752d", '"106752d" is too long a duration: the longest is 106751d'),
    "too-long-by-a-millisecond": (
        "106751d23h47m16s855ms",
        '"106751d23h47m16s855ms" is too long a duration: the longest is 106751d',
    ),
    "too-many-digits": ("1" * 5000 + "s", f'"{"1" * 60}" is not a duration: {ANY_UNIT}'),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_refusal_says_what_to_write(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}\Z"):
        parse_duration(text)


@given(st.integers(0, MAX_MS))
def test_rendered_text_reads_back(duration_ms: int) -> None:
    assert parse_duration(render_duration(duration_ms)) == duration_ms


@given(st.lists(st.tuples(st.integers(0, 999), st.sampled_from(("d", "h", "m", "s", "ms"))), min_size=1))
def test_what_a_refusal_says_to_write_is_the_sum(parts: list[tuple[int, str]]) -> None:
    text = "".join(f"{number}{unit}" for number, unit in parts)
    expected = sum(number * parse_duration(f"1{unit}") for number, unit in parts)
    try:
        assert parse_duration(text) == expected
    except ValueError as error:
        advice = re.fullmatch(rf'"{text[:60]}" is not a duration: write ([0-9dhms]+)', str(error))
        assert advice is not None
        assert parse_duration(advice[1]) == expected
