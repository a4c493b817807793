"""Every refusal of `generate --argocd`: exit code 2, nothing on stdout, and on stderr what to do.

All of it is pinned, for Argo CD keeps it in the Application's status and shows its last line.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from plugin_call import TRUST, Call, call, committed_fleet, plugin_fleet, unit_parameters

from fleet import ENVELOPE, PROJECT, Files, edit, read_small_fleet
from poolwright.argocd.check_answer import check_size
from poolwright.argocd.request import Request, read_request
from poolwright.cli.refusal import render_refusal
from run_poolwright import Ran

PLUGIN = plugin_fleet()
COMMITTED = committed_fleet()
UNIT_PATH = "overlays/east/chat-70b"
IN_FOLDER = {f"fleets/prod/{path}": data for path, data in COMMITTED.items()}

# TOP stands for the folder that holds what was sent, and the trust file.
REFUSED: dict[str, tuple[Call, Files, str]] = {
    "json-that-is-none": (
        Call(parameters="[{"),
        PLUGIN,
        """\
ARGOCD_APP_PARAMETERS: it isn't JSON  [plugin-parameters]
  why  what an Application's source.plugin.parameters say is rendered exactly, or not at all (poolwright plugin \
parameters)
  fix  let Argo CD set it; for a test, write a list
poolwright: the Application refused: ARGOCD_APP_PARAMETERS: it isn't JSON; fix: let Argo CD set it; for a test, write \
a list
""",
    ),
    # Nothing that Argo CD sends: what isn't UTF-8 stands in no JSON.
    "no-utf-8": (
        Call(parameters='[{"name": "cluster", "string": "\udcff"}]'),
        PLUGIN,
        """\
ARGOCD_APP_PARAMETERS: it isn't JSON  [plugin-parameters]
  why  what an Application's source.plugin.parameters say is rendered exactly, or not at all (poolwright plugin \
parameters)
  fix  let Argo CD set it; for a test, write a list
poolwright: the Application refused: ARGOCD_APP_PARAMETERS: it isn't JSON; fix: let Argo CD set it; for a test, write \
a list
""",
    ),
    "no-list": (
        Call(parameters='{"cluster": "east"}'),
        PLUGIN,
        """\
ARGOCD_APP_PARAMETERS: it isn't a list  [plugin-parameters]
  why  what an Application's source.plugin.parameters say is rendered exactly, or not at all (poolwright plugin \
parameters)
  fix  write [{"name": "cluster", "string": "NAME"}]
poolwright: the Application refused: ARGOCD_APP_PARAMETERS: it isn't a list; fix: write [{"name": "cluster", \
"string": "NAME"}]
""",
    ),
    "an-unknown-parameter": (
        Call(parameters='[{"name": "clusters", "string": "east"}, {"name": "unit", "string": "chat-70b"}]'),
        PLUGIN,
        """\
ARGOCD_APP_PARAMETERS: it names the parameter "clusters", which isn't known  [plugin-parameters]
  why  what an Application's source.plugin.parameters say is rendered exactly, or not at all (poolwright plugin \
parameters)
  fix  name one of: cluster, unit, release
poolwright: the Application refused: ARGOCD_APP_PARAMETERS: it names the parameter "clusters", which isn't known; \
fix: name one of: cluster, unit, release
""",
    ),
    "a-repeated-parameter": (
        Call(parameters='[{"name": "unit", "string": "a"}, {"name": "unit", "string": "b"}]'),
        PLUGIN,
        """\
ARGOCD_APP_PARAMETERS: it names the parameter "unit" twice  [plugin-parameters]
  why  what an Application's source.plugin.parameters say is rendered exactly, or not at all (poolwright plugin \
parameters)
  fix  give each parameter once
poolwright: the Application refused: ARGOCD_APP_PARAMETERS: it names the parameter "unit" twice; fix: give each \
parameter once
""",
    ),
    "an-array": (
        Call(parameters='[{"name": "cluster", "array": ["east"]}, {"name": "unit", "map": {"a": "b"}}]'),
        PLUGIN,
        """\
ARGOCD_APP_PARAMETERS: it has no string for the parameter "cluster"  [plugin-parameters]
  why  what an Application's source.plugin.parameters say is rendered exactly, or not at all (poolwright plugin \
parameters)
  fix  write it as string: CLUSTER
