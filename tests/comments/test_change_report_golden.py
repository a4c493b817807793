"""What people are shown of a change, whole: the Markdown and the page of each report that was made by hand."""

from __future__ import annotations

from change_reports import CHANGE_REPORTS
from fleet import ROOT
from golden import Golden
from poolwright.comments.html import render_html
from poolwright.comments.markdown import render_markdown


def test_each_report_is_shown_as_it_was_reviewed(golden: Golden) -> None:
    shown = {f"{name}.md": render_markdown(report).encode() for name, report in CHANGE_REPORTS.items()}
    shown |= {f"{name}.html": render_html(report).encode() for name, report in CHANGE_REPORTS.items()}
    golden.compare(ROOT / "tests" / "golden" / "change-reports", shown)
