"""What an allocation answer rests on: what was looked at, and what was taken for granted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from poolwright.allocation.allocator import MAX_LOOKS
from poolwright.allocation.answer import Assumptions
from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.features import JUDGED_GATES, Features
from poolwright.allocation.nodes import list_ungiven
from poolwright.allocation.subjects import Subjects

COMPARED: Final = ("1.36", "1.37")  # every answer of these was compared with upstream's own, device by device

MAX_NAMED: Final = 3  # pods or nodes that a sentence names


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is asked."""

    pod: tuple[str | None, str] | None = None  # only this one, by namespace (None: any) and name
    node: str | None = None  # on no other node
    each_alone: bool = False  # each as if no other were waiting
    max_looks: int = MAX_LOOKS


def list_assumptions(
    objects: ClusterObjects, subjects: Subjects, features: Features, options: Options, gates: Iterable[str]
) -> Assumptions:
    """The assumptions of an answer.

    gates: those that were set otherwise than by default.
    """
    unjudged = sorted(set(gates) - JUDGED_GATES)
    return Assumptions(
        modelled=tuple(_list_modelled(objects, features, options)),
        assumed=(
            *(f"gate {gate} is set, and nothing here depends on it" for gate in unjudged),
            *_list_assumed(objects, subjects, features, options),
        ),
    )


def _list_modelled(objects: ClusterObjects, features: Features, options: Options) -> Iterator[str]:
    yield f"Kubernetes {features.minor} with its {features.channel} allocator"
    held = sum(placed.value.allocation is not None for placed in objects.claims)
    yield f"what {held} allocated claim{'s' if held != 1 else ''} hold{'s' if held == 1 else ''}"
    if objects.nodes:
        yield "node selectors, required node affinity, node taints, cordoned nodes"
    if features.device_taints:
        rules = len(objects.taint_rules) if features.applies_taint_rules else 0
        yield f"device taints, with those of {rules} DeviceTaintRule{'s' if rules != 1 else ''}"
    if options.each_alone:
        yield "each pod as if no other were waiting"
    elif options.pod is not None:
        yield "this pod as if no other were waiting"
    else:
        yield "pods one after the other: by priority, then by age, then as given; claims without a pod come last"


def _list_assumed(objects: ClusterObjects, subjects: Subjects, features: Features, options: Options) -> Iterator[str]:
    if features.minor not in COMPARED:
        yield f"the allocator of {features.minor} was compared with upstream only in whether there is an answer"
    if not features.is_ordered:
        yield "which devices are chosen differs from run to run in this version with these gates"
    if not objects.nodes:
        yield "no Node objects were given: nodes are those that something names, without taints and device plugins"
    elif options.node is None:
        yield "of the nodes that can serve a pod the first by name is taken; kube-scheduler scores them"
    if objects.taint_rules and not features.applies_taint_rules:
        yield "DeviceTaintRules taint nothing, because their gate is off"
    ungiven = list_ungiven(objects)
    if ungiven:
        yield f"nodes that slices name and no Node object was given for are not there: {_join(ungiven)}"
    yield "CPU, memory, volumes and ports of nodes leave room for the pod"
    yield "slices are current, drivers are healthy, nothing else holds their devices"
    if subjects.unknown:
        who = _name(subjects.unknown)
        yield f"{who} on a node with claims that were not given: what those hold is taken to be free"
    yield "nothing is preempted, nodes are not added, admission lets the pods in"
    if subjects.unranked:
        yield f"{_name(subjects.unranked)} of a priority class whose priority isn't known: 0 is taken"
    for title, count in sorted(subjects.left_out.items()):
        yield f"{title} has yet to make more than {count:,} pods, and the others are not looked at"
    for title, unjudged in sorted(subjects.unjudged.items()):
        yield f"{title} has {', '.join(unjudged)}, which are not looked at"


def _name(titles: Sequence[str]) -> str:
    """`Pod x/a is`, `3 pods (Pod x/a, ...) are`."""
    if len(titles) == 1:
        return f"{titles[0]} is"
    return f"{len(titles)} pods ({_join(titles)}) are"


def _join(names: Sequence[str]) -> str:
    return ", ".join(names[:MAX_NAMED]) + (", ..." if len(names) > MAX_NAMED else "")
