"""What the API server refuses of claims, slices, pods and taint rules, and what it takes but nobody means."""

from __future__ import annotations

import pytest

from given_objects import read
from poolwright.allocation.server_rules import check_objects
from poolwright.specs.finding import render_text

RULE = "k8s.io/api resource/v1"
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: team-a, name: train}
spec:
  devices:
    requests:
    - {name: gpu, exactly: {deviceClassName: c}}
"""
GPU = "- {name: gpu, exactly: {deviceClassName: c}}"
LIMIT = "  why  the API server bounds what one object can hold (k8s.io/api resource/v1)\n"
SPREAD = "  fix  take some out, or spread them over several objects\n"


def check(text: str, minor: str = "1.37") -> str:
    return render_text(check_objects(read(text), minor=minor))


def exactly(more: str) -> str:
    return CLAIM.replace("deviceClassName: c", f"deviceClassName: c, {more}")


def repeat(line: str, count: int, indent: str = "    ") -> str:
    return "".join(f"{indent}{line.format(n=n)}\n" for n in range(count))


def refused(place: str, what: str, at: str, why: str, fix: str) -> str:
    return f"objects.yaml:{place}: {what}  [object-refused]\n  at   {at}\n  why  {why} ({RULE})\n  fix  {fix}\n"


REQUESTS = CLAIM[: CLAIM.index("    - ")]
TWICE = "each name stands once, so that it means one entry"
RENAME = "rename all but one, or drop them"
REFERENCE = "constraints and configuration name requests of their own claim, or request/alternative"
CLAIMS = {
    "right": (CLAIM, ""),
    "neither-and-both": (
        CLAIM.replace(
            GPU,
            "- {name: a}\n    - {name: b, exactly: {deviceClassName: c}, "
            "firstAvailable: [{name: d, deviceClassName: e}]}",
        ),
        "".join(
            refused(
                f"{line}:7",
                f'request "{name}" has {has} exactly {word} firstAvailable',
                f"spec.devices.requests[{index}]",
                "the API server takes exactly one of them",
                "ask for devices of one class under exactly, or list alternatives under firstAvailable",
            )
            for line, name, has, word, index in ((7, "a", "neither", "nor", 0), (8, "b", "both", "and", 1))
        ),
    ),
    "names-that-stand-twice": (
        CLAIM + f"    {GPU}\n    - name: x\n      firstAvailable: [{{name: y, deviceClassName: c}}, "
        "{name: y, deviceClassName: c}]\n",
        refused("7:5", '2 entries are request "gpu"', "spec.devices.requests", TWICE, RENAME)
        + refused("10:23", '2 entries are alternative "y"', "spec.devices.requests[2].firstAvailable", TWICE, RENAME),
    ),
    "too-many-requests-and-constraints": (
        REQUESTS
        + repeat("- {{name: r{n}, exactly: {{deviceClassName: c}}}}", 33)
        + "    constraints:\n"
        + repeat("- {{matchAttribute: a/b}}", 33)
        + "    config:\n"
        + repeat("- {{opaque: {{}}}}", 33),
        "".join(
            f"objects.yaml:{line}:5: 33 {name} where at most 32 can stand  [object-refused]\n"
            f"  at   spec.devices.{name}\n{LIMIT}{SPREAD}"
            for line, name in ((7, "requests"), (41, "constraints"), (75, "config"))
        ),
    ),
    "too-many-alternatives": (
        REQUESTS
        + "    - name: a\n      firstAvailable:\n"
        + repeat("- {{name: s{n}, deviceClassName: c}}", 9, "      "),
        "objects.yaml:9:7: 9 alternatives where at most 8 can stand  [object-refused]\n"
        "  at   spec.devices.requests[0].firstAvailable\n" + LIMIT + SPREAD,
    ),
    "too-many-tolerations": (
        exactly(f"tolerations: [{', '.join(['{operator: Exists}'] * 17)}]"),
        "objects.yaml:7:62: 17 tolerations where at most 16 can stand  [object-refused]\n"
        "  at   spec.devices.requests[0].exactly.tolerations\n" + LIMIT + SPREAD,
    ),
    "no-class": (
        CLAIM.replace("deviceClassName: c", "count: 1"),
        refused(
            "7:28",
            'request "gpu" names no device class',
            "spec.devices.requests[0].exactly",
            "every device is asked for by a class",
            "write deviceClassName; kubectl get deviceclasses lists them",
        ),
    ),
    "count-below-one": (
        exactly("count: -1"),
        refused(
            "7:56",
            'request "gpu" has a count of -1 with allocationMode ExactCount',
            "spec.devices.requests[0].exactly.count",
            "a count is at least 1",
            "raise count, or leave it out: that asks for one device",
        ),
    ),
    "count-with-all": (
        exactly("allocationMode: All, count: 1"),
        refused(
            "7:77",
            'request "gpu" has a count of 1 with allocationMode All',
            "spec.devices.requests[0].exactly.count",
            "with All the count is not for the user to say",
            "leave count out, or write allocationMode: ExactCount",
        ),
    ),
    # What a newer Kubernetes may know is the allocator's to judge.
    "modes-selectors-and-constraints-of-another-kind": (
        exactly("allocationMode: Some, selectors: [{lua: {}}]") + "    constraints: [{nearby: {}}]\n",
        "",
    ),
    "tolerations": (
        exactly("tolerations: [{key: a, operator: exists}, {value: b}, {operator: Exists, value: b}]"),
        refused(
            "7:82",
            'a toleration has the operator "exists"',
            "spec.devices.requests[0].exactly.tolerations[0].operator",
            "device taints are compared with Equal or Exists",
            "write Exists, or Equal and a value",
        )
        + refused(
            "7:91",
            "a toleration has no key and the operator Equal",
            "spec.devices.requests[0].exactly.tolerations[1]",
            "without a key every taint is meant, and that takes the operator Exists",
            "write the key of a taint, or operator: Exists",
        )
        + refused(
            "7:129",
            'a toleration has the operator Exists and the value "b"',
            "spec.devices.requests[0].exactly.tolerations[2].value",
            "Exists takes every value",
            "drop the value, or write operator: Equal",
        ),
    ),
    "references": (
        CLAIM
        + "    - {name: x, firstAvailable: [{name: y, deviceClassName: c}]}\n"
        + "    constraints: [{matchAttribute: a/b, requests: [gpu, x, x/y, y]}]\n"
        + "    config: [{requests: [gpu/y]}]\n",
        "".join(
            refused(place, f'the claim has no request "{name}"', at, REFERENCE, "requests of the claim: gpu, x, x/y")
            for place, name, at in (
                ("9:65", "y", "spec.devices.constraints[0].requests[3]"),
                ("10:26", "gpu/y", "spec.devices.config[0].requests[0]"),
            )
        ),
    ),
    "attribute-without-a-domain": (
        CLAIM + "    constraints: [{matchAttribute: numaNode}]\n",
        refused(
            "8:36",
            'the attribute "numaNode" has no domain',
            "spec.devices.constraints[0].matchAttribute",
            "devices of several drivers can be meant, so a constraint names an attribute in full",
            "write DOMAIN/numaNode, often with the driver's name as the domain",
        ),
    ),
    "admin-access-of-an-alternative": (
        REQUESTS + "    - {name: a, firstAvailable: [{name: b, deviceClassName: c, adminAccess: true}]}\n",
        refused(
            "7:77",
            'alternative "b" of request "a" asks for adminAccess',
            "spec.devices.requests[0].firstAvailable[0].adminAccess",
            "an alternative has no such field, and the API server drops it",
            "ask for admin access under exactly",
        ),
    ),
    "users-beyond-a-claims-bound": (
        CLAIM + "status:\n  reservedFor:\n" + repeat("- {{uid: u{n}}}", 257, "  "),
        "objects.yaml:10:3: 257 users where at most 256 can stand  [object-refused]\n  at   status.reservedFor\n"
        + LIMIT
        + SPREAD,
    ),
}


@pytest.mark.parametrize(("text", "says"), CLAIMS.values(), ids=CLAIMS)
def test_claims(text: str, says: str) -> None:
    assert check(text) == says


def test_templates_are_judged_like_claims_and_flat_requests_by_their_own_fields() -> None:
    text = (
        "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaimTemplate\nmetadata: {name: t, namespace: a}\n"
        "spec:\n  spec:\n    devices:\n      requests: [{name: gpu, deviceClassName: c, count: -1}]\n"
    )
    assert check(text) == refused(
        "7:57",
        'request "gpu" has a count of -1 with allocationMode ExactCount',
        "spec.spec.devices.requests[0].count",
        "a count is at least 1",
        "raise count, or leave it out: that asks for one device",
    )


ADMIN = exactly("adminAccess: true")
ADMIN_RULE = "kubernetes/kubernetes pkg/registry/resource"
SPACE = "---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}, labels: {{{label}}}}}\n"
LABEL = "resource.kubernetes.io/admin-access"


def unlabelled(has: str) -> str:
    return (
        'objects.yaml:7:62: the claim asks for admin access, and namespace "team-a" isn\'t labelled for it'
        f"{has}  [admin-access]\n  at   spec.devices.requests[0].exactly.adminAccess\n"
        "  why  the API server refuses the claim: the label's key and its value are compared letter by letter"
        f' ({ADMIN_RULE})\n  fix  label the namespace {LABEL}: "true"\n'
    )


ASSUMED = (
    'objects.yaml:7:62: note: namespace "team-a" isn\'t given, and is taken to let claims ask for admin access'
    "  [admin-access-assumed]\n  at   spec.devices.requests[0].exactly.adminAccess\n"
    f'  why  the API server takes adminAccess only in a namespace with the label {LABEL}: "true" ({ADMIN_RULE})\n'
    "  fix  give the Namespace too\n"
)
ACCESS = {
    "labelled": (ADMIN + SPACE.format(name="team-a", label=f"{LABEL}: 'true'"), ""),
    "not-labelled": (ADMIN + SPACE.format(name="team-a", label="a: b"), unlabelled("")),
    "another-case": (
        ADMIN + SPACE.format(name="team-a", label=f"{LABEL}: 'True'"),
        unlabelled(f'; it has {LABEL}: "True"'),
    ),
    "the-key-of-1.33": (
        ADMIN + SPACE.format(name="team-a", label="resource.k8s.io/admin-access: 'true'"),
        unlabelled('; it has resource.k8s.io/admin-access: "true"'),
    ),
    "namespace-not-given": (ADMIN, ASSUMED),
    "another-namespace-given": (ADMIN + SPACE.format(name="team-b", label=f"{LABEL}: 'true'"), ASSUMED),
    "not-asked-for": (exactly("adminAccess: false") + SPACE.format(name="team-a", label=""), ""),
    # The server has let it pass: the label may have gone since.
    "stored": (ADMIN.replace("name: train", "name: train, uid: u") + SPACE.format(name="team-a", label=""), ""),
}


@pytest.mark.parametrize(("text", "says"), ACCESS.values(), ids=ACCESS)
def test_admin_access(text: str, says: str) -> None:
    assert check(text) == says


SLICE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.example.com
  nodeName: a
  pool: {name: a, generation: 1, resourceSliceCount: 1}
"""
TAINT = "{{key: a, effect: None}}"
MANY = SLICE + "  devices:\n" + repeat("- {{name: d{n}}}", 65, "  ")
SLICES = {
    "as-many-devices-as-can-be": (SLICE + "  devices:\n" + repeat("- {{name: d{n}}}", 128, "  "), "1.37", ""),
    "too-many-devices": (
        SLICE + "  devices:\n" + repeat("- {{name: d{n}}}", 129, "  "),
        "1.34",
        "objects.yaml:9:3: 129 devices where at most 128 can stand  [object-refused]\n  at   spec.devices\n"
        + LIMIT
        + SPREAD,
    ),
    "too-many-devices-beside-a-taint": (
        MANY.replace("d0}", "d0, taints: [{key: a, effect: None}]}"),
        "1.35",
        "objects.yaml:9:3: 65 devices, some with taints, counters or lists, where at most 64 can stand"
        "  [object-refused]\n  at   spec.devices\n" + LIMIT + SPREAD,
    ),
    "as-many-in-1.34": (MANY.replace("d0}", "d0, taints: [{key: a, effect: None}]}"), "1.34", ""),
    "too-many-taints-and-counter-sets": (
        SLICE
        + "  devices:\n  - name: a\n    taints:\n"
        + repeat("- {{key: k{n}, effect: None}}", 17)
        + "    consumesCounters:\n"
        + repeat("- {{counterSet: c{n}, counters: {{}}}}", 3),
        "1.36",
        "objects.yaml:11:5: 17 taints where at most 16 can stand  [object-refused]\n"
        "  at   spec.devices[0].taints\n"
        + LIMIT
        + SPREAD
        + "objects.yaml:29:5: 3 consumesCounters where at most 2 can stand  [object-refused]\n"
        "  at   spec.devices[0].consumesCounters\n" + LIMIT + SPREAD,
    ),
    "devices-and-too-many-counter-sets": (
        SLICE
        + "  devices: [{name: a}, {name: a}]\n  sharedCounters:\n"
        + repeat("- {{name: c{n}, counters: {{}}}}", 9, "  "),
        "1.35",
        refused("8:12", '2 entries are device "a"', "spec.devices", TWICE, RENAME)
        + "objects.yaml:10:3: 9 counter sets where at most 8 can stand  [object-refused]\n"
        "  at   spec.sharedCounters\n"
        + LIMIT
        + SPREAD
        + refused(
            "10:3",
            'slice "s" has both devices and counter sets',
            "spec.sharedCounters",
            "since Kubernetes 1.35 a pool has its counter sets in slices of their own",
            "publish sharedCounters in another slice of the pool",
        ),
    ),
}


