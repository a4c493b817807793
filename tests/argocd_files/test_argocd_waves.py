"""Waves: what is rendered is applied after what it needs, nothing waits for a claim, and the page says so."""

from __future__ import annotations

import copy
from itertools import groupby, takewhile

import pytest
from health_scripts import KINDS, judge
from sync_order import order_sync, read_wave

from fleet import ROOT, edit, load_closures
from poolwright.catalog.closure import PlatformClosure, UnitClosure
from poolwright.objects.kubernetes import SYNC_OPTIONS, SYNC_WAVE, UNIT, Object
from poolwright.objects.unit import build_objects
from unit_objects import FLEET, objects_of

PAGE = ROOT / "docs" / "how-to" / "argocd-admin.md"
CLOSURES = load_closures(FLEET)
# What an Application of each kind of unit has.
APPLICATIONS = {
    f"{closure.on.cluster}-{closure.unit if isinstance(closure, UnitClosure) else 'platform'}": build_objects(closure)
    for closure in CLOSURES
    if isinstance(closure, UnitClosure | PlatformClosure)
}
RENDERED = [document for objects in APPLICATIONS.values() for document in objects]
WORKLOADS = ("Deployment", "LeaderWorkerSet")


def test_page_has_every_kind_in_its_wave() -> None:
    rendered: dict[int, set[str]] = {}
    for document in RENDERED:
        rendered.setdefault(read_wave(document), set()).add(document["kind"])
    table = [(int(wave), kinds) for (wave,), kinds, _ in read_table(["wave", "kinds", "why then"])]
    assert table == [(wave, sorted(kinds)) for wave, kinds in sorted(rendered.items())]


def test_page_has_every_kind_with_a_script() -> None:
    kinds = [kind for cell, *_ in read_table(["kind", "Progressing", "Degraded", "Healthy says"]) for kind in cell]
    assert sorted(kinds) == sorted(kind.rpartition("_")[2] for kind in KINDS)


def read_table(head: list[str]) -> list[list[list[str]]]:
    """The rows of a table of the page, each cell a list."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index(f"| {' | '.join(head)} |") + 2
    rows = takewhile(lambda line: line.startswith("|"), lines[start:])
    return [[cell.strip().split(", ") for cell in row.split("|")[1:-1]] for row in rows]


@pytest.mark.parametrize("objects", APPLICATIONS.values(), ids=APPLICATIONS)
def test_what_others_need_comes_in_an_earlier_wave(objects: tuple[Object, ...]) -> None:
    order = order_sync(objects)
    assert sorted(step.wave for step in order) == [step.wave for step in order]
    for before, after in (
        (("Namespace",), ("DeviceClass", "ResourceQuota", "ValidatingAdmissionPolicy", "ConfigMap", *WORKLOADS)),
        (("DeviceClass", "PriorityClass", "ValidatingAdmissionPolicy"), ("ResourceClaimTemplate", *WORKLOADS)),
        (("ResourceClaim", "ResourceClaimTemplate"), WORKLOADS),
        (WORKLOADS, ("HTTPRoute", "InferencePool", "InferenceObjective", "PodMonitor", "PrometheusRule")),
    ):
        first = [step.wave for step in order if step.kind in before]
        then = [step.wave for step in order if step.kind in after]
        assert max(first, default=-99) < min(then, default=99)


def test_without_waves_claims_would_come_after_their_workload() -> None:
    """Argo CD's order of kinds doesn't know them: the waves aren't for show."""
    objects = copy.deepcopy(objects_of(FLEET, "chat-70b"))
    for document in objects:
        document["metadata"].get("annotations", {}).pop(SYNC_WAVE, None)
    kinds = [step.kind for step in order_sync(objects)]
    assert kinds.index("Deployment") < kinds.index("ResourceClaimTemplate")


