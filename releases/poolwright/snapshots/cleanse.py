"""What a snapshot doesn't keep of an object: who last wrote which field, and values that may be secret.

Literal values of environment variables are dropped whatever they are called, for nobody can tell a token from a
setting; those that Poolwright itself writes stay, because lineage is read from them. Arguments of containers stay: a
secret doesn't belong there, and engines are told apart by them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from poolwright.specs.place import FieldPath

# Repeats the whole object as somebody applied it, with every value that is dropped here.
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_OWN_PREFIX: Final = "POOLWRIGHT_"
_OWN_NAMES: Final = frozenset(("OTEL_RESOURCE_ATTRIBUTES",))


@dataclass(frozen=True, slots=True)
class Cleansed:
    """An object without what isn't kept, and where that stood."""

    value: dict[str, Any]
    dropped: tuple[FieldPath, ...]


def is_secret(value: dict[str, Any]) -> bool:
    """Whether an object is a Secret, which isn't kept at all."""
    return value.get("kind") == "Secret" and "/" not in str(value.get("apiVersion", ""))


def cleanse(value: dict[str, Any]) -> Cleansed:
    """An object as a snapshot keeps it; the given one isn't changed."""
    walk = _Walk()
    return Cleansed(walk.of_map(value, ()), tuple(walk.dropped))


@dataclass(slots=True)
class _Walk:
    dropped: list[FieldPath] = field(default_factory=list)

    def of_map(self, value: dict[str, Any], path: FieldPath) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for key, part in value.items():
            at = (*path, key)
            if self._is_bookkeeping(at):
                self.dropped.append(at)
            elif key == "env" and isinstance(part, list):
                kept[key] = [self._of_variable(item, (*at, index)) for index, item in enumerate(part)]
            elif key == "env" and isinstance(part, dict):
                kept[key] = self._of_variables(part, at)
            else:
                kept[key] = self._of_any(part, at)
        return kept

    def _of_any(self, value: Any, path: FieldPath) -> Any:
        if isinstance(value, dict):
            return self.of_map(value, path)
        if isinstance(value, list):
            return [self._of_any(item, (*path, index)) for index, item in enumerate(value)]
        return value

    def _of_variable(self, value: Any, path: FieldPath) -> Any:
        """An entry of a container's `env`."""
        if isinstance(value, dict) and "value" in value and not _is_own(value.get("name")):
            self.dropped.append((*path, "value"))
            value = {key: part for key, part in value.items() if key != "value"}
        return self._of_any(value, path)

    def _of_variables(self, value: dict[str, Any], path: FieldPath) -> dict[str, Any]:
        """Variables by name, as some custom resources have them."""
        kept = {}
        for name, part in value.items():
            if isinstance(part, dict | list) or _is_own(name):
                kept[name] = self._of_any(part, (*path, name))
            else:
                self.dropped.append((*path, name))
        return kept

    @staticmethod
    def _is_bookkeeping(path: FieldPath) -> bool:
        return path[-2:] == ("metadata", "managedFields") or path[-3:] == ("metadata", "annotations", LAST_APPLIED)


def _is_own(name: object) -> bool:
    return isinstance(name, str) and (name.startswith(_OWN_PREFIX) or name in _OWN_NAMES)
