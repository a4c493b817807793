"""The pods of a running cluster as receipts need them: who uses a claim, whose replica a pod is, what it asks again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from poolwright.allocation.claim import Claim
from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.features import Features
from poolwright.allocation.nodes import list_nodes
from poolwright.allocation.pod import Pod
from poolwright.allocation.subject import ClaimKey, Subject, claim_key
from poolwright.allocation.subjects import SubjectBuilder
from poolwright.objects.kubernetes import ENVELOPE, ENVELOPE_VERSION, UNIT
from poolwright.plan.demand import Demand, Workload, find_pinned
from poolwright.plan.live.owners import HASH_LABEL, SET_LABEL

RELEASE: Final = "poolwright.dev/release"  # of pods that a packet brought


class ObservedPods:
    """Pods by uid, and what their claims are to them."""

    def __init__(self, objects: ClusterObjects, features: Features) -> None:
        self._by_uid = {placed.value.uid: placed.value for placed in objects.pods if placed.value.uid}
        self._builder = SubjectBuilder(objects, features, {})
        self._subjects: dict[str, Subject] = {}

    def list_users(self, claim: Claim) -> list[tuple[str, Pod | None]]:
        """The pods that a claim is reserved for, by uid: a name alone may be another pod's by now."""
        return [(uid, self._by_uid.get(uid)) for uid in sorted(set(claim.reserved_for))]

    def find_user(self, claim: Claim) -> Pod | None:
        """The first of them that was captured; else the pod that the claim was made for."""
        users = [pod for _, pod in self.list_users(claim) if pod is not None]
        return users[0] if users else self._by_uid.get(claim.owner or "")

    def build_subject(self, pod: Pod) -> Subject:
        """A pod with its claims as they are."""
        if pod.uid not in self._subjects:
            self._subjects[pod.uid] = self._builder.build_pod(pod)
        return self._subjects[pod.uid]


def find_pod_claim(pod: Pod, claim: Claim) -> str | None:
    """What a pod calls a claim; empty: it is for its extended resources; None: it doesn't name it."""
    if pod.extended_claim == claim.name:
        return ""
    for entry in pod.claims:
        if claim.name in (entry.claim_name, pod.claim_names.get(entry.name)):
            return entry.name
    return None


def find_workload(pod: Pod) -> str | None:
    """Kind and name of what made a pod, by the names that controllers give; None: nothing did."""
    kind, name = pod.controller
    suffix = f"-{pod.labels.get(HASH_LABEL, '')}"
    if kind == "ReplicaSet" and len(suffix) > 1 and name.endswith(suffix):
        return f"Deployment/{name.removesuffix(suffix)}"
    if kind == "StatefulSet" and SET_LABEL in pod.labels:
        return f"LeaderWorkerSet/{pod.labels[SET_LABEL]}"
    return f"{kind}/{name}" if kind else None


def find_envelope(pod: Pod) -> str | None:
    """name@version of the envelope, as the labels have it."""
    name, version = pod.labels.get(ENVELOPE), pod.labels.get(ENVELOPE_VERSION)
    return f"{name}@{version}" if name and version else None


def find_unit(pod: Pod) -> str | None:
    """The placement, as the labels have it."""
    return pod.labels.get(UNIT)


def find_release(pod: Pod) -> str | None:
    """The release, as the labels have it."""
    return pod.labels.get(RELEASE)


def build_observed_demand(objects: ClusterObjects, features: Features) -> Demand:
    """What runs, as a demand: all of it is to find devices again, whoever comes first. Losses are judged by it.

    Pods that have ended are left out. A claim that none of the others uses is taken for one pod's, on any node.
    """
    pods = ObservedPods(objects, features)
    running = [
        placed.value
        for placed in sorted(objects.pods, key=lambda one: (one.value.namespace, one.value.name))
        if not placed.value.is_finished
    ]
    uses: dict[ClaimKey, int] = {}
    groups: dict[tuple[str, str, str], list[Subject]] = {}
    for pod in running:
        subject = pods.build_subject(pod)
        if subject.claims and not subject.problem:
            bare = _forget(subject)
            for claim in bare.claims:
                uses[claim_key(claim)] = uses.get(claim_key(claim), 0) + 1
            workload = find_workload(pod) or f"Pod/{pod.name}"
            groups.setdefault((pod.namespace, workload, _key(bare)), []).append(bare)
    used = {key for key, count in uses.items() if count > 1}
    for placed in objects.claims:
        one = placed.value
        if one.allocation is not None and claim_key(one) not in uses:
            alone = Subject(kind="ResourceClaim", namespace=one.namespace, name=one.name, claims=(one,))
            groups[one.namespace, f"ResourceClaim/{one.name}", ""] = [_forget(replace(alone, claim_names=("",)))]
    return Demand(
        workloads=tuple(_list_workloads(groups, used)),
        nodes=list_nodes(objects),
        slices=tuple(placed.value for placed in objects.slices),
        classes={placed.value.name: placed.value for placed in objects.classes},
        features=features,
    )


def _forget(subject: Subject) -> Subject:
    return replace(subject, claims=tuple(replace(one, allocation=None, reserved_for=()) for one in subject.claims))


def _key(subject: Subject) -> str:
    """Equal for pods of which one may stand for the other; claims of their own differ in name alone."""
    return subject.need_key if find_pinned(subject) is None else f"{subject.need_key} {subject.name}"


def _list_workloads(groups: dict[tuple[str, str, str], list[Subject]], used: set[ClaimKey]) -> Iterator[Workload]:
    seen: dict[tuple[str, str], int] = {}
    for (namespace, workload, _), subjects in sorted(groups.items(), key=lambda entry: entry[0][:2]):
        kind, _, name = workload.partition("/")
        number = seen[namespace, workload] = seen.get((namespace, workload), 0) + 1
        title = f"{namespace}/{name} ({kind}{f' {number}' if number > 1 else ''})"
        yield Workload(
            title=title,
            replicas=len(subjects),
            minimum=len(subjects),
            pods=(subjects[0],),
            shared=frozenset(key for key in map(claim_key, subjects[0].claims) if key in used),
            owner=(kind, namespace, name),
        )
