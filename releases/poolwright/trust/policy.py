"""The trust file (`kind: TrustPolicy`): whose releases count, and what Argo CD projects may have rendered.

It stands outside every repository that it judges.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from poolwright.specs.document import Document, parse_documents
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.model import ApiVersion, Model
from poolwright.specs.place import FieldPath, Place
from poolwright.specs.scalar import FORMATS, DnsSubdomain, KeyId, NameOrAll, OneLine, PublicKey, UnitName

KIND: Final = "TrustPolicy"
ALL: Final = "*"
Delivered = Literal["committed", "plugin", "packet"]
_RULE: Final = "poolwright.dev/v1alpha1"
_PEM: Final = re.compile(
    "-----BEGIN PUBLIC KEY-----\n(?:[A-Za-z0-9+/=]{1,76}\n){1,16}-----END PUBLIC KEY-----\n?", re.ASCII
)


class TrustedKey(Model, frozen=True, kw_only=True):
    """A key that may sign releases."""

    name: Annotated[OneLine, Meta(description="Whose it is; unique in the project. It proves nothing.")]
    public_key: Annotated[PublicKey, Meta(description="The public key: Ed25519, or ECDSA with P-256.")]


class TrustedProject(Model, frozen=True, kw_only=True):
    """Whose signatures a project's releases need."""

    name: Annotated[UnitName, Meta(description="The Project, as its poolwright.yaml calls it.")]
    threshold: Annotated[int, Meta(ge=1, le=64, description="How many of the keys have to sign.")] = 1
    min_sequence: Annotated[int, Meta(ge=0, description="The oldest release that is taken, by its sequence.")] = 0
    keys: Annotated[tuple[TrustedKey, ...], Meta(min_length=1, description="The keys, by name.")]
    revoked: Annotated[tuple[KeyId, ...], Meta(description="Keys that count no more, by id.")] = ()


class Allowed(Model, frozen=True, kw_only=True):
    """What Applications of an Argo CD project may have rendered."""

    argocd_project: Annotated[DnsSubdomain, Meta(description="The AppProject's name.")]
    clusters: Annotated[tuple[NameOrAll, ...], Meta(min_length=1, description="The clusters, or `*`.")]
    units: Annotated[
        tuple[NameOrAll, ...], Meta(min_length=1, description="Placements and `platform`, or `*` for both.")
    ]
    deliveries: Annotated[
        tuple[Delivered, ...],
        Meta(min_length=1, description="How the Project may deliver these clusters: committed, plugin, packet."),
    ]


class TrustPolicy(Model, frozen=True, kw_only=True):
    """What somebody outside of the repositories decided: whose releases count, and who may have what rendered."""

    api_version: Annotated[ApiVersion, Meta(description="Version of the format.")]
    kind: Annotated[Literal["TrustPolicy"], Meta(description="The kind of document.")]
    projects: Annotated[tuple[TrustedProject, ...], Meta(description="Projects whose releases are verified.")] = ()
    allow: Annotated[
        tuple[Allowed, ...],
        Meta(description="What the plugin renders; several entries of one AppProject add up. None: nothing."),
    ] = ()


def parse_trust(text: bytes, file: str) -> TrustPolicy:
    """The one document of a trust file.

    file:   what findings call it.
    Raises: SpecError with everything that is wrong with it.
    """
    documents = parse_documents(text, file)
    if len(documents) != 1:
        raise SpecError([_not_one(file, len(documents))])
    (document,) = documents
    try:
        policy = msgspec.convert(document.value, TrustPolicy)
    except msgspec.ValidationError:
        from poolwright.specs.shape import check_against  # as in specs.parse: only what is wrong needs it
        from poolwright.trust.schema import trust_schema

        findings = check_against(document, trust_schema())
        if not findings:
            raise
        raise SpecError(findings) from None
    problems = [
        *_check_names(policy, document),
        *_check_thresholds(policy, document),
        *_check_keys(policy, document),
    ]
    if problems:
        raise SpecError(problems)
    return policy


def _check_names(policy: TrustPolicy, document: Document) -> Iterable[Finding]:
    yield from _check_unique([project.name for project in policy.projects], ("projects",), document)
    for index, project in enumerate(policy.projects):
        yield from _check_unique([key.name for key in project.keys], ("projects", index, "keys"), document)
        yield from _check_unique([_body(key) for key in project.keys], ("projects", index, "keys"), document, key=True)


def _check_unique(names: list[str], at: FieldPath, document: Document, *, key: bool = False) -> Iterable[Finding]:
    for index, name in enumerate(names):
        if name in names[:index]:
            yield Finding(
                code="duplicate-name",
                severity="error",
                place=document.place((*at, index, "publicKey" if key else "name")),
                what="two entries have the same public key" if key else f'two entries are called "{name}"',
                why="one person would count as two" if key else "a name stands for one entry",
                rule=_RULE,
                fix="remove one of them",
            )


def _check_thresholds(policy: TrustPolicy, document: Document) -> Iterable[Finding]:
    for index, project in enumerate(policy.projects):
        if project.threshold > len(project.keys):
            yield Finding(
                code="out-of-range",
                severity="error",
                place=document.place(("projects", index, "threshold")),
                what=f"{project.threshold} signatures are asked for, and there are {len(project.keys)} keys",
                why="no release could be verified",
                rule=_RULE,
                fix=f"write {len(project.keys)} or less, or add keys",
            )


def _check_keys(policy: TrustPolicy, document: Document) -> Iterable[Finding]:
    """Keys that aren't public ones in PEM. What stands there isn't repeated: it may be a secret."""
    for index, project in enumerate(policy.projects):
        for number, key in enumerate(project.keys):
            if not _PEM.fullmatch(key.public_key):
                private = "PRIVATE KEY" in key.public_key
                yield Finding(
                    code="invalid-value",
                    severity="error",
                    place=document.place(("projects", index, "keys", number, "publicKey")),
                    what=f'the public key "{key.name}" is ' + ("a private one" if private else "not in PEM"),
                    why=f"it must be {FORMATS['public-key'].what}",
                    rule=_RULE,
                    fix="make a new pair, for this one has been seen, and write its public key"
                    if private
                    else "write the lines of the file as a block after |",
                )


def _body(key: TrustedKey) -> str:
    return "".join(key.public_key.splitlines()[1:-1])


def _not_one(file: str, count: int) -> Finding:
    return Finding(
        code="not-a-spec",
        severity="error",
        place=Place(file),
        what="the trust file is empty" if not count else f"the trust file has {count} documents",
        why="who is trusted stands in one document",
        rule=_RULE,
        fix=f"write one document of kind {KIND}",
    )
