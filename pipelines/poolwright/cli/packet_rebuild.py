"""A packet made again from the commit that it names, in an empty folder."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping

from poolwright.cli.diff import make_room
from poolwright.cli.packet_build import make_packet
from poolwright.cli.packet_source import Sources
from poolwright.cli.progress import Progress
from poolwright.files.project import find_project
from poolwright.packet.differences import FileDifference, Rebuilt, compare_packets
from poolwright.packet.index import INDEX, PacketError, PacketIndex
from poolwright.specs.finding import Finding
from poolwright.specs.place import Place

_RULE = "poolwright releases"


def rebuild(project: str, index: PacketIndex, files: Mapping[str, bytes]) -> list[Finding]:
    """What speaks against a packet once it is made again; nothing: its commit gives it, byte for byte.

    project: a folder in a clone of the repository that it was made from; nothing in it is written.
    index:   of the packet. files: of it, by path, without attestations.
    Raises:  SpecError if the commit isn't there, or what is in it can't be read; PacketError; OSError.
    """
    with make_room("poolwright-verify-") as room, Progress() as progress:
        sources = Sources(find_project(project), room)
        commit = sources.repository.resolve(index.source.git_commit)
        source = sources.open(commit)
        if source.project_path != index.source.project_path:
            raise PacketError(
                f"the packet is of the project at {index.source.project_path} of the repository, and this one is at "
                f"{source.project_path}; pass --project DIR"
            )
        made = make_packet(sources, source, index.name, dt.date.fromisoformat(index.as_of), progress)
    compared = compare_packets(index, files, made.sealed)
    return [*_list_findings(index, compared), *(_refuse_blocked(index, one) for one in made.blockers)]


def _list_findings(index: PacketIndex, compared: Rebuilt) -> Iterator[Finding]:
    if compared.is_same:
        return
    because = "; ".join(compared.causes) or "tool and inputs are the same: it was changed after it was made"
    for one in compared.files:
        yield _build(index, one, because)


def _build(index: PacketIndex, one: FileDifference, because: str) -> Finding:
    return Finding(
        code="packet-rebuilt",
        severity="error",
        place=Place(one.path),
        what=f"it isn't what commit {index.source.git_commit[:12]} gives: {one.how}",
        why=because,
        rule=_RULE,
        fix="take the tool that the packet names, or release again",
    )


def _refuse_blocked(index: PacketIndex, one: Finding) -> Finding:
    return Finding(
        code="packet-unreleasable",
        severity="error",
        place=Place(INDEX),
        what=f"{one.place}: {one.what} [{one.code}]",
        why=f"this stops a release, and no waiver of the commit covers it as of {index.as_of}",
        rule=_RULE,
        fix="don't take the packet; mend it, and release again",
    )
