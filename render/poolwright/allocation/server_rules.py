"""What the API server refuses of the objects that decide an allocation, and what it takes but nobody means.

Asked of objects whose gated fields are gone. What an older server refuses and a newer one may know (modes, kinds of
selectors and of constraints) is left to the allocator, which says what the scheduler does with it.

Source: kubernetes/kubernetes pkg/apis/resource/validation, pkg/registry/resource; k8s.io/api resource/v1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from poolwright.allocation.claim import ALL, EXACT_COUNT, Claim, ClaimRequest, Constraint, Request, Toleration
from poolwright.allocation.cluster_objects import ClaimTemplate, ClusterObjects, Placed, TaintRule
from poolwright.allocation.pod import Pod, Workload
from poolwright.allocation.refusals import Refusal, refuse_limit, refuse_names
from poolwright.allocation.slice_rules import check_slice, find_shared_names
from poolwright.specs.finding import Finding, sort_findings
from poolwright.specs.place import FieldPath
from poolwright.specs.quantity import NANO

ADMIN_LABEL: Final = "resource.kubernetes.io/admin-access"
MAX_REQUESTS: Final = 32
MAX_ALTERNATIVES: Final = 8
MAX_CONSTRAINTS: Final = 32
MAX_CONFIG: Final = 32
MAX_SELECTORS: Final = 32
MAX_TOLERATIONS: Final = 16
MAX_DERIVED: Final = 32
MAX_USERS: Final = 256
_RULE: Final = "k8s.io/api resource/v1"

ObjectKey = tuple[str, str, str]  # kind, namespace, name
_KINDS: Final[dict[type, str]] = {
    Claim: "ResourceClaim",
    ClaimTemplate: "ResourceClaimTemplate",
    Pod: "Pod",
    Workload: "workload",
}
_PlacedClaim = Placed[Claim] | Placed[ClaimTemplate]


def check_objects(objects: ClusterObjects, *, minor: str) -> tuple[Finding, ...]:
    """Everything that the API server of a minor release refuses, with warnings and notes, sorted by place."""
    return sort_findings(finding for _, findings in _check_each(objects, minor) for finding in findings)


def drop_refused(
    objects: ClusterObjects, *, minor: str
) -> tuple[ClusterObjects, Mapping[ObjectKey, Finding], tuple[Finding, ...]]:
    """A cluster without what its API server refuses, which decides nothing for the others.

    Returns: the objects, without slices and rules that are refused; of claims, templates, pods and workloads that are
             refused the first error, by kind, namespace and name; and what check_objects says.
    """
    refused: dict[ObjectKey, Finding] = {}
    dropped: set[int] = set()
    findings: list[Finding] = []
    for placed, found in _check_each(objects, minor):
        findings += found
        error = next((finding for finding in found if finding.severity == "error"), None)
        if error is None:
            continue
        kind = _KINDS.get(type(placed.value))
        if kind is None:
            dropped.add(id(placed))
        else:
            refused.setdefault((kind, placed.value.namespace, placed.value.name), error)
    kept = replace(
        objects,
        slices=tuple(one for one in objects.slices if id(one) not in dropped),
        taint_rules=tuple(one for one in objects.taint_rules if id(one) not in dropped),
    )
    return kept, refused, sort_findings(findings)


def _check_each(objects: ClusterObjects, minor: str) -> Iterator[tuple[Placed[Any], list[Finding]]]:
    for claim in objects.claims:
        problems = list(_check_claim(claim, objects))
        if len(claim.value.reserved_for) > MAX_USERS:
            where = ("status", "reservedFor")
            problems.append(
                refuse_limit(Refusal(claim, where, _RULE), "users", len(claim.value.reserved_for), MAX_USERS)
            )
        yield claim, problems
    for template in objects.templates:
        yield template, list(_check_claim(template, objects))
    shared = find_shared_names(objects.slices)
    for one in objects.slices:
        yield one, [*check_slice(one, minor), *([shared[id(one)]] if id(one) in shared else [])]
    for pod in objects.pods:
        yield pod, list(_check_pod(pod, ()))
    for workload in objects.workloads:
        for pods in workload.value.pods:
            yield workload, list(_check_pod(workload.having(pods.template), ("spec",)))
    for rule in objects.taint_rules:
        yield rule, list(_check_rule(rule, minor))


def _check_claim(placed: _PlacedClaim, objects: ClusterObjects) -> Iterator[Finding]:
    claim: Claim | ClaimTemplate = placed.value
    at: FieldPath = ("spec", "spec", "devices") if isinstance(claim, ClaimTemplate) else ("spec", "devices")
    for name, entries, most in (
        ("requests", claim.requests, MAX_REQUESTS),
        ("constraints", claim.constraints, MAX_CONSTRAINTS),
        ("config", claim.config, MAX_CONFIG),
    ):
        if len(entries) > most:
            yield refuse_limit(Refusal(placed, (*at, name), _RULE), name, len(entries), most)
    yield from refuse_names(placed, (*at, "requests"), "request", [entry.name for entry in claim.requests], _RULE)
    for index, entry in enumerate(claim.requests):
        yield from _check_entry(placed, (*at, "requests", index), entry)
    known = {entry.name for entry in claim.requests}
    known |= {f"{entry.name}/{one.name}" for entry in claim.requests for one in entry.first_available}
    for index, config in enumerate(claim.config):
        yield from _check_references(placed, (*at, "config", index, "requests"), config.requests, known)
    for index, constraint in enumerate(claim.constraints):
        yield from _check_references(placed, (*at, "constraints", index, "requests"), constraint.requests, known)
        yield from _check_attributes(placed, (*at, "constraints", index), constraint)
    yield from _check_admin_access(placed, at, objects)


def _check_attributes(placed: _PlacedClaim, at: FieldPath, constraint: Constraint) -> Iterator[Finding]:
    for name, attribute in (
        ("matchAttribute", constraint.match_attribute),
        ("distinctAttribute", constraint.distinct_attribute),
    ):
        if attribute is not None and "/" not in attribute:
            yield Refusal(placed, (*at, name), _RULE).finding(
                f'the attribute "{attribute}" has no domain',
                "devices of several drivers can be meant, so a constraint names an attribute in full",
                f"write DOMAIN/{attribute}, often with the driver's name as the domain",
            )


def _check_entry(placed: _PlacedClaim, at: FieldPath, entry: ClaimRequest) -> Iterator[Finding]:
    alternatives = entry.first_available
    if (entry.exactly is None) == (not alternatives):
        has = "neither exactly nor firstAvailable" if entry.exactly is None else "both exactly and firstAvailable"
        yield Refusal(placed, at, _RULE).finding(
            f'request "{entry.name}" has {has}',
            "the API server takes exactly one of them",
            "ask for devices of one class under exactly, or list alternatives under firstAvailable",
        )
    if entry.exactly is not None:
        yield from _check_request(placed, (*at, "exactly"), entry.exactly)
    where = (*at, "firstAvailable")
    if len(alternatives) > MAX_ALTERNATIVES:
        yield refuse_limit(Refusal(placed, where, _RULE), "alternatives", len(alternatives), MAX_ALTERNATIVES)
    yield from refuse_names(placed, where, "alternative", [one.name for one in alternatives], _RULE)
    for index, alternative in enumerate(alternatives):
        yield from _check_request(placed, (*where, index), alternative)
        if alternative.admin_access is not None:
            yield Refusal(placed, (*where, index, "adminAccess"), _RULE).finding(
                f'alternative "{alternative.name}" of request "{entry.name}" asks for adminAccess',
                "an alternative has no such field, and the API server drops it",
                "ask for admin access under exactly",
            )


def _check_request(placed: _PlacedClaim, at: FieldPath, request: Request) -> Iterator[Finding]:
    if not request.class_name:
        yield Refusal(placed, (*at, "deviceClassName"), _RULE).finding(
            f'request "{request.name}" names no device class',
            "every device is asked for by a class",
            "write deviceClassName; kubectl get deviceclasses lists them",
        )
    if (request.mode == ALL and request.count != 0) or (request.mode == EXACT_COUNT and request.count <= 0):
        yield Refusal(placed, (*at, "count"), _RULE).finding(
            f'request "{request.name}" has a count of {request.count} with allocationMode {request.mode}',
            "with All the count is not for the user to say" if request.mode == ALL else "a count is at least 1",
            "leave count out, or write allocationMode: ExactCount"
            if request.mode == ALL
            else "raise count, or leave it out: that asks for one device",
        )
    for name, entries, most in (
        ("selectors", len(request.selectors), MAX_SELECTORS),
        ("tolerations", len(request.tolerations), MAX_TOLERATIONS),
        ("derivedAttributes", len(request.derived_attributes), MAX_DERIVED),
    ):
        if entries > most:
            yield refuse_limit(Refusal(placed, (*at, name), _RULE), name, entries, most)
    for index, toleration in enumerate(request.tolerations):
        yield from _check_toleration(placed, (*at, "tolerations", index), toleration)


def _check_toleration(placed: _PlacedClaim, at: FieldPath, toleration: Toleration) -> Iterator[Finding]:
    if toleration.operator not in ("Equal", "Exists"):
        yield Refusal(placed, (*at, "operator"), _RULE).finding(
            f'a toleration has the operator "{toleration.operator}"',
            "device taints are compared with Equal or Exists",
            "write Exists, or Equal and a value",
        )
    elif not toleration.key and toleration.operator != "Exists":
        yield Refusal(placed, at, _RULE).finding(
            "a toleration has no key and the operator Equal",
            "without a key every taint is meant, and that takes the operator Exists",
            "write the key of a taint, or operator: Exists",
        )
    elif toleration.value and toleration.operator == "Exists":
        yield Refusal(placed, (*at, "value"), _RULE).finding(
            f'a toleration has the operator Exists and the value "{toleration.value}"',
            "Exists takes every value",
            "drop the value, or write operator: Equal",
        )


def _check_references(placed: _PlacedClaim, at: FieldPath, names: Sequence[str], known: set[str]) -> Iterator[Finding]:
    yield from refuse_names(placed, at, "reference", names, _RULE)
    for index, name in enumerate(names):
        if name not in known:
            yield Refusal(placed, (*at, index), _RULE).finding(
                f'the claim has no request "{name}"',
                "constraints and configuration name requests of their own claim, or request/alternative",
                f"requests of the claim: {', '.join(sorted(known)) or 'none'}",
            )


def _check_admin_access(placed: _PlacedClaim, at: FieldPath, objects: ClusterObjects) -> Iterator[Finding]:
    claim: Claim | ClaimTemplate = placed.value
    asking = [i for i, entry in enumerate(claim.requests) if entry.exactly and entry.exactly.admin_access]
    if not asking or (isinstance(claim, Claim) and claim.uid):  # with a uid the server has let it pass
        return
    place = placed.locate((*at, "requests", asking[0], "exactly", "adminAccess"))
    found = [one.value for one in objects.namespaces if one.value.name == claim.namespace]
    rule, fix = "kubernetes/kubernetes pkg/registry/resource", f'label the namespace {ADMIN_LABEL}: "true"'
    if not found:
        yield Finding(
            code="admin-access-assumed",
            severity="note",
            place=place,
            what=f'namespace "{claim.namespace}" isn\'t given, and is taken to let claims ask for admin access',
            why=f'the API server takes adminAccess only in a namespace with the label {ADMIN_LABEL}: "true"',
            rule=rule,
            fix="give the Namespace too",
        )
    elif found[0].labels.get(ADMIN_LABEL) != "true":
        labels = {key: value for key, value in found[0].labels.items() if key.lower().endswith("admin-access")}
        near = ", ".join(f'{key}: "{value}"' for key, value in sorted(labels.items()))
        yield Finding(
            code="admin-access",
            severity="error",
            place=place,
            what=f'the claim asks for admin access, and namespace "{claim.namespace}" isn\'t labelled for it'
            + (f"; it has {near}" if near else ""),
            why="the API server refuses the claim: the label's key and its value are compared letter by letter",
            rule=rule,
            fix=fix,
        )


def _check_pod(placed: Placed[Pod], at: FieldPath) -> Iterator[Finding]:
    """at: where the pod stands in its object, if that isn't the pod itself."""
    names = [claim.name for claim in placed.value.claims]
    rule = "k8s.io/api core/v1"
    base: FieldPath = (*at, "template", "spec") if at else ("spec",)
    for name, count in Counter(names).items():
        if count > 1:
            yield Refusal(placed, (*base, "resourceClaims"), rule).finding(
                f'the pod has {count} claims called "{name}"',
                "containers name a claim by it",
                "give each claim of a pod a name of its own",
            )
    for container in placed.value.containers:
        for resource, amount in container.extended.items():
            if amount.nano % NANO:
                yield Refusal(placed, base, rule).finding(
                    f'container "{container.name}" asks for {amount.canonical} of "{resource}"',
                    "an extended resource is counted: the API server takes whole numbers of it",
                    "ask for a whole number",
                )
        for name, _ in container.claims:
            if name not in names:
                yield Refusal(placed, (*base, "resourceClaims"), rule).finding(
                    f'container "{container.name}" uses the claim "{name}", which the pod doesn\'t have',
                    "a container uses claims of its pod's resourceClaims",
                    f"claims of the pod: {', '.join(sorted(names)) or 'none'}",
                )


def _check_rule(placed: Placed[TaintRule], minor: str) -> Iterator[Finding]:
    rule = placed.value
    if rule.driver is not None or rule.pool is not None or rule.device is not None:
        return
    says = "an empty deviceSelector" if rule.has_selector else "no deviceSelector"
    if rule.has_selector or int(minor.partition(".")[2]) < 37:
        matches = "EVERY device"
        why = "what isn't named matches: claims that don't tolerate the taint get no device of any driver"
    else:
        matches, why = "no device", "releases up to 1.36 read it as every device; from 1.37 on it selects none"
    yield Finding(
        code="taint-rule-all",
        severity="warning",
        place=placed.locate(("spec", "deviceSelector")),
        what=f'DeviceTaintRule "{rule.name}" has {says}, and matches {matches} in Kubernetes {minor}',
        why=why,
        rule="k8s.io/dynamic-resource-allocation resourceslice/tracker",
        fix="name driver, pool or device under spec.deviceSelector",
    )
