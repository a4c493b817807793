"""What is signed and how it is framed: one form of the bytes, and what other implementations say of it."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from securesystemslib.dsse import Envelope as OtherEnvelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, Signature, SSlibKey

from made_packet import ALICE, BOB, DORA, make_index, sign_index
from needs import needs
from poolwright.attestations.envelope import (
    MAX_ENVELOPE_BYTES,
    PAYLOAD_TYPE,
    Envelope,
    attest,
    frame,
    parse_envelope,
    render_envelope,
)
from poolwright.attestations.keys import PrivateKey, render_private_key
from poolwright.attestations.statement import (
    AttestationError,
    build_statement,
    parse_statement,
    render_statement,
)
from poolwright.packet.index import name_packet, render_index

INDEX = make_index()
DIGEST = name_packet(render_index(INDEX))
STATEMENT = render_statement(build_statement(INDEX, DIGEST))
ENVELOPE = render_envelope(attest(INDEX, DIGEST, ALICE))
KEYS = {"ed25519": ALICE, "p256": DORA}


def test_the_statement_is_in_toto_s_about_packet_json_and_has_no_time() -> None:
    assert json.loads(STATEMENT) == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "packet.json", "digest": {"sha256": DIGEST.removeprefix("sha256:")}}],
        "predicateType": "https://poolwright.dev/release/v1alpha1",
        "predicate": {
            "project": "inference-fleet",
            "name": "2026-11-30",
            "sequence": 7,
            "previous": {"name": "2026-11-23", "digest": "sha256:" + "0" * 64},
        },
    }
    assert parse_statement(STATEMENT) == build_statement(INDEX, DIGEST)
    assert parse_statement(STATEMENT).digest == DIGEST


def edit(**changed: Any) -> bytes:
    document = json.loads(STATEMENT) | changed
    return json.dumps(
        {k: v for k, v in document.items() if v is not ...}, separators=(",", ":"), sort_keys=True
    ).encode()


def predicate(**changed: Any) -> bytes:
    return edit(predicate=json.loads(STATEMENT)["predicate"] | changed)


SUBJECT = json.loads(STATEMENT)["subject"][0]
NO = "what is signed is no statement about a packet: "
BAD_STATEMENTS: dict[str, tuple[bytes, str]] = {
    "no-json": (b"{", NO + "Input data was truncated"),
    "no-utf-8": (b'{"_type":"\xff"}', NO + "Invalid UTF-8 encoded string"),
    "deep": (b"[" * 100_000, NO + "Expected `object`, got `array`"),
    "another-type": (
        edit(_type="https://in-toto.io/Statement/v0.1"),
        NO + "Invalid enum value 'https://in-toto.io/Statement/v0.1' - at `$._type`",
    ),
    "another-predicate": (
        edit(predicateType="https://slsa.dev/provenance/v1"),
        NO + "Invalid enum value 'https://slsa.dev/provenance/v1' - at `$.predicateType`",
    ),
    "no-subject": (edit(subject=[]), NO + "Expected `array` of length >= 1 - at `$.subject`"),
    "two-subjects": (edit(subject=[SUBJECT, SUBJECT]), NO + "Expected `array` of length <= 1 - at `$.subject`"),
    "another-subject": (
        edit(subject=[SUBJECT | {"name": "README.md"}]),
        NO + "Invalid enum value 'README.md' - at `$.subject[0].name`",
    ),
    "another-digest-beside-it": (
        edit(subject=[SUBJECT | {"digest": SUBJECT["digest"] | {"sha1": "0"}}]),
        NO + "Object contains unknown field `sha1` - at `$.subject[0].digest`",
    ),
    "a-digest-in-capitals": (
        edit(subject=[SUBJECT | {"digest": {"sha256": "A" * 64}}]),
        NO + "Expected `str` matching regex '^[0-9a-f]{64}$' - at `$.subject[0].digest.sha256`",
    ),
    "an-unknown-property": (edit(time="2026-11-30"), NO + "Object contains unknown field `time`"),
    "a-missing-property": (edit(predicate=...), NO + "Object missing required field `predicate`"),
    "a-sequence-as-text": (predicate(sequence="7"), NO + "Expected `int`, got `str` - at `$.predicate.sequence`"),
    "a-long-name": (
        predicate(name="a" * 300),
        NO + "Expected `str` of length <= 63 - at `$.predicate.name`",
    ),
}
OTHER = "what is signed isn't canonical JSON: the same statement has other bytes"
BAD_STATEMENTS |= {
    "a-float": (
        STATEMENT.replace(b":7}", b":7.0}"),
        NO + "Expected `int`, got `float` - at `$.predicate.sequence`",
    ),
    "a-repeated-property": (STATEMENT.replace(b'"sequence":7', b'"sequence":9,"sequence":7'), OTHER),
    "a-space": (STATEMENT.replace(b":7}", b": 7}"), OTHER),
    "a-line-feed": (STATEMENT + b"\n", OTHER),
    "a-lone-surrogate": (
        STATEMENT.replace(b"inference-fleet", rb"\ud800"),
        NO + "JSON is malformed: unexpected end of escaped utf-16 surrogate pair (byte 209)",
    ),
}


@pytest.mark.parametrize("name", BAD_STATEMENTS)
def test_what_is_no_statement(name: str) -> None:
    data, what = BAD_STATEMENTS[name]
    with pytest.raises(AttestationError) as refused:
        parse_statement(data)
    assert str(refused.value) == what


def test_the_frame_is_that_of_the_protocol() -> None:
    """DSSE's own example."""
    framed = frame("http://example.com/HelloWorld", b"hello world")
    assert framed == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