@pytest.mark.parametrize(("text", "minor", "says"), SLICES.values(), ids=SLICES)
def test_slices(text: str, minor: str, says: str) -> None:
    assert check(text, minor) == says


POD = (
    "{resourceClaims: [{name: a, resourceClaimName: x}, {name: a, resourceClaimName: y}], "
    "containers: [{name: c, resources: {claims: [{name: b}]}}]}"
)
PODS = {
    "pod": (f"apiVersion: v1\nkind: Pod\nmetadata: {{namespace: n, name: p}}\nspec: {POD}\n", "4:24", "spec"),
    "workload": (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {namespace: n, name: p}\n"
        f"spec:\n  template:\n    spec: {POD}\n",
        "6:28",
        "spec.template.spec",
    ),
}


@pytest.mark.parametrize(("text", "place", "at"), PODS.values(), ids=PODS)
def test_pods(text: str, place: str, at: str) -> None:
    assert check(text) == (
        f'objects.yaml:{place}: container "c" uses the claim "b", which the pod doesn\'t have  [object-refused]\n'
        f"  at   {at}.resourceClaims\n"
        "  why  a container uses claims of its pod's resourceClaims (k8s.io/api core/v1)\n"
        "  fix  claims of the pod: a, a\n"
        f'objects.yaml:{place}: the pod has 2 claims called "a"  [object-refused]\n'
        f"  at   {at}.resourceClaims\n"
        "  why  containers name a claim by it (k8s.io/api core/v1)\n"
        "  fix  give each claim of a pod a name of its own\n"
    )


