"""Findings: what is wrong or risky, where, why, whose rule it is, and how to mend it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import msgspec

from poolwright.specs.place import Place

if TYPE_CHECKING:  # `generate` judges no waiver
    from poolwright.specs.waiving import UsedWaiver

Severity = Literal["error", "warning", "note"]

# Printable by their category, and nothing is seen of them: fillers, variation selectors, joiners that are marks.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to mend or to know. Texts are single sentences without a final full stop."""

    code: str  # kebab-case, stable: waivers, `explain` and SARIF rules use it
    severity: Severity
    place: Place
    what: str  # what is wrong, naming the value
    why: str  # why it matters
    rule: str = ""  # whose rule it is: a specification, an API, this tool's design
    fix: str  # what to do
    waived: UsedWaiver | None = None  # what makes it a warning, if anything does

    @property
    def sort_key(self) -> tuple[object, ...]:
        """By place, then code and texts: the order of every list of findings, total over unequal ones."""
        # All fields: of two that tie, the hash seed of the process would choose which comes first.
        return (self.place, self.code, self.what, self.severity, self.why, self.rule, self.fix, str(self.waived or ""))


class SpecError(Exception):
    """The input can't be used. Carries every problem found, sorted by place; never an empty list."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = sort_findings(findings)
        if not self.findings:
            raise ValueError("a SpecError says what is wrong")
        super().__init__("\n".join(escape_controls(f"{f.place}: {f.what} [{f.code}]") for f in self.findings))

    def __reduce__(self) -> tuple[type[SpecError], tuple[tuple[Finding, ...]]]:
        # BaseException would rebuild it from the message: it has to come back whole from a worker process.
        return (type(self), (self.findings,))


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each finding once, in their one order."""
    return tuple(sorted(set(findings), key=lambda f: f.sort_key))


def render_text(findings: Iterable[Finding]) -> str:
    """Findings as a terminal shows them: a headline with place and code, then at, why and fix.

    Control characters of spec text are shown as escapes: nothing from a repository can move a terminal's cursor.
    """
    lines: list[str] = []
    for finding in findings:
        label = "" if finding.severity == "error" else f"{finding.severity}: "
        lines.append(escape_controls(f"{finding.place}: {label}{finding.what}  [{finding.code}]"))
        lines.extend(f"  {line}" for line in render_details(finding))
    return "".join(line + "\n" for line in lines)


def render_details(finding: Finding) -> tuple[str, ...]:
    """What stands below a finding's headline, controls escaped: at (where a field can be named), why, fix, waiver."""
    at = (f"at   {finding.place.field}",) if finding.place.field else ()
    rule = f" ({finding.rule})" if finding.rule else ""
    but = (f"but  {finding.waived}",) if finding.waived else ()
    return tuple(map(escape_controls, (*at, f"why  {finding.why}{rule}", f"fix  {finding.fix}", *but)))


def escape_controls(text: str) -> str:
    """Text with each control, line-separating or invisible character as a backslash escape.

    So it stays on its line and in its order, and nothing in it is hidden.
    """
    if text.isprintable() and (text.isascii() or not _BLANK.search(text)):
        return text
    return "".join(
        c if c.isprintable() and not _BLANK.match(c) else c.encode("unicode_escape").decode("ascii") for c in text
    )
