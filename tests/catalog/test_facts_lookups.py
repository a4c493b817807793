"""What the fact tables answer: gates, APIs, attributes, hardware, releases, settings, engines."""

from __future__ import annotations

import pytest

from poolwright.catalog.tables.driver_release import is_release, is_within
from poolwright.catalog.tables.kubernetes import KubernetesGateFact
from poolwright.files.facts import read_facts

FACTS = read_facts()


# name: (type, stable) of every attribute that was known before the catalogue was whole
ATTRIBUTES = {
    "addressingMode": ("string", True),
    "architecture": ("string", True),
    "brand": ("string", True),
    "cudaComputeCapability": ("version", True),
    "cudaDriverVersion": ("version", True),
    "driverVersion": ("version", True),
    "gpuModuleID": ("int", False),
    "index": ("int", False),
    "minor": ("int", False),
    "parentIndex": ("int", False),
    "parentUUID": ("string", False),
    "partition4": ("int", False),
    "pcieBusID": ("string", False),
    "productName": ("string", True),
    "profile": ("string", True),
    "type": ("string", True),
    "uuid": ("string", False),
    "deviceID": ("string", True),
    "iommuFDEnabled": ("bool", True),
}
STANDARD = {"numaNode": ("int", True), "pciBusID": ("string", False), "pcieRoot": ("string", True)}


@pytest.mark.parametrize(
    ("domain", "name", "expected"),
    [
        *(("gpu.nvidia.com", name, expected) for name, expected in ATTRIBUTES.items()),
        *(("resource.kubernetes.io", name, expected) for name, expected in STANDARD.items()),
    ],
)
def test_an_attribute_is_found_by_driver_domain_and_name(domain: str, name: str, expected: tuple[str, bool]) -> None:
    fact = FACTS.attribute("gpu.nvidia.com", domain, name)
    assert fact
    assert (fact.type, fact.stable) == expected


def test_a_standard_attribute_counts_for_any_driver_and_another_drivers_own_does_not() -> None:
    assert FACTS.attribute("nic.example.com", "resource.kubernetes.io", "pciBusID") is not None
    assert FACTS.attribute("nic.example.com", "gpu.nvidia.com", "uuid") is None


PUBLISHED = {
    "own-address-up-to-25.8": ("gpu", "25.8.1", {"pcieBusID"}, {"pciBusID", "addressingMode", "numaNode"}),
    "standard-address-from-25.12": ("gpu", "v25.12.0", {"pciBusID", "addressingMode"}, {"pcieBusID", "numaNode"}),
    # 0.4 came after 25.12: the numbers were restarted.
    "numa-renamed-in-0.5": ("vfio", "0.5.0", {"numaNode"}, {"numa"}),
    "numa-before": ("vfio", "0.4.1", {"numa"}, {"numaNode"}),
    "a-partition-that-does-not-exist-has-no-uuid": ("mig-dynamic", "0.5.0", {"profile", "parentUUID"}, {"uuid"}),
    "later-patch-keeps-what-the-last-known-release-has": ("mig-static", "0.5.1", {"uuid", "numaNode"}, {"index"}),
}


@pytest.mark.parametrize(("device_type", "release", "has", "lacks"), PUBLISHED.values(), ids=PUBLISHED)
def test_attributes_by_release(device_type: str, release: str, has: set[str], lacks: set[str]) -> None:
    names = {fact.name for fact in FACTS.published_attributes(device_type, release)}
    assert (has - names, lacks & names) == (set(), set())


def test_capacities_by_release() -> None:
    assert [f.name for f in FACTS.published_capacities("gpu", "25.8")] == ["memory"]
    static, dynamic = (
        FACTS.published_capacities("mig-static", "0.5.0"),
        FACTS.published_capacities("mig-dynamic", "0.5.0"),
    )
    assert {f.name for f in static} - {f.name for f in dynamic} == {"memorySlice"}
    assert [(f.name, f.gate) for f in dynamic if f.gate] == [("shares", "ConsumableShares")]


RELEASES = {
    "25.12-is-before-0.4": ("25.12.0", "0.4.0", None, False),
    "patch-is-in-its-line": ("25.8.1", "25.8", "25.8", True),
    "short-form-is-its-first-release": ("0.4", "0.4.0", None, True),
    "after-until": ("0.5.0", "25.12", "0.4.1", False),
    "no-bounds": ("0.5.0", None, None, True),
}


