"""Literals that upstream works out while it compiles, so that what can only fail is refused at once."""

from __future__ import annotations

import re

from poolwright.catalog.cel.expression import Call, Const, Expr, ListExpr, MapExpr, find_children

CONVERSIONS = ("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint")


def fold_constant(expr: Expr) -> Const | None:
    """The constant that upstream makes of a literal, or of conversions around one; None for anything else."""
    match expr:
        case Const():
            return expr
        case Call(target=None, args=(_,)) if expr.function in CONVERSIONS:
            try:
                return fold_conversion(expr)
            except ValueError:
                return None  # reported at that call itself
    return None


def is_no_key(expr: Expr) -> bool:
    """Whether this is a constant that can be neither an index nor a key, so that upstream builds no program with it."""
    match expr:
        case ListExpr() | MapExpr():
            return all(fold_constant(child) is not None or is_no_key(child) for child in find_children(expr))
        case Call(function="dyn", target=None, args=(value,)):
            return is_no_key(value)
        case Call(function="duration" | "timestamp", target=None, args=(value,)):
            return fold_constant(value) is not None
    known = fold_constant(expr)
    return known is not None and known.kind in ("null", "bytes")


def fold_conversion(call: Call) -> Const | None:
    """The constant a conversion of a constant gives; None where that isn't known here.

    Raises: ValueError, saying why, where the conversion fails.
    Source: cel-go's common/types, and Go's strconv and time for the texts.
    """
    value = fold_constant(call.args[0])
    function = call.function
    if value is None or function == "type":
        return None
    if function in ("dyn", value.kind):
        return value
    if value.kind not in _ACCEPTED[function]:
        raise ValueError(f"a value of type {value.kind} can't become a {function}")
    match function, value.value:
        case (("int" | "uint"), _):
            return Const(kind="int" if function == "int" else "uint", value=parse_whole(function, value.value))
        case "double", str(text):
            return Const(kind="double", value=parse_double(text))
        case "double", int(number):
            return Const(kind="double", value=float(number))
        case "bool", str(text) if text not in _BOOLS:
            raise ValueError(f'"{text}" is not a bool')
        case "bytes", str(text):
            return Const(kind="bytes", value=text.encode())
        case "string", bytes(data):
            return Const(kind="string", value=_decode(data))
        case "string", (bool() | int()):
            return Const(kind="string", value=str(value.value).lower())
        case "duration", str(text):
            parse_duration(text)
        case "timestamp", str(text):
            parse_timestamp(text)
        case "timestamp", int(number) if not _FIRST_SECOND <= number <= _LAST_SECOND:
            raise ValueError(f"{number} is not in the years 1 to 9999")
    return None


# What each conversion takes beside its own type; of a date or duration no constant is known here.
_ACCEPTED = {
    "bool": ("string",),
    "bytes": ("string",),
    "double": ("int", "uint", "string"),
    "duration": ("string",),
    "int": ("uint", "double", "string"),
    "string": ("bool", "bytes", "double", "int", "uint"),
    "timestamp": ("string", "int"),
    "uint": ("int", "double", "string"),
}
_BOOLS = ("1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False")
_FIRST_SECOND, _LAST_SECOND = -62135596800, 253402300799
# Patterns stay texts here and in the modules beside: compiling them all would cost every start of the program.
_DECIMAL = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_HEXADECIMAL = r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+"
_SPECIAL = r"(?i:[+-]?inf(?:inity)?|nan)"


def parse_whole(kind: str, value: object) -> int:
    """A whole number from a text or another number; a fraction is cut off.

    kind: int | uint. Raises: ValueError, saying why it isn't one.
    """
    low, high = (-(2**63), 2**63) if kind == "int" else (0, 2**64)
    match value:
        case str(text):
            if not re.fullmatch(r"[+-]?[0-9]{1,99}" if kind == "int" else r"[0-9]{1,99}", text):
                raise ValueError(f'"{text}" is not of type {kind}')
            number = int(text)
        case float(exact):
            # Upstream leaves out the lowest int too: as a double it can't be told from what lies just below.
            if not (low < exact if kind == "int" else low <= exact) or not exact < high:
                raise ValueError(f"{exact} is out of the range of {kind}")
            number = int(exact)
        case _:
            number = value if isinstance(value, int) else 0
    if not low <= number < high:
        raise ValueError(f"{number} is out of the range of {kind}")
    return number


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ValueError("the bytes are no UTF-8 text") from None


def parse_double(text: str) -> float:
    """A double from a text that Go's strconv reads. Raises: ValueError, saying why it doesn't."""
    text = re.sub(r"(?<=[0-9a-fA-FxX])_(?=[0-9a-fA-F])", "", text)  # Go lets digits be grouped
    if re.fullmatch(_SPECIAL, text):
        return float(text)
    try:
        if re.fullmatch(_DECIMAL, text):
            number = float(text)
        elif re.fullmatch(_HEXADECIMAL, text):
            number = float.fromhex(text)
        else:
            raise ValueError(f'"{text}" is not a double')
    except OverflowError:
        number = float("inf")
    if number in (float("inf"), float("-inf")):
        raise ValueError(f'"{text}" is too large for a double')
    return number


