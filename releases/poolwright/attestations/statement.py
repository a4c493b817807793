"""What is signed of a packet: an in-toto Statement (v1) about the bytes of its packet.json."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from poolwright.packet.index import INDEX, Count, PacketIndex, Previous
from poolwright.specs.canonical import canonical_json
from poolwright.specs.digest import Digest
from poolwright.specs.json_document import Part
from poolwright.specs.scalar import ReleaseName

TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "https://poolwright.dev/release/v1alpha1"
_PREFIX: Final = "sha256:"
_MAX_SAID: Final = 200


class AttestationError(Exception):
    """An attestation that is none; the text is a sentence."""


class SubjectDigest(Part, frozen=True, kw_only=True):
    """Digests of the subject's bytes: this one."""

    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Subject(Part, frozen=True, kw_only=True):
    """What the statement is about: the file that names every other one."""

    name: Literal["packet.json"]
    digest: SubjectDigest


class Predicate(Part, frozen=True, kw_only=True):
    """The release, as packet.json calls it: whoever reads an attestation alone sees of what it is."""

    project: str
    name: ReleaseName
    sequence: Count
    previous: Previous | None


class Statement(Part, frozen=True, kw_only=True):
    """The statement, without a time: whoever signs twice says the same twice."""

    type: Literal["https://in-toto.io/Statement/v1"] = msgspec.field(name="_type")
    subject: Annotated[tuple[Subject, ...], Meta(min_length=1, max_length=1)]
    predicate_type: Literal["https://poolwright.dev/release/v1alpha1"]
    predicate: Predicate

    @property
    def digest(self) -> Digest:
        """Of the packet that it is about."""
        return Digest(_PREFIX + self.subject[0].digest.sha256)


def build_statement(index: PacketIndex, digest: Digest) -> Statement:
    """The one statement about a packet. digest: of the bytes of its packet.json."""
    predicate = Predicate(project=index.project, name=index.name, sequence=index.sequence, previous=index.previous)
    subject = Subject(name=INDEX, digest=SubjectDigest(sha256=digest.removeprefix(_PREFIX)))
    return Statement(type=TYPE, subject=(subject,), predicate_type=PREDICATE_TYPE, predicate=predicate)


def render_statement(statement: Statement) -> bytes:
    """Canonical JSON: equal statements are equal bytes."""
    return canonical_json(msgspec.to_builtins(statement))


def parse_statement(data: bytes) -> Statement:
    """A statement that anybody may have made.

    Raises: AttestationError if it is none of ours: no JSON, another type or predicate, several subjects, an unknown or
            missing property, or other bytes than `render_statement` gives (a repeated property, 1.0 for 1).
    """
    try:
        statement = msgspec.json.decode(data, type=Statement)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise AttestationError(f"what is signed is no statement about a packet: {cut_error(error)}") from None
    if render_statement(statement) != data:
        raise AttestationError("what is signed isn't canonical JSON: the same statement has other bytes")
    return statement


def cut_error(error: Exception) -> str:
    """What a decoder says, in a sentence's length: it may repeat what it read."""
    what = str(error)
    return what if len(what) <= _MAX_SAID else f"{what[:_MAX_SAID]}..."
