"""`check` of clusters that are delivered by packet: the release is there, is the project's, and holds their units."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from fleet import PLACEMENTS, PROJECT, Files, edit, read_small_fleet
from folders import write_files
from made_packet import make_index
from poolwright.packet.index import INDEX
from poolwright.packet.manifests import list_manifests
from poolwright.packet.parts import seal
from run_poolwright import run

DELIVERED = edit(
    edit(read_small_fleet(), PROJECT, ("stackName:", "delivery: packet\n      release: 26-7\n      stackName:")),
    PLACEMENTS,
    ("  zone: east-a\n", ""),
)
ALL = ("chat-70b", "chat-70b-next", "platform")
OWN = ("packet-unit", "packet-unreadable", "file-unreadable")


def make(*units: str, cluster: str = "east", name: str = "26-7", project: str = "inference-fleet") -> bytes:
    """The index of a release that has these units."""
    parts = [part for unit in units for part in list_manifests(cluster, unit, b"kind: X\n")]
    return seal(make_index(name=name, project=project), parts).index_bytes


CASES: dict[str, tuple[Mapping[str, bytes], int, str]] = {
    "all-of-it": ({INDEX: make(*ALL)}, 0, ""),
    "more-than-there-is-now": ({INDEX: make(*ALL, "chat-70b-old")}, 0, ""),
    "no-release": (
        {},
        1,
        """\
releases/26-7/packet.json: there is no release 26-7 in releases/  [packet-unreadable]
  why  the Project says that a cluster is delivered from it (poolwright releases)
  fix  commit its folder
""",
    ),
    "a-unit-that-came-later": (
        {INDEX: make("chat-70b", "platform")},
        0,
        """\
poolwright.yaml:13:16: warning: release 26-7 doesn't hold east/chat-70b-next  [packet-unit]
  at   spec.clusters[0].release
  why  what the specs have and the release hasn't is refused by the plugin, until a later release is named (poolwright \
releases)
  fix  release again once this is merged, and name that release
""",
    ),
    "nothing-of-the-cluster": (
        {INDEX: make("chat-70b", cluster="west")},
        1,
        """\
poolwright.yaml:13:16: release 26-7 holds nothing of east  [packet-unit]
  at   spec.clusters[0].release
  why  none of the cluster's units could be delivered (poolwright releases)
  fix  release again, and name that release
""",
    ),
    "no-index": (
        {INDEX: b"{}\n"},
        1,
        """\
releases/26-7/packet.json: packet.json is no Packet of poolwright.dev/v1alpha1: Object missing required field \
`apiVersion`  [packet-unit]
  why  none of the cluster's units could be delivered (poolwright releases)
  fix  release again, or name another release
""",
    ),
    "anothers": (
        {INDEX: make(*ALL, project="other")},
        1,
        """\
poolwright.yaml:13:16: releases/26-7 has release 26-7 of other  [packet-unit]
  at   spec.clusters[0].release
  why  none of the cluster's units could be delivered (poolwright releases)
  fix  name a release of inference-fleet
""",
    ),
    "under-anothers-name": (
        {INDEX: make(*ALL, name="26-6")},
        1,
        """\
poolwright.yaml:13:16: releases/26-7 has release 26-6 of inference-fleet  [packet-unit]
  at   spec.clusters[0].release
  why  none of the cluster's units could be delivered (poolwright releases)
  fix  name a release of inference-fleet
""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_delivered_is_there(name: str, tmp_path: Path) -> None:
    release, code, said = CASES[name]
    ran = run("check", folder=write_files(tmp_path, lay_out(release)))
    assert ran.code == code, ran
    assert keep_own(ran.stdout) == said


def lay_out(release: Mapping[str, bytes]) -> dict[str, bytes]:
    files: Files = {f"releases/26-7/{path}": data for path, data in release.items()}
    return {**DELIVERED, **files}


def keep_own(text: str) -> str:
    """The findings about releases: what the small fleet owes besides is said elsewhere."""
    blocks: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.startswith("  ") and blocks:
            blocks[-1] += line
        else:
            blocks.append(line)
    return "".join(block for block in blocks if any(f"[{code}]" in block for code in OWN))
