"""A report as one Markdown document."""

from __future__ import annotations

from poolwright.changes.report import Report
from poolwright.comments.content import build_content
from poolwright.comments.escape import render_inline
from poolwright.comments.nodes import build_nodes, render_nodes


def render_markdown(report: Report) -> str:
    """All of it, as GitHub and GitLab read it, however long; for comments, with their limits, see build_pages."""
    content = build_content(report)
    head = f"## Poolwright: {render_inline(content.headline)}\n"
    return head + "".join(render_nodes(build_nodes(content.sections)))
