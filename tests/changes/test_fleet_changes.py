"""Changes of the example's specs, told by the objects that they are rendered to."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from fleet import Files, load_closures
from poolwright.catalog.closure import PlatformClosure, UnitClosure
from poolwright.changes.objects.changed import list_object_changes
from poolwright.changes.objects.hazards import list_hazards
from poolwright.changes.objects.pairs import Pair, UnitObject, pair_objects
from poolwright.changes.objects.restarts import list_restarts
from poolwright.changes.objects.secrets import conceal, reveal
from poolwright.objects.unit import build_objects
from poolwright.specs.finding import Finding
from poolwright.specs.place import Place
from unit_objects import FLEET, change


def build(files: Files, cluster: str = "east") -> tuple[UnitObject, ...]:
    """Everything that a project applies to a cluster but Argo CD's objects."""
    return tuple(
        UnitObject(unit=closure.unit if isinstance(closure, UnitClosure) else "platform", value=value)
        for closure in load_closures(files)
        if isinstance(closure, UnitClosure | PlatformClosure) and closure.on.cluster == cluster
        for value in build_objects(closure)
    )


@cache
def base() -> tuple[UnitObject, ...]:
    return build(FLEET)


def pair(*changes: tuple[str, tuple[str, str]]) -> tuple[Pair, ...]:
    files: Mapping[str, bytes] = FLEET
    for path, edit in changes:
        files = change(files, path, edit)
    return pair_objects(base(), build(files))


def hazards(pairs: tuple[Pair, ...]) -> tuple[Finding, ...]:
    return list_hazards(pairs, lambda unit, kind, namespace, name: Place(unit))


def test_nothing_changed() -> None:
    pairs = pair()
    assert [one for one in pairs if not one.is_equal] == []
    assert (list_object_changes("east", pairs), list_restarts("east", pairs), hazards(pairs)) == ((), (), ())


def test_a_promotion_is_told_flag_by_flag_and_its_template_as_one() -> None:
    edit = ("envelope: {name: chat-70b, version: 2.3.0}", "envelope: {name: chat-70b, version: 2.4.0}")
    pairs = pair(("specs/placements/east.yaml", edit))
    changes = list_object_changes("east", pairs)
    assert [(one.unit, one.change, one.kind, one.name) for one in changes] == [
        ("chat-70b", "changed", "ConfigMap", "chat-70b-envelope"),
        ("chat-70b", "changed", "Deployment", "chat-70b"),
        ("chat-70b", "changed", "PrometheusRule", "chat-70b"),
        ("chat-70b", "changed", "ResourceClaimTemplate", "chat-70b-devices-f2e2ace65b"),
    ]
    assert {field.path: (field.before, field.after) for field in changes[3].fields} == {
        "metadata.name": ('"chat-70b-devices-894a295b3d"', '"chat-70b-devices-f2e2ace65b"'),
        "spec.spec.devices.requests[name=gpu].exactly.selectors[1].cel.expression": tuple(
            '"has(device.capacity[\\"gpu.nvidia.com\\"].memory) && device.capacity[\\"gpu.nvidia.com\\"].memory'
            f'.compareTo(quantity(\\"{size}\\")) >= 0"'
            for size in ("70Gi", "68Gi")
        ),
    }
    (restart,) = list_restarts("east", pairs)
    engine = "spec.template.spec.containers[name=engine]"
    assert (restart.name, restart.replicas, restart.fields) == (
        "chat/chat-70b",
        2,
        (
            'spec.template.metadata.labels["poolwright.dev/envelope-version"]',
            f"{engine}.args[--kv-cache-dtype]",
            f"{engine}.args[--max-model-len]",
            f"{engine}.env[name=OTEL_RESOURCE_ATTRIBUTES].value",
            f"{engine}.env[name=POOLWRIGHT_CLAIM_TEMPLATE].value",
            "spec.template.spec.resourceClaims[name=devices].resourceClaimTemplateName",
        ),
    )
    # The old template goes last, when nothing names it any more.
    assert hazards(pairs) == ()


def test_a_class_that_becomes_narrower_changes_one_object_and_restarts_nothing() -> None:
    pairs = pair(("specs/pools/h100-full.yaml", ("memory: {min: 79Gi", "memory: {min: 79.5Gi")))
    (one,) = list_object_changes("east", pairs)
    assert (one.unit, one.kind, one.name, [field.path for field in one.fields]) == (
        "platform",
        "DeviceClass",
        "interactive-80g",
        ["spec.selectors[3].cel.expression"],
    )
    assert (list_restarts("east", pairs), hazards(pairs)) == ((), ())


def test_every_object_of_a_cluster_that_is_taken_away() -> None:
    """Nothing is left that could name what is gone; the namespaces take what others keep in them."""
    pairs = pair_objects(base(), ())
    assert {one.change for one in list_object_changes("east", pairs)} == {"removed"}
    assert list_restarts("east", pairs) == ()
    assert {finding.code for finding in hazards(pairs)} == {"namespace-removed"}


def test_a_template_that_is_kept_back_while_its_workload_follows() -> None:
    """As if the tree of the platform and that of the unit came from two commits."""
    edit = ("envelope: {name: chat-70b, version: 2.3.0}", "envelope: {name: chat-70b, version: 2.4.0}")
    after = build(change(FLEET, "specs/placements/east.yaml", edit))
    old = [one for one in base() if one.identity.kind == "ResourceClaimTemplate"]
    new = [one for one in after if one.identity.kind != "ResourceClaimTemplate"]
    assert [(one.code, one.place.file, one.what) for one in hazards(pair_objects(base(), [*new, *old]))] == [
        (
            "dangling-claim",
            "chat-70b",
            'Deployment "chat-70b" names ResourceClaimTemplate "chat-70b-devices-f2e2ace65b", which is not among these '
            "objects",
        )
    ]


def test_nothing_of_the_example_is_taken_for_a_secret() -> None:
    assert [one.identity for one in base() if reveal(conceal(one.value)) != one.value] == []
