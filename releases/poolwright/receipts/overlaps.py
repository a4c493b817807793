"""Devices that two claims had prepared at one time: a pod's object may be gone while its containers still run."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Final

from poolwright.receipts.comparison import Row
from poolwright.receipts.document import DeviceKey, DeviceRow, Receipt, Receipts

SHARED: Final = ("share", "admin")  # modes in which a claim has a device beside others
_Use = tuple[dt.datetime, dt.datetime | None, Receipt, DeviceRow]  # prepared, unprepared (None: still)


def list_overlaps(several: Iterable[Receipts]) -> tuple[Row, ...]:
    """Double uses among all receipts that say when they were prepared; shares of a device with ids of their own aren't.

    A device is free only once it is unprepared, never when a pod is deleted. What doesn't say when is passed over.
    """
    uses: dict[DeviceKey, dict[str, _Use]] = {}
    for receipts in several:
        for row in receipts.receipts:
            start = _parse(row.prepared_at)
            for device in row.devices if start is not None else ():
                # The later document knows more of the same claim.
                if start is not None:
                    uses.setdefault(device.key, {})[f"{row.id} {device.share_id}"] = (
                        start,
                        _parse(row.unprepared_at),
                        row,
                        device,
                    )
    return tuple(row for key in sorted(uses) for row in _compare(uses[key].values()))


def list_double(found: Receipts) -> tuple[Row, ...]:
    """Devices that two claims have at once though neither shares them, whenever they were prepared; by device."""
    holders: dict[DeviceKey, list[tuple[Receipt, DeviceRow]]] = {}
    for row in found.receipts:
        for device in row.devices:
            if device.mode != "admin":
                holders.setdefault(device.key, []).append((row, device))
    return tuple(
        _build_double(one[0], other[0], other[1])
        for key in sorted(holders)
        for one, other in combinations(holders[key], 2)
        if one[0].id != other[0].id and not _are_shares(one[1], other[1])
    )


def _build_double(one: Receipt, other: Receipt, device: DeviceRow) -> Row:
    return Row(
        outcome="overlap",
        matters=True,
        workload=None if other.workload is None else f"{other.namespace}/{other.workload}",
        first=one.id,
        second=other.id,
        sentence=f"double use of {device.title}: {one.namespace}/{one.claim} and {other.namespace}/{other.claim} both "
        "have it, and not as shares",
    )


def _compare(uses: Iterable[_Use]) -> Iterator[Row]:
    ordered = sorted(uses, key=lambda use: (use[0], use[2].id))
    for one, other in combinations(ordered, 2):
        if one[2].id == other[2].id or _are_shares(one[3], other[3]) or "admin" in (one[3].mode, other[3].mode):
            continue
        if one[1] is None or one[1] > other[0]:
            yield _build(one, other)


def _are_shares(one: DeviceRow, other: DeviceRow) -> bool:
    return None not in (one.share_id, other.share_id) and one.share_id != other.share_id


def _build(one: _Use, other: _Use) -> Row:
    ends = [end for end in (one[1], other[1]) if end is not None]
    milliseconds = round((min(ends) - other[0]) / dt.timedelta(milliseconds=1)) if ends else None
    how_long = "and neither is unprepared" if milliseconds is None else f"for {milliseconds} ms"
    names = [f"{use[2].namespace}/{use[2].claim}" for use in (one, other)]
    return Row(
        outcome="overlap",
        matters=True,
        workload=None if other[2].workload is None else f"{other[2].namespace}/{other[2].workload}",
        first=one[2].id,
        second=other[2].id,
        sentence=f"double use of {other[3].title}: it was prepared for {names[1]} while {names[0]} had it {how_long}",
    )


def _parse(text: str | None) -> dt.datetime | None:
    if text is None:
        return None
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
