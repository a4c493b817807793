"""Whether a packet is signed by as many trusted keys as the trust file asks for, and recent enough."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from poolwright.attestations import untrusted
from poolwright.attestations.envelope import Envelope, name_envelope, parse_envelope
from poolwright.attestations.keys import KeyRefusedError, PublicKey, parse_public_key
from poolwright.attestations.statement import (
    AttestationError,
    build_statement,
    parse_statement,
    render_statement,
)
from poolwright.attestations.untrusted import Signer
from poolwright.packet.index import PacketIndex, name_packet, parse_index
from poolwright.specs.digest import Digest
from poolwright.specs.finding import Finding, SpecError, sort_findings
from poolwright.specs.place import Place, render_field
from poolwright.trust.policy import TrustedProject, TrustPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the signatures of a packet are worth."""

    digest: Digest  # the packet's
    threshold: int  # how many keys have to sign; 0: the trust file doesn't know the project
    signers: tuple[Signer, ...]  # trusted keys that signed this packet, by id, each once
    findings: tuple[Finding, ...]  # sorted; warnings are of what counts for nothing and is missed by nobody

    @property
    def holds(self) -> bool:
        """Whether the packet may be used."""
        return not any(one.severity == "error" for one in self.findings)


def judge_signatures(
    index_bytes: bytes,
    envelopes: Mapping[str, bytes],
    policy: TrustPolicy,
    project: str | None = None,
    *,
    file: str = "trust.yaml",
) -> Judged:
    """The judgement of one packet. It is about packet.json alone: `check_digests` is about the other files.

    index_bytes: packet.json.
    envelopes:   by name in `attestations/`.
    project:     whose packet it has to be; None: of whichever the trust file knows.
    file:        what findings call the trust file.
    Raises:      PacketError if packet.json is none; SpecError if a key of the project can't be used.
    Note:        who signed is told by key. Names are the trust file's, and the ids in envelopes are claims.
    """
    index, digest = parse_index(index_bytes), name_packet(index_bytes)
    if project is not None and index.project != project:
        findings: tuple[Finding, ...] = (untrusted.of_another_project(index, project),)
        return Judged(digest=digest, threshold=0, signers=(), findings=findings)
    number, trusted = next(((n, one) for n, one in enumerate(policy.projects) if one.name == index.project), (0, None))
    if trusted is None:
        known = [one.name for one in policy.projects]
        return Judged(digest=digest, threshold=0, signers=(), findings=(untrusted.project_unknown(index, known, file),))
    signers = _read_keys(trusted, number, file)
    judge = _Judge(index=index, digest=digest, trusted=trusted, signers=signers)
    return judge.judge(envelopes, file)


def _read_keys(trusted: TrustedProject, number: int, file: str) -> dict[str, tuple[Signer, PublicKey]]:
    """The project's keys by their own ids, in the order of the trust file."""
    keys: dict[str, tuple[Signer, PublicKey]] = {}
    problems = []
    for place, one in enumerate(trusted.keys):
        try:
            key = parse_public_key(one.public_key)
        except KeyRefusedError as error:
            field = render_field(("projects", number, "keys", place, "publicKey"))
            problems.append(untrusted.key_unusable(one.name, error, Place(file, field=field)))
        else:
            keys[key.id] = (Signer(name=one.name, key_id=key.id), key)
    if problems:
        raise SpecError(problems)
    return keys


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judge:
    index: PacketIndex
    digest: Digest
    trusted: TrustedProject
    signers: Mapping[str, tuple[Signer, PublicKey]]

    def judge(self, envelopes: Mapping[str, bytes], file: str) -> Judged:
        signed: dict[str, Signer] = {}
        broken: list[Finding] = []
        strangers: list[tuple[str, str]] = []  # the names of files, and the ids in them
        for name, data in sorted(envelopes.items()):
            envelope = _parse(name, data)
            if isinstance(envelope, Finding):
                broken.append(envelope)
            elif envelope.key_id in self.trusted.revoked or envelope.key_id not in self.signers:
                strangers.append((name, envelope.key_id))
            elif (problem := self._check(name, envelope)) is not None:
                broken.append(problem)
            else:
                signed[envelope.key_id] = self.signers[envelope.key_id][0]
        enough = len(signed) >= self.trusted.threshold
        findings = (
            *broken,
            *self._list_strangers(strangers, enough=enough),
            *self._check_whole(envelopes, signed, file),
        )
        return Judged(
            digest=self.digest,
            threshold=self.trusted.threshold,
            signers=tuple(signed[key_id] for key_id in sorted(signed)),
            findings=sort_findings(findings),
        )

    def _check(self, name: str, envelope: Envelope) -> Finding | None:
        """Why an envelope that names a trusted key is none of that key about this packet."""
        signer, key = self.signers[envelope.key_id]
        if not key.verify(envelope.signature, envelope.signed):
            return untrusted.forged(name, signer)
        if envelope.payload == render_statement(build_statement(self.index, self.digest)):
            return None
        try:
            statement = parse_statement(envelope.payload)
        except AttestationError as error:
            return untrusted.no_attestation(name, str(error))
        return untrusted.of_another_packet(name, signer, statement, self.index, self.digest)

    def _list_strangers(self, strangers: Sequence[tuple[str, str]], *, enough: bool) -> Iterator[Finding]:
        for name, key_id in strangers:
            known = self.signers.get(key_id)
            if key_id in self.trusted.revoked:
                yield untrusted.revoked(name, known[0] if known else Signer(name="", key_id=key_id), enough=enough)
            else:
                yield untrusted.stranger(name, key_id, self.index.project, enough=enough)

    def _check_whole(
        self, envelopes: Mapping[str, bytes], signed: Mapping[str, Signer], file: str
    ) -> Iterator[Finding]:
        able = [signer for key_id, (signer, _) in self.signers.items() if key_id not in self.trusted.revoked]
        missing = [signer for signer in able if signer.key_id not in signed]
        if not envelopes:
            yield untrusted.unsigned(self.trusted.threshold, missing)
        elif len(signed) < self.trusted.threshold:
            yield untrusted.too_few(self.trusted.threshold, tuple(signed.values()), missing)
        if self.index.sequence < self.trusted.min_sequence:
            yield untrusted.too_old(self.index, self.trusted.min_sequence, file)


def _parse(name: str, data: bytes) -> Envelope | Finding:
    try:
        envelope = parse_envelope(data)
    except AttestationError as error:
        return untrusted.no_attestation(name, str(error))
    if name != name_envelope(envelope.key_id):
        return untrusted.no_attestation(name, f"it says it is of key {envelope.key_id}, whose file is called otherwise")
    return envelope
