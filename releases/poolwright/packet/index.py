"""`packet.json`: the index of a release packet. The SHA-256 of its bytes is the packet's digest.

It names every other file by digest, so who signs it signs them all. `parse_index` reads it strictly, for whoever hands
a packet over may not be who made it.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from poolwright.specs.canonical import canonical_json
from poolwright.specs.digest import Digest, digest_bytes
from poolwright.specs.json_document import Part
from poolwright.specs.model import API_VERSION, ApiVersion
from poolwright.specs.scalar import ReleaseName

KIND: Final = "Packet"
RELEASES: Final = "releases"  # of a project: a folder for each release
INDEX: Final = "packet.json"
SUMS: Final = "SHA256SUMS"
ATTESTATIONS: Final = "attestations"
MAX_INDEX_BYTES: Final = 16 << 20
MAX_FILE_BYTES: Final = 256 << 20
MAX_FILES: Final = 100_000
MAX_PATH: Final = 1024
MAX_SEQUENCE: Final = 2**53 - 1
_MAX_SAID: Final = 200

Role = Literal[
    "manifests",
    "verdicts",
    "receipts",
    "prices",
    "thresholds",
    "ledger",
    "matrix",
    "evidence",
    "changes",
    "changelog",
    "drills",
    "lineage",
    "dashboards",
    "report",
]
Sha256 = Annotated[str, Meta(pattern="^sha256:[0-9a-f]{64}$")]
Commit = Annotated[str, Meta(pattern="^(?:[0-9a-f]{40}|[0-9a-f]{64})$")]
Count = Annotated[int, Meta(ge=0, le=MAX_SEQUENCE)]


class Previous(Part, frozen=True, kw_only=True):
    """The release before."""

    name: Annotated[ReleaseName, Meta(description="Its name.")]
    digest: Annotated[Sha256, Meta(description="Its packet's digest.")]


class Source(Part, frozen=True, kw_only=True):
    """What the packet is made from."""

    git_commit: Annotated[Commit, Meta(description="The whole commit id.")]
    project_path: Annotated[str, Meta(description="The project's folder in the repository; `.`: its root.")]


class Tool(Part, frozen=True, kw_only=True):
    """What made it."""

    poolwright: Annotated[str, Meta(description="Version of Poolwright.")]
    render_format: Annotated[int, Meta(description="The render format that the lock fixes.", ge=1)]
    kustomize: Annotated[str | None, Meta(description="Version of Kustomize; null: no unit needed it.")]


class Input(Part, frozen=True, kw_only=True):
    """A file of the project, as it is in the commit."""

    path: Annotated[str, Meta(description="Relative to the project.")]
    sha256: Annotated[Sha256, Meta(description="Of its bytes; of a link, of where it points.")]


class PacketFile(Part, frozen=True, kw_only=True):
    """A file of the packet."""

    path: Annotated[str, Meta(description="Relative to the packet.", max_length=MAX_PATH)]
    size: Annotated[Count, Meta(description="In bytes.")]
    sha256: Annotated[Sha256, Meta(description="Of its bytes.")]
    role: Annotated[Role, Meta(description="What it is in the packet.")]
    cluster: Annotated[str | None, Meta(description="The cluster that it is of; null: of the project.")]
    unit: Annotated[str | None, Meta(description="The unit that it is of; null: of no single one.")]


class Absent(Part, frozen=True, kw_only=True):
    """A part that a packet can have and this one hasn't."""

    role: Annotated[Role, Meta(description="Which one.")]
    why: Annotated[str, Meta(description="A sentence.")]


class PacketWaiver(Part, frozen=True, kw_only=True):
    """A finding that would have stopped the release, and that somebody answers for."""

    rule: Annotated[str, Meta(description="The finding's code.")]
    file: Annotated[str, Meta(description="Where it stands, relative to the project.")]
    what: Annotated[str, Meta(description="What is wrong.")]
    reason: Annotated[str, Meta(description="Why it is accepted.")]
    owner: Annotated[str, Meta(description="Who answers for it.")]
    expires: Annotated[str, Meta(description="The last day on which it is accepted, YYYY-MM-DD.")]


