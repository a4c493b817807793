"""Where something stands in what people wrote."""

from __future__ import annotations

import msgspec

Step = str | int
_MAX_KEY = 200  # characters: a longer key names no field, and would be repeated by every finding below it
FieldPath = tuple[Step, ...]  # keys and list indices from a document's root


class Place(msgspec.Struct, frozen=True, order=True):
    """A position in a file, and the field that stands there.

    line and column count from 1; both are 0 where only the file is known (it can't be read, say).
    """

    file: str  # relative to the project, with forward slashes
    line: int = 0
    column: int = 0
    field: str = ""  # `spec.devices.requests[1].count`; empty where no field can be named

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


def render_field(path: FieldPath) -> str:
    """A field path as people write it: `spec.requests[1].count`, with odd keys quoted: `attributes["a.b/c"]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif 0 < len(step) <= _MAX_KEY and all(c.isalnum() or c in "-_" for c in step):
            text += f".{step}" if text else step
        else:
            shown = step if len(step) <= _MAX_KEY else step[:_MAX_KEY] + "..."
            quoted = shown.replace("\\", "\\\\").replace('"', '\\"')
            text += f'["{quoted}"]'
    return text
