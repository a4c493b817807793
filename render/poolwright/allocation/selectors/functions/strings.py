"""Functions of strings, counted in code points.

Source: cel-go v0.29 ext/strings.go (version 2) and common/types/string.go; Go's strings package.
"""

from __future__ import annotations

from collections.abc import Callable

from poolwright.allocation.selectors.functions.formatting import format_text
from poolwright.allocation.selectors.functions.overload import Overload
from poolwright.allocation.selectors.values import Failure, Value, no_overload, render_key

_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
_SPACES += "\u2028\u2029\u202f\u205f\u3000"
_QUOTED = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
_QUOTED |= {"\\": "\\\\", '"': '\\"'}


def _char_at(text: str, index: int) -> Value:
    return text[index : index + 1] if 0 <= index <= len(text) else Failure(f"index out of range: {index}")


def _index_of(text: str, part: str, offset: int = 0) -> Value:
    if offset < 0:
        return Failure(f"index out of range: {offset}")
    if not part:
        return min(offset, len(text))
    return text.find(part, offset)


def _last_index_of(text: str, part: str, offset: int | None = None) -> Value:
    if not part and offset is None:
        return len(text)
    if offset is None:
        if len(text.encode()) < len(part.encode()):
            return -1
        offset = len(text) - 1
    if offset < 0:
        return Failure(f"index out of range: {offset}")
    if not part:
        return min(offset, len(text))
    return -1 if offset >= len(text) else text.rfind(part, 0, offset + len(part))


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    return text.replace(old, new, max(count, -1))


def _split(text: str, separator: str, count: int = -1) -> Value:
    if count == 0:
        return ()
    if not separator:
        if count < 0 or count >= len(text):
            return tuple(text)
        return (*text[: count - 1], text[count - 1 :])
    return tuple(text.split(separator, count - 1 if count > 0 else -1))


def _substring(text: str, start: int, end: int | None = None) -> Value:
    if end is None:
        return text[start:] if 0 <= start <= len(text) else Failure(f"index out of range: {start}")
    if start > end:
        return Failure(f"invalid substring range. start: {start}, end: {end}")
    for at in (start, end):
        if not 0 <= at <= len(text):
            return Failure(f"index out of range: {at}")
    return text[start:end]


def _join(parts: Value, separator: str = "") -> Value:
    for part in parts:
        if not isinstance(part, str):
            return Failure(f"join: invalid input: {render_key(part)}")
    return separator.join(parts)


def _quote(text: str) -> str:
    return '"' + "".join(_QUOTED.get(char, char) for char in text) + '"'


def _asking(test: Callable[[str, str], bool]) -> Callable[[Value, Value], Value]:
    def ask(text: Value, part: Value) -> Value:
        return test(text, part) if isinstance(text, str) and isinstance(part, str) else no_overload()

    return ask


_S, _I = "string", "int"
OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "contains": (Overload("contains_string", (_S, _S), _asking(lambda text, part: part in text), is_guarded=False),),
    "endsWith": (Overload("ends_with_string", (_S, _S), _asking(str.endswith), is_guarded=False),),
    "startsWith": (Overload("starts_with_string", (_S, _S), _asking(str.startswith), is_guarded=False),),
    "charAt": (Overload("string_char_at_int", (_S, _I), _char_at),),
    "format": (Overload("string_format", (_S, "list(dyn)"), format_text),),
    "indexOf": (
        Overload("string_index_of_string", (_S, _S), _index_of),
        Overload("string_index_of_string_int", (_S, _S, _I), _index_of),
    ),
    "lastIndexOf": (
        Overload("string_last_index_of_string", (_S, _S), _last_index_of),
        Overload("string_last_index_of_string_int", (_S, _S, _I), _last_index_of),
    ),
    "lowerAscii": (Overload("string_lower_ascii", (_S,), lambda text: text.translate(_LOWER)),),
    "upperAscii": (Overload("string_upper_ascii", (_S,), lambda text: text.translate(_UPPER)),),
    "replace": (
        Overload("string_replace_string_string", (_S, _S, _S), _replace),
        Overload("string_replace_string_string_int", (_S, _S, _S, _I), _replace),
    ),
    "split": (
        Overload("string_split_string", (_S, _S), _split),
        Overload("string_split_string_int", (_S, _S, _I), _split),
    ),
    "substring": (
        Overload("string_substring_int", (_S, _I), _substring),
        Overload("string_substring_int_int", (_S, _I, _I), _substring),
    ),
    "trim": (Overload("string_trim", (_S,), lambda text: text.strip(_SPACES)),),
    "join": (
        Overload("list_join", ("list(string)",), _join),
        Overload("list_join_string", ("list(string)", _S), _join),
    ),
    "strings.quote": (Overload("strings_quote", (_S,), _quote),),
}
