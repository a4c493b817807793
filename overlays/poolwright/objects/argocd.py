"""A cluster's Argo CD objects: what its Applications may touch, and one Application per unit, platform and chart."""

from __future__ import annotations

from typing import Final

from poolwright.catalog.argocd_closure import ArgocdClosure, ArgocdUnit, application_name
from poolwright.catalog.charts import Chart
from poolwright.catalog.closure import PLATFORM_UNIT
from poolwright.objects.dashboard import DASHBOARD_NAMESPACE
from poolwright.objects.helm import (
    CLUSTER_KINDS,
    NAMESPACED_KINDS,
    build_helm_namespace,
    build_helm_source,
    list_custom_resources,
    list_helm_differences,
)
from poolwright.objects.kubernetes import MANAGED_BY, PART_OF, SYNC_OPTIONS, UNIT, Object

CLUSTER: Final = "poolwright.dev/cluster"
PLUGIN: Final = "poolwright"
_API: Final = "argoproj.io/v1alpha1"
_FINALIZER: Final = "resources-finalizer.argocd.argoproj.io"
# Cluster-scoped kinds of platform units.
_CLUSTER_KINDS: Final = (
    ("", "Namespace"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
    ("resource.k8s.io", "DeviceClass"),
    ("scheduling.k8s.io", "PriorityClass"),
)
# Kinds that units render, and what a team's own component may add beside them. No Secret, and nothing that grants.
UNIT_KINDS: Final = (
    ("", "ConfigMap"),
    ("", "ResourceQuota"),
    ("", "Service"),
    ("", "ServiceAccount"),
    ("apps", "Deployment"),
    ("autoscaling", "HorizontalPodAutoscaler"),
    ("batch", "CronJob"),
    ("batch", "Job"),
    ("gateway.networking.k8s.io", "HTTPRoute"),
    ("inference.networking.k8s.io", "InferencePool"),
    ("inference.networking.x-k8s.io", "InferenceObjective"),
    ("keda.sh", "ScaledObject"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
    ("monitoring.coreos.com", "PodMonitor"),
    ("monitoring.coreos.com", "PrometheusRule"),
    ("networking.k8s.io", "NetworkPolicy"),
    ("policy", "PodDisruptionBudget"),
    ("resource.k8s.io", "ResourceClaim"),
    ("resource.k8s.io", "ResourceClaimTemplate"),
)
_WORKLOAD_GROUPS: Final = {"Deployment": "apps", "LeaderWorkerSet": "leaderworkerset.x-k8s.io"}


def build_argocd(closure: ArgocdClosure) -> tuple[Object, ...]:
    """The AppProject, then the Applications by name. All stand in Argo CD's own namespace, on its own cluster."""
    applications = [_build_unit(unit, closure) for unit in closure.units]
    applications += [_build_chart(chart, closure) for chart in closure.charts]
    if closure.namespaces:
        applications.append(_build_platform(closure))
    return (
        _build_project(closure),
        *sorted(applications, key=lambda application: str(application["metadata"]["name"])),
    )


def _build_project(closure: ArgocdClosure) -> Object:
    """What the cluster's Applications may take objects from, and put where. Nothing in it follows from a placement."""
    charts = closure.charts
    cluster_kinds = {kind for chart in charts for kind in CLUSTER_KINDS[chart.chart]}
    cluster_kinds |= set(_CLUSTER_KINDS if closure.namespaces else ())
    cluster_kinds |= {kind for chart in charts for kind in list_custom_resources(chart)}
    namespaced = {*UNIT_KINDS, *(kind for chart in charts for kind in NAMESPACED_KINDS[chart.chart])}
    namespaces = {*closure.namespaces, *(chart.namespace for chart in charts)}
    namespaces |= {DASHBOARD_NAMESPACE} if closure.namespaces else set()
    return {
        "apiVersion": _API,
        "kind": "AppProject",
        "metadata": {
            "name": _project_name(closure),
            "namespace": closure.argocd.namespace,
            "labels": _labels(closure),
            # An AppProject that goes before its Applications leaves them stuck.
            "finalizers": [_FINALIZER],
        },
        "spec": {
            "description": f"{closure.on.project} on the cluster {closure.on.cluster}",
            "sourceRepos": sorted({closure.argocd.repo_url, *(chart.repo_url for chart in charts)}),
            "destinations": [_destination(closure, namespace) for namespace in sorted(namespaces)],
            "clusterResourceWhitelist": _group_kinds(cluster_kinds),
            "namespaceResourceWhitelist": _group_kinds(namespaced),
        },
    }


def _build_unit(unit: ArgocdUnit, closure: ArgocdClosure) -> Object:
    differences: list[Object] = []
    if unit.scaled:
        # Somebody else sets the number; the rendered one is only where it starts.
        differences.append(
            {
                "group": _WORKLOAD_GROUPS[unit.scaled],
                "kind": unit.scaled,
                "name": unit.name,
                "namespace": unit.namespace,
                "jsonPointers": ["/spec/replicas"],
            }
        )
    return _build_application(
        closure, unit.name, _unit_source(unit.name, closure), unit.namespace, differences, {UNIT: unit.name}
    )


def _build_platform(closure: ArgocdClosure) -> Object:
    application = _build_application(
        closure,
        PLATFORM_UNIT,
        _unit_source(PLATFORM_UNIT, closure),
        DASHBOARD_NAMESPACE,
        [],
        {UNIT: PLATFORM_UNIT},
    )
    # Its end takes every namespace, and so every model, along.
    return _confirm(application)


def _build_chart(chart: Chart, closure: ArgocdClosure) -> Object:
    application = _build_application(
        closure, chart.chart, build_helm_source(chart), chart.namespace, list_helm_differences(chart), {}
    )
    # Without the driver no claim of the cluster can be prepared or let go: its end is a person's decision, and what
    # the chart made stays until its own clean-up ran.
    del application["metadata"]["finalizers"]
    policy = application["spec"]["syncPolicy"]
    policy["syncOptions"] = ["CreateNamespace=true", *policy["syncOptions"]]
    policy |= build_helm_namespace(chart)
    return _confirm(application)


def _confirm(application: Object) -> Object:
    application["metadata"]["annotations"] = {SYNC_OPTIONS: "Prune=confirm"}
    return application


def _build_application(
    closure: ArgocdClosure,
    name: str,
    source: Object,
    namespace: str,
    differences: list[Object],
    labels: dict[str, str],
) -> Object:
    # Nothing orders Applications: one that is synced before its namespace or CRD exists fails, and is tried again.
    options = [*(["RespectIgnoreDifferences=true"] if differences else []), "ServerSideApply=true"]
    return {
        "apiVersion": _API,
        "kind": "Application",
        "metadata": {
            "name": application_name(closure.on.cluster, name),
            "namespace": closure.argocd.namespace,
            "labels": {**_labels(closure), **labels},
            "finalizers": [_FINALIZER],
        },
        "spec": {
            "project": _project_name(closure),
            "source": source,
            "destination": _destination(closure, namespace),
            **({"ignoreDifferences": differences} if differences else {}),
            "syncPolicy": {
                "automated": {"prune": True, "selfHeal": True},
                "retry": {"limit": 10, "backoff": {"duration": "10s", "factor": 2, "maxDuration": "5m"}},
                "syncOptions": options,
            },
        },
    }


def _unit_source(unit: str, closure: ArgocdClosure) -> Object:
    """The unit's committed folder, or the plugin that renders it or takes it from a release; named, so that no other
    plugin is asked."""
    said = closure.argocd
    source: Object = {"repoURL": said.repo_url, "targetRevision": said.target_revision}
    if closure.delivery == "committed":
        return {**source, "path": f"overlays/{closure.on.cluster}/{unit}"}
    parameters = [{"name": "cluster", "string": closure.on.cluster}, {"name": "unit", "string": unit}]
    if closure.release is not None:
        parameters.append({"name": "release", "string": closure.release})
    return {**source, "path": ".", "plugin": {"name": PLUGIN, "parameters": parameters}}


def _destination(closure: ArgocdClosure, namespace: str) -> Object:
    said = closure.destination
    found = {"name": said.name, "server": said.server, "namespace": namespace}
    return {key: value for key, value in found.items() if value is not None}


def _project_name(closure: ArgocdClosure) -> str:
    return f"{closure.on.project}-{closure.on.cluster}"


def _labels(closure: ArgocdClosure) -> dict[str, str]:
    return {**MANAGED_BY, PART_OF: closure.on.project, CLUSTER: closure.on.cluster}


def _group_kinds(kinds: set[tuple[str, str]]) -> list[Object]:
    return [{"group": group, "kind": kind} for group, kind in sorted(kinds)]
