"""Commands that say whether it fits."""

from __future__ import annotations

from typing import Any

import click

from poolwright.cli.group import Command, cli, form_option, project_option


@cli.command(cls=Command, example="poolwright allocate examples/pending-pod.yaml")
@click.option("--kubernetes", metavar="VERSION", help="The cluster's version; default: the newest that is known.")
@click.option(
    "--feature-gates",
    "gates",
    multiple=True,
    metavar="NAME=true|false,...",
    help="Gates as the cluster's components have them, where they differ from the version's defaults.",
)
@click.option("--pod", metavar="[NAMESPACE/]NAME", help="Only this pod or claim, as if no other were waiting.")
@click.option("--node", metavar="NAME", help="Only on this node.")
@click.option("--each-alone", is_flag=True, help="Each pod as if no other were waiting.")
@form_option("How the answer is printed; `poolwright schema AllocationList` describes the JSON.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def allocate(
    kubernetes: str | None,
    gates: tuple[str, ...],
    pod: str | None,
    node: str | None,
    each_alone: bool,
    form: Any,
    files: tuple[str, ...],
) -> int:
    """Say which devices kube-scheduler would give to pods and claims, or why none: plain objects in, no specs.

    FILE is what kubectl prints (-o yaml or json) of resourceslices, deviceclasses, resourceclaims,
    resourceclaimtemplates, pods, workloads, nodes and devicetaintrules, or - for standard input. All files together are
    one cluster. Pods are placed one after the other: by priority, then by age, then as given.
    """
    from poolwright.cli.allocate import run_allocate

    return run_allocate(files, form, kubernetes=kubernetes, gates=gates, pod=pod, node=node, each_alone=each_alone)


@cli.command(cls=Command, example="poolwright plan --project examples/fleet --cluster lab")
@project_option
@click.option("--cluster", metavar="NAME", help="Only this cluster.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "html"]),
    default="text",
    show_default=True,
    help="How the plan is printed; `poolwright schema FitPlan` describes the JSON, and html is a page to look at, with "
    "every slot and what each loss does.",
)
@click.option(
    "--loss",
    "losses",
    multiple=True,
    type=click.Choice(["node", "device", "zone", "family", "gates"]),
    help="Also what is left after losing any one of these; can be given several times. A family is a product; a "
    "device is a GPU with all its partitions; gates are all alpha ones together, of Kubernetes and drivers.",
)
@click.option(
    "--add",
    "additions",
    multiple=True,
    metavar="COUNTxMODEL",
    help="Judge with so many more replicas, such as 2xchat-70b: of a placement, of a workload as the plan names it, or "
    "of an envelope that is placed once. Can be given several times.",
)
@click.option("--room", is_flag=True, help="Also how many more replicas of each workload fit.")
@click.option(
    "--live",
    is_flag=True,
    help="Judge the cluster as it runs: FILE is what kubectl get resourceclaims,pods,resourceslices,nodes -A prints "
    "(-o yaml or json), or - for standard input. What is held there stays.",
)
@click.option(
    "--slots",
    is_flag=True,
    help="Also a slot for each claim that a replica will need, with devices that go together: one packing.",
)
@click.option(
    "--replay",
    metavar="PLAN",
    help="Instead carry out the witnesses of a plan that --format json printed, or - for standard input, and say which "
    "come to the same now; `poolwright schema FitReplay` describes the JSON.",
)
@click.argument("files", nargs=-1, metavar="[FILE...]")
def plan(
    project: str,
    cluster: str | None,
    form: Any,
    losses: Any,
    additions: Any,
    room: bool,
    slots: bool,
    live: bool,
    replay: str | None,
    files: tuple[str, ...],
) -> int:
    """Say which workloads fit on their devices, whatever the order, and which may be left out.

    Each is counted at its peak: maxReplicas and surge. 6/6 is served in every order, 3-6/6 depends on who comes first,
    `at most 4/6` in no order, and ? is not known. About devices only.
    """
    if live != bool(files):
        raise click.UsageError("--live goes with FILE...")
    for option, value in (("--loss", losses), ("--add", additions), ("--room", room), ("--slots", slots)):
        if live and value:
            raise click.UsageError(f"{option} is judged of a cluster that starts empty; leave out --live")
    if form == "html":
        for option, value in (
            ("--live", live),
            ("--replay", replay),
            ("--room", room),
            ("--loss gates", "gates" in losses),
        ):
            if value:
                raise click.UsageError(f"{option} isn't on the page; leave it out, or ask for text or json")
        losses = ()  # what the page shows of nodes, devices, zones and families it always shows
    if replay is not None:
        if losses or additions or room or slots or live:
            raise click.UsageError("--replay judges nothing anew: only --project, --cluster and --format go with it")
        from poolwright.cli.replay import run_replay

        return run_replay(project, cluster, form, replay)
    from poolwright.cli.plan import PlanOptions, run_plan

    return run_plan(
        PlanOptions(
            project=project,
            cluster=cluster,
            form=form,
            losses=losses,
            additions=additions,
            room=room,
            slots=slots,
            live=files,
        )
    )


@cli.command(cls=Command, example="poolwright price rag-8b --project examples/fleet")
@project_option
@click.option(
    "--device", default="all", show_default=True, metavar="NAME|all", help="l4, h100-sxm5-80gb/1g.10gb; see facts."
)
@click.option("--engine", metavar="NAME[@VERSION]", help="Such as vllm@0.19.")
@click.option("--weights", metavar="FORMAT", help="Of the linear layers, such as fp8.")
@click.option("--kv", metavar="FORMAT", help="Of keys and values, such as fp8.")
@click.option("--tp", type=click.IntRange(1, 1024), help="Devices that share each layer.")
@click.option("--pp", type=click.IntRange(1, 1024), help="Groups of layers, one after the other.")
@click.option("--context", type=click.IntRange(1, 1 << 24), help="Tokens of the longest request, its answer included.")
@click.option("--concurrency", type=click.IntRange(1, 1 << 20), help="Requests at once, each as long as that.")
@click.option("--batched-tokens", type=click.IntRange(1, 1 << 24), help="Tokens of one engine step.")
@click.option("--max-sequences", type=click.IntRange(1, 1 << 16), help="Sequences that the engine runs at once.")
@click.option("--memory-fraction", metavar="PERCENT", help="The engine's share of memory: 92, or 0.92.")
@click.option("--adapters", metavar="COUNTxRANK", help="4x16: four LoRA slots of rank 16.")
@click.option("--explain", is_flag=True, help="Also the sum line by line, with each line's source.")
@form_option("How the price is printed; `poolwright schema PriceList` describes the JSON.")
@click.argument("subject", metavar="ENVELOPE|CONFIG.JSON")
def price(subject: str, **options: Any) -> int:
    """Say what a model takes of a device's memory, line by line, and whether that is admitted.

    ENVELOPE is NAME@VERSION of the project, or NAME where it has one version. CONFIG.JSON is a model's own, a path with
    a slash in it, or - for standard input; its engine's defaults hold where no option says otherwise. Options come
    before what the envelope says. Exit code 0: admitted, with `all` on some device.
    """
    from poolwright.cli.price import run_price
    from poolwright.cli.price_options import PriceOptions

    return run_price(PriceOptions(subject=subject, **options))
