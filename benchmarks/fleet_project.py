"""A project as large as a benchmark wants it, made of the example fleet's specs.

Its clusters all have the pools of the example's `east`, and its units are what `east` runs, again and again: chat,
tenants that share a router, guard, retrieval, prefill with a network card, a model across nodes, batch with a template
of its team's. Every other round of units places envelopes of its own, so a base is shared by some units and not by all.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

Document = dict[str, Any]

EXAMPLE_CLUSTER = "east"
_NAMED_FOLDERS = ("models", "templates")  # what envelopes name files in
_AS_THEY_ARE: Mapping[str, Iterable[Document]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """What of the example a large project is made of."""

    project: Document
    stack: Document
    pools: tuple[Document, ...]
    placements: tuple[Document, ...]
    envelopes: tuple[Document, ...]


def write_project(
    example: Path, folder: Path, *, clusters: int, units: int, planned: Mapping[str, Iterable[Document]] = _AS_THEY_ARE
) -> None:
    """Write a project of `clusters` x `units` placements into an empty folder; a file for each placement.

    example: the folder of the example fleet.
    planned: by name of the example's pool, entries in place of its planned nodes: each is the pool's first entry with
             these fields replaced.
    """
    source = _read_example(example)
    for name in _NAMED_FOLDERS:
        shutil.copytree(example / name, folder / name)
    names = [cluster_name(number) for number in range(clusters)]
    _write(folder / "poolwright.yaml", [_build_project(source.project, names)])
    _write(folder / "specs" / "stack.yaml", [source.stack])
    for document in _build_envelopes(source, units):
        metadata = document["metadata"]
        _write(folder / "specs" / "envelopes" / metadata["name"] / f"{metadata['version']}.yaml", [document])
    for name in names:
        pools = [_build_pool(pool, name, source.envelopes, planned) for pool in source.pools]
        _write(folder / "specs" / "pools" / f"{name}.yaml", pools)
        for placement in _build_placements(source, name, units):
            _write(placement_path(folder, name, placement["metadata"]["name"]), [placement])


def cluster_name(number: int) -> str:
    """What the cluster of this number is called."""
    return f"cluster-{number:03d}"


def placement_path(folder: Path, cluster: str, unit: str) -> Path:
    """The file of a placement."""
    return folder / "specs" / "placements" / cluster / f"{unit}.yaml"


def _read_example(folder: Path) -> Example:
    documents = [d for path in sorted(folder.glob("specs/**/*.yaml")) for d in yaml.safe_load_all(path.read_text())]
    pools = [d for d in documents if d["kind"] == "Pool" and d["spec"]["clusterName"] == EXAMPLE_CLUSTER]
    names = {pool["metadata"]["name"] for pool in pools}
    project: Document = yaml.safe_load((folder / "poolwright.yaml").read_text())
    cluster = next(c for c in project["spec"]["clusters"] if c["name"] == EXAMPLE_CLUSTER)
    return Example(
        project={**project, "spec": {**project["spec"], "clusters": [cluster]}},
        stack=next(d for d in documents if d["kind"] == "Stack" and d["metadata"]["name"] == cluster["stackName"]),
        pools=tuple(pools),
        placements=tuple(d for d in documents if d["kind"] == "Placement" and d["spec"]["poolName"] in names),
        envelopes=tuple(d for d in documents if d["kind"] == "Envelope"),
    )


def _build_project(project: Document, names: Iterable[str]) -> Document:
    (cluster,) = project["spec"]["clusters"]
    clusters = [{**cluster, "name": name, "destination": {"name": name}} for name in names]
    return {**project, "spec": {**project["spec"], "clusters": clusters}}


def _build_pool(
    pool: Document, cluster: str, envelopes: Iterable[Document], planned: Mapping[str, Iterable[Document]]
) -> Document:
    """The pool on another cluster; without quotas, for they fit the example's few units."""
    spec = {**pool["spec"], "clusterName": cluster}
    if pool["metadata"]["name"] in planned:
        first = spec["plannedNodes"][0]
        spec["plannedNodes"] = [{**first, **fields} for fields in planned[pool["metadata"]["name"]]]
    spec["namespaces"] = [{"name": name} for name in sorted({e["spec"]["namespace"] for e in envelopes})]
    if pool["metadata"]["name"] == "static-mig":  # one pool of a cluster renders a namespace
        admitted = {namespace["name"] for namespace in pool["spec"]["namespaces"]}
        spec["namespaces"] = [namespace for namespace in spec["namespaces"] if namespace["name"] in admitted]
    return _rename({**pool, "spec": spec}, f"{pool['metadata']['name']}-{cluster}")


def _build_envelopes(source: Example, units: int) -> Iterator[Document]:
    rounds = -(-units // len(source.placements))
    for envelope in source.envelopes:
        for variant in range(_variant(envelope, rounds - 1) + 1):
            spec = envelope["spec"]
            claim = spec.get("claim", {})
            if "name" in claim:
                spec = {**spec, "claim": {**claim, "name": _numbered(claim["name"], variant)}}
            yield _rename({**envelope, "spec": spec}, _numbered(envelope["metadata"]["name"], variant))


def _build_placements(source: Example, cluster: str, units: int) -> Iterator[Document]:
    envelopes = {envelope["metadata"]["name"]: envelope for envelope in source.envelopes}
    for number in range(units):
        round_number, turn = divmod(number, len(source.placements))
        placement = source.placements[turn]
        spec = dict(placement["spec"])
        name = spec["envelope"]["name"]
        spec["envelope"] = {**spec["envelope"], "name": _numbered(name, _variant(envelopes[name], round_number))}
        spec["poolName"] = f"{spec['poolName']}-{cluster}"
        router: Mapping[str, Any] = spec.get("router", {})
        if "poolName" in router:
            spec["router"] = {**router, "poolName": _numbered(router["poolName"], round_number)}
        if "hostnames" in router:
            spec["router"] = {**router, "hostnames": [f"r{round_number}.{host}" for host in router["hostnames"]]}
        yield _rename({**placement, "spec": spec}, _numbered(placement["metadata"]["name"], round_number))


def _variant(envelope: Document, round_number: int) -> int:
    """Which copy of an envelope a round of units places: two rounds share one, but for a claim that has one owner."""
    return round_number if "name" in envelope["spec"].get("claim", {}) else round_number // 2


def _numbered(name: str, number: int) -> str:
    return f"{name}-{number}" if number else name


def _rename(document: Document, name: str) -> Document:
    return {**document, "metadata": {**document["metadata"], "name": name}}


class _Dumper(yaml.CSafeDumper):
    """Writes a value again wherever it stands: specs take no aliases."""

    def ignore_aliases(self, _: object) -> bool:
        return True


def _write(path: Path, documents: Iterable[Document]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False))
