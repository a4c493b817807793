"""What a packet is made from: a commit of a repository, laid out, and the releases that are in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from poolwright.changes.report import Revision
from poolwright.cli.ends import End, Ends
from poolwright.git.commit import Commit
from poolwright.git.repository import Repository
from poolwright.packet.index import INDEX, MAX_INDEX_BYTES, RELEASES, Input, PacketError
from poolwright.packet.previous import Released, find_previous
from poolwright.specs.digest import digest_bytes
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place

_MAX_LINK_BYTES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketSource:
    """A commit's project in a folder of ours."""

    commit: Commit
    project_path: str  # in the repository; `.`: its top
    folder: str
    inputs: tuple[Input, ...]
    previous: Released | None
    names: frozenset[str]  # of releases in the commit


class Sources:
    """Lays out commits of one repository. project: a folder in it. room: an empty folder of ours."""

    def __init__(self, project: str, room: str) -> None:
        self._ends = Ends(project, room)

    @property
    def repository(self) -> Repository:
        """The one that holds the project. Raises: SpecError if none does."""
        return self._ends.repository

    def open(self, commit: Commit) -> PacketSource:
        """A commit to make a packet of.

        Raises: SpecError if it, or a release in it, can't be read as a whole; OSError.
        """
        packets = self._read_packets(commit)
        end = self.lay_out(commit, commit.id)
        return PacketSource(
            commit=commit,
            project_path=self.repository.prefix or ".",
            folder=end.folder,
            inputs=self._list_inputs(commit, end.folder),
            previous=_find_previous(packets),
            names=frozenset(packets),
        )

    def lay_out(self, commit: Commit, name: str) -> End:
        """Its project alone. Raises: SpecError, OSError."""
        end = self._ends.lay_out(commit, name)
        return End(folder=end.folder, revision=Revision(name=name, commit=commit.id))

    def _read_packets(self, commit: Commit) -> dict[str, bytes]:
        prefix = f"{self.repository.prefix}/{RELEASES}".removeprefix("/")
        blobs = self.repository.read_tree(commit, prefix, may_lack=True).blobs
        wanted = {path: blob for path, blob in blobs.items() if path.count("/") == 1 and path.endswith(f"/{INDEX}")}
        found = self.repository.read_blobs(wanted, max_bytes=MAX_INDEX_BYTES)
        return {path.partition("/")[0]: data for path, data in found.items()}

    def _list_inputs(self, commit: Commit, folder: str) -> tuple[Input, ...]:
        tree = self.repository.read_tree(commit)
        found = {}
        for path in tree.blobs:
            with open(os.path.join(folder, path), "rb") as file:  # noqa: PTH118, PTH123 (paths may not be UTF-8)
                found[path] = digest_bytes(file.read())
        if tree.links:
            entries = self.repository.list_entries(commit)
            links = {path: entries[path].id for path in tree.links}
            texts = self.repository.read_blobs(links, max_bytes=_MAX_LINK_BYTES)
            found |= {path: digest_bytes(text) for path, text in texts.items()}
        named = {path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"): path for path in found}
        return tuple(Input(path=name, sha256=found[named[name]]) for name in sorted(named))


def _find_previous(packets: Mapping[str, bytes]) -> Released | None:
    try:
        return find_previous(packets)
    except PacketError as error:
        raise SpecError([_say_unreadable(str(error))]) from None


def _say_unreadable(what: str) -> Finding:
    return Finding(
        code="release-unreadable",
        severity="error",
        place=Place(RELEASES),
        what=what,
        why="the next release names the one before by its digest, and takes the next number",
        rule="poolwright releases",
        fix="restore what the releases were committed as; of two with one number remove one, and commit",
    )