@pytest.mark.parametrize(("release", "since", "until", "expected"), RELEASES.values(), ids=RELEASES)
def test_releases_of_the_driver_in_order(release: str, since: str | None, until: str | None, expected: bool) -> None:
    assert is_within(release, since, until) is expected


def test_a_known_line_covers_its_patches_and_a_known_release_only_itself() -> None:
    assert (is_release("v25.12.0", "25.12"), is_release("25.1.0", "25.12"), is_release("0.4.1", "0.4.0")) == (
        True,
        False,
        False,
    )


def gate(minor: str, name: str) -> tuple[str, bool | None, bool, bool]:
    fact = FACTS.kubernetes_gate(minor, name)
    assert fact
    return fact.stage, fact.default, fact.locked, fact.verified


GATES = {
    ("1.35", "DRADeviceTaintRules"): ("alpha", False, False, True),
    ("1.36", "DRADeviceTaintRules"): ("beta", False, False, True),
    ("1.37", "DRADeviceTaintRules"): ("ga", True, False, True),
    ("1.36", "DRAAdminAccess"): ("ga", True, True, True),
    ("1.33", "DRAConsumableCapacity"): ("absent", None, False, True),
    ("1.37", "DRAWorkloadResourceClaims"): ("beta", False, False, True),
    ("1.36", "ResourceHealthStatus"): ("beta", None, False, False),
}


@pytest.mark.parametrize(("key", "expected"), GATES.items(), ids=map("-".join, GATES))
def test_kubernetes_gates(key: tuple[str, str], expected: tuple[str, bool | None, bool, bool]) -> None:
    assert gate(*key) == expected


OVERRIDES = {
    "defaults": ("1.36", {}, {"DRADeviceTaints": True, "DRADeviceTaintRules": False, "ResourceHealthStatus": None}),
    "override-counts": ("1.36", {"DRADeviceTaintRules": True}, {"DRADeviceTaintRules": True}),
    "locked-gate-stays": ("1.36", {"DRAAdminAccess": False}, {"DRAAdminAccess": True}),
    "absent-gate-stays-out": ("1.34", {"DRADeviceTaintRules": True}, {"DRADeviceTaintRules": None}),
    "gate-of-no-row-counts": ("1.36", {"SomeOtherGate": True}, {"SomeOtherGate": True}),
    "unknown-default-can-be-said": ("1.36", {"ResourceHealthStatus": True}, {"ResourceHealthStatus": True}),
}


@pytest.mark.parametrize(("minor", "overrides", "expected"), OVERRIDES.values(), ids=OVERRIDES)
def test_effective_gates(minor: str, overrides: dict[str, bool], expected: dict[str, bool | None]) -> None:
    before = dict(overrides)
    states = FACTS.effective_gates(minor, overrides)
    assert {name: states.get(name) for name in expected} == expected
    assert list(states) == sorted(states)
    assert overrides == before


def test_a_locked_gate_takes_its_default_alone_and_an_absent_one_nothing() -> None:
    def takes(fact: KubernetesGateFact | None) -> tuple[bool, bool]:
        assert fact
        return fact.takes(True), fact.takes(False)

    assert takes(FACTS.kubernetes_gate("1.37", "DRAPrioritizedList")) == (True, False)
    assert takes(FACTS.kubernetes_gate("1.36", "DRAPrioritizedList")) == (True, True)
    assert takes(FACTS.kubernetes_gate("1.33", "DRAExtendedResource")) == (False, False)


API_VERSIONS = {
    ("1.33", "ResourceClaim"): None,
    ("1.34", "ResourceClaim"): "resource.k8s.io/v1",
    ("1.36", "DeviceTaintRule"): None,
    ("1.37", "DeviceTaintRule"): "resource.k8s.io/v1",
    ("1.36", "Deployment"): "apps/v1",
    ("1.36", "ConfigMap"): "v1",
    ("1.36", "ValidatingAdmissionPolicy"): "admissionregistration.k8s.io/v1",
    ("1.36", "PodDisruptionBudget"): "policy/v1",
    ("1.36", "PriorityClass"): "scheduling.k8s.io/v1",
    ("1.38", "Deployment"): None,
}


@pytest.mark.parametrize(("key", "expected"), API_VERSIONS.items(), ids=map("-".join, API_VERSIONS))
def test_the_version_to_render(key: tuple[str, str], expected: str | None) -> None:
    assert FACTS.api_version(*key) == expected


