"""A closure's folder on disk: finished objects factored into base, whole per-cluster objects and decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from poolwright.catalog.closure import (
    PLATFORM_UNIT,
    BaseClosure,
    Closure,
    PlatformClosure,
    UnitClosure,
    digest_closure,
)
from poolwright.objects.envelope import build_envelope
from poolwright.objects.kubernetes import Object, identify
from poolwright.objects.unit import build_objects
from poolwright.trees.factor import build_patch
from poolwright.trees.folder import Folder
from poolwright.trees.yaml_text import render_object, render_objects

KUSTOMIZATION: Final = "kustomization.yaml"
DECISIONS: Final = "decisions"
_HEADER: Final = b"# Written by poolwright render; change the specs instead.\n"


def build_folder(closure: Closure) -> Folder:
    """The folder of a base, platform unit or placement: every file but the manifest.

    Raises: ValueError if the objects can't be factored: then the renderer is wrong.
    """
    unit = unit_name(closure)
    return Folder(
        path=f"overlays/{unit}",
        files=_build_files(closure),
        unit=unit,
        closure=digest_closure(closure),
        render_format=closure.render_format,
    )


def _build_files(closure: Closure) -> dict[str, bytes]:
    objects = build_objects(closure)
    match closure:
        case BaseClosure():
            resources = [_file_name(document) for document in objects]
            return {**_render_whole(objects), KUSTOMIZATION: _render_kustomization(resources)}
        case PlatformClosure():
            return _build_platform(objects)
        case UnitClosure():
            return _build_unit(objects, closure)


def unit_name(closure: Closure) -> str:
    """What a folder is called below overlays/: CLUSTER/UNIT, or base/ENVELOPE/VERSION."""
    match closure:
        case BaseClosure(envelope=envelope):
            return f"base/{envelope.name}/{envelope.version}"
        case PlatformClosure(on=on):
            return f"{on.cluster}/{PLATFORM_UNIT}"
        case UnitClosure(on=on, unit=unit):
            return f"{on.cluster}/{unit}"


def unit_base(closure: UnitClosure) -> str:
    """What the folder of a unit's base is called below overlays/."""
    return f"base/{closure.envelope.name}/{closure.envelope.version}"


def _build_platform(objects: Sequence[Object]) -> dict[str, bytes]:
    """One file per kind: a cluster has a handful of namespaces and classes, and they are read side by side."""
    files: dict[str, list[Object]] = {}
    for document in objects:
        files.setdefault(_PLATFORM_FILES[document["kind"]], []).append(document)
    return {
        **{name: _HEADER + render_objects(documents) for name, documents in files.items()},
        KUSTOMIZATION: _render_kustomization(list(files)),
    }


_PLATFORM_FILES: Final = {"Namespace": "namespaces.yaml", "DeviceClass": "deviceclasses.yaml"}


def _build_unit(objects: Sequence[Object], closure: UnitClosure) -> dict[str, bytes]:
    base = build_envelope(closure.envelope)
    whole, decided = objects[: len(objects) - len(base)], objects[len(objects) - len(base) :]
    patches = [
        (before, patch) for before, after in zip(base, decided, strict=True) if (patch := build_patch(before, after))
    ]
    resources = [*(_file_name(document) for document in whole), f"../../{unit_base(closure)}"]
    return {
        **_render_whole(whole),
        **{f"{DECISIONS}/{_file_name(before)}": _HEADER + render_object(patch) for before, patch in patches},
        f"{DECISIONS}/{KUSTOMIZATION}": _render_decisions(patches, closure),
        KUSTOMIZATION: _render_kustomization(resources, components=[DECISIONS]),
    }


def _render_kustomization(resources: Sequence[str], components: Sequence[str] = ()) -> bytes:
    """`fifo`: what is applied first is listed first, also for plain `kubectl apply -k`."""
    kustomization: Object = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "sortOptions": {"order": "fifo"},
        "resources": list(resources),
    }
    if components:
        kustomization["components"] = list(components)
    return _HEADER + render_object(kustomization)


def _render_decisions(patches: Sequence[tuple[Object, Object]], closure: UnitClosure) -> bytes:
    entries = []
    for before, patch in patches:
        entry: Object = {"path": _file_name(before)}
        kind, namespace, name = identify(before)
        if patch["metadata"]["name"] != name:
            # A unit that isn't called like its envelope: the patch finds the base's object, then renames it.
            entry["target"] = {"kind": kind, "name": name, "namespace": namespace}
            entry["options"] = {"allowNameChange": True}
        entries.append(entry)
    component: Object = {
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "patches": entries,
        "images": [_image_entry(closure)],
    }
    return _HEADER + render_object(component)


def _image_entry(closure: UnitClosure) -> Mapping[str, str]:
    """Kustomize's `images` entry that puts the stack's image in the place of the base's name for it."""
    engine = closure.envelope.spec.engine
    reference, _, digest = closure.image.partition("@")
    repository, colon, tag = reference.rpartition(":")
    if not colon or "/" in tag:  # the colon of a registry's port
        repository, tag = reference, ""
    entry = {"name": engine.image_name or engine.type, "newName": repository}
    if tag:
        entry["newTag"] = tag
    if digest:
        entry["digest"] = digest
    return entry


def _render_whole(objects: Sequence[Object]) -> dict[str, bytes]:
    return {_file_name(document): _HEADER + render_object(document) for document in objects}


def _file_name(document: Object) -> str:
    return f"{document['kind'].lower()}.yaml"
