"""Strict schemas of the custom resources we render, and of the NVIDIA driver's opaque configurations.

Where each is from stands in `crds/data/index.json`. Rules in CEL are not evaluated: `celRules` there counts them.
"""

import hashlib
import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from poolwright.specs.place import FieldPath, render_field

Json = dict[str, Any]

DATA = Path(__file__).parent / "crds" / "data"


def object_errors(obj: Json, minor: str) -> list[str]:
    """Every way an object breaks its schema, built-in or custom, opaque device configurations included; sorted.

    minor: the Kubernetes release whose schemas count for built-in kinds, such as `1.34`.
    A kind without a schema is an error too: it says so.
    """
    # Imported here: the schemas of built-in kinds are large, and tests of custom resources do without them.
    from kubernetes_schemas import schema_errors

    own = schema_errors(obj, minor) if _is_built_in(str(obj.get("apiVersion"))) else crd_errors(obj)
    return sorted([*own, *opaque_errors(obj)])


def crd_errors(obj: Json) -> list[str]:
    """Every way a custom resource, or an opaque configuration, breaks its schema; sorted by field. [] where it doesn't.

    A kind without a schema is an error: it says so.
    """
    key = (str(obj.get("apiVersion")), str(obj.get("kind")))
    if key not in read_index():
        return [f"{key[0]} {key[1]}: no schema; known are {', '.join(' '.join(known) for known in read_index())}"]
    return sorted(_render(tuple(error.instance_path), error.message) for error in _validator(*key).iter_errors(obj))


def opaque_errors(obj: Json) -> list[str]:
    """What is wrong with the driver parameters inside a class, a claim or a claim template."""
    return [
        _render((*path, "opaque", "parameters"), message)
        for path, config in _opaque_configs(obj, ())
        for message in crd_errors(config)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a schema is from."""

    file: str
    sha256: str  # of the JSON packed in the file
    module: str | None  # None: written by hand
    version: str | None
    licence: str | None
    unverified: bool  # no publisher stands behind it
    cel_rules: int
    note: str


@cache
def read_index() -> dict[tuple[str, str], Origin]:
    """Every schema there is, by apiVersion and kind."""
    return {
        (entry["apiVersion"], entry["kind"]): Origin(
            file=entry["file"],
            sha256=entry["sha256"],
            module=entry["module"],
            version=entry["version"],
            licence=entry["licence"],
            unverified=entry["unverified"],
            cel_rules=entry["celRules"],
            note=entry["note"],
        )
        for entry in json.loads((DATA / "index.json").read_bytes())
    }


@cache
def read_schema(api_version: str, kind: str) -> Json:
    """The strict schema of one kind; don't change it.

    Raises: KeyError for a kind without one, ValueError if the file isn't what the index says.
    """
    origin = read_index()[api_version, kind]
    text = lzma.decompress((DATA / origin.file).read_bytes())
    if hashlib.sha256(text).hexdigest() != origin.sha256:
        raise ValueError(f"{origin.file} isn't what index.json says")
    schema: Json = json.loads(text)
    return schema


@cache
def _validator(api_version: str, kind: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(
        read_schema(api_version, kind), keywords={"x-kubernetes-list-map-keys": _UniqueKeys}
    )


class _UniqueKeys:
    """Items of a list with `x-kubernetes-list-type: map` differ in their keys, defaults filled in."""

    def __init__(self, parent_schema: Json, value: list[str], schema_path: list[str | int]) -> None:
        fields = parent_schema["items"].get("properties", {})
        self.keys = {key: fields.get(key, {}).get("default") for key in value}

    def validate(self, instance: object) -> None:
        if not isinstance(instance, list):
            return
        seen = set()
        for item in instance:
            if not isinstance(item, dict):
                continue
            found = tuple(json.dumps(item.get(key, default), sort_keys=True) for key, default in self.keys.items())
            if found in seen:
                raise ValueError(f"two items with {', '.join(self.keys)} {', '.join(found)}")
            seen.add(found)


def _is_built_in(api_version: str) -> bool:
    """Whether Kubernetes itself may serve an API: its groups have no dot or end in `.k8s.io`; so do some of ours."""
    group = api_version.rpartition("/")[0]
    ours = {known.split("/")[0] for known, _ in read_index()}
    return group not in ours and ("." not in group or group.endswith(".k8s.io"))


def _opaque_configs(node: object, path: FieldPath) -> Iterator[tuple[FieldPath, Json]]:
    """Every `opaque.parameters` that is an object, with the path of what holds it."""
    if isinstance(node, dict):
        opaque = node.get("opaque")
        if isinstance(opaque, dict) and "driver" in opaque and isinstance(opaque.get("parameters"), dict):
            yield path, opaque["parameters"]
        for key, value in node.items():
            yield from _opaque_configs(value, (*path, key))
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from _opaque_configs(value, (*path, number))


def _render(path: FieldPath, message: str) -> str:
    return f"{render_field(path)}: {message}" if path else message
