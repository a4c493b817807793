"""Small clusters for the allocator's tables, and what is expected of them.

A world is built of the API's own objects, with upstream's vocabulary: node n1, classes a and b for the drivers
driver-a and driver-b, pools p1, p2, devices d1, d2. The same world goes to our allocator, as values, and to
upstream's, as a case of tests/oracle/allocator. Every feature that is on by default in 1.37 is on unless a row says
otherwise; the features of a release before that are those of them that it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from case_values import Json
from random_draw import BETA, LATER

from poolwright.allocation.features import MINORS
from poolwright.specs.quantity import parse_quantity

Placement = str | Mapping[str, object]
Value = str | int | bool | list[str] | list[int] | list[bool] | Json
RELEASED: Final = " as released"
ALL_NODES: Final = {"allNodes": True}
_LATER_BETA: Final = {"fractional_capacity_range"}
PER_DEVICE: Final = {"perDeviceNodeSelection": True}
NO_VALUE: Final[Json] = {"future": "of a type that is not known"}  # an attribute without any value that is known


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A node, the slices and classes of its cluster, and the claims: to be allocated, and allocated already."""

    node: Json
    slices: tuple[Json, ...]
    classes: tuple[Json, ...]
    claims: tuple[Json, ...]
    held: tuple[Json, ...]
    off: tuple[str, ...]  # features that are on by default
    on: tuple[str, ...]  # features that aren't

    def has_minor(self, minor: str) -> bool:
        """Whether a minor release has the features that the world is about."""
        return all(name in LATER[minor] for name in self.on)

    def build_case(self, minor: str) -> Json:
        """The world as a case of tests/oracle/allocator."""
        features = {name: name not in self.off for name in BETA}
        features |= {name: name in self.on or name in _LATER_BETA - {*self.off} for name in LATER[minor]}
        return {
            "id": minor,
            "minor": minor,
            "features": features,
            "node": self.node,
            "classes": list(self.classes),
            "slices": list(self.slices),
            "claims": list(self.claims),
            "held": list(self.held),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A world and what comes of it."""

    world: World
    answer: Json  # of 1.37
    steps: int | None  # None: not what the row is about
    # Of other runs, if they answer otherwise. "1.36" stands for earlier ones too, and does what 1.37 mended;
    # "1.36 as released" doesn't.
    at: Mapping[str, Json]
    since: str  # the first minor release that knows what the row is about
    unlike: tuple[str, ...]  # runs of releases with an error that isn't followed even as released

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs of the row."""
        minors = [minor for minor in MINORS if minor >= self.since and self.world.has_minor(minor)]
        released = [f"{minor}{RELEASED}" for minor in minors if minor == "1.36" or minor in self.at]
        return tuple(run for run in dict.fromkeys((*minors, *released, *self.at)) if run not in self.unlike)

    def expected(self, run: str) -> Json:
        """What a run gives, with the steps if they are said."""
        minor = run.removesuffix(RELEASED)
        later = (one for one in MINORS[::-1] if minor <= one)
        answer = next((self.at[one] for one in (run, *later) if one in self.at), self.answer)
        return answer if self.steps is None or answer["outcome"] == "error" else {**answer, "steps": self.steps}


def row(
    world: World,
    answer: Json,
    *,
    steps: int | None = None,
    at: Mapping[str, Json] | None = None,
    since: str = "1.34",
    unlike: Sequence[str] = (),
) -> Row:
    """A row of a table."""
    return Row(world=world, answer=answer, steps=steps, at=at or {}, since=since, unlike=tuple(unlike))


# Pieces of objects


def _split(device_id: str) -> tuple[str, ...]:
    parts = tuple(device_id.split("/"))
    return parts if len(parts) == 3 else ("driver-a", *parts)


def _result(device_id: str) -> Json:
    driver, pool_name, name = _split(device_id)
    return {"driver": driver, "pool": pool_name, "device": name, "request": "r"}


def _holder(results: list[Json]) -> Json:
    name = "holds-" + "-".join(f"{one['pool']}-{one['device']}-{one.get('shareID', '')[:8]}" for one in results)
    allocation = {"devices": {"results": results}}
    return {"metadata": {"name": name, "namespace": "other"}, "status": {"allocation": allocation}}


def _full(attribute: str) -> str:
    return attribute if "/" in attribute else f"driver-a/{attribute}"


def _cel(text: str | None) -> Json:
    return {} if text is None else {"cel": {"expression": text}}


def _in(key: str, *values: str) -> Json:
    return {"key": key, "operator": "In", "values": list(values)}


def _boxed(amounts: Mapping[str, str]) -> Json:
    return {key: {"value": text} for key, text in amounts.items()}


def _consumption(counter_set: str, amounts: Mapping[str, str], groups: Sequence[str]) -> Json:
    said: Json = {"counterSet": counter_set, "counters": _boxed(amounts)}
    return said | ({"compatibilityGroups": list(groups)} if groups else {})


def _typed(value: Value) -> Json:
    if isinstance(value, dict):
        return value
    first = value[0] if isinstance(value, list) else value
    name = "bool" if isinstance(first, bool) else "int" if isinstance(first, int) else "string"
    return {f"{name}s" if isinstance(value, list) else name: value}


# The cluster


def node(name: str, *declared: str, **labels: str) -> Json:
    """A node. declared: features that its kubelet declares."""
    return {"metadata": {"name": name, "labels": labels}, "status": {"declaredFeatures": list(declared)}}


def device_class(
    name: str, driver: str = "driver-a", *, where: Sequence[str] = (), config: Sequence[Json] = ()
) -> Json:
    """A class of a driver's devices."""
    selectors = [f'device.driver == "{driver}"', *where]
    return {"metadata": {"name": name}, "spec": {"selectors": [_cel(text) for text in selectors], "config": [*config]}}


N1: Final = node("n1", region="r1", planet="earth")
A: Final = device_class("a")
B: Final = device_class("b", "driver-b")


def world(
    slices: Sequence[Json],
    claims: Sequence[Json],
    *,
    classes: Sequence[Json] = (A, B),
    held: Sequence[Json] = (),
    node: Json = N1,
    off: Sequence[str] = (),
    on: Sequence[str] = (),
) -> World:
    """A world; the classes are a and b unless others are given."""
    return World(
        node=node,
        slices=tuple(slices),
        classes=tuple(classes),
        claims=tuple(claims),
        held=tuple(held),
        off=tuple(off),
        on=tuple(on),
    )


def pool(
    name: str,
    *devices: Json,
    driver: str = "driver-a",
    on: Placement = "n1",
    generation: int = 1,
    part: int = 1,
    of: int = 1,
    counters: Mapping[str, Mapping[str, str]] | None = None,
    skips: Sequence[str] = (),
    slice_name: str = "",
) -> Json:
    """A slice of a pool, which is all of it unless it has several parts.

    on:       the node's name, a node selector, ALL_NODES, or PER_DEVICE.
    counters: counter sets, which stand in a slice of their own.
    """
    spec: Json = {
        "driver": driver,
        "pool": {"name": name, "generation": generation, "resourceSliceCount": of},
        **place(on),
    }
    if devices:
        spec["devices"] = list(devices)
    if counters:
        spec["sharedCounters"] = [{"name": key, "counters": _boxed(amounts)} for key, amounts in counters.items()]
    if skips:
        spec["skipNodeOperations"] = list(skips)
    metadata = {"name": slice_name or f"{driver}-{name}-{generation}-{part}"}
    return {"metadata": metadata, "spec": spec}


def place(on: Placement) -> Json:
    """Where a slice or a device can be reached."""
    if isinstance(on, str):
        return {"nodeName": on}
    if "nodeSelectorTerms" in on:
        return {"nodeSelector": dict(on)}
    return dict(on)


def labelled(key: str, *values: str) -> Json:
    """The nodes with one of these labels."""
    return {"nodeSelectorTerms": [{"matchExpressions": [_in(key, *values)]}]}


def named(*names: str) -> Json:
    """The nodes of these names, and what an allocation says that binds its claim to a node."""
    return {"nodeSelectorTerms": [{"matchFields": [_in("metadata.name", *names)]}]}


def device(
    name: str,
    attributes: Mapping[str, Value] | None = None,
    *,
    capacity: Mapping[str, str | Json] | None = None,
    uses: Mapping[str, Mapping[str, str]] | None = None,
    groups: Sequence[str] = (),
    taints: Sequence[Json] = (),
    binding: Sequence[str] | None = None,
    failing: Sequence[str] | None = None,
    on: Placement | None = None,
    shared: bool = False,
    binds: bool = False,
) -> Json:
    """A device.

    attributes: a text, a whole number, a bool, a list of one of them, `version(...)`, or NO_VALUE.
    uses:       what it takes of which counter set; `groups` are those of each of them.
    """
    said: Json = {
        "name": name,
        "attributes": {key: _typed(value) for key, value in (attributes or {}).items()},
        "capacity": {
            key: value if isinstance(value, dict) else {"value": value} for key, value in (capacity or {}).items()
        },
        "taints": list(taints),
        "consumesCounters": [_consumption(key, amounts, groups) for key, amounts in (uses or {}).items()],
        "allowMultipleAllocations": shared,
        "bindsToNode": binds,
        "bindingConditions": binding,
        "bindingFailureConditions": failing,
    }
    return {key: value for key, value in said.items() if value} | (place(on) if on is not None else {})


def devices(prefix: str, count: int) -> list[Json]:
    """This many devices with nothing but a name, from 1 on."""
    return [device(f"{prefix}{number}") for number in range(1, count + 1)]


def version(text: str) -> Json:
    """A version, of an attribute."""
    return {"version": text}


def versions(*texts: str) -> Json:
    """Versions, of an attribute."""
    return {"versions": list(texts)}


def amount(value: str, default: str | None = None, *, values: Sequence[str] = (), **bounds: str) -> Json:
    """A capacity with a policy: valid values, or a range of min, max and step."""
    policy = {"default": default, "validValues": list(values), "validRange": bounds}
    return {"value": value, "requestPolicy": {key: said for key, said in policy.items() if said}}


def taint(key: str, effect: str) -> Json:
    """A taint of a device."""
    return {"key": key, "value": "yes", "effect": effect}


def tolerate(key: str, effect: str = "") -> Json:
    """A toleration of taints with this key."""
    return {"key": key, "operator": "Exists", **({"effect": effect} if effect else {})}


# Claims


def claim(
    name: str, *requests: Json, constraints: Sequence[Json] = (), config: Sequence[Json] = (), uid: str = ""
) -> Json:
    """A claim, in no namespace that messages would name."""
    asked: Json = {"requests": list(requests), "constraints": list(constraints), "config": list(config)}
    return {"metadata": {"name": name, "namespace": "ns", "uid": uid or name}, "spec": {"devices": asked}}


def request(
    name: str,
    class_name: str = "a",
    count: int = 1,
    *,
    mode: str = "ExactCount",
    where: Sequence[str | None] = (),
    tolerates: Sequence[Json] = (),
    capacity: Mapping[str, str] | None = None,
    admin: bool | None = None,
    derived: Mapping[str, str] | None = None,
) -> Json:
    """A request of its own. where: CEL; None is a selector of a kind that isn't known."""
    asked: Json = {"deviceClassName": class_name, "allocationMode": mode}
    if mode != "All":
        asked["count"] = count
    if where:
        asked["selectors"] = [_cel(text) for text in where]
    if tolerates:
        asked["tolerations"] = list(tolerates)
    if capacity is not None:
        asked["capacity"] = {"requests": dict(capacity)}
    if admin is not None:
        asked["adminAccess"] = admin
    if derived:
        asked["derivedAttributes"] = [{"name": key, "expression": text} for key, text in derived.items()]
    return {"name": name, "exactly": asked}


def first_of(name: str, *alternatives: Json) -> Json:
    """A request for the first of these that there is."""
    flat = [{"name": alternative["name"], **alternative["exactly"]} for alternative in alternatives]
    return {"name": name, "firstAvailable": flat}


def match(attribute: str, *requests: str) -> Json:
    """The devices of these requests, or of all, have the same value. A bare attribute is one of driver-a."""
    return {"matchAttribute": _full(attribute), **({"requests": list(requests)} if requests else {})}


def distinct(attribute: str, *requests: str) -> Json:
    """The devices of these requests, or of all, have different values."""
    return {"distinctAttribute": _full(attribute), **({"requests": list(requests)} if requests else {})}


def opaque(text: str, *requests: str, driver: str = "driver-a") -> Json:
    """Configuration, of a class or a claim."""
    said: Json = {"opaque": {"driver": driver, "parameters": {"text": text}}}
    return said | ({"requests": list(requests)} if requests else {})


def equals(attribute: str, value: str, driver: str = "driver-a") -> str:
    """CEL: a text attribute has this value."""
    return f'device.attributes["{driver}"].{attribute} == "{value}"'


def at_least(capacity: str, least: str, driver: str = "driver-a") -> str:
    """CEL: a capacity isn't less."""
    return f'device.capacity["{driver}"].{capacity}.compareTo(quantity("{least}")) >= 0'


def held(*device_ids: str, request: str = "r") -> Json:
    """A claim that holds whole devices, each as pool/device of driver-a, or with its driver in front."""
    return _holder([_result(one) | {"request": request} for one in device_ids])


def held_share(device_id: str, share: str, consumed: Mapping[str, str] | None = None) -> Json:
    """A claim that holds a share of a device. share: one hexadecimal digit that tells it from others."""
    result = _result(device_id) | {"shareID": f"0000000{share}-0000-4000-8000-000000000000"}
    return _holder([result | ({"consumedCapacity": dict(consumed)} if consumed else {})])


# Answers, in the form of case_values.render_outcome

NONE: Final[Json] = {"outcome": "none"}
INVALID_POOLS: Final[Json] = {"outcome": "invalid-pools"}
ON_N1: Final = named("n1")


def fits(*allocations: Json) -> Json:
    """Every claim gets this."""
    return {"outcome": "allocated", "allocations": list(allocations)}


def fails(message: str) -> Json:
    """The attempt ends."""
    return {"outcome": "error", "error": message}


def given(*devices: str | Json, on: Json | None = ON_N1, config: Iterable[Json] = ()) -> Json:
    """What a claim gets. devices: "request pool/device", or `got(...)`. on: its nodes; None: every node."""
    results = [got(*one.split()) if isinstance(one, str) else one for one in devices]
    return {"results": results, "config": list(config), "nodeSelector": on}


def got(
    request: str,
    device_id: str,
    *,
    admin: bool = False,
    tolerations: Sequence[Json] = (),
    binding: Sequence[str] = (),
    failing: Sequence[str] = (),
    consumed: Mapping[str, str] | None = None,
    skips: Sequence[str] = (),
) -> Json:
    """A device, for a request. consumed: of a share, which may consume nothing at all; None: it is no share."""
    return {
        "request": request,
        "device": "/".join(_split(device_id)),
        "adminAccess": admin,
        "tolerations": [[one["key"], one["operator"], "", one.get("effect", ""), None] for one in tolerations],
        "bindingConditions": list(binding),
        "bindingFailureConditions": list(failing),
        "shared": consumed is not None,
        "consumedCapacity": {key: parse_quantity(text).nano for key, text in sorted((consumed or {}).items())},
        "skipNodeOperations": list(skips),
    }


def from_class(text: str, *requests: str) -> Json:
    """Configuration that comes of a class."""
    return {"source": "FromClass", "requests": list(requests), "opaque": opaque(text)["opaque"]}


def from_claim(text: str, *requests: str) -> Json:
    """Configuration that comes of the claim."""
    return {"source": "FromClaim", "requests": list(requests), "opaque": opaque(text)["opaque"]}
