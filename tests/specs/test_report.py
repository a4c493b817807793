"""The forms of a report: whole texts, what their readers make of them, and that no quoted text breaks out."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import jsonschema_rs
import msgspec
import pytest
from msgspec.structs import replace

from poolwright.specs.finding import Finding, escape_controls, render_text, sort_findings
from poolwright.specs.place import Place
from poolwright.specs.report import ReportFormat, finding_list_schema, render_findings
from poolwright.specs.waiving import UsedWaiver
from sarif_schema import SARIF

DATA = Path(__file__).parent / "data"
FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)

PLAIN = Finding(
    code="claim-too-many-devices",
    severity="error",
    place=Place("specs/train-a.yaml", 14, 9, "spec.devices.requests[1].exactly.count"),
    what='claim "train-a" asks for 33 devices',
    why="one claim's allocation holds at most 32",
    rule="k8s.io/api resource/v1",
    fix="lower count, or split the claim in two",
)
HOSTILE = Finding(
    code="name-unknown",
    severity="warning",
    place=Place("specs/50%,\n::a b.yaml", 2, 5, 'spec["::error::<!-- | -->"]'),
    what="pool \"x\n::error::y\" | `a` ``` <script>alert('1')</script> @someone #1 ${{ secrets.T }} \x1b[2J\u202e",
    why="</pre></details>\r\n##[error]no pool has this name {0}",
    rule="[Poolwright](https://example.com/a)",
    fix='use one of "a-pool", "b%0Apool" at www.example.com or me@example.com',
)
UNREADABLE = Finding(
    code="file-unreadable",
    severity="note",
    place=Place("specs/z.yaml"),
    what="the file can't be read",
    why="nothing in it takes part",
    fix="give it read permission",
)
SECOND = replace(PLAIN, place=replace(PLAIN.place, line=3, column=0), what="another one", why="this one differs")
WAIVED = replace(
    PLAIN,
    severity="warning",
    place=Place("specs/stack.yaml", 5, 9),
    what="nobody tried it",
    waived=UsedWaiver(
        rule="claim-too-many-devices",
        path=None,
        kind="Stack",
        name="east",
        reason="The node [comes](https://example.com) late {0}, @someone\n::error::",
        owner="team-a",
        expires="2027-01-31",
        file="specs/stack.yaml",
    ),
)
# Unsorted, one twice. The names of the expected texts in data/ are `findings.` and the suffix.
FINDINGS = (UNREADABLE, HOSTILE, WAIVED, PLAIN, SECOND, PLAIN)
SUFFIXES = {"text": "txt", "json": "json", "markdown": "md", "github": "github", "sarif": "sarif"}


def render(findings: Iterable[Finding], report_format: ReportFormat) -> str:
    return render_findings(findings, report_format, tool_version="0.1.0")


@pytest.mark.parametrize("report_format", FORMATS)
def test_whole_text(report_format: ReportFormat) -> None:
    expected = (DATA / f"findings.{SUFFIXES[report_format]}").read_bytes().decode("utf-8")
    assert render(FINDINGS, report_format) == expected


EMPTY = {
    "text": "",
    "json": """\
{
  "apiVersion": "poolwright.dev/v1alpha1",
  "kind": "FindingList",
  "findings": [],
  "counts": {
    "error": 0,
    "warning": 0,
    "note": 0
  }
}
""",
    "markdown": "Poolwright found no problems.\n",
    "github": "",
    "sarif": """\
{
  "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
  "version": "2.1.0",
  "runs": [
    {
      "tool": {
        "driver": {
          "name": "poolwright",
          "version": "0.1.0",
          "rules": []
        }
      },
      "columnKind": "unicodeCodePoints",
      "originalUriBaseIds": {
        "%SRCROOT%": {
          "description": {
            "text": "The project: the folder of poolwright.yaml."
          }
        }
      },
      "results": []
    }
  ]
}
""",
}


@pytest.mark.parametrize("report_format", FORMATS)
def test_no_findings(report_format: ReportFormat) -> None:
    assert render((), report_format) == EMPTY[report_format]


@pytest.mark.parametrize("report_format", FORMATS)
def test_order_and_repetition_change_no_byte(report_format: ReportFormat) -> None:
    assert render(iter(FINDINGS[::-1] * 2), report_format) == render(FINDINGS, report_format)


def test_text_is_the_form_of_a_terminal() -> None:
    assert render(FINDINGS, "text") == render_text(sort_findings(FINDINGS))


def test_an_unknown_format_is_our_mistake() -> None:
    unknown: Any = "yaml"
    with pytest.raises(AssertionError, match="yaml"):
        render((), unknown)


# Every character of the basic plane that must not be shown: controls, bidirectional overrides, invisible ones, odd
# spaces, line separators, lone surrogates. Then tags and private use of higher planes.
UNPRINTABLE = "".join(c for c in map(chr, range(0x10000)) if not c.isprintable()) + "\U000e0041\U000f0000"
SWEPT = Finding(
    code="swept",
    severity="error",
    place=Place(UNPRINTABLE, 1, 1, UNPRINTABLE),
    what=UNPRINTABLE,
    why=UNPRINTABLE,
    rule=UNPRINTABLE,
    fix=UNPRINTABLE,
)


@pytest.mark.parametrize("report_format", FORMATS)
def test_no_control_character_comes_out_raw(report_format: ReportFormat) -> None:
    assert {"\x00", "\r", "\x1b", "\x7f", "\x9b", "\xa0", "\u200b", "\u2028", "\u202e", "\ud800"} <= set(UNPRINTABLE)
    text = render([SWEPT, replace(SWEPT, severity="note")], report_format)
    assert text.replace("\n", "").isprintable()
    assert text.endswith("\n")
    # Lines are ours alone: as many as for texts of one letter.
    letters = replace(SWEPT, place=Place("x", 1, 1, "x"), what="x", why="x", rule="x", fix="x")
    assert text.count("\n") == render([letters, replace(letters, severity="note")], report_format).count("\n")


# --- json


@pytest.mark.parametrize("findings", [(), FINDINGS, (SWEPT,)], ids=["none", "some", "any-character"])
def test_json_is_what_its_schema_says(findings: tuple[Finding, ...]) -> None:
    # msgspec refuses what JSON forbids and json lets through, such as lone surrogates.
    value = msgspec.json.decode(render(findings, "json").encode("ascii"))
    jsonschema_rs.Draft202012Validator(finding_list_schema()).validate(value)


def test_json_texts_are_exact() -> None:
    row = json.loads(render([HOSTILE], "json"))["findings"][0]
    assert (row["file"], row["what"], row["why"]) == (HOSTILE.place.file, HOSTILE.what, HOSTILE.why)
    # JSON has no way to say a lone surrogate.
    assert json.loads(render([replace(PLAIN, what="caf\udce9")], "json"))["findings"][0]["what"] == r"caf\udce9"


REFUSED = {
    "unknown-key": (("other",), 1),
    "unknown-key-of-a-finding": (("findings", 0, "hint"), ""),
    "unknown-severity-counted": (("counts", "fatal"), 0),
    "other-version": (("apiVersion",), "poolwright.dev/v1"),
    "other-kind": (("kind",), "List"),
    "unknown-severity": (("findings", 0, "severity"), "info"),
    "code-not-kebab-case": (("findings", 0, "code"), "Claim_Too"),
    "negative-line": (("findings", 0, "line"), -1),
    "true-is-not-one": (("findings", 0, "line"), True),
    "null-is-not-empty": (("findings", 0, "rule"), None),
    "missing-key": (("findings", 0), {"code": "c"}),
    "one-finding-twice": (("findings", 1), json.loads(render([HOSTILE], "json"))["findings"][0]),
}


@pytest.mark.parametrize(("path", "value"), REFUSED.values(), ids=REFUSED.keys())
def test_schema_is_strict(path: tuple[str | int, ...], value: object) -> None:
    document = json.loads(render([HOSTILE, PLAIN], "json"))
    validator = jsonschema_rs.Draft202012Validator(finding_list_schema())
    assert validator.is_valid(document)
    *parents, last = path
    holder = document
    for step in parents:
        holder = holder[step]
    holder[last] = value
    assert not validator.is_valid(document)


def test_schema_describes_and_requires_every_property() -> None:
    def walk(schema: dict[str, Any]) -> int:
        assert schema["description"]
        if "items" in schema:
            return 1 + walk(schema["items"])
        if "anyOf" in schema:
            assert schema["anyOf"][0] == {"type": "null"}
            return walk(schema["anyOf"][1])
        properties = schema.get("properties", {})
        assert schema.get("required", []) == list(properties)
        return 1 + sum(map(walk, properties.values()))

    assert walk(finding_list_schema()) == 1 + 2 + 2 + 10 + 8 + 1 + 3
    assert finding_list_schema() is not finding_list_schema()


# --- markdown


class Reader(HTMLParser):
    """What a browser gets: the tags, and the text of each element that holds text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert attrs == []
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        pytest.fail(f"a comment: {data}")


