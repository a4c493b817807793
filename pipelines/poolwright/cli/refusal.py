"""What `generate` says when it prints nothing: every finding, and last the one line that Argo CD shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from poolwright.specs.finding import Finding, escape_controls, render_text

MAX_LINE: Final = 299  # bytes of the last line
_MAX_FIX: Final = 140  # bytes of it that say what to do, where what is wrong takes the others
_MAX_UNIT: Final = 60
_CUT: Final = "..."


def render_refusal(unit: str, findings: Sequence[Finding], *, max_bytes: int | None = None) -> str:
    """The findings as a terminal shows them, then one line that stands alone: what is wrong, and what to do.

    unit:      CLUSTER/UNIT, or what else is refused.
    findings:  the first of them is the line's.
    max_bytes: of all together; findings that don't fit are counted instead. None: all are said.
    """
    last = _render_line(unit, findings)
    if max_bytes is None:
        return render_text(findings) + last
    told, left = "", max_bytes - len(last.encode()) - 100  # the count takes less than that
    for said, finding in enumerate(findings):
        text = render_text([finding])
        if len((told + text).encode()) > left:
            more = len(findings) - said
            told += f"... {more} {'problem' if more == 1 else 'problems'} not shown here: run `poolwright check`\n"
            break
        told += text
    return told + last


def _render_line(unit: str, findings: Sequence[Finding]) -> str:
    first = findings[0]
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    start = f"poolwright: {_cut(escape_controls(unit), _MAX_UNIT)} refused: "
    what, fix = escape_controls(f"{first.place}: {first.what}"), escape_controls(first.fix)
    room = MAX_LINE - len(f"{start}{more}; fix: ".encode())
    fix = _cut(fix, max(_MAX_FIX, room - len(what.encode())))
    return f"{start}{_cut(what, room - len(fix.encode()))}{more}; fix: {fix}\n"


def _cut(text: str, most: int) -> str:
    """The text in at most so many bytes of UTF-8, whole characters."""
    encoded = text.encode()
    return text if len(encoded) <= most else encoded[: most - len(_CUT)].decode(errors="ignore") + _CUT
