"""Kubernetes quantities, exact: `80Gi`, `81559Mi` and `85520809984` as numbers that compare, and as texts."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

Format = Literal["BinarySI", "DecimalSI", "DecimalExponent"]

NANO = 10**9  # nano units in one unit
MAX_BINARY = 2**63 - 1  # upstream caps what is written with a power of 1024, and nothing else

# Our own limits, so that a short text can't ask for a number of a billion digits. Upstream has none.
MAX_TEXT = 256
MAX_EXPONENT = 999

_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}  # powers of 2
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}  # powers of 10
_BINARY_SUFFIXES = ("", *_BINARY)  # by power of 1024
_DECIMAL_SUFFIXES = {power: suffix for suffix, power in _DECIMAL.items()}

_QUANTITY = r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:([KMGTPE]i|[numkMGTPE]|)|[eE]([+-]?[0-9]+))"


class Quantity(msgspec.Struct, frozen=True, eq=False):
    """An amount. Equality, order and hash go by value alone: 80Gi equals 81920Mi."""

    nano: int  # the exact value in billionths
    format: Format  # the family of suffixes it was written with, and is shown with
    # The text as written, where upstream shows that instead of its canonical form; else empty.
    kept_text: str = ""

    def __eq__(self, other: object) -> bool:
        return self.nano == other.nano if isinstance(other, Quantity) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.nano)

    def __lt__(self, other: Quantity) -> bool:
        return self.nano < other.nano

    def __le__(self, other: Quantity) -> bool:
        return self.nano <= other.nano

    @property
    def value_ceil(self) -> int:
        """The smallest integer that isn't below the value; Kubernetes' Value() of what isn't negative."""
        return -(-self.nano // NANO)

    @property
    def bytes(self) -> int:
        """`value_ceil`, of a quantity that counts bytes."""
        return self.value_ceil

    @property
    def canonical(self) -> str:
        """The text that Go's Quantity.String() gives after ParseQuantity: what `kubectl` and upstream messages show.

        Not a normal form. Upstream keeps some texts as they were written (`+5`, `007Gi`, `1.500G`), and loses the
        suffix above E (`1000E` is shown as `1`): to write a quantity, use `normal_text` or `render_quantity`.
        """
        return self.kept_text or _canonical_text(self)

    @property
    def normal_text(self) -> str:
        """One text per value: the shorter one of powers of 1000 and of 1024; of 1024 if both are as long.

        `81920Mi` and `80Gi` give `80Gi`, `80000M` gives `80G`, `0.5` gives `500m`. Upstream reads it as the same value
        and shows it unchanged, so what is rendered never differs from what the API server stores.
        """
        return min(render_quantity(self, binary=True), render_quantity(self, binary=False), key=len)


def parse_quantity(text: str) -> Quantity:
    """Read a quantity as upstream does.

    What is finer than a billionth is rounded away from zero; with a binary suffix the magnitude is capped at 2^63 - 1.
    Raises: ValueError, one sentence with the value and what to write instead. Refused although upstream takes it:
            a text without a digit (`Gi`, `-`, `.`; its grammar has no such thing, its code reads 0), exponents beyond
            999 in magnitude, more than 256 characters.
    Source: k8s.io/apimachinery/pkg/api/resource v0.36; its recorded answers are in tests/specs/data.
    """
    if len(text) > MAX_TEXT:
        raise ValueError(f'"{text[:20]}..." is too long for a quantity: {MAX_TEXT} characters are enough for any')
    match = re.fullmatch(_QUANTITY, text)
    if match is None or not (match[2] or match[3]):
        raise ValueError(f'"{text}" is not a quantity: {_advice(text)}')
    sign, whole, fraction, suffix, exponent = match.groups()
    number = whole.lstrip("0") or "0"
    decimals = fraction or ""
    if suffix in _BINARY:
        quantity = _binary(number, decimals, _BINARY[suffix], text)
    elif exponent is None:
        quantity = _decimal(number, decimals, _DECIMAL[suffix], "DecimalSI", text)
    elif abs(int(exponent)) <= MAX_EXPONENT:
        quantity = _decimal(number, decimals, int(exponent), "DecimalExponent", text)
    else:
        raise ValueError(f'"{text}" is out of range for a quantity: its exponent is beyond {MAX_EXPONENT}')
    if sign == "-":
        return Quantity(-quantity.nano, quantity.format, quantity.kept_text)
    return quantity


def render_quantity(quantity: Quantity, binary: bool) -> str:
    """The text of a value in one family of suffixes; `parse_quantity` of it is the value again.

    binary: powers of 1024. As upstream, what isn't a whole number, is below 1024 or beyond 2^63 - 1 in magnitude is
            written with powers of 1000 all the same. Above E that is an exponent, `1e21`: upstream would lose the
            suffix.
    """
    if binary and _fits_binary(quantity.nano):
        return _binary_text(quantity.nano // NANO)
    mantissa, power = _mantissa_and_power(quantity.nano)
    suffix = _DECIMAL_SUFFIXES.get(power)
    return f"{mantissa}e{power}" if suffix is None else f"{mantissa}{suffix}"


def _binary(number: str, decimals: str, power: int, text: str) -> Quantity:
    nano = min(_ceil_scaled(int(number + decimals) << power, 9 - len(decimals)), MAX_BINARY * NANO)
    # Upstream's short cut for small whole numbers keeps the text, unless a larger suffix might do. It guesses the
    # digits of a power of 2 as three per ten bits.
    is_short = not decimals and 14 - len(number) - power * 3 // 10 >= 0
    kept_text = text if is_short and int(number) % 8 else ""
    return Quantity(nano, "DecimalSI" if 0 < nano < NANO else "BinarySI", kept_text)


def _decimal(number: str, decimals: str, power: int, format_: Format, text: str) -> Quantity:
    digits = number + decimals
    scale = power - len(decimals)
    # The same short cut; here the text is kept if it looks canonical: no zeros in front, no thousands at the end.
    is_short = len(digits) <= 18 and scale >= -9
    looks_canonical = scale % 3 == 0 and digits[0] != "0" and not digits.endswith("000")
    return Quantity(_ceil_scaled(int(digits), 9 + scale), format_, text if is_short and looks_canonical else "")


def _ceil_scaled(number: int, power: int) -> int:
    """number * 10^power, rounded up. Cost: the digits of the result, or of the divisor."""
    factor: int = 10 ** abs(power)
    return number * factor if power >= 0 else -(-number // factor)


def _canonical_text(quantity: Quantity) -> str:
    """Upstream's CanonicalizeBytes, its missing suffix above E included."""
    if quantity.format == "BinarySI" and _fits_binary(quantity.nano):
        return _binary_text(quantity.nano // NANO)
    mantissa, power = _mantissa_and_power(quantity.nano)
    if quantity.format == "DecimalExponent" and power:
        return f"{mantissa}e{power}"
    return f"{mantissa}{_DECIMAL_SUFFIXES.get(power, '')}"


def _fits_binary(nano: int) -> bool:
    return nano % NANO == 0 and 1024 <= abs(nano) // NANO <= MAX_BINARY


def _binary_text(value: int) -> str:
    power = 0
    while value % 1024 == 0:  # never zero: the caller has ruled it out
        value //= 1024
        power += 1
    return f"{value}{_BINARY_SUFFIXES[power]}"


def _mantissa_and_power(nano: int) -> tuple[int, int]:
    """The value as a whole mantissa and the largest power of ten that is a multiple of three."""
    if nano == 0:
        return 0, 0
    power = -9
    while nano % 1000 == 0:
        nano //= 1000
        power += 3
    return nano, power


def _advice(text: str) -> str:
    """What to write instead of a text that is not a quantity, for the mistakes people make."""
    squeezed = "".join(text.split())
    match = re.fullmatch(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:[eE]([+-]?[0-9]+))?([A-Za-z]*)", squeezed)
    if match is None:
        if re.fullmatch(r"[+-]?\.?([KMGTPE]i|[A-Za-z])?", squeezed):
            return "write a number and, where it is needed, a suffix, as in 80Gi, 80G or 500m"
        if re.fullmatch(r"[+-]?[0-9][0-9,_.]*[A-Za-z]*", squeezed):
            return "write the number in digits alone, with at most one point and no separators, as in 1500Mi or 1.5Gi"
        return (
            "write a number and one of Ki Mi Gi Ti Pi Ei (powers of 1024), n u m k M G T P E (of 1000) or an exponent"
        )
    number, exponent, unit = match.groups()
    suffixes = _meant_suffixes(unit)
    if exponent is not None and abs(int(exponent)) > 18:
        return "write either an exponent, as in 1e21, or a suffix"
    if exponent is not None:
        number = _plain(number, int(exponent))
    if not suffixes:
        return f"write {number} with one of Ki Mi Gi Ti Pi Ei (powers of 1024) or k M G T P E (of 1000)"
    reason = ", as an exponent and a suffix can't stand together" if exponent is not None and unit else ""
    if len(suffixes) == 2:
        return f"write {number}{suffixes[0]} (powers of 1000) or {number}{suffixes[1]} (powers of 1024){reason}"
    return f"write {number}{suffixes[0]}{reason}"


def _meant_suffixes(unit: str) -> tuple[str, ...]:
    """The suffixes that a unit may stand for: `gi` -> Gi, `GB` -> G or Gi, `B` -> none needed, `x` -> ()."""
    if unit in _BINARY or unit in _DECIMAL:
        return (unit,)
    match = re.fullmatch(r"([kmgtpe]?)(i?)(?:b|bytes?)?", unit.lower())
    if match is None or (match[2] and not match[1]):
        return ()
    letter, is_binary = match.groups()
    if not letter:
        return ("",)
    decimal = letter if letter == "k" else letter.upper()
    binary = letter.upper() + "i"
    return (binary,) if is_binary else (decimal, binary)


def _plain(number: str, exponent: int) -> str:
    """A number with an exponent as plain digits: `1.5` and 3 -> `1500`."""
    sign = "-" if number.startswith("-") else ""
    whole, _, decimals = number.lstrip("+-").partition(".")
    digits = whole + decimals
    point = len(whole) + exponent
    digits = "0" * max(0, 1 - point) + digits + "0" * max(0, point - len(digits))
    point = max(point, 1)
    head, tail = digits[:point].lstrip("0") or "0", digits[point:].rstrip("0")
    return f"{sign}{head}.{tail}" if tail else f"{sign}{head}"
