"""Random cases for the allocator: a node, classes, slices, claims to allocate, and claims that hold devices.

A case is the input of tests/oracle/allocator: objects of resource.k8s.io/v1 as an API server of that minor stores
them, defaults filled in, in which every feature turns up together with every other. They are small, and about half of
them can be served.
"""

from __future__ import annotations

import hashlib
import json

from random_claims import build_claims, build_classes
from random_draw import Draw, Json, build_draw
from random_pools import build_node, build_slices


def build_case(seed: int, minor: str) -> Json:
    """The case of a seed; the same one for ever, or `digest_case` says otherwise."""
    draw = build_draw(seed, minor)
    slices = build_slices(draw)
    return {
        "id": f"{minor}/{seed}",
        "minor": minor,
        "features": dict(draw.features),
        "node": build_node(draw),
        "classes": build_classes(draw),
        "slices": slices,
        "claims": build_claims(draw),
        "held": _build_held(draw, slices),
    }


def digest_case(case: Json) -> str:
    """16 hexadecimal digits that tell a case from any other."""
    text = json.dumps(case, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def _build_held(draw: Draw, slices: list[Json]) -> list[Json]:
    published = [(made["spec"], device) for made in slices for device in made["spec"].get("devices", ())]
    held = []
    for at in range(draw.pick((1, 1, 2)) if draw.about("held", at_most=0.9, at_least=0.12) else 0):
        results = [_build_result(draw, *draw.pick(published)) for _ in range(draw.pick((1, 1, 2, 3)))]
        allocation = {"devices": {"results": results}}
        held.append({"metadata": {"name": f"held-{at}", "namespace": "other"}, "status": {"allocation": allocation}})
    return held


def _build_result(draw: Draw, spec: Json, device: Json) -> Json:
    result: Json = {"request": "r", "driver": spec["driver"], "pool": spec["pool"]["name"], "device": device["name"]}
    if draw.chance(0.06):  # what was there when it was allocated
        result["pool" if draw.chance(0.5) else "device"] = "gone"
    is_shared = device.get("allowMultipleAllocations", False) != draw.chance(0.1)
    if draw.used["admin_access"] and draw.chance(0.15):
        result["adminAccess"] = True
    if draw.used["consumable_capacity"] and is_shared:
        result["shareID"] = f"{draw.rng.getrandbits(32):08x}-0000-4000-8000-{draw.rng.getrandbits(48):012x}"
        capacity = device.get("capacity", {})
        if capacity and draw.chance(0.8):
            amounts = {"slots": ("1", "500m", "0"), "": ("1Gi", "2Gi", "6Gi", "512Mi")}
            result["consumedCapacity"] = {name: draw.pick(amounts.get(name, amounts[""])) for name in capacity}
    return result
