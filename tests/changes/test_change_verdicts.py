"""Verdicts before and after: which way they went, what is short together, and who couldn't come back."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace as put

from change_reports import build_report
from change_sides import compare, say_findings
from fleet import PLACEMENTS, PROJECT, ROOT, Files, edit, read_fleet, read_small_fleet
from poolwright.changes.commits import add_commits, list_problems
from poolwright.changes.report import Answer, CommitAnswer, FindingRow, RolloutRisk, Stranded, WorkloadChange
from poolwright.changes.verdicts import find_direction
from poolwright.plan.verdict import Count, Qualifier, Verdict, Word, exactly

SMALL = read_small_fleet()
INVENTORY = "inventory/east.yaml"


def verdict(word: Word, always: Count, best: Count, replicas: int, *, risk: bool = False) -> Verdict:
    risks = (Qualifier(kind="prepare-risk", reason="r"),) if risk else ()
    return Verdict(
        workload="t/w", word=word, replicas=replicas, always=always, at_best=best, method="alone", qualifiers=risks
    )


def always(replicas: int, **more: Any) -> Verdict:
    return verdict("always-fits", exactly(replicas), exactly(replicas), replicas, **more)


def never(placed: int, replicas: int) -> Verdict:
    return verdict("unsatisfied", Count(0, placed), Count(placed, placed), replicas)


def depends(least: int, replicas: int) -> Verdict:
    return verdict("order-dependent", exactly(least), exactly(replicas), replicas)


def unknown(least: int, most: int, replicas: int) -> Verdict:
    return verdict("undecided", Count(least, replicas), Count(0, most), replicas)


ERROR = verdict("error", exactly(0), exactly(0), 2)
# From worse to better; what stands in one row is alike.
ORDER: tuple[tuple[Verdict, ...], ...] = (
    (ERROR, verdict("error", Count(0, 3), Count(0, 3), 3)),
    (never(2, 6),),
    (never(4, 6),),
    (never(1, 3),),
    (unknown(0, 2, 3),),
    (unknown(0, 3, 3),),
    (unknown(1, 3, 3), unknown(0, 2, 2)),
    (depends(0, 3),),
    (depends(2, 3), depends(4, 5)),
    (always(2, risk=True),),
    (always(1), always(9)),
)


@pytest.mark.parametrize("at", range(len(ORDER)))
def test_directions(at: int) -> None:
    for old in ORDER[at]:
        for number, row in enumerate(ORDER):
            way = "better" if number > at else "worse" if number < at else "same"
            assert {find_direction(old, new) for new in row} == {way}


def test_one_that_comes_and_one_that_goes() -> None:
    assert (find_direction(None, ERROR), find_direction(ERROR, None)) == ("new", "gone")


FULL = edit(SMALL, PLACEMENTS, ("minReplicas: 1\n  surge: 1", "minReplicas: 4\n  surge: 0"))
ALONE = {**SMALL, PLACEMENTS: SMALL[PLACEMENTS].partition(b"---\n")[0]}
TOO_MANY = edit(ALONE, PLACEMENTS, ("minReplicas: 1\n  surge: 1", "minReplicas: 5\n  surge: 0"))


def row(
    name: str, change: str, before: tuple[Word, str] | None, after: tuple[Word, str] | None, *reasons: str
) -> object:
    answers = [one and Answer(verdict=one[0], counts=one[1]) for one in (before, after)]
    return WorkloadChange(
        cluster="east",
        name=f"chat/{name}",
        scenario="fresh",
        before=answers[0],
        after=answers[1],
        change=change,  # type: ignore[arg-type]
        reasons=reasons,
    )


BESIDE = "1 other pod keeps it off all 2 nodes that it may use"
CASES: dict[str, tuple[Files, Files, tuple[object, ...]]] = {
    "worse-and-the-same": (
        SMALL,
        FULL,
        (
            row("chat-70b", "worse", ("always-fits", "2/2"), ("order-dependent", "3-4/4"), BESIDE),
            row("chat-70b-next", "same", ("order-dependent", "0-1/1"), ("order-dependent", "0-1/1")),
        ),
    ),
    "gone-and-better": (
        SMALL,
        {**SMALL, PLACEMENTS: SMALL[PLACEMENTS].partition(b"---\n")[2]},
        (
            row("chat-70b-next", "better", ("order-dependent", "0-1/1"), ("always-fits", "1/1")),
            row("chat-70b", "gone", ("always-fits", "2/2"), None),
        ),
    ),
    "new": (
        ALONE,
        SMALL,
        (
            row("chat-70b", "same", ("always-fits", "2/2"), ("always-fits", "2/2")),
            row(
                "chat-70b-next",
                "new",
                None,
                ("order-dependent", "0-1/1"),
                "2 other pods keep it off the one node that it may use",
            ),
        ),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_workloads(case: str) -> None:
    before, after, rows = CASES[case]
    assert compare(before, after).workloads == rows


PLAN = "see `poolwright plan --cluster east`: it names who"
SAID: dict[str, tuple[Files, Files, str]] = {
    "worse-and-short": (
        ALONE,
        TOO_MANY,
        "poolwright.yaml: east: of 5 replicas at least 1 can't have devices on an empty cluster, in any order  "
        "[shortfall-grew]\n"
        "  why  each workload alone may still be served, and all of them together can't be (poolwright diff)\n"
        f"  fix  {PLAN} competes for what, and what would clear it\n"
        "specs/placements.yaml:2:1: east/chat/chat-70b was always-fits 2/2 and is unsatisfied at most 4/5, on an empty "
        "cluster: there is room for 4 replicas of it at most, with nobody else there  [fit-worse]\n"
        "  why  in no order do all its replicas find devices (pods that run keep their devices: it shows once one "
        "restarts) (poolwright diff)\n"
        f"  fix  {PLAN} takes the devices, and what would mend it\n",
    ),
    "new-and-no-yes": (
        ALONE,
        SMALL,
        "specs/placements.yaml:14:1: warning: east/chat/chat-70b-next is new and order-dependent 0-1/1, on an empty "
        "cluster: 2 other pods keep it off the one node that it may use  [fit-worse]\n"
        "  why  whether all its replicas find devices depends on who comes first (poolwright diff)\n"
        f"  fix  {PLAN} takes the devices, and what would mend it\n",
    ),
    "better": (FULL, SMALL, ""),
    "as-short-as-it-was": (TOO_MANY, edit(TOO_MANY, PLACEMENTS, ("surge: 0", "surge: 0  # as before")), ""),
}


@pytest.mark.parametrize("case", SAID)
def test_what_is_said_of_verdicts(case: str) -> None:
    before, after, text = SAID[case]
    assert say_findings(compare(before, after), "fit-worse", "shortfall-grew") == text


def test_a_shortfall_that_grows_says_what_it_was() -> None:
    report = compare(TOO_MANY, edit(TOO_MANY, PLACEMENTS, ("minReplicas: 5", "minReplicas: 7")))
    assert [one.what for one in report.findings if one.code == "shortfall-grew"] == [
        "east: of 7 replicas at least 3 can't have devices on an empty cluster, in any order, and 1 on the base"
    ]


def test_devices_that_the_driver_may_refuse() -> None:
    """Once the driver publishes partitions of its fabric, it refuses GPUs that aren't one of them."""
    after = edit(
        SMALL, INVENTORY, ("        type: {string: gpu}", "        partition4: {int: 1}\n        type: {string: gpu}")
    )
    report = compare(ALONE, {**after, PLACEMENTS: ALONE[PLACEMENTS]})
    risk = (
        "its 4 GPUs needn't be one fabric partition, which the driver refuses when the pod starts: matchAttribute "
        "gpu.nvidia.com/partition4 makes them one"
    )
    assert report.workloads == (row("chat-70b", "worse", ("always-fits", "2/2"), ("always-fits", "2/2"), risk),)
    assert say_findings(report, "fit-worse") == (
        "specs/placements.yaml:2:1: warning: east/chat/chat-70b was always-fits 2/2 and is always-fits 2/2, "
        "with a risk "
        f"when pods start, on an empty cluster: {risk}  [fit-worse]\n"
        "  why  the scheduler gives it devices that the driver may refuse: a pod then has them and doesn't "
        "start (pods that "
        "run keep their devices: it shows once one restarts) (poolwright diff)\n"
        f"  fix  {PLAN} takes the devices, and what would mend it\n"
    )


