"""Servers that answer otherwise than they should: each has an end, and a reason."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler

import pytest
from asked import QUICK, ask, image, said

from loopback_registry import OCI_MANIFEST, digest_of
from loopback_server import Server, in_turn, reply, run_server
from poolwright.pins.questions import Unanswered
from poolwright.registry.ask import ask_registries
from poolwright.registry.limits import Limits

Answer = Callable[[BaseHTTPRequestHandler], None]
MANIFEST = json.dumps({"schemaVersion": 2, "mediaType": OCI_MANIFEST}).encode()
TYPE = {"Content-Type": OCI_MANIFEST}
TAG = "/v2/serving/one/manifests/v1"
OTHER = "sha256:" + "a" * 64


@pytest.fixture
def server() -> Iterator[Server]:
    with run_server() as found:
        yield found


def drip(handler: BaseHTTPRequestHandler) -> None:
    """A byte now and then, and never silent for long."""
    reply(headers={**TYPE, "Content-Length": "1000"})(handler)
    for _ in range(40):
        handler.wfile.write(b" ")
        time.sleep(0.1)


def drip_headers(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for number in range(90):
        handler.wfile.write(f"X-{number}: x\r\n".encode())
        time.sleep(0.1)


def endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", OCI_MANIFEST)
    handler.end_headers()
    for _ in range(1 << 20):
        handler.wfile.write(b" " * 4096)


def chunks_without_end(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(1 << 20):
        handler.wfile.write(b"1000\r\n" + b" " * 4096 + b"\r\n")


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


def write(data: bytes) -> Answer:
    return lambda handler: handler.wfile.write(data) and None  # type: ignore[func-returns-value]


def to(place: str, status: int = 302) -> Answer:
    return lambda handler: reply(status=status, headers={"Location": place})(handler)


LARGE = ("registry-nonsense", "http://HOST answers with more than 20,000 bytes")
NO_HTTP = ("registry-nonsense", "http://HOST doesn't speak HTTP as it should")
NO_MANIFEST = ("registry-nonsense", "HOST answers with something that isn't a manifest")
NO_JSON = ("registry-nonsense", "HOST answers with a manifest that isn't JSON")
ANOTHER_TYPE = ("registry-nonsense", "HOST answers with a manifest of another type than it says")
BROKEN_OFF = ("registry-silent", "http://HOST breaks the connection off")
# what it answers -> how often it is asked, and what is said then
FAULTS: dict[str, tuple[Answer, int, tuple[str, str]]] = {
    "a-page": (reply(b"<html>", headers={"Content-Type": "text/html; charset=utf-8"}), 1, NO_MANIFEST),
    "no-type": (reply(MANIFEST), 1, NO_MANIFEST),
    # Of the first generation: its digest isn't that of its bytes.
    "an-old-manifest": (
        reply(MANIFEST, headers={"Content-Type": "application/vnd.docker.distribution.manifest.v1+prettyjws"}),
        1,
        NO_MANIFEST,
    ),
    "no-json": (reply(b"{", headers=TYPE), 1, NO_JSON),
    "deep-json": (reply(b"[" * 15_000, headers=TYPE), 1, NO_JSON),
    "a-list": (reply(b"[]", headers=TYPE), 1, ANOTHER_TYPE),
    "another-type": (reply(b'{"schemaVersion": 2, "mediaType": "x"}', headers=TYPE), 1, ANOTHER_TYPE),
    "an-error-as-a-manifest": (reply(b'{"errors": []}', headers=TYPE), 1, ANOTHER_TYPE),
    "another-digest": (
        reply(MANIFEST, headers={**TYPE, "Docker-Content-Digest": OTHER}),
        1,
        ("registry-nonsense", f"HOST sends bytes whose digest is {digest_of(MANIFEST)}, and calls them by another"),
    ),
    "large": (reply(b" " * 20_001, headers=TYPE), 1, LARGE),
    "large-by-its-word": (reply(headers={**TYPE, "Content-Length": "99999999999"}), 1, LARGE),
    "endless": (endless, 1, LARGE),
    "chunks-without-end": (chunks_without_end, 1, LARGE),
    "half": (
        reply(MANIFEST, headers={**TYPE, "Content-Length": "100"}),
        1,
        ("registry-nonsense", f"http://HOST ends its answer after {len(MANIFEST)} of 100 bytes"),
    ),
    "half-a-chunk": (write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nabc"), 1, NO_HTTP),
    "no-http": (write(b"SSH-2.0-OpenSSH\r\n"), 1, NO_HTTP),
    "many-headers": (write(b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200), 1, NO_HTTP),
    "long-header": (write(b"HTTP/1.1 200 OK\r\nA: " + b"b" * (1 << 17)), 1, NO_HTTP),
    "silence": (lambda _: time.sleep(1), 1, ("registry-silent", "http://HOST is silent for 0.4 s")),
    "silence-after-headers": (
        lambda handler: (reply(headers={"Content-Length": "9"})(handler), time.sleep(1))[0],
        1,
        ("registry-silent", "http://HOST is silent for 0.4 s"),
    ),
    "a-drip": (drip, 1, ("registry-silent", "http://HOST took longer than 1.2 s for one answer")),
    "hangs-up": (hang_up, 3, BROKEN_OFF),
    "a-loop": (to(TAG), 4, ("registry-nonsense", "http://HOST redirects more than 3 times")),
    "to-plain-http": (
        to("http://registry.example.com/"),
        1,
        ("registry-nonsense", "registry.example.com is named without https, and only loopback is asked so"),
    ),
    "to-a-file": (to("file:///etc/passwd"), 1, ("registry-nonsense", "an address that it names can't be read")),
    "to-a-password": (
        to("https://a:b@registry.example.com/"),
        1,
        ("registry-nonsense", "an address that it names can't be read"),
    ),
    "to-nowhere": (
        reply(status=302),
        1,
        ("registry-nonsense", "HOST answers with a status that says nothing here (302)"),
    ),
    "400": (reply(status=400), 1, ("registry-nonsense", "HOST answers with a status that says nothing here (400)")),
    "401": (reply(status=401), 1, ("registry-denied", "HOST shows it to nobody without credentials (401)")),
    "403": (reply(status=403), 1, ("registry-denied", "HOST shows it to nobody without credentials (403)")),
    "404": (reply(status=404), 1, ("registry-lacks", "HOST has no such repository or tag (404)")),
    "429": (reply(status=429), 3, ("registry-silent", "HOST was asked too often (429)")),
    # It asks for more patience than there is, so that it isn't asked again.
    "429-and-an-hour": (
        reply(status=429, headers={"Retry-After": "3600"}),
        1,
        ("registry-silent", "HOST was asked too often (429), and wants 3,600 s of rest"),
    ),
    "500": (reply(status=500), 1, ("registry-silent", "HOST has an error of its own (500)")),
    "503": (reply(status=503), 3, ("registry-silent", "HOST has an error of its own (503)")),
}


# These have to be waited for.
SHORT = {
    "silence": replace(QUICK, silence_s=0.4),
    "silence-after-headers": replace(QUICK, silence_s=0.4),
    "a-drip": replace(QUICK, request_s=1.2),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str, server: Server) -> None:
    server.answers[TAG], times, (code, what) = FAULTS[name]
    found = said(image(f"{server.host}/serving/one:v1"), SHORT.get(name, QUICK))
    assert found == (code, what.replace("HOST", server.host))
    assert [one.path for one in server.asked] == [TAG] * times


GOOD = reply(MANIFEST, headers=TYPE)
STATUS = b"HTTP/1.1 200 OK\r\nContent-Type: " + OCI_MANIFEST.encode() + b"\r\n"


def keep_open(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(STATUS + b"Content-Length: %d\r\n\r\n%b" % (len(MANIFEST), MANIFEST))
    time.sleep(1)


PASSING: dict[str, tuple[Answer, int]] = {
    "502-once": (in_turn(reply(status=502), GOOD), 2),
    "429-twice": (in_turn(reply(status=429), reply(status=429, headers={"Retry-After": "1"}), GOOD), 3),
    "hangs-up-once": (in_turn(hang_up, GOOD), 2),
    "moved": (in_turn(to(TAG, 307), GOOD), 2),
    # HTTP/1.1 keeps connections; what ends an answer is its length.
    "keeps-the-connection": (keep_open, 1),
    "in-chunks": (
        write(STATUS + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(MANIFEST), MANIFEST)),
        1,
    ),
}


@pytest.mark.parametrize("name", PASSING)
def test_what_passes(name: str, server: Server) -> None:
    server.answers[TAG], times = PASSING[name]
    assert ask(image(f"{server.host}/serving/one:v1")) == digest_of(MANIFEST)
    assert len(server.asked) == times


def test_a_redirect_leaves_the_token_behind(server: Server) -> None:
    with run_server() as other:
        challenge = {"WWW-Authenticate": f'Bearer realm="http://{server.host}/t"'}
        server.answers |= {TAG: in_turn(reply(status=401, headers=challenge), to(f"http://{other.host}/elsewhere"))}
        server.answers["/t"] = reply(b'{"token": "good"}')
        other.answers["/elsewhere"] = GOOD
        assert ask(image(f"{server.host}/serving/one:v1")) == digest_of(MANIFEST)
        assert [one.authorization for one in server.asked] == [None, None, "Bearer good"]
        assert [one.authorization for one in other.asked] == [None]


def test_everything_has_an_end(server: Server) -> None:
    """Headers that drip are no silence, and aren't the body either."""
    server.answers[TAG] = drip_headers
    limits = Limits(silence_s=2, request_s=3, total_s=3, parallel=2)
    names = [f"{server.host}/serving/one:v1", *(f"{server.host}/serving/none:v{number}" for number in range(3))]
    started = time.monotonic()
    answers = list(ask_registries([image(one) for one in names], limits).values())
    assert time.monotonic() - started < 8
    late = "there was no answer within 3 s in all"
    assert [one.what for one in answers if isinstance(one, Unanswered)] == [
        late,
        *[f"{server.host} has no such repository or tag (404)"] * 3,
    ]


def test_what_is_wrong_with_us_is_not_a_finding(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("poolwright.registry.ask.ask_manifest", fail)
    with pytest.raises(ZeroDivisionError):
        ask(image(f"{server.host}/serving/one:v1"))


NAMES = {
    "no-registry": ("vllm/vllm-openai:v1", "it names no registry, and which one is meant is up to each node"),
    "no-folder": ("vllm-openai:v1", "it names no registry, and which one is meant is up to each node"),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_without_a_registry(name: str) -> None:
    reference, what = NAMES[name]
    assert said(image(reference)) == ("registry-unnamed", what)


def test_a_closed_port_is_not_tried_again() -> None:
    with run_server() as gone:
        host = gone.host
    limits = Limits(back_off_s=30)  # trying again would show
    assert said(image(f"{host}/serving/one:v1"), limits) == ("registry-silent", f"http://{host} refuses the connection")


def test_a_name_that_nobody_has(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "whatever a system says")

    monkeypatch.setattr("socket.getaddrinfo", look_up)
    assert said(image("registry.example.com/serving/one:v1")) == (
        "registry-silent",
        "https://registry.example.com has a name that can't be resolved",
    )
