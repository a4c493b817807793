"""What a team's own component may do to its unit: each case is a component, built with the unit by real Kustomize."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from fleet import load_placement, read_fleet
from poolwright.catalog.closure import UnitClosure
from poolwright.cli.custom import apply_custom, judge_customs, parse_built
from poolwright.files.custom import Custom
from poolwright.kustomize.custom import build_alone, build_custom
from poolwright.kustomize.find import Kustomize, find_kustomize
from poolwright.objects.kubernetes import Object
from poolwright.objects.unit import build_objects
from poolwright.specs.digest import digest_folder
from poolwright.specs.finding import Finding, SpecError, render_text
from poolwright.trees.custom import check_custom
from poolwright.trees.tree import unit_name
from poolwright.trees.yaml_text import render_objects

FLEET = read_fleet()
COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"


def component(unit: str, body: str, **files: str) -> tuple[UnitClosure, Custom]:
    """A unit of east with this component in the place of its own; `a__b` stands for the file a.b."""
    named = {name.replace("__", "."): text.encode() for name, text in files.items()}
    named["kustomization.yaml"] = (COMPONENT + body).encode()
    digest = digest_folder(named)
    closure = msgspec.structs.replace(load_placement(FLEET, "east", unit), custom=digest)
    return closure, Custom(path=f"custom/east/{unit}", files=named, digest=digest)


def judge(unit: str, body: str, **files: str) -> list[Finding]:
    closure, custom = component(unit, body, **files)
    return judge_customs([closure], {unit_name(closure): custom})


def headlines(findings: list[Finding]) -> list[str]:
    return [f"{finding.place.field} | {finding.what} [{finding.code}]" for finding in findings]


def patch(unit: str, spec: str, kind: str = "Deployment") -> str:
    """A component with one strategic merge patch of the unit's workload."""
    indented = "".join(f"    {line}\n" for line in f"kind: {kind}\nmetadata: {{name: {unit}}}\n{spec}".splitlines())
    version = "v1" if kind == "Service" else "apps/v1"
    return f"patches:\n- patch: |\n    apiVersion: {version}\n{indented}  target: {{kind: {kind}, name: {unit}}}\n"


def pod(spec: str) -> str:
    """A patch of chat-70b's pods."""
    return patch("chat-70b", f"spec: {{template: {{spec: {{{spec}}}}}}}")


def operation(kind: str, **operation: Any) -> str:
    """A component with one JSON patch of one operation."""
    return f"patches:\n- target: {{kind: {kind}}}\n  patch: '{json.dumps([operation])}'\n"


def tolerate(**toleration: str) -> str:
    """A component that adds a toleration to those of the pool."""
    return operation("Deployment", op="add", path="/spec/template/spec/tolerations/-", value=toleration)


def added(text: str) -> dict[str, str]:
    return {"added__yaml": text}


def workload(kind: str, name: str, claim: str, *, namespace: str = "search") -> str:
    """A job or the like that uses a claim."""
    spec = (
        f"restartPolicy: Never, resourceClaims: [{{name: d, {claim}}}], "
        "containers: [{name: main, image: 'x:1.0', resources: {claims: [{name: d}]}}]"
    )
    metadata = f"metadata: {{name: {name}, namespace: {namespace}}}"
    return f"apiVersion: batch/v1\nkind: {kind}\n{metadata}\nspec: {{template: {{spec: {{{spec}}}}}}}\n"


ADD = "resources: [added.yaml]\n"
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: mine, namespace: {}}}\n"

