"""Commands of who reviews a change."""

from __future__ import annotations

from typing import Any

import click

from poolwright.cli.group import Command, cli, project_option


@cli.command(cls=Command, example="poolwright diff main --project examples/fleet")
@project_option
@click.option("--merge-base", is_flag=True, help="Start where the two parted, as `git diff --merge-base` does.")
@click.option(
    "--each-commit", is_flag=True, help="Judge every commit between too: two safe ends can hide an unsafe middle."
)
@click.option(
    "--fail-on",
    default="error",
    show_default=True,
    metavar="WHAT,...",
    help="What makes the exit code 1: error, warning, note (each with what is worse), change, restart, a finding's "
    "code, or never.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json", "html", "github", "sarif"]),
    default="text",
    show_default=True,
    help="How the report is printed; `poolwright schema ChangeReport` describes the JSON, and html is a page to look "
    "at, with the fleet before and after.",
)
@click.option(
    "--losses", is_flag=True, help="With --format html: also what the loss of each node, device, zone or family does."
)
@click.option("--out", metavar="FILE", help="Also write the report to this file, as JSON, for `poolwright comment`.")
@click.option(
    "--live",
    multiple=True,
    metavar="FILE",
    help="Judge both sides beside what runs, too: what kubectl get resourceclaims,pods,resourceslices,nodes -A prints "
    "(-o yaml or json), or - for standard input. Can be given several times.",
)
@click.option(
    "--cluster", metavar="NAME", help="With --live: the cluster that the files are of, where there are several."
)
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="The day that the report bears; default: today in UTC.",
)
@click.argument("base")
@click.argument("head", required=False)
def diff(fail_on: str, as_of: Any, cluster: str | None, **options: Any) -> int:
    """Say what a change does to every cluster: who fits, who moves, what restarts, what can stick.

    BASE and HEAD are Git revisions, read from the object store alone, or folders (./before ./after) with a project or
    with plain manifests in them. Without HEAD the project's folder counts as it is on disk.
    """
    from poolwright.changes.fail_on import parse_fail_on
    from poolwright.cli.diff import DiffOptions, run_diff

    try:
        words = parse_fail_on(fail_on)
    except ValueError as error:
        raise click.UsageError(f"--fail-on: {error}") from None
    if cluster is not None and not options["live"]:
        raise click.UsageError("--cluster goes with --live")
    if options["losses"] and options["form"] != "html":
        raise click.UsageError("--losses goes with --format html")
    if options["out"] in ("", "-"):
        raise click.UsageError("--out names a file; `--format json` prints the report")
    return run_diff(DiffOptions(fail_on=words, as_of=as_of.date() if as_of else None, cluster=cluster, **options))


@cli.command(cls=Command, example="poolwright comment --report examples/report.json --dry-run")
@click.option("--report", metavar="FILE", help="What `poolwright diff --format json` printed, or - for standard input.")
@click.option("--github", metavar="OWNER/REPO", help="The repository; default: GITHUB_REPOSITORY.")
@click.option("--pull", type=click.IntRange(1), metavar="N", help="The pull request; default: that of GITHUB_REF.")
@click.option(
    "--workflow-run",
    metavar="EVENT.JSON",
    help="Instead of --pull: the event of a job `on: workflow_run`. The pull request is the open one with the run's "
    "branch and commit; if that isn't exactly one, nothing is posted.",
)
@click.option("--gitlab", metavar="PROJECT", help="The project, by number or path; default: CI_PROJECT_ID.")
@click.option(
    "--merge-request", type=click.IntRange(1), metavar="N", help="The merge request; default: CI_MERGE_REQUEST_IID."
)
@click.option(
    "--gitlab-all",
    is_flag=True,
    help="Instead of --report: every open merge request of the project, each with the report that its own pipeline "
    "made of its head. For a scheduled pipeline on the protected default branch.",
)
@click.option("--job", metavar="NAME", help="With --gitlab-all: the job that makes it; default: poolwright-report.")
@click.option(
    "--artifact", metavar="PATH", help="With --gitlab-all: the file in its artifacts; default: poolwright-report.json."
)
@click.option("--link", metavar="URL", help="An address, https, under which the whole report is.")
@click.option("--name", metavar="PROJECT", help="Refuse a report of another project.")
@click.option(
    "--author",
    metavar="LOGIN",
    help="Who writes with this token, where it can't say so itself; default: github-actions[bot].",
)
@click.option("--always", is_flag=True, help="Post a comment even if nothing changes and none is there.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Change nothing, and print the requests that would; without a token or number, the sizes of the pages.",
)
@click.option("--bodies", is_flag=True, help="With --dry-run: also the pages themselves.")
def comment(**options: Any) -> int:
    """Keep one comment of ours on a pull request or merge request up to date, or as many as its pages need.

    The token comes from the environment: GH_TOKEN or GITHUB_TOKEN; POOLWRIGHT_GITLAB_TOKEN or GITLAB_TOKEN.
    GITHUB_API_URL and CI_API_V4_URL name servers of one's own; HTTPS_PROXY is heeded. Comments of others are never
    touched, and while the report is the same nothing is sent.
    """
    from poolwright.cli.comment import run_comment
    from poolwright.cli.comment_target import build_options

    return run_comment(build_options(options))
