"""Other values that a spec field could have: what `origins` changes a value to."""

from __future__ import annotations

from typing import Any, Final

from poolwright.specs.schema import Schema

# Two or more for each format, so that at least one is not what stands there.
_BY_FORMAT: Final[dict[str, tuple[str, ...]]] = {
    "semver": ("9.8.7", "9.8.6"),
    "digest": ("sha256:" + "1" * 64, "sha256:" + "2" * 64),
    "image": ("registry.example.com/another/image:1", "registry.example.com/another/image:2"),
    "quantity": ("1234Mi", "1235Mi"),
    "time-span": ("50h", "51h", "1s"),  # a short one too: an alert waits for the shorter of two
    "version-range": ("1.34.x", "1.35.x"),
    "relative-path": ("another/path", "another/place"),
    "qualified-name": ("another", "other"),
    "cel": ('device.driver == "another"', 'device.driver == "other"'),
}
# Names that no project has; one sorts before most, one after.
_PLAIN: Final = ("a-name-of-explain", "z-name-of-explain")
_OLD: Final = "0.0.1"  # for what may be a version: what an engine takes of memory is by its release


def other_values(schema: Schema, value: Any) -> tuple[Any, ...]:
    """A few valid values that differ from the one that stands there (None: nothing does).

    All of an enum, the other boolean; of integers the neighbours, the least and the greatest, because a field may only
    show whether a number is zero; of texts two, and where a version may stand an old one.

    schema: the schema of the field, resolved; a field that is no scalar has no other values.
    """
    if "enum" in schema:
        return tuple(option for option in schema["enum"] if option != value)
    if value is None:
        value = schema.get("default")
    kinds = schema.get("type", [type(value).__name__])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int) or kinds == ["integer"]:
        least, greatest = schema.get("minimum"), schema.get("maximum")
        number = value if isinstance(value, int) else least or 0
        # Far enough that a rounded or clamped result moves too.
        steps = (number + 1, number - 1, number * 2 + 1, 0 if least is None else least, greatest)
        return tuple(
            step
            for step in dict.fromkeys(steps)
            if step is not None
            and step != value
            and (least is None or step >= least)
            and (greatest is None or step <= greatest)
        )
    texts = _BY_FORMAT.get(schema.get("format", ""), _PLAIN)
    if texts is _PLAIN and isinstance(value, str) and value[:1].isdecimal():
        texts = (*_PLAIN, _OLD)
    return tuple(option for option in texts if option != value)
