"""Every rule on plain objects with the whole text of what it says: the cases are in cases/*.yaml.

`objects` is a file as somebody wrote it, `says` what a terminal shows; `kubernetes` is 1.36 and `served` nothing beyond
its defaults where a case doesn't say otherwise, and which `gates` the driver has on isn't known. A case that says
nothing pins that a rule keeps quiet.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet import edit, list_specs, read_fleet
from poolwright.rules.check import check_objects
from poolwright.rules.device_access import check_device_access
from poolwright.rules.placed import PlacedObject, parse_objects, place_object
from poolwright.rules.pod import find_pods
from poolwright.rules.stack_images import check_images
from poolwright.specs.codes import CODES
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import SpecError, render_text
from poolwright.specs.parse import parse_specs

FOLDER = Path(__file__).parent / "cases"
CASES = {
    f"{path.stem}-{name}": case
    for path in sorted(FOLDER.glob("*.yaml"))
    for name, case in yaml.safe_load(path.read_text("utf-8")).items()
}


def parse(text: str) -> tuple[PlacedObject, ...]:
    return parse_objects(parse_documents(text.encode(), "objects.yaml"))


def judge(case: Mapping[str, Any]) -> str:
    try:
        findings = check_objects(
            parse(case["objects"]),
            kubernetes_minor=case.get("kubernetes", "1.36"),
            also_served=case.get("served", ()),
            driver_gates=case.get("gates"),
        )
    except SpecError as error:
        return render_text(error.findings)
    return render_text(findings)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_says(case: Mapping[str, Any]) -> None:
    assert judge(case) == case["says"]


def test_findings_stand_in_their_one_order_and_objects_stay_as_they_are() -> None:
    for case in CASES.values():
        try:
            objects = parse(case["objects"])
        except SpecError:
            continue
        before = copy.deepcopy([obj.value for obj in objects])
        findings = check_objects(objects, kubernetes_minor="1.36")
        assert findings == sorted(set(findings), key=lambda finding: finding.sort_key)
        assert [obj.value for obj in objects] == before
        assert {finding.code for finding in findings} <= CODES.keys()


def devices(**lists: int) -> dict[str, Any]:
    """A claim's devices: a list of each name with so many entries."""
    alternative = {"deviceClassName": "gpu.nvidia.com"}
    entries: dict[str, list[Any]] = {
        "requests": [{"name": f"r{n}", "exactly": alternative} for n in range(lists.get("requests", 1))],
        "constraints": [{"matchAttribute": "a.b/c"} for _ in range(lists.get("constraints", 0))],
        "config": [{"opaque": {"driver": "a.b", "parameters": {}}} for _ in range(lists.get("config", 0))],
    }
    if "selectors" in lists:
        selectors = [{"cel": {"expression": "true"}} for _ in range(lists["selectors"])]
        entries["requests"][0]["exactly"] = {**alternative, "selectors": selectors}
    if "alternatives" in lists:
        ways = [{"name": f"a{n}", **alternative} for n in range(lists["alternatives"])]
        entries["requests"][0] = {"name": "r0", "firstAvailable": ways}
    if "bytes" in lists:
        parameters = {"x": "y" * (lists["bytes"] - len('{"x":""}'))}
        entries["config"] = [{"opaque": {"driver": "a.b", "parameters": parameters}}]
    return entries


MORE = "  why  the API server refuses more (k8s.io/api resource/v1)\n"
LIMITS = {
    "requests": (
        32,
        # Each of the 33 asks for a device.
        'f: ResourceClaim "c" asks for 33 devices at least  [claim-too-many-devices]\n'
        "  at   spec.devices.requests\n"
        "  why  one claim's allocation holds at most 32, so it can never be allocated (k8s.io/api resource/v1)\n"
        "  fix  lower the counts, or split the claim in two\n"
        "f: 33 requests, and a claim may have 32  [wrong-length]\n"
        "  at   spec.devices.requests[32]\n" + MORE + "  fix  leave at most 32 requests\n",
    ),
    "alternatives": (
        8,
        "f: 9 alternatives, and firstAvailable may have 8  [wrong-length]\n"
        "  at   spec.devices.requests[0].firstAvailable[8]\n" + MORE + "  fix  leave at most 8 alternatives\n",
    ),
    "selectors": (
        32,
        "f: 33 selectors, and a request or class may have 32  [wrong-length]\n"
        "  at   spec.devices.requests[0].exactly.selectors[32]\n" + MORE + "  fix  leave at most 32 selectors\n",
    ),
    "constraints": (
        32,
        "f: 33 constraints, and a claim may have 32  [wrong-length]\n"
        "  at   spec.devices.constraints[32]\n" + MORE + "  fix  leave at most 32 constraints\n",
    ),
    "config": (
        32,
        "f: 33 configurations, and a claim or class may have 32  [wrong-length]\n"
        "  at   spec.devices.config[32]\n" + MORE + "  fix  leave at most 32 configurations\n",
    ),
    "bytes": (
        10240,
        "f: the parameters take 10,241 bytes and may take 10,240  [device-config]\n"
        "  at   spec.devices.config[0].opaque.parameters\n"
        "  why  the API server refuses configuration that it can't hand to a driver (k8s.io/api resource/v1)\n"
        "  fix  shorten them\n",
    ),
}


