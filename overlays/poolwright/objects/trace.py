"""A unit's objects with their origins: what the unit is built from, and which of its values are one name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from poolwright.admission.claimed import bound_claim
from poolwright.catalog.closure import (
    ClusterApi,
    EnvelopeClosure,
    build_envelope_closure,
    build_platform_closure,
    build_unit_closure,
    list_named_files,
)
from poolwright.catalog.facts import Facts
from poolwright.catalog.rules import check_kubernetes
from poolwright.objects.built import Built
from poolwright.objects.envelope import build_workload
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

Render = Callable[[EnvelopeClosure, Mapping[str, bytes]], Object]


def _no_template(envelope: EnvelopeClosure, _: Mapping[str, bytes]) -> Object:
    raise ValueError(f"{envelope.name}: nobody to render its template")


def trace_unit(
    specs: Specs,
    resolved: ResolvedPlacement,
    facts: Facts,
    files: Mapping[str, bytes],
    render: Render = _no_template,
) -> tuple[Built, ...]:
    """The finished objects of a placement's unit, with their origins; files as for its closure.

    specs:  the whole project's, where references are followed.
    render: the workload that an envelope's template gives with these files. Raises ValueError where it gives none.
    """

    def build(changed: Mapping[str, Any]) -> Sequence[Object]:
        placement = _reread(resolved.placement, Placement, changed)
        again, problems = resolve_placement(_reread_all(specs, changed), placement)
        if again is None:
            raise ValueError(problems[0].what)
        envelope = again.envelope.value
        # Another path stands for another file: that the name counts is what is asked here.
        named = {**dict.fromkeys(list_named_files(envelope), b"another file"), **files}
        record = build_envelope_closure(envelope, named, facts)
        closure = build_unit_closure(again, _cluster_api(again.on.stack, facts), facts, record)
        template = closure.envelope.spec.engine.template
        if template is not None:
            # Nothing of another template is known: what is left without this one doesn't follow from it.
            workload = render(closure.envelope, named) if template in files else build_workload(closure.envelope)
            whole = msgspec.structs.replace(closure.envelope, workload=workload)
            closure = msgspec.structs.replace(closure, envelope=whole)
        return build_objects(bound_claim(closure, named, facts))

    on = resolved.on
    placements = {spec.value.identity: spec for spec in (resolved.placement, resolved.router_owner)}
    sources = [_source(spec) for spec in (on.project, on.stack, resolved.pool, resolved.envelope, *placements.values())]
    return trace_objects(sources, list(_unit_links(resolved)), build)


def trace_platform(specs: Specs, on: ResolvedCluster, pools: tuple[Spec[Pool], ...], facts: Facts) -> tuple[Built, ...]:
    """The finished objects of a cluster's platform unit, with their origins; pools: all of the cluster."""

    def build(changed: Mapping[str, Any]) -> Sequence[Object]:
        all_specs = _reread_all(specs, changed)
        reread = [(pool, cluster_of(all_specs, pool)[0]) for pool in (_reread(pool, Pool, changed) for pool in pools)]
        here = tuple(pool for pool, cluster in reread if cluster is not None)  # without those that left the cluster
        clusters = sorted({cluster for _, cluster in reread if cluster is not None})
        again = resolve_cluster(all_specs, clusters[0])[0] if len(clusters) == 1 else None
        if again is None:
            raise ValueError("a reference leads nowhere, or no pool is left on the cluster")
        return build_objects(build_platform_closure(again, here, _cluster_api(again.stack, facts)))

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
    namespaces = [namespace.name for namespace in pool.value.spec.namespaces]
    namespace = namespaces.index(envelope.value.spec.namespace)
    image = on.stack.value.spec.serving_images.index(resolved.image)
    yield _stack_link(on)
    yield _cluster_link(on, [pool])
    yield _end(pool, "metadata", "name"), _end(placement, "spec", "poolName")
    known = [device_class.name for device_class in pool.value.spec.device_classes]
    for number, device_class in enumerate(resolved.device_classes):
        index = known.index(device_class.name)
        yield (
            _end(pool, "spec", "deviceClasses", index, "name"),
            _end(placement, "spec", "deviceClassNames", number),
        )
    for number, device_class in enumerate(resolved.extra_classes):
        yield (
            _end(pool, "spec", "deviceClasses", known.index(device_class.name), "name"),
            _end(envelope, "spec", "claim", "extraRequests", number, "deviceClassName"),
        )
    yield _end(envelope, "metadata", "name"), _end(placement, "spec", "envelope", "name")
    yield _end(envelope, "metadata", "version"), _end(placement, "spec", "envelope", "version")
    yield _end(pool, "spec", "namespaces", namespace, "name"), _end(envelope, "spec", "namespace")
    if placement.value.spec.router and placement.value.spec.router.pool_name:
        yield _end(resolved.router_owner, "metadata", "name"), _end(placement, "spec", "router", "poolName")
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


def _reread_all(specs: Specs, changed: Mapping[str, Any]) -> Specs:
    """The project's specs, those that are changed with their changed values."""
    return Specs(
        projects=tuple(_reread(spec, Project, changed) for spec in specs.projects),
        stacks=tuple(_reread(spec, Stack, changed) for spec in specs.stacks),
        pools=tuple(_reread(spec, Pool, changed) for spec in specs.pools),
        envelopes=tuple(_reread(spec, Envelope, changed) for spec in specs.envelopes),
        placements=tuple(_reread(spec, Placement, changed) for spec in specs.placements),
    )


def _cluster_api(stack: Spec[Stack], facts: Facts) -> ClusterApi:
    api, problems = check_kubernetes(stack, facts)
    if api is None:
        raise ValueError(problems[0].what)
    return api
