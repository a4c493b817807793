"""What makes a change a no: severities, codes of findings, or that something happens at all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, get_args

from poolwright.changes.report import Report
from poolwright.specs.codes import CODES
from poolwright.specs.finding import Severity

DEFAULT: Final = ("error",)
_SEVERITIES: Final = get_args(Severity)
_WORDS: Final = (*_SEVERITIES, "change", "restart", "never")


def parse_fail_on(text: str) -> tuple[str, ...]:
    """Words with commas between them: severities, `change`, `restart`, `never`, or codes of findings.

    Raises: ValueError with a sentence that lists what is known.
    """
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    unknown = [word for word in words if word not in _WORDS and word not in CODES]
    if unknown:
        raise ValueError(f"{unknown[0]} is neither {', '.join(_WORDS)} nor the code of a finding")
    if not words or ("never" in words and len(words) > 1):
        raise ValueError("it is a list of what fails, or `never` alone")
    return words


def is_failing(report: Report, fail_on: Iterable[str]) -> bool:
    """Whether a report has what was asked not to be there. A severity stands for itself and the worse ones."""
    for word in fail_on:
        if word in _SEVERITIES:
            failing = _SEVERITIES[: _SEVERITIES.index(word) + 1]
            found = any(one.severity in failing for one in report.findings)
        elif word == "change":
            found = not report.is_empty
        elif word == "restart":
            found = bool(report.restarts)
        else:
            found = any(one.code == word for one in report.findings)
        if found:
            return True
    return False
