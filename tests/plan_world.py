"""Demands in one line per thing, and random ones: nodes with numbered devices, pods that say which they take."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from poolwright.allocation.claim import (
    ALL,
    EXACT_COUNT,
    Claim,
    ClaimRequest,
    Constraint,
    DeviceClass,
    Request,
    Toleration,
)
from poolwright.allocation.features import Features
from poolwright.allocation.subject import Subject, claim_key
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import (
    AttributeOnDevice,
    CapacityOnDevice,
    Counters,
    Device,
    Placement,
    RequestPolicy,
    ResourceSlice,
    Taint,
    ValidRange,
)
from poolwright.plan.demand import Demand, Workload
from poolwright.specs.quantity import parse_quantity

DRIVER = "x.dev"
FEATURES = Features(
    minor="1.37", admin_access=True, prioritized_list=True, partitionable_devices=True, device_taints=True
)
EVERY = 0  # devices of a request for all that there are


@dataclass(frozen=True)
class World:
    """What the oracles read: nobody asks the allocator here."""

    nodes: tuple[tuple[int, ...], ...]  # of each node its devices by number, in the published order
    pods: tuple[Want | Group, ...]
    values: Mapping[int, Mapping[str, int]] = field(default_factory=dict)  # attributes of devices
    charges: Mapping[int, int] = field(default_factory=dict)  # what devices take of their node's one counter
    counter: int = 0  # how much of it each node has; 0: there is none
    capacity: Mapping[int, int] = field(default_factory=dict)  # of the devices that take several allocations
    step: int = 1  # what is taken of a capacity is a multiple of it
    tainted: frozenset[int] = frozenset()  # devices
    claims: tuple[Need, ...] = ()  # that pods share


@dataclass(frozen=True)
class Option:
    """An alternative of a request."""

    accepts: frozenset[int]
    count: int = 1  # or EVERY
    amount: int = 0  # of each device's capacity; 0: it doesn't ask for any
    tolerates: bool = False
    is_admin: bool = False


@dataclass(frozen=True)
class Need:
    """A claim: requests, each with its alternatives in order of preference."""

    requests: tuple[tuple[Option, ...], ...]
    match: str = ""  # an attribute that all its devices have in common


@dataclass(frozen=True)
class Part:
    """A pod of a replica."""

    need: Need | None = None  # a claim of its own
    uses: tuple[int, ...] = ()  # claims of the world
    nodes: tuple[int, ...] | None = None  # that are open to it; None: all


@dataclass(frozen=True)
class Group:
    """A workload whose replicas have these pods."""

    replicas: int
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Want:
    """A workload of pods with one request."""

    replicas: int
    accepts: tuple[frozenset[int], ...]  # alternatives of devices, in order of preference; mostly one
    count: int = 1
    match: str = ""  # an attribute that all its devices have in common
    nodes: tuple[int, ...] | None = None  # that are open to it; None: all

    @property
    def parts(self) -> tuple[Part, ...]:
        options = tuple(Option(accepts, self.count) for accepts in self.accepts)
        return (Part(Need((options,), self.match), nodes=self.nodes),)


def demand_of(world: World, *, features: Features = FEATURES) -> Demand:
    return Demand(
        workloads=tuple(workload(f"w{at}", want, world.claims) for at, want in enumerate(world.pods)),
        nodes=tuple(Node(name=node_name(at), labels={"n": str(at)}) for at in range(len(world.nodes))),
        slices=tuple(one for at, devices in enumerate(world.nodes) if devices for one in slices_of(world, at)),
        classes={"any": DeviceClass(name="any", selectors=(f"device.driver == '{DRIVER}'",))},
        features=replace(features, consumable_capacity=True) if world.capacity else features,
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
    return Device(
        driver=DRIVER,
        pool=pool,
        name=f"d{number}",
        attributes=said,
        capacity={(DRIVER, "memory"): _memory(world, number)} if number in world.capacity else {},
        taints=(Taint(key="sick", effect="NoSchedule"),) if number in world.tainted else (),
        consumes=(_count(world.charges[number]),) if number in world.charges else (),
        allow_multiple_allocations=number in world.capacity,
    )


def _memory(world: World, number: int) -> CapacityOnDevice:
    step = parse_quantity(str(world.step))
    policy = RequestPolicy(valid_range=ValidRange(min=step, step=step)) if world.step > 1 else None
    return CapacityOnDevice(name="memory", value=parse_quantity(str(world.capacity[number])), request_policy=policy)


def _count(amount: int) -> Counters:
    return Counters(counter_set="c", counters={"memory": parse_quantity(str(amount))})


def node_name(at: int) -> str:
    return f"n{at}"


def workload(title: str, want: Want | Group, shared: Sequence[Need] = ()) -> Workload:
    known = [_build_claim(f"s{at}", need) for at, need in enumerate(shared)]
    pods = []
    for at, part in enumerate(want.parts):
        own = [] if part.need is None else [_build_claim("c", part.need)]
        name = title if len(want.parts) == 1 else f"{title}-{at}"
        pods.append(pod_of(name, *(known[use] for use in part.uses), *own, nodes=part.nodes))
    used = {use for part in want.parts for use in part.uses}
    return Workload(
        title=title,
        replicas=want.replicas,
        pods=tuple(pods),
        shared=frozenset(claim_key(known[use]) for use in used),
    )


def _build_claim(name: str, need: Need) -> Claim:
    requests = []
    for at, options in enumerate(need.requests):
        of = [_build_request(f"a{number}", option) for number, option in enumerate(options)]
        title = "r" if len(need.requests) == 1 else f"r{at}"
        requests.append(
            ClaimRequest(name=title, exactly=replace(of[0], name=title))
            if len(of) == 1
            else ClaimRequest(name=title, first_available=tuple(of))
        )
    ties = (Constraint(match_attribute=f"{DRIVER}/{need.match}"),) if need.match else ()
    return Claim(namespace="t", name=name, requests=tuple(requests), constraints=ties)


def _build_request(name: str, option: Option) -> Request:
    return Request(
        name=name,
        class_name="any",
        mode=ALL if option.count == EVERY else EXACT_COUNT,
        count=option.count,
        selectors=(_select(option.accepts),),
        tolerations=(Toleration(key="sick", operator="Exists"),) if option.tolerates else (),
        capacity={"memory": parse_quantity(str(option.amount))} if option.amount else None,
        admin_access=True if option.is_admin else None,
    )


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
    nodes = deal(rng, devices)
    pods = []
    for _ in range(rng.randint(1, 3)):
        many = alternatives and rng.random() < 0.25
        accepts = tuple(draw_some(rng, devices) for _ in range(2 if many else 1))
        pods.append(Want(rng.randint(1, 3), accepts, nodes=draw_nodes(rng, len(nodes))))
    return World(nodes, tuple(pods))


def draw_mixed(seed: int) -> World:
    """A small catalog of pods of one to three devices, some of which must have an attribute in common."""
    rng = random.Random(seed)
    devices = list(range(rng.randint(2, 6)))
    nodes = deal(rng, devices)
    values = {number: {"x": rng.randint(0, 1), "y": rng.randint(0, 2)} for number in devices}
    uniform = rng.random() < 0.4
    pods = []
    for _ in range(rng.randint(1, 3)):
        accepts = frozenset(devices) if uniform or rng.random() < 0.4 else draw_some(rng, devices)
        count = rng.choice((1, 1, 2, 2, 3))
        match = rng.choice(("x", "y")) if count > 1 and not uniform and rng.random() < 0.4 else ""
        pods.append(Want(rng.randint(1, 3), (accepts,), count, match, draw_nodes(rng, len(nodes))))
    return World(nodes, tuple(pods), values)


def draw_partitions(seed: int) -> World:
    """A small catalog of partitions: nodes of one GPU each, whose devices take from its memory."""
    rng = random.Random(seed)
    devices = list(range(rng.randint(2, 6)))
    pods = [
        Want(rng.randint(1, 3), (draw_some(rng, devices),), rng.choice((1, 1, 2))) for _ in range(rng.randint(1, 3))
    ]
    charges = {device: rng.choice((1, 1, 2, 4)) for device in devices if rng.random() < 0.9}
    return World(deal(rng, devices), tuple(pods), charges=charges, counter=rng.choice((2, 4)))


def deal(rng: random.Random, devices: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    nodes: list[list[int]] = [[] for _ in range(rng.randint(1, 3))]
    for device in devices:
        rng.choice(nodes).append(device)
    return tuple(map(tuple, nodes))


def draw_some(rng: random.Random, devices: Sequence[int]) -> frozenset[int]:
    return frozenset(device for device in devices if rng.random() < 0.6)


def draw_nodes(rng: random.Random, count: int) -> tuple[int, ...] | None:
    return None if rng.random() < 0.8 else tuple(sorted(rng.sample(range(count), rng.randint(1, count))))
