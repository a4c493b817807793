"""How an admission is said, in a model owner's words, in every report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from poolwright.admission.admit import Refusal, Word
from poolwright.admission.deployment import Deployment, DeviceMemory
from poolwright.admission.mends import Field, Mend
from poolwright.admission.price import GIB, Price
from poolwright.admission.priced import Priced

WORDS: Final[dict[Word, str]] = {
    "admitted": "admitted",
    "refused": "refused",
    "tooClose": "too close to call",
    "unsupported": "unsupported: needs a measured profile",
}
_FIELDS: Final[dict[Field, str]] = {
    "concurrency": "concurrency",
    "contextTokens": "contextTokens",
    "kvCache": "KV cache",
    "tensorParallel": "tensorParallel",
    "maxSequences": "maxSequences",
    "adapterSlots": "adapter slots",
    "memoryPercent": "deviceMemoryPercent",
    "kvBudget": "kvBudget",
}


def say_gib(amount: int, *, digits: int = 2) -> str:
    """`37.28 GiB`, `80.0 GiB`."""
    text = f"{amount / GIB:.{digits}f}"
    return f"{text[:-1] if digits == 2 and text.endswith('0') else text} GiB"


def say_apart(needed: int, available: int) -> tuple[str, str]:
    """Two amounts with as many digits as tell them apart."""
    for digits in (2, 4, 6):
        texts = say_gib(needed, digits=digits), say_gib(available, digits=digits)
        if texts[0] != texts[1] or needed == available:
            return texts
    return f"{needed} bytes", f"{available} bytes"


def say_unit(device: DeviceMemory) -> str:
    """What one rank runs on."""
    return "partition" if device.is_partition else "GPU"


def say_refusal(one: Refusal, deployment: Deployment, device: DeviceMemory) -> str:
    """What stands against it, with figures, and without what would mend it."""
    if one.needed_bytes is None or one.available_bytes is None:
        return one.what
    needed, available = say_apart(one.needed_bytes, one.available_bytes)
    load, unit = deployment.load, say_unit(device)
    requests = f"{load.concurrency} concurrent requests of {load.context_tokens} tokens"
    match one.failure, one.dimension:
        case "willNotStart", "contextTokens":
            subject = f"one request of {load.context_tokens} tokens needs"
            return f"{subject} {needed} of KV cache per {unit}, the budget is {available}: it won't start"
        case "willNotStart", _:
            what = "weights with the adapters' slots" if one.dimension == "adapters" else "weights"
            subject = f"{what}, what the engine itself takes and one request of {load.context_tokens} tokens need"
            return f"{subject} {needed} per {unit}, the engine's share is {available}: it won't start"
        case "cannotCarryLoad", "kvBudget" if load.kv_budget_bytes == one.available_bytes:
            return f"{requests} need {needed} of KV cache per {unit}, kvBudget is {available}"
        case "cannotCarryLoad", "kvBudget":
            return f"kvBudget is {needed}, the budget is {available} per {unit}"
        case "cannotCarryLoad", "adapters":
            return (
                f"{requests} need {needed} of KV cache per {unit}, beside the adapters' slots the budget is {available}"
            )
        case "cannotCarryLoad", _:
            return f"{requests} need {needed} of KV cache per {unit}, the budget is {available}"
        case _:
            need = f"{needed} per {unit} must stay free of the engine's share, for what it doesn't count"
            return f"{need}, {available} is: it may start and die later"


def say_mends(mends: Sequence[Mend]) -> str:
    """What makes it fit, then what helps and isn't enough, with what still misses; empty: neither."""
    enough = ", or ".join(_join_verbs(one for one in mends if one.is_enough))
    helping = ", ".join(_say_helping(one) for one in mends if not one.is_enough)
    return "; ".join(part for part in (enough, f"not enough alone: {helping}" if helping else "") if part)


