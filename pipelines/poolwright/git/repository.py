"""A repository to compare revisions of: commits, the way between them, and their files. Nothing in it is written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from poolwright.git.check_out import check_out
from poolwright.git.commit import Commit
from poolwright.git.dirty import list_dirty
from poolwright.git.find import find_repository
from poolwright.git.history import find_merge_base, list_commits
from poolwright.git.ignored import list_ignored
from poolwright.git.lay_out import LaidOut, lay_out
from poolwright.git.objects import read_each
from poolwright.git.process import Limits, Store, run_git
from poolwright.git.program import find_git
from poolwright.git.refusals import refuse_program, refuse_repository, shorten_words
from poolwright.git.resolve import resolve_revision
from poolwright.git.tree import Entry, Tree, list_tree, read_tree

MAX_COMMITS: Final = 200
_LIMITS: Final = Limits()
_OLDEST: Final = (2, 30)
_VERSION: Final = re.compile(rb"git version ([0-9]+)\.([0-9]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """An open repository. Every method raises SpecError with one finding, and asks git within its limits."""

    store: Store
    prefix: str  # where the folder that it was opened for stands in its trees; "" is the top
    is_shallow: bool  # whether its history may be cut

    def resolve(self, revision: str) -> Commit:
        """The commit that a revision means, as git reads it: a branch, a tag, `HEAD~2`, the start of an id."""
        return resolve_revision(self.store, revision, is_shallow=self.is_shallow)

    def find_merge_base(self, one: Commit, other: Commit) -> Commit:
        """The nearest common ancestor of two commits."""
        return find_merge_base(self.store, one, other, is_shallow=self.is_shallow)

    def list_commits(
        self, base: Commit, head: Commit, *, most: int = MAX_COMMITS, is_first_parent: bool = False
    ) -> tuple[Commit, ...]:
        """The commits that lead from base to head, head the last: a parent before its children; none is missing.

        is_first_parent: the states that the branch itself went through, without those that merges brought in.
        """
        return list_commits(
            self.store, base, head, most=most, is_first_parent=is_first_parent, is_shallow=self.is_shallow
        )

    def read_tree(self, commit: Commit, prefix: str | None = None, *, may_lack: bool = False) -> Tree:
        """What stands below a folder of a commit; None: where the folder stands that this was opened for.

        may_lack: a commit without that folder is one with nothing in it.
        """
        return read_tree(self.store, commit, self.prefix if prefix is None else prefix, may_lack=may_lack)

    def lay_out(self, tree: Tree, folder: str, *, like: LaidOut | None = None) -> LaidOut:
        """Write a tree's files into an empty folder, as `lay_out` says."""
        return lay_out(self.store, tree, folder, like=like)

    def check_out(self, commit: Commit, folder: str) -> None:
        """Write the folder that this was opened for as a commit has it into an empty one, as `check_out` says."""
        check_out(self.store, commit, self.prefix, folder)

    def list_entries(self, commit: Commit, prefix: str | None = None) -> dict[str, Entry]:
        """Everything below a folder of a commit by its path, nothing left out; None: as of `read_tree`."""
        return list_tree(self.store, commit, self.prefix if prefix is None else prefix)

    def read_blobs(self, blobs: Mapping[str, str], *, max_bytes: int) -> dict[str, bytes]:
        """What files contain, by path. blobs: their ids by path."""
        return dict(zip(blobs, read_each(self.store, blobs.values(), "blob", max_bytes=max_bytes), strict=True))

    def list_dirty(self, commit: Commit, folder: str) -> tuple[str, ...]:
        """Where the folder on disk that this was opened for isn't what a commit has, as `list_dirty` says."""
        return list_dirty(self.list_entries(commit), folder, self.list_ignored(folder))

    def list_ignored(self, folder: str) -> tuple[str, ...]:
        """What of the folder on disk that this was opened for Git ignores, as `list_ignored` says."""
        return list_ignored(self.store, folder.removesuffix(self.prefix).rstrip("/") or "/", folder)


def open_repository(folder: str, environ: Mapping[str, str], *, limits: Limits = _LIMITS) -> Repository:
    """The repository that holds a folder: an ordinary or a bare one, a linked working tree, a submodule.

    environ: where PATH is read; no other variable has an effect, GIT_DIR, GIT_INDEX_FILE and GIT_OBJECT_DIRECTORY of
             hooks included. So in a pre-receive hook what is being pushed isn't there yet.
    Raises:  SpecError if there is none, it can't be opened, or git is missing or too old.
    Cost:    two processes of git.
    """
    found = find_repository(folder)
    store = Store(program=find_git(environ), git_dir=found.git_dir, limits=limits)
    _check_version(store)
    ended = run_git(store, "rev-parse", "--is-shallow-repository")
    if ended.code != 0:
        what = f"the repository that holds {folder} can't be opened: {shorten_words(ended.stderr)}"
        raise refuse_repository(what, "mend it: `git status` there says the same")
    return Repository(store=store, prefix=found.prefix, is_shallow=ended.stdout.strip() == b"true")


def _check_version(store: Store) -> None:
    ended = run_git(store, "version")
    match = _VERSION.match(ended.stdout)
    if ended.code != 0 or match is None:
        raise refuse_program(f"{store.program.path} doesn't say which git it is")
    if (int(match[1]), int(match[2])) < _OLDEST:
        raise refuse_program(f"git is {match[1].decode()}.{match[2].decode()}, which is too old")
