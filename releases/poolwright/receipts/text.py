"""Receipts for people: why this device, and what if it goes, in sentences that can be checked against the slices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from poolwright.plan.report.words import count_of, verb_of
from poolwright.receipts.document import Choice, DeviceRow, Filtered, Grounds, LossClass, Receipt, Receipts

_DIGITS: Final = 12  # of a slot's name that are shown
MAX_FREE: Final = 8  # devices that nobody has and that are named
_SHOWN: Final = 4  # devices in a line of the list


def list_summary_lines(receipts: Receipts) -> Iterator[str]:
    """One line for each receipt."""
    when = f", captured {receipts.captured_at}" if receipts.captured_at else ""
    free = len(receipts.unassigned)
    start = f"{receipts.cluster}: {count_of(len(receipts.receipts), f'{receipts.statement} receipt')}{when}"
    yield f"{start}; {count_of(free, 'device')} {verb_of(free, 'are')} nobody's"
    for row in receipts.receipts:
        names = [one.device if one.exact else f"({one.device})" for one in row.devices]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        where = f"{row.node or '-'}: {', '.join(names[:_SHOWN])}{more}" if names else "no devices"
        yield f"  {_say_id(row)}  {_say_title(row)}  {where}"
    if receipts.unassigned:
        more = f" and {free - MAX_FREE} more" if free > MAX_FREE else ""
        yield f"  nobody's: {', '.join(one.title for one in receipts.unassigned[:MAX_FREE])}{more}"


def list_answer_lines(receipts: Receipts, rows: Sequence[Receipt]) -> Iterator[str]:
    """Everything that is known of some receipts of a document."""
    grounds = {one.id: one for one in receipts.grounds}
    losses = {one.id: one for one in receipts.loss_classes}
    for row in rows:
        yield from _list_receipt(receipts, row, grounds, losses)


def _list_receipt(
    receipts: Receipts, row: Receipt, grounds: dict[str, Grounds], losses: dict[str, LossClass]
) -> Iterator[str]:
    yield f"{receipts.cluster}, {receipts.statement}: {_say_title(row)}"
    yield f"  {row.id}"
    if row.users:
        users = [f"{one.name or 'a pod that was not captured'} (uid {one.uid})" for one in row.users]
        yield f"  used by: {', '.join(users)}"
    model = f", model {row.model.name} ({row.model.digest})" if row.model is not None else ""
    if row.unit is not None or row.envelope is not None:
        yield f"  unit {row.unit or '-'}, envelope {row.envelope or '-'}{model}, release {row.release or 'not known'}"
    if receipts.statement == "observed":
        yield f"  prepared: {row.prepared_at or 'not observed'}, unprepared: {row.unprepared_at or 'not observed'}"
    for one in row.devices:
        yield from _list_device(one)
    yield from _list_why(receipts, row, grounds)
    yield from _list_losses(row, losses)
    for note in row.notes:
        yield f"  note: {note}"


def _list_device(one: DeviceRow) -> Iterator[str]:
    known = [
        ("uuid", one.uuid),
        ("PCI address", one.pci_bus_id),
        ("NUMA node", one.numa_node),
        ("profile", one.profile),
        ("of", one.parent),
        ("share", one.share_id),
    ]
    said = [f"{word} {value}" for word, value in known if value is not None]
    said += [] if one.uuid is not None else ["uuid not published" if one.exact else "planned: its name is made up"]
    where = "" if one.generation is None else f", slice {one.slice}, generation {one.generation}"
    like = "" if one.interchangeable is None else f", {one.interchangeable} on the node would do as well"
    yield f"  device {one.title} for {one.request} ({one.mode}): {', '.join(said)}{where}{like}"


def _list_why(receipts: Receipts, row: Receipt, grounds: dict[str, Grounds]) -> Iterator[str]:
    if row.why is None:
        return
    yield f"  why this node: {row.why.node}" + (f" (zone {row.zone})" if row.zone else "")
    alike: dict[str, list[str]] = {}
    for one in row.devices:
        if one.grounds is not None:
            alike.setdefault(one.grounds, []).append(one.device)
    for one in row.devices:
        names = [] if one.grounds is None else alike.pop(one.grounds, [])
        if one.grounds is not None and names:
            which = "this device" if len(names) == 1 else "these devices"
            yield f"  why {which}: {', '.join(names)} {'meets' if len(names) == 1 else 'meet'}"
            for clause in grounds[one.grounds].clauses:
                yield f"    {clause.owner}: {clause.clause}   [{', '.join(clause.values) or 'reads nothing of it'}]"
        for taint in one.taints:
            by = f"tolerated by {taint.toleration}" if taint.toleration is not None else "tolerated by nothing"
            kept = "" if taint.is_recorded is None else f", {'' if taint.is_recorded else 'not '}in the allocation"
            yield f"  taint on {one.device}: {taint.taint}, {by}{kept}"
    for request in row.requests:
        if request.candidates is not None:
            yield f"  candidates for {request.request} (class {request.class_name}): {_say_choice(request.candidates)}"
        yield f"  price on class {request.class_name or 'not known'}: {request.price}"
    for tie in row.topology:
        met = {True: "met", False: "broken", None: "not known"}[tie.is_met]
        yield f"  {tie.kind} {tie.attribute}: {', '.join(one or 'none' for one in tie.values)}: {met}"
    yield f"  tie rule: {receipts.tie}"
    for name in row.pins:
        pin = next(one for one in receipts.pins if one.component == name)
        yield f"  pin: {pin.component} {pin.version}, digest {pin.digest or 'not known'}"


def _say_choice(one: Choice) -> str:
    cluster = f"on {count_of(one.nodes, 'open node')} {_say_filtered(one.in_cluster)}"
    return f"on the node {_say_filtered(one.on_node)}; {cluster}"


def _say_filtered(one: Filtered) -> str:
    """`16 devices, 8 selected, 8 of them free, 8 with counters, 8 tolerated`."""
    return (
        f"{count_of(one.devices, 'device')}, {one.selected} selected, {one.free} of them free, {one.counted} with "
        f"counters left, {one.left} with no taint in the way"
    )


def _list_losses(row: Receipt, losses: dict[str, LossClass]) -> Iterator[str]:
    if row.if_lost is None:
        return
    for name in row.if_lost.devices:
        own = [one.device for one in row.devices if _is_member(one, losses[name])]
        yield f"  if lost, {', '.join(own) or 'a device'}: {losses[name].sentence}"
    for thing, place in ((row.if_lost.node, row.node), (row.if_lost.zone, row.zone)):
        if thing is not None:
            yield f"  if lost, {losses[thing].thing} {place}: {losses[thing].sentence}"


def _is_member(one: DeviceRow, loss: LossClass) -> bool:
    """A partition goes with the card it is called after; counter sets have names of their own."""
    return any(one.title == name or one.title.startswith(f"{name}-") for name in loss.members)


def _say_id(row: Receipt) -> str:
    return row.id.rpartition(":")[2][:_DIGITS] if row.slot is not None else row.id


def _say_title(row: Receipt) -> str:
    if row.slot is not None:
        pod = f".{row.pod}" if row.pod else ""
        return f"{row.namespace}/{row.workload}#{row.ordinal}{pod} {row.pod_claim or '(extended resources)'}"
    whose = f", of {row.workload}" if row.workload is not None else ""
    return f"claim {row.namespace}/{row.claim}{whose}"
