"""The fields of a model's config, read strictly: what has another type than it must isn't covered by any formula."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

MAX_NUMBER: Final = 1 << 40


class NotCoveredError(Exception):
    """Why a config isn't covered."""


class ConfigFields(msgspec.Struct, frozen=True):
    """A JSON object of the file, read strictly: a field that has another type than it must isn't covered."""

    fields: Mapping[str, object]

    def has(self, name: str) -> bool:
        """Whether a field is there and not null."""
        return self.fields.get(name) is not None

    def number(self, name: str, default: int | None = None, *, least: int = 1) -> int:
        """A whole number; without a default one that must be there."""
        value = self.fields.get(name)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MAX_NUMBER:
            said = f"it has no {name}" if value is None else f"{name} isn't a number from {least} on"
            raise NotCoveredError(said)
        return value

    def first(self, *names: str, default: int | None = None, least: int = 1) -> int:
        """The first of some fields that is there."""
        for name in names:
            if self.has(name):
                return self.number(name, least=least)
        return self.number(names[0], default, least=least)

    def flag(self, name: str, *, default: bool = False) -> bool:
        """True or false."""
        value = self.fields.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise NotCoveredError(f"{name} isn't true or false")
        return value

    def text(self, name: str) -> str:
        """A text; empty: it isn't there."""
        value = self.fields.get(name)
        if value is not None and not isinstance(value, str):
            raise NotCoveredError(f"{name} isn't a text")
        return value or ""

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; empty: it isn't there."""
        value = self.fields.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise NotCoveredError(f"{name} isn't a list of texts")
        return tuple(value)

    def inner(self, name: str) -> ConfigFields | None:
        """An object in it; None: it isn't there."""
        value = self.fields.get(name)
        if value is not None and not isinstance(value, dict):
            raise NotCoveredError(f"{name} isn't an object")
        return None if value is None else ConfigFields(value)
