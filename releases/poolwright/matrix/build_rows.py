"""The rows that a project owes rehearsals for: derived from what is placed, never written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from poolwright.catalog.facts import Facts
from poolwright.catalog.inventory import Inventory
from poolwright.matrix.hardware import ClusterHardware, Landing
from poolwright.matrix.row import Row
from poolwright.matrix.stack_versions import StackVersions, build_stack_versions, check_exact
from poolwright.specs.lock import Lock
from poolwright.specs.model import VersionText
from poolwright.specs.parse import Specs
from poolwright.specs.rehearsal import Combination, NamedVersion
from poolwright.specs.resolve import ResolvedPlacement, resolve_cluster, resolve_placement


def build_rows(specs: Specs, inventories: Mapping[str, Inventory], lock: Lock | None, facts: Facts) -> tuple[Row, ...]:
    """Every combination that some placement uses, each once, by stack and id.

    specs:       of a whole project, whose references all lead somewhere and whose planned nodes are sound.
    inventories: by cluster; a cluster may have none.
    lock:        None: nothing is pinned.
    Cost:        as `check` pays for prices: each class's selectors once per kind of device.
    """
    resolved = [one for one in (resolve_placement(specs, one)[0] for one in specs.placements) if one is not None]
    rows: dict[tuple[str, str], Row] = {}
    for cluster in specs.project.value.spec.clusters:
        here = [one for one in resolved if one.on.cluster.name == cluster.name]
        on = resolve_cluster(specs, cluster.name)[0]
        if on is None or not here:
            continue
        stack = on.stack.value
        versions = build_stack_versions(stack, lock.stacks.get(stack.identity) if lock else None)
        hardware = ClusterHardware(specs, on, inventories.get(cluster.name), facts)
        for placement in here:
            for row in _list_rows(placement, hardware.list_landings(placement), versions):
                key = (row.stack, row.id)
                rows[key] = _merge(rows[key], row) if key in rows else row
    return tuple(rows[key] for key in sorted(rows))


def _list_rows(resolved: ResolvedPlacement, landings: tuple[Landing, ...], versions: StackVersions) -> Iterator[Row]:
    stack, image = resolved.on.stack, resolved.image
    field = f"servingImages.{image.name}.version"
    for landing in landings:
        problems = (*versions.unresolved, check_exact(field, image.version), landing.unknown)
        yield Row(
            stack=stack.value.identity,
            place=stack.place("metadata", "name"),
            combination=Combination(
                kubernetes=versions.kubernetes,
                feature_gates=versions.feature_gates,
                gpu_operator=versions.gpu_operator,
                dra_drivers=versions.dra_drivers,
                gpu_driver=versions.gpu_driver,
                container_runtime=versions.container_runtime,
                container_toolkit=versions.container_toolkit,
                cdi=versions.cdi,
                hardware=landing.hardware,
                claim_pattern=resolved.envelope.value.spec.claim.pattern,
                serving_image=NamedVersion(name=image.name, version=VersionText(image.version)),
            ),
            units=(f"{resolved.on.cluster.name}/{resolved.placement.value.identity}",),
            unresolved=tuple(problem for problem in problems if problem),
        )


def _merge(one: Row, other: Row) -> Row:
    """A row that placements of several clusters have: in whichever something isn't known, it isn't."""
    return Row(
        stack=one.stack,
        place=one.place,
        combination=one.combination,
        units=tuple(sorted({*one.units, *other.units})),
        unresolved=tuple(dict.fromkeys((*one.unresolved, *other.unresolved))),
    )
