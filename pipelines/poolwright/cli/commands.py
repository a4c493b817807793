"""The command line, but for `generate`'s own start-up path: options, help, and the exit codes of refusals."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from poolwright.cli.output import say
from poolwright.files.disk import DiskError
from poolwright.specs.finding import SpecError, render_text

_EXIT_CODES = "Exit codes: 0 yes, 1 no (findings, differences), 2 could not answer."
_GROUPS = {
    "Write": ("init", "check", "schema", "explain"),
    "Render": ("render", "generate"),
    "Fit": ("allocate", "plan", "price"),
    "Review": ("comment",),
    "Release": ("pin",),
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


class _Command(click.Command):
    """A command whose help ends with an example that works from a checkout."""

    def __init__(self, *args: Any, example: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 (click's signature)
        with formatter.section("Example"):
            formatter.write_text(self.example)


def run_command() -> int:
    """Run the command in sys.argv; its exit code. Raises OSError where the system refuses a file or stdout."""
    try:
        # Not cli.main: it would take a reader's leaving for itself, and end with the exit code that means "no".
        with cli.make_context("poolwright", sys.argv[1:]) as context:
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


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EXIT_CODES)
def cli() -> None:
    """Render GPU inference pools on Kubernetes DRA from versioned specs into Kustomize overlays for Argo CD."""


_project = click.option(
    "--project", default=".", metavar="DIR", help="A folder in the project: the nearest poolwright.yaml at or above it."
)
_as_of = click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="The day that rehearsals are judged on; default: today in UTC.",
)


def _form(text: str) -> Callable[[Any], Any]:
    """The option that chooses between text and JSON, with its help."""
    choice = click.Choice(["text", "json"])
    return click.option("--format", "form", type=choice, default="text", show_default=True, help=text)


@cli.command(cls=_Command, example="poolwright init my-fleet")
@click.argument("folder", default=".", metavar="[DIR]")
def init(folder: str) -> int:
    """Write a small working repository to edit."""
    from poolwright.cli.init import run_init

    return run_init(folder)


@cli.command(cls=_Command, example="poolwright check --project examples/fleet")
@_project
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
@_as_of
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


@cli.command(cls=_Command, example="poolwright render --project examples/fleet --check")
@_project
@click.option("--cluster", metavar="NAME", help="Only this cluster's units, and the bases they stand on.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the tree isn't what the specs give.")
@click.option("--out", metavar="DIR", help="Write the tree below this folder instead of the project.")
@click.option("--verify", is_flag=True, help="Then build every folder with real Kustomize and compare.")
@click.option("--discard-edits", is_flag=True, help="Overwrite files of ours that were edited by hand.")
def render(project: str, cluster: str | None, check: bool, out: str | None, verify: bool, discard_edits: bool) -> int:
    """Write the Kustomize tree: bases, units and each folder's manifest."""
    from poolwright.cli.render import run_render

    return run_render(project, cluster, check=check, out=out, verify=verify, discard_edits=discard_edits)


@cli.command(cls=_Command, example="poolwright generate --project examples/fleet --cluster east --unit chat-70b")
@_project
@click.option("--cluster", required=True, metavar="NAME", help="The cluster.")
@click.option("--unit", required=True, metavar="NAME", help="The placement, or `platform`.")
def generate(project: str, cluster: str, unit: str) -> int:
    """Print the finished objects of one unit, as real Kustomize would build them.

    Prints objects or nothing: whatever stands in the way is said on stderr, with exit code 2. Reads only the unit's own
    specs. Where the unit's folder is committed it must be current, because its bytes are what reviewers saw.
    """
    from poolwright.cli.generate import run_generate

    return run_generate([f"--project={project}", f"--cluster={cluster}", f"--unit={unit}"])


@cli.command(cls=_Command, example="poolwright allocate examples/pending-pod.yaml")
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
@_form("How the answer is printed; `poolwright schema AllocationList` describes the JSON.")
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


@cli.command(cls=_Command, example="poolwright plan --project examples/fleet --cluster lab")
@_project
@click.option("--cluster", metavar="NAME", help="Only this cluster.")
@_form("How the plan is printed; `poolwright schema FitPlan` describes the JSON.")
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


@cli.command(cls=_Command, example="poolwright price rag-8b --project examples/fleet")
@_project
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
@_form("How the price is printed; `poolwright schema PriceList` describes the JSON.")
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