ARGOCD_APP_PARAMETERS: it has no string for the parameter "unit"  [plugin-parameters]
  why  what an Application's source.plugin.parameters say is rendered exactly, or not at all (poolwright plugin \
parameters)
  fix  write it as string: UNIT
poolwright: the Application refused: ARGOCD_APP_PARAMETERS: it has no string for the parameter "cluster" (and 1 \
more); fix: write it as string: CLUSTER
""",
    ),
    "no-name": (
        Call(parameters='[{"string": "east"}, 1]'),
        PLUGIN,
        """\
ARGOCD_APP_PARAMETERS: it has an entry without a name, number 1  [plugin-parameters]
  why  what an Application's source.plugin.parameters say is rendered exactly, or not at all (poolwright plugin \
parameters)
  fix  give each parameter a name and a string
ARGOCD_APP_PARAMETERS: it has an entry without a name, number 2  [plugin-parameters]
  why  what an Application's source.plugin.parameters say is rendered exactly, or not at all (poolwright plugin \
parameters)
  fix  give each parameter a name and a string
poolwright: the Application refused: ARGOCD_APP_PARAMETERS: it has an entry without a name, number 1 (and 1 more); \
fix: give each parameter a name and a string
""",
    ),
    "half-of-the-parameters": (
        Call(parameters='[{"name": "cluster", "string": "east"}]', path=UNIT_PATH),
        COMMITTED,
        """\
