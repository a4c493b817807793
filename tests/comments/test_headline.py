"""The headline: of all that a change does, the worst."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from change_reports import CLASS_TIGHTENED, FAMILY_REMOVED, NOTHING, OTHERS, UNSAFE_MIDDLE, build_report, fits, workload
from poolwright.changes.report import Report
from poolwright.comments.headline import headline


def without(report: Report, *parts: str) -> Report:
    empty: dict[str, Any] = dict.fromkeys(parts, ())
    return msgspec.structs.replace(report, **empty)


TIGHTENED = msgspec.structs.replace(CLASS_TIGHTENED, workloads=OTHERS)
RISKS = ("rollouts", "taints", "prices", "moves", "restarts", "objects")
NEW = workload("serving/new", None, ("unsatisfied", "0/1"), "new")
LOST = tuple(workload(f"w{n}", ("always-fits", "1/1"), ("error", "0/1"), "worse", cluster=f"c{n}") for n in range(4))

HEADLINES = {
    "verdicts-first": (FAMILY_REMOVED, "1 of 6 workloads would no longer fit on east"),
    "several-clusters-are-named": (
        build_report(workloads=LOST[:2]),
        "2 of 2 workloads would no longer fit on c0 and c1",
    ),
    "many-clusters-are-counted": (build_report(workloads=LOST), "4 of 4 workloads would no longer fit on 4 clusters"),
    "new-workloads": (build_report(workloads=(NEW, *OTHERS)), "1 new workload doesn't fit on east"),
    # Fresh and live are one workload.
    "orders": (CLASS_TIGHTENED, "1 of 5 workloads would fit only if pods start in the right order on east"),
    "not-proven-any-more": (
        build_report(workloads=(workload("a", ("always-fits", "2/2"), ("undecided", "1-2/2"), "worse"),)),
        "1 of 1 workload can't be shown to fit any more on east",
    ),
    "errors": (
        msgspec.structs.replace(FAMILY_REMOVED, workloads=OTHERS),
        "1 error to mend before this can be merged",
    ),
    "unsafe-commits": (UNSAFE_MIDDLE, "1 of 2 commits on the way is unsafe"),
    "stranded": (
        build_report(stranded=FAMILY_REMOVED.stranded),
        "6 replicas that run on couldn't be placed again on east",
    ),
    "rollouts": (TIGHTENED, "the rollout of 1 workload may not complete on east"),
    "taints": (without(TIGHTENED, *RISKS[:1]), "new taints evict pods of 2 workloads on east"),
    "prices": (without(TIGHTENED, *RISKS[:2]), "1 placement no longer admitted by the price on east"),
    "moves": (
        without(TIGHTENED, *RISKS[:3]),
        "1 workload may get other hardware under the same manifests on east",
    ),
    # Objects that are removed are no harmless difference where somebody's replicas are among them.
    "gone": (
        build_report(
            workloads=(*OTHERS, workload("a", ("always-fits", "2/2"), None, "gone")),
            findings=FAMILY_REMOVED.findings[1:],
        ),
        "1 workload goes away on east; no other gets worse",
    ),
    "warnings": (build_report(findings=FAMILY_REMOVED.findings[1:]), "1 warning, and no verdict gets worse"),
    "restarts": (
        without(TIGHTENED, *RISKS[:4]),
        "the pods of 1 workload are replaced (6 replicas) on east; no verdict gets worse",
    ),
    "better": (
        build_report(workloads=(workload("a", ("undecided", "1-2/2"), ("always-fits", "2/2"), "better"),)),
        "1 workload fits better on east; none gets worse",
    ),
    "objects": (without(TIGHTENED, *RISKS[:5]), "3 objects would differ on east; no verdict gets worse"),
    "written-only": (
        without(TIGHTENED, *RISKS),
        "nothing changes in the clusters, but what is written does",
    ),
    "nothing": (NOTHING, "nothing changes in the clusters"),
    "controls-are-escaped": (
        build_report(workloads=(workload("a", ("always-fits", "1/1"), ("error", "0/1"), "worse", cluster="e\x1b[2J"),)),
        r"1 of 1 workload would no longer fit on e\x1b[2J",
    ),
    "what-fits-is-no-news": (build_report(workloads=(fits("a", 1),)), "nothing changes in the clusters"),
}


@pytest.mark.parametrize(("report", "sentence"), HEADLINES.values(), ids=HEADLINES.keys())
def test_headline(report: Report, sentence: str) -> None:
    assert headline(report) == sentence
