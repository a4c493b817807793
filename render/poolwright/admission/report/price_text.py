"""Prices for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from poolwright.admission.deployment import Deployment
from poolwright.admission.price import GIB
from poolwright.admission.priced import Priced
from poolwright.admission.report.words import (
    WORDS,
    say_band,
    say_extrapolated,
    say_gib,
    say_mends,
    say_partitions,
    say_refusal,
    say_room,
    say_thresholds,
)


def render_price_text(subject: str, priced: Priced, notes: Sequence[str], *, explain: bool) -> Iterator[str]:
    """The answer for one device, by line: the word first.

    notes:   what was taken for granted.
    explain: with the sum line by line.
    """
    yield f"{WORDS[priced.admission.word]}: {subject} on {_say_number(priced)}{priced.device.name}"
    yield from (f"  {line}" for line in _list_reasons(priced))
    if say_partitions(priced) and priced.admission.word == "admitted":
        yield f"  {say_partitions(priced)}"
    if priced.deployment is not None:
        yield f"  as {_say_deployment(priced.deployment)}"
    if priced.admission.price is not None and say_extrapolated(priced):
        yield f"  {say_extrapolated(priced)}"
    yield from (f"  note: {note}" for note in notes)
    if explain and priced.admission.price is not None:
        yield ""
        yield from (f"  {line}" for line in _list_sum(priced))


def render_prices_text(subject: str, prices: Sequence[Priced], notes: Sequence[str]) -> Iterator[str]:
    """The answers for several devices, one a line."""
    each = {_say_number(one) for one in prices if one.deployment is not None}
    yield f"{subject} on {each.pop()}DEVICE" if each and each != {""} else subject
    names, words = [one.device.name for one in prices], [WORDS[one.admission.word] for one in prices]
    wide = max(map(len, names), default=0), max(map(len, words), default=0)
    for name, word, one in zip(names, words, prices, strict=True):
        first = next(_list_reasons(one, mends=False), "")
        if one.tolerated:
            first += f"; partitions that admit it: {', '.join(one.tolerated)}"
        yield f"  {name:{wide[0]}}  {word:{wide[1]}}  {first}".rstrip()
    for line in dict.fromkeys(say_extrapolated(one) for one in prices if one.admission.price is not None):
        if line:
            yield line
    yield from (f"note: {note}" for note in notes)


def _say_number(priced: Priced) -> str:
    """`4 x `: how many of the device a replica takes."""
    one = priced.deployment
    count = 1 if one is None else one.tensor_parallel * one.pipeline_parallel * one.data_parallel
    return f"{count} x " if count > 1 else ""


def _list_reasons(priced: Priced, *, mends: bool = True) -> Iterator[str]:
    """Why; of what is admitted, how much room there is."""
    admission, deployment = priced.admission, priced.deployment
    if admission.reason or deployment is None:
        yield admission.reason
        return
    if not admission.refusals:
        yield say_room(priced)
        if say_thresholds(priced):
            yield say_thresholds(priced)
        return
    for number, one in enumerate(admission.refusals):
        said = say_refusal(one, deployment, priced.device.memory)
        changes = say_mends(priced.mends) if mends and not number else ""
        yield f"{said}: {changes}" if changes else said
        if say_band(priced.admission.price, one):
            yield say_band(priced.admission.price, one)
    if mends and not priced.mends:
        yield "no change of one field makes it fit"


def _say_deployment(one: Deployment) -> str:
    weights = one.architecture.dtype if one.quantization is None else one.quantization.format
    parts = [f"{one.engine} {one.version}", f"{weights} weights", f"{one.cache} KV cache"]
    sizes = (("tensor", one.tensor_parallel), ("pipeline", one.pipeline_parallel), ("data", one.data_parallel))
    parts += [f"{name}Parallel {size}" for name, size in sizes if size > 1]
    parts.append(f"contextTokens {one.load.context_tokens}")
    if one.load.concurrency is not None:
        parts.append(f"concurrency {one.load.concurrency}")
    parts.append(f"batch {one.max_sequences} sequences, {one.batch_tokens} tokens")
    parts.append(f"{one.memory_percent} % of memory")
    if one.adapters is not None:
        parts.append(f"{one.adapters.count} adapter slots of rank {one.adapters.rank}")
    return ", ".join(parts)


def _list_sum(priced: Priced) -> Iterator[str]:
    """The sum, each line with its source."""
    price, deployment = priced.admission.price, priced.deployment
    if price is None or deployment is None:
        return
    rows = [(price.device.total_bytes, "device memory", priced.device.source)]
    if price.shared_bytes != price.device.total_bytes:
        rows.append((price.shared_bytes, "that the share is of", "what is free once the CUDA context is made"))
    share = f"{deployment.memory_percent} %"
    rows.append((price.requested_bytes, "the engine's share", share))
    rows += [(-one.bytes, one.name, one.source) for one in price.lines]
    measured = deployment.profile.source if deployment.profile is not None else "what is left of the share"
    rows.append((price.kv_budget_bytes, "KV budget", f"{measured}; may be {say_gib(price.band_bytes)} off"))
    tokens = deployment.load.context_tokens
    blocks = price.cache.count_blocks(tokens)
    pages = (
        f"{tokens} tokens, {blocks} blocks of {price.cache.block_bytes} bytes, {price.cache.block_tokens} tokens each"
    )
    rows.append((blocks * price.cache.block_bytes, "one request", pages))
    if priced.admission.kv_needed_bytes is not None:
        rows.append((priced.admission.kv_needed_bytes, "the load", f"{deployment.load.concurrency} requests at once"))
    rows.append((price.outside_bytes, "outside the share", "what is left of the device"))
    outside = f"{price.constants}; may be {say_gib(price.outside_band_bytes)} off"
    rows.append((price.outside_needed_bytes, "needed outside", outside))
    if deployment.pipeline_parallel > 1:
        yield f"of stage {price.stage + 1} of {deployment.pipeline_parallel}, which has the least room:"
    yield from (f"{amount / GIB:9.2f} GiB  {name:20}  {source}" for amount, name, source in rows)
