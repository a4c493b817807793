"""Whether an Argo CD project may have a unit rendered: the sidecar's trust file says, and no repository."""

from __future__ import annotations

from collections.abc import Sequence

from poolwright.specs.finding import Finding
from poolwright.specs.place import Place
from poolwright.trust.policy import ALL, Allowed, TrustPolicy

_WHY = "parameters stand in a repository too, so who may have a unit is said outside of all"
_RULE = "poolwright trust in parameters"


def find_allowed(
    policy: TrustPolicy, file: str, argocd_project: str, cluster: str, unit: str
) -> Finding | tuple[Allowed, ...]:
    """The entries that let an Argo CD project have a unit, never none; or why there is none.

    file: what findings call the policy.
    Note: `*` stands for every cluster or unit, and for no Argo CD project: those are named.
    """
    own = [entry for entry in policy.allow if entry.argocd_project == argocd_project]
    found = tuple(entry for entry in own if _holds(entry.clusters, cluster) and _holds(entry.units, unit))
    if found:
        return found
    return Finding(
        code="not-allowed",
        severity="error",
        place=Place(file),
        what=f'the Argo CD project "{argocd_project}" may not have {cluster}/{unit} rendered',
        why=_WHY,
        rule=_RULE,
        fix=_say_own(own) if own else "add the project to `allow`, or correct spec.project of the Application",
    )


def check_delivery(allowed: Sequence[Allowed], file: str, cluster: str, delivery: str) -> Finding | None:
    """Why none of the entries lets the cluster be delivered as its Project says; None: one does.

    allowed: what `find_allowed` found.
    """
    known = sorted({name for entry in allowed for name in entry.deliveries})
    if delivery in known:
        return None
    return Finding(
        code="not-allowed",
        severity="error",
        place=Place(file),
        what=f'the Argo CD project "{allowed[0].argocd_project}" may have cluster {cluster} by {" or ".join(known)}, '
        f"and the Project says {delivery}",
        why="how a cluster is delivered decides what reviewers see before it runs",
        rule=_RULE,
        fix=f"set the cluster's delivery back, or add {delivery} to `deliveries`",
    )


def _holds(names: Sequence[str], name: str) -> bool:
    return ALL in names or name in names


def _say_own(own: Sequence[Allowed]) -> str:
    clusters = ", ".join(sorted({name for entry in own for name in entry.clusters}))
    units = ", ".join(sorted({name for entry in own for name in entry.units}))
    return f"add both to one entry of `allow`; it has clusters {clusters}; units {units}"
