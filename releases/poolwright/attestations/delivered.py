"""One unit of a release, as far as it may be delivered: trusted keys signed the index, and that names these bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from poolwright.attestations.digests import check_digests
from poolwright.attestations.given import GivenPacket
from poolwright.attestations.judge import judge_signatures
from poolwright.packet.index import INDEX, PacketError, PacketIndex, parse_index
from poolwright.packet.manifests import KUSTOMIZATION, OBJECTS, find_manifests, list_units
from poolwright.specs.finding import Finding
from poolwright.specs.place import Place
from poolwright.trust.policy import TrustPolicy

_RULE: Final = "poolwright releases"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be delivered."""

    project: str
    release: str
    cluster: str
    unit: str


def list_needed(wanted: Wanted) -> tuple[str, ...]:
    """The files of a packet that say what a unit is: all that has to be read beside its index, sums and signatures."""
    folder = find_manifests(wanted.cluster, wanted.unit)
    return f"{folder}/{KUSTOMIZATION}", f"{folder}/{OBJECTS}"


def find_objects(packet: GivenPacket, policy: TrustPolicy, trust: str, wanted: Wanted) -> bytes | tuple[Finding, ...]:
    """The unit's objects, or every reason why they aren't delivered, the signatures' before all others.

    packet: of its files those that `list_needed` names, as far as they are there.
    trust:  what findings call the trust file.
    Raises: SpecError if a key of the trust file can't be used.
    Note:   that is enough. The index is signed, and names each file by digest: what another file holds changes nothing
            of this one.
    """
    try:
        index = parse_index(packet.index)
    except PacketError:
        return check_digests(packet, only=())  # its one finding says so
    judged = judge_signatures(packet.index, packet.attestations, policy, wanted.project, file=trust)
    if not judged.holds:
        return tuple(one for one in judged.findings if one.severity == "error")
    if index.name != wanted.release:
        return (_say_renamed(index, wanted.release),)
    if wanted.unit not in (units := list_units(index, wanted.cluster)):
        return (_say_unknown(index, wanted, units),)
    needed = list_needed(wanted)
    changed = tuple(one for one in check_digests(packet, only=needed) if one.severity == "error")
    return changed or packet.files[needed[-1]]


def _say_renamed(index: PacketIndex, release: str) -> Finding:
    return Finding(
        code="packet-renamed",
        severity="error",
        place=Place(INDEX, field="name"),
        what=f"the folder is called {release}, and the release in it {index.name}",
        why="what is delivered is the release that was named, and no other",
        rule=_RULE,
        fix=f"call the folder {index.name}, and name that in the Project if it is meant",
    )


def _say_unknown(index: PacketIndex, wanted: Wanted, units: tuple[str, ...]) -> Finding:
    known = f"; of {wanted.cluster} it has {', '.join(units)}" if units else f", nor any other of {wanted.cluster}"
    return Finding(
        code="packet-unit",
        severity="error",
        place=Place(INDEX, field="files"),
        what=f"release {index.name} doesn't hold {wanted.cluster}/{wanted.unit}{known}",
        why="a cluster that is delivered by packet gets what was released, and nothing else",
        rule=_RULE,
        fix="release what the specs say now, sign it, commit it, and name it in the Project",
    )