# --- who couldn't come back

BARE = edit(SMALL, INVENTORY, ("Hopper", "Ampere"))


def test_replicas_that_stay_and_couldnt_come_back() -> None:
    report = compare(SMALL, BARE)
    assert [(one.workload, one.scenario, one.replicas, one.stuck) for one in report.stranded] == [
        ("chat/chat-70b", "fresh", 2, 2),
        ("chat/chat-70b-next", "fresh", 1, 1),
    ]


def test_replicas_that_are_replaced_anyway_arent_stranded() -> None:
    """Whoever is restarted by the change is told of by verdict and rollout."""
    after = edit(BARE, "specs/stack.yaml", ("vllm-openai:v0.33.0", "vllm-openai:v0.33.0-1"))
    report = compare(SMALL, after)
    assert [one.name for one in report.restarts] == ["chat/chat-70b", "chat/chat-70b-next"]
    assert report.stranded == ()


NOBODY: dict[str, tuple[Files, Files]] = {
    "an-order-alone": (SMALL, FULL),
    "more-replicas-than-there-is-room-for": (ALONE, TOO_MANY),
    "as-few-as-before": (TOO_MANY, edit(TOO_MANY, PLACEMENTS, ("minReplicas: 5", "minReplicas: 6"))),
}


@pytest.mark.parametrize("case", NOBODY)
def test_nobody_who_runs_is_stranded(case: str) -> None:
    before, after = NOBODY[case]
    report = compare(before, after)
    assert report.workloads[0].change == "worse"
    assert report.stranded == ()


