"""Somebody's text inside Markdown and HTML that GitHub and GitLab show."""

from __future__ import annotations

from typing import Final

from poolwright.specs.finding import escape_controls

# What Markdown, HTML or GitHub (`:emoji:`, `#1`, `$math$`) could read something into, which is all of ASCII but this.
MARKUP: Final = {c: f"&#{c};" for c in range(0x21, 0x7F) if not chr(c).isalnum() and chr(c) not in ",-./"}


def escape_markup(text: str) -> str:
    """One line of text as character references; what they can't see is shown as an escape.

    It may stand where a `code` or `pre` element is around it, and nowhere else: GitHub and GitLab look for @names, #1
    and addresses after they have read character references, but not in those.
    """
    return escape_controls(text).translate(MARKUP)
