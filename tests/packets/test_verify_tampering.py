"""`poolwright verify` of packets that somebody changed: each kind of change by its name, and exit code 1."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from fleet import ROOT
from golden import Golden
from made_packet import (
    ALICE,
    BOB,
    CAROL,
    DORA,
    MALLORY,
    NAME,
    lay_out,
    make_index,
    make_packet,
    make_signed,
    make_trust,
    sign_index,
)
from poolwright.attestations.envelope import name_envelope
from poolwright.attestations.tar import write_tar
from poolwright.packet.index import INDEX, SUMS, PacketIndex, name_packet, render_index
from poolwright.packet.sums import render_sums
from run_poolwright import Ran, run

TEXTS = ROOT / "tests/golden/packet-tampering"
EAST, WEST = "receipts/east.json", "receipts/west.json"
BY_ALICE, BY_MALLORY = (f"attestations/{name_envelope(key.public.id)}" for key in (ALICE, MALLORY))
GOOD = make_signed(ALICE)


@dataclass(frozen=True, slots=True)
class Case:
    """What is handed over: a folder of these files and links, or a tar; and who is trusted."""

    files: Mapping[str, bytes] = field(default_factory=lambda: GOOD)
    links: Mapping[str, str] = field(default_factory=dict)
    tar: bytes | None = None
    trust: str = make_trust(ALICE)


def change(path: str, data: bytes | None, *more: tuple[str, bytes | None]) -> dict[str, bytes]:
    """The good packet with files changed, added or (None) removed."""
    changed = GOOD | dict(((path, data), *more))
    return {path: data for path, data in changed.items() if data is not None}


def edit(path: str, old: bytes, new: bytes) -> dict[str, bytes]:
    assert old in GOOD[path]
    return change(path, GOOD[path].replace(old, new, 1))


def reorder() -> dict[str, bytes]:
    """Files of the index in another order, sums and a signature to go with it."""
    index = make_index()
    turned: PacketIndex = msgspec.structs.replace(index, files=tuple(reversed(index.files)))
    return {**make_packet(turned), **{f"attestations/{name}": data for name, data in sign_index(turned, ALICE).items()}}


def pack(*members: tuple[str, bytes]) -> bytes:
    """A tar as Python's library writes it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, data in members:
            member = tarfile.TarInfo(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


LATER = make_index(as_of="2026-12-24")
TAR = write_tar(make_packet(), sign_index(make_index(), ALICE))
SIGNATURE = json.loads(GOOD[BY_ALICE])["signatures"][0]["sig"].encode()
OTHER_SIGNATURE = json.loads(make_signed(ALICE, sequence=8)[BY_ALICE])["signatures"][0]["sig"].encode()
FOLDERS: dict[str, Case] = {
    "a-byte-of-a-manifest": Case(edit("manifests/east/chat-70b/objects.yaml", b"Deployment", b"Deploymenu")),
    "a-file-grown": Case(change("CHANGELOG.md", b"# Release\n\nmore\n")),
    "a-file-emptied": Case(change(EAST, b"")),
    "a-file-added": Case(change("receipts/north.json", b"{}\n")),
    "a-hidden-file-added": Case(change(".git/hooks/post-checkout", b"#!/bin/sh\n")),
    "a-file-removed": Case(change(WEST, None)),
    "a-file-renamed": Case(change(WEST, None, ("receipts/West.json", GOOD[WEST]))),
    "a-link-for-a-file": Case(change(EAST, None), links={EAST: "../../../outside"}),
    "a-link-for-a-folder": Case(change(EAST, None, (WEST, None)), links={"receipts": "/"}),
    "receipts-swapped": Case(change(EAST, GOOD[WEST], (WEST, GOOD[EAST]))),
    "sums-changed": Case(edit(SUMS, b"  CHANGELOG.md", b"  CHANGES.md")),
    "sums-cut-off": Case(change(SUMS, b"".join(GOOD[SUMS].splitlines(keepends=True)[:-1]))),
    "sums-longer": Case(change(SUMS, GOOD[SUMS] + b"0  x\n")),
    "sums-removed": Case(change(SUMS, None)),
    # By somebody whose key is trusted: what is signed has to have its one form, too.
    "index-files-reordered": Case(reorder()),
    "index-with-other-spaces": Case(change(INDEX, json.dumps(json.loads(GOOD[INDEX]), indent=1).encode())),
    "index-with-a-repeated-key": Case(edit(INDEX, b'"sequence":7', b'"sequence":9,"sequence":7')),
    "index-of-another-version": Case(edit(INDEX, b"v1alpha1", b"v1beta1")),
    "index-names-a-path-above": Case(edit(INDEX, b"CHANGELOG.md", b"../x")),
    "index-emptied": Case(change(INDEX, b"")),
    # Whoever changes packet.json changes SHA256SUMS with it, and can't sign it.
    "index-changed-after-signing": Case(
        change(INDEX, render_index(LATER), (SUMS, render_sums(LATER, render_index(LATER))))
    ),
    "signature-stripped": Case(change(BY_ALICE, None)),
    "signature-of-another-key": Case(make_signed(MALLORY)),
    "signature-of-another-key-in-its-name": Case(change(BY_ALICE, make_signed(MALLORY)[BY_MALLORY])),
    "signature-changed": Case(edit(BY_ALICE, SIGNATURE, OTHER_SIGNATURE)),
    "signature-of-another-packet": Case(change(BY_ALICE, make_signed(ALICE, name="2026-11-29", sequence=6)[BY_ALICE])),
    "signature-cut-off": Case(change(BY_ALICE, GOOD[BY_ALICE][:-20])),
    "attestation-of-no-key": Case(change("attestations/cosign.pub", b"x")),
    "key-revoked": Case(trust=make_trust(ALICE, BOB, revoked=(ALICE.public.id,))),
    "threshold-not-met": Case(trust=make_trust(ALICE, BOB, CAROL, threshold=2)),
    "threshold-not-met-by-three": Case(
        make_signed(ALICE, DORA, MALLORY), trust=make_trust(ALICE, BOB, CAROL, DORA, threshold=3)
    ),
    "an-old-packet-replayed": Case(make_signed(ALICE, sequence=3), trust=make_trust(ALICE, least=7)),
    "of-another-project": Case(make_signed(ALICE, project="other-fleet")),
}
TARS: dict[str, Case] = {
    "tar-truncated": Case(tar=TAR[:3000]),
    "tar-without-its-end": Case(tar=TAR[:-1024]),
    "tar-with-a-path-above": Case(tar=pack(("../../etc/passwd", b"x"))),
    "tar-of-another-tool": Case(tar=pack(*sorted(GOOD.items()))),
    "tar-with-a-byte-changed": Case(tar=TAR.replace(b"# Release", b"# release")),
    "tar-with-a-file-more": Case(tar=write_tar({**make_packet(), "x": b""}, sign_index(make_index(), ALICE))),
}
CASES = FOLDERS | TARS


def verify(case: Case, folder: Path) -> Ran:
    lay_out(folder, case.files if case.tar is None else {}, case.trust)
    packet = folder / "packets" / NAME
    for path, target in case.links.items():
        (packet / path).parent.mkdir(exist_ok=True)
        (packet / path).symlink_to(target)
    if case.tar is not None:
        packet.parent.mkdir()
        packet.with_name("packet.tar").write_bytes(case.tar)
    name = NAME if case.tar is None else "packet.tar"
    return run("verify", f"packets/{name}", "--trust", "trust.yaml", "--no-rebuild", folder=folder)


@pytest.mark.parametrize("name", CASES)
def test_what_was_done_to_a_packet_is_named(name: str, tmp_path: Path, golden: Golden) -> None:
    ran = verify(CASES[name], tmp_path)
    assert (ran.code, ran.stderr) == (1, "")
    golden.compare(TEXTS / name, {"stdout.txt": ran.stdout.encode()})


def test_every_text_has_its_case() -> None:
    assert sorted(path.name for path in TEXTS.iterdir()) == sorted(CASES)


def test_nothing_was_done(tmp_path: Path) -> None:
    """The same packet as a folder, as its tar with the signature in it, and as its own tar with that beside it."""
    lay_out(tmp_path, GOOD, make_trust(ALICE))
    (tmp_path / "all.tar").write_bytes(TAR)
    (tmp_path / "bare.tar").write_bytes(write_tar(make_packet()))
    (tmp_path / "bare.tar.attestations").mkdir()
    (tmp_path / "bare.tar.attestations" / BY_ALICE.partition("/")[2]).write_bytes(GOOD[BY_ALICE])
    for packet in (f"packets/{NAME}", f"packets/{NAME}/", "all.tar", "bare.tar"):
        ran = run("verify", packet, "--trust", "trust.yaml", "--no-rebuild", folder=tmp_path)
        assert ran == Ran(0, VERIFIED, "")


VERIFIED = f"""\
packet 2026-11-30 of inference-fleet, release 7, of commit {"0" * 40}
digest {name_packet(GOOD[INDEX])}
signed by alice ({ALICE.public.id})
verified: 1 of 1 signatures, 4 files; not rebuilt
"""


def test_what_counts_for_nothing_is_a_warning(tmp_path: Path) -> None:
    lay_out(tmp_path, make_signed(ALICE, MALLORY), make_trust(ALICE))
    (tmp_path / "packets" / NAME).rename(tmp_path / "packets" / "latest")
    ran = run("verify", "packets/latest", "--trust", "trust.yaml", "--no-rebuild", folder=tmp_path)
    assert (ran.code, ran.stdout) == (0, VERIFIED)
    assert (
        ran.stderr
        == f"""\
{BY_MALLORY}: warning: key {MALLORY.public.id} isn't one of the keys of inference-fleet in the trust file: its \
signature counts for nothing  [key-untrusted]
  why  anybody can make a key and sign with it (poolwright releases)
  fix  have a trusted key sign, or add this one's public key if you know from elsewhere whose it is
packet.json: warning: the folder is called latest, and the release 2026-11-30  [packet-renamed]
  at   name
  why  people find a release by its folder's name, and might take this one for another (poolwright releases)
  fix  call the folder 2026-11-30
"""
    )
