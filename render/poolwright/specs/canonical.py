"""Canonical JSON: equal values give equal bytes, so that a digest speaks of the value and not of its spelling."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

MAX_INTEGER = 2**53 - 1  # RFC 7493 (I-JSON): beyond it a reader that keeps numbers as doubles sees another number

# RFC 8785, 3.2.2.2: two-letter escapes where JSON has them, else \u00xx in lower case, and nothing else is escaped.
_ESCAPES = {code: f"\\u{code:04x}" for code in range(0x20)} | {
    ord(char): escape
    for char, escape in {
        "\b": "\\b",
        "\t": "\\t",
        "\n": "\\n",
        "\f": "\\f",
        "\r": "\\r",
        '"': '\\"',
        "\\": "\\\\",
    }.items()
}


class Canonical(msgspec.Struct, frozen=True):
    """The canonical JSON of a value, standing for the value in a larger one: what is in many is rendered once."""

    text: str


def canonical_json(value: object) -> bytes:
    """The RFC 8785 form of a value: no spaces, keys in the order of their UTF-16 code units, UTF-8.

    value:  None, bool, int, str, list, tuple, Canonical, or a mapping with str keys, nested as deep as Python recurses.
            A tuple is an array. Numbers are integers only: a float has several spellings, and nothing here needs one.
    Raises: TypeError for a float, a key that isn't a str, and every other type; ValueError for an integer beyond
            2^53 - 1 in magnitude (RFC 8785 builds on I-JSON, where such a number isn't exact: write it as a string)
            and for text with a lone surrogate, which has no UTF-8 form.
    """
    return _render(value).encode("utf-8")


def _render(value: object) -> str:
    # By hand rather than by `json`: sorting, types and limits need a walk anyway, and the import costs more than it.
    if isinstance(value, str):
        return _render_text(value)
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise ValueError(f"canonical JSON holds integers up to 2^53 - 1 in magnitude, not {value}")
        return int.__repr__(value)
    if isinstance(value, Mapping):
        return "{" + ",".join([f"{_render_text(key)}:{_render(value[key])}" for key in _sorted_keys(value)]) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join([_render(item) for item in value]) + "]"
    if isinstance(value, Canonical):
        return value.text
    raise TypeError(f"canonical JSON has no form for {type(value).__name__}")


def _sorted_keys(value: Mapping[object, object]) -> list[str]:
    keys: list[str] = []
    ascii_only = True
    for key in value:
        if not isinstance(key, str):
            raise TypeError(f"canonical JSON needs keys of type str, not {type(key).__name__}")
        ascii_only = ascii_only and key.isascii()
        keys.append(key)
    # Code points and UTF-16 code units agree on ASCII. Beyond U+FFFF they don't: surrogates sort below U+E000.
    return sorted(keys) if ascii_only else sorted(keys, key=lambda key: key.encode("utf-16-be", "surrogatepass"))


def _render_text(text: str) -> str:
    if '"' in text or "\\" in text or not text.isprintable():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("canonical JSON holds no lone surrogates: this text has no UTF-8 form") from None
        text = text.translate(_ESCAPES)
    return f'"{text}"'
