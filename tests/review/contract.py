"""An OpenAPI description as a judge of requests and answers: what it finds wrong is kept, and a test looks at it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import jsonschema_rs
import yaml

FOLDER = Path(__file__).parent / "openapi"


@dataclass(slots=True)
class Contract:
    """One description, and every breach of it so far."""

    paths: dict[str, Any]
    components: dict[str, Any]
    breaches: list[str] = field(default_factory=list)

    def find(self, method: str, path: str) -> tuple[dict[str, Any], dict[str, str]]:
        """The operation of a request, and what its path has in braces; none: {}."""
        for template, operations in self.paths.items():
            # A parameter is one part of the path, but for the rest of it: `{artifact_path+}`.
            pattern = re.sub(
                r"\\{(\w+)(\\\+)?\\}", lambda m: f"(?P<{m[1]}>{'.+' if m[2] else '[^/]+'})", re.escape(template)
            )
            if (match := re.fullmatch(pattern, path)) and method.lower() in operations:
                return operations[method.lower()], {key: unquote(one) for key, one in match.groupdict().items()}
        return {}, {}

    def judge_request(self, method: str, target: str, body: bytes) -> tuple[dict[str, Any], dict[str, str]]:
        """The operation that is asked for, and its parameters by name."""
        parts = urlsplit(target)
        operation, found = self.find(method, parts.path)
        if not operation:
            self.breaches.append(f"no operation is {method} {parts.path}")
            return {}, {}
        query = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True)) if parts.query else {}
        known = [self._resolve(one) for one in operation.get("parameters", ())]
        for place, given in (("path", found), ("query", query)):
            declared = {one["name"]: one["schema"] for one in known if one["in"] == place}
            for name, text in given.items():
                if name not in declared:
                    self.breaches.append(f"{method} {parts.path} has no parameter {name}")
                    continue
                is_number = declared[name].get("type") == "integer" and text.isdecimal()
                self._judge(declared[name], int(text) if is_number else text, f"{method} {parts.path} {name}")
        content = self._resolve(operation.get("requestBody", {})).get("content", {}).get("application/json")
        if (content is None) == bool(body):
            self.breaches.append(
                f"{method} {parts.path} has a body where it should have none, or none where one belongs"
            )
        elif content is not None:
            self._judge(content["schema"], json.loads(body), f"{method} {parts.path} body", closed=True)
        return operation, {**found, **query}

    def judge_answer(self, operation: dict[str, Any], status: int, value: Any) -> None:
        """An answer of ours. A refusal that the operation doesn't list must look like one all the same."""
        declared = operation.get("responses", {}).get(str(status))
        name = f"{operation.get('operationId')} {status}"
        if declared is None:
            if status < 400:
                self.breaches.append(f"{name} isn't described")
            elif "basic-error" in self.components.get("schemas", {}):
                self._judge({"$ref": "#/components/schemas/basic-error"}, value, name)
            return
        content = self._resolve(declared).get("content", {}).get("application/json")
        if content is not None:
            self._judge(content["schema"], value, name)
        elif value is not None and not isinstance(value, bytes):
            self.breaches.append(f"{name} has no body")

    def _resolve(self, value: dict[str, Any]) -> dict[str, Any]:
        if "$ref" in value:
            _, _, kind, name = value["$ref"].split("/")
            return self.components[kind][name]
        return value

    def _judge(self, schema: dict[str, Any], value: Any, name: str, *, closed: bool = False) -> None:
        whole = {**schema, "components": self.components}
        if closed and "properties" in schema:
            whole["additionalProperties"] = False
        for error in jsonschema_rs.validator_for(whole).iter_errors(value):
            self.breaches.append(f"{name}: {error.message}")


def read_contract(name: str) -> Contract:
    """github: GitHub's own description. gitlab: written by hand, see there."""
    path = next(FOLDER.glob(f"{name}.*"))
    found = (json.loads if path.suffix == ".json" else yaml.safe_load)(path.read_text("utf-8"))
    return Contract(paths=_to_json_schema(found["paths"]), components=_to_json_schema(found["components"]))


def read_example(name: str) -> Any:
    """One of GitHub's own examples of an answer."""
    found = json.loads((FOLDER / "github.json").read_text("utf-8"))
    return found["components"]["examples"][name]["value"]


def _to_json_schema(value: Any) -> Any:
    """OpenAPI 3.0 says `nullable` where JSON Schema has null among the types."""
    if isinstance(value, list):
        return [_to_json_schema(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {key: _to_json_schema(one) for key, one in value.items() if key not in ("nullable", "discriminator")}
    return {"anyOf": [found, {"type": "null"}]} if value.get("nullable") is True else found
