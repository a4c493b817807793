"""The pods that objects make: found wherever a pod spec stands, whatever the kind around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from poolwright.rules.placed import Field, PlacedObject

RAW_GPU: Final = r"nvidia\.com/(?:gpu|gpu\.shared|mig-[a-z0-9.-]+)"  # what the device plugin offers
_GROUP_KIND: Final = "LeaderWorkerSet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container of a pod."""

    field: Field
    name: str
    is_main: bool  # not one of initContainers or ephemeralContainers

    @property
    def claims(self) -> tuple[Field, ...]:
        """What it uses of its pod's claims: maps with name and, at most, request."""
        return self.field.get("resources", "claims").list_items()

    def resources(self) -> Iterator[tuple[str, Field]]:
        """The resources that it asks for with an amount above zero, by name; each once, its limit first."""
        seen = set()
        for key in ("limits", "requests"):
            for name, amount in self.field.get("resources", key).list_entries():
                if name not in seen and str(amount.value) not in ("0", ""):
                    seen.add(name)
                    yield name, amount


@dataclass(frozen=True, slots=True, kw_only=True)
class PodClaim:
    """An entry of a pod's resourceClaims."""

    name: str
    claim_name: Field
    template_name: Field
    field: Field


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """A pod, or what a workload makes pods from."""

    owner: PlacedObject
    spec: Field
    containers: tuple[Container, ...]
    claims: tuple[PodClaim, ...]
    group_size: int  # how many pods serve one replica together

    @property
    def replicas(self) -> int:
        """How many there are, as far as the object says; 1 where it doesn't."""
        spec = self.owner.root.get("spec")
        number = spec.get("replicas").number if spec.get("replicas").is_set else spec.get("parallelism").number
        return 1 if number is None else number

    def claim(self, name: str) -> PodClaim | None:
        """The claim that containers know by this name."""
        return next((claim for claim in self.claims if claim.name == name), None)


def find_pods(obj: PlacedObject) -> tuple[Pod, ...]:
    """Every pod spec in an object, in document order: any map with a list of containers that have names.

    By shape and not by kind, since pods stand in more kinds than can be listed.
    """
    if obj.kind == "CustomResourceDefinition":  # speaks of pods' fields, and makes none
        return ()
    return tuple(_build_pod(field) for field in _find_specs(obj.root))


def _find_specs(field: Field) -> Iterator[Field]:
    if isinstance(field.value, dict):
        containers = field.get("containers").list_items()
        if containers and all(container.get("name").text for container in containers):
            yield field
            return
        for _, below in field.list_entries():
            yield from _find_specs(below)
    elif isinstance(field.value, list):
        for below in field.list_items():
            yield from _find_specs(below)


def _build_pod(spec: Field) -> Pod:
    containers = tuple(
        Container(field=field, name=field.get("name").text, is_main=key == "containers")
        for key in ("containers", "initContainers", "ephemeralContainers")
        for field in spec.get(key).list_items()
    )
    claims = tuple(
        PodClaim(
            name=field.get("name").text,
            claim_name=field.get("resourceClaimName"),
            template_name=field.get("resourceClaimTemplateName"),
            field=field,
        )
        for field in spec.get("resourceClaims").list_items()
    )
    return Pod(owner=spec.owner, spec=spec, containers=containers, claims=claims, group_size=_group_size(spec.owner))


def _group_size(owner: PlacedObject) -> int:
    if owner.kind != _GROUP_KIND:
        return 1
    return owner.root.get("spec", "leaderWorkerTemplate", "size").number or 1
