"""Whether two demands come to the same: other words for the same devices, asked for in the same way.

An allocator learns of a selector only which devices it lets through. So a class that is renamed or reworded, a claim
that asks for other memory and is met by the same devices, or a minimum below the peak changes no verdict: neither the
word nor the counts, only the reasons that quote what is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Final

from poolwright.allocation.claim import Claim, ClaimRequest, Request
from poolwright.allocation.selectors import SelectorCache
from poolwright.allocation.subject import Subject, claim_key
from poolwright.catalog.resource_slice import Device
from poolwright.plan.demand import Demand, Workload

# Where a workload is written, and what it may fall to, decide on no verdict of its peak.
_FIELDS: Final = tuple(one.name for one in fields(Workload) if one.name not in ("origin", "minimum", "pods", "shared"))
_OTHERS: Final = ("nodes", "slices", "features", "held", "scenario", "bystanders", "unread", "overlapping")


def is_equivalent(one: Demand, other: Demand) -> bool:
    """Whether every verdict of the two is the same, but for reasons and places.

    A no says nothing: they may come to the same all the same.
    Cost: a comparison of slices; then each different request is asked about every device of both.
    """
    if one is other:
        return True
    if any(getattr(one, name) != getattr(other, name) for name in _OTHERS):
        return False
    if len(one.workloads) != len(other.workloads):
        return False
    first, second = _Reader(one), _Reader(other)
    return all(
        _is_alike(old, new) and first.read(old) == second.read(new)
        for old, new in zip(one.workloads, other.workloads, strict=True)
    )


def _is_alike(one: Workload, other: Workload) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in _FIELDS)


class _Reader:
    """What pods of a demand ask for, in terms of devices."""

    def __init__(self, demand: Demand) -> None:
        self._demand = demand
        # All that are published, by their number: the slices of both demands are the same.
        self._devices: list[Device] = [device for part in demand.slices for device in part.devices]
        self._selectors = SelectorCache(demand.features)
        self._selected: dict[tuple[str | None, ...], object] = {}

    def read(self, workload: Workload) -> Sequence[object]:
        """Equal for workloads whose pods an allocator can't tell apart."""
        return [self._read_pod(workload, pod) for pod in workload.pods]

    def _read_pod(self, workload: Workload, pod: Subject) -> object:
        """Everything of a pod, its claims in terms of devices.

        New claims are told apart by their order alone, those that are there by their names: others may use them too.
        """
        claims = [
            (self._read_claim(claim), claim_key(claim) if claim_key(claim) in workload.shared else None)
            for claim in pod.claims
        ]
        return replace(pod, claims=(), claim_names=()), claims

    def _read_claim(self, claim: Claim) -> object:
        if claim.allocation is not None:
            return claim
        bare = replace(claim, name="", requests=(), config=())
        return bare, [part for request in claim.requests for part in self._read_entry(request)]

    def _read_entry(self, entry: ClaimRequest) -> Iterator[object]:
        yield entry.name
        for request in (entry.exactly, *entry.first_available):
            yield None if request is None else self._read_request(request)

    def _read_request(self, request: Request) -> object:
        device_class = self._demand.classes.get(request.class_name)
        if device_class is None:
            return request
        bare = replace(request, class_name="", selectors=())
        selected = self._select((*device_class.selectors, *request.selectors))
        return bare, device_class.config, selected

    def _select(self, texts: tuple[str | None, ...]) -> object:
        """The devices that all of these selectors let through; the texts themselves if one has no answer."""
        if texts not in self._selected:
            self._selected[texts] = self._ask(texts)
        return self._selected[texts]

    def _ask(self, texts: tuple[str | None, ...]) -> object:
        found = set()
        for number, device in enumerate(self._devices):
            for text in texts:
                answer = None if text is None else self._selectors.matches(text, device)
                if answer is False:
                    break
                if answer is not True:  # an error ends an attempt, and when depends on the text
                    return texts
            else:
                found.add(number)
        return frozenset(found)
