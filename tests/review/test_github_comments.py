"""What becomes of a pull request's comments, by GitHub's own description of its API."""

from __future__ import annotations

import sys

from contract_server import ContractServer, run_contract_server
from github_run import Poster
from reports import build_report, render_pages

from poolwright.changes.report import Report
from run_poolwright import Ran

NAME = "acme/fleet#7"
COMMENTS = "/repos/acme/fleet/issues/7/comments"
COMMENT = "/repos/acme/fleet/issues/comments"
OLD, NEW = build_report("one"), build_report("two")
ASKED = ["GET /user", f"GET {COMMENTS}"]


def ours(report: Report, *, link: str | None = None, author: str = "poolwright-bot") -> list[str]:
    return [f"{author}: {body}" for body in render_pages(report, limit=65_536, project=report.project, link=link)]


def bodies(report: Report) -> tuple[str, ...]:
    return render_pages(report, limit=65_536, project=report.project)


def done(*lines: str) -> Ran:
    return Ran(0, "".join(f"{NAME}: {line}\n" for line in lines), "")


def test_the_first_post(server: ContractServer, poster: Poster) -> None:
    assert poster.post(OLD, "--link", "https://ci.example.com/7") == done("page 1 of 1 posted")
    assert server.bodies() == ours(OLD, link="https://ci.example.com/7")
    # Once more: another job may have posted at the same time.
    assert server.asked == [*ASKED, f"POST {COMMENTS}", f"GET {COMMENTS}"]


def test_the_same_report_sends_nothing(server: ContractServer, poster: Poster) -> None:
    poster.post(OLD)
    server.asked.clear()
    # Not for another link either: it would be another one in each run.
    assert poster.post(OLD, "--link", "https://ci.example.com/8") == done("page 1 of 1 is as it should be")
    assert (server.asked, server.bodies()) == (ASKED, ours(OLD))


def test_another_report(server: ContractServer, poster: Poster) -> None:
    poster.post(OLD)
    server.asked.clear()
    assert poster.post(NEW) == done("page 1 of 1 updated")
    assert (server.asked, server.bodies()) == ([*ASKED, f"PATCH {COMMENT}/1001"], ours(NEW))


def test_pages_grow_and_shrink(server: ContractServer, poster: Poster) -> None:
    two, three = build_report("a", "b"), build_report("a", "b", "c")
    poster.post(two)
    assert poster.post(three) == done("page 1 of 3 updated", "page 2 of 3 updated", "page 3 of 3 posted")
    assert server.bodies() == ours(three)
    assert poster.post(OLD) == done("page 1 of 1 updated", *["a comment that was one too many deleted"] * 2)
    assert server.bodies() == ours(OLD)


def test_comments_of_others_are_left_alone(server: ContractServer, poster: Poster) -> None:
    """Whatever they begin with, and whoever of us reads them."""
    forged, quoted = bodies(OLD)[0], f"> {bodies(OLD)[0]}"
    for body, login in (
        (forged, "mallory"),
        (quoted, "alice"),
        (forged, "another-bot[bot]"),
        ("a word", "poolwright-bot"),
    ):
        server.add(body, login)
    before = server.bodies()
    assert poster.post(OLD) == done("page 1 of 1 posted")
    assert poster.post(NEW) == done("page 1 of 1 updated")
    assert server.bodies() == [*before, *ours(NEW)]


def test_an_edit_by_somebody_else_stays_until_there_is_another_report(server: ContractServer, poster: Poster) -> None:
    number = server.add(f"{bodies(OLD)[0]}\n\nEdit: we looked at it, see the wiki.")
    before = server.bodies()
    assert poster.post(OLD) == done("page 1 of 1 is as it should be")
    assert (server.writes, server.bodies()) == ([], before)
    assert poster.post(NEW) == done("page 1 of 1 updated")
    assert (server.writes, server.bodies()) == ([f"PATCH {COMMENT}/{number}"], ours(NEW))