NVIDIA = {
    ("v25.8.1", "DynamicMIG"): ("absent", None),
    ("25.12.0", "DynamicMIG"): ("alpha", False),
    ("0.4.1", "ConsumableShares"): ("absent", None),
    ("0.5.0", "ConsumableShares"): ("alpha", False),
    ("0.5.0", "ComputeDomainCliques"): ("beta", True),
}


@pytest.mark.parametrize(("key", "expected"), NVIDIA.items(), ids=map("-".join, NVIDIA))
def test_nvidia_gates_by_release(key: tuple[str, str], expected: tuple[str, bool | None]) -> None:
    fact = FACTS.nvidia_gate(*key)
    assert fact
    assert (fact.stage, fact.default) == expected


def test_a_release_that_was_not_read_has_no_gates() -> None:
    assert FACTS.nvidia_gate("0.5.1", "ConsumableShares") is None


def test_code_and_documentation_stand_side_by_side() -> None:
    fact = FACTS.nvidia_gate("0.5.0", "ComputeDomainCliques")
    assert fact
    assert (fact.stage, [(other.field, other.value) for other in fact.disagreements]) == ("beta", [("stage", "ga")])


IMEX_DEFAULTS = {"IMEXDaemonsWithDNSNames", "ComputeDomainCliques", "CrashOnNVLinkFabricErrors"}
BROKEN = {
    "defaults-break-none": ("0.5.0", set(), {}, []),
    "mig-and-mps": ("0.5.0", {"DynamicMIG", "MPSSupport"}, {}, ["DynamicMIG excludes MPSSupport enforced"]),
    "not-checked-in-25.12": ("25.12.0", {"PassthroughSupport", "NVMLDeviceHealthCheck"}, {}, []),
    "checked-from-0.4": (
        "0.4.0",
        {"PassthroughSupport", "NVMLDeviceHealthCheck"},
        {},
        ["PassthroughSupport excludes NVMLDeviceHealthCheck enforced"],
    ),
    "only-written-down": (
        "0.5.0",
        {"MPSSupport", "NVMLDeviceHealthCheck"},
        {},
        ["MPSSupport excludes NVMLDeviceHealthCheck documented"],
    ),
    "metadata-needs-passthrough": (
        "0.5.0",
        {"DeviceMetadata"},
        {},
        ["DeviceMetadata needs PassthroughSupport enforced"],
    ),
    "shares-need-their-gate": (
        "0.5.0",
        set(),
        {"consumableShares": "4"},
        ["consumableShares=* needs ConsumableShares enforced"],
    ),
    "shares-with-their-gate": ("0.5.0", {"ConsumableShares"}, {"consumableShares": "4"}, []),
    "shares-and-a-claim-for-mps": (
        "0.5.0",
        {"ConsumableShares"},
        {"claimConfig": "MPS"},
        ["ConsumableShares claimConfig=MPS excludes enforced"],
    ),
    "isolation-by-channel": ("0.5.0", set(), {"imexIsolation": "channel"}, ["imexIsolation=channel refused enforced"]),
    "host-managed-turns-gates-off": (
        "0.5.0",
        {"HostManagedIMEXDaemon", "IMEXDaemonsWithDNSNames", "ComputeDomainCliques"},
        {"imexMode": "hostManaged"},
        [
            "IMEXDaemonsWithDNSNames imexMode=hostManaged excludes forcedOff",
            "ComputeDomainCliques imexMode=hostManaged excludes forcedOff",
        ],
    ),
}


@pytest.mark.parametrize(("release", "gates", "settings", "expected"), BROKEN.values(), ids=BROKEN)
def test_broken_gate_rules(release: str, gates: set[str], settings: dict[str, str], expected: list[str]) -> None:
    enabled = gates | (set() if settings.get("imexMode") else IMEX_DEFAULTS)
    said = [
        " ".join(
            part
            for part in (
                rule.gate,
                f"{rule.setting}={rule.word}" if rule.setting else None,
                rule.relation,
                rule.other_gate,
                rule.by,
            )
            if part
        )
        for rule in FACTS.broken_gate_rules(release, enabled, settings)
    ]
    assert said == expected


def test_profiles_are_the_models_own_or_those_it_shares() -> None:
    own, shared = FACTS.model_profiles("a100-sxm4-40gb"), FACTS.model_profiles("a100-pcie-40gb")
    assert own == shared
    assert len(own) == 7
    assert FACTS.model_profiles("l4") == FACTS.model_profiles("no-such-model") == ()
    assert {f.profiles_of for f in FACTS.hardware if f.profiles_of} <= {f.model for f in FACTS.hardware}


