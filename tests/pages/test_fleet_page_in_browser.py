"""The page of a fleet in a real browser: what it shows when it is loaded, clicked, filtered, linked to and printed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from made_fleets import REFUSED, make_diff, make_hostile, make_large, make_report, make_safe

from fleet import FLEET
from needs import REASON, needs
from poolwright.pages.document import FleetReport
from poolwright.pages.html import render_page
from run_poolwright import run

playwright = pytest.importorskip("playwright.sync_api", reason=f"{REASON}playwright")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason=f"{REASON}axe")

HOST = "asked-by-the-page.example"
SHOTS = Path(__file__).parents[2] / "build" / "pages"  # looked at by people; never compared
ATTACK = "<script>console.log('ran')</script><img src='//{host}/i' onerror='console.log(1)'>{text}"
EXAMPLE = "example"  # what `plan` says of the example fleet
PAGES = {
    "release": make_report,
    "safe": make_safe,
    "diff": make_diff,
    "large": make_large,
    "hostile": lambda: make_hostile(make_report(), lambda text: ATTACK.format(host=HOST, text=text)),
}

BATCH_8B = """\
Verdict
always-fits 2/2. 2 replicas at the peak, at least 1 must serve. 1 further replica would always fit.
It may get: NVIDIA H100 80GB HBM3 (gpu).
Written in specs/placements/east.yaml:12.
Price
On class h100-full, device NVIDIA H100 80GB HBM3: admitted
KV needed
20.00 GiB
KV budget
37.00 GiB
Admitted: at most 29 requests at once (declared: 16), or at most 30,208 tokens a request (declared: 16,384).
There is room for 29 requests of the declared length at once.
The price by line, of 80.00 GiB
On class h100-full, device NVIDIA H100 80GB HBM3: refused: REASON
KV needed
80.00 GiB
KV budget
37.28 GiB
There is room for 14 requests of the declared length at once.
What helps: at most 14 requests at once, or 7,632 tokens a request
It would be admitted on h200-full.
The price by line, of 80.00 GiB
From the router to the device
Router pool batch-8b-pool, hosts batch-8b.models.example.com
Route HTTPRoute/batch-8b to InferencePool/batch-8b
Service batch-8b-http
Pods of Deployment/batch-8b
Claim gpu by ResourceClaimTemplate/batch-8b-gpu, class h100-full
Devices, in one packing:
replica 0, claim gpu: gpu-4, gpu-5 of h100-a-0
"""
ON_PAPER = (
    "Not safe: 2 of 6 workloads may stay without devices.",
    "Nothing is left for 1 replica of serving/chat-70b.",  # the witness's last step
    "east zone-a h100-a-0 gpu-0: serving/chat-70b; gpu-1: serving/chat-70b",  # the map as a table
    "nodes h100-a-0, h100-a-1 east serving/chat-70b unsatisfied 1/2 2",  # what a loss does
    "What helps: at most 14 requests at once, or 7,632 tokens a request",  # a workload that was folded
    "weights 35.00 GiB the model's files",
    "replica 0, claim gpu: gpu-4, gpu-5 of h100-a-0",
    "1 workload: always-fits → order-dependent on east: serving/llama-70b",  # what changed
    "gpuDriver 580.173.02",
    "two weeks without a lost claim",
    "the lab is being moved",  # a waiver
    "nothing else claims these devices",
)


@dataclass
class Opened:
    """A page that is loaded, and what happened to it since."""

    page: Any
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        """What stands after the file's name."""
        return str(self.page.evaluate("location.hash"))

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))

    def wait(self, condition: str, *values: object) -> None:
        """Until a condition on `values` holds: what follows from an address may come a frame later."""
        self.page.wait_for_function(
            f"(values) => {{ const [a, b] = values; return {condition}; }}", arg=[*values, None]
        )


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium, without any network."""
    program = needs("chromium")
    with playwright.sync_playwright() as driver:
        options = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"]
        running = driver.chromium.launch(executable_path=program, args=options)
        yield running
        running.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for name, make in PAGES.items():
        found[name] = folder / f"{name}.html"
        found[name].write_bytes(render_page(make()))
    found[EXAMPLE] = folder / f"{EXAMPLE}.html"
    found[EXAMPLE].write_text(run("plan", "--format", "html", folder=FLEET).stdout, encoding="utf-8")
    return found


def show(browser: Any, file: Path, address: str = "", **options: Any) -> Opened:
    """Load a page in a profile of its own."""
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(60_000)  # of a machine that does much else; only a failure takes as long
    opened = Opened(page)
    page.on("console", lambda message: opened.console.append(message.text))
    page.on("pageerror", lambda error: opened.console.append(str(error)))
    page.on("request", lambda request: opened.requests.append(request.url))
    page.goto(file.as_uri() + address)
    page.wait_for_selector("#unit-list table")
    return opened


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", [*PAGES, EXAMPLE])
def test_it_asks_for_nothing_complains_of_nothing_and_can_be_used_by_all(
    name: str, theme: str, browser: Any, files: dict[str, Path]
) -> None:
    opened = show(browser, files[name], color_scheme=theme, viewport={"width": 1400, "height": 1000})
    SHOTS.mkdir(parents=True, exist_ok=True)
    opened.page.screenshot(path=SHOTS / f"{name}-{theme}.png", full_page=name != "large")
    found = axe.Axe().run(opened.page).response["violations"]
    said = [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found]
    assert (opened.console, opened.requests, said) == ([], [files[name].as_uri()], [])
    opened.page.context.close()


def test_no_text_of_a_report_is_more_than_text(browser: Any, files: dict[str, Path]) -> None:
    opened = show(browser, files["hostile"], "#q=chat")
    page = opened.page
    unfold(opened)
    page.locator("#loss-list a").first.click()
    page.locator("#found-list a").first.click()
    assert page.evaluate("document.querySelectorAll('img, iframe, object, embed, link[rel=stylesheet]').length") == 0
    assert page.evaluate("document.scripts.length") == 2  # the data and the page's own
    for part in ("#answer", "#changes", "#maps", "#losses", "#units", "#pins", "#basis"):
        assert "<script>console.log('ran')</script>" in opened.text(part), part
    assert (opened.console, opened.requests) == ([], [files["hostile"].as_uri()])


def test_a_workload_says_its_prices_and_what_leads_to_its_devices(browser: Any, files: dict[str, Path]) -> None:
    opened = show(browser, files["release"], "#unit=east/serving%2Fbatch-8b")
    lines = [line for line in opened.text("#units .unit").splitlines() if line]
    assert lines == BATCH_8B.replace("REASON", REFUSED.reason).splitlines()
    widths = opened.page.evaluate("[...document.querySelectorAll('#units .fill')].map((one) => one.style.width)")
    assert widths == [f"{100 * 20 / 37:.4f}%", "100%", "100%", f"{100 * 37.28 / 80:.1f}%"]


def test_a_click_on_the_map_is_on_what_is_drawn_there(browser: Any, files: dict[str, Path]) -> None:
    """A device in its node in its zone: each at the same place of the canvas as in the layout."""
    opened = show(browser, files["release"], viewport={"width": 1400, "height": 1000})
    things = ("zone/zone-a", "node/h100-a-0", "device/gpu.nvidia.com/east-pool/gpu-0")
    for level, thing in enumerate(things):
        item = opened.page.evaluate(f"(({{ x, y, w }}) => ({{ x, y, w }}))(page.maps[0].stops({level})[0])")
        opened.page.click("#maps canvas", position={"x": item["x"] + item["w"] - 3, "y": item["y"] + 3})
        assert f"loss={thing}&in=east" in opened.address


@pytest.mark.parametrize("width", [360, 1600])
@pytest.mark.parametrize("name", ["release", EXAMPLE])
def test_the_map_and_its_table_have_the_same_devices_in_any_width(
    width: int, name: str, browser: Any, files: dict[str, Path]
) -> None:
    opened = show(browser, files[name], viewport={"width": width, "height": 900})
    unfold(opened)
    drawn = opened.page.evaluate(
        """page.maps[0].plan.bands.flatMap((band) => band.items).filter((item) => item.kind === "node")
        .flatMap((node) => node.children.map((one) => [one.cluster.nameRow(one.index), one.x + one.w]))"""
    )
    listed = opened.page.evaluate(
        "[...document.querySelectorAll('.map-table td:last-child a')].map((one) => one.textContent)"
    )
    assert listed == [device for device, _ in drawn]
    assert max(end for _, end in drawn) <= opened.page.evaluate("page.maps[0].plan.width")


def test_the_worst_comes_first_with_its_reason_and_an_order_step_by_step(browser: Any, files: dict[str, Path]) -> None:
    opened = show(browser, files["release"])
    said = opened.text("#answer")
    assert "Not safe: 2 of 6 workloads may stay without devices." in said
    assert said.index("unsatisfied") < said.index("order-dependent")
    opened.page.click("#answer summary")
    assert opened.page.locator("#answer details[open] li").count() > 0
    assert "Not safe" not in show(browser, files["safe"]).text("#answer")


def test_what_a_loss_does_is_said_when_a_node_is_clicked_linked_to_and_returned_to(
    browser: Any, files: dict[str, Path]
) -> None:
    opened = show(browser, files["release"])
    page = opened.page
    page.click("#loss-list a:has-text('h100-a-0')")
    assert "loss=node/h100-a-0" in opened.address
    opened.wait("document.querySelector('.panel').innerText.includes(a)", "h100-a-0")
    first = opened.text(".panel")
    assert "1 workload can't have all replicas then." in first
    assert "serving/chat-70b: order-dependent 1-2/2 becomes unsatisfied 1/2" in first
    page.click("#loss-list a:has-text('zone-a')")
    opened.wait("document.querySelector('.panel').innerText !== a", first)
    page.go_back()
    opened.wait("document.querySelector('.panel').innerText === a", first)
    linked = show(browser, files["release"], opened.address)
    assert linked.text(".panel") == first
    unknown = show(browser, files["release"], "#loss=node/gone")
    assert "gone" in unknown.text("main")
    assert unknown.console == []


def test_of_the_example_a_stranger_finds_what_is_not_safe_and_what_a_node_takes_with_it(
    browser: Any, files: dict[str, Path]
) -> None:
    opened = show(browser, files[EXAMPLE], "#loss=node/h100-b-0")
    answer, panel = opened.text("#answer"), opened.text(".panel")
    assert "Not safe: 1 of 13 workloads may stay without devices." in answer
    assert "reasoning/reason-671b" in answer
    assert "6 other pods keep it off all 6 nodes that it may use" in answer
    assert "If node h100-b-0 is lost" in panel
    assert "chat/tenants-8b-b" in panel
    assert opened.console == []


def test_by_keyboard_alone_a_node_is_found_and_its_loss_said(browser: Any, files: dict[str, Path]) -> None:
    opened = show(browser, files["release"])
    page = opened.page
    page.keyboard.press("Tab")
    assert "main" in str(page.evaluate("document.activeElement.getAttribute('href')"))  # the way past the heading
    page.locator("#maps [tabindex='0']").first.focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    assert "loss=" in opened.address
    assert "Without" in opened.text(".panel") or "without" in opened.text(".panel")
    page.keyboard.press("Escape")
    assert "loss=" not in opened.address


def test_a_search_finds_and_a_filter_narrows(browser: Any, files: dict[str, Path]) -> None:
    opened = show(browser, files["release"])
    page = opened.page
    rows = page.locator("#unit-list tbody tr:visible").count()
    page.select_option("#filters select >> nth=2", label="unsatisfied")
    opened.wait("location.hash.includes(a)", "verdict=unsatisfied")
    narrowed = page.locator("#unit-list tbody tr:visible").count()
    assert 0 < narrowed < rows
    assert "verdict=unsatisfied" in opened.address
    page.click("#filters button")
    page.fill("#filters input", "h100-a-1")
    page.wait_for_function("document.querySelector('#found-list a') !== null")
    page.click("#found-list a")
    assert "h100-a-1" in opened.address


def test_the_theme_is_chosen_and_kept_in_the_address(browser: Any, files: dict[str, Path]) -> None:
    opened = show(browser, files["release"], color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = opened.page.evaluate(ground)
    opened.page.select_option("#theme", "dark")
    assert "theme=dark" in opened.address
    assert opened.page.evaluate(ground) != light
    opened.page.reload()
    opened.page.wait_for_selector("#unit-list table")
    assert opened.page.evaluate(ground) != light


def unfold(opened: Opened) -> None:
    """Open everything, as for paper."""
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    opened.wait("document.querySelectorAll('details:not([open])').length === 0")


@pytest.mark.parametrize("name", [*PAGES, EXAMPLE])
def test_every_part_is_words(name: str, browser: Any, files: dict[str, Path]) -> None:
    """And none of it what a script makes of a value that it has no words for."""
    opened = show(browser, files[name])
    unfold(opened)
    said = opened.text("main")
    assert "From the router to the device" in said
    assert [word for word in ("[object", "undefined", "NaN", ",,") if word in said] == []


def test_on_paper_all_of_it_is_there(browser: Any, files: dict[str, Path], tmp_path: Path) -> None:
    opened = show(browser, files["release"], "#theme=dark")
    opened.page.pdf(path=tmp_path / "page.pdf", format="A4")
    said = subprocess.run(
        (needs("pdftotext"), "-raw", tmp_path / "page.pdf", "-"), capture_output=True, text=True, check=True
    ).stdout
    printed = " ".join(said.split())
    missing = [text for text in ON_PAPER if text not in printed]
    assert missing == []
    # What was folded is folded again, and the theme is what it was.
    assert opened.page.evaluate("document.querySelectorAll('details[open]').length") == 0
    assert opened.page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_nothing_is_wider_than_the_window(width: int, browser: Any, files: dict[str, Path]) -> None:
    opened = show(browser, files["release"], viewport={"width": width, "height": 800})
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


def test_ten_thousand_devices_are_one_page_that_answers(browser: Any, files: dict[str, Path]) -> None:
    report: FleetReport = make_large()
    assert len(files["large"].read_bytes()) < 6 << 20
    opened = show(browser, files["large"])
    node = report.after.clusters[0].nodes[7].name
    opened.page.goto(f"{files['large'].as_uri()}#loss=node/{node}")
    opened.wait("document.querySelector('.panel').innerText.includes(a)", node)
    assert opened.console == []
