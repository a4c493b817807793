"""What is wrong within one envelope beyond its shape: its source, its claim, its adapters and containers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.specs.amounts import check_amounts
from poolwright.specs.claim_plan import (
    ENGINE_CONTAINER,
    MAX_PER_CLAIM,
    count_extra,
    devices_per_pod,
    plan_constraints,
    plan_requests,
)
from poolwright.specs.entries import check_exactly_one, repeated_entries
from poolwright.specs.envelope import Envelope
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.place import Place

_RULE: Final = "poolwright.dev/v1alpha1"
_DRA: Final = "Kubernetes resource/v1"


def check_envelope(envelope: Spec[Envelope]) -> list[Finding]:
    """Everything that is wrong with an envelope, wherever it is placed."""
    model = envelope.value.spec.model
    problems = check_exactly_one(
        envelope,
        ("spec", "model", "source"),
        {
            "persistentVolumeClaim": model.source.persistent_volume_claim is not None,
            "huggingFace": model.source.hugging_face is not None,
        },
        "the weights come from one place",
    )
    problems += [*check_amounts(envelope), *_check_lists(envelope)]
    problems += _check_adapters(envelope)
    problems += _check_pattern(envelope)
    problems += _check_extra_requests(envelope)
    problems += _check_devices(envelope)
    return problems


def _check_lists(envelope: Spec[Envelope]) -> list[Finding]:
    said = envelope.value.spec
    problems = repeated_entries(envelope, ("spec", "sidecars"), [s.name for s in said.sidecars])
    for index, sidecar in enumerate(said.sidecars):
        if sidecar.name == ENGINE_CONTAINER:
            problems.append(_engine_sidecar(envelope.place("spec", "sidecars", index, "name")))
    claim = said.claim
    for name, entries in (
        ("containers", list(claim.containers)),
        ("consumers", [f"{consumer.kind} {consumer.name}" for consumer in claim.consumers]),
        ("constraints", [constraint.match_attribute for constraint in claim.constraints]),
        ("extraRequests", [request.name for request in claim.extra_requests]),
    ):
        problems += repeated_entries(envelope, ("spec", "claim", name), entries)
    return problems


def _check_adapters(envelope: Spec[Envelope]) -> list[Finding]:
    adapters = envelope.value.spec.adapters
    if adapters is None:
        return []
    path = ("spec", "adapters", "items")
    return repeated_entries(envelope, path, [item.name for item in adapters.items]) + [
        Finding(
            code="adapter-rank",
            severity="error",
            place=envelope.place(*path, index, "rank"),
            what=f'adapter "{item.name}" has rank {item.rank}, and maxRank is {adapters.max_rank}',
            why="the engine pads every slot to maxRank, and refuses an adapter that doesn't fit",
            rule=_RULE,
            fix=f"raise maxRank to {item.rank}, or leave the adapter out",
        )
        for index, item in enumerate(adapters.items)
        if item.rank > adapters.max_rank
    ]


def _check_pattern(envelope: Spec[Envelope]) -> Iterator[Finding]:
    """Fields of the claim that its pattern needs, and those that belong to another one."""
    claim, pattern = envelope.value.spec.claim, envelope.value.spec.claim.pattern
    for owner, field, is_written, is_needed in (
        ("perPodShared", "containers", bool(claim.containers), True),
        ("named", "name", claim.name is not None, True),
        ("named", "consumers", bool(claim.consumers), False),
    ):
        if pattern == owner and is_needed and not is_written:
            yield _pattern(
                envelope.place("spec", "claim", "pattern"),
                f"the claim's pattern is {pattern}, which needs {field}",
                f"write {field}, or another pattern",
            )
        elif pattern != owner and is_written:
            yield _pattern(
                envelope.place("spec", "claim", field),
                f"the claim has {field}, and its pattern is {pattern}",
                f"remove {field}, or write pattern: {owner}",
            )
    if pattern == "perPodShared":
        yield from _check_containers(envelope)
    if pattern == "named" and envelope.value.spec.topology.nodes > 1:
        yield _pattern(
            envelope.place("spec", "topology", "nodes"),
            f"a replica has {envelope.value.spec.topology.nodes} nodes, and the devices of a named claim are on one",
            "write nodes: 1, or pattern: perPod",
        )


def _check_containers(envelope: Spec[Envelope]) -> Iterator[Finding]:
    said = envelope.value.spec
    known = [ENGINE_CONTAINER, *sorted(sidecar.name for sidecar in said.sidecars)]
    if said.engine.template is not None or not said.claim.containers:
        return  # a team's own workload has the containers it has; that there are none was said
    for index, name in enumerate(said.claim.containers):
        if name not in known:
            yield _container(
                envelope.place("spec", "claim", "containers", index),
                f'the claim is for a container "{name}", which the pod doesn\'t have',
                f"name a container of the pod: {', '.join(known)}",
            )
    if ENGINE_CONTAINER not in said.claim.containers:
        yield _container(
            envelope.place("spec", "claim", "containers"),
            f'the containers that use the devices are without "{ENGINE_CONTAINER}"',
            f"add {ENGINE_CONTAINER}",
        )


def _check_extra_requests(envelope: Spec[Envelope]) -> Iterator[Finding]:
    for index, request in enumerate(envelope.value.spec.claim.extra_requests):
        path = ("spec", "claim", "extraRequests", index)
        written = {"count": request.count is not None, "perDevice": request.per_device is not None}
        yield from check_exactly_one(envelope, path, written, "a request is for a number of devices in one way")
        if request.match_attribute is not None and request.per_device is None:
            yield Finding(
                code="extra-request-match",
                severity="error",
                place=envelope.place(*path, "matchAttribute"),
                what=f'the extra request "{request.name}" has matchAttribute and no perDevice',
                why="an attribute is shared with one accelerator, so it must be said how many go with each",
                rule=_RULE,
                fix="write perDevice in place of count, or remove matchAttribute",
            )


def _check_devices(envelope: Spec[Envelope]) -> Iterator[Finding]:
    """How many devices the topology and the claim come to, and whether one claim can hold them."""
    said = envelope.value.spec
    topology = said.topology
    product = f"{topology.tensor_parallel} x {topology.pipeline_parallel} x {topology.data_parallel}"
    devices = topology.tensor_parallel * topology.pipeline_parallel * topology.data_parallel
    if devices % topology.nodes:
        yield Finding(
            code="parallel-count",
            severity="error",
            place=envelope.place("spec", "topology", "nodes"),
            what=f"{devices} devices ({product}) can't be spread evenly over {topology.nodes} nodes",
            why="all pods of a replica come from one template, so each claims the same number of devices",
            rule=_RULE,
            fix="write a number of nodes that divides tensorParallel x pipelineParallel x dataParallel",
        )
        return
    own = devices_per_pod(topology)
    extra = sum(count_extra(said, index) for index in range(len(said.claim.extra_requests)))
    if own + extra > MAX_PER_CLAIM:
        over = f" over {topology.nodes} nodes" if topology.nodes > 1 else ""
        beside = f" and {extra} devices beside them" if extra else ""
        yield Finding(
            code="claim-too-many-devices",
            severity="error",
            place=envelope.place("spec", "topology"),
            what=f"each pod claims {own} accelerators ({product}{over}){beside}",
            why=f"one claim's allocation holds at most {MAX_PER_CLAIM} devices",
            rule=_DRA,
            fix="spread the replica over more nodes, or claim less beside each accelerator",
        )
        return
    yield from _check_plan(envelope)


def _check_plan(envelope: Spec[Envelope]) -> Iterator[Finding]:
    """Names that the claim's requests get, and how many constraints come of them."""
    users: dict[str, set[int | None]] = {}
    for planned in plan_requests(envelope.value.spec):
        users.setdefault(planned.name, set()).add(planned.extra)
    extra = envelope.value.spec.claim.extra_requests
    for name, indices in users.items():
        numbers = sorted(index for index in indices if index is not None)
        if len(indices) > 1 and len({extra[index].name for index in numbers}) == len(numbers):
            # Requests of one name were said to be; this is one that another's numbering gives, or the accelerators'.
            yield _request_name(envelope.place("spec", "claim", "extraRequests", numbers[-1], "name"), name)
    constraints = plan_constraints(envelope.value.spec)
    if len(constraints) > MAX_PER_CLAIM:
        yield Finding(
            code="wrong-length",
            severity="error",
            place=envelope.place("spec", "claim", "constraints"),
            what=f"each pod's claim has {len(constraints)} constraints",
            why=f"a claim has at most {MAX_PER_CLAIM}, one for each pair of devices among them",
            rule=_DRA,
            fix="constrain less, or pair less with each accelerator",
        )


def _engine_sidecar(place: Place) -> Finding:
    return Finding(
        code="name-reserved",
        severity="error",
        place=place,
        what=f'a sidecar is named "{ENGINE_CONTAINER}"',
        why="the serving engine's own container has that name",
        rule=_RULE,
        fix="choose another name",
    )


def _pattern(place: Place, what: str, fix: str) -> Finding:
    return Finding(
        code="claim-pattern",
        severity="error",
        place=place,
        what=what,
        why="the pattern decides whether each pod has a claim of its own and who uses it",
        rule=_RULE,
        fix=fix,
    )


def _container(place: Place, what: str, fix: str) -> Finding:
    return Finding(
        code="claim-container",
        severity="error",
        place=place,
        what=what,
        why="exactly the listed containers see the claim's devices",
        rule=_RULE,
        fix=fix,
    )


def _request_name(place: Place, name: str) -> Finding:
    return Finding(
        code="duplicate-name",
        severity="error",
        place=place,
        what=f'two requests of the claim are named "{name}"',
        why="requests for accelerators are called gpu, and where each has something paired with it gpu-0, nic-0, gpu-1 "
        "and so on",
        rule=_DRA,
        fix="rename the extra request",
    )
