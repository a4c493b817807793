"""Keys: two kinds, one form each, one clear message for anything else, and nothing of it repeated."""

from __future__ import annotations

import base64
import hashlib
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from made_packet import ALICE, BOB, DORA, p256_pem
from needs import needs
from poolwright.attestations.keys import (
    KeyRefusedError,
    PrivateKey,
    PublicKey,
    build_private_key,
    parse_private_key,
    parse_public_key,
    render_private_key,
)

ONLY = "only Ed25519 keys and ECDSA keys with P-256 sign releases"
PEM, RAW = Encoding.PEM, NoEncryption()
RSA = rsa.generate_private_key(65537, 2048)
EC = ec.derive_private_key(5, ec.SECP256R1())
OWN = render_private_key(ALICE)
ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
FORM = "has another form than OpenSSL gives it, or something beside it"


def wrap(der: bytes, label: str) -> bytes:
    lines = base64.encodebytes(der).decode().replace("\n", "")
    body = "\n".join(lines[i : i + 64] for i in range(0, len(lines), 64))
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----\n".encode()


def body(pem: bytes) -> bytes:
    return base64.b64decode(b"".join(pem.splitlines()[1:-1]))


BAD_PRIVATE: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "there is no private key in PEM in it"),
    "text-before-it": (b"key:\n" + OWN, "there is no private key in PEM in it"),
    "far-too-long": (OWN + b" " * 4096, "there is no private key in PEM in it"),
    "encrypted": (
        EC.private_bytes(PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")),
        "the private key is encrypted",
    ),
    # Encrypted in the older form: that is said first, and what mends it asks for the password too.
    "encrypted-in-the-older-form": (
        EC.private_bytes(PEM, PrivateFormat.TraditionalOpenSSL, BestAvailableEncryption(b"secret")),
        "the private key isn't in PKCS#8: this is the older form of EC keys",
    ),
    "older-form": (
        EC.private_bytes(PEM, PrivateFormat.TraditionalOpenSSL, RAW),
        "the private key isn't in PKCS#8: this is the older form of EC keys",
    ),
    "rsa": (RSA.private_bytes(PEM, PrivateFormat.PKCS8, RAW), f"this is another kind of key, and {ONLY}"),
    "rsa-in-the-older-form": (
        RSA.private_bytes(PEM, PrivateFormat.TraditionalOpenSSL, RAW),
        f"this is an RSA key, and {ONLY}",
    ),
    "of-openssh": (EC.private_bytes(PEM, PrivateFormat.OpenSSH, RAW), "this is a key of OpenSSH"),
    "public": (
        ALICE.public.pem.encode(),
        "this is a public key, and signing takes the private one",
    ),
    "a-certificate": (wrap(b"x" * 40, "CERTIFICATE"), "there is PEM in it, and no private key"),
    "another-curve": (p256_pem(5, ec.SECP384R1()), f"the key's curve is secp384r1, and {ONLY}"),
    "a-curve-of-coins": (p256_pem(5, ec.SECP256K1()), f"the key's curve is secp256k1, and {ONLY}"),
    "damaged": (wrap(body(OWN)[:-1], "PRIVATE KEY"), "the private key is damaged, or of a kind that isn't known"),
    "no-base64": (OWN.replace(b"M", b"!", 1), "the private key is damaged, or of a kind that isn't known"),
    "a-second-key": (OWN + render_private_key(BOB), f"the private key {FORM}"),
    "text-behind-it": (OWN + b"# mine\n", f"the private key {FORM}"),
    "other-line-ends": (OWN.replace(b"\n", b"\r\n"), f"the private key {FORM}"),
    "two-line-ends": (OWN + b"\n", f"the private key {FORM}"),
}


@pytest.mark.parametrize("name", BAD_PRIVATE)
def test_what_is_no_private_key(name: str) -> None:
    text, what = BAD_PRIVATE[name]
    with pytest.raises(KeyRefusedError) as refused:
        parse_private_key(text)
    assert refused.value.what == what
    repeated = [line for line in text.decode().splitlines() if len(line) > 20 and line in refused.value.fix + what]
    assert repeated == []


SPKI = body(ALICE.public.pem.encode())
SHORT_POINT = EC.public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
P384 = ec.derive_private_key(5, ec.SECP384R1())
COMPRESSED = bytes.fromhex("3039301306072a8648ce3d020106082a8648ce3d030107032200") + SHORT_POINT
BAD_PUBLIC: dict[str, tuple[str, str]] = {
    "nothing": ("", "there is no public key in PEM"),
    "private": (OWN.decode(), "this is a private key"),
    "encrypted": (BAD_PRIVATE["encrypted"][0].decode(), "this is a private key"),
    "rsa": (
        RSA.public_key().public_bytes(PEM, PublicFormat.SubjectPublicKeyInfo).decode(),
        f"this is another kind of key, and {ONLY}",
    ),
    "rsa-in-the-older-form": (
        RSA.public_key().public_bytes(PEM, PublicFormat.PKCS1).decode(),
        "there is PEM, and no public key in SPKI",
    ),
    "another-curve": (
        P384.public_key().public_bytes(PEM, PublicFormat.SubjectPublicKeyInfo).decode(),
        f"the key's curve is secp384r1, and {ONLY}",
    ),
    # The same point in fewer bytes: it would have another id, and one person could count as two.
    "a-compressed-point": (wrap(COMPRESSED, "PUBLIC KEY").decode(), f"the public key {FORM}"),
    "bytes-behind-it": (
        wrap(SPKI + b"\0", "PUBLIC KEY").decode(),
        "the public key is damaged, or of a kind that isn't known",
    ),
    "shorter-lines": (ALICE.public.pem.replace("MCow", "MCow\n"), f"the public key {FORM}"),
    "text-behind-it": (ALICE.public.pem + "x\n", f"the public key {FORM}"),
    "a-second-key": (ALICE.public.pem + BOB.public.pem, f"the public key {FORM}"),
}


