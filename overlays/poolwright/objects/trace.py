"""A unit's objects with their origins: what the unit is built from, and which of its values are one name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from poolwright.catalog.closure import build_platform_closure, build_unit_closure
from poolwright.catalog.facts import Facts
from poolwright.catalog.rules import check_kubernetes
from poolwright.objects.built import Built
from poolwright.objects.kubernetes import Object
from poolwright.objects.origins import End, Link, Source, trace_objects
from poolwright.objects.unit import build_objects
from poolwright.specs.envelope import Envelope
from poolwright.specs.model import SpecModel, decode_custom
from poolwright.specs.parse import K, Spec, Specs
from poolwright.specs.place import FieldPath
from poolwright.specs.placement import Placement
from poolwright.specs.pool import Pool
from poolwright.specs.project import Project
from poolwright.specs.resolve import (
    ResolvedCluster,
    ResolvedPlacement,
    cluster_of,
    resolve_cluster,
    resolve_placement,
)
from poolwright.specs.stack import Stack


def trace_unit(resolved: ResolvedPlacement, facts: Facts, files: Mapping[str, bytes]) -> tuple[Built, ...]:
    """The finished objects of a placement's unit, with their origins; files as for its closure."""
    on = resolved.on

    def build(changed: Mapping[str, Any]) -> Sequence[Object]:
        placement = _reread(resolved.placement, Placement, changed)
        specs = Specs(
            projects=(_reread(on.project, Project, changed),),
            stacks=(_reread(on.stack, Stack, changed),),
            pools=(_reread(resolved.pool, Pool, changed),),
            envelopes=(_reread(resolved.envelope, Envelope, changed),),
            placements=(placement,),
        )
        again, problems = resolve_placement(specs, placement)
        if again is None:
            raise ValueError(problems[0].what)
        path = again.envelope.value.spec.model.config_path
        # Another path stands for another file: that the name counts is what is asked here.
        named = {**files, path: files.get(path, b"another file")}
        return build_objects(build_unit_closure(again, _resource_api(again.on.stack, facts), facts, named))

    sources = [_source(spec) for spec in (on.project, on.stack, resolved.pool, resolved.envelope, resolved.placement)]
    return trace_objects(sources, list(_unit_links(resolved)), build)


def trace_platform(on: ResolvedCluster, pools: tuple[Spec[Pool], ...], facts: Facts) -> tuple[Built, ...]:
    """The finished objects of a cluster's platform unit, with their origins; pools: all of the cluster."""

    def build(changed: Mapping[str, Any]) -> Sequence[Object]:
        specs = Specs(
            projects=(_reread(on.project, Project, changed),),
            stacks=(_reread(on.stack, Stack, changed),),
            pools=tuple(_reread(pool, Pool, changed) for pool in pools),
            envelopes=(),
            placements=(),
        )
        (cluster, *others) = {cluster_of(specs, pool)[0] for pool in specs.pools}
        again = resolve_cluster(specs, cluster)[0] if cluster is not None and not others else None
        if again is None:
            raise ValueError("a reference leads nowhere, or a pool has left the cluster")
        return build_objects(build_platform_closure(again, specs.pools, _resource_api(again.stack, facts)))

    sources = [_source(spec) for spec in (on.project, on.stack, *pools)]
    return trace_objects(sources, list(_platform_links(on, pools)), build)


def _platform_links(on: ResolvedCluster, pools: tuple[Spec[Pool], ...]) -> Iterator[Link]:
    yield _stack_link(on)
    yield _cluster_link(on, pools)
    # One namespace that several pools name is one object: it keeps its name until none of them says it.
    namespaces: dict[str, list[End]] = {}
    for pool in pools:
        for index, namespace in enumerate(pool.value.spec.namespaces):
            namespaces.setdefault(namespace.name, []).append(_end(pool, "spec", "namespaces", index, "name"))
    yield from map(tuple, namespaces.values())


def _unit_links(resolved: ResolvedPlacement) -> Iterator[Link]:
    on, pool, envelope, placement = resolved.on, resolved.pool, resolved.envelope, resolved.placement
    device_class = pool.value.spec.device_classes.index(resolved.device_class)
    namespaces = [namespace.name for namespace in pool.value.spec.namespaces]
    namespace = namespaces.index(envelope.value.spec.namespace)
    image = on.stack.value.spec.serving_images.index(resolved.image)
    yield _stack_link(on)
    yield _cluster_link(on, [pool])
    yield _end(pool, "metadata", "name"), _end(placement, "spec", "poolName")
    yield (
        _end(pool, "spec", "deviceClasses", device_class, "name"),
        _end(placement, "spec", "deviceClassNames", 0),
    )
    yield _end(envelope, "metadata", "name"), _end(placement, "spec", "envelope", "name")
    yield _end(envelope, "metadata", "version"), _end(placement, "spec", "envelope", "version")
    yield _end(pool, "spec", "namespaces", namespace, "name"), _end(envelope, "spec", "namespace")
    if envelope.value.spec.engine.image_name is not None:
        yield _end(on.stack, "spec", "servingImages", image, "name"), _end(envelope, "spec", "engine", "imageName")


def _stack_link(on: ResolvedCluster) -> Link:
    cluster = on.project.value.spec.clusters.index(on.cluster)
    return _end(on.stack, "metadata", "name"), _end(on.project, "spec", "clusters", cluster, "stackName")


def _cluster_link(on: ResolvedCluster, pools: Iterable[Spec[Pool]]) -> Link:
    cluster = on.project.value.spec.clusters.index(on.cluster)
    names = [_end(pool, "spec", "clusterName") for pool in pools]
    return _end(on.project, "spec", "clusters", cluster, "name"), *names


def _source(spec: Spec[SpecModel]) -> Source:
    return Source(key=_key(spec), kind=type(spec.value).__name__, document=spec.document)


def _end(spec: Spec[SpecModel], *path: str | int) -> End:
    steps: FieldPath = path
    return End(_key(spec), steps)


def _key(spec: Spec[SpecModel]) -> str:
    return f"{type(spec.value).__name__} {spec.value.identity}"


def _reread(spec: Spec[K], model: type[K], changed: Mapping[str, Any]) -> Spec[K]:
    """The spec with its changed value, if it has one.

    Raises: ValueError if the changed value is no spec.
    """
    plain = changed.get(_key(spec))
    if plain is None:
        return spec
    try:
        value = msgspec.convert(plain, model, dec_hook=decode_custom)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    return Spec(value=value, document=spec.document)


def _resource_api(stack: Spec[Stack], facts: Facts) -> str:
    api, problems = check_kubernetes(stack, facts)
    if problems:
        raise ValueError(problems[0].what)
    return api
