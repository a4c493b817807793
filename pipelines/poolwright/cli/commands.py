"""The command line, but for `generate`'s own start-up path: every command, and the exit codes of refusals."""

from __future__ import annotations

import sys

import click

from poolwright.cli import (
    argocd_commands,
    fit_commands,
    other_commands,
    receipts_commands,
    release_commands,
    render_commands,
    review_commands,
    write_commands,
)
from poolwright.cli.group import cli
from poolwright.cli.output import say
from poolwright.cli.room import end_in_order
from poolwright.files.disk import DiskError
from poolwright.specs.finding import SpecError, render_text

# Each adds its commands to the group when it is loaded.
COMMANDS = (
    write_commands,
    render_commands,
    fit_commands,
    review_commands,
    release_commands,
    receipts_commands,
    argocd_commands,
    other_commands,
)


def run_command() -> int:
    """Run the command in sys.argv; its exit code. Raises OSError where the system refuses a file or stdout."""
    try:
        # Not cli.main: it would take a reader's leaving for itself, and end with the exit code that means "no".
        with end_in_order(), cli.make_context("poolwright", sys.argv[1:]) as context:
            return int(cli.invoke(context) or 0)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
    except click.Abort:
        pass
    except SpecError as error:
        say(render_text(error.findings), error=True)
    except DiskError as error:
        say(render_text([error.finding]), error=True)
    return 2
