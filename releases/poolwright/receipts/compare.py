"""Planned receipts against observed ones: as multisets of each workload, because a plan is no prediction.

Which replica got which slot's devices means nothing. So those with the very devices are paired first, then those on
the same node, then those of the same classes; what is left over is missing, or more than the plan has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from poolwright.receipts.comparison import KIND, Comparison, Outcome, Row
from poolwright.receipts.document import Clause, Receipt, Receipts
from poolwright.receipts.overlaps import list_double, list_overlaps
from poolwright.specs.model import API_VERSION

_Key = tuple[str, str, str]  # namespace, workload, what the pod calls the claim


def compare_planned(planned: Receipts, observed: Receipts) -> Comparison:
    """Every difference, explained. Both are of one cluster; the first is planned, the second observed."""
    comparer = _Comparer(planned, observed)
    rows = [row for key in comparer.list_keys() for row in comparer.compare(key)]
    rows += comparer.list_strangers()
    rows += [row for one in observed.receipts for row in _list_topology(one)]
    rows += (*list_double(observed), *list_overlaps([observed]))
    return Comparison(
        api_version=API_VERSION,
        kind=KIND,
        cluster=observed.cluster,
        of="planned-observed",
        rows=tuple(rows),
        action=None,
    )


class _Comparer:
    def __init__(self, planned: Receipts, observed: Receipts) -> None:
        self._slots = _group(planned)
        self._claims = _group(observed)
        self._strangers = [row for row in observed.receipts if _find_key(row) not in self._slots]
        self._grounds = [{one.id: one.clauses for one in receipts.grounds} for receipts in (planned, observed)]

    def list_keys(self) -> list[_Key]:
        """What is planned."""
        return sorted(self._slots)

    def list_strangers(self) -> Iterator[Row]:
        """Claims that no slot is for."""
        for row in self._strangers:
            whose = "whose pod isn't known" if row.workload is None else f"of {row.namespace}/{row.workload}"
            devices = ", ".join(one.title for one in row.devices)
            said = f"ghost: claim {row.namespace}/{row.claim}, {whose}, holds {devices}, and no slot is planned for it"
            yield _build("ghost", True, None, row, said)

    def compare(self, key: _Key) -> Iterator[Row]:
        """The slots of one claim of a workload against the claims that are there."""
        slots, claims = list(self._slots[key]), list(self._claims.get(key, ()))
        must = sum(bool(slot.must_serve) for slot in slots)
        short = max(0, must - len(claims))
        tests: tuple[Callable[[Receipt, Receipt], bool], ...] = (
            lambda slot, claim: _list_devices(slot) == _list_devices(claim),
            lambda slot, claim: slot.node == claim.node and _list_classes(slot) == _list_classes(claim),
            lambda slot, claim: bool(slot.devices) and _list_classes(slot) == _list_classes(claim),
            lambda slot, claim: bool(slot.devices),  # noqa: ARG005 (all are called alike)
            lambda slot, claim: True,  # noqa: ARG005
        )
        for test in tests:
            for slot in list(slots):
                claim = next((one for one in claims if test(slot, one)), None)
                if claim is not None:
                    slots.remove(slot)
                    claims.remove(claim)
                    yield from self._compare_pair(slot, claim)
        for number, slot in enumerate(slots):
            yield self._say_missing(slot, matters=number < short)
        for claim in claims:
            said = f"extra: claim {_say(claim)} is one more than the plan has of {key[0]}/{key[1]}"
            yield _build("extra", True, None, claim, said)

    def _say_missing(self, slot: Receipt, *, matters: bool) -> Row:
        why = "fewer run than must serve" if matters else "the workload is below its peak, and serves with what it has"
        said = f"missing: no claim stands for slot {_say(slot)}: {why}"
        return _build("missing", matters, slot, None, said)

    def _compare_pair(self, slot: Receipt, claim: Receipt) -> Iterator[Row]:
        names = f"claim {_say(claim)}"
        ghosts = [one.title for one in claim.devices if not one.is_published]
        if ghosts:
            yield _build(
                "ghost", True, slot, claim, f"ghost: {names} holds {', '.join(ghosts)}, which no slice publishes"
            )
        if not slot.devices:
            said = f"{names} has devices on {claim.node}, and the plan had none left for it"
            yield _build("unplanned-devices", False, slot, claim, said)
            return
        if _list_classes(slot) != _list_classes(claim):
            classes = [", ".join(sorted(name or "?" for _, name in _list_classes(row))) for row in (slot, claim)]
            said = f"{names} is of class {classes[1]}, and class {classes[0]} was planned"
            yield _build("other-class", True, slot, claim, said)
        elif slot.node != claim.node:
            matters, said = self._judge_unlike(slot, claim)
            place = f"{names} is on {claim.node}, planned on {slot.node}: class {_say_classes(claim)} all the same"
            yield _build("other-node", matters, slot, claim, f"{place}{said}")
        elif _list_devices(slot) != _list_devices(claim):
            matters, said = self._judge_unlike(slot, claim)
            devices = [", ".join(one.device for one in row.devices) for row in (claim, slot)]
            like = said or ", which are interchangeable for the claim"
            text = f"{names} has {devices[0]} of {claim.node}, planned {devices[1]}{like}"
            yield _build("other-device", matters, slot, claim, text)
        else:
            yield from _compare_cards(slot, claim)
        yield from _compare_ties(slot, claim)

    def _judge_unlike(self, slot: Receipt, claim: Receipt) -> tuple[bool | None, str]:
        """Whether a clause reads something else of the devices, and what; None: that isn't known."""
        for planned, there in zip(slot.devices, claim.devices, strict=False):
            old = self._grounds[0].get(planned.grounds or "", ())
            new = self._grounds[1].get(there.grounds or "", ())
            if not new and there.is_published:
                return None, "; whether they do as well isn't known: what made them match wasn't captured"
            if not there.is_published:
                return None, "; what no slice publishes can't be compared"
            found = _find_unlike(old, new)
            if found:
                return True, f"; not interchangeable: {found}"
        count = len(slot.devices), len(claim.devices)
        return (True, f"; {count[1]} devices, {count[0]} planned") if count[0] != count[1] else (False, "")


