"""A closure's folder on disk: finished objects factored into base, whole per-cluster objects and decisions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from poolwright.catalog.argocd_closure import ARGOCD_UNIT, ArgocdClosure
from poolwright.catalog.closure import (
    PLATFORM_UNIT,
    BaseClosure,
    Closure,
    EnvelopeClosure,
    PlatformClosure,
    UnitClosure,
    canonical_part,
    digest_closure,
)
from poolwright.objects.envelope import build_envelope
from poolwright.objects.kubernetes import Object, identify
from poolwright.objects.unit import UnitObjects, build_objects, build_unit
from poolwright.specs.canonical import Canonical
from poolwright.trees.argocd_folder import list_argocd_files
from poolwright.trees.factor import build_patch, is_merged
from poolwright.trees.folder import Folder
from poolwright.trees.json_patch import build_json_patch
from poolwright.trees.yaml_text import render_list, render_object, render_objects

KUSTOMIZATION: Final = "kustomization.yaml"
DECISIONS: Final = "decisions"
_HEADER: Final = b"# Written by poolwright render; change the specs instead.\n"


def build_folder(closure: Closure) -> Folder:
    """The folder of a closure: every file but the manifest.

    Raises: ValueError if the objects can't be factored: then the renderer is wrong.
    """
    return next(build_folders([closure]))


def build_folders(closures: Iterable[Closure]) -> Iterator[Folder]:
    """The folder of each closure, in their order; raises as `build_folder`.

    Cost: what follows from an envelope alone is built once for all closures that hold the same value of it.
    """
    shared: dict[int, _Shared] = {}
    for closure in closures:
        unit, envelope = unit_name(closure), getattr(closure, "envelope", None)
        known = shared.get(id(envelope))
        if known is None and isinstance(envelope, EnvelopeClosure):
            known = _Shared(envelope, build_envelope(envelope), {id(envelope): canonical_part(envelope)})
            shared[id(envelope)] = known
        yield Folder(
            path=f"overlays/{unit}",
            files=_build_files(closure, known.base if known else ()),
            unit=unit,
            closure=digest_closure(closure, known.text if known else {}),
            render_format=closure.render_format,
        )


class _Shared(msgspec.Struct, frozen=True):
    """What follows from an envelope alone."""

    envelope: EnvelopeClosure  # held, so that its id is nobody else's
    base: tuple[Object, ...]
    text: dict[int, Canonical]  # its part of a closure's canonical JSON, by its id


def _build_files(closure: Closure, base: tuple[Object, ...]) -> dict[str, bytes]:
    """base: the objects of the closure's envelope, if it has one."""
    match closure:
        case BaseClosure():
            return {**_render_whole(base), KUSTOMIZATION: _render_kustomization(_file_names(base))}
        case PlatformClosure():
            return _build_platform(build_objects(closure))
        case UnitClosure():
            return _build_unit(build_unit(closure, base), closure)
        case ArgocdClosure():
            files = list_argocd_files(build_objects(closure))
            rendered = {name: _HEADER + render_object(document) for name, document in files.items()}
            return {**rendered, KUSTOMIZATION: _render_kustomization(list(files))}


def unit_name(closure: Closure) -> str:
    """What a folder is called below overlays/: CLUSTER/UNIT, or base/ENVELOPE/VERSION."""
    match closure:
        case BaseClosure(envelope=envelope):
            return f"base/{envelope.name}/{envelope.version}"
        case PlatformClosure(on=on):
            return f"{on.cluster}/{PLATFORM_UNIT}"
        case UnitClosure(on=on, unit=unit):
            return f"{on.cluster}/{unit}"
        case ArgocdClosure(on=where):
            return f"{where.cluster}/{ARGOCD_UNIT}"


def unit_base(closure: UnitClosure) -> str:
    """What the folder of a unit's base is called below overlays/."""
    return f"base/{closure.envelope.name}/{closure.envelope.version}"


def custom_path(unit: str) -> str:
    """The folder of a unit's own component, which its team writes, from the project; unit: CLUSTER/UNIT."""
    return f"custom/{unit}"


