"""The text form of findings, their order, and the error that carries them."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pytest
from msgspec.structs import replace

from poolwright.specs.finding import Finding, SpecError, escape_controls, render_details, render_text, sort_findings
from poolwright.specs.place import Place

ERROR = Finding(
    code="claim-too-many-devices",
    severity="error",
    place=Place("specs/train-a.yaml", 14, 9, "spec.devices.requests[1].exactly.count"),
    what='claim "train-a" asks for 33 devices',
    why="one claim's allocation holds at most 32",
    rule="k8s.io/api resource/v1",
    fix="lower count, or split the claim in two",
)
NOTE = Finding(
    code="file-unreadable",
    severity="note",
    place=Place("specs/z.yaml"),
    what="the file can't be read",
    why="nothing in it takes part",
    fix="give it read permission",
)

TEXTS = {
    "nothing-for-no-findings": ((), ""),
    "an-error-needs-no-label": (
        (ERROR,),
        'specs/train-a.yaml:14:9: claim "train-a" asks for 33 devices  [claim-too-many-devices]\n'
        "  at   spec.devices.requests[1].exactly.count\n"
        "  why  one claim's allocation holds at most 32 (k8s.io/api resource/v1)\n"
        "  fix  lower count, or split the claim in two\n",
    ),
    "no-line-no-field-no-rule": (
        (NOTE,),
        "specs/z.yaml: note: the file can't be read  [file-unreadable]\n"
        "  why  nothing in it takes part\n"
        "  fix  give it read permission\n",
    ),
    "quoted-text-stays-on-its-line": (
        (replace(NOTE, severity="warning", what="a\nb", why="c\r\x1b[2J", rule="d\u2028e", fix="f\u202eg"),),
        "specs/z.yaml: warning: a\\nb  [file-unreadable]\n  why  c\\r\\x1b[2J (d\\u2028e)\n  fix  f\\u202eg\n",
    ),
}


@pytest.mark.parametrize(("findings", "text"), TEXTS.values(), ids=TEXTS.keys())
def test_render_text(findings: tuple[Finding, ...], text: str) -> None:
    assert render_text(findings) == text


def test_details_are_the_lines_below_the_headline() -> None:
    headline, *details = render_text([ERROR]).splitlines()
    assert headline.endswith("[claim-too-many-devices]")
    assert render_details(ERROR) == tuple(line.removeprefix("  ") for line in details)


ESCAPES = {
    "printable-text-is-itself": ("Größe 80 GiB – ok", "Größe 80 GiB – ok"),
    "c0-and-delete": ("\0\t\n\x1b\x7f", r"\x00\t\n\x1b\x7f"),
    "c1-control-sequence-introducer": ("\x9b2J", r"\x9b2J"),
    "bidirectional-override-and-isolate": ("\u202e\u2066", r"\u202e\u2066"),
    "invisible-characters": ("\u200b\xad\ufeff\U000e0041", r"\u200b\xad\ufeff\U000e0041"),
    "variation-selectors-and-fillers": (
        "a\ufe0fb\U000e0101\u3164\u2800\u034f",
        r"a\ufe0fb\U000e0101\u3164\u2800\u034f",
    ),
    "a-surrogate-can-be-encoded-afterwards": ("caf\udce9", r"caf\udce9"),
    # Not told apart from the control character itself: what counts is that it is harmless.
    "a-backslash-is-itself": (r"\x1b", r"\x1b"),
}


@pytest.mark.parametrize(("text", "shown"), ESCAPES.values(), ids=ESCAPES.keys())
def test_escape_controls(text: str, shown: str) -> None:
    assert escape_controls(text) == shown


# Each row stands right before the next one in the order of findings.
ORDER = {
    "file-first": (Place("a.yaml", 9, 9), {}),
    "then-a-whole-file-before-its-lines": (Place("b.yaml"), {}),
    "then-line-as-a-number": (Place("b.yaml", 2, 1), {}),
    "then-column-as-a-number": (Place("b.yaml", 10, 2), {}),
    "then-field": (Place("b.yaml", 10, 10, "spec.a"), {}),
    "then-code": (Place("b.yaml", 10, 10, "spec.b"), {"code": "a"}),
    "then-what": (Place("b.yaml", 10, 10, "spec.b"), {"code": "b", "what": "x"}),
    "then-severity": (Place("b.yaml", 10, 10, "spec.b"), {"code": "b", "what": "y"}),
    "then-why": (Place("b.yaml", 10, 10, "spec.b"), {"code": "b", "what": "y", "severity": "note"}),
    "then-rule": (Place("b.yaml", 10, 10, "spec.b"), {"code": "b", "what": "y", "severity": "note", "why": "z"}),
    "then-fix": (
        Place("b.yaml", 10, 10, "spec.b"),
        {"code": "b", "what": "y", "severity": "note", "why": "z", "rule": "z"},
    ),
    "last": (
        Place("b.yaml", 10, 10, "spec.b"),
        {"code": "b", "what": "y", "severity": "note", "why": "z", "rule": "z", "fix": "z"},
    ),
}
ORDERED = [
    replace(Finding(code="c", severity="error", place=place, what="w", why="w", fix="f"), **fields)
    for place, fields in ORDER.values()
]


@pytest.mark.parametrize("index", range(1, len(ORDERED)), ids=list(ORDER)[1:])
def test_order(index: int) -> None:
    before, after = ORDERED[index - 1 : index + 1]
    assert sort_findings([after, before, after]) == (before, after)


def test_order_does_not_depend_on_the_hash_seed() -> None:
    program = (
        "from poolwright.specs.finding import *; from poolwright.specs.place import Place\n"
        "print(render_text(sort_findings(Finding(code='c', severity='error', place=Place('f'), what='w', why=str(i),"
        " fix='x') for i in range(8))))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1


def test_spec_error_says_every_problem_once_by_place() -> None:
    error = SpecError(iter([NOTE, ERROR, NOTE]))
    assert error.findings == (ERROR, NOTE)
    assert str(error) == (
        'specs/train-a.yaml:14:9: claim "train-a" asks for 33 devices [claim-too-many-devices]\n'
        "specs/z.yaml: the file can't be read [file-unreadable]"
    )


def test_spec_error_in_a_traceback_moves_no_cursor() -> None:
    assert str(SpecError([replace(NOTE, what="a\x1b[2J\nb")])) == "specs/z.yaml: a\\x1b[2J\\nb [file-unreadable]"


def test_spec_error_comes_back_whole_from_a_worker_process() -> None:
    error = SpecError([NOTE, ERROR])
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.findings, str(copy)) == (SpecError, error.findings, str(error))


def test_a_spec_error_without_a_problem_is_our_mistake() -> None:
    with pytest.raises(ValueError, match=r"^a SpecError says what is wrong$"):
        SpecError([])
