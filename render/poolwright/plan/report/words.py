"""How verdicts and witnesses are said, in every report."""

from __future__ import annotations

from typing import Final

from poolwright.plan.verdict import Replays, Verdict, Witness

MAX_MOVES: Final = 6  # of a witness that are shown
_REPLAYS: Final[dict[Replays, str]] = {
    "now": "with devices as they are published now",
    "after-reordering-or-restart": "once a driver publishes its devices in another order",
    "not-replayed": "a packing: no order was found in which the allocator does so",
}


def say_counts(verdict: Verdict) -> str:
    """`4/4`, `3-6/6`, `at most 4/6`, `2-?/6`: the replicas that every order serves, up to those that some does."""
    always, best, replicas = verdict.always, verdict.at_best, verdict.replicas
    match verdict.word:
        case "always-fits":
            return f"{replicas}/{replicas}"
        case "order-dependent":
            return f"{always.least}-{best.least}/{replicas}"
        case "unsatisfied":
            return f"at most {best.most}/{replicas}"
        case "undecided":
            return f"{always.least}-{'?' if best.least < replicas else best.least}/{replicas}"
        case "error":
            return f"?/{replicas}"


def say_word(verdict: Verdict) -> str:
    """The word and what qualifies it; a yes is about devices alone, and says so."""
    word = f"{verdict.word} (devices)" if verdict.word == "always-fits" else verdict.word
    return ", ".join([word, *dict.fromkeys(one.kind for one in verdict.qualifiers)])


def say_witness(witness: Witness, replicas: int) -> str:
    """Who is left out after which moves, in one line.

    replicas: of the workload that the witness is about.
    """
    return f"left out {replicas - witness.placed} after: {say_moves(witness)}"


def say_moves(witness: Witness) -> str:
    """The first moves of an order, and how it comes true."""
    shown = [f"{move.workload}#{move.replica} on {move.node}" for move in witness.moves[:MAX_MOVES]]
    more = f" and {len(witness.moves) - MAX_MOVES} more" if len(witness.moves) > MAX_MOVES else ""
    return f"{', '.join(shown) or 'nothing'}{more} ({_REPLAYS[witness.replays]})"


def count_of(number: int, what: str) -> str:
    """`1 node`, `2 nodes`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def verb_of(number: int, verb: str) -> str:
    """What so many do, by the form for several: `keeps` of 1, `keep` of 2; `is` and `has` for `are` and `have`."""
    return {"are": "is", "have": "has"}.get(verb, f"{verb}s") if number == 1 else verb
