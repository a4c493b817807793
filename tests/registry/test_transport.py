"""Which addresses may be asked, how long a server may want to be left alone, and whose certificates count."""

from __future__ import annotations

import json
import time
from email.message import Message
from email.utils import formatdate
from pathlib import Path

import pytest
from asked import QUICK, chart, said

from loopback_certificate import make_certificate
from loopback_server import reply, run_server
from poolwright.registry.refusal import RefusalError
from poolwright.registry.token import get_with_token
from poolwright.registry.transport import Transport, check_url, is_loopback, read_retry_after

LOOPBACK = {
    "localhost": True,
    "127.0.0.1": True,
    "127.8.9.1": True,
    "::1": True,
    "0.0.0.0": False,
    "10.0.0.1": False,
    "169.254.169.254": False,
    "localhost.example.com": False,
    "127.0.0.1.example.com": False,
    "": False,
}


@pytest.mark.parametrize("host", LOOPBACK)
def test_loopback_is_what_is_called_so(host: str) -> None:
    assert is_loopback(host) is LOOPBACK[host]


URLS = {
    "https://registry.example.com/v2/": True,
    "https://registry.example.com:8443/v2/": True,
    "http://127.0.0.1:5000/v2/": True,
    "http://[::1]:5000/v2/": True,
    "http://localhost/v2/": True,
    "http://registry.example.com/v2/": False,
    "http://127.0.0.1@registry.example.com/": False,
    "https://name:word@registry.example.com/": False,
    "https://": False,
    "https:///v2/": False,
    "https://registry.example.com:port/": False,
    "https://[::1/": False,
    "https://registry.example.com/a b": False,
    "https://registry.example.com/\r\nHost: a": False,
    "https://registry.example.com/\N{LATIN SMALL LETTER E WITH ACUTE}": False,
    "ftp://registry.example.com/": False,
    "file:///etc/passwd": False,
    "data:text/plain,a": False,
    "": False,
}


@pytest.mark.parametrize("url", URLS)
def test_what_may_be_asked(url: str) -> None:
    try:
        check_url(url)
    except RefusalError:
        assert not URLS[url]
    else:
        assert URLS[url]


RETRY_AFTER = {"": 0, "7": 7, " 7 ": 7, "-7": 0, "7.5": 0, "soon": 0, "9" * 400: 999_999_999, "\N{SUPERSCRIPT TWO}": 0}


@pytest.mark.parametrize("text", RETRY_AFTER)
def test_retry_after_in_seconds(text: str) -> None:
    headers = Message()
    headers["Retry-After"] = text
    assert read_retry_after(headers) == RETRY_AFTER[text]


def test_retry_after_as_a_time() -> None:
    headers, past = Message(), Message()
    headers["Retry-After"] = formatdate(time.time() + 60, usegmt=True)
    past["Retry-After"] = formatdate(time.time() - 60, usegmt=True)
    assert 50 < read_retry_after(headers) <= 60
    assert read_retry_after(past) == read_retry_after(Message()) == 0


def test_a_certificate_must_be_trusted_and_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = make_certificate(tmp_path, "IP:127.0.0.1")
    with run_server(certificate) as server:
        question = chart(f"https://{server.host}/charts", "gpu-operator", "v26.7.0")
        code, what = said(question)
        assert (code, "has a certificate that isn't trusted (self" in what) == ("registry-silent", True)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        assert said(question) == ("registry-lacks", f"{server.host} has no index.yaml there (404)")
        by_name = server.host.replace("127.0.0.1", "localhost")
        code, what = said(chart(f"https://{by_name}/charts", "gpu-operator", "v26.7.0"))
        assert (code, "Hostname mismatch" in what) == ("registry-silent", True)


ENTRY = {"version": "v26.7.0", "digest": "a" * 64, "urls": ["http://PLAIN/a.tgz"]}


@pytest.mark.parametrize("way", ["redirect", "archive", "token"])
def test_from_https_nothing_leads_to_plain_http(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even to loopback: a server far away would choose what is asked of services here."""
    certificate = make_certificate(tmp_path, "IP:127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    with run_server(certificate) as server, run_server() as plain:
        index = json.dumps({"entries": {"gpu-operator": [ENTRY]}}).replace("PLAIN", plain.host)
        challenge = {"WWW-Authenticate": f'Bearer realm="http://{plain.host}/t"'}
        server.answers |= {
            "/redirect/index.yaml": reply(status=302, headers={"Location": f"http://{plain.host}/index.yaml"}),
            "/archive/index.yaml": reply(index.encode()),
            "/token": reply(status=401, headers=challenge),
        }
        expected = "registry-nonsense", f"https://{server.host} names an address that isn't https"
        if way == "token":
            transport = Transport(QUICK, time.monotonic() + 5)
            with pytest.raises(RefusalError) as refused:
                get_with_token(transport, f"https://{server.host}/token", most_bytes=1, accept="*/*")
            assert (refused.value.answer.code, refused.value.answer.what) == expected
        else:
            assert said(chart(f"https://{server.host}/{way}", "gpu-operator", "v26.7.0")) == expected
        assert (len(server.asked), plain.asked) == (1, [])


def test_what_speaks_no_tls() -> None:
    with run_server() as server:
        question = chart(f"https://{server.host}/charts", "gpu-operator", "v26.7.0")
        assert said(question) == ("registry-silent", f"https://{server.host} doesn't speak TLS as it should")


def test_a_proxy_is_for_https_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that refuses to connect is no answer; loopback is asked without one."""
    with run_server() as proxy, run_server() as server:
        for name in ("http_proxy", "https_proxy"):
            monkeypatch.setenv(name, f"http://{proxy.host}")
        monkeypatch.delenv("no_proxy", raising=False)
        found = said(chart("https://charts.example.com", "gpu-operator", "v26.7.0"))
        assert found == ("registry-silent", "https://charts.example.com can't be reached")
        assert said(chart(f"http://{server.host}", "gpu-operator", "v26.7.0"))[0] == "registry-lacks"
        assert (len(proxy.asked), len(server.asked)) == (0, 1)
