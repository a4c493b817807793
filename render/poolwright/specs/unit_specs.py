"""The specs of one unit, found without parsing the others: their bytes are searched for kind and name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from poolwright.specs.document import Document
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.model import SpecModel
from poolwright.specs.parse import PROJECT_FILE, Spec, Specs, find_documents, gather_specs, parse_project, parse_spec
from poolwright.specs.placement import Placement
from poolwright.specs.project import Cluster, Project


def parse_unit_specs(files: Mapping[str, bytes], cluster: str, unit: str) -> Specs:
    """The Project, and of the other kinds at least what placements of the cluster that are called `unit` refer to.

    Those of other clusters are left out: many clusters run a unit of the same name. Only where the cluster's pools have
    no such placement does every one of the name count, so that what is wrong with its pool can be said.

    files:  all spec files by name.
    Raises: SpecError if the Project or one of those specs can't be read, or the Project has no such cluster; other
            specs are not looked at.
    Cost:   a search through every byte, and a parse of the files that hold one of the names.
    """
    project = parse_project(files)
    stack_name = find_cluster(project, cluster).stack_name
    pools = _pool_names(files, cluster)
    placements = [parse_spec(document) for document in _placed(files, unit, pools)]
    if not placements:
        placements = [parse_spec(document) for document in _named(files, "Placement", unit)]
    placements += [parse_spec(d) for name in _joined(placements, unit) for d in _placed(files, name, pools)]
    found: list[Spec[SpecModel]] = [project, *map(parse_spec, _named(files, "Stack", stack_name)), *placements]
    wanted = [placement.value.spec for placement in placements if isinstance(placement.value, Placement)]
    for pool in sorted({spec.pool_name for spec in wanted}):
        found += map(parse_spec, _named(files, "Pool", pool))
    for name, version in sorted({(spec.envelope.name, spec.envelope.version) for spec in wanted}):
        found += [
            parse_spec(document)
            for document in _named(files, "Envelope", name)
            if _text(document, "metadata", "version") == version
        ]
    return gather_specs(found)


def parse_platform_specs(files: Mapping[str, bytes], cluster: str) -> Specs:
    """The Project, the cluster's stack and all pools of the cluster; otherwise as `parse_unit_specs`."""
    project = parse_project(files)
    stack_name = find_cluster(project, cluster).stack_name
    pools = [
        parse_spec(document)
        for document in _mentioning(files, "Pool", cluster)
        if _text(document, "spec", "clusterName") == cluster
    ]
    return gather_specs([project, *map(parse_spec, _named(files, "Stack", stack_name)), *pools])


def find_cluster(project: Spec[Project], name: str) -> Cluster:
    """The Project's cluster of this name.

    Raises: SpecError if it has none.
    """
    clusters = project.value.spec.clusters
    for cluster in clusters:
        if cluster.name == name:
            return cluster
    raise SpecError(
        [
            Finding(
                code="cluster-unknown",
                severity="error",
                place=project.place("spec", "clusters"),
                what=f'the project has no cluster "{name}"',
                why=f"{PROJECT_FILE} names every cluster that is rendered for",
                rule="poolwright.dev/v1alpha1",
                fix=f"name one of: {', '.join(sorted(cluster.name for cluster in clusters))}",
            )
        ]
    )


def _joined(placements: Sequence[Spec[SpecModel]], unit: str) -> list[str]:
    """The units whose router pools the placements join: rules about joining need what those place, too."""
    routers = [placement.value.spec.router for placement in placements if isinstance(placement.value, Placement)]
    return sorted({router.pool_name for router in routers if router and router.pool_name} - {unit})


def _pool_names(files: Mapping[str, bytes], cluster: str) -> frozenset[str]:
    """The pools of a cluster."""
    pools = (d for d in _mentioning(files, "Pool", cluster) if _text(d, "spec", "clusterName") == cluster)
    return frozenset(_text(pool, "metadata", "name") for pool in pools)


def _placed(files: Mapping[str, bytes], unit: str, pools: frozenset[str]) -> Iterator[Document]:
    """Placements of this name on one of the pools."""
    near = {file: files[file] for file in _holding(files, pools)}
    return (document for document in _named(near, "Placement", unit) if _text(document, "spec", "poolName") in pools)


def _named(files: Mapping[str, bytes], kind: str, name: str) -> Iterator[Document]:
    return (document for document in _mentioning(files, kind, name) if _text(document, "metadata", "name") == name)


def _mentioning(files: Mapping[str, bytes], kind: str, word: str) -> Iterator[Document]:
    for file in _holding(files, [word]):
        yield from find_documents(files[file], file, kind, word)


def _holding(files: Mapping[str, bytes], words: Iterable[str]) -> list[str]:
    """Files that may hold one of the words: a backslash may spell any of them."""
    wanted = [word.encode("utf-8", "surrogatepass") for word in words]
    return sorted(file for file, text in files.items() if any(w in text for w in wanted) or b"\\" in text)


def _text(document: Document, *path: str) -> str:
    """The scalar at path in a document that may have any shape yet."""
    return document.scalar_text(path)