def test_a_page_that_somebody_deleted_is_made_again_in_its_place(server: ContractServer, poster: Poster) -> None:
    report = build_report("a", "b", "c")
    poster.post(report)
    del server.comments[1002]
    assert poster.post(report) == done("page 1 of 3 is as it should be", "page 2 of 3 updated", "page 3 of 3 posted")
    assert server.bodies() == ours(report)


def test_two_jobs_that_post_at_the_same_time_leave_one_set(server: ContractServer, poster: Poster) -> None:
    def post_first(_: object, serve: object) -> object:
        server.add(bodies(OLD)[0])
        return serve()  # type: ignore[operator]

    server.faults.append(("POST", post_first))  # type: ignore[arg-type]
    assert poster.post(OLD) == done("page 1 of 1 posted", "a comment that was one too many deleted")
    assert server.bodies() == ours(OLD)
    assert sorted(server.comments) == [1001]


def test_what_two_jobs_left_behind_is_cleared_up(server: ContractServer, poster: Poster) -> None:
    for body in (*bodies(OLD), *bodies(NEW), *bodies(OLD)):
        server.add(body)
    assert poster.post(NEW) == done("page 1 of 1 is as it should be", *["a comment that was one too many deleted"] * 2)
    assert (server.bodies(), sorted(server.comments)) == (ours(NEW), [1002])


def test_a_comment_that_goes_while_we_work(server: ContractServer, poster: Poster) -> None:
    """It is looked again, and posted."""
    poster.post(OLD)

    def delete_first(_: object, serve: object) -> object:
        del server.comments[1001]
        return serve()  # type: ignore[operator]

    server.faults.append(("PATCH", delete_first))  # type: ignore[arg-type]
    assert poster.post(NEW) == done("page 1 of 1 posted")
    assert server.bodies() == ours(NEW)


def test_many_comments_are_read_page_by_page(server: ContractServer, poster: Poster) -> None:
    for number in range(250):
        server.add(f"comment {number}", "alice")
    server.add(bodies(OLD)[0])
    server.asked.clear()
    assert poster.post(OLD) == done("page 1 of 1 is as it should be")
    assert server.asked == ["GET /user", *[f"GET {COMMENTS}"] * 3]


def test_projects_of_one_repository_have_a_comment_each(server: ContractServer, poster: Poster) -> None:
    other = build_report("other", project="fleet-2")
    for report in (OLD, other, NEW, other):
        assert poster.post(report).code == 0
    assert server.bodies() == [*ours(NEW), *ours(other)]


# --- nothing changed ---

NOTHING = build_report("nothing changes", changes=False)
SAID = "nothing changes and no comment is there, so none is posted (--always posts one)"


def test_nothing_is_posted_when_nothing_changes(server: ContractServer, poster: Poster) -> None:
    assert poster.post(NOTHING) == done(SAID)
    assert server.writes == []
    assert poster.post(NOTHING, "--always") == done("page 1 of 1 posted")
    assert server.bodies() == ours(NOTHING)


def test_what_is_there_says_that_nothing_changes_any_more(server: ContractServer, poster: Poster) -> None:
    poster.post(OLD)
    assert poster.post(NOTHING) == done("page 1 of 1 updated")
    assert server.bodies() == ours(NOTHING)


# --- who we are ---


def test_the_token_of_actions_cannot_say_whose_it_is(server: ContractServer, poster: Poster) -> None:
    server.login = None
    for report in (OLD, NEW, NEW):
        assert poster.post(report).code == 0
    assert server.bodies() == ours(NEW, author="github-actions[bot]")


def test_another_app_is_named(server: ContractServer, poster: Poster) -> None:
    server.login, server.writes_as = None, "acme-fleet[bot]"
    for report in (OLD, NEW):
        assert poster.post(report, "--author", "acme-fleet[bot]").code == 0
    assert server.bodies() == ours(NEW, author="acme-fleet[bot]")


