"""Rows about what the NVIDIA DRA driver publishes beside attributes."""

from __future__ import annotations

from typing import Literal

from poolwright.catalog.facts import Fact
from poolwright.catalog.tables.driver_release import is_within


class DeviceTypeFact(Fact, frozen=True, kw_only=True):
    """A type of device."""

    id: str
    driver: str
    type_attribute: str  # value of the attribute `type`
    name_pattern: str  # <field>: minor, profile, gi-profile-id, placement-start, index, id
    gate: str | None = None  # of the driver, without which none is published
    since: str
    name_pattern_since: str  # names had another form before


class CapacityFact(Fact, frozen=True, kw_only=True):
    """A capacity that a driver publishes on a type of device."""

    driver: str
    device_type: str
    name: str  # in the driver's domain; indexed: followed by a number
    indexed: bool = False  # one for each memory slice that the device occupies
    presence: Literal["always", "optional", "gated"]
    gate: str | None = None
    since: str
    until: str | None = None

    def published_by(self, release: str) -> bool:
        """Whether this release of the driver publishes it, gates aside."""
        return is_within(release, self.since, self.until)
