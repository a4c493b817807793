"""`"...".format([...])`, in the English way of writing numbers that upstream prints them in.

Source: cel-go v0.29 ext/formatting.go, x/text for numbers, Go's strconv for quoted texts.
"""

from __future__ import annotations

import math
import re

from poolwright.allocation.selectors.values import (
    LISTS,
    CelMap,
    CelType,
    Duration,
    Failure,
    Timestamp,
    Uint,
    Value,
    refuse,
    type_name,
)

_CLAUSE = re.compile(r"%(?:\.([0-9]*))?(.?)", re.DOTALL)
_SUPERSCRIPTS = str.maketrans("+-0123456789", "⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
_ESCAPES |= {"\\": "\\\\", '"': '\\"'}
_MAX_DIGITS = 19  # of a number of 64 bits
_LONGEST = 100_000


class _FormatError(Exception):
    pass


def format_text(text: str, values: Value) -> Value:
    """The text with its clauses filled in from a list; what is left of the list doesn't matter."""
    parts: list[str] = []
    at, index = 0, 0
    try:
        while at < len(text):
            start = text.find("%", at)
            if start < 0:
                break
            parts.append(text[at:start])
            if text[start + 1 : start + 2] == "%":
                parts.append("%")
                at = start + 2
                continue
            if index >= len(values):
                return Failure(f"index {index} out of range")
            found = _CLAUSE.match(text, start)
            assert found is not None  # noqa: S101 - it matches any %
            parts.append(_format_clause(found, values[index]))
            at, index = found.end(), index + 1
    except _FormatError as error:
        return Failure(f"error during formatting: {error}")
    return "".join([*parts, text[at:]])


def quote_go(text: str) -> str:
    """A text as Go's `%q` writes it."""
    return '"' + "".join(_escape(char) for char in text) + '"'


def _format_clause(found: re.Match[str], value: Value) -> str:
    digits, letter = found[1], found[2]
    if digits is not None and (not digits or len(digits.lstrip("0")) > _MAX_DIGITS):
        raise _FormatError("the precision is no number")
    precision = 6 if digits is None else int(digits.lstrip("0") or 0)
    if precision > _LONGEST:
        refuse("precision")
    match letter:
        case "s":
            return _to_text(value)
        case "d":
            return _format_decimal(value)
        case "f":
            return _format_fixed(_to_double(value), precision)
        case "e":
            return _format_scientific(_to_double(value), precision)
        case "b":
            return str(int(value)) if type(value) is bool else _format_whole(value, "b")
        case "x" | "X":
            data = value.encode() if isinstance(value, str) else value
            hexadecimal = data.hex() if isinstance(data, bytes) else _format_whole(value, "x")
            return hexadecimal.upper() if letter == "X" else hexadecimal
        case "o":
            return _format_whole(value, "o")
    raise _FormatError(f'unrecognized formatting clause "{letter}"')


def _to_text(value: Value) -> str:
    from poolwright.allocation.selectors.functions.conversions import to_string

    if isinstance(value, LISTS):
        return f"[{', '.join(map(_render_literal, value))}]"
    if isinstance(value, CelMap):
        return _format_map(value)
    if value is None:
        return "null"
    if isinstance(value, CelType):
        return value.name
    if isinstance(value, (bool, int, float, str, bytes, Duration, Timestamp)):
        text = to_string(value)
        if isinstance(text, str):
            return text
        raise _FormatError(text.message)
    raise _FormatError(f"a value of type {type_name(value)} has no text")


def _render_literal(value: Value) -> str:
    """A value inside a list or map, much as CEL would write it."""
    text = f"{value:.6f}" if type(value) is float else _to_text(value)
    match value:
        case float() if not math.isfinite(value):
            return quote_go("NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf")
        case str():
            return quote_go(text)
        case bytes():
            return f"b{quote_go(text)}"
        case Duration():
            return f"duration({quote_go(text)})"
        case Timestamp():
            return f"timestamp({quote_go(text)})"
    return text


def _format_map(value: CelMap) -> str:
    pairs = []
    for key, item in value.pairs():
        if type(key) not in (str, bool, int, Uint):
            raise _FormatError(f"no formatting function for map key of type {type_name(key)}")
        pairs.append((_render_literal(key), _render_literal(item)))
    return "{" + ", ".join(f"{key}:{item}" for key, item in sorted(pairs, key=lambda pair: pair[0])) + "}"


def _format_decimal(value: Value) -> str:
    if type(value) in (int, Uint):
        return str(int(value))
    raise _FormatError(f"decimal clause can only be used on integers, was given {type_name(value)}")


def _format_whole(value: Value, letter: str) -> str:
    if type(value) in (int, Uint):
        return format(int(value), letter)
    raise _FormatError(f"a value of type {type_name(value)} has no digits")


def _to_double(value: Value) -> float:
    if value in ("NaN", "Infinity", "-Infinity"):
        return float(value)
    if type(value) is float:
        return value
    raise _FormatError(f"this clause can only be used on doubles, was given {type_name(value)}")


def _format_fixed(number: float, precision: int) -> str:
    if not math.isfinite(number):
        return _render_special(number)
    return f"{number:,.{precision}f}" if number else f"{0.0:.{precision}f}"


def _format_scientific(number: float, width: int) -> str:
    """Upstream takes the precision for the width."""
    if not math.isfinite(number):
        return _render_special(number).rjust(width)
    mantissa, _, exponent = f"{number if number else 0.0:.6e}".partition("e")
    return f"{mantissa}×10{exponent.removeprefix('+').translate(_SUPERSCRIPTS)}".rjust(width)


def _render_special(number: float) -> str:
    return "NaN" if math.isnan(number) else "∞" if number > 0 else "-∞"


def _escape(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
