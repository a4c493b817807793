"""Whose signatures count, and for what: by key, each once, of this packet, enough of them, and of a recent release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from made_packet import ALICE, BOB, CAROL, DORA, MALLORY, NAMES, PROJECT, make_index, make_trust, sign_index
from poolwright.attestations.envelope import Envelope, name_envelope, render_envelope
from poolwright.attestations.judge import Judged, judge_signatures
from poolwright.attestations.keys import PrivateKey
from poolwright.attestations.statement import build_statement, render_statement
from poolwright.attestations.untrusted import Signer
from poolwright.packet.index import PacketError, name_packet, render_index
from poolwright.specs.finding import SpecError, render_text
from poolwright.trust.policy import TrustPolicy, parse_trust

INDEX = make_index()
DATA = render_index(INDEX)
GIVEN = sign_index(INDEX, ALICE)
Expected = tuple[str, tuple[tuple[str, str], ...]]  # who signed, and severities and codes


def policy(*keys: PrivateKey, **more: Any) -> TrustPolicy:
    return parse_trust(make_trust(*keys, **more).encode(), "trust.yaml")


def forge(key: PrivateKey, *, payload: bytes | None = None, by: PrivateKey | None = None) -> dict[str, bytes]:
    """An envelope that names a key. payload: which is signed instead; by: the key that signs."""
    text = payload if payload is not None else render_statement(build_statement(INDEX, name_packet(DATA)))
    unsigned = Envelope(key_id=key.public.id, payload=text, signature=b"")
    signature = (by or key).sign(unsigned.signed)
    made = Envelope(key_id=key.public.id, payload=text, signature=signature)
    return {name_envelope(key.public.id): render_envelope(made)}


def rename(envelopes: Mapping[str, bytes], key: PrivateKey) -> dict[str, bytes]:
    return {name_envelope(key.public.id): data for data in envelopes.values()}


ERROR, WARNING = "error", "warning"
CASES: dict[str, tuple[Mapping[str, bytes], TrustPolicy, Expected]] = {
    "one-of-one": (GIVEN, policy(ALICE), ("alice", ())),
    "ecdsa": (sign_index(INDEX, DORA), policy(DORA), ("dora", ())),
    "two-of-three": (sign_index(INDEX, ALICE, CAROL), policy(ALICE, BOB, CAROL, threshold=2), ("alice carol", ())),
    "more-than-asked-for": (
        sign_index(INDEX, ALICE, BOB, CAROL),
        policy(ALICE, BOB, CAROL, threshold=2),
        ("alice bob carol", ()),
    ),
    "stripped": ({}, policy(ALICE), ("", ((ERROR, "signature-missing"),))),
    "one-of-two": (GIVEN, policy(ALICE, BOB, threshold=2), ("alice", ((ERROR, "signature-threshold"),))),
    "another-key": (
        sign_index(INDEX, MALLORY),
        policy(ALICE),
        ("", ((ERROR, "signature-threshold"), (ERROR, "key-untrusted"))),
    ),
    # Others signed: a stranger's word takes nothing away, so that a new key can sign before it is trusted.
    "another-key-beside": (sign_index(INDEX, ALICE, MALLORY), policy(ALICE), ("alice", ((WARNING, "key-untrusted"),))),
    "a-stranger-counts-for-no-threshold": (
        sign_index(INDEX, ALICE, MALLORY),
        policy(ALICE, BOB, threshold=2),
        ("alice", ((ERROR, "signature-threshold"), (ERROR, "key-untrusted"))),
    ),
    "revoked": (
        GIVEN,
        policy(ALICE, BOB, revoked=(ALICE.public.id,)),
        ("", ((ERROR, "signature-threshold"), (ERROR, "key-revoked"))),
    ),
    "revoked-beside": (
        sign_index(INDEX, ALICE, BOB),
        policy(ALICE, BOB, revoked=(ALICE.public.id,)),
        ("bob", ((WARNING, "key-revoked"),)),
    ),
    "revoked-and-gone-from-the-list": (
        GIVEN,
        policy(BOB, revoked=(ALICE.public.id,)),
        ("", ((ERROR, "signature-threshold"), (ERROR, "key-revoked"))),
    ),
    # Nobody but the key's holder gets it revoked or not: whatever the envelope holds, it counts for nothing.
    "forged-of-a-revoked-key": (
        {**sign_index(INDEX, BOB), **forge(ALICE, by=MALLORY)},
        policy(ALICE, BOB, revoked=(ALICE.public.id,)),
        ("bob", ((WARNING, "key-revoked"),)),
    ),
    "a-key-s-name-with-another-key-s-signature": (
        forge(ALICE, by=MALLORY),
        policy(ALICE),
        ("", ((ERROR, "signature-threshold"), (ERROR, "signature-wrong"))),
    ),
    # However many others signed: somebody changed what is there.
    "forged-beside": (
        {**sign_index(INDEX, BOB), **forge(ALICE, by=MALLORY)},
        policy(ALICE, BOB),
        ("bob", ((ERROR, "signature-wrong"),)),
    ),
    # A trusted key's envelope under a second key's name doesn't make two.
    "one-envelope-for-two-keys": (
        {**GIVEN, **rename(GIVEN, BOB)},
        policy(ALICE, BOB, threshold=2),
        ("alice", ((ERROR, "signature-threshold"), (ERROR, "attestation-invalid"))),
    ),
    "no-envelope": (
        {name_envelope(ALICE.public.id): b"{}"},
        policy(ALICE),
        ("", ((ERROR, "signature-threshold"), (ERROR, "attestation-invalid"))),
    ),
    "of-another-release": (
        sign_index(make_index(name="2026-11-29", sequence=6), ALICE),
        policy(ALICE),
        ("", ((ERROR, "signature-threshold"), (ERROR, "signature-elsewhere"))),
    ),
    "of-another-project": (
        sign_index(make_index(project="other"), ALICE),
        policy(ALICE),
        ("", ((ERROR, "signature-threshold"), (ERROR, "signature-elsewhere"))),
    ),
    "index-changed-since": (
        sign_index(make_index(as_of="2026-11-29"), ALICE),
        policy(ALICE),
        ("", ((ERROR, "signature-threshold"), (ERROR, "signature-elsewhere"))),
    ),
    # The right digest, as of another release than it is of.
    "lies-about-these-bytes": (
        forge(ALICE, payload=render_statement(build_statement(make_index(sequence=8), name_packet(DATA)))),
        policy(ALICE),
        ("", ((ERROR, "signature-threshold"), (ERROR, "signature-elsewhere"))),
    ),
    "signed-something-else": (
        forge(ALICE, payload=b"I, Alice, was here"),
        policy(ALICE),
        ("", ((ERROR, "signature-threshold"), (ERROR, "attestation-invalid"))),
    ),
    "an-old-one-again": (GIVEN, policy(ALICE, least=8), ("alice", ((ERROR, "packet-replayed"),))),
    "the-oldest-that-is-taken": (GIVEN, policy(ALICE, least=7), ("alice", ())),
}


@pytest.mark.parametrize("name", CASES)
def test_what_signatures_are_worth(name: str) -> None:
    envelopes, trusted, (signers, findings) = CASES[name]
    judged = judge_signatures(DATA, envelopes, trusted)
    assert (
        sorted(one.name for one in judged.signers),
        [(one.severity, one.code) for one in judged.findings],
        judged.holds,
    ) == (signers.split(), [*findings], all(severity != ERROR for severity, _ in findings))
    assert all(NAMES[one.key_id] == one.name for one in judged.signers)


def test_the_whole_judgement() -> None:
    assert judge_signatures(DATA, GIVEN, policy(ALICE, BOB)) == Judged(
        digest=name_packet(DATA),
        threshold=1,
        signers=(Signer(name="alice", key_id=ALICE.public.id),),
        findings=(),
    )


def test_a_project_is_asked_for_or_found() -> None:
    """Who may sign for one project may not sign for another: both have to be the trust file's."""
    assert judge_signatures(DATA, GIVEN, policy(ALICE), PROJECT).holds
    others = judge_signatures(DATA, GIVEN, policy(ALICE), "other")
    unknown = judge_signatures(
        render_index(make_index(project="other")), sign_index(make_index(project="other"), ALICE), policy(ALICE)
    )
    nobody = judge_signatures(DATA, GIVEN, TrustPolicy(api_version="poolwright.dev/v1alpha1", kind="TrustPolicy"))
    assert [(one.threshold, one.signers, one.holds) for one in (others, unknown, nobody)] == [(0, (), False)] * 3
    assert (
        render_text((*others.findings, *unknown.findings, *nobody.findings))
        == """\
packet.json: the packet is of the project inference-fleet, and one of other is asked for  [packet-elsewhere]
  at   project
  why  who may sign for one project may not sign for another (poolwright releases)
  fix  name a packet of other
packet.json: trust.yaml says nothing of the project other; it knows: inference-fleet  [project-untrusted]
  at   project
  why  whose signatures count is said for each project (poolwright releases)
  fix  add it to `projects` with its keys, if you know from elsewhere whose they are
packet.json: trust.yaml says nothing of the project inference-fleet; it knows: none  [project-untrusted]
  at   project
  why  whose signatures count is said for each project (poolwright releases)
  fix  add it to `projects` with its keys, if you know from elsewhere whose they are
"""
    )


def test_a_key_that_cannot_verify_is_no_answer() -> None:
    shorter = make_trust(ALICE, BOB).replace("MCow", "MCow\n          ", 1)
    with pytest.raises(SpecError) as refused:
        judge_signatures(DATA, GIVEN, parse_trust(shorter.encode(), "trust.yaml"))
    assert (
        render_text(refused.value.findings)
        == """\
trust.yaml: the public key "alice" can't be used: the public key has another form than OpenSSL gives it, or something \
beside it  [key-unusable]
  at   projects[0].keys[0].publicKey
  why  a key that can't verify would be missed by every packet (poolwright releases)
  fix  write what this prints: openssl pkey -pubout -in KEY
"""
    )


def test_an_index_that_is_none_is_judged_by_nobody() -> None:
    with pytest.raises(PacketError):
        judge_signatures(DATA + b" ", GIVEN, policy(ALICE))


def test_the_arguments_are_left_as_they_are() -> None:
    envelopes = sign_index(INDEX, ALICE, MALLORY)
    before = dict(envelopes)
    judge_signatures(DATA, envelopes, policy(ALICE))
    assert envelopes == before
