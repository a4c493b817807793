"""Origins are true: editing a line that is named changes the field, and no other line does.

The edits are of the specs' text, each followed by a fresh load and render: nothing is shared with how origins are
found, nor with how two builds are compared there.
"""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet import ENVELOPE, Files, Scalar, edit, list_scalars, list_specs, load_unit, read_small_fleet, write_scalars
from fleet_variants import add_vendor, large_fleet, shared_fleet
from poolwright.catalog import facts
from poolwright.catalog.facts import FACT_FILES, parse_facts
from poolwright.objects.built import Built, list_changes, list_leaves
from poolwright.objects.kubernetes import Object
from poolwright.objects.origins import Source, trace_objects
from poolwright.objects.trace import trace_platform, trace_unit
from poolwright.objects.unit import build_objects
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import SpecError
from poolwright.specs.parse import parse_specs
from poolwright.specs.place import FieldPath, Place
from poolwright.specs.resolve import resolve_cluster, resolve_placement
from spec_values import FIXED, OTHER_VALUES

# Files that edited paths lead to.
_OTHER_FILES: Files = {"models/another.json": b"{}"}
PROJECTS: Mapping[str, Files] = {
    "example": {**add_vendor(read_small_fleet()), **_OTHER_FILES},
    "shared": {**shared_fleet(), **_OTHER_FILES},
    "large": {**large_fleet(), **_OTHER_FILES},
}
Unit = tuple[str, str, str]  # the project, the cluster, and the unit there
UNITS: tuple[Unit, ...] = (
    ("example", "east", "chat-70b"),
    ("example", "east", "platform"),
    ("shared", "east", "chat-70b"),  # surge 5; two tolerations, out of order
    ("shared", "east", "platform"),  # two pools, one namespace of both; names out of order
    ("large", "west", "embed-with-a-name-of-forty-characters-xx"),  # three classes, four tolerations, two images
    ("large", "west", "chat-70b"),  # surge 0
    ("large", "west", "platform"),
)
# What only the larger projects write.
MORE_VALUES: Mapping[str, tuple[str, ...]] = {
    **OTHER_VALUES,
    "Pool.spec.deviceClasses.attributes.productName": ("another",),
    "Pool.spec.deviceClasses.attributes.profile": ("another",),
    "Pool.spec.deviceClasses.attributes.example.com/fast": ("another",),
    "Pool.spec.deviceClasses.capacity.multiprocessors.min": ("17",),
    "Pool.spec.deviceClasses.capacity.memory.min": ("78Gi", "1Gi"),
    "Pool.spec.tolerations.value": ("another",),
    "Pool.spec.tolerations.operator": ("Equal", "Exists"),
    "Pool.spec.deviceClasses.tier": ("batch", "interactive"),
    "Pool.spec.lane": ("experiment", "baseline"),
    "Pool.spec.deviceClasses.driver": ("gpu.example.com", "gpu.nvidia.com"),
    # A whole GPU has no multiprocessors to ask for without a gate; of a type that no fact knows, nothing is said.
    "Pool.spec.deviceClasses.attributes.type": ("mig", "gpu", "another"),
    "Pool.spec.tolerations.effect": ("NoExecute", "NoSchedule"),
    "Envelope.spec.engine.imageName": ("another", "vllm"),
    "Placement.spec.minReplicas": ("2", "3", "1"),
    "Placement.spec.lane": ("experiment", "baseline"),
}
TABLES = Path(facts.__file__).parent / "tables"


def _repeat(name: str, text: bytes) -> bytes:
    """A table's text; that of compute classes with each row of NVIDIA's driver once more, for another driver."""
    table = json.loads(text)
    if name == "compute-classes.json":
        rows = [row for row in table["facts"] if row["driver"] == "gpu.nvidia.com"]
        table["facts"] += [{**row, "driver": "gpu.example.com"} for row in rows]
    return json.dumps(table).encode()


# Another driver shows the same arithmetic in the same way: else no project with another driver would load.
TWO_DRIVERS = parse_facts({name: _repeat(name, (TABLES / name).read_bytes()) for name in FACT_FILES})

# Maps that are named, for what follows from their being there.
NAMED_MAPS = ("spec.model.source.persistentVolumeClaim",)
Leaf = tuple[int, str]  # the object's number, and the pointer to the field


