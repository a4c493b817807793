"""A packet made again from the commit that it names, in an empty folder."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from poolwright.cli.packet_build import make_packet
from poolwright.cli.packet_source import Sources
from poolwright.cli.progress import Progress
from poolwright.cli.room import make_room
from poolwright.files.project import find_project
from poolwright.git.commit import Commit
from poolwright.packet.differences import FileDifference, Rebuilt, compare_packets
from poolwright.packet.index import INDEX, PacketError, PacketIndex
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place

_RULE = "poolwright releases"


def rebuild(project: str, index: PacketIndex, files: Mapping[str, bytes]) -> list[Finding]:
    """What speaks against a packet once it is made again; nothing: its commit gives it, byte for byte.

    project: a folder in a clone of the repository that it was made from; nothing in it is written.
    index:   of the packet. files: of it, by path, without attestations.
    Raises:  SpecError if no project or the commit isn't there, or what is in it can't be read; PacketError; OSError.
    """
    with make_room("poolwright-verify-") as room, Progress() as progress:
        sources = Sources(_find_root(project), room)
        commit = _resolve(sources, index)
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
    because, fix = "; ".join(compared.causes), "make it again with what the packet names, or release again"
    if not because:
        because = "tool and inputs are the same: it was changed after it was made"
        fix = "find out who signed that; get the packet again from where it was released, or release again"
    for one in compared.files:
        yield _build(index, one, because, fix)


def _find_root(project: str) -> str:
    """As `find_project` does; where there is none, the ways out are those of who verifies."""
    try:
        return find_project(project)
    except SpecError as error:
        raise SpecError(
            [_say_nowhere(one) if one.code == "project-missing" else one for one in error.findings]
        ) from None


def _resolve(sources: Sources, index: PacketIndex) -> Commit:
    try:
        return sources.repository.resolve(index.source.git_commit)
    except SpecError as error:
        if all(one.code != "git-revision" for one in error.findings):
            raise
        raise SpecError([_say_gone(index)]) from None


def _say_nowhere(missing: Finding) -> Finding:
    return replace(
        missing,
        code="packet-commit",
        why="a packet is made again from the commit that it names, in a clone of its project",
        rule=_RULE,
        fix="run inside one, name one by --project, or check signatures and digests alone by --no-rebuild",
    )


def _say_gone(index: PacketIndex) -> Finding:
    return Finding(
        code="packet-commit",
        severity="error",
        place=Place(INDEX, field="source.gitCommit"),
        what=f"commit {index.source.git_commit} isn't in the repository",
        why="a packet is made again from the commit that it names",
        rule=_RULE,
        fix="fetch it (git fetch --unshallow, or the branch that it is on), name another clone by --project, or check "
        "signatures and digests alone by --no-rebuild",
    )


def _build(index: PacketIndex, one: FileDifference, because: str, fix: str) -> Finding:
    return Finding(
        code="packet-rebuilt",
        severity="error",
        place=Place(one.path),
        what=f"it isn't what commit {index.source.git_commit[:12]} gives: {one.how}",
        why=because,
        rule=_RULE,
        fix=fix,
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
