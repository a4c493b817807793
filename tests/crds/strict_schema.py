"""From a CustomResourceDefinition to a JSON Schema that refuses whatever the API server would refuse or drop."""

from typing import Any

Schema = dict[str, Any]

WORDS = ("description", "title", "example", "externalDocs")
SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
LABEL_VALUE = r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"
QUALIFIED = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$"
)
QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
BOUNDS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def build_schema(crd: Schema, version: str) -> Schema:
    """The strict JSON Schema of one version of a CustomResourceDefinition.

    Raises: KeyError if the definition doesn't have that version, ValueError if it isn't served.
    """
    spec = crd["spec"]
    found = {entry["name"]: entry for entry in spec["versions"]}[version]
    if not found["served"]:
        raise ValueError(f"{spec['names']['kind']} {version} isn't served")
    schema = build_strict(found["schema"]["openAPIV3Schema"])
    metadata = build_metadata(namespaced=spec["scope"] == "Namespaced")
    named = schema["properties"]["metadata"].get("properties", {})  # a definition may narrow the name
    metadata["properties"]["name"] |= named.get("name", {})
    schema["properties"] |= {
        "apiVersion": {"const": f"{spec['group']}/{version}"},
        "kind": {"const": spec["names"]["kind"]},
        "metadata": metadata,
    }
    schema["required"] = sorted({"apiVersion", "kind", "metadata", *schema.get("required", ())})
    return schema


def build_strict(node: Schema) -> Schema:
    """A structural schema as JSON Schema: no words, nothing unlisted; rules in CEL stay as data, nobody evaluates them.

    Where a field is required and has a default, leaving it out is fine: the API server fills in first.
    """
    out = {key: build_part(key, value) for key, value in node.items() if key not in (*WORDS, "nullable", "required")}
    if "required" in node:
        filled = {name for name, field in node.get("properties", {}).items() if field.get("default") is not None}
        out["required"] = [name for name in node["required"] if name not in filled]
    if node.get("x-kubernetes-int-or-string") and "anyOf" not in node:
        out["anyOf"] = INT_OR_STRING
    # A node with properties of an anyOf only narrows its parent: it has no type, and closing it would refuse siblings.
    open_ended = node.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in node
    if node.get("type") == "object" and not open_ended:
        out["additionalProperties"] = False
    if node.get("x-kubernetes-list-type") == "set":
        out["uniqueItems"] = True
    for key, bound, limit in zip(
        ("minimum", "maximum"), BOUNDS.get(node.get("format", ""), ()), (max, min), strict=False
    ):
        out[key] = limit(node.get(key, bound), bound)
    return build_nullable(out) if node.get("nullable") else out


def build_part(key: str, value: Any) -> Any:
    """One keyword's value, with every schema inside made strict."""
    if key == "properties":
        return {name: build_strict(field) for name, field in value.items()}
    if key in ("anyOf", "allOf", "oneOf"):
        return [build_strict(part) for part in value]
    if key in ("items", "additionalProperties", "not") and isinstance(value, dict):
        return build_strict(value)
    return value


def build_nullable(schema: Schema) -> Schema:
    """The same, with null allowed."""
    out = dict(schema)
    if "type" in out:
        out["type"] = [out["type"], "null"]
    if "enum" in out and None not in out["enum"]:
        out["enum"] = [*out["enum"], None]
    if "anyOf" in out:
        out["anyOf"] = [*out["anyOf"], {"type": "null"}]
    return out


def build_metadata(*, namespaced: bool) -> Schema:
    """Metadata of an object with a fixed name. A custom resource's own schema says nothing of it."""
    strings = {"type": "object", "additionalProperties": {"type": "string"}}
    properties: Schema = {
        "name": {"type": "string", "pattern": SUBDOMAIN, "maxLength": 253},
        "labels": strings
        | {
            "propertyNames": {"pattern": QUALIFIED, "maxLength": 317},
            "additionalProperties": {"type": "string", "pattern": LABEL_VALUE, "maxLength": 63},
        },
        "annotations": strings | {"propertyNames": {"pattern": QUALIFIED, "maxLength": 317}},
        "finalizers": {"type": "array", "items": {"type": "string"}},
        "ownerReferences": {"type": "array", "items": build_owner()},
        # What the API server adds, so that objects read from a cluster pass as well.
        **{key: {"type": "string"} for key in ("uid", "resourceVersion", "selfLink", "deletionTimestamp")},
        **{key: {"type": "integer"} for key in ("generation", "deletionGracePeriodSeconds")},
        "creationTimestamp": {"type": ["string", "null"]},
        "managedFields": {"type": "array", "items": {"type": "object"}},
    }
    if namespaced:
        properties["namespace"] = {"type": "string", "pattern": LABEL, "maxLength": 63}
    return {"type": "object", "required": ["name"], "properties": properties, "additionalProperties": False}


def build_owner() -> Schema:
    """An owner reference."""
    words = ("apiVersion", "kind", "name", "uid")
    properties: Schema = {key: {"type": "string"} for key in words}
    properties |= {key: {"type": "boolean"} for key in ("controller", "blockOwnerDeletion")}
    return {"type": "object", "required": list(words), "properties": properties, "additionalProperties": False}
