"""What is said of a packet that the trust file doesn't let pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from poolwright.attestations.keys import KeyRefusedError
from poolwright.attestations.statement import Statement
from poolwright.packet.index import ATTESTATIONS, INDEX, PacketIndex
from poolwright.specs.digest import Digest
from poolwright.specs.finding import Finding
from poolwright.specs.place import Place

_RULE: Final = "poolwright releases"
_SIGN: Final = "have it signed by who reviewed it: poolwright sign PACKET --key FILE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """A key of the trust file."""

    name: str  # as the trust file calls it: it proves nothing
    key_id: str

    def __str__(self) -> str:
        return f"{self.name} ({self.key_id})" if self.name else self.key_id


def unsigned(threshold: int, able: Sequence[Signer]) -> Finding:
    """Of a packet without any attestation."""
    return Finding(
        code="signature-missing",
        severity="error",
        place=Place(ATTESTATIONS),
        what=f"nobody signed the packet, or its signatures were taken away: {_say_needed(threshold, able)}",
        why="without a signature anybody may have made it",
        rule=_RULE,
        fix=_SIGN,
    )


def too_few(threshold: int, signed: Sequence[Signer], missing: Sequence[Signer]) -> Finding:
    """Of a packet that fewer trusted keys signed than have to."""
    by = f"by {', '.join(map(str, signed))} alone" if signed else "by no trusted key"
    return Finding(
        code="signature-threshold",
        severity="error",
        place=Place(ATTESTATIONS),
        what=f"the packet is signed {by}, {len(signed)} of {threshold}: "
        f"{_say_needed(threshold - len(signed), missing)}",
        why="the trust file says how many keys have to sign a release of the project",
        rule=_RULE,
        fix=_SIGN,
    )


def stranger(name: str, key_id: str, project: str, *, enough: bool) -> Finding:
    """Of a signature by a key that isn't among the project's. enough: others signed, so nothing is lost."""
    return Finding(
        code="key-untrusted",
        severity="warning" if enough else "error",
        place=_place(name),
        what=f"key {key_id} isn't one of the keys of {project} in the trust file: its signature counts for nothing",
        why="anybody can make a key and sign with it",
        rule=_RULE,
        fix="have a trusted key sign, or add this one's public key if you know from elsewhere whose it is",
    )


def revoked(name: str, signer: Signer, *, enough: bool) -> Finding:
    """Of a signature by a key that counts no more."""
    return Finding(
        code="key-revoked",
        severity="warning" if enough else "error",
        place=_place(name),
        what=f"key {signer} is revoked: its signature counts for nothing",
        why="somebody else may have the private key, and a signature doesn't say when it was made",
        rule=_RULE,
        fix="have a key sign that isn't revoked",
    )


def forged(name: str, signer: Signer) -> Finding:
    """Of a signature that isn't the key's."""
    return Finding(
        code="signature-wrong",
        severity="error",
        place=_place(name),
        what=f"key {signer} didn't sign this: the signature, or what it is of, was changed",
        why="a signature is of one text by one key",
        rule=_RULE,
        fix=f"remove the file, and {_SIGN}",
    )


def of_another_packet(name: str, signer: Signer, statement: Statement, index: PacketIndex, digest: Digest) -> Finding:
    """Of a signature by a trusted key about something else."""
    said = statement.predicate
    same = (said.project, said.name, said.sequence) == (index.project, index.name, index.sequence)
    if statement.digest == digest:
        what = f"key {signer} signed these bytes as another release than {INDEX} says, {said.name} of {said.project}"
    elif same:
        what = f"{INDEX} was changed after key {signer} signed it: it signed {statement.digest}, and this is {digest}"
    else:
        what = (
            f"key {signer} signed another packet: {said.name} of {said.project}, release {said.sequence:,}, "
            f"{statement.digest}"
        )
    return Finding(
        code="signature-elsewhere",
        severity="error",
        place=_place(name),
        what=what,
        why="a signature is of one packet, and says nothing about any other",
        rule=_RULE,
        fix=f"get the packet again from where it was released, or {_SIGN}",
    )


def no_attestation(name: str, what: str) -> Finding:
    """Of a file that is none, or is signed and says something else."""
    return Finding(
        code="attestation-invalid",
        severity="error",
        place=_place(name),
        what=what,
        why="an attestation has one form, so that nothing can be hidden in it",
        rule=_RULE,
        fix=f"remove the file, and {_SIGN}",
    )


def too_old(index: PacketIndex, least: int, file: str) -> Finding:
    """Of a release before the first that is taken."""
    return Finding(
        code="packet-replayed",
        severity="error",
        place=Place(INDEX, field="sequence"),
        what=f"this is release {index.sequence:,} of {index.project}, and {least:,} is the oldest that {file} takes",
        why="an old packet's signatures hold for ever: who serves it again would bring back what was mended since",
        rule=_RULE,
        fix="take a newer release, or lower minSequence if going back is meant",
    )


def project_unknown(index: PacketIndex, known: Sequence[str], file: str) -> Finding:
    """Of a project that the trust file says nothing about."""
    names = ", ".join(sorted(known)) or "none"
    return Finding(
        code="project-untrusted",
        severity="error",
        place=Place(INDEX, field="project"),
        what=f"{file} says nothing of the project {index.project}; it knows: {names}",
        why="whose signatures count is said for each project",
        rule=_RULE,
        fix="add it to `projects` with its keys, if you know from elsewhere whose they are",
    )


def of_another_project(index: PacketIndex, project: str) -> Finding:
    """Of a packet that was asked for as another project's."""
    return Finding(
        code="packet-elsewhere",
        severity="error",
        place=Place(INDEX, field="project"),
        what=f"the packet is of the project {index.project}, and one of {project} is asked for",
        why="who may sign for one project may not sign for another",
        rule=_RULE,
        fix=f"name a packet of {project}",
    )


def key_unusable(name: str, error: KeyRefusedError, place: Place) -> Finding:
    """Of a key in the trust file."""
    return Finding(
        code="key-unusable",
        severity="error",
        place=place,
        what=f'the public key "{name}" can\'t be used: {error.what}',
        why="a key that can't verify would be missed by every packet",
        rule=_RULE,
        fix=error.fix,
    )


def _place(name: str) -> Place:
    return Place(f"{ATTESTATIONS}/{name}")


def _say_needed(count: int, able: Sequence[Signer]) -> str:
    if len(able) == 1:
        return f"{able[0]} has to"
    have = "has" if count == 1 else "have"
    return f"{count} of {', '.join(map(str, able))} {have} to" if able else "no key is left that could"
