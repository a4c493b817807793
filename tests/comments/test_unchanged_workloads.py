"""The sentence about workloads whose verdict stays."""

from __future__ import annotations

import pytest

from change_reports import build_report, fits, workload
from poolwright.changes.report import WorkloadChange
from poolwright.comments.markdown import render_markdown

WORSE = workload("chat/worse", ("always-fits", "2/2"), ("unsatisfied", "at most 1/2"), "worse")
CASES: dict[str, tuple[int, tuple[WorkloadChange, ...], str]] = {
    "the-only-one": (1, (), "The only workload keeps its verdict: 1 always-fits."),
    "all": (2, (), "All 2 workloads keep their verdict: 2 always-fits."),
    # A number that begins with a one is another number.
    "all-of-ten": (10, (), "All 10 workloads keep their verdict: 10 always-fits."),
    "one-beside-others": (1, (WORSE,), "The other 1 workload keeps its verdict: 1 always-fits."),
    "some-beside-others": (14, (WORSE,), "The other 14 workloads keep their verdict: 14 always-fits."),
}


@pytest.mark.parametrize(("same", "others", "expected"), CASES.values(), ids=CASES)
def test_unchanged_workloads_are_counted(same: int, others: tuple[WorkloadChange, ...], expected: str) -> None:
    report = build_report(workloads=(*others, *(fits(f"chat/unit-{at}", 1) for at in range(same))))
    said = [line for line in render_markdown(report).splitlines() if line.endswith("always-fits.")]
    assert said == [expected]
