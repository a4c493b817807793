"""`poolwright diff` of two revisions of a large fleet, by what changed, against rendering that fleet once.

    python benchmarks/diff.py
    python benchmarks/diff.py --clusters 2 --units 18 --runs 1 --format json

What is compared, and what was measured: docs/benchmarks.md. Nothing here is a test: a slow machine prints other
figures and fails nothing. Only a program that fails, or a report that doesn't show the change, ends in exit code 2.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fleet_project import cluster_name, placement_path, write_project
from processes import ComparisonError, Ratio, Run, Runner, compare, middle, parse_count, plan_nodes, spread

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "fleet"
RENDER = "render, cold"
GROWTH = (4, 2)  # a quarter of the clusters, a half


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """One fleet."""

    clusters: int
    units: int  # placements, of all clusters
    devices: int
    medians: Mapping[str, Run]  # of each command, the render first
    ratios: Mapping[str, Ratio]  # of each change


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that is printed."""

    runs: int
    processors: int
    load_before: float  # average of a minute
    load_after: float
    sizes: tuple[Size, ...]  # the smallest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An edit of one file, and how its report shows that it is this one."""

    name: str
    path: Callable[[Path], Path] | None = None  # from the project's folder; None: a commit without a difference
    old: str = ""
    new: str = ""
    shows: Callable[[Mapping[str, Any], int], bool]  # from the report and the number of clusters


def _pools(project: Path) -> Path:
    return project / "specs" / "pools" / f"{cluster_name(0)}.yaml"


def _chat(project: Path) -> Path:
    return placement_path(project, cluster_name(0), "chat-70b")


def _stack(project: Path) -> Path:
    return project / "specs" / "stack.yaml"


def _only_first(report: Mapping[str, Any]) -> bool:
    return bool(report["clusters"] == [cluster_name(0)])


CHANGES = (
    Change(name="nothing", shows=lambda report, _: not report["clusters"]),
    Change(
        name="a promotion in one cluster",
        path=_chat,
        old="version: 2.3.0",
        new="version: 2.4.0",
        shows=lambda report, _: _only_first(report) and len(report["restarts"]) == 1,
    ),
    Change(
        name="a class reworded in one cluster",
        path=_pools,
        old="min: 79Gi",
        new="min: 78Gi",
        shows=lambda report, _: _only_first(report) and [one["change"] for one in report["classes"]] == ["reworded"],
    ),
    Change(
        name="one more replica at most in one cluster",
        path=_chat,
        old="maxReplicas: 3",
        new="maxReplicas: 4",
        shows=lambda report, _: _only_first(report) and len(report["objects"]) == 1,
    ),
    Change(
        name="a class that loses devices in one cluster",
        path=_pools,
        old="      - Hopper\n",
        new="      - Hopper\n      productName:\n      - NVIDIA H100 80GB HBM3\n",
        shows=lambda report, _: _only_first(report) and [one["change"] for one in report["classes"]] == ["shrank"],
    ),
    Change(
        name="another image in every cluster's stack",
        path=_stack,
        old="vllm-openai:v0.33.0",
        new="vllm-openai:v0.33.0-1",
        shows=lambda report, clusters: (
            len(report["clusters"]) == clusters
            and {one["cluster"] for one in report["restarts"]} == {*report["clusters"]}
        ),
    ),
)