_DURATION = r"[+-]?(?:0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)"
_DURATION_PART = r"([0-9.]+)([a-z\u00b5\u03bc]+)"
_NANOSECONDS = {"ns": 1, "us": 10**3, "\u00b5s": 10**3, "\u03bcs": 10**3, "ms": 10**6, "s": 10**9}
_NANOSECONDS |= {"m": 60 * 10**9, "h": 3600 * 10**9}


def parse_duration(text: str) -> int:
    """The nanoseconds of Go's time.ParseDuration: `1h30m`, `1.5s`, up to 2^63 nanoseconds.

    Raises: ValueError, saying what it should be.
    """
    if not re.fullmatch(_DURATION, text):
        raise ValueError(f'"{text}" is not a duration such as 1h30m or 1.5s')
    total = 0
    for digits, unit in re.findall(_DURATION_PART, text):
        whole, _, part = digits.partition(".")
        total += int(whole or 0) * _NANOSECONDS[unit] + _parse_fraction(part, _NANOSECONDS[unit])
    is_negative = text.startswith("-")
    if total >= 2**63 + is_negative:
        raise ValueError(f'"{text}" is longer than a duration can be, about 292 years')
    return -total if is_negative else total


def _parse_fraction(digits: str, unit: int) -> int:
    """Go works a fraction out as a double, and takes as many of its digits as fit 63 bits."""
    number, scale = 0, 1.0
    for digit in digits:
        if number * 10 + int(digit) >= 2**63 or number > (2**63 - 1) // 10:
            break
        number, scale = number * 10 + int(digit), scale * 10
    return int(float(number) * (float(unit) / scale))


_DATE_AND_TIME = r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?"
_TIMESTAMP = _DATE_AND_TIME + r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))"


def parse_timestamp(text: str) -> tuple[int, int]:
    """Nanoseconds since 1970 in UTC, and the offset in minutes that the text names.

    As Go's time.Parse reads RFC 3339: `2024-05-01T12:00:00Z`, with any fraction of a second and any offset.
    Raises: ValueError, saying what it should be.
    """
    from datetime import date, timedelta  # only a selector with a date needs it

    found = re.fullmatch(_TIMESTAMP, text)
    try:
        if not found:
            raise ValueError
        year, month, day, hour, minute, second, hours, minutes = (int(found[n] or 0) for n in (*range(1, 7), 9, 10))
        if hour > 23 or minute > 59 or second > 59 or hours > 24 or minutes > 60:
            raise ValueError
        offset = (hours * 60 + minutes) * (-1 if found[8] == "-" else 1)
        since = date(year, month, day) - date.min + timedelta(hours=hour, minutes=minute - offset, seconds=second)
        if not timedelta(0) <= since < date.max - date.min + timedelta(days=1):
            raise ValueError
    except ValueError:
        raise ValueError(f'"{text}" is not a timestamp such as 2024-05-01T12:00:00Z') from None
    seconds = _FIRST_SECOND + since.days * 86400 + since.seconds
    return seconds * 10**9 + int((found[7] or "")[:9].ljust(9, "0")), offset


_CLAUSES = {
    "s": ("list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null"),
    "d": ("int", "uint"),
    "f": ("double", "string"),
    "e": ("double", "string"),
    "b": ("int", "uint", "bool"),
    "x": ("int", "uint", "string", "bytes"),
    "X": ("int", "uint", "string", "bytes"),
    "o": ("int", "uint"),
}
_CLAUSE = r"%(?:%|(?:\.[0-9]{1,18})?([sdfebxXo])|)"


def check_format(text: str, args: ListExpr, types: dict[int, str]) -> str | None:
    """What is wrong with a format string for these arguments; None if nothing is.

    types: of every node within the arguments, by id, as `render_type` spells them.
    """
    wanted = 0
    for found in re.finditer(_CLAUSE, text):
        if found[0] == "%%":
            continue
        if not found[1]:
            return f"the format has a % without one of {', '.join(_CLAUSES)} after it"
        if wanted == len(args.elements):
            return f"the format asks for more than the {wanted} arguments given"
        bad = _find_unfit(args.elements[wanted], found[1], types)
        if bad is not None:
            return f"%{found[1]} can't take an argument of type {bad}"
        wanted += 1
    if wanted < len(args.elements):
        return f"the format asks for {wanted} arguments and {len(args.elements)} are given"
    return None


def _find_unfit(arg: Expr, clause: str, types: dict[int, str]) -> str | None:
    """The type within the argument that the clause can't take; %s looks into literals too."""
    name = types[arg.id].partition("(")[0]
    if name != "dyn" and name not in _CLAUSES[clause]:
        return types[arg.id]
    parts: tuple[Expr, ...] = ()
    if clause == "s" and isinstance(arg, ListExpr):
        parts = arg.elements
    elif clause == "s" and isinstance(arg, MapExpr):
        parts = tuple(part for entry in arg.entries for part in (entry.key, entry.value))
    return next((bad for part in parts if (bad := _find_unfit(part, clause, types)) is not None), None)
