"""The way from one commit to another."""

from __future__ import annotations

from poolwright.git.commit import MAX_COMMIT_BYTES, Commit, has_parents, parse_commit
from poolwright.git.objects import read_each
from poolwright.git.process import Ended, Store, run_git
from poolwright.git.refusals import refuse_object, refuse_range, refuse_shallow, shorten_words


def find_merge_base(store: Store, one: Commit, other: Commit, *, is_shallow: bool) -> Commit:
    """The best common ancestor of two commits; of several that are as good, the one that git names.

    Raises: SpecError if they have none, or if history that isn't here may hold a better one.
    """
    ended = run_git(store, "merge-base", one.id, other.id)
    what = f"{one.id[:12]} and {other.id[:12]} have no common ancestor"
    if ended.code == 1:
        if is_shallow:
            raise refuse_shallow(f"{what} in this shallow clone")
        raise refuse_range(what, "compare the two commits themselves")
    found = _check(ended).decode("ascii").strip()
    if is_shallow:
        rows = _list_rows(store, one.id, other.id, f"^{found}")
        if _is_cut(store, rows):
            raise refuse_shallow(f"{what} that is sure to be the nearest in this shallow clone")
    (data,) = read_each(store, [found], "commit", max_bytes=MAX_COMMIT_BYTES)
    return parse_commit(found, data)


def list_commits(
    store: Store, base: Commit, head: Commit, *, most: int, is_first_parent: bool, is_shallow: bool
) -> tuple[Commit, ...]:
    """The commits that lead from base to head, which is the last of them: a parent before its children.

    is_first_parent: without those that merges brought in.
    Raises:          SpecError if there are more than `most`, or some may not be here.
    """
    options = ["--first-parent"] if is_first_parent else []
    rows = _list_rows(store, *options, "--topo-order", "--reverse", f"--max-count={most + 1}", head.id, f"^{base.id}")
    if len(rows) > most:
        what = f"more than {most} commits lead from {base.id[:12]} to {head.id[:12]}"
        raise refuse_range(what, "compare the two ends alone, or in several steps")
    if is_shallow and _is_cut(store, rows):
        raise refuse_shallow(f"the way from {base.id[:12]} to {head.id[:12]} leaves this shallow clone")
    ids = [row[0] for row in rows]
    texts = read_each(store, ids, "commit", max_bytes=MAX_COMMIT_BYTES)
    return tuple(parse_commit(commit_id, data) for commit_id, data in zip(ids, texts, strict=True))


def _list_rows(store: Store, *arguments: str) -> list[list[str]]:
    """Ids of commits, each with those of its parents that are here."""
    text = _check(run_git(store, "rev-list", "--parents", *arguments, "--")).decode("ascii")
    return [line.split() for line in text.splitlines()]


def _is_cut(store: Store, rows: list[list[str]]) -> bool:
    """Whether any of these commits has parents that aren't here: the clone's history begins with it."""
    roots = [row[0] for row in rows if len(row) == 1]
    return any(has_parents(data) for data in read_each(store, roots, "commit", max_bytes=MAX_COMMIT_BYTES))


def _check(ended: Ended) -> bytes:
    if ended.code != 0:
        raise refuse_object(f"git can't follow the history: {shorten_words(ended.stderr)}")
    return ended.stdout
