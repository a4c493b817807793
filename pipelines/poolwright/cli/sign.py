"""`poolwright sign`: somebody's word for a packet. No project is read, and no spec."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass

from poolwright.attestations.digests import check_digests
from poolwright.attestations.envelope import attest, name_envelope, parse_envelope, render_envelope
from poolwright.attestations.given import GivenPacket
from poolwright.attestations.keys import KeyRefusedError, PrivateKey
from poolwright.attestations.statement import AttestationError
from poolwright.cli.output import refuse, say, tell
from poolwright.files.import_path import find_inside_project
from poolwright.packet.index import PacketError, PacketIndex, name_packet, parse_index
from poolwright.packets.keys import read_keys, write_new_key
from poolwright.packets.read import attestation_folder, build_tar_finding, read_packet
from poolwright.packets.write import write_attestations
from poolwright.specs.finding import render_text


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOptions:
    """What is asked for."""

    packet: str  # a folder or a tar
    keys: Sequence[str] = ()
    key_fds: Sequence[int] = ()
    out: str | None = None  # the folder of the attestations; None: the packet's own


def run_sign(options: SignOptions) -> int:
    """Sign a packet whose files are what it says with each key; 0, or 1 if they aren't.

    Raises: SpecError if the packet or a key can't be read.
    """
    try:
        packet = read_packet(options.packet, beside=options.out)
    except PacketError as error:
        say(render_text([build_tar_finding(options.packet, error)]), error=True)
        return 1
    findings = check_digests(packet)
    say(render_text(findings), error=True)
    if any(one.severity == "error" for one in findings):
        say(f"poolwright sign: {options.packet} isn't signed: its files aren't what it says\n", error=True)
        return 1
    index = parse_index(packet.index)
    keys = read_keys(options.keys, options.key_fds)
    try:
        made = {name_envelope(key.public.id): _attest(packet, index, key) for key in keys}
    except (AttestationError, KeyRefusedError) as error:
        return refuse("sign", str(error))
    folder = options.out or attestation_folder(options.packet)
    new = {name: data for name, data in made.items() if packet.attestations.get(name) != data}
    if new:
        write_attestations(folder, new)
    tell(f"packet {index.name} of {index.project}, release {index.sequence:,}")
    tell(f"digest {name_packet(packet.index)}")
    for key in keys:
        name = name_envelope(key.public.id)
        done = "signed" if name in new else "was signed before"
        tell(f"{done} by {key.public.id} ({key.public.algorithm}): {folder}/{name}")
    return 0


def run_new_key(path: str) -> int:
    """Make a key, and print how a trust file names it."""
    if (inside := find_inside_project([os.path.dirname(os.path.abspath(path))])) is not None:  # noqa: PTH100, PTH120
        return refuse("--new-key", f"{path} lies in the project {inside[1]}: a key that is committed is everybody's")
    key = write_new_key(path)
    name = os.path.basename(path).partition(".")[0] or "key"  # noqa: PTH119
    tell(f"# {json.dumps(path)} has a new private key ({key.public.algorithm}): who has it signs as you do")
    tell("# its entry for `keys` of a project in the trust file; its id is")
    tell(f"#   {key.public.id}")
    tell(f"- name: {json.dumps(name)}")
    tell("  publicKey: |")
    for line in key.public.pem.splitlines():
        tell(f"    {line}")
    return 0


def _attest(packet: GivenPacket, index: PacketIndex, key: PrivateKey) -> bytes:
    """What the key says of the packet; where it has said so already in other bytes, those."""
    envelope = attest(index, name_packet(packet.index), key)
    before = packet.attestations.get(name_envelope(key.public.id))
    if before is not None:
        try:
            earlier = parse_envelope(before)
        except AttestationError:
            return render_envelope(envelope)
        if earlier.payload == envelope.payload and key.public.verify(earlier.signature, earlier.signed):
            return before
    return render_envelope(envelope)
