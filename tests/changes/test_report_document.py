"""The report as a document: what is written is read back, what anybody else may have written is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings

from change_reports import CHANGE_REPORTS, build_report
from change_sides import compare
from fleet import PLACEMENTS, POOL, edit, read_small_fleet
from hostile_reports import hostile_reports
from poolwright.changes.fail_on import DEFAULT, is_failing, parse_fail_on
from poolwright.changes.report import (
    MAX_REPORT_BYTES,
    FindingRow,
    Report,
    ReportError,
    Stranded,
    parse_report,
    render_report,
    report_schema,
)
from poolwright.changes.report_text import render_report_text

SMALL = read_small_fleet()
Document = dict[str, Any]


@cache
def real_report() -> Report:
    """One with something in most of its parts."""
    after = edit(SMALL, PLACEMENTS, ("minReplicas: 1\n  surge: 1", "minReplicas: 4\n  surge: 0"), ("2.4.0", "2.3.0"))
    after = edit(after, "inventory/east.yaml", ("Hopper", "Ampere"))
    after = edit(after, "specs/pool.yaml", ("[Hopper]", "[Ampere]"), ("owner: platform-gpu", "owner: platform-hpc"))
    return compare(SMALL, after)


REPORTS: dict[str, Callable[[], Report]] = {
    "real": real_report,
    "nothing": build_report,
    **{name: lambda report=report: report for name, report in CHANGE_REPORTS.items()},  # type: ignore[misc]
}


@pytest.mark.parametrize("name", REPORTS)
def test_what_is_written_is_read_back_and_as_the_schema_says(name: str) -> None:
    report = REPORTS[name]()
    data = render_report(report)
    assert parse_report(data) == report
    assert render_report(parse_report(data)) == data
    jsonschema_rs.validate(report_schema(), json.loads(data))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_reports())
def test_any_text_is_read_back(report: Report) -> None:
    assert parse_report(render_report(report)) == report


def document(**parts: Any) -> Document:
    """A report of one stranded workload as plain values, with some of its properties replaced."""
    one = Stranded(cluster="a", workload="b/c", scenario="fresh", replicas=2, stuck=1, reasons=())
    plain: Document = json.loads(render_report(build_report(stranded=(one,))))
    return plain | parts


def without(name: str) -> Document:
    return {key: value for key, value in document().items() if key != name}


def stranded(**parts: Any) -> Document:
    (one,) = document()["stranded"]
    return document(stranded=[one | parts])


NOT = "it is no ChangeReport of poolwright.dev/v1alpha1: "
# Documents that are no report, and what is said of them.
REFUSED: dict[str, tuple[Document, str]] = {
    "another-kind": (document(kind="FindingList"), "Invalid enum value 'FindingList' - at `$.kind`"),
    "another-version": (
        document(apiVersion="poolwright.dev/v2"),
        "Invalid enum value 'poolwright.dev/v2' - at `$.apiVersion`",
    ),
    "a-missing-property": (without("moves"), "Object missing required field `moves`"),
    "an-unknown-property": (document(html="<b>"), "Object contains unknown field `html`"),
    "an-unknown-property-within": (
        stranded(html="<b>"),
        "Object contains unknown field `html` - at `$.stranded[0]`",
    ),
    "a-property-as-python-calls-it": (
        {("as_of" if key == "asOf" else key): part for key, part in document().items()},
        "Object contains unknown field `as_of`",
    ),
    "a-word-that-isnt-one": (
        stranded(scenario="dream"),
        "Invalid enum value 'dream' - at `$.stranded[0].scenario`",
    ),
    "null-where-there-is-something": (document(project=None), "Expected `str`, got `null` - at `$.project`"),
    "a-number-for-a-text": (document(project=1), "Expected `str`, got `int` - at `$.project`"),
    "a-text-for-a-number": (stranded(stuck="1"), "Expected `int`, got `str` - at `$.stranded[0].stuck`"),
    "true-for-a-number": (stranded(stuck=True), "Expected `int`, got `bool` - at `$.stranded[0].stuck`"),
    "half-a-replica": (stranded(stuck=1.5), "Expected `int`, got `float` - at `$.stranded[0].stuck`"),
    "less-than-nothing": (stranded(stuck=-1), "Expected `int` >= 0 - at `$.stranded[0].stuck`"),
    "a-list-for-an-object": (document(base=[]), "Expected `object`, got `array` - at `$.base`"),
    "an-object-for-a-list": (document(moves={}), "Expected `array`, got `object` - at `$.moves`"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_report_by_parser_and_schema(case: str) -> None:
    plain, text = REFUSED[case]
    with pytest.raises(ReportError) as caught:
        parse_report(json.dumps(plain).encode())
    assert str(caught.value) == NOT + text
    assert not jsonschema_rs.is_valid(report_schema(), plain)


def spell(name: str, text: str) -> bytes:
    """The document with the value of one property spelled out."""
    return json.dumps(document(**{name: "HERE"})).encode().replace(b'"HERE"', text.encode("utf-8", "surrogatepass"))


DATA: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", f"{NOT}Input data was truncated"),
    "a-part": (render_report(build_report())[:-30], f"{NOT}Input data was truncated"),
    "something-after-it": (
        json.dumps(document()).encode() + b"{}",
        f"{NOT}JSON is malformed: trailing characters (byte {len(json.dumps(document())) + 1})",
    ),
    "another-value": (b"[]", f"{NOT}Expected `object`, got `array`"),
    "a-lone-surrogate": (spell("project", '"\\ud800"'), f"{NOT}JSON is malformed: unexpected end of escaped utf-16"),
    "a-lone-surrogate-in-bytes": (spell("project", '"\ud800"'), f"{NOT}Invalid UTF-8 encoded string"),
    "no-number": (spell("moves", "NaN"), f"{NOT}JSON is malformed: invalid character"),
    "no-end-of-a-number": (spell("moves", "Infinity"), f"{NOT}JSON is malformed: invalid character"),
    "a-number-of-a-million-digits": (spell("project", "9" * 10**6), f"{NOT}"),
    "a-number-out-of-range": (spell("project", "1e999"), f"{NOT}"),
    "a-deep-list": (
        spell("moves", "[" * 10**6 + "]" * 10**6),
        f"{NOT}Expected `object`, got `array` - at `$.moves[0]`",
    ),
    "a-deep-unknown": (b'{"a": ' * 10**5 + b"1" + b"}" * 10**5, f"{NOT}Object contains unknown field `a`"),
    "as-windows-marks-it": (b"\xef\xbb\xbf" + json.dumps(document()).encode(), f"{NOT}JSON is malformed"),
    "too-large": (
        b" " * (MAX_REPORT_BYTES + 1),
        "the report has 33,554,433 bytes, and 33,554,432 is the most",
    ),
}


@pytest.mark.parametrize("case", DATA)
def test_what_is_no_json_of_ours(case: str) -> None:
    data, text = DATA[case]
    with pytest.raises(ReportError) as caught:
        parse_report(data)
    assert str(caught.value).startswith(text)


def test_a_name_as_long_as_the_report_isnt_repeated() -> None:
    with pytest.raises(ReportError) as caught:
        parse_report(json.dumps(document(**{"x" * 10**6: 1})).encode())
    assert str(caught.value) == f"{NOT}Object contains unknown field `{'x' * 169}..."


def test_counts_as_large_as_they_may_be_are_written_again() -> None:
    data = json.dumps(stranded(stuck=2**80)).encode()
    assert parse_report(render_report(parse_report(data))).stranded[0].stuck == 2**80


# --- what makes a change a no

WORDS = "error, warning, note, change, restart, never"
PARSED: dict[str, tuple[str, tuple[str, ...] | str]] = {
    "one-word": ("error", ("error",)),
    "several": ("warning, restart,silent-move", ("warning", "restart", "silent-move")),
    "nothing-between": ("error,,change,", ("error", "change")),
    "never": ("never", ("never",)),
    "a-code-of-other-commands": (
        "spec-unknown-field",
        "spec-unknown-field is neither " + WORDS + " nor the code of a finding",
    ),
    "a-misspelt-word": ("error,warnings", "warnings is neither " + WORDS + " nor the code of a finding"),
    "another-case": ("Error", "Error is neither " + WORDS + " nor the code of a finding"),
    "empty": ("", "it is a list of what fails, or `never` alone"),
    "commas-alone": (" , ", "it is a list of what fails, or `never` alone"),
    "never-and-more": ("never,error", "it is a list of what fails, or `never` alone"),
}


@pytest.mark.parametrize("case", PARSED)
def test_what_is_asked_not_to_be_there(case: str) -> None:
    text, expected = PARSED[case]
    if isinstance(expected, tuple):
        assert parse_fail_on(text) == expected
        return
    with pytest.raises(ValueError, match=r"^") as caught:
        parse_fail_on(text)
    assert str(caught.value) == expected


def finding(severity: str, code: str = "silent-move") -> FindingRow:
    text = {"file": "a", "line": 0, "column": 0, "field": "", "what": "w", "why": "y", "rule": "", "fix": "f"}
    return FindingRow(code=code, severity=severity, waived=None, **text)  # type: ignore[arg-type]


ERROR, WARNING, NOTE = (build_report(findings=(finding(one),)) for one in ("error", "warning", "note"))
FAILING: dict[str, tuple[Report, str, bool]] = {
    "an-error": (ERROR, "error", True),
    "a-warning-is-no-error": (WARNING, "error", False),
    "an-error-is-worse-than-a-warning": (ERROR, "warning", True),
    "a-note": (NOTE, "note", True),
    "a-note-is-no-warning": (NOTE, "warning", False),
    "a-code": (NOTE, "silent-move", True),
    "another-code": (ERROR, "fit-worse", False),
    "one-of-several": (WARNING, "restart,warning", True),
    "never": (ERROR, "never", False),
    "a-change": (NOTE, "change", True),
    "no-change": (build_report(), "change", False),
    "no-restart": (ERROR, "restart", False),
}


@pytest.mark.parametrize("case", FAILING)
def test_what_fails(case: str) -> None:
    report, text, expected = FAILING[case]
    assert is_failing(report, parse_fail_on(text)) is expected


def test_errors_fail_if_nothing_else_is_said() -> None:
    assert DEFAULT == ("error",)
    assert is_failing(real_report(), ("restart",))
    assert not is_failing(build_report(), DEFAULT)


# --- as a terminal shows it


def test_a_whole_small_report() -> None:
    after = edit(SMALL, POOL, ("version: 1.0.0", "version: 1.1.0"), ("[Hopper]", "[Hopper, Blackwell]"))
    zone = "      topology.kubernetes.io/zone: east-b\n"
    after = edit(after, "inventory/east.yaml", (zone, f"{zone}  spec: {{unschedulable: true}}\n"))
    assert "\n".join(render_report_text(compare(SMALL, after))) + "\n" == WHOLE


WHOLE = """\
base main (as it is on disk), head change (as it is on disk), as of 2026-11-30
east: inventory 2193079d6574 -> 2b49c4df0d1b
verdicts:
  worse  east/chat/chat-70b  always-fits 2/2 -> order-dependent 1-2/2
  same   1 workload
