"""`poolwright verify` of what can't be judged: no packet, none that can be read, or nobody to trust. Exit code 2."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet import ROOT
from folders import write_files
from golden import Golden
from made_packet import ALICE, NAME, lay_out, make_index, make_packet, make_signed, make_trust, sign_index
from poolwright.attestations.envelope import MAX_ENVELOPE_BYTES, name_envelope
from poolwright.attestations.tar import write_tar
from poolwright.packets import read
from run_poolwright import Ran, run

PACKET = f"packets/{NAME}"
GOOD = make_signed(ALICE)
WHY = (
    "  why  a packet is a folder with a packet.json, as `poolwright release` writes it, or its tar "
    "(poolwright releases)\n"
)
FIX = "  fix  name a folder of releases/, or a tar of one\n"


def verify(here: Path, packet: str = PACKET, trust: str | None = "trust.yaml") -> Ran:
    option = () if trust is None else ("--trust", trust)
    return run("verify", packet, *option, "--no-rebuild", folder=here)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    lay_out(tmp_path, GOOD, make_trust(ALICE))
    return tmp_path


def nothing(here: Path) -> str:
    return "none"


def no_index(here: Path) -> str:
    (here / PACKET / "packet.json").unlink()
    return PACKET


def index_is_a_link(here: Path) -> str:
    (here / PACKET / "packet.json").rename(here / "outside.json")
    (here / PACKET / "packet.json").symlink_to("../../outside.json")
    return PACKET


def tar_without_index(here: Path) -> str:
    (here / "packet.tar").write_bytes(write_tar({"CHANGELOG.md": b""}))
    return "packet.tar"


def a_pipe(here: Path) -> str:
    os.mkfifo(here / "packet.tar")
    return "packet.tar"


def a_link_to_itself(here: Path) -> str:
    (here / "loop").symlink_to("loop")
    return "loop"


UNREADABLE: dict[str, tuple[Callable[[Path], str], str]] = {
    "nothing-there": (nothing, "none: it can't be read: no such file or directory"),
    "no-packet.json": (no_index, f"{PACKET}: there is no packet.json in it"),
    "packet.json-is-a-link": (index_is_a_link, f"{PACKET}: there is no packet.json in it"),
    "tar-without-packet.json": (tar_without_index, "packet.tar: there is no packet.json in it"),
    "a-pipe": (a_pipe, "packet.tar: it is neither a folder nor a regular file"),
    "a-link-to-itself": (a_link_to_itself, "loop: it can't be read: too many levels of symbolic links"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_packet(name: str, here: Path) -> None:
    make, what = UNREADABLE[name]
    assert verify(here, make(here)) == Ran(2, "", f"{what}  [packet-unreadable]\n{WHY}{FIX}")


LIMITS: dict[str, tuple[object, str]] = {
    "MAX_ENVELOPES": (0, f"{PACKET}/attestations: it has 1 attestations, and 0 are the most"),
    "MAX_PACKET_BYTES": (900, f"{PACKET}: it has over 900 bytes, and no packet is that large"),
    "MAX_FILE_BYTES": (18, f"{PACKET}/SHA256SUMS: it has over 18 bytes, and no packet is that large"),
    "_LARGEST": ({"packet.json": 64}, f"{PACKET}/packet.json: it has over 64 bytes, and no packet is that large"),
    "MAX_FILES": (-124, f"{PACKET}: it has 7 files, and -124 are the most"),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_more_than_any_packet_has(limit: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most, what = LIMITS[limit]
    monkeypatch.setattr(read, limit, most)
    ran = verify(here)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(what)
    assert ran.stderr.endswith(f"  [packet-unreadable]\n{WHY}{FIX}")


def test_a_tar_of_more_than_any_packet_has(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "packet.tar").write_bytes(write_tar(make_packet()))
    monkeypatch.setattr(read, "MAX_PACKET_BYTES", 1000)
    what = "packet.tar: it has over 1,000 bytes, and no packet is that large"
    assert verify(here, "packet.tar") == Ran(2, "", f"{what}  [packet-unreadable]\n{WHY}{FIX}")


def test_an_endless_attestation_is_named_and_the_rest_is_judged(here: Path) -> None:
    path = here / PACKET / "attestations" / name_envelope("0" * 64)
    with path.open("wb") as file:
        file.truncate(1 << 40)  # sparse: it takes no room, and all memory if it is read
    ran = verify(here)
    assert (ran.code, ran.stderr) == (1, "")
    assert (
        f": it has {MAX_ENVELOPE_BYTES + 1:,} bytes, and {MAX_ENVELOPE_BYTES:,} is the most  [attestation-invalid]"
        in ran.stdout
    )


def test_what_waits_for_another_end_is_not_waited_for(here: Path) -> None:
    os.mkfifo(here / PACKET / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(here / PACKET / "socket"))
    ran = verify(here)
    assert (ran.code, ran.stderr) == (1, "")
    assert [line.partition(":")[0] for line in ran.stdout.splitlines() if "packet-added" in line] == ["pipe", "socket"]


# --- the trust file ---

NEEDED = "  why  it says whose signatures count; without one nobody's do (poolwright releases)\n"
GET_ONE = (
    "  fix  name one that you have from elsewhere: --trust FILE, or POOLWRIGHT_TRUST (`poolwright sign --new-key` "
    "prints the entry of a key)\n"
)
OUTSIDE = "  why  who may write to a repository would decide whose releases of it count (poolwright releases)\n"
MOVE = "  fix  keep it elsewhere, and name it: --trust FILE, or POOLWRIGHT_TRUST\n"


def in_the_packet(here: Path) -> str:
    return move(here, f"{PACKET}/trust.yaml")


def in_the_repository(here: Path) -> str:
    """Beside the project, and in its repository all the same."""
    (here / "packets" / ".git").mkdir()
    return move(here, "packets/trust.yaml")


def in_a_repository_around(here: Path) -> str:
    (here / ".git").write_text("gitdir: elsewhere\n")
    (here / "packets" / ".git").mkdir()
    return "trust.yaml"


def in_a_project(here: Path) -> str:
    write_files(here / "other", {"poolwright.yaml": b""})
    return move(here, "other/config/trust.yaml")


def by_a_link_from_the_repository(here: Path) -> str:
    (here / "packets" / ".git").mkdir()
    (here / "packets" / "trust.yaml").symlink_to("../trust.yaml")
    return "packets/trust.yaml"


def by_a_link_into_the_repository(here: Path) -> str:
    (here / "packets" / ".git").mkdir()
    move(here, "packets/trust.yaml")
    (here / "link.yaml").symlink_to("packets/trust.yaml")
    return "link.yaml"


def move(here: Path, to: str) -> str:
    (here / to).parent.mkdir(exist_ok=True, parents=True)
    (here / "trust.yaml").rename(here / to)
    return to


@pytest.mark.parametrize(
    "place",
    [
        *(in_the_packet, in_the_repository, in_a_repository_around, in_a_project),
        *(by_a_link_from_the_repository, by_a_link_into_the_repository),
    ],
    ids=lambda place: place.__name__,
)
def test_a_trust_file_that_a_repository_could_bring_is_refused(place: Callable[[Path], str], here: Path) -> None:
    trust = place(here)
    assert verify(here, trust=trust) == Ran(
        2, "", f"{trust}: the trust file lies in a project  [trust-inside]\n{OUTSIDE}{MOVE}"
    )


def test_a_tar_s_repository_counts_too_and_its_folder_does_not(here: Path) -> None:
    """Both are downloaded into one folder, say; a repository there would be another matter."""
    (here / "packet.tar").write_bytes(write_tar(make_packet(), sign_index(make_index(), ALICE)))
    assert verify(here, "packet.tar").code == 0
    (here / ".git").mkdir()
    ran = verify(here, "packet.tar")
    assert (ran.code, ran.stderr.partition("\n")[0]) == (
        2,
        "trust.yaml: the trust file lies in a project  [trust-inside]",
    )


def test_without_a_trust_file_nobody_is_trusted(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = f"{{}}: the trust file isn't there  [trust-missing]\n{NEEDED}{GET_ONE}"
    assert verify(here, trust="none.yaml") == Ran(2, "", said.format("none.yaml"))
    monkeypatch.setenv("POOLWRIGHT_TRUST", "absent.yaml")
    assert verify(here, trust=None) == Ran(2, "", said.format("absent.yaml"))
    monkeypatch.setenv("POOLWRIGHT_TRUST", "trust.yaml")
    assert verify(here, trust=None).code == 0
    assert verify(here, trust="none.yaml").code == 2
    monkeypatch.delenv("POOLWRIGHT_TRUST")
    monkeypatch.setattr("poolwright.argocd.trust_file.TRUST_FILE", str(here / "etc.yaml"))
    assert verify(here, trust=None) == Ran(2, "", said.format(here / "etc.yaml"))


def test_a_trust_file_that_is_none_is_no_answer(here: Path) -> None:
    (here / "trust.yaml").write_text("apiVersion: poolwright.dev/v1alpha1\nkind: TrustPolicy\nkeys: []\n")
    ran = verify(here)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith('trust.yaml:3:1: unknown field "keys"  [unknown-field]\n')


def test_where_there_is_no_clone_the_ways_out_are_said(here: Path, golden: Golden) -> None:
    ran = run("verify", PACKET, "--trust", "trust.yaml", folder=here)
    assert (ran.code, ran.stdout) == (2, "")
    golden.compare(ROOT / "tests/golden/verify-rebuild/no-clone", {"stderr.txt": ran.stderr.encode()})
