"""Which item of a list before is which one after: by key, by flag, or by what it holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from poolwright.changes.objects.exact import exact_json
from poolwright.changes.objects.item_keys import DEFAULT_KEYS, ITEM_KEYS, UNORDERED, ItemKey
from poolwright.changes.objects.item_step import Step, index_step, item_step, label_of, name_step
from poolwright.changes.objects.secrets import WORD_LISTS, Concealed, reveal

MISSING: Final = object()  # stands where an item isn't on a side


class Match(NamedTuple):
    """An item of both sides, or of one with MISSING on the other."""

    step: Step
    before: Any
    after: Any
    is_guess: bool = False  # two items without a key, and not in one position: nobody looks into them


@dataclass(frozen=True, slots=True)
class Matched:
    """Every item of both lists once; and, where the order of those on both sides differs and counts, both orders."""

    matches: tuple[Match, ...]
    orders: tuple[list[str | int], list[str | int]] | None


class _Entry(NamedTuple):
    """An item with its key; an empty one has none, and is told by what it holds."""

    label: str
    position: int  # in the list as it is written
    value: Any


def match_items(name: str, before: Sequence[Any], after: Sequence[Any], *, every_order: bool) -> Matched:
    """The items of two lists that stand under the key `name`, values concealed.

    Items with one key are matched if they are equal, then in order; so are items without one, which are called by
    their position.
    Cost: linear in the items' JSON.
    """
    if name in WORD_LISTS and all(_is_word(word) for word in (*before, *after)):
        old, new = _list_words(before), _list_words(after)
    else:
        old, new = _list_keyed(name, before, after)
    pairs = sorted(_pair_entries(old, new))
    is_ordered = every_order or name not in UNORDERED
    return Matched(tuple(_build(pairs, old, new)), _find_orders(pairs, old) if is_ordered else None)


def _pair_entries(old: Sequence[_Entry], new: Sequence[_Entry]) -> Iterator[tuple[int, int, Step]]:
    """Positions among the entries, -1 for none, with the step that both have."""
    groups: dict[str, tuple[list[int], list[int]]] = {}
    for side, entries in enumerate((old, new)):
        for at, entry in enumerate(entries):
            groups.setdefault(entry.label, ([], []))[side].append(at)
    for label, (here, there) in groups.items():
        pairs = list(_pair_group(old, new, here, there))
        is_old_longer = len(here) >= len(there)
        for number, (one, two) in enumerate(pairs, start=1):
            if label:
                yield one, two, item_step(label, number)
            elif two < 0 or (one >= 0 and is_old_longer):
                yield one, two, index_step(old[one].position)
            else:
                yield one, two, index_step(new[two].position)


def _pair_group(
    old: Sequence[_Entry], new: Sequence[_Entry], here: Sequence[int], there: Sequence[int]
) -> Iterator[tuple[int, int]]:
    if len(here) == len(there) == 1:  # as nearly always
        yield here[0], there[0]
        return
    equal: dict[str, list[int]] = {}
    for at in reversed(there):
        equal.setdefault(exact_json(new[at].value), []).append(at)
    rest: list[int] = []
    taken: set[int] = set()
    for at in here:
        same = equal.get(exact_json(old[at].value))
        if same:
            taken.add(same[-1])
            yield at, same.pop()
        else:
            rest.append(at)
    others = [at for at in there if at not in taken]
    for place in range(max(len(rest), len(others))):
        yield rest[place] if place < len(rest) else -1, others[place] if place < len(others) else -1


def _build(pairs: Iterable[tuple[int, int, Step]], old: Sequence[_Entry], new: Sequence[_Entry]) -> Iterator[Match]:
    for one, two, step in pairs:
        before = old[one].value if one >= 0 else MISSING
        after = new[two].value if two >= 0 else MISSING
        if isinstance(before, _Flag) or isinstance(after, _Flag):
            before, after = _say_flags(before, after)
        is_guess = not step.text and one >= 0 and two >= 0 and old[one].position != new[two].position
        yield Match(step, before, after, is_guess)


def _find_orders(
    pairs: Iterable[tuple[int, int, Step]], old: Sequence[_Entry]
) -> tuple[list[str | int], list[str | int]] | None:
    both = [pair for pair in pairs if pair[0] >= 0 and pair[1] >= 0]
    moved = sorted(both, key=lambda pair: pair[1])
    if moved == both:
        return None
    return [_name_item(pair, old) for pair in both], [_name_item(pair, old) for pair in moved]


def _name_item(pair: tuple[int, int, Step], old: Sequence[_Entry]) -> str | int:
    """An item's key; of one without a key its text or, as a number, its position."""
    step, value = pair[2], old[pair[0]].value
    if step.text:
        return name_step(step)
    return value if isinstance(value, str) else step.number


