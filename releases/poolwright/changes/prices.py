"""What placements cost, before and after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.admission.admit import Word
from poolwright.admission.report.words import WORDS, say_gib, say_mends
from poolwright.changes.report import PriceChange
from poolwright.changes.side import ClusterPair, ClusterSide
from poolwright.changes.verdicts import RULE
from poolwright.plan.pricing.priced import PricedClass
from poolwright.specs.finding import Finding

_Key = tuple[str, str]  # unit and class
_RANKS: Final[dict[Word, int]] = {"refused": 0, "unsupported": 1, "tooClose": 2, "admitted": 3}


def list_price_changes(pair: ClusterPair) -> Iterator[PriceChange]:
    """Placements by class, of those that are priced on both sides, whose price or answer differs."""
    before, after = _index(pair.before), _index(pair.after)
    for key in sorted(before.keys() & after.keys()):
        old, new = before[key], after[key]
        if _say(old) != _say(new):
            yield PriceChange(
                cluster=pair.name,
                unit=key[0],
                class_name=key[1],
                before=_say(old),
                after=_say(new),
                is_worse=_is_admitted(old) and not _is_admitted(new),
            )


def check_prices(pair: ClusterPair) -> Iterator[Finding]:
    """An error for each placement that is refused and wasn't, a warning for one of which less is known than was."""
    before = _index(pair.before)
    for key, new in _index(pair.after).items():
        old = before.get(key)
        rank = _RANKS[new.admission.word]
        if _is_admitted(new) or (old is not None and rank >= _RANKS[old.admission.word]):
            continue
        was = "" if old is None else f", and was {WORDS[old.admission.word]}"
        yield Finding(
            code="price-worse",
            severity="error" if new.admission.word == "refused" else "warning",
            place=new.place,
            what=f"{pair.name}: {new.unit} is {WORDS[new.admission.word]} on {new.class_name}{was}: {new.reason}",
            why="a replica that its device has no memory for doesn't start, or fails under the load it promises",
            rule=RULE,
            fix=say_mends(new.mends) if new.mends else "see `poolwright price` for each line of the price",
        )


def _index(side: ClusterSide | None) -> dict[_Key, PricedClass]:
    return {} if side is None else {(one.unit, one.class_name): one for one in side.prices}


def _is_admitted(one: PricedClass) -> bool:
    return one.admission.word == "admitted"


def _say(one: PricedClass) -> str:
    """`admitted: KV cache 12.50 GiB of 37.28 GiB`."""
    price, need = one.admission.price, one.admission.kv_needed_bytes
    word = WORDS[one.admission.word]
    if price is None or need is None:
        return word
    return f"{word}: KV cache {say_gib(need)} of {say_gib(price.kv_budget_bytes)} on {one.device.name}"
