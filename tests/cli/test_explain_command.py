"""`poolwright explain`: a code, a field, an object, and what isn't there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fleet import SMALL_FLEET
from fleet_variants import shared_fleet
from poolwright.specs.codes import CODES, explain_code
from poolwright.specs.schema import KINDS
from run_poolwright import Ran, run

HOW = (
    "  why  codes stand in brackets; fields are KIND.PATH; objects are CLUSTER/UNIT/KIND/NAME[#/POINTER] "
    "(poolwright explain --help)\n"
)

SAID: dict[str, str] = {
    "Envelope.spec.load.contextTokens": """\
Envelope.spec.load.contextTokens  <integer>
  Longest request, prompt and answer together, in tokens.
  at least 1
  at most 16777216
""",
    "envelope.spec.topology": """\
Envelope.spec.topology  <Topology>
  How the model is spread over devices.
  default: {}
  tensorParallel  <integer>
      Devices that share each layer.
  pipelineParallel  <integer>
      Groups of layers, one after the other.
  dataParallel  <integer>
      Copies of the model within one replica.
  nodes  <integer>
      Pods of one replica; above 1 it is a LeaderWorkerSet.
""",
    "Pool.spec.tolerations": """\
Pool.spec.tolerations  <list of Toleration>
  Added to every pod that is placed on the pool.
  default: []
  key  <string> (required)
      The taint's key.
  operator  <string>
      Whether the value counts.
  value  <string>
      The taint's value, with operator Equal.
  effect  <string>
      The effect; none: every effect.
""",
    "Pool.spec.tolerations[0].operator": """\
Pool.spec.tolerations[0].operator  <string>
  Whether the value counts.
  one of: Equal, Exists
  default: "Equal"
""",
    # One entry of a list is as good as another, so an index may be left out.
    "Pool.spec.deviceClasses.capacity.memory.min": """\
Pool.spec.deviceClasses.capacity.memory.min  <string or integer>
  The least a device must have.
  format: a Kubernetes quantity, such as 79Gi
""",
    'Pool.spec.deviceClasses[0].attributes["example.com/fast.er"]': """\
Pool.spec.deviceClasses[0].attributes["example.com/fast.er"]  <list of value>
""",
    "Stack.spec.kubernetes.version": """\
Stack.spec.kubernetes.version  <string>
  Version or range within one minor release, quoted; decides which API versions are rendered.
  format: a version, MAJOR.MINOR.x, or a comma list of these, such as 1.36.x
""",
    "east/platform": """\
east/platform/Namespace/chat
east/platform/Namespace/poolwright
east/platform/DeviceClass/interactive-80g
east/platform/PriorityClass/poolwright-batch
east/platform/PriorityClass/poolwright-interactive
east/platform/ValidatingAdmissionPolicy/poolwright-experiment-lane
east/platform/ValidatingAdmissionPolicyBinding/poolwright-experiment-lane
east/platform/ValidatingAdmissionPolicy/poolwright-admin-access
east/platform/ValidatingAdmissionPolicyBinding/poolwright-admin-access
east/platform/ValidatingAdmissionPolicy/poolwright-node-contract
east/platform/ValidatingAdmissionPolicyBinding/poolwright-node-contract
east/platform/ValidatingAdmissionPolicy/poolwright-priced
east/platform/ValidatingAdmissionPolicyBinding/poolwright-priced
east/platform/ConfigMap/poolwright-dashboard
""",
    "east/platform/Namespace/chat": """\
/apiVersion: "v1"
    no single spec value changes it, as far as was tried
/kind: "Namespace"
    no single spec value changes it, as far as was tried
/metadata/annotations/argocd.argoproj.io~1sync-options: "Prune=false"
    no single spec value changes it, as far as was tried
/metadata/annotations/argocd.argoproj.io~1sync-wave: "-30"
    no single spec value changes it, as far as was tried
/metadata/labels/app.kubernetes.io~1managed-by: "poolwright"
    no single spec value changes it, as far as was tried
/metadata/labels/app.kubernetes.io~1part-of: "inference-fleet"
    poolwright.yaml:6:9  metadata.name
/metadata/name: "chat"
    specs/pool.yaml:28:13  spec.namespaces[0].name
""",
    "east/chat-70b/Deployment/chat-70b#/spec/template/spec/resourceClaims/0/resourceClaimTemplateName": """\
