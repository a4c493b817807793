"""The stories of the examples: a change, the command of the README there, and all that it prints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fleet import ROOT
from golden import Golden
from poolwright.changes.report import parse_report
from poolwright.changes.report_text import render_report_text
from poolwright.comments.markdown import render_markdown
from poolwright.comments.pages import GITHUB_LIMIT, build_pages
from poolwright.specs.finding import escape_controls

STORIES = ROOT / "examples" / "stories"
# By story: the options that show it best, and the exit code.
SHOWN: dict[str, tuple[tuple[str, ...], int]] = {
    "h100-removed": ((), 1),
    "selector-tightened": ((), 1),
    "class-renamed": (("--each-commit",), 1),
    "full-to-mig": ((), 1),
    "node-tainted": ((), 1),
    "claim-changed": ((), 1),
    "promoted": ((), 0),
    "jointly-short": ((), 1),  # the two branches end with 0, what they come to with 1
    "nothing-bumped": ((), 1),
}


def show(story: str, *options: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {"PATH": path, "HOME": os.devnull, "LANG": "C.UTF-8"}
    return subprocess.run(
        [str(STORIES / "show"), story, *options], capture_output=True, text=True, env=env, check=False, timeout=120
    )


@pytest.mark.parametrize("story", SHOWN)
def test_story(story: str, golden: Golden) -> None:
    """One run, whose reports are rendered here as the command does: a run takes seconds."""
    options, code = SHOWN[story]
    ran = show(story, *options, "--format", "json")
    assert (ran.returncode, ran.stderr) == (code, "")
    reports = [parse_report(part.encode()) for part in split_documents(ran.stdout)]
    texts = ["".join(escape_controls(line) + "\n" for line in render_report_text(one)) for one in reports]
    files = {"report.txt": "".join(texts).encode(), "report.md": "".join(map(render_markdown, reports)).encode()}
    golden.compare(ROOT / "tests" / "golden" / "stories" / story, files)


def split_documents(text: str) -> list[str]:
    """JSON documents that stand one after the other."""
    return [part if part.endswith("}\n") else part + "}\n" for part in text.split("\n}\n") if part]


@pytest.mark.parametrize("form", ["txt", "md"])
def test_the_command_prints_the_same(form: str) -> None:
    ran = show("node-tainted", "--format", "text" if form == "txt" else "markdown")
    written = (ROOT / "tests" / "golden" / "stories" / "node-tainted" / f"report.{form}").read_text("utf-8")
    assert (ran.stdout, ran.stderr) == (written, "")


def test_every_story_is_shown() -> None:
    assert {path.name for path in STORIES.iterdir() if path.is_dir()} == SHOWN.keys()
    told = (STORIES / "README.md").read_text("utf-8")
    assert [name for name in SHOWN if f"| `{name}` |" not in told] == []


def test_the_report_among_the_examples_is_a_storys() -> None:
    ran = show("h100-removed", "--format", "json")
    assert (STORIES.parent / "report.json").read_text("utf-8") == ran.stdout
    report = parse_report(ran.stdout.encode())
    assert len(build_pages(report, limit=GITHUB_LIMIT, project=report.project)) == 1


def test_an_unknown_story_lists_the_known() -> None:
    ran = show("nothing")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert [line.strip() for line in ran.stderr.splitlines()[1:]] == sorted(SHOWN)
