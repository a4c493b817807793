"""What runs of a cluster's workloads, and what is still to be placed, from objects as an API server prints them."""

from __future__ import annotations

from typing import Any

import pytest
from live_objects import (
    CLUSTER,
    FEATURES,
    HASH,
    LWS,
    PEAK,
    TEMPLATE,
    deployment,
    groups,
    list_rest,
    live,
    observe,
    owned,
    pod_with,
    replica,
)

from given_cluster import GPU, WHOLE, Json, as_file, build, claim, exactly, gpu, holds, node, pod, slice_of, template
from poolwright.allocation.parse_objects import parse_objects
from poolwright.plan.from_objects import Peak, Reservation, build_demand
from poolwright.plan.live.restart import Restarts, judge_restarts
from poolwright.plan.live.scenario import Rest, build_live
from poolwright.plan.live.whole import judge_live
from poolwright.plan.verdict import Move, Verdict, Witness
from poolwright.plan.verdict import exactly as count
from poolwright.specs.document import parse_documents


def test_replicas_that_run_are_not_placed_again() -> None:
    found = live(*replica(0), *replica(1))
    assert [one.name for one in found.workloads[0].running] == ["p0", "p1"]
    assert found.rests == (Rest(workload="chat/a", first=2, places=(0,)),)
    assert list_rest(found) == [("chat/a", 1, 1)]
    assert (len(found.demand.held), found.strangers, found.demand.scenario) == (2, 0, "live")
    (verdict,) = judge_live(found).verdicts
    assert (verdict.word, verdict.replicas, verdict.always, verdict.at_best) == ("always-fits", 3, count(3), count(3))


def test_a_peak_that_is_reached() -> None:
    """Also by more than it: an autoscaler that was lowered, say."""
    for peak in (2, 1):
        found = live(*replica(0), *replica(1), peaks={("chat", "a"): Peak(replicas=peak, minimum=1)})
        assert (len(found.workloads[0].running), found.workloads[0].to_place, found.demand.workloads) == (2, 0, ())
        judgement = judge_live(found)
        (verdict,) = judgement.verdicts
        assert verdict == Verdict(
            workload="chat/a",
            word="always-fits",
            replicas=peak,
            always=count(peak),
            at_best=count(peak),
            method="running",
            lands_on=verdict.lands_on,
        )
        assert [one.kind for one in verdict.lands_on] == ["gpu"]
        assert (judgement.demanded, judgement.shortfall) == (peak, count(0))


LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def test_what_others_hold_stays() -> None:
    """Of a stranger, of a pod that ended, of a claim that goes: until then nobody else has the device."""
    ended = replica(1, owner=owned("Job", "train"))
    ended[1]["status"]["phase"] = "Succeeded"
    going = replica(2, owner=owned("Job", "other"), claim_metadata=LEAVING)
    found = live(*replica(0, owner={}), *ended, *going)
    assert (len(found.demand.held), found.strangers) == (3, 3)
    (verdict,) = judge_live(found).verdicts
    assert (verdict.word, verdict.at_best) == ("unsatisfied", count(1))


def test_a_pod_that_leaves_holds_and_does_not_count() -> None:
    leaving = replica(0)
    leaving[1]["metadata"] |= LEAVING
    found = live(*leaving, *replica(1))
    one = found.workloads[0]
    assert ([running.name for running in one.running], one.leaving, one.to_place) == (["p1"], 1, 2)
    assert (len(found.demand.held), found.strangers) == (2, 0)


def test_a_pod_that_got_its_node_without_devices() -> None:
    found = live(*replica(0), *pod_with("p1", owned("ReplicaSet", "a-f00", **HASH), None))
    assert (len(found.workloads[0].running), found.workloads[0].bypassed, found.workloads[0].to_place) == (1, 1, 2)


OLDER = {
    "same": ({}, False),
    "template-of-another-name": ({"of": "before"}, True),
    "asks-for-more": ({"request": exactly("gpu", count=2)}, True),
    "asks-with-a-selector": (
        {"request": exactly("gpu", GPU, "device.attributes['gpu.nvidia.com'].type == 'gpu'")},
        True,
    ),
}