def test_a_profile_with_two_memories_keeps_both() -> None:
    profile = next(p for p in FACTS.mig_profiles if (p.model, p.name) == ("a100-sxm4-40gb", "7g.40gb"))
    assert (profile.memory_mi, [other.value for other in profile.disagreements]) == (40192, ["40448", "40320"])
    assert [str(place) for place in profile.placements] == ["0:8"]
    assert str(profile.engines) == "copy 7, dec 5, enc 0, jpeg 1, ofa 1"


def test_what_was_not_found_stays_unknown() -> None:
    gh200 = FACTS.hardware_model("gh200-96gb")
    assert gh200
    assert (gh200.memory_mi, gh200.memory, gh200.memory_verified, gh200.verified) == (None, None, False, False)
    assert {(p.memory_mi, p.engines, p.verified) for p in FACTS.model_profiles("gh200-96gb")} == {(None, None, False)}
    draft = FACTS.operator_release("26.7.1")
    assert draft
    assert (draft.released, draft.verified) == (None, False)


def test_operator_lines_and_releases() -> None:
    line, release = FACTS.operator_line("v26.7.0"), FACTS.operator_release("v26.7.0")
    assert line
    assert release
    assert (line.kubernetes_minimum, line.kubernetes_maximum, line.dra_kubernetes_minimum) == ("1.33", "1.36", "1.34.2")
    assert line.upgrades_from == ("26.3", "26.7")
    assert line.lifecycle == "supported"
    assert (release.released, release.gpu_driver_recommended) == ("2026-08-21", "595.91.07")
    assert FACTS.operator_line("24.9.0") is FACTS.operator_release("24.9.0") is None


def test_chart_and_documentation_of_a_component_stand_side_by_side() -> None:
    fact = FACTS.operator_component("26.7.0", "kubevirtPlugin")
    assert fact
    assert (fact.version, [other.value for other in fact.disagreements]) == ("v1.6.0", ["v1.5.0"])


def test_the_driver_release_says_which_chart_it_has() -> None:
    old, new = FACTS.driver_release("v25.12.0"), FACTS.driver_release("0.5.0")
    assert old
    assert new
    assert (old.chart, new.chart) == ("nvidia-dra-driver-gpu", "dra-driver-nvidia-gpu")
    assert (old.verified, new.verified) == (True, False)
    assert FACTS.driver_release("0.6.0") is None


SETTINGS = {
    "word-of-the-operator": (
        ("gpuOperator", "computeDomains", "disabled"),
        ("draDriver.computeDomains.enabled", False, None),
    ),
    "word-of-the-chart": (("chart", "computeDomains", "disabled"), ("resources.computeDomains.enabled", False, None)),
    "operator-takes-a-variable": (
        ("gpuOperator", "consumableShares", "unlimited"),
        ("draDriver.gpus.kubeletPlugin.env", "unlimited", "CONSUMABLE_SHARES"),
    ),
    "any-number": (("chart", "consumableShares", "12"), ("consumableShares", None, None)),
    "zero-is-no-number-of-shares": (("chart", "consumableShares", "0"), None),
    "unknown-word": (("chart", "computeDomains", "off"), None),
    "not-to-be-said-to-the-operator": (("gpuOperator", "imexMode", "hostManaged"), None),
}


@pytest.mark.parametrize(("key", "expected"), SETTINGS.values(), ids=SETTINGS)
def test_driver_settings(key: tuple[str, str, str], expected: tuple[str, bool | str | None, str | None] | None) -> None:
    fact = FACTS.driver_setting(*key)
    assert (fact and (fact.helm_key, fact.value, fact.variable)) == expected


VALUES = {
    "known-and-any-key-below-a-map": (
        {"gpuCluster": {"deployCR": True}, "draDriver": {"featureGates": {"ConsumableShares": True}}},
        (),
    ),
    "list-stands-for-itself": ({"draDriver": {"gpus": {"kubeletPlugin": {"env": [{"name": "A"}]}}}}, ()),
    "misspelt": ({"gpuCluster": {"deployCr": True}}, ("gpuCluster.deployCr",)),
    "group-that-is-no-map": ({"toolkit": True}, ("toolkit",)),
    "all-in-order": ({"zones": {}, "draDriver": {"shares": 1}}, ("draDriver.shares", "zones")),
}


