"""Schemas of kinds that have no CustomResourceDefinition: read from the Go types that decode them."""

import re
from collections.abc import Mapping
from typing import Any

from crds.strict_schema import INT_OR_STRING, LABEL_VALUE, QUANTITY

Schema = dict[str, Any]

STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"^type (\w+) (string|map\[string\]resource\.Quantity)$", re.MULTILINE)
FIELD = re.compile(r'^\t\w+\s+(\S+)\s+`json:"([^",]+)(,omitempty)?"`', re.MULTILINE)
BASIC: dict[str, Schema] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "resource.Quantity": {"anyOf": INT_OR_STRING, "pattern": QUANTITY},
}
BASIC["map[string]resource.Quantity"] = {"type": "object", "additionalProperties": BASIC["resource.Quantity"]}


def _refuses(strategy: str, field: str) -> Schema:
    chosen = {"properties": {"strategy": {"const": strategy}}}
    return {"if": chosen, "then": {"properties": {field: False}}}


# What the types' Validate methods and the node plugin add to the shape: by type, or by type and field.
RULES: dict[str | tuple[str, str], Schema] = {
    "GpuSharing": {"allOf": [_refuses("TimeSlicing", "mpsConfig"), _refuses("MPS", "timeSlicingConfig")]},
    ("GpuSharing", "strategy"): {"enum": ["TimeSlicing", "MPS"]},
    ("MigDeviceSharing", "strategy"): {"enum": ["TimeSlicing", "MPS"]},
    "TimeSlicingConfig": {"required": ["interval"]},  # left out, Validate follows a nil pointer
    ("TimeSlicingConfig", "interval"): {"enum": ["Default", "Short", "Medium", "Long"]},
    ("MpsConfig", "defaultActiveThreadPercentage"): {"minimum": 0, "maximum": 100},
    ("IOMMUConfig", "backendPolicy"): {"enum": ["LegacyOnly", "PreferIommuFD"]},
    ("ComputeDomainChannelConfig", "domainID"): {"minLength": 1, "maxLength": 63, "pattern": LABEL_VALUE},
    ("ComputeDomainChannelConfig", "allocationMode"): {"enum": ["Single", "All"]},
    ("ComputeDomainDaemonConfig", "domainID"): {"minLength": 1, "maxLength": 63, "pattern": LABEL_VALUE},
}


def build_config_schema(go: str, api_version: str, kind: str, rules: Mapping[Any, Schema] = RULES) -> Schema:
    """The strict schema of an opaque configuration: no metadata, apiVersion and kind required (the decoder needs them).

    go: the Go files that declare the type and all that it uses, one after the other.
    Raises: KeyError for a Go type that isn't declared there and isn't basic.
    """
    schema = _Types(go, rules).build(kind)
    schema["properties"] = {"apiVersion": {"const": api_version}, "kind": {"const": kind}, **schema["properties"]}
    schema["required"] = ["apiVersion", "kind", *schema["required"]]
    return schema


class _Types:
    def __init__(self, go: str, rules: Mapping[Any, Schema]) -> None:
        self.structs = dict(STRUCT.findall(go))
        self.named = dict(NAMED.findall(go))
        self.rules = rules

    def build(self, name: str) -> Schema:
        if name not in self.structs:
            return dict(BASIC[self.named.get(name, name)])
        properties: Schema = {}
        required: list[str] = []
        for go_type, field, optional in FIELD.findall(self.structs[name]):
            properties[field] = self.build(go_type.lstrip("*")) | self.rules.get((name, field), {})
            if not optional:
                required.append(field)
        base = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        return base | self.rules.get(name, {})
