"""The schemas of custom resources: that they refuse what they should, and that their origin is written down."""

import copy
import json
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from crd_schemas import DATA, Origin, crd_errors, object_errors, opaque_errors, read_index, read_schema
from crds.fetch_crds import NOTICE, WANTED, build_notice, count_rules, main
from crds.go_types import build_config_schema
from crds.strict_schema import INT_OR_STRING, QUANTITY, build_schema, build_strict
from poolwright.specs.place import FieldPath, render_field

GONE = object()  # planted: the field is taken away

# By way of JSON, so that an alias in YAML becomes a copy of its own.
SAMPLES: list[dict[str, Any]] = json.loads(
    json.dumps(list(yaml.safe_load_all(DATA.parent.joinpath("samples.yaml").read_text(encoding="utf-8"))))
)

# Maps whose keys people choose: an unlisted key there is no error.
FREE = {"labels", "annotations", "matchLabels", "nodeSelector", "valuesObject", "requests", "featureGates"}
FREE |= {"defaultPerDevicePinnedMemoryLimit"}


def sample(kind: str, number: int = 0) -> dict[str, Any]:
    return copy.deepcopy([obj for obj in SAMPLES if obj["kind"] == kind][number])


def plant(obj: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """The object with one field, named by a path like `spec/rules/0/name`, set or taken away."""
    *parents, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    holder: Any = obj
    for step in parents:
        holder = holder[step]
    if value is GONE:
        del holder[last]
    else:
        holder[last] = value
    return obj


def listed_maps(node: object, path: FieldPath = ()) -> Iterator[FieldPath]:
    """The path of every mapping whose keys a schema lists."""
    if isinstance(node, dict) and (not path or path[-1] not in FREE):
        yield path
        for key, value in node.items():
            yield from listed_maps(value, (*path, key))
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from listed_maps(value, (*path, number))


def test_every_kind_has_a_sample_and_every_sample_is_valid() -> None:
    assert {(obj["apiVersion"], obj["kind"]) for obj in SAMPLES} == set(read_index())
    assert [crd_errors(obj) for obj in SAMPLES] == [[]] * len(SAMPLES)


@pytest.mark.parametrize("obj", SAMPLES, ids=[f"{number}-{obj['kind']}" for number, obj in enumerate(SAMPLES)])
def test_an_unlisted_field_is_refused_wherever_it_stands(obj: dict[str, Any]) -> None:
    for path in listed_maps(obj):
        planted = copy.deepcopy(obj)
        holder: Any = planted
        for step in path:
            holder = holder[step]
        holder["planted"] = 1
        place = f"{render_field(path)}: " if path else ""
        assert crd_errors(planted) == [f"{place}Additional properties are not allowed ('planted' was unexpected)"], (
            render_field(path)
        )


NOT_INTEGER = 'is not of type "integer"'
NOT_STRING = 'is not of type "string"'

PLANTED: dict[str, tuple[str, str, object, list[str]]] = {
    "an application needs its project": (
        "Application",
        "spec/project",
        GONE,
        ['spec: "project" is a required property'],
    ),
    "a retry limit is a number": (
        "Application",
        "spec/syncPolicy/retry/limit",
        "5",
        [f'spec.syncPolicy.retry.limit: "5" {NOT_INTEGER}'],
    ),
    "managed namespace labels are strings": (
        "Application",
        "spec/syncPolicy/managedNamespaceMetadata/labels/team",
        True,
        [f"spec.syncPolicy.managedNamespaceMetadata.labels.team: true {NOT_STRING}"],
    ),
    "a project's resource list needs its kind": (
        "AppProject",
        "spec/clusterResourceWhitelist/0/kind",
        GONE,
        ['spec.clusterResourceWhitelist[0]: "kind" is a required property'],
    ),
    "a route's hostname is a DNS name": (
        "HTTPRoute",
        "spec/hostnames/0",
        "chat_example",
        [
            'spec.hostnames[0]: "chat_example" does not match'
            r' "^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"'
        ],
    ),
    "a route's match type is one of three": (
        "HTTPRoute",
        "spec/rules/0/matches/0/path/type",
        "Prefix",
        [
            'spec.rules[0].matches[0].path.type: "Prefix" is not one of "Exact", "PathPrefix" or "RegularExpression"',
        ],
    ),
    "a backend's weight has an upper bound": (
        "HTTPRoute",
        "spec/rules/0/backendRefs/0/weight",
        1_000_001,
        ["spec.rules[0].backendRefs[0].weight: 1000001 is greater than the maximum of 1000000"],
    ),
    "two header matches of one name": (
        "HTTPRoute",
        "spec/rules/0/matches/0/headers",
        [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}],
        ['spec.rules[0].matches[0].headers: two items with name "a"'],
    ),
    "a pool needs a picker": (
        "InferencePool",
        "spec/endpointPickerRef",
        GONE,
        ['spec: "endpointPickerRef" is a required property'],
    ),
    "a pool's port is an object with a number": (
        "InferencePool",
        "spec/targetPorts/0",
        8000,
        ['spec.targetPorts[0]: 8000 is not of type "object"'],
    ),
    "a pool has at most eight ports": (
        "InferencePool",
        "spec/targetPorts",
        [{"number": port} for port in range(8000, 8009)],
        [
            "spec.targetPorts: "
            + json.dumps([{"number": port} for port in range(8000, 8009)], separators=(",", ":"))
            + " has more than 8 items"
        ],
    ),
    "a pool's failure mode is one of two": (
        "InferencePool",
        "spec/endpointPickerRef/failureMode",
        "Open",
        ['spec.endpointPickerRef.failureMode: "Open" is not one of "FailOpen" or "FailClose"'],
    ),
    "an objective's priority is a number": (
        "InferenceObjective",
        "spec/priority",
        "high",
        [f'spec.priority: "high" {NOT_INTEGER}'],
    ),
    "an objective names its pool": (
        "InferenceObjective",
        "spec/poolRef/name",
        GONE,
        ['spec.poolRef: "name" is a required property'],
    ),
    "a group's size fits 32 bits": (
        "LeaderWorkerSet",
        "spec/leaderWorkerTemplate/size",
        2**31,
        ["spec.leaderWorkerTemplate.size: 2147483648 is greater than the maximum of 2147483647"],
    ),
    "a group's restart policy is one of the known": (
        "LeaderWorkerSet",
        "spec/leaderWorkerTemplate/restartPolicy",
        "Always",
        [
            'spec.leaderWorkerTemplate.restartPolicy: "Always" is not one of "Default", "RecreateGroupOnPodRestart"'
            " or 2 other candidates"
        ],
    ),
    # protocol is left out in one of them: the default is TCP, so both have the same keys.
    "two container ports of one number and protocol": (
        "LeaderWorkerSet",
        "spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/ports",
        [{"containerPort": 8000, "protocol": "TCP"}, {"containerPort": 8000}],
        [
            "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].ports:"
            ' two items with containerPort, protocol 8000, "TCP"'
        ],
    ),
    "a memory request is a quantity": (
        "LeaderWorkerSet",
        "spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/resources/requests/memory",
        "64GiB",
        [
            "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].resources.requests.memory:"
            f' "64GiB" does not match "{QUANTITY}"'
        ],
    ),
    "a monitored port goes by name": (
        "PodMonitor",
        "spec/podMetricsEndpoints/0/port",
        8000,
        [f"spec.podMetricsEndpoints[0].port: 8000 {NOT_STRING}"],
    ),
    "a monitor selects pods": ("PodMonitor", "spec/selector", GONE, ['spec: "selector" is a required property']),
    "a scrape interval is a Prometheus duration": (
        "PodMonitor",
        "spec/podMetricsEndpoints/0/interval",
        "15 s",
        [
            'spec.podMetricsEndpoints[0].interval: "15 s" does not match'
            ' "^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$"'
        ],
    ),
    "an alert rule needs its expression": (
        "PrometheusRule",
        "spec/groups/0/rules/0/expr",
        GONE,
        ['spec.groups[0].rules[0]: "expr" is a required property'],
    ),
    "a rule group needs a name that isn't empty": (
        "PrometheusRule",
        "spec/groups/0/name",
        "",
        ['spec.groups[0].name: "" is shorter than 1 character'],
    ),
    "an operator policy has no namespace": (
        "ClusterPolicy",
        "metadata/namespace",
        "gpu-operator",
        ["metadata: Additional properties are not allowed ('namespace' was unexpected)"],
    ),
    "an operator's runtime is one of three": (
        "ClusterPolicy",
        "spec/operator/defaultRuntime",
        "podman",
        ['spec.operator.defaultRuntime: "podman" is not one of "docker", "crio" or "containerd"'],
    ),
    "a GPU cluster has one name": (
        "GPUCluster",
        "metadata/name",
        "gpus",
        ['metadata.name: "gpus" is not one of "gpu-cluster"'],
    ),
    "a feature gate is true or false": (
        "GPUCluster",
        "spec/draDriver/featureGates/TimeSlicingSettings",
        "true",
        ['spec.draDriver.featureGates.TimeSlicingSettings: "true" is not of type "boolean"'],
    ),
    "a driver's type is one of the known": (
        "NVIDIADriver",
        "spec/driverType",
        "mig",
        ['spec.driverType: "mig" is not one of "gpu", "vgpu" or "vgpu-host-manager"'],
    ),
    "a time slice is one of four": (
        "GpuConfig",
        "sharing/timeSlicingConfig/interval",
        "Longest",
        [
            'sharing.timeSlicingConfig.interval: "Longest" is not one of "Default", "Short" or 2 other candidates',
        ],
    ),
    "an empty time slicing crashes the driver": (
        "GpuConfig",
        "sharing/timeSlicingConfig",
        {},
        ['sharing.timeSlicingConfig: "interval" is a required property'],
    ),
    "time slicing has no MPS settings": (
        "GpuConfig",
        "sharing/mpsConfig",
        {},
        ["sharing.mpsConfig: False schema does not allow {}"],
    ),
    "a thread percentage is at most 100": (
        "MigDeviceConfig",
        "sharing/mpsConfig/defaultActiveThreadPercentage",
        101,
        ["sharing.mpsConfig.defaultActiveThreadPercentage: 101 is greater than the maximum of 100"],
    ),
    "a MIG device has no time slices": (
        "MigDeviceConfig",
        "sharing/timeSlicingConfig",
        {"interval": "Long"},
        ["sharing: Additional properties are not allowed ('timeSlicingConfig' was unexpected)"],
    ),
    "an IOMMU policy is one of two": (
        "VfioDeviceConfig",
        "iommu/backendPolicy",
        "Legacy",
        ['iommu.backendPolicy: "Legacy" is not one of "LegacyOnly" or "PreferIommuFD"'],
    ),
    "a channel needs its domain": (
        "ComputeDomainChannelConfig",
        "domainID",
        GONE,
        ['"domainID" is a required property'],
    ),
    "a domain never is a path": (
        "ComputeDomainDaemonConfig",
        "domainID",
        "..",
        ['domainID: ".." does not match "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"'],
    ),
    "a name is lower case": (
        "PodMonitor",
        "metadata/name",
        "Chat",
        [
            'metadata.name: "Chat" does not match'
            r' "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"'
        ],
    ),
    "a label value is a string": (
        "PodMonitor",
        "metadata/labels",
        {"version": 1},
        [f"metadata.labels.version: 1 {NOT_STRING}"],
    ),
    "an unknown kind says so": (
        "HTTPRoute",
        "kind",
        "TCPRoute",
        [
            "gateway.networking.k8s.io/v1 TCPRoute: no schema; known are "
            + ", ".join(f"{api} {kind}" for api, kind in read_index())
        ],
    ),
}