ALLOWED: dict[str, tuple[str, str, dict[str, str]]] = {
    "nothing": ("chat-70b", "images: [{name: absent, newTag: x}]\n", {}),
    "an-object": ("chat-70b", ADD, added(CONFIG.format("chat"))),
    "a-generated-object": (
        "chat-70b",
        "configMapGenerator: [{name: mine, namespace: chat, literals: [a=b]}]\n",
        {},
    ),
    "labels": ("chat-70b", "labels: [{pairs: {team: x}, includeTemplates: true}]\n", {}),
    "annotations": ("chat-70b", "commonAnnotations: {a.example.com/b: c}\n", {}),
    "a-variable": ("chat-70b", pod("containers: [{name: engine, env: [{name: A, value: b}]}]"), {}),
    "a-volume": (
        "chat-70b",
        pod(
            "volumes: [{name: x, emptyDir: {}}], containers: [{name: engine, volumeMounts: [{name: x, mountPath: /x}]}]"
        ),
        {},
    ),
    "a-sidecar": (
        "chat-70b",
        pod("containers: [{name: proxy, image: 'proxy:1.0', ports: [{containerPort: 9000}]}]"),
        {},
    ),
    "an-init-container": ("chat-70b", pod("initContainers: [{name: wait, image: 'wait:1.0'}]"), {}),
    "a-grace-period": ("chat-70b", pod("terminationGracePeriodSeconds: 300"), {}),
    "a-toleration": (
        "chat-70b",
        tolerate(key="spot", operator="Exists"),
        {},
    ),
    "a-sidecar-in-a-group": (
        "reason-671b",
        operation(
            "LeaderWorkerSet",
            op="add",
            path="/spec/leaderWorkerTemplate/workerTemplate/spec/containers/-",
            value={"name": "proxy", "image": "proxy:1.0"},
        ),
        {},
    ),
    "the-listed-consumer": (
        "rewrite-0b6",
        "resources: [rewrite-eval.yaml]\n",
        {"rewrite-eval__yaml": FLEET["custom/east/rewrite-0b6/rewrite-eval.yaml"].decode()},
    ),
    "an-autoscaler-within-the-placement": (
        "chat-70b",
        ADD,
        added(
            "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: x, namespace: chat}\n"
            "spec: {minReplicas: 2, maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: chat-70b}}\n"
        ),
    ),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_what_a_component_may_do(name: str) -> None:
    unit, body, files = ALLOWED[name]
    closure, custom = component(unit, body, **files)
    built = apply_custom(closure, custom)
    assert (built != render_objects(build_objects(closure))) is (name != "nothing")


DEPLOYMENT = "Deployment/chat-70b: spec.template.spec."
FORBIDDEN: dict[str, tuple[str, str, dict[str, str], tuple[str, ...]]] = {
    "replicas": (
        "chat-70b",
        "replicas: [{name: chat-70b, count: 9}]\n",
        {},
        ("Deployment/chat-70b: spec.replicas | the component changes spec.replicas of the unit's Deployment",),
    ),
    "the-serving-image": (
        "chat-70b",
        "images: [{name: registry.example.com/serving/vllm-openai, newTag: v9}]\n",
        {},
        (f"{DEPLOYMENT}containers[engine].image | the component changes",),
    ),
    "arguments": (
        "chat-70b",
        pod("containers: [{name: engine, args: [--x]}]"),
        {},
        (f"{DEPLOYMENT}containers[engine].args | the component changes",),
    ),
    "the-command": (
        "chat-70b",
        pod("containers: [{name: engine, command: [sh]}]"),
        {},
        (f"{DEPLOYMENT}containers[engine].command | the component changes",),
    ),
    "resources-of-the-engine": (
        "chat-70b",
        pod("containers: [{name: engine, resources: {limits: {memory: 1Gi}}}]"),
        {},
        (f"{DEPLOYMENT}containers[engine].resources.limits",),
    ),
    "the-claim-of-the-engine": (
        "chat-70b",
        pod("containers: [{name: engine, resources: {claims: [{name: other}]}}]"),
        {},
        (
            f"{DEPLOYMENT}containers[engine].resources.claims[devices] | the component removes",
            f"{DEPLOYMENT}containers[engine].resources.claims[other] | the component adds",
        ),
    ),
    "a-probe": (
        "chat-70b",
        pod("containers: [{name: engine, startupProbe: {failureThreshold: 1}}]"),
        {},
        (f"{DEPLOYMENT}containers[engine].startupProbe.failureThreshold | the component changes",),
    ),
    "a-variable-of-ours": (
        "chat-70b",
        pod("containers: [{name: engine, env: [{name: POOLWRIGHT_UNIT, value: x}]}]"),
        {},
        (f"{DEPLOYMENT}containers[engine].env",),
    ),
    "a-variable-that-looks-like-ours": (
        "chat-70b",
        pod("containers: [{name: engine, env: [{name: POOLWRIGHT_X, value: x}]}]"),
        {},
        (f"{DEPLOYMENT}containers[engine].env[POOLWRIGHT_X] | the component adds",),
    ),
    "a-sidecar-with-such-a-variable": (
        "chat-70b",
        pod("containers: [{name: p, image: 'p:1.0', env: [{name: POOLWRIGHT_UNIT, value: x}]}]"),
        {},
        (f"{DEPLOYMENT}containers[p] | the component adds",),
    ),
    "variables-from-elsewhere": (
        "chat-70b",
        pod("containers: [{name: engine, envFrom: [{secretRef: {name: x}}]}]"),
        {},
        (f"{DEPLOYMENT}containers[engine].envFrom | the component adds",),
    ),
    "a-sidecar-with-the-claim": (
        "chat-70b",
        pod("containers: [{name: p, image: 'p:1.0', resources: {claims: [{name: devices}]}}]"),
        {},
        (f"{DEPLOYMENT}containers[p] | the component adds",),
    ),
    "a-sidecar-with-a-gpu": (
        "chat-70b",
        pod("containers: [{name: p, image: 'p:1.0', resources: {limits: {nvidia.com/gpu: 1}}}]"),
        {},
        (f'{DEPLOYMENT}containers[0].resources.limits["nvidia.com/gpu"] | container "p" asks for nvidia.com/gpu: 1',),
    ),
    "a-privileged-sidecar": (
        "chat-70b",
        pod("containers: [{name: p, image: 'p:1.0', securityContext: {privileged: true}}]"),
        {},
        (f'{DEPLOYMENT}containers[0].securityContext.privileged | container "p" is privileged',),
    ),
    "a-volume-of-devices": (
        "chat-70b",
        pod("volumes: [{name: dev, hostPath: {path: /dev/../dev/}}]"),
        {},
        (f'{DEPLOYMENT}volumes[0].hostPath.path | volume "dev" mounts /dev/../dev/ of the node',),
    ),
    "a-variable-that-asks-for-devices": (
        "chat-70b",
        pod("containers: [{name: engine, env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]}]"),
        {},
        (f'{DEPLOYMENT}containers[0].env[0] | container "engine" asks the container runtime for devices',),
    ),
    "another-volume-of-the-model": (
        "chat-70b",
        pod("volumes: [{name: models, persistentVolumeClaim: {claimName: other}}]"),
        {},
        (f"{DEPLOYMENT}volumes[models].persistentVolumeClaim.claimName | the component changes",),
    ),
    "a-mount-over-the-model": (
        "chat-70b",
        pod(
            "volumes: [{name: x, emptyDir: {}}], "
            "containers: [{name: engine, volumeMounts: [{name: x, mountPath: /models/llama}]}]"
        ),
        {},
        (f"{DEPLOYMENT}containers[engine].volumeMounts[/models/llama] | the component adds",),
    ),
    "a-node-selector": (
        "chat-70b",
        pod("nodeSelector: {gpu: h100}"),
        {},
        (f"{DEPLOYMENT}nodeSelector | the component adds",),
    ),
    "affinity": ("chat-70b", pod("affinity: {nodeAffinity: {}}"), {}, (f"{DEPLOYMENT}affinity | the component adds",)),
    "a-priority": (
        "chat-70b",
        pod("priorityClassName: system-node-critical"),
        {},
        (f"{DEPLOYMENT}priorityClassName | the component changes",),
    ),
    "the-pools-tolerations-lost": (
        "chat-70b",
        pod("tolerations: [{key: spot, operator: Exists}]"),
        {},
        (f"{DEPLOYMENT}tolerations",),
    ),
    "a-toleration-of-all": (
        "chat-70b",
        tolerate(operator="Exists"),
        {},
        (f"{DEPLOYMENT}tolerations",),
    ),
    "a-toleration-of-a-device-taint": (
        "chat-70b",
        tolerate(key="gpu.nvidia.com/unhealthy", operator="Exists"),
        {},
        (f"{DEPLOYMENT}tolerations",),
    ),
    "a-label-of-ours": (
        "chat-70b",
        "labels: [{pairs: {poolwright.dev/tier: batch}, includeTemplates: true}]\n",
        {},
        (
            'ConfigMap/chat-70b-envelope: metadata.labels["poolwright.dev/tier"] | the component adds',
            'Deployment/chat-70b: metadata.labels["poolwright.dev/tier"] | the component changes',
            'Deployment/chat-70b: spec.template.metadata.labels["poolwright.dev/tier"] | the component changes',
        ),
    ),
    "selectors": (
        "chat-70b",
        "commonLabels: {team: x}\n",
        {},
        ("Deployment/chat-70b: spec.selector.matchLabels.team | the component adds",),
    ),
    "a-sync-wave": (
        "chat-70b",
        "commonAnnotations: {argocd.argoproj.io/sync-wave: '-9'}\n",
        {},
        ('Deployment/chat-70b: metadata.annotations["argocd.argoproj.io/sync-wave"] | the component changes',),
    ),
    "a-prefix": (
        "chat-70b",
        "namePrefix: my-\n",
        {},
        ('Deployment/chat-70b | the component removes or renames the unit\'s Deployment "chat-70b"',),
    ),
    "an-object-removed": (
        "chat-70b",
        "patches:\n- patch: '{apiVersion: v1, kind: Service, metadata: {name: chat-70b}, $patch: delete}'\n"
        "  target: {kind: Service, name: chat-70b}\n",
        {},
        ('Service/chat-70b | the component removes or renames the unit\'s Service "chat-70b"',),
    ),
    "a-port-of-the-service": (
        "chat-70b",
        patch("chat-70b", "spec: {type: LoadBalancer}", "Service"),
        {},
        ("Service/chat-70b: spec.type | the component adds",),
    ),
    "the-claim-template": (
        "chat-70b",
        operation("ResourceClaimTemplate", op="replace", path="/spec/spec/devices/requests/0/exactly/count", value=8),
        {},
        ("spec.spec.devices.requests[gpu].exactly.count | the component changes",),
    ),
    "the-record": (
        "chat-70b",
        operation("ConfigMap", op="add", path="/data/more", value="x"),
        {},
        ("ConfigMap/chat-70b-envelope: data.more | the component adds",),
    ),
    "the-size-of-a-group": (
        "reason-671b",
        operation("LeaderWorkerSet", op="replace", path="/spec/leaderWorkerTemplate/size", value=9),
        {},
        ("LeaderWorkerSet/reason-671b: spec.leaderWorkerTemplate.size | the component changes",),
    ),
    "an-object-in-another-namespace": (
        "chat-70b",
        ADD,
        added(CONFIG.format("kube-system")),
        ('ConfigMap/mine: metadata | the component adds the ConfigMap "mine" in namespace kube-system',),
    ),
    "an-object-of-the-cluster": (
        "chat-70b",
        ADD,
        added("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: mine}\n"),
        (
            'ClusterRole/mine:  | the component adds the ClusterRole "mine", which isn\'t a kind that units have '
            "[custom-forbidden]",
        ),
    ),
    "an-object-of-our-unit": (
        "chat-70b",
        ADD,
        added(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x, namespace: chat}\nspec:\n"
            "  template:\n    metadata: {labels: {poolwright.dev/unit: chat-70b}}\n"
            "    spec: {containers: [{name: a, image: 'a:1.0'}]}\n"
        ),
        ('Deployment/x: spec.template.metadata.labels["poolwright.dev/unit"] | the component adds the Deployment "x"',),
    ),
    **{
        f"a-{kind}": ("chat-70b", ADD, added(text), (f'{kind}/x:  | the component adds the {kind} "x"',))
        for kind, text in {
            "ResourceClaim": (
                "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: x, namespace: chat}\n"
            ),
            "DeviceClass": "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: x}\n",
            "DeviceTaintRule": "apiVersion: resource.k8s.io/v1beta2\nkind: DeviceTaintRule\nmetadata: {name: x}\n",
            "Namespace": "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n",
            "ResourceQuota": "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: x, namespace: chat}\n",
            "PriorityClass": "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: x}\nvalue: 1\n",
            "ValidatingAdmissionPolicy": (
                "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: x}\n"
            ),
            "Application": (
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: x, namespace: chat}\n"
            ),
        }.items()
    },
    "an-autoscaler-of-another-unit": (
        "chat-70b",
        ADD,
        added(
            "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: x, namespace: chat}\n"
            "spec: {maxReplicas: 30, scaleTargetRef: {kind: Deployment, name: tenants-8b}}\n"
        ),
        ('spec.scaleTargetRef | the HorizontalPodAutoscaler "x" scales something else than the unit',),
    ),
    "a-second-disruption-budget": (
        "chat-70b",
        ADD,
        added(
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: x, namespace: chat}\n"
            "spec: {maxUnavailable: 0, selector: {}}\n"
        ),
        ('PodDisruptionBudget/x:  | the component adds the PodDisruptionBudget "x" [custom-forbidden]',),
    ),
    "a-sidecar-with-a-claim-that-no-object-shows": (
        "chat-70b",
        pod(
            "containers: [{name: mine, image: busybox, resources: {limits: "
            "{deviceclass.resource.kubernetes.io/interactive-80g: 1}}}]"
        ),
        {},
        ("takes devices by the resource deviceclass.resource.kubernetes.io/interactive-80g",),
    ),
    "an-autoscaler-beyond-the-placement": (
        "chat-70b",
        ADD,
        added(
            "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: x, namespace: chat}\n"
            "spec: {maxReplicas: 9, scaleTargetRef: {kind: Deployment, name: chat-70b}}\n"
        ),
        (
            'spec.maxReplicas | the HorizontalPodAutoscaler "x" scales the unit to 9, and the placement is for 2 to 3',
            'spec.minReplicas | the HorizontalPodAutoscaler "x" scales the unit to 1, and the placement is for 2 to 3',
        ),
    ),
    "an-unlisted-consumer": (
        "rewrite-0b6",
        ADD,
        added(workload("Job", "other", "resourceClaimName: rewrite-gpu")),
        (
            "Job/other: spec.template.spec.resourceClaims[0].resourceClaimName | "
            'the Job "other" uses the claim "rewrite-gpu" and isn\'t one of its consumers [claim-consumer]',
        ),
    ),
    # The name is on the list, with another kind.
    "a-consumer-of-another-kind": (
        "rewrite-0b6",
        ADD,
        added(workload("Job", "rewrite-eval", "resourceClaimName: rewrite-gpu")),
        ('the Job "rewrite-eval" uses the claim "rewrite-gpu" and isn\'t one of its consumers [claim-consumer]',),
    ),
    "a-claim-of-another": (
        "rewrite-0b6",
        ADD,
        added(workload("Job", "other", "resourceClaimName: somebody")),
        ('the Job "other" has a claim of its own, and its devices are in no spec [custom-forbidden]',),
    ),
    "a-template-of-ours": (
        "chat-70b",
        ADD,
        added(workload("Job", "other", "resourceClaimTemplateName: chat-70b-devices", namespace="chat")),
        ('the Job "other" has a claim of its own, and its devices are in no spec [custom-forbidden]',),
    ),
    "a-pod-on-a-node": (
        "chat-70b",
        ADD,
        added(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x, namespace: chat}\n"
            "spec: {template: {spec: {nodeName: gpu-1, containers: [{name: a, image: 'a:1.0'}]}}}\n"
        ),
        ('Job/x: spec.template.spec.nodeName | the pod names its node, "gpu-1" [node-contract]',),
    ),
    "a-secret": (
        "chat-70b",
        ADD,
        added("apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: chat}\nstringData: {a: b}\n"),
        ('Secret/x:  | the component adds the Secret "x", which isn\'t a kind that units have [custom-forbidden]',),
    ),
    # Kustomize's own refusals, and what it isn't even asked.
    "a-kustomization-for-a-component": (
        "chat-70b",
        "",
        {"kustomization__yml": "kind: Kustomization\n"},
        ("Found multiple kustomization files",),
    ),
    "a-missing-file": ("chat-70b", "resources: [nothing.yaml]\n", {}, ("nothing.yaml",)),
    "a-url": (
        "chat-70b",
        "resources: ['https://example.com/x']\n",
        {},
        ("`resources` refers to https://example.com/x, which would be fetched [custom-build]",),
    ),
    "a-folder-above": (
        "chat-70b",
        "resources: [../other]\n",
        {},
        ("custom/east/chat-70b: ../other is outside the tree [custom-build]",),
    ),
    "a-program": (
        "chat-70b",
        "generators: [x.yaml]\n",
        {"x__yaml": "kind: X\n"},
        ("`generators` isn't a field that Poolwright lets Kustomize act on [custom-build]",),
    ),
    "an-object-of-ours-again": (
        "chat-70b",
        ADD,
        added("apiVersion: v1\nkind: Service\nmetadata: {name: chat-70b, namespace: chat}\n"),
        ("[custom-build]",),
    ),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_what_a_component_may_not_do(name: str) -> None:
    unit, body, files, expected = FORBIDDEN[name]
    found = headlines(judge(unit, body, **files))
    # Of several the ones listed are there, in this order; more of the same kind may stand between them.
    positions = [next((i for i, line in enumerate(found) if text in line), -1) for text in expected]
    assert -1 not in positions, found
    assert positions == sorted(positions)
    assert len(found) == len(expected) or name in ("a-label-of-ours", "selectors", "a-sync-wave", "a-prefix"), found


