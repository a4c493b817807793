"""What became of each claim between two snapshots: always recomputed, never written down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from poolwright.allocation.claim import Claim
from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.held import DeviceId

# kept: the same devices as before. moved: other ones. gained: it waited before and has some. lost: the other way round.
# gone: it isn't there any more. new: it wasn't there before. neverAllocated: it has devices in neither of the two.
Fate = Literal["kept", "moved", "gained", "lost", "gone", "new", "neverAllocated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFate:
    """What became of one claim."""

    namespace: str
    name: str
    uid: str  # "": the capture doesn't say it
    fate: Fate
    before: tuple[DeviceId, ...] = ()  # sorted
    after: tuple[DeviceId, ...] = ()

    @property
    def title(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"


def list_fates(before: ClusterObjects, after: ClusterObjects) -> tuple[ClaimFate, ...]:
    """Every claim of either snapshot, by namespace, name and uid.

    A claim that was made anew under its old name is two: one is gone, one is new.
    """
    old, new = _by_identity(before), _by_identity(after)
    return tuple(_build(key, old.get(key), new.get(key)) for key in sorted({*old, *new}))


_Identity = tuple[str, str, str]


def _by_identity(objects: ClusterObjects) -> dict[_Identity, Claim]:
    claims = (placed.value for placed in objects.claims)
    return {(claim.namespace, claim.name, claim.uid): claim for claim in claims}


def _build(identity: _Identity, old: Claim | None, new: Claim | None) -> ClaimFate:
    namespace, name, uid = identity
    before, after = list_devices(old), list_devices(new)
    return ClaimFate(
        namespace=namespace,
        name=name,
        uid=uid,
        fate=_judge(old, new, before, after),
        before=before,
        after=after,
    )


def _judge(old: Claim | None, new: Claim | None, before: tuple[DeviceId, ...], after: tuple[DeviceId, ...]) -> Fate:
    if not before and not after:
        return "neverAllocated"
    if new is None:
        return "gone"
    if old is None:
        return "new"
    if before and after:
        return "kept" if before == after else "moved"
    return "gained" if after else "lost"


def list_devices(claim: Claim | None) -> tuple[DeviceId, ...]:
    """The devices that a claim holds, sorted; of a device that it has several shares of, one for each."""
    allocation = None if claim is None else claim.allocation
    return () if allocation is None else tuple(sorted((one.driver, one.pool, one.device) for one in allocation.devices))
