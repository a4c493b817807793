"""The group that all commands are in, their help, and the options that several have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

_EXIT_CODES = "Exit codes: 0 yes, 1 no (findings, differences), 2 could not answer."
_GROUPS = {
    "Write": ("init", "check", "schema", "explain"),
    "Render": ("render", "generate"),
    "Fit": ("allocate", "plan", "price"),
    "Review": ("diff", "comment"),
    "Release": ("pin", "release", "sign", "verify", "receipts"),
    "Argo CD": ("cmp",),
    "Other": ("facts", "version"),
}


class _Group(click.Group):
    """Commands in the order of the work, under headings."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return [name for names in _GROUPS.values() for name in names]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, names in _GROUPS.items():
            with formatter.section(heading):
                commands = [(name, self.get_command(ctx, name)) for name in names]
                formatter.write_dl([(name, command.get_short_help_str(90)) for name, command in commands if command])


class Command(click.Command):
    """A command whose help ends with an example that works from a checkout."""

    def __init__(self, *args: Any, example: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 (click's signature)
        """The example, in the place of an epilog."""
        with formatter.section("Example"):
            formatter.write_text(self.example)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EXIT_CODES)
def cli() -> None:
    """Render GPU inference pools on Kubernetes DRA from versioned specs into Kustomize overlays for Argo CD."""


project_option = click.option(
    "--project", default=".", metavar="DIR", help="A folder in the project: the nearest poolwright.yaml at or above it."
)
as_of_option = click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="The day that rehearsals are judged on; default: today in UTC.",
)


def form_option(text: str) -> Callable[[Any], Any]:
    """The option that chooses between text and JSON, with its help."""
    choice = click.Choice(["text", "json"])
    return click.option("--format", "form", type=choice, default="text", show_default=True, help=text)
