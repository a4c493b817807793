"""The tar of a packet: one form, which others unpack, and every other form refused by what is different in it."""

from __future__ import annotations

import gzip
import io
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from folders import read_files
from made_packet import ALICE, BOB, make_index, make_packet, sign_index
from needs import needs
from poolwright.attestations import tar
from poolwright.attestations.tar import find_path_problems, read_tar, write_tar
from poolwright.packet.index import PacketError

FILES = make_packet()
SIGNED = sign_index(make_index(), ALICE, BOB)
TAR = write_tar(FILES)
# In one field, in two, and in neither: a name over 100, and folders over 155 characters.
LONG = {
    "a" * 100: b"1",
    "/".join(["d" * 50, "e" * 100, "f" * 100]): b"22",
    "b" * 101: b"333",
    "/".join(["g" * 60] * 5): b"4" * 512,
    "/".join(["h" * 63] * 16): b"",
}


def test_a_tar_is_read_as_it_was_written_in_whatever_order() -> None:
    turned = dict(reversed(FILES.items()))
    assert write_tar(turned) == TAR
    assert read_tar(TAR) == FILES
    assert list(read_tar(TAR)) == sorted(FILES)
    with_signatures = read_tar(write_tar(FILES, SIGNED))
    assert with_signatures == {**FILES, **{f"attestations/{name}": data for name, data in SIGNED.items()}}
    assert read_tar(write_tar({**FILES, **LONG})) == {**FILES, **LONG}


def test_others_unpack_it(tmp_path: Path) -> None:
    data = write_tar({**FILES, **LONG}, SIGNED)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = archive.getmembers()
        found = {one.name: archive.extractfile(one).read() for one in members}  # type: ignore[union-attr]
    assert found == read_tar(data)
    assert {(one.mode, one.uid, one.gid, one.mtime, one.uname, one.gname, one.type) for one in members} == {
        (0o644, 0, 0, 0, "", "", tarfile.REGTYPE)
    }
    (tmp_path / "packet.tar").write_bytes(data)
    (tmp_path / "out").mkdir()
    subprocess.run([needs("tar"), "-xf", tmp_path / "packet.tar", "-C", tmp_path / "out"], check=True)
    assert read_files(tmp_path / "out") == read_tar(data)


def test_a_tar_of_the_same_files_by_another_is_told_apart() -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as other:
        for path, data in sorted(FILES.items()):
            member = tarfile.TarInfo(path)
            member.size = len(data)
            other.addfile(member, io.BytesIO(data))
    assert archive.getvalue()[: len(TAR)] == TAR  # and then zeros, up to 20 blocks
    with pytest.raises(PacketError) as refused:
        read_tar(archive.getvalue())
    assert str(refused.value) == "the tar goes on behind its end"


def member(path: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, **more: object) -> bytes:
    """A member as Python's library writes it, alone."""
    info = tarfile.TarInfo(path)
    info.size, info.type = len(data), kind
    form = tarfile.USTAR_FORMAT
    for name, value in more.items():
        if name == "format":
            form = value  # type: ignore[assignment]
        else:
            setattr(info, name, value)
    return info.tobuf(form) + data + bytes(-len(data) % 512)


END = bytes(1024)
HEAD = write_tar({"packet.json": b"{}\n"})[:-1024]


def set_bytes(at: int, data: bytes) -> Callable[[bytes], bytes]:
    """A header with some of its bytes changed, and the checksum made right."""

    def change(text: bytes) -> bytes:
        head = text[:at] + data + text[at + len(data) : 512]
        total = sum(head[:148]) + 8 * 32 + sum(head[156:])
        return head[:148] + b"%06o\0 " % total + head[156:] + text[512:]

    return change


def pax(records: bytes, name: str = "././@PaxHeader") -> bytes:
    return member(name, records, b"x")