def test_markdown_shows_the_texts_and_no_markup_of_theirs() -> None:
    headline, block = render([HOSTILE], "markdown").split("\n\n")
    reader = Reader()
    reader.feed(block)
    assert headline == "**Poolwright found 1 warning.**"
    assert reader.tags == ["details", "summary", "b", "code", "code", "pre"]
    _, at, why, fix = render([HOSTILE], "text").splitlines()
    assert reader.texts == [
        "warning",
        escape_controls(str(HOSTILE.place)),
        escape_controls(HOSTILE.what),
        "\n".join((at[2:], why[2:], fix[2:], "code name-unknown")),
    ]


def test_markdown_spells_out_every_character_that_could_mean_something() -> None:
    ascii_text = "".join(map(chr, range(0x20, 0x7F)))
    everything = replace(PLAIN, place=Place(ascii_text), what=ascii_text, why=ascii_text, rule=ascii_text)
    block = render([everything], "markdown").partition("\n\n")[2]
    bare = re.sub(r"</?(details|summary|b|code|pre)>|&#\d+;", "", block)
    assert set(bare) - {"\n"} == {" ", ",", "-", ".", "/", *map(chr, (*range(48, 58), *range(65, 91), *range(97, 123)))}
    assert html.unescape(block).count(ascii_text) == 4


