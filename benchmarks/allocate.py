"""The allocator against Kubernetes' own, claim after claim over the same nodes in the same order.

    python benchmarks/allocate.py
    python benchmarks/allocate.py --world mig --divide 5 --runs 3 --format json

What is compared, and what was measured: docs/benchmarks.md. Nothing here is a test: a slow machine prints other
figures and fails nothing. Only a program that fails, or two that place a claim differently, end in exit code 2.
Upstream's side is Go, built from tests/oracle/allocator; without Go, or without its modules, that is said and no more.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from allocate_worlds import MINOR, SIZES, build_world

from poolwright.files.facts import read_facts

ROOT = Path(__file__).parent.parent
ORACLE = ROOT / "tests" / "oracle" / "allocator"
GROWTH = (10, 3, 1)  # a tenth of nodes and claims, a third, all
OURS, ASKING, PEER = "ours", "ours, every node asked", "upstream's"


class ComparisonError(Exception):
    """There is nothing to compare. Carries the reason."""


class NoPeerError(Exception):
    """Upstream's program can't be had here. Carries the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one program took to allocate, as it measured itself."""

    wall_s: float
    cpu_s: float  # user and system, of all threads


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """Ours divided by upstream's, run by run."""

    wall: tuple[float, float, float]  # lowest, median, highest
    cpu: tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One world in one size."""

    world: str
    nodes: int
    devices: int
    claims: int
    placed: int
    runs: int
    medians: Mapping[str, Run]
    ratios: Mapping[str, Ratio]  # of OURS and of ASKING


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that is printed."""

    kubernetes: str
    processors: int
    load_before: float  # average of a minute
    load_after: float
    parts: tuple[Part, ...]  # by world, the smallest first


def main() -> int:
    """Measure and print; the exit code is 0, without a peer too, or 2 if the sides don't compare."""
    options = _parse_options()
    with tempfile.TemporaryDirectory(prefix="poolwright-allocate-") as folder:
        try:
            report = measure(Path(folder), options.world or list(SIZES), options.divide, options.runs)
        except NoPeerError as error:
            print(f"benchmarks/allocate.py: skipped: {error}", file=sys.stderr)
            return 0
        except ComparisonError as error:
            print(f"benchmarks/allocate.py: {error}", file=sys.stderr)
            return 2
    print(json.dumps(asdict(report), indent=2) if options.format == "json" else "\n".join(render_report(report)))
    return 0


def measure(folder: Path, worlds: Sequence[str], divide: int, runs: int) -> Report:
    """Build upstream's program, then every world in every size, and allocate `runs` times with each side in turn.

    divide: what the sizes are divided by.
    Raises: ComparisonError if a program fails, or a claim gets another node or other devices from one than another.
    """
    oracle = _build_oracle(folder)
    gates = read_facts().effective_gates(MINOR, {})
    load_before = os.getloadavg()[0]
    parts = []
    for name in worlds:
        for part in GROWTH:
            world = build_world(name, SIZES[name].part(part * divide), gates)
            parts.append(_measure_part(folder, oracle, name, world, runs))
    return Report(
        kubernetes=MINOR,
        processors=os.cpu_count() or 1,
        load_before=round(load_before, 2),
        load_after=round(os.getloadavg()[0], 2),
        parts=tuple(parts),
    )


def render_report(report: Report) -> Iterator[str]:
    """The report as lines of text."""
    yield f"claims one after the other, as Kubernetes {report.kubernetes} with its default gates; each on the first"
    yield "node that can serve it. Both sides gave every claim the same node and devices. Only allocating is measured."
    yield ""
    yield f"{'':<41}{'CPU ms for a claim':^38}   ratio to upstream's, of CPU and of wall time"
    size = f"{'':<9}{'nodes':>7}{'devices':>9}{'claims':>8}{'placed':>8}"
    yield f"{size}{'ours':>10}{'asking':>14}{PEER:>14}   {'ours':<18}every node asked"
    for part in report.parts:
        size = f"{part.world:<9}{part.nodes:>7,}{part.devices:>9,}{part.claims:>8,}{part.placed:>8,}"
        each = {name: run.cpu_s * 1e3 / part.claims for name, run in part.medians.items()}
        times = f"{each[OURS]:>10.3f}{each[ASKING]:>14.3f}{each[PEER]:>14.3f}"
        yield f"{size}{times}   {_say_ratio(part.ratios[OURS]):<18}{_say_ratio(part.ratios[ASKING])}"
    yield ""
    yield f"load average {report.load_before} before, {report.load_after} after, on {report.processors} processors"


