"""Why a revision can't be read: one finding for each reason, with what to do about it."""

from __future__ import annotations

from typing import Final

from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place

_RULE: Final = "poolwright reading of revisions"
_MOST_SHOWN: Final = 200  # characters of a name or of git's words: both may be somebody's
_OBJECT_FIX: Final = "clone again without --filter, for nothing is fetched here; `git fsck` says what is damaged"
_REST_OF_HISTORY: Final = (
    "fetch the history: `fetch-depth: 0` of actions/checkout, `GIT_DEPTH: 0` in GitLab CI, "
    "`git fetch --unshallow` by hand"
)


def refuse_program(what: str) -> SpecError:
    """The error for a git that isn't there, doesn't start, or is too old."""
    fix = "install git 2.30 or later, or compare two folders"
    return _refuse("git-missing", ".", what, "revisions are read by git's own plumbing", fix)


def refuse_repository(what: str, fix: str) -> SpecError:
    """The error for a folder that no repository holds, or whose repository can't be opened."""
    return _refuse("git-repository", ".", what, "a revision is one of the repository that holds the project", fix)


def refuse_revision(what: str, fix: str) -> SpecError:
    """The error for a revision that doesn't name one commit."""
    return _refuse("git-revision", ".", what, "each side of a comparison is exactly one commit", fix)


def refuse_shallow(what: str, fix: str = "") -> SpecError:
    """The error for what may be in the part of the history that isn't here."""
    why = "a shallow clone has only the newest commits, and nothing is fetched here"
    return _refuse("git-shallow", ".", what, why, f"{fix}{_REST_OF_HISTORY}")


def refuse_range(what: str, fix: str) -> SpecError:
    """The error for two commits between which there is no way, or one that is too long."""
    return _refuse("git-range", ".", what, "commits between two are those that lead from one to the other", fix)


def refuse_path(revision: str, path: str, reason: str) -> SpecError:
    """The error for a commit that doesn't have the project's folder."""
    what = f"commit {revision[:12]} has no folder {shorten(path)}: {reason}"
    why = "both sides are read at the path where the project stands now"
    return _refuse("git-path", path, what, why, "name a revision that has the project at this path")


def refuse_tree(path: str, what: str, fix: str) -> SpecError:
    """The error for a tree that can't be laid out as files."""
    why = "a tree is laid out as it is stored, within bounds, and nothing outside its folder is written"
    return _refuse("git-tree", path or ".", what, why, fix)


def refuse_object(what: str) -> SpecError:
    """The error for an object that is missing or can't be read."""
    why = "a revision is read as a whole or not at all"
    return _refuse("git-object", ".", what, why, _OBJECT_FIX)


def refuse_limit(what: str) -> SpecError:
    """The error for a git that takes too long or says too much."""
    why = "what git may use is bounded, so that no repository can exhaust memory or time"
    fix = "look for what holds git up: a file that the repository's config includes, a network disk, a damaged pack"
    return _refuse("git-limit", ".", what, why, fix)


def shorten(text: str) -> str:
    """The start of a text that may be of any length."""
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "..."


def shorten_words(stderr: bytes) -> str:
    """The line of git's stderr that says why it stopped."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    at = next((at for at, line in enumerate(lines) if line.startswith(("fatal: ", "error: "))), 0)
    words = " ".join(lines[at : at + 2] if lines and lines[at].endswith(":") else lines[at : at + 1])
    return shorten(words.removeprefix("fatal: ").removeprefix("error: ")) or "it doesn't say why"


def _refuse(code: str, file: str, what: str, why: str, fix: str) -> SpecError:
    return SpecError([Finding(code=code, severity="error", place=Place(file), what=what, why=why, rule=_RULE, fix=fix)])
