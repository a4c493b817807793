"""Questions as tests ask them."""

from __future__ import annotations

from poolwright.pins.questions import ChartName, Question, Unanswered
from poolwright.registry.ask import ask_registries
from poolwright.registry.limits import Limits
from poolwright.specs.place import Place

# As patient as a crowded machine needs, but for what is waited for on purpose.
QUICK = Limits(total_s=60, back_off_s=0.01, wait_s=2, manifest_bytes=20_000)
PLACE = Place("specs/stack.yaml", 1, 1)


def image(reference: str, digest: str | None = None) -> Question:
    return Question(reference=reference, digest=digest, place=PLACE)


def chart(repo_url: str, name: str, version: str) -> Question:
    named = ChartName(repo_url=repo_url, chart=name, version=version)
    return Question(reference=f"{repo_url}/{name}:{version}", chart=named, place=PLACE)


def ask(question: Question, limits: Limits = QUICK) -> str | Unanswered:
    """The one answer to one question."""
    (found,) = ask_registries([question], limits).values()
    return found


def said(question: Question, limits: Limits = QUICK) -> tuple[str, str]:
    """Code and reason of a question that has no answer."""
    found = ask(question, limits)
    assert isinstance(found, Unanswered), found
    return found.code, found.what
