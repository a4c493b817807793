"""All rules on plain Kubernetes objects."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from poolwright.rules.claim_shape import check_claim_shape
from poolwright.rules.config_context import check_config_context
from poolwright.rules.device_count import check_device_counts
from poolwright.rules.node_contract import check_node_contract
from poolwright.rules.object_set import build_set
from poolwright.rules.other_kinds import check_other_kinds
from poolwright.rules.placed import PlacedObject
from poolwright.rules.pod_claims import check_claim_context, check_pod_claims
from poolwright.rules.probes import check_probes
from poolwright.rules.reference import check_images
from poolwright.rules.selectors import check_selectors
from poolwright.rules.served import check_served
from poolwright.specs.finding import Finding, sort_findings


def check_objects(
    objects: Sequence[PlacedObject],
    *,
    kubernetes_minor: str,
    also_served: Collection[str] = (),
    driver_gates: Collection[str] | None = None,
) -> list[Finding]:
    """Everything that can be said of objects without asking a cluster, in the one order of findings.

    objects:          what is applied together; what one names and another is are matched among them.
    kubernetes_minor: one of `KNOWN_MINORS`, such as `1.36`.
    also_served:      API versions that the cluster serves beside its defaults, such as `resource.k8s.io/v1beta1`.
    driver_gates:     gates of NVIDIA's DRA driver that are on, defaults aside; None: not known, and nothing is said of
                      what needs or excludes one.
    Cost:             linear in the objects, and half a millisecond for each different selector.
    """
    known = build_set(objects)
    problems: list[Finding] = []
    for obj in objects:
        problems += check_served(obj, kubernetes_minor, also_served)
        problems += check_other_kinds(obj)
    for claims in known.claims.values():
        for claim in claims:
            problems += check_claim_shape(claim)
            problems += check_claim_context(known, claim)
    problems += check_config_context(known, driver_gates)
    problems += check_selectors(known)
    problems += check_pod_claims(known)
    for pod in known.pods:
        problems += check_device_counts(known, pod)
        problems += check_probes(known, pod)
        problems += check_images(pod)
    # A GPU asked for twice is told as that; that one of the two is no claim would say the same again.
    twice = {finding.place for finding in problems if finding.code == "double-request"}
    problems += [finding for finding in check_node_contract(objects) if finding.place not in twice]
    return list(sort_findings(problems))
