"""The options of `poolwright price`, from texts to what they choose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeVar, get_args

from poolwright.admission.adapters import Slots
from poolwright.admission.architecture import WeightFormat
from poolwright.admission.choices import Choices
from poolwright.admission.deployment import PricedEngine
from poolwright.admission.formats import CacheFormat
from poolwright.specs.version import parse_version

MAX_ADAPTERS: Final = 1024  # slots, and rank
_ENGINES: Final[dict[str, PricedEngine]] = {name: name for name in get_args(PricedEngine)}
_WEIGHTS: Final[dict[str, WeightFormat]] = {name: name for name in get_args(WeightFormat)}
_CACHES: Final[dict[str, CacheFormat]] = {name: name for name in get_args(CacheFormat)}
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceOptions:
    """What was asked for, as it was typed; None: nothing."""

    subject: str
    project: str
    device: str  # a name, or `all`
    form: Literal["text", "json"]
    explain: bool
    engine: str | None
    weights: str | None
    kv: str | None
    tp: int | None
    pp: int | None
    context: int | None
    concurrency: int | None
    batched_tokens: int | None
    max_sequences: int | None
    memory_fraction: str | None
    adapters: str | None


class OptionError(Exception):
    """An option that says nothing that can be priced, in one sentence."""


def parse_choices(options: PriceOptions) -> Choices:
    """What the options choose. Raises: OptionError."""
    engine, version = parse_engine(options.engine)
    return Choices(
        engine=engine,
        version=version,
        weights=_find(_WEIGHTS, options.weights, "--weights"),
        cache=_find(_CACHES, options.kv, "--kv"),
        tensor_parallel=options.tp,
        pipeline_parallel=options.pp,
        context_tokens=options.context,
        concurrency=options.concurrency,
        batch_tokens=options.batched_tokens,
        max_sequences=options.max_sequences,
        memory_percent=parse_percent(options.memory_fraction),
        adapters=parse_adapters(options.adapters),
    )


def parse_engine(text: str | None) -> tuple[PricedEngine | None, str | None]:
    """An engine and its version, each None where it isn't said: `vllm`, `vllm@0.19`.

    Raises: OptionError.
    """
    if text is None:
        return None, None
    name, separator, version = text.partition("@")
    if name not in _ENGINES:
        raise OptionError(f"--engine {text}: there is no price for such an engine; known: {', '.join(_ENGINES)}")
    if not separator:
        return _ENGINES[name], None
    return _ENGINES[name], check_version(version, f"--engine {text}")


def check_version(text: str, what: str) -> str:
    """A version that compares with others, as it is. Raises: OptionError."""
    try:
        parse_version(text)
    except ValueError:
        raise OptionError(f"{what}: {text or 'nothing'} is no version, such as 0.19") from None
    return text


def parse_percent(text: str | None) -> int | None:
    """The engine's share of memory in percent, from `92` or `0.92`. Raises: OptionError."""
    if text is None:
        return None
    if re.fullmatch(r"[1-9][0-9]?|100", text):
        return int(text)
    if re.fullmatch(r"0?\.[0-9]{1,4}|1\.0{1,4}", text):
        percent = Fraction(text) * 100
        if percent.denominator == 1 and percent > 0:
            return int(percent)
    raise OptionError(f"--memory-fraction {text}: write whole percent, 1 to 100, or the same as a fraction, 0.92")


def parse_adapters(text: str | None) -> Slots | None:
    """Adapters that are resident at once and the largest rank, from `4x16`. Raises: OptionError."""
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", text)
    count, rank = (int(found[1]), int(found[2])) if found else (0, 0)
    if not (1 <= count <= MAX_ADAPTERS and 1 <= rank <= MAX_ADAPTERS):
        raise OptionError(
            f"--adapters {text}: write COUNTxRANK, each 1 to {MAX_ADAPTERS}: 4x16 is four slots of rank 16"
        )
    return Slots(count=count, rank=rank)


def _find(known: Mapping[str, T], text: str | None, option: str) -> T | None:
    if text is None:
        return None
    if text not in known:
        raise OptionError(f"{option} {text}: there is no such format; known: {', '.join(known)}")
    return known[text]
