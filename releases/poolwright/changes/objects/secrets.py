"""What of an object nobody may see in a report: each secret in it is wrapped, the rest stays as it is.

Hidden are the values of Secrets; literal variables, map keys, ConfigMap keys and arguments whose name says credential;
Helm values as text; annotations that repeat a whole object; and in every text what `mask_text` finds. Both sides are
still compared by their exact values: that one changed is told, and nothing else of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from poolwright.changes.objects.secret_text import HIDDEN, is_reference, mask_text, says_credential
from poolwright.objects.kubernetes import Object
from poolwright.specs.place import FieldPath

WORD_LISTS: Final = ("args", "command")  # of containers
SECRET_KEYS: Final = ("data", "stringData")
_OBJECT_MARKS: Final = ('"apiVersion"', '"kind"')


@dataclass(frozen=True, slots=True)
class Concealed:
    """A value that is a secret, or a text with one in it."""

    exact: Any  # to compare by; never shown
    shown: str | None  # the text with `(hidden)` in it; None: nothing of it is shown


def conceal(obj: Object) -> dict[str, Any]:
    """The object with every secret wrapped; the given one isn't changed."""
    return {key: _conceal_top(obj, key, part) for key, part in obj.items()}


def reveal(value: Any) -> Any:
    """What may be shown of a concealed value, JSON-like; keys of maps that hold a secret are masked as well."""
    if isinstance(value, Concealed):
        return HIDDEN if value.shown is None else value.shown
    if isinstance(value, Mapping):
        return {mask_text(str(key)): reveal(part) for key, part in value.items()}
    if isinstance(value, list):
        return [reveal(item) for item in value]
    return value


def is_secret(obj: Object) -> bool:
    """Whether an object is a Secret of the core group."""
    return obj.get("kind") == "Secret" and "/" not in str(obj.get("apiVersion", ""))


def find_credentials(words: Sequence[Any]) -> tuple[int, ...]:
    """Which of a container's arguments hold a credential in plain text."""
    return tuple(index for index, word in enumerate(_conceal_words(words)) if isinstance(word, Concealed))


def _conceal_top(obj: Object, key: str, part: Any) -> Any:
    if is_secret(obj) and key in SECRET_KEYS:
        return _hide(part)
    if obj.get("kind") == "ConfigMap" and key in ("data", "binaryData") and isinstance(part, Mapping):
        return {
            name: _hide(one) if says_credential(name, is_variable=True) else _conceal(one, (key, name))
            for name, one in part.items()
        }
    return _conceal(part, (key,))


def _conceal(value: Any, path: FieldPath) -> Any:
    if isinstance(value, Mapping):
        return _conceal_map(value, path)
    if isinstance(value, list):
        if path[-1] in WORD_LISTS:
            return _conceal_words(value)
        return [_conceal(item, (*path, index)) for index, item in enumerate(value)]
    return _conceal_text(value) if isinstance(value, str) else value


def _conceal_map(value: Mapping[str, Any], path: FieldPath) -> dict[str, Any]:
    name = value.get("name")
    is_entry = isinstance(name, str) and says_credential(name, is_variable=True)
    is_variables = path[-1] == "env"  # variables by name, as some custom resources have them
    concealed: dict[str, Any] = {}
    for key, part in value.items():
        if isinstance(part, str | int | float) and not isinstance(part, bool):
            is_named = (is_entry and key == "value") or says_credential(str(key), is_variable=is_variables)
            if (is_named and not is_reference(str(part))) or _is_whole(part, key, path):
                concealed[key] = Concealed(part, None)
                continue
        concealed[key] = _conceal(part, (*path, key))
    return concealed


def _is_whole(part: Any, key: str, path: FieldPath) -> bool:
    """Whether a text is a document of its own, in which nobody can tell what is secret."""
    if not isinstance(part, str):
        return False
    is_object = part.lstrip().startswith("{") and all(mark in part for mark in _OBJECT_MARKS)
    return (path[-1] == "annotations" and is_object) or (path[-1] == "helm" and key == "values")


def _conceal_text(text: str) -> str | Concealed:
    masked = mask_text(text)
    return text if masked == text else Concealed(text, masked)


def _conceal_words(words: Sequence[Any]) -> list[Any]:
    """Arguments in both spellings, `--api-key X` and `--api-key=X`, and a flag's further values."""
    concealed: list[Any] = []
    flag_before = False  # a flag that says credential stands before, and nothing but its values in between
    for index, word in enumerate(words):
        if not isinstance(word, str):
            concealed.append(Concealed(word, None) if flag_before else _conceal(word, (index,)))
            continue
        is_first = flag_before and index > 0 and words[index - 1] is not None and _is_flag(words[index - 1])
        if flag_before and not word.startswith("--" if is_first else "-"):
            concealed.append(word if is_reference(word) else Concealed(word, None))
            continue
        name, equals, text = word.partition("=")
        flag_before = _is_flag(word) and says_credential(name.lstrip("-"))
        if flag_before and equals:
            concealed.append(word if is_reference(text) else Concealed(word, f"{name}={HIDDEN}"))
        else:
            concealed.append(_conceal_text(word))
    return concealed


def _is_flag(word: Any) -> bool:
    return isinstance(word, str) and word.startswith("-") and len(word) > 1


def _hide(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _hide(part) for key, part in value.items()}
    return Concealed(value, None)
