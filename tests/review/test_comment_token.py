"""The token: from the environment alone, and in nothing that anybody reads."""

from __future__ import annotations

import traceback

import pytest
from contract_server import ContractServer
from github_run import Poster
from reports import build_report

from run_poolwright import Ran

OLD = build_report("one")
POSTED = Ran(0, "acme/fleet#7: page 1 of 1 posted\n", "")


def said(code: str, what: str, why: str, fix: str) -> str:
    return f"poolwright comment: {what}  [{code}]\n  why  {why} (poolwright comment)\n  fix  {fix}\n"


TOKENS: dict[str, tuple[str | None, str]] = {
    "none": (
        None,
        said(
            "review-token",
            "neither GH_TOKEN nor GITHUB_TOKEN is set",
            "comments are written by somebody, and a token comes from the environment alone",
            "in GitHub Actions `env: {GITHUB_TOKEN: ${{ github.token }}}` of the step",
        ),
    ),
    "empty": (
        "",
        said(
            "review-token",
            "neither GH_TOKEN nor GITHUB_TOKEN is set",
            "comments are written by somebody, and a token comes from the environment alone",
            "in GitHub Actions `env: {GITHUB_TOKEN: ${{ github.token }}}` of the step",
        ),
    ),
    "two-lines": (
        "secret-one\nX-Header: secret-two",
        said(
            "review-token",
            "GITHUB_TOKEN holds something that isn't a token",
            "a token is one word of ASCII characters",
            "set it to the token alone, without quotes, spaces or further lines",
        ),
    ),
    "not-ascii": (
        "secret-é",
        said(
            "review-token",
            "GITHUB_TOKEN holds something that isn't a token",
            "a token is one word of ASCII characters",
            "set it to the token alone, without quotes, spaces or further lines",
        ),
    ),
}


@pytest.mark.parametrize("name", TOKENS)
def test_tokens(name: str, server: ContractServer, poster: Poster) -> None:
    token, text = TOKENS[name]
    poster.environment.delenv("GITHUB_TOKEN")
    if token is not None:
        poster.environment.setenv("GITHUB_TOKEN", token)
    assert poster.post(OLD) == Ran(2, "", text)
    assert server.asked == []


def test_a_line_end_after_the_token_is_no_part_of_it(server: ContractServer, poster: Poster) -> None:
    poster.environment.setenv("GITHUB_TOKEN", f"{server.token}\n")
    assert poster.post(OLD) == POSTED


def test_a_traceback_does_not_show_the_token(
    server: ContractServer, poster: Poster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is wrong with us isn't hidden, and the token is: even where a traceback shows every variable."""

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("urllib3.PoolManager.request", fail)
    with pytest.raises(ZeroDivisionError) as found:
        poster.post(OLD)
    shown = "".join(traceback.TracebackException.from_exception(found.value, capture_locals=True).format())
    assert "headers = {" in shown
    assert server.token not in shown
