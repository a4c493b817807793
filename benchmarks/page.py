"""The page of 10,000 devices against that of a small fleet, in a real browser: loading, a frame, and what people do.

    python benchmarks/page.py
    python benchmarks/page.py --devices 2000 --rounds 3 --format json

What is compared, and what was measured: docs/benchmarks.md. Nothing here is a test. It needs Chromium and the package
`playwright`, of the development extra; without them, or if a page complains, it ends in exit code 2.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "pages")]  # where fleets for pages are made

from made_fleets import make_large, make_report  # noqa: E402
from playwright.sync_api import Error, sync_playwright  # noqa: E402

from poolwright.pages.html import render_page  # noqa: E402

# Each in the page itself, from the first statement until the browser has drawn what comes of it; milliseconds.
MEASURED = {
    "a node is chosen": "go('#loss=node/' + encodeURIComponent(NODE))",
    "it is closed": "go('#')",
    "an envelope is filtered by": "go('#envelope=' + encodeURIComponent(ENVELOPE))",
    "the filter is taken back": "go('#')",
    "the map is scrolled": "document.querySelector('#maps .map').scrollTop += 400",
}
TIMER = """
async ([action, NODE, ENVELOPE]) => {
  const go = (hash) => { location.hash = hash; };
  const start = performance.now();
  eval(action);
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  return performance.now() - start;
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that is printed."""

    devices: int
    rounds: int
    bytes: Mapping[str, int]  # of each page
    medians: Mapping[str, Mapping[str, float]]  # milliseconds, by page
    ratios: Mapping[str, float]  # large / small


def main() -> int:
    """Measure and print; the exit code is 0, or 2 if there was nothing to measure."""
    options = _parse_options()
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        print("benchmarks/page.py: Chromium isn't on PATH", file=sys.stderr)
        return 2
    try:
        report = measure(program, options.devices, options.rounds)
    except Error as error:
        print(f"benchmarks/page.py: {error}", file=sys.stderr)
        return 2
    print(json.dumps(asdict(report), indent=2) if options.format == "json" else "\n".join(render_report(report)))
    return 0


def measure(program: str, devices: int, rounds: int) -> Report:
    """Open both pages in turn, `rounds` times. Raises: playwright's Error if a page can't be driven."""
    small, large = make_report(), make_large(devices)
    found: dict[str, dict[str, list[float]]] = {"small": {}, "large": {}}
    sizes = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for name, report in (("small", small), ("large", large)):
            data = render_page(report)
            Path(folder, f"{name}.html").write_bytes(data)
            sizes[name] = len(data)
        for _ in range(rounds):
            for name, report in (("small", small), ("large", large)):
                for what, took in _time(running, Path(folder, f"{name}.html"), report).items():
                    found[name].setdefault(what, []).append(took)
        running.close()
    medians = {name: {what: round(median(took), 1) for what, took in all_.items()} for name, all_ in found.items()}
    ratios = {what: round(medians["large"][what] / took, 2) for what, took in medians["small"].items() if took}
    return Report(devices=devices, rounds=rounds, bytes=sizes, medians=medians, ratios=ratios)


def _time(running: Any, file: Path, report: Any) -> dict[str, float]:
    page = running.new_context(viewport={"width": 1400, "height": 900}, bypass_csp=True).new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("#unit-list table")
    entry = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
    found = {"it is loaded": float(page.evaluate(entry))}
    cluster = report.after.clusters[0]
    names = (cluster.nodes[0].name, report.after.units[0].envelope)
    for what, action in MEASURED.items():
        found[what] = float(page.evaluate(TIMER, [action, *names]))
    page.context.close()
    return found


def render_report(report: Report) -> Iterator[str]:
    """The report as lines of text."""
    sizes = ", ".join(f"{name} {size / 1024:,.0f} KiB" for name, size in report.bytes.items())
    yield f"{report.devices:,} devices against a small fleet, {report.rounds} rounds; {sizes}"
    yield f"{'median, milliseconds':<32}{'small':>10}{'large':>10}{'ratio':>8}"
    for what, took in report.medians["small"].items():
        yield f"{what:<32}{took:>10.1f}{report.medians['large'][what]:>10.1f}{report.ratios.get(what, 0):>8.2f}"


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare the page of a large fleet with that of a small one.")
    parser.add_argument("--devices", type=int, default=10_000, help="default: 10000")
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
