from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from needs import needs_go_program
from poolwright.specs.quantity import MAX_BINARY, NANO, Quantity, parse_quantity, render_quantity

ORACLE = Path(__file__).parents[1] / "oracle" / "quantity"
RECORDED = Path(__file__).parent / "data" / "quantities.jsonl.gz"  # its first line says how it was made

FACTORS = {suffix: Fraction(1000) ** power for power, suffix in enumerate(["n", "u", "m", "", *"kMGTPE"], start=-3)}
FACTORS |= {
    suffix: Fraction(1024) ** power for power, suffix in enumerate(["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"], start=1)
}

# What upstream takes and we refuse, on purpose. Everything else must agree.
NO_DIGIT = re.compile(r"[+-]?\.?([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?")

VALUES = {
    "binary": ("80Gi", 80 * 2**30 * NANO, "BinarySI", "80Gi"),
    "decimal": ("80G", 80 * 10**9 * NANO, "DecimalSI", "80G"),
    "exponent": ("85e9", 85 * 10**9 * NANO, "DecimalExponent", "85e9"),
    "plain": ("85520809984", 85520809984 * NANO, "DecimalSI", "85520809984"),
    "milli": ("500m", NANO // 2, "DecimalSI", "500m"),
    "fraction-of-a-binary-suffix": ("79.6474609375Gi", 85520809984 * NANO, "BinarySI", "81559Mi"),
    "binary-that-is-not-whole-is-shown-decimal": ("1.0001Ki", 1024102400000, "BinarySI", "1024102400u"),
    "binary-below-one-turns-decimal": ("0.0001Ki", 102400000, "DecimalSI", "102400u"),
    "finer-than-a-billionth-is-rounded-up": ("0.0000000001", 1, "DecimalSI", "1n"),
    # Away from zero, not towards the larger number.
    "negative-is-rounded-away-from-zero": ("-0.0000000001", -1, "DecimalSI", "-1n"),
    "binary-is-capped": ("9Ei", MAX_BINARY * NANO, "BinarySI", "9223372036854775807"),
    "negative-binary-is-capped-at-the-same-magnitude": ("-9Ei", -MAX_BINARY * NANO, "BinarySI", "-9223372036854775807"),
    "decimal-is-not-capped": ("10E", 10**19 * NANO, "DecimalSI", "10E"),
    # Upstream keeps a text that it takes for canonical.
    "text-kept-with-its-sign-and-zeros": ("+007Gi", 7 * 2**30 * NANO, "BinarySI", "+007Gi"),
    "text-kept-with-its-fraction": ("1.500G", 1500 * 10**6 * NANO, "DecimalSI", "1.500G"),
    # Upstream has no suffix above E and then writes none.
    "suffix-above-exa-is-lost-as-upstream": ("1000E", 10**21 * NANO, "DecimalSI", "1"),
}


@pytest.mark.parametrize(("text", "nano", "format_", "canonical"), VALUES.values(), ids=VALUES)
def test_value_and_canonical_text(text: str, nano: int, format_: str, canonical: str) -> None:
    quantity = parse_quantity(text)
    assert (quantity.nano, quantity.format, quantity.canonical) == (nano, format_, canonical)


REFUSED = {
    "empty": ("", '"" is not a quantity: write a number and, where it is needed, a suffix, as in 80Gi, 80G or 500m'),
    "suffix-alone": (
        "Gi",
        '"Gi" is not a quantity: write a number and, where it is needed, a suffix, as in 80Gi, 80G or 500m',
    ),
    "bytes-decimal-or-binary": (
        "80GB",
        '"80GB" is not a quantity: write 80G (powers of 1000) or 80Gi (powers of 1024)',
    ),
    "bytes-binary": ("80GiB", '"80GiB" is not a quantity: write 80Gi'),
    "bytes-in-words": ("80 bytes", '"80 bytes" is not a quantity: write 80'),
    "space": ("80 Gi", '"80 Gi" is not a quantity: write 80Gi'),
    "space-and-bytes": ("80 MB", '"80 MB" is not a quantity: write 80M (powers of 1000) or 80Mi (powers of 1024)'),
    "trailing-space": ("80Gi ", '"80Gi " is not a quantity: write 80Gi'),
    "lower-case": ("80gi", '"80gi" is not a quantity: write 80Gi'),
    "upper-case": ("80KI", '"80KI" is not a quantity: write 80Ki'),
    "capital-k": ("80K", '"80K" is not a quantity: write 80k (powers of 1000) or 80Ki (powers of 1024)'),
    "exponent-and-suffix": (
        "1e3Gi",
        '"1e3Gi" is not a quantity: write 1000Gi, as an exponent and a suffix can\'t stand together',
    ),
    "exponent-fraction-and-suffix": (
        "-1.25e-1gb",
        '"-1.25e-1gb" is not a quantity: write -0.125G (powers of 1000) or -0.125Gi (powers of 1024), '
        "as an exponent and a suffix can't stand together",
    ),
    "large-exponent-and-suffix": (
        "1e99Gi",
        '"1e99Gi" is not a quantity: write either an exponent, as in 1e21, or a suffix',
    ),
    "separators": (
        "80,000Mi",
        '"80,000Mi" is not a quantity: write the number in digits alone, with at most one point and no separators, '
        "as in 1500Mi or 1.5Gi",
    ),
    "unknown-suffix": (
        "80x",
        '"80x" is not a quantity: write 80 with one of Ki Mi Gi Ti Pi Ei (powers of 1024) or k M G T P E (of 1000)',
    ),
    "garbage": (
        "50%",
        '"50%" is not a quantity: write a number and one of Ki Mi Gi Ti Pi Ei (powers of 1024), '
        "n u m k M G T P E (of 1000) or an exponent",
    ),
    "digits-of-another-script": (
        "٣",
        '"٣" is not a quantity: write a number and one of Ki Mi Gi Ti Pi Ei (powers of 1024), '
        "n u m k M G T P E (of 1000) or an exponent",
    ),
    # 1e999999999 would be a number of a billion digits.
    "exponent-beyond-our-limit": (
        "1e1000",
        '"1e1000" is out of range for a quantity: its exponent is beyond 999',
    ),
    "too-long": ("1" * 257, '"11111111111111111111..." is too long for a quantity: 256 characters are enough for any'),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_refusal_says_what_to_write(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}\Z"):
        parse_quantity(text)


NORMAL = {
    "binary": ("81920Mi", "80Gi"),
    "already-normal": ("80Gi", "80Gi"),
    "bytes": ("85899345920", "80Gi"),
    "fraction-of-a-suffix": ("0.078125Ti", "80Gi"),
    "decimal-stays-decimal-although-1024-divides-it": ("80000M", "80G"),
    "exponent": ("80e9", "80G"),
    "text-that-upstream-would-keep": ("+080G", "80G"),
    "fraction-of-one": ("0.5", "500m"),
    "whole-and-small": ("8000m", "8"),
    "zero": ("-0.0Ki", "0"),
    "negative": ("-2048", "-2Ki"),
    # 9875Ki and 10112k are as long.
    "binary-if-both-are-as-long": ("10112k", "9875Ki"),
    # 10^21 has no suffix: upstream would show 1000E as 1.
    "above-exa-an-exponent": ("1000E", "1e21"),
    "beyond-the-cap-never-binary": ("9444732965739290427392", "9444732965739290427392"),
}


@pytest.mark.parametrize(("text", "normal"), NORMAL.values(), ids=NORMAL)
def test_normal_text(text: str, normal: str) -> None:
    assert parse_quantity(text).normal_text == normal


RENDERED = {
    "binary": ("80G", True, "78125000Ki"),
    "decimal": ("80Gi", False, "85899345920"),
    "binary-needs-a-whole-number": ("0.5", True, "500m"),
    "binary-needs-1024": ("1000", True, "1k"),
    "binary-without-a-suffix": ("2000", True, "2000"),
    "binary-not-beyond-the-cap": ("10E", True, "10E"),
}


@pytest.mark.parametrize(("text", "binary", "rendered"), RENDERED.values(), ids=RENDERED)
def test_render(text: str, binary: bool, rendered: str) -> None:
    assert render_quantity(parse_quantity(text), binary) == rendered


CEILINGS = {
    "whole": ("81559Mi", 85520809984),
    "rounded-up": ("1500m", 2),
    "a-billionth-is-one": ("1n", 1),
    "negative-towards-zero": ("-1500m", -1),
}


@pytest.mark.parametrize(("text", "ceiling"), CEILINGS.values(), ids=CEILINGS)
def test_whole_number_is_rounded_up(text: str, ceiling: int) -> None:
    quantity = parse_quantity(text)
    assert (quantity.value_ceil, quantity.bytes) == (ceiling, ceiling)


def test_a_card_sold_as_80_gb_has_no_80_gi() -> None:
    card = parse_quantity("81559Mi")
    assert parse_quantity("80G") < parse_quantity("85e9") < card < parse_quantity("80Gi")
    assert parse_quantity("79Gi") < card < parse_quantity("81560Mi")
    assert {card, parse_quantity("85520809984"), parse_quantity("79.6474609375Gi")} == {card}


def test_recorded_answers_of_upstream() -> None:
    header, *rows = [json.loads(line) for line in _recorded().splitlines()]
    assert header["by"] == "k8s.io/apimachinery v0.36.6"
    assert len(rows) >= 2000
    assert [(row, problem) for row, problem in _disagreements(rows)] == []


def test_recorded_comparisons_of_upstream() -> None:
    rows = [row for row in map(json.loads, _recorded().splitlines()[1:]) if "error" not in row]
    values = [Quantity(int(row["nano"]), row["format"]) for row in rows]
    order = [(new > old) - (new < old) for old, new in zip([Quantity(0, "DecimalSI"), *values], values, strict=False)]
    assert order == [row["cmpPrevious"] for row in rows]
    equal = [
        new == old and hash(new) == hash(old)
        for old, new in zip([Quantity(0, "DecimalSI"), *values], values, strict=False)
    ]
    assert equal == [row["cmpPrevious"] == 0 for row in rows]


@pytest.mark.oracle
def test_upstream_still_answers_as_recorded(tmp_path: Path) -> None:
    program = needs_go_program(ORACLE, tmp_path / "oracle")
    texts = subprocess.run([sys.executable, ORACLE / "texts.py"], check=True, capture_output=True).stdout
    answers = subprocess.run([program], input=texts, check=True, capture_output=True).stdout.decode("utf-8")
    assert answers == _recorded().partition("\n")[2]


def _recorded() -> str:
    return gzip.decompress(RECORDED.read_bytes()).decode("utf-8")


def _disagreements(rows: list[dict[str, Any]]) -> list[tuple[dict[str, Any], str]]:
    found = []
    for row in rows:
        try:
            quantity = parse_quantity(row["text"])
        except ValueError as error:
            if "error" not in row and not _refused_on_purpose(row["text"], str(error)):
                found.append((row, str(error)))
            continue
        answer = {"nano": str(quantity.nano), "format": quantity.format, "string": quantity.canonical}
        if abs(quantity.nano) <= MAX_BINARY * NANO:
            # Beyond, upstream loses suffixes, and its Value() wraps round. Below zero that is off by one for fractions.
            answer["binarySI"] = render_quantity(quantity, binary=True)
            answer["decimalSI"] = render_quantity(quantity, binary=False)
            if quantity.nano >= 0:
                answer["value"] = quantity.value_ceil
        if answer != {key: row.get(key) for key in answer}:
            found.append((row, str(answer)))
    return found


def _refused_on_purpose(text: str, message: str) -> bool:
    if "exponent is beyond 999" in message:
        return abs(int(text.lower().partition("e")[2])) > 999
    if "too long" in message:
        return len(text) > 256
    return NO_DIGIT.fullmatch(text) is not None


numbers = st.from_regex(r"[+-]?[0-9]{0,24}(\.[0-9]{0,12})?", fullmatch=True).filter(
    lambda text: any(map(str.isdigit, text))
)
quantity_texts = st.tuples(numbers, st.sampled_from(sorted(FACTORS))) | st.tuples(
    numbers, st.integers(-40, 40).map(lambda exponent: f"e{exponent}")
)
quantities = quantity_texts.map(lambda parts: parse_quantity("".join(parts)))


@given(numbers, st.sampled_from(sorted(FACTORS)))
def test_value_is_the_number_times_its_suffix(number: str, suffix: str) -> None:
    exact = Fraction(number.lstrip("+").rstrip(".") or "0") * FACTORS[suffix] * NANO
    magnitude = -(-abs(exact) // 1)  # rounded away from zero
    if suffix.endswith("i"):
        magnitude = min(magnitude, MAX_BINARY * NANO)
    assert parse_quantity(number + suffix).nano == (magnitude if exact >= 0 else -magnitude)


@given(quantities, st.booleans())
def test_rendered_text_reads_back_as_the_same_value(quantity: Quantity, binary: bool) -> None:
    assert parse_quantity(render_quantity(quantity, binary)) == quantity


@given(quantities)
def test_normal_text_reads_back_and_upstream_shows_it_unchanged(quantity: Quantity) -> None:
    again = parse_quantity(quantity.normal_text)
    assert (again, again.canonical, again.normal_text) == (quantity, quantity.normal_text, quantity.normal_text)


@given(quantities, quantities)
def test_equal_values_and_only_they_have_equal_normal_texts(one: Quantity, other: Quantity) -> None:
    assert (one == other) == (one.normal_text == other.normal_text)
    assert Quantity(one.nano, other.format).normal_text == one.normal_text


@given(quantities, quantities)
def test_order_is_total_and_by_value(one: Quantity, other: Quantity) -> None:
    assert (one < other, one == other, one > other) == (
        one.nano < other.nano,
        one.nano == other.nano,
        one.nano > other.nano,
    )
    assert hash(Quantity(one.nano, other.format)) == hash(one)


units = st.sampled_from(
    ("GB", "gb", "GiB", "gi", "KI", "K", "kb", " Mi", "B", " bytes", "t", "Pib", "mi", "e3Gi", "e-2 m", " e5")
)


@given(numbers, units)
def test_what_a_refusal_says_to_write_is_taken(number: str, unit: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity: write ") as caught:
        parse_quantity(number + unit)
    for suggestion in re.findall(r"(?:write|or) ([+-]?[0-9.]\S*?),?(?= |$)", str(caught.value)):
        parse_quantity(suggestion)
