"""Whether witnesses of a plan that was printed before still come to what it said, on a cluster as it is now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from poolwright.allocation.allocator import Allocator
from poolwright.allocation.held import DeviceId
from poolwright.plan.demand import Demand, Workload
from poolwright.plan.free_placement import FreePlacement
from poolwright.plan.recorded import RecordedCluster, RecordedWitness
from poolwright.plan.replay import Replay
from poolwright.plan.report.words import count_of, verb_of
from poolwright.plan.supply import Supply
from poolwright.plan.verdict import Move
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place

MAX_NAMES: Final = 5  # of a sort that a line names


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """What became of a witness's workloads after all moves."""

    served: int  # replicas whose pods were all placed
    left_out: int  # replicas with a pod that no node takes
    holding: int = 0  # replicas that aren't served and have devices
    open_to: str = ""  # where the next pod would go of a replica that is neither served nor left out
    part_open_to: str = ""  # where a missing pod would go of a replica that has devices


@dataclass(frozen=True, slots=True, kw_only=True)
class Recheck:
    """What came of a witness."""

    recorded: RecordedWitness
    done: int  # moves that were carried out as told, the first ones
    end: End | None = None  # None: the moves didn't get there
    problem: str = ""  # what came otherwise; empty: everything came as told


@dataclass(frozen=True, slots=True, kw_only=True)
class Rechecked:
    """What came of a cluster's witnesses."""

    name: str
    made_for: str  # the version of Kubernetes, by the plan
    judged_with: str  # the one that the cluster has now
    rechecks: tuple[Recheck, ...]  # in the plan's order


def recheck_cluster(demand: Demand, recorded: RecordedCluster) -> Rechecked:
    """Carry out a cluster's witnesses: see `recheck`."""
    return Rechecked(
        name=recorded.name,
        made_for=recorded.kubernetes,
        judged_with=demand.features.minor,
        rechecks=recheck(demand, recorded),
    )


def recheck(demand: Demand, recorded: RecordedCluster) -> tuple[Recheck, ...]:
    """Carry out each witness of a cluster, in their order.

    recorded: of this cluster: see `check_same_cluster`.
    Cost:     for each witness an attempt on one node for each of its moves, and in the end one on every node for each
              pod of a replica. No more moves are carried out than there are pods.
    """
    published = demand.build_allocator()  # what selectors say of devices is worked out once for most witnesses
    orders = ((one, one.witness.device_order) for one in recorded.witnesses)
    return tuple(
        _recheck(demand, published if order is None else demand.build_allocator(order), one) for one, order in orders
    )


def check_same_cluster(
    demands: Mapping[str, Demand], known: Iterable[str], recorded: Sequence[RecordedCluster], file: str
) -> None:
    """Refuse a plan of another project.

    demands: by cluster, of those that are to be replayed.
    known:   the project's clusters.
    Raises:  SpecError that names clusters, workloads and nodes that aren't there; and scenarios that differ.
    """
    strange = [one.name for one in recorded if one.name not in set(known)]
    if strange:
        raise SpecError([_refuse(file, f"the project has no {_list_names('cluster', strange)}")])
    problems = []
    for one in recorded:
        demand = demands.get(one.name)
        if demand is not None:
            problems += [_refuse(file, f"{one.name} {said}") for said in _list_differences(demand, one)]
    if problems:
        raise SpecError(problems)


def check_fresh(recorded: Sequence[RecordedCluster], file: str) -> None:
    """Refuse plans of clusters that run: what is held there isn't in a plan, and projects don't have it.

    Raises: SpecError that names such clusters.
    """
    if running := [one.name for one in recorded if one.scenario == "live"]:
        which = "a cluster that runs" if len(running) == 1 else "clusters that run"
        what = f"it was made with --live: {_list_names('cluster', running)}; plans of {which} can't be replayed"
        why = "what is held there decides too, and is neither in the plan nor in the project"
        fix = "make one of the cluster as it starts, without --live: poolwright plan --format json"
        raise SpecError([replace(_refuse(file, what), why=why, fix=fix)])