@pytest.mark.parametrize("name", BAD_PUBLIC)
def test_what_is_no_public_key(name: str) -> None:
    text, what = BAD_PUBLIC[name]
    with pytest.raises(KeyRefusedError) as refused:
        parse_public_key(text)
    assert (refused.value.what, refused.value.fix) == (what, "write what this prints: openssl pkey -pubout -in KEY")


@pytest.mark.parametrize("key", [ALICE, DORA], ids=["ed25519", "p256"])
def test_a_key_is_read_as_it_was_written(key: PrivateKey) -> None:
    text = render_private_key(key)
    for form in (text, text.removesuffix(b"\n")):
        assert parse_private_key(form) == key
    for public in (key.public.pem, key.public.pem.removesuffix("\n")):
        assert parse_public_key(public) == key.public
    assert key.public.id == hashlib.sha256(body(key.public.pem.encode())).hexdigest()


def test_nothing_shows_a_private_key() -> None:
    assert repr(ALICE) == f"PrivateKey(public={ALICE.public!r})"
    assert "_key" not in repr(ALICE.public)


# RFC 8032, 7.1, test 2.
SEED = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"
SIGNED = (
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
)


def test_ed25519_is_that_of_the_standard() -> None:
    assert build_private_key(bytes.fromhex(SEED)).sign(b"\x72").hex() == SIGNED


def test_ecdsa_is_that_of_the_standard_and_says_the_same_twice() -> None:
    """RFC 6979, A.2.5: P-256, SHA-256, "sample"."""
    number = 0xC9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721
    key = parse_private_key(p256_pem(number))
    first = key.sign(b"sample")
    assert decode_dss_signature(first) == (
        0xEFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716,
        0xF7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8,
    )
    assert key.sign(b"sample") == first


ED = ALICE.sign(b"data")
R, S = decode_dss_signature(DORA.sign(b"data"))
DER = encode_dss_signature(R, S)
SIGNATURES: dict[str, tuple[PublicKey, bytes, bool]] = {
    "its-own": (ALICE.public, ED, True),
    "another-key's": (BOB.public, ED, False),
    "a-bit-flipped": (ALICE.public, ED[:-1] + bytes([ED[-1] ^ 1]), False),
    "none": (ALICE.public, b"", False),
    "one-byte-more": (ALICE.public, ED + b"\0", False),
    # s + L: the same equation holds, and RFC 8032 has it refused.
    "ed25519-s-not-reduced": (
        ALICE.public,
        ED[:32] + (int.from_bytes(ED[32:], "little") + ED25519_ORDER).to_bytes(32, "little"),
        False,
    ),
    "ecdsa": (DORA.public, DER, True),
    # Whoever has (r, s) can write (r, n - s), of the same text. It makes no second signer, and no other packet.
    "ecdsa-the-other-half": (DORA.public, encode_dss_signature(R, P256_ORDER - S), True),
    "ecdsa-other-text": (DORA.public, DORA.sign(b"other"), False),
    "ecdsa-zeros": (DORA.public, encode_dss_signature(0, 0), False),
    "ecdsa-r-not-reduced": (DORA.public, encode_dss_signature(R + P256_ORDER, S), False),
    "ecdsa-bytes-behind-it": (DORA.public, DER + b"\0", False),
    # BER, and no DER: the length in a long form.
    "ecdsa-long-length": (DORA.public, b"\x30\x81" + DER[1:], False),
    "ecdsa-plain": (DORA.public, R.to_bytes(32, "big") + S.to_bytes(32, "big"), False),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_which_signatures_are_the_key_s(name: str) -> None:
    key, signature, good = SIGNATURES[name]
    assert key.verify(signature, b"data") is good


def test_a_library_without_deterministic_ecdsa_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from cryptography.exceptions import UnsupportedAlgorithm

    def refuse(*_: object, **__: object) -> object:
        raise UnsupportedAlgorithm("none")

    monkeypatch.setattr("poolwright.attestations.keys.ECDSA", refuse)
    with pytest.raises(KeyRefusedError) as refused:
        DORA.sign(b"data")
    assert str(refused.value) == "the OpenSSL that Python's cryptography is built with has no deterministic ECDSA"


KINDS = {
    "ed25519": (("-algorithm", "ed25519"), "Ed25519"),
    "p256": (("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"), "ECDSA P-256"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_keys_of_openssl_are_taken_as_they_are(kind: str, tmp_path: Path) -> None:
    program = needs("openssl")
    arguments, algorithm = KINDS[kind]
    private, public = tmp_path / "key.pem", tmp_path / "key.pub"
    subprocess.run([program, "genpkey", *arguments, "-out", private], check=True, capture_output=True)
    subprocess.run([program, "pkey", "-in", private, "-pubout", "-out", public], check=True)
    key = parse_private_key(private.read_bytes())
    assert key.public.algorithm == algorithm
    assert parse_public_key(public.read_text()) == key.public
