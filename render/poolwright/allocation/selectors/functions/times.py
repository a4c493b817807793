"""Timestamps and durations: sums, differences, parts and texts.

Source: cel-go v0.29 common/types/timestamp.go, duration.go and overflow.go; Go's time package for texts.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from poolwright.allocation.selectors.functions.overload import Overload
from poolwright.allocation.selectors.values import (
    Duration,
    Failure,
    Timestamp,
    Value,
    no_overload,
    refuse,
)

FIRST_SECOND, LAST_SECOND = -62135596800, 253402300799  # the years 1 to 9999
_SECOND = 10**9
_DAYS_TO_1970 = 719468  # from 0000-03-01


def add_time(left: Value, right: Value) -> Value:
    """A duration or timestamp plus a duration or timestamp."""
    match left, right:
        case Duration(), Duration():
            return _check_duration(left.nanoseconds + right.nanoseconds)
        case Duration(), Timestamp():
            return _shift(right, left.nanoseconds)
        case Timestamp(), Duration():
            return _shift(left, right.nanoseconds)
    return no_overload()


def subtract_time(left: Value, right: Value) -> Value:
    """A duration or timestamp minus a duration or timestamp."""
    match left, right:
        case (Duration(), Duration()) | (Timestamp(), Timestamp()):
            return _check_duration(left.nanoseconds - right.nanoseconds)
        case Timestamp(), Duration(nanoseconds=nanoseconds):
            return Failure("integer overflow") if nanoseconds == -(2**63) else _shift(left, -nanoseconds)
    return no_overload()


def render_duration(duration: Duration) -> str:
    """`5400s`, `1.5s`."""
    return f"{Decimal(repr(_seconds(duration))):f}".removesuffix(".0") + "s"


def render_timestamp(timestamp: Timestamp) -> str:
    """RFC 3339 with as many digits of a second as it takes, in the offset it was written with."""
    year, month, day, _, second_of_day = _parts(timestamp, timestamp.offset_minutes)
    hour, rest = divmod(second_of_day, 3600)
    fraction = f"{timestamp.nanoseconds % _SECOND:09d}".rstrip("0")
    text = f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{rest // 60:02d}:{rest % 60:02d}"
    hours, minutes = divmod(abs(timestamp.offset_minutes), 60)
    sign = "-" if timestamp.offset_minutes < 0 else "+"
    offset = f"{sign}{hours:02d}:{minutes:02d}" if timestamp.offset_minutes else "Z"
    return f"{text}{'.' if fraction else ''}{fraction}{offset}"


def truncate(number: int, by: int) -> int:
    """number / by, cut towards zero."""
    return -(-number // by) if number < 0 else number // by


def _check_duration(nanoseconds: int) -> Value:
    return Duration(nanoseconds) if -(2**63) <= nanoseconds < 2**63 else Failure("integer overflow")


def _shift(timestamp: Timestamp, nanoseconds: int) -> Value:
    total = timestamp.nanoseconds + nanoseconds
    if not FIRST_SECOND <= total // _SECOND <= LAST_SECOND:
        return Failure("timestamp overflow")
    return Timestamp(total, timestamp.offset_minutes)


def _seconds(duration: Duration) -> float:
    whole = truncate(duration.nanoseconds, _SECOND)
    return float(whole) + float(duration.nanoseconds - whole * _SECOND) / 1e9


_Parts = tuple[int, int, int, int, int]  # year, month, day of the month, days since 1970, second of the day


def _parts(timestamp: Timestamp, offset_minutes: int) -> _Parts:
    days, second_of_day = divmod(timestamp.nanoseconds // _SECOND + offset_minutes * 60, 86400)
    return (*_find_date(days), days, second_of_day)


def _find_date(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day since 1970; an offset can lead out of the years that datetime knows."""
    era, day_of_era = divmod(days + _DAYS_TO_1970, 146097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + (3 if month_from_march < 10 else -9)
    return year_of_era + era * 400 + (month <= 2), month, day


def _find_day_of_year(parts: _Parts) -> int:
    year, month, day, *_ = parts
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)[month - 1] + day - 1 + (is_leap and month > 2)


def _read_zone(text: str) -> int | Failure:
    """Minutes east of UTC of `+02:30` or `UTC`."""
    hours, colon, minutes = text.partition(":")
    if not colon:
        if text in ("", "UTC"):
            return 0
        refuse("time-zone")
    try:
        hour, minute = _parse_int(hours), _parse_int(minutes)
    except ValueError:
        return Failure(f'"{text}" is not an offset such as +02:30')
    if not 0 <= minute <= 59:
        return Failure(f"timezone offset minutes out of range [0, 59]: {text}")
    return hour * 60 - minute if text.startswith("-") else hour * 60 + minute


def _parse_int(text: str) -> int:
    if not text.lstrip("+-").isascii() or "_" in text or text != text.strip():
        raise ValueError(text)
    return int(text)


# What a timestamp's getters give; the milliseconds are those of the second.
_GETTERS: dict[str, Callable[[Timestamp, _Parts], int]] = {
    "getFullYear": lambda _, parts: parts[0],
    "getMonth": lambda _, parts: parts[1] - 1,
    "getDayOfYear": lambda _, parts: _find_day_of_year(parts),
    "getDayOfMonth": lambda _, parts: parts[2] - 1,
    "getDate": lambda _, parts: parts[2],
    "getDayOfWeek": lambda _, parts: (parts[3] + 4) % 7,
    "getHours": lambda _, parts: parts[4] // 3600,
    "getMinutes": lambda _, parts: parts[4] % 3600 // 60,
    "getSeconds": lambda _, parts: parts[4] % 60,
    "getMilliseconds": lambda timestamp, _: timestamp.nanoseconds % _SECOND // 10**6,
}
_TIMESTAMP_IDS = {
    "getFullYear": "year",
    "getMonth": "month",
    "getDayOfYear": "day_of_year",
    "getDayOfMonth": "day_of_month",
    "getDate": "day_of_month_1_based",
    "getDayOfWeek": "day_of_week",
    "getHours": "hours",
    "getMinutes": "minutes",
    "getSeconds": "seconds",
    "getMilliseconds": "milliseconds",
}
_UNITS = {"getHours": 3600 * _SECOND, "getMinutes": 60 * _SECOND, "getSeconds": _SECOND, "getMilliseconds": 10**6}


def _build_getter(name: str) -> tuple[Overload, Overload]:
    get = _GETTERS[name]

    def get_in_utc(timestamp: Timestamp) -> Value:
        return get(timestamp, _parts(timestamp, 0))

    def get_in_zone(timestamp: Timestamp, zone: str) -> Value:
        offset = _read_zone(zone)
        return offset if isinstance(offset, Failure) else get(timestamp, _parts(timestamp, offset))

    overload = f"timestamp_to_{_TIMESTAMP_IDS[name]}"
    with_zone = "timestamp_to_seconds_tz" if name == "getSeconds" else f"{overload}_with_tz"
    return Overload(overload, ("timestamp",), get_in_utc), Overload(with_zone, ("timestamp", "string"), get_in_zone)


def _build_duration_getter(name: str) -> Overload:
    unit = _UNITS[name]
    return Overload(
        f"duration_to_{name.removeprefix('get').lower()}",
        ("duration",),
        lambda duration: truncate(duration.nanoseconds, unit),
    )


OVERLOADS: dict[str, tuple[Overload, ...]] = {
    name: (*_build_getter(name), *((_build_duration_getter(name),) if name in _UNITS else ())) for name in _GETTERS
}
