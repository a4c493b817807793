"""The lock (`poolwright.lock`): exact versions, immutable references and kept bounds, each with its reason.

`poolwright pin` writes it and everything else reads it. Without one nothing is pinned, and all else works.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from poolwright.specs.document import parse_documents
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.model import ApiVersion, Model, VersionText, decode_custom
from poolwright.specs.place import Place
from poolwright.specs.scalar import DigestText, ImageReference, OneLine, Semver, UnitName
from poolwright.specs.version import parse_version

LOCK_FILE: Final = "poolwright.lock"
TOOL_VERSION: Final = "0.1.0"  # of this release
RENDER_FORMAT: Final = 1  # what decides rendered bytes beside the specs; a new number may restart every model
_RULE: Final = "poolwright.dev/v1alpha1"
_RESTORE: Final = "restore it from Git, or run poolwright pin"


class Choice(Model, frozen=True, kw_only=True):
    """An exact version, and why it is this one."""

    version: Annotated[VersionText, Meta(description="The exact version.")]
    reason: Annotated[OneLine, Meta(description="Why it is this one.")]
    source: Annotated[OneLine | None, Meta(description="The row of the facts, or the file, that says so.")] = None


class ChartChoice(Model, frozen=True, kw_only=True):
    """A Helm chart at one version."""

    repository: Annotated[OneLine, Meta(description="Where the chart is, as Argo CD has it.")]
    version: Annotated[OneLine, Meta(description="The exact version, as the repository spells it.")]
    digest: Annotated[
        DigestText | None, Meta(description="Of the chart's archive or manifest; only if its registry gave it.")
    ] = None
    crds: Annotated[tuple[OneLine, ...], Meta(description="The CRDs that come with it, by name.")] = ()
    reason: Annotated[OneLine, Meta(description="Why it is this one.")]
    source: Annotated[OneLine | None, Meta(description="The row of the facts that says so.")] = None


class ImageChoice(Model, frozen=True, kw_only=True):
    """An image that the cluster runs."""

    image: Annotated[ImageReference, Meta(description="Repository and tag.")]
    digest: Annotated[
        DigestText | None, Meta(description="Only if the stack says it, or a registry gave it; it is never made up.")
    ] = None
    by: Annotated[
        Literal["stack", "registry"] | None, Meta(description="Who gave the digest; none: there is no digest.")
    ] = None
    reason: Annotated[OneLine, Meta(description="Why it is this one.")]
    source: Annotated[OneLine | None, Meta(description="The row of the facts that says so.")] = None


class StackLock(Model, frozen=True, kw_only=True):
    """What a stack resolves to."""

    kubernetes: Annotated[Choice, Meta(description="Kubernetes.")]
    gpu_operator: Annotated[Choice | None, Meta(description="NVIDIA's GPU Operator.")] = None
    dra_drivers: Annotated[dict[UnitName, Choice], Meta(description="The DRA drivers, by package.")]
    gpu_driver: Annotated[Choice | None, Meta(description="The kernel driver of NVIDIA GPUs.")] = None
    container_runtime: Annotated[Choice | None, Meta(description="The container runtime of the nodes.")] = None
    container_toolkit: Annotated[Choice | None, Meta(description="NVIDIA's container toolkit.")] = None
    charts: Annotated[dict[UnitName, ChartChoice], Meta(description="The charts that are installed, by name.")] = (
        msgspec.field(default_factory=dict)
    )
    images: Annotated[
        dict[UnitName, ImageChoice], Meta(description="Serving images by name, and drivers that a chart installs.")
    ] = msgspec.field(default_factory=dict)


class BoundChoice(Model, frozen=True, kw_only=True):
    """The memory that a unit's claim asks of each device."""

    bound: Annotated[
        str,
        Meta(
            pattern="^[1-9][0-9]{0,9}(Mi|Gi)$(?!\\n)",
            description="Whole Mi or Gi. It counts while the price is within it, so that no claim is renamed.",
            extra_json_schema={"format": "quantity", "examples": ["79Gi"]},
        ),
    ]
    envelope: Annotated[OneLine, Meta(description="NAME@VERSION that it was priced for; it is kept for no other.")]
    reason: Annotated[OneLine, Meta(description="Why it is this one.")]


class PricingChoice(Model, frozen=True, kw_only=True):
    """The amounts of memory that prices rest on."""

    set: Annotated[DigestText, Meta(description="Digest of the table of what engines take.")]
    reason: Annotated[OneLine, Meta(description="Why it is this one.")]


