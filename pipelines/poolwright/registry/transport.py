"""GET over HTTPS, within limits: every redirect looked at, no cookies, no credentials, plain http on loopback only."""

from __future__ import annotations

import http.client
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Final
from urllib.error import URLError
from urllib.parse import SplitResult, urljoin, urlsplit
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request, getproxies

from poolwright.registry.limits import Limits
from poolwright.registry.refusal import CHECK_NETWORK, RefusalError, refuse_answer
from poolwright.specs.lock import TOOL_VERSION

_REDIRECTS: Final = (301, 302, 303, 307, 308)
_PASSING: Final = (429, 502, 503, 504)  # what may be otherwise in a moment
_CHUNK_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a server answered at last, whatever the status."""

    url: str  # after redirects
    status: int
    headers: Message
    body: bytes

    @property
    def media_type(self) -> str:
        """The type that the server says the body is of, without parameters, in lower case; empty: none."""
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()


class Transport:
    """Sends requests; several threads may share it.

    HTTPS_PROXY and NO_PROXY are heeded as the standard library does, certificates are those of the system
    (or of SSL_CERT_FILE), and always verified. The deadline is told by time.monotonic.
    """

    def __init__(self, limits: Limits, deadline: float) -> None:
        self.limits = limits
        self._deadline = deadline
        proxies = {scheme: url for scheme, url in getproxies().items() if scheme == "https"}
        self._opener = OpenerDirector()  # not build_opener: it would follow redirects, and read file: and ftp: too
        for handler in (ProxyHandler(proxies), HTTPHandler(), HTTPSHandler(context=ssl.create_default_context())):
            self._opener.add_handler(handler)

    def get(self, url: str, *, most_bytes: int, accept: str = "*/*", token: str | None = None) -> Reply:
        """The answer to a GET; redirects are followed, and what may pass is tried again.

        token:  a bearer's; it goes to the server of the URL and to no other.
        Raises: RefusalError if there is none within the limits.
        """
        check_url(url)
        first = url
        for _ in range(self.limits.redirects + 1):
            own = token if _origin(url) == _origin(first) else None
            reply = self._try_until(url, most_bytes, accept, own)
            if reply.status not in _REDIRECTS or "Location" not in reply.headers:
                return reply
            url = resolve_address(url, reply.headers["Location"])
        raise refuse_answer(f"{_origin(first)} redirects more than {self.limits.redirects} times")

    def _try_until(self, url: str, most_bytes: int, accept: str, token: str | None) -> Reply:
        """One URL, once or a few times, with a longer pause before each further time."""
        for number in range(self.limits.retries + 1):
            is_last = number == self.limits.retries
            pause_s = self.limits.back_off_s * 2**number
            try:
                reply = self._send(url, most_bytes, accept, token)
            except ConnectionRefusedError as error:
                raise _describe(url, error, self.limits) from None
            except ConnectionError as error:
                if is_last:
                    raise _describe(url, error, self.limits) from None
            else:
                pause_s = max(pause_s, read_retry_after(reply.headers))
                if reply.status not in _PASSING or is_last or pause_s > self.limits.wait_s:
                    return reply
            if time.monotonic() + pause_s > self._deadline:
                raise RefusalError(
                    code="registry-silent", what=f"{_origin(url)} had no time left to try again", fix=CHECK_NETWORK
                )
            time.sleep(pause_s)
        raise AssertionError("the last time returns or raises")

    def _send(self, url: str, most_bytes: int, accept: str, token: str | None) -> Reply:
        headers = {"Accept": accept, "Accept-Encoding": "identity", "User-Agent": f"poolwright/{TOOL_VERSION}"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        ends = min(time.monotonic() + self.limits.request_s, self._deadline)
        with _network_errors(url, self.limits):
            response = self._opener.open(Request(url, headers=headers), timeout=self.limits.silence_s)  # noqa: S310
            with response:
                body = self._read(response, url, most_bytes, ends)
        return Reply(url=url, status=response.status, headers=response.headers, body=body)

    def _read(self, response: http.client.HTTPResponse, url: str, most_bytes: int, ends: float) -> bytes:
        """The body. Piece by piece: a server that sends a byte now and then is never silent."""
        stated = None if response.chunked else response.length
        if stated is not None and stated > most_bytes:
            raise refuse_answer(f"{_origin(url)} answers with more than {most_bytes:,} bytes")
        body = bytearray()
        while stated is None or len(body) < stated:
            piece = response.read1(_CHUNK_BYTES if stated is None else min(_CHUNK_BYTES, stated - len(body)))
            if not piece:
                break
            body += piece
            if len(body) > most_bytes:
                raise refuse_answer(f"{_origin(url)} answers with more than {most_bytes:,} bytes")
            if time.monotonic() > ends:
                what = f"{_origin(url)} took longer than {self.limits.request_s:g} s for one answer"
                raise RefusalError(code="registry-silent", what=what, fix=CHECK_NETWORK)
        if stated is not None and len(body) < stated:
            raise refuse_answer(f"{_origin(url)} ends its answer after {len(body):,} of {stated:,} bytes")
        return bytes(body)


def check_url(url: str) -> SplitResult:
    """The parts of a URL that may be asked. Raises: RefusalError."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise refuse_answer("an address that it names can't be read") from None
    if not host or "@" in parts.netloc or not url.isascii() or not url.isprintable() or " " in url:
        raise refuse_answer("an address that it names can't be read")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        raise refuse_answer(f"{parts.netloc} is named without https, and only loopback is asked so")
    return parts