LAB = "specs/pools/lab-full.yaml"
SNAPSHOT = str(ROOT / "tests" / "plan" / "snapshots" / "lab.yaml")


def test_replicas_that_run_and_couldnt_come_back() -> None:
    fleet = read_fleet()
    report = compare(fleet, edit(fleet, LAB, ("[Hopper]", "[Ampere]")), live=[SNAPSHOT], cluster="lab")
    why = 'request gpu: 8 devices on 1 node: 8 fail architecture == "Ampere" (have Hopper); 0 left, 4 wanted'
    assert report.stranded[:1] == (
        Stranded(cluster="lab", workload="chat/chat-70b", scenario="live", replicas=1, stuck=1, reasons=(why,)),
    )
    assert [(one.scenario, one.change) for one in report.workloads] == [("fresh", "worse"), ("live", "same")]
    assert say_findings(report, "restart-stranded") == (
        f"specs/placements/lab.yaml:2:1: lab/chat/chat-70b: 1 of 1 running replica couldn't be placed again: {why}  "
        "[restart-stranded]\n"
        "  why  they keep their devices: nothing shows until a pod restarts or a node drains; it then stays Pending "
        "(poolwright diff)\n"
        "  fix  keep devices that it can have before the class, node or claim changes, or move the workload first\n"
    )


def test_replicas_that_couldnt_come_back_before_either() -> None:
    fleet = read_fleet()
    moved = edit(fleet, LAB, ("[Hopper]", "[Ampere]"))
    report = compare(moved, edit(moved, LAB, ("[Ampere]", "[Ada Lovelace]")), live=[SNAPSHOT], cluster="lab")
    assert report.stranded == ()