def say_band(price: Price | None, one: Refusal) -> str:
    """How far off the figures may be; empty: they were measured, or none are given."""
    if price is None or one.needed_bytes is None:
        return ""
    band = price.outside_band_bytes if one.failure == "diesLater" else price.band_bytes
    if not band:
        return ""
    if one.is_close:
        return f"figures may be {say_gib(band)} off: measure"
    return f"within {say_gib(band)} it is too close to call: measure"


def say_extrapolated(priced: Priced) -> str:
    """Whose amounts were taken; empty: they were fitted on logs of the version."""
    deployment = priced.deployment
    if deployment is None or not priced.constants.is_extrapolated:
        return ""
    own = f"{deployment.engine} {deployment.version}"
    return f"extrapolated: amounts of the set {priced.constants.name}, no log of {own} confirms them; the band is wider"


def say_room(priced: Priced) -> str:
    """What the KV cache holds; empty: it has no price."""
    deployment, admission = priced.deployment, priced.admission
    if deployment is None or admission.price is None or admission.max_concurrency is None:
        return ""
    tokens, price = deployment.load.context_tokens, admission.price
    unit, copies = say_unit(price.device), deployment.data_parallel
    each = f", on each of {copies} copies" if copies > 1 else ""
    one = say_gib(price.cache.count_bytes(tokens))
    budget = say_gib(max(0, price.kv_budget_bytes))
    room = f"{budget} of KV cache per {unit} holds {admission.max_concurrency}"
    need = admission.kv_needed_bytes
    load = "" if need is None else f"; the load needs {say_gib(need)}"
    return f"{room} requests of {tokens} tokens, {one} each{each}{load}"


def say_thresholds(priced: Priced) -> str:
    """`admitted up to concurrency 38, or contextTokens 19504`; empty: it isn't admitted."""
    found = priced.thresholds
    if found is None:
        return ""
    most = f"contextTokens {found.context_tokens}"
    return f"admitted up to {most if found.concurrency is None else f'concurrency {found.concurrency}, or {most}'}"


def say_partitions(priced: Priced) -> str:
    """Which partitions of the device would do; empty: it has none, or they weren't asked."""
    if not priced.partitions:
        return ""
    parts = [f"partitions that admit it: {', '.join(priced.tolerated)}"] if priced.tolerated else []
    parts += [f"too close to call, or unknown: {', '.join(priced.undecided)}"] if priced.undecided else []
    return "; ".join(parts) or "needs a whole device: no partition admits it"


def _join_verbs(mends: Iterable[Mend]) -> Iterator[str]:
    """`lower concurrency to 14`, `contextTokens to 7632`: a verb stands once, as long as it goes on."""
    last = ""
    for one in sorted(mends, key=lambda one: _VERBS.index(_verb(one))):
        verb = _verb(one)
        if verb == "take":
            yield f"take an {one.now} KV cache"
        else:
            yield f"{'' if verb == last else f'{verb} '}{_FIELDS[one.field]} to {one.now}"
        last = verb


_VERBS: Final = ("lower", "raise", "set", "take")


def _verb(one: Mend) -> str:
    match one.field:
        case "kvCache":
            return "take"
        case "kvBudget":
            return "set"
        case _:
            return "lower" if int(one.now) < int(one.was) else "raise"


def _say_helping(one: Mend) -> str:
    name = f"{one.now} KV cache" if one.field == "kvCache" else f"{_FIELDS[one.field]} {one.now}"
    left = one.left
    parts = []
    if left is not None and left.needed_bytes is not None and left.available_bytes is not None:
        missing = left.needed_bytes - left.available_bytes
        parts.append(say_gib(left.needed_bytes))
        parts.append("too close to call" if left.is_close else f"still {say_gib(missing)} too much")
    elif left is not None:
        parts.append(left.what)
    if one.max_concurrency is not None:
        parts.append(f"{one.max_concurrency} concurrent")
    return f"{name} ({', '.join(parts)})" if parts else name
