"""The two ends of a change, and the commits between: from what was typed to folders that can be read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from poolwright.changes.report import Revision
from poolwright.files.project import find_project
from poolwright.git.commit import Commit
from poolwright.git.lay_out import LaidOut
from poolwright.git.repository import Repository, open_repository
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.parse import PROJECT_FILE
from poolwright.specs.place import Place

HERE: Final = "the working folder"  # what the project as it is on disk is called


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
        if _is_path(text) or not os.path.isdir(text):  # noqa: PTH112
            return _find_folder(text) if _is_path(text) else self.repository.resolve(text)
        try:
            self.repository.resolve(text)
        except SpecError:
            return _find_folder(text)
        raise SpecError([_ambiguous(text)])

    def find_here(self) -> End:
        """The project's folder as it is on disk."""
        return End(folder=self._project, revision=Revision(name=HERE, commit=None))

    def need_commit(self, end: End | Commit) -> Commit:
        """The commit of an end; of the project's folder that which it is checked out at.

        Raises: SpecError for any other folder: nothing leads to it.
        """
        if isinstance(end, Commit):
            return end
        if end.folder == self._project and end.revision.name == HERE:
            return self.repository.resolve("HEAD")
        raise SpecError([_no_history(end.folder)])

    def lay_out(self, commit: Commit, name: str) -> End:
        """A commit's project in a folder of its own."""
        self._count += 1
        folder = os.path.join(self._room, str(self._count))  # noqa: PTH118
        os.mkdir(folder, 0o700)  # noqa: PTH102
        self._last = self.repository.lay_out(self.repository.read_tree(commit), folder, like=self._last)
        return End(folder=folder, revision=Revision(name=name, commit=commit.id))

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
        place=Place(text),
        what="there is no such folder",
        why="what begins with /, ./ or ../ is a folder; anything else may be a Git revision",
        rule="poolwright diff",
        fix="name a folder that holds a project or manifests, or a revision",
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