HEADLINES = {
    "one-is-not-plural": ("n", "1 note"),
    "two-are": ("ww", "2 warnings"),
    "two-severities": ("enn", "1 error and 2 notes"),
    "three-severities-gravest-first": ("nwwe", "1 error, 2 warnings and 1 note"),
}


@pytest.mark.parametrize(("severities", "counts"), HEADLINES.values(), ids=HEADLINES.keys())
def test_markdown_headline(severities: str, counts: str) -> None:
    names = {"e": "error", "w": "warning", "n": "note"}
    findings = [replace(PLAIN, severity=names[s], fix=str(i)) for i, s in enumerate(severities)]
    assert render(findings, "markdown").splitlines()[0] == f"**Poolwright found {counts}.**"


# --- github


def parse_command(line: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as the runner reads it (actions/runner, ActionCommand.TryParseV2)."""
    marks = {"0D": "\r", "0A": "\n", "25": "%", "3A": ":", "2C": ","}
    assert line.startswith("::")
    head, _, data = line[2:].partition("::")
    name, _, listed = head.partition(" ")
    pairs = (pair.split("=", 1) for pair in listed.split(","))
    properties = {key: re.sub("%(25|0D|0A|3A|2C)", lambda m: marks[m[1]], value) for key, value in pairs}
    return name, properties, re.sub("%(25|0D|0A)", lambda m: marks[m[1]], data)


COMMANDS = {
    "error-with-place": (
        PLAIN,
        ("error", {"file": "specs/train-a.yaml", "line": "14", "col": "9", "title": "claim-too-many-devices"}),
    ),
    "a-line-without-a-column": (
        SECOND,
        ("error", {"file": "specs/train-a.yaml", "line": "3", "title": "claim-too-many-devices"}),
    ),
    "a-note-is-a-notice-and-line-0-is-left-out": (
        UNREADABLE,
        ("notice", {"file": "specs/z.yaml", "title": "file-unreadable"}),
    ),
    "no-column-without-a-line": (
        replace(UNREADABLE, place=Place("a", 0, 7)),
        ("notice", {"file": "a", "title": "file-unreadable"}),
    ),
    "no-file-at-all": (replace(UNREADABLE, place=Place("")), ("notice", {"title": "file-unreadable"})),
    "a-hostile-file-name-stays-one-property": (
        HOSTILE,
        ("warning", {"file": r"specs/50%,\n::a b.yaml", "line": "2", "col": "5", "title": "name-unknown"}),
    ),
    "what-reads-like-an-escape-does-not-become-one": (
        replace(UNREADABLE, place=Place("%0A%3A%25"), what="%0D%0A%25"),
        ("notice", {"file": "%0A%3A%25", "title": "file-unreadable"}),
    ),
}


@pytest.mark.parametrize(("finding", "command"), COMMANDS.values(), ids=COMMANDS.keys())
def test_github_command_as_the_runner_reads_it(finding: Finding, command: tuple[str, dict[str, str]]) -> None:
    text = render([finding], "github")
    _, *details = render([finding], "text").splitlines()
    message = "\n".join([escape_controls(finding.what), *(line[2:] for line in details)])
    assert text.count("\n") == 1
    assert parse_command(text[:-1]) == (*command, message)


# --- sarif


@pytest.mark.parametrize(
    "findings",
    [(), FINDINGS, (SWEPT,), (replace(PLAIN, place=Place("")),)],
    ids=["none", "some", "any-character", "no-place-at-all"],
)
def test_sarif_is_what_its_schema_says(findings: tuple[Finding, ...]) -> None:
    SARIF.validate(msgspec.json.decode(render(findings, "sarif").encode("ascii")))


def test_the_sarif_schema_refuses() -> None:
    log = json.loads(render([PLAIN], "sarif"))
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    assert not SARIF.is_valid(log)


def sarif_results(*findings: Finding) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = json.loads(render(findings, "sarif"))["runs"][0]["results"]
    return results


ROOT = {"uriBaseId": "%SRCROOT%"}
LOCATIONS = {
    "place-and-field": (
        PLAIN.place,
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "specs/train-a.yaml", **ROOT},
                "region": {"startLine": 14, "startColumn": 9},
            },
            "logicalLocations": [{"fullyQualifiedName": "spec.devices.requests[1].exactly.count"}],
        },
    ),
    "no-column": (
        Place("a", 3),
        {"physicalLocation": {"artifactLocation": {"uri": "a", **ROOT}, "region": {"startLine": 3}}},
    ),
    "the-whole-file": (Place("a"), {"physicalLocation": {"artifactLocation": {"uri": "a", **ROOT}}}),
    "no-file": (Place("", field="spec"), {"logicalLocations": [{"fullyQualifiedName": "spec"}]}),
    "a-file-name-is-no-scheme-query-or-fragment": (
        Place("a:b?c#d%.yaml"),
        {"physicalLocation": {"artifactLocation": {"uri": "a%3Ab%3Fc%23d%25.yaml", **ROOT}}},
    ),
    "other-scripts-as-utf-8": (
        Place("größe.yaml"),
        {"physicalLocation": {"artifactLocation": {"uri": "gr%C3%B6%C3%9Fe.yaml", **ROOT}}},
    ),
}


@pytest.mark.parametrize(("place", "location"), LOCATIONS.values(), ids=LOCATIONS.keys())
def test_sarif_location(place: Place, location: dict[str, object]) -> None:
    assert sarif_results(replace(PLAIN, place=place))[0]["locations"] == [location]


FINGERPRINTS = {
    "lines-moved": (replace(PLAIN, place=replace(PLAIN.place, line=99, column=1)), True),
    # Texts name values and other lines: `line 3 has it already`.
    "texts-changed": (replace(PLAIN, what="x", why="x", rule="x", fix="x"), True),
    "severity-by-policy": (replace(PLAIN, severity="note"), True),
    "other-code": (replace(PLAIN, code="other"), False),
    "other-file": (replace(PLAIN, place=replace(PLAIN.place, file="other.yaml")), False),
    "other-field": (replace(PLAIN, place=replace(PLAIN.place, field="spec.other")), False),
    "file-and-field-do-not-run-together": (
        replace(PLAIN, place=Place(PLAIN.place.file + PLAIN.place.field)),
        False,
    ),
}


@pytest.mark.parametrize(("other", "same"), FINGERPRINTS.values(), ids=FINGERPRINTS.keys())
def test_fingerprint_outlives_edits_elsewhere(other: Finding, same: bool) -> None:
    prints = [sarif_results(finding)[0]["partialFingerprints"] for finding in (PLAIN, other)]
    assert (prints[0] == prints[1]) is same


def test_fingerprints_of_one_code_at_one_field_are_numbered() -> None:
    results = sarif_results(SECOND, PLAIN)
    first, second = (result["partialFingerprints"]["poolwrightFinding/v1"] for result in results)
    assert (first[-2:], second[-2:]) == (":1", ":2")
    assert first[:-2] == second[:-2]
