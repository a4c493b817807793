"""Commands of Argo CD's plugin, beside `generate --argocd`."""

from __future__ import annotations

from typing import Any

import click

from poolwright.cli.group import Command, cli, form_option, project_option


class _Plugin(click.Group):
    """A group whose help ends with an example, as a command's does."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 (click's)
        """The example, in the place of an epilog."""
        with formatter.section("Example"):
            formatter.write_text("poolwright cmp announce-parameters --project examples/fleet")


@cli.group(cls=_Plugin)
def cmp() -> None:
    """What Argo CD's config management plugin does beside rendering, which is `poolwright generate --argocd`."""


@cmp.command("announce-parameters", cls=Command, example="poolwright cmp announce-parameters --project examples/fleet")
@click.option("--project", metavar="DIR", help="A folder in the project; default: what Argo CD sent.")
def announce_parameters(**options: Any) -> int:
    """Print the plugin's parameters for Argo CD's user interface, with the clusters and units that there are."""
    from poolwright.cli.announce import run_announce

    return run_announce(options["project"])


@cmp.command(cls=Command, example="poolwright cmp discover")
def discover() -> int:
    """Print a line if the Application whose folder this is belongs to poolwright, else nothing: for `spec.discover`."""
    from poolwright.cli.discover import run_discover

    return run_discover()


@cmp.command(
    "test",
    cls=Command,
    example="poolwright cmp test --project examples/fleet --repo examples/fleet --app lab-alpha-guard-1b7 "
    "--trust pipelines/argocd/trust.yaml",
)
@project_option
@click.option("--app", metavar="NAME", help="Instead of APP.YAML: the Application of this name in overlays/*/argocd.")
@click.option("--repo", metavar="DIR", help="What is sent; default: the repository that holds the project.")
@click.option("--revision", metavar="REV", help="Send this Git revision, not the folder as it is on disk.")
@click.option(
    "--plugin",
    "plugins",
    multiple=True,
    metavar="FILE",
    help="A plugin.yaml; default: Poolwright's own. Can be given several times, as there can be several sidecars.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.2),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="The caller's deadline; argocd-cmp-server gives up 0.1 s before it.",
)
@click.option(
    "--paths", is_flag=True, help="Send what the annotation manifest-generate-paths leaves of the repository."
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="GLOB",
    help="What plugin-tar-exclude leaves out, by its path in the repository, such as .git. Can be given several times.",
)
@click.option("--allow-oob-symlinks", is_flag=True, help="Send links that are absolute or leave the repository.")
@click.option(
    "--env",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    help="A variable of the sidecar's own environment; it has PATH and HOME=/ without. Can be given several times.",
)
@click.option("--trust", metavar="FILE", help="The sidecar's trust file, as POOLWRIGHT_TRUST names it.")
@click.option("--kube-version", default="", metavar="VERSION", help="Of the destination, as KUBE_VERSION says it.")
@click.option(
    "--api-versions", multiple=True, metavar="GROUP/VERSION", help="Served there. Can be given several times."
)
@click.option(
    "--previous", metavar="FILE", help="The objects that are applied now, or - for standard input: says what goes."
)
@click.option("--parameters", is_flag=True, help="Ask for the plugin's parameters instead, as Argo CD's UI does.")
@form_option("How the answer is printed.")
@click.argument("app_file", metavar="[APP.YAML]", required=False)
def test(**options: Any) -> int:
    """Render an Application by plugin as Argo CD's repo-server and argocd-cmp-server do, without either.

    The repository goes through a tar into a fresh folder, with modes, links, environment, deadline and decoding as
    there; the exit code is 0 if Argo CD would go on with the answer, 1 if not, and 2 if it couldn't be tried.
    """
    from poolwright.cli.cmp_test import CmpTestOptions, run_cmp_test

    return run_cmp_test(CmpTestOptions(**options))