@pytest.mark.parametrize("name", OLDER)
def test_older_templates(name: str) -> None:
    more, is_older = OLDER[name]
    found = live(*replica(0, **more))
    assert [one.is_older for one in found.workloads[0].running] == [is_older]


def member(group: int, place: int, device: str | None, *, size: int = 2, node_name: str = "node-a") -> list[Json]:
    labels = {f"{LWS}/name": "g", f"{LWS}/group-index": f"{group}", f"{LWS}/worker-index": f"{place}"}
    owner = owned("StatefulSet", f"g-{group}" if place else "g", **labels)
    owner["annotations"] = {f"{LWS}/size": f"{size}"}
    return pod_with(f"g-{group}-{place}", owner, device, node_name=node_name)


GROUPS = (WHOLE, TEMPLATE, groups("g", 2))
TWO_GROUPS = {("chat", "g"): Peak(replicas=2, minimum=1)}


def test_groups_run_as_a_whole() -> None:
    """A group that has a half of its devices keeps that, and lacks the other half: no more than one device."""
    found = live(
        *(part for place in (0, 1) for part in member(0, place, f"gpu-{place}")),
        *member(1, 0, "gpu-2"),
        *member(1, 1, None, node_name=""),
        applied=GROUPS,
        peaks=TWO_GROUPS,
    )
    (one,) = found.workloads
    assert ([running.name for running in one.running], [begun.name for begun in one.begun]) == (["g-0"], ["g-1"])
    assert found.rests == (Rest(workload="chat/g", first=1, places=(1,)),)
    assert list_rest(found) == [("chat/g (g-1)", 1, 1)]
    (verdict,) = judge_live(found).verdicts
    assert (verdict.word, verdict.always, verdict.headroom_best) == ("always-fits", count(2), None)


def test_a_begun_group_and_whole_ones() -> None:
    """One device is free: it completes the begun group, or goes to a third one, which then lacks its other half."""
    peaks = {("chat", "g"): Peak(replicas=3, minimum=1)}
    begun = [*(part for place in (0, 1) for part in member(0, place, f"gpu-{place}")), *member(1, 0, "gpu-2")]
    found = live(*begun, applied=GROUPS, peaks=peaks)
    assert list_rest(found) == [("chat/g (g-1)", 1, 1), ("chat/g", 1, 2)]
    judgement = judge_live(found)
    (verdict,) = judgement.verdicts
    assert (verdict.word, verdict.always, verdict.at_best) == ("unsatisfied", count(1), count(2))
    assert (judgement.demanded, judgement.shortfall.least) == (3, 1)


def test_witnesses_name_the_pods_of_the_whole() -> None:
    """Two of a run; the begun group's other pod may take the device that the last of them needs."""
    peaks = {("chat", "g"): Peak(replicas=1, minimum=1), ("chat", "a"): Peak(replicas=3, minimum=1)}
    begun = [*replica(1), *replica(2), *member(0, 0, "gpu-0")]
    found = live(*begun, applied=(*GROUPS, deployment()), peaks=peaks)
    group, single = judge_live(found).verdicts
    assert (group.word, str(group.always), str(group.at_best)) == ("order-dependent", "0", "1")
    assert (single.word, str(single.always), str(single.at_best)) == ("order-dependent", "2", "3")
    device, node_a = ((GPU, "node-a", "gpu-3"),), "node-a"
    assert single.worst == Witness(
        moves=(Move(workload="chat/g", replica=0, pod=1, node=node_a, devices=device),), placed=2, replays="now"
    )
    assert group.worst == Witness(
        moves=(Move(workload="chat/a", replica=2, pod=0, node=node_a, devices=device),), placed=0, replays="now"
    )


def test_a_group_of_another_size_is_older() -> None:
    found = live(*member(0, 0, "gpu-0", size=1), applied=GROUPS, peaks=TWO_GROUPS)
    assert [(one.name, one.is_older) for one in found.workloads[0].running] == [("g-0", True)]
    found = live(*member(0, 0, "gpu-0"), applied=GROUPS, peaks=TWO_GROUPS)
    assert ([one.name for one in found.workloads[0].begun], found.workloads[0].running) == (["g-0"], ())
    unread = member(0, 0, "gpu-0")
    unread[1]["metadata"]["annotations"] = {f"{LWS}/size": "two"}
    found = live(*unread, applied=GROUPS, peaks=TWO_GROUPS)
    assert [one.name for one in found.workloads[0].begun] == ["g-0"]


