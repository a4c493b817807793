"""What a team's template may and may not give: what it adds stays, and everything else rests on stays in it."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from crd_schemas import object_errors
from fleet import FACTS, Files, load_closures, load_placement, read_fleet, render_tree
from folders import write_files
from poolwright.catalog.closure import BaseClosure, EnvelopeClosure, build_envelope_closure
from poolwright.cli.complete import render_workload
from poolwright.objects.kubernetes import Object
from poolwright.objects.unit import build_objects
from poolwright.specs.finding import SpecError, render_text
from poolwright.specs.parse import parse_specs
from poolwright.templates.variables import build_variables
from poolwright.templates.workload import parse_workload
from poolwright.trees.yaml_text import render_object, render_objects
from real_kustomize import build_for_real

FLEET = read_fleet()
TEMPLATE = "templates/queue-worker.yaml.j2"
ENVELOPE = "specs/envelopes/summarise-20b/0.9.0.yaml"
GROUP_ENVELOPE = "specs/envelopes/reason-671b/0.4.0.yaml"
GROUP_TEMPLATE = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  name: {{ envelope.name }}
  namespace: {{ envelope.namespace }}
  labels: {{ labels | to_json }}
spec:
  leaderWorkerTemplate:
    size: {{ group.size }}
{% for role, pod in [("leader", leader), ("worker", worker)] %}
    {{ role }}Template:
      metadata:
        labels: {{ pod.labels | to_json }}
        annotations: {{ pod.annotations | to_json }}
      spec:
        volumes: {{ pod.volumes | to_json }}
        containers:
        - {{ pod.engineContainer | to_json }}
        - {name: watcher, image: "registry.example.com/team/watcher:1.2.3"}
{% endfor %}
"""


def closure_of(files: Files, name: str) -> EnvelopeClosure:
    """An envelope's closure, its template not rendered yet."""
    specs = {path: data for path, data in files.items() if path.endswith(".yaml") and path.startswith("specs/")}
    parsed = parse_specs({"poolwright.yaml": files["poolwright.yaml"], **specs})
    (envelope,) = (spec.value for spec in parsed.envelopes if spec.value.metadata.name == name)
    return build_envelope_closure(envelope, files, FACTS)


CLOSURE = closure_of(FLEET, "summarise-20b")
WORKLOAD = render_workload(CLOSURE, FLEET)


def with_template(changed: str) -> Files:
    return {**FLEET, TEMPLATE: changed.encode()}


def refusal(files: Files, name: str = "summarise-20b") -> str:
    """The whole text of what is wrong with an envelope's template."""
    with pytest.raises(SpecError) as refused:
        render_workload(closure_of(files, name), files)
    return render_text(refused.value.findings)


def test_the_example_keeps_every_part_and_adds_its_worker() -> None:
    plain = build_objects(BaseClosure(render_format=1, envelope=without_template(FLEET)))[2]
    pod = plain["spec"]["template"]["spec"]
    worker = {
        "name": "queue",
        "image": "registry.example.com/offline/queue-worker:1.8.0",
        "args": ["--engine=http://127.0.0.1:8000", "--queue=summaries"],
    }
    expected = copy.deepcopy(plain)
    expected["spec"]["template"]["spec"] = {**pod, "containers": [*pod["containers"], worker]}
    # The template is a file of the envelope, so its digest is another one.
    expected["metadata"]["annotations"]["poolwright.dev/envelope-digest"] = CLOSURE.digest
    assert expected == WORKLOAD
    unit = build_objects(load_placement(FLEET, "east", "summarise-20b"))
    assert [error for document in unit for error in object_errors(document, "1.36")] == []


def without_template(files: Files) -> EnvelopeClosure:
    text = files[ENVELOPE].decode().replace(f"    template: {TEMPLATE}\n", "")
    return closure_of({**files, ENVELOPE: text.encode()}, "summarise-20b")


