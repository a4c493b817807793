"""A packet as one tar (ustar), with one form of the bytes: what is read is compared with what would be written.

Regular files alone, sorted by path, mode 0644, owner 0, time 0 and no names; then two blocks of zeros. A path that
ustar's two fields can't hold (over 255 characters, or with no slash in the right place) has a pax header with `path`
and nothing else. Readers differ in what they make of any other tar, so that what one verifies another wouldn't unpack.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from poolwright.attestations.envelope import is_envelope_name
from poolwright.packet.index import (
    ATTESTATIONS,
    INDEX,
    MAX_FILE_BYTES,
    MAX_FILES,
    MAX_PATH,
    SUMS,
    PacketError,
    is_packet_path,
)

MAX_PACKET_BYTES: Final = 512 << 20  # of a tar, or of all files of a folder
_BLOCK: Final = 512
_END: Final = bytes(2 * _BLOCK)
_MAX_NAME: Final = 100
_MAX_PREFIX: Final = 155
_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31  # of zlib: a gzip header, and the largest window
_PAX_NAME: Final = "././@PaxHeader"
_NONE: Mapping[str, bytes] = MappingProxyType({})
_KINDS: Final = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"5": "a folder",
    b"6": "a pipe",
    b"7": "a contiguous file",
    b"g": "a pax header for all that follow",
    b"K": "a long name of GNU tar",
    b"L": "a long name of GNU tar",
    b"S": "a sparse file",
}
# ustar's fields and what people call them, in their order; up to each of these offsets.
_FIELDS: Final = (
    (100, "name"),
    (108, "mode"),
    (124, "owner"),
    (136, "size"),
    (148, "time"),
    (156, "checksum"),
    (157, "type"),
    (257, "link"),
    (265, "magic"),
    (329, "owner's name"),
    (345, "device"),
    (512, "prefix"),
)
_RECORD: Final = re.compile(rb"[1-9][0-9]{0,4} path=([\x21-\x7e]{1,%d})\n" % MAX_PATH)
_SIZE: Final = re.compile(rb"[0-7]{11}\0")


def write_tar(files: Mapping[str, bytes], attestations: Mapping[str, bytes] = _NONE) -> bytes:
    """The tar of a packet; equal arguments give equal bytes.

    files:        by path: packet.json, SHA256SUMS and what the index names.
    attestations: by name in `attestations/`; the packet's own tar has none.
    Raises:       PacketError for a path that a packet can't have, and for two that can't stand side by side everywhere.
    """
    members = {**files, **{f"{ATTESTATIONS}/{name}": data for name, data in attestations.items()}}
    for problem in find_path_problems(members):
        raise PacketError(problem)
    parts = []
    for path in sorted(members):
        data = members[path]
        parts += [_render_head(path, len(data)), data, bytes(-len(data) % _BLOCK)]
    return b"".join((*parts, _END))


def read_tar(data: bytes) -> dict[str, bytes]:
    """The files of a tar, or of one packed with gzip, by path: `write_tar` gives the same tar of them.

    Raises: PacketError with the first thing in which it differs from that.
    Cost:   memory for the tar twice; a packed one grows to MAX_PACKET_BYTES and no further.
    """
    if data.startswith(_GZIP):
        data = _unpack(data)
    if len(data) > MAX_PACKET_BYTES:
        raise PacketError(f"the tar has over {MAX_PACKET_BYTES:,} bytes")
    files: dict[str, bytes] = {}
    at, last = 0, ""
    while data[at : at + _BLOCK] != bytes(_BLOCK):
        path, start, size = _read_head(data, at)
        if path <= last:
            how = "stands twice in the tar" if path in files else "is out of order in the tar"
            raise PacketError(f"{path}: {how}")
        end = start + size
        at = end + -size % _BLOCK
        if at > len(data):
            raise PacketError(f"the tar is cut off within {path}")
        if data[end:at].strip(b"\0"):
            raise PacketError(f"{path}: there is something behind its end in the tar")
        files[path] = data[start:end]
        last = path
        if len(files) > 2 * MAX_FILES:
            raise PacketError(f"the tar has over {2 * MAX_FILES:,} files")
    if data[at:] != _END:
        cut_off = len(data) - at < len(_END)
        raise PacketError("the tar is cut off at its end" if cut_off else "the tar goes on behind its end")
    for problem in find_path_problems(files):
        raise PacketError(problem)
    return files


def find_path_problems(paths: Iterable[str]) -> Iterable[str]:
    """What is wrong with paths of a packet, attestations among them; they are unique, in any order."""
    known = {name.lower(): name for name in (INDEX, SUMS)}
    for path in sorted(paths):
        first = path.partition("/")[0]
        if not is_member_path(path):
            yield f"{path!a} is no path of a packet's file"
        elif first != ATTESTATIONS and first.lower() == ATTESTATIONS:
            yield f"{path} is in {ATTESTATIONS} where case doesn't count"
        elif (other := known.setdefault(path.lower(), path)) != path:
            yield f"{path} and {other} are one file where case doesn't count"
    for folded, path in known.items():
        parts = folded.split("/")
        for count in range(1, len(parts)):
            if (above := known.get("/".join(parts[:count]))) is not None:
                yield f"{above} is a file, and the folder of {path}"


def is_member_path(path: str) -> bool:
    """Whether a packet can have a file of that path, as its own or in `attestations/`."""
    folder, _, name = path.partition("/")
    return path in (INDEX, SUMS) or is_packet_path(path) or (folder == ATTESTATIONS and is_envelope_name(name))


def _read_head(data: bytes, at: int) -> tuple[str, int, int]:
    """The path of the member whose headers begin there, where its bytes begin, and how many they are."""
    head = _cut(data, at, _BLOCK)
    if head[257:262] != b"ustar":
        raise PacketError("the tar is damaged, or is none")
    own = at
    path: str | None = None
    if head[156:157] == b"x":
        size = _read_size(head)
        record = _RECORD.fullmatch(_cut(data, at + _BLOCK, size))
        if record is None:
            raise PacketError("the tar has a pax header that says more than a path, or something else")
        path = record[1].decode()
        own = at + _BLOCK + size + -size % _BLOCK
        head = _cut(data, own, _BLOCK)
    if head[156:157] != b"0":
        kind = _KINDS.get(head[156:157], "something else than a file")
        raise PacketError(f"the tar has {kind}, {_read_path(head)!a}, and a packet has files alone")
    path = _read_path(head) if path is None else path
    if not is_member_path(path):
        raise PacketError(f"{path!a} is no path of a packet's file")
    size = _read_size(head)
    if size > MAX_FILE_BYTES:
        raise PacketError(f"{path}: it has {size:,} bytes, and {MAX_FILE_BYTES:,} is the most")
    wanted = _render_head(path, size)
    if data[at : own + _BLOCK] != wanted:
        if len(wanted) != own + _BLOCK - at:
            raise PacketError(f"{path}: its path is written in another way than a packet's tar has it")
        raise PacketError(f"{path}: its {_find_other(head, wanted)} in the tar is another than a packet's tar has")
    return path, own + _BLOCK, size


def _find_other(head: bytes, wanted: bytes) -> str:
    """The first field that differs; the checksum, which follows from the others, if it is the only one."""
    last = wanted[-_BLOCK:]
    ends = [next(field for field in _FIELDS if at < field[0]) for at in range(_BLOCK) if head[at] != last[at]]
    names = [name for _, name in ends] or ["pax header"]
    return next((name for name in names if name != "checksum"), "checksum")


def _cut(data: bytes, at: int, length: int) -> bytes:
    if at + length > len(data):
        raise PacketError("the tar is cut off, or is none")
    return data[at : at + length]


def _read_path(head: bytes) -> str:
    name, prefix = (part.split(b"\0", 1)[0].decode("ascii", "backslashreplace") for part in (head[:100], head[345:500]))
    return f"{prefix}/{name}" if prefix else name


def _read_size(head: bytes) -> int:
    if not _SIZE.fullmatch(head[124:136]):
        raise PacketError("the tar is damaged, or is none: a size in it isn't written as one")
    return int(head[124:135], 8)


def _render_head(path: str, size: int) -> bytes:
    """A member's headers."""
    if len(path) <= _MAX_NAME:
        return _render_block(path, "", size, b"0")
    cut = path.rfind("/", 0, _MAX_PREFIX + 1)
    if cut > 0 and len(path) - cut - 1 <= _MAX_NAME:
        return _render_block(path[cut + 1 :], path[:cut], size, b"0")
    rest = f" path={path}\n".encode()
    length = len(rest) + 1
    while length != (needed := len(rest) + len(str(length))):
        length = needed
    record = str(length).encode() + rest
    pax = _render_block(_PAX_NAME, "", len(record), b"x") + record + bytes(-len(record) % _BLOCK)
    return pax + _render_block(path[:_MAX_NAME], "", size, b"0")


def _render_block(name: str, prefix: str, size: int, kind: bytes) -> bytes:
    before = name.encode().ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 + b"%011o\0" % size + b"00000000000\0"
    after = kind + bytes(100) + b"ustar\00000" + bytes(80) + prefix.encode().ljust(155, b"\0") + bytes(12)
    checksum = b"%06o\0 " % (sum(before) + sum(after) + 8 * ord(" "))
    return before + checksum + after


def _unpack(data: bytes) -> bytes:
    unpacker = zlib.decompressobj(_GZIP_WINDOW)
    try:
        unpacked = unpacker.decompress(data, MAX_PACKET_BYTES + 1)
    except zlib.error:
        raise PacketError("the tar is packed with gzip, and damaged") from None
    if len(unpacked) > MAX_PACKET_BYTES:
        raise PacketError(f"the tar has over {MAX_PACKET_BYTES:,} bytes, unpacked")
    if not unpacker.eof:
        raise PacketError("the tar is packed with gzip, and cut off")
    if unpacker.unused_data:
        raise PacketError("the tar is packed with gzip, and something follows")
    return unpacked
