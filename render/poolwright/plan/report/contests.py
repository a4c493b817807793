"""How it is said that claims or pods compete for fewer devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from poolwright.plan.report.words import count_of, verb_of
from poolwright.plan.verdict import Contest, Judgement


def render_contests(judgement: Judgement) -> Iterator[str]:
    """A line for each part that is over-demanded: which it is doesn't depend on who was given what."""
    exact = {one.workload for one in judgement.verdicts if one.method == "single-device flow"}
    for one in judgement.over_demanded:
        yield _say_contest(one, is_exact=all(title in exact for title, _ in one.pods))


def list_contested_first(titles: Sequence[str], contests: Sequence[Contest]) -> list[str]:
    """The same, those first that compete for fewer devices; each in the order given."""
    contested = {title for one in contests for title, _ in one.pods}
    return sorted(titles, key=lambda title: title not in contested)


def _say_contest(contest: Contest, *, is_exact: bool) -> str:
    """is_exact: every pod that takes one of the devices takes one, for itself, so that no more are missing."""
    pods = ", ".join(f"{count} of {title}" for title, count in contest.pods)
    devices, demanded = count_of(contest.devices, "device"), contest.demanded
    if demanded != sum(count for _, count in contest.pods):
        return f"pods that need {count_of(demanded, 'device')} or more compete for {contest.devices}: {pods}"
    claims = f"{count_of(demanded, 'claim')} {verb_of(demanded, 'compete')} for {devices}"
    if not contest.devices:
        return f"{claims}: {pods}"
    short = demanded - contest.devices
    which = "which one" if short == 1 else "which ones"
    said = f"{'' if is_exact else 'at least '}{short} {verb_of(short, 'stay')} unsatisfied"
    return f"{claims}: {said}, {which} depends on the order: {pods}"