def test_extended_resources_are_counted() -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {namespace: n, name: p}\n"
        "spec: {containers: [{name: c, resources: {limits: {example.com/gpu: AMOUNT, cpu: 500m}}}]}\n"
    )
    assert check(text.replace("AMOUNT", "500m")) == (
        'objects.yaml:4:7: container "c" asks for 500m of "example.com/gpu"  [object-refused]\n  at   spec\n'
        "  why  an extended resource is counted: the API server takes whole numbers of it (k8s.io/api core/v1)\n"
        "  fix  ask for a whole number\n"
    )
    assert check(text.replace("AMOUNT", "2")) == ""


TAINT_RULE = "apiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: r}\nspec:\n"
OF_ALL = "what isn't named matches: claims that don't tolerate the taint get no device of any driver"
OF_NONE = "releases up to 1.36 read it as every device; from 1.37 on it selects none"
RULES = {
    "empty": ("deviceSelector: {}", "1.37", "5:19", "an empty", "EVERY device", OF_ALL, ".deviceSelector"),
    "none": ("x: {}", "1.36", "5:3", "no", "EVERY device", OF_ALL, ""),
    "none-in-1.37": ("x: {}", "1.37", "5:3", "no", "no device", OF_NONE, ""),
}


@pytest.mark.parametrize(("selector", "minor", "place", "has", "matches", "why", "at"), RULES.values(), ids=RULES)
def test_taint_rules(selector: str, minor: str, place: str, has: str, matches: str, why: str, at: str) -> None:
    text = f"{TAINT_RULE}  {selector}\n  taint: {{key: a, effect: NoSchedule}}\n"
    assert check(text, minor) == (
        f'objects.yaml:{place}: warning: DeviceTaintRule "r" has {has} deviceSelector, and matches {matches} in'
        f" Kubernetes {minor}  [taint-rule-all]\n  at   spec{at}\n"
        f"  why  {why} (k8s.io/dynamic-resource-allocation resourceslice/tracker)\n"
        "  fix  name driver, pool or device under spec.deviceSelector\n"
    )
    for name in ("driver", "pool", "device"):
        assert check(text.replace(selector, f"deviceSelector: {{{name}: x}}"), minor) == ""
