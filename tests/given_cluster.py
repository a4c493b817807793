"""Clusters as tests write them: objects of one line each, and what is answered of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from poolwright.allocation.allocate import allocate_given
from poolwright.allocation.answer import Answer
from poolwright.allocation.answer_text import render_answer_text
from poolwright.allocation.assumptions import Options
from poolwright.allocation.parse_objects import parse_objects
from poolwright.files.facts import read_facts
from poolwright.specs.document import parse_documents

Json = dict[str, Any]
API = "resource.k8s.io/v1"
GPU = "gpu.nvidia.com"
NIC = "dra.net"
H100 = "NVIDIA H100 80GB HBM3"


def device_class(name: str, *selectors: str, **more: Any) -> Json:
    return build("DeviceClass", name, spec={"selectors": list_cel(selectors), **more})


def device(name: str, *, attributes: Mapping[str, Any] | None = None, memory: str = "", **more: Any) -> Json:
    """A device; attributes are bool, int or str."""
    found: Json = {"name": name, **more}
    if attributes:
        found["attributes"] = {key: {_kind(value): value} for key, value in attributes.items()}
    if memory:
        found.setdefault("capacity", {})["memory"] = {"value": memory}
    return found


def gpu(
    number: int, *, product: str = H100, memory: str = "81559Mi", of: Mapping[str, Any] | None = None, **more: Any
) -> Json:
    """A whole GPU `gpu-<number>`; of: further attributes."""
    attributes = {"type": "gpu", "uuid": f"GPU-{number:04}", "productName": product, **(of or {})}
    return device(f"gpu-{number}", attributes=attributes, memory=memory, **more)


def slice_of(
    node: str,
    *devices: Json,
    driver: str = GPU,
    pool: str = "",
    name: str = "",
    count: int = 1,
    generation: int = 1,
    **more: Any,
) -> Json:
    """A slice of a node's own pool, unless another one is named; `node` empty: as `more` says."""
    spec: Json = {
        "driver": driver,
        "pool": {"name": pool or node, "generation": generation, "resourceSliceCount": count},
        **({"nodeName": node} if node else {}),
        **({"devices": list(devices)} if devices else {}),
        **more,
    }
    return build("ResourceSlice", name or f"{node or pool}-{driver}", spec=spec)


def exactly(name: str, class_name: str = GPU, *selectors: str, **more: Any) -> Json:
    return {"name": name, "exactly": ask(class_name, *selectors, **more)}


def ask(class_name: str = GPU, *selectors: str, **more: Any) -> Json:
    """What stands under `exactly`, or with a name under `firstAvailable`."""
    return {"deviceClassName": class_name, **({"selectors": list_cel(selectors)} if selectors else {}), **more}


def claim(
    name: str,
    *requests: Json,
    namespace: str = "inference",
    held: Sequence[Json] = (),
    constraints: Sequence[Json] = (),
    reserved: Iterable[str] = (),
    node: str = "",
    **metadata: Any,
) -> Json:
    """A claim; with `held` it has these devices, on `node` alone if one is named."""
    found = build(
        "ResourceClaim", name, namespace=namespace, spec=devices(*requests, constraints=constraints), **metadata
    )
    if held:
        found["status"] = {"allocation": {"devices": {"results": list(held)}}}
        if node:
            found["status"]["allocation"]["nodeSelector"] = on_node(node)
    if reserved:
        found.setdefault("status", {})["reservedFor"] = [
            {"resource": "pods", "name": uid, "uid": uid} for uid in reserved
        ]
    return found


def template(name: str, *requests: Json, namespace: str = "inference", constraints: Sequence[Json] = ()) -> Json:
    spec = {"spec": devices(*requests, constraints=constraints)}
    return build("ResourceClaimTemplate", name, namespace=namespace, spec=spec)


def devices(*requests: Json, constraints: Sequence[Json] = ()) -> Json:
    asked = requests or (exactly("gpu"),)
    return {"devices": {"requests": list(asked), **({"constraints": list(constraints)} if constraints else {})}}


def holds(name: str, *, request: str = "gpu", driver: str = GPU, pool: str = "node-a", **more: Any) -> Json:
    """An entry of a claim's allocation."""
    return {"request": request, "driver": driver, "pool": pool, "device": name, **more}


def on_node(name: str) -> Json:
    field = {"key": "metadata.name", "operator": "In", "values": [name]}
    return {"nodeSelectorTerms": [{"matchFields": [field]}]}


def pod(
    name: str,
    *,
    claims: Mapping[str, str] | None = None,
    templates: Mapping[str, str] | None = None,
    namespace: str = "inference",
    status: Json | None = None,
    metadata: Json | None = None,
    **spec: Any,
) -> Json:
    """A pod; claims and templates by the name that they have in it."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, **(metadata or {})},
        "spec": {
            "containers": [{"name": "main"}],
            "resourceClaims": [
                *({"name": key, "resourceClaimName": value} for key, value in (claims or {}).items()),
                *({"name": key, "resourceClaimTemplateName": value} for key, value in (templates or {}).items()),
            ],
            **spec,
        },
        **({"status": status} if status else {}),
    }


def node(name: str, *, labels: Mapping[str, str] | None = None, status: Json | None = None, **spec: Any) -> Json:
    metadata = {"name": name, **({"labels": dict(labels)} if labels else {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": spec,
        **({"status": status} if status else {}),
    }


def build(kind: str, name: str, *, spec: Json, api: str = API, namespace: str = "", **metadata: Any) -> Json:
    placed = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, **placed, **metadata}, "spec": spec}


def list_cel(selectors: Iterable[str]) -> list[Json]:
    return [{"cel": {"expression": text}} for text in selectors]


def as_file(objects: Iterable[Json]) -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}).encode()


def answer(
    objects: Iterable[Json],
    *,
    minor: str = "1.37",
    gates: Mapping[str, bool] | None = None,
    options: Options | None = None,
) -> Answer:
    """What `poolwright allocate` finds, without its files."""
    said = dict(gates or {})
    given = parse_objects(parse_documents(as_file(objects), "cluster.json"))
    effective = read_facts().effective_gates(minor, said)
    return allocate_given(given, minor=minor, effective=effective, gates=said, options=options or Options())


def say(found: Answer) -> str:
    """The answer for people, without what it rests on."""
    return "".join(f"{line}\n" for line in render_answer_text(found)[:-2])


def _kind(value: object) -> str:
    return {bool: "bool", int: "int", str: "string"}[type(value)]


WHOLE = device_class(GPU, f"device.driver == '{GPU}' && device.attributes['{GPU}'].type == 'gpu'")
ANY = device_class("any", f"device.driver == '{GPU}'")
NETWORK = device_class("dranet", f"device.driver == '{NIC}'")
