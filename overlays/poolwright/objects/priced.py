"""What a workload bears that was priced: the cluster's guard warns of those without it."""

from __future__ import annotations

from typing import Final

from poolwright.catalog.closure import UnitClosure
from poolwright.specs.digest import Digest, digest_value

PRICED_DIGEST: Final = "poolwright.dev/priced-digest"


def priced_annotations(closure: UnitClosure) -> dict[str, str]:
    """The annotation, over what a price follows from; none for a unit without a price.

    Not over the constants it was reckoned with: a better figure for an engine changes no object of a fleet that runs.
    """
    return {PRICED_DIGEST: _digest(closure)} if closure.is_priced else {}


def _digest(closure: UnitClosure) -> Digest:
    return digest_value(
        {
            "deviceClassNames": [way.device_class.name for way in closure.alternatives],
            "engine": {"type": closure.image.engine, "version": closure.image.version},
            "envelope": closure.envelope.digest,
        }
    )