def main() -> int:
    """Measure and print; the exit code is 0, or 2 if there was nothing to compare."""
    options = _parse_options()
    load_before = os.getloadavg()[0]
    parts = {-(-options.clusters // part) for part in GROWTH} | {options.clusters}
    sizes = []
    with tempfile.TemporaryDirectory(prefix="poolwright-diff-", dir=options.folder) as folder:
        try:
            for clusters in sorted(parts):
                runs = options.runs if clusters == options.clusters else 1
                sizes.append(measure(Path(folder) / str(clusters), clusters, options.units, options.nodes, runs))
        except ComparisonError as error:
            print(f"benchmarks/diff.py: {error}", file=sys.stderr)
            return 2
    report = Report(
        runs=options.runs,
        processors=os.cpu_count() or 1,
        load_before=round(load_before, 2),
        load_after=round(os.getloadavg()[0], 2),
        sizes=tuple(sizes),
    )
    print(json.dumps(asdict(report), indent=2) if options.format == "json" else "\n".join(render_report(report)))
    return 0


def measure(folder: Path, clusters: int, units: int, nodes: int, runs: int) -> Size:
    """Make a repository in a new folder, a branch for each change, and run every command `runs` times, in turn.

    units:  of each cluster.
    nodes:  of each cluster, with whole GPUs.
    Raises: ComparisonError if a command fails, or a report doesn't show its change.
    """
    project = folder / "project"
    project.mkdir(parents=True)
    write_project(EXAMPLE, project, clusters=clusters, units=units, planned=plan_nodes(nodes))
    runner = Runner(folder)
    _commit(runner, project)
    taken: dict[str, list[Run]] = {}
    for _ in range(runs):
        taken.setdefault(RENDER, []).append(runner.ours("render", project))
        shutil.rmtree(project / "overlays")
        for number, change in enumerate(CHANGES):
            asked = ("main", f"change-{number}", "--format=json", "--fail-on=never")
            taken.setdefault(change.name, []).append(runner.ours("diff", project, *asked))
            if not change.shows(json.loads(runner.output.read_bytes()), clusters):
                raise ComparisonError(f"the report doesn't show the change: {change.name}")
    runner.ours("plan", project, "--cluster", cluster_name(0), codes=(0, 1))
    title = runner.output.read_text().partition("\n")[0]
    return Size(
        clusters=clusters,
        units=clusters * units,
        devices=clusters * int(re.findall(r"(\d+) devices", title)[0]),
        medians={name: middle(found) for name, found in taken.items()},
        ratios={name: compare(taken[name], taken[RENDER]) for name in taken if name != RENDER},
    )


def render_report(report: Report) -> Iterator[str]:
    """The report as lines of text."""
    for size in report.sizes:
        runs = report.runs if size is report.sizes[-1] else 1
        yield f"{size.clusters} clusters, {size.units:,} units, {size.devices:,} devices; runs of each command: {runs}"
        yield f"{'median':<44}{'wall s':>10}{'CPU s':>10}{'peak MiB':>10}"
        for name, run in size.medians.items():
            yield f"{name:<44}{run.wall_s:>10.2f}{run.cpu_s:>10.2f}{run.peak_mib:>10.0f}"
        yield f"{'diff / render, median (lowest to highest)':<44}{'wall':<24}CPU"
        for name, ratio in size.ratios.items():
            yield f"{name:<44}{spread(ratio.wall):<24}{spread(ratio.cpu)}"
        yield ""
    for smaller, larger in zip(report.sizes, report.sizes[1:], strict=False):
        yield f"growth from {smaller.units:,} to {larger.units:,} units (x{larger.units / smaller.units:.1f}), CPU"
        for name, run in larger.medians.items():
            yield f"{name:<44}x{run.cpu_s / smaller.medians[name].cpu_s:.1f}"
        yield ""
    yield f"load average {report.load_before} before, {report.load_after} after, on {report.processors} processors"


def _commit(runner: Runner, project: Path) -> None:
    """The project on a branch `main`, and each change on a branch of its own."""
    git = shutil.which("git")
    if git is None:
        raise ComparisonError("git isn't on PATH")
    own = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@example.com", "-c", "gc.auto=0")
    at = (git, "-C", str(project), *own)

    def commit(subject: str) -> None:
        runner.run([*at, "add", "--all"])
        runner.run([*at, "commit", "--quiet", "--allow-empty", f"--message={subject}"])

    runner.run([*at, "init", "--quiet", "--initial-branch=main"])
    commit("fleet")
    for number, change in enumerate(CHANGES):
        runner.run([*at, "checkout", "--quiet", "-b", f"change-{number}", "main"])
        if change.path is not None:
            _edit(change.path(project), change.old, change.new)
        commit(change.name)
    runner.run([*at, "checkout", "--quiet", "main"])


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    if text.count(old) != 1:
        raise ComparisonError(f"{path} has {text.count(old)} times {old!r}")
    path.write_text(text.replace(old, new))


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare `poolwright diff` of a large fleet with rendering it once.")
    parser.add_argument("--clusters", type=parse_count, default=10, help="default: 10")
    parser.add_argument("--units", type=parse_count, default=50, help="of each cluster (default: 50)")
    parser.add_argument("--nodes", type=parse_count, default=60, help="of each cluster, with whole GPUs (default: 60)")
    parser.add_argument("--runs", type=parse_count, default=3, help="of each command at full size (default: 3)")
    parser.add_argument("--folder", help="where repositories are made and removed again (default: the system's)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
