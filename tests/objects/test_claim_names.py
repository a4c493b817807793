"""Names of claim templates: a template's spec can't be changed, so one name stands for one spec."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fleet import ENVELOPE, PLACEMENTS, POOL, edit, load_placement, read_fleet
from poolwright.catalog.closure import UnitClosure
from poolwright.catalog.facts import ComputeClassFact
from poolwright.objects.claim import build_claim_template
from poolwright.objects.kubernetes import Object
from poolwright.objects.unit import build_objects
from poolwright.specs.canonical import canonical_json

CLOSURE = load_placement(read_fleet(), "east", "chat-70b")
NATIVE = CLOSURE.compute_class
assert NATIVE is not None
FACTS = (None, *(replace(NATIVE, attribute=a, minimum=m) for a in ("cc", "rev") for m in ("8.9.0", "9.0.0")))


def change(
    unit: str, envelope: str, count: int, device_class: str, driver: str, native: ComputeClassFact | None, zone: str
) -> UnitClosure:
    """The example's closure with other values; the zone is one that no claim follows from."""
    spec = CLOSURE.envelope.spec
    return replace(
        CLOSURE,
        unit=unit,
        envelope=replace(
            CLOSURE.envelope,
            name=envelope,
            spec=replace(spec, topology=replace(spec.topology, tensor_parallel=count)),
        ),
        device_class=replace(CLOSURE.device_class, name=device_class, driver=driver),
        compute_class=native,
        placement=replace(CLOSURE.placement, zone=zone),
    )


# Few values for each, so that equal specs are common.
closures = st.builds(
    change,
    st.sampled_from(["a", "a-b"]),
    st.sampled_from(["a", "b"]),
    st.integers(1, 2),
    st.sampled_from(["c", "d"]),
    st.sampled_from(["gpu.nvidia.com", "gpu.example.com"]),
    st.sampled_from(FACTS),
    st.sampled_from(["x", "y"]),
)


@given(closures, closures)
def test_equal_names_are_equal_specs(one: UnitClosure, other: UnitClosure) -> None:
    first, second = build_claim_template(one), build_claim_template(other)
    assert (first["metadata"]["name"] == second["metadata"]["name"]) == (first["spec"] == second["spec"])


def test_random_closures_give_equal_specs_often_enough() -> None:
    """Else the property above would hold of names that never agree."""
    names = [build_claim_template(change("a", "a", 1, "c", "d", None, zone))["metadata"]["name"] for zone in "xy"]
    assert len(set(names)) == 1


CHANGES: dict[str, tuple[str, tuple[str, str]]] = {
    "tensorParallel": (ENVELOPE, ("tensorParallel: 4", "tensorParallel: 8")),
    "computeClass": (ENVELOPE, ("computeClass: fp8", "computeClass: bf16")),
    "no-compute-class": (ENVELOPE, ("computeClass: fp8", "computeClass: any")),
    "another-class": (PLACEMENTS, ("deviceClassNames: [interactive-80g]", "deviceClassNames: [another]")),
}
SECOND_CLASS = ("  deviceClasses:\n", "  deviceClasses:\n    - {name: another, tier: batch, driver: gpu.nvidia.com}\n")


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_claim_is_a_new_template_and_the_workload_follows(name: str) -> None:
    path, edited = CHANGES[name]
    before = edit(read_fleet(), POOL, SECOND_CLASS)
    old, new = (build_objects(load_placement(f, "east", "chat-70b")) for f in (before, edit(before, path, edited)))
    assert _template(old)["spec"] != _template(new)["spec"]
    assert _template(old)["metadata"]["name"] != _template(new)["metadata"]["name"]
    for objects in (old, new):
        assert _claims(objects) == [_template(objects)["metadata"]["name"]]


KEPT: dict[str, tuple[str, tuple[str, str]]] = {
    "replicas": (PLACEMENTS, ("minReplicas: 1", "minReplicas: 2")),
    "the-class's-selectors": (POOL, ("min: 79Gi", "min: 78Gi")),
    "the-engine": (ENVELOPE, ("deviceMemoryPercent: 92", "deviceMemoryPercent: 91")),
    "a-toleration": (POOL, ("effect: NoSchedule", "effect: NoExecute")),
    "an-owner": (ENVELOPE, ("owner: team-chat", "owner: team-other")),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_no_claim_keeps_the_template(name: str) -> None:
    path, edited = KEPT[name]
    old, new = (
        _template(build_objects(load_placement(f, "east", "chat-70b")))
        for f in (read_fleet(), edit(read_fleet(), path, edited))
    )
    assert old == new


def test_the_name_is_ten_digits_of_the_digest_of_the_whole_spec() -> None:
    """By hand, for the name is an interface: changing how it is made renames every template of every fleet."""
    from hashlib import sha256

    template = build_claim_template(CLOSURE)
    digest = sha256(canonical_json(template["spec"])).hexdigest()
    assert template["metadata"]["name"] == f"chat-70b-devices-{digest[:10]}" == "chat-70b-devices-256de11347"


def _template(objects: tuple[Object, ...]) -> Object:
    return next(document for document in objects if document["kind"] == "ResourceClaimTemplate")


def _claims(objects: tuple[Object, ...]) -> Any:
    deployment = next(document for document in objects if document["kind"] == "Deployment")
    return [claim["resourceClaimTemplateName"] for claim in deployment["spec"]["template"]["spec"]["resourceClaims"]]
