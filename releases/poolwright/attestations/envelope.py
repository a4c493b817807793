"""`attestations/<keyid>.dsse.json`: a statement and one signature of it, as DSSE v1 has them.

The signature is over the type and the payload, framed, so that neither can be taken for another; see
https://github.com/secure-systems-lab/dsse/blob/master/protocol.md. A file holds the signature of one key and bears that
key's id, so that signers need not wait for each other; DSSE itself allows several.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from poolwright.attestations.keys import PrivateKey
from poolwright.attestations.statement import AttestationError, build_statement, cut_error, render_statement
from poolwright.packet.index import PacketIndex
from poolwright.specs.canonical import canonical_json
from poolwright.specs.digest import Digest

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
SUFFIX: Final = ".dsse.json"
MAX_ENVELOPE_BYTES: Final = 64 << 10
MAX_ENVELOPES: Final = 128  # twice as many as any threshold asks for
_NAME: Final = re.compile(r"[0-9a-f]{64}\.dsse\.json", re.ASCII)


class _Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    keyid: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    sig: str


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    payload: str
    payload_type: Literal["application/vnd.in-toto+json"]
    signatures: Annotated[tuple[_Signature, ...], Meta(min_length=1, max_length=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What a key is said to have signed. Neither is believed yet."""

    key_id: str  # a claim: whoever verifies takes the key of that id, and its own id is computed
    payload: bytes
    signature: bytes

    @property
    def signed(self) -> bytes:
        """The bytes that the signature is over."""
        return frame(PAYLOAD_TYPE, self.payload)


def frame(payload_type: str, payload: bytes) -> bytes:
    """DSSE's pre-authentication encoding."""
    name = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(name), name, len(payload), payload)


def attest(index: PacketIndex, digest: Digest, key: PrivateKey) -> Envelope:
    """A key's statement about a packet.

    digest: of the bytes of its packet.json.
    Raises: AttestationError if that is too long; KeyRefusedError as `PrivateKey.sign`.
    """
    payload = render_statement(build_statement(index, digest))
    signature = key.sign(frame(PAYLOAD_TYPE, payload))
    envelope = Envelope(key_id=key.public.id, payload=payload, signature=signature)
    if len(render_envelope(envelope)) > MAX_ENVELOPE_BYTES:
        raise AttestationError(
            f"the names in it are so long that an attestation would have over {MAX_ENVELOPE_BYTES:,} bytes"
        )
    return envelope


def name_envelope(key_id: str) -> str:
    """The name of its file in `attestations/`."""
    return key_id + SUFFIX


def is_envelope_name(name: str) -> bool:
    """Whether a file of `attestations/` can be one."""
    return _NAME.fullmatch(name) is not None


def render_envelope(envelope: Envelope) -> bytes:
    """The file: canonical JSON and a line feed. Equal envelopes are equal bytes."""
    document: dict[str, Any] = {
        "payload": base64.b64encode(envelope.payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": envelope.key_id, "sig": base64.b64encode(envelope.signature).decode()}],
    }
    return canonical_json(document) + b"\n"


def parse_envelope(data: bytes) -> Envelope:
    """A file that anybody may have made.

    Raises: AttestationError if it is none: too large, no JSON, another type, no or several signatures, an unknown or
            missing property, or other bytes than `render_envelope` gives (spaces, a repeated property, other Base64).
    """
    if len(data) > MAX_ENVELOPE_BYTES:
        raise AttestationError(f"it has {len(data):,} bytes, and {MAX_ENVELOPE_BYTES:,} is the most")
    try:
        document = msgspec.json.decode(data, type=_Document)
        (signature,) = document.signatures
        payload, sig = (base64.b64decode(text, validate=True) for text in (document.payload, signature.sig))
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise AttestationError(f"it is no DSSE envelope with one signature: {cut_error(error)}") from None
    except (binascii.Error, ValueError):
        raise AttestationError("its payload or signature isn't Base64") from None
    envelope = Envelope(key_id=signature.keyid, payload=payload, signature=sig)
    if render_envelope(envelope) != data:
        raise AttestationError("it isn't canonical JSON and a line feed: the same envelope has other bytes")
    return envelope