@pytest.mark.parametrize(("name", "limit", "says"), [(n, *row) for n, row in LIMITS.items()], ids=LIMITS)
def test_limits(name: str, limit: int, says: str) -> None:
    def judge_size(size: int) -> str:
        claim = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": "c"},
            "spec": {"devices": devices(**{name: size})},
        }
        return render_text(check_objects([place_object(claim, "f")], kubernetes_minor="1.36"))

    assert (judge_size(limit), judge_size(limit + 1)) == ("", says)


# Not of plain manifests: the node's own software is among them. Templates and components are judged by it.
PRIVILEGED = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: main
      image: registry.example.com/main@sha256:0000000000000000000000000000000000000000000000000000000000000000
      securityContext: {privileged: true}
"""
DEVICE_ACCESS = """\
objects.yaml:8:37: container "main" is privileged, and has every device of its node  [device-access]
  at   spec.containers[0].securityContext.privileged
  why  nobody allocated these devices, so others compute on them too, and their memory is counted twice \
(poolwright node contract)
  fix  remove it; devices come by claim: Envelope.spec.claim
"""


def test_a_way_past_any_claim_is_said_of_workloads_alone() -> None:
    (placed,) = parse(PRIVILEGED)
    (pod,) = find_pods(placed)
    assert render_text(list(check_device_access(pod))) == DEVICE_ACCESS
    assert judge({"objects": PRIVILEGED}) == ""


IMAGE = """\
specs/stacks/operator-26-7.yaml:29:14: image "vllm" names no version that holds still  [image-not-pinned]
  at   spec.servingImages[0].image
  why  a tag is a name that can come to mean another image; the project's policy is versions \
(poolwright.dev/v1alpha1: policy.images)
  fix  write @sha256:..., or ask the registry: poolwright pin --online
"""


def test_an_image_of_a_stack_that_nothing_pins() -> None:
    files = edit(read_fleet(), "specs/stacks/operator-26-7.yaml", ("vllm-openai:v0.33.0", "vllm-openai:latest"))
    assert render_text(list(check_images(parse_specs(list_specs(files))))) == IMAGE


def test_every_rule_of_this_package_has_a_case() -> None:
    source = Path(parse_objects.__code__.co_filename).parent
    written = {
        line.split('"')[1] for path in source.glob("*.py") for line in path.read_text().splitlines() if "code=" in line
    }
    texts = [*(case["says"] for case in CASES.values()), *(says for _, says in LIMITS.values()), DEVICE_ACCESS, IMAGE]
    said = {line.rpartition("[")[2][:-1] for text in texts for line in text.splitlines() if "  [" in line}
    assert written - said == set()


WRONG_VALUES = (None, "x", -1, ["x"], [None, {}], {"x": None}, {"name": ["x"]})


def replace_each(value: Any) -> Iterator[Any]:
    """The value with each of its parts in turn replaced by each wrong one."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            for changed in replace_each(value[key]):
                other = value.copy()
                other[key] = changed
                yield other
    yield from WRONG_VALUES


def test_no_wrong_type_anywhere_is_more_than_a_finding() -> None:
    objects = [obj.value for name in ("pods-fine", "claims-fine") for obj in parse(CASES[name]["objects"])]
    count = 0
    for index, value in enumerate(objects):
        for changed in replace_each(value):
            if isinstance(changed, dict):
                placed = [place_object(o, "f") for o in (*objects[:index], changed, *objects[index + 1 :])]
                check_objects(placed, kubernetes_minor="1.37")
                count += 1
    assert count > 800