def test_a_closure_without_the_rendered_workload_builds_nothing() -> None:
    with pytest.raises(ValueError, match="summarise-20b: the workload's template wasn't rendered"):
        build_objects(BaseClosure(render_format=1, envelope=CLOSURE))


def test_variables_follow_from_the_envelope_alone() -> None:
    assert sorted(build_variables(CLOSURE)) == [
        *("annotations", "engine", "envelope", "labels", "model", "pod", "selectorLabels"),
    ]
    group = build_variables(closure_of(FLEET, "reason-671b"))
    assert set(group) - set(build_variables(CLOSURE)) == {"group", "leader", "worker"}
    assert (group["group"], "pod" in group) == ({"size": 2}, False)


def test_real_kustomize_builds_units_with_templates(tmp_path: Any) -> None:
    """Of a Deployment, a group of pods, and a unit that isn't called like its envelope."""
    text = FLEET[GROUP_ENVELOPE].decode()
    files = {
        **FLEET,
        GROUP_ENVELOPE: text.replace(
            "    type: sglang\n", "    type: sglang\n    template: templates/group.yaml.j2\n"
        ).encode(),
        "templates/group.yaml.j2": GROUP_TEMPLATE.encode(),
        "specs/placements/more.yaml": re.sub(
            rb"name: summarise-20b(.*?\n  envelope)", rb"name: summaries\1", block(FLEET, "summarise-20b"), flags=re.S
        ),
    }
    assert files[GROUP_ENVELOPE] != FLEET[GROUP_ENVELOPE]
    write_files(tmp_path, render_tree(files))
    finished = {c.unit: render_objects(build_objects(c)) for c in units(files)}
    for unit in ("reason-671b", "summarise-20b", "summaries"):
        assert build_for_real(tmp_path, f"overlays/east/{unit}") == finished[unit]
    assert finished["reason-671b"].count(b"registry.example.com/team/watcher:1.2.3") == 2
    assert finished["summaries"].count(b"offline/queue-worker:1.8.0") == 1


def units(files: Files) -> list[Any]:
    return [closure for closure in load_closures(files) if hasattr(closure, "unit") and closure.on.cluster == "east"]


def block(files: Files, name: str) -> bytes:
    """One document of the placements."""
    documents = files["specs/placements/east.yaml"].split(b"---\n")
    (found,) = (document for document in documents if f"{{name: {name}}}".encode() in document)
    return found