def _list_keyed(name: str, before: Sequence[Any], after: Sequence[Any]) -> tuple[list[_Entry], list[_Entry]]:
    for key in ITEM_KEYS.get(name, DEFAULT_KEYS):
        labels = [[_find_label(key, item) for item in side] for side in (before, after)]
        if all(None not in side for side in labels):
            break
    else:
        labels = [[""] * len(before), [""] * len(after)]
    old, new = (
        [_Entry(label or "", index, item) for index, (label, item) in enumerate(zip(of_side, side, strict=True))]
        for of_side, side in zip(labels, (before, after), strict=True)
    )
    return old, new


def _find_label(key: ItemKey, item: Any) -> str | None:
    """The key of an item; None if it lacks a field."""
    found: list[tuple[str, str]] = []
    for field in key.fields:
        name, optional, default = field.partition("?")
        value = item.get(name) if isinstance(item, dict) else None
        if value is None and optional and isinstance(item, dict):
            value = default
        if isinstance(value, str | int | Concealed):
            text = str(reveal(value))
            if text or not optional:
                found.append((name, text))
        else:
            return None
    return label_of(found) or "none"


class _Flag(list[Any]):
    """The words of a flag: `--name=value` alone, or `--name` with the word that follows."""


def _list_words(words: Sequence[Any]) -> list[_Entry]:
    """Arguments as flags, by their names, and the words between them."""
    entries: list[_Entry] = []
    for index, word in enumerate(words):
        text = str(reveal(word))
        last = entries[-1].value if entries else None
        if _is_flag(text) and not (isinstance(word, Concealed) and word.shown is None):
            label = label_of([("", text.partition("=")[0])])
            entries.append(_Entry(label, index, _Flag([word])))
        elif isinstance(last, _Flag) and len(last) == 1 and "=" not in str(reveal(last[0])):
            last.append(word)
        else:
            entries.append(_Entry("", index, word))
    return entries


def _say_flags(before: Any, after: Any) -> tuple[Any, Any]:
    """The values of flags that are spelled alike; whole words of others, and of one that is new or gone."""
    both = [side for side in (before, after) if isinstance(side, _Flag)]
    if len(both) == 2 and all(len(side) == 2 for side in both):
        return before[1], after[1]
    if len(both) == 2 and all(len(side) == 1 and "=" in str(reveal(side[0])) for side in both):
        return _find_value(before[0]), _find_value(after[0])
    one, other = (list(side) if isinstance(side, _Flag) and len(side) > 1 else _first(side) for side in (before, after))
    return one, other


def _first(side: Any) -> Any:
    return side[0] if isinstance(side, _Flag) else side


def _find_value(word: Any) -> Any:
    if not isinstance(word, Concealed):
        return word.partition("=")[2]
    shown = str(reveal(word)).partition("=")[2]
    return Concealed(word.exact.partition("=")[2], None if shown == "(hidden)" else shown)


def _is_word(word: Any) -> bool:
    return isinstance(word, str) or (isinstance(word, Concealed) and isinstance(word.exact, str))


def _is_flag(text: str) -> bool:
    return len(text) > 1 and text[0] == "-" and (text[1] == "-" or text[1].isalpha())
