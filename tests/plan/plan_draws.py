"""Random worlds of pods that differ in one way from plain ones, a function each; and of pods that do in all ways."""

from __future__ import annotations

import random
from collections.abc import Callable

from plan_world import (
    EVERY,
    Group,
    Need,
    Option,
    Part,
    Want,
    World,
    deal,
    draw_mixed,
    draw_nodes,
    draw_partitions,
    draw_singles,
    draw_some,
)


def draw_groups(seed: int) -> World:
    """Replicas of two or three pods, which are placed one by one, beside plain pods."""
    rng = random.Random(seed)
    devices = list(range(rng.randint(2, 5)))
    nodes = deal(rng, devices)
    groups = [
        Group(rng.randint(1, 2), tuple(_draw_part(rng, devices, len(nodes)) for _ in range(rng.choice((2, 2, 3)))))
        for _ in range(rng.choice((1, 1, 2)))
    ]
    plain = [Want(rng.randint(1, 2), (_accept(rng, devices),), rng.choice((1, 1, 2)))] if rng.random() < 0.7 else []
    return World(nodes, (*groups, *plain))


def _accept(rng: random.Random, devices: list[int]) -> frozenset[int]:
    return frozenset(devices) if rng.random() < 0.4 else draw_some(rng, devices)


def _draw_part(rng: random.Random, devices: list[int], nodes: int) -> Part:
    option = Option(_accept(rng, devices), rng.choice((1, 1, 1, 2)))
    return Part(Need(((option,),)), nodes=draw_nodes(rng, nodes))


def draw_shared_claims(seed: int) -> World:
    """Claims that all replicas use, some beside one of their own, some of two workloads together."""
    rng = random.Random(seed)
    devices = list(range(rng.randint(1, 5)))
    nodes = deal(rng, devices)
    claims = tuple(
        Need(((Option(_accept(rng, devices), rng.choice((1, 1, 2))),),)) for _ in range(rng.choice((1, 1, 2)))
    )
    pods: list[Want | Group] = []
    for _ in range(rng.randint(1, 3)):
        uses = tuple(use for use in range(len(claims)) if rng.random() < 0.6)
        need = Need(((Option(_accept(rng, devices), rng.choice((1, 1, 2))),),))
        own = need if not uses or rng.random() < 0.4 else None
        pods.append(Group(rng.randint(1, 3), (Part(own, uses, draw_nodes(rng, len(nodes))),)))
    return World(nodes, tuple(pods), claims=claims)


def draw_every(seed: int) -> World:
    """Requests for all of a node's devices that match, beside others."""
    rng = random.Random(seed)
    devices = list(range(rng.randint(1, 6)))
    nodes = deal(rng, devices)
    pods: list[Want | Group] = []
    for at in range(rng.randint(1, 3)):
        is_every = at == 0 or rng.random() < 0.3
        option = Option(_accept(rng, devices), EVERY if is_every else rng.choice((1, 1, 2)))
        pods.append(_plain(rng, ((option,),), len(nodes)))
    return World(nodes, tuple(pods))


def _plain(rng: random.Random, requests: tuple[tuple[Option, ...], ...], nodes: int, match: str = "") -> Group:
    return Group(rng.choice((1, 1, 2, 3)), (Part(Need(requests, match), nodes=draw_nodes(rng, nodes)),))


def draw_pairs(seed: int) -> World:
    """GPUs and NICs: some pods want one of each below the same root, some only one of them."""
    rng = random.Random(seed)
    gpus, nics = list(range(rng.randint(2, 4))), list(range(10, 10 + rng.randint(1, 3)))
    nodes = deal(rng, [*gpus, *nics]) if rng.random() < 0.4 else ((*gpus, *nics),)
    values = {device: {"root": rng.randint(0, 1)} for device in (*gpus, *nics)}
    pods: list[Want | Group] = []
    for at in range(rng.randint(1, 3)):
        gpu, nic = (frozenset(some) if rng.random() < 0.7 else _accept(rng, some) for some in (gpus, nics))
        requests = ((Option(gpu, rng.choice((1, 1, 1, 2))),), (Option(nic),))
        if at and rng.random() < 0.6:
            requests = (rng.choice(requests),)
        pods.append(_plain(rng, requests, len(nodes), "root" if rng.random() < 0.8 else ""))
    return World(nodes, tuple(pods), values)


def draw_shares(seed: int) -> World:
    """Devices that serve several claims, each with a part of their memory; some are for one claim each."""
    rng = random.Random(seed)
    devices = list(range(rng.randint(1, 4)))
    nodes = deal(rng, devices)
    capacity = {device: rng.choice((2, 3, 4)) for device in devices if rng.random() < 0.8} or {0: 3}
    pods: list[Want | Group] = []
    for _ in range(rng.randint(1, 3)):
        amount = rng.choice((0, 1, 1, 2, 3))
        option = Option(_accept(rng, devices), rng.choice((1, 1, 1, 2)), amount)
        twice = ((option,), (option,)) if rng.random() < 0.15 else ((option,),)
        pods.append(_plain(rng, twice, len(nodes)))
    return World(nodes, tuple(pods), capacity=capacity, step=rng.choice((1, 1, 2)))


