"""`poolwright release`: the packet of a commit, written into releases/, or why there is none."""

from __future__ import annotations

import datetime as dt
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, get_args

import msgspec

from poolwright.attestations.tar import write_tar
from poolwright.cli.output import refuse, say, tell, write_file, write_whole
from poolwright.cli.packet_build import MadePacket, make_packet
from poolwright.cli.packet_source import PacketSource, Sources
from poolwright.cli.progress import Progress
from poolwright.cli.room import make_room
from poolwright.cli.version import package_version
from poolwright.comments.headline import headline
from poolwright.files.disk import TEMP_NAME, Disk
from poolwright.files.project import find_project
from poolwright.git.refusals import shorten
from poolwright.packet.index import ATTESTATIONS, RELEASES, PacketError, name_packet
from poolwright.plan.report.mends import list_mends
from poolwright.plan.report.words import count_of, say_counts
from poolwright.plan.verdict import Word
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place
from poolwright.specs.report import render_findings
from poolwright.specs.scalar import FORMATS, ReleaseName

_MAX_NAMES: Final = 5
_RULE: Final = "poolwright releases"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions:
    """What was asked for."""

    name: str
    project: str = "."
    as_of: dt.date | None = None  # None: the day of the commit
    dry_run: bool = False  # judge and say, and write nothing
    tar: str | None = None  # a file that gets the packet too


def run_release(options: ReleaseOptions) -> int:
    """Write the packet; 0: it is there, 1: something stops it, 2: it couldn't be made."""
    try:
        msgspec.convert(options.name, ReleaseName)
    except msgspec.ValidationError:
        return refuse("NAME", f'"{shorten(options.name)}" must be {FORMATS["release-name"].what}')
    try:
        root = find_project(options.project)
        with make_room("poolwright-release-") as room, Progress() as progress:
            sources = Sources(root, room)
            source = _open_head(sources, root, options.name)
            made = make_packet(sources, source, options.name, _find_day(source, options), progress)
    except PacketError as error:
        return refuse("release", str(error))
    for line in _say_packet(made):
        tell(line)
    if made.waived:
        say(render_findings(made.waived, "text", tool_version=package_version()))
    if made.blockers:
        say(render_findings(made.blockers, "text", tool_version=package_version()))
        tell(f"not released: {count_of(len(made.blockers), 'finding')} to mend, or to waive in a spec")
        return 1
    return _write(made, os.path.join(root, RELEASES, options.name), options)  # noqa: PTH118


def _open_head(sources: Sources, root: str, name: str) -> PacketSource:
    """What HEAD has. Raises: SpecError if the working tree differs from it, or it has a release of the name."""
    repository = sources.repository
    commit = repository.resolve("HEAD")
    own = (f"{RELEASES}/{name}/", f"{RELEASES}/{TEMP_NAME}/")  # the second: of one that was killed, or is at it
    dirty = [path for path in repository.list_dirty(commit, root) if not path.startswith(own)]
    source = sources.open(commit)
    if name in source.names:
        raise SpecError([_say_taken(name)])
    if dirty:
        raise SpecError([_say_dirty(dirty)])
    return source


def _find_day(source: PacketSource, options: ReleaseOptions) -> dt.date:
    day = options.as_of or source.commit.day
    if day is None:
        raise PacketError(f"commit {source.commit.id} has no date that can be read; pass --as-of DATE")
    return day


def _say_packet(made: MadePacket) -> Iterator[str]:
    index = made.sealed.index
    since = f"after {index.previous.name}" if index.previous else "the first one"
    yield f"release {index.name} of {index.project}: number {index.sequence}, {since}"
    yield f"commit {index.source.git_commit}, as of {index.as_of}"
    verdicts = [(answer, one) for answer in made.answers for one in answer.judgement.verdicts]
    counts = Counter(one.word for _, one in verdicts)
    yield "verdicts: " + ", ".join(f"{counts[word]} {word}" for word in get_args(Word) if counts[word])
    for answer, verdict in verdicts:
        if verdict.word != "always-fits":
            yield f"  {answer.cluster.name}  {verdict.workload}  {verdict.word} {say_counts(verdict)}"
            yield from (f"    {line}" for line in list_mends(answer, verdict))
    yield f"changes: {headline(made.report)}"
    if index.absent:
        yield f"not in it: {', '.join(one.role for one in index.absent)}"


