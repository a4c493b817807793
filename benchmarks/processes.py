"""What several benchmarks of whole commands share: running them, and ratios between runs."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any


class ComparisonError(Exception):
    """There is nothing to compare. Carries the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one process took with those it waited for, from before it is spawned until it is reaped."""

    wall_s: float
    cpu_s: float  # user and system, of all threads
    peak_mib: float  # the most memory of one process


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A command's wall and processor time by those of the render that ran before it in the same round."""

    wall: tuple[float, float, float]  # lowest, median, highest
    cpu: tuple[float, float, float]


class Runner:
    """Runs commands, all with the same small environment."""

    def __init__(self, folder: Path) -> None:
        self.output = folder / "output"
        # Nothing of the caller's but where a checkout's modules are: PYTHONDONTWRITEBYTECODE, for one, would have every
        # run compile them all.
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}
        self.environment |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}

    def ours(self, command: str, project: Path, *arguments: str, codes: Sequence[int] = (0,)) -> Run:
        """One of our commands on a project."""
        return self.run([sys.executable, "-m", "poolwright", command, "--project", str(project), *arguments], codes)

    def run(self, argv: Sequence[str], codes: Sequence[int] = (0,)) -> Run:
        """One process, its stdout and stderr into a file each."""
        start = time.perf_counter()
        with self.output.open("wb") as output, self.output.with_suffix(".err").open("wb") as errors:
            actions = [(os.POSIX_SPAWN_DUP2, output.fileno(), 1), (os.POSIX_SPAWN_DUP2, errors.fileno(), 2)]
            process = os.posix_spawn(argv[0], list(argv), self.environment, file_actions=actions)
            _, status, usage = os.wait4(process, 0)
        wall_s = time.perf_counter() - start
        if os.waitstatus_to_exitcode(status) not in codes:
            said = self.output.with_suffix(".err").read_text(errors="replace")[:2000]
            raise ComparisonError(f"exit code {os.waitstatus_to_exitcode(status)}: {' '.join(argv)}\n{said}")
        return Run(wall_s=wall_s, cpu_s=usage.ru_utime + usage.ru_stime, peak_mib=usage.ru_maxrss / 1024)


def plan_nodes(nodes: int) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Planned nodes by pool: so many with eight whole GPUs and network cards, a fifteenth of them with another product,
    and beside them two for each fifteen with eight GPUs that are cut in four.
    """
    others = max(1, nodes // 15)
    return {
        "h100-full": (
            {"count": nodes - others},
            {"name": "h100-c", "count": others, "hardwareModel": "h100-pcie-80gb"},
        ),
        "static-mig": ({"count": max(1, nodes * 2 // 15)},),
    }


def middle(runs: Sequence[Run]) -> Run:
    """A run of medians."""
    return Run(
        wall_s=round(median(run.wall_s for run in runs), 4),
        cpu_s=round(median(run.cpu_s for run in runs), 4),
        peak_mib=round(median(run.peak_mib for run in runs), 1),
    )


def compare(ones: Sequence[Run], renders: Sequence[Run]) -> Ratio:
    """Pairs by round."""
    pairs = list(zip(ones, renders, strict=True))
    return Ratio(
        wall=_quote([one.wall_s / render.wall_s for one, render in pairs]),
        cpu=_quote([one.cpu_s / render.cpu_s for one, render in pairs]),
    )


def _quote(ratios: Sequence[float]) -> tuple[float, float, float]:
    return round(min(ratios), 2), round(median(ratios), 2), round(max(ratios), 2)


def spread(ratio: tuple[float, float, float]) -> str:
    """`1.20 (1.10 to 1.30)`."""
    low, middle, high = ratio
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def parse_count(text: str) -> int:
    """An option that is 1 or more. Raises: what argparse takes for wrong use."""
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return count
