"""Requests to one API over HTTPS, within limits: no redirects, no cookies, plain http on loopback only."""

from __future__ import annotations

import json
import queue
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final, Literal
from urllib.parse import urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NameResolutionError,
    NewConnectionError,
    ProtocolError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)
from urllib3.util import Retry

from poolwright.review.limits import Limits
from poolwright.review.patience import build_retry, count_failure, find_pause
from poolwright.review.refusal import RUN_AGAIN, ReviewError, UnsureError, refuse_answer, refuse_silence
from poolwright.specs.lock import TOOL_VERSION

Method = Literal["GET", "POST", "PATCH", "PUT", "DELETE"]
_CHUNK_BYTES: Final = 1 << 16
_UNSENT: Final = (NewConnectionError, NameResolutionError, ConnectTimeoutError, ProxyError, SSLError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a server answered, whatever the status."""

    status: int
    headers: Mapping[str, str]  # names in any case
    body: bytes

    def read_json(self, host: str) -> Any:
        """The body as JSON. Raises: ReviewError."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise refuse_answer(f"{host} answers with something that isn't JSON") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """A try that another one may mend."""

    error: ReviewError  # what is said if none does
    pause_s: float  # that the server asks for
    was_refused: bool  # before anything was done


class Api:
    """One API below one address. HTTPS_PROXY and NO_PROXY are heeded, certificates are those of the system."""

    def __init__(self, address: str, headers: Mapping[str, str], limits: Limits) -> None:
        """headers: sent with every request, and nowhere else. Raises: ReviewError if the address can't be asked."""
        self.host = check_address(address)
        self.limits = limits
        self._address = address.rstrip("/")
        self._headers = {**headers, "Accept-Encoding": "identity", "User-Agent": f"poolwright/{TOOL_VERSION}"}
        self._deadline = time.monotonic() + limits.total_s
        self._pool = _open_pool(address, limits)

    def ask(
        self,
        method: Method,
        path: str,
        *,
        query: Sequence[tuple[str, str]] = (),
        body: Mapping[str, str] | None = None,
        most_bytes: int | None = None,
    ) -> Reply:
        """The answer to a request; what may pass is tried again, but not a POST that may have been carried out.

        path:   below the address, with every part of it escaped.
        Raises: ReviewError if there is none within the limits, UnsureError of such a POST.
        """
        url = f"{self._address}{path}" + (f"?{urlencode(query)}" if query else "")
        data = None if body is None else json.dumps(body).encode()
        retry = build_retry(self.limits)
        while True:
            found = self._try(method, url, data, most_bytes or self.limits.answer_bytes)
            if isinstance(found, Reply):
                return found
            if method == "POST" and not found.was_refused:
                raise UnsureError(code=found.error.code, what=found.error.what, why=_MAY_BE_THERE, fix=RUN_AGAIN)
            retry = self._wait(retry, found)

    def _try(self, method: Method, url: str, data: bytes | None, most_bytes: int) -> Reply | _Failure:
        """One request, and what it means that it failed. Raises: ReviewError if another try is of no use."""
        try:
            reply = self._send_within(method, url, data, most_bytes)
        except _UNSENT as error:
            raise self._describe(error) from None
        except (HTTPError, TimeoutError) as error:
            return _Failure(error=self._describe(error), pause_s=0, was_refused=False)
        found = find_pause(reply.status, reply.headers, reply.body, time.time())
        if found is None:
            return self._check_redirect(reply)
        pause_s, was_refused = found
        lost = self._too_often(pause_s) if was_refused else self._failed(reply.status)
        if pause_s > self.limits.wait_s:
            raise lost
        return _Failure(error=lost, pause_s=pause_s, was_refused=was_refused)

    def _wait(self, retry: Retry, failure: _Failure) -> Retry:
        """What is left of the patience after one more failure and a pause. Raises: ReviewError if it is at an end."""
        left = count_failure(retry)
        if left is None:
            raise failure.error
        pause_s = max(failure.pause_s, left.get_backoff_time(), self.limits.back_off_s)
        if time.monotonic() + pause_s > self._deadline:
            raise failure.error
        time.sleep(pause_s)
        return left

    def _send_within(self, method: str, url: str, data: bytes | None, most_bytes: int) -> Reply:
        """One request. In a thread of its own, since nothing ends the look-up of a name, or headers that drip."""
        seconds = min(self.limits.request_s, self._deadline - time.monotonic())
        if seconds <= 0:
            raise refuse_silence(f"{self.host} left no time for another request within {self.limits.total_s:g} s")
        done: queue.SimpleQueue[Reply | BaseException] = queue.SimpleQueue()

        def run() -> None:
            try:
                done.put(self._send(method, url, data, most_bytes))
            except BaseException as error:
                done.put(error)

        threading.Thread(target=run, daemon=True).start()
        try:
            found = done.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError from None
        if isinstance(found, BaseException):
            raise found
        return found

    def _send(self, method: str, url: str, data: bytes | None, most_bytes: int) -> Reply:
        headers = self._headers if data is None else {**self._headers, "Content-Type": "application/json"}
        response = self._pool.request(
            method, url, body=data, headers=headers, retries=False, redirect=False, preload_content=False
        )
        try:
            body = bytearray()
            while piece := response.read1(_CHUNK_BYTES, decode_content=False):
                body += piece
                if len(body) > most_bytes:
                    raise refuse_answer(f"{self.host} answers with more than {most_bytes:,} bytes")
            return Reply(status=response.status, headers=response.headers, body=bytes(body))
        finally:
            response.close()

    def _check_redirect(self, reply: Reply) -> Reply:
        if 300 <= reply.status < 400:
            raise ReviewError(
                code="review-moved",
                what=f"{self.host} sends on to another address ({reply.status})",
                why="a redirect isn't followed: the token would go to wherever it leads",
                fix="name the repository or project as it is called today, and the API by its own address",
            )
        return reply

    def _too_often(self, pause_s: float) -> ReviewError:
        wait = f", and wants {pause_s:,.0f} s of rest" if pause_s else ""
        return ReviewError(
            code="review-silent",
            what=f"{self.host} was asked too often{wait}",
            why=f"a wait is at most {self.limits.wait_s:g} s, and all together {self.limits.total_s:g} s",
            fix=RUN_AGAIN,
        )

    def _failed(self, status: int) -> ReviewError:
        return ReviewError(
            code="review-silent",
            what=f"{self.host} has an error of its own ({status})",
            why=f"it was asked up to {self.limits.retries + 1} times",
            fix=RUN_AGAIN,
        )

    def _describe(self, error: BaseException) -> ReviewError:
        if isinstance(error, NameResolutionError):
            return refuse_silence(f"{self.host} has a name that can't be resolved")
        if isinstance(error, ConnectTimeoutError | ReadTimeoutError) and not isinstance(error, NewConnectionError):
            return refuse_silence(f"{self.host} is silent for {self.limits.silence_s:g} s")
        if isinstance(error, TimeoutError):
            return refuse_silence(f"{self.host} took longer than {self.limits.request_s:g} s for one answer")
        if isinstance(error, ProxyError):
            return refuse_silence(f"{self.host} can't be reached through the proxy that HTTPS_PROXY names")
        if isinstance(error, SSLError):
            reason = error.args[0] if error.args else None
            if isinstance(reason, ssl.SSLCertVerificationError):
                return refuse_silence(f"{self.host} has a certificate that isn't trusted ({reason.verify_message})")
            return refuse_silence(f"{self.host} doesn't speak TLS as it should")
        if isinstance(error, NewConnectionError):
            return refuse_silence(f"{self.host} refuses the connection, or can't be reached")
        if isinstance(error, ProtocolError):
            return refuse_silence(f"{self.host} breaks off, or doesn't speak HTTP as it should")
        return refuse_silence(f"{self.host} can't be asked")


_MAY_BE_THERE: Final = "a comment may have been made all the same, so that it isn't asked for twice"


def check_address(address: str) -> str:
    """The host of an API's address. Raises: ReviewError if it is none, or would show a token to the network."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host, parts = "", urlsplit("")
    is_plain = parts.scheme == "http" and is_loopback(host)
    readable = address.isascii() and address.isprintable() and not set(" ?#@") & set(address)
    if not host or not readable or not (parts.scheme == "https" or is_plain):
        raise ReviewError(
            code="review-setup",
            what="the address of the API isn't one that can be asked",
            why="the token goes there: over https, or over plain http to loopback alone",
            fix="set GITHUB_API_URL or CI_API_V4_URL to an address such as https://git.example.com/api/v3",
        )
    return parts.netloc


def is_loopback(host: str) -> bool:
    """Whether a host is loopback by what it is called: a name that resolves to it doesn't count."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _open_pool(address: str, limits: Limits) -> urllib3.PoolManager:
    parts = urlsplit(address)
    timeout = urllib3.Timeout(connect=limits.silence_s, read=limits.silence_s)
    if parts.scheme != "https":
        return urllib3.PoolManager(timeout=timeout)
    context = ssl.create_default_context()
    proxy = getproxies().get("https", "")
    if not proxy or proxy_bypass(parts.netloc):
        return urllib3.PoolManager(timeout=timeout, ssl_context=context)
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    try:
        found = urlsplit(proxy)
        if found.scheme not in ("http", "https") or not found.hostname:
            raise ValueError
        login = f"{found.username or ''}:{found.password or ''}" if found.username else None
        headers = urllib3.make_headers(proxy_basic_auth=login)
        return urllib3.ProxyManager(proxy, proxy_headers=headers, timeout=timeout, ssl_context=context)
    except (ValueError, HTTPError):
        raise ReviewError(
            code="review-setup",
            what="HTTPS_PROXY names no proxy that can be used",
            why="requests go through it, or around it where NO_PROXY says so",
            fix="set it to http://HOST:PORT or https://HOST:PORT",
        ) from None
