"""The pods and claims of a cluster that wait for devices, in the order they are placed.

The order is a scheduling queue's: by priority, highest first, then by age, oldest first; what doesn't say how old it is
comes last, as it was given. A claim that no pod is known for is placed on its own, and a workload's pods that aren't
there yet come after all pods that are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypedDict

from poolwright.allocation.claim import Claim
from poolwright.allocation.cluster_objects import ClaimTemplate, ClusterObjects
from poolwright.allocation.extended_resources import build_extended_claim, find_class
from poolwright.allocation.features import Features
from poolwright.allocation.node_selector import find_named_node
from poolwright.allocation.nodes import GIVE_NODES, UNNAMED, list_nodes
from poolwright.allocation.placing import find_bar
from poolwright.allocation.pod import Pod, PodClaim, Workload
from poolwright.allocation.server_rules import ObjectKey
from poolwright.allocation.subject import ClaimKey, Subject, claim_key
from poolwright.specs.document import Plain
from poolwright.specs.finding import Finding

MAX_WORKLOAD_PODS: Final = 1000  # that a workload has yet to make; of more nothing is said
_NONE: Final[Mapping[ObjectKey, Finding]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subjects:
    """What is to be placed, and what is on its node already."""

    waiting: tuple[Subject, ...] = ()
    running: tuple[Subject, ...] = ()  # pods that have a node; their claims should be allocated
    unknown: tuple[str, ...] = ()  # titles of running pods whose claims aren't all there: what those hold isn't known
    # By title of a workload: that it has yet to make more pods than so many, and the others aren't looked at.
    left_out: Mapping[str, int] = field(default_factory=dict)
    unranked: tuple[str, ...] = ()  # titles of waiting pods whose priority isn't known
    unjudged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by title: fields that aren't looked at


def build_subjects(
    objects: ClusterObjects, features: Features, refused: Mapping[ObjectKey, Finding] = _NONE
) -> Subjects:
    """The subjects of a cluster.

    objects: as the API server stores them: defaults filled in, fields whose gate is off gone.
    refused: those that it doesn't store at all, and why.
    Pods that have ended or are being deleted are left out, and so are those without claims.
    """
    builder = SubjectBuilder(objects, features, refused)
    given = [placed.value for placed in objects.pods]
    pods = [pod for pod in given if not pod.is_finished and not pod.is_deleted]
    by_age = sorted(pods, key=lambda pod: (-(pod.priority or 0), pod.created == "", pod.created))
    builder.pass_over(pod for pod in given if pod.is_finished or pod.is_deleted)
    subjects = {id(pod): builder.build_pod(pod) for pod in by_age}
    with_claims = [(pod, subjects[id(pod)]) for pod in by_age if subjects[id(pod)].claims or subjects[id(pod)].problem]
    waiting = [subject for pod, subject in with_claims if not pod.node_name]
    waiting += builder.list_workload_pods(pods)
    waiting += builder.list_lone_claims()
    running = tuple(subject for pod, subject in with_claims if pod.node_name)
    return Subjects(
        waiting=tuple(waiting),
        running=running,
        unknown=tuple(subject.title for subject in running if subject.problem and not subject.is_refused),
        left_out=builder.left_out,
        unranked=tuple(subject.title for pod, subject in with_claims if pod.priority is None and not pod.node_name),
        unjudged={
            **{subject.title: pod.unjudged for pod, subject in with_claims if pod.unjudged and not pod.node_name},
            **builder.unjudged,
        },
    )


class _Described(TypedDict):
    problem: str
    is_refused: bool
    is_unknown: bool
    hint: str


class SubjectBuilder:
    """Makes subjects of the pods of a cluster."""

    def __init__(self, objects: ClusterObjects, features: Features, refused: Mapping[ObjectKey, Finding]) -> None:
        self._refused = refused
        self._features = features
        self._classes = tuple(placed.value for placed in objects.classes)
        self._claims: dict[ClaimKey, Claim] = {claim_key(one.value): one.value for one in objects.claims}
        self._templates: dict[ClaimKey, ClaimTemplate] = {
            (one.value.namespace, one.value.name): one.value for one in objects.templates
        }
        # A suspended CronJob makes no pods; the jobs that it made before go on as their own.
        self._workloads = tuple(placed.value for placed in objects.workloads if not placed.value.is_suspended)
        self._nodes = list_nodes(objects)
        self.left_out: dict[str, int] = {}
        self.unjudged: dict[str, tuple[str, ...]] = {}
        self._used: set[ClaimKey] = set()
        self._makers: dict[ClaimKey, tuple[str, ...]] = {}  # of claims that are made up, what each is made for

    def build_pod(self, pod: Pod, *, kind: str = "Pod", owner: str = "") -> Subject:
        """A pod with its claims; those of templates that aren't made yet are made here.

        owner: the name of its workload, if it is one that the workload has yet to make.
        """
        claims: list[Claim] = []
        names: list[str] = []
        problem = self._find_refusal("workload" if kind != "Pod" else kind, pod.namespace, owner or pod.name)
        if kind == "DaemonSet pod" and problem is None and not any(node.name != UNNAMED for node in self._nodes):
            what = "no Node objects were given: on how many nodes it runs, and needs devices, isn't known"
            problem = _Problem(what, is_unknown=True, hint=GIVE_NODES)
        if pod.scheduling_gates and problem is None:
            problem = _Problem(f"the pod waits for its gates: {', '.join(pod.scheduling_gates)}")
        maker = (kind, pod.namespace, owner, pod.name)
        for entry in pod.claims:
            claim, wrong = self._find_claim(pod, entry, maker)
            problem = problem or wrong
            if claim is not None and claim_key(claim) not in map(claim_key, claims):  # a pod may name one twice
                claims.append(claim)
                names.append(entry.name)
                self._used.add(claim_key(claim))
        extended, resources = self._find_extended(pod, maker)
        if extended is not None:
            claims.append(extended)
            names.append("")
            self._used.add(claim_key(extended))
        return Subject(
            kind=kind,
            namespace=pod.namespace,
            name=pod.name,
            uid=pod.uid,
            claims=tuple(claims),
            claim_names=tuple(names),
            **_describe(problem),
            node_selector=pod.node_selector,
            node_affinity=pod.affinity,
            tolerations=pod.tolerations,
            plugin_resources=resources,
            requests={name: amount for name, amount in pod.requests.items() if not self._is_served(name)},
        )

    def pass_over(self, pods: Iterable[Pod]) -> None:
        """Take the claims of these pods for used: they have one that asks for them, though it asks no more."""
        for pod in pods:
            names = [*(entry.claim_name for entry in pod.claims), *pod.claim_names.values()]
            self._used |= {(pod.namespace, name) for name in names if name is not None}

    def list_workload_pods(self, pods: Sequence[Pod]) -> Iterator[Subject]:
        """The pods that workloads have yet to make."""
        owner_of = {workload.uid: workload.owners for workload in self._workloads if workload.uid}
        for workload in self._workloads:
            if any(owner in owner_of for owner in workload.owners):
                continue  # a ReplicaSet of a Deployment that is here too, or a Job of a CronJob
            built = [self.build_pod(group.template, owner=workload.name) for group in workload.pods]
            if not any(one.claims or one.problem for one in built):
                continue
            own = {workload.uid} | {uid for uid, owners in owner_of.items() if workload.uid in owners}
            there = [
                pod
                for pod in pods
                if (workload.uid and any(owner in own for owner in pod.owners))
                or (_is_named_after(pod, workload) and not any(owner in owner_of for owner in pod.owners))
            ]
            missing = (
                self._list_daemons(workload, there) if workload.replicas is None else _list_missing(workload, there)
            )
            unjudged = tuple(dict.fromkeys(one for group in workload.pods for one in group.template.unjudged))
            for number, pod in enumerate(missing):
                if unjudged:
                    self.unjudged[workload.title] = unjudged
                if number == MAX_WORKLOAD_PODS:
                    self.left_out[workload.title] = MAX_WORKLOAD_PODS
                    break
                subject = self.build_pod(pod, kind=f"{workload.kind} pod", owner=workload.name)
                if subject.claims or subject.problem:
                    yield subject

    def _list_daemons(self, workload: Workload, there: Sequence[Pod]) -> Iterator[Pod]:
        """A pod for each node that is open to it and has none; it can go nowhere else."""
        served = {pod.node_name or find_named_node(pod.affinity) for pod in there}
        for node in self._nodes:
            for group in workload.pods:
                subject = self.build_pod(group.template)
                bar = find_bar(replace(subject, plugin_resources=()), node)
                if node.name not in served and (bar is None or bar.is_unknown):
                    affinity = _bind_to(node.name) if bar is None else _bind_terms(group.template.affinity, node.name)
                    yield replace(group.template, name=f"{workload.name}-{node.name}", affinity=affinity)

    def list_lone_claims(self) -> Iterator[Subject]:
        """The claims that no pod uses and that have no devices yet."""
        for key, claim in self._claims.items():
            if key not in self._used and claim.allocation is None and not claim.reserved_for:
                yield Subject(
                    kind="ResourceClaim",
                    namespace=claim.namespace,
                    name=claim.name,
                    claims=(claim,),
                    **_describe(self._find_refusal("ResourceClaim", *key)),
                )

    def _find_claim(self, pod: Pod, entry: PodClaim, maker: tuple[str, ...]) -> tuple[Claim | None, _Problem | None]:
        """The claim behind an entry of a pod, and what stands against it. None and None: the entry needs no claim."""
        if entry.claim_name is not None:
            claim = self._claims.get((pod.namespace, entry.claim_name))
            if claim is None:
                return None, _Problem(f'resourceclaim "{entry.claim_name}" not found')
            return claim, None if claim.allocation else self._find_refusal("ResourceClaim", pod.namespace, claim.name)
        if entry.name in pod.claim_names:
            name = pod.claim_names[entry.name]
            if name is None:
                return None, None
            claim = self._claims.get((pod.namespace, name))
            return claim, _check_owner(pod, claim, name)
        template = self._templates.get((pod.namespace, entry.template_name or ""))
        if template is None:
            what = f'resourceclaimtemplate "{entry.template_name}" not found, so the claim isn\'t created'
            return None, _Problem(what)
        refused = self._find_refusal("ResourceClaimTemplate", pod.namespace, template.name)
        name = self._name_claim(f"{pod.name}-{entry.name}", (*maker, entry.name))
        return template.build_claim(name, owner=pod.uid or None), refused

    def _name_claim(self, wanted: str, maker: tuple[str, ...]) -> str:
        """A name for a claim that is made up; with a number behind it if another claim has that name.

        Two claims of one name would be taken for one, and its devices given to both.
        maker: what it is made for; asked again, it gets the same name.
        """
        namespace = maker[1]
        name, number = wanted, 1
        while (namespace, name) in self._claims or self._makers.get((namespace, name), maker) != maker:
            number += 1
            name = f"{wanted}-{number}"
        self._makers[namespace, name] = maker
        return name

    def _find_refusal(self, kind: str, namespace: str, name: str) -> _Problem | None:
        finding = self._refused.get((kind, namespace, name))
        if finding is None:
            return None
        what = f'refused by the API server, {kind.lower()} "{name}": {finding.what}'
        return _Problem(what, is_refused=True, hint=finding.fix)

    def _is_served(self, resource: str) -> bool:
        """Whether a class serves a resource, so that a claim stands for it."""
        return self._features.extended_resource and find_class(resource, self._classes) is not None

    def _find_extended(self, pod: Pod, maker: tuple[str, ...]) -> tuple[Claim | None, tuple[str, ...]]:
        """The claim for a pod's extended resources, and which ones it serves."""
        if pod.extended_claim is not None:
            return self._claims.get((pod.namespace, pod.extended_claim)), ()
        if pod.node_name:  # the scheduler writes the claim into the status before it binds: a device plugin serves it
            return None, ()
        claim, resources = build_extended_claim(pod, self._classes, self._features)
        if claim is None:
            return None, resources
        return replace(claim, name=self._name_claim(claim.name, (*maker, "/extended"))), resources


