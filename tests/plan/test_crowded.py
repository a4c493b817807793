"""Pools whose placements take more devices together than there are."""

from __future__ import annotations

import pytest

from fleet import FACTS, FLEET, Files, edit, list_specs
from folders import read_files
from poolwright.catalog.inventory import parse_inventory
from poolwright.plan.pricing.cluster import PricedCluster, price_cluster
from poolwright.plan.pricing.crowded import check_crowding
from poolwright.plan.promises.promised import list_tolerances
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import render_text
from poolwright.specs.parse import parse_specs
from poolwright.specs.resolve import resolve_cluster

FILES = read_files(FLEET)
INVENTORY = "inventory/east.yaml"
EAST, ALPHA = "specs/placements/east.yaml", "specs/placements/lab-alpha.yaml"
FULL, MIG = "specs/pools/h100-full.yaml", "specs/pools/static-mig.yaml"
REASON = ("minReplicas: 1\n  zone: east-b\n  surge: 0", "minReplicas: {}\n  zone: east-b\n  surge: 0")


def size_chat(most: int, least: int = 2) -> Files:
    return edit(FILES, EAST, ("minReplicas: 2\n  maxReplicas: 3", f"minReplicas: {least}\n  maxReplicas: {most}"))


def size_reason(replicas: int) -> Files:
    return edit(FILES, EAST, (REASON[0], REASON[1].format(replicas)))


def say(files: Files, cluster: str = "east") -> str:
    specs = parse_specs(list_specs(files))
    on = resolve_cluster(specs, cluster)[0]
    assert on is not None
    captured = None
    if cluster == "east":
        captured = parse_inventory(parse_documents(files[INVENTORY], INVENTORY), INVENTORY)
    priced = price_cluster(specs, on, captured, files, FACTS)
    return render_text(check_crowding(priced, list(list_tolerances(specs, cluster))))


def test_who_takes_how_many() -> None:
    """Six planned nodes and a captured one of eight each."""
    assert say(size_chat(14)) == (
        'specs/pools/h100-full.yaml:20:5: pool "h100-full" is crowded: placements take 87 devices of class '
        "interactive-80g at their peak, and 56 are there: chat-70b 60 (4 of them surge, 4 spare), reason-671b 16, "
        "tenants-8b-b 3 (1 of them surge, 1 spare), prefill-8b 2 (1 of them surge), rag-8b 2 (1 of them surge), "
        "reserved for team-training 2, tenants-8b 2 (1 of them surge, 1 spare)  [pool-crowded]\n"
        "  at   spec.deviceClasses\n"
        "  why  counted are maxReplicas and surge of all that may not wait, and reservations; if the number is enough, "
        "poolwright plan proves whether they fit on the nodes (poolwright.dev/v1alpha1)\n"
        "  fix  31 devices more, or maxReplicas 6 of chat-70b\n"
    )


def test_after_a_loss() -> None:
    files = edit(size_chat(6, least=6), FULL, ("tolerateLoss: {nodes: 1}", "tolerateLoss: {nodes: 2}"))
    assert say(files) == (
        'specs/pools/h100-full.yaml:49:27: pool "h100-full" is crowded: placements take 47 devices of class '
        "interactive-80g at minReplicas, and the loss of any 2 nodes may leave 40 of 56: chat-70b 24 (4 of them "
        "spare), reason-671b 16, reserved for team-training 2, tenants-8b-b 2 (1 of them spare), prefill-8b 1, rag-8b "
        "1, tenants-8b 1 (1 of them spare)  [pool-crowded]\n"
        "  at   spec.headroom.tolerateLoss.nodes\n"
        "  why  the pool promises that every minReplicas survives such a loss; counted are all that may not wait, and "
        "reservations (poolwright.dev/v1alpha1)\n"
        "  fix  7 devices more that such a loss leaves, or minReplicas 4 of chat-70b\n"
    )


