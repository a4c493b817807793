"""What would make a deployment fit: one change at a time, each priced before it is said.

A change is as small as one that is admitted: one step less isn't. One that helps and isn't enough is told with what
still misses, never as a way out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from msgspec.structs import replace

from poolwright.admission.admit import Admission, Refusal, admit
from poolwright.admission.deployment import Deployment, DeviceMemory
from poolwright.admission.price import GIB, Constants

MAX_TENSOR_PARALLEL: Final = 8  # devices of one node
MAX_MEMORY_PERCENT: Final = 95
CONTEXT_STEP: Final = 16  # tokens
Field = Literal[
    "concurrency",
    "contextTokens",
    "kvCache",
    "tensorParallel",
    "maxSequences",
    "adapterSlots",
    "memoryPercent",
    "kvBudget",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mend:
    """A change, and what it comes to."""

    field: Field
    was: str
    now: str
    is_enough: bool  # it is admitted then
    left: Refusal | None = None  # what stands against it still
    max_concurrency: int | None = None  # requests that there is room for then


def find_mends(deployment: Deployment, device: DeviceMemory, constants: Constants) -> tuple[Mend, ...]:
    """Changes of one field each that are admitted, and those that help.

    Cost: about ten prices for each field.
    """
    before = admit(deployment, device, constants)
    if before.word in ("admitted", "unsupported"):
        return ()

    def ask(changed: Deployment) -> Admission:
        return admit(changed, device, constants)

    found = [one for one in _list_mends(deployment, before, ask) if one.is_enough or _helps(before, one)]
    return tuple(sorted(found, key=lambda one: not one.is_enough))


_Ask = Callable[[Deployment], Admission]


def _list_mends(deployment: Deployment, before: Admission, ask: _Ask) -> Iterator[Mend]:
    load = deployment.load
    if load.concurrency is not None:
        yield from _shrink(
            "concurrency", load.concurrency, 1, lambda n: replace(deployment, load=replace(load, concurrency=n)), ask
        )
    yield from _shrink(
        "contextTokens",
        load.context_tokens,
        CONTEXT_STEP,
        lambda n: replace(deployment, load=replace(load, context_tokens=n)),
        ask,
    )
    if deployment.cache != "fp8":
        yield _try("kvCache", deployment.cache, "fp8", replace(deployment, cache="fp8"), ask)
    yield from _widen(deployment, before, ask)
    yield from _shrink(
        "maxSequences",
        deployment.max_sequences,
        1,
        lambda n: replace(deployment, max_sequences=n),
        ask,
        least=load.concurrency or 1,
    )
    if before.refusals[0].dimension == "maxSequences" and load.concurrency is not None:
        least = -(-load.concurrency // deployment.data_parallel)
        yield _try(
            "maxSequences", str(deployment.max_sequences), str(least), replace(deployment, max_sequences=least), ask
        )
    adapters = deployment.adapters
    if adapters is not None:
        yield from _shrink(
            "adapterSlots",
            adapters.count,
            1,
            lambda n: replace(deployment, adapters=replace(adapters, count=n)),
            ask,
        )
    if load.kv_budget_bytes is not None and before.kv_needed_bytes is not None and before.price is not None:
        most = before.price.kv_budget_bytes
        yield from _move_budget(deployment, before.kv_needed_bytes, load.kv_budget_bytes, most, ask)
    yield from _raise_percent(deployment, ask)


def _divide(deployment: Deployment, ask: _Ask) -> Iterator[Mend]:
    """The nearest number of devices that divides the model's heads, of larger ones first."""
    was = deployment.tensor_parallel
    for tensor in (*range(was + 1, MAX_TENSOR_PARALLEL + 1), *range(was - 1, 0, -1)):
        trial = _try("tensorParallel", str(was), str(tensor), replace(deployment, tensor_parallel=tensor), ask)
        if trial.is_enough:
            yield trial
            return


def _widen(deployment: Deployment, before: Admission, ask: _Ask) -> Iterator[Mend]:
    """Twice as many devices for each layer, and so on."""
    if deployment.profile is not None:
        return  # it was measured on so many
    if before.refusals[0].dimension == "tensorParallel":
        yield from _divide(deployment, ask)
        return
    wide, last = 2 * deployment.tensor_parallel, None
    while wide <= MAX_TENSOR_PARALLEL and (last is None or not last.is_enough):
        last = _try(
            "tensorParallel", str(deployment.tensor_parallel), str(wide), replace(deployment, tensor_parallel=wide), ask
        )
        wide *= 2
    if last is not None:
        yield last


def _move_budget(deployment: Deployment, need: int, budget: int, most: int, ask: _Ask) -> Iterator[Mend]:
    """A budget in whole GiB that is enough for the load: the smallest, or where too much is asked, the largest.

    most: what the device has, whatever is declared.
    """
    least = -(-need // GIB)
    for gib in (least,) if budget < need else range(min(budget, most) // GIB, least - 1, -1):
        changed = replace(deployment, load=replace(deployment.load, kv_budget_bytes=gib * GIB))
        trial = _try("kvBudget", f"{budget / GIB:.2f}Gi", f"{gib}Gi", changed, ask)
        if trial.is_enough and gib * GIB != budget:
            yield trial
            return


def _raise_percent(deployment: Deployment, ask: _Ask) -> Iterator[Mend]:
    """The smallest share of the device that is admitted; a smaller one, if too little is left beside it."""
    if deployment.profile is not None:
        return
    was = deployment.memory_percent
    for percent in (*range(was + 1, MAX_MEMORY_PERCENT + 1), *range(was - 1, was - 21, -1)):
        if percent > 0:
            trial = _try("memoryPercent", str(was), str(percent), replace(deployment, memory_percent=percent), ask)
            if trial.is_enough:
                yield trial
                return


def _shrink(
    field: Field, was: int, step: int, change: Callable[[int], Deployment], ask: _Ask, *, least: int = 1
) -> Iterator[Mend]:
    """The largest smaller number, in steps, that is admitted. The price never falls as the number grows."""
    floor = -(-least // step)
    low, high = floor - 1, (was - 1) // step  # of steps: `low` is admitted or none is, what is above `high` isn't
    if high < floor:
        return
    while low < high:
        middle = (low + high + 1) // 2
        if ask(change(middle * step)).word == "admitted":
            low = middle
        else:
            high = middle - 1
    steps = max(low, floor)
    yield _try(field, str(was), str(steps * step), change(steps * step), ask)


def _try(field: Field, was: str, now: str, changed: Deployment, ask: _Ask) -> Mend:
    found = ask(changed)
    left = found.refusals[0] if found.refusals else None
    return Mend(
        field=field,
        was=was,
        now=now,
        is_enough=found.word == "admitted",
        left=left,
        max_concurrency=found.max_concurrency,
    )


def _helps(before: Admission, mend: Mend) -> bool:
    """Whether less is missing of the same thing."""
    first, left = before.refusals[0], mend.left
    if left is None or mend.field in ("concurrency", "contextTokens"):
        return False  # a load of nothing is no way
    if left.dimension == "maxSequences":
        return first.dimension != "maxSequences"  # the memory is enough then
    if (left.failure, left.dimension) != (first.failure, first.dimension):
        return False
    return _count_missing(left) < _count_missing(first)


def _count_missing(one: Refusal) -> int:
    return (one.needed_bytes or 0) - (one.available_bytes or 0)