replicas without devices, in any order:
  east  0 -> 1 of 3 replicas
classes:
  reworded east/interactive-80g  16 -> 16 devices; claimed by chat/chat-70b, chat/chat-70b-next
    - device.attributes["gpu.nvidia.com"].architecture == "Hopper"
    + device.attributes["gpu.nvidia.com"].architecture in ["Blackwell", "Hopper"]
taints:
  east/node gpu-h100-b  node.kubernetes.io/unschedulable:NoSchedule  chat/chat-70b
versions:
  Pool h100-full  1.0.0 -> 1.1.0  took minor, deserves minor
objects:
  changed east/platform  DeviceClass interactive-80g
    metadata.annotations["poolwright.dev/pool-version"]  "1.0.0" -> "1.1.0"
    spec.selectors[1].cel.expression  "has(device.attributes[\\"gpu.nvidia.com\\"].architecture) && \
device.attributes[\\"gpu.nvidia.com\\"].architecture == \\"Hopper\\"" -> \
"has(device.attributes[\\"gpu.nvidia.com\\"].architecture) && \
device.attributes[\\"gpu.nvidia.com\\"].architecture in [\\"Blackwell\\", \\"Hopper\\"]"
findings:
poolwright.yaml: east: of 3 replicas at least 1 can't have devices on an empty cluster, in any order  \
[shortfall-grew]
  why  each workload alone may still be served, and all of them together can't be (poolwright diff)
  fix  see `poolwright plan --cluster east`: it names who competes for what, and what would clear it