def test_another_app_that_is_not_named_leaves_nothing(server: ContractServer, poster: Poster) -> None:
    """Else each run would leave one more comment."""
    server.login, server.writes_as = None, "acme-fleet[bot]"
    assert poster.post(OLD) == Ran(
        2,
        "",
        "poolwright comment: acme/fleet#7 has comments of this token under another name than 'github-actions[bot]'  "
        "[review-author]\n"
        "  why  comments of ours are found by who wrote them; the new one was taken back (poolwright comment)\n"
        "  fix  --author LOGIN: the name that stands above comments made with this token\n",
    )
    assert server.bodies() == []


def test_an_author_that_the_token_contradicts(server: ContractServer, poster: Poster) -> None:
    assert poster.post(OLD, "--author", "alice") == Ran(
        2,
        "",
        "poolwright comment: the token is another user's than --author says  [review-author]\n"
        "  why  comments of ours are found by who wrote them (poolwright comment)\n"
        "  fix  leave --author out: it is for tokens that don't say whose they are\n",
    )
    assert server.writes == []


# --- dry run ---


def test_a_dry_run_changes_nothing_and_says_what_would_be_sent(server: ContractServer, poster: Poster) -> None:
    poster.post(build_report("a", "b"))
    server.asked.clear()
    assert poster.post(build_report("c", "d", "e"), "--dry-run") == Ran(
        0,
        "PATCH /repos/acme/fleet/issues/comments/1001  page 1 of 3, 159 characters\n"
        "PATCH /repos/acme/fleet/issues/comments/1002  page 2 of 3, 159 characters\n"
        "POST /repos/acme/fleet/issues/7/comments  page 3 of 3, 159 characters\n",
        "",
    )
    ran = poster.post(OLD, "--dry-run", "--bodies")
    assert ran == Ran(
        0,
        "PATCH /repos/acme/fleet/issues/comments/1001  page 1 of 1, 161 characters\n"
        f"DELETE /repos/acme/fleet/issues/comments/1002\n\n{bodies(OLD)[0]}\n",
        "",
    )
    assert poster.post(build_report("a", "b"), "--dry-run") == done("up to date: no request would be sent")
    assert server.writes == []


def test_a_dry_run_without_a_token_asks_nobody(server: ContractServer, poster: Poster) -> None:
    poster.environment.delenv("GITHUB_TOKEN")
    note = "poolwright comment: without a token nothing is asked, so what is there already isn't known\n"
    assert poster.post(OLD, "--dry-run") == Ran(0, "page 1 of 1: 161 characters\n", note)
    assert server.asked == []


def test_a_dry_run_without_a_pull_request_prints_pages(anyone: Poster) -> None:
    anyone.write(NOTHING)
    body = bodies(NOTHING)[0]
    assert anyone.run("--report", "report.json", "--dry-run", "--bodies") == Ran(
        0,
        "nothing changes: a comment that is there would be changed to these pages, and none would be made\n"
        f"page 1 of 1: {len(body)} characters\n\n{body}\n",
        "",
    )


# --- what CI says ---


def test_actions_says_repository_and_number(server: ContractServer, poster: Poster) -> None:
    poster.environment.setenv("GITHUB_REPOSITORY", "acme/fleet")
    poster.environment.setenv("GITHUB_REF", "refs/pull/7/merge")
    poster.write(OLD)
    assert poster.run("--report", "report.json") == done("page 1 of 1 posted")


def test_a_server_of_ones_own(anyone: Poster) -> None:
    with run_contract_server(ContractServer(prefix="/api/v3")) as own:
        anyone.use(own)
        assert anyone.post(OLD) == done("page 1 of 1 posted")


def test_the_first_token_is_the_one_that_gh_takes(server: ContractServer, poster: Poster) -> None:
    poster.environment.setenv("GH_TOKEN", server.token)
    poster.environment.setenv("GITHUB_TOKEN", "another")
    assert poster.post(OLD) == done("page 1 of 1 posted")


def test_real_pages_are_found_again(server: ContractServer, poster: Poster) -> None:
    """What really stands in comments, once."""
    poster.environment.delitem(sys.modules, "poolwright.comments.pages")
    assert poster.post(OLD).code == 0
    count = len(server.comments)
    server.asked.clear()
    assert poster.post(OLD).code == 0
    assert (server.writes, len(server.comments)) == ([], count)
