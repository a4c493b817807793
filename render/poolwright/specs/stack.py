"""The Stack: the versions that one cluster runs."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from poolwright.specs.model import Metadata, Model, SpecModel, VersionRangeText
from poolwright.specs.scalar import ImageReference, UnitName


class StackMetadata(Metadata, frozen=True, kw_only=True):
    """The Stack's identity."""

    name: Annotated[UnitName, Meta(description="Name of the stack, unique in the project.")]


class Kubernetes(Model, frozen=True, kw_only=True):
    """The Kubernetes that the cluster runs."""

    version: Annotated[
        VersionRangeText,
        Meta(description="Version or range within one minor release, quoted; decides which API versions are rendered."),
    ]


class ServingImage(Model, frozen=True, kw_only=True):
    """A serving engine's image."""

    name: Annotated[UnitName, Meta(description="What envelopes call the image (engine.imageName).")]
    image: Annotated[ImageReference, Meta(description="The image, with a tag, a digest or both; set by every overlay.")]


class StackSpec(Model, frozen=True, kw_only=True):
    """What the Stack says."""

    kubernetes: Annotated[Kubernetes, Meta(description="The cluster's Kubernetes.")]
    serving_images: Annotated[
        tuple[ServingImage, ...],
        Meta(
            min_length=1, description="Serving images, keyed by name, so that a bump is one line for the whole cluster."
        ),
    ]


class Stack(SpecModel, frozen=True, kw_only=True):
    """The versions of one cluster: Kubernetes and the serving images."""

    kind: Annotated[Literal["Stack"], Meta(description="The kind of spec.")]
    metadata: Annotated[StackMetadata, Meta(description="The spec's identity.")]
    spec: Annotated[StackSpec, Meta(description="What the Stack says.")]
