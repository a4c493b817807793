"""Whether a fleet is safe: one sentence, who isn't with the worst first, and what else is to be known."""

from __future__ import annotations

from typing import Any

import pytest
from made_fleets import REFUSED, make_report, make_unit, make_west, replace_cluster

from change_reports import FAMILY_REMOVED
from poolwright.pages.answer import Mark, SafetyAnswer, build_answer
from poolwright.pages.document import FleetSide, FleetUnit, Range


def answer(units: tuple[FleetUnit, ...], shortfall: Range = Range(least=0, most=0), **parts: Any) -> SafetyAnswer:  # noqa: B008 - frozen
    cluster = replace_cluster(make_west(), shortfall=shortfall)
    side = FleetSide(name="a", commit=None, clusters=(cluster,), units=units)
    return build_answer(make_report(**{"after": side, "findings": ()} | parts), side, "after")


FITS = make_unit("west", "chat-70b")
NOT_KNOWN = make_unit("west", "chat-8b", "undecided", "0-2/2")
TIGHT = make_unit("west", "embed-1b", "order-dependent", "1-2/2")
SENTENCES: dict[str, tuple[SafetyAnswer, Mark, str]] = {
    "everybody-fits": (
        answer((FITS, FITS)),
        "safe",
        "Safe: 2 workloads, and every replica finds devices, whoever starts first.",
    ),
    "nobody-is-there": (answer(()), "safe", "Nothing claims devices here."),
    "not-known-is-not-unsafe": (
        answer((FITS, NOT_KNOWN)),
        "unproven",
        "Not proven to be safe: of 1 of 2 workloads it isn't known whether all replicas find devices.",
    ),
    "the-order-decides": (answer((TIGHT, FITS)), "unsafe", "Not safe: 1 of 2 workloads may stay without devices."),
    "what-is-not-known-is-counted-with-the-unsafe": (
        answer((TIGHT, NOT_KNOWN)),
        "unsafe",
        "Not safe: 2 of 2 workloads may stay without devices.",
    ),
    "an-error-elsewhere": (
        answer((FITS,), findings=FAMILY_REMOVED.findings),
        "unsafe",
        "Not safe: of 1 workload each finds its devices, but something else is wrong.",
    ),
}


@pytest.mark.parametrize(("said", "mark", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_the_sentence(said: SafetyAnswer, mark: Mark, sentence: str) -> None:
    assert (said.mark, said.sentence) == (mark, sentence)


def test_the_worst_comes_first_and_links_to_all_of_it() -> None:
    report = make_report()
    found = build_answer(report, report.after, "after").troubles
    assert [(one.unit.verdict, one.link) for one in found] == [
        ("unsatisfied", "#unit=east/serving%2Fguard-1b7"),
        ("order-dependent", "#unit=east/serving%2Fchat-70b"),
    ]
    assert build_answer(report, report.after, "before").troubles[0].link == "#unit=east/serving%2Fguard-1b7&side=before"


ERRORS = sum(one.severity == "error" for one in FAMILY_REMOVED.findings)
NOTES: dict[str, tuple[SafetyAnswer, tuple[str, ...]]] = {
    "nothing": (answer((FITS,)), ()),
    "a-shortfall": (
        answer((TIGHT,), Range(least=1, most=1)),
        ("west: 1 of 2 replicas stay without, whoever is left out.",),
    ),
    "a-shortfall-that-is-not-exact": (
        answer((TIGHT,), Range(least=0, most=2)),
        ("west: 0 to 2 of 2 replicas stay without, whoever is left out.",),
    ),
    "something-open-where-it-fits": (
        answer((make_unit("west", "a", qualifiers=("a node isn't there yet",)), TIGHT)),
        ("Finds devices, and something is left open: serving/a on west.",),
    ),
    # One class that takes it is enough.
    "admitted-nowhere": (
        answer((make_unit("west", "a", prices=(REFUSED,)), make_unit("west", "b", prices=(REFUSED, *FITS.prices)))),
        ("Priced, and admitted on no class: serving/a on west.",),
    ),
    "many-are-counted": (
        answer(tuple(make_unit("west", f"a{number}", prices=(REFUSED,)) for number in range(7))),
        (
            "Priced, and admitted on no class: serving/a0 on west, serving/a1 on west, serving/a2 on west, "
            "serving/a3 on west, serving/a4 on west and 2 more.",
        ),
    ),
    "errors": (
        answer((FITS,), findings=FAMILY_REMOVED.findings),
        (f"{ERRORS} finding{'s are errors' if ERRORS > 1 else ' is an error'} to mend: see the findings.",),
    ),
}


@pytest.mark.parametrize(("said", "notes"), NOTES.values(), ids=NOTES)
def test_what_else_is_to_be_known(said: SafetyAnswer, notes: tuple[str, ...]) -> None:
    assert said.notes == notes