def _write(made: MadePacket, target: str, options: ReleaseOptions) -> int:
    """Put the packet where it belongs in one step, and say its digest. Raises: SpecError, OSError, DiskError."""
    digest = name_packet(made.sealed.index_bytes)
    where = f"{RELEASES}/{options.name}"
    is_there = os.path.lexists(target)
    if is_there and _read_folder(target) != made.sealed.files:
        raise SpecError([_say_other(options.name)])
    if options.dry_run:
        tell(f"would write {where}: {count_of(len(made.sealed.files), 'file')}, {digest}")
        return 0
    if is_there:
        tell(f"{where} is there already, and the same: {digest}")
    else:
        _write_folder(target, made.sealed.files)
        tell(f"{where}: {count_of(len(made.sealed.files), 'file')}, {digest}")
    if options.tar is not None:
        write_whole(options.tar, write_tar(made.sealed.files))
    tell(f"next: poolwright sign {where} --key FILE, and commit it")
    return 0


def _write_folder(target: str, files: Mapping[str, bytes]) -> None:
    """A folder, whole or not at all. Raises: OSError; DiskError if another poolwright is writing there."""
    above = os.path.dirname(target)  # noqa: PTH120
    os.makedirs(above, exist_ok=True)  # noqa: PTH103
    beside = os.path.join(above, TEMP_NAME)  # noqa: PTH118
    with Disk(above).lock():
        if os.path.lexists(beside):  # of one that was killed while it wrote
            shutil.rmtree(beside)
        try:
            for path, data in files.items():
                place = os.path.join(beside, path)  # noqa: PTH118
                os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH120
                write_file(place, data, new=True)
            os.rename(beside, target)  # noqa: PTH104
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise


def _read_folder(folder: str) -> dict[str, bytes]:
    found = {}
    for above, folders, files in os.walk(folder):
        if above == folder and ATTESTATIONS in folders:
            folders.remove(ATTESTATIONS)
        for name in files:
            path = os.path.join(above, name)  # noqa: PTH118
            with open(path, "rb") as file:  # noqa: PTH123
                found[os.path.relpath(path, folder)] = file.read()
    return found


def _say_dirty(paths: list[str]) -> Finding:
    shown = ", ".join(shorten(path) for path in paths[:_MAX_NAMES])
    more = f" and {len(paths) - _MAX_NAMES} more" if len(paths) > _MAX_NAMES else ""
    return Finding(
        code="release-dirty",
        severity="error",
        place=Place(shorten(paths[0])),
        what=f"{count_of(len(paths), 'path')} of the project {'differs' if len(paths) == 1 else 'differ'} from the "
        f"commit: {shown}{more}",
        why="a release is made from a commit, so that anybody can make it again",
        rule=_RULE,
        fix="commit or stash what is there, and release again",
    )


def _say_taken(name: str) -> Finding:
    return Finding(
        code="release-taken",
        severity="error",
        place=Place(f"{RELEASES}/{name}/packet.json"),
        what=f'there is a release "{name}" in the commit',
        why="a name stands for one packet, for good",
        rule=_RULE,
        fix="choose another name",
    )


def _say_other(name: str) -> Finding:
    return Finding(
        code="release-taken",
        severity="error",
        place=Place(f"{RELEASES}/{name}"),
        what="it is there, isn't committed, and differs from what the commit gives",
        why="what may be signed already is never overwritten",
        rule=_RULE,
        fix="remove it, or choose another name",
    )
