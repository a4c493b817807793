"""Receipts by what somebody knows: a claim, a slot, a pod, a device, a model, a release."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

import msgspec

from poolwright.receipts.document import Identity, Receipt, Receipts

MAX_NEAR: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What receipts are asked for; each that is set must hold."""

    slot: str | None = None  # its id, or the first digits of it
    claim: str | None = None  # uid, name, or namespace/name
    pod: str | None = None  # the same
    device: str | None = None  # uuid, name, POOL/NAME, or DRIVER/POOL/NAME; of a partition that of its parent too
    model: str | None = None  # name, digest, envelope, or name@version of it
    release: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for, which is everything."""
        return not self.asked

    @property
    def asked(self) -> list[tuple[str, str]]:
        """What is set, by name."""
        found = [(one.name, getattr(self, one.name)) for one in fields(self)]
        return [(name, value) for name, value in found if value is not None]


def find_receipts(receipts: Receipts, query: Query) -> tuple[Receipt, ...]:
    """Those that have all that is asked, in their order."""
    return tuple(row for row in receipts.receipts if all(_has(row, name, value) for name, value in query.asked))


def narrow_receipts(receipts: Receipts, rows: Sequence[Receipt]) -> Receipts:
    """The document with these receipts alone, and what they refer to; what nobody has is left out."""
    lost = {name for row in rows if row.if_lost for name in (*row.if_lost.devices, row.if_lost.node, row.if_lost.zone)}
    grounds = {one.grounds for row in rows for one in row.devices}
    return msgspec.structs.replace(
        receipts,
        receipts=tuple(rows),
        loss_classes=tuple(one for one in receipts.loss_classes if one.id in lost),
        grounds=tuple(one for one in receipts.grounds if one.id in grounds),
        unassigned=(),
    )


def say_nothing(several: Sequence[Receipts], query: Query) -> str:
    """Why nothing was found, in a sentence: what was searched, and what is called alike."""
    where = ", ".join(f"{len(one.receipts)} {one.statement} of {one.cluster}" for one in several)
    asked = " and ".join(f"{name} {value}" for name, value in query.asked)
    start = f"no receipt has {asked or 'anything'}; searched: {where or 'nothing'}"
    if query.device is not None:
        free = [one.title for part in several for one in part.unassigned if query.device in _list_device_names(one)]
        if free:
            return f"{start}. {free[0]} is there, and no claim has it"
    near: list[str] = []
    for name, value in query.asked:
        alone = replace(Query(), **{name: value})
        if any(find_receipts(one, alone) for one in several):
            continue
        known = sorted({text for one in several for row in one.receipts for text in _list_names(row, name)})
        near += difflib.get_close_matches(value, known, MAX_NEAR, 0.6)
    return f"{start}; near: {', '.join(near)}" if near else start


def _has(row: Receipt, name: str, value: str) -> bool:
    if name == "slot":
        digits = value.removeprefix("slot:").removeprefix("sha256:")
        return row.slot is not None and bool(digits) and row.slot.removeprefix("slot:sha256:").startswith(digits)
    return value in _list_names(row, name)


def _list_names(row: Receipt, name: str) -> Iterator[str]:
    """Every text by which a receipt is found."""
    match name:
        case "slot":
            yield row.slot or ""
        case "claim":
            yield from (row.id, row.claim_uid or "", row.claim or "", f"{row.namespace}/{row.claim}")
        case "pod":
            for one in row.users:
                yield from (one.uid, one.name or "", f"{row.namespace}/{one.name}")
        case "device":
            for device in row.devices:
                yield from _list_device_names(device)
        case "model":
            yield from (row.envelope or "", (row.envelope or "").partition("@")[0])
            yield from (row.model.name, row.model.digest) if row.model is not None else ()
        case "release":
            yield row.release or ""


def _list_device_names(one: Identity) -> tuple[str, ...]:
    found = (one.uuid, one.parent, one.device, f"{one.pool}/{one.device}", one.title, one.pci_bus_id)
    return tuple(text for text in found if text)
