"""A whole project read: its specs, what they render to, and the facts they rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from poolwright.admission.claimed import bound_claim
from poolwright.admission.model_files import check_model_files
from poolwright.catalog.argocd_closure import ArgocdClosure
from poolwright.catalog.closure import BaseClosure, Closure, UnitClosure, list_named_files
from poolwright.catalog.facts import Facts
from poolwright.catalog.inventory import Inventory, parse_inventory
from poolwright.catalog.locked import apply_lock
from poolwright.catalog.units import build_closures
from poolwright.cli.complete import complete_closures, render_workload
from poolwright.files.custom import Custom, read_customs
from poolwright.files.facts import read_facts
from poolwright.files.project import (
    MAX_INVENTORY_BYTES,
    MAX_INVENTORY_VALUES,
    check_values,
    read_lock,
    read_named_files,
    read_specs,
)
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.lock import Lock
from poolwright.specs.parse import Specs, parse_specs
from poolwright.specs.place import Place
from poolwright.specs.project import Cluster
from poolwright.trees.tree import unit_base, unit_name


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedProject:
    """A project whose specs are all well-formed and agree with each other."""

    root: str
    specs: Specs
    closures: tuple[Closure, ...]
    facts: Facts
    named_files: Mapping[str, bytes]  # the files that envelopes name
    customs: Mapping[str, Custom]  # teams' own components, by the name of their unit's folder
    written: Specs  # the same as they stand in their files: with ranges that the lock decides
    lock: Lock | None = None


def load_project(root: str) -> LoadedProject:
    """Read and check every spec of the project at root.

    Raises: SpecError with everything that is wrong.
    """
    lock = read_lock(root)  # first: a newer release may have written specs, and facts, that this one can't read
    facts = read_facts(root)
    written = parse_specs(read_specs(root))
    specs = apply_lock(written, lock)
    files = read_named_files(root, (path for envelope in specs.envelopes for path in list_named_files(envelope.value)))
    closures = build_closures(specs, files, facts)
    if unreadable := list(check_model_files(specs.envelopes, files)):
        raise SpecError(unreadable)
    customs = read_customs(root, [unit_name(closure) for closure in closures if isinstance(closure, UnitClosure)])
    digests = {unit: custom.digest for unit, custom in customs.items()}
    closures = tuple(bound_claim(closure, files, facts, lock) for closure in closures)
    closures = complete_closures(closures, lambda envelope: render_workload(envelope, files), digests.get)
    return LoadedProject(
        root=root,
        specs=specs,
        closures=closures,
        facts=facts,
        named_files=files,
        customs=customs,
        written=written,
        lock=lock,
    )


def choose_closures(closures: tuple[Closure, ...], cluster: str | None) -> tuple[Closure, ...]:
    """All closures, or those of one cluster's units and the bases they stand on."""
    if cluster is None:
        return closures
    units = [c for c in closures if not isinstance(c, BaseClosure) and c.on.cluster == cluster]
    placed = {unit_base(c) for c in units if isinstance(c, UnitClosure)}
    bases = [c for c in closures if isinstance(c, BaseClosure) and unit_name(c) in placed]
    return (*bases, *units)


def list_committed(project: LoadedProject, closures: Sequence[Closure]) -> tuple[Closure, ...]:
    """Those whose folders stand in the repository: of a cluster that the plugin renders for, only its `argocd`."""
    clusters = project.specs.project.value.spec.clusters
    committed = {cluster.name for cluster in clusters if cluster.delivery == "committed"}
    return tuple(
        closure
        for closure in closures
        if isinstance(closure, BaseClosure | ArgocdClosure) or closure.on.cluster in committed
    )


def read_inventories(project: LoadedProject) -> dict[str, Inventory]:
    """Each cluster's captured Nodes and ResourceSlices, by cluster; one without an inventory file is left out.

    Raises: SpecError if a file that the Project names isn't there, or one that is there can't be read.
    """
    problems: list[Finding] = []
    inventories = {}
    spec = project.specs.project
    for index, cluster in enumerate(spec.value.spec.clusters):
        path = find_inventory(cluster)
        files = read_named_files(project.root, [path], max_bytes=MAX_INVENTORY_BYTES)
        if path not in files:
            if cluster.inventory:
                problems.append(_missing(spec.place("spec", "clusters", index, "inventory"), cluster.name, path))
            continue
        try:
            check_values(files[path], path, most=MAX_INVENTORY_VALUES)
            documents = parse_documents(files[path], path, max_bytes=MAX_INVENTORY_BYTES)
            if not documents:
                problems.append(_empty(path))
                continue
            inventories[cluster.name] = parse_inventory(documents, path)
        except SpecError as error:
            problems += error.findings
    if problems:
        raise SpecError(problems)
    return inventories


def find_inventory(cluster: Cluster) -> str:
    """Where a cluster's captured Nodes and ResourceSlices are, if there are any."""
    return cluster.inventory or f"inventory/{cluster.name}.yaml"


def _empty(path: str) -> Finding:
    return Finding(
        code="inventory-empty",
        severity="error",
        place=Place(path),
        what="there is no object in it",
        why="what was to capture the cluster most likely failed, and nothing would be compared with its devices",
        rule="poolwright.dev/v1alpha1",
        fix="capture it again: kubectl get nodes,resourceslices -o yaml; or remove the file",
    )


def _missing(place: Place, cluster: str, path: str) -> Finding:
    return Finding(
        code="file-missing",
        severity="error",
        place=place,
        what=f'cluster "{cluster}" names the inventory "{path}", which isn\'t in the project',
        why="what the devices publish is read from it",
        rule="poolwright.dev/v1alpha1",
        fix="capture it: kubectl get nodes,resourceslices -o yaml",
    )
