"""Texts that a reader of YAML may take for something else.

What Go reads is recorded by a program that is built from tests/oracle/yaml:

    python tests/trees/typed_texts.py | PROGRAM > tests/trees/data/sigs_yaml.jsonl
"""

from __future__ import annotations

import sys

from poolwright.trees.quoted import quote_typed
from poolwright.trees.yaml_text import render_objects

# Texts that readers differ about, and how each is printed.
TYPED = {
    "2024-01-02T03:04:05": "a date without a zone",
    "2024-02-30": "a day that doesn't exist",
    "2001-12-14 21:59:43.10 -5": "a date with spaces",
    "1e400": "a number that is too large for Go",
    "12e34567": "a digest's first digits",
    ".5_": "a number with an underscore",
    "1" * 400: "a number of 400 digits",
    "0x1ffffffffffffffff": "more than 64 bits",
    "-0x8000000000000001": "more than 64 bits, negative",
    "0x_": "a prefix",
    "0b_": "another",
    "=": "YAML 1.1's value",
    "<<": "YAML 1.1's merge",
}
# Quoted by Kustomize too, for its own library would read them as something else.
WORDS = (
    *("on", "off", "Off", "yes", "NO", "y", "n", "Y", "true", "True", "null", "Null", "~", "", ".nan", ".inf", "-.INF"),
    *("0123", "00", "1_000", "1e3", "1E3", "0o17", "0x1f", "0b1", "1:20", "190:20:30", "12:30:45", "2024-01-02", "-0"),
    *("1.5", ".5", "5.", "+1", "2024-01-02T03:04:05Z", "18446744073709551616", "08", "1_0.5"),
)
# Bare for everybody.
PLAIN = (
    "1.2.3",
    "v1",
    "NaN",
    "inf",
    "80Gi",
    "500m",
    "a:b",
    "a-1",
    "1,5",
    "0.33.0",
    "./x",
    ".",
    "-x",
    "tRue",
    "1e",
    "x=",
)


def render_documents() -> tuple[list[dict[str, object]], bytes]:
    """A document for each text, and what is printed of all."""
    documents: list[dict[str, object]] = [
        {"list": [text], "none": None, "number": 3, "text": text, "true": True} for text in (*TYPED, *WORDS, *PLAIN)
    ]
    return documents, quote_typed(render_objects(documents))


if __name__ == "__main__":
    sys.stdout.buffer.write(render_documents()[1])
