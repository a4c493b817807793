"""200 calls of the plugin at once, through the runner of `cmp test`: all correct, and how much memory together.

    python benchmarks/plugin_load.py
    python benchmarks/plugin_load.py --calls 50

Argo CD bounds what is sent at once, and not what works at once in the sidecar. Every call has its own transfer and its
own folder, as there. Fails if one answers differently, or leaves a file.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from poolwright.argocd.runner.answer import Answer
from poolwright.argocd.runner.application import Application, PluginSource
from poolwright.argocd.runner.environment import Build
from poolwright.argocd.runner.plugin import BUILT_IN
from poolwright.argocd.runner.run import Request, run_application

FLEET = Path(__file__).parent.parent / "examples" / "fleet"
TRUST = """\
apiVersion: poolwright.dev/v1alpha1
kind: TrustPolicy
allow:
- {argocdProject: inference-fleet-lab-alpha, clusters: [lab-alpha], units: ["*"], deliveries: [plugin]}
"""


def main() -> int:
    """Measure and print; the exit code is 0, or 1 if an answer differs or a file is left."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=200)
    calls = parser.parse_args().calls
    with tempfile.TemporaryDirectory() as room:
        trust, temporary = Path(room, "trust.yaml"), Path(room, "tmp")
        trust.write_text(TRUST)
        temporary.mkdir()
        tempfile.tempdir = str(temporary)
        request = build_request(trust)
        started = time.monotonic()
        expected = run_application(request)
        alone_s = time.monotonic() - started
        if not expected.is_accepted:
            print(f"one call alone failed: {expected.message or expected.reason}")
            return 1
        answers, took_s, peak_bytes = run_at_once(request, calls)
        wrong = sum(answer != expected for answer in answers)
        left = len(list(temporary.iterdir()))
        tempfile.tempdir = None
    print(f"one call alone    {alone_s:.2f} s, {len(expected.objects)} objects")
    print(f"{calls} at once     {took_s:.1f} s on {os.cpu_count()} processors, {took_s / calls:.2f} s a call")
    print(f"memory together   {peak_bytes >> 20} MiB at most, {peak_bytes / calls / (1 << 20):.0f} MiB a call")
    print(f"wrong answers     {wrong}")
    print(f"files left        {left}")
    return 1 if wrong or left else 0


def build_request(trust: Path) -> Request:
    """A unit of the example, as its Application says."""
    parameters = ({"name": "cluster", "string": "lab-alpha"}, {"name": "unit", "string": "guard-1b7"})
    sidecar = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}",
        "HOME": "/",
        "POOLWRIGHT_TRUST": str(trust),
        **({"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}),
    }
    return Request(
        root=str(FLEET.resolve()),
        application=Application(
            name="lab-alpha-guard-1b7",
            namespace="guard",
            project="inference-fleet-lab-alpha",
            path=".",
            types=("plugin",),
            plugin=PluginSource(name="poolwright", parameters=parameters),
        ),
        plugins=(BUILT_IN,),
        build=Build(revision="0" * 40),
        sidecar=sidecar,
        timeout_s=3600,
    )


def run_at_once(request: Request, calls: int) -> tuple[list[Answer], float, int]:
    """The answers, how long all took, and the most that their processes had resident together, in bytes."""
    is_over = threading.Event()
    peak = [0]

    def watch() -> None:
        while not is_over.wait(0.05):
            peak[0] = max(peak[0], sum_resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    started = time.monotonic()
    with ThreadPoolExecutor(calls) as pool:
        answers = list(pool.map(lambda _: run_application(request), range(calls)))
    took_s = time.monotonic() - started
    is_over.set()
    watcher.join()
    return answers, took_s, peak[0]


def sum_resident() -> int:
    """Of this process's children, in bytes."""
    total = 0
    for task in Path("/proc/self/task").iterdir():
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue
        for child in children:
            try:
                total += int(Path(f"/proc/{child}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            except (OSError, IndexError):
                continue
    return total


if __name__ == "__main__":
    sys.exit(main())
