"""Devices that pods need at least, one by one, against those there are: where even that can't be met."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from poolwright.allocation.held import DeviceId
from poolwright.plan.methods.flow import UNBOUNDED, Flow
from poolwright.plan.methods.kinds import Field
from poolwright.plan.methods.market import SINK, SOURCE
from poolwright.plan.methods.single import EXAMPLES
from poolwright.plan.verdict import Contest

Takers = tuple[tuple[int, int], ...]  # of a device: kinds and which of their asks


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCount:
    """What pods need at least beyond what there is."""

    missing: int  # devices
    contest: Contest | None = None  # who needs them, with all devices that these take; None: none is missing


def count_devices(field: Field) -> DeviceCount:
    """Give devices to pods one by one, without what ties them; partitions, shares and shared claims need none."""
    takers = list_takers(field, -1)
    classes = sorted(Counter(takers.values()).items())
    asks = sorted({one for known, _ in classes for one in known})
    number = {one: 2 + index for index, one in enumerate(asks)}
    flow, wanted = Flow(2 + len(asks) + len(classes)), {one: _count_least(field, one) for one in asks}
    for one in asks:
        flow.add_edge(SOURCE, number[one], wanted[one])
    for index, (known, devices) in enumerate(classes):
        flow.add_edge(2 + len(asks) + index, SINK, devices)
        for one in known:
            flow.add_edge(number[one], 2 + len(asks) + index, UNBOUNDED)
    missing = sum(wanted.values()) - flow.augment(SOURCE, SINK)
    if not missing:
        return DeviceCount(missing=0)
    reached = flow.reach([SOURCE], without=SINK)
    short = [one for one in asks if wanted[one] and number[one] in reached]
    among = {known for index, (known, _) in enumerate(classes) if 2 + len(asks) + index in reached}
    own = sorted(device for device, known in takers.items() if known in among)
    return DeviceCount(missing=missing, contest=_build_contest(field, short, own, sum(wanted[one] for one in short)))


def list_takers(field: Field, without: int) -> dict[DeviceId, Takers]:
    """Who takes each device, but for one kind; -1: everybody."""
    takers: dict[DeviceId, list[tuple[int, int]]] = {}
    for at, kind in enumerate(field.kinds):
        if at != without:
            for number, ask in enumerate(kind.shape.asks):
                for device in ask.accepted:
                    takers.setdefault(device, []).append((at, number))
    return {device: tuple(found) for device, found in takers.items()}


def _count_least(field: Field, ask: tuple[int, int]) -> int:
    kind = field.kinds[ask[0]]
    is_free = kind.shares or not kind.shape.is_exclusive
    return 0 if is_free else kind.count * kind.shape.asks[ask[1]].least


def _build_contest(field: Field, asks: list[tuple[int, int]], devices: list[DeviceId], demanded: int) -> Contest:
    pods: dict[int, int] = {}
    for at in dict.fromkeys(at for at, _ in asks):
        kind = field.kinds[at]
        pods[kind.workload] = pods.get(kind.workload, 0) + kind.count
    return Contest(
        pods=tuple((field.context.titles[workload], count) for workload, count in sorted(pods.items())),
        demanded=demanded,
        devices=len(devices),
        examples=tuple(devices[:EXAMPLES]),
    )
