"""Commands of Argo CD's plugin, beside `generate --argocd`."""

from __future__ import annotations

from typing import Any

import click

from poolwright.cli.group import Command, cli


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