def _is_named_after(pod: Pod, workload: Workload) -> bool:
    """Whether a pod's ReplicaSet is called as a Deployment calls its own: its name, and a hash without a dash."""
    if workload.kind != "Deployment" or pod.namespace != workload.namespace:
        return False
    return pod.replica_set.rpartition("-")[0] == workload.name


def _list_missing(workload: Workload, there: Sequence[Pod]) -> Iterator[Pod]:
    """The pods of a workload that aren't there yet, taken to be its last ones."""
    number = 0
    for replica in range(workload.replicas or 0):
        for group in workload.pods:
            for member in range(group.count):
                number += 1
                if number <= len(there):
                    continue
                role = f"-{group.role}" if group.role else ""
                member_name = f"-{member}" if group.count > 1 else ""
                yield replace(group.template, name=f"{workload.name}-{replica}{role}{member_name}")


def _bind_terms(affinity: Mapping[str, Plain] | None, name: str) -> dict[str, Plain]:
    """A node affinity for one node that goes by its labels still, because they aren't known."""
    terms = (affinity or {}).get("nodeSelectorTerms")
    field: Plain = {"key": "metadata.name", "operator": "In", "values": [name]}
    if not isinstance(terms, list):
        return _bind_to(name)
    bound: list[Plain] = []
    for term in terms:
        if isinstance(term, dict):
            fields = term.get("matchFields")
            bound.append({**term, "matchFields": [*(fields if isinstance(fields, list) else []), field]})
    return {"nodeSelectorTerms": bound}


def _bind_to(name: str) -> dict[str, Plain]:
    """The node affinity that a DaemonSet's pods get in place of their own."""
    return {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}]}


@dataclass(frozen=True, slots=True)
class _Problem:
    """What stands against a subject whatever the nodes have."""

    what: str
    is_refused: bool = False
    is_unknown: bool = False
    hint: str = ""


def _describe(problem: _Problem | None) -> _Described:
    found = problem or _Problem("")
    return {
        "problem": found.what,
        "is_refused": found.is_refused,
        "is_unknown": found.is_unknown,
        "hint": found.hint,
    }


def _check_owner(pod: Pod, claim: Claim | None, name: str) -> _Problem | None:
    if claim is None:
        return _Problem(f'resourceclaim "{name}" not found')
    if claim.owner is not None and pod.uid and claim.owner != pod.uid:
        return _Problem(f'resourceclaim "{name}" was not created for the pod: the pod is not its owner')
    return None