MORE_GUARDS = ("minReplicas: 2\n  surge: 1\n---\n", "minReplicas: 16\n  surge: 1\n---\n")
# One zone of the two has six nodes, and two placements must be there.
IN_ZONE = size_reason(3)
CASES = {
    "the-example": (FILES, "east", ""),
    "a-mend-is-enough": (size_chat(6), "east", ""),
    "a-replica-more-is-not": (size_chat(7), "east", "take 59 devices of class interactive-80g at their peak, and 56"),
    "in-a-zone": (IN_ZONE, "east", "take 51 devices of class interactive-80g in zone east-b at their peak, and 48"),
    "what-may-wait-is-not-counted": (edit(FILES, EAST, ("minReplicas: 4", "minReplicas: 400")), "east", ""),
    "partitions": (
        edit(FILES, EAST, MORE_GUARDS),
        "east",
        "of class mig-20g at their peak, and 8 are there: guard-1b7 17 (1 of them surge, 1 spare), rewrite-0b6 1",
    ),
    # Any number of pods may share a device: how much each takes of it isn't counted.
    "shares": (edit(FILES, ALPHA, ("minReplicas: 1", "minReplicas: 400")), "lab-alpha", ""),
    "any-two-devices": (
        edit(size_chat(6, least=6), FULL, ("{nodes: 1}", "{devices: 10}")),
        "east",
        "47 devices of class interactive-80g at minReplicas, and the loss of any 10 devices may leave 46 of 56",
    ),
    # Whom no device is for isn't among those that crowd others.
    "a-class-without-devices": (
        edit(edit(FILES, FULL, ("min: 79Gi, below: 90Gi", "min: 200Gi, below: 300Gi")), EAST, MORE_GUARDS),
        "east",
        "are there: guard-1b7 17 (1 of them surge, 1 spare), rewrite-0b6 1  [",
    ),
    # The zone of six nodes; that of the captured node is another one.
    "a-zone": (
        edit(FILES, FULL, ("{nodes: 1}", "{zones: 1}")),
        "east",
        "take 31 devices of class interactive-80g at minReplicas, and the loss of any zone may leave 8 of 56",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_whether_they_are_enough(name: str) -> None:
    files, cluster, said = CASES[name]
    found = say(files, cluster)
    assert said in found if said else found == ""


def test_what_no_class_admits_takes_none() -> None:
    envelope = "specs/envelopes/chat-70b/2.3.0.yaml"
    assert say(edit(size_chat(14), envelope, ("concurrency: 32", "concurrency: 64"))) == ""


def test_what_may_move_is_warned_of() -> None:
    """None of those that are short is stable. The mend lowers what is written, where there is no maxReplicas."""
    found = say(CASES["partitions"][0])
    assert found.startswith('specs/pools/static-mig.yaml:21:5: warning: pool "static-mig" is crowded')
    assert found.endswith("fix  10 devices more, or minReplicas 6 of guard-1b7\n")


def price(files: Files) -> PricedCluster:
    specs = parse_specs(list_specs(files))
    on = resolve_cluster(specs, "east")[0]
    assert on is not None
    captured = parse_inventory(parse_documents(files[INVENTORY], INVENTORY), INVENTORY)
    return price_cluster(specs, on, captured, files, FACTS)


MANY_NODES = edit(FILES, FULL, ("count: 6", "count: 60"))
ROOM = {
    "partitions": (FILES, "guard-1b7", None, 1, True),
    "three-times-as-many-partitions": (FILES, "guard-1b7", None, 3, False),
    # Nodes of eight have two places for its pods of four, and any device that others take may spoil one.
    "others-may-spoil-every-place": (FILES, "chat-70b", None, 1, False),
    "places-to-spare": (MANY_NODES, "chat-70b", None, 1, True),
    "no-node-has-so-many": (MANY_NODES, "chat-70b", None, 4, False),
    # What a companion's device is asked for with each accelerator counts by itself.
    "another-class": (MANY_NODES, "prefill-8b", "interactive-80g", 1, True),
    "too-few-of-another-class": (MANY_NODES, "chat-70b", "rdma-nic", 1, True),
}


@pytest.mark.parametrize("name", ROOM)
def test_room_is_certain_or_is_not_said(name: str) -> None:
    files, unit, class_name, times, expected = ROOM[name]
    assert price(files).room.has_room(unit, class_name, times=times) is expected


def test_no_device_at_all() -> None:
    assert say(edit(FILES, FULL, ("min: 79Gi, below: 90Gi", "min: 200Gi, below: 300Gi"))).startswith(
        'specs/placements/east.yaml:8:21: placement "chat-70b" takes 16 devices of class interactive-80g at its peak, '
        "and none is there  [pool-crowded]\n"
        "  at   spec.deviceClassNames\n"
        "  why  of all devices of the cluster, captured and planned, the class lets none through "
        "(poolwright.dev/v1alpha1)\n"
        "  fix  name another class, capture the cluster again, or plan nodes that have such devices\n"
    )


def test_what_nobody_said_is_not_counted() -> None:
    """A cluster without a capture and without planned nodes."""
    pool = "specs/pools/lab-full.yaml"
    text = FILES[pool].decode()
    start, end = text.index("  plannedNodes:"), text.index("  deviceClasses:")
    assert say({**FILES, pool: (text[:start] + text[end:]).encode()}, "lab") == ""


def test_a_larger_shortage_is_said_beside_the_smaller_one_within_it() -> None:
    files = edit(size_chat(10), EAST, (REASON[0], REASON[1].format(3)))
    said = [line for line in say(files).splitlines() if line.startswith("  fix")]
    assert said == [
        "  fix  3 devices more in zone east-b, or minReplicas 2 of reason-671b",
        "  fix  47 devices more, or several changes: most are taken by reason-671b",
    ]