# A change of the example's template, and the headlines that it gets; where they stand too.
BAD: dict[str, tuple[tuple[str, str], tuple[str, ...]]] = {
    "another-kind": (
        ("kind: Deployment", "kind: StatefulSet"),
        (":4:1: the template gives a StatefulSet of apps/v1  [template-result]",),
    ),
    "another-version": (
        ("apiVersion: apps/v1", "apiVersion: apps/v1beta1"),
        (":4:1: the template gives a Deployment of apps/v1beta1  [template-result]",),
    ),
    "a-second-object": (
        ("apiVersion: apps/v1\n", "apiVersion: v1\nkind: ConfigMap\n---\napiVersion: apps/v1\n"),
        (":6:1: the template gives 2 objects  [template-result]",),
    ),
    "no-yaml": (
        ("kind: Deployment", "kind: [Deployment"),
        ("this is not YAML",),
    ),
    "an-alias": (
        ("kind: Deployment", "kind: &kind Deployment\nstatus: *kind"),
        ("the alias *kind repeats a value from elsewhere  [yaml-alias]",),
    ),
    "a-key-twice": (
        ("kind: Deployment", "kind: Deployment\nkind: Deployment"),
        (':5:1: the key "kind" stands a second time; line 4 has it already  [yaml-duplicate-key]',),
    ),
    "another-name": (
        ("name: {{ envelope.name }}", "name: mine"),
        (":6:1: the template's metadata.name isn't the envelope's  [template-part]",),
    ),
    "another-namespace": (
        ("namespace: {{ envelope.namespace }}", "namespace: kube-system"),
        (":7:1: the template's metadata.namespace isn't the envelope's  [template-part]",),
    ),
    "a-status": (
        ("spec:\n  selector", "status: {}\nspec:\n  selector"),
        (":9:1: the template's workload has status  [template-part]",),
    ),
    "a-finalizer": (
        ("  labels: {{ labels | to_json }}", "  labels: {{ labels | to_json }}\n  finalizers: [a.b/c]"),
        (":9:1: the template's workload has metadata.finalizers  [template-part]",),
    ),
    "no-labels": (
        ("  labels: {{ labels | to_json }}\n", ""),
        (
            ":6:1: the template's metadata.labels has no app.kubernetes.io/managed-by, poolwright.dev/envelope, "
            "poolwright.dev/owner, poolwright.dev/unit  [template-part]",
        ),
    ),
    "labels-as-a-list": (
        ("  labels: {{ labels | to_json }}\n", "  labels: [a]\n"),
        ("the template's metadata.labels isn't a map  [template-part]",),
    ),
    "a-label-that-looks-like-ours": (
        (
            "labels: {{ pod.labels | to_json }}",
            'labels: {{ dict(pod.labels, **{"poolwright.dev/tier": "x"}) | to_json }}',
        ),
        (":14:1: the template sets poolwright.dev/tier, which is poolwright's  [template-part]",),
    ),
    "a-label-changed": (
        (
            "labels: {{ pod.labels | to_json }}",
            'labels: {{ dict(pod.labels, **{"poolwright.dev/unit": "x"}) | to_json }}',
        ),
        (":14:1: the template changes poolwright.dev/unit  [template-part]",),
    ),
    "a-label-that-is-a-number": (
        ("labels: {{ pod.labels | to_json }}", "labels: {{ dict(pod.labels, x=1) | to_json }}"),
        (":14:1: the template's spec.template.metadata.labels.x isn't a text  [template-part]",),
    ),
    "an-annotation-of-ours-changed": (
        ("metadata:\n  name", 'metadata:\n  annotations: {argocd.argoproj.io/sync-wave: "9"}\n  name'),
        (":6:1: the template changes argocd.argoproj.io/sync-wave  [template-part]",),
    ),
    "pod-annotations-dropped": (
        ("      annotations: {{ pod.annotations | to_json }}\n", ""),
        (":14:1: the template's spec.template.metadata.annotations has no poolwright.dev/model-digest  ",),
    ),
    "another-selector": (
        ("matchLabels: {{ selectorLabels | to_json }}", "matchLabels: {app: x}"),
        (":11:1: the template's spec.selector isn't the envelope's  [template-part]",),
    ),
    "no-volumes": (
        ("      volumes: {{ pod.volumes | to_json }}\n", ""),
        (
            ':17:1: the template drops the volume "models"  [template-part]',
            ':17:1: the template drops the volume "shm"  [template-part]',
        ),
    ),
    "a-volume-changed": (
        (
            "volumes: {{ pod.volumes | to_json }}",
            "volumes: [{name: models, emptyDir: {}}, {{ pod.volumes[1] | to_json }}]",
        ),
        (':17:1: the template changes the volume "models"  [template-part]',),
    ),
    "no-engine": (
        ("        - {{ pod.engineContainer | to_json }}\n", ""),
        (':19:1: the template\'s spec.template.spec.containers has no container "engine"  [template-drops-claim]',),
    ),
    "an-engine-without-its-claim": (
        ("{{ pod.engineContainer | to_json }}", "{{ dict(pod.engineContainer, resources={}) | to_json }}"),
        (':19:1: the template changes resources of the container "engine"  [template-drops-claim]',),
    ),
    "an-engine-with-other-arguments": (
        (
            "{{ pod.engineContainer | to_json }}",
            '{{ dict(pod.engineContainer, args=pod.engineContainer.args + ["--max-num-seqs=999"]) | to_json }}',
        ),
        (':19:1: the template changes the arguments of the container "engine"  [args-priced]',),
    ),
    "an-engine-of-another-image": (
        ("{{ pod.engineContainer | to_json }}", '{{ dict(pod.engineContainer, image="x:1") | to_json }}'),
        (':19:1: the template changes image of the container "engine"  [template-part]',),
    ),
    "an-engine-with-more": (
        ("{{ pod.engineContainer | to_json }}", "{{ dict(pod.engineContainer, tty=true) | to_json }}"),
        (':19:1: the template changes tty of the container "engine"  [template-part]',),
    ),
    # Kustomize moves what a patch changes to the front, and the overlay changes the engine.
    "the-engine-second": (
        ("        - {{ pod.engineContainer | to_json }}\n        - name: queue", "        - name: queue"),
        ('has no container "engine"',),
    ),
    "a-worker-with-the-claim": (
        (
            "        - name: queue\n",
            "        - name: queue\n          resources: {claims: {{ pod.containerClaims | to_json }}}\n",
        ),
        (':21:1: the container "queue" uses the pod\'s devices, and the envelope says otherwise  ',),
    ),
    "a-worker-called-engine": (
        ("- name: queue", "- name: engine"),
        (':20:1: a second container is called "engine"  [template-part]',),
    ),
    "a-worker-without-a-name": (
        ("- name: queue\n          image", "- image"),
        (":20:1: spec.template.spec.containers[1] has no name  [template-part]",),
    ),
    "a-worker-with-the-serving-image": (
        ("image: registry.example.com/offline/queue-worker:1.8.0", "image: vllm:1.0"),
        (':21:1: the image of the container "queue" is called like the serving image  [template-part]',),
    ),
    "a-worker-with-a-gpu": (
        ("- name: queue\n", "- name: queue\n          resources: {limits: {nvidia.com/gpu: 1}}\n"),
        (':21:1: container "queue" asks for nvidia.com/gpu: 1 and not by claim  [node-contract]',),
    ),
    "a-privileged-worker": (
        ("- name: queue\n", "- name: queue\n          securityContext: {privileged: true}\n"),
        (':21:1: container "queue" is privileged, and has every device of its node  [device-access]',),
    ),
    "a-fraction": (
        ("- name: queue\n", "- name: queue\n          x: 1.5\n"),
        (":21:1: spec.template.spec.containers[1].x is 1.5, which programs write in several ways  [template-part]",),
    ),
    "a-number-beyond-json": (
        ("- name: queue\n", "- name: queue\n          x: 9007199254740992\n"),
        ("x is 9007199254740992, which programs write in several ways  [template-part]",),
    ),
    **{
        f"decides-{name}": (
            ("    spec:\n      volumes", f"    spec:\n      {name}: {value}\n      volumes"),
            (f":17:1: the template sets spec.template.spec.{name}  [template-decides]",),
        )
        for name, value in {
            "affinity": "{nodeAffinity: {}}",
            "nodeName": "gpu-1",
            "nodeSelector": "{pool: gpu}",
            "priorityClassName": "system-node-critical",
            "resourceClaims": "[{name: devices, resourceClaimTemplateName: x}]",
            "schedulerName": "mine",
            "terminationGracePeriodSeconds": "5",
            "tolerations": "[{operator: Exists}]",
        }.items()
    },
    **{
        f"decides-{name}": (
            ("spec:\n  selector", f"spec:\n  {name}: {value}\n  selector"),
            (f":10:1: the template sets spec.{name}  [template-decides]",),
        )
        for name, value in {"replicas": "9", "strategy": "{type: Recreate}"}.items()
    },
}


