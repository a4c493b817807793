"""A small packet, keys that are made of fixed seeds, and a trust file that names some of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from folders import write_files
from poolwright.attestations.envelope import attest, name_envelope, render_envelope
from poolwright.attestations.keys import PrivateKey, build_private_key, parse_private_key, render_private_key
from poolwright.packet.index import (
    INDEX,
    SUMS,
    PacketFile,
    PacketIndex,
    Previous,
    Role,
    Source,
    Tool,
    name_packet,
    render_index,
)
from poolwright.packet.sums import render_sums
from poolwright.specs.digest import digest_bytes

PROJECT = "inference-fleet"
NAME = "2026-11-30"
FILES: dict[str, tuple[Role, str | None, str | None, bytes]] = {
    "CHANGELOG.md": ("changelog", None, None, b"# Release\n"),
    "manifests/east/chat-70b/objects.yaml": ("manifests", "east", "chat-70b", b"kind: Deployment\n"),
    "receipts/east.json": ("receipts", "east", None, b'{"cluster":"east"}\n'),
    "receipts/west.json": ("receipts", "west", None, b'{"cluster":"west"}\n'),
}


def p256_pem(number: int, curve: ec.EllipticCurve | None = None) -> bytes:
    key = ec.derive_private_key(number, curve or ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


ALICE, BOB, CAROL, MALLORY = (build_private_key(bytes([number]) * 32) for number in range(1, 5))
DORA = parse_private_key(p256_pem(5))  # ECDSA
NAMES = {ALICE.public.id: "alice", BOB.public.id: "bob", CAROL.public.id: "carol", DORA.public.id: "dora"}


def make_index(**changed: Any) -> PacketIndex:
    """The index of the files, with some of its properties changed."""
    files = tuple(
        PacketFile(path=path, size=len(data), sha256=digest_bytes(data), role=role, cluster=cluster, unit=unit)
        for path, (role, cluster, unit, data) in sorted(FILES.items())
    )
    values: dict[str, Any] = {
        "api_version": "poolwright.dev/v1alpha1",
        "kind": "Packet",
        "project": PROJECT,
        "name": NAME,
        "sequence": 7,
        "previous": Previous(name="2026-11-23", digest="sha256:" + "0" * 64),
        "as_of": "2026-11-30",
        "source": Source(git_commit="0" * 40, project_path="fleet"),
        "tool": Tool(poolwright="0.1.0", render_format=1, kustomize=None),
        "inputs": (),
        "files": files,
        "absent": (),
        "waivers": (),
    }
    return PacketIndex(**{**values, **changed})


def make_packet(index: PacketIndex | None = None) -> dict[str, bytes]:
    """Every file of a packet but attestations, by path."""
    made = index or make_index()
    data = render_index(made)
    own = {path: content for path, (_, _, _, content) in FILES.items()}
    return {**own, INDEX: data, SUMS: render_sums(made, data)}


def sign_index(index: PacketIndex, *keys: PrivateKey) -> dict[str, bytes]:
    """Attestations by name in `attestations/`."""
    digest = name_packet(render_index(index))
    return {name_envelope(key.public.id): render_envelope(attest(index, digest, key)) for key in keys}


def make_signed(*keys: PrivateKey, **changed: Any) -> dict[str, bytes]:
    """Every file of a packet that keys signed, by path."""
    index = make_index(**changed)
    return {**make_packet(index), **{f"attestations/{name}": data for name, data in sign_index(index, *keys).items()}}


def make_trust(*keys: PrivateKey, threshold: int = 1, least: int = 0, revoked: tuple[str, ...] = ()) -> str:
    """The text of a trust file."""
    text = "apiVersion: poolwright.dev/v1alpha1\nkind: TrustPolicy\nprojects:\n"
    text += f"  - name: {PROJECT}\n    threshold: {threshold}\n    minSequence: {least}\n    keys:\n"
    for key in keys:
        lines = "".join(f"          {line}\n" for line in key.public.pem.splitlines())
        text += f"      - name: {NAMES[key.public.id]}\n        publicKey: |\n{lines}"
    return text + "".join(f"    revoked: [{one}]\n" for one in revoked)


def lay_out(folder: Path, files: Mapping[str, bytes], trust: str) -> None:
    """The packet in `packets/NAME` and `trust.yaml`, both in the folder."""
    write_files(folder / "packets" / NAME, files)
    (folder / "trust.yaml").write_text(trust)


def write_key(path: Path, key: PrivateKey) -> Path:
    path.write_bytes(render_private_key(key))
    return path
