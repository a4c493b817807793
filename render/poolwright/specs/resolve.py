"""References between specs followed, and the rules that only a pair of specs can break."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

import msgspec

from poolwright.specs.envelope import Envelope
from poolwright.specs.finding import Finding
from poolwright.specs.model import SpecModel
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.place import Place
from poolwright.specs.placement import Placement
from poolwright.specs.placing import check_placement, check_placing
from poolwright.specs.pool import DeviceClassSpec, Pool
from poolwright.specs.project import Cluster, Project
from poolwright.specs.routing_rules import check_routing
from poolwright.specs.stack import ServingImage, Stack

_RULE: Final = "poolwright.dev/v1alpha1"

K = TypeVar("K", bound=SpecModel)


class ResolvedCluster(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster with the stack it runs."""

    project: Spec[Project]
    cluster: Cluster
    stack: Spec[Stack]


class ResolvedPlacement(msgspec.Struct, frozen=True, kw_only=True):
    """A placement with everything it names: what a unit is rendered from."""

    on: ResolvedCluster
    placement: Spec[Placement]
    pool: Spec[Pool]
    envelope: Spec[Envelope]
    device_classes: tuple[DeviceClassSpec, ...]  # the placement's alternatives, first choice first
    extra_classes: tuple[DeviceClassSpec, ...]  # one for each extra request of the envelope, in its order
    image: ServingImage
    router_owner: Spec[Placement]  # whose router pool the replicas are in: the placement itself, or the one it names

    @property
    def device_class(self) -> DeviceClassSpec:
        """The first choice."""
        return self.device_classes[0]


def resolve_cluster(specs: Specs, name: str) -> tuple[ResolvedCluster | None, list[Finding]]:
    """The cluster of this name with its stack, or what stands in the way. The name must be the Project's."""
    project = specs.project
    index, cluster = next((i, c) for i, c in enumerate(project.value.spec.clusters) if c.name == name)
    problems: list[Finding] = []
    stack = _find(
        {spec.value.identity: spec for spec in reversed(specs.stacks)},
        cluster.stack_name,
        project.place("spec", "clusters", index, "stackName"),
        f'cluster "{name}" runs the stack "{cluster.stack_name}"',
        "stack",
        problems,
    )
    return (ResolvedCluster(project=project, cluster=cluster, stack=stack) if stack else None), problems


def cluster_of(specs: Specs, pool: Spec[Pool]) -> tuple[str | None, list[Finding]]:
    """The name of the pool's cluster if the Project has it, or the finding that it hasn't."""
    names = [cluster.name for cluster in specs.project.value.spec.clusters]
    name = pool.value.spec.cluster_name
    if name in names:
        return name, []
    what = f'pool "{pool.value.metadata.name}" is in the cluster "{name}", which doesn\'t exist'
    return None, [_dangling(pool.place("spec", "clusterName"), what, "cluster", name, names)]


def resolve_placement(specs: Specs, placement: Spec[Placement]) -> tuple[ResolvedPlacement | None, list[Finding]]:
    """A placement with what it names, or every reference of it that dangles and every rule that the pair breaks."""
    problems: list[Finding] = []
    said, unit = placement.value.spec, placement.value.metadata.name
    pool = _find(
        specs.pools_by_name,
        said.pool_name,
        placement.place("spec", "poolName"),
        f'placement "{unit}" is on the pool "{said.pool_name}"',
        "pool",
        problems,
    )
    envelope = _find_envelope(specs, placement, problems)
    cluster, found = cluster_of(specs, pool) if pool else (None, [])
    problems += found
    on, found = resolve_cluster(specs, cluster) if cluster else (None, [])
    problems += found
    device_classes = _find_classes(placement, pool, problems) if pool else ()
    extra_classes = _find_extra_classes(envelope, pool, problems) if pool and envelope else ()
    router_owner = _find_router_owner(specs, placement, problems)
    image = _find_image(on, envelope, problems) if on and envelope else None
    problems += check_placement(placement)
    if pool:
        problems += _check_consent(placement, pool)
    if envelope and device_classes:
        problems += check_placing(placement, envelope, device_classes, extra_classes)
    if pool and envelope:
        problems += _check_namespace(pool, envelope, placement)
    if on and envelope and router_owner:
        problems += check_routing(placement, envelope, router_owner, specs.envelopes, on.cluster)
    if problems or not (on and pool and envelope and device_classes and image and router_owner):
        return None, problems
    resolved = ResolvedPlacement(
        on=on,
        placement=placement,
        pool=pool,
        envelope=envelope,
        device_classes=device_classes,
        extra_classes=extra_classes,
        image=image,
        router_owner=router_owner,
    )
    return resolved, []


def _find(
    by_name: Mapping[str, Spec[K]], name: str, place: Place, what: str, kind: str, problems: list[Finding]
) -> Spec[K] | None:
    if name not in by_name:
        problems.append(_dangling(place, f"{what}, which doesn't exist", kind, name, by_name))
    return by_name.get(name)


def _find_envelope(specs: Specs, placement: Spec[Placement], problems: list[Finding]) -> Spec[Envelope] | None:
    wanted = placement.value.spec.envelope
    found = specs.envelopes_by_identity.get(f"{wanted.name}@{wanted.version}")
    if found:
        return found
    versions = [e.value.metadata.version for e in specs.envelopes if e.value.metadata.name == wanted.name]
    unit = placement.value.metadata.name
    if versions:
        what = f'placement "{unit}" places version {wanted.version} of "{wanted.name}", which doesn\'t exist'
        place = placement.place("spec", "envelope", "version")
        problems.append(_dangling(place, what, "version", wanted.version, versions))
    else:
        what = f'placement "{unit}" places the envelope "{wanted.name}", which doesn\'t exist'
        known = [envelope.value.metadata.name for envelope in specs.envelopes]
        problems.append(_dangling(placement.place("spec", "envelope", "name"), what, "envelope", wanted.name, known))
    return None


