"""Objects as text that no reader of YAML takes for anything else: quotes where readers differ.

Kustomize leaves texts bare that its own library reads as texts, and other readers of YAML 1.1 or 1.2 as a date, a
number or a merge: `2024-01-02T03:04:05`, `1e400`, `.5_`, `=`. In quotes they are texts to everybody.
"""

from __future__ import annotations

import re
from typing import Final

import yaml

from poolwright.trees.yaml_text import is_read_as_text

# What a reader may take for another type: the types of YAML 1.1 as PyYAML has them, and the core schema of YAML 1.2.
# Words such as `on` are in quotes already.
_TYPED: Final = (
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"(?:(?:[Tt]|\s+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:\s*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?)?"
    r"|[-+]?0[bB][01_]+|[-+]?0[xX][0-9a-fA-F_]+|[-+]?0[oO][0-7_]+"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"
    r"|[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?"
    r"|=|<<"
)
# Wherever one may stand bare: as a whole line, a value, an item or a key. What it starts with is looked for first,
# because trying all of it everywhere takes a tenth of the whole call.
_START: Final = re.compile(r"[-+.0-9=<](?<!\S.)")
_BARE: Final = re.compile(rf"(?:{_TYPED})(?=\s|:\s|\Z)")


def quote_typed(text: bytes) -> bytes:
    """The same objects, with quotes around each bare text that some reader takes for another type.

    text:    what `render_objects` or Kustomize printed.
    Returns: the very bytes, unless there is such a text.
    Cost:    a search; only where something is found, a reading of all of it.
    """
    decoded = text.decode()
    starts = (found.start() for found in _START.finditer(decoded))
    if not any(is_read_as_text(found.group()) for start in starts if (found := _BARE.match(decoded, start))):
        return text
    parts: list[str] = []
    done = 0
    for event in yaml.parse(decoded, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and _is_typed(event.value):
            start, end = event.start_mark, event.end_mark
            assert start is not None  # noqa: S101 (the parser gives every event both)
            assert end is not None  # noqa: S101
            parts += (decoded[done : start.index], f'"{event.value}"')
            done = end.index
    return "".join((*parts, decoded[done:])).encode()


def _is_typed(text: str) -> bool:
    """Whether Kustomize's library reads a text, and another reader something else. It needs no escapes in quotes."""
    return re.fullmatch(_TYPED, text) is not None and is_read_as_text(text)
