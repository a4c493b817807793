"""A cluster's Argo CD objects: what they say, what they may touch, and which files a change reaches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crd_schemas import object_errors
from fleet import FACTS, PROJECT, Files, edit, list_specs, load_closures, read_fleet
from folders import read_files, write_files
from poolwright.catalog.argocd_closure import ArgocdClosure, build_argocd_closure, check_applications
from poolwright.catalog.charts import build_charts
from poolwright.catalog.closure import PlatformClosure, UnitClosure
from poolwright.catalog.facts import FACT_FILES, parse_facts
from poolwright.objects.argocd import build_argocd
from poolwright.objects.kubernetes import Object
from poolwright.objects.unit import build_objects
from poolwright.specs.parse import parse_specs
from poolwright.specs.resolve import resolve_placement
from poolwright.trees.folder import MANIFEST_NAME
from poolwright.trees.manifest import build_manifest, render_manifest
from poolwright.trees.tree import build_folder, unit_name
from poolwright.trees.yaml_text import render_objects
from real_kustomize import build_for_real
from run_poolwright import run

FLEET = read_fleet()
BASELINE = "specs/stacks/operator-26-7.yaml"
SHARES = "specs/stacks/operator-26-7-shares.yaml"
EAST = "specs/placements/east.yaml"
_OPERATOR = "  gpuOperator:\n    version: 26.7.0\n    mode: gpuCluster\n"

POLICY = edit(
    FLEET,
    BASELINE,
    ("mode: gpuCluster", "mode: clusterPolicy"),
    ("install: gpuOperator", "install: chart"),
    ("1.20.0, install: host", "v1.20.0, install: clusterPolicy"),
)
CHART_ONLY = edit(
    FLEET,
    BASELINE,
    (_OPERATOR, ""),
    ("install: gpuOperator", "install: chart\n      featureGates: {CrashOnNVLinkFabricErrors: false}"),
    ("install: nvidiaDriver", "install: host"),
    ("{computeDomains: disabled}", "{imexMode: driverManaged, consumableShares: disabled}"),
)
VARIANTS: dict[str, Files] = {
    "example": FLEET,
    "cluster-policy-and-a-chart": POLICY,
    "chart-without-an-operator": CHART_ONLY,
    "driver-of-the-host": edit(FLEET, BASELINE, ("install: nvidiaDriver", "install: host")),
    "driver-of-the-policy": edit(POLICY, BASELINE, ("install: nvidiaDriver", "install: clusterPolicy")),
    "dynamic-mig-beside-a-policy": edit(
        edit(FLEET, SHARES, ("mode: gpuCluster", "mode: clusterPolicy"), ("install: gpuOperator", "install: chart")),
        SHARES,
        ("{ConsumableShares: true}", "{ConsumableShares: true, DynamicMIG: true}"),
    ),
    "another-argo-cd": edit(
        FLEET,
        PROJECT,
        ("inference-fleet.git\n", "inference-fleet.git\n    targetRevision: v1\n    namespace: gitops\n"),
        ("destination: {name: east}", "destination: {server: https://east.example.com:6443}"),
        ("inference-fleet.git", "fleet.git"),
    ),
    "groups-that-scale": edit(
        edit(FLEET, EAST, ("zone: east-b\n  surge: 0", "zone: east-b\n  maxReplicas: 2\n  surge: 0")),
        "specs/pools/h100-full.yaml",
        ("quota: {interactive-80g: 16}", "quota: {interactive-80g: 32}"),
    ),
}


def folders(files: Files) -> dict[str, ArgocdClosure]:
    return {c.on.cluster: c for c in load_closures(files) if isinstance(c, ArgocdClosure)}


def applications(files: Files, cluster: str) -> dict[str, Object]:
    return {document["metadata"]["name"]: document for document in build_argocd(folders(files)[cluster])[1:]}


def argocd_tree(files: Files) -> dict[str, bytes]:
    """The `argocd` folders that `render` writes, manifests included."""
    tree: dict[str, bytes] = {}
    for closure in folders(files).values():
        folder = build_folder(closure)
        tree |= {f"{folder.path}/{name}": data for name, data in folder.files.items()}
        tree[f"{folder.path}/{MANIFEST_NAME}"] = render_manifest(build_manifest(folder))
    return tree


def finished(files: Files, cluster: str) -> dict[str, tuple[Object, ...]]:
    """The finished objects of the cluster's platform and units; but those of a team's template, which need one run."""
    return {
        unit_name(closure): build_objects(closure)
        for closure in load_closures(files)
        if isinstance(closure, UnitClosure | PlatformClosure) and closure.on.cluster == cluster
        if isinstance(closure, PlatformClosure) or closure.envelope.spec.engine.template is None
    }


@pytest.mark.parametrize("files", VARIANTS.values(), ids=VARIANTS)
def test_argo_cd_takes_them(files: Files) -> None:
    wrong = {
        (cluster, document["metadata"]["name"]): problems
        for cluster, closure in folders(files).items()
        for document in build_argocd(closure)
        if (problems := object_errors(document, "1.36"))
    }
    assert wrong == {}


@pytest.mark.parametrize("files", VARIANTS.values(), ids=VARIANTS)
def test_real_kustomize_builds_them(files: Files, tmp_path: Path) -> None:
    write_files(tmp_path, argocd_tree(files))
    for cluster, closure in folders(files).items():
        assert build_for_real(tmp_path, f"overlays/{cluster}/argocd") == render_objects(build_argocd(closure))


RETRY = {"limit": 10, "backoff": {"duration": "10s", "factor": 2, "maxDuration": "5m"}}
LABELS = {"app.kubernetes.io/managed-by": "poolwright", "app.kubernetes.io/part-of": "inference-fleet"}


def metadata(name: str, cluster: str, **more: Any) -> Object:
    labels = {**LABELS, "poolwright.dev/cluster": cluster, **more.pop("labels", {})}
    return {"name": name, "namespace": "argocd", "labels": labels, **more}


def test_an_application_whose_replicas_somebody_else_sets() -> None:
    assert applications(FLEET, "east")["east-chat-70b"] == {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": metadata(
            "east-chat-70b",
            "east",
            labels={"poolwright.dev/unit": "chat-70b"},
            finalizers=["resources-finalizer.argocd.argoproj.io"],
        ),
        "spec": {
            "project": "inference-fleet-east",
            "source": {
                "repoURL": "https://git.example.com/platform/inference-fleet.git",
                "targetRevision": "main",
                "path": "overlays/east/chat-70b",
            },
            "destination": {"name": "east", "namespace": "chat"},
            "ignoreDifferences": [
                {
                    "group": "apps",
                    "kind": "Deployment",
                    "name": "chat-70b",
                    "namespace": "chat",
                    "jsonPointers": ["/spec/replicas"],
                }
            ],
            "syncPolicy": {
                "automated": {"prune": True, "selfHeal": True},
                "retry": RETRY,
                "syncOptions": ["RespectIgnoreDifferences=true", "ServerSideApply=true"],
            },
        },
    }


def test_an_application_that_the_plugin_renders() -> None:
    spec = applications(FLEET, "lab-alpha")["lab-alpha-guard-1b7"]["spec"]
    assert spec == {
        "project": "inference-fleet-lab-alpha",
        "source": {
            "repoURL": "https://git.example.com/platform/inference-fleet.git",
            "targetRevision": "main",
            "path": ".",
            "plugin": {
                "name": "poolwright",
                "parameters": [
                    {"name": "cluster", "string": "lab-alpha"},
                    {"name": "unit", "string": "guard-1b7"},
                ],
            },
        },
        "destination": {"name": "lab-alpha", "namespace": "guard"},
        "syncPolicy": {
            "automated": {"prune": True, "selfHeal": True},
            "retry": RETRY,
            "syncOptions": ["ServerSideApply=true"],
        },
    }


def test_an_application_that_is_delivered_from_a_release() -> None:
    """As the plugin's, and it says the release. Nothing else of the cluster's folder is another."""
    by_packet = edit(FLEET, PROJECT, ("delivery: plugin", "delivery: packet\n      release: 2026-11-30"))
    found, before = applications(by_packet, "lab-alpha"), applications(FLEET, "lab-alpha")
    for unit in ("guard-1b7", "platform"):
        parameters = found[f"lab-alpha-{unit}"]["spec"]["source"]["plugin"]["parameters"]
        assert parameters == [
            {"name": "cluster", "string": "lab-alpha"},
            {"name": "unit", "string": unit},
            {"name": "release", "string": "2026-11-30"},
        ]
        parameters.pop()
    assert found == before


def test_replicas_of_a_group_are_the_groups() -> None:
    (ignored,) = applications(VARIANTS["groups-that-scale"], "east")["east-reason-671b"]["spec"]["ignoreDifferences"]
    assert (ignored["group"], ignored["kind"]) == ("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
    assert "ignoreDifferences" not in applications(FLEET, "east")["east-reason-671b"]["spec"]


@pytest.mark.parametrize("files", [FLEET, VARIANTS["groups-that-scale"]], ids=["example", "groups-that-scale"])
def test_ignored_differences_are_of_workloads_that_are_rendered(files: Files) -> None:
    for cluster, closure in folders(files).items():
        units = finished(files, cluster)
        scaled = [unit for unit in closure.units if unit.scaled]
        assert bool(scaled) == (cluster == "east")
        for unit in scaled:
            rendered = [d for d in units[f"{cluster}/{unit.name}"] if "replicas" in d.get("spec", {})]
            assert [(d["kind"], d["metadata"]["name"], d["metadata"]["namespace"]) for d in rendered] == [
                (unit.scaled, unit.name, unit.namespace)
            ]


OPERATOR_VALUES = {
    "clusterPolicy": {"deployCR": False},
    "gpuCluster": {"deployCR": True},
    "operator": {"upgradeCRD": False},
    "dcgmExporter": {"enabled": True},
    "driver": {"enabled": True, "nvidiaDriverCRD": {"enabled": True}, "version": "595.91.07"},
    "draDriver": {
        "featureGates": {"ConsumableShares": True},
        "computeDomains": {"enabled": False},
        "gpus": {"kubeletPlugin": {"env": [{"name": "CONSUMABLE_SHARES", "value": "unlimited"}]}},
    },
}
COMPUTE_DOMAIN = {
    "group": "apiextensions.k8s.io",
    "kind": "CustomResourceDefinition",
    "name": "computedomains.resource.nvidia.com",
    "jsonPointers": [
        "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/numNodes",
        "/spec/versions/0/schema/openAPIV3Schema/properties/spec/required",
    ],
}


def test_the_operator() -> None:
    assert applications(FLEET, "lab-alpha")["lab-alpha-gpu-operator"] == {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": metadata(
            "lab-alpha-gpu-operator", "lab-alpha", annotations={"argocd.argoproj.io/sync-options": "Prune=confirm"}
        ),
        "spec": {
            "project": "inference-fleet-lab-alpha",
            "source": {
                "repoURL": "https://helm.ngc.nvidia.com/nvidia",
                "chart": "gpu-operator",
                "targetRevision": "v26.7.0",
                "helm": {
                    "releaseName": "gpu-operator",
                    "apiVersions": ["resource.k8s.io/v1/DeviceClass"],
                    "valuesObject": OPERATOR_VALUES,
                },
            },
            "destination": {"name": "lab-alpha", "namespace": "gpu-operator"},
            "ignoreDifferences": [COMPUTE_DOMAIN],
            "syncPolicy": {
                "automated": {"prune": True, "selfHeal": True},
                "retry": RETRY,
                "syncOptions": ["CreateNamespace=true", "RespectIgnoreDifferences=true", "ServerSideApply=true"],
                "managedNamespaceMetadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}},
            },
        },
    }


def test_a_cluster_policy_beside_the_drivers_chart() -> None:
    found = applications(POLICY, "east")
    operator, driver = found["east-gpu-operator"]["spec"], found["east-dra-driver-nvidia-gpu"]["spec"]
    assert operator["source"]["helm"] == {
        "releaseName": "gpu-operator",
        "valuesObject": {
            "clusterPolicy": {"deployCR": True},
            "gpuCluster": {"deployCR": False},
            "operator": {"upgradeCRD": False},
            "cdi": {"enabled": True},
            "dcgmExporter": {"enabled": True},
            "driver": {"enabled": True, "nvidiaDriverCRD": {"enabled": True}, "version": "580.173.02"},
            "toolkit": {"enabled": True, "version": "v1.20.0"},
            "devicePlugin": {"enabled": False},
        },
    }
    assert "managedNamespaceMetadata" not in operator["syncPolicy"]
    # Both charts bring the CRDs of ComputeDomains: the operator's are applied, and the driver's left out.
    assert operator["ignoreDifferences"] == [COMPUTE_DOMAIN]
    assert "ignoreDifferences" not in driver
    assert driver["source"] == {
        "repoURL": "registry.k8s.io/dra-driver-nvidia/charts",
        "chart": "dra-driver-nvidia-gpu",
        "targetRevision": "0.5.0",
        "helm": {
            "releaseName": "dra-driver-nvidia-gpu",
            "skipCrds": True,
            "valuesObject": {
                "nvidiaDriverRoot": "/run/nvidia/driver",
                "gpuResourcesEnabledOverride": True,
                "resourceApiVersion": "resource.k8s.io/v1",
                "resources": {"gpus": {"enabled": True}, "computeDomains": {"enabled": False}},
            },
        },
    }
    assert driver["destination"] == {"name": "east", "namespace": "dra-driver-nvidia-gpu"}


def test_the_drivers_chart_alone() -> None:
    found = applications(CHART_ONLY, "east")
    assert "east-gpu-operator" not in found
    spec = found["east-dra-driver-nvidia-gpu"]["spec"]
    assert spec["source"]["helm"]["valuesObject"] == {
        "nvidiaDriverRoot": "/",
        "gpuResourcesEnabledOverride": True,
        "resourceApiVersion": "resource.k8s.io/v1",
        "resources": {"gpus": {"enabled": True}, "computeDomains": {"imex": {"mode": "driverManaged"}}},
        "featureGates": {"CrashOnNVLinkFabricErrors": False},
        "consumableShares": "disabled",
    }
    assert "skipCrds" not in spec["source"]["helm"]
    assert spec["ignoreDifferences"] == [COMPUTE_DOMAIN]


def test_nobody_makes_partitions_beside_a_driver_that_destroys_them() -> None:
    charts = folders(VARIANTS["dynamic-mig-beside-a-policy"])["lab-alpha"].charts
    assert [chart.values.get("migManager") for chart in charts] == [None, {"enabled": False}]
    assert "migManager" not in folders(POLICY)["east"].charts[1].values


@pytest.mark.parametrize("files", VARIANTS.values(), ids=VARIANTS)
def test_charts_know_every_value_and_one_resource_is_deployed(files: Files) -> None:
    charts = [chart for closure in folders(files).values() for chart in closure.charts]
    assert charts
    for chart in charts:
        assert FACTS.unknown_helm_values(chart.chart, chart.version, chart.values) == ()
        if chart.chart == "gpu-operator":
            deployed = [chart.values[name]["deployCR"] for name in ("clusterPolicy", "gpuCluster")]
            assert sorted(deployed) == [False, True]
            # What the chart itself refuses.
            driver = chart.values["driver"]
            assert not (deployed[1] and driver["enabled"] and not driver["nvidiaDriverCRD"]["enabled"])


def test_a_value_that_a_chart_does_not_know_is_never_set() -> None:
    (stack,) = (s for s in parse_specs(list_specs(FLEET)).stacks if s.value.identity == "operator-26-7")
    tables = {name: FACTS._files[name] for name in FACT_FILES}
    tables["helm-values.json"] = tables["helm-values.json"].replace(b"operator.upgradeCRD", b"operator.upgradeCRDs")
    with pytest.raises(AssertionError, match=r"charts don't know \[\('gpu-operator', 'operator\.upgradeCRD'\)\]"):
        build_charts(stack.value.spec, "v1", parse_facts(tables))


PLATFORM_KINDS = {
    ("", "Namespace"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
    ("resource.k8s.io", "DeviceClass"),
    ("scheduling.k8s.io", "PriorityClass"),
}
# What the charts make beside it, as `helm template` of gpu-operator v26.7.0 and dra-driver-nvidia-gpu 0.5.0 prints.
CHART_KINDS = {
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
}
RESOURCES = {
    "example": {"GPUCluster", "NVIDIADriver"},
    "cluster-policy-and-a-chart": {"ClusterPolicy", "NVIDIADriver"},
    "chart-without-an-operator": set(),
    "driver-of-the-host": {"GPUCluster"},
    "driver-of-the-policy": {"ClusterPolicy"},
}


@pytest.mark.parametrize(("name", "resources"), RESOURCES.items(), ids=RESOURCES)
def test_the_project_permits_exactly_what_is_rendered_for_the_cluster(name: str, resources: set[str]) -> None:
    project = build_argocd(folders(VARIANTS[name])["east"])[0]
    assert group_kinds(project, "clusterResourceWhitelist") == {
        *PLATFORM_KINDS,
        *CHART_KINDS,
        *(("nvidia.com", kind) for kind in resources),
    }
    for cluster, closure in folders(VARIANTS[name]).items():
        project, *found = build_argocd(closure)
        rendered = [document for objects in finished(VARIANTS[name], cluster).values() for document in objects]
        spaces = {destination["namespace"] for destination in project["spec"]["destinations"]}
        namespaced = [document for document in rendered if "namespace" in document["metadata"]]
        assert {document["metadata"]["namespace"] for document in namespaced} <= spaces
        assert {group_kind(document) for document in namespaced} <= group_kinds(project, "namespaceResourceWhitelist")
        assert {group_kind(document) for document in rendered if document not in namespaced} == PLATFORM_KINDS
        for application in found:
            assert application["spec"]["destination"] in project["spec"]["destinations"]
            assert application["spec"]["source"]["repoURL"] in project["spec"]["sourceRepos"]
            assert application["spec"]["project"] == project["metadata"]["name"]


def group_kind(document: Object) -> tuple[str, str]:
    return document["apiVersion"].rpartition("/")[0], document["kind"]


def group_kinds(project: Object, field: str) -> set[tuple[str, str]]:
    return {(entry["group"], entry["kind"]) for entry in project["spec"][field]}


def test_the_project_grants_nothing_to_units() -> None:
    """Kinds that grant rights come with the charts that need them, and no Secret is rendered at all."""
    files = edit(CHART_ONLY, BASELINE, ("install: chart", "install: external"), (_EXTERNAL_SETTINGS, ""))
    project = build_argocd(folders(files)["east"])[0]
    assert group_kinds(project, "clusterResourceWhitelist") == PLATFORM_KINDS
    kinds = {kind for _, kind in group_kinds(project, "namespaceResourceWhitelist")}
    assert kinds.isdisjoint({"Secret", "Role", "RoleBinding", "DaemonSet"})
    assert project["spec"]["sourceRepos"] == ["https://git.example.com/platform/inference-fleet.git"]


_EXTERNAL_SETTINGS = "      settings: {imexMode: driverManaged, consumableShares: disabled}"


def test_where_argo_cd_is_and_how_it_calls_the_cluster() -> None:
    project, *found = build_argocd(folders(VARIANTS["another-argo-cd"])["east"])
    assert {document["metadata"]["namespace"] for document in (project, *found)} == {"gitops"}
    assert {d["server"] for d in project["spec"]["destinations"]} == {"https://east.example.com:6443"}
    units = [document["spec"] for document in found if "path" in document["spec"]["source"]]
    assert {spec["destination"]["server"] for spec in units} == {"https://east.example.com:6443"}
    assert {(spec["source"]["repoURL"], spec["source"]["targetRevision"]) for spec in units} == {
        ("https://git.example.com/platform/fleet.git", "v1")
    }


def changed(before: Files, after: Files) -> set[str]:
    """Files of `argocd` folders that differ."""
    old, new = argocd_tree(before), argocd_tree(after)
    return {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}


MANIFEST = "overlays/east/argocd/poolwright-manifest.json"
KUSTOMIZATION = "overlays/east/argocd/kustomization.yaml"
_GUARD = "apiVersion: poolwright.dev/v1alpha1\nkind: Placement\nmetadata: {name: guard-1b7}\n"
# A change, and the files of `argocd` folders that it reaches.
REACHED = {
    "who-sets-the-replicas": (
        edit(FLEET, EAST, ("  maxReplicas: 3\n", "")),
        {MANIFEST, "overlays/east/argocd/east-chat-70b.yaml"},
    ),
    "promotion": (edit(FLEET, "specs/placements/lab.yaml", ("version: 2.4.0", "version: 2.3.0")), set()),
    "placement-renamed": (
        edit(FLEET, EAST, (_GUARD, _GUARD.replace("guard-1b7", "guard-2"))),
        {
            MANIFEST,
            KUSTOMIZATION,
            "overlays/east/argocd/east-guard-1b7.yaml",
            "overlays/east/argocd/east-guard-2.yaml",
        },
    ),
    "serving-image": (edit(FLEET, BASELINE, ("v0.33.0", "v0.33.1")), set()),
    "one-cluster-more": (
        edit(
            FLEET,
            PROJECT,
            ("  clusters:\n", "  clusters:\n    - {name: west, stackName: operator-26-7, destination: {name: west}}\n"),
        ),
        {
            f"overlays/west/argocd/{name}"
            for name in (
                "appproject.yaml",
                "kustomization.yaml",
                "poolwright-manifest.json",
                "west-gpu-operator.yaml",
            )
        },
    ),
    "operator-elsewhere": (
        edit(FLEET, SHARES, ("mode: gpuCluster", "mode: gpuCluster\n    namespace: nvidia")),
        {
            f"overlays/lab-alpha/argocd/{name}"
            for name in ("appproject.yaml", "lab-alpha-gpu-operator.yaml", "poolwright-manifest.json")
        },
    ),
}


@pytest.mark.parametrize(("files", "reached"), REACHED.values(), ids=REACHED)
def test_what_a_change_reaches(files: Files, reached: set[str]) -> None:
    assert changed(FLEET, files) == reached


def test_order_means_nothing() -> None:
    specs = parse_specs(list_specs(FLEET))
    resolved = [r for r in (resolve_placement(specs, p)[0] for p in specs.placements) if r]
    east = [placement for placement in resolved if placement.on.cluster.name == "east"]
    pools = [pool for pool in specs.pools if pool.value.spec.cluster_name == "east"]
    built = [
        build_argocd_closure(east[0].on, pools[::step], east[::step], resource_api="v1", facts=FACTS)
        for step in (1, -1)
    ]
    assert built[0] == built[1] == folders(FLEET)["east"]


# What a placement of lab is called, and whose Application has the name: the placement's, and another's.
CLASHES = {
    "unit-like-a-chart": ("gpu-operator", ("lab/gpu-operator", "the chart gpu-operator of lab")),
    "names-that-read-in-two-ways": ("alpha-guard-1b7", ("lab-alpha/guard-1b7", "lab/alpha-guard-1b7")),
    "platform-of-another-cluster": ("alpha-platform", ("lab/alpha-platform", "the platform of lab-alpha")),
    "none": ("alpha", None),
}


@pytest.mark.parametrize(("unit", "clash"), CLASHES.values(), ids=CLASHES)
def test_names_that_clash(unit: str, clash: tuple[str, str] | None) -> None:
    specs = parse_specs(
        list_specs(edit(FLEET, "specs/placements/lab.yaml", ("{name: chat-70b}\n", f"{{name: {unit}}}\n")))
    )
    resolved = [r for r in (resolve_placement(specs, p)[0] for p in specs.placements) if r]
    said = [f'the Application of {clash[0]} would be called "lab-{unit}", as that of {clash[1]}'] if clash else []
    assert [finding.what for finding in check_applications(specs, resolved)] == said


BY_PLUGIN = {"rendered": "delivery: plugin", "released": "delivery: packet\n      release: r1"}


@pytest.mark.parametrize("delivery", BY_PLUGIN.values(), ids=BY_PLUGIN)
def test_what_the_plugin_prints_is_written_only_elsewhere(delivery: str, tmp_path: Path) -> None:
    fleet = edit(FLEET, PROJECT, ("delivery: plugin", delivery))
    project = write_files(tmp_path / "fleet", fleet)
    assert run("render", "--cluster", "lab-alpha", folder=project).code == 0
    assert read_folders(project) == {"base/guard-1b7/1.0.0", "lab-alpha/argocd"}
    ran = run("render", "--cluster", "lab-alpha", "--out", str(tmp_path / "out"), folder=project)
    assert ran.code == 0
    assert read_folders(tmp_path / "out") == {
        "base/guard-1b7/1.0.0",
        "lab-alpha/argocd",
        "lab-alpha/guard-1b7",
        "lab-alpha/platform",
    }
    # Delivered by commits first, and then by the plugin: what was committed goes, for two truths may differ.
    write_files(project, edit(fleet, PROJECT, (delivery, "delivery: committed")))
    assert run("render", "--cluster", "lab-alpha", folder=project).code == 0
    assert "lab-alpha/platform" in read_folders(project)
    write_files(project, fleet)
    assert run("render", "--check", "--cluster", "lab-alpha", folder=project).code == 1
    assert run("render", "--cluster", "lab-alpha", folder=project).code == 0
    assert read_folders(project) == {"base/guard-1b7/1.0.0", "lab-alpha/argocd"}


def read_folders(root: Path) -> set[str]:
    suffix = "/poolwright-manifest.json"
    return {p.removeprefix("overlays/").removesuffix(suffix) for p in read_files(root) if p.endswith(suffix)}


def test_a_cluster_without_pools_has_no_platform() -> None:
    files, _ = REACHED["one-cluster-more"]
    assert list(applications(files, "west")) == ["west-gpu-operator"]
    assert not any(isinstance(c, PlatformClosure) and c.on.cluster == "west" for c in load_closures(files))