def test_a_whole_text() -> None:
    assert (
        render_text(judge("chat-70b", "replicas: [{name: chat-70b, count: 9}]\n"))
        == """\
custom/east/chat-70b/kustomization.yaml: the component changes spec.replicas of the unit's Deployment "chat-70b"  \
[custom-forbidden]
  at   Deployment/chat-70b: spec.replicas
  why  what fits, what it costs and who may change it is worked out from the specs, and this isn't in them \
(poolwright custom components)
  fix  take it out of the component and use Placement.spec.minReplicas and maxReplicas
"""
    )
    refused = judge("rewrite-0b6", ADD, **added(workload("Job", "other", "resourceClaimName: rewrite-gpu")))
    assert (
        render_text(refused)
        == """\
custom/east/rewrite-0b6/kustomization.yaml: the Job "other" uses the claim "rewrite-gpu" and isn't one of its \
consumers  [claim-consumer]
  at   Job/other: spec.template.spec.resourceClaims[0].resourceClaimName
  why  whoever uses the claim computes on the same devices, whose memory is shared out among those listed \
(poolwright.dev/v1alpha1)
  fix  add {kind: Job, name: other} to claim.consumers of the envelope, in a new version
"""
    )


def test_every_forbidden_field_of_a_workload_names_what_to_use_instead() -> None:
    """Where a spec field does the same, the fix is that field."""
    fixes = {
        name: [finding.fix for finding in judge(*FORBIDDEN[name][:2])]
        for name in ("replicas", "the-serving-image", "arguments", "a-probe", "a-node-selector", "the-claim-template")
    }
    assert fixes == {
        "replicas": ["take it out of the component and use Placement.spec.minReplicas and maxReplicas"],
        "the-serving-image": [
            "take it out of the component and use Stack.spec.servingImages and Envelope.spec.engine.imageName"
        ],
        "arguments": ["take it out of the component and use Envelope.spec.load, precision, topology and engine.args"],
        "a-probe": ["take it out of the component and use Envelope.spec.startup.timeout"],
        "a-node-selector": ["take it out of the component and use Placement.spec.zone"],
        "the-claim-template": [
            "take it out of the component and use Envelope.spec.claim and Placement.spec.deviceClassNames"
        ],
    }


