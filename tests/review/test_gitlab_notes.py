"""What becomes of a merge request's notes, and of all merge requests of a project by their own reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from contract_server import Answer, run_contract_server
from github_run import Poster
from gitlab_server import GitLabServer, Merge
from reports import build_report, render_pages

from poolwright.changes.report import Report, render_report
from run_poolwright import Ran

A, B, C = "a" * 40, "b" * 40, "c" * 40
OLD, NEW = build_report("one"), build_report("two")
NOTES = "/projects/platform%2Ffleet/merge_requests/7/notes"
TO = ("--gitlab", "platform/fleet", "--merge-request", "7")


def bodies(report: Report, author: str = "project_42_bot") -> list[str]:
    return [f"{author}: {body}" for body in render_pages(report, limit=1_000_000, project=report.project)]


def said(what: str, code: str, why: str, fix: str, place: str = "poolwright comment") -> str:
    return f"{place}: {what}  [{code}]\n  why  {why} (poolwright comment)\n  fix  {fix}\n"


@pytest.fixture
def gitlab() -> Iterator[GitLabServer]:
    with run_contract_server(GitLabServer(merges={7: Merge(7, A)})) as found:
        yield found


@pytest.fixture
def poster(anyone: Poster, gitlab: GitLabServer) -> Poster:
    anyone.environment.setenv("CI_API_V4_URL", gitlab.address)
    anyone.environment.setenv("POOLWRIGHT_GITLAB_TOKEN", gitlab.token)
    return anyone


def post(poster: Poster, report: Report, *options: str) -> Ran:
    poster.write(report)
    return poster.run("--report", "report.json", *(options or TO))


def done(*lines: str, name: str = "platform/fleet!7") -> Ran:
    return Ran(0, "".join(f"{name}: {line}\n" for line in lines), "")


def test_a_note_is_made_kept_changed_and_pages_come_and_go(gitlab: GitLabServer, poster: Poster) -> None:
    two = build_report("a", "b")
    assert post(poster, two) == done("page 1 of 2 posted", "page 2 of 2 posted")
    assert gitlab.bodies(7) == bodies(two)
    gitlab.asked.clear()
    assert post(poster, two) == done("page 1 of 2 is as it should be", "page 2 of 2 is as it should be")
    assert gitlab.asked == ["GET /user", f"GET {NOTES}"]
    assert post(poster, OLD) == done("page 1 of 1 updated", "a comment that was one too many deleted")
    assert gitlab.writes == [f"PUT {NOTES}/2001", f"DELETE {NOTES}/2002"]
    assert gitlab.bodies(7) == bodies(OLD)


def test_notes_of_others_and_of_gitlab_are_left_alone(gitlab: GitLabServer, poster: Poster) -> None:
    forged = bodies(OLD)[0].partition(": ")[2]
    gitlab.add(7, forged, "mallory")
    gitlab.add(7, forged, system=True)
    before = gitlab.bodies(7)
    for report in (OLD, NEW):
        assert post(poster, report).code == 0
    assert gitlab.bodies(7) == [*before, *bodies(NEW)]


def test_ci_says_project_and_number(gitlab: GitLabServer, poster: Poster) -> None:
    for name, value in (("GITLAB_CI", "true"), ("CI_PROJECT_ID", "42"), ("CI_MERGE_REQUEST_IID", "7")):
        poster.environment.setenv(name, value)
    poster.write(OLD)
    assert poster.run("--report", "report.json") == done("page 1 of 1 posted", name="42!7")


def test_a_dry_run_names_requests(gitlab: GitLabServer, poster: Poster) -> None:
    post(poster, build_report("a", "b"))
    gitlab.asked.clear()
    count = len(bodies(OLD)[0]) - len("project_42_bot: ")
    assert post(poster, OLD, *TO, "--dry-run") == Ran(
        0, f"PUT {NOTES}/2001  page 1 of 1, {count} characters\nDELETE {NOTES}/2002\n", ""
    )
    assert gitlab.writes == []


def test_a_token_that_does_not_say_whose_it_is(gitlab: GitLabServer, poster: Poster) -> None:
    gitlab.username = None
    for report in (OLD, NEW):
        assert post(poster, report, *TO, "--author", "named-bot").code == 0
    assert gitlab.bodies(7) == bodies(NEW, "named-bot")


# --- refusals ---


def archive(gitlab: GitLabServer, _: Poster) -> None:
    gitlab.is_archived = True


def lock(gitlab: GitLabServer, _: Poster) -> None:
    gitlab.merges[7].is_locked = True


def expire(gitlab: GitLabServer, _: Poster) -> None:
    gitlab.token = "another"


def forbid(gitlab: GitLabServer, _: Poster) -> None:
    gitlab.faults.append(("POST", lambda _, __: Answer(403, {"message": "403 Forbidden"})))


def hide_user(gitlab: GitLabServer, _: Poster) -> None:
    gitlab.username = None


def shorten(gitlab: GitLabServer, _: Poster) -> None:
    gitlab.faults.append(("POST", lambda _, __: Answer(400, {"message": {"note": ["is too long"]}})))


def job_token_alone(_: GitLabServer, poster: Poster) -> None:
    poster.environment.delenv("POOLWRIGHT_GITLAB_TOKEN")
    poster.environment.setenv("CI_JOB_TOKEN", "secret-job-token")


RIGHTS = (
    "review-denied",
    "the token lacks the scope api, or its role in the project is below Reporter",
    "make a project access token with the role Reporter and the scope api",
)
REFUSED: dict[str, tuple[Callable[[GitLabServer, Poster], None], str]] = {
    "archived": (
        archive,
        said(
            "the project of platform/fleet!7 is archived, and takes no comments",
            "review-locked",
            "an archived project can only be read",
            "unarchive it, or stop the job",
        ),
    ),
    "locked": (
        lock,
        said(
            "platform/fleet!7 is locked, and takes no comments from this token",
            "review-locked",
            "who locked the discussion wants comments of the project's members alone",
            "unlock it, or make the token's user a member of the project",
        ),
    ),
    "expired": (
        expire,
        said(
            "HOST doesn't know this token (401)",
            "review-denied",
            "it has expired, was revoked, or is for another server",
            "make a new project access token with the scope api, and set POOLWRIGHT_GITLAB_TOKEN to it",
        ),
    ),
    "no-right-to-write": (forbid, said("HOST doesn't let this token write comments of platform/fleet!7", *RIGHTS)),
    "a-token-that-hides-whose-it-is": (
        hide_user,
        said("HOST doesn't let this token read comments of platform/fleet!7", *RIGHTS),
    ),
    "too-long": (
        shorten,
        said(
            "HOST doesn't take the comment on platform/fleet!7 (400)",
            "review-refused",
            "a body has at most 1,000,000 characters, and some servers allow fewer",
            "look at what would be posted: --dry-run --bodies",
        ),
    ),
    "the-job's-token-alone": (
        job_token_alone,
        said(
            "neither POOLWRIGHT_GITLAB_TOKEN nor GITLAB_TOKEN is set",
            "review-token",
            "comments are written by somebody, and CI_JOB_TOKEN may read notes but write none",
            "make a project access token with the role Reporter and the scope api, and a protected, masked variable "
            "POOLWRIGHT_GITLAB_TOKEN with it",
        ),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str, gitlab: GitLabServer, poster: Poster) -> None:
    prepare, text = REFUSED[name]
    prepare(gitlab, poster)
    ran = post(poster, OLD)
    assert ran == Ran(2, "", text.replace("HOST", host_of(gitlab)))
    assert (gitlab.bodies(7), "secret" in ran.stderr) == ([], False)


def test_another_number_is_another_merge_request(gitlab: GitLabServer, poster: Poster) -> None:
    text = said(
        f"{host_of(gitlab)} shows this token no platform/fleet!8 (404)",
        "review-missing",
        "it isn't there, or is private and the token isn't for it; the two look the same",
        "check the project, the number after the `!`, and which project the token is for",
    )
    assert post(poster, OLD, *TO[:3], "8") == Ran(2, "", text)


# --- every open merge request, each with its own report ---

JOB = "poolwright-report"
REPORT = render_report(OLD)


def row(
    number: int, report: bytes | None = REPORT, *, name: str = JOB, status: str = "success"
) -> tuple[int, str, str, bytes | None]:
    return (number, name, status, report)


def post_all(poster: Poster, *options: str) -> Ran:
    return poster.run("--gitlab", "platform/fleet", "--gitlab-all", *options)


# a merge request with a pipeline -> the line about it
ALL: dict[str, tuple[Merge, str]] = {
    "a-report": (Merge(7, A, jobs=[row(1)]), ""),
    # The newest, whichever the server lists first.
    "a-job-that-was-run-again": (Merge(7, A, jobs=[row(1, b"old"), row(5), row(3, b"older")]), ""),
    "the-result-of-merging": (
        Merge(7, A, pipeline_commit=C, pipeline_ref="refs/merge-requests/7/merge", parents=(B, A), jobs=[row(1)]),
        "",
    ),
    "the-result-of-merging-an-older-head": (
        Merge(7, A, pipeline_commit=C, pipeline_ref="refs/merge-requests/7/merge", parents=(B, C), jobs=[row(1)]),
        "its newest pipeline is of another commit than its head",
    ),
    # A branch may be called so that its ref looks like it.
    "a-branch-that-merges-the-head": (
        Merge(7, A, pipeline_commit=C, pipeline_ref="refs/merge-requests/8/merge", parents=(B, A), jobs=[row(1)]),
        "its newest pipeline is of another commit than its head",
    ),
    "an-older-commit": (
        Merge(7, A, pipeline_commit=B, jobs=[row(1)]),
        "its newest pipeline is of another commit than its head",
    ),
    "no-pipeline": (Merge(7, A, has_pipeline=False), "no pipeline has run for it"),
    "a-fork": (
        Merge(7, A, pipeline_project=99, jobs=[row(1)]),
        "its pipeline ran in a fork, whose jobs aren't read: a member can run one in this project, on the tab "
        "Pipelines of the merge request",
    ),
    "a-job-that-failed": (
        Merge(7, A, jobs=[row(1, status="failed")]),
        "the job of its pipeline that makes the report hasn't succeeded, or isn't there",
    ),
    "another-job": (
        Merge(7, A, jobs=[row(1, name="poolwright-report-2")]),
        "the job of its pipeline that makes the report hasn't succeeded, or isn't there",
    ),
    "an-artifact-that-expired": (
        Merge(7, A, jobs=[row(1, None)]),
        "its job left no such artifact, or it has expired",
    ),
}


@pytest.mark.parametrize("name", ALL)
def test_the_report_of_a_merge_request(name: str, gitlab: GitLabServer, poster: Poster) -> None:
    merge, why = ALL[name]
    gitlab.merges = {7: merge}
    note = f"poolwright comment: nothing is posted to platform/fleet!7: {why}\n"
    try:
        assert post_all(poster) == (Ran(0, "", note) if why else done("page 1 of 1 posted"))
        assert gitlab.bodies(7) == ([] if why else bodies(OLD))
    finally:
        merge.notes.clear()


def test_what_stops_one_merge_request_stops_no_other(gitlab: GitLabServer, poster: Poster) -> None:
    large = b" " * ((32 << 20) + 1)
    gitlab.merges = {
        1: Merge(1, A, jobs=[row(1, b'{"pull": 7}')]),
        2: Merge(2, A, jobs=[row(2, large)]),
        3: Merge(3, A, jobs=[row(3, render_report(build_report("two", head=B)))]),
        4: Merge(4, A, jobs=[row(4)]),
    }
    ran = post_all(poster)
    assert ran == Ran(
        2,
        "platform/fleet!3: page 1 of 1 posted\nplatform/fleet!4: page 1 of 1 posted\n",
        "platform/fleet!1:poolwright-report.json: it is no ChangeReport of poolwright.dev/v1alpha1: Object contains "
        "unknown field `pull`  [review-report]\n"
        "  why  a comment is made from a report and nothing else, and reports of pull requests may be anybody's work "
        "(poolwright comment)\n"
        "  fix  make one: poolwright diff BASE HEAD --format json > report.json\n"
        + said(
            f"{host_of(gitlab)} answers with more than 33,554,432 bytes",
            "review-nonsense",
            "what can't be understood isn't acted on",
            "check the address of the API and what stands between it and here, such as a proxy",
            "platform/fleet!2",
        )
        + f"poolwright comment: the report says that it is of {B}; the head of platform/fleet!3 is {A}\n",
    )
    assert [gitlab.bodies(number) for number in (1, 2, 3, 4)] == [
        [],
        [],
        bodies(build_report("two", head=B)),
        bodies(OLD),
    ]


def test_a_locked_merge_request_is_no_failure_of_every_run(gitlab: GitLabServer, poster: Poster) -> None:
    gitlab.merges = {7: Merge(7, A, jobs=[row(1)], is_locked=True), 8: Merge(8, A, jobs=[row(2)])}
    assert post_all(poster) == Ran(
        0,
        "platform/fleet!8: page 1 of 1 posted\n",
        REFUSED["locked"][1].replace("poolwright comment: ", "platform/fleet!7: ", 1),
    )


def test_job_and_artifact_are_named(gitlab: GitLabServer, poster: Poster) -> None:
    gitlab.merges[7].jobs = [row(1, name="diff")]
    assert post_all(poster, "--job", "diff") == done("page 1 of 1 posted")
    note = (
        "poolwright comment: nothing is posted to platform/fleet!7: its job left no such artifact, or it has expired\n"
    )
    assert post_all(poster, "--job", "diff", "--artifact", "out/a b.json").code == 2
    assert post_all(poster, "--job", "diff", "--artifact", "out/report.json") == Ran(0, "", note)


@pytest.mark.parametrize("path", ["../../../user", "a/../b", "/a", "a?b", "", "a//b", "."])
def test_artifacts_that_lead_elsewhere(path: str, gitlab: GitLabServer, poster: Poster) -> None:
    text = said(
        "the artifact isn't named by a plain path",
        "review-setup",
        "it is a part of the address that is asked for",
        "--artifact poolwright-report.json",
    )
    assert post_all(poster, "--artifact", path) == Ran(2, "", text)
    assert gitlab.asked == []


def host_of(gitlab: GitLabServer) -> str:
    return gitlab.address.removeprefix("http://").partition("/")[0]