ARGOCD_APP_PARAMETERS: the parameter unit is missing beside the other  [plugin-request]
  why  one Application is one unit of one cluster, for one Argo CD project (Argo CD's plugin contract)
  fix  set both: cluster and unit
poolwright: the Application refused: ARGOCD_APP_PARAMETERS: the parameter unit is missing beside the other; fix: set \
both: cluster and unit
""",
    ),
    "parameters-against-the-path": (
        Call(parameters=unit_parameters("east", "platform"), path=UNIT_PATH),
        COMMITTED,
        """\
ARGOCD_APP_PARAMETERS: the parameters say east/platform, and the path east/chat-70b  [plugin-request]
  why  one Application is one unit of one cluster, for one Argo CD project (Argo CD's plugin contract)
  fix  correct one of the two, or leave the parameters out
poolwright: the Application refused: ARGOCD_APP_PARAMETERS: the parameters say east/platform, and the path \
east/chat-70b; fix: correct one of the two, or leave the parameters out
""",
    ),
    "nothing-that-says-the-unit": (
        Call(parameters=None),
        PLUGIN,
        """\
ARGOCD_APP_SOURCE_PATH: neither parameters nor the path . say which unit is meant  [plugin-request]
  why  one Application is one unit of one cluster, for one Argo CD project (Argo CD's plugin contract)
  fix  set the parameters cluster and unit, or the path overlays/CLUSTER/UNIT
poolwright: the Application refused: ARGOCD_APP_SOURCE_PATH: neither parameters nor the path . say which unit is \
meant; fix: set the parameters cluster and unit, or the path overlays/CLUSTER/UNIT
""",
    ),
    "a-release": (
        Call(parameters=None, path="releases/26-7/manifests/east/chat-70b"),
        {"releases/26-7/manifests/east/chat-70b/x": b"", **PLUGIN},
        """\
ARGOCD_APP_SOURCE_PATH: the path releases/26-7/manifests/east/chat-70b is a release's, and no parameter says which \
unit is meant  [plugin-request]
  why  one Application is one unit of one cluster, for one Argo CD project (Argo CD's plugin contract)
  fix  set the parameters cluster, unit and release
poolwright: the Application refused: ARGOCD_APP_SOURCE_PATH: the path releases/26-7/manifests/east/chat-70b is a \
release's, and no parameter says which unit is meant; fix: set the parameters cluster, unit and release
""",
    ),
    "nobody-to-render-for": (
        Call(argocd_project=""),
        PLUGIN,
        """\
ARGOCD_APP_PROJECT_NAME: it isn't set, so there is nobody to render for  [plugin-request]
  why  one Application is one unit of one cluster, for one Argo CD project (Argo CD's plugin contract)
  fix  let Argo CD run the plugin; by hand, leave out --argocd
poolwright: the Application refused: ARGOCD_APP_PROJECT_NAME: it isn't set, so there is nobody to render for; fix: \
let Argo CD run the plugin; by hand, leave out --argocd
""",
    ),
    "an-unknown-unit": (
        Call(parameters=unit_parameters("east", "chat")),
        PLUGIN,
        """\
poolwright.yaml: cluster "east" has no unit "chat"  [unit-unknown]
  why  a unit is a placement on one of the cluster's pools, or `platform` (poolwright.dev/v1alpha1)
  fix  name one of: chat-70b, chat-70b-next, platform
poolwright: east/chat refused: poolwright.yaml: cluster "east" has no unit "chat"; fix: name one of: chat-70b, \
chat-70b-next, platform
""",
    ),
    "folders-that-climb": (
        Call(parameters=unit_parameters("east", "../../etc")),
        PLUGIN,
        """\
poolwright.yaml: cluster "east" has no unit "../../etc"  [unit-unknown]
  why  a unit is a placement on one of the cluster's pools, or `platform` (poolwright.dev/v1alpha1)
  fix  name one of: chat-70b, chat-70b-next, platform
poolwright: east/../../etc refused: poolwright.yaml: cluster "east" has no unit "../../etc"; fix: name one of: \
chat-70b, chat-70b-next, platform
""",
    ),
    "an-argocd-folder": (
        Call(parameters=None, path="overlays/east/argocd"),
        COMMITTED,
        """\
poolwright.yaml: cluster "east" has no unit "argocd"  [unit-unknown]
  why  a unit is a placement on one of the cluster's pools, or `platform` (poolwright.dev/v1alpha1)
  fix  name one of: chat-70b, chat-70b-next, platform
poolwright: east/argocd refused: poolwright.yaml: cluster "east" has no unit "argocd"; fix: name one of: chat-70b, \
chat-70b-next, platform
""",
    ),
    "another-project-of-argo-cd": (
        Call(argocd_project="default"),
        PLUGIN,
        """\
TOP/trust.yaml: the Argo CD project "default" may not have east/chat-70b rendered  [not-allowed]
  why  parameters stand in a repository too, so who may have a unit is said outside of all (poolwright trust in \
parameters)
  fix  add the project to `allow`, or correct spec.project of the Application
poolwright: east/chat-70b refused: TOP/trust.yaml: the Argo CD project "default" may not have east/chat-70b rendered; \
fix: add the project to `allow`, or correct spec.project of the Application
""",
    ),
    "anothers-unit": (
        Call(argocd_project="team-chat"),
        PLUGIN,
        """\
TOP/trust.yaml: the Argo CD project "team-chat" may not have east/chat-70b rendered  [not-allowed]
  why  parameters stand in a repository too, so who may have a unit is said outside of all (poolwright trust in \
parameters)
  fix  add both to one entry of `allow`; it has clusters east; units chat-70b-next
poolwright: east/chat-70b refused: TOP/trust.yaml: the Argo CD project "team-chat" may not have east/chat-70b \
rendered; fix: add both to one entry of `allow`; it has clusters east; units chat-70b-next
""",
    ),
    "anothers-cluster": (
        Call(parameters=unit_parameters("lab", "chat-70b")),
        PLUGIN,
        """\
TOP/trust.yaml: the Argo CD project "inference-fleet-east" may not have lab/chat-70b rendered  [not-allowed]
  why  parameters stand in a repository too, so who may have a unit is said outside of all (poolwright trust in \
parameters)
  fix  add both to one entry of `allow`; it has clusters east; units *
poolwright: lab/chat-70b refused: TOP/trust.yaml: the Argo CD project "inference-fleet-east" may not have \
lab/chat-70b rendered; fix: add both to one entry of `allow`; it has clusters east; units *
""",
    ),
    "a-delivery-that-isnt-allowed": (
        Call(argocd_project="team-chat", parameters=unit_parameters("east", "chat-70b-next")),
        COMMITTED,
        """\
TOP/trust.yaml: the Argo CD project "team-chat" may have cluster east by plugin, and the Project says committed  \
[not-allowed]
  why  how a cluster is delivered decides what reviewers see before it runs (poolwright trust in parameters)
  fix  set the cluster's delivery back, or add committed to `deliveries`
poolwright: east/chat-70b-next refused: TOP/trust.yaml: the Argo CD project "team-chat" may have cluster east by \
plugin, and the Project says committed; fix: set the cluster's delivery back, or add committed to `deliveries`
""",
    ),
    "no-trust-file": (
        Call(trust=None),
        PLUGIN,
        """\
TOP/trust.yaml: the trust file isn't there  [trust-missing]
  why  it says which Argo CD projects may have which units; without one nobody may have any (poolwright trust in \
parameters)
  fix  mount one there (kind: TrustPolicy, with `allow`), or name it in POOLWRIGHT_TRUST of the sidecar
poolwright: east/chat-70b refused: TOP/trust.yaml: the trust file isn't there; fix: mount one there (kind: \
TrustPolicy, with `allow`), or name it in POOLWRIGHT_TRUST of the sidecar
""",
    ),
    "a-trust-file-with-mistakes": (
        Call(trust=TRUST.replace("units", "unit")),
        PLUGIN,
        """\
TOP/trust.yaml:4:5: "units" is missing in allow[0]  [missing-field]
  at   allow[0]
  why  it is required: Placements and `platform`, or `*` for both (poolwright.dev/v1alpha1)
  fix  add "units"
TOP/trust.yaml:4:61: unknown field "unit" in allow[0]  [unknown-field]
  at   allow[0].unit
  why  a field that isn't in the schema would have no effect, so it is refused (poolwright.dev/v1alpha1)
  fix  did you mean "units"? known here: argocdProject, clusters, deliveries, units
TOP/trust.yaml:5:5: "units" is missing in allow[1]  [missing-field]
  at   allow[1]
  why  it is required: Placements and `platform`, or `*` for both (poolwright.dev/v1alpha1)
  fix  add "units"
TOP/trust.yaml:5:50: unknown field "unit" in allow[1]  [unknown-field]
  at   allow[1].unit
  why  a field that isn't in the schema would have no effect, so it is refused (poolwright.dev/v1alpha1)
  fix  did you mean "units"? known here: argocdProject, clusters, deliveries, units
poolwright: east/chat-70b refused: TOP/trust.yaml:4:5: "units" is missing in allow[0] (and 3 more); fix: add "units"
""",
    ),
    "another-namespace": (
        Call(namespace="kube-system"),
        PLUGIN,
        """\
ARGOCD_APP_NAMESPACE: the destination's namespace is kube-system, and east/chat-70b isn't rendered into it  \
[plugin-destination]
  why  an Application that is about another namespace is a mistake, or asks for another's unit (Argo CD's plugin \
contract)
  fix  set spec.destination.namespace of the Application to chat
poolwright: east/chat-70b refused: ARGOCD_APP_NAMESPACE: the destination's namespace is kube-system, and \
east/chat-70b isn't rendered into it; fix: set spec.destination.namespace of the Application to chat
""",
    ),
    "no-namespace": (
        Call(namespace=""),
        PLUGIN,
        """\
ARGOCD_APP_NAMESPACE: the destination's namespace isn't said, and east/chat-70b isn't rendered into it  \
[plugin-destination]
  why  an Application that is about another namespace is a mistake, or asks for another's unit (Argo CD's plugin \
contract)
  fix  set spec.destination.namespace of the Application to chat
poolwright: east/chat-70b refused: ARGOCD_APP_NAMESPACE: the destination's namespace isn't said, and east/chat-70b \
isn't rendered into it; fix: set spec.destination.namespace of the Application to chat
""",
    ),
    "a-platform-into-another-namespace": (
        Call(parameters=unit_parameters("east", "platform"), namespace="argocd"),
        PLUGIN,
        """\
ARGOCD_APP_NAMESPACE: the destination's namespace is argocd, and east/platform isn't rendered into it  \
[plugin-destination]
  why  an Application that is about another namespace is a mistake, or asks for another's unit (Argo CD's plugin \
contract)
  fix  set spec.destination.namespace of the Application to chat or poolwright
poolwright: east/platform refused: ARGOCD_APP_NAMESPACE: the destination's namespace is argocd, and east/platform \
isn't rendered into it; fix: set spec.destination.namespace of the Application to chat or poolwright
""",
    ),
    "an-api-version-that-isnt-served": (
        Call(
            kube_version="1.33.4",
            served=("v1", "apps/v1", "resource.k8s.io/v1beta1", "resource.k8s.io/v1beta1/DeviceClass"),
        ),
        PLUGIN,
        """\
KUBE_API_VERSIONS: the destination cluster serves resource.k8s.io/v1beta1 and not resource.k8s.io/v1  [plugin-api]
  why  what is rendered follows from Kubernetes 1.36, which the cluster's stack pins (Argo CD's plugin contract)
  fix  let the cluster's stack pin the Kubernetes that it runs: 1.33.4
poolwright: east/chat-70b refused: KUBE_API_VERSIONS: the destination cluster serves resource.k8s.io/v1beta1 and not \
resource.k8s.io/v1; fix: let the cluster's stack pin the Kubernetes that it runs: 1.33.4
""",
    ),
    "too-little-was-sent": (
        Call(parameters=None, path=f"fleets/prod/{UNIT_PATH}", sent="fleets/prod/overlays/"),
        IN_FOLDER,
        """\
poolwright.yaml: poolwright.yaml wasn't sent: the plugin has nothing above fleets/prod/overlays of the repository  \
[project-missing]
  why  with --plugin-use-manifest-generate-paths, the annotation argocd.argoproj.io/manifest-generate-paths bounds \
what is sent; without, a link in source.path hides what is above it (Argo CD's plugin contract)
  fix  set the annotation argocd.argoproj.io/manifest-generate-paths: "/fleets/prod", so that all of the project is \
sent
poolwright: east/chat-70b refused: poolwright.yaml: poolwright.yaml wasn't sent: the plugin has nothing above \
fleets/prod/overlays of the repository; fix: set the annotation argocd.argoproj.io/manifest-generate-paths: \
"/fleets/prod", so that all of the project is sent
""",
    ),
    "nothing-but-the-folder-was-sent": (
        Call(parameters=None, path=UNIT_PATH, sent=f"{UNIT_PATH}/"),
        COMMITTED,
        """\
poolwright.yaml: poolwright.yaml wasn't sent: the plugin has nothing above overlays/east/chat-70b of the repository  \
[project-missing]
  why  with --plugin-use-manifest-generate-paths, the annotation argocd.argoproj.io/manifest-generate-paths bounds \
what is sent; without, a link in source.path hides what is above it (Argo CD's plugin contract)
  fix  set the annotation argocd.argoproj.io/manifest-generate-paths: "/", so that all of the project is sent
poolwright: east/chat-70b refused: poolwright.yaml: poolwright.yaml wasn't sent: the plugin has nothing above \
overlays/east/chat-70b of the repository; fix: set the annotation argocd.argoproj.io/manifest-generate-paths: "/", so \
that all of the project is sent
""",
    ),
    "no-project": (
        Call(path="specs"),
        {"specs/x.yaml": b""},
        """\
poolwright.yaml: there is no poolwright.yaml in specs or above it  [project-missing]
  why  that file is the root of a project: it names the clusters (Argo CD's plugin contract)
  fix  point source.path of the Application at the project's folder, or at one in it
poolwright: east/chat-70b refused: poolwright.yaml: there is no poolwright.yaml in specs or above it; fix: point \
source.path of the Application at the project's folder, or at one in it
""",
    ),
    "no-project-at-the-root": (
        Call(),
        {"x": b""},
        """\
poolwright.yaml: there is no poolwright.yaml in the repository's root  [project-missing]
  why  that file is the root of a project: it names the clusters (Argo CD's plugin contract)
  fix  point source.path of the Application at the project's folder, or at one in it
poolwright: east/chat-70b refused: poolwright.yaml: there is no poolwright.yaml in the repository's root; fix: point \
source.path of the Application at the project's folder, or at one in it
""",
    ),
    "a-committed-unit-that-isnt-there": (
        Call(),
        read_small_fleet(),
        """\
overlays/east/chat-70b: the committed folder isn't there  [tree-stale]
  why  it is what reviewers saw, and it isn't what the specs give now (poolwright tree on disk)
  fix  run `poolwright render` and commit what it writes
poolwright: east/chat-70b refused: overlays/east/chat-70b: the committed folder isn't there; fix: run `poolwright \
render` and commit what it writes
""",
    ),
    "a-packet-of-no-release": (
        Call(),
        edit(PLUGIN, PROJECT, ("delivery: plugin", "delivery: packet")),
        """\
poolwright.yaml:12:17: cluster "east" is delivered by packet, and no release is named  [delivery-release]
  at   spec.clusters[0].delivery
  why  what is taken from a release is taken from the one that the Project names (poolwright.dev/v1alpha1)
  fix  write release: NAME, of a folder in releases/
poolwright: east/chat-70b refused: poolwright.yaml:12:17: cluster "east" is delivered by packet, and no release is \
named; fix: write release: NAME, of a folder in releases/
""",
    ),
    "a-committed-unit-that-is-stale": (
        Call(),
        {**COMMITTED, f"{UNIT_PATH}/poddisruptionbudget.yaml": b"kind: Mine\n"},
        """\
overlays/east/chat-70b: the committed folder was edited by hand (poddisruptionbudget.yaml)  [tree-stale]
  why  it is what reviewers saw, and it isn't what the specs give now (poolwright tree on disk)
  fix  restore the files, or run `poolwright render --discard-edits`, and commit
poolwright: east/chat-70b refused: overlays/east/chat-70b: the committed folder was edited by hand \
(poddisruptionbudget.yaml); fix: restore the files, or run `poolwright render --discard-edits`, and commit
""",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_says_what_to_do(name: str, tmp_path: Path) -> None:
    asked, files, said = REFUSED[name]
    assert call(asked, files, tmp_path) == Ran(2, "", said.replace("TOP", str(tmp_path)))
    last = said.splitlines()[-1]
    assert len(last.encode()) < 300
    assert len(said.encode()) < 2000


MANY = edit(
    PLUGIN,
    ENVELOPE,
    *(
        (f"  {name}:", f"  {name}{'x' * 150}:")
        for name in ("owner", "replicaBehavior", "startup", "topology", "precision", "load", "model", "engine")
    ),
)


def test_many_problems_are_counted(tmp_path: Path) -> None:
    """What Argo CD keeps is bounded; whole findings are said, and how many more there are."""
    ran = call(Call(), MANY, tmp_path)
    *findings, more, last = ran.stderr.splitlines()
    assert (ran.code, ran.stdout) == (2, "")
    assert 1200 < len(ran.stderr.encode()) <= 2000
    headlines = [line for line in findings if not line.startswith("  ")]
    assert findings[-1].startswith("  fix  ")
    assert more == f"... {14 - len(headlines)} problems not shown here: run `poolwright check`"
    assert last.startswith("poolwright: east/chat-70b refused: specs/envelopes/chat-70b/2.3.0.yaml:")
    assert " (and 13 more); fix: " in last
    assert len(last.encode()) < 300


def test_names_of_any_length_leave_room_for_what_to_do(tmp_path: Path) -> None:
    ran = call(Call(parameters=unit_parameters("east", "x\n" + "é" * 4000)), PLUGIN, tmp_path)
    last = ran.stderr.splitlines()[-1]
    assert (ran.code, ran.stdout) == (2, "")
    assert len(ran.stderr.encode()) <= 2000
    assert last.startswith("poolwright: east/x\\n" + "é" * 24 + "... refused: poolwright.yaml: cluster ")
    assert last.endswith("...; fix: name one of: chat-70b, chat-70b-next, platform")
    assert 290 < len(last.encode()) < 300


TAKEN = {
    ("--cluster", "east", "--unit", "chat-70b", "--argocd"): "with a unit",
    ("--argocd", "--project", "."): "with a project",
    ("--argocd", "--argocd"): "twice",
}


@pytest.mark.parametrize("options", TAKEN, ids=TAKEN.get)
def test_it_takes_no_other_option(options: tuple[str, ...], tmp_path: Path) -> None:
    said = (
        "poolwright generate: --argocd takes no other option: cluster and unit are the Application's; see `poolwright "
        "generate --help`\n"
    )
    assert call(Call(), PLUGIN, tmp_path, ("generate", *options)) == Ran(2, "", said)


INSIDE = """\
PLACE: the trust file lies in a project  [trust-inside]
  why  who may write to a repository would decide what they may have (poolwright trust in parameters)
  fix  mount it from outside, at /etc/poolwright/trust.yaml, or name another in POOLWRIGHT_TRUST of the sidecar
poolwright: east/chat-70b refused: PLACE: the trust file lies in a project; fix: mount it from outside, at \
/etc/poolwright/trust.yaml, or name another in POOLWRIGHT_TRUST of the sidecar
"""
PLACES = {
    "in-the-project": "sent/trust.yaml",
    "relative-to-the-folder": "trust.yaml",
    "by-a-link": "outside/trust.yaml",
    # Not in a project, and still where a repository put it.
    "beside-the-project": "sent/../sent/x/../trust.yaml",
}


@pytest.mark.parametrize("name", PLACES)
def test_no_repository_brings_its_own_trust(name: str, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/trust.yaml").symlink_to("../sent/trust.yaml")
    place = PLACES[name] if name == "relative-to-the-folder" else str(tmp_path / PLACES[name])
    files = {**PLUGIN, "trust.yaml": TRUST.encode(), "x/y": b""}
    ran = call(Call(trust=None, more={"POOLWRIGHT_TRUST": place}), files, tmp_path)
    assert ran == Ran(2, "", INSIDE.replace("PLACE", place))


def test_what_was_sent_holds_none_either(tmp_path: Path) -> None:
    """Above the project, but from the repository."""
    files = {**{f"fleets/prod/{path}": data for path, data in PLUGIN.items()}, "trust.yaml": TRUST.encode()}
    place = str(tmp_path / "sent/trust.yaml")
    ran = call(Call(trust=None, path="fleets/prod", more={"POOLWRIGHT_TRUST": place}), files, tmp_path)
    assert ran == Ran(2, "", INSIDE.replace("PLACE", place))


def test_nothing_of_a_project_is_said_to_who_may_not_have_it(tmp_path: Path) -> None:
    """Its specs aren't even read: what is wrong with them is nobody else's business."""
    files = {**PLUGIN, "poolwright.yaml": b"spec: [", "specs/x.yaml": b"{"}
    said = REFUSED["another-project-of-argo-cd"][2].replace("TOP", str(tmp_path))
    assert call(Call(argocd_project="default"), files, tmp_path) == Ran(2, "", said)


LARGE = Request(
    cluster="east",
    unit="chat-70b",
    release="",
    path=(),
    argocd_project="a",
    namespace="chat",
    kubernetes="",
    api_versions=frozenset(),
    max_bytes=1000,
)


def test_more_than_argo_cd_takes_is_refused() -> None:
    assert check_size(b"x" * 1000, LARGE) is None
    refused = check_size(b"x" * 1001, LARGE)
    assert refused is not None
    assert render_refusal("east/chat-70b", [refused]) == (
        "ARGOCD_GRPC_MAX_SIZE_MB: east/chat-70b has 1,001 bytes, and 1,000 is the most  [plugin-output]\n"
        "  why  Argo CD takes messages up to a limit, and objects grow on the way (Argo CD's plugin contract)\n"
        "  fix  make the unit smaller, or raise ARGOCD_GRPC_MAX_SIZE_MB of the repo-server and the sidecar\n"
        "poolwright: east/chat-70b refused: ARGOCD_GRPC_MAX_SIZE_MB: east/chat-70b has 1,001 bytes, and 1,000 is the "
        "most; fix: make the unit smaller, or raise ARGOCD_GRPC_MAX_SIZE_MB of the repo-server and the sidecar\n"
    )


@pytest.mark.parametrize(("said", "mebibytes"), [("", 50), ("200", 100), ("0", 50), ("-1", 50), ("1e3", 50), ("٣", 50)])
def test_the_limit_is_half_of_a_message(said: str, mebibytes: int) -> None:
    environment = {"ARGOCD_APP_SOURCE_PATH": UNIT_PATH, "ARGOCD_APP_PROJECT_NAME": "a", "ARGOCD_GRPC_MAX_SIZE_MB": said}
    assert read_request(environment).max_bytes == mebibytes << 20