@cache
def scalars_of(project: str) -> tuple[Scalar, ...]:
    """The lines of a project that can be edited."""
    return tuple(scalar for scalar in list_scalars(PROJECTS[project]) if scalar.path[0] not in FIXED)


@cache
def trace(unit: Unit) -> tuple[Built, ...]:
    """The unit's objects with the origins that are judged here."""
    return trace_in(PROJECTS[unit[0]], *unit[1:])


def trace_in(files: Files, cluster: str, unit: str) -> tuple[Built, ...]:
    """A unit's objects as `explain` gets them."""
    specs = parse_specs(list_specs(files))
    if unit == "platform":
        on = resolve_cluster(specs, cluster)[0]
        assert on is not None
        pools = tuple(pool for pool in specs.pools if pool.value.spec.cluster_name == cluster)
        return trace_platform(specs, on, pools, TWO_DRIVERS)
    resolved = [resolve_placement(specs, placement)[0] for placement in specs.placements]
    (found,) = (r for r in resolved if r and (r.on.cluster.name, r.placement.value.identity) == (cluster, unit))
    return trace_unit(specs, found, TWO_DRIVERS, files)


@cache
def list_named(unit: Unit) -> Mapping[Leaf, tuple[Scalar, ...]]:
    """By field, the written values that are named; those that stand by default are no line to edit."""
    by_place = {_place_key(PROJECTS[unit[0]], scalar): scalar for scalar in scalars_of(unit[0])}
    return {
        (number, pointer): tuple(
            by_place[place.file, place.line, place.column]
            for place in places
            if not place.field.endswith(("(default)", *NAMED_MAPS))
        )
        for number, built in enumerate(trace(unit))
        for pointer, places in built.origins.items()
    }


def _place_key(files: Files, scalar: Scalar) -> tuple[str, int, int]:
    before = files[scalar.file].decode()[: scalar.start]
    return scalar.file, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


@cache
def changed_by(unit: Unit, scalars: tuple[Scalar, ...], other: str) -> frozenset[Leaf] | None:
    """The fields that change if these values, all one name, become another one; None if no such project loads."""
    files = write_scalars(PROJECTS[unit[0]], dict.fromkeys(scalars, other))
    return changed_in(unit, files, *_renamed(unit, scalars, other))


def other_texts(scalar: Scalar) -> Iterator[str]:
    """What the line is edited to."""
    return (text for text in MORE_VALUES[scalar.field] if text != scalar.text)


def changed_in(unit: Unit, files: Files, cluster: str, name: str) -> frozenset[Leaf] | None:
    """The unit's fields that are other in these files, where it may have another name; None if they don't load."""
    try:
        after = build_objects(load_unit(files, cluster, name, TWO_DRIVERS))
    except (SpecError, LookupError):
        return None
    before = [built.document for built in trace(unit)]
    return frozenset(
        (number, pointer)
        for number, old, new in _pair(before, after)
        for pointer in _list_other(list_leaves(old), list_leaves(new))
    )


def _pair(before: list[Object], after: tuple[Object, ...]) -> Iterator[tuple[int, Object, Object]]:
    """Objects of one kind and name; and, if one of a kind lacks its like on either side, these two."""
    names = [
        {(document["kind"], document["metadata"]["name"]): document for document in side} for side in (before, after)
    ]
    gone = [key for key in names[0] if key not in names[1]]
    new = [key for key in names[1] if key not in names[0]]
    for number, key in enumerate(names[0]):
        partners = [other for other in new if other[0] == key[0]] if key in gone else [key]
        if partners:
            assert len(partners) == 1, "no edit of one name renames two objects of a kind"
            yield number, names[0][key], names[1][partners[0]]