class FormatChoice(Model, frozen=True, kw_only=True):
    """The render format."""

    version: Annotated[int, Meta(ge=1, le=65535, description="What decides rendered bytes beside the specs.")]
    reason: Annotated[OneLine, Meta(description="Why it is this one.")]


class Lock(Model, frozen=True, kw_only=True):
    """What `poolwright pin` decided."""

    api_version: Annotated[ApiVersion, Meta(description="Version of the format.")]
    kind: Annotated[Literal["Lock"], Meta(description="The kind of document.")]
    min_poolwright: Annotated[Semver, Meta(description="The oldest release that reads this lock as it is meant.")]
    render_format: Annotated[FormatChoice, Meta(description="The render format.")]
    pricing: Annotated[PricingChoice, Meta(description="The amounts that prices rest on.")]
    stacks: Annotated[dict[UnitName, StackLock], Meta(description="What each stack resolves to, by name.")]
    memory_bounds: Annotated[
        dict[OneLine, BoundChoice], Meta(description="The memory that claims ask for, by CLUSTER/UNIT.")
    ] = msgspec.field(default_factory=dict)


class LockFile(msgspec.Struct, frozen=True):
    """A lock and its text: where a field stands is looked up only where it must be said."""

    value: Lock
    text: bytes

    def place(self, *path: str | int) -> Place:
        """Where the field at path stands, or its nearest parent."""
        return parse_documents(self.text, LOCK_FILE)[0].place(path)


def render_lock(lock: Lock) -> bytes:
    """The lock's text: JSON, keys sorted, two spaces; what a reader of YAML takes as well."""
    return msgspec.json.format(msgspec.json.encode(lock, order="sorted", enc_hook=str), indent=2) + b"\n"


def parse_lock(text: bytes) -> LockFile:
    """The lock of a project. What `render_lock` wrote is read quickly; what was edited, strictly and with places.

    Raises: SpecError with everything that is wrong with it, or that a newer release wrote it.
    """
    try:
        found = msgspec.json.decode(text, type=Lock, dec_hook=decode_custom)
    except msgspec.DecodeError:
        found = None
    if found is None or render_lock(found) != text:
        found = _parse_strictly(text)
    file = LockFile(found, text)
    if problems := [*_check_newer(found), *_check_digests(file)]:
        raise SpecError(problems)
    return file


def _check_newer(lock: Lock) -> Iterator[Finding]:
    fix = f"install poolwright {lock.min_poolwright} or later"
    if parse_version(lock.min_poolwright) > parse_version(TOOL_VERSION):
        yield _refuse(Place(LOCK_FILE), f"it was written for poolwright {lock.min_poolwright} or later", fix)
    elif lock.render_format.version != RENDER_FORMAT:
        yield _refuse(Place(LOCK_FILE), f"render format {lock.render_format.version} isn't known here", fix)


def _check_digests(file: LockFile) -> Iterator[Finding]:
    """A digest that nobody gave, and somebody who gave none: whose it is decides when it is kept."""
    for stack, part in file.value.stacks.items():
        for name, image in part.images.items():
            if (image.digest is None) != (image.by is None):
                what = f"image {name} has " + (
                    "a digest, and not by whom" if image.digest else "no digest, and by whom"
                )
                yield _refuse(file.place("stacks", stack, "images", name), what, _RESTORE)


def _parse_strictly(text: bytes) -> Lock:
    documents = parse_documents(text, LOCK_FILE)
    if len(documents) != 1:
        raise SpecError(
            [_refuse(Place(LOCK_FILE), f"it holds {len(documents)} documents, and a lock is one", _RESTORE)]
        )
    (document,) = documents
    try:
        return msgspec.convert(document.value, Lock, dec_hook=decode_custom)
    except msgspec.ValidationError as error:
        from poolwright.specs.shape import check_shape  # here: it takes longer to load than a unit to render

        findings = check_shape(document, "Lock")
        if not findings:
            raise AssertionError(f"{LOCK_FILE}: the reader refuses what the schema takes: {error}") from error
        raise SpecError(findings) from None


def _refuse(place: Place, what: str, fix: str) -> Finding:
    return Finding(
        code="lock-unreadable",
        severity="error",
        place=place,
        what=what,
        why="exact versions and the memory that claims ask for are read from it",
        rule=_RULE,
        fix=fix,
    )
