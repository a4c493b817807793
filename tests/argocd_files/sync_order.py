"""In which order one sync of Argo CD goes: by wave, kind and name, and what is pruned the other way round.

Phases aren't modelled: nothing that is rendered is a hook.

Source: gitops-engine/pkg/sync/sync_tasks.go and sync_context.go of argoproj/argo-cd at 3.6.0's development.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from poolwright.objects.kubernetes import SYNC_OPTIONS, SYNC_WAVE, Object, identify

# Of Argo CD's order of kinds those that occur; a kind that isn't in it comes after all that are.
KINDS = (
    *("Namespace", "NetworkPolicy", "ResourceQuota", "PodDisruptionBudget", "ServiceAccount", "ConfigMap"),
    *("Service", "Deployment", "HorizontalPodAutoscaler", "Job", "CronJob"),
)


@dataclass(frozen=True, slots=True)
class Step:
    """One object that a sync applies or prunes."""

    wave: int
    kind: str
    name: str
    prune: bool = False


def order_sync(targets: Sequence[Object], live: Sequence[Object] = ()) -> list[Step]:
    """What a sync does, in its order; the steps of a wave in one go, and the next wave's when all of them are healthy.

    targets: what is rendered.
    live:    what the Application has; what isn't among the targets is pruned, unless it says that it mustn't be.
    """
    wanted = {identify(document) for document in targets}
    steps = [Step(read_wave(document), document["kind"], document["metadata"]["name"]) for document in targets]
    gone = [document for document in live if identify(document) not in wanted and not _says(document, "Prune=false")]
    # The first wave's are pruned in the last's place, and so on.
    waves = sorted({read_wave(document) for document in gone})
    turned = dict(zip(waves, reversed(waves), strict=True))
    places = {identify(document): turned[read_wave(document)] for document in gone}
    last = 1 + max([0, *(step.wave for step in steps), *places.values()])
    steps += [
        Step(
            last if _says(document, "PruneLast=true") else places[identify(document)],
            document["kind"],
            document["metadata"]["name"],
            prune=True,
        )
        for document in gone
    ]
    return sorted(steps, key=lambda step: (step.wave, _kind_order(step.kind), step.name))


def read_wave(document: Object) -> int:
    """The wave of an object; 0 if it doesn't say."""
    return int(document["metadata"].get("annotations", {}).get(SYNC_WAVE, 0))


def _says(document: Object, option: str) -> bool:
    return option in str(document["metadata"].get("annotations", {}).get(SYNC_OPTIONS, "")).split(",")


def _kind_order(kind: str) -> int:
    return KINDS.index(kind) if kind in KINDS else len(KINDS)