NAMED = {"name": "gpu", "resourceClaimName": "all"}
SHARING = (WHOLE, claim("all", exactly("gpu"), namespace="chat"), deployment("a", NAMED))


def sharing(number: int) -> Json:
    owner = owned("ReplicaSet", "a-f00", **HASH)
    return pod(
        f"p{number}",
        claims={"gpu": "all"},
        namespace="chat",
        metadata={"uid": f"uid-p{number}", **owner},
        nodeName="node-a",
    )


def shared(**metadata: Any) -> Json:
    return claim(
        "all", exactly("gpu"), namespace="chat", held=[holds("gpu-0")], node="node-a", reserved=["uid-p0"], **metadata
    )


def test_a_claim_with_a_name_of_its_own_is_where_it_is() -> None:
    found = live(shared(), sharing(0), applied=SHARING)
    (rest,) = found.demand.workloads
    assert rest.pods[0].claims[0].allocation == found.demand.held[0].allocation
    (verdict,) = judge_live(found).verdicts
    assert (verdict.word, verdict.replicas, verdict.always) == ("always-fits", 3, count(3))


def test_a_claim_that_is_being_deleted_takes_no_more_users() -> None:
    found = live(shared(**LEAVING), sharing(0), applied=SHARING)
    (verdict,) = judge_live(found).verdicts
    assert (verdict.word, verdict.always, verdict.reasons) == (
        "error",
        count(1),
        ('resourceclaim "all" is being deleted',),
    )


def test_pods_that_wait_compete() -> None:
    """Two strangers that are alike, one that asks for another class, and one whose claim isn't there."""
    job = owned("Job", "train")
    other = pod_with("q", job, None, node_name="", request=exactly("gpu", "other"))
    unknown = pod("x", templates={"gpu": "elsewhere"}, namespace="chat", metadata={"uid": "x"})
    waiting = [part for name in ("t0", "t1") for part in pod_with(name, job, None, node_name="")]
    found = live(*replica(0), *waiting, *other, unknown)
    assert list_rest(found) == [("chat/a", 2, 1), ("Pod chat/t0", 2, 1)]
    assert found.uncounted == 2
    judgement = judge_live(found)
    assert [(one.workload, one.word, one.always) for one in judgement.verdicts] == [
        ("chat/a", "order-dependent", count(2)),
        ("Pod chat/t0", "order-dependent", count(1)),
    ]
    assert (judgement.demanded, judgement.shortfall) == (5, count(1))


def test_own_pods_beyond_the_peak_compete() -> None:
    owner = owned("ReplicaSet", "a-f00", **HASH)
    waiting = [part for name in ("w0", "w1", "w2") for part in pod_with(name, owner, None, node_name="")]
    found = live(*replica(0), *waiting, peaks={("chat", "a"): Peak(replicas=2, minimum=1)})
    assert list_rest(found) == [("chat/a", 1, 1), ("Pod chat/w1", 2, 1)]


def test_reservations_are_for_others() -> None:
    """Of three reserved devices strangers have one; those that a judged workload has don't count."""
    reserved = [Reservation(name="training", class_name=GPU, count=3)]
    found = live(*replica(0), *replica(1, owner=owned("Job", "train")), reservations=reserved)
    assert list_rest(found) == [("chat/a", 2, 1), ("training", 2, 1)]


def test_what_others_hold_is_of_one_reservation() -> None:
    reserved = [Reservation(name=name, class_name=GPU, count=count) for name, count in (("notebooks", 1), ("more", 2))]
    found = live(*replica(1, owner=owned("Job", "train")), reservations=reserved)
    assert list_rest(found) == [("chat/a", 3, 1), ("more", 2, 1)]


def test_held_devices_that_are_not_published() -> None:
    found = live(*replica(0), *replica(9))
    assert found.unpublished == (((GPU, "node-a", "gpu-9"), "chat/p9-gpu"),)
    newer = [*CLUSTER, slice_of("node-a", gpu(1), name="newer", generation=2)]
    snapshot = observe(*replica(0), cluster=newer)
    built = parse_objects(parse_documents(as_file((WHOLE, TEMPLATE, deployment())), "applied.json"))
    there = snapshot.cluster
    fresh = build_demand(built, FEATURES, nodes=there.nodes, slices=there.slices, peaks=PEAK)
    assert [device[2] for device, _ in build_live(built, fresh, snapshot).unpublished] == ["gpu-0"]