inventory/east.yaml: warning: east: node gpu-h100-b is newly tainted node.kubernetes.io/unschedulable:NoSchedule: \
8 devices behind it, out of reach for chat/chat-70b  [taint-reaches]
  why  new pods that don't tolerate it stay away; those that run there keep their devices and can't come back \
(poolwright diff)
  fix  see the verdicts for who has no other device; a toleration is the pool's to give
specs/placements.yaml:2:1: warning: east/chat/chat-70b was always-fits 2/2 and is order-dependent 1-2/2, on an \
empty cluster: 1 other pod keeps it off the one node that it may use  [fit-worse]
  why  whether all its replicas find devices depends on who comes first (pods that run keep their devices: it \
shows once one restarts) (poolwright diff)
  fix  see `poolwright plan --cluster east`: it names who takes the devices, and what would mend it
specs/placements.yaml:11:10: warning: placement "chat-70b" at maxReplicas and surge: some order leaves it with 1 \
of 2 replicas  [surge-short]
  at   spec.surge
  why  a rollout starts new replicas beside the old ones: if one finds no device, the rollout waits \
(poolwright.dev/v1alpha1)
  fix  make room for the surge, or write surge: 0, so that an update takes a replica down first
objects: 1 changed; found: 1 error, 3 warnings
"""
