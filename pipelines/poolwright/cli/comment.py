"""`poolwright comment`: what a change does, kept as one comment on its pull request or merge request."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import Final

from poolwright.changes.report import MAX_REPORT_BYTES, Report, ReportError, parse_report
from poolwright.cli.comment_target import CommentOptions, Target, check_link, check_named, find_target
from poolwright.cli.comment_words import note, note_other_commit, print_pages, tell_done, tell_plan
from poolwright.cli.output import say
from poolwright.comments.marker import Marker, render_marker
from poolwright.review.forum import Forum
from poolwright.review.limits import LIMITS, LONG
from poolwright.review.merge_requests import NoReport, OpenMerge, ReportSource, check_artifact, fetch_report, list_open
from poolwright.review.post import Posting, keep_comments, plan_comments
from poolwright.review.refusal import ReviewError
from poolwright.review.transport import Api
from poolwright.review.workflow_run import MAX_EVENT_BYTES, NoPull, find_pull, parse_event
from poolwright.specs.finding import Finding, SpecError, render_text
from poolwright.specs.place import Place

COMMAND: Final = "poolwright comment"
_MAX_PAGES: Final = 50  # each tells everybody who watches the conversation


def run_comment(options: CommentOptions) -> int:
    """Keep the comments up to date; 0: they are, or none is wanted; 2: some couldn't be.

    Raises: SpecError if the report, the options or the server stand in the way.
    """
    try:
        check_link(options.link)
        target = find_target(options, os.environ)
        if options.gitlab_all:
            return _post_all(options, target)
        if options.workflow_run is not None:
            return _post_for_run(options, target, options.workflow_run)
        return _post(options, target)
    except ReviewError as error:
        raise SpecError([_describe(error, COMMAND)]) from None


def _post(options: CommentOptions, target: Target) -> int:
    """To the pull request or merge request that is named."""
    _, posting = _read_report(options, target)
    if options.dry_run and (target.number is None or target.token is None):
        if target.number is not None:
            note("without a token nothing is asked, so what is there already isn't known")
        return print_pages(posting, bodies=options.bodies)
    number = check_named(target)
    _keep(target.open_forum(target.open_api(LIMITS), number, options.author), posting, options)
    return 0


def _post_for_run(options: CommentOptions, target: Target, event: str) -> int:
    """To the pull request that a workflow run was for. That there is none any more is no failure."""
    report, posting = _read_report(options, target)
    run = parse_event(_read(event, MAX_EVENT_BYTES))
    if target.repository is not None and target.repository.lower() != run.repository.lower():
        raise ReviewError(
            code="review-event",
            what=f"the event is of {run.repository}, and the repository is said to be {target.repository}",
            why="a run's pull request is in the repository that it ran in",
            fix="leave --github out, or name that repository",
        )
    if options.dry_run and target.token is None:
        note("without a token nothing is asked, so which pull request it is isn't known")
        return print_pages(posting, bodies=options.bodies)
    api = target.open_api(LIMITS)
    found = find_pull(api, run)
    if isinstance(found, NoPull):
        note(f"nothing is posted in {run.repository} for the run of {run.commit}: {found.why}")
        return 0
    forum = replace(target, repository=run.repository).open_forum(api, found.number, options.author)
    note_other_commit(report, found.commits, forum.name)
    _keep(forum, posting, options)
    return 0


def _post_all(options: CommentOptions, target: Target) -> int:
    """To every open merge request, each with the report of its own pipeline; what stops one stops no other."""
    if target.repository is None:
        check_named(target)
    source = ReportSource(job=options.job, artifact=check_artifact(options.artifact))
    api = target.open_api(LONG)
    code = 0
    for merge in list_open(api, str(target.repository)):
        name = f"{target.repository}!{merge.number}"
        try:
            _post_one(options, target, api, merge, source)
        except (ReviewError, SpecError) as error:
            findings = error.findings if isinstance(error, SpecError) else (_describe(error, name),)
            say(render_text(findings), error=True)
            if not (isinstance(error, ReviewError) and error.code == "review-locked"):
                code = 2  # a lock is somebody's wish: were it a failure, each run would fail from then on
    return code


def _post_one(options: CommentOptions, target: Target, api: Api, merge: OpenMerge, source: ReportSource) -> None:
    name = f"{target.repository}!{merge.number}"
    found = fetch_report(api, str(target.repository), merge, source, most_bytes=MAX_REPORT_BYTES)
    if isinstance(found, NoReport):
        note(f"nothing is posted to {name}: {found.why}")
        return
    file = f"{name}:{source.artifact}"
    report = _parse(found.data, file, options)
    note_other_commit(report, found.commits, name)
    _keep(target.open_forum(api, merge.number, options.author), _build(report, file, options, target), options)


def _keep(forum: Forum, posting: Posting, options: CommentOptions) -> None:
    if options.dry_run:
        tell_plan(forum, plan_comments(forum, posting), posting, bodies=options.bodies)
    else:
        tell_done(forum, keep_comments(forum, posting, LIMITS), posting)


def _read_report(options: CommentOptions, target: Target) -> tuple[Report, Posting]:
    report = _parse(_read(options.report, MAX_REPORT_BYTES), options.report, options)
    return report, _build(report, options.report, options, target)


def _build(report: Report, name: str, options: CommentOptions, target: Target) -> Posting:
    """Raises: SpecError of a report that would fill a conversation."""
    from poolwright.comments.errors import CommentError  # here: it loads what renders pages
    from poolwright.comments.pages import build_pages, build_summary_pages

    try:
        bodies = build_pages(report, limit=target.max_characters, project=report.project, link=options.link)
        if len(bodies) > _MAX_PAGES:  # the names of all that changes, and no more
            bodies = build_summary_pages(report, limit=target.max_characters, project=report.project, link=options.link)
    except CommentError as error:
        raise SpecError([_refuse_report(name, f"it can't be made into comments: {error}")]) from None
    if len(bodies) > _MAX_PAGES:
        what = f"it would take {len(bodies):,} comments, and {_MAX_PAGES} is the most"
        raise SpecError([_refuse_report(name, what)])
    return Posting(project=report.project, bodies=bodies, is_wanted=options.always or not report.is_empty)


def _parse(data: bytes, name: str, options: CommentOptions) -> Report:
    """A report that anybody may have made. Raises: SpecError if it is none, or of a project that it shouldn't be of."""
    try:
        report = parse_report(data)
    except ReportError as error:
        raise SpecError([_refuse_report(name, str(error))]) from None
    try:
        render_marker(Marker(project=report.project, page=1, of=1, report="0" * 64))
    except ValueError:
        raise SpecError([_refuse_report(name, "the name of its project is none that a project can have")]) from None
    if options.name is not None and report.project != options.name:
        what = f"it is a report of project {report.project!r}, and --name says {options.name!r}"
        raise SpecError([_refuse_report(name, what)])
    return report


def _read(path: str, most_bytes: int) -> bytes:
    """A file, or standard input for -; at most one byte more than is allowed, which is refused as too much."""
    try:
        if path == "-":
            data = sys.stdin.buffer.read(most_bytes + 1)
        else:
            with open(path, "rb") as file:  # noqa: PTH123 (start-up: no pathlib)
                data = file.read(most_bytes + 1)
    except (OSError, ValueError, AttributeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "there is none"
        raise SpecError([_refuse_report(path, f"the file can't be read: {reason}")]) from None
    if len(data) > most_bytes:
        raise SpecError([_refuse_report(path, f"the file has more than {most_bytes:,} bytes")])
    return data


def _refuse_report(name: str, what: str) -> Finding:
    return Finding(
        code="review-report",
        severity="error",
        place=Place("stdin" if name == "-" else name),
        what=what,
        why="a comment is made from a report and nothing else, and reports of pull requests may be anybody's work",
        rule=COMMAND,
        fix="make one: poolwright diff BASE HEAD --format json > report.json",
    )


def _describe(error: ReviewError, name: str) -> Finding:
    return Finding(
        code=error.code,
        severity="error",
        place=Place(name),
        what=error.what,
        why=error.why,
        rule=COMMAND,
        fix=error.fix,
    )