OBJECTS = list(build_objects(load_placement(FLEET, "east", "chat-70b")))


def without(change: Callable[[Object], None]) -> list[Object]:
    """The unit's objects with its Deployment changed."""
    objects = copy.deepcopy(OBJECTS)
    (deployment,) = (document for document in objects if document["kind"] == "Deployment")
    change(deployment)
    return objects


# What a patch could leave behind that Kustomize would hardly let through: nothing of it is taken for harmless.
def drop_metadata(deployment: Object) -> None:
    deployment["spec"]["template"]["metadata"] = None


def drop_pod(deployment: Object) -> None:
    deployment["spec"]["template"] = []


def repeat_variable(deployment: Object) -> None:
    deployment["spec"]["template"]["spec"]["containers"][0]["env"] += [{"name": "A"}, {"name": "A"}]


def repeat_ours(deployment: Object) -> None:
    env = deployment["spec"]["template"]["spec"]["containers"][0]["env"]
    env.append({"name": env[0]["name"], "value": "x"})


def reorder_variables(deployment: Object) -> None:
    deployment["spec"]["template"]["spec"]["containers"][0]["env"].reverse()


def name_variable_by_a_map(deployment: Object) -> None:
    deployment["spec"]["template"]["spec"]["containers"][0]["env"].append({"name": {"a": "b"}})