def _build_platform(objects: Sequence[Object]) -> dict[str, bytes]:
    """One file per kind: a cluster has a handful of namespaces and classes, and they are read side by side."""
    files: dict[str, list[Object]] = {}
    for document in objects:
        files.setdefault(_PLATFORM_FILES[document["kind"]], []).append(document)
    return {
        **{name: _HEADER + render_objects(documents) for name, documents in files.items()},
        KUSTOMIZATION: _render_kustomization(list(files)),
    }


_PLATFORM_FILES: Final = {
    "Namespace": "namespaces.yaml",
    "DeviceClass": "deviceclasses.yaml",
    "ResourceQuota": "resourcequotas.yaml",
    "PriorityClass": "priorityclasses.yaml",
    "ValidatingAdmissionPolicy": "admissionpolicies.yaml",
    "ValidatingAdmissionPolicyBinding": "admissionpolicies.yaml",  # each beside its policy
    "ConfigMap": "dashboard.yaml",
}


def _list_custom(closure: UnitClosure) -> list[str]:
    """The team's component after our decisions, so that what it adds to them isn't lost."""
    return [] if closure.custom is None else [f"../../../{custom_path(unit_name(closure))}"]


class Patch(msgspec.Struct, frozen=True):
    """What a cluster decided about one of the base's objects."""

    file: str
    text: bytes
    entry: Object  # of the component's `patches`


def _build_unit(unit: UnitObjects, closure: UnitClosure) -> dict[str, bytes]:
    patches = [
        patch
        for name, before, after in zip(_file_names(unit.base), unit.base, unit.decided, strict=True)
        if (patch := _factor(name, before, after))
    ]
    resources = [*_file_names(unit.before), f"../../{unit_base(closure)}", *_file_names(unit.after)]
    return {
        **_render_whole(unit.before),
        **_render_whole(unit.after),
        **{f"{DECISIONS}/{patch.file}": _HEADER + patch.text for patch in patches},
        f"{DECISIONS}/{KUSTOMIZATION}": _render_decisions(patches, closure),
        KUSTOMIZATION: _render_kustomization(resources, components=[DECISIONS, *_list_custom(closure)]),
    }


def _factor(file: str, before: Object, after: Object) -> Patch | None:
    """The patch of one object; None if nothing was decided about it."""
    kind, namespace, name = identify(before)
    entry: Object = {"path": file}
    if not is_merged(before):
        operations = build_json_patch(before, after)
        entry["target"] = {"kind": kind, "name": name, "namespace": namespace}
        return Patch(file, render_list(operations), entry) if operations else None
    patch = build_patch(before, after)
    if patch and after["metadata"]["name"] != name:
        # A unit that isn't called like its envelope: the patch finds the base's object, then renames it.
        entry["target"] = {"kind": kind, "name": name, "namespace": namespace}
        entry["options"] = {"allowNameChange": True}
    return Patch(file, render_object(patch), entry) if patch else None


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


def _render_decisions(patches: Sequence[Patch], closure: UnitClosure) -> bytes:
    component: Object = {
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "patches": [patch.entry for patch in patches],
        "images": [_image_entry(closure)],
    }
    return _HEADER + render_object(component)


def _image_entry(closure: UnitClosure) -> Mapping[str, str]:
    """Kustomize's `images` entry that puts the stack's image in the place of the base's name for it."""
    engine = closure.envelope.spec.engine
    reference, _, digest = closure.image.image.partition("@")
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
    return {
        name: _HEADER + render_object(document) for name, document in zip(_file_names(objects), objects, strict=True)
    }


def _file_names(objects: Sequence[Object]) -> list[str]:
    """One file per object, called after its kind; after kind and name where a kind comes twice."""
    kinds = [document["kind"].lower() for document in objects]
    return [
        f"{kind}.yaml" if kinds.count(kind) == 1 else f"{kind}-{document['metadata']['name']}.yaml"
        for kind, document in zip(kinds, objects, strict=True)
    ]
