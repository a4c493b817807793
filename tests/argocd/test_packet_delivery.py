"""`generate --argocd` of a cluster that is delivered by packet: the release's very bytes, or why not, in whole."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from packet_fleet import (
    FOLDER,
    OBJECTS,
    make_release,
    packet_call,
    packet_fleet,
    packet_parameters,
    packet_trust,
    read_unit,
)
from plugin_call import TRUST, Call, call, plugin_fleet, unit_parameters

from fleet import PROJECT, ROOT, Files, edit
from golden import Golden
from made_packet import ALICE, BOB, MALLORY
from poolwright.packet.parts import PacketPart
from run_poolwright import Ran

SIGNED = make_release(ALICE)
FLEET = packet_fleet()
BOTH = packet_fleet(make_release(ALICE, BOB))
MOVED = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: chat}\n"
ALLOW_PLUGIN = TRUST.partition("allow:\n")[2]
WITH_MORE = make_release(ALICE, more=(PacketPart(path="prices.json", role="prices", data=b"{}\n"),))


def without(files: Files, *paths: str) -> dict[str, bytes]:
    return {path: data for path, data in files.items() if path not in paths}


ANSWERED: dict[str, tuple[Call, Files, str]] = {
    "a-unit": (packet_call(), FLEET, "chat-70b"),
    "a-platform": (packet_call(parameters=packet_parameters("platform"), namespace="poolwright"), FLEET, "platform"),
    "as-many-keys-as-the-threshold": (packet_call(trust=packet_trust(threshold=2)), BOTH, "chat-70b"),
    "a-key-too-many": (packet_call(trust=packet_trust(BOB)), BOTH, "chat-70b"),
    "the-oldest-that-is-taken": (packet_call(trust=packet_trust(least=7)), FLEET, "chat-70b"),
    # Nothing but the unit's own files is opened: Argo CD need not send the others.
    "other-files-of-it-arent-sent": (packet_call(), packet_fleet(without(WITH_MORE, "prices.json")), "chat-70b"),
    # Of the specs only the Project is read.
    "specs-that-moved-on": (packet_call(), {**FLEET, "specs/placements.yaml": b"kind: ["}, "chat-70b"),
    "another-kubernetes": (packet_call(kube_version="1.37.1"), FLEET, "chat-70b"),
    "no-git": (packet_call(), {**FLEET, ".git/x": b""}, "chat-70b"),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_it_prints_what_the_release_holds(name: str, tmp_path: Path) -> None:
    asked, files, unit = ANSWERED[name]
    assert call(asked, files, tmp_path) == Ran(0, read_unit(unit).decode(), "")


def test_nothing_is_quoted_nor_rendered(tmp_path: Path) -> None:
    """The bytes that were signed, whatever the specs would give, and whoever reads YAML otherwise."""
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: chat, labels: {day: 2024-02-30}}\n"
    files = packet_fleet(make_release(ALICE, objects={"chat-70b": text}))
    assert call(packet_call(), files, tmp_path) == Ran(0, text.decode(), "")


REFUSED: dict[str, tuple[Call, Files]] = {
    # What is asked for.
    "no-release-in-the-application": (packet_call(parameters=unit_parameters("east", "chat-70b")), FLEET),
    "a-cleared-release": (packet_call(parameters=packet_parameters(release="")), FLEET),
    "another-release-than-the-projects": (packet_call(parameters=packet_parameters(release="26-6")), FLEET),
    "a-release-that-climbs": (packet_call(parameters=packet_parameters(release="../../etc")), FLEET),
    "a-project-that-climbs": (packet_call(), packet_fleet(name="..", release={})),
    "a-release-and-delivery-by-plugin": (packet_call(trust=packet_trust() + ALLOW_PLUGIN), plugin_fleet()),
    "a-release-without-a-unit": (packet_call(parameters='[{"name": "release", "string": "26-7"}]'), FLEET),
    "a-delivery-that-isnt-allowed": (packet_call(trust=packet_trust().replace("[packet]", "[plugin]")), FLEET),
    "a-unit-that-isnt-in-it": (packet_call(parameters=packet_parameters("chat-70b-next")), FLEET),
    "the-applications-of-a-cluster": (packet_call(parameters=packet_parameters("argocd")), FLEET),
    "another-namespace": (packet_call(namespace="kube-system"), FLEET),
    "an-api-that-isnt-served": (packet_call(kube_version="1.33.4", served=("resource.k8s.io/v1beta1",)), FLEET),
    # Whose it is.
    "no-signature": (packet_call(), packet_fleet(make_release())),
    "anothers-key": (packet_call(), packet_fleet(make_release(MALLORY))),
    "a-revoked-key": (packet_call(trust=packet_trust(revoked=(ALICE.public.id,))), FLEET),
    "too-few-keys": (packet_call(trust=packet_trust(threshold=2)), FLEET),
    "an-old-release": (packet_call(trust=packet_trust(least=8)), FLEET),
    "another-projects-release": (packet_call(), packet_fleet(make_release(ALICE, project="other"))),
    "a-project-that-isnt-trusted": (
        packet_call(),
        edit(packet_fleet(make_release(ALICE, project="other")), PROJECT, ("name: inference-fleet", "name: other")),
    ),
    "a-release-under-anothers-name": (packet_call(), packet_fleet(make_release(ALICE, name="26-6"))),
    "no-keys-at-all": (packet_call(trust=TRUST.replace("[committed, plugin]", "[packet]")), FLEET),
    # What was done to it.
    "a-byte-of-the-objects": (packet_call(), edit(FLEET, OBJECTS, ("replicas: 1", "replicas: 9"))),
    "anothers-objects": (packet_call(), {**FLEET, OBJECTS: FLEET[OBJECTS.replace("chat-70b", "platform")]}),
    "a-byte-of-the-index": (packet_call(), edit(FLEET, f"{FOLDER}/packet.json", ('"sequence":7', '"sequence":8'))),
    "an-index-that-is-none": (packet_call(), {**FLEET, f"{FOLDER}/packet.json": b"{}\n"}),
    "a-line-of-the-sums": (packet_call(), edit(FLEET, f"{FOLDER}/SHA256SUMS", ("packet.json", "packet.jsom"))),
    "no-objects-file": (packet_call(), without(FLEET, OBJECTS)),
    "another-kustomization": (
        packet_call(),
        {**FLEET, OBJECTS.replace("objects", "kustomization"): b"resources: [elsewhere.yaml]\n"},
    ),
    "no-release-of-the-name": (packet_call(), {**plugin_fleet(), **packet_fleet({}), "releases/26-6/x": b""}),
    # What was signed, and is nothing to deliver.
    "no-objects": (packet_call(), packet_fleet(make_release(ALICE, objects={"chat-70b": b"\n"}))),
    "no-kubernetes-objects": (packet_call(), packet_fleet(make_release(ALICE, objects={"chat-70b": b"kind: [\n"}))),
    "more-than-argo-cd-takes": (
        packet_call(more={"ARGOCD_GRPC_MAX_SIZE_MB": "1"}),
        packet_fleet(make_release(ALICE, objects={"chat-70b": MOVED + b"#" * (1 << 19)})),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_says_what_to_do(name: str, golden: Golden, tmp_path: Path) -> None:
    asked, files = REFUSED[name]
    check_refusal(name, call(asked, files, tmp_path), golden, tmp_path)


LINKS: dict[str, tuple[str, str]] = {  # what is a link, and to what
    "a-link-in-place-of-the-objects": (OBJECTS, "../platform/objects.yaml"),
    "a-link-in-place-of-the-unit": (OBJECTS.rpartition("/")[0], "platform"),
    "a-link-in-place-of-the-release": (FOLDER, "other"),
    "a-link-in-place-of-a-signature": (f"{FOLDER}/attestations", "../../other"),
}


@pytest.mark.parametrize("name", LINKS)
def test_no_link_is_followed(name: str, golden: Golden, tmp_path: Path) -> None:
    path, target = LINKS[name]
    files = {one: data for one, data in FLEET.items() if not (one == path or one.startswith(f"{path}/"))}
    link = tmp_path / "sent" / path
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    check_refusal(name, call(packet_call(), files, tmp_path), golden, tmp_path)


def test_no_repository_brings_its_own_trust(golden: Golden, tmp_path: Path) -> None:
    place = str(tmp_path / "sent/trust.yaml")
    asked = packet_call(trust=None, more={"POOLWRIGHT_TRUST": place})
    ran = call(asked, {**FLEET, "trust.yaml": packet_trust().encode()}, tmp_path)
    check_refusal("a-trust-file-in-the-project", ran, golden, tmp_path)


def check_refusal(name: str, ran: Ran, golden: Golden, top: Path) -> None:
    last = ran.stderr.splitlines()[-1]
    assert (ran.code, ran.stdout) == (2, "")
    assert len(last.encode()) < 300
    assert last.startswith("poolwright: ")
    assert "; fix: " in last
    assert len(ran.stderr.encode()) <= 2000
    said: Mapping[str, bytes] = {"stderr.txt": ran.stderr.replace(str(top), "TOP").encode()}
    golden.compare(ROOT / "tests/golden/packet-delivery" / name, said)