def test_restarts_that_would_be_stuck() -> None:
    """The class moved to hardware that isn't there: who runs keeps running, and couldn't come back."""
    moved = build("DeviceClass", GPU, spec={"selectors": [{"cel": {"expression": "device.driver == 'gone'"}}]})
    found = live(*replica(0), *replica(1), applied=(moved, TEMPLATE, deployment()))
    assert judge_restarts(found) == (
        Restarts(
            workload="chat/a",
            stuck=2,
            reasons=("request gpu: 4 devices on 1 node: 4 of other drivers (gpu.nvidia.com); 0 left, 1 wanted",),
        ),
    )
    (verdict,) = judge_live(found).verdicts
    assert (verdict.word, verdict.always) == ("unsatisfied", count(2))
    assert judge_restarts(live(*replica(0), *replica(1))) == (Restarts(workload="chat/a"),)


def test_a_group_that_restarts_needs_all_its_devices() -> None:
    """Its own are given back for it. With one more claim they wouldn't suffice, though either pod alone finds room."""
    whole = [part for place in (0, 1) for part in member(0, place, f"gpu-{place}")]
    strangers = [part for number in (2, 3) for part in replica(number, owner=owned("Job", f"j{number}"))]
    assert judge_restarts(live(*whole, *strangers, applied=GROUPS, peaks=TWO_GROUPS)) == (Restarts(workload="chat/g"),)
    larger = template("one", exactly("gpu", count=2), namespace="chat")
    found = live(*whole, *strangers, applied=(WHOLE, larger, groups("g", 2)), peaks=TWO_GROUPS)
    assert judge_restarts(found) == (Restarts(workload="chat/g", unknown=1),)


BY_NAME = {
    "after-the-minute": ("nightly-29123456", 0),
    "a-job-of-its-own": ("nightly-by-hand", 1),
}


@pytest.mark.parametrize(("job", "strangers"), BY_NAME.values(), ids=BY_NAME)
def test_pods_of_a_cron_job_whose_jobs_were_not_captured(job: str, strangers: int) -> None:
    pods = deployment()["spec"]["template"]
    spec = {"concurrencyPolicy": "Forbid", "jobTemplate": {"spec": {"template": pods}}}
    nightly = build("CronJob", "nightly", spec=spec, api="batch/v1", namespace="chat")
    found = live(*replica(0, owner=owned("Job", job)), applied=(WHOLE, TEMPLATE, nightly), peaks={})
    assert (len(found.workloads[0].running), found.strangers) == (1 - strangers, strangers)


def test_a_daemon_set_runs_when_each_of_its_pods_does() -> None:
    """The one on node-a runs; on node-b somebody else has the device, and the DaemonSet's pod there waits."""
    daemons = {"kind": "DaemonSet", "name": "a", "uid": "uid-a", "apiVersion": "apps/v1", "controller": True}
    first = pod_with("a-x", {"ownerReferences": [daemons]}, "gpu-0")
    other = pod_with("other", {}, "gpu-0", node_name="node-b")
    other[0]["status"]["allocation"]["devices"]["results"][0]["pool"] = "node-b"
    applied = deployment(kind="DaemonSet")
    del applied["spec"]["replicas"]
    nodes = [node("node-a"), node("node-b"), slice_of("node-a", gpu(0)), slice_of("node-b", gpu(0))]
    snapshot = observe(*first, *other, cluster=nodes)
    built = parse_objects(parse_documents(as_file((WHOLE, TEMPLATE, applied)), "applied.json"))
    fresh = build_demand(built, FEATURES, nodes=snapshot.cluster.nodes, slices=snapshot.cluster.slices, peaks={})
    found = build_live(built, fresh, snapshot)
    assert [(len(one.running), one.to_place) for one in found.workloads] == [(0, 1)]
    (verdict,) = judge_live(found).verdicts
    assert (verdict.word, verdict.at_best) == ("unsatisfied", count(0))
