"""Keep the comments of one conversation up to date, whatever else happens to them meanwhile."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from poolwright.comments.reconcile import (
    Action,
    Create,
    Delete,
    Keep,
    Update,
    choose_ours,
    find_duplicates,
    reconcile,
)
from poolwright.review.forum import Forum
from poolwright.review.limits import Limits
from poolwright.review.refusal import ChangedError, ReviewError, UnsureError


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """What a conversation should have of us."""

    project: str
    bodies: tuple[str, ...]
    is_wanted: bool = True  # where none of ours is there yet; what is there is kept up to date in any case


def plan_comments(forum: Forum, posting: Posting) -> tuple[Action, ...]:
    """What would be done now; none: there is no comment, and none is wanted. Reads, and changes nothing.

    Raises: ReviewError.
    """
    return _plan(forum, posting, forum.read_author())


def keep_comments(forum: Forum, posting: Posting, limits: Limits) -> tuple[Action, ...]:
    """Make the comments what they should be, and say what was done.

    A comment that may have been made though no answer came is looked for before it is made again. After a new comment
    the conversation is read once more, for another job that did the same at the same time.

    Raises: ReviewError; what was done until then stays, and the next run goes on from there.
    """
    author = forum.read_author()
    done: list[Action] = []
    for number in range(limits.rounds):
        if number:
            time.sleep(limits.back_off_s * 2**number)  # what was written a moment ago may not be listed yet
        actions = _plan(forum, posting, author)
        try:
            for action in actions:
                _carry_out(forum, action, author)
                done.append(action)
        except (UnsureError, ChangedError):
            if number == limits.rounds - 1:
                raise
            continue
        if number or any(isinstance(one, Create) for one in done):
            done += _delete_duplicates(forum, posting, author)
        return _sum_up(done)
    raise AssertionError("the last round returns or raises")


def _plan(forum: Forum, posting: Posting, author: str) -> tuple[Action, ...]:
    ours = choose_ours(forum.list_comments(), author=author, project=posting.project)
    if not ours and not posting.is_wanted:
        return ()
    return reconcile(ours, posting.bodies)


def _delete_duplicates(forum: Forum, posting: Posting, author: str) -> tuple[Delete, ...]:
    ours = choose_ours(forum.list_comments(), author=author, project=posting.project)
    deletes = find_duplicates(ours, posting.bodies)
    for one in deletes:
        forum.delete(one.id)
    return deletes


def _carry_out(forum: Forum, action: Action, author: str) -> None:
    match action:
        case Keep():
            pass
        case Update():
            forum.update(action.id, action.body)
        case Delete():
            forum.delete(action.id)
        case Create():
            made = forum.create(action.body)
            if made.author.lower() != author.lower():
                forum.delete(made.id)  # the next run wouldn't find it, and would make another
                raise ReviewError(
                    code="review-author",
                    what=f"{forum.name} has comments of this token under another name than {author!r}",
                    why="comments of ours are found by who wrote them; the new one was taken back",
                    fix="--author LOGIN: the name that stands above comments made with this token",
                )


def _sum_up(done: Sequence[Action]) -> tuple[Action, ...]:
    """What was done, without the pages that a later round only found as they should be."""
    changed = {one.page for one in done if isinstance(one, Update | Create)}
    kept: dict[int, Keep] = {}
    rest: list[Action] = []
    for one in done:
        if isinstance(one, Keep):
            if one.page not in changed:
                kept[one.page] = one
        else:
            rest.append(one)
    return (*kept.values(), *rest)