def true_for_one(deployment: Object) -> None:
    deployment["spec"]["strategy"]["rollingUpdate"]["maxSurge"] = True


def negative_grace(deployment: Object) -> None:
    deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = -1


ODD: dict[str, tuple[Callable[[Object], None], list[str]]] = {
    "no-metadata": (drop_metadata, ["Deployment/chat-70b: spec.template.metadata"]),
    "no-pod": (drop_pod, ["Deployment/chat-70b: spec.template"]),
    "a-variable-twice": (repeat_variable, [f"{DEPLOYMENT}containers[engine].env"]),
    "ours-twice": (repeat_ours, [f"{DEPLOYMENT}containers[engine].env"]),
    # $(A) in a value refers to variables before it.
    "variables-in-another-order": (reorder_variables, [f"{DEPLOYMENT}containers[engine].env"]),
    "a-name-that-is-a-map": (name_variable_by_a_map, []),
    "true-for-one": (true_for_one, ["Deployment/chat-70b: spec.strategy.rollingUpdate.maxSurge"]),
    "a-negative-grace-period": (negative_grace, [f"{DEPLOYMENT}terminationGracePeriodSeconds"]),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_objects(name: str) -> None:
    change, fields = ODD[name]
    closure = load_placement(FLEET, "east", "chat-70b")
    before = copy.deepcopy(OBJECTS)
    found = check_custom(OBJECTS, without(change), closure)
    assert [finding.place.field for finding in found] == fields
    assert before == OBJECTS


def test_an_equal_build_has_no_findings() -> None:
    closure = load_placement(FLEET, "east", "chat-70b")
    assert check_custom(OBJECTS, copy.deepcopy(OBJECTS)[::-1], closure) == []


def test_the_order_of_findings_does_not_follow_from_that_of_objects() -> None:
    closure, custom = component("chat-70b", "labels: [{pairs: {poolwright.dev/tier: batch}}]\nnamePrefix: my-\n")
    built = build_custom(kustomize(), closure, custom)
    after = parse_built(getattr(built, "objects"), closure)  # noqa: B009 (an error would have none)
    assert check_custom(OBJECTS, after, closure) == check_custom(OBJECTS[::-1], after[::-1], closure) != []


def kustomize() -> Kustomize:
    found = find_kustomize(None, os.environ)
    assert isinstance(found, Kustomize)
    return found


def test_without_the_component_the_unit_is_as_finished() -> None:
    closure, _ = component("chat-70b", "namePrefix: my-\n")
    assert getattr(build_alone(kustomize(), closure), "objects") == render_objects(OBJECTS)  # noqa: B009 (as above)


def test_a_refused_component_gives_no_objects() -> None:
    closure, custom = component("chat-70b", "namePrefix: my-\n")
    with pytest.raises(SpecError) as refused:
        apply_custom(closure, custom)
    assert {finding.code for finding in refused.value.findings} == {"custom-forbidden"}


def test_without_kustomize_check_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POOLWRIGHT_KUSTOMIZE", "/nonexistent")
    pairs: Any = [component(unit, "") for unit in ("chat-70b", "rewrite-0b6")]
    found = judge_customs([c for c, _ in pairs], {unit_name(c): custom for c, custom in pairs})
    assert [(finding.code, finding.severity) for finding in found] == [("custom-unchecked", "note")]
    assert "(custom/east/chat-70b, custom/east/rewrite-0b6)" in found[0].what
    with pytest.raises(SpecError, match="POOLWRIGHT_KUSTOMIZE isn't a program"):
        apply_custom(*pairs[0])