@pytest.mark.parametrize(("values", "expected"), VALUES.values(), ids=VALUES)
def test_helm_values(values: dict[str, object], expected: tuple[str, ...]) -> None:
    assert FACTS.unknown_helm_values("gpu-operator", "v26.7.0", values) == expected


def test_a_removed_value_and_every_value_of_an_unknown_chart_are_unknown() -> None:
    assert FACTS.unknown_helm_values("dra-driver-nvidia-gpu", "0.5.0", {"namespace": "x"}) == ("namespace",)
    assert FACTS.unknown_helm_values("gpu-operator", "27.1.0", {"cdi": {"enabled": True}}) == ("cdi",)


ARGUMENTS = {
    ("vllm", "tensorParallel"): "--tensor-parallel-size",
    ("sglang", "tensorParallel"): "--tensor-parallel-size",
    ("vllm", "contextTokens"): "--max-model-len",
    ("sglang", "contextTokens"): "--context-length",
    ("vllm", "maxBatchedTokens"): "--max-num-batched-tokens",
    ("sglang", "maxBatchedTokens"): "--chunked-prefill-size",
    ("vllm", "memoryFraction"): "--gpu-memory-utilization",
    ("sglang", "memoryFraction"): "--mem-fraction-static",
    ("vllm", "loraMaxAdapters"): "--max-loras",
    ("sglang", "loraMaxAdapters"): "--max-loras-per-batch",
    ("sglang", "metrics"): "--enable-metrics",
}


@pytest.mark.parametrize(("key", "expected"), ARGUMENTS.items(), ids=map("-".join, ARGUMENTS))
def test_engine_arguments(key: tuple[str, str], expected: str) -> None:
    fact = FACTS.engine_argument(*key)
    assert fact
    assert fact.argument == expected


def test_words_in_the_engines_own_spelling() -> None:
    vllm, sglang = FACTS.engine_argument("vllm", "kvCacheDtype"), FACTS.engine_argument("sglang", "kvCacheDtype")
    dtype = FACTS.engine_argument("sglang", "dtype")
    assert vllm
    assert sglang
    assert dtype
    assert [vllm.spell(word) for word in ("bfloat16", "float16", "fp8")] == ["bfloat16", "float16", "fp8"]
    assert [sglang.spell(word) for word in ("bfloat16", "float16", "fp8")] == ["bfloat16", None, "fp8_e4m3"]
    assert dtype.spell("bfloat16") == "bfloat16"  # no list: as it is
    assert FACTS.engine_argument("vllm", "metrics") is None  # always on


def test_engines() -> None:
    assert [
        (f.engine, f.version, f.port, f.startup_path, f.readiness_path, f.liveness_path) for f in FACTS.engines
    ] == [
        ("vllm", "0.33.0", 8000, "/v1/models", "/v1/models", "/health"),
        ("sglang", "0.5.23", 30000, "/health_generate", "/ready", "/health"),
        ("vllm", "0.11.0", 8000, "/v1/models", "/v1/models", "/health"),
        ("sglang", "0.5.3", 30000, "/health_generate", "/health", "/health"),
    ]
    assert FACTS.engine("trtllm") is None


SERIES = {
    "counter-gets-total": (("vllm", "preemptions"), ("vllm:num_preemptions_total",)),
    "counter-has-total": (("sglang", "preemptions"), ("sglang:num_retracted_requests_total",)),
    "gauge": (("vllm", "kvUsage"), ("vllm:kv_cache_usage_perc",)),
    "kind-not-known": (("dcgm-exporter", "deviceErrors"), ("DCGM_FI_DEV_XID_ERRORS",)),
    "histogram": (
        ("sglang", "timeToFirstToken"),
        tuple(f"sglang:time_to_first_token_seconds_{suffix}" for suffix in ("bucket", "count", "sum")),
    ),
}


@pytest.mark.parametrize(("key", "expected"), SERIES.values(), ids=SERIES)
def test_series(key: tuple[str, str], expected: tuple[str, ...]) -> None:
    fact = FACTS.metric(*key)
    assert fact
    assert fact.series == expected


def test_other_rows_in_one_table_leave_the_rest_and_the_facts_as_they_were() -> None:
    rows = FACTS.engines[:1]
    other = FACTS.with_rows("engines", rows)
    assert (other.engines, len(FACTS.engines), other.metrics) == (rows, 4, FACTS.metrics)