def _say_ratio(ratio: Ratio) -> str:
    return f"{ratio.cpu[1]:.3f} and {ratio.wall[1]:.3f}"


def _build_oracle(folder: Path) -> Path:
    go = shutil.which("go")
    if go is None:
        raise NoPeerError("upstream's allocator is Go, and there is no go on PATH")
    # Nothing is fetched here: `make oracle` is where the network is used.
    settings = {"GOFLAGS": "-mod=readonly -buildvcs=false", "GOTOOLCHAIN": "local", "GOPROXY": "off"}
    program = folder / "oracle"
    argv, environment = [go, "build", "-o", program, "."], {**os.environ, **settings}
    built = subprocess.run(argv, cwd=ORACLE, env=environment, capture_output=True, text=True, check=False)
    if built.returncode:
        raise NoPeerError(f"upstream's allocator can't be built; `make oracle` fetches its modules\n{built.stderr}")
    return program


def _measure_part(folder: Path, oracle: Path, name: str, world: Mapping[str, Any], runs: int) -> Part:
    path = folder / "world.json"
    path.write_text(json.dumps(world))
    ours = [sys.executable, str(ROOT / "benchmarks" / "allocate_ours.py")]
    commands = {OURS: ours, ASKING: [*ours, "--ask-every-node"], PEER: [str(oracle), "-bench"]}
    taken: dict[str, list[Run]] = {command: [] for command in commands}
    expected: list[Any] | None = None
    for _ in range(runs):
        for command, argv in commands.items():
            run, placements = _run(argv, path)
            if expected is not None and placements != expected:
                raise ComparisonError(f"{name}: {_find_difference(expected, placements)} ({command})")
            expected = placements
            taken[command].append(run)
    return Part(
        world=name,
        nodes=len(world["nodes"]),
        devices=sum(len(one["spec"].get("devices", ())) for one in world["slices"]),
        claims=len(world["claims"]),
        placed=len(expected or ()),
        runs=runs,
        medians={command: _middle(found) for command, found in taken.items()},
        ratios={command: _compare(taken[command], taken[PEER]) for command in (OURS, ASKING)},
    )


def _run(argv: Sequence[str], world: Path) -> tuple[Run, list[Any]]:
    with world.open("rb") as given:
        done = subprocess.run(argv, stdin=given, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ComparisonError(f"exit code {done.returncode}: {' '.join(argv)}\n{done.stderr[:2000]}")
    said = json.loads(done.stdout)
    return Run(wall_s=said["seconds"], cpu_s=said["cpu_seconds"]), said["placements"]


def _find_difference(one: Sequence[Any], other: Sequence[Any]) -> str:
    for a, b in zip(one, other, strict=False):
        if a != b:
            return f"{a} and {b}"
    return f"{len(one)} and {len(other)} claims placed"


def _middle(runs: Sequence[Run]) -> Run:
    return Run(wall_s=round(median(run.wall_s for run in runs), 4), cpu_s=round(median(run.cpu_s for run in runs), 4))


def _compare(ours: Sequence[Run], peers: Sequence[Run]) -> Ratio:
    pairs = list(zip(ours, peers, strict=True))
    return Ratio(
        wall=_quote([a.wall_s / b.wall_s for a, b in pairs]), cpu=_quote([a.cpu_s / b.cpu_s for a, b in pairs])
    )


def _quote(ratios: Sequence[float]) -> tuple[float, float, float]:
    return round(min(ratios), 4), round(median(ratios), 4), round(max(ratios), 4)


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare the allocator with Kubernetes' own.")
    parser.add_argument("--world", action="append", choices=list(SIZES), help="may be repeated (default: all)")
    parser.add_argument("--divide", type=_parse_count, default=1, help="divide every size by this (default: 1)")
    parser.add_argument("--runs", type=_parse_count, default=1, help="of each side (default: 1)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    return parser.parse_args()


def _parse_count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return count


if __name__ == "__main__":
    sys.exit(main())
