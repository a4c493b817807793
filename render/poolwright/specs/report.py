"""Findings in the forms that people, pull requests and other tools read.

A finding quotes files that nobody vouches for. Each form escapes by the rules of who reads it, so that no quoted text
ends a line, starts a command, a link or a mention, or moves a cursor; every character that comes out is printable.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, assert_never
from urllib.parse import quote

from poolwright.specs.finding import Finding, Severity, escape_controls, render_details, render_text, sort_findings
from poolwright.specs.markup import MARKUP, escape_markup
from poolwright.specs.place import Place
from poolwright.specs.schema_parts import DIALECT, SchemaPart, build_count, build_maybe, build_object, build_text

if TYPE_CHECKING:  # most reports are of commands that judge no waiver
    from poolwright.specs.waiving import UsedWaiver

ReportFormat = Literal["text", "json", "markdown", "github", "sarif"]

_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
_GITHUB_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}
_SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render_findings(
    findings: Iterable[Finding],
    format: ReportFormat,  # noqa: A002 - the command's option, so that callers hand it on by its name
    *,
    tool_version: str,
) -> str:
    """Findings in one form: each once, in their one order, the last line ended.

    text:     as render_text; nothing for no findings.
    json:     what finding_list_schema describes, in ASCII. Texts are exact: who prints one escapes it.
    markdown: for a GitHub comment: the counts, then one folded block a finding; one sentence for no findings.
    github:   a workflow command a finding, for a job's output; nothing for no findings. GitHub shows ten
              errors, ten warnings and ten notices of a step.
    sarif:    a SARIF 2.1.0 log, in ASCII. Paths are relative to the project, `%SRCROOT%` in the log.
    """
    ordered = sort_findings(findings)
    match format:
        case "text":
            return render_text(ordered)
        case "json":
            return _render_json(_finding_list(ordered))
        case "markdown":
            return _render_markdown(ordered)
        case "github":
            return "".join(map(_render_command, ordered))
        case "sarif":
            return _render_json(_sarif_log(ordered, tool_version))
        case _:
            assert_never(format)


def finding_list_schema() -> dict[str, object]:
    """The JSON Schema (draft 2020-12) of the json form. Every property is always present."""
    counts: dict[str, SchemaPart] = {
        severity: build_count(f"Findings of severity {severity}.") for severity in _SEVERITIES
    }
    return {
        "$schema": DIALECT,
        "title": "FindingList",
        **build_object(
            "What Poolwright found in a project, as `--format json` prints it.",
            {
                "apiVersion": {"description": "Version of this format.", "const": "poolwright.dev/v1alpha1"},
                "kind": {"description": "What this document is.", "const": "FindingList"},
                "findings": finding_rows_schema(),
                "counts": build_object("Findings by severity.", counts),
            },
        ),
    }


def finding_rows_schema() -> SchemaPart:
    """The JSON Schema of findings as a list, in this and in other documents."""
    finding: dict[str, SchemaPart] = {
        "code": {
            "description": "Which rule was broken: kebab-case and stable. Waivers and `poolwright explain` use it.",
            "type": "string",
            "pattern": "^[a-z][a-z0-9]*(-[a-z0-9]+)*$",
        },
        "severity": {"description": "How much it matters.", "enum": list(_SEVERITIES)},
        "file": build_text("The file, relative to the project, with forward slashes."),
        "line": build_count("Line, from 1; 0 where only the file is known."),
        "column": build_count("Column in Unicode code points, from 1; 0 where only the file is known."),
        "field": build_text("Path of the field, such as `spec.requests[1].count`; empty where none can be named."),
        "what": build_text("What is wrong, naming the value; a sentence without a final full stop, as the next three."),
        "why": build_text("Why it matters."),
        "rule": build_text("Whose rule it is: a specification, an API or Poolwright's design; may be empty."),
        "fix": build_text("What to do."),
        "waived": _waived_schema(),
    }
    return {
        "description": "Each finding once, by file, line, column and field, then code and texts.",
        "type": "array",
        "uniqueItems": True,
        "items": build_object("One thing to mend or to know.", finding),
    }


def _waived_schema() -> SchemaPart:
    waived = build_object(
        "What makes it a warning until a day.",
        {
            "kind": build_text("Kind of the spec that the waiver is written in."),
            "name": build_text("Name of that spec; of a placement, cluster/name."),
            "file": build_text("Its file."),
            "path": build_maybe("string", "The path that the waiver has; null: none."),
            "reason": build_text("Why it is so."),
            "owner": build_text("The team that answers for it."),
            "expires": build_text("The last day on which it counts, YYYY-MM-DD."),
        },
    )
    return {"description": "The waiver that covers it; null: none does.", "anyOf": [{"type": "null"}, waived]}


def build_finding_rows(findings: Iterable[Finding]) -> list[dict[str, object]]:
    """Findings as that list, in the order given. Texts are exact."""
    rows: list[dict[str, object]] = [
        {
            "code": f.code,
            "severity": f.severity,
            "file": f.place.file,
            "line": f.place.line,
            "column": f.place.column,
            "field": f.place.field,
            "what": f.what,
            "why": f.why,
            "rule": f.rule,
            "fix": f.fix,
            "waived": f.waived and _build_waived(f.waived),
        }
        for f in findings
    ]
    return [{key: _unicode(v) if isinstance(v, str) else v for key, v in row.items()} for row in rows]


def _build_waived(waived: UsedWaiver) -> dict[str, object]:
    return {
        "kind": waived.kind,
        "name": waived.name,
        "file": _unicode(waived.file),
        "path": waived.path,
        "reason": waived.reason,
        "owner": waived.owner,
        "expires": waived.expires,
    }


def _finding_list(findings: Sequence[Finding]) -> dict[str, object]:
    return {
        "apiVersion": "poolwright.dev/v1alpha1",
        "kind": "FindingList",
        "findings": build_finding_rows(findings),
        "counts": _counts(findings),
    }


def _counts(findings: Sequence[Finding]) -> dict[Severity, int]:
    counted = Counter(f.severity for f in findings)
    return {severity: counted[severity] for severity in _SEVERITIES}


def _unicode(text: str) -> str:
    """The text itself, but for lone surrogates (a file name that isn't UTF-8 has them), which no JSON parser takes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _render_json(value: dict[str, object]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=True) + "\n"


def _render_markdown(findings: Sequence[Finding]) -> str:
    if not findings:
        return "Poolwright found no problems.\n"
    counted = [f"{n} {severity}{'' if n == 1 else 's'}" for severity, n in _counts(findings).items() if n]
    first, last = ", ".join(counted[:-1]), counted[-1]
    headline = f"**Poolwright found {first} and {last}.**\n" if first else f"**Poolwright found {last}.**\n"
    return headline + "".join(map(_render_block, findings))


def _render_block(finding: Finding) -> str:
    # HTML up to the next blank line is no Markdown.
    details = "\n".join((*render_details(finding), f"code {escape_controls(finding.code)}"))
    return (
        "\n<details>\n"
        f"<summary><b>{finding.severity}</b> <code>{escape_markup(str(finding.place))}</code> "
        f"<code>{escape_markup(finding.what)}</code></summary>\n"
        f"<pre>{details.translate(MARKUP)}</pre>\n"
        "</details>\n"
    )


def _render_command(finding: Finding) -> str:
    place = finding.place
    properties = {
        "file": escape_controls(place.file),
        "line": place.line,
        "col": place.column if place.line else 0,
        "title": escape_controls(finding.code),
    }
    listed = ",".join(f"{name}={_escape_property(str(value))}" for name, value in properties.items() if value)
    message = "\n".join((escape_controls(finding.what), *render_details(finding)))
    return f"::{_GITHUB_COMMANDS[finding.severity]} {listed}::{_escape_data(message)}\n"


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")


def _sarif_log(findings: Sequence[Finding], tool_version: str) -> dict[str, object]:
    firsts: dict[str, Finding] = {}
    for finding in findings:
        firsts.setdefault(finding.code, finding)
    rules = [_sarif_rule(firsts[code]) for code in sorted(firsts)]
    indices = {code: index for index, code in enumerate(sorted(firsts))}
    is_waived = any(finding.waived for finding in findings)  # of one run all results say it, or none (3.27.23)
    run = {
        "tool": {"driver": {"name": "poolwright", "version": tool_version, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The project: the folder of poolwright.yaml."}}},
        "results": [
            {
                "ruleId": finding.code,
                "ruleIndex": indices[finding.code],
                "level": finding.severity,
                "message": {"text": f"{_message(finding.what)}. Why: {_why(finding)}. Fix: {_message(finding.fix)}."},
                "locations": [_sarif_location(finding.place)],
                "partialFingerprints": {"poolwrightFinding/v1": fingerprint},
                **({"suppressions": _sarif_suppressions(finding)} if is_waived else {}),
            }
            for finding, fingerprint in zip(findings, _fingerprints(findings), strict=True)
        ],
    }
    return {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _sarif_suppressions(finding: Finding) -> list[dict[str, object]]:
    if finding.waived is None:
        return []
    return [{"kind": "inSource", "status": "accepted", "justification": escape_controls(str(finding.waived))}]


def _sarif_rule(first: Finding) -> dict[str, object]:
    return {
        "id": first.code,
        "shortDescription": {"text": first.code.replace("-", " ").capitalize()},
        "fullDescription": {"text": f"{_why(first)}."},
        "help": {"text": f"{_message(first.fix)}."},
    }


def _why(finding: Finding) -> str:
    return _message(f"{finding.why} ({finding.rule})" if finding.rule else finding.why)


def _message(text: str) -> str:
    """The text inside a SARIF message: no placeholder `{0}` (3.11.5) and no link `[text](address)` (3.11.6)."""
    # A backslash doesn't part the two brackets: outside a link it stands for itself.
    return escape_controls(text).replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _sarif_location(place: Place) -> dict[str, object]:
    location: dict[str, object] = {}
    if place.file:
        uri = quote(place.file, errors="backslashreplace")  # `:` too: `a:b.yaml` would name a scheme
        physical: dict[str, object] = {"artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"}}
        if place.line:
            column = {"startColumn": place.column} if place.column else {}
            physical["region"] = {"startLine": place.line, **column}
        location["physicalLocation"] = physical
    if place.field:
        location["logicalLocations"] = [{"fullyQualifiedName": escape_controls(place.field)}]
    return location


def _fingerprints(findings: Sequence[Finding]) -> list[str]:
    """A name for each finding that outlives edits elsewhere in its file: from code, file and field, then numbered.

    Not from the texts, which name values and other lines. Not as `primaryLocationLineHash`: that is GitHub's own
    hash of the line's text, which its upload action adds.
    """
    fingerprints: list[str] = []
    seen: Counter[str] = Counter()
    for finding in findings:
        identity = json.dumps([finding.code, finding.place.file, finding.place.field])
        seen[identity] += 1
        fingerprints.append(f"{sha256(identity.encode()).hexdigest()[:32]}:{seen[identity]}")
    return fingerprints
