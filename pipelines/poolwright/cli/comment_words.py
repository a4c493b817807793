"""What `poolwright comment` says of what it does, would do, and leaves undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from poolwright.changes.report import Report
from poolwright.cli.output import say, tell
from poolwright.comments.reconcile import Action, Create, Delete, Keep, Update
from poolwright.review.forum import Forum
from poolwright.review.post import Posting
from poolwright.specs.finding import escape_controls

_LONGEST_COMMIT: Final = 64


def note(text: str) -> None:
    """A sentence beside the product."""
    say(f"poolwright comment: {escape_controls(text)}\n", error=True)


def note_other_commit(report: Report, commits: Sequence[str], name: str) -> None:
    """Say so where a report claims another commit than it should be of.

    It is posted all the same: what a report says is its maker's word, and the commit that merging gives changes
    whenever the base does.
    """
    if report.head.commit not in commits:
        claimed = "no commit" if report.head.commit is None else report.head.commit[:_LONGEST_COMMIT]
        note(f"the report says that it is of {claimed}; the head of {name} is {commits[0]}")


def print_pages(posting: Posting, *, bodies: bool) -> int:
    """The pages by themselves, where nothing is known of what is there."""
    if not posting.is_wanted:
        tell("nothing changes: a comment that is there would be changed to these pages, and none would be made")
    for number, body in enumerate(posting.bodies, 1):
        tell(f"page {number} of {len(posting.bodies)}: {len(body):,} characters")
    _print_bodies(posting, bodies)
    return 0


def tell_plan(forum: Forum, actions: Sequence[Action], posting: Posting, *, bodies: bool) -> None:
    """The requests that would change something, in their order."""
    if all(isinstance(one, Keep) for one in actions):
        tell(f"{forum.name}: {_NOTHING if not actions else 'up to date: no request would be sent'}")
    for action in actions:
        if isinstance(action, Keep):
            continue
        of = (
            f"  page {action.page} of {len(posting.bodies)}, {len(action.body):,} characters"
            if not isinstance(action, Delete)
            else ""
        )
        tell(f"{forum.show_request(action)}{of}")
    _print_bodies(posting, bodies)


def tell_done(forum: Forum, actions: Sequence[Action], posting: Posting) -> None:
    """What was done."""
    if not actions:
        tell(f"{forum.name}: {_NOTHING}")
    for action in actions:
        page = "" if isinstance(action, Delete) else f"page {action.page} of {len(posting.bodies)}"
        tell(f"{forum.name}: {_DONE[type(action)].format(page=page)}")


_NOTHING: Final = "nothing changes and no comment is there, so none is posted (--always posts one)"
_DONE: Final = {
    Keep: "{page} is as it should be",
    Update: "{page} updated",
    Create: "{page} posted",
    Delete: "a comment that was one too many deleted",
}


def _print_bodies(posting: Posting, is_asked: bool) -> None:
    """The pages as they would be sent, but for characters that could move a terminal's cursor."""
    for body in posting.bodies if is_asked else ():
        tell("")
        for line in body.split("\n"):
            tell(line)