@pytest.mark.parametrize("name", BAD)
def test_what_a_template_may_not_give(name: str) -> None:
    (old, new), headlines = BAD[name]
    text = FLEET[TEMPLATE].decode()
    assert old in text
    said = refusal(with_template(text.replace(old, new)))
    found = [line for line in said.splitlines() if not line.startswith("  ")]
    assert len(found) == len(headlines), said
    assert all(headline in line for headline, line in zip(headlines, found, strict=True)), said
    assert all(line.startswith(TEMPLATE) for line in found)


def test_a_template_that_prints_nothing() -> None:
    assert (
        refusal(with_template("{# later #}\n"))
        == """\
templates/queue-worker.yaml.j2: the template gives no object  [template-result]
  why  a template gives the unit's one workload, here a Deployment of apps/v1; all other objects follow from the specs \
(poolwright workload templates)
  fix  give exactly one Deployment of apps/v1; put other objects into custom/
"""
    )


WHOLE = {
    "decides": (
        ("spec:\n  selector", "spec:\n  replicas: 9\n  selector"),
        "templates/queue-worker.yaml.j2:10:1: the template sets spec.replicas  [template-decides]\n"
        "  at   spec.replicas\n"
        "  why  the base is the same on every cluster, and this is what a cluster decides"
        " (poolwright workload templates)\n"
        "  fix  remove it; it follows from Placement.spec.minReplicas\n",
    ),
    "drops-the-claim": (
        ("        - {{ pod.engineContainer | to_json }}\n", ""),
        'templates/queue-worker.yaml.j2:19:1: the template\'s spec.template.spec.containers has no container "engine"'
        "  [template-drops-claim]\n"
        "  at   spec.template.spec.containers\n"
        "  why  who uses the devices is the envelope's decision; no claim, no devices (poolwright workload templates)\n"
        "  fix  start with {{ pod.engineContainer | to_json }}, then pod.sidecars, as they are\n",
    ),
    "another-name": (
        ("name: {{ envelope.name }}", "name: mine"),
        "templates/queue-worker.yaml.j2:6:1: the template's metadata.name isn't the envelope's  [template-part]\n"
        "  at   metadata.name\n"
        "  why  Service, router, budget, alerts and the decisions of each cluster rest on these parts"
        " (poolwright workload templates)\n"
        "  fix  write {{ envelope.name }}\n",
    ),
}


