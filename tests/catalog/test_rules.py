"""Rules that need facts, files or the CEL checker: what they let pass, and where they look. Whole refusals are in
tests/specs/test_bad_specs.py.
"""

from __future__ import annotations

import pytest

from fleet import CONFIG, FACTS, PLACEMENTS, POOL, STACK, edit, list_specs, read_small_fleet
from poolwright.catalog.closure import ClusterApi
from poolwright.catalog.rules import check_classes, check_compute_class, check_files, check_kubernetes
from poolwright.specs.finding import Finding
from poolwright.specs.parse import parse_specs
from poolwright.specs.resolve import resolve_placement

FLEET = read_small_fleet()


def places(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.code, finding.place.field) for finding in findings]


KUBERNETES = {
    "line": ("1.36.x", ClusterApi(minor="1.36", resource_api="v1"), None),
    "exact": ("1.34.2", ClusterApi(minor="1.34", resource_api="v1"), None),
    "several-of-one-minor": (
        "v1.37.0, 1.37.2-gke.100, 1.37.x",
        ClusterApi(minor="1.37", resource_api="v1"),
        None,
    ),
    "minor-alone-is-its-first-patch": ("'1.35'", ClusterApi(minor="1.35", resource_api="v1"), None),
    "too-old": ("1.33.x", None, "Kubernetes 1.33 is not known to this release"),
    "not-out-yet": ("1.99.x", None, "Kubernetes 1.99 is not known to this release"),
    "whole-major": ("1.x", None, "Kubernetes 1.x is not known to this release"),
    "two-minors": ("1.36.x, 1.37.1", None, '"1.36.x, 1.37.1" spans several minor releases: 1.36, 1.37'),
    # What isn't known is said first: nothing can be said of a range that it ends.
    "one-known-and-one-not": ("1.33.x, 1.34.x", None, "Kubernetes 1.33 is not known to this release"),
}


@pytest.mark.parametrize(("version", "api", "what"), KUBERNETES.values(), ids=KUBERNETES)
def test_kubernetes(version: str, api: ClusterApi | None, what: str | None) -> None:
    (stack,) = parse_specs(list_specs(edit(FLEET, STACK, ("1.36.x", version)))).stacks
    found, problems = check_kubernetes(stack, FACTS)
    assert (found, [problem.what for problem in problems]) == (api, [what] if what else [])


ATTRIBUTE = "spec.deviceClasses[0].attributes"
CEL = "spec.deviceClasses[0].selectors[0].cel.expression"
EXPRESSION = 'device.attributes["gpu.nvidia.com"].driverVersion\n                .compareTo(semver("580.0.0")) >= 0'
CLASSES = {
    "kind-of-device": ("architecture: [Hopper]", "productName: [NVIDIA H200]", []),
    "unknown-attribute-is-the-drivers-affair": ("architecture: [Hopper]", "board: [x]", []),
    "identity": ("architecture: [Hopper]", "uuid: [GPU-1]", [("class-identity", f"{ATTRIBUTE}.uuid")]),
    "identity-with-its-domain": (
        "architecture: [Hopper]",
        "gpu.nvidia.com/minor: [1]",
        [("class-identity", f'{ATTRIBUTE}["gpu.nvidia.com/minor"]')],
    ),
    "same-name-in-another-domain": ("architecture: [Hopper]", "example.com/uuid: [x]", []),
    "same-name-of-another-driver": (
        "driver: gpu.nvidia.com\n      attributes:\n        type: [gpu]",
        "driver: gpu.example.com\n      attributes:\n        uuid: [x]",
        [],
    ),
    "standard-identity-of-another-driver": (
        "driver: gpu.nvidia.com\n      attributes:\n        type: [gpu]",
        "driver: gpu.example.com\n      attributes:\n        resource.kubernetes.io/pciBusID: ['0000:53:00.0']",
        [("class-identity", f'{ATTRIBUTE}["resource.kubernetes.io/pciBusID"]')],
    ),
    "identity-in-cel": (EXPRESSION, 'device.attributes["gpu.nvidia.com"].index == 1', [("class-identity", CEL)]),
    "identity-asked-for-in-cel": (
        EXPRESSION,
        'has(device.attributes["gpu.nvidia.com"].uuid)',
        [("class-identity", CEL)],
    ),
    "identity-by-a-key-in-cel": (
        EXPRESSION,
        'device.attributes["gpu.nvidia.com"]["uuid"] == ""',
        [("class-identity", CEL)],
    ),
    "name-in-a-text-of-cel": (EXPRESSION, 'device.driver == "uuid"', []),
    "capacity-has-no-identity": (EXPRESSION, 'has(device.capacity["gpu.nvidia.com"].uuid)', []),
    "every-problem-of-cel": (EXPRESSION, "nothing && never", [("cel-invalid", CEL), ("cel-invalid", CEL)]),
}


@pytest.mark.parametrize(("old", "new", "found"), CLASSES.values(), ids=CLASSES)
def test_classes(old: str, new: str, found: list[tuple[str, str]]) -> None:
    (pool,) = parse_specs(list_specs(edit(FLEET, POOL, (old, new)))).pools
    assert places(check_classes(pool, FACTS)) == found
    assert places(check_classes(pool, FACTS, only="interactive-80g")) == found
    assert check_classes(pool, FACTS, only="another") == []


DRIVERS = {
    "driver-with-facts": ("gpu.nvidia.com", "fp4", []),
    "driver-without-facts": ("gpu.example.com", "bf16", [("compute-class", "spec.deviceClassNames[0]")]),
    "nothing-asked-for": ("gpu.example.com", "any", []),
}


@pytest.mark.parametrize(("driver", "compute_class", "found"), DRIVERS.values(), ids=DRIVERS)
def test_compute_class(driver: str, compute_class: str, found: list[tuple[str, str]]) -> None:
    files = edit(FLEET, POOL, ("driver: gpu.nvidia.com", f"driver: {driver}"))
    files = edit(files, "specs/envelopes/chat-70b/2.3.0.yaml", ("computeClass: fp8", f"computeClass: {compute_class}"))
    specs = parse_specs(list_specs(files))
    resolved, _ = resolve_placement(specs, specs.placements[0])
    assert resolved is not None
    assert places(check_compute_class(resolved, FACTS)) == found


def test_files() -> None:
    envelope = parse_specs(list_specs(FLEET)).envelopes[0]
    assert check_files(envelope, [CONFIG]) == []
    assert places(check_files(envelope, [PLACEMENTS])) == [("file-missing", "spec.model.configPath")]


def test_a_measured_profile_that_is_not_there() -> None:
    profile = (f"configPath: {CONFIG}\n", f"configPath: {CONFIG}\n    measuredProfile: models/profile.json\n")
    envelope = parse_specs(list_specs(edit(FLEET, "specs/envelopes/chat-70b/2.3.0.yaml", profile))).envelopes[0]
    assert check_files(envelope, [CONFIG, "models/profile.json"]) == []
    assert places(check_files(envelope, [CONFIG])) == [("file-missing", "spec.model.measuredProfile")]
