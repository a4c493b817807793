"""bool(), bytes(), double(), duration(), int(), string(), timestamp(), uint().

Source: cel-go v0.29 common/stdlib and common/types; Go's fmt for the text of a double.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from poolwright.allocation.selectors.functions.addresses import render_cidr, render_ip
from poolwright.allocation.selectors.functions.overload import Overload
from poolwright.allocation.selectors.functions.times import (
    FIRST_SECOND,
    LAST_SECOND,
    render_duration,
    render_timestamp,
)
from poolwright.allocation.selectors.values import Duration, Failure, Timestamp, Uint, Value
from poolwright.catalog.cel.constants import parse_double, parse_duration, parse_timestamp, parse_whole

_BOOLS = dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True)
_BOOLS |= dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False)


def render_double(number: float) -> str:
    """A double as Go's `%g` writes it: `1.5`, `1e+06`, `-0`, `+Inf`."""
    if number != number:
        return "NaN"
    if number in (float("inf"), float("-inf")):
        return "+Inf" if number > 0 else "-Inf"
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)  # noqa: S101 - it is a letter only of what was returned above
    minus = "-" if sign else ""
    power = exponent + len(digits) - 1
    text = "".join(map(str, digits))
    if not any(digits):
        return f"{minus}0"
    if not -4 <= power < 6:
        return f"{minus}{text[0]}{'.' if text[1:] else ''}{text[1:]}e{'-' if power < 0 else '+'}{abs(power):02d}"
    return f"{minus}{abs(Decimal(repr(number))):f}".removesuffix(".0")


def to_string(value: Value) -> str | Failure:
    """`string(value)` of a value that has a text."""
    match value:
        case bool():
            return "true" if value else "false"
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                return Failure("invalid UTF-8 in bytes, cannot convert to string")
        case float():
            return render_double(value)
        case Duration():
            return render_duration(value)
        case Timestamp():
            return render_timestamp(value)
    return str(value)


def _reading(parse: Callable[[str], Value], wanted: str) -> Callable[[str], Value]:
    def read(text: str) -> Value:
        try:
            return parse(text)
        except ValueError:
            return Failure(f"type conversion error from 'string' to '{wanted}'")

    return read


def _to_bool(text: str) -> Value:
    return _BOOLS.get(text, Failure("type conversion error from 'string' to 'bool'"))


def _to_whole(kind: type) -> Callable[[Value], Value]:
    name = "uint" if kind is Uint else "int"

    def convert(number: Value) -> Value:
        try:
            return kind(parse_whole(name, number if isinstance(number, float) else int(number)))
        except ValueError:
            return Failure("unsigned integer overflow" if kind is Uint else "integer overflow")

    return convert


def _to_timestamp(seconds: int) -> Value:
    in_range = FIRST_SECOND <= seconds <= LAST_SECOND
    return Timestamp(seconds * 10**9) if in_range else Failure("timestamp overflow")


def _same(value: Value) -> Value:
    return value


OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "bool": (Overload("bool_to_bool", ("bool",), _same), Overload("string_to_bool", ("string",), _to_bool)),
    "bytes": (
        Overload("bytes_to_bytes", ("bytes",), _same),
        Overload("string_to_bytes", ("string",), lambda text: text.encode()),
    ),
    "double": (
        Overload("double_to_double", ("double",), _same),
        Overload("int64_to_double", ("int",), float),
        Overload("string_to_double", ("string",), _reading(parse_double, "double")),
        Overload("uint64_to_double", ("uint",), float),
    ),
    "duration": (
        Overload("duration_to_duration", ("duration",), _same),
        Overload(
            "string_to_duration",
            ("string",),
            _reading(lambda text: Duration(parse_duration(text)), "google.protobuf.Duration"),
        ),
    ),
    "int": (
        Overload("int64_to_int64", ("int",), _same),
        Overload("double_to_int64", ("double",), _to_whole(int)),
        Overload("duration_to_int64", ("duration",), lambda duration: duration.nanoseconds),
        Overload("string_to_int64", ("string",), _reading(lambda text: parse_whole("int", text), "int")),
        Overload("timestamp_to_int64", ("timestamp",), lambda timestamp: timestamp.nanoseconds // 10**9),
        Overload("uint64_to_int64", ("uint",), _to_whole(int)),
    ),
    "string": (
        *(
            Overload(f"{name}_to_string", (kind,), to_string)
            for name, kind in {
                "string": "string",
                "bool": "bool",
                "bytes": "bytes",
                "double": "double",
                "duration": "duration",
                "int64": "int",
                "timestamp": "timestamp",
                "uint64": "uint",
            }.items()
        ),
        Overload("ip_to_string", ("ip",), render_ip),
        Overload("cidr_to_string", ("cidr",), render_cidr),
    ),
    "timestamp": (
        Overload("timestamp_to_timestamp", ("timestamp",), _same),
        Overload("int64_to_timestamp", ("int",), _to_timestamp),
        Overload(
            "string_to_timestamp",
            ("string",),
            _reading(lambda text: Timestamp(*parse_timestamp(text)), "google.protobuf.Timestamp"),
        ),
    ),
    "uint": (
        Overload("uint64_to_uint64", ("uint",), _same),
        Overload("double_to_uint64", ("double",), _to_whole(Uint)),
        Overload("int64_to_uint64", ("int",), _to_whole(Uint)),
        Overload("string_to_uint64", ("string",), _reading(lambda text: Uint(parse_whole("uint", text)), "uint")),
    ),
}
