"""A cluster's waiting pods and claims placed one after the other, and every answer with its reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from poolwright.allocation.allocator import Allocator
from poolwright.allocation.answer import Answer, ClaimAnswer, ClaimOutcome, SubjectAnswer
from poolwright.allocation.assumptions import Options, list_assumptions
from poolwright.allocation.claim import Allocation, Claim
from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.doubt import Doubts
from poolwright.allocation.features import Features, build_features
from poolwright.allocation.gated_fields import strip_gated
from poolwright.allocation.node_selector import find_named_node
from poolwright.allocation.nodes import list_nodes
from poolwright.allocation.placing import Placement, Placer
from poolwright.allocation.reasons.explain import explain
from poolwright.allocation.reasons.reason import Reason
from poolwright.allocation.server_rules import ObjectKey, drop_refused
from poolwright.allocation.subject import ClaimKey, Subject, claim_key
from poolwright.allocation.subjects import build_subjects
from poolwright.allocation.taint_rules import apply_rules
from poolwright.catalog.inventory import Node
from poolwright.specs.finding import Finding


def allocate(
    objects: ClusterObjects,
    features: Features,
    *,
    gates: Mapping[str, bool],
    refused: Mapping[ObjectKey, Finding] | None = None,
    notes: Iterable[Finding] = (),
    options: Options = Options(),  # noqa: B008 - a frozen value
) -> Answer:
    """What becomes of the pods and claims that wait.

    objects: as the API server stores them, with every taint in its slice.
    refused: those of them that the API server doesn't store, and why.
    gates:   those that were set otherwise than by default, for the answer.
    notes:   what was found while the objects were read.
    """
    subjects = build_subjects(objects, features, refused or {})
    waiting = [one for one in subjects.waiting if _is_asked(one, options)]
    nodes = [node for node in list_nodes(objects) if options.node in (None, node.name)]
    run = _Run(objects, features, nodes, options)
    answers = [_answer_running(one) for one in subjects.running if _is_asked(one, options)]
    answers += [run.answer(subject) for subject in waiting]
    claims = run.list_claims([one for one in subjects.running if _is_asked(one, options)])
    return Answer(
        kubernetes=features.minor,
        channel=features.channel,
        gates=tuple(sorted(gates.items())),
        subjects=tuple(answers),
        claims=claims,
        as_released=_list_otherwise(claims, _Run(objects, features.released, nodes, options).list_placed(waiting))
        if features.is_mended
        else (),
        assumptions=list_assumptions(objects, subjects, features, options, gates),
        notes=(*objects.notes, *notes),
    )


def allocate_given(
    objects: ClusterObjects,
    *,
    minor: str,
    effective: Mapping[str, bool],
    gates: Mapping[str, bool],
    options: Options = Options(),  # noqa: B008 - a frozen value
) -> Answer:
    """What becomes of pods and claims as somebody wrote them, or as an API server printed them.

    minor:     of Kubernetes, one of MINORS.
    effective: every gate of that version as it is set.
    gates:     those of them that were set otherwise than by default.
    """
    stripped, dropped = strip_gated(objects, effective)
    stored, refused, found = drop_refused(stripped, minor=minor)
    features = build_features(minor, effective)
    if features.applies_taint_rules:
        stored = apply_rules(stored, minor)
    return allocate(stored, features, gates=gates, refused=refused, notes=(*dropped, *found), options=options)


class _Run:
    """Subjects placed one after the other, and what became of their claims."""

    def __init__(self, objects: ClusterObjects, features: Features, nodes: Sequence[Node], options: Options) -> None:
        classes = {placed.value.name: placed.value for placed in objects.classes}
        slices = [placed.value for placed in objects.slices]
        claims = [placed.value for placed in objects.claims]
        self._known = {claim_key(claim) for claim in claims}
        self._allocator = Allocator(slices, classes, features, max_looks=options.max_looks)
        self._each_alone = options.each_alone
        self._doubts = Doubts(objects, self._allocator.knowledge)
        self._placer = Placer(self._allocator, nodes, claims)
        self._answers: dict[ClaimKey, ClaimAnswer] = {}
        self._explained: dict[str, tuple[int, Subject, tuple[Reason, ...]]] = {}  # by Subject.need_key

    def answer(self, subject: Subject) -> SubjectAnswer:
        """Place a subject; with each_alone as if no other one had been placed before."""
        placement = self._placer.try_place(subject)
        reasons = () if placement.is_placed else self._explain(placement)
        outcome = _judge(placement)
        doubt = self._doubts.find(placement) if outcome in ("allocated", "unsatisfied", "error") else None
        if doubt is not None:
            outcome, reasons = "gaveUp", (doubt, *reasons)
            placement = replace(placement, node=None, allocations={})
        if not self._each_alone:
            if placement.is_placed:
                self._placer.keep(placement)
            elif outcome == "gaveUp":
                self._doubts.add(subject)
        for claim in subject.claims:
            self._keep(self._answer_claim(claim, placement, outcome, reasons))
        return SubjectAnswer(
            kind=subject.kind,
            namespace=subject.namespace,
            name=subject.name,
            outcome=outcome,
            node=placement.node,
            claims=tuple(claim_key(claim) for claim in subject.claims),
            reasons=reasons,
        )

    def _explain(self, placement: Placement) -> tuple[Reason, ...]:
        """Why it isn't placed; of pods of one workload, which ask for the same, worked out once."""
        subject, version = placement.subject, self._placer.version
        known = self._explained.get(subject.need_key)
        if known is not None and known[0] == version and not placement.problem:
            titles = {old.title: new.title for old, new in zip(known[1].claims, subject.claims, strict=True)}
            return tuple(replace(reason, claim=titles.get(reason.claim, reason.claim)) for reason in known[2])
        reasons = explain(self._placer, placement)
        # Lines of these kinds have the names of claims in them.
        if not placement.problem and not any(reason.kind in ("error", "together") for reason in reasons):
            self._explained[subject.need_key] = (version, subject, reasons)
        return reasons

    def list_claims(self, running: Iterable[Subject]) -> tuple[ClaimAnswer, ...]:
        """The claims of all subjects that were answered, each once, by namespace and name."""
        for subject in running:
            for claim in subject.claims:
                if claim.allocation is not None:
                    self._keep(_answer_allocated(claim, claim.allocation, subject.title))
                else:
                    self._keep(_answer_bypassed(claim, subject))
        return tuple(self._answers[key] for key in sorted(self._answers))

    def list_placed(self, subjects: Iterable[Subject]) -> Mapping[ClaimKey, Placement]:
        """Where these subjects go, by claim, without reasons."""
        place = self._placer.try_place if self._each_alone else self._placer.place
        found: dict[ClaimKey, Placement] = {}
        for placement in map(place, subjects):
            for claim in placement.subject.claims:
                found.setdefault(claim_key(claim), placement)
        return found

    def _keep(self, answer: ClaimAnswer) -> None:
        """Of a claim that several share, what became of it with the first of them that brought it devices."""
        known = self._answers.get((answer.namespace, answer.name))
        if known is None or (known.allocation is None and answer.allocation is not None):
            self._answers[answer.namespace, answer.name] = answer

    def _answer_claim(
        self, claim: Claim, placement: Placement, outcome: ClaimOutcome, reasons: tuple[Reason, ...]
    ) -> ClaimAnswer:
        key = claim_key(claim)
        if claim.allocation is not None:
            return _answer_allocated(claim, claim.allocation, placement.subject.title)
        allocation = placement.allocations.get(key) if placement.is_placed else None
        own = tuple(reason for reason in reasons if reason.claim in ("", claim.title) or reason.kind == "mend")
        return ClaimAnswer(
            namespace=claim.namespace,
            name=claim.name,
            is_made_up=key not in self._known,
            subject=placement.subject.title,
            outcome="allocated" if allocation is not None else outcome,
            node=find_named_node(allocation.node_selector) if allocation is not None else None,
            allocation=allocation,
            reasons=() if allocation is not None else own,
        )


