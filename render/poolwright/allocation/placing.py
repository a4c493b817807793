"""Pods placed one after the other: each with all its new claims on one node, as kube-scheduler would.

The order is the caller's. Of the nodes that can serve a pod the first by name is taken: kube-scheduler scores them, by
much that isn't known here. As there, an error on any node that is open to the pod ends its attempt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from poolwright.allocation.allocator import Allocator
from poolwright.allocation.attempt import say_classes
from poolwright.allocation.claim import Allocation, Claim
from poolwright.allocation.held import Held, PoolId
from poolwright.allocation.node_selector import NodeSelectorError, is_undecided, matches_affinity, matches_node_selector
from poolwright.allocation.node_taints import UNSCHEDULABLE, find_untolerated
from poolwright.allocation.outcome import Allocated, AttemptError, GaveUp, NotAllocated, Outcome
from poolwright.allocation.subject import ClaimKey, Subject, claim_key
from poolwright.catalog.inventory import Node

MAX_USERS = 256  # resource/v1 ResourceClaimReservedForMaxSize


@dataclass(frozen=True, slots=True, kw_only=True)
class Barred:
    """A node that isn't open to the pod, whatever devices it has."""

    reason: str
    is_unknown: bool = False  # whether it is open isn't known, so that it isn't taken
    claim: ClaimKey | None = None  # allocated elsewhere: that alone keeps the pod away


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """What came of a subject."""

    subject: Subject
    node: str | None = None  # where it goes; None: nowhere
    allocations: Mapping[ClaimKey, Allocation] = field(default_factory=dict)  # of its claims, those it found included
    found: frozenset[ClaimKey] = frozenset()  # claims that were allocated before it came
    answers: Mapping[str, Outcome | Barred] = field(default_factory=dict)  # by node, in the order they were asked
    problem: str = ""  # set: no node was asked
    hint: str = ""  # how to mend the problem, if that is known

    @property
    def is_placed(self) -> bool:
        """Whether every claim has its devices, on a node that is open to the pod."""
        return self.node is not None

    @property
    def is_unknown(self) -> bool:
        """Whether of some node it isn't known if it could serve the subject."""
        return any(
            isinstance(one, GaveUp) or (isinstance(one, Barred) and one.is_unknown) for one in self.answers.values()
        )

    @property
    def error(self) -> tuple[str, AttemptError] | None:
        """The first node where the attempt ends, and why."""
        return next(((name, one) for name, one in self.answers.items() if isinstance(one, AttemptError)), None)


