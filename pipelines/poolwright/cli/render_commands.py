"""Commands that render."""

from __future__ import annotations

import click

from poolwright.cli.group import Command, cli, project_option


@cli.command(cls=Command, example="poolwright render --project examples/fleet --check")
@project_option
@click.option("--cluster", metavar="NAME", help="Only this cluster's units, and the bases they stand on.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the tree isn't what the specs give.")
@click.option("--out", metavar="DIR", help="Write the tree below this folder instead of the project.")
@click.option("--verify", is_flag=True, help="Then build every folder with real Kustomize and compare.")
@click.option("--discard-edits", is_flag=True, help="Overwrite files of ours that were edited by hand.")
def render(project: str, cluster: str | None, check: bool, out: str | None, verify: bool, discard_edits: bool) -> int:
    """Write the Kustomize tree: bases, units and each folder's manifest."""
    from poolwright.cli.render import run_render

    return run_render(project, cluster, check=check, out=out, verify=verify, discard_edits=discard_edits)


@cli.command(cls=Command, example="poolwright generate --project examples/fleet --cluster east --unit chat-70b")
@project_option
@click.option("--cluster", metavar="NAME", help="The cluster.")
@click.option("--unit", metavar="NAME", help="The placement, or `platform`.")
@click.option("--argocd", is_flag=True, help="As Argo CD's plugin, without any other option: see below.")
def generate(project: str, cluster: str | None, unit: str | None, argocd: bool) -> int:  # noqa: ARG001 (see below)
    """Print the finished objects of one unit, as real Kustomize would build them.

    Prints objects or nothing: whatever stands in the way is said on stderr, with exit code 2. Reads only the unit's own
    specs. Where the unit's folder is committed it must be current, because its bytes are what reviewers saw.

    --cluster and --unit are required, but with --argocd: then the Application says which unit is meant, by its
    parameters or its path, and the trust file (POOLWRIGHT_TRUST, else /etc/poolwright/trust.yaml) which Argo CD project
    may have it.
    """
    # `main` takes every other way here itself: this is the command's help.
    raise AssertionError("generate has a start-up path of its own")
