"""Commands that print what Poolwright rests on."""

from __future__ import annotations

from typing import Any

import click

from poolwright.cli.group import Command, cli


@cli.command(cls=Command, example="poolwright facts hardware")
@click.argument("table", required=False)
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How rows are printed.",
)
@click.option(
    "--project",
    metavar="DIR",
    help="With the rows that the project of this folder adds or overrides, which are marked. Of `ledger` the project.",
)
def facts(table: str | None, output: Any, project: str | None) -> int:
    """Print what specs rest on and nobody writes in a spec: the tables, or the rows of one, each with its source.

    `ledger` is no table: it joins the project's FeatureLedger with the facts about each alpha or beta feature in use.
    """
    from poolwright.cli.facts import LEDGER, run_facts, run_ledger

    return run_ledger(project or ".", output) if table == LEDGER else run_facts(table, output, project)


@cli.command(cls=Command, example="poolwright version")
def version() -> int:
    """Print the version, the render format and the Kubernetes releases known."""
    from poolwright.cli.version import run_version

    return run_version()