def _list_other(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Fields that aren't the same; one whose value only moves within a list is."""
    counts = [Counter((_outline(pointer), repr(value)) for pointer, value in side.items()) for side in (old, new)]
    for pointer, value in old.items():
        same = (_outline(pointer), repr(value))
        if new.get(pointer, ...) != value and counts[1][same] < counts[0][same]:
            yield pointer


def _outline(pointer: str) -> str:
    return "/".join("*" if step.isdecimal() else step for step in pointer.split("/"))


def _renamed(unit: Unit, scalars: tuple[Scalar, ...], other: str) -> tuple[str, str]:
    """What cluster and unit are called after the edit."""
    _, cluster, name = unit
    fields = {scalar.field for scalar in scalars if scalar.text in (cluster, name)}
    return (
        other if "Project.spec.clusters.name" in fields else cluster,
        other if "Placement.metadata.name" in fields else name,
    )


def _is_true(unit: Unit, leaf: Leaf, scalar: Scalar, named: tuple[Scalar, ...]) -> bool:
    """Whether the field needs the line: it changes with it, and without it doesn't.

    The line by itself; or, as that may leave a reference dangling, with others that say the same.
    """
    like = tuple(other for other in named if other != scalar and other.text == scalar.text)
    return any(
        leaf in (changed_by(unit, (scalar, *others), text) or ()) and leaf not in (changed_by(unit, others, text) or ())
        for others in ((), *((other,) for other in like), like)
        for text in other_texts(scalar)
    )


# `Equal` is the only operator that a toleration with a value can have: another takes two edits.
TWO_EDITS = (("large", "Pool.spec.tolerations.operator", "Equal"),)


@pytest.mark.parametrize("unit", UNITS, ids="/".join)
def test_editing_a_named_line_changes_the_field(unit: Unit) -> None:
    untrue = [
        (leaf, scalar)
        for leaf, named in list_named(unit).items()
        for scalar in named
        if (unit[0], scalar.field, scalar.text) not in TWO_EDITS and not _is_true(unit, leaf, scalar, named)
    ]
    assert untrue == []


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit[2] != "platform"], ids="/".join)
def test_another_source_of_the_model_changes_what_is_named_with_the_source(unit: Unit) -> None:
    project, cluster, name = unit
    named = {
        (number, pointer): {place.file for place in places if place.field in NAMED_MAPS}
        for number, built in enumerate(trace(unit))
        for pointer, places in built.origins.items()
        if any(place.field in NAMED_MAPS for place in places)
    }
    (file,) = set().union(*named.values())
    text = PROJECTS[project][file].decode()
    (source,) = re.findall(r"persistentVolumeClaim: \{.*?\}", text)
    hub = f"huggingFace: {{endpoint: 'https://hub.example.com', repository: a/b, revision: {'a' * 40}}}"
    changed = changed_in(unit, {**PROJECTS[project], file: text.replace(source, hub).encode()}, cluster, name)
    assert changed is not None
    assert named.keys() <= changed


# Another value there picks another spec that exists: what the field follows from then is that spec's line.
PICKS_ANOTHER = ("Placement.spec.envelope.version",)


@pytest.mark.parametrize("unit", UNITS, ids="/".join)
def test_editing_any_other_line_leaves_the_field(unit: Unit) -> None:
    unnamed, loaded = [], 0
    for scalar in scalars_of(unit[0]):
        for text in other_texts(scalar) if scalar.field not in PICKS_ANOTHER else ():
            changes = changed_by(unit, (scalar,), text)
            loaded += changes is not None
            unnamed += [(leaf, scalar) for leaf in changes or () if scalar not in list_named(unit)[leaf]]
    assert unnamed == []
    assert loaded > 50  # most lines can be edited alone


@pytest.mark.parametrize("unit", UNITS, ids="/".join)
def test_no_line_changes_a_field_without_places(unit: Unit) -> None:
    """Neither one that is left out, nor one that takes what stands in its like, nor a number at its end."""
    bare = {
        (n, pointer) for n, built in enumerate(trace(unit)) for pointer, places in built.origins.items() if not places
    }
    assert bare
    files, (_, cluster, name) = PROJECTS[unit[0]], unit
    read = sorted({place.file for built in trace(unit) for places in built.origins.values() for place in places})
    untrue, loaded = [], 0
    for what, edited in (
        *_left_out(files, read),
        *_taken_over(files, [s for s in scalars_of(unit[0]) if s.file in read]),
    ):
        changes = changed_in(unit, edited, cluster, name)
        loaded += changes is not None
        untrue += [(leaf, what) for leaf in (changes or frozenset()) & bare]
    assert untrue == []
    assert loaded > 10


def _left_out(files: Files, read: Iterable[str]) -> Iterator[tuple[object, Files]]:
    for file in read:
        documents = [document.value for document in parse_documents(files[file], file)]
        for number, document in enumerate(documents):
            for path in _list_paths(document):
                less = copy.deepcopy(documents)
                holder: Any = less[number]
                for step in path[:-1]:
                    holder = holder[step]
                del holder[path[-1]]
                yield (file, number, path), {**files, file: yaml.safe_dump_all(less).encode()}