def _list_otherwise(claims: Iterable[ClaimAnswer], released: Mapping[ClaimKey, Placement]) -> tuple[str, ...]:
    """What the release gives to claims where its mistakes decide, in sentences."""
    said = []
    for claim in claims:
        key = (claim.namespace, claim.name)
        placement = released.get(key)
        if placement is None or claim.outcome in ("alreadyAllocated", "gaveUp"):
            continue
        theirs = _list_devices(placement.allocations.get(key)) if placement.is_placed else ()
        if theirs != _list_devices(claim.allocation):
            said.append(f"claim {'/'.join(key)} would get {', '.join(theirs) or 'no devices'}")
    return tuple(said)


def _list_devices(allocation: Allocation | None) -> tuple[str, ...]:
    return () if allocation is None else tuple(f"{one.pool}/{one.device}" for one in allocation.devices)


def _is_asked(subject: Subject, options: Options) -> bool:
    if options.pod is None:
        return True
    namespace, name = options.pod
    return subject.name == name and namespace in (None, subject.namespace)


def _judge(placement: Placement) -> ClaimOutcome:
    if placement.is_placed:
        return "alreadyAllocated" if all(claim.allocation for claim in placement.subject.claims) else "allocated"
    if placement.subject.is_unknown:
        return "gaveUp"
    if placement.error is not None or placement.subject.is_refused:
        return "error"
    return "gaveUp" if placement.is_unknown else "unsatisfied"


def _answer_running(subject: Subject) -> SubjectAnswer:
    """A pod that has its node. Without the scheduler a claim of it is never allocated."""
    stuck = [claim for claim in subject.claims if claim.allocation is None]
    missing = (Reason(kind="claim", line=subject.problem, hint=subject.hint),) if subject.problem else ()
    return SubjectAnswer(
        kind=subject.kind,
        namespace=subject.namespace,
        name=subject.name,
        outcome="unsatisfied" if stuck else "alreadyAllocated",
        claims=tuple(claim_key(claim) for claim in subject.claims),
        reasons=(*missing, *(reason for claim in stuck for reason in _answer_bypassed(claim, subject).reasons)),
    )


def _answer_bypassed(claim: Claim, subject: Subject) -> ClaimAnswer:
    line = f"the pod got its node without the scheduler, which allocates claims: {claim.title} stays without devices"
    return ClaimAnswer(
        namespace=claim.namespace,
        name=claim.name,
        subject=subject.title,
        outcome="unsatisfied",
        reasons=(Reason(kind="claim", line=line, claim=claim.title),),
    )


def _answer_allocated(claim: Claim, allocation: Allocation, subject: str) -> ClaimAnswer:
    return ClaimAnswer(
        namespace=claim.namespace,
        name=claim.name,
        subject=subject,
        outcome="alreadyAllocated",
        node=find_named_node(allocation.node_selector),
        allocation=allocation,
    )
