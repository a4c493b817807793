"""Demands in one line per thing, and random ones: nodes with numbered devices, pods that say which they take."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from poolwright.allocation.claim import Claim, ClaimRequest, Constraint, DeviceClass, Request
from poolwright.allocation.features import Features
from poolwright.allocation.subject import Subject
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import AttributeOnDevice, Counters, Device, Placement, ResourceSlice
from poolwright.plan.demand import Demand, Workload
from poolwright.specs.quantity import parse_quantity

DRIVER = "x.dev"
FEATURES = Features(minor="1.37", prioritized_list=True, partitionable_devices=True, device_taints=True)


@dataclass(frozen=True)
class World:
    """What the oracles read: nobody asks the allocator here."""

    nodes: tuple[tuple[int, ...], ...]  # of each node its devices by number, in the published order
    pods: tuple[Want, ...]
    values: Mapping[int, Mapping[str, int]] = field(default_factory=dict)  # attributes of devices
    charges: Mapping[int, int] = field(default_factory=dict)  # what devices take of their node's one counter
    counter: int = 0  # how much of it each node has; 0: there is none


@dataclass(frozen=True)
class Want:
    """A workload of a world."""

    replicas: int
    accepts: tuple[frozenset[int], ...]  # alternatives of devices, in order of preference; mostly one
    count: int = 1
    match: str = ""  # an attribute that all its devices have in common
    nodes: tuple[int, ...] | None = None  # that are open to it; None: all


def demand_of(world: World, *, features: Features = FEATURES) -> Demand:
    return Demand(
        workloads=tuple(workload(f"w{at}", want) for at, want in enumerate(world.pods)),
        nodes=tuple(Node(name=node_name(at), labels={"n": str(at)}) for at in range(len(world.nodes))),
        slices=tuple(one for at, devices in enumerate(world.nodes) if devices for one in slices_of(world, at)),
        classes={"any": DeviceClass(name="any", selectors=(f"device.driver == '{DRIVER}'",))},
        features=features,
    )


def slices_of(world: World, at: int) -> tuple[ResourceSlice, ...]:
    """A node's pool: its devices, and in a slice of its own its counter."""
    name = node_name(at)
    one = ResourceSlice(
        name=name,
        driver=DRIVER,
        pool=name,
        generation=1,
        slice_count=2 if world.counter else 1,
        placement=Placement(node_name=name),
        devices=tuple(device_of(world, name, number) for number in world.nodes[at]),
    )
    if not world.counter:
        return (one,)
    return one, replace(one, name=f"{name}-counters", devices=(), shared_counters=(_count(world.counter),))


def device_of(world: World, pool: str, number: int) -> Device:
    values = {"id": number, **world.values.get(number, {})}
    said = {(DRIVER, name): AttributeOnDevice(type="int", value=value) for name, value in values.items()}
    consumes = (_count(world.charges[number]),) if number in world.charges else ()
    return Device(driver=DRIVER, pool=pool, name=f"d{number}", attributes=said, consumes=consumes)


def _count(amount: int) -> Counters:
    return Counters(counter_set="c", counters={"memory": parse_quantity(str(amount))})


def node_name(at: int) -> str:
    return f"n{at}"


def workload(title: str, want: Want) -> Workload:
    alternatives = tuple(
        Request(name=f"a{at}", class_name="any", count=want.count, selectors=(_select(accepts),))
        for at, accepts in enumerate(want.accepts)
    )
    request = (
        ClaimRequest(name="r", exactly=replace(alternatives[0], name="r"))
        if len(alternatives) == 1
        else ClaimRequest(name="r", first_available=alternatives)
    )
    ties = (Constraint(match_attribute=f"{DRIVER}/{want.match}", requests=("r",)),) if want.match else ()
    claim = Claim(namespace="t", name="c", requests=(request,), constraints=ties)
    return Workload(title=title, replicas=want.replicas, pods=(pod_of(title, claim, nodes=want.nodes),))


def pod_of(name: str, *claims: Claim, nodes: tuple[int, ...] | None = None) -> Subject:
    term = {"key": "n", "operator": "In", "values": [str(at) for at in nodes or ()]}
    affinity = None if nodes is None else {"nodeSelectorTerms": [{"matchExpressions": [term]}]}
    return Subject(kind="Pod", namespace="t", name=name, claims=claims, node_affinity=affinity)


def _select(accepts: frozenset[int]) -> str:
    numbers = ", ".join(map(str, sorted(accepts)))
    return f"device.attributes['{DRIVER}'].id in [{numbers}]" if accepts else "false"


def draw_singles(seed: int, *, alternatives: bool = True) -> World:
    """A small catalog of pods that take one device each."""
    rng = random.Random(seed)
    devices = list(range(rng.randint(1, 5)))
    nodes = _deal(rng, devices)
    pods = []
    for _ in range(rng.randint(1, 3)):
        many = alternatives and rng.random() < 0.25
        accepts = tuple(_draw_some(rng, devices) for _ in range(2 if many else 1))
        pods.append(Want(rng.randint(1, 3), accepts, nodes=_draw_nodes(rng, len(nodes))))
    return World(nodes, tuple(pods))


def draw_mixed(seed: int) -> World:
    """A small catalog of pods of one to three devices, some of which must have an attribute in common."""
    rng = random.Random(seed)
    devices = list(range(rng.randint(2, 6)))
    nodes = _deal(rng, devices)
    values = {number: {"x": rng.randint(0, 1), "y": rng.randint(0, 2)} for number in devices}
    uniform = rng.random() < 0.4
    pods = []
    for _ in range(rng.randint(1, 3)):
        accepts = frozenset(devices) if uniform or rng.random() < 0.4 else _draw_some(rng, devices)
        count = rng.choice((1, 1, 2, 2, 3))
        match = rng.choice(("x", "y")) if count > 1 and not uniform and rng.random() < 0.4 else ""
        pods.append(Want(rng.randint(1, 3), (accepts,), count, match, _draw_nodes(rng, len(nodes))))
    return World(nodes, tuple(pods), values)


def draw_partitions(seed: int) -> World:
    """A small catalog of partitions: nodes of one GPU each, whose devices take from its memory."""
    rng = random.Random(seed)
    devices = list(range(rng.randint(2, 6)))
    pods = [
        Want(rng.randint(1, 3), (_draw_some(rng, devices),), rng.choice((1, 1, 2))) for _ in range(rng.randint(1, 3))
    ]
    charges = {device: rng.choice((1, 1, 2, 4)) for device in devices if rng.random() < 0.9}
    return World(_deal(rng, devices), tuple(pods), charges=charges, counter=rng.choice((2, 4)))


def _deal(rng: random.Random, devices: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    nodes: list[list[int]] = [[] for _ in range(rng.randint(1, 3))]
    for device in devices:
        rng.choice(nodes).append(device)
    return tuple(map(tuple, nodes))


def _draw_some(rng: random.Random, devices: Sequence[int]) -> frozenset[int]:
    return frozenset(device for device in devices if rng.random() < 0.6)


def _draw_nodes(rng: random.Random, count: int) -> tuple[int, ...] | None:
    return None if rng.random() < 0.8 else tuple(sorted(rng.sample(range(count), rng.randint(1, count))))
