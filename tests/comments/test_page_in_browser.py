"""The page in a real browser: it runs nothing, asks for nothing, and all of its text is there."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from change_reports import CHANGE_REPORTS, CLASS_TIGHTENED
from needs import needs
from poolwright.comments.html import render_html
from poolwright.specs.finding import escape_controls
from read_markdown import join_words, read_html

HOST = "asked-by-the-page.example"
ATTACK = f'<script>console.log("ran")</script><img src="http://{HOST}/i"><link rel=stylesheet href="//{HOST}/s">\u202e'
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND"),
    *("--enable-logging=stderr", "--virtual-time-budget=2000"),
)


@dataclass
class Seen:
    """What a page did in the browser."""

    html: str  # as it is after loading
    console: list[str]
    asked: bool  # whether it asked HOST for anything


def show(page: str, folder: Path) -> Seen:
    """Load a page from a file, in an empty profile, with no name resolved."""
    (folder / "page.html").write_text(page, encoding="utf-8")
    log = folder / "net.json"
    run = subprocess.run(
        (
            *(needs("chromium"), *OPTIONS, f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}"),
            *("--dump-dom", (folder / "page.html").as_uri()),
        ),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={"HOME": str(folder), "PATH": os.environ["PATH"]},
    )
    return Seen(
        html=run.stdout, console=re.findall(r"CONSOLE.*", run.stderr), asked=HOST in log.read_text(encoding="utf-8")
    )


HOSTILE = msgspec.structs.replace(
    CLASS_TIGHTENED,
    project=ATTACK,
    findings=(),
    assumptions=(ATTACK,),
    objects=tuple(msgspec.structs.replace(one, name=ATTACK) for one in CLASS_TIGHTENED.objects),
)
REPORTS = {**CHANGE_REPORTS, "hostile": HOSTILE}


@pytest.mark.parametrize("name", REPORTS)
def test_a_page_only_shows(name: str, tmp_path: Path) -> None:
    page = render_html(REPORTS[name])
    seen = show(page, tmp_path)
    assert (seen.console, seen.asked) == ([], False)
    texts = [join_words("".join(read_html(text).everything)) for text in (page, seen.html)]
    assert texts[0] == texts[1]
    if name == "hostile":
        assert texts[1].count(join_words(escape_controls(ATTACK))) >= 5


def test_a_page_that_asks_and_complains_is_seen_to(tmp_path: Path) -> None:
    """The check itself: without the policy the request is seen, with it the violation is."""
    seen = show(f'<!doctype html><img src="http://{HOST}/i"><script>console.log("ran")</script>', tmp_path)
    assert seen.asked
    assert any("ran" in line for line in seen.console)
    page = render_html(CLASS_TIGHTENED).replace("</main>", '<p style="color: red">x</p><script>1</script></main>')
    violations = [line for line in show(page, tmp_path).console if "Content Security Policy" in line]
    assert len(violations) == 2
