"""Whether finished objects are for the Application that asks: its namespace, its cluster's API, Argo CD's limit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from poolwright.argocd.request import GRPC_MIB, NAMESPACE, Request
from poolwright.specs.finding import Finding
from poolwright.specs.place import Place

# Groups that are Kubernetes' own: what isn't served of them won't be, until the cluster is upgraded. Others come with
# whatever installs them, perhaps in this very minute.
_BUILT_IN: Final = frozenset(
    (
        *("admissionregistration.k8s.io", "apps", "autoscaling", "batch", "networking.k8s.io", "policy"),
        *("resource.k8s.io", "scheduling.k8s.io"),
    )
)
_RULE: Final = "Argo CD's plugin contract"


def check_namespace(objects: Iterable[Mapping[str, Any]], request: Request) -> Finding | None:
    """Why the destination isn't the unit's: it has to name a namespace that the unit puts objects into, or makes."""
    known = sorted({name for one in objects if (name := _find_namespace(one))})
    if request.namespace in known:
        return None
    said = f"is {request.namespace}" if request.namespace else "isn't said"
    return Finding(
        code="plugin-destination",
        severity="error",
        place=Place(NAMESPACE),
        what=f"the destination's namespace {said}, and {request.cluster}/{request.unit} isn't rendered into it",
        why="an Application that is about another namespace is a mistake, or asks for another's unit",
        rule=_RULE,
        fix=f"set spec.destination.namespace of the Application to {' or '.join(known)}",
    )


def check_api_versions(objects: Iterable[Mapping[str, Any]], request: Request, pinned: str | None) -> Finding | None:
    """Why the cluster can't take the objects: a built-in kind's group is served, and not in the rendered version.

    pinned: the minor release of Kubernetes that the stack pins; None: they are of a release, whose stack pinned one.
    Note:   nothing is said where Argo CD doesn't know what is served, nor of kinds that are installed.
    """
    served = {"/".join(name.split("/")[:2]) for name in request.api_versions}
    for version in sorted({str(one["apiVersion"]) for one in objects} - served):
        group = version.partition("/")[0]
        others = sorted(name for name in served if group in _BUILT_IN and name.startswith(f"{group}/"))
        if others:
            return Finding(
                code="plugin-api",
                severity="error",
                place=Place("KUBE_API_VERSIONS"),
                what=f"the destination cluster serves {', '.join(others)} and not {version}",
                why=f"what is rendered follows from Kubernetes {pinned}, which the cluster's stack pins"
                if pinned
                else "what is released follows from the Kubernetes that the cluster's stack pinned",
                rule=_RULE,
                fix="let the cluster's stack pin the Kubernetes that it runs"
                + (f": {request.kubernetes}" if request.kubernetes else "")
                + ("" if pinned else "; release again"),
            )
    return None


def warn_of_version(request: Request, pinned: str) -> str:
    """One line if the destination cluster's Kubernetes isn't of the pinned minor release; or nothing.

    A warning, for while a cluster is upgraded the two differ, and a sync or a rollback must not wait for that.
    """
    numbers = request.kubernetes.removeprefix("v").split(".")
    if not request.kubernetes or numbers[:2] == pinned.split("."):
        return ""
    return (
        f"poolwright: warning: cluster {request.cluster} runs Kubernetes {request.kubernetes[:40]}, and its stack pins "
        f"{pinned}; correct the stack"
    )


def check_size(text: bytes, request: Request) -> Finding | None:
    """Why Argo CD wouldn't take the text: it is more than half of what one message may have, for it travels as JSON."""
    if len(text) <= request.max_bytes:
        return None
    return Finding(
        code="plugin-output",
        severity="error",
        place=Place(GRPC_MIB),
        what=f"{request.cluster}/{request.unit} has {len(text):,} bytes, and {request.max_bytes:,} is the most",
        why="Argo CD takes messages up to a limit, and objects grow on the way",
        rule=_RULE,
        fix=f"make the unit smaller, or raise {GRPC_MIB} of the repo-server and the sidecar",
    )


def _find_namespace(one: Mapping[str, Any]) -> str:
    metadata = one["metadata"]
    return str(metadata["name"] if one["kind"] == "Namespace" else metadata.get("namespace", ""))
