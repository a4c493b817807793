"""Commands of who writes specs."""

from __future__ import annotations

from typing import Any

import click

from poolwright.cli.group import Command, as_of_option, cli, project_option


@cli.command(cls=Command, example="poolwright init my-fleet")
@click.argument("folder", default=".", metavar="[DIR]")
def init(folder: str) -> int:
    """Write a small working repository to edit."""
    from poolwright.cli.init import run_init

    return run_init(folder)


@cli.command(cls=Command, example="poolwright check --project examples/fleet --as-of 2026-11-30")
@project_option
@click.option(
    "--format",
    "report",
    type=click.Choice(["text", "json", "markdown", "github", "sarif"]),
    default="text",
    show_default=True,
    help="How findings are printed.",
)
@click.option("--objects", is_flag=True, help="Check plain manifests, FILE... or - for stdin, and no spec.")
@click.option("--kubernetes", metavar="VERSION", help="With --objects: the cluster's version; default: the newest.")
@click.option(
    "--api-versions",
    multiple=True,
    metavar="GROUP/VERSION",
    help="With --objects: an API that the cluster serves beside its defaults; repeatable.",
)
@click.option(
    "--driver-gates",
    metavar="NAME,...",
    help="With --objects: gates of NVIDIA's DRA driver that are on, `none` if none is; default: not known.",
)
@as_of_option
@click.argument("files", nargs=-1, metavar="[FILE]...")
def check(
    project: str,
    report: Any,
    objects: bool,
    kubernetes: str | None,
    api_versions: tuple[str, ...],
    driver_gates: str | None,
    as_of: Any,
    files: tuple[str, ...],
) -> int:
    """Read every spec and say everything that is wrong, where, why and how to mend it."""
    if objects:
        from poolwright.cli.check_objects import run_check_objects

        if not files:
            raise click.UsageError("--objects needs files, or - for standard input")
        if as_of is not None:
            raise click.UsageError("--as-of is for rehearsals, which --objects doesn't read")
        return run_check_objects(
            files, report, kubernetes=kubernetes, api_versions=api_versions, driver_gates=driver_gates
        )
    if files or kubernetes or api_versions or driver_gates:
        raise click.UsageError("FILE, --kubernetes, --api-versions and --driver-gates go with --objects")
    from poolwright.cli.check import run_check

    return run_check(project, report, as_of.date() if as_of else None)


@cli.command(cls=Command, example="poolwright schema Envelope")
@click.argument(
    "kind",
    type=click.Choice(
        (
            *("all", "Project", "Stack", "Pool", "Envelope", "Placement", "FeatureLedger", "Rehearsal", "Lock"),
            *("FindingList", "AllocationList", "FitPlan", "FitReplay", "PriceList", "PinReport", "RehearsalMatrix"),
            *("Snapshot", "UpgradePlan", "ChangeReport", "TrustPolicy", "Receipts", "ReceiptComparison"),
            "FleetReport",
            *("Packet", "PacketLedger", "PacketPrices", "PacketThresholds"),
        )
    ),
)
@click.option("--out", metavar="DIR", help="Write KIND.json into this folder; needed for `all`.")
def schema(kind: str, out: str | None) -> int:
    """Print the JSON Schema of a kind, for editors; `all` writes them as files."""
    from poolwright.cli.schema import run_schema

    if kind == "all" and out is None:
        raise click.UsageError("`all` needs --out DIR")
    return run_schema(kind, out)


@cli.command(cls=Command, example="poolwright explain Envelope.spec.load.contextTokens")
@click.argument("subject")
@project_option
def explain(subject: str, project: str) -> int:
    """Say what a finding's CODE means, what a FIELD is, or which spec lines an OBJECT follows from.

    A field is KIND.PATH. An object is CLUSTER/UNIT/KIND/NAME, with #/POINTER for one of its fields.
    """
    from poolwright.cli.explain import run_explain

    return run_explain(subject, project)
