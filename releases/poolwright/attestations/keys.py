"""Keys of those who sign releases: Ed25519, or ECDSA with P-256 and SHA-256.

One form each: PKCS#8 in PEM for private keys, SPKI in PEM for public ones, both as OpenSSL writes them. What is refused
is never repeated: it may be a secret.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Final, Literal

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

Algorithm = Literal["Ed25519", "ECDSA P-256"]
MAX_KEY_BYTES: Final = 4096  # a longer text holds no key of ours
SEED_BYTES: Final = 32
_LABEL: Final = re.compile(rb"-----BEGIN ([A-Z0-9 ]{1,40})-----")
_ONLY: Final = "only Ed25519 keys and ECDSA keys with P-256 sign releases"
_NEW: Final = "make a key with: poolwright sign --new-key FILE"
_DECRYPT: Final = (
    "hand it over decrypted, by a descriptor: poolwright sign PACKET --key-fd 3 3< <(openssl pkey -in KEY)"
)
_REWRITE: Final = "write it anew with: openssl pkcs8 -topk8 -nocrypt -in KEY"
# What else people name as their private key, by the label of its PEM.
_OTHER_PRIVATE: Final = {
    b"ENCRYPTED PRIVATE KEY": ("the private key is encrypted", _DECRYPT),
    b"RSA PRIVATE KEY": (f"this is an RSA key, and {_ONLY}", _NEW),
    b"EC PRIVATE KEY": ("the private key isn't in PKCS#8: this is the older form of EC keys", _REWRITE),
    b"EC PARAMETERS": ("the private key isn't in PKCS#8: this is the older form of EC keys", _REWRITE),
    b"OPENSSH PRIVATE KEY": ("this is a key of OpenSSH", _NEW),
    b"PUBLIC KEY": ("this is a public key, and signing takes the private one", "name the file of the private key"),
}


class KeyRefusedError(Exception):
    """A key that can't be used. what, fix: as in a finding; neither holds anything of the key."""

    def __init__(self, what: str, fix: str) -> None:
        self.what = what
        self.fix = fix
        super().__init__(what)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    """What a signature is verified with."""

    id: str  # hex SHA-256 of its DER: 64 digits
    algorithm: Algorithm
    pem: str
    _key: Ed25519PublicKey | EllipticCurvePublicKey = field(repr=False, compare=False)

    def verify(self, signature: bytes, data: bytes) -> bool:
        """Whether the key signed the data.

        Of ECDSA the other half of a pair, (r, n - s), counts too: no signature is told from another by its bytes.
        """
        try:
            if isinstance(self._key, Ed25519PublicKey):
                self._key.verify(signature, data)
            else:
                self._key.verify(signature, data, ECDSA(SHA256()))
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateKey:
    """What signs. Nothing shows it."""

    public: PublicKey
    _key: Ed25519PrivateKey | EllipticCurvePrivateKey = field(repr=False, compare=False)

    def sign(self, data: bytes) -> bytes:
        """The signature: equal data gives equal bytes, of ECDSA too (RFC 6979).

        Raises: KeyRefusedError where the library can't do that.
        """
        if isinstance(self._key, Ed25519PrivateKey):
            return self._key.sign(data)
        try:
            return self._key.sign(data, ECDSA(SHA256(), deterministic_signing=True))
        except UnsupportedAlgorithm:
            what = "the OpenSSL that Python's cryptography is built with has no deterministic ECDSA"
            raise KeyRefusedError(
                what, "take OpenSSL 3.2 or newer, as packaged with cryptography, or an Ed25519 key"
            ) from None


def build_private_key(seed: bytes) -> PrivateKey:
    """The Ed25519 key of 32 bytes that nobody else knows."""
    return _wrap(Ed25519PrivateKey.from_private_bytes(seed))


def render_private_key(key: PrivateKey) -> bytes:
    """PKCS#8 in PEM, unencrypted."""
    return key._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def parse_private_key(data: bytes) -> PrivateKey:
    """A private key. Raises: KeyRefusedError for another kind, another form, or anything beside it."""
    label = _LABEL.match(data)
    if label is None or len(data) > MAX_KEY_BYTES:
        raise KeyRefusedError("there is no private key in PEM in it", _NEW)
    if label[1] in _OTHER_PRIVATE:
        raise KeyRefusedError(*_OTHER_PRIVATE[label[1]])
    if label[1] != b"PRIVATE KEY":
        raise KeyRefusedError("there is PEM in it, and no private key", _NEW)
    try:
        key = load_pem_private_key(data, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyRefusedError("the private key is damaged, or of a kind that isn't known", _NEW) from None
    if not isinstance(key, Ed25519PrivateKey | EllipticCurvePrivateKey):
        raise KeyRefusedError(f"this is another kind of key, and {_ONLY}", _NEW)
    if isinstance(key, EllipticCurvePrivateKey) and not isinstance(key.curve, SECP256R1):
        raise KeyRefusedError(f"the key's curve is {key.curve.name}, and {_ONLY}", _NEW)
    wrapped = _wrap(key)
    if not _is_written_as(data, render_private_key(wrapped)):
        raise KeyRefusedError(
            "the private key has another form than OpenSSL gives it, or something beside it", _REWRITE
        )
    return wrapped


def parse_public_key(text: str) -> PublicKey:
    """A public key. Raises: KeyRefusedError for another kind, another form, or anything beside it."""
    data = text.encode("utf-8", "replace")
    fix = "write what this prints: openssl pkey -pubout -in KEY"
    label = _LABEL.match(data)
    if label is None or len(data) > MAX_KEY_BYTES:
        raise KeyRefusedError("there is no public key in PEM", fix)
    if label[1] != b"PUBLIC KEY":
        private = b"PRIVATE KEY" in label[1]
        raise KeyRefusedError("this is a private key" if private else "there is PEM, and no public key in SPKI", fix)
    try:
        key = load_pem_public_key(data)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyRefusedError("the public key is damaged, or of a kind that isn't known", fix) from None
    if not isinstance(key, Ed25519PublicKey | EllipticCurvePublicKey):
        raise KeyRefusedError(f"this is another kind of key, and {_ONLY}", fix)
    if isinstance(key, EllipticCurvePublicKey) and not isinstance(key.curve, SECP256R1):
        raise KeyRefusedError(f"the key's curve is {key.curve.name}, and {_ONLY}", fix)
    wrapped = _wrap_public(key)
    if not _is_written_as(data, wrapped.pem.encode()):
        raise KeyRefusedError("the public key has another form than OpenSSL gives it, or something beside it", fix)
    return wrapped


def _is_written_as(data: bytes, form: bytes) -> bool:
    """Whether a text is the one form of its key. An editor may have taken its last line's end."""
    return data in (form, form.removesuffix(b"\n"))


def _wrap(key: Ed25519PrivateKey | EllipticCurvePrivateKey) -> PrivateKey:
    return PrivateKey(public=_wrap_public(key.public_key()), _key=key)


def _wrap_public(key: Ed25519PublicKey | EllipticCurvePublicKey) -> PublicKey:
    der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    algorithm: Algorithm = "Ed25519" if isinstance(key, Ed25519PublicKey) else "ECDSA P-256"
    return PublicKey(id=hashlib.sha256(der).hexdigest(), algorithm=algorithm, pem=pem, _key=key)
