"""What specs promise and can't keep, though everything can be rendered: it is said, and stops no sync."""

from __future__ import annotations

from typing import Final

from poolwright.specs.finding import Finding
from poolwright.specs.parse import Specs
from poolwright.specs.quota import check_quotas
from poolwright.specs.recovery import check_recovery
from poolwright.specs.resolve import resolve_placement

RISKS: Final = frozenset(("quota-short", "recovery-short"))  # of what `check_specs` finds


def check_risks(specs: Specs) -> list[Finding]:
    """The findings of these rules alone; specs: of a whole project with nothing else wrong."""
    resolved = [one for placement in specs.placements if (one := resolve_placement(specs, placement)[0])]
    short = [finding for envelope in specs.envelopes for finding in check_recovery(envelope)]
    return [*short, *check_quotas(specs.pools, resolved)]