def test_an_envelope_is_read_as_it_was_written() -> None:
    envelope = attest(INDEX, DIGEST, ALICE)
    assert parse_envelope(ENVELOPE) == envelope
    assert render_envelope(attest(INDEX, DIGEST, ALICE)) == ENVELOPE
    assert (envelope.key_id, envelope.payload) == (ALICE.public.id, STATEMENT)
    assert ALICE.public.verify(
        envelope.signature, b"DSSEv1 28 application/vnd.in-toto+json %d " % len(STATEMENT) + STATEMENT
    )


def test_names_too_long_for_an_envelope_are_refused_before_signing() -> None:
    with pytest.raises(AttestationError) as refused:
        attest(make_index(project="a" * MAX_ENVELOPE_BYTES), DIGEST, ALICE)
    assert str(refused.value) == "the names in it are so long that an attestation would have over 65,536 bytes"


def change(**changed: Any) -> bytes:
    document = json.loads(ENVELOPE) | changed
    return json.dumps(document, separators=(",", ":"), sort_keys=True).encode() + b"\n"


SIGNATURE = json.loads(ENVELOPE)["signatures"][0]
NONE = "it is no DSSE envelope with one signature: "
FORM = "it isn't canonical JSON and a line feed: the same envelope has other bytes"
BAD_ENVELOPES: dict[str, tuple[bytes, str]] = {
    "no-json": (b"", NONE + "Input data was truncated"),
    "too-large": (b" " * (MAX_ENVELOPE_BYTES + 1), "it has 65,537 bytes, and 65,536 is the most"),
    "another-payload-type": (
        change(payloadType="application/json"),
        NONE + "Invalid enum value 'application/json' - at `$.payloadType`",
    ),
    "no-signature": (change(signatures=[]), NONE + "Expected `array` of length >= 1 - at `$.signatures`"),
    "two-signatures": (
        change(signatures=[SIGNATURE, SIGNATURE]),
        NONE + "Expected `array` of length <= 1 - at `$.signatures`",
    ),
    "an-unknown-property": (change(more=1), NONE + "Object contains unknown field `more`"),
    "a-certificate-with-it": (
        change(signatures=[SIGNATURE | {"cert": "x"}]),
        NONE + "Object contains unknown field `cert` - at `$.signatures[0]`",
    ),
    "a-key-id-that-is-a-path": (
        change(signatures=[SIGNATURE | {"keyid": "../../x"}]),
        NONE + "Expected `str` matching regex '^[0-9a-f]{64}$' - at `$.signatures[0].keyid`",
    ),
    "no-base64": (change(payload="!"), "its payload or signature isn't Base64"),
    "base64-with-spaces": (change(payload="AA A="), "its payload or signature isn't Base64"),
    "base64-for-addresses": (change(signatures=[SIGNATURE | {"sig": "-_-_"}]), "its payload or signature isn't Base64"),
    "base64-with-bits-left": (change(payload="AB=="), FORM),
    "without-a-line-feed": (ENVELOPE.removesuffix(b"\n"), FORM),
    "indented": (json.dumps(json.loads(ENVELOPE), indent=1).encode() + b"\n", FORM),
    "a-repeated-property": (b'{"payload":"AAAA",' + ENVELOPE.removeprefix(b"{"), FORM),
}


