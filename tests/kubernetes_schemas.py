"""What the API server of a Kubernetes minor would say of an object: its strict schema, and rules no schema holds."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema_rs

from poolwright.specs.place import FieldPath, render_field

MINORS = ("1.34", "1.35", "1.36", "1.37")
Json = Mapping[str, Any]


def check_object(obj: Json, minor: str) -> list[str]:
    """Why the API server of a minor would refuse an object: what schema_errors says, else what rule_errors says."""
    return schema_errors(obj, minor) or rule_errors(obj)


def schema_errors(obj: Json, minor: str) -> list[str]:
    """Every way an object breaks its schema, sorted by field. [] where it doesn't.

    obj:     of a kind that Kubernetes has itself; one that the minor doesn't serve is an error, and says so.
    minor:   one of MINORS.
    Strict:  a field that the schema doesn't know is an error, as in `kubectl apply --validate=strict`.
    Cost:    20 ms for a minor's first object, 10 ms for a kind's, then a microsecond.
    """
    key = (str(obj.get("apiVersion")), str(obj.get("kind")))
    if key not in _read_names(minor):
        served = [version for version, kind in _read_names(minor) if kind == key[1]]
        return [f"Kubernetes {minor} has no {key[0]} {key[1]}; of that kind it has {', '.join(served) or 'none'}"]
    return sorted(
        _render(tuple(error.instance_path), error.message) for error in _validator(minor, *key).iter_errors(obj)
    )


def rule_errors(obj: Json) -> list[str]:
    """Every way an object breaks a rule that stands in Kubernetes' code and in no schema; sorted by field.

    Knows: names, labels and annotations anywhere; where a namespace has no place; claims and pods: what must be one
           of two, unique, or defined elsewhere in the object.
    Needs: an object without schema errors.
    """
    return sorted(_render(path, message) for path, message in _check_rules(obj))


def read_definitions(minor: str, kinds: Iterable[str]) -> dict[str, Json]:
    """The definitions of kinds and of all that these refer to, by name.

    kinds: as "apps/v1 Deployment".
    """
    every, found = _read_definitions(minor)["$defs"], dict[str, Json]()
    wanted = [_read_names(minor)[version, kind] for version, kind in (text.split(" ") for text in kinds)]
    while wanted:
        name = wanted.pop()
        if name not in found:
            found[name] = every[name]
            wanted += re.findall(r'"#/\$defs/([^"]+)"', json.dumps(found[name]))
    return found


# --- schemas -------------------------------------------------------------------------------------------------------


@cache
def _read_definitions(minor: str) -> Json:
    if minor not in MINORS:
        raise KeyError(f"no schemas of Kubernetes {minor}; there are {', '.join(MINORS)}")
    package = find_spec("kubernetes_validate")
    assert package is not None
    assert package.submodule_search_locations is not None
    folder = Path(package.submodule_search_locations[0], "kubernetes-json-schema", f"v{minor}.0-local-strict")
    definitions: Json = json.loads((folder / "_definitions.json").read_bytes(), object_hook=_bound_integer)
    return definitions


def _bound_integer(schema: Json) -> Json:
    """A schema with the bounds that its integer format means: validators only read the format of strings."""
    bits = {"int32": 31, "int64": 63}.get(str(schema.get("format")))
    return {"minimum": -(2**bits), "maximum": 2**bits - 1, **schema} if bits else schema


@cache
def _read_names(minor: str) -> Mapping[tuple[str, str], str]:
    """The name of each kind's definition, by apiVersion and kind."""
    return {
        (f"{kind['group']}/{kind['version']}".removeprefix("/"), kind["kind"]): name
        for name, schema in _read_definitions(minor)["$defs"].items()
        for kind in schema.get("x-kubernetes-group-version-kind", ())
    }


@cache
def _registry(minor: str) -> jsonschema_rs.Registry:
    definitions = _read_definitions(minor)
    return jsonschema_rs.Registry([(definitions["$id"], dict(definitions))])