def _find_classes(placement: Spec[Placement], pool: Spec[Pool], problems: list[Finding]) -> tuple[DeviceClassSpec, ...]:
    known = {device_class.name: device_class for device_class in pool.value.spec.device_classes}
    found = []
    for index, name in enumerate(placement.value.spec.device_class_names):
        if name in known:
            found.append(known[name])
        else:
            what = f'pool "{pool.value.metadata.name}" has no device class "{name}"'
            place = placement.place("spec", "deviceClassNames", index)
            problems.append(_dangling(place, what, "device class", name, known))
    return tuple(found)


def _find_extra_classes(
    envelope: Spec[Envelope], pool: Spec[Pool], problems: list[Finding]
) -> tuple[DeviceClassSpec, ...]:
    known = {device_class.name: device_class for device_class in pool.value.spec.device_classes}
    found = []
    for index, request in enumerate(envelope.value.spec.claim.extra_requests):
        name = request.device_class_name
        if name in known:
            found.append(known[name])
        else:
            identity, owner = envelope.value.identity, pool.value.identity
            what = f'envelope {identity} asks for class "{name}", which pool "{owner}" hasn\'t'
            place = envelope.place("spec", "claim", "extraRequests", index, "deviceClassName")
            problems.append(_dangling(place, what, "device class", name, known))
    return tuple(found)


def _find_router_owner(specs: Specs, placement: Spec[Placement], problems: list[Finding]) -> Spec[Placement] | None:
    """The placement of the same cluster whose router pool this one joins; itself if it names none."""
    router = placement.value.spec.router
    wanted = router.pool_name if router and router.pool_name else placement.value.identity
    if wanted == placement.value.identity:
        return placement
    pool = specs.pools_by_name.get(placement.value.spec.pool_name)
    near = specs.placements_by_cluster.get(pool.value.spec.cluster_name if pool else None, {})
    if wanted in near:
        return near[wanted]
    what = f'placement "{placement.value.identity}" joins the router pool of "{wanted}", which isn\'t in its cluster'
    problems.append(_dangling(placement.place("spec", "router", "poolName"), what, "placement", wanted, near))
    return None


def _find_image(on: ResolvedCluster, envelope: Spec[Envelope], problems: list[Finding]) -> ServingImage | None:
    engine = envelope.value.spec.engine
    name = engine.image_name or engine.type
    stack_name = on.stack.value.metadata.name
    identity = envelope.value.identity
    place = envelope.place("spec", "engine", "imageName" if engine.image_name else "type")
    for image in on.stack.value.spec.serving_images:
        if image.name == name and image.engine == engine.type:
            return image
    known = [image.name for image in on.stack.value.spec.serving_images if image.engine == engine.type]
    what = f'stack "{stack_name}" has no serving image "{name}" of engine {engine.type} for envelope {identity}'
    problems.append(_dangling(place, what, "serving image", name, known))
    return None


def _check_consent(placement: Spec[Placement], pool: Spec[Pool]) -> list[Finding]:
    wanted, said = pool.value.spec.lane, placement.value.spec.lane
    if wanted == said:
        return []
    unit, name = placement.value.metadata.name, pool.value.metadata.name
    if wanted == "experiment":
        what = f'placement "{unit}" is on the experiment pool "{name}" without saying so'
        fix = "add `lane: experiment` to the placement, or place it on a baseline pool"
    else:
        what = f'placement "{unit}" says `lane: experiment`, and pool "{name}" is baseline'
        fix = "remove `lane: experiment`"
    why = "alpha features have no production promise: a workload on them is a visible choice"
    place = placement.place("spec", "lane")
    if place.field != "spec.lane":  # not written: then the pool is what asks for it
        place = placement.place("spec", "poolName")
    return [Finding(code="lane-consent", severity="error", place=place, what=what, why=why, rule=_RULE, fix=fix)]


def _check_namespace(pool: Spec[Pool], envelope: Spec[Envelope], placement: Spec[Placement]) -> list[Finding]:
    known = [namespace.name for namespace in pool.value.spec.namespaces]
    wanted = envelope.value.spec.namespace
    if wanted in known:
        return []
    identity, name, admitted = envelope.value.identity, pool.value.identity, ", ".join(sorted(known))
    return [
        Finding(
            code="namespace-not-admitted",
            severity="error",
            place=placement.place("spec", "poolName"),
            what=f'envelope {identity} is in namespace "{wanted}", not admitted by pool "{name}"',
            why="the pool says which namespaces may claim its devices, and renders only those",
            rule=_RULE,
            fix=f'add "{wanted}" to the pool\'s namespaces, or choose another pool; admitted: {admitted}',
        )
    ]


def _dangling(place: Place, what: str, kind: str, name: str, known: Iterable[str]) -> Finding:
    import difflib  # here: `generate` imports this module, and no message is the rule

    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, 1, 0.6)
    hint = f'did you mean "{near[0]}"? ' if near else ""
    article = "an" if kind[0] in "aeiou" else "a"
    shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    return Finding(
        code="dangling-reference",
        severity="error",
        place=place,
        what=what,
        why="nothing is rendered from a reference that leads nowhere",
        rule=_RULE,
        fix=f"{hint}name {article} {kind} that exists: {shown}" if names else f"add the {kind}; there is none yet",
    )
