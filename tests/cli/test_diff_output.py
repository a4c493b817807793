"""`poolwright diff`: forms, exit codes and the file that it writes; and what others wrote, in all of them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import jsonschema_rs
import pytest
from diff_project import BASE, MORE, RENAMED, make

from fleet import PLACEMENTS, POOL, edit
from folders import write_files
from made_repository import commit, git, make_repository
from poolwright.changes.report import parse_report, render_report, report_schema
from run_poolwright import Ran, run
from sarif_schema import SARIF

FORMS = ("text", "markdown", "json", "html", "github", "sarif")


def write_sides(folder: Path) -> Path:
    write_files(folder / "a", BASE)
    write_files(folder / "b", MORE)
    return folder


# --- forms ---


def test_json_is_what_its_schema_says_and_what_out_writes(tmp_path: Path) -> None:
    ran = run("diff", "a", "b", "--format", "json", "--out", "report.json", folder=write_sides(tmp_path))
    assert (ran.code, ran.stderr) == (1, "")
    jsonschema_rs.Draft202012Validator(report_schema()).validate(json.loads(ran.stdout))
    written = (tmp_path / "report.json").read_bytes()
    assert written == render_report(parse_report(ran.stdout.encode()))
    assert json.loads(written) == json.loads(ran.stdout)
    assert (tmp_path / "report.json").stat().st_mode & 0o777 == 0o666 & ~umask()


def umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def test_sarif_is_what_its_schema_says(tmp_path: Path) -> None:
    ran = run("diff", "a", "b", "--format", "sarif", folder=write_sides(tmp_path))
    log = json.loads(ran.stdout)
    SARIF.validate(log)
    assert [one["ruleId"] for one in log["runs"][0]["results"]] == [
        "shortfall-grew",
        "fit-worse",
        "verdict-short",
        "fit-worse",
    ]


def test_annotations(tmp_path: Path) -> None:
    ran = run("diff", "a", "b", "--format", "github", folder=write_sides(tmp_path))
    assert (ran.code, ran.stderr) == (1, "")
    assert [line.split("::")[1] for line in ran.stdout.splitlines()] == [
        "error file=poolwright.yaml,title=shortfall-grew",
        "warning file=specs/placements.yaml,line=2,col=1,title=fit-worse",
        "warning file=specs/placements.yaml,line=10,col=16,title=verdict-short",
        "error file=specs/placements.yaml,line=14,col=1,title=fit-worse",
    ]


def test_markdown_and_html(tmp_path: Path) -> None:
    write_sides(tmp_path)
    markdown, html = (run("diff", "a", "b", "--format", form, folder=tmp_path) for form in ("markdown", "html"))
    assert (markdown.code, markdown.stderr, html.code, html.stderr) == (1, "", 1, "")
    assert markdown.stdout.splitlines()[0] == "## Poolwright: 1 of 2 workloads would no longer fit on `east`"
    assert html.stdout.startswith("<!doctype html>")
    assert html.stdout.endswith("</html>\n")


NOTHING = {
    "text": "nothing changes in the clusters\n",
    "github": "",
}


@pytest.mark.parametrize("form", FORMS)
def test_nothing_changed(form: str, tmp_path: Path) -> None:
    ran = run("diff", "HEAD", "HEAD", "--format", form, folder=make(tmp_path / "r"))
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.stdout.endswith(NOTHING.get(form, "\n"))
    assert (ran.stdout == "") == (form == "github")


# --- what makes it a no ---

OWNER = edit(BASE, POOL, ("owner: platform-gpu", "owner: somebody"), ("  version: 1.0.0", "  version: 1.0.1"))
CODES: dict[str, tuple[tuple[str, ...], int]] = {
    "an-error-is-a-no-by-itself": (("a", "b"), 1),
    "never": (("a", "b", "--fail-on", "never"), 0),
    "a-code-that-is-found": (("a", "b", "--fail-on", "fit-worse"), 1),
    "a-code-that-isn-t": (("a", "b", "--fail-on", "silent-move"), 0),
    "one-of-several": (("a", "b", "--fail-on", "silent-move, restart,shortfall-grew"), 1),
    "no-restart": (("a", "b", "--fail-on", "restart"), 0),
    "a-restart": (("a", "new", "--fail-on", "restart"), 1),
    "warnings-are-no-error": (("a", "new"), 0),
    "a-warning-and-what-is-worse": (("a", "b", "--fail-on", "warning"), 1),
    "a-note-and-what-is-worse": (("a", "b", "--fail-on", "note"), 1),
    "a-change": (("a", "owner", "--fail-on", "change"), 1),
    "a-change-without-a-finding": (("a", "owner", "--fail-on", "note"), 0),
    "no-change": (("a", "./a", "--fail-on", "change,note,restart"), 0),
}


@pytest.mark.parametrize("name", CODES)
def test_what_fails(name: str, tmp_path: Path) -> None:
    write_files(write_sides(tmp_path) / "owner", OWNER)
    write_files(tmp_path / "new", edit(BASE, PLACEMENTS, ("version: 2.3.0", "version: 2.4.0")))
    arguments, code = CODES[name]
    ran = run("diff", *arguments, folder=tmp_path)
    assert (ran.code, ran.stderr) == (code, ""), ran.stdout


# --- wrong use ---

USE: dict[tuple[str, ...], str] = {
    (): "Missing argument 'BASE'.",
    ("a", "b", "c"): "Got unexpected extra argument (c)",
    ("-x",): "No such option '-x'.",
    ("a", "--fail-on", "eror"): "--fail-on: eror is neither error, warning, note, change, restart, never nor the code "
    "of a finding",
    ("a", "--fail-on", "never,error"): "--fail-on: it is a list of what fails, or `never` alone",
    ("a", "--fail-on", ","): "--fail-on: it is a list of what fails, or `never` alone",
    ("a", "--as-of", "30.11.2026"): "Invalid value for '--as-of': '30.11.2026' does not match the format '%Y-%m-%d'.",
    ("a", "--format", "yaml"): "Invalid value for '--format': 'yaml' is not one of 'text', 'markdown', 'json', 'html', "
    "'github', 'sarif'.",
    ("a", "--cluster", "east"): "--cluster goes with --live",
    ("a", "--losses"): "--losses goes with --format html",
    ("a", "--out", ""): "--out names a file; `--format json` prints the report",
    ("a", "--out", "-"): "--out names a file; `--format json` prints the report",
}


@pytest.mark.parametrize("arguments", USE, ids=" ".join)
def test_wrong_use(arguments: tuple[str, ...], tmp_path: Path) -> None:
    ran = run("diff", *arguments, folder=tmp_path)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.endswith(f"\nError: {USE[arguments]}\n")


def test_the_day(tmp_path: Path) -> None:
    write_sides(tmp_path)
    ran = run("diff", "a", "a", "--as-of", "2025-02-03", "--format", "json", folder=tmp_path)
    assert parse_report(ran.stdout.encode()).as_of == "2025-02-03"


# --- the file ---


def test_a_file_beside_what_is_printed(tmp_path: Path) -> None:
    """An older one is replaced, also where a link leads; nothing else is left behind."""
    write_sides(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/report.json").write_text("old")
    (tmp_path / "link").symlink_to("out/report.json")
    printed = run("diff", "a", "b", folder=tmp_path)
    assert run("diff", "a", "b", "--out", "link", folder=tmp_path) == printed
    assert parse_report((tmp_path / "out/report.json").read_bytes()).head.name == "b"
    assert (tmp_path / "link").is_symlink()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["report.json"]


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    write_sides(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run("diff", "a", "a", "--out", "pipe", folder=tmp_path).code == 0
        assert parse_report(os.read(reader, 1 << 20)).head.name == "a"
    finally:
        os.close(reader)
    assert (tmp_path / "pipe").is_fifo()


UNWRITABLE = {
    "gone/report.json": "No such file or directory",
    "a": "Is a directory",
    "a/poolwright.yaml/x": "Not a directory",
}


@pytest.mark.parametrize("path", UNWRITABLE)
def test_a_file_that_can_t_be_written(path: str, tmp_path: Path) -> None:
    ran = run("diff", "a", "b", "--out", path, folder=write_sides(tmp_path))
    assert ran == Ran(2, "", f"poolwright: {path}: {UNWRITABLE[path]}\n")


def test_without_an_answer_no_file_is_written(tmp_path: Path) -> None:
    write_files(write_sides(tmp_path) / "broken", RENAMED)
    (tmp_path / "old.json").write_text("old")
    for name in ("old.json", "new.json"):
        assert run("diff", "a", "broken", "--out", name, folder=tmp_path).code == 2
    assert (tmp_path / "old.json").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "broken", "old.json"]


# --- what others wrote ---

CONTROLS = "\x1b[2J\u202e\u2028"  # no spec may hold them
HOSTILE = "::error::x <script>alert(1)</script>@octocat <!-- poolwright-comment/v1 -->`|"
BRANCH = "<b>$(touch${IFS}pwned)`|@octocat,error"


CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: talk, namespace: models, annotations: {note: TEXT}}
spec: {devices: {requests: [{name: card, exactly: {deviceClassName: card.example.com}}]}}
"""