@cache
def _validator(minor: str, api_version: str, kind: str) -> jsonschema_rs.Draft202012Validator:
    name = _read_names(minor)[api_version, kind]
    schema = {"$ref": f"{_read_definitions(minor)['$id']}#/$defs/{name}"}
    return jsonschema_rs.Draft202012Validator(schema, registry=_registry(minor), validate_formats=True)


def _render(path: FieldPath, message: str) -> str:
    return f"{render_field(path)}: {message}" if path else message


# --- rules ---------------------------------------------------------------------------------------------------------

Problem = tuple[FieldPath, str]

_LABEL = re.compile(r"(?=.{1,63}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SERVICE = re.compile(r"(?=.{1,63}$)[a-z]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SEGMENT = re.compile(r"(?!\.\.?$)[^/%]+")
_QUALIFIED = re.compile(r"(?=.{1,63}$)[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_PORT = re.compile(r"(?=.{1,15}$)(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_QUANTITY = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][-+]?[0-9]+)?")

_NAME_FORMS = {"Namespace": _LABEL, "Service": _SERVICE}
_CLUSTER_SCOPED = {
    *("Namespace", "Node", "PersistentVolume", "PriorityClass", "RuntimeClass", "StorageClass", "IngressClass"),
    *("DeviceClass", "ResourceSlice", "DeviceTaintRule", "ClusterRole", "ClusterRoleBinding", "APIService"),
    *("CustomResourceDefinition", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "FlowSchema"),
    *("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "PriorityLevelConfiguration"),
    *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
}


def _check_rules(obj: Json) -> Iterator[Problem]:
    kind, metadata = obj.get("kind"), obj.get("metadata") or {}
    is_rbac = str(obj.get("apiVersion")).startswith("rbac.")
    form = _SEGMENT if is_rbac else _NAME_FORMS.get(str(kind), _SUBDOMAIN)
    yield from _check_text(("metadata", "name"), metadata.get("name"), form, "a name for this kind")
    if kind in _CLUSTER_SCOPED and "namespace" in metadata:
        yield ("metadata", "namespace"), f"a {kind} is in no namespace"
    elif "namespace" in metadata:
        yield from _check_text(("metadata", "namespace"), metadata["namespace"], _LABEL, "a DNS label")
    for path, node in _walk(obj, ()):
        yield from _check_metadata(path, node)
        if isinstance(node.get("requests"), list) and path[-1:] == ("devices",):
            yield from _check_devices(path, node)
        if isinstance(node.get("containers"), list):
            yield from _check_pod(path, node)
        if isinstance(node.get("template"), dict) and isinstance(node.get("selector"), dict):
            yield from _check_selector(path, node)


def _check_metadata(path: FieldPath, node: Json) -> Iterator[Problem]:
    if path[-1:] == ("metadata",):
        for field in ("labels", "annotations"):
            for key in node.get(field) or {}:
                domain, slash, name = key.rpartition("/")
                if not _QUALIFIED.fullmatch(name) or (slash and not _SUBDOMAIN.fullmatch(domain)):
                    yield (*path, field, key), "the key is no qualified name"
    for field in ("labels", "matchLabels", "nodeSelector"):
        values = node.get(field) if field != "labels" or path[-1:] == ("metadata",) else None
        for key, value in values.items() if isinstance(values, dict) else ():
            if isinstance(value, str) and value and not _QUALIFIED.fullmatch(value):
                yield (*path, field, key), f"{value!r} is no label value"


def _check_devices(path: FieldPath, devices: Json) -> Iterator[Problem]:
    names: list[str] = []
    for index, request in enumerate(devices["requests"]):
        at = (*path, "requests", index)
        yield from _check_text((*at, "name"), request.get("name"), _LABEL, "a DNS label")
        names.append(request.get("name"))
        # v1beta1 has the request's own fields here instead.
        if "deviceClassName" not in request and ("exactly" in request) == ("firstAvailable" in request):
            yield at, "exactly one of exactly and firstAvailable must be set"
        for number, choice in enumerate(request.get("firstAvailable") or ()):
            yield from _check_text((*at, "firstAvailable", number, "name"), choice.get("name"), _LABEL, "a DNS label")
            names.append(f"{request.get('name')}/{choice.get('name')}")
    yield from _check_unique((*path, "requests"), names)
    for field in ("constraints", "config"):
        for index, item in enumerate(devices.get(field) or ()):
            for name in item.get("requests") or ():
                if name not in names:
                    yield (*path, field, index, "requests"), f"there is no request {name!r}"


def _check_pod(path: FieldPath, pod: Json) -> Iterator[Problem]:
    claims, volumes = pod.get("resourceClaims") or (), pod.get("volumes") or ()
    claim_names, volume_names = {claim.get("name") for claim in claims}, {volume.get("name") for volume in volumes}
    for index, claim in enumerate(claims):
        if ("resourceClaimName" in claim) == ("resourceClaimTemplateName" in claim):
            message = "exactly one of resourceClaimName and resourceClaimTemplateName must be set"
            yield (*path, "resourceClaims", index), message
    containers = [
        ((*path, field, index), container)
        for field in ("initContainers", "containers")
        for index, container in enumerate(pod.get(field) or ())
    ]
    for at, container in containers:
        for index, port in enumerate(container.get("ports") or ()):
            if "name" in port:
                yield from _check_text((*at, "ports", index, "name"), port["name"], _PORT, "a port's name")
        for index, mount in enumerate(container.get("volumeMounts") or ()):
            if mount.get("name") not in volume_names:
                yield (*at, "volumeMounts", index), f"the pod has no volume {mount.get('name')!r}"
        resources = container.get("resources") or {}
        for index, claim in enumerate(resources.get("claims") or ()):
            if claim.get("name") not in claim_names:
                yield (*at, "resources", "claims", index), f"the pod has no claim {claim.get('name')!r}"
        for field in ("limits", "requests"):
            for name, amount in (resources.get(field) or {}).items():
                if not _QUANTITY.fullmatch(str(amount)):
                    yield (*at, "resources", field, name), f"{amount!r} is no quantity"
    named: tuple[tuple[FieldPath, Any], ...] = (
        ((*path, "containers"), [container for _, container in containers]),
        ((*path, "resourceClaims"), claims),
        ((*path, "volumes"), volumes),
    )
    for at, items in named:
        for item in items:
            yield from _check_text(at, item.get("name"), _LABEL, "a DNS label")
        yield from _check_unique(at, [item.get("name") for item in items])


def _check_selector(path: FieldPath, spec: Json) -> Iterator[Problem]:
    labels = (spec["template"].get("metadata") or {}).get("labels") or {}
    for key, value in (spec["selector"].get("matchLabels") or {}).items():
        if labels.get(key) != value:
            yield (*path, "selector", "matchLabels", key), "the template's labels don't match"


def _check_text(path: FieldPath, text: object, form: re.Pattern[str], what: str) -> Iterator[Problem]:
    if not isinstance(text, str) or not form.fullmatch(text):
        yield path, f"{text!r} isn't {what}"


def _check_unique(path: FieldPath, names: list[str]) -> Iterator[Problem]:
    yield from ((path, f"{name!r} is there {count} times") for name, count in Counter(names).items() if count > 1)


def _walk(node: object, path: FieldPath) -> Iterator[tuple[FieldPath, Json]]:
    """Every mapping in an object, with its path."""
    if isinstance(node, dict):
        yield path, node
        for key, value in node.items():
            yield from _walk(value, (*path, key))
    elif isinstance(node, (list, tuple)):
        for index, value in enumerate(node):
            yield from _walk(value, (*path, index))