@pytest.mark.parametrize(("kind", "path", "value", "expected"), PLANTED.values(), ids=PLANTED)
def test_a_planted_error_is_caught(kind: str, path: str, value: object, expected: list[str]) -> None:
    obj = plant(sample(kind), path, value)
    assert crd_errors(obj) == expected


def test_an_error_is_planted_in_every_kind() -> None:
    assert {kind for kind, _, _, _ in PLANTED.values()} == {kind for _, kind in read_index()}


def test_every_error_is_reported() -> None:
    obj = plant(plant(sample("InferencePool"), "spec/selector", GONE), "spec/appProtocol", "grpc")
    assert crd_errors(obj) == [
        'spec.appProtocol: "grpc" is not one of "http" or "kubernetes.io/h2c"',
        'spec: "selector" is a required property',
    ]


def device_class(parameters: dict[str, Any]) -> dict[str, Any]:
    config = [{"opaque": {"driver": "gpu.nvidia.com", "parameters": parameters}}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "shared"},
        "spec": {"config": config},
    }


def test_parameters_inside_a_class_are_checked() -> None:
    assert opaque_errors(device_class(sample("GpuConfig"))) == []
    assert opaque_errors(device_class(plant(sample("GpuConfig"), "sharing/strategy", "Shared"))) == [
        'spec.config[0].opaque.parameters: sharing.strategy: "Shared" is not one of "TimeSlicing" or "MPS"'
    ]


