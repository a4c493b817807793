"""What runs of a workload: replicas that have all their devices, and those that have a part of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from poolwright.allocation.pod import Pod, PodClaim
from poolwright.allocation.pod import Workload as GivenWorkload
from poolwright.allocation.subject import Subject
from poolwright.plan.demand import Workload, find_pinned
from poolwright.plan.live.owners import Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePod:
    """A pod as it was observed."""

    pod: Pod
    subject: Subject  # with its claims

    @property
    def runs(self) -> bool:
        """Whether it has its node and all its devices."""
        allocated = all(claim.allocation is not None for claim in self.subject.claims)
        return bool(self.pod.node_name) and allocated and not self.subject.problem

    @property
    def holds(self) -> bool:
        """Whether it has devices, though it may lack others."""
        return any(claim.allocation is not None for claim in self.subject.claims)

    @property
    def waits(self) -> bool:
        """Whether it will be placed with what it holds: a claim that is being deleted keeps it back."""
        return not self.pod.node_name and not any(claim.is_deleted for claim in self.subject.claims)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningReplica:
    """A replica all of whose pods have their nodes and devices."""

    name: str  # of its pod, or of its group
    pods: tuple[LivePod, ...]  # at their places in it
    is_older: bool = False  # made from another template than the one that is judged


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunReplica:
    """A replica that has a part of its devices, and waits for the others."""

    name: str
    places: tuple[int, ...]  # at which pods are still to be placed
    pods: tuple[Subject, ...]  # these, with the claims they have


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A workload with what runs of it."""

    workload: Workload  # as it is judged, its claims of a name of their own as observed
    running: tuple[RunningReplica, ...] = ()  # by name
    begun: tuple[BegunReplica, ...] = ()  # by name; no more than are to be placed
    excess: tuple[LivePod, ...] = ()  # pods that wait though the peak doesn't count them
    leaving: int = 0  # pods that are being deleted, and hold devices still
    bypassed: int = 0  # pods that have a node and not their devices, which they never get

    @property
    def to_place(self) -> int:
        """Replicas between those that run and the peak, begun ones included."""
        return max(0, self.workload.replicas - len(self.running))

    @property
    def older(self) -> int:
        """Replicas that run and were made from another template."""
        return sum(one.is_older for one in self.running)


def build_observed(workload: Workload, given: GivenWorkload, seats: Iterable[tuple[Seat, LivePod]]) -> Observed:
    """What runs of a workload.

    given: the object that the workload comes from, with its pod templates.
    seats: its pods that haven't ended, each at its place, in the order of their names.
    """
    seats = list(seats)
    if given.replicas is None:
        return _observe_daemons(workload, given, [one for _, one in seats])
    templates = [group.template for group in given.pods for _ in range(group.count)]
    return _observe(workload, templates, seats)


def _observe_daemons(workload: Workload, given: GivenWorkload, pods: Iterable[LivePod]) -> Observed:
    """A DaemonSet is one replica with a pod for each node: it runs when all of them do."""
    places = {find_pinned(pod): at for at, pod in enumerate(workload.pods)}
    nodes = [(one.pod.node_name or find_pinned(one.subject), one) for one in pods]
    seats = [((given.name, places[node]), one) for node, one in nodes if node in places]
    return _observe(workload, [given.pods[0].template] * len(workload.pods), seats)


def _observe(workload: Workload, templates: list[Pod], seats: Sequence[tuple[Seat, LivePod]]) -> Observed:
    """templates: by place in a replica."""
    replicas: dict[str, dict[int, LivePod]] = {}
    for (name, place), one in seats:
        if not one.pod.is_deleted:
            replicas.setdefault(name, {}).setdefault(place, one)
    running, begun, waiting = [], [], []
    for name, pods in sorted(replicas.items()):
        size = max(one.pod.group_size for one in pods.values()) or len(templates)
        lacking = tuple(at for at in range(size) if at not in pods or not pods[at].runs)
        if not lacking:
            is_older = size != len(templates) or _is_older(workload, templates, pods)
            running.append(RunningReplica(name=name, pods=tuple(pods[at] for at in range(size)), is_older=is_older))
        elif any(one.holds and (one.runs or one.waits) for one in pods.values()):
            begun.append(BegunReplica(name=name, places=lacking, pods=tuple(_list_rest(workload, pods, lacking))))
        else:
            waiting.append(name)
    to_place = max(0, workload.replicas - len(running))
    beyond = [*(one.name for one in begun), *waiting][to_place:]
    return Observed(
        workload=workload,
        running=tuple(running),
        begun=tuple(begun[:to_place]),
        excess=tuple(one for name in beyond for one in replicas[name].values() if one.waits),
        leaving=sum(one.pod.is_deleted and one.holds for _, one in seats),
        bypassed=sum(not one.pod.is_deleted and bool(one.pod.node_name) and not one.runs for _, one in seats),
    )


def _is_older(workload: Workload, templates: list[Pod], pods: Mapping[int, LivePod]) -> bool:
    """Whether pods claim otherwise than they would if they were made now: templates by name, and what they ask for."""
    return any(
        _list_names(pods[at].pod.claims) != _list_names(template.claims)
        or _list_asked(pods[at].subject) != _list_asked(workload.pods[at])
        for at, template in enumerate(templates)
    )


def _list_names(claims: Iterable[PodClaim]) -> list[tuple[str, str | None, str | None]]:
    return sorted(
        ((one.name, one.claim_name, one.template_name) for one in claims),
        key=lambda names: names[0],
    )


def _list_asked(subject: Subject) -> list[str]:
    return sorted(repr((claim.requests, claim.constraints)) for claim in subject.claims)


def _list_rest(workload: Workload, pods: Mapping[int, LivePod], lacking: Iterable[int]) -> Iterator[Subject]:
    """The pods that a replica lacks: with what they hold, or as its workload makes them now."""
    for at in lacking:
        one = pods.get(at)
        if one is not None and one.holds and one.waits:
            yield one.subject
        else:
            yield workload.pods[min(at, len(workload.pods) - 1)]
