"""The two ends of a change, and the commits between: from what was typed to folders that can be read."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Final

from poolwright.changes.report import Revision
from poolwright.files.project import find_project
from poolwright.git.commit import Commit
from poolwright.git.lay_out import LaidOut
from poolwright.git.refusals import shorten
from poolwright.git.repository import Repository, open_repository
from poolwright.git.tree import Tree
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.parse import PROJECT_FILE
from poolwright.specs.place import Place

THE_PROJECT: Final = Revision(name="the working folder", commit=None)  # as it is on disk


_TWO: Final = 2  # dots of a range; three stand for what has changed since the merge base


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """A folder to read, and what it is called."""

    folder: str
    revision: Revision


class Ends:
    """Finds the ends of a change; commits are laid out in a folder of ours when they are asked for.

    project: a folder in the project, in its repository, or a bare repository.
    room:    an empty folder of ours.
    """

    def __init__(self, project: str, room: str) -> None:
        self._project = _find_root(project)
        self._room = room
        self._repository: Repository | None = None
        self._last: LaidOut | None = None
        self._count = 0

    def find(self, text: str) -> End | Commit:
        """A folder as it is, or a commit.

        Raises: SpecError if it is neither, or both.
        """
        if _is_path(text):
            return _find_folder(text)
        is_folder = os.path.isdir(text)  # noqa: PTH112
        try:
            commit = self.repository.resolve(text)
        except SpecError:
            if is_folder:
                return _find_folder(text)
            if ".." in text:
                raise SpecError([_range(text)]) from None
            raise
        if is_folder:
            raise SpecError([_ambiguous(text)])
        return commit

    def find_here(self) -> End:
        """The project's folder as it is on disk."""
        return End(folder=self._project, revision=THE_PROJECT)

    def need_commit(self, end: End | Commit) -> Commit:
        """The commit of an end; of the project's folder that which it is checked out at.

        Raises: SpecError for any other folder: nothing leads to it.
        """
        if isinstance(end, Commit):
            return end
        if end.revision is THE_PROJECT:
            return self.repository.resolve("HEAD")
        raise SpecError([_no_history(end.folder)])

    def lay_out(self, commit: Commit, name: str) -> End:
        """A commit's project in a folder of ours; one that is the same as the last shares its folder.

        Raises: SpecError if it can't be read as a whole; OSError that names the folder.
        """
        tree = self.repository.read_tree(commit, may_lack=True)
        if self._last is None or _list_files(self._last.tree) != _list_files(tree):
            self._count += 1
            folder = os.path.join(self._room, str(self._count))  # noqa: PTH118
            os.mkdir(folder, 0o700)  # noqa: PTH102
            try:
                self._last = self.repository.lay_out(tree, folder, like=self._last)
            except OSError as error:
                error.filename = error.filename or folder  # that of a write has none
                raise
        return End(folder=self._last.folder, revision=Revision(name=name, commit=commit.id))

    @property
    def repository(self) -> Repository:
        """The one that holds the project. Raises: SpecError if none does."""
        if self._repository is None:
            self._repository = open_repository(self._project, os.environ)
        return self._repository


def has_project(folder: str) -> bool:
    """Whether a project stands in a folder itself."""
    return os.path.lexists(os.path.join(folder, PROJECT_FILE))  # noqa: PTH118


def _find_root(project: str) -> str:
    """The project's own folder; where there is none above, the folder itself."""
    try:
        return find_project(project)
    except SpecError as error:
        if any(one.code != "project-missing" for one in error.findings) or not os.path.isdir(project):  # noqa: PTH112
            raise
        return project


def _list_files(tree: Tree) -> tuple[object, ...]:
    """What is laid out of a tree."""
    return tree.folders, tree.blobs, tree.links


def _is_path(text: str) -> bool:
    return text in (".", "..") or text.startswith(("/", "./", "../"))


def _find_folder(text: str) -> End:
    if not os.path.isdir(text):  # noqa: PTH112
        raise SpecError([_no_folder(text)])
    return End(folder=text, revision=Revision(name=text, commit=None))


def _no_folder(text: str) -> Finding:
    return Finding(
        code="side-unknown",
        severity="error",
        place=Place(shorten(text)),
        what="there is no such folder",
        why="what begins with /, ./ or ../ is a folder; anything else may be a Git revision",
        rule="poolwright diff",
        fix="name a folder that holds a project or manifests, or a revision",
    )


def _range(text: str) -> Finding:
    """No name of a revision has two dots in it."""
    base, dots, head = re.split(r"(\.{2,})", text, maxsplit=1)
    option = " --merge-base" if len(dots) > _TWO else ""
    return Finding(
        code="side-unknown",
        severity="error",
        place=Place(shorten(text)),
        what="this is a range of revisions, and not one",
        why="base and head are two arguments; without a head the project counts as it is on disk",
        rule="poolwright diff",
        fix=f"write: poolwright diff {shorten(base or 'HEAD')} {shorten(head or 'HEAD')}{option}",
    )


def _ambiguous(text: str) -> Finding:
    return Finding(
        code="side-unknown",
        severity="error",
        place=Place(text),
        what=f"{text} is a folder, and a Git revision too",
        why="which of the two is meant can't be told",
        rule="poolwright diff",
        fix=f"write ./{text} for the folder, or refs/heads/{text} for the branch",
    )


def _no_history(folder: str) -> Finding:
    return Finding(
        code="side-unknown",
        severity="error",
        place=Place(folder),
        what=f"{folder} is a folder, to which no commits lead",
        why="--merge-base and --each-commit go by history",
        rule="poolwright diff",
        fix="name revisions, or leave the two options out",
    )
