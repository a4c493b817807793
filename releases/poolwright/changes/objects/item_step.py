"""A step of a field's path: a key of a map, an item of a list by its key, or a list's order."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final, NamedTuple

from poolwright.changes.objects.secret_text import mask_text
from poolwright.specs.place import render_field

_MAX_LABEL: Final = 100  # characters of an item's key that a path shows
_FIELD, _ITEM, _ORDER = 0, 1, 2


class Step(NamedTuple):
    """Equal steps are one place; sorted as they are listed: fields, items by key or position, the order."""

    kind: int
    text: str  # of an item what stands in the brackets; empty: its position does
    number: int  # of an item its position, or which one it is of several with one key, from 1


ORDER: Final = Step(_ORDER, "", 0)


def field_step(key: str) -> Step:
    """A key of a map."""
    return Step(_FIELD, str(key), 0)


def item_step(label: str, number: int) -> Step:
    """An item by its key.

    label:  as `label_of` gives it.
    number: 1, or how many items with that key there are up to it.
    """
    return Step(_ITEM, label, number)


def index_step(index: int) -> Step:
    """An item by its position."""
    return Step(_ITEM, "", index)


def label_of(fields: Iterable[tuple[str, str]]) -> str:
    """`name=engine` or `key=nvidia.com/gpu,effect=NoSchedule`; a lone value where the key has no name."""
    return ",".join(f"{name}={_quote(text)}" if name else _quote(text) for name, text in fields)


def say_step(step: Step) -> str:
    """What a path shows of it: `.image`, `[name=engine]`, `[2]`, ` (order)`."""
    if step.kind == _FIELD:
        shown = render_field((mask_text(step.text),))
        return shown if shown.startswith("[") else f".{shown}"
    if step.kind == _ORDER:
        return " (order)"
    return f"[{name_step(step)}]"


def name_step(step: Step) -> str:
    """What stands in an item's brackets; of the second with one key `name=engine#2`."""
    if not step.text:
        return str(step.number)
    return f"{step.text}#{step.number}" if step.number > 1 else step.text


def render_path(steps: Iterable[Step]) -> str:
    """A field as people write it: `spec.template.spec.containers[name=engine].image`."""
    return "".join(map(say_step, steps)).removeprefix(".")


def _quote(text: str) -> str:
    if len(text) > _MAX_LABEL:
        text = f"{text[:_MAX_LABEL]}..."
    is_plain = text != "" and all(c.isalnum() or c in "-_./:@" for c in text)
    return text if is_plain else json.dumps(text, ensure_ascii=False)
