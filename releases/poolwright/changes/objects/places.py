"""Where people mend what is rendered: the spec that an object follows from."""

from __future__ import annotations

from dataclasses import dataclass

from poolwright.changes.hardware import find_class_place
from poolwright.specs.parse import PROJECT_FILE, Specs
from poolwright.specs.place import Place


@dataclass(frozen=True, slots=True)
class ObjectPlaces:
    """Places of a cluster's objects."""

    specs: Specs  # of the head
    cluster: str

    def find(self, unit: str, kind: str, _namespace: str, name: str) -> Place:
        """The placement of a unit's object, the class or first pool of a platform's; of others the project file."""
        placement = self.specs.placements_by_cluster.get(self.cluster, {}).get(unit)
        if placement is not None:
            return placement.place()
        if kind == "DeviceClass":
            return find_class_place(self.specs, self.cluster, name)
        pools = [pool for pool in self.specs.pools if pool.value.spec.cluster_name == self.cluster]
        return pools[0].place() if unit == "platform" and pools else Place(PROJECT_FILE)