def test_only_a_workload_can_hold_up_the_wave_after_it() -> None:
    """Of the waves that others follow; before anything is there, as at a first sync."""
    waiting = set()
    for objects in APPLICATIONS.values():
        last = max(map(read_wave, objects))
        waiting |= {document["kind"] for document in objects if read_wave(document) < last and waits(document)}
    assert waiting == {"Deployment", "LeaderWorkerSet", "PodDisruptionBudget"}


def waits(document: Object) -> bool:
    """Whether Argo CD may find an object Progressing or Degraded."""
    group = document["apiVersion"].rpartition("/")[0]
    kind = "_".join(filter(None, (group, document["kind"])))
    # Argo CD's own checks; a Service is waited for only if it is a LoadBalancer's.
    if document["kind"] in ("Deployment", "PodDisruptionBudget", "HTTPRoute"):
        return True
    return kind.endswith("LeaderWorkerSet") or (kind in SAYS_BAD and judge(kind, SAYS_BAD[kind])["status"] != "Healthy")


_BAD = {"type": "Ready", "status": "False"}
_REFUSED = {"status": {"parents": [{"conditions": [_BAD]}], "bindings": [{"conditions": [_BAD]}]}}
# The worst that can stand in the status of what Argo CD applies.
SAYS_BAD = {
    "inference.networking.k8s.io_InferencePool": _REFUSED,
    "inference.networking.x-k8s.io_InferenceObjective": _REFUSED,
    "monitoring.coreos.com_PodMonitor": _REFUSED,
    "monitoring.coreos.com_PrometheusRule": _REFUSED,
    "resource.k8s.io_ResourceClaim": {"status": {"allocation": {}, "devices": [{"conditions": [_BAD]}]}},
}


PROMOTED = ("name: chat-70b, version: 2.3.0", "name: chat-70b, version: 2.4.0")


def test_the_old_template_goes_when_all_else_is_done() -> None:
    """Until then an old pod that dies can be made again. What follows of the new version is waited for before that."""
    before = objects_of(FLEET, "chat-70b")
    after = objects_of(edit(FLEET, "specs/placements/east.yaml", PROMOTED), "chat-70b")
    (old,), (new,) = (
        [one["metadata"]["name"] for one in part if "Template" in one["kind"]] for part in (before, after)
    )
    waves = groupby(order_sync(after, before), key=lambda step: step.wave)
    assert {wave: sorted(f"{'-' * step.prune}{step.kind} {step.name}" for step in steps) for wave, steps in waves} == {
        -10: [f"ResourceClaimTemplate {new}"],
        0: [
            "ConfigMap chat-70b-envelope",
            "Deployment chat-70b",
            "PodDisruptionBudget chat-70b",
            "Service chat-70b",
        ],
        10: [
            "HTTPRoute chat-70b",
            "InferenceObjective chat-70b",
            "InferencePool chat-70b",
            "PodMonitor chat-70b",
            "PrometheusRule chat-70b",
        ],
        11: [f"-ResourceClaimTemplate {old}"],
    }


def test_namespaces_are_never_pruned() -> None:
    platform = APPLICATIONS["lab-platform"]
    gone = order_sync((), platform)
    assert {step.kind for step in gone} == {document["kind"] for document in platform} - {"Namespace"}
    assert all(step.prune for step in gone)


def test_who_asks_before_pruning_and_what_is_pruned_last() -> None:
    said: dict[str, set[str]] = {}
    for closure in CLOSURES:
        for document in build_objects(closure):
            option = document["metadata"].get("annotations", {}).get(SYNC_OPTIONS)
            if option is not None:
                said.setdefault(option, set()).add(f"{document['kind']} {owner_of(document)}".rstrip())
    assert said == {
        "Prune=false": {"Namespace"},
        "PruneLast=true": {"ResourceClaim", "ResourceClaimTemplate"},
        "Prune=confirm": {"Application platform", "Application gpu-operator"},
    }


def owner_of(document: Object) -> str:
    """Of an Application the unit or the chart."""
    if document["kind"] != "Application":
        return ""
    source = document["spec"]["source"]
    return str(source.get("chart") or document["metadata"]["labels"][UNIT])
