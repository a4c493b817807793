"""Whether a reference to an image, chart or Git revision always means the same bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from poolwright.rules.placed import Field
from poolwright.rules.pod import Pod
from poolwright.specs.finding import Finding
from poolwright.specs.version import parse_version

ReferenceKind = Literal["image", "chart", "git"]
Pinning = Literal[
    "pinned",  # by digest or commit: the same bytes for ever
    "versionOnly",  # by a name that stands for one version, and that its owner can still move
    "floating",  # by a name that is meant to move, a range, or no name
]

_DIGEST: Final = r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}"
_COMMIT: Final = r"[0-9a-f]{40}|[0-9a-f]{64}"
_MOVING: Final = frozenset(
    (
        *("canary", "current", "dev", "devel", "develop", "edge", "head", "latest", "main", "master", "nightly"),
        *("preview", "rolling", "snapshot", "stable", "tip"),
    )
)


def classify_reference(kind: ReferenceKind, text: str) -> Pinning:
    """How much a reference holds still.

    text: of an image the whole reference; of a chart or of Git the revision alone (`targetRevision`), which may be
          empty.
    """
    match kind:
        case "image":
            return _classify_image(text)
        case "chart":
            return _classify_chart(text)
        case "git":
            return _classify_git(text)


def check_images(pod: Pod) -> Iterator[Finding]:
    """A warning for each image of a pod that is meant to move."""
    for container in pod.containers:
        yield from _check_image(container.field.get("image"))
    for volume in pod.spec.get("volumes").list_items():
        yield from _check_image(volume.get("image", "reference"))


def _classify_image(text: str) -> Pinning:
    name, at, digest = text.partition("@")
    if at:
        return "pinned" if re.fullmatch(_DIGEST, digest) else "floating"
    _, colon, tag = name.rpartition("/")[2].partition(":")
    return _classify_tag(tag) if colon else "floating"


def _classify_tag(tag: str) -> Pinning:
    """A tag holds still if it names a version of at least two numbers, a commit or a date."""
    words = re.split(r"[-_+.]", tag.lower())
    if any(re.fullmatch(r"(?=.*[0-9])[0-9a-f]{7,64}", word) for word in words):
        return "versionOnly"
    if not _MOVING.isdisjoint(words):
        return "floating"
    return "versionOnly" if re.search(r"(?:^|[-_+])v?[0-9]+\.[0-9]+", tag) else "floating"


def _classify_chart(revision: str) -> Pinning:
    if re.fullmatch(_DIGEST, revision):
        return "pinned"
    try:
        parse_version(revision)
    except ValueError:
        return "floating"  # a range, a word, or nothing
    return "versionOnly" if re.match(r"v?[0-9]+\.[0-9]+\.[0-9]+", revision) else "floating"


def _classify_git(revision: str) -> Pinning:
    if re.fullmatch(_COMMIT, revision):
        return "pinned"
    if revision.startswith("refs/tags/") or re.fullmatch(r"(?=.*[0-9])[0-9a-f]{7,39}", revision):
        return "versionOnly"
    return (
        "versionOnly"
        if re.fullmatch(r"v?[0-9]+\.[0-9]+(?:\.[0-9]+)?(?:[-+][0-9A-Za-z.+-]+)?", revision)
        else "floating"
    )


def _check_image(image: Field) -> Iterator[Finding]:
    if image.text and classify_reference("image", image.text) == "floating":
        yield Finding(
            code="image-floating",
            severity="warning",
            place=image.place,
            what=f'image "{image.text}" names no version that holds still',
            why="two pods of one workload may run different bytes, and a restart can change what is served",
            rule="poolwright release design",
            fix="name the version, or better its digest: name:version@sha256:...",
        )
