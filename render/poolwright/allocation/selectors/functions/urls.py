"""URL objects, read as Go reads a URL.

Source: k8s.io/apiserver v0.37 pkg/cel/library/urls.go and Go 1.26's net/url. Go's reading differs from Python's in what
it refuses, so none of urllib serves here.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass

from poolwright.allocation.selectors.functions.addresses import parse_any_ip
from poolwright.allocation.selectors.functions.formatting import quote_go
from poolwright.allocation.selectors.functions.overload import Overload
from poolwright.allocation.selectors.values import CelMap, Failure, Url, Value, refuse

_PLAIN = frozenset((string.ascii_letters + string.digits + "-_.~").encode())
# What need not be escaped, by part of the URL.
_PATH = _PLAIN | frozenset(b"$&+,/:;=@")
_HOST = _PLAIN | frozenset(b"!$&'()*+,;=:[]<>\"")
_USER = _PLAIN | frozenset(b"$&+,;=")
_QUERY = _PLAIN
_FRAGMENT = _PLAIN | frozenset(b"$&+,/:;=?@!()*")
_USERINFO = r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*"
_MAX_PARAMETERS = 10_000


def parse_url(text: str) -> Url:
    """Read an absolute URL or path.

    Raises: ValueError in Go's words.
    """
    check_url(text)
    before, _, fragment = text.partition("#")
    try:
        parts = _split(before, is_request=False)
        decoded = _unescape(fragment.encode(), _FRAGMENT)
    except ValueError as error:
        raise ValueError(f"parse {quote_go(before)}: {error}") from None
    path = _escaped_path(parts)
    return Url(
        scheme=parts.scheme,
        host=_to_text(parts.host),
        escaped_path=path,
        raw_query=parts.query,
        text=_render(parts, path, fragment, decoded),
    )


def check_url(text: str) -> None:
    """Raise ValueError, in Go's words, where this is neither an absolute URL nor a path."""
    try:
        _split(text, is_request=True)
    except ValueError as error:
        raise ValueError(f"parse {quote_go(text)}: {error}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    scheme: str = ""
    opaque: str = ""
    user: str | None = None  # escaped anew
    host: bytes = b""
    has_authority: bool = True  # False: `x:/path`
    raw_path: str = ""
    path: bytes = b""
    query: str = ""
    force_query: bool = False  # it ends with its only `?`


def _split(text: str, *, is_request: bool) -> _Parts:
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise ValueError("net/url: invalid control character in URL")
    if not text and is_request:
        raise ValueError("empty url")
    if text == "*":
        return _Parts(raw_path="*", path=b"*")
    scheme, rest = _split_scheme(text)
    force_query = rest.endswith("?") and rest.count("?") == 1
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return _Parts(scheme=scheme, opaque=rest, query=query, force_query=force_query)
        if is_request:
            raise ValueError("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise ValueError("first path segment in URL cannot contain colon")
    user, host, has_authority = None, b"", True
    if rest.startswith("//") and (scheme or (not is_request and not rest.startswith("///"))):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        user, host = _split_authority(scheme, authority)
    elif scheme and rest.startswith("/"):
        has_authority = False
    path_bytes = _unescape(rest.encode(), _PATH)
    return _Parts(
        scheme=scheme,
        user=user,
        host=host,
        has_authority=has_authority,
        raw_path=rest,
        path=path_bytes,
        query=query,
        force_query=force_query,
    )


def _split_scheme(text: str) -> tuple[str, str]:
    if text.startswith(":"):
        raise ValueError("missing protocol scheme")
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", text)
    return (found[1].lower(), text[found.end() :]) if found else ("", text)


def _split_authority(scheme: str, authority: str) -> tuple[str | None, bytes]:
    userinfo, at, host_text = authority.rpartition("@")
    host = _read_host(scheme, host_text)
    if not at:
        return None, host
    if not re.fullmatch(_USERINFO, userinfo):
        raise ValueError("net/url: invalid userinfo")
    name, colon, password = userinfo.partition(":")
    user = _escape(_unescape(name.encode(), _USER), _USER)
    return user + (colon + _escape(_unescape(password.encode(), _USER), _USER) if colon else ""), host


def _read_host(scheme: str, host: str) -> bytes:
    bracket = host.rfind("[")
    if bracket > 0:
        raise ValueError("invalid IP-literal")
    if bracket == 0:
        return _read_ip_literal(host)
    first, last = host.find(":"), host.rfind(":")
    if first >= 0:
        _check_port(host[first if scheme in ("http", "https") else last :])
    return _unescape(host.encode(), _HOST, is_host=True)


def _read_ip_literal(host: str) -> bytes:
    end = host.rfind("]")
    if end < 0:
        raise ValueError("missing ']' in host")
    _check_port(host[end + 1 :])
    name, percent, zone = host[1:end].partition("%25")
    unescaped = _unescape(name.encode(), _HOST, is_host=True)
    zone_bytes = _unescape((percent + zone).encode(), _HOST, is_zone=True)
    try:
        address = parse_any_ip(_to_text(unescaped))
    except ValueError:
        raise ValueError(f"invalid host: {quote_go(_to_text(unescaped))} is no IP address") from None
    if address.version == 4 or (percent and not zone_bytes[1:]):
        raise ValueError("invalid IP-literal")
    return b"[" + unescaped + zone_bytes + b"]" + host[end + 1 :].encode()


def _check_port(text: str) -> None:
    if text and not re.fullmatch(r":[0-9]*", text):
        raise ValueError(f"invalid port {quote_go(text)} after host")


def _unescape(
    data: bytes, plain: frozenset[int], *, is_host: bool = False, is_zone: bool = False, plus: bytes = b"+"
) -> bytes:
    """Bytes with their escapes replaced; only hosts and zones are strict about what may stand or be escaped in them."""
    parts: list[bytes] = []
    at = 0
    while at < len(data):
        char = data[at : at + 1]
        if char == b"%":
            digits = data[at + 1 : at + 3]
            escape = data[at : at + 3]
            if not re.fullmatch(rb"[0-9a-fA-F]{2}", digits):
                raise ValueError(f"invalid URL escape {quote_go(escape.decode(errors='replace'))}")
            code = int(digits, 16)
            if escape != b"%25" and ((is_host and code < 0x80) or (is_zone and code != 0x20 and code not in plain)):
                raise ValueError(f"invalid URL escape {quote_go(escape.decode())}")
            parts.append(bytes((code,)))
            at += 3
            continue
        if (is_host or is_zone) and data[at] < 0x80 and data[at] not in plain:
            raise ValueError(f"invalid character {quote_go(char.decode())} in host name")
        parts.append(plus if char == b"+" else char)
        at += 1
    return b"".join(parts)


def _escape(data: bytes, plain: frozenset[int]) -> str:
    return "".join(chr(code) if code in plain else f"%{code:02X}" for code in data)


def _escaped_path(parts: _Parts) -> str:
    """The path as written if it could be written so, else escaped anew."""
    return _keep_escaped(parts.raw_path, parts.path, _PATH) if parts.path != b"*" else "*"


def _keep_escaped(written: str, decoded: bytes, plain: frozenset[int]) -> str:
    allowed = plain | frozenset(b"!$&'()*+,;=:@[]%")
    return written if all(code in allowed for code in written.encode()) else _escape(decoded, plain)


def _render(parts: _Parts, path: str, written: str, fragment: bytes) -> str:
    text = f"{parts.scheme}:" if parts.scheme else ""
    if parts.opaque:
        text += parts.opaque
    else:
        has_front = bool(parts.scheme or parts.host or parts.user is not None)
        is_bare = not parts.has_authority and not parts.host and parts.user is None
        if has_front and not is_bare:
            text += "//" if parts.host or parts.path or parts.user is not None else ""
            text += "" if parts.user is None else f"{parts.user}@"
            text += _escape(parts.host, _HOST)
        text += path
    text += f"?{parts.query}" if parts.query or parts.force_query else ""
    return text + (f"#{_keep_escaped(written, fragment, _FRAGMENT)}" if fragment else "")


def _to_text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        refuse("url")


def _read(text: str) -> Value:
    try:
        return parse_url(text)
    except ValueError as error:
        return Failure(f"URL parse error during conversion from string: {error}")


def _is_url(text: str) -> bool:
    try:
        check_url(text)
    except ValueError:
        return False
    return True


def _split_port(url: Url) -> tuple[str, str]:
    host, port = url.host, ""
    found = re.search(r":([0-9]*)\Z", host)
    if found:
        host, port = host[: found.start()], found[1]
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    return host, port


def _read_query(url: Url) -> CelMap:
    """Parameters by name; what can't be read is left out."""
    found: dict[str, list[str]] = {}
    pairs = url.raw_query.split("&")
    for pair in pairs if len(pairs) <= _MAX_PARAMETERS else ():
        if ";" in pair or not pair:
            continue
        key, _, value = pair.partition("=")
        try:
            names = [_to_text(_unescape(part.encode(), _QUERY, plus=b" ")) for part in (key, value)]
        except ValueError:
            continue
        found.setdefault(names[0], []).append(names[1])
    return CelMap((name, tuple(values)) for name, values in sorted(found.items()))


OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "url": (Overload("string_to_url", ("string",), _read),),
    "isURL": (Overload("is_url_string", ("string",), _is_url),),
    "getScheme": (Overload("url_get_scheme", ("url",), lambda url: url.scheme),),
    "getHost": (Overload("url_get_host", ("url",), lambda url: url.host),),
    "getHostname": (Overload("url_get_hostname", ("url",), lambda url: _split_port(url)[0]),),
    "getPort": (Overload("url_get_port", ("url",), lambda url: _split_port(url)[1]),),
    "getEscapedPath": (Overload("url_get_escaped_path", ("url",), lambda url: url.escaped_path),),
    "getQuery": (Overload("url_get_query", ("url",), _read_query),),
}