/spec/template/spec/resourceClaims/0/resourceClaimTemplateName: "chat-70b-devices-f2e2ace65b"
    specs/envelopes/chat-70b/2.3.0.yaml:5:9  metadata.name
    specs/envelopes/chat-70b/2.3.0.yaml:10:17  spec.computeClass
    specs/envelopes/chat-70b/2.3.0.yaml:13:5  spec.model.measuredProfile (default)
    specs/envelopes/chat-70b/2.3.0.yaml:13:5  spec.model.weightsSize (default)
    specs/envelopes/chat-70b/2.3.0.yaml:17:17  spec.model.configPath
    specs/envelopes/chat-70b/2.3.0.yaml:18:14  spec.precision.weights (default)
    specs/envelopes/chat-70b/2.3.0.yaml:18:43  spec.precision.kvCache
    specs/envelopes/chat-70b/2.3.0.yaml:20:5  spec.load.kvBudget (default)
    specs/envelopes/chat-70b/2.3.0.yaml:20:5  spec.load.sharedPrefixTokens (default)
    specs/envelopes/chat-70b/2.3.0.yaml:20:20  spec.load.contextTokens
    specs/envelopes/chat-70b/2.3.0.yaml:21:18  spec.load.concurrency
    specs/envelopes/chat-70b/2.3.0.yaml:22:27  spec.load.batch.maxSequences
    specs/envelopes/chat-70b/2.3.0.yaml:23:13  spec.topology.dataParallel (default)
    specs/envelopes/chat-70b/2.3.0.yaml:23:13  spec.topology.pipelineParallel (default)
    specs/envelopes/chat-70b/2.3.0.yaml:23:30  spec.topology.tensorParallel
    specs/envelopes/chat-70b/2.3.0.yaml:27:26  spec.engine.deviceMemoryPercent
    specs/placements.yaml:5:9  metadata.name
    specs/placements.yaml:7:20  spec.envelope.name
    specs/placements.yaml:9:22  spec.deviceClassNames[0]
    specs/pool.yaml:12:13  spec.deviceClasses[0].name
    specs/pool.yaml:14:15  spec.deviceClasses[0].driver
    specs/stack.yaml:14:16  spec.servingImages[0].version
""",
    # A map: every field below it.
    "east/chat-70b/Deployment/chat-70b#/spec/strategy/": """\
/spec/strategy/rollingUpdate/maxSurge: 1
    specs/placements.yaml:11:10  spec.surge
/spec/strategy/rollingUpdate/maxUnavailable: 0
    specs/placements.yaml:11:10  spec.surge
/spec/strategy/type: "RollingUpdate"
    no single spec value changes it, as far as was tried
""",
}


@pytest.mark.parametrize("subject", SAID)
def test_subject(subject: str) -> None:
    assert run("explain", subject, folder=SMALL_FLEET) == Ran(0, SAID[subject], "")


# The example with two pools that share a namespace, with names out of order, and with a surge of 5.
SHARED: dict[str, str] = {
    "east/platform": """\
east/platform/Namespace/another-namespace
east/platform/Namespace/batch
east/platform/Namespace/chat
east/platform/Namespace/poolwright
east/platform/Namespace/zeta
east/platform/DeviceClass/a-class
east/platform/DeviceClass/interactive-80g
east/platform/DeviceClass/z-class
east/platform/PriorityClass/poolwright-batch
east/platform/PriorityClass/poolwright-interactive
east/platform/ValidatingAdmissionPolicy/poolwright-experiment-lane
east/platform/ValidatingAdmissionPolicyBinding/poolwright-experiment-lane
east/platform/ValidatingAdmissionPolicy/poolwright-admin-access
east/platform/ValidatingAdmissionPolicyBinding/poolwright-admin-access
east/platform/ValidatingAdmissionPolicy/poolwright-node-contract
east/platform/ValidatingAdmissionPolicyBinding/poolwright-node-contract
east/platform/ValidatingAdmissionPolicy/poolwright-priced
east/platform/ValidatingAdmissionPolicyBinding/poolwright-priced
east/platform/ConfigMap/poolwright-dashboard
""",
    "east/platform/Namespace/chat#/metadata/name": """\
/metadata/name: "chat"
    specs/pool.yaml:30:13  spec.namespaces[0].name
    specs/second-pool.yaml:11:37  spec.namespaces[1].name
""",
    "east/platform/Namespace/batch#/metadata/name": """\
/metadata/name: "batch"
    specs/second-pool.yaml:11:51  spec.namespaces[2].name
""",
    "east/platform/DeviceClass/a-class#/metadata/labels/poolwright.dev~1owner": """\
/metadata/labels/poolwright.dev~1owner: "team-second"
    specs/second-pool.yaml:7:10  spec.owner