def resolve_address(url: str, text: str) -> str:
    """What an answer from a URL means by an address. Raises: RefusalError; from https nothing leads to plain http."""
    target = urljoin(url, text)
    if not text or (check_url(target).scheme == "http" and urlsplit(url).scheme == "https"):
        raise refuse_answer(f"{_origin(url)} names an address that isn't https")
    return target


def is_loopback(host: str) -> bool:
    """Whether a host is loopback by what it is called: a name that resolves to it doesn't count."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def read_retry_after(headers: Message) -> float:
    """The seconds that a server asks to wait for; 0: it doesn't, or not in a way that can be read."""
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0


def _origin(url: str) -> str:
    """Scheme and host of a URL, which is all that messages show: what comes after may be a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


@contextmanager
def _network_errors(url: str, limits: Limits) -> Iterator[None]:
    """Say what the network, the TLS or the HTTP of a server is in the way of; a lost connection is left as it is."""
    try:
        yield
    except URLError as error:
        if isinstance(error.reason, ConnectionError):
            raise error.reason from None
        raise _describe(url, error.reason, limits) from None
    except ConnectionError:
        raise
    except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: headers that can't be read
        raise _describe(url, error, limits) from None


def _describe(url: str, error: BaseException | str, limits: Limits) -> RefusalError:
    where = _origin(url)
    if isinstance(error, TimeoutError):
        what = f"{where} is silent for {limits.silence_s:g} s"
    elif isinstance(error, ssl.SSLCertVerificationError):
        what = f"{where} has a certificate that isn't trusted ({error.verify_message})"
    elif isinstance(error, ssl.SSLError):
        what = f"{where} doesn't speak TLS as it should"
    elif isinstance(error, socket.gaierror):
        what = f"{where} has a name that can't be resolved"
    elif isinstance(error, ConnectionRefusedError):
        what = f"{where} refuses the connection"
    elif isinstance(error, ConnectionError):
        what = f"{where} breaks the connection off"
    elif isinstance(error, OSError):
        what = f"{where} can't be reached"
    else:
        return refuse_answer(f"{where} doesn't speak HTTP as it should")
    return RefusalError(code="registry-silent", what=what, fix=CHECK_NETWORK)
