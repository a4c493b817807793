"""Which commit a revision means."""

from __future__ import annotations

import difflib
import re
from typing import Final

from poolwright.git.commit import MAX_COMMIT_BYTES, Commit, parse_commit
from poolwright.git.objects import Header, open_objects, read_header
from poolwright.git.process import Store, run_git, start_git
from poolwright.git.refusals import refuse_object, refuse_revision, refuse_shallow, shorten
from poolwright.specs.finding import escape_controls

_ABBREVIATED: Final = re.compile(r"[0-9a-f]{4,63}")
_MOST_NAMES: Final = 5  # that a message lists
_MOST_REFS: Final = 10_000  # that near names are looked for in
_HEADS: Final = ("refs/heads/", "refs/tags/", "refs/remotes/")


def resolve_revision(store: Store, revision: str, *, is_shallow: bool) -> Commit:
    """The commit that a revision means, as git reads it: a branch, a tag, `HEAD~2`, the start of an id.

    Raises: SpecError if there is none, or if a name or an abbreviated id means several.
    """
    if not revision or len(revision) > 1000 or escape_controls(revision) != revision:
        raise refuse_revision(f"{shorten(revision)!r} can't be a revision", "name a branch, a tag or a commit")
    if revision.startswith(":/"):  # all of the rest is what git looks for, our ^{commit} too
        what = f"{shorten(revision)} looks for words in messages of commits, from every branch"
        raise refuse_revision(what, f"write HEAD^{{{shorten(revision[1:])}}}, or name a branch, a tag or a commit")
    with open_objects(store) as objects:
        found = objects.read(f"{revision}^{{commit}}", "commit", max_bytes=MAX_COMMIT_BYTES)
        words = objects.end()
    if found is None:
        raise _explain(store, revision, is_shallow)
    if b"' is ambiguous" in words:
        what = f"{shorten(revision)} is the name of several: a branch, a tag, or the start of an id"
        raise refuse_revision(what, "write one in full, as refs/heads/NAME, refs/tags/NAME or the whole commit id")
    return parse_commit(*found)


def _explain(store: Store, revision: str, is_shallow: bool) -> Exception:
    """Why a revision means no commit."""
    shown = shorten(revision)
    header = _look(store, revision)
    if header is not None and header.kind == "commit":
        return refuse_object(f"git can't read commit {header.id}")
    if header is not None:
        what = f"{shown} is a {header.kind}" + (" of what is no commit" if header.kind == "tag" else ", not a commit")
        return refuse_revision(what, "name a branch, a tag or a commit")
    if _ABBREVIATED.fullmatch(revision) and len(ids := _list_candidates(store, revision)) > 1:
        more = ", ..." if len(ids) > _MOST_NAMES else ""
        what = f"{shown} is the start of several ids: {', '.join(ids[:_MOST_NAMES])}{more}"
        return refuse_revision(what, "write more of the id")
    near = _list_near(store, revision)
    fix = f"name one that is here ({', '.join(near)})" if near else ""
    if is_shallow:
        return refuse_shallow(f"there is no commit {shown} in this shallow clone", f"{fix}, or " if fix else "")
    return refuse_revision(f"there is no commit {shown}", fix or "commit something first: there is no branch yet")


def _look(store: Store, revision: str) -> Header | None:
    """What a revision means, if it means anything."""
    with start_git(store, "cat-file", "--batch-check", stdin=-1) as running:
        running.write(revision.encode("utf-8", "surrogateescape") + b"\n")
        return read_header(running, revision)


def _list_candidates(store: Store, start: str) -> list[str]:
    found = run_git(store, "rev-parse", f"--disambiguate={start}").stdout.decode("ascii", "replace")
    return sorted(found.split())


def _list_near(store: Store, revision: str) -> list[str]:
    """Names of branches and tags that are like the one asked for; if none is, the first there are."""
    ended = run_git(store, "for-each-ref", f"--count={_MOST_REFS}", "--format=%(refname)", *_HEADS)
    names: list[str] = []
    for line in ended.stdout.decode("utf-8", "replace").splitlines():
        head = next(head for head in _HEADS if line.startswith(head))
        names.append(line.removeprefix(head))
    near = difflib.get_close_matches(re.split(r"[~^@:]", revision)[0], names, n=_MOST_NAMES)
    return near or names[:_MOST_NAMES]
