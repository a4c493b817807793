"""Which comments become which pages: few requests, one order, and nobody else's comment touched."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from poolwright.comments.marker import Marker, parse_marker, render_marker
from poolwright.comments.reconcile import (
    Action,
    Comment,
    Create,
    Delete,
    Keep,
    Update,
    choose_ours,
    find_duplicates,
    reconcile,
)

US = "poolwright-bot"


def body(page: int, of: int, report: str = "a", *, project: str = "fleet", text: str = "text") -> str:
    return f"{render_marker(Marker(project=project, page=page, of=of, report=report * 64))}\n{text} {page}"


def pages(of: int, report: str = "a") -> tuple[str, ...]:
    return tuple(body(page, of, report) for page in range(1, of + 1))


def there(*bodies: str, author: str = US) -> tuple[Comment, ...]:
    return tuple(Comment(id=10 + number, author=author, body=text) for number, text in enumerate(bodies))


ONE, TWO, NEW_ONE, NEW_TWO = pages(1), pages(2), pages(1, "b"), pages(2, "b")
# what is there, the pages, what is done
CASES: dict[str, tuple[tuple[Comment, ...], tuple[str, ...], tuple[Action, ...]]] = {
    "the-first-post": ((), TWO, (Create(page=1, body=TWO[0]), Create(page=2, body=TWO[1]))),
    "the-same-report-asks-for-nothing": (there(*TWO), TWO, (Keep(id=10, page=1), Keep(id=11, page=2))),
    # Of the marker's report, so that a maintainer's word under it stays until there is something new to say.
    "an-edit-of-the-same-report-stays": (there(body(1, 1, text="edited")), ONE, (Keep(id=10, page=1),)),
    "an-edit-of-another-report-goes": (
        there(body(1, 1, text="edited")),
        NEW_ONE,
        (Update(id=10, page=1, body=NEW_ONE[0]),),
    ),
    "another-report": (
        there(*TWO),
        NEW_TWO,
        (Update(id=10, page=1, body=NEW_TWO[0]), Update(id=11, page=2, body=NEW_TWO[1])),
    ),
    "more-pages": (there(*ONE), NEW_TWO, (Update(id=10, page=1, body=NEW_TWO[0]), Create(page=2, body=NEW_TWO[1]))),
    "fewer-pages": (there(*TWO), NEW_ONE, (Update(id=10, page=1, body=NEW_ONE[0]), Delete(id=11))),
    # The second page can't be put before the one that is left: it takes that one's place.
    "the-first-page-was-deleted": (
        there(TWO[1]),
        TWO,
        (Update(id=10, page=1, body=TWO[0]), Create(page=2, body=TWO[1])),
    ),
    "the-last-page-was-deleted": (there(TWO[0]), TWO, (Keep(id=10, page=1), Create(page=2, body=TWO[1]))),
    "the-middle-page-was-deleted": (
        there(pages(3)[0], pages(3)[2]),
        pages(3),
        (Keep(id=10, page=1), Update(id=11, page=2, body=pages(3)[1]), Create(page=3, body=pages(3)[2])),
    ),
    "two-jobs-one-after-the-other": (
        there(*TWO, *TWO),
        TWO,
        (Keep(id=10, page=1), Keep(id=11, page=2), Delete(id=12), Delete(id=13)),
    ),
    "two-jobs-in-turns": (
        there(TWO[0], TWO[0], TWO[1], TWO[1]),
        TWO,
        (Keep(id=10, page=1), Keep(id=12, page=2), Delete(id=11), Delete(id=13)),
    ),
    "two-jobs-of-different-reports": (there(*ONE, *NEW_ONE), NEW_ONE, (Keep(id=11, page=1), Delete(id=10))),
    "a-third-report-goes-into-the-oldest": (
        there(*ONE, *NEW_ONE),
        pages(1, "c"),
        (Update(id=10, page=1, body=pages(1, "c")[0]), Delete(id=11)),
    ),
    "pages-in-the-wrong-order": (
        there(TWO[1], TWO[0]),
        TWO,
        (Update(id=10, page=1, body=TWO[0]), Update(id=11, page=2, body=TWO[1])),
    ),
    # One deleted and one made would do too, and would tell everybody.
    "no-comment-is-made-while-one-is-to-spare": (
        there(*NEW_ONE, *TWO),
        pages(3),
        tuple(Update(id=10 + number, page=number + 1, body=text) for number, text in enumerate(pages(3))),
    ),
    "no-pages": (there(*ONE), (), (Delete(id=10),)),
}


@pytest.mark.parametrize("name", CASES)
def test_reconcile(name: str) -> None:
    comments, bodies, actions = CASES[name]
    assert reconcile(comments, bodies) == actions


def carry_out(comments: tuple[Comment, ...], actions: tuple[Action, ...]) -> list[str]:
    """The first lines, by age, once the actions are done."""
    found = {one.id: one.body for one in comments}
    for action in actions:
        match action:
            case Update():
                found[action.id] = action.body
            case Create():
                found[100 + action.page] = action.body
            case Delete():
                del found[action.id]
    return [found[key].partition("\n")[0] for key in sorted(found)]


def test_every_set_of_comments_becomes_the_pages_with_the_fewest_requests() -> None:
    """All sets of up to four comments out of four kinds, against trying every choice of comments."""
    wanted = pages(3)
    kinds = (*wanted, NEW_ONE[0])
    for count in range(5):
        for bodies in product(kinds, repeat=count):
            comments = there(*bodies)
            for goal in (wanted[:1], wanted[:2], wanted):
                actions = reconcile(comments, goal)
                assert carry_out(comments, actions) == [text.partition("\n")[0] for text in goal]
                used = min(count, len(goal))
                fewest = min(
                    sum(parse_marker(bodies[index]) != parse_marker(text) for index, text in zip(chosen, goal))  # noqa: B905
                    for chosen in combinations(range(count), used)
                )
                assert sum(isinstance(one, Update) for one in actions) == fewest
                assert sum(isinstance(one, Create) for one in actions) == len(goal) - used


OURS = {
    "ours": (there(*ONE), 1),
    "another-author-with-our-marker": (there(*ONE, author="mallory"), 0),
    "upper-case": (there(*ONE, author="Poolwright-Bot"), 1),
    "a-name-that-begins-like-ours": (there(*ONE, author=f"{US}[bot]"), 0),
    "quoted": (there(f"> {ONE[0]}"), 0),
    "marker-further-down": (there(f"hello\n{ONE[0]}"), 0),
    "marker-after-a-space": (there(f" {ONE[0]}"), 0),
    "more-on-the-marker's-line": (there(ONE[0].replace("-->", "--> hello", 1)), 0),
    "another-project": (there(body(1, 1, project="fleet-2")), 0),
    "no-marker": (there("a word of ours"), 0),
    "lines-that-end-as-on-windows": (there(ONE[0].replace("\n", "\r\n")), 1),
}


@pytest.mark.parametrize("name", OURS)
def test_which_are_ours(name: str) -> None:
    comments, count = OURS[name]
    assert len(choose_ours(comments, author=US, project="fleet")) == count


def test_ours_are_in_the_order_in_which_they_were_made() -> None:
    comments = there(*pages(3))
    assert choose_ours(reversed(comments), author=US, project="fleet") == comments


DUPLICATES: dict[str, tuple[tuple[Comment, ...], tuple[Delete, ...]]] = {
    "none": (there(*TWO), ()),
    "in-turns": (there(TWO[0], TWO[0], TWO[1], TWO[1]), (Delete(id=11), Delete(id=13))),
    # Its job sees the same, and would delete ours.
    "another-report-is-left-to-the-next-run": (there(*TWO, *NEW_TWO), ()),
}


@pytest.mark.parametrize("name", DUPLICATES)
def test_duplicates(name: str) -> None:
    comments, deleted = DUPLICATES[name]
    assert find_duplicates(comments, TWO) == deleted


def test_a_page_without_a_marker_is_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match="a page that begins with no marker would never be found again"):
        reconcile((), ("text",))
