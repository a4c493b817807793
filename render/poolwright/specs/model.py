"""What every spec kind shares: strictness, and how the value types of ours are read and written."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from poolwright.specs.date import parse_date
from poolwright.specs.duration import parse_duration, render_duration
from poolwright.specs.quantity import Quantity, parse_quantity
from poolwright.specs.scalar import FORMATS, UnitName
from poolwright.specs.version import Version, VersionRange, parse_version, parse_version_range

_NOTHING: Final[Mapping[int, object]] = MappingProxyType({})
API_VERSION: Final = "poolwright.dev/v1alpha1"
ApiVersion = Literal["poolwright.dev/v1alpha1"]


class QuantityText(str):
    """A Kubernetes quantity in its normal text: equal values are equal texts."""

    __slots__ = ()

    @property
    def quantity(self) -> Quantity:
        """The value."""
        return parse_quantity(self)


class DurationText(str):
    """A duration in its one text."""

    __slots__ = ()

    @property
    def milliseconds(self) -> int:
        """The value."""
        return parse_duration(self)


class VersionRangeText(str):
    """A version range as it is written."""

    __slots__ = ()

    @property
    def range(self) -> VersionRange:
        """The value."""
        return parse_version_range(self)


class VersionText(str):
    """One exact version as it is written."""

    __slots__ = ()

    @property
    def version(self) -> Version:
        """The value."""
        return parse_version(self)


class DateText(str):
    """A day, as YYYY-MM-DD: texts sort as days do."""

    __slots__ = ()

    @property
    def date(self) -> dt.date:
        """The value."""
        return parse_date(self)


# The types of ours that stand as text in a spec, and the format each one has. They are strings here too, because a
# spec is compared, digested and printed far more often than its values are computed with.
CUSTOM_FORMATS: Final[dict[type, str]] = {
    QuantityText: "quantity",
    DurationText: "time-span",
    VersionRangeText: "version-range",
    VersionText: "version",
    DateText: "day",
}


class Model(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel"):
    """A frozen part of a spec: unknown fields are refused, names outside are camelCase as in Kubernetes."""


class Metadata(Model, frozen=True, kw_only=True):
    """A spec's identity."""

    name: Annotated[UnitName, Meta(description="Name of the spec, unique in its kind.")]


class SpecModel(Model, frozen=True, kw_only=True):
    """A whole spec."""

    api_version: Annotated[ApiVersion, Meta(description="Version of the spec API.")]
    metadata: Annotated[Metadata, Meta(description="The spec's identity.")]

    @property
    def identity(self) -> str:
        """What findings and references call the spec."""
        return self.metadata.name


def decode_custom(kind: type, value: object) -> object:
    """msgspec's hook: text (for a quantity also an integer) to the normal text of its format.

    Raises: ValueError with what is wrong, in one sentence.
    """
    if kind is QuantityText and isinstance(value, str | int) and not isinstance(value, bool):
        return QuantityText(parse_quantity(str(value)).normal_text)
    if kind is DurationText and isinstance(value, str):
        return DurationText(render_duration(parse_duration(value)))
    if kind is VersionRangeText and isinstance(value, str):
        return VersionRangeText(parse_version_range(value).text)
    if kind is VersionText and isinstance(value, str):
        return VersionText(parse_version(value).text)
    if kind is DateText and isinstance(value, str):
        return DateText(parse_date(value).isoformat())
    raise ValueError(f"must be {FORMATS[CUSTOM_FORMATS[kind]].what}")


def plain_spec(value: object, known: Mapping[int, object] = _NOTHING) -> object:
    """A spec value as JSON-like data: camelCase, normal texts, fields equal to their default left out.

    By value, so that a map of defaults that is written out is left out like one that isn't; msgspec's own encoder
    compares defaults by identity.

    known: what is put in the place of some structs, by their id.
    """
    if isinstance(value, msgspec.Struct):
        if id(value) in known:
            return known[id(value)]
        kind = type(value)
        defaults = (msgspec.NODEFAULT,) * (len(kind.__struct_fields__) - len(kind.__struct_defaults__))
        return {
            name: plain_spec(part, known)
            for field, name, default in zip(
                kind.__struct_fields__,
                kind.__struct_encode_fields__,
                defaults + kind.__struct_defaults__,
                strict=True,
            )
            if (part := getattr(value, field)) != _default_value(default)
        }
    if isinstance(value, dict):
        return {str(key): plain_spec(part, known) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain_spec(part, known) for part in value]
    return str(value) if isinstance(value, str) else value


def _default_value(default: object) -> object:
    """A field's default: msgspec keeps that of a mutable type as a factory."""
    factory = getattr(default, "factory", None)
    return default if factory is None else factory()