@pytest.mark.parametrize(("change", "says"), WHOLE.values(), ids=WHOLE)
def test_a_whole_text(change: tuple[str, str], says: str) -> None:
    assert refusal(with_template(FLEET[TEMPLATE].decode().replace(*change))) == says


# What may be added stays as it is.
ADDED = {
    "labels": ("labels: {{ labels | to_json }}", 'labels: {{ dict(labels, team="offline") | to_json }}'),
    "an-annotation": ("metadata:\n  name", "metadata:\n  annotations: {a.example.com/b: c}\n  name"),
    "an-init-container": (
        "      containers:\n",
        "      initContainers: [{name: wait, image: 'r.example.com/w:1.0'}]\n      containers:\n",
    ),
    "a-volume": (
        "volumes: {{ pod.volumes | to_json }}",
        "volumes: {{ (pod.volumes + [{'name': 'x', 'emptyDir': {}}]) | to_json }}",
    ),
    "a-service-account": ("    spec:\n      volumes", "    spec:\n      serviceAccountName: queue\n      volumes"),
    "a-deadline": ("spec:\n  selector", "spec:\n  progressDeadlineSeconds: 60\n  selector"),
    "a-null": ("spec:\n  selector", "spec:\n  replicas: null\n  selector"),
}


@pytest.mark.parametrize("name", ADDED)
def test_what_a_template_may_add(name: str, tmp_path: Any) -> None:
    old, new = ADDED[name]
    text = FLEET[TEMPLATE].decode()
    assert old in text
    files = with_template(text.replace(old, new, 1))
    workload = render_workload(closure_of(files, "summarise-20b"), files)
    assert (workload != digest_of(workload)) is (name != "a-null")
    assert b"null" not in render_object(workload)
    write_files(tmp_path, render_tree(files))
    (unit,) = (closure for closure in units(files) if closure.unit == "summarise-20b")
    assert build_for_real(tmp_path, "overlays/east/summarise-20b") == render_objects(build_objects(unit))


