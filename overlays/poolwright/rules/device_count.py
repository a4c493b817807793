"""Devices asked for against devices used: twice the same, too few, idle, or now these and now those."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from poolwright.rules.claim import Request
from poolwright.rules.engine_args import Engine, read_engine
from poolwright.rules.object_set import ObjectSet
from poolwright.rules.pod import RAW_GPU, Container, Pod
from poolwright.specs.finding import Finding
from poolwright.specs.place import Place

_ANY_GPU: Final = rf"{RAW_GPU}|[a-z0-9.-]+/gpu"
_IMPLICIT: Final = "deviceclass.resource.kubernetes.io/"
_MAX_SIZES: Final = 64  # of different sums that alternatives can have; beyond that nothing is said
_LOCAL: Final = "data parallel in the pod"
_RULE: Final = "vLLM and SGLang: one rank, one device"


def check_device_counts(objects: ObjectSet, pod: Pod) -> Iterator[Finding]:
    """Findings for each container of a pod."""
    for container in pod.containers:
        requests = _find_requests(objects, pod, container)
        if requests:
            yield from _check_double(objects, container)
        engine = read_engine(container) if container.is_main else None
        if requests and engine and engine.is_known:
            yield from _check_ranks(pod, container, engine, _count_devices(requests))


def _find_requests(objects: ObjectSet, pod: Pod, container: Container) -> tuple[Request, ...] | None:
    """The requests for accelerators that a container uses; None if one of its claims isn't known."""
    found: dict[tuple[int, str], Request] = {}
    for wanted, claim in objects.find_used_claims(pod, container):
        if claim is None:
            return None
        for request in claim.requests:
            ways = [way for way in request.alternatives if not way.is_admin]
            if wanted in ("", request.name) and any(objects.is_accelerator(way.class_name) for way in ways):
                found[id(claim), request.name] = request
    return tuple(found.values())


def _check_double(objects: ObjectSet, container: Container) -> Iterator[Finding]:
    by_class = {
        device_class.root.get("spec", "extendedResourceName").text: name
        for name, device_class in objects.classes.items()
    }
    for name, amount in container.resources():
        class_name = name.removeprefix(_IMPLICIT) if name.startswith(_IMPLICIT) else by_class.get(name)
        if (class_name and objects.is_accelerator(class_name)) or (not class_name and re.fullmatch(_ANY_GPU, name)):
            yield Finding(
                code="double-request",
                severity="error",
                place=amount.place,
                what=f'container "{container.name}" asks for a GPU twice: by its claim and as {name}: {amount.value}',
                why="the two are added up: the pod takes both, or no node can give it both and it is never scheduled",
                rule="Kubernetes DRA and extended resources",
                fix=f"remove {name} from the container's resources and keep the claim",
            )


def _count_devices(requests: tuple[Request, ...]) -> tuple[int, ...] | None:
    """Every number of devices that the requests can give, ascending; None where that isn't known."""
    sums = {0}
    for request in requests:
        counts = {way.count for way in request.alternatives}
        sums = {total + count for total in sums for count in counts if count is not None}
        if None in counts or len(sums) > _MAX_SIZES:
            return None
    return tuple(sorted(sums))


def _check_ranks(pod: Pod, container: Container, engine: Engine, given: tuple[int, ...] | None) -> Iterator[Finding]:
    """Compares ranks of the pods that serve together with the devices of those."""
    names = ["tensor parallel", "pipeline parallel", *_data_parallel(engine)]
    ranks = math.prod(engine.size(name) for name in names)
    pods = 1 if _LOCAL in engine.sizes else max(pod.group_size, engine.size("nodes"))
    if given is None:
        return
    fewest, most = given[0] * pods, given[-1] * pods
    start = f'container "{container.name}" starts {_count(ranks, "rank")} ({_product(engine, names)})'
    has = _devices(given, pods)
    needed = _count(-(-ranks // pods), "device") + (" a pod" if pods > 1 else "")
    place = (engine.field or container.claims[0]).place
    if most < ranks:
        if not engine.uses_ray or pod.group_size > 1:
            yield _too_few(place, f"{start}, and its claim gives {has}", needed, most)
    elif fewest < most:
        yield _differ(place, f"{start}, and its claim may give {has}", needed, _outcome(fewest, most, ranks))
    elif fewest > ranks:
        yield _idle(place, f"{start}, and its claim gives {has}: {most - ranks} of {most} idle", needed)


def _too_few(place: Place, what: str, needed: str, most: int) -> Finding:
    return Finding(
        code="parallel-too-few",
        severity="error",
        place=place,
        what=what,
        why="each rank needs a device of its own: the engine stops at its start, again and again",
        rule=_RULE,
        fix=f"claim {needed}, or lower the sizes to {_count(most, 'rank')}",
    )


def _differ(place: Place, what: str, needed: str, outcome: str) -> Finding:
    return Finding(
        code="parallel-alternatives",
        severity="warning",
        place=place,
        what=what,
        why=f"the sizes are fixed while the claim's alternatives differ: {outcome}",
        rule=_RULE,
        fix=f"let every alternative give {needed}, or serve each size by a workload of its own",
    )


def _idle(place: Place, what: str, needed: str) -> Finding:
    return Finding(
        code="parallel-idle",
        severity="warning",
        place=place,
        what=what,
        why="a claimed device is nobody else's, used or not",
        rule=_RULE,
        fix=f"claim {needed}, or raise a size",
    )


def _data_parallel(engine: Engine) -> list[str]:
    """Which data-parallel size multiplies the ranks; SGLang's attention ranks are tensor-parallel ones already."""
    if "--enable-dp-attention" in engine.flags:
        return []
    return [_LOCAL if _LOCAL in engine.sizes else "data parallel"]


def _product(engine: Engine, names: list[str]) -> str:
    written = [f"{name} {engine.size(name)}" for name in names if name in engine.sizes]
    return " x ".join(written) or "no parallel size is set"


def _devices(given: tuple[int, ...], pods: int) -> str:
    numbers = " or ".join(map(str, given))
    return f"{numbers} device{'' if given == (1,) else 's'}" + (f" in each of {pods} pods" if pods > 1 else "")


def _outcome(fewest: int, most: int, ranks: int) -> str:
    if fewest < ranks:
        return f"with {fewest} of them the engine stops at its start"
    return f"with {most} of them {most - ranks} idle"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