def _list_differences(demand: Demand, recorded: RecordedCluster) -> Iterable[str]:
    if recorded.scenario != demand.scenario:
        yield f"is judged as {demand.scenario}, and the plan was made for {recorded.scenario}"
    moves = [move for one in recorded.witnesses for move in one.witness.moves]
    titles = {one.title for one in demand.workloads}
    about = [title for one in recorded.witnesses for title in one.workloads]
    workloads = dict.fromkeys((*recorded.workloads, *about, *(move.workload for move in moves)))
    if strange := [one for one in workloads if one not in titles]:
        yield f"has no {_list_names('workload', strange)}"
    there = {node.name for node in demand.nodes}
    if strange := [one for one in dict.fromkeys(move.node for move in moves) if one not in there]:
        yield f"has no {_list_names('node', strange)}"


def _list_names(what: str, names: Sequence[str]) -> str:
    shown = ", ".join(f'"{name}"' for name in names[:MAX_NAMES])
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"{what}{'' if len(names) == 1 else 's'} {shown}{more}"


def _recheck(demand: Demand, allocator: Allocator, recorded: RecordedWitness) -> Recheck:
    witness = recorded.witness
    course = _Course(demand, allocator)
    free = FreePlacement(course.replay) if witness.replays == "not-replayed" else None
    for number, move in enumerate(witness.moves):
        problem = course.find_bar(move) or (course.carry_out(move) if free is None else free.put(course.at(move), move))
        if problem:
            of_group = f", pod {move.pod}" if move.pod else ""
            said = f"move {number + 1} ({move.workload}#{move.replica}{of_group} on {move.node}): {problem}"
            return Recheck(recorded=recorded, done=number, problem=said)
    if free is not None and (problem := free.find_overdrawn()):
        return Recheck(recorded=recorded, done=len(witness.moves), problem=problem)
    end = course.find_end(recorded.workloads)
    return Recheck(recorded=recorded, done=len(witness.moves), end=end, problem=_compare_ends(demand, recorded, end))


def _compare_ends(demand: Demand, recorded: RecordedWitness, end: End) -> str:
    """What an end is otherwise than the plan says; empty: nothing."""
    if recorded.role == "deadlock":
        return _compare_deadlocks(recorded, end)
    workload = next(one for one in demand.workloads if one.title in recorded.workloads)
    placed, replicas = recorded.witness.placed, workload.replicas
    if replicas != recorded.replicas:
        return f"the workload has {count_of(replicas, 'replica')} at its peak now, and had {recorded.replicas}"
    if recorded.role == "best":
        return (
            ""
            if end.served == placed
            else f"{end.served} of its replicas {verb_of(end.served, 'are')} served, and the plan says {placed}"
        )
    if recorded.role == "rollout":
        return _compare_rollouts(workload, recorded, end)
    expected = replicas - placed
    # The pods of a group are placed one by one: more of its replicas may be stuck than the one kind leaves out.
    is_short = end.left_out < expected if workload.is_group else end.served != placed or end.left_out != expected
    if is_short and end.open_to:
        whose = "a pod of another replica" if workload.is_group else "another replica"
        return f"{whose} gets devices: {end.open_to}"
    return (
        f"{end.left_out} of its replicas {verb_of(end.left_out, 'are')} left out, and the plan says {expected}"
        if is_short
        else ""
    )


def _compare_rollouts(workload: Workload, recorded: RecordedWitness, end: End) -> str:
    """A rollout is stuck when no further replica finds devices; of a group one that has a pod without."""
    if end.served != recorded.witness.placed:
        are = verb_of(end.served, "are")
        return f"{end.served} of its replicas {are} in place, and the plan says {recorded.witness.placed}"
    if end.open_to and (not workload.is_group or not end.left_out):
        return f"a further replica gets devices: {end.open_to}"
    return "" if end.left_out else "all its replicas are in place"