@pytest.fixture
def built_in(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What the schemas of built-in kinds were asked for; they find one fault in everything."""
    asked: list[tuple[str, str]] = []

    def schema_errors(obj: dict[str, Any], minor: str) -> list[str]:
        asked.append((obj["kind"], minor))
        return ["built-in"]

    monkeypatch.setitem(sys.modules, "kubernetes_schemas", SimpleNamespace(schema_errors=schema_errors))
    return asked


def test_a_built_in_kind_goes_to_its_own_schemas(built_in: list[tuple[str, str]]) -> None:
    bad = device_class({"apiVersion": "resource.nvidia.com/v1beta1", "kind": "VfioDeviceConfig", "iommu": 1})
    assert object_errors({"apiVersion": "v1", "kind": "Service"}, "1.34") == ["built-in"]
    assert object_errors({"apiVersion": "apps/v1", "kind": "Deployment"}, "1.34") == ["built-in"]
    assert object_errors(bad, "1.36") == [
        "built-in",
        'spec.config[0].opaque.parameters: iommu: 1 is not of type "object"',
    ]
    assert built_in == [("Service", "1.34"), ("Deployment", "1.34"), ("DeviceClass", "1.36")]


def test_a_custom_kind_never_does(built_in: list[tuple[str, str]]) -> None:
    known = ", ".join(f"{api} {kind}" for api, kind in read_index())
    assert object_errors(sample("InferencePool"), "1.34") == []
    assert object_errors({"apiVersion": "example.org/v1", "kind": "Thing"}, "1.34") == [
        f"example.org/v1 Thing: no schema; known are {known}"
    ]
    assert object_errors({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway"}, "1.34") == [
        f"gateway.networking.k8s.io/v1 Gateway: no schema; known are {known}"
    ]
    assert built_in == []


def test_only_these_schemas_have_no_publisher() -> None:
    assert [key for key, origin in read_index().items() if origin.unverified] == [("nvidia.com/v1alpha1", "GPUCluster")]


def test_only_these_kinds_have_rules_that_nobody_evaluates() -> None:
    counts = {kind: origin.cel_rules for (_, kind), origin in read_index().items() if origin.cel_rules}
    assert counts == {"HTTPRoute": 89, "InferencePool": 2, "NVIDIADriver": 2}
    assert counts == {kind: count for (api, kind) in read_index() if (count := count_rules(read_schema(api, kind)))}


def test_the_index_names_every_file_and_its_content() -> None:
    index = read_index()
    assert sorted(path.name for path in DATA.iterdir()) == sorted(
        ["index.json", *(origin.file for origin in index.values())]
    )
    assert [(wanted.api_version, wanted.kind) for wanted in WANTED] == list(index)
    for api_version, kind in index:
        assert read_schema(api_version, kind)["properties"]["kind"] == {"const": kind}  # read_schema checks the digest


def test_a_changed_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    key = ("nvidia.com/v1", "ClusterPolicy")
    wrong = {name: getattr(read_index()[key], name) for name in Origin.__dataclass_fields__} | {"sha256": "0" * 64}
    monkeypatch.setattr("crd_schemas.read_index", lambda: {key: Origin(**wrong)})
    with pytest.raises(ValueError, match=r"nvidia\.com_v1_ClusterPolicy\.json\.xz isn't what index\.json says"):
        read_schema.__wrapped__(*key)


def test_the_notice_names_every_module_with_its_version_and_licence() -> None:
    text = NOTICE.read_text(encoding="utf-8")
    assert build_notice(text, json.loads((DATA / "index.json").read_bytes())) == text
    for origin in read_index().values():
        assert origin.unverified or f"\n{origin.module} {origin.version} ({origin.licence})\n" in text
        assert (origin.licence == "Apache-2.0") is (origin.module is not None)


def test_an_unknown_argument_answers_with_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--force"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("Takes the schemas of custom resources from the Go modules that publish them")


STRICT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "listed properties close an object": (
        {"type": "object", "description": "words", "properties": {"a": {"type": "string"}}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False},
    ),
    # The API server drops everything inside.
    "an object that lists nothing is empty": ({"type": "object"}, {"type": "object", "additionalProperties": False}),
    "a map stays a map": (
        {"type": "object", "additionalProperties": {"type": "string", "description": "words"}},
        {"type": "object", "additionalProperties": {"type": "string"}},
    ),
    "preserved fields stay open": (
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    ),
    # `description` is a field's name here, not a word about the schema.
    "a field named like a keyword stays": (
        {"type": "object", "properties": {"description": {"type": "string", "description": "words"}}},
        {"type": "object", "properties": {"description": {"type": "string"}}, "additionalProperties": False},
    ),
    "int or string without anyOf": (
        {"x-kubernetes-int-or-string": True},
        {"x-kubernetes-int-or-string": True, "anyOf": INT_OR_STRING},
    ),
    "int or string with its anyOf": (
        {"x-kubernetes-int-or-string": True, "anyOf": INT_OR_STRING, "pattern": "^a$"},
        {"x-kubernetes-int-or-string": True, "anyOf": INT_OR_STRING, "pattern": "^a$"},
    ),
    "a nullable field": (
        {"type": "string", "nullable": True, "enum": ["a"]},
        {"type": ["string", "null"], "enum": ["a", None]},
    ),
    "a required field with a default may be left out": (
        {"type": "object", "properties": {"a": {"default": "x"}, "b": {}}, "required": ["a", "b"]},
        {
            "type": "object",
            "properties": {"a": {"default": "x"}, "b": {}},
            "required": ["b"],
            "additionalProperties": False,
        },
    ),
    "32 bits bound what nothing else bounds": (
        {"type": "integer", "format": "int32", "minimum": 1},
        {"type": "integer", "format": "int32", "minimum": 1, "maximum": 2147483647},
    ),
    "a set has no item twice": (
        {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set", "uniqueItems": True},
    ),
    "rules in CEL stay as data": (
        {"type": "object", "x-kubernetes-validations": [{"rule": "true", "message": "m"}]},
        {
            "type": "object",
            "x-kubernetes-validations": [{"rule": "true", "message": "m"}],
            "additionalProperties": False,
        },
    ),
}


@pytest.mark.parametrize(("node", "expected"), STRICT.values(), ids=STRICT)
def test_a_structural_schema_becomes_strict(node: dict[str, Any], expected: dict[str, Any]) -> None:
    before = copy.deepcopy(node)
    assert build_strict(node) == expected
    assert node == before


def test_a_version_that_is_not_served_has_no_schema() -> None:
    versions = [{"name": "v1alpha1", "served": False, "schema": {"openAPIV3Schema": {"type": "object"}}}]
    crd = {"spec": {"group": "example.org", "names": {"kind": "Thing"}, "scope": "Cluster", "versions": versions}}
    with pytest.raises(ValueError, match="Thing v1alpha1 isn't served"):
        build_schema(crd, "v1alpha1")
    with pytest.raises(KeyError, match="v1"):
        build_schema(crd, "v1")


GO = """
type Level string

type Thing struct {
	metav1.TypeMeta `json:",inline"`
	Inner           *Inner `json:"inner,omitempty"`
	Count           int    `json:"count"`
}

type Inner struct {
	// Words.
	Level Level                      `json:"level"`
	Size  *resource.Quantity         `json:"size,omitempty"`
}
"""


def test_go_types_become_a_schema() -> None:
    rules = {"Inner": {"required": ["level", "size"]}, ("Inner", "level"): {"enum": ["a"]}}
    inner = {
        "type": "object",
        "properties": {
            "level": {"type": "string", "enum": ["a"]},
            "size": {"anyOf": INT_OR_STRING, "pattern": QUANTITY},
        },
        "required": ["level", "size"],
        "additionalProperties": False,
    }
    assert build_config_schema(GO, "example.org/v1", "Thing", rules) == {
        "type": "object",
        "properties": {
            "apiVersion": {"const": "example.org/v1"},
            "kind": {"const": "Thing"},
            "inner": inner,
            "count": {"type": "integer"},
        },
        "required": ["apiVersion", "kind", "count"],
        "additionalProperties": False,
    }


def test_a_go_type_declared_elsewhere_is_an_error() -> None:
    with pytest.raises(KeyError, match="Inner"):
        build_config_schema(GO.replace("type Inner struct", "type Other struct"), "example.org/v1", "Thing", {})
