from __future__ import annotations

import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolwright.specs.canonical import MAX_INTEGER, canonical_json

CASES = {
    "scalars": ([None, True, False, 0, -1, "a"], b'[null,true,false,0,-1,"a"]'),
    "true-is-not-1": ({"a": True, "b": 1}, b'{"a":true,"b":1}'),
    "empty": ([{}, [], "", ()], b'[{},[],"",[]]'),
    "tuple-is-an-array": ((1, (2, 3)), b"[1,[2,3]]"),
    "keys-sorted-at-every-depth": ({"b": [{"z": 1, "a": 2}], "a": 3}, b'{"a":3,"b":[{"a":2,"z":1}]}'),
    "any-mapping": (MappingProxyType({"b": 1, "a": 2}), b'{"a":2,"b":1}'),
    "largest-integers": ([MAX_INTEGER, -MAX_INTEGER], b"[9007199254740991,-9007199254740991]"),
    "short-escapes": ('\b\t\n\f\r"\\', rb'"\b\t\n\f\r\"\\"'),
    "other-controls-in-lower-case-hex": ("\x00\x0b\x1f", rb'"\u0000\u000b\u001f"'),
    # JavaScript's line separators, DEL and the slash look special and aren't.
    "nothing-else-is-escaped": ("/\x7f\u2028\u2029é<>&", '"/\x7f\u2028\u2029é<>&"'.encode()),
    "escapes-in-keys": ({"\n": 1, '"': 2}, rb'{"\n":1,"\"":2}'),
    "no-normalisation": (["\u00e9", "e\u0301"], '["\u00e9","e\u0301"]'.encode()),
    # RFC 8785, 3.2.3: U+1F600 is D83D DE00 in UTF-16, so it comes before U+FB33 although its code point is larger.
    "keys-by-utf-16-code-units": (
        {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7},
        '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}'.encode(),
    ),
}


@pytest.mark.parametrize(("value", "expected"), CASES.values(), ids=CASES)
def test_canonical_json(value: object, expected: bytes) -> None:
    assert canonical_json(value) == expected


REFUSED = {
    "float": (1.0, TypeError, "canonical JSON has no form for float"),
    "float-inside": ({"a": [float("nan")]}, TypeError, "canonical JSON has no form for float"),
    "bytes": (b"a", TypeError, "canonical JSON has no form for bytes"),
    # A set has no order to keep.
    "set": ({"a"}, TypeError, "canonical JSON has no form for set"),
    "key-that-is-no-text": ({1: 2}, TypeError, "canonical JSON needs keys of type str, not int"),
    "integer-that-a-double-does-not-hold": (
        2**53,
        ValueError,
        "canonical JSON holds integers up to 2^53 - 1 in magnitude, not 9007199254740992",
    ),
    "negative-integer-that-a-double-does-not-hold": (
        [-(2**53)],
        ValueError,
        "canonical JSON holds integers up to 2^53 - 1 in magnitude, not -9007199254740992",
    ),
    "lone-surrogate": ("\ud83d", ValueError, "canonical JSON holds no lone surrogates: this text has no UTF-8 form"),
    "lone-surrogate-in-a-key": (
        {"\udcff": 1},
        ValueError,
        "canonical JSON holds no lone surrogates: this text has no UTF-8 form",
    ),
}


@pytest.mark.parametrize(("value", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_canonical_form(value: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        canonical_json(value)
    assert str(caught.value) == message


texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
)


@given(values)
def test_reads_back_as_the_same_value_and_stays_as_it_is(value: object) -> None:
    written = canonical_json(value)
    assert json.loads(written) == value
    assert canonical_json(json.loads(written)) == written


@given(texts)
def test_texts_are_written_as_the_standard_library_does_without_ascii_escapes(text: str) -> None:
    assert canonical_json(text) == json.dumps(text, ensure_ascii=False).encode("utf-8")


@given(st.dictionaries(texts, st.integers(0, 9)))
def test_order_of_insertion_leaves_no_trace(value: dict[str, int]) -> None:
    written = canonical_json(dict(reversed(value.items())))
    assert written == canonical_json(value)
    assert list(json.loads(written)) == sorted(value, key=lambda key: key.encode("utf-16-be"))
