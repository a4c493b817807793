"""What `poolwright comment` is given: reports that anybody may have made, options, and what CI says."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from contract_server import ContractServer
from github_run import Poster
from reports import build_report

from loopback_server import run_server
from poolwright.changes.report import MAX_REPORT_BYTES, render_report
from poolwright.comments.errors import CommentError
from run_poolwright import Ran, start

GOOD = render_report(build_report("one"))


def changed(**properties: object) -> bytes:
    return json.dumps(json.loads(GOOD) | properties).encode()


def said(what: str, name: str = "report.json") -> str:
    return (
        f"{name}: {what}  [review-report]\n"
        "  why  a comment is made from a report and nothing else, and reports of pull requests may be anybody's work "
        "(poolwright comment)\n"
        "  fix  make one: poolwright diff BASE HEAD --format json > report.json\n"
    )


NONE = "it is no ChangeReport of poolwright.dev/v1alpha1: "
REPORTS: dict[str, tuple[Callable[[], bytes], str]] = {
    "too-large": (lambda: b" " * (MAX_REPORT_BYTES + 1), f"the file has more than {MAX_REPORT_BYTES:,} bytes"),
    "empty": (lambda: b"", f"{NONE}Input data was truncated"),
    "no-json": (lambda: b"<html>", f"{NONE}JSON is malformed: invalid character (byte 0)"),
    "deep": (lambda: b"[" * 100_000, f"{NONE}Expected `object`, got `array`"),
    "another-kind": (lambda: changed(kind="FindingList"), f"{NONE}Invalid enum value 'FindingList' - at `$.kind`"),
    "another-version": (
        lambda: changed(apiVersion="poolwright.dev/v2"),
        f"{NONE}Invalid enum value 'poolwright.dev/v2' - at `$.apiVersion`",
    ),
    "one-property-more": (lambda: changed(pull=8), f"{NONE}Object contains unknown field `pull`"),
    "a-project-that-ends-the-marker": (
        lambda: changed(project="fleet --><script>"),
        "the name of its project is none that a project can have",
    ),
    "a-project-of-two-lines": (
        lambda: changed(project="fleet\nx"),
        "the name of its project is none that a project can have",
    ),
}


@pytest.mark.parametrize("name", REPORTS)
def test_reports_that_are_none(name: str, server: ContractServer, poster: Poster) -> None:
    make, what = REPORTS[name]
    (poster.folder / "report.json").write_bytes(make())
    assert poster.post(None) == Ran(2, "", said(what))
    assert server.asked == []


def test_a_report_of_another_project_than_is_meant(server: ContractServer, poster: Poster) -> None:
    """In a repository of several projects a report can't write into another one's comment."""
    ran = poster.post(build_report("one", project="fleet-2"), "--name", "fleet")
    assert ran == Ran(2, "", said("it is a report of project 'fleet-2', and --name says 'fleet'"))
    assert poster.post(build_report("one"), "--name", "fleet").code == 0


def test_a_report_that_would_fill_the_conversation(server: ContractServer, poster: Poster) -> None:
    """Each new comment tells everybody who watches."""
    assert poster.post(build_report(*"x" * 51)) == Ran(2, "", said("it would take 51 comments, and 50 is the most"))
    assert server.asked == []
    assert poster.post(build_report(*"x" * 50)).code == 0
    assert len(server.comments) == 50


def test_a_report_that_no_page_can_be_made_of(
    server: ContractServer, poster: Poster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise CommentError("a reason")

    monkeypatch.setattr(sys.modules["poolwright.comments.pages"], "build_pages", fail)
    assert poster.post(build_report("one")) == Ran(2, "", said("it can't be made into comments: a reason"))
    assert server.asked == []


def test_a_report_that_is_not_there(poster: Poster) -> None:
    assert poster.post(None) == Ran(2, "", said("the file can't be read: No such file or directory"))


def test_a_report_from_standard_input(server: ContractServer, poster: Poster) -> None:
    poster.environment.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(GOOD)))
    ran = poster.run("--report", "-", "--github", "acme/fleet", "--pull", "7")
    assert ran == Ran(0, "acme/fleet#7: page 1 of 1 posted\n", "")
    poster.environment.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"x")))
    ran = poster.run("--report", "-", "--github", "acme/fleet", "--pull", "7")
    assert ran == Ran(2, "", said(f"{NONE}JSON is malformed: invalid character (byte 0)", "stdin"))


# --- options ---


def setup(what: str, why: str, fix: str) -> str:
    return f"poolwright comment: {what}  [review-setup]\n  why  {why} (poolwright comment)\n  fix  {fix}\n"


UNNAMED = (
    "nothing says which pull request or merge request the comment is for",
    "it isn't guessed, and no report chooses it",
)
LINK = setup(
    "the link isn't an address that can stand in a comment",
    "readers follow it to the whole report",
    "--link https://ci.example.com/runs/7: https, and no spaces, quotes, brackets or parentheses",
)
REPOSITORY = setup(
    "the repository isn't named as OWNER/REPO",
    "requests are addressed by it",
    "--github acme/fleet, or leave it out in GitHub Actions, which says it",
)
PROJECT = setup(
    "the project is named neither by its number nor as GROUP/NAME",
    "requests are addressed by it",
    "--gitlab platform/fleet, or leave it out in GitLab CI, which says it",
)
OPTIONS: dict[tuple[str, ...], str] = {
    (): setup(*UNNAMED, "--github OWNER/REPO --pull N, or --workflow-run EVENT.json in a job `on: workflow_run`"),
    ("--github", "acme/fleet"): setup(
        *UNNAMED, "--github OWNER/REPO --pull N, or --workflow-run EVENT.json in a job `on: workflow_run`"
    ),
    ("--gitlab", "acme/fleet"): setup(*UNNAMED, "--gitlab PROJECT --merge-request N, or --gitlab-all"),
    ("--github", "fleet", "--pull", "7"): REPOSITORY,
    ("--github", "acme/..", "--pull", "7"): REPOSITORY,
    ("--github", "acme/fleet/issues", "--pull", "7"): REPOSITORY,
    ("--github", "acme/fleet?x", "--pull", "7"): REPOSITORY,
    ("--gitlab", "fleet", "--merge-request", "7"): PROJECT,
    ("--gitlab", "acme/fleet?x", "--merge-request", "7"): PROJECT,
    ("--link", "http://ci.example.com"): LINK,
    ("--link", "https://ci.example.com/a b"): LINK,
    ("--link", "https://ci.example.com/)[x](https://evil.example.com"): LINK,
    ("--link", "javascript:alert(1)"): LINK,
}


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_options(options: tuple[str, ...], anyone: Poster) -> None:
    anyone.write(build_report("one"))
    assert anyone.run("--report", "report.json", *options) == Ran(2, "", OPTIONS[options])


ADDRESS = setup(
    "the address of the API isn't one that can be asked",
    "the token goes there: over https, or over plain http to loopback alone",
    "set GITHUB_API_URL or CI_API_V4_URL to an address such as https://git.example.com/api/v3",
)


@pytest.mark.parametrize(
    "address",
    [
        "http://git.example.com/api/v3",
        "http://localhost.example.com",
        "git.example.com",
        "ftp://git.example.com",
        "https://",
        "https://user:password@git.example.com",
        "https://git.example.com?x",
        "https://[",
    ],
)
def test_addresses_that_no_token_goes_to(address: str, anyone: Poster) -> None:
    anyone.environment.setenv("GITHUB_TOKEN", "secret-token")
    anyone.environment.setenv("GITHUB_API_URL", address)
    assert anyone.post(build_report("one")) == Ran(2, "", ADDRESS)


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "http://", "http://["])
def test_proxies_that_are_none(proxy: str, anyone: Poster) -> None:
    anyone.environment.setenv("GITHUB_TOKEN", "secret-token")
    anyone.environment.setenv("HTTPS_PROXY", proxy)
    assert anyone.post(build_report("one")) == Ran(
        2,
        "",
        setup(
            "HTTPS_PROXY names no proxy that can be used",
            "requests go through it, or around it where NO_PROXY says so",
            "set it to http://HOST:PORT or https://HOST:PORT",
        ),
    )


def test_a_proxy_is_asked_and_its_password_never_said(anyone: Poster) -> None:
    """That the token isn't in what it is told stands in the tunnel's nature: it hears of a host alone."""
    with run_server() as proxy:
        anyone.environment.setenv("GITHUB_TOKEN", "secret-token")
        anyone.environment.setenv("HTTPS_PROXY", f"http://user:secret-password@{proxy.host}")
        ran = anyone.post(build_report("one"))
    assert ran == Ran(
        2,
        "",
        "poolwright comment: api.github.com can't be reached through the proxy that HTTPS_PROXY names  "
        "[review-silent]\n"
        "  why  comments are known only from the server (poolwright comment)\n"
        "  fix  check the address of the API, the network and HTTPS_PROXY, and run it again\n",
    )


WRONG_USE: dict[tuple[str, ...], str] = {
    (): "--report FILE says what to post",
    ("--report", "x", "--gitlab-all"): "--gitlab-all reads a report of each merge request: leave out --report",
    ("--gitlab-all", "--merge-request", "7"): "--gitlab-all is every merge request: leave out --merge-request",
    ("--report", "x", "--workflow-run", "x", "--pull", "7"): "--workflow-run finds the pull request: leave out --pull",
    ("--report", "x", "--job", "x"): "--job and --artifact go with --gitlab-all",
    ("--report", "x", "--bodies"): "--bodies goes with --dry-run",
    ("--report", "x", "--pull", "7", "--gitlab", "x"): "a comment is for GitHub or for GitLab, one at a time",
    ("--report", "x", "--pull", "0"): "Invalid value for '--pull': 0 is not in the range x>=1.",
}


@pytest.mark.parametrize("options", WRONG_USE, ids=" ".join)
def test_wrong_use(options: tuple[str, ...], anyone: Poster) -> None:
    usage = "Usage: poolwright comment [OPTIONS]\nTry 'poolwright comment --help' for help.\n\n"
    assert anyone.run(*options) == Ran(2, "", f"{usage}Error: {WRONG_USE[options]}\n")


def test_nothing_of_the_network_is_loaded_by_other_commands(anyone: Poster) -> None:
    loaded = {
        command: " urllib3\n" in start(*command, folder=anyone.folder, python=("-X", "importtime")).stderr
        for command in (("version",), ("comment", "--help"), ("comment", "--report", "none"))
    }
    assert list(loaded.values()) == [False, False, True]
