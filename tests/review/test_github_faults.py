"""Refusals and faults of GitHub and of what stands before it: each has an end, a reason and a remedy, and no token."""

from __future__ import annotations

import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import pytest
from contract_server import Answer, ContractServer, Fault, Serve, refuse, run_contract_server
from github_run import Poster
from reports import build_report, render_pages

from loopback_server import run_server
from run_poolwright import Ran

OLD, NEW = build_report("one"), build_report("two")
COMMENTS = "/repos/acme/fleet/issues/7/comments"
POST = f"POST {COMMENTS}"
LIST = f"GET {COMMENTS}"
POSTED = Ran(0, "acme/fleet#7: page 1 of 1 posted\n", "")


def bodies(report: object) -> list[str]:
    return [f"poolwright-bot: {body}" for body in render_pages(report, limit=65_536, project="fleet")]  # type: ignore[arg-type]


def said(code: str, what: str, why: str, fix: str) -> str:
    return f"poolwright comment: {what}  [{code}]\n  why  {why} (poolwright comment)\n  fix  {fix}\n"


# --- refusals ---


def lock(server: ContractServer) -> None:
    server.is_locked = True


def expire(server: ContractServer) -> None:
    server.token = "another"


def take_rights(server: ContractServer) -> None:
    server.may_write = False


def answer(place: str, status: int, value: object = None) -> Callable[[ContractServer], None]:
    return lambda server: server.faults.append((place, lambda _, __: Answer(status, value)))


def nobody(_: ContractServer) -> None:
    """Nothing is different."""