def draw_alternatives(seed: int) -> World:
    """Pods that take two large devices or else more small ones, or one of these."""
    rng = random.Random(seed)
    devices = list(range(rng.randint(2, 6)))
    nodes = deal(rng, devices)
    pods: list[Want | Group] = []
    for at in range(rng.randint(1, 3)):
        options = tuple(
            Option(_accept(rng, devices), rng.choice((1, 1, 2, 3)))
            for _ in range(rng.choice((2, 2, 3)) if at == 0 or rng.random() < 0.4 else 1)
        )
        pods.append(_plain(rng, (options,), len(nodes)))
    return World(nodes, tuple(pods))


def draw_taints(seed: int) -> World:
    """Devices with taints, which some pods tolerate."""
    rng = random.Random(seed)
    devices = list(range(rng.randint(1, 6)))
    nodes = deal(rng, devices)
    tainted = frozenset(device for device in devices if rng.random() < 0.4)
    pods: list[Want | Group] = []
    for _ in range(rng.randint(1, 3)):
        count = rng.choice((1, 1, 1, 2, EVERY))
        option = Option(_accept(rng, devices), count, tolerates=rng.random() < 0.4)
        pods.append(_plain(rng, ((option,),), len(nodes)))
    return World(nodes, tuple(pods), tainted=tainted)


def draw_admins(seed: int) -> World:
    """Pods that look after devices, whoever has them; some take one too."""
    rng = random.Random(seed)
    devices = list(range(rng.randint(1, 5)))
    nodes = deal(rng, devices)
    pods: list[Want | Group] = []
    for at in range(rng.randint(1, 3)):
        is_admin = at == 0 or rng.random() < 0.3
        option = Option(_accept(rng, devices), rng.choice((1, 1, 2, EVERY) if is_admin else (1, 2)), is_admin=is_admin)
        more = ((Option(_accept(rng, devices)),),) if is_admin and rng.random() < 0.3 else ()
        pods.append(_plain(rng, ((option,), *more), len(nodes)))
    charges = {device: rng.choice((1, 2)) for device in devices} if rng.random() < 0.4 else {}
    return World(nodes, tuple(pods), charges=charges, counter=3 if charges else 0)


def draw_anything(seed: int) -> World:
    """All of it at once."""
    rng = random.Random(seed)
    devices = list(range(rng.randint(2, 5)))
    nodes = deal(rng, devices)
    shared = devices if rng.random() < 0.4 else []
    capacity = {device: rng.choice((2, 3, 4)) for device in shared if rng.random() < 0.6}
    has_shares, has_counter = bool(capacity), rng.random() < 0.3
    claims = tuple(Need(_draw_requests(rng, devices, has_shares)) for _ in range(rng.choice((0, 0, 1))))
    pods: list[Want | Group] = []
    for _ in range(rng.randint(1, 3)):
        parts = []
        for _ in range(rng.choice((1, 1, 1, 2))):
            uses = tuple(use for use in range(len(claims)) if rng.random() < 0.4)
            # Of two claims of a pod the second one can't look after a device of the first: that is left out here.
            requests = _draw_requests(rng, devices, has_shares, may_administer=not uses)
            is_every = any(option.count == EVERY for options in requests for option in options)
            match = "x" if not is_every and rng.random() < 0.3 else ""
            own = None if uses and rng.random() < 0.5 else Need(requests, match)
            parts.append(Part(own, uses, draw_nodes(rng, len(nodes))))
        pods.append(Group(rng.randint(1, 2), tuple(parts)))
    return World(
        nodes,
        tuple(pods),
        values={device: {"x": rng.randint(0, 1)} for device in devices},
        charges={device: rng.choice((1, 2)) for device in devices if rng.random() < 0.8} if has_counter else {},
        counter=rng.choice((2, 4)) if has_counter else 0,
        capacity=capacity,
        step=rng.choice((1, 2)) if has_shares else 1,
        tainted=frozenset(device for device in devices if rng.random() < 0.15),
        claims=claims,
    )


def _draw_requests(
    rng: random.Random, devices: list[int], has_shares: bool, *, may_administer: bool = False
) -> tuple[tuple[Option, ...], ...]:
    requests = []
    for _ in range(rng.choice((1, 1, 1, 2))):
        is_admin = may_administer and rng.random() < 0.1
        options = rng.choice((1, 1, 1, 2)) if not is_admin else 1
        requests.append(
            tuple(
                Option(
                    _accept(rng, devices),
                    rng.choice((1, 1, 1, 2, EVERY)),
                    rng.choice((0, 1, 2)) if has_shares else 0,
                    tolerates=rng.random() < 0.3,
                    is_admin=is_admin,
                )
                for _ in range(options)
            )
        )
    return tuple(requests)


DRAWS: dict[str, Callable[[int], World]] = {
    "singles": draw_singles,
    "mixed": draw_mixed,
    "partitions": draw_partitions,
    "groups": draw_groups,
    "shared claims": draw_shared_claims,
    "every device": draw_every,
    "pairs": draw_pairs,
    "shares": draw_shares,
    "alternatives": draw_alternatives,
    "taints": draw_taints,
    "administration": draw_admins,
    "anything": draw_anything,
}
