"""What a change makes of what pools and envelopes promise: only what is less than it was is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fleet import PLACEMENTS, POOL, PROJECT, edit, read_small_fleet
from folders import write_files
from run_poolwright import run

Edit = tuple[str, str, str]  # file, text that stands there, and what it becomes

NODES = "{name: h100, count: 2, hardwareModel: h100-sxm5-80gb, devicesPerNode: 8, zone: east-a}"
LOSSES = "tolerateLoss: {nodes: 1}"
CLASSES = "  deviceClasses:\n"
PLANNED: tuple[Edit, ...] = (
    (PROJECT, "inventory: inventory/east.yaml", "delivery: committed"),
    # What a planned device has for a driver isn't known before.
    (POOL, 'device.attributes["gpu.nvidia.com"].driverVersion\n', "true\n"),
    (POOL, '                .compareTo(semver("580.0.0")) >= 0\n', ""),
    (POOL, CLASSES, f"  plannedNodes:\n    - {NODES}\n  headroom: {{{LOSSES}}}\n{CLASSES}"),
)
TWO: Edit = (PLACEMENTS, "minReplicas: 1\n  surge: 1", "minReplicas: 2\n  surge: 0")
LEFT = "some order leaves it with 0 of 1 replica"
NONE = "no order serves any of its replicas"
# Four devices a replica and eight a node: two nodes hold four replicas, and one of them two, which is the minimum.
CASES: dict[str, tuple[tuple[Edit, ...], tuple[Edit, ...], tuple[tuple[str, str], ...]]] = {
    "a-minimum-grows": (
        (),
        (TWO,),
        (
            ("headroom-short", f'placement "chat-70b-next" at minReplicas, without node h100-0: {LEFT}'),
            (
                "headroom-short",
                'placement "chat-70b" at minReplicas, without node h100-0: some order leaves it with 1 of 2 replicas',
            ),
        ),
    ),
    "a-pool-promises-more": (
        (),
        ((POOL, LOSSES, "tolerateLoss: {nodes: 2}"),),
        (
            ("headroom-short", f'placement "chat-70b" at minReplicas, without nodes h100-0 and h100-1: {NONE}'),
            ("headroom-short", f'placement "chat-70b-next" at minReplicas, without nodes h100-0 and h100-1: {NONE}'),
        ),
    ),
    "a-node-goes": (
        (),
        ((POOL, "count: 2", "count: 1"),),
        (
            ("verdict-short", f'placement "chat-70b-next" at minReplicas: {LEFT}'),
            ("headroom-short", f'placement "chat-70b" at minReplicas, without node h100-0: {NONE}'),
            ("headroom-short", f'placement "chat-70b-next" at minReplicas, without node h100-0: {NONE}'),
            (
                "surge-short",
                'placement "chat-70b" at maxReplicas and surge: some order leaves it with 1 of 2 replicas',
            ),
        ),
    ),
    "only-a-peak-grows": ((TWO,), ((PLACEMENTS, "minReplicas: 2\n", "minReplicas: 2\n  maxReplicas: 3\n"),), ()),
    "short-before-too": (
        (TWO,),
        ((POOL, NODES, f"{NODES}\n    - {NODES.replace('h100-sxm5', 'a100-sxm4').replace('h100', 'other')}"),),
        (),
    ),
}


@pytest.mark.parametrize(("before", "after", "expected"), CASES.values(), ids=CASES)
def test_what_is_less_than_promised(
    before: tuple[Edit, ...], after: tuple[Edit, ...], expected: tuple[tuple[str, str], ...], tmp_path: Path
) -> None:
    """The head has the edits of the base, and its own."""
    files = {path: data for path, data in read_small_fleet().items() if not path.startswith("inventory/")}
    for name, edits in (("before", (*PLANNED, *before)), ("after", after)):
        for path, old, new in edits:
            files = edit(files, path, (old, new))
        write_files(tmp_path / name, files)
    ran = run("diff", "./before", "./after", "--format=json", "--fail-on=never", folder=tmp_path)
    assert (ran.code, ran.stderr) == (0, "")
    rows = json.loads(ran.stdout)["findings"]
    assert tuple((one["code"], one["what"]) for one in rows if one["code"].endswith("-short")) == expected
