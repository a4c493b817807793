"""The guide's runnable artifact on real objects: four claims and three devices, allocated as kube-scheduler would.

The guide has a fixture with an allocator of its own in it. Here its devices are slices of a driver, its kinds are
device classes, its zones are those of nodes, and what is alpha is tainted: allowing it is tolerating that. Only the
name of a CDI device is the fixture driver's own rule, because no scheduler gives one.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fleet import ROOT
from poolwright.allocation.allocate import allocate_given
from poolwright.allocation.answer import Answer
from poolwright.allocation.assumptions import Options
from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.parse_objects import parse_objects
from poolwright.files.facts import read_facts
from poolwright.specs.document import parse_documents

GUIDE = ROOT / "examples" / "guide"
Receipt = dict[str, str]
RECEIPTS: dict[str, Receipt] = {
    "stable": {"claimUID": "claim-17", "deviceID": "mig-b", "mode": "mig", "zone": "b", "cdi": "nvidia.com/mig-b"},
    "other-zone": {"claimUID": "claim-17", "rejected": "unsatisfied-claim"},
    "alpha": {"claimUID": "c-2", "rejected": "unsatisfied-claim"},
    "alpha-allowed": {"claimUID": "c-2", "deviceID": "mps-c", "mode": "mps", "zone": "a", "cdi": "nvidia.com/mps-c"},
}
REASONS = {
    "other-zone": (
        'request gpu: 2 devices on 1 node: 2 fail mode == "mig" (have full, mps)',
        "node-b: the node doesn't match the pod's node selector or required affinity",
        "node-b has the devices (mig-b), but isn't open to the pod",
    ),
    "alpha": ("1 with the taint nvidia.com/alpha:NoSchedule, which the request doesn't tolerate",),
}


def test_receipts(capsys: pytest.CaptureFixture[str]) -> None:
    for line in replay():
        print(line)
    *receipts, last = capsys.readouterr().out.splitlines()
    assert receipts == [f"{name}: {receipt}" for name, receipt in RECEIPTS.items()]
    assert last == "PASS: GPU claim honors workload constraints"


@pytest.mark.parametrize("name", REASONS)
def test_a_rejection_says_why(name: str) -> None:
    _, found = allocate_file(name)
    said = [reason.line for subject in found.subjects for reason in subject.reasons]
    assert [line for line in REASONS[name] if not any(line in one for one in said)] == []


def replay() -> Iterator[str]:
    """The receipts, and a last line if they are those of the guide."""
    receipts = {name: build_receipt(*allocate_file(name)) for name in RECEIPTS}
    yield from (f"{name}: {receipt}" for name, receipt in receipts.items())
    yield "PASS: GPU claim honors workload constraints" if receipts == RECEIPTS else "FAIL"


def allocate_file(name: str) -> tuple[ClusterObjects, Answer]:
    files = [GUIDE / "cluster.yaml", GUIDE / f"{name}.yaml"]
    documents = [one for file in files for one in parse_documents(file.read_bytes(), file.name)]
    objects = parse_objects(documents)
    effective = read_facts().effective_gates("1.37", {})
    return objects, allocate_given(objects, minor="1.37", effective=effective, gates={}, options=Options())


def build_receipt(objects: ClusterObjects, found: Answer) -> Receipt:
    """What the guide writes down of a claim, from an answer and from what the driver published of the device."""
    (claim,) = found.claims
    uid = next(one.value.uid for one in objects.claims if one.value.name == claim.name)
    if claim.allocation is None:
        assert claim.outcome == "unsatisfied"
        return {"claimUID": uid, "rejected": "unsatisfied-claim"}
    (given,) = claim.allocation.devices
    published = next(
        device
        for one in objects.slices
        for device in one.value.devices
        if (device.driver, device.pool, device.name) == (given.driver, given.pool, given.device)
    )
    mode, zone = (str(published.attributes[given.driver, name].value) for name in ("mode", "zone"))
    return {
        "claimUID": uid,
        "deviceID": given.device,
        "mode": mode,
        "zone": zone,
        "cdi": f"{given.driver}/{given.device}",
    }
