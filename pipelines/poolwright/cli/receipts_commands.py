"""Commands about receipts."""

from __future__ import annotations

from typing import Any

import click

from poolwright.cli.group import Command, cli, form_option

_LIVE = (
    "A cluster as it runs: what kubectl get resourceclaims,pods,resourceslices,deviceclasses,nodes -A prints (-o yaml "
    "or json), a Snapshot, or - for standard input. Can be given several times."
)


class _Receipts(click.Group):
    """A group whose help ends with an example, as a command's does."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 (click's)
        """The example, in the place of an epilog."""
        with formatter.section("Example"):
            formatter.write_text("poolwright receipts --project examples/fleet --cluster lab")


_kubernetes_option = click.option(
    "--kubernetes", metavar="VERSION", help="Of objects, where nothing else says it; default: the newest known."
)


@cli.group(cls=_Receipts, invoke_without_command=True)
@click.option("--project", metavar="DIR", help="A folder in the project; default: this one, unless files are named.")
@click.option("--cluster", metavar="NAME", help="Only this cluster.")
@click.option("--slot", metavar="ID", help="A planned claim, by its id or the first digits of it.")
@click.option("--claim", metavar="UID|[NAMESPACE/]NAME", help="An observed claim.")
@click.option("--pod", metavar="UID|[NAMESPACE/]NAME", help="What a pod has.")
@click.option("--device", metavar="UUID|[[DRIVER/]POOL/]NAME", help="Who has a device.")
@click.option("--model", metavar="NAME", help="Of a model, by its name, its digest, or its envelope.")
@click.option("--release", metavar="NAME", help="Of a release.")
@click.option("--live", multiple=True, metavar="FILE", help=_LIVE)
@click.option("--from", "made", metavar="RECEIPTS.JSON", help="Receipts that were made before, such as a packet's.")
@_kubernetes_option
@form_option("How they are printed; `poolwright schema Receipts` describes the JSON.")
def receipts(made: str | None, live: tuple[str, ...], form: Any, **asked: str | None) -> int:
    """Say which claim has which devices, or will have: why these, and what if they go.

    Without --live or --from the claims that the project's workloads will need: one packing of devices and not a
    prediction. Nothing found is exit code 1.
    """
    if click.get_current_context().invoked_subcommand is not None:
        if made is not None or live or any(value is not None for value in asked.values()):
            raise click.UsageError("options of `compare` stand behind it")
        return 0
    from poolwright.cli.receipts import ReceiptsOptions, run_receipts
    from poolwright.receipts.find import Query

    if made is not None and live:
        raise click.UsageError("--from and --live are read one at a time")
    names = ("slot", "claim", "pod", "device", "model", "release")
    return run_receipts(
        ReceiptsOptions(
            project=asked["project"],
            cluster=asked["cluster"],
            live=live,
            made=made,
            kubernetes=asked["kubernetes"],
            form=form,
            query=Query(**{name: asked[name] for name in names}),
        )
    )


@receipts.command(cls=Command, example="poolwright receipts compare planned.json observed.json")
@click.option("--live", multiple=True, metavar="FILE", help=f"In the place of the second. {_LIVE}")
@click.option("--project", metavar="DIR", help="With --live: the project that the cluster is of.")
@click.option("--cluster", metavar="NAME", help="The cluster that objects are of.")
@_kubernetes_option
@form_option("How it is printed; `poolwright schema ReceiptComparison` describes the JSON.")
@click.argument("files", nargs=-1, required=True, metavar="FIRST [SECOND]")
def compare(live: tuple[str, ...], form: Any, files: tuple[str, ...], **asked: str | None) -> int:
    """Explain every difference: a plan against what is there, or what was there against what is there now.

    FIRST is planned or observed receipts, SECOND observed ones; each may be objects of a cluster or a Snapshot as well.
    Exit code 0: nothing that matters differs.
    """
    from poolwright.cli.receipts import ReceiptsOptions, run_compare

    if len(files) != (1 if live else 2):
        raise click.UsageError("two are compared: name FIRST and SECOND, or FIRST and --live FILE")
    options = ReceiptsOptions(
        project=asked["project"], cluster=asked["cluster"], live=live, kubernetes=asked["kubernetes"], form=form
    )
    return run_compare(files, options)
