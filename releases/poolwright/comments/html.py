"""A report as one HTML page that needs nothing else: no script, no request, no style but its own."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import Final

from jinja2 import BaseLoader, ChoiceLoader, DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from poolwright.changes.report import Report
from poolwright.comments.content import build_content
from poolwright.comments.document import say_plainly
from poolwright.comments.page_template import BLOCKS, STYLE, TEMPLATE
from poolwright.specs.finding import escape_controls

_SIGN_NAMES: Final = {"+": "plus", "-": "minus", "!": "hidden", "@": "place"}


def render_html(report: Report) -> str:
    """The same content as the Markdown, for a browser: folded details, light and dark, and unfolded when printed."""
    content = build_content(report)
    page = build_environment(DictLoader({"page": TEMPLATE})).get_template("page")
    return page.render(
        content=content,
        title=say_plainly(content.headline),
        policy=build_policy(STYLE),
        style=Markup(STYLE),  # noqa: S704 - ours, and there is no report in it
    )


def build_environment(pages: BaseLoader) -> Environment:
    """What renders a page: every text is escaped, and `blocks` has the macros that show a document's parts."""
    loader = ChoiceLoader((pages, DictLoader({"blocks": BLOCKS})))
    environment = Environment(autoescape=True, undefined=StrictUndefined, auto_reload=False, loader=loader)
    environment.globals.update(
        shown=escape_controls, kind_of=lambda value: type(value).__name__, sign_names=_SIGN_NAMES
    )
    return environment


def build_policy(style: str) -> str:
    """The content policy: nothing is loaded or run, nothing sent anywhere, and of styles this one alone."""
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
