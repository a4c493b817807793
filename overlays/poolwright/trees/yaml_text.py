"""Kubernetes objects as text, byte for byte as `kubectl kustomize` prints them.

Kustomize turns every object into JSON and prints that with goyaml v2. libyaml, behind PyYAML's C dumper, is the same
emitter, so folding, quoting and block texts come from there. What goyaml decides before it emits is here: the order of
keys, and which texts need quotes because they would be read as another type.

Measured against Kustomize 5.8.1 (go.yaml.in/yaml/v2 2.4.4); a test runs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cmp_to_key, lru_cache
from io import BytesIO

import yaml

if not yaml.__with_libyaml__:
    raise ImportError("Poolwright needs PyYAML with libyaml: install one of PyYAML's wheels, or build it with libyaml")


def render_objects(objects: Iterable[Mapping[str, object]]) -> bytes:
    """Objects as one YAML stream, in the order given, with a `---` line between two of them.

    objects: what JSON can hold (str, int, bool, None, lists or tuples, mappings with str keys).
    Returns: UTF-8 that ends with a line break; nothing at all for no objects.
    Raises:  TypeError for a float (its text differs between programs) and for anything else JSON can't hold;
             ValueError for what Kustomize can't print, or doesn't print the same way twice.
             Both name the JSON pointer of the place (the first step is the object's index), not what stands there.
    Note:    Kustomize leaves a few texts bare that other readers than Go's take for a number or a date, such as
             `12e34567`. So does this: the bytes are the contract.
    """
    return b"---\n".join(_render(document, [str(index)]) for index, document in enumerate(objects))


def render_object(document: Mapping[str, object]) -> bytes:
    """One object as one YAML document. See render_objects; JSON pointers start in the object."""
    return _render(document, [])


def render_list(items: Sequence[Mapping[str, object]]) -> bytes:
    """A list as one YAML document, for files that hold no object, such as JSON patches. See render_objects."""
    return _emit(list(items), [])


def _render(document: object, path: list[str]) -> bytes:
    if not isinstance(document, Mapping):
        raise TypeError(f"{_pointer(path)}: an object is a mapping, not {type(document).__name__}")
    return _emit(document, path)


def _emit(document: object, path: list[str]) -> bytes:
    events: list[yaml.Event] = [_STREAM_START, _DOCUMENT_START]
    _add_value(events, document, path)
    events += (_DOCUMENT_END, _STREAM_END)
    stream = BytesIO()
    yaml.emit(events, stream, Dumper=yaml.CSafeDumper, indent=2, width=80, allow_unicode=True)
    text = stream.getvalue()
    # libyaml ends a document that ends in an open block text (`|+`) with an end marker, goyaml does not. Nothing else
    # is a line of three dots: what stands below the top is indented, and a key at the top has a colon.
    return text.removesuffix(b"...\n") if text.endswith(b"\n...\n") else text


# Events have no state, so those without content exist once.
_STREAM_START = yaml.StreamStartEvent(encoding="utf-8")
_DOCUMENT_START = yaml.DocumentStartEvent(explicit=False)
_MAPPING_START = yaml.MappingStartEvent(None, None, True, flow_style=False)
_SEQUENCE_START = yaml.SequenceStartEvent(None, None, True, flow_style=False)
_SEQUENCE_END = yaml.SequenceEndEvent()
_MAPPING_END = yaml.MappingEndEvent()
_DOCUMENT_END = yaml.DocumentEndEvent(explicit=False)
_STREAM_END = yaml.StreamEndEvent()

_KEY_CHARACTERS = 1000  # goyaml looks for the colon of JSON within 1024 bytes; Kubernetes' longest key has 317


def _add_value(events: list[yaml.Event], value: object, path: list[str]) -> None:
    """Append a value's events. path: the steps to the value; the same again on return."""
    if isinstance(value, str):
        events.append(_build_text(value, path))
    elif isinstance(value, Mapping):
        _add_mapping(events, value, path)
    elif isinstance(value, (list, tuple)):
        events.append(_SEQUENCE_START)
        for index, item in enumerate(value):
            path.append(str(index))
            _add_value(events, item, path)
            path.pop()
        events.append(_SEQUENCE_END)
    elif value is None:
        events.append(_build_bare("null"))
    elif isinstance(value, bool):
        events.append(_build_bare("true" if value else "false"))
    elif isinstance(value, int):
        if not -(2**63) <= value < 2**64:  # beyond, Kustomize prints a float
            raise ValueError(f"{_pointer(path)}: the integer has more than 64 bits: write it as a text")
        events.append(_build_bare(str(int(value))))
    elif isinstance(value, float):
        raise TypeError(f"{_pointer(path)}: a float has no one text: use an integer, or a text such as a quantity")
    else:
        raise TypeError(f"{_pointer(path)}: JSON holds no {type(value).__name__}")


def _add_mapping(events: list[yaml.Event], mapping: Mapping[object, object], path: list[str]) -> None:
    events.append(_MAPPING_START)
    for key in _sort_keys(mapping, path):
        path.append(key)
        if key == "<<":
            raise ValueError(f"{_pointer(path)}: YAML merges what stands under the key `<<`, so Kustomize drops it")
        if len(key) > _KEY_CHARACTERS:
            raise ValueError(f"{_pointer(path)}: Kustomize reads keys of up to {_KEY_CHARACTERS} characters")
        events.append(_build_text(key, path))
        _add_value(events, mapping[key], path)
        path.pop()
    events.append(_MAPPING_END)


def _pointer(path: Sequence[str]) -> str:
    """The JSON pointer (RFC 6901) of a path, on one line whatever its keys hold."""
    from poolwright.specs.finding import escape_controls  # only an error needs it

    return escape_controls("".join("/" + step.replace("~", "~0").replace("/", "~1") for step in path)) or '""'


# --- texts ---


def _build_text(text: str, path: list[str]) -> yaml.Event:
    event = _find_text(text) if len(text) <= _SHORT else _make_text(text)
    if isinstance(event, int):
        raise ValueError(f"{_pointer(path)}: Kustomize can't print the character U+{event:04X} there: remove it")
    return event


def _make_text(text: str) -> yaml.Event | int:
    """The text's event, or the code of the first character in it that can't be printed."""
    if not text.isascii() or "\x7f" in text:
        refused = _REFUSED.search(text)
        if refused:
            return ord(refused.group())
    if type(text) is not str:  # the emitter takes no subclass, an enumeration's member for one
        text = str.__str__(text)
    # With no style asked for, the emitter prints plain text, or takes single quotes where that can't be.
    style = "|" if "\n" in text else None if is_read_as_text(text) else '"'
    return yaml.ScalarEvent(None, None, _NO_TAG, text, style=style)


# Keys, labels and most values come again and again, in an object and in the next one. An event follows from its text.
_SHORT = 200  # characters: what is longer is rarely met twice
_find_text = lru_cache(maxsize=1 << 14)(_make_text)


def _build_bare(text: str) -> yaml.Event:
    return yaml.ScalarEvent(None, None, _NO_TAG, text)


_NO_TAG = (True, True)  # neither with quotes nor without
# What goyaml can't read in JSON (controls, halves of a pair, U+FFFE, U+FFFF), what it takes for the end of a line
# within one (U+0085, U+2028, U+2029), and a byte order mark in front, after which it escapes every character.
_REFUSED = re.compile("^\ufeff|[\x7f-\x9f\u2028\u2029\ufffe\uffff\ud800-\udfff]")


def is_read_as_text(text: str) -> bool:
    """True if goyaml v2 reads the bare text as a string: its `resolve`, and its guard against base 60."""
    if text in _WORDS:
        return False
    first = text[0]
    if first not in "0123456789+-.":
        return True
    if first == ".":
        return not (re.fullmatch(_POINT_FLOAT, text) and _is_finite(text))
    if (text[4:5] == "-" and _is_timestamp(text)) or (":" in text and re.fullmatch(_BASE_60, text)):
        return False
    digits = text.replace("_", "")
    return not (_is_integer(digits) or (_FLOAT.fullmatch(digits) and _is_finite(digits)))


def _is_integer(digits: str) -> bool:
    """True if Go's ParseInt or ParseUint takes it, the base by its prefix."""
    if re.match("0b[-+][01]", digits):  # goyaml cuts `0b` and tries again, so the sign may come late
        digits = digits[2] + "0b" + digits[3:]
    found = _INTEGER.fullmatch(digits)
    if not found:
        return False
    sign, *parts = found.groups()
    part, base = next((part, base) for part, base in zip(parts, (2, 8, 16, 8, 10), strict=True) if part is not None)
    return -(2**63) <= int(f"{sign}{part or 0}", base) < (2**63 if sign else 2**64)


def _is_finite(digits: str) -> bool:
    return abs(float(digits)) != float("inf")


def _is_timestamp(text: str) -> bool:
    """True if one of goyaml's four layouts fits, on a day that exists."""
    found = re.fullmatch(_TIMESTAMP, text)
    if not found:
        return False
    year, month, day = (int(part) for part in found.groups())
    try:
        date(year or 4, month, day)  # Go has a year 0 and Python hasn't; year 4 is a leap year too
    except ValueError:
        return False
    return True


_WORDS = frozenset(
    form
    for word in ("y", "yes", "true", "on", "n", "no", "false", "off", "null", "~", "")
    for form in (word, word.title(), word.upper())
) | frozenset((*(f"{sign}.{inf}" for sign in ("", "+", "-") for inf in ("inf", "Inf", "INF")), ".nan", ".NaN", ".NAN"))
_INTEGER = re.compile(r"([-+]?)(?:0[bB]([01]+)|0[oO]([0-7]+)|0[xX]([0-9a-fA-F]+)|0([0-7]*)|([1-9][0-9]*))")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
# Rare texts need these, so they are compiled by the first one.
_POINT_FLOAT = r"\.[0-9](?:_?[0-9])*(?:[eE][-+]?[0-9](?:_?[0-9])*)?"
_BASE_60 = r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"
_CLOCK = r"(?:[01]?[0-9]|2[0-3]):[0-5]?[0-9]:[0-5]?[0-9](?:[.,][0-9]+)?"
_ZONE = r"(?:Z|[-+](?:[01][0-9]|2[0-4]):(?:[0-5][0-9]|60))"
_TIMESTAMP = rf"([0-9]{{4}})-([0-9]{{1,2}})-([0-9]{{1,2}})(?:[Tt]{_CLOCK}{_ZONE}| +{_CLOCK})?"


# --- keys ---


def _sort_keys(mapping: Mapping[object, object], path: list[str]) -> Sequence[str]:
    """The keys in goyaml's order: letters after everything else, runs of digits by their number."""
    keys: list[str] = []
    for key in mapping:
        if not isinstance(key, str):
            raise TypeError(f"{_pointer(path)}: a key is a text, not {type(key).__name__}")
        keys.append(key)
    ordered, may_circle = _order_keys(tuple(keys))
    if may_circle:
        _check_order(ordered, path)
    return ordered


@lru_cache(maxsize=1 << 12)  # mappings of a kind have the same keys
def _order_keys(keys: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """The keys in order, and whether they are such that there may be none."""
    ordered = sorted(keys)
    if _LETTERS.fullmatch("".join(ordered)):
        return tuple(ordered), False
    ordered.sort(key=cmp_to_key(_compare_keys))
    return tuple(ordered), any(re.search(_CIRCULAR, key) for key in ordered)


def _check_order(keys: Sequence[str], path: list[str]) -> None:
    """Refuse keys that goyaml's comparison puts in a circle: `12` < `1a` < `2` < `12`. Their order is random there."""
    for index, later in enumerate(keys):
        for earlier in keys[:index]:
            if _compare_keys(earlier, later) > 0:
                raise ValueError(
                    f"{_pointer(path)}: beside its other keys, Kustomize prints {earlier!a} and {later!a} in no fixed "
                    "order: rename one so that no letter follows a digit"
                )


def _compare_keys(one: str, other: str) -> int:
    """Negative if goyaml prints one before other: the `Less` of its sorter."""
    at = next((index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if at is None:
        return len(one) - len(other)
    a, b = one[at], other[at]
    if a.isalpha() or b.isalpha():
        return ord(a) - ord(b) if a.isalpha() and b.isalpha() else a.isalpha() - b.isalpha()
    # After a shared digit other than 0, zeros have a place in the number: 103 comes after 19, though 03 is below 9.
    shared = int("0" in (a, b) and one[:at].rstrip("0")[-1:].isdecimal())
    number_a, end_a = _read_number(one, at, shared)
    number_b, end_b = _read_number(other, at, shared)
    return (number_a - number_b) or (end_a - end_b) or (ord(a) - ord(b))


def _read_number(key: str, at: int, number: int) -> tuple[int, int]:
    """The int64 that Go makes of the digits from `at`, put behind those of `number`; and where they end."""
    while at < len(key) and key[at].isdecimal():
        number = number * 10 + ord(key[at]) - ord("0")
        at += 1
    return (number + 2**63) % 2**64 - 2**63, at


_LETTERS = re.compile(r"[A-Za-z]*")
# A circle takes a letter after a digit, digits beyond an int64, or digits other than 0 to 9.
_CIRCULAR = r"[0-9][A-Za-z]|[0-9]{19}|[^\x00-\x7f]"
