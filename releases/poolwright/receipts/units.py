"""What a project's specs say of the workloads that receipts are of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from poolwright.specs.parse import Specs
from poolwright.specs.resolve import resolve_placement


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A placement, as its receipts name it."""

    name: str
    envelope: str  # name@version
    model_name: str
    model_digest: str
    image: str  # the stack's serving image, by name


def list_units(specs: Specs, cluster: str) -> Mapping[str, Unit]:
    """The placements on a cluster's pools by the title of their workload: namespace and name.

    specs: of a whole project, whose references all lead somewhere.
    """
    found = {}
    for placement in specs.placements:
        resolved = resolve_placement(specs, placement)[0]
        if resolved is not None and resolved.on.cluster.name == cluster:
            envelope, name = resolved.envelope.value, placement.value.metadata.name
            found[f"{envelope.spec.namespace}/{name}"] = Unit(
                name=name,
                envelope=envelope.identity,
                model_name=envelope.spec.model.name,
                model_digest=envelope.spec.model.digest,
                image=resolved.image.name,
            )
    return found