class Placer:
    """Places subjects, and remembers what they got."""

    def __init__(
        self, allocator: Allocator, nodes: Iterable[Node], claims: Iterable[Claim], *, looks_everywhere: bool = True
    ) -> None:
        """What it starts with.

        nodes:            of the cluster, in any order.
        claims:           all that are known; those with an allocation hold it.
        looks_everywhere: ask nodes on when one can serve the pod, because on another one the attempt may end.
        """
        self.held = Held(allocator.features)
        self.allocations: dict[ClaimKey, Allocation] = {}
        self.allocator = allocator
        self._looks_everywhere = looks_everywhere
        self.nodes = sorted(nodes, key=lambda node: node.name)
        self._users: dict[ClaimKey, set[str]] = {}
        self._memories: dict[tuple[str, ...], _Memory] = {}
        self._changes: list[tuple[PoolId, bool]] = []  # pools, and whether something of them was given back
        self._nodes_of: dict[PoolId, list[str]] | None = None
        for claim in claims:
            self._users[claim_key(claim)] = set(claim.reserved_for)
            if claim.allocation is not None:
                self.hold(claim_key(claim), claim.allocation)
        self.before = frozenset(self.allocations)  # claims that had devices before anything was placed

    @property
    def version(self) -> int:
        """Changes with what is held."""
        return len(self._changes)

    def hold(self, key: ClaimKey, allocation: Allocation) -> None:
        """A claim has been given these devices."""
        self.allocations[key] = allocation
        self.held.add(allocation)
        self._changes += [((result.driver, result.pool), False) for result in allocation.devices]

    def release(self, key: ClaimKey) -> None:
        """A claim gives back what it has."""
        allocation = self.allocations.pop(key)
        self.held.remove(allocation)
        self._changes += [((result.driver, result.pool), True) for result in allocation.devices]

    def is_given_back(self, key: ClaimKey, subject: Subject) -> bool:
        """Whether kube-scheduler takes back what a claim has where that keeps its only user from every node.

        Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/dynamicresources PostFilter.
        """
        return self._users.get(key, set()) <= {subject.uid or subject.title}

    def place(self, subject: Subject) -> Placement:
        """Give a subject its devices, if any node can, and keep that in mind for those after it."""
        placement = self.try_place(subject)
        if placement.is_placed:
            self.keep(placement)
        return placement

    def keep(self, placement: Placement) -> None:
        """Keep in mind what a subject got with `try_place`, nothing having been held or released since."""
        for key, allocation in placement.allocations.items():
            if key not in placement.found:
                self.hold(key, allocation)
            self._users.setdefault(key, set()).add(placement.subject.uid or placement.subject.title)

    def try_place(self, subject: Subject) -> Placement:
        """What `place` would come to; nothing is kept."""
        known = {claim_key(claim): self.allocations.get(claim_key(claim)) for claim in subject.claims}
        found = {key: allocation for key, allocation in known.items() if allocation is not None}
        new = [claim for claim in subject.claims if claim_key(claim) not in found]
        problem = self._find_problem(subject)
        if problem:
            return Placement(subject=subject, problem=problem, hint=subject.hint)
        problem = self._find_missing_class(new)
        if problem:
            return Placement(subject=subject, problem=problem, hint=say_classes(self.allocator.knowledge.classes))
        answers, chosen = self._ask(subject, found, new)
        if chosen is None:
            return Placement(subject=subject, answers=answers, found=frozenset(found))
        node, allocated = chosen
        given = zip((claim_key(claim) for claim in new), allocated.allocations, strict=True)
        return Placement(
            subject=subject,
            node=node,
            allocations={**found, **dict(given)},
            found=frozenset(found),
            answers=answers,
        )

    def _find_problem(self, subject: Subject) -> str:
        """What stands against a subject before any node is looked at, in the scheduler's words."""
        if subject.problem:
            return subject.problem
        for claim in subject.claims:
            users = self._users.get(claim_key(claim), set())
            if claim.is_deleted:
                return f'resourceclaim "{claim.name}" is being deleted'
            if len(users) >= MAX_USERS and (subject.uid or subject.title) not in users:
                return f'resourceclaim "{claim.name}" has {MAX_USERS} users, and can have no more'
        return ""

    def _find_missing_class(self, new: Sequence[Claim]) -> str:
        """What the scheduler says before it looks at any node if a class isn't there; "" if all are."""
        for claim in new:
            for entry in claim.requests:
                for request in (entry.exactly, *entry.first_available):
                    if request is not None and request.class_name not in self.allocator.knowledge.classes:
                        missing = f"device class {request.class_name} does not exist"
                        return f"claim {claim.title}, request {entry.name}: {missing}"
        return ""

    def _ask(
        self, subject: Subject, found: Mapping[ClaimKey, Allocation], new: Sequence[Claim]
    ) -> tuple[dict[str, Outcome | Barred], tuple[str, Allocated] | None]:
        """The nodes' answers in the order of names, and which of them to take: the first yes, unless the attempt ends.

        The answers go up to the first node that can, unless every node is asked.
        """
        memory, title = self._recall(subject, new), subject.title
        # Where a claim is that was found decides about nodes too, so then each of them is looked at.
        answers = {} if found else dict(memory.refusals)
        chosen: tuple[str, Allocated] | None = None
        is_over = False
        for node in self.nodes[len(answers) :]:
            asker, answer = memory.answers.get(node.name, ("", None))
            # What another one was told is as good, but for its names in it.
            if answer is None or (asker != title and _is_final(answer, is_served=chosen is not None)):
                answer = self._ask_node(subject, node, new)
                memory.answers[node.name] = (title, answer)
            if not isinstance(answer, Barred):
                answer = self._bar_found(found, node) or answer
            answers[node.name] = answer
            if isinstance(answer, AttemptError):
                is_over = True
            elif isinstance(answer, Allocated) and chosen is None:
                chosen = node.name, answer
                if not self._looks_everywhere:
                    break
        if not found:
            memory.keep_refusals(answers)
        return answers, None if is_over else chosen

    def _ask_node(self, subject: Subject, node: Node, new: Sequence[Claim]) -> Outcome | Barred:
        return find_bar(subject, node) or self.allocator.allocate(node, new, self.held)

    def _bar_found(self, found: Mapping[ClaimKey, Allocation], node: Node) -> Barred | None:
        for key, allocation in found.items():
            if not is_usable(allocation, node):
                reason = f'resourceclaim "{key[1]}" is allocated, and not available on the node'
                if is_undecided(allocation.node_selector, node):
                    reason = f'resourceclaim "{key[1]}" is allocated for nodes by label, and no Node object was given'
                    return Barred(reason=reason, is_unknown=True)
                return Barred(reason=reason, claim=key)
        return None

    def _recall(self, subject: Subject, new: Sequence[Claim]) -> _Memory:
        """What is still true of the answers that the nodes gave to those who asked for the same."""
        key = (subject.node_key, *(repr((claim.requests, claim.constraints)) for claim in new))
        memory = self._memories.setdefault(key, _Memory())
        for pool, was_released in self._changes[memory.upto :]:
            for name in self._list_nodes(pool):
                # More that is held never makes room: only what is given back can turn a no into a yes.
                _, answer = memory.answers.get(name, ("", None))
                if not isinstance(answer, Barred) and (was_released or not self._is_lasting(answer)):
                    memory.forget(name)
        memory.upto = len(self._changes)
        return memory

    def _is_lasting(self, answer: Outcome | Barred | None) -> bool:
        """Whether a no stays one when more is held. Not so in 1.36 as released, whose All leaves full devices out."""
        return isinstance(answer, NotAllocated) and self.allocator.features.mended

    def _list_nodes(self, pool: PoolId) -> Sequence[str]:
        if self._nodes_of is None:
            self._nodes_of = {}
            for node in self.nodes:
                for one in self.allocator.pools(node).pools:
                    self._nodes_of.setdefault(one.id, []).append(node.name)
        return self._nodes_of.get(pool, ())


