"""Whose certificates count, and that a request has no time once all of it is used up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loopback_certificate import make_certificate
from loopback_server import reply, run_server
from poolwright.review.limits import LIMITS
from poolwright.review.refusal import ReviewError
from poolwright.review.transport import Api


def test_a_certificate_must_be_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = make_certificate(tmp_path, "IP:127.0.0.1")
    with run_server(certificate) as server:
        server.answers["/user"] = reply(b"{}")
        with pytest.raises(ReviewError) as found:
            Api(f"https://{server.host}", {}, LIMITS).ask("GET", "/user")
        assert found.value.what.startswith(f"{server.host} has a certificate that isn't trusted (self")
        assert server.asked == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert Api(f"https://{server.host}", {}, LIMITS).ask("GET", "/user").body == b"{}"


def test_a_server_that_speaks_no_tls() -> None:
    with run_server() as server, pytest.raises(ReviewError) as found:
        Api(f"https://{server.host}", {}, LIMITS).ask("GET", "/user")
    assert found.value.what == f"{server.host} doesn't speak TLS as it should"


def test_nothing_is_sent_once_the_time_is_up() -> None:
    """A request that nobody waits for might be carried out."""
    with run_server() as server, pytest.raises(ReviewError) as found:
        Api(f"http://{server.host}", {}, replace(LIMITS, total_s=0)).ask("POST", "/user", body={"body": "x"})
    assert found.value.what == f"{server.host} left no time for another request within 0 s"
    assert server.asked == []
