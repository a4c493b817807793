"""Helm Applications: the GPU operator and the DRA driver, with the traps of their charts taken care of."""

from __future__ import annotations

from typing import Final

from poolwright.catalog.charts import Chart
from poolwright.objects.kubernetes import Object

# What the charts make, hooks included, by the charts' templates at gpu-operator v26.7.0 (with node-feature-discovery
# 0.19.0) and dra-driver-nvidia-gpu 0.5.0. The operator makes more at run time, and not through Argo CD.
CLUSTER_KINDS: Final = {
    "gpu-operator": (
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("rbac.authorization.k8s.io", "ClusterRole"),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ),
    "dra-driver-nvidia-gpu": (
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("rbac.authorization.k8s.io", "ClusterRole"),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        ("resource.k8s.io", "DeviceClass"),
    ),
}
NAMESPACED_KINDS: Final = {
    "gpu-operator": (
        ("", "ConfigMap"),
        ("", "ServiceAccount"),
        ("apps", "DaemonSet"),
        ("apps", "Deployment"),
        ("batch", "Job"),
        ("rbac.authorization.k8s.io", "Role"),
        ("rbac.authorization.k8s.io", "RoleBinding"),
    ),
    "dra-driver-nvidia-gpu": (
        ("", "ServiceAccount"),
        ("apps", "DaemonSet"),
        ("apps", "Deployment"),
        ("rbac.authorization.k8s.io", "Role"),
        ("rbac.authorization.k8s.io", "RoleBinding"),
    ),
}
# The copies of this CRD differ in whether numNodes may be left out (NVIDIA/aicr 2546): the one that is there stays.
_COMPUTE_DOMAIN: Final = "computedomains.resource.nvidia.com"
_COMPUTE_DOMAIN_SPEC: Final = "/spec/versions/0/schema/openAPIV3Schema/properties/spec"
_COMPUTE_DOMAIN_DIFFERENCES: Final = ("/properties/numNodes", "/required")


def build_helm_source(chart: Chart) -> Object:
    """The source of a chart's Application. Values as an object: nothing in them is read as YAML a second time."""
    helm: Object = {"releaseName": chart.chart, "valuesObject": chart.values}
    if chart.api_versions:
        helm["apiVersions"] = list(chart.api_versions)
    if chart.skip_crds:
        helm["skipCrds"] = True
    return {"repoURL": chart.repo_url, "chart": chart.chart, "targetRevision": chart.version, "helm": helm}


def list_helm_differences(chart: Chart) -> list[Object]:
    """What a chart's Application doesn't compare."""
    if not chart.compute_domain_crd:
        return []
    return [
        {
            "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition",
            "name": _COMPUTE_DOMAIN,
            "jsonPointers": [_COMPUTE_DOMAIN_SPEC + pointer for pointer in _COMPUTE_DOMAIN_DIFFERENCES],
        }
    ]


def build_helm_namespace(chart: Chart) -> Object:
    """What a sync policy says of a chart's namespace, which Argo CD makes: no unit renders it.

    The operator labels it for claims with adminAccess, which its validator and its exporter use; said here too, no
    sync takes the label away.
    """
    labels = {"resource.kubernetes.io/admin-access": "true"} if chart.admin_access else {}
    return {"managedNamespaceMetadata": {"labels": labels}} if labels else {}


def list_custom_resources(chart: Chart) -> list[tuple[str, str]]:
    """Groups and kinds of the operator's own resources that its chart makes, by the switches that are on."""
    values = chart.values
    switches = {
        "ClusterPolicy": values.get("clusterPolicy", {}).get("deployCR"),
        "GPUCluster": values.get("gpuCluster", {}).get("deployCR"),
        "NVIDIADriver": values.get("driver", {}).get("nvidiaDriverCRD", {}).get("enabled"),
    }
    return [("nvidia.com", kind) for kind, on in switches.items() if on]
