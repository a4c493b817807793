"""Anonymous bearer tokens, which public registries ask for before they show anything."""

from __future__ import annotations

import json
import re
from email.message import Message
from typing import Final
from urllib.parse import urlencode, urlsplit
from urllib.request import parse_http_list, parse_keqv_list

from poolwright.registry.refusal import RefusalError, refuse_answer
from poolwright.registry.transport import Reply, Transport, resolve_address

_TOKEN: Final = re.compile(r"[!-~]{1,16384}")  # some registries put a list of rights into it
_FIX: Final = "write the digest in the stack: poolwright has no credentials, so it can ask for public images only"


def get_with_token(transport: Transport, url: str, *, most_bytes: int, accept: str) -> Reply:
    """The answer to a GET; one that asks for a token is asked again with one that anybody gets.

    Raises: RefusalError.
    Source: distribution.github.io/distribution/spec/auth/token
    """
    reply = transport.get(url, most_bytes=most_bytes, accept=accept)
    if reply.status != 401:
        return reply
    token = _ask_token(transport, url, reply.headers)
    return transport.get(url, most_bytes=most_bytes, accept=accept, token=token)


def refuse_credentials(host: str, status: int) -> RefusalError:
    """The error for a server that shows what is asked for to those it knows, or says so of what it doesn't have."""
    return RefusalError(
        code="registry-denied", what=f"{host} shows it to nobody without credentials ({status})", fix=_FIX
    )


def _ask_token(transport: Transport, url: str, headers: Message) -> str:
    host = urlsplit(url).netloc
    challenge = _find_challenge(headers)
    if challenge is None:
        raise refuse_credentials(host, 401)
    realm = resolve_address(url, challenge.get("realm", ""))
    query = urlencode([(name, challenge[name]) for name in ("service", "scope") if name in challenge])
    address = realm + (f"{'&' if '?' in realm else '?'}{query}" if query else "")
    reply = transport.get(address, most_bytes=transport.limits.token_bytes, accept="application/json")
    if reply.status in (401, 403):
        raise refuse_credentials(host, reply.status)
    if reply.status != 200:
        what = f"{urlsplit(realm).netloc} gives no token for it ({reply.status})"
        raise RefusalError(code="registry-silent", what=what, fix="run it again later")
    return _read_token(reply, host)


def _find_challenge(headers: Message) -> dict[str, str] | None:
    """What a registry wants a token for, by name; None: it doesn't ask for a token."""
    for text in headers.get_all("WWW-Authenticate", []):
        scheme, _, rest = text.strip().partition(" ")
        if scheme.lower() == "bearer":
            return parse_keqv_list([part for part in parse_http_list(rest) if "=" in part])
    return None


def _read_token(reply: Reply, host: str) -> str:
    try:
        found = json.loads(reply.body)
    except (ValueError, RecursionError):
        found = None
    token = (found.get("token") or found.get("access_token")) if isinstance(found, dict) else None
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise refuse_answer(f"{urlsplit(reply.url).netloc} answers {host}'s request for a token with none")
    return token