PAX = "the tar has a pax header that says more than a path, or something else"
NO_PATH = "is no path of a packet's file"
OTHER = "in the tar is another than a packet's tar has"
BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "the tar is cut off, or is none"),
    "no-tar": (
        b"x" * 1024,
        "the tar is damaged, or is none",
    ),
    # Truncated: at each place where that can be.
    "cut-off-in-a-header": (TAR[:700], "the tar is cut off within CHANGELOG.md"),
    "cut-off-in-a-file": (TAR[:517], "the tar is cut off within CHANGELOG.md"),
    "cut-off-in-the-next-header": (TAR[:1100], "the tar is cut off, or is none"),
    "cut-off-between-members": (TAR[:1024], "the tar is cut off, or is none"),
    "cut-off-at-its-end": (TAR[:-512], "the tar is cut off at its end"),
    "more-zeros": (TAR + bytes(512), "the tar goes on behind its end"),
    "a-second-tar": (TAR + TAR, "the tar goes on behind its end"),
    "bytes-behind-its-end": (TAR + b"x", "the tar goes on behind its end"),
    "bytes-in-its-end": (TAR[:-1] + b"x", "the tar goes on behind its end"),
    "bytes-behind-a-file": (TAR[:600] + b"x" + TAR[601:], "CHANGELOG.md: there is something behind its end in the tar"),
    # Paths.
    "absolute": (member("/etc/passwd") + END, f"'/etc/passwd' {NO_PATH}"),
    "above": (member("../x") + END, f"'../x' {NO_PATH}"),
    "above-in-the-middle": (member("a/../../x") + END, f"'a/../../x' {NO_PATH}"),
    "here": (member("./packet.json") + END, f"'./packet.json' {NO_PATH}"),
    "hidden": (member(".git/config") + END, f"'.git/config' {NO_PATH}"),
    "two-slashes": (member("a//b") + END, f"'a//b' {NO_PATH}"),
    "a-slash-at-the-end": (member("a", b"").replace(b"a\0", b"a/", 1) + END, f"'a/' {NO_PATH}"),
    "a-backslash": (member("..\\x") + END, f"'..\\\\x' {NO_PATH}"),
    "a-drive": (member("C:x") + END, f"'C:x' {NO_PATH}"),
    "not-ascii": (set_bytes(0, "é".encode())(HEAD) + END, f"'\\\\xc3\\\\xa9cket.json' {NO_PATH}"),
    "a-terminal's-control": (member("a\x1b[2J") + END, f"'a\\x1b[2J' {NO_PATH}"),
    "another-file-in-attestations": (member("attestations/x.sh") + END, f"'attestations/x.sh' {NO_PATH}"),
    "prefix-above": (set_bytes(345, b"..")(HEAD) + END, f"'../packet.json' {NO_PATH}"),
    # Kinds.
    "a-symbolic-link": (
        member("packet.json", kind=tarfile.SYMTYPE, linkname="/etc/passwd") + END,
        "the tar has a symbolic link, 'packet.json', and a packet has files alone",
    ),
    "a-hard-link": (
        member("packet.json", kind=tarfile.LNKTYPE, linkname="SHA256SUMS") + END,
        "the tar has a hard link, 'packet.json', and a packet has files alone",
    ),
    "a-device": (member("a", kind=tarfile.CHRTYPE) + END, "the tar has a device, 'a', and a packet has files alone"),
    "a-block-device": (
        member("a", kind=tarfile.BLKTYPE) + END,
        "the tar has a device, 'a', and a packet has files alone",
    ),
    "a-pipe": (member("a", kind=tarfile.FIFOTYPE) + END, "the tar has a pipe, 'a', and a packet has files alone"),
    "a-folder": (
        member("receipts", kind=tarfile.DIRTYPE) + END,
        "the tar has a folder, 'receipts/', and a packet has files alone",
    ),
    "a-sparse-file": (
        member("a", kind=tarfile.GNUTYPE_SPARSE) + END,
        "the tar has a sparse file, 'a', and a packet has files alone",
    ),
    "a-long-name-of-gnu": (
        member("b" * 101, b"1", format=tarfile.GNU_FORMAT) + END,
        "the tar has a long name of GNU tar, '././@LongLink', and a packet has files alone",
    ),
    "an-old-kind-of-file": (
        set_bytes(156, b"\0")(HEAD) + END,
        "the tar has something else than a file, 'packet.json', and a packet has files alone",
    ),
    # What other tars say of files.
    "executable": (member("packet.json", b"{}\n", mode=0o755) + END, f"packet.json: its mode {OTHER}"),
    "set-user-id": (member("packet.json", b"{}\n", mode=0o4644) + END, f"packet.json: its mode {OTHER}"),
    "an-owner": (member("packet.json", b"{}\n", uid=1000) + END, f"packet.json: its owner {OTHER}"),
    "an-owner's-name": (member("packet.json", b"{}\n", uname="root") + END, f"packet.json: its owner's name {OTHER}"),
    "a-time": (member("packet.json", b"{}\n", mtime=1) + END, f"packet.json: its time {OTHER}"),
    "a-link's-name": (member("packet.json", b"{}\n", linkname="x") + END, f"packet.json: its link {OTHER}"),
    "of-gnu": (member("packet.json", b"{}\n", format=tarfile.GNU_FORMAT) + END, f"packet.json: its magic {OTHER}"),
    "bytes-behind-the-name": (set_bytes(20, b"x")(HEAD) + END, f"packet.json: its name {OTHER}"),
    "a-wrong-checksum": (HEAD[:148] + b"000000\0 " + HEAD[156:] + END, f"packet.json: its checksum {OTHER}"),
    "bytes-in-the-header's-end": (set_bytes(505, b"x")(HEAD) + END, f"packet.json: its prefix {OTHER}"),
    "a-path-in-another-two": (
        set_bytes(345, b"receipts")(write_tar({"east.json": b""})[:512]) + END,
        f"receipts/east.json: its name {OTHER}",
    ),
    # Sizes.
    "a-size-in-base-256": (
        set_bytes(124, b"\x80" + bytes(10) + b"\x03")(HEAD) + END,
        "the tar is damaged, or is none: a size in it isn't written as one",
    ),
    "a-negative-size": (
        set_bytes(124, b"-0000000001\0")(HEAD) + END,
        "the tar is damaged, or is none: a size in it isn't written as one",
    ),
    "a-size-beyond-any": (
        set_bytes(124, b"77777777777\0")(HEAD) + END,
        "packet.json: it has 8,589,934,591 bytes, and 268,435,456 is the most",
    ),
    "a-size-beyond-the-tar": (
        set_bytes(124, b"00000100000\0")(HEAD) + END,
        "the tar is cut off within packet.json",
    ),
    # Headers of pax that change what others read.
    "pax-for-all": (
        member("pax_global_header", b"12 comment=\n", b"g") + HEAD + END,
        "the tar has a pax header for all that follow, 'pax_global_header', and a packet has files alone",
    ),
    "pax-size": (
        pax(b"13 size=1000\n") + HEAD + END,
        PAX,
    ),
    "pax-path-above": (pax(b"13 path=../x\n") + HEAD + END, f"'../x' {NO_PATH}"),
    "pax-path-for-a-short-one": (
        pax(b"20 path=packet.json\n") + HEAD + END,
        "packet.json: its path is written in another way than a packet's tar has it",
    ),
    "pax-path-and-another": (
        pax(b"13 path=aaaa\n13 path=bbbb\n") + HEAD + END,
        PAX,
    ),
    "pax-wrong-length": (
        pax(b"999 path=" + b"b" * 101 + b"\n") + member("b" * 100) + END,
        f"{'b' * 101}: its pax header {OTHER}",
    ),
    "pax-another-short-name": (
        pax(b"111 path=" + b"b" * 101 + b"\n") + member("packet.json") + END,
        f"{'b' * 101}: its name {OTHER}",
    ),
    "pax-twice": (
        pax(b"111 path=" + b"b" * 101 + b"\n") * 2 + member("b" * 100) + END,
        "the tar has something else than a file, '././@PaxHeader', and a packet has files alone",
    ),
    "pax-and-then-nothing": (
        pax(b"111 path=" + b"b" * 101 + b"\n") + END,
        "the tar has something else than a file, '', and a packet has files alone",
    ),
    # Members.
    "twice": (HEAD + HEAD + END, "packet.json: stands twice in the tar"),
    "twice-not-in-a-row": (
        member("a") + member("b") + member("a") + END,
        "a: stands twice in the tar",
    ),
    "out-of-order": (member("b") + member("a") + END, "a: is out of order in the tar"),
    "one-but-for-case": (
        member("A.json") + member("a.json") + END,
        "a.json and A.json are one file where case doesn't count",
    ),
    "packet.json-but-for-case": (
        member("Packet.json") + HEAD + END,
        "Packet.json and packet.json are one file where case doesn't count",
    ),
    "a-file-and-a-folder": (member("a") + member("a/b") + END, "a is a file, and the folder of a/b"),
    "attestations-but-for-case": (
        member("Attestations/x") + END,
        "Attestations/x is in attestations where case doesn't count",
    ),
    # Packed.
    "gzip-cut-off": (gzip.compress(TAR)[:-9], "the tar is packed with gzip, and cut off"),
    "gzip-damaged": (b"\x1f\x8b" + b"x" * 40, "the tar is packed with gzip, and damaged"),
    "gzip-and-more": (gzip.compress(TAR) + b"x", "the tar is packed with gzip, and something follows"),
    "gzip-of-two": (
        gzip.compress(TAR[:1024]) + gzip.compress(TAR[1024:]),
        "the tar is packed with gzip, and something follows",
    ),
    "gzip-of-one-cut-off": (gzip.compress(TAR[:1100]), "the tar is cut off, or is none"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_packet_s_tar(name: str) -> None:
    data, what = BAD[name]
    with pytest.raises(PacketError) as refused:
        read_tar(data)
    assert str(refused.value) == what


def test_a_packed_tar_is_read_and_grows_no_further_than_a_packet(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_tar(gzip.compress(TAR)) == FILES
    monkeypatch.setattr(tar, "MAX_PACKET_BYTES", len(TAR))
    assert read_tar(gzip.compress(TAR)) == FILES
    monkeypatch.setattr(tar, "MAX_PACKET_BYTES", 1 << 20)
    bomb = gzip.compress(bytes(64 << 20))
    assert len(bomb) < 1 << 17
    for data, more in ((bomb, ", unpacked"), (bytes(2 << 20), "")):
        with pytest.raises(PacketError) as refused:
            read_tar(data)
        assert str(refused.value) == f"the tar has over 1,048,576 bytes{more}"


def test_a_changed_byte_is_refused_or_is_in_a_file() -> None:
    """Each byte of a tar: where headers and padding are, nothing may differ; in files, their digest tells."""
    data = write_tar({"packet.json": b"{}\n", "a/b": b""})
    content = data.index(b"{}\n")
    for at in range(len(data)):
        changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        if content <= at < content + 3:
            assert read_tar(changed)["packet.json"] == changed[content : content + 3]
        else:
            with pytest.raises(PacketError):
                read_tar(changed)


def test_a_path_that_no_packet_has_is_not_written() -> None:
    with pytest.raises(PacketError) as refused:
        write_tar({**FILES, "../x": b""})
    assert str(refused.value) == "'../x' is no path of a packet's file"
    with pytest.raises(PacketError) as refused:
        write_tar(FILES, {"x": b""})
    assert str(refused.value) == "'attestations/x' is no path of a packet's file"
    assert list(find_path_problems(["a/b", "a-b", "B", "packet.json"])) == []
