"""`poolwright release` of a large fleet, and `verify` of what it made, against rendering that fleet once.

    python benchmarks/release.py
    python benchmarks/release.py --clusters 1 --units 18 --nodes 6 --runs 1 --format json

What is compared, and what was measured: docs/benchmarks.md. Nothing here is a test: a slow machine prints other
figures and fails nothing. Only a program that fails ends in exit code 2.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml
from fleet_project import write_project
from processes import ComparisonError, Ratio, Run, Runner, compare, middle, parse_count, plan_nodes, spread

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "fleet"
RENDER = "render, cold"
RELEASE, VERIFY, OFFLINE = "release", "verify, rebuilt", "verify, signatures and digests"
DAY = "2026-11-30"
# Nobody rehearsed what a benchmark makes up.
WAIVER = {
    "rule": "rehearsal-missing",
    "reason": "A benchmark's fleet runs nowhere.",
    "owner": "benchmark",
    "expires": "2027-02-27",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that is printed."""

    clusters: int
    units: int  # placements, of all clusters
    runs: int
    processors: int
    load_before: float  # average of a minute
    load_after: float
    files: int  # of the packet
    packet_mib: float
    medians: Mapping[str, Run]  # of each command, the render first
    ratios: Mapping[str, Ratio]  # of each command to the render


def main() -> int:
    """Measure and print; the exit code is 0, or 2 if there was nothing to compare."""
    options = _parse_options()
    with tempfile.TemporaryDirectory(prefix="poolwright-release-", dir=options.folder) as folder:
        try:
            report = measure(Path(folder), options.clusters, options.units, options.nodes, options.runs)
        except ComparisonError as error:
            print(f"benchmarks/release.py: {error}", file=sys.stderr)
            return 2
    print(json.dumps(asdict(report), indent=2) if options.format == "json" else "\n".join(render_report(report)))
    return 0


def measure(folder: Path, clusters: int, units: int, nodes: int, runs: int) -> Report:
    """Make a repository in a folder, and run every command `runs` times, in turn.

    units:  of each cluster.
    nodes:  of each cluster, with whole GPUs.
    Raises: ComparisonError if a command fails.
    """
    load_before = os.getloadavg()[0]
    project, trust, key = folder / "project", folder / "trust.yaml", folder / "key.pem"
    project.mkdir()
    write_project(EXAMPLE, project, clusters=clusters, units=units, planned=plan_nodes(nodes))
    _waive(project / "poolwright.yaml")
    runner = Runner(folder)
    runner.ours("pin", project)
    _commit(runner, project)
    runner.run([sys.executable, "-m", "poolwright", "sign", "--new-key", str(key)])
    _trust(trust, runner.output.read_text(), project)
    taken: dict[str, list[Run]] = {}
    packet = project / "releases" / "r1"
    for _ in range(runs):
        taken.setdefault(RENDER, []).append(runner.ours("render", project))
        shutil.rmtree(project / "overlays")
        shutil.rmtree(project / "releases", ignore_errors=True)
        taken.setdefault(RELEASE, []).append(runner.ours("release", project, "r1", f"--as-of={DAY}"))
        ours = [sys.executable, "-m", "poolwright"]
        runner.run([*ours, "sign", str(packet), f"--key={key}"])
        asked = [*ours, "verify", str(packet), f"--trust={trust}"]
        taken.setdefault(VERIFY, []).append(runner.run(asked))
        taken.setdefault(OFFLINE, []).append(runner.run([*asked, "--no-rebuild"]))
    files = [path for path in packet.rglob("*") if path.is_file()]
    return Report(
        clusters=clusters,
        units=clusters * units,
        runs=runs,
        processors=os.cpu_count() or 1,
        load_before=round(load_before, 2),
        load_after=round(os.getloadavg()[0], 2),
        files=len(files),
        packet_mib=round(sum(path.stat().st_size for path in files) / (1 << 20), 1),
        medians={name: middle(found) for name, found in taken.items()},
        ratios={name: compare(taken[name], taken[RENDER]) for name in taken if name != RENDER},
    )


def render_report(report: Report) -> Iterator[str]:
    """The report as lines of text."""
    yield f"{report.clusters} clusters, {report.units:,} units; runs of each command: {report.runs}"
    yield f"the packet: {report.files:,} files, {report.packet_mib} MiB"
    yield f"{'median':<36}{'wall s':>10}{'CPU s':>10}{'peak MiB':>10}"
    for name, run in report.medians.items():
        yield f"{name:<36}{run.wall_s:>10.2f}{run.cpu_s:>10.2f}{run.peak_mib:>10.0f}"
    yield f"{'to render, median (lowest to highest)':<40}{'wall':<26}CPU"
    for name, ratio in report.ratios.items():
        yield f"{name:<40}{spread(ratio.wall):<26}{spread(ratio.cpu)}"
    yield f"load average {report.load_before} before, {report.load_after} after, on {report.processors} processors"


def _waive(path: Path) -> None:
    project = yaml.safe_load(path.read_text())
    project["spec"]["waivers"] = [WAIVER]
    path.write_text(yaml.safe_dump(project, sort_keys=False))


def _trust(path: Path, entry: str, project: Path) -> None:
    name = yaml.safe_load((project / "poolwright.yaml").read_text())["metadata"]["name"]
    projects = [{"name": name, "keys": yaml.safe_load(entry)}]
    text = {"apiVersion": "poolwright.dev/v1alpha1", "kind": "TrustPolicy", "projects": projects}
    path.write_text(yaml.safe_dump(text, sort_keys=False, default_style=None))


def _commit(runner: Runner, project: Path) -> None:
    git = shutil.which("git")
    if git is None:
        raise ComparisonError("git isn't on PATH")
    at = (git, "-C", str(project), "-c", "user.name=benchmark", "-c", "user.email=benchmark@example.com")
    (project / ".gitignore").write_text("/overlays/\n")
    for words in (("init", "--quiet", "--initial-branch=main"), ("add", "--all"), ("commit", "--quiet", "-m", "fleet")):
        runner.run([*at, *words])


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare `poolwright release` and `verify` with rendering once.")
    parser.add_argument("--clusters", type=parse_count, default=10, help="default: 10")
    parser.add_argument("--units", type=parse_count, default=50, help="of each cluster (default: 50)")
    parser.add_argument("--nodes", type=parse_count, default=60, help="of each cluster, with whole GPUs (default: 60)")
    parser.add_argument("--runs", type=parse_count, default=1, help="of each command (default: 1)")
    parser.add_argument("--folder", help="where the repository is made and removed again (default: the system's)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