LOCKED = said(
    "review-locked",
    "acme/fleet#7 is locked, and takes no comments from this token",
    "who locked the conversation wants none",
    "unlock it, or leave it: `poolwright diff` says the same on a terminal",
)
REFUSED: dict[str, tuple[Callable[[ContractServer], None], tuple[str, ...], str]] = {
    "locked": (lock, (), LOCKED),
    "locked-with-a-status-of-its-own": (answer(POST, 423, {"message": "Locked"}), (), LOCKED),
    "expired-token": (
        expire,
        (),
        said(
            "review-denied",
            "HOST doesn't know this token (401)",
            "it has expired, was revoked, or is for another server",
            "make a new one, and set GITHUB_TOKEN (or GH_TOKEN) to it",
        ),
    ),
    "a-token-without-the-right": (
        take_rights,
        (),
        said(
            "review-denied",
            "HOST doesn't let this token write comments of acme/fleet#7",
            "the token has no right to, or the organization's rules stand in the way",
            "in GitHub Actions `permissions: {pull-requests: write}`; a fork's pull_request job never has it: post "
            "from a workflow_run job",
        ),
    ),
    "no-such-pull-request": (
        nobody,
        ("--pull", "8"),
        said(
            "review-missing",
            "HOST shows this token no acme/fleet#8 (404)",
            "it isn't there, or is private and the token isn't for it; the two look the same",
            "check OWNER/REPO, the number, and which repositories the token is for",
        ),
    ),
    "no-such-repository": (
        nobody,
        ("--github", "acme/fleets"),
        said(
            "review-missing",
            "HOST shows this token no acme/fleets#7 (404)",
            "it isn't there, or is private and the token isn't for it; the two look the same",
            "check OWNER/REPO, the number, and which repositories the token is for",
        ),
    ),
    "another-status": (
        answer(LIST, 418),
        (),
        said(
            "review-nonsense",
            "HOST answers with a status that says nothing here (418)",
            "what can't be understood isn't acted on",
            "check the address of the API and what stands between it and here, such as a proxy",
        ),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str, server: ContractServer, poster: Poster) -> None:
    prepare, options, text = REFUSED[name]
    prepare(server)
    assert poster.post(OLD, *options) == Ran(2, "", text.replace("HOST", host_of(server)))
    assert server.bodies() == []


def test_a_page_that_is_too_long(server: ContractServer, poster: Poster) -> None:
    assert poster.post(build_report("x" * 65_536)) == Ran(
        2,
        "",
        said(
            "review-refused",
            f"{host_of(server)} doesn't take the comment on acme/fleet#7 (422)",
            "a body has at most 65,536 characters, and some servers allow fewer",
            "look at what would be posted: --dry-run --bodies",
        ),
    )


# --- what passes ---


def drop_after(handler: BaseHTTPRequestHandler, serve: Serve) -> None:
    """It is done, and nobody hears of it."""
    serve()
    handler.close_connection = True


def drop_before(handler: BaseHTTPRequestHandler, _: Serve) -> None:
    handler.close_connection = True


def fail_after(_: BaseHTTPRequestHandler, serve: Serve) -> Answer:
    """What stands before the server loses patience with it."""
    serve()
    return Answer(502, b"<html>")


def fault(status: int, headers: dict[str, str] | None = None, message: str = "no") -> Fault:
    return lambda _, __: refuse(status, message, headers or {})


# what goes wrong -> how often each path is asked
PASSING: dict[str, tuple[list[tuple[str, Fault]], list[str]]] = {
    "502-while-reading": ([(LIST, fault(502))], ["GET /user", LIST, LIST, POST, LIST]),
    "500-again-and-again": ([(LIST, fault(500))] * 4, ["GET /user", *[LIST] * 5, POST, LIST]),
    "a-break-while-reading": ([(LIST, drop_before)], ["GET /user", LIST, LIST, POST, LIST]),
    "too-many-requests": ([(POST, fault(429))], ["GET /user", LIST, POST, POST, LIST]),
    "a-secondary-limit": ([(POST, fault(403, {"Retry-After": "1"}))], ["GET /user", LIST, POST, POST, LIST]),
    "a-primary-limit": (
        [("GET /user", fault(403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1"}))],
        ["GET /user", "GET /user", LIST, POST, LIST],
    ),
    # A comment may be there: it is looked for before it is made again.
    "made-and-the-answer-lost": ([(POST, drop_after)], ["GET /user", LIST, POST, LIST, LIST]),
    "made-and-502": ([(POST, fail_after)], ["GET /user", LIST, POST, LIST, LIST]),
    "not-made-and-no-answer": ([(POST, drop_before)], ["GET /user", LIST, POST, LIST, POST, LIST]),
    "not-made-and-503": ([(POST, fault(503))], ["GET /user", LIST, POST, LIST, POST, LIST]),
}


@pytest.mark.parametrize("name", PASSING)
def test_what_passes(name: str, server: ContractServer, poster: Poster) -> None:
    faults, asked = PASSING[name]
    server.faults += faults
    ran = poster.post(OLD)
    assert (ran.code, ran.stderr, server.bodies(), server.asked) == (0, "", bodies(OLD), asked)


def test_a_change_whose_answer_is_lost_is_sent_again(server: ContractServer, poster: Poster) -> None:
    poster.post(build_report("a", "b"))
    server.faults += [("PATCH", fail_after), ("DELETE", drop_after)]
    assert poster.post(NEW) == Ran(
        0, "acme/fleet#7: page 1 of 1 updated\nacme/fleet#7: a comment that was one too many deleted\n", ""
    )
    assert server.bodies() == bodies(NEW)


def test_a_wait_that_is_asked_for_is_waited(server: ContractServer, poster: Poster) -> None:
    times: list[float] = []

    def note_time(*_: object) -> Answer:
        times.append(time.monotonic())
        return refuse(429, "later", {"Retry-After": "1"})

    def note_and_serve(_: object, serve: Serve) -> Answer:
        times.append(time.monotonic())
        return serve()

    server.faults += [(POST, note_time), (POST, note_and_serve)]
    assert poster.post(OLD) == POSTED
    assert times[1] - times[0] >= 1


def test_what_the_last_run_left_half_done_is_gone_on_from(server: ContractServer, poster: Poster) -> None:
    two = build_report("a", "b")
    server.faults += [(POST, lambda _, serve: serve()), (POST, fault(403))]
    assert poster.post(two).code == 2
    assert server.bodies() == bodies(two)[:1]
    assert poster.post(two) == Ran(
        0, "acme/fleet#7: page 1 of 2 is as it should be\nacme/fleet#7: page 2 of 2 posted\n", ""
    )
    assert server.bodies() == bodies(two)


# --- what doesn't ---


def drip(handler: BaseHTTPRequestHandler, _: Serve) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    for _number in range(40):
        handler.wfile.write(b" ")
        time.sleep(0.1)


def drip_headers(handler: BaseHTTPRequestHandler, _: Serve) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for number in range(40):
        handler.wfile.write(f"X-{number}: x\r\n".encode())
        time.sleep(0.1)


def endless(handler: BaseHTTPRequestHandler, _: Serve) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
    for _number in range(1 << 16):
        handler.wfile.write(b" " * 4096)


def endless_error(handler: BaseHTTPRequestHandler, _: Serve) -> None:
    """What urllib3's own way to try again would read to its end."""
    handler.wfile.write(b"HTTP/1.1 502 no\r\n\r\n")
    for _number in range(1 << 16):
        handler.wfile.write(b" " * 4096)


def be_silent(handler: BaseHTTPRequestHandler, _: Serve) -> None:
    time.sleep(1)
    handler.close_connection = True


def half(handler: BaseHTTPRequestHandler, _: Serve) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[]")
    handler.close_connection = True


def no_http(handler: BaseHTTPRequestHandler, _: Serve) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH\r\n")
    handler.close_connection = True


def value(found: object) -> Fault:
    return lambda _, __: Answer(200, found)


NONSENSE = (
    "what can't be understood isn't acted on",
    "check the address of the API and what stands between it and here, such as a proxy",
)
SILENT = (
    "comments are known only from the server",
    "check the address of the API, the network and HTTPS_PROXY, and run it again",
)
LARGE = said("review-nonsense", "HOST answers with more than 1,048,576 bytes", *NONSENSE)
NO_JSON = said("review-nonsense", "HOST answers with something that isn't JSON", *NONSENSE)
SHAPE = said("review-nonsense", "HOST answers with JSON of another shape than its API has", *NONSENSE)
BREAKS = said("review-silent", "HOST breaks off, or doesn't speak HTTP as it should", *SILENT)
LATE = said("review-silent", "HOST took longer than 0.6 s for one answer", *SILENT)
LIMITS: dict[str, dict[str, float]] = {
    "silence": {"silence_s": 0.2, "retries": 0},
    "a-drip": {"request_s": 0.6, "retries": 0},
    "headers-that-drip": {"request_s": 0.6, "retries": 0},
}
FAULTS: dict[str, tuple[Fault, str]] = {
    "endless": (endless, LARGE),
    "an-endless-error": (endless_error, LARGE),
    "no-json": (value(b"<html>"), NO_JSON),
    "deep-json": (value(b"[" * 100_000), NO_JSON),
    "an-object": (value({}), SHAPE),
    "texts": (value(["one"]), SHAPE),
    "a-comment-without-an-author": (value([{"id": 1, "body": "x"}]), SHAPE),
    "a-comment-whose-id-is-a-path": (value([{"id": "../../x", "body": "x", "user": {"login": "x"}}]), SHAPE),
    "a-comment-whose-id-is-true": (value([{"id": True, "body": "x", "user": {"login": "x"}}]), SHAPE),
    "a-body-that-is-a-number": (value([{"id": 1, "body": 1, "user": {"login": "x"}}]), SHAPE),
    "half": (half, BREAKS),
    "no-http": (no_http, BREAKS),
    "breaks-off": (drop_before, BREAKS),
    "silence": (be_silent, said("review-silent", "HOST is silent for 0.2 s", *SILENT)),
    "a-drip": (drip, LATE),
    "headers-that-drip": (drip_headers, LATE),
    "502": (
        fault(502),
        said(
            "review-silent",
            "HOST has an error of its own (502)",
            "it was asked up to 5 times",
            "run it again later: it goes on from whatever is there",
        ),
    ),
    "an-hour": (
        fault(429, {"Retry-After": "3600"}),
        said(
            "review-silent",
            "HOST was asked too often, and wants 3,600 s of rest",
            "a wait is at most 5 s, and all together 60 s",
            "run it again later: it goes on from whatever is there",
        ),
    ),
    # GitHub names no time: a minute, says its documentation.
    "a-secondary-limit-without-a-time": (
        fault(403, message="You have exceeded a secondary rate limit."),
        said(
            "review-silent",
            "HOST was asked too often, and wants 60 s of rest",
            "a wait is at most 5 s, and all together 60 s",
            "run it again later: it goes on from whatever is there",
        ),
    ),
    "a-redirect": (
        lambda _, __: Answer(301, None, {"Location": "/elsewhere"}),
        said(
            "review-moved",
            "HOST sends on to another address (301)",
            "a redirect isn't followed: the token would go to wherever it leads",
            "name the repository or project as it is called today, and the API by its own address",
        ),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str, server: ContractServer, poster: Poster) -> None:
    wrong, text = FAULTS[name]
    poster.be_quick(**LIMITS.get(name, {}))
    server.faults += [(LIST, wrong)] * 9
    ran = poster.post(OLD)
    assert ran == Ran(2, "", text.replace("HOST", host_of(server)))
    assert server.token not in ran.stdout + ran.stderr
    assert server.writes == []


def test_a_comment_that_may_have_been_made_is_not_made_for_ever(server: ContractServer, poster: Poster) -> None:
    server.faults += [(POST, drop_before)] * 9
    assert poster.post(OLD) == Ran(
        2,
        "",
        said(
            "review-silent",
            f"{host_of(server)} breaks off, or doesn't speak HTTP as it should",
            "a comment may have been made all the same, so that it isn't asked for twice",
            "run it again later: it goes on from whatever is there",
        ),
    )
    assert server.writes == [POST] * 3


def test_a_comment_that_others_delete_again_and_again(server: ContractServer, poster: Poster) -> None:
    server.add(bodies(OLD)[0].removeprefix("poolwright-bot: "))
    server.faults += [("PATCH", fault(404))] * 3
    assert poster.post(NEW) == Ran(
        2,
        "",
        said(
            "review-silent",
            "comments of acme/fleet#7 are changed or deleted by somebody else again and again",
            "what was listed a moment ago is gone",
            "run one job for a pull request at a time (`concurrency` in GitHub Actions)",
        ),
    )


@pytest.mark.parametrize("place", ["GET /user", LIST, POST])
def test_a_redirect_to_another_host_gets_no_request(place: str, server: ContractServer, poster: Poster) -> None:
    with run_server() as other:
        to = {"Location": f"http://{other.host}/x"}
        server.faults.append((place, lambda _, __: Answer(307, None, to)))
        ran = poster.post(OLD)
        assert (ran.code, "[review-moved]" in ran.stderr, other.asked) == (2, True, [])


def test_a_closed_port(poster: Poster, server: ContractServer) -> None:
    with run_contract_server(ContractServer()) as gone:
        address = gone.address
    poster.environment.setenv("GITHUB_API_URL", address)
    host = address.removeprefix("http://")
    text = said("review-silent", f"{host} refuses the connection, or can't be reached", *SILENT)
    assert poster.post(OLD) == Ran(2, "", text)


def test_a_listing_without_an_end(server: ContractServer, poster: Poster) -> None:
    server.add("x", "alice")
    poster.be_quick(pages=3)
    full: Fault = lambda _, __: Answer(200, [server.comments[1001]] * 100)  # noqa: E731
    server.faults += [(LIST, full)] * 9
    text = said("review-nonsense", f"{host_of(server)} lists more than 300 entries", *NONSENSE)
    assert poster.post(OLD) == Ran(2, "", text)


def host_of(server: ContractServer) -> str:
    return server.address.removeprefix("http://")
