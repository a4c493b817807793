"""A report as one HTML page that needs nothing else: no script, no request, no style but its own."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import Final

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from poolwright.changes.report import Report
from poolwright.comments.content import build_content
from poolwright.comments.document import say_plainly
from poolwright.comments.page_template import STYLE, TEMPLATE
from poolwright.specs.finding import escape_controls

_SIGN_NAMES: Final = {"+": "plus", "-": "minus", "!": "hidden", "@": "place"}


def render_html(report: Report) -> str:
    """The same content as the Markdown, for a browser: folded details, light and dark, and unfolded when printed."""
    content = build_content(report)
    page = Environment(autoescape=True, undefined=StrictUndefined, auto_reload=False).from_string(TEMPLATE)
    return page.render(
        content=content,
        title=say_plainly(content.headline),
        policy=build_policy(STYLE),
        style=Markup(STYLE),  # noqa: S704 - ours, and there is no report in it
        shown=escape_controls,
        kind_of=lambda value: type(value).__name__,
        sign_names=_SIGN_NAMES,
    )


def build_policy(style: str) -> str:
    """The content policy: nothing is loaded or run, nothing sent anywhere, and of styles this one alone."""
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