class PacketIndex(Part, frozen=True, kw_only=True):
    """A release: what it is made from, and every file of it."""

    api_version: Annotated[ApiVersion, Meta(description="Version of this format.")]
    kind: Annotated[Literal["Packet"], Meta(description="What this document is.")]
    project: Annotated[str, Meta(description="Name of the Project.")]
    name: Annotated[ReleaseName, Meta(description="Name of the release.")]
    sequence: Annotated[
        int, Meta(description="One more than the release before; the first has 1.", ge=1, le=MAX_SEQUENCE)
    ]
    previous: Annotated[Previous | None, Meta(description="Null: it is the first.")]
    as_of: Annotated[str, Meta(description="The day that it is judged on.", pattern=r"^\d{4}-\d\d-\d\d$")]
    source: Annotated[Source, Meta(description="What it is made from.")]
    tool: Annotated[Tool, Meta(description="What made it.")]
    inputs: Annotated[tuple[Input, ...], Meta(description="The project's files, sorted by path.")]
    files: Annotated[
        tuple[PacketFile, ...],
        Meta(description="Every file but this one, SHA256SUMS and attestations; sorted by path.", max_length=MAX_FILES),
    ]
    absent: Annotated[tuple[Absent, ...], Meta(description="Parts that aren't there, sorted by role.")]
    waivers: Annotated[tuple[PacketWaiver, ...], Meta(description="What was waived, in the order of findings.")]


class PacketError(Exception):
    """A packet that is none, or isn't whole; the text is a sentence."""


def render_index(index: PacketIndex) -> bytes:
    """The document as canonical JSON and a line feed: equal indexes are equal bytes."""
    return canonical_json(msgspec.to_builtins(index)) + b"\n"


def name_packet(data: bytes) -> Digest:
    """The packet's digest. data: the bytes of its packet.json, whatever they are."""
    return digest_bytes(data)


def parse_index(data: bytes) -> PacketIndex:
    """An index that anybody may have made.

    Raises: PacketError if it is none: too large, no JSON, another kind, an unknown or missing property, a wrong type,
            other bytes than `render_index` gives, files out of order, or a path that isn't below the packet.
    """
    if len(data) > MAX_INDEX_BYTES:
        raise PacketError(f"{INDEX} has {len(data):,} bytes, and {MAX_INDEX_BYTES:,} is the most")
    try:
        index = msgspec.json.decode(data, type=PacketIndex)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        what = str(error)
        said = what if len(what) <= _MAX_SAID else f"{what[:_MAX_SAID]}..."
        raise PacketError(f"{INDEX} is no {KIND} of {API_VERSION}: {said}") from None
    for problem in _find_problems(index):
        raise PacketError(f"{INDEX}: {problem}")
    if render_index(index) != data:
        raise PacketError(f"{INDEX} isn't canonical JSON: the same index has other bytes")
    return index


def is_packet_path(path: str) -> bool:
    """Whether a path stays below the packet on every system, and is none that the index may not name.

    Letters, digits and `._@+-` between slashes; no part is `.` or `..`, begins with a point, or is empty.
    """
    first = path.partition("/")[0]
    return len(path) <= MAX_PATH and _PATH.fullmatch(path) is not None and first not in (INDEX, SUMS, ATTESTATIONS)


_PATH: Final = re.compile(r"[A-Za-z0-9_@+-][A-Za-z0-9._@+-]*(?:/[A-Za-z0-9_@+-][A-Za-z0-9._@+-]*)*", re.ASCII)


def _find_problems(index: PacketIndex) -> Iterator[str]:
    try:
        dt.date.fromisoformat(index.as_of)
    except ValueError:
        yield f"{index.as_of} is no day"
    paths = [one.path for one in index.files]
    yield from (f"{path!a} is no path of a packet's file" for path in paths if not is_packet_path(path))
    if paths != sorted(set(paths)):
        yield "files aren't sorted by path, each once"
    inputs = [one.path for one in index.inputs]
    if inputs != sorted(set(inputs)):
        yield "inputs aren't sorted by path, each once"
    roles = [one.role for one in index.absent]
    if roles != sorted(set(roles)):
        yield "absent parts aren't sorted by role, each once"
    if there := sorted({*roles} & {one.role for one in index.files}):
        yield f"{', '.join(there)}: said to be absent, and there"
    if (index.sequence == 1) != (index.previous is None):
        yield "the first release has sequence 1 and no previous one, and every other has both"
