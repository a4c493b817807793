"""Anonymous tokens: a real registry that wants one, and servers that make trouble of it."""

from __future__ import annotations

import base64
import json
import subprocess
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from asked import ask, image, said

from loopback_registry import OCI_MANIFEST, digest_of, run_registry
from loopback_server import Server, reply, run_server
from needs import needs

MANIFEST = json.dumps({"schemaVersion": 2, "mediaType": OCI_MANIFEST}).encode()
TAG = "/v2/serving/one/manifests/v1"


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def make_certificate(folder: Path) -> Path:
    """A key and the certificate of it, in one file."""
    command = (needs("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=tokens")
    subprocess.run([*command, "-keyout", "key.pem", "-out", "cert.pem"], cwd=folder, check=True, capture_output=True)
    (folder / "both.pem").write_text((folder / "key.pem").read_text() + (folder / "cert.pem").read_text())
    return folder / "both.pem"


def sign_token(folder: Path, scope: str, service: str, allowed: str) -> str:
    """A token as the registry wants it: for the scope, if it is of the one repository that is public."""
    kind, name, actions = scope.split(":")
    access = [{"type": kind, "name": name, "actions": actions.split(",")}] if name == allowed else []
    der = "".join((folder / "cert.pem").read_text().splitlines()[1:-1])
    now = int(time.time())
    claims = {"iss": "tokens", "sub": "", "aud": service, "exp": now + 60, "nbf": now - 60, "iat": now, "jti": "1"}
    head = {"typ": "JWT", "alg": "RS256", "x5c": [der]}
    text = ".".join(encode(json.dumps(part).encode()) for part in (head, {**claims, "access": access}))
    command = (needs("openssl"), "dgst", "-sha256", "-sign", folder / "key.pem")
    signature = subprocess.run(command, input=text.encode(), check=True, capture_output=True).stdout
    return f"{text}.{encode(signature)}"


def test_a_real_registry_is_shown_a_token_that_anybody_gets(tmp_path: Path) -> None:
    make_certificate(tmp_path)
    with run_registry(tmp_path) as open_one:  # the same files, before it is closed
        pushed = open_one.push_image("public/one:v1", "one")
        open_one.push_image("private/one:v1", "one")
    with run_server() as tokens:

        def give(handler: BaseHTTPRequestHandler) -> None:
            (scope,), (service,) = (parse_qs(urlsplit(handler.path).query)[name] for name in ("scope", "service"))
            token = sign_token(tmp_path, scope, service, allowed="public/one")
            reply(json.dumps({"token": token}).encode())(handler)

        for name in ("public", "private"):
            tokens.answers[f"/token?service=a+registry&scope=repository%3A{name}%2Fone%3Apull"] = give
        settings = {
            "realm": f"http://{tokens.host}/token",
            "service": "a registry",
            "issuer": "tokens",
            "rootcertbundle": str(tmp_path / "cert.pem"),
        }
        with run_registry(tmp_path, {"token": settings}) as registry:
            assert ask(image(f"{registry.host}/public/one:v1")) == pushed
            assert said(image(f"{registry.host}/private/one:v1")) == (
                "registry-denied",
                f"{registry.host} shows it to nobody without credentials (401)",
            )
    assert {one.authorization for one in tokens.asked} == {None}


@pytest.fixture
def server() -> Iterator[Server]:
    with run_server() as found:
        yield found


def challenge(server: Server, text: str) -> None:
    """Ask for a token in these words, and be content with `good`."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        if handler.headers.get("Authorization") == "Bearer good":
            reply(MANIFEST, headers={"Content-Type": OCI_MANIFEST})(handler)
        else:
            reply(status=401, headers={"WWW-Authenticate": text.replace("HOST", server.host)})(handler)

    server.answers[TAG] = answer


ASKED_FOR = {
    "as-most-do": 'Bearer realm="http://HOST/t",service="s",scope="repository:serving/one:pull"',
    "other-letters": 'bEARER realm="http://HOST/t", service="s", scope="repository:serving/one:pull"',
    "with-more": 'Bearer error="a, \\"b\\"",realm="http://HOST/t",service="s",scope="repository:serving/one:pull"',
}


@pytest.mark.parametrize("name", ASKED_FOR)
@pytest.mark.parametrize("field", ["token", "access_token"])
def test_a_token_is_asked_for_as_the_registry_wants(field: str, name: str, server: Server) -> None:
    challenge(server, ASKED_FOR[name])
    server.answers["/t?service=s&scope=repository%3Aserving%2Fone%3Apull"] = reply(json.dumps({field: "good"}).encode())
    assert ask(image(f"{server.host}/serving/one:v1")) == digest_of(MANIFEST)
    assert [one.authorization for one in server.asked] == [None, None, "Bearer good"]


PLAIN = 'Bearer realm="http://HOST/t"'
REFUSED: dict[str, tuple[str, bytes, int, tuple[str, str]]] = {
    "a-password": (
        'Basic realm="x"',
        b"",
        200,
        ("registry-denied", "HOST shows it to nobody without credentials (401)"),
    ),
    "no-realm": ("Bearer", b"", 200, ("registry-nonsense", "http://HOST names an address that isn't https")),
    "another-scheme": (
        'Bearer realm="file:///etc/passwd"',
        b"",
        200,
        ("registry-nonsense", "an address that it names can't be read"),
    ),
    # A token is a secret, and what hands them out over plain http can be anybody.
    "plain-http": (
        'Bearer realm="http://registry.example.com/t"',
        b"",
        200,
        ("registry-nonsense", "registry.example.com is named without https, and only loopback is asked so"),
    ),
    "no-json": (PLAIN, b"<html>", 200, ("registry-nonsense", "HOST answers HOST's request for a token with none")),
    "no-token": (PLAIN, b"{}", 200, ("registry-nonsense", "HOST answers HOST's request for a token with none")),
    "a-token-with-a-line": (
        PLAIN,
        b'{"token": "a\\r\\nHost: b"}',
        200,
        ("registry-nonsense", "HOST answers HOST's request for a token with none"),
    ),
    "a-token-that-is-not-taken": (
        PLAIN,
        b'{"token": "bad"}',
        200,
        ("registry-denied", "HOST shows it to nobody without credentials (401)"),
    ),
    "too-long": (
        PLAIN,
        b'{"token": "' + b"a" * (64 << 10) + b'"}',
        200,
        ("registry-nonsense", "http://HOST answers with more than 65,536 bytes"),
    ),
    "denied": (PLAIN, b"", 403, ("registry-denied", "HOST shows it to nobody without credentials (403)")),
    "broken": (PLAIN, b"", 500, ("registry-silent", "HOST gives no token for it (500)")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_trouble_with_a_token(name: str, server: Server) -> None:
    text, body, status, (code, what) = REFUSED[name]
    challenge(server, text)
    server.answers["/t"] = reply(body, status)
    assert said(image(f"{server.host}/serving/one:v1")) == (code, what.replace("HOST", server.host))
