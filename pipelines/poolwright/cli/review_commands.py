"""Commands of who reviews a change."""

from __future__ import annotations

from typing import Any

import click

from poolwright.cli.group import Command, as_of_option, cli, project_option


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
    help="How the report is printed; `poolwright schema ChangeReport` describes the JSON.",
)
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
@as_of_option
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
    return run_diff(DiffOptions(fail_on=words, as_of=as_of.date() if as_of else None, cluster=cluster, **options))
