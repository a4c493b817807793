"""Receipts from before against the claims and slices of after: by name a claim may look fine on another card.

A card is known by its uuid. A driver that restarts may give its names to other cards, and the pool's generation then
says only that something was published anew; so a name alone never proves that a claim has what it had.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from poolwright.receipts.comparison import KIND, Comparison, Outcome, Row
from poolwright.receipts.document import DeviceKey, DeviceRow, Identity, Receipt, Receipts
from poolwright.receipts.overlaps import SHARED, list_overlaps
from poolwright.specs.model import API_VERSION


def compare_restored(before: Receipts, after: Receipts) -> Comparison:
    """What became of each claim, where cards collide, and what to do.

    Both are observed, of one cluster. A claim is the same by its uid; by namespace and name where one has none.
    """
    was, now = _Published(before), _Published(after)
    rows: list[Row] = []
    lost: list[tuple[Receipt, str]] = []
    for old, new in _pair(before, after):
        found = list(_compare(old, new, was, now))
        rows += found
        if old is not None and new is not None and any(row.outcome in ("moved", "gone") for row in found):
            lost.append((new, new.node or old.node or ""))
    collisions = list(_list_collisions(before, after))
    lost += [(new, new.node or "") for new, _ in collisions]
    rows += [row for _, row in collisions]
    rows += list_overlaps((before, after))
    return Comparison(
        api_version=API_VERSION,
        kind=KIND,
        cluster=after.cluster,
        of="before-after",
        rows=tuple(rows),
        action=_say_action(lost),
    )


class _Published:
    """What slices said at one of the two times."""

    def __init__(self, found: Receipts) -> None:
        rows: list[Identity] = [one for row in found.receipts for one in row.devices if one.is_published]
        self.by_key: Mapping[DeviceKey, Identity] = {one.key: one for one in (*rows, *found.unassigned)}
        self.by_uuid = {one.uuid: one for one in self.by_key.values() if one.uuid is not None}


def _pair(before: Receipts, after: Receipts) -> Iterator[tuple[Receipt | None, Receipt | None]]:
    """Old and new receipts of one claim, by namespace and name."""
    left = list(after.receipts)
    for old in sorted(before.receipts, key=lambda row: (row.namespace, row.claim or "", row.id)):
        new = next((one for one in left if _is_same_claim(old, one)), None)
        if new is not None:
            left.remove(new)
        yield old, new
    yield from ((None, one) for one in left)


def _is_same_claim(old: Receipt, new: Receipt) -> bool:
    if old.claim_uid is not None and new.claim_uid is not None:
        return old.claim_uid == new.claim_uid
    return (old.namespace, old.claim) == (new.namespace, new.claim)


@dataclass(frozen=True, slots=True)
class _Fate:
    outcome: Outcome
    matters: bool | None
    said: str


def _compare(old: Receipt | None, new: Receipt | None, was: _Published, now: _Published) -> Iterator[Row]:
    row = new or old
    if row is None:
        return
    if old is None:
        fates = [_Fate("new", False, "it has no receipt from before")]
    elif new is None:
        fates = [_Fate("released", False, "the claim has no devices any more, or isn't there")]
    else:
        held = {one.key for one in new.devices}
        fates = [_judge(one, was, now) for one in old.devices if one.key in held]
        left = [one for one in old.devices if one.key not in held]
        got = [one for one in new.devices if one.key not in {each.key for each in old.devices}]
        fates += [_say_reallocated(left, got)] if left or got else []
    for fate in fates:
        yield Row(
            outcome=fate.outcome,
            matters=fate.matters,
            workload=None if row.workload is None else f"{row.namespace}/{row.workload}",
            first=None if old is None else old.id,
            second=None if new is None else new.id,
            sentence=f"{row.namespace}/{row.claim}: {fate.said}",
        )


def _judge(old: DeviceRow, was: _Published, now: _Published) -> _Fate:
    """What became of a device that a claim still has by name."""
    there, card = now.by_key.get(old.key), now.by_uuid.get(old.uuid or "")
    if there is None:
        if old.uuid is None:
            return _Fate("gone", True, f"gone: {old.device} is no longer published; which card it was isn't known")
        appears = f"its card now appears as {card.device}" if card else "its card isn't published any more"
        return _Fate("gone", True, f"gone: {old.device} is no longer published; {appears}")
    if old.uuid is None or there.uuid is None:
        return _judge_unnamed(old, there)
    generation = "" if old.generation == there.generation else f", published anew in generation {there.generation}"
    if old.uuid == there.uuid:
        return _Fate("intact", False, f"intact: {old.device} is the same card{generation}")
    appears = f"; the card that it had now appears as {card.device}" if card else "; the card that it had is gone"
    former = was.by_uuid.get(there.uuid)
    other = there.uuid if former is None else f"the former {former.device}, {there.uuid}"
    return _Fate("moved", True, f"moved: the name {old.device} is now another card ({other}){appears}")


def _judge_unnamed(old: DeviceRow, there: Identity) -> _Fate:
    """Of a device without a uuid its parent is known at best, and a name alone proves nothing."""
    if old.parent is not None and there.parent is not None and old.parent != there.parent:
        return _Fate("moved", True, f"moved: {old.device} is now of another card ({there.parent})")
    parent = " of the same card" if old.parent is not None and old.parent == there.parent else ""
    same = "" if old.generation == there.generation else f", in generation {there.generation}"
    said = f"not proven: a device called {old.device}{parent} is published{same}, and no uuid tells if it is the same"
    return _Fate("unproven", None, said)


def _say_reallocated(left: Iterable[DeviceRow], got: Iterable[DeviceRow]) -> _Fate:
    had, has = list(left), list(got)
    same = {one.uuid for one in had if one.uuid} & {one.uuid for one in has if one.uuid}
    cards = f" ({len(same)} of them the same card under another name)" if same else ""
    names = [", ".join(sorted(one.device for one in several)) or "nothing" for several in (had, has)]
    return _Fate("reallocated", False, f"reallocated: it had {names[0]} and has {names[1]} now{cards}")


def _list_collisions(before: Receipts, after: Receipts) -> Iterator[tuple[Receipt, Row]]:
    """Cards that a claim would be prepared on, though another claim that is still there had them, or has them."""
    users: dict[str, list[Receipt]] = {}
    for row in before.receipts:
        if any(_is_same_claim(row, one) for one in after.receipts):
            for device in row.devices:
                if device.uuid is not None and device.mode not in SHARED:
                    users.setdefault(device.uuid, []).append(row)
    for row in after.receipts:
        for device in row.devices:
            for user in users.get(device.uuid or "", ()) if device.mode not in SHARED else ():
                current = next((one for one in after.receipts if _is_same_claim(user, one)), None)
                still = current is not None and any(one.key in _list_keys(user) for one in current.devices)
                if still and not _is_same_claim(user, row):
                    yield (
                        row,
                        Row(
                            outcome="collision",
                            matters=True,
                            workload=None if row.workload is None else f"{row.namespace}/{row.workload}",
                            first=user.id,
                            second=row.id,
                            sentence=f"collision: {row.namespace}/{row.claim} would be prepared on the card that "
                            f"{user.namespace}/{user.claim} used ({device.uuid})",
                        ),
                    )


def _list_keys(row: Receipt) -> set[DeviceKey]:
    return {one.key for one in row.devices}


def _say_action(lost: Iterable[tuple[Receipt, str]]) -> str | None:
    """`drain node-a, release chat-1 and chat-2, allocate again, new receipts`."""
    found = list(lost)
    if not found:
        return None
    nodes = sorted({node for _, node in found if node})
    claims = sorted({f"{row.namespace}/{row.claim}" for row, _ in found})
    drain = f"drain {_join(nodes)}, " if nodes else ""
    return f"{drain}release {_join(claims)}, allocate again, new receipts"


def _join(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
