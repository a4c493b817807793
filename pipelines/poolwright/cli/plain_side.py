"""A folder of plain manifests read as a side of a change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.allocation.features import MINORS
from poolwright.allocation.parse_objects import parse_objects
from poolwright.catalog.facts import Facts
from poolwright.changes.plain import CLUSTER, build_plain_cluster
from poolwright.changes.report import Revision
from poolwright.changes.side import Side
from poolwright.files.project import read_manifests
from poolwright.rules.check import check_objects
from poolwright.rules.placed import parse_objects as parse_placed
from poolwright.specs.document import Document, parse_documents
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.parse import PROJECT_FILE
from poolwright.specs.place import Place

PROJECT: Final = "manifests"  # what the report's project is called
_MAX_BYTES: Final = 64 << 20
_KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml")


def read_plain_side(folder: str, revision: Revision, facts: Facts, *, minor: str = MINORS[-1]) -> Side:
    """Every manifest below a folder as one cluster.

    minor:  of Kubernetes, with its default gates.
    Raises: SpecError with everything that can't be read, or if there is no object.
    """
    documents = list(_read(folder))
    if not documents:
        raise SpecError([_empty()])
    effective = facts.effective_gates(minor, {})
    objects = [one.value for one in documents if isinstance(one.value, dict)]
    cluster = build_plain_cluster(parse_objects(documents), objects, minor=minor, effective=effective)
    placed = parse_placed(documents)
    return Side(
        revision=revision,
        project=PROJECT,
        clusters={CLUSTER: cluster},
        findings=tuple(check_objects(placed, kubernetes_minor=minor)),
    )


def _read(folder: str) -> Iterator[Document]:
    problems: list[Finding] = []
    files = read_manifests(folder)
    if projects := [path for path in files if path.rpartition("/")[2] == PROJECT_FILE]:
        raise SpecError(map(_unrendered, projects))
    for path, data in files.items():
        if path.rpartition("/")[2] in _KUSTOMIZATIONS:
            problems.append(_unbuilt(path))
        try:
            yield from parse_documents(data, path, max_bytes=_MAX_BYTES)
        except SpecError as error:
            problems += error.findings
    if problems:
        raise SpecError(problems)


def _empty() -> Finding:
    return Finding(
        code="objects-empty",
        severity="error",
        place=Place("."),
        what="there is neither a poolwright.yaml nor a manifest in it",
        why="nothing would look like everything being removed, or like nothing having changed",
        rule="poolwright diff",
        fix="name a revision or a folder that holds a project, or manifests (.yaml, .yml)",
    )


def _unrendered(path: str) -> Finding:
    return Finding(
        code="side-unbuilt",
        severity="error",
        place=Place(path),
        what="a project stands here, below the folder that is compared",
        why="specs are no manifests: what is applied is what is rendered of them",
        rule="poolwright diff",
        fix="pass --project DIR, the folder that it stands in; of a bare repository, clone it first",
    )


def _unbuilt(path: str) -> Finding:
    return Finding(
        code="side-unbuilt",
        severity="error",
        place=Place(path),
        what="the folder is to be built by Kustomize, and its files aren't what is applied",
        why="prefixes, patches and generators change names and references, which is what would be compared",
        rule="poolwright diff",
        fix="build both sides first: kubectl kustomize FOLDER > before/objects.yaml, and compare the two results",
    )