# --- rollouts that the change starts


def test_a_rollout_that_can_stick() -> None:
    why = "once the old replica gave devices back, others have the rest, and no new one has room"
    after = edit(SMALL, "specs/stack.yaml", ("vllm-openai:v0.33.0", "vllm-openai:v0.33.0-1"))
    report = compare(SMALL, after)
    assert report.rollouts == (
        RolloutRisk(cluster="east", workload="chat/chat-70b-next", outcome="can-stick", why=why, fixes=()),
    )
    assert say_findings(report) == (
        "specs/placements.yaml:14:1: warning: east: this change replaces the pods of chat/chat-70b-next, and "
        "its rollout "
        f"can stick: {why}  [rollout-stuck]\n"
        "  why  old replicas hold devices that new ones wait for, and neither goes on by itself (poolwright diff)\n"
        "  fix  allow a replica to be away while it rolls, or merge when devices are free\n"
    )


def test_a_change_that_replaces_no_pods_starts_no_rollout() -> None:
    assert compare(SMALL, edit(SMALL, "specs/pool.yaml", ("platform-gpu", "platform-hpc"))).rollouts == ()


# --- clusters that come and go


def test_a_cluster_that_goes() -> None:
    west = (
        "    - name: east\n",
        "    - {name: west, stackName: kubernetes-1-36, destination: {name: west}}\n    - name: east\n",
    )
    both = edit(SMALL, PROJECT, west)
    report = compare(both, SMALL)
    assert (report.clusters, report.workloads, [one.change for one in report.objects]) == (("west",), (), ["removed"])
    report = compare(SMALL, both)
    assert (report.clusters, report.workloads, [one.change for one in report.objects]) == (("west",), (), ["added"])


# --- commits on the way


def finding(code: str, severity: str = "error") -> FindingRow:
    text = {"file": "a.yaml", "line": 1, "column": 1, "field": "", "why": "w", "rule": "", "fix": "f"}
    return FindingRow(code=code, severity=severity, what=f"what {code} says", waived=None, **text)  # type: ignore[arg-type]


def test_what_makes_a_commit_unsafe() -> None:
    """A version moves once, somewhere on the way; a warning stops nobody."""
    rows = (finding("fit-worse"), finding("step-too-small"), finding("silent-move", "warning"))
    assert list_problems(build_report(findings=rows)) == ("what fit-worse says [fit-worse]",)


def commit(number: int, *problems: str) -> CommitAnswer:
    return CommitAnswer(commit=f"{number}" * 40, subject=f"step {number}", is_safe=not problems, problems=problems)


def test_a_commit_that_isnt_safe_by_itself() -> None:
    commits = [commit(1), commit(2, "a [x]"), commit(3, "a [x]", "b [y]", "c [z]", "d [u]", "e [v]")]
    note = finding("step-too-large", "note")
    report = add_commits(build_report(findings=(note,)), commits)
    assert report.commits == tuple(commits)
    assert report.findings[-1] == note
    assert say_findings(report, "commit-unsafe") == (
        "poolwright.yaml: commit 222222222222 (step 2) isn't safe by itself: a [x]  [commit-unsafe]\n"
        "  why  if it is synced before those that follow, this is what the clusters are left with meanwhile "
        "(poolwright "
        "diff)\n"
        "  fix  make one commit of it and what mends it, or add what is new before what is old goes\n"
        "poolwright.yaml: commit 333333333333 (step 3) isn't safe by itself: a [x]; b [y]; c [z]; and 2 more  "
        "[commit-unsafe]\n"
        "  why  if it is synced before those that follow, this is what the clusters are left with meanwhile "
        "(poolwright "
        "diff)\n"
        "  fix  make one commit of it and what mends it, or add what is new before what is old goes\n"
    )


def test_safe_commits_add_nothing() -> None:
    bare = build_report()
    assert add_commits(bare, [commit(1)]) == put(bare, commits=(commit(1),))
