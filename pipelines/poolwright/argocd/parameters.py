"""What an Application asks for: the parameters that Argo CD passes on. Anyone who may edit it, or a file of the
repository that overrides it, chooses them: nothing here is believed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place

PARAMETERS: Final = "ARGOCD_APP_PARAMETERS"
UNIT: Final = ("cluster", "unit")
RELEASE: Final = "release"
KNOWN: Final = (*UNIT, RELEASE)
_MAX: Final = 40  # characters of a name that is repeated in a message
_RULE: Final = "poolwright plugin parameters"


def parse_parameters(text: str) -> dict[str, str]:
    """The parameters of ours that have a value, by name.

    text:   the variable's value: a JSON list of {name, string | map | array}; `null`, `[]` and nothing are alike.
    Raises: SpecError with everything that is wrong: no JSON, unknown or repeated names, values that are no strings.
    Note:   an empty string is no value: a cleared field of the user interface leaves one. A field that is `null` isn't
            there. `PARAM_*` isn't read: names that differ only in punctuation share one there.
    """
    try:
        items: Any = msgspec.json.decode(text) if text.strip() else None
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        raise SpecError([_refuse("isn't JSON", "let Argo CD set it; for a test, write a list")]) from None
    if items is None:
        return {}
    if not isinstance(items, list):
        raise SpecError([_refuse("isn't a list", 'write [{"name": "cluster", "string": "NAME"}]')])
    found: dict[str, str] = {}
    problems = [problem for index, item in enumerate(items) for problem in _read(item, index, found)]
    if problems:
        raise SpecError(problems)
    return {name: value for name, value in found.items() if value}


def _read(item: Any, index: int, found: dict[str, str]) -> Iterator[Finding]:
    """Put a parameter among those that were found, or say what is wrong with it."""
    name = item.get("name") if isinstance(item, dict) else None
    if not isinstance(name, str) or not name:
        yield _refuse(f"has an entry without a name, number {index + 1}", "give each parameter a name and a string")
        return
    shown = name if len(name) <= _MAX else f"{name[:_MAX]}..."
    if name not in KNOWN:
        yield _refuse(f'names the parameter "{shown}", which isn\'t known', f"name one of: {', '.join(KNOWN)}")
        return
    if name in found:
        yield _refuse(f'names the parameter "{shown}" twice', "give each parameter once")
    value = item.get("string")
    if {key for key, said in item.items() if said is not None} - {"name", "string"} or not isinstance(value, str):
        yield _refuse(f'has no string for the parameter "{shown}"', f"write it as string: {shown.upper()}")
        value = ""
    found[name] = value


def _refuse(what: str, fix: str) -> Finding:
    return Finding(
        code="plugin-parameters",
        severity="error",
        place=Place(PARAMETERS),
        what=f"it {what}",
        why="what an Application's source.plugin.parameters say is rendered exactly, or not at all",
        rule=_RULE,
        fix=fix,
    )