def _find_unlike(old: Sequence[Clause], new: Sequence[Clause]) -> str:
    """The first value that differs, of what both sides' clauses read."""
    before, after = ([value for clause in side for value in clause.values] for side in (old, new))
    gone = [value for value in before if value not in after]
    come = [value for value in after if value not in before]
    return f"{', '.join(come) or 'nothing'} where {', '.join(gone) or 'nothing'} was planned" if gone or come else ""


def _compare_cards(slot: Receipt, claim: Receipt) -> Iterator[Row]:
    there = {one.key: one for one in claim.devices}
    for one in slot.devices:
        found = there[one.key]
        if one.uuid is not None and found.uuid is not None and one.uuid != found.uuid:
            said = f"claim {_say(claim)} has {one.title}, which was {one.uuid} when planned and is {found.uuid} now"
            yield _build("other-card", True, slot, claim, said)
            return
    yield _build("same", False, slot, claim, f"claim {_say(claim)} has what slot {_say(slot)} planned")


def _compare_ties(slot: Receipt, claim: Receipt) -> Iterator[Row]:
    """Constraints that were planned and that the claim doesn't have."""
    has = {(one.kind, one.attribute) for one in claim.topology}
    for one in slot.topology:
        if (one.kind, one.attribute) not in has:
            said = f"topology: claim {_say(claim)} doesn't ask for {one.kind} {one.attribute}, as planned"
            yield _build("topology", True, slot, claim, said)


def _list_topology(row: Receipt) -> Iterator[Row]:
    for one in row.topology:
        values = ", ".join(value or "none" for value in one.values)
        start = f"topology: claim {_say(row)}, {one.kind} {one.attribute}: its devices have {values}"
        if one.is_met is None:
            yield _build("topology", None, None, row, f"{start}, so whether it holds isn't known")
        else:
            yield _build("topology", not one.is_met, None, row, f"{start}: it {'holds' if one.is_met else 'is broken'}")


def _build(outcome: Outcome, matters: bool | None, slot: Receipt | None, claim: Receipt | None, sentence: str) -> Row:
    row = claim or slot
    return Row(
        outcome=outcome,
        matters=matters,
        workload=None if row is None or row.workload is None else f"{row.namespace}/{row.workload}",
        first=None if slot is None else slot.id,
        second=None if claim is None else claim.id,
        sentence=sentence,
    )


def _group(receipts: Receipts) -> dict[_Key, list[Receipt]]:
    found: dict[_Key, list[Receipt]] = {}
    for row in receipts.receipts:
        if row.workload is not None:
            found.setdefault(_find_key(row), []).append(row)
    return found


def _find_key(row: Receipt) -> _Key:
    return row.namespace, row.workload or "", row.pod_claim or ""


def _list_devices(row: Receipt) -> list[tuple[str, ...]]:
    return sorted((one.request, *one.key) for one in row.devices)


def _list_classes(row: Receipt) -> list[tuple[str, str | None]]:
    return sorted((one.request, one.class_name) for one in row.requests)


def _say_classes(row: Receipt) -> str:
    return ", ".join(sorted({one.class_name or "?" for one in row.requests}))


def _say(row: Receipt) -> str:
    if row.slot is not None:
        return f"{row.namespace}/{row.workload}#{row.ordinal} {row.pod_claim or '(extended resources)'}"
    return f"{row.namespace}/{row.claim}"