def _compare_deadlocks(recorded: RecordedWitness, end: End) -> str:
    if end.part_open_to:
        return f"a pod that was missing gets devices: {end.part_open_to}"
    if end.holding != recorded.replicas:
        do = "holds a part and waits" if end.holding == 1 else "hold a part and wait"
        return f"{count_of(end.holding, 'replica')} {do}, and the plan says {recorded.replicas}"
    if end.served != recorded.witness.placed:
        served = f"{count_of(end.served, 'replica')} {verb_of(end.served, 'are')} complete"
        return f"{served}, and the plan says {recorded.witness.placed}"
    return ""


class _Course:
    """One order of moves as it unfolds."""

    def __init__(self, demand: Demand, allocator: Allocator) -> None:
        supply = Supply(demand.nodes)
        self.replay = Replay(demand, allocator, supply if supply.is_known else None)
        self._demand = demand
        self._titles = {one.title: at for at, one in enumerate(demand.workloads)}
        self._placed: dict[tuple[int, int, int], int] = {}  # by workload, replica and pod how many devices it got

    def at(self, move: Move) -> int:
        """The workload of a move, in the demand."""
        return self._titles[move.workload]

    def find_bar(self, move: Move) -> str:
        """Why there is no such pod left to place; empty: there is."""
        workload = self._demand.workloads[self.at(move)]
        if move.replica >= workload.replicas:
            return f"the workload has {count_of(workload.replicas, 'replica')} at its peak now"
        if move.pod >= len(workload.pods):
            return f"a replica has {count_of(len(workload.pods), 'pod')} now"
        key = self.at(move), move.replica, move.pod
        if key in self._placed:
            return "the pod has been placed before"
        self._placed[key] = len(move.devices)
        return ""

    def carry_out(self, move: Move) -> str:
        """Let the allocator place a pod; what came otherwise."""
        done = self.replay.place(self.at(move), move.replica, move.pod, move.node)
        if done is None:
            return "the node can't serve it any more"
        if done.devices != move.devices:
            return f"gets other devices: {say_devices(done.devices)}"
        return ""

    def find_end(self, titles: Iterable[str]) -> End:
        """What becomes of workloads now, with all nodes asked."""
        served = left_out = holding = 0
        open_to = part_open_to = ""
        for at in map(self._titles.__getitem__, titles):
            pods = range(len(self._demand.workloads[at].pods))
            blocked: dict[int, bool] = {}  # by pod; those of all replicas are alike
            for number in range(self._demand.workloads[at].replicas):
                waiting = [pod for pod in pods if (at, number, pod) not in self._placed]
                able = [pod for pod in waiting if not self._is_blocked(at, number, pod, blocked)]
                has_part = bool(waiting) and any(self._placed.get((at, number, pod)) for pod in pods)
                served += not waiting
                left_out += len(able) < len(waiting)
                holding += has_part
                if able and has_part and not part_open_to:
                    part_open_to = self._find_open(at, number, able[0])
                if waiting and able == waiting and not open_to:
                    open_to = self._find_open(at, number, able[0])
        return End(served=served, left_out=left_out, holding=holding, open_to=open_to, part_open_to=part_open_to)

    def _is_blocked(self, at: int, number: int, pod: int, known: dict[int, bool]) -> bool:
        if pod not in known:
            known[pod] = not self.replay.can_place(at, number, pod, sorted(self.replay.nodes))
        return known[pod]

    def _find_open(self, at: int, number: int, pod: int) -> str:
        node = next(one for one in sorted(self.replay.nodes) if self.replay.can_place(at, number, pod, [one]))
        return f"{self._demand.workloads[at].title}#{number} on {node}"


def say_devices(devices: Sequence[DeviceId]) -> str:
    """The first few of some devices."""
    shown = ", ".join("/".join(one) for one in devices[:MAX_NAMES])
    return f"{shown} and {len(devices) - MAX_NAMES} more" if len(devices) > MAX_NAMES else shown or "none"


def _refuse(file: str, what: str) -> Finding:
    return Finding(
        code="plan-of-another",
        severity="error",
        place=Place(file),
        what=what,
        why="a witness can be replayed only where its workloads and nodes are",
        rule="poolwright plan --replay",
        fix="name the project and cluster that the plan was made of, or make it anew: poolwright plan --format json",
    )