@pytest.mark.parametrize("name", BAD_ENVELOPES)
def test_what_is_no_envelope(name: str) -> None:
    data, what = BAD_ENVELOPES[name]
    with pytest.raises(AttestationError) as refused:
        parse_envelope(data)
    assert str(refused.value) == what


# --- against others ---


def other_key(key: PrivateKey) -> SSlibKey:
    return SSlibKey.from_crypto(load_pem_public_key(key.public.pem.encode()), keyid=key.public.id)


@pytest.mark.parametrize("kind", KEYS)
def test_securesystemslib_verifies_ours(kind: str) -> None:
    key = KEYS[kind]
    (data,) = sign_index(INDEX, key).values()
    envelope = OtherEnvelope.from_dict(json.loads(data))
    assert envelope.payload == STATEMENT
    assert envelope.verify([other_key(key)], 1) == {key.public.id: other_key(key)}
    envelope.payload = STATEMENT.replace(b":7}", b":8}")
    with pytest.raises(VerificationError):
        envelope.verify([other_key(key)], 1)


@pytest.mark.parametrize("kind", KEYS)
def test_we_verify_securesystemslib_s(kind: str) -> None:
    key = KEYS[kind]
    other: Any = load_pem_private_key(render_private_key(key), None)
    envelope = OtherEnvelope(STATEMENT, PAYLOAD_TYPE, {})
    signature: Signature = envelope.sign(CryptoSigner(other, other_key(key)))
    ours = Envelope(key_id=key.public.id, payload=STATEMENT, signature=bytes.fromhex(signature.signature))
    assert key.public.verify(ours.signature, ours.signed)
    # Its JSON in canonical form is ours: nothing that it writes is left out, or added.
    document = json.dumps(envelope.to_dict(), separators=(",", ":"), sort_keys=True).encode() + b"\n"
    assert parse_envelope(document) == ours
    assert not BOB.public.verify(ours.signature, ours.signed)


@pytest.mark.parametrize("kind", KEYS)
def test_openssl_verifies_ours(kind: str, tmp_path: Path) -> None:
    """By hand: the frame from a shell's printf, and a public key from the trust file."""
    program, key = needs("openssl"), KEYS[kind]
    (data,) = sign_index(INDEX, key).values()
    document = json.loads(data)
    payload = base64.b64decode(document["payload"])
    (tmp_path / "signed").write_bytes(b"DSSEv1 28 application/vnd.in-toto+json %d %b" % (len(payload), payload))
    (tmp_path / "sig").write_bytes(base64.b64decode(document["signatures"][0]["sig"]))
    (tmp_path / "pub").write_text(key.public.pem)
    command = [program, "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", "pub", "-in", "signed", "-sigfile", "sig"]
    command += [] if kind == "ed25519" else ["-digest", "sha256"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "Signature Verified Successfully\n")
