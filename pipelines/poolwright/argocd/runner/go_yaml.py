"""YAML as Argo CD reads it: go.yaml.in/yaml v2 through sigs.k8s.io/yaml, whose plain scalars are mostly YAML 1.1's.

PyYAML's parser is the C library that goyaml was made from, so what a document's structure is comes from there. Which
type a plain scalar has differs, and is here: `y` and `off` are booleans, `1e3` is a number, `12:30` and dates are not.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any, Final

import yaml

from poolwright.specs.document import Plain

_MAX_VALUES: Final = 4_000_000  # with aliases expanded; goyaml refuses excessive aliasing by a ratio of its own
_BOOL: Final = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
_NULL: Final = ("", "~", "null", "Null", "NULL")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INT: Final = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ][0-9:.]+(?:Z|[-+][0-9:]+)?)?")
_UNSUPPORTED: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class YamlError(Exception):
    """A document that Argo CD refuses; the text is like goyaml's."""


def parse_yaml(text: str) -> Plain:
    """The first document of a text, as JSON would have it; None for an empty one.

    Raises: YamlError.
    """
    loader: Any = _Loader(text)
    try:
        value: Plain = loader.get_data() if loader.check_data() else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}: " if mark else ""
        raise YamlError(f"yaml: {where}{error.problem}") from None
    except yaml.YAMLError as error:
        raise YamlError(f"yaml: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise YamlError("yaml: exceeded max depth") from None
    finally:
        loader.dispose()
    _Bounds().count(value)
    return value


def resolve_scalar(text: str) -> str | int | float | bool | None:
    """The value of a plain scalar."""
    if text in _BOOL:
        return _BOOL[text]
    if text in _NULL:
        return None
    if text[0] not in "+-.0123456789" or _DATE.fullmatch(text):
        return text
    if _UNSUPPORTED.fullmatch(text):
        raise YamlError(f"json: unsupported value: {text}")
    plain = text if text[0] == "." else text.replace("_", "")
    if match := _INT.fullmatch(plain):
        sign, hexadecimal, binary, octal, decimal = match.groups()
        digits, base = next((d, b) for d, b in ((hexadecimal, 16), (binary, 2), (octal, 8), (decimal, 10)) if d)
        number = int(f"{sign}{digits}", base)
        if -(1 << 63) <= number < 1 << 64 and not (sign == "+" and number >= 1 << 63):
            return number
    return float(plain) if _FLOAT.fullmatch(plain) else text


class _Bounds:
    def __init__(self) -> None:
        self._left = _MAX_VALUES

    def count(self, value: Plain) -> None:
        """Raises YamlError if there is more than anything needs, each alias counted as what it stands for."""
        pending = [value]
        while pending:
            one = pending.pop()
            self._left -= 1
            if self._left < 0:
                raise YamlError("yaml: document contains excessive aliasing")
            if isinstance(one, dict):
                pending.extend(one.values())
            elif isinstance(one, list):
                pending.extend(one)


class _Loader(yaml.CSafeLoader):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 (PyYAML's own class field)


_CORE: Final = "tag:yaml.org,2002:"
_PLAIN: Final = "!plain"  # what every plain scalar is until it is looked at


def _construct_plain(loader: yaml.CSafeLoader, node: yaml.ScalarNode) -> str | int | float | bool | None:  # noqa: ARG001
    return resolve_scalar(node.value)


def _construct_text(loader: yaml.CSafeLoader, node: yaml.ScalarNode) -> str:  # noqa: ARG001
    return str(node.value)


def _construct_map(loader: yaml.CSafeLoader, node: yaml.MappingNode) -> dict[str, Plain]:
    loader.flatten_mapping(node)
    found: dict[str, Plain] = {}
    for key_node, value_node in node.value:
        key: Hashable = loader.construct_object(key_node, deep=True)
        if isinstance(key, bool):
            name = "true" if key else "false"
        elif isinstance(key, str | int | float):
            name = key if isinstance(key, str) else repr(key)
        else:
            raise YamlError("error converting YAML to JSON: unsupported map key")
        found[name] = loader.construct_object(value_node, deep=True)  # of two the last counts
    return found


def _construct_list(loader: yaml.CSafeLoader, node: yaml.SequenceNode) -> list[Plain]:
    return list(loader.construct_sequence(node, deep=True))


_Loader.add_implicit_resolver(f"{_CORE}merge", re.compile(r"<<$"), ["<"])
_Loader.add_implicit_resolver(_PLAIN, re.compile(r""), None)
_Loader.add_constructor(_PLAIN, _construct_plain)
for _tag in ("int", "float", "bool", "null"):
    _Loader.add_constructor(f"{_CORE}{_tag}", _construct_plain)
for _tag in ("str", "timestamp", "merge", "value"):
    _Loader.add_constructor(f"{_CORE}{_tag}", _construct_text)
_Loader.add_constructor(f"{_CORE}map", _construct_map)
_Loader.add_constructor(f"{_CORE}seq", _construct_list)