def _list_paths(value: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, below in steps:
        yield (*path, step)
        yield from _list_paths(below, (*path, step))


def _taken_over(files: Files, scalars: Iterable[Scalar]) -> Iterator[tuple[object, Files]]:
    texts: dict[str, set[str]] = {}
    for scalar in scalars:
        texts.setdefault(scalar.field, set()).add(scalar.text)
    for scalar in scalars:
        ends = {"0", "1", "32", "100", "1000", "10000"} if scalar.text.isdecimal() else set()
        for text in sorted((texts[scalar.field] | ends) - {scalar.text}):
            yield (scalar, text), write_scalars(files, {scalar: text})


def test_fields_that_follow_from_nothing_are_the_renderer_s_own() -> None:
    """The whole list for one object: a field that moves out of it, or into it, is a change to look at."""
    (deployment,) = (built for built in trace(("shared", "east", "chat-70b")) if built.document["kind"] == "Deployment")
    leaves = list_leaves(deployment.document)
    own = {pointer: leaves[pointer] for pointer, places in deployment.origins.items() if not places}
    assert own == {
        "/apiVersion": "apps/v1",
        "/kind": "Deployment",
        "/metadata/annotations/argocd.argoproj.io~1sync-wave": "0",
        "/metadata/labels/app.kubernetes.io~1managed-by": "poolwright",
        "/spec/strategy/type": "RollingUpdate",
        "/spec/template/metadata/labels/app.kubernetes.io~1managed-by": "poolwright",
        # It has a surge, and a batch unit none: the tier alone can't be edited.
        "/metadata/labels/poolwright.dev~1tier": "interactive",
        "/spec/template/metadata/labels/poolwright.dev~1tier": "interactive",
    } | {
        f"/spec/template/spec/{pointer}": value
        for pointer, value in {
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "containers/0/command/0": "vllm",
            "containers/0/command/1": "serve",
            "containers/0/env/0/name": "POOLWRIGHT_CLAIM_TEMPLATE",
            "containers/0/env/1/name": "POOLWRIGHT_CLUSTER",
            "containers/0/env/2/name": "POOLWRIGHT_ROUTER_POOL",
            "containers/0/env/3/name": "POOLWRIGHT_UNIT",
            "containers/0/env/4/name": "POD_NAME",
            "containers/0/env/4/valueFrom/fieldRef/fieldPath": "metadata.name",
            "containers/0/env/5/name": "POD_UID",
            "containers/0/env/5/valueFrom/fieldRef/fieldPath": "metadata.uid",
            "containers/0/env/6/name": "NODE_NAME",
            "containers/0/env/6/valueFrom/fieldRef/fieldPath": "spec.nodeName",
            "containers/0/env/7/name": "OTEL_RESOURCE_ATTRIBUTES",
            "containers/0/livenessProbe/failureThreshold": 6,
            "containers/0/livenessProbe/httpGet/path": "/health",
            "containers/0/livenessProbe/httpGet/port": "http",
            "containers/0/livenessProbe/periodSeconds": 10,
            "containers/0/livenessProbe/timeoutSeconds": 5,
            "containers/0/name": "engine",
            "containers/0/ports/0/containerPort": 8000,
            "containers/0/ports/0/name": "http",
            "containers/0/ports/0/protocol": "TCP",
            "containers/0/readinessProbe/failureThreshold": 3,
            "containers/0/readinessProbe/httpGet/path": "/v1/models",
            "containers/0/readinessProbe/httpGet/port": "http",
            "containers/0/readinessProbe/periodSeconds": 5,
            "containers/0/readinessProbe/timeoutSeconds": 5,
            "containers/0/startupProbe/httpGet/path": "/v1/models",
            "containers/0/startupProbe/httpGet/port": "http",
            "containers/0/startupProbe/timeoutSeconds": 5,
            "containers/0/startupProbe/periodSeconds": 10,
            "containers/0/volumeMounts/1/mountPath": "/dev/shm",
            "containers/0/volumeMounts/1/name": "shm",
            "priorityClassName": "poolwright-interactive",
            "resourceClaims/0/name": "devices",
            "volumes/1/emptyDir/medium": "Memory",
            "volumes/1/name": "shm",
        }.items()
    }


def test_a_value_that_stands_by_default_is_named_with_its_nearest_parent() -> None:
    files = edit(PROJECTS["example"], ENVELOPE, ("  precision: {compute: bfloat16, kvCache: bfloat16}\n", ""))
    (deployment,) = (built for built in trace_in(files, "east", "chat-70b") if built.document["kind"] == "Deployment")
    leaves = list_leaves(deployment.document)
    pointer = next(pointer for pointer, value in leaves.items() if value == "--dtype=bfloat16")
    assert deployment.origins[pointer] == (Place(ENVELOPE, 8, 3, "spec.precision.compute (default)"),)


def test_a_namespace_of_two_pools_is_named_with_both_and_no_other_is() -> None:
    platform = trace(("shared", "east", "platform"))
    named = {
        built.document["metadata"]["name"]: built.origins["/metadata/name"]
        for built in platform
        if built.document["kind"] in ("Namespace", "DeviceClass")
    }
    second = "specs/second-pool.yaml"
    assert named == {
        "another-namespace": (Place("specs/pool.yaml", 31, 13, "spec.namespaces[1].name"),),
        "batch": (Place(second, 11, 51, "spec.namespaces[2].name"),),
        "chat": (
            Place("specs/pool.yaml", 30, 13, "spec.namespaces[0].name"),
            Place(second, 11, 37, "spec.namespaces[1].name"),
        ),
        "poolwright": (),  # of the dashboard
        "zeta": (Place(second, 11, 23, "spec.namespaces[0].name"),),
        "a-class": (Place(second, 10, 14, "spec.deviceClasses[1].name"),),
        "interactive-80g": (Place("specs/pool.yaml", 12, 13, "spec.deviceClasses[0].name"),),
        "z-class": (Place(second, 9, 14, "spec.deviceClasses[0].name"),),
    }


CHANGES: Mapping[str, tuple[Object, Object, list[str]]] = {
    "another-value": ({"a": 1, "b": 2}, {"a": 1, "b": 3}, ["/b"]),
    "one-that-is-gone": ({"a": {"b": 1, "c": [2]}}, {}, ["/a/b", "/a/c/0"]),
    "one-that-is-new-is-no-change": ({"a": 1}, {"a": 1, "b": 2}, []),
    "a-map-that-became-a-value": ({"a": {"b~": 1, "c/d": 2}}, {"a": 1}, ["/a/b~0", "/a/c~1d"]),
    "an-empty-one-is-a-leaf": ({"a": {}, "b": []}, {"a": {"c": 1}, "b": [1]}, ["/a", "/b"]),
    "items-that-move": ({"a": [1, 2, 3]}, {"a": [3, 1, 2]}, []),
    "an-item-that-leaves": ({"a": [1, 2, 3]}, {"a": [2, 3]}, ["/a/0"]),
    "an-item-that-changes-and-moves": (
        {"a": [{"k": "b", "v": 1}, {"k": "c", "v": 1}]},
        {"a": [{"k": "c", "v": 1}, {"k": "d", "v": 1}]},
        ["/a/0/k"],
    ),
    "one-of-two-equal-items": ({"a": [1, 1]}, {"a": [1]}, ["/a/1"]),
}


@pytest.mark.parametrize("case", CHANGES)
def test_what_changed(case: str) -> None:
    before, after, changed = CHANGES[case]
    assert list(list_changes(before, after)) == changed


def test_two_objects_of_a_kind_that_are_renamed_at_once_keep_their_own_values() -> None:
    text = read_small_fleet()["poolwright.yaml"]
    (document,) = parse_documents(text, "poolwright.yaml")

    def build(changed: Mapping[str, Any]) -> list[Object]:
        name = changed.get("it", document.value)["metadata"]["name"]
        made = [{"kind": "A", "metadata": {"name": f"{name}-{n}"}, "data": n} for n in (1, 2)]
        return made if name == "inference-fleet" else made[::-1]

    built = trace_objects([Source(key="it", kind="Project", document=document)], [], build)
    place = Place("poolwright.yaml", 6, 9, "metadata.name")
    assert [b.origins for b in built] == [{"/data": (), "/kind": (), "/metadata/name": (place,)}] * 2
