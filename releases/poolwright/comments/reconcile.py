"""From the comments that are there to the pages that should be: what to send, with as few requests as possible.

A comment can't be put between two others, so pages are put in order by writing them into the comments in the order in
which these were made. A new comment tells everybody who watches; a changed one tells nobody. So a comment is
made only where there are fewer of them than pages, and deleted only where there are more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from poolwright.comments.marker import Marker, parse_marker


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """A comment as the server lists it."""

    id: int
    author: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """A comment that is that page already: no request."""

    id: int
    page: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """A comment that becomes that page."""

    id: int
    page: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """A page that no comment is left for."""

    page: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """A comment that no page is left for."""

    id: int


Action = Keep | Update | Create | Delete


def choose_ours(comments: Iterable[Comment], *, author: str, project: str) -> tuple[Comment, ...]:
    """The comments of this project that we wrote, the oldest first.

    A marker alone makes none ours, because anybody can write or quote one; nor does the author alone, who may write
    other comments, and those of another project in the same repository.

    comments: all of the conversation, in any order; ids grow with time.
    author:   who we are; upper and lower case are alike, as on GitHub and GitLab.
    """
    ours = (
        one
        for one in comments
        if one.author.lower() == author.lower()
        and (marker := parse_marker(one.body)) is not None
        and marker.project == project
    )
    return tuple(sorted(ours, key=lambda one: one.id))


def reconcile(ours: Sequence[Comment], bodies: Sequence[str]) -> tuple[Action, ...]:
    """What makes the comments these pages, in the order to do it: pages from first to last, then what is too much.

    A comment whose marker is that of the page is that page, whatever is below: the marker names the report, and what
    somebody changed by hand in it, or a server in its spaces, stays until there is another report.

    ours:   as choose_ours gives them.
    bodies: the pages; none: there should be no comment.
    Cost:   comments times pages.
    """
    for body in bodies:
        if parse_marker(body) is None:
            raise ValueError("a page that begins with no marker would never be found again")
    have = [parse_marker(one.body) for one in ours]
    want = [parse_marker(body) for body in bodies]
    chosen = _choose_comments(have, want)
    pages: list[Action] = []
    for number, body in enumerate(bodies, 1):
        if number > len(chosen):
            pages.append(Create(page=number, body=body))
            continue
        index = chosen[number - 1]
        is_same = have[index] == want[number - 1]
        one = ours[index]
        pages.append(Keep(id=one.id, page=number) if is_same else Update(id=one.id, page=number, body=body))
    kept = set(chosen)
    return (*pages, *(Delete(id=one.id) for index, one in enumerate(ours) if index not in kept))


def find_duplicates(ours: Sequence[Comment], bodies: Sequence[str]) -> tuple[Delete, ...]:
    """What a second job that posted the same report at the same time has left beside ours, or we beside its.

    Both jobs come to the same answer, and neither touches pages of another report: the job that posted that one would
    do the same to ours, and nothing would be left.
    """
    wanted = {parse_marker(body) for body in bodies}
    alike = [one for one in ours if parse_marker(one.body) in wanted]
    return tuple(action for action in reconcile(alike, bodies) if isinstance(action, Delete))


def _choose_comments(have: Sequence[Marker | None], want: Sequence[Marker | None]) -> list[int]:
    """Which comments hold the first pages, by index and in order: as many as can be used, as few of them to change."""
    used = min(len(have), len(want))
    # same[p][i]: the most of the pages from p on that are there already, if only comments from i on are left for them.
    same = [[0] * (len(have) + 1) for _ in range(used + 1)]
    for page in reversed(range(used)):
        last = len(have) - (used - page)  # a later comment would leave too few for the pages after it
        for index in reversed(range(last + 1)):
            taken = same[page + 1][index + 1] + (have[index] == want[page])
            same[page][index] = max(taken, same[page][index + 1] if index < last else 0)
    chosen: list[int] = []
    index = 0
    for page in range(used):
        # The oldest that loses nothing, so that two jobs choose alike.
        while same[page + 1][index + 1] + (have[index] == want[page]) < same[page][index]:
            index += 1
        chosen.append(index)
        index += 1
    return chosen