@cli.command(cls=_Command, example="poolwright schema Envelope")
@click.argument(
    "kind",
    type=click.Choice(
        (
            *("all", "Project", "Stack", "Pool", "Envelope", "Placement", "FeatureLedger", "Rehearsal", "Lock"),
            *("FindingList", "AllocationList", "FitPlan", "FitReplay", "PriceList", "PinReport", "RehearsalMatrix"),
            *("Snapshot", "UpgradePlan"),
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


@cli.command(cls=_Command, example="poolwright comment --report examples/report.json --dry-run")
@click.option("--report", metavar="FILE", help="What `poolwright diff --format json` printed, or - for standard input.")
@click.option("--github", metavar="OWNER/REPO", help="The repository; default: GITHUB_REPOSITORY.")
@click.option("--pull", type=click.IntRange(1), metavar="N", help="The pull request; default: that of GITHUB_REF.")
@click.option(
    "--workflow-run",
    metavar="EVENT.JSON",
    help="Instead of --pull: the event of a job `on: workflow_run`. The pull request is the open one with the run's "
    "branch and commit; if that isn't exactly one, nothing is posted.",
)
@click.option("--gitlab", metavar="PROJECT", help="The project, by number or path; default: CI_PROJECT_ID.")
@click.option(
    "--merge-request", type=click.IntRange(1), metavar="N", help="The merge request; default: CI_MERGE_REQUEST_IID."
)
@click.option(
    "--gitlab-all",
    is_flag=True,
    help="Instead of --report: every open merge request of the project, each with the report that its own pipeline "
    "made of its head. For a scheduled pipeline on the protected default branch.",
)
@click.option("--job", metavar="NAME", help="With --gitlab-all: the job that makes it; default: poolwright-report.")
@click.option(
    "--artifact", metavar="PATH", help="With --gitlab-all: the file in its artifacts; default: poolwright-report.json."
)
@click.option("--link", metavar="URL", help="An address, https, under which the whole report is.")
@click.option("--name", metavar="PROJECT", help="Refuse a report of another project.")
@click.option(
    "--author",
    metavar="LOGIN",
    help="Who writes with this token, where it can't say so itself; default: github-actions[bot].",
)
@click.option("--always", is_flag=True, help="Post a comment even if nothing changes and none is there.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Change nothing, and print the requests that would; without a token or number, the sizes of the pages.",
)
@click.option("--bodies", is_flag=True, help="With --dry-run: also the pages themselves.")
def comment(**options: Any) -> int:
    """Keep one comment of ours on a pull request or merge request up to date, or as many as its pages need.

    The token comes from the environment: GH_TOKEN or GITHUB_TOKEN; POOLWRIGHT_GITLAB_TOKEN or GITLAB_TOKEN.
    GITHUB_API_URL and CI_API_V4_URL name servers of one's own; HTTPS_PROXY is heeded. Comments of others are never
    touched, and while the report is the same nothing is sent.
    """
    from poolwright.cli.comment import run_comment
    from poolwright.cli.comment_target import build_options

    return run_comment(build_options(options))


@cli.command(cls=_Command, example="poolwright pin --check --project examples/fleet")
@_project
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit code 1 if the lock would change.")
@click.option(
    "--online",
    is_flag=True,
    help="Ask registries for the digest of every image and chart, by HTTPS (HTTPS_PROXY is heeded) and without "
    "credentials; exit code 2, and the lock as it was, unless each of them answers.",
)
@click.option(
    "--upgrade",
    "upgrades",
    multiple=True,
    metavar="COMPONENT",
    help="Let this component move to the newest version in its range: kubernetes, gpuOperator, gpuDriver, "
    "containerRuntime, containerToolkit, a DRA driver's name, pricing or bounds; repeatable.",
)
@_form("How it is printed; `poolwright schema PinReport`, UpgradePlan and RehearsalMatrix describe the JSON.")
@click.option(
    "--matrix", is_flag=True, help="Print the combinations in use, and which rehearsals are owed, and write nothing."
)
@_as_of
@click.option(
    "--plan",
    is_flag=True,
    help="Print the steps from the lock as it is to the new one, with claims at risk, and write nothing.",
)
@click.option("--from", "since", metavar="FILE", help="With --plan: the earlier lock; default: the project's own.")
def pin(
    project: str,
    only_check: bool,
    online: bool,
    upgrades: tuple[str, ...],
    form: Any,
    matrix: bool,
    as_of: Any,
    plan: bool,
    since: str | None,
) -> int:
    """Write poolwright.lock: exact versions, charts, digests that are known, and the memory that claims ask for.

    What the lock says is kept while the specs hold it. Without --online nothing is asked of any network.
    """
    from poolwright.cli.pin import PinOptions, run_pin

    if since is not None and not plan:
        raise click.UsageError("--from goes with --plan")
    if plan and matrix:
        raise click.UsageError("--plan and --matrix are printed one at a time")
    options = PinOptions(
        project=project,
        check=only_check,
        online=online,
        upgrades=upgrades,
        form=form,
        matrix=matrix,
        plan=plan,
        since=since,
    )
    return run_pin(options, as_of.date() if as_of else None)


@cli.command(cls=_Command, example="poolwright explain Envelope.spec.load.contextTokens")
@click.argument("subject")
@_project
def explain(subject: str, project: str) -> int:
    """Say what a finding's CODE means, what a FIELD is, or which spec lines an OBJECT follows from.

    A field is KIND.PATH. An object is CLUSTER/UNIT/KIND/NAME, with #/POINTER for one of its fields.
    """
    from poolwright.cli.explain import run_explain

    return run_explain(subject, project)


@cli.command(cls=_Command, example="poolwright facts hardware")
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


@cli.command(cls=_Command, example="poolwright version")
def version() -> int:
    """Print the version, the render format and the Kubernetes releases known."""
    from poolwright.cli.version import run_version

    return run_version()
