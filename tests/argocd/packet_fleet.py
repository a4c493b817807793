"""The small fleet, its cluster delivered by packet: a release that alice signed, and what of it may be changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from plugin_call import ARGOCD_PROJECT, SERVED, Call

from fleet import PROJECT, SMALL_FLEET, edit, read_small_fleet
from made_packet import ALICE, BOB, make_index, make_trust, sign_index
from poolwright.attestations.keys import PrivateKey
from poolwright.packet.manifests import list_manifests
from poolwright.packet.parts import PacketPart, seal
from run_poolwright import run

RELEASE = "26-7"
FOLDER = f"releases/{RELEASE}"
OBJECTS = f"{FOLDER}/manifests/east/chat-70b/objects.yaml"
ALLOW = f"""\
allow:
  - {{argocdProject: {ARGOCD_PROJECT}, clusters: [east], units: ["*"], deliveries: [packet]}}
"""


def packet_parameters(unit: str = "chat-70b", release: str = RELEASE) -> str:
    """The parameters of an Application, as Argo CD writes them."""
    pairs = (("cluster", "east"), ("unit", unit), ("release", release))
    return json.dumps([{"name": name, "string": value} for name, value in pairs])


def packet_trust(*keys: PrivateKey, **said: Any) -> str:
    """The sidecar's trust file: alice's and bob's keys, unless others are given, and who may have what."""
    return make_trust(*(keys or (ALICE, BOB)), **said) + ALLOW


def packet_call(**said: Any) -> Call:
    """The call of an Application that is delivered by packet."""
    values: dict[str, Any] = {"parameters": packet_parameters(), "trust": packet_trust(), "served": SERVED}
    return Call(**{**values, **said})


@cache
def read_unit(unit: str) -> bytes:
    """What the specs give, and so what is released, of a unit."""
    ran = run("generate", "--cluster=east", f"--unit={unit}", folder=SMALL_FLEET)
    assert (ran.code, ran.stderr) == (0, "")
    return ran.stdout.encode()


def make_release(
    *keys: PrivateKey, objects: Mapping[str, bytes] | None = None, more: tuple[PacketPart, ...] = (), **said: Any
) -> dict[str, bytes]:
    """The files of a release by path in the packet, signed by these keys.

    objects: of each unit; None: what the specs give.
    more:    other files of it.
    said:    what its index says otherwise.
    """
    units = {unit: read_unit(unit) for unit in ("chat-70b", "platform")} if objects is None else objects
    parts = [part for unit, data in units.items() for part in list_manifests("east", unit, data)]
    parts += list_manifests("east", "argocd", b"apiVersion: v1\nkind: X\nmetadata: {name: x, namespace: chat}\n")
    sealed = seal(make_index(**{"name": RELEASE, "sequence": 7, **said}), [*parts, *more])
    signed = sign_index(sealed.index, *keys)
    return {**sealed.files, **{f"attestations/{name}": data for name, data in signed.items()}}


def packet_fleet(release: Mapping[str, bytes] | None = None, name: str = RELEASE) -> dict[str, bytes]:
    """The specs, and a release. release: None: one that alice signed. name: its folder's, as in the Project."""
    files = make_release(ALICE) if release is None else release
    said = f"      delivery: packet\n      release: {name}\n      stackName:"
    project = edit(read_small_fleet(), PROJECT, ("      stackName:", said))
    return {**project, **{f"releases/{name}/{path}": data for path, data in files.items()}}