@dataclass(slots=True)
class _Memory:
    """What the nodes said to subjects that are alike, before the first `upto` changes of what is held."""

    answers: dict[str, tuple[str, Outcome | Barred]] = field(default_factory=dict)  # who asked, and the answer
    # Of the first nodes up to one that can serve: most of the answers as nodes fill up, and copied, not looked up.
    refusals: dict[str, Outcome | Barred] = field(default_factory=dict)
    upto: int = 0

    def keep_refusals(self, answers: Mapping[str, Outcome | Barred]) -> None:
        """Keep what every one who asks is told alike."""
        for name, answer in islice(answers.items(), len(self.refusals), None):
            if isinstance(answer, Allocated | AttemptError):
                return
            self.refusals[name] = answer

    def forget(self, name: str) -> None:
        """An answer isn't known to be true any more."""
        self.answers.pop(name, None)
        if name in self.refusals:
            self.refusals.clear()


def find_bar(subject: Subject, node: Node) -> Barred | None:
    """Why a node isn't open to a subject, whatever its devices; None: it is."""
    if is_undecided(subject.node_affinity, node, subject.node_selector):
        return Barred(reason="the pod selects nodes by label, and no Node object was given for it", is_unknown=True)
    try:
        if not matches_affinity(subject.node_selector, subject.node_affinity, node):
            return Barred(reason="the node doesn't match the pod's node selector or required affinity")
    except NodeSelectorError as error:
        return Barred(reason=f"the pod's required node affinity can't be read: {error}")
    taint = find_untolerated(node, subject.tolerations)
    if taint is not None and taint.key == UNSCHEDULABLE.key:
        return Barred(reason="the node is cordoned")
    if taint is not None:
        value = f"={taint.value}" if taint.value else ""
        reason = f"the node has the taint {taint.key}{value}:{taint.effect}, which the pod doesn't tolerate"
        return Barred(reason=reason)
    for resource in subject.plugin_resources:
        amount = node.allocatable.get(resource)
        if amount is not None and amount.nano > 0:
            reason = f"the node's device plugin serves {resource} there; what is free of it isn't known"
            return Barred(reason=reason, is_unknown=True)
    return None


def is_usable(allocation: Allocation, node: Node) -> bool:
    """Whether a pod with this claim can run on a node. A selector that can't be read selects none."""
    if allocation.node_selector is None:
        return True
    try:
        return matches_node_selector(allocation.node_selector, node)
    except NodeSelectorError:
        return False


def _is_final(answer: Outcome | Barred, *, is_served: bool) -> bool:
    """Whether an answer goes into the result with the names it has."""
    return isinstance(answer, AttemptError) or (isinstance(answer, Allocated) and not is_served)
