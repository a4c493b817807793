"""What sources say of a feature, field by field: one answer, several that disagree, or one that a ledger settled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from msgspec.structs import replace as replace_struct

from poolwright.catalog.facts import Facts
from poolwright.catalog.tables.driver_release import is_within
from poolwright.specs.ledger import FactField, SettledFact

if TYPE_CHECKING:
    from poolwright.catalog.tables.nvidia import GateRuleFact

Value = str | bool | tuple[str, ...]
State = Literal["known", "unknown", "disputed", "settled"]
FIELDS: Final[tuple[FactField, ...]] = ("stage", "default", "conflictsWith", "needs")
STAGES: Final = ("alpha", "beta", "ga")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A value, and who says so."""

    value: Value
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is known of one field."""

    value: Value | None  # that counts; None: no source says anything. Of a list: what isn't disputed, or is settled
    sources: tuple[str, ...]
    others: tuple[Said, ...] = ()  # what other sources say, in the order of the facts
    settled: SettledFact | None = None

    @property
    def state(self) -> State:
        """Whether the value can be relied on."""
        if self.settled is not None:
            return "settled"
        if self.others:
            return "disputed"
        return "unknown" if self.value is None else "known"

    @property
    def open(self) -> tuple[Said, ...]:
        """What other sources say, while nobody settled it."""
        return () if self.settled is not None else self.others


def answer_nvidia(release: str, gate: str, settled: Sequence[SettledFact], facts: Facts) -> Mapping[str, Answer]:
    """Each of FIELDS of a gate of NVIDIA's driver."""
    fact = facts.nvidia_gate(release, gate)
    sources = (fact.source,) if fact else ()
    said = {(other.field, other.value, other.source) for other in (fact.disagreements if fact else ())}
    answers = {
        "stage": Answer(value=fact.stage if fact else None, sources=sources, others=_pick(said, "stage")),
        "default": Answer(value=fact.default if fact else None, sources=sources, others=_pick(said, "default")),
    }
    rules = [rule for rule in facts.nvidia_gate_rules if is_within(release, rule.since, rule.until)]
    answers["conflictsWith"] = _answer_list(rules, gate, "excludes")
    answers["needs"] = _answer_list(rules, gate, "needs")
    return _settle(answers, settled)


def answer_kubernetes(minor: str, gate: str, settled: Sequence[SettledFact], facts: Facts) -> Mapping[str, Answer]:
    """Each of FIELDS of a gate of Kubernetes, of which no two are known to exclude each other."""
    fact = facts.kubernetes_gate(minor, gate)
    sources = (fact.source,) if fact else ()
    said = {(other.field, other.value, other.source) for other in (fact.disagreements if fact else ())}
    answers = {
        "stage": Answer(value=fact.stage if fact else None, sources=sources, others=_pick(said, "stage")),
        "default": Answer(value=fact.default if fact else None, sources=sources, others=_pick(said, "default")),
        "conflictsWith": Answer(value=(), sources=()),
        "needs": Answer(value=(), sources=()),
    }
    return _settle(answers, settled)


def answer_unknown(settled: Sequence[SettledFact]) -> Mapping[str, Answer]:
    """Each of FIELDS of a feature that no fact is about."""
    return _settle({name: Answer(value=None, sources=()) for name in FIELDS}, settled)


def settle_pairs(
    answers: Mapping[str, Answer], gate: str, conflicts: Mapping[str, SettledFact]
) -> Mapping[str, Answer]:
    """The answers of a gate with the conflicts that the rows of the other gates settle: a pair is settled once.

    conflicts: what the ledger says of conflictsWith, by the gate whose row says it.
    """
    answer = answers["conflictsWith"]
    names = {name for other in answer.open if isinstance(other.value, tuple) for name in other.value}
    facts = {name: conflicts[name] for name in sorted(names) if name in conflicts}
    if not names or len(facts) < len(names):
        return answers
    excluded = {name for name, fact in facts.items() if isinstance(fact.value, tuple) and gate in fact.value}
    value = tuple(sorted({*excluded, *(answer.value if isinstance(answer.value, tuple) else ())}))
    fact = replace_struct(next(iter(facts.values())), value=tuple(sorted(excluded)))
    return {**answers, "conflictsWith": replace(answer, value=value, settled=fact)}


def is_settling(field: FactField, value: object) -> bool:
    """Whether a value is of the type that a field has."""
    if field == "stage":
        return value in STAGES
    return isinstance(value, bool) if field == "default" else isinstance(value, tuple)


def render_value(value: object) -> str:
    """A value in words: a list by its entries, `none` if it has none."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return (", ".join(value) or "none") if isinstance(value, tuple) else str(value)


def _pick(said: Iterable[tuple[str, str, str]], field: str) -> tuple[Said, ...]:
    found = sorted((value, source) for name, value, source in said if name == field)
    words: Mapping[str, Value] = {"true": True, "false": False}
    return tuple(
        Said(value=words.get(value, value) if field == "default" else value, source=source) for value, source in found
    )


def _answer_list(rules: Iterable[GateRuleFact], gate: str, relation: str) -> Answer:
    """What a gate excludes or needs: what the code enforces, and beside it what is only written down."""
    value: list[str] = []
    sources: list[str] = []
    others: list[Said] = []
    for rule in rules:
        other = _find_other(rule, gate) if rule.relation == relation else None
        if other is None:
            continue
        if rule.by == "documented":
            others.append(Said(value=(other,), source=rule.source))
        else:
            value.append(other)
            sources.append(rule.source)
    return Answer(value=tuple(sorted(set(value))), sources=tuple(sorted(set(sources))), others=tuple(others))


def _find_other(rule: GateRuleFact, gate: str) -> str | None:
    """The other side of a rule, a gate or `setting=word`; None: the rule isn't about the gate."""
    word = f"{rule.setting}={rule.word}" if rule.setting else None
    if rule.gate == gate:
        return rule.other_gate or word
    if rule.other_gate == gate and rule.relation == "excludes":
        return rule.gate or word
    return None


def _settle(answers: Mapping[str, Answer], settled: Sequence[SettledFact]) -> dict[str, Answer]:
    """The answers with what a ledger settles: only where sources disagree, or say nothing."""
    found = dict(answers)
    for fact in settled:
        before = found[fact.field]
        if before.state in ("disputed", "unknown") and is_settling(fact.field, fact.value):
            value: Value = fact.value
            if isinstance(value, tuple):  # what is enforced can't be settled away
                value = tuple(sorted({*value, *(before.value if isinstance(before.value, tuple) else ())}))
            found[fact.field] = replace(before, value=value, settled=fact)
    return found
