"""`report.html`: the page of a report, one file that asks for nothing.

What doesn't move is written here, escaped: the answer, what changed, pins, features, waivers, findings, assumptions.
The fleet itself stands in the page as data, which its own script draws. Nothing else is run: the content policy names
that script and that style by their hashes.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from typing import Final

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from poolwright.comments.content import build_content
from poolwright.comments.html import build_environment
from poolwright.pages.answer import build_answer
from poolwright.pages.document import FleetReport, render_report

# In this order they are one script.
_SCRIPTS: Final = ("text.js", "model.js", "filter.js", "state.js", "layout.js", "paint.js", "map.js", "losses.js",
                   "units.js", "page.js")  # fmt: skip
# No text of the data can end its block or begin another one, and none of it moves a cursor where a terminal shows it.
_UNSAFE: Final = re.compile(r"[^ -~]|[<>&]")


def render_page(report: FleetReport) -> bytes:
    """The page; equal reports are equal bytes."""
    environment = build_environment(PackageLoader("poolwright.pages", "page"))
    script = "".join(_read(environment, name) for name in _SCRIPTS)
    style = _read(environment, "page.css")
    answers = [] if report.before is None else [build_answer(report, report.before, "before")]
    answers.append(build_answer(report, report.after, "after"))
    page = environment.get_template("page.html.j2")
    text = page.render(
        report=report,
        answers=answers,
        changes=None if report.changes is None else build_content(report.changes),
        policy=build_policy(script, style),
        script=Markup(script),  # noqa: S704 - ours, and there is no report in it
        style=Markup(style),  # noqa: S704 - the same
        data=Markup(escape_data(render_report(report).decode())),  # noqa: S704 - JSON without < > &
    )
    return f"{text}\n".encode()


def build_policy(script: str, style: str) -> str:
    """The content policy: of scripts and styles these alone, nothing is loaded, and nothing sent anywhere."""
    hashes = {name: f"'sha256-{_hash(text)}'" for name, text in (("script-src", script), ("style-src", style))}
    allowed = "; ".join(f"{name} {value}" for name, value in hashes.items())
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def escape_data(json: str) -> str:
    """The same JSON value in ASCII, with no character that means something to HTML."""
    return _UNSAFE.sub(_escape, json.strip())


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True))


def _read(environment: Environment, name: str) -> str:
    loader = environment.loader
    if loader is None:
        raise AssertionError("build_environment gives one")
    return re.sub(r"\r\n?", "\n", loader.get_source(environment, name)[0])


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
