"""What the lists, names and fields of resource.k8s.io have in common, and the words for what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from poolwright.rules.placed import Field
from poolwright.specs.finding import Finding

LABEL: Final = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
SUBDOMAIN: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
RULE: Final = "k8s.io/api resource/v1"


def check_fields(field: Field, known: tuple[str, ...], what: str) -> Iterator[Finding]:
    """A field for each key that isn't known; the API server drops or refuses those."""
    for key, value in field.list_entries():
        if key not in known:
            yield Finding(
                code="unknown-field",
                severity="error",
                place=value.key_place,
                what=f'{what} of {field.owner.api_version} has no field "{key}"',
                why="the API server refuses the field under strict validation, and drops it without a word otherwise",
                rule=RULE,
                fix=f"remove it, or name one that exists: {', '.join(known)}",
            )


def check_length(field: Field, limit: int, what: str, whose: str) -> Iterator[Finding]:
    """Whether a list has no more than its limit."""
    count = len(field.list_items())
    if count > limit:
        yield Finding(
            code="wrong-length",
            severity="error",
            place=field.list_items()[limit].place,
            what=f"{count} {what}, and {whose} may have {limit}",
            why="the API server refuses more",
            rule=RULE,
            fix=f"leave at most {limit} {what}",
        )


def check_names(entries: Field, what: str) -> Iterator[Finding]:
    """Whether each entry of a list has a name of its own that is a DNS label."""
    seen: dict[str, int] = {}
    for index, entry in enumerate(entries.list_items()):
        name = entry.get("name")
        if not name.text:
            yield _no_name(entry, what)
        elif not re.fullmatch(LABEL, name.text):
            yield _no_label(name, what)
        elif name.text in seen:
            yield _repeated(name, what, seen[name.text])
        seen.setdefault(name.text, index)


def wrong_type(field: Field, wanted: str) -> Finding:
    """The finding of a value of another type."""
    names = {
        bool: "true or false",
        int: "an integer",
        float: "a number",
        str: "a string",
        list: "a list",
        dict: "a map",
    }
    return Finding(
        code="wrong-type",
        severity="error",
        place=field.place,
        what=f"{_last(field)} is {names.get(type(field.value), 'null')} and must be {wanted}",
        why="the API server doesn't convert types",
        rule=RULE,
        fix=f"write {wanted}",
    )


def _last(field: Field) -> str:
    return str(next((step for step in reversed(field.path) if isinstance(step, str)), "the value"))


def _no_name(entry: Field, what: str) -> Finding:
    return Finding(
        code="missing-field",
        severity="error",
        place=entry.place,
        what=f"this {what} has no name",
        why="constraints, configuration and containers refer to it by name",
        rule=RULE,
        fix="write name: with a DNS label, such as gpu",
    )


def _no_label(name: Field, what: str) -> Finding:
    return Finding(
        code="invalid-value",
        severity="error",
        place=name.place,
        what=f'"{name.text}" is no name for {"an" if what[0] in "aeiou" else "a"} {what}',
        why="it must be a DNS label: at most 63 lower-case letters, digits and hyphens, none at either end",
        rule=RULE,
        fix="write a DNS label, such as gpu",
    )


def _repeated(name: Field, what: str, first: int) -> Finding:
    return Finding(
        code="duplicate-name",
        severity="error",
        place=name.place,
        what=f'a second {what} is called "{name.text}"; entry {first} is already',
        why="the API server refuses two of one name",
        rule=RULE,
        fix="give each a name of its own",
    )
