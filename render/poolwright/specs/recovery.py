"""What an envelope promises of its recovery against how long a replica may take to start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.specs.envelope import Envelope
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec

_RULE: Final = "poolwright.dev/v1alpha1"


def check_recovery(envelope: Spec[Envelope]) -> Iterator[Finding]:
    """An objective that a replica's start can miss, with no spare one to serve meanwhile."""
    recovery, timeout = envelope.value.spec.recovery, envelope.value.spec.startup.timeout
    objective = recovery.objective
    if objective is None or recovery.spare_replicas or objective.milliseconds >= timeout.milliseconds:
        return
    yield Finding(
        code="recovery-short",
        severity="error",
        place=envelope.place("spec", "recovery", "objective"),
        what=f"envelope {envelope.value.identity} is to recover within {objective}, and a replica may take {timeout} "
        "to start",
        why="without a spare replica nobody serves in the place of a lost one until another has started",
        rule=_RULE,
        fix=f"write spareReplicas: 1 (and have the replica), an objective of {timeout} or more, or a shorter "
        "startup.timeout",
    )