def digest_of(workload: Object) -> Object:
    """The example's workload with the envelope's digest of another one, whose template has other bytes."""
    annotations = {
        **WORKLOAD["metadata"]["annotations"],
        "poolwright.dev/envelope-digest": workload["metadata"]["annotations"]["poolwright.dev/envelope-digest"],
    }
    return {**WORKLOAD, "metadata": {**WORKLOAD["metadata"], "annotations": annotations}}


CUSTOM_ENGINE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ envelope.name }}, namespace: {{ envelope.namespace }}, labels: {{ labels | to_json }}}
spec:
  selector: {matchLabels: {{ selectorLabels | to_json }}}
  template:
    metadata: {labels: {{ pod.labels | to_json }}, annotations: {{ pod.annotations | to_json }}}
    spec:
      volumes: {{ pod.volumes | to_json }}
      containers:
      - {{ dict(pod.engineContainer, command=["/serve"], args=["--port=8000"], ports=[PORT]) | to_json }}
"""


def test_an_engine_of_the_teams_own_says_how_it_starts() -> None:
    port = '{"name": engine.portName, "containerPort": engine.port}'
    envelope = FLEET[ENVELOPE].decode().replace("type: vllm", "type: custom\n    imageName: vllm")
    files = {**with_template(CUSTOM_ENGINE.replace("PORT", port)), ENVELOPE: envelope.encode()}
    (engine,) = render_workload(closure_of(files, "summarise-20b"), files)["spec"]["template"]["spec"]["containers"]
    assert (engine["command"], engine["args"], engine["ports"]) == (
        ["/serve"],
        ["--port=8000"],
        [{"name": "http", "containerPort": 8000}],
    )
    # One that takes its work elsewhere needs no port; one that requests are routed to does.
    without = {**with_template(CUSTOM_ENGINE.replace("[PORT]", "[]")), ENVELOPE: envelope.encode()}
    assert render_workload(closure_of(without, "summarise-20b"), without)["kind"] == "Deployment"
    without[ENVELOPE] += b"  router: {endpointPicker: {serviceName: picker, port: 9002}}\n"
    assert (
        refusal(without)
        .splitlines()[0]
        .endswith(':11:1: the container "engine" has no port "http" 8000  [template-part]')
    )


def test_containers_that_share_the_claim_are_those_of_the_envelope() -> None:
    envelope = FLEET[ENVELOPE].decode() + "  claim: {pattern: perPodShared, containers: [engine, queue]}\n"
    files = {**FLEET, ENVELOPE: envelope.encode()}
    assert (
        refusal(files)
        .splitlines()[0]
        .endswith(
            ":20:1: the container \"queue\" doesn't use the pod's devices, and the envelope says otherwise  "
            "[template-drops-claim]"
        )
    )
    shared = (
        FLEET[TEMPLATE]
        .decode()
        .replace(
            "- name: queue\n", "- name: queue\n          resources: {claims: {{ pod.containerClaims | to_json }}}\n"
        )
    )
    files = {**with_template(shared), ENVELOPE: envelope.encode()}
    workload = render_workload(closure_of(files, "summarise-20b"), files)
    assert [c["resources"]["claims"] for c in workload["spec"]["template"]["spec"]["containers"]] == [
        [{"name": "devices"}]
    ] * 2


def test_findings_say_the_line_of_the_text_where_the_template_s_is_not_known() -> None:
    with pytest.raises(SpecError) as refused:
        parse_workload("a: 1\n", (), "t.j2", CLOSURE)
    assert [finding.place.line for finding in refused.value.findings] == [0]
    assert refused.value.findings[0].what == "the template gives what is no object (line 1 of what it prints)"