def make_hostile(folder: Path) -> Path:
    """Subjects of commits, the name of a branch, and values of objects."""
    make_repository(folder)
    commit(folder, {"claim.yaml": CLAIM.replace("TEXT", "plain").encode()}, "first")
    git(folder, "checkout", "--quiet", "-b", BRANCH)
    commit(folder, {"claim.yaml": b"a: ["}, f"{CONTROLS}{HOSTILE}")
    commit(folder, {"claim.yaml": CLAIM.replace("TEXT", json.dumps(f"a\n{HOSTILE}")).encode()}, HOSTILE)
    return folder


@pytest.mark.parametrize("form", FORMS)
def test_text_of_others_stays_text(form: str, tmp_path: Path) -> None:
    folder = make_hostile(tmp_path / "r")
    ran = run("diff", "main", BRANCH, "--each-commit", "--format", form, folder=folder)
    assert (ran.code, ran.stderr) == (1, "")
    shown = re.sub(r"^```diff\n.*?^```$", "", ran.stdout, flags=re.DOTALL | re.MULTILINE)  # what is in a fence is text
    assert all(one.isprintable() for one in shown.split("\n"))
    commands = re.findall(r"^::.*?::", shown, re.MULTILINE)
    assert commands == (["::error file=.,title=commit-unsafe::"] if form == "github" else [])
    if form in ("markdown", "html"):
        assert "<script>alert" not in shown
        assert "<!-- poolwright-comment" not in shown
    if form == "markdown":
        assert not re.search(r"(?<![`\w])@octocat(?![^\n]*`)", shown)
    assert list(tmp_path.rglob("pwned")) == []