""",
    "east/chat-70b/Deployment/chat-70b#/spec/strategy": """\
/spec/strategy/rollingUpdate/maxSurge: 5
    specs/placements.yaml:11:10  spec.surge
/spec/strategy/rollingUpdate/maxUnavailable: 0
    specs/placements.yaml:11:10  spec.surge
/spec/strategy/type: "RollingUpdate"
    no single spec value changes it, as far as was tried
""",
}


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shared")
    for path, data in shared_fleet().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


@pytest.mark.parametrize("subject", SHARED)
def test_object_of_a_cluster_with_two_pools(subject: str, shared_folder: Path) -> None:
    assert run("explain", subject, folder=shared_folder) == Ran(0, SHARED[subject], "")


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_is_explained_by_the_name_that_a_fix_suggests(kind: str, tmp_path: Path) -> None:
    subjects, explained = [kind], []
    while subjects:
        subject = subjects.pop()
        ran = run("explain", subject, folder=tmp_path)
        assert (ran.code, ran.stderr) == (0, "")
        subjects += [f"{subject}.{name}" for name in re.findall(r"^  (\w+)  <", ran.stdout, re.MULTILINE)]
        explained.append(subject)
    for subject in explained[1:]:
        # With a letter too many, the name itself is the nearest that there is.
        refused = run("explain", f"{subject}x", folder=tmp_path)
        assert f"such as: {subject}" in refused.stderr
    assert len(explained) > 5


@pytest.mark.parametrize("code", CODES)
def test_every_code(code: str, tmp_path: Path) -> None:
    assert run("explain", code, folder=tmp_path) == Ran(0, f"{code}: {explain_code(code)}\n", "")


UNKNOWN: dict[str, str] = {
    "lane-consen": (
        f'poolwright explain: "lane-consen" is nothing that is known  [explain-unknown]\n{HOW}'
        "  fix  name a code, kind of spec, or object, such as: lane-consent"
    ),
    "Envelope.spec.topology.tensor": (
        f'poolwright explain: "Envelope.spec.topology.tensor" is not a field of Envelope  [explain-unknown]\n{HOW}'
        "  fix  name a field, such as: Envelope.spec.topology.tensorParallel, Envelope.spec.topology"
    ),
    "east/chat": (
        f'poolwright explain: "east/chat" is not a unit  [explain-unknown]\n{HOW}'
        "  fix  name a unit, such as: east/chat-70b, east/chat-70b-next, east/platform\n"
    ),
    "east/chat-70b/Service/chat": (
        'poolwright explain: "east/chat-70b/Service/chat" is not an object of unit east/chat-70b  [explain-unknown]\n'
        f"{HOW}  fix  name an object, such as: east/chat-70b/Service/chat-70b, east/chat-70b/Deployment/chat-70b, "
        "east/chat-70b/PodMonitor/chat-70b"
    ),
    "east/chat-70b/Service/chat-70b#/spec/port": (
        f'poolwright explain: "#/spec/port" is not a field of the object  [explain-unknown]\n{HOW}'
        "  fix  name a field, such as: #/spec/ports/0/port, #/spec/ports/0/name, #/spec/ports/0/targetPort\n"
    ),
    "west/platform": (
        'poolwright.yaml:11:5: the project has no cluster "west"  [cluster-unknown]\n'
        "  at   spec.clusters\n"
        "  why  poolwright.yaml names every cluster that is rendered for (poolwright.dev/v1alpha1)\n"
        "  fix  name one of: east\n"
    ),
    'Pool.spec.deviceClasses[0].attributes["a.b/c"].d#/e': (
        'poolwright explain: "Pool.spec.deviceClasses[0].attributes["a.b/c"].d#/e" is not a field of Pool  '
        f"[explain-unknown]\n{HOW}"
        "  fix  name a field, such as: Pool.spec.deviceClasses.attributes"
    ),
}


@pytest.mark.parametrize("subject", UNKNOWN)
def test_what_is_not_there(subject: str) -> None:
    ran = run("explain", subject, folder=SMALL_FLEET)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(UNKNOWN[subject])  # what else is near depends on every name there is


@pytest.mark.parametrize("subject", ["#", "#/spec", "/", "//", "..", "east", "a#b/c", "\x1b[2J/\n/x"])
def test_nonsense_is_refused_and_not_repeated_to_a_terminal(subject: str) -> None:
    ran = run("explain", subject, folder=SMALL_FLEET)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.replace("\n", "").isprintable()
