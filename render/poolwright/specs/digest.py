"""Digests: SHA-256 of bytes, of values and of folders."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import NewType

from poolwright.specs.canonical import canonical_json

Digest = NewType("Digest", str)  # `sha256:` and 64 lower-case hex digits

_PREFIX = "sha256:"
_NO_LINKS: Mapping[str, str] = MappingProxyType({})
_MAX_HOPS = 40  # links followed for one path; as many as Linux follows before it says "too many levels"


def digest_bytes(data: bytes) -> Digest:
    """The digest of a file's bytes."""
    return Digest(_PREFIX + hashlib.sha256(data).hexdigest())


def digest_value(value: object) -> Digest:
    """The digest of a value's canonical JSON. Raises what `canonical_json` raises."""
    return digest_bytes(canonical_json(value))


def short_hex(digest: Digest, length: int = 10) -> str:
    """The first `length` hex digits, without the algorithm's name: what object names carry."""
    return digest.removeprefix(_PREFIX)[:length]


def digest_folder(files: Mapping[str, bytes], links: Mapping[str, str] = _NO_LINKS) -> Digest:
    """The digest of what `sha256sum` prints for a folder's files, in the order of their paths' bytes.

    files:   path to content, every regular file of the folder. Paths are relative, with forward slashes, without `.`
             and `..`; bytes that aren't UTF-8 as surrogates, as Python's file functions give them.
    links:   path to target, every symbolic link. A link stands by its text, whether or not its target exists: a line
             with the text's SHA-256, a space, `@` and the path. `sha256sum` never prints that, so a file that holds
             the same text is told apart.
    Raises:  ValueError for a path of another form or in both mappings, and for a link that leads outside the folder,
             through other links too, or round in a circle.
    A shell checks a folder without links with
    `find . -type f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum -- | sha256sum`.
    """
    for path in (*files, *links):
        if any(part in ("", ".", "..") for part in path.split("/")):
            raise ValueError(f"{path!a} is no path inside a folder")
        if path in files and path in links:
            raise ValueError(f"{path!a} is given as a file and as a link")
    lines = {path.encode("utf-8", "surrogateescape"): (b" ", data) for path, data in files.items()}
    for path, target in links.items():
        _check_stays_inside(path, links)
        lines[path.encode("utf-8", "surrogateescape")] = (b"@", target.encode("utf-8", "surrogateescape"))
    return digest_bytes(b"".join(_line(path, *lines[path]) for path in sorted(lines)))


def _line(path: bytes, mark: bytes, data: bytes) -> bytes:
    """One line of `sha256sum`: a name that would break the line is escaped, and a leading backslash says so."""
    name = path.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
    escaped = b"\\" if name != path else b""
    return escaped + hashlib.sha256(data).hexdigest().encode("ascii") + b" " + mark + name + b"\n"


def _check_stays_inside(path: str, links: Mapping[str, str]) -> None:
    """Walk a link as the kernel would: `..` after a link starts where that link leads, not where it stands."""
    here: list[str] = []
    todo = path.split("/")[::-1]
    hops = 0
    while todo:
        step = todo.pop()
        if step == "..":
            if not here:
                raise ValueError(f"link {path!a} leads outside its folder, to {links[path]!a}")
            here.pop()
        elif step not in ("", "."):
            here.append(step)
            target = links.get("/".join(here))
            if target is not None:
                hops += 1
                if hops > _MAX_HOPS:
                    raise ValueError(f"link {path!a} leads round in a circle, by {links[path]!a}")
                if target.startswith("/"):
                    raise ValueError(f"link {path!a} leads outside its folder, to {links[path]!a}")
                here.pop()
                todo.extend(target.split("/")[::-1])
