"""Closures: one unit from its own specs is the same unit that everything gives, and what stops it is its own."""

from __future__ import annotations

from random import Random

import pytest

from fleet import (
    ENVELOPE,
    FACTS,
    NEXT_ENVELOPE,
    PLACEMENTS,
    POOL,
    PROJECT,
    STACK,
    Files,
    edit,
    list_specs,
    load_closures,
    load_unit,
    read_small_fleet,
)
from fleet_variants import large_fleet
from poolwright.catalog.argocd_closure import ArgocdClosure
from poolwright.catalog.closure import BaseClosure, Closure, PlatformClosure, UnitClosure, digest_closure
from poolwright.catalog.units import build_closure
from poolwright.specs.finding import SpecError
from poolwright.specs.parse import parse_project, parse_specs
from poolwright.specs.unit_specs import find_cluster, parse_platform_specs, parse_unit_specs

FLEETS = {"example": read_small_fleet(), "large": large_fleet()}


def name_of(closure: Closure) -> str:
    match closure:
        case BaseClosure(envelope=envelope):
            return f"base/{envelope.name}/{envelope.version}"
        case UnitClosure(on=on, unit=unit):
            return f"{on.cluster}/{unit}"
        case ArgocdClosure():
            return f"{closure.on.cluster}/argocd"
        case _:
            return f"{closure.on.cluster}/platform"


UNITS = {
    f"{fleet}-{name_of(closure)}": (files, closure)
    for fleet, files in FLEETS.items()
    for closure in load_closures(files)
    if isinstance(closure, PlatformClosure | UnitClosure)
}


def test_closures_are_in_order_of_kind_and_name() -> None:
    assert [name_of(closure) for closure in load_closures(large_fleet())] == [
        "base/chat-70b/2.3.0",
        "base/chat-70b/2.4.0",
        f"base/embed/{parse_specs(list_specs(large_fleet())).envelopes[-1].value.metadata.version}",
        "east/platform",
        "west/platform",
        "east/chat-70b",
        "east/chat-70b-next",
        "west/chat-70b",
        "west/embed-with-a-name-of-forty-characters-xx",
        "east/argocd",
        "west/argocd",
    ]


def test_a_cluster_without_pools_has_no_platform_unit() -> None:
    files = edit(
        read_small_fleet(),
        PROJECT,
        ("  clusters:\n", "  clusters:\n    - {name: west, stackName: kubernetes-1-36, destination: {name: west}}\n"),
    )
    assert [name_of(c) for c in load_closures(files) if not isinstance(c, BaseClosure)] == [
        "east/platform",
        "east/chat-70b",
        "east/chat-70b-next",
        "east/argocd",
        "west/argocd",
    ]
    assert build_closure(parse_platform_specs(list_specs(files), "west"), "west", "platform", files, FACTS) is None


@pytest.mark.parametrize(("files", "closure"), UNITS.values(), ids=UNITS)
def test_a_unit_from_its_own_specs_is_the_one_that_everything_gives(files: Files, closure: Closure) -> None:
    found = load_unit(files, *name_of(closure).split("/"))
    assert found == closure
    assert digest_closure(found) == digest_closure(closure)


@pytest.mark.parametrize(("files", "closure"), UNITS.values(), ids=UNITS)
def test_order_of_files_and_documents_means_nothing(files: Files, closure: Closure) -> None:
    random = Random(name_of(closure))
    for _ in range(3):
        paths = random.sample(sorted(files), len(files))
        shuffled = {
            path: shuffle_documents(random, files[path]) if path.startswith("specs/") else files[path] for path in paths
        }
        assert load_unit(shuffled, *name_of(closure).split("/")) == closure
        assert closure in load_closures(shuffled)


def shuffle_documents(random: Random, text: bytes) -> bytes:
    documents = text.split(b"\n---\n")
    return b"\n---\n".join(random.sample(documents, len(documents)))


def test_renamed_and_joined_files_mean_nothing() -> None:
    files = read_small_fleet()
    joined = b"\n---\n".join(text for path, text in list_specs(files).items() if path != PROJECT)
    others = {path: text for path, text in files.items() if path == PROJECT or not path.startswith("specs/")}
    assert load_closures({**others, "specs/z/all.yml": joined}) == load_closures(files)
    for unit in ("platform", "chat-70b", "chat-70b-next"):
        assert load_unit({**others, "specs/z/all.yml": joined}, "east", unit) == load_unit(files, "east", unit)


CHAT, NEXT = ("east", "chat-70b"), ("east", "chat-70b-next")
PLATFORM = ("east", "platform")
# A change, the units that it stops, and the code that says why; every change stops the build of everything.
BROKEN = {
    "file-that-is-no-yaml-and-names-nothing": ({"specs/new.yaml": "kind: Pool\na: [\n"}, [], "yaml-syntax"),
    "shape-of-another-envelope": ((NEXT_ENVELOPE, "owner:", "ower:"), [NEXT], "unknown-field"),
    "shape-of-the-pool": ((POOL, "owner:", "ower:"), [PLATFORM, CHAT, NEXT], "unknown-field"),
    "shape-of-the-stack": ((STACK, "image:", "imag:"), [PLATFORM, CHAT, NEXT], "unknown-field"),
    # The platform unit has nothing of placements, and each placement nothing of another.
    "another-placement": ((PLACEMENTS, "zone: east-a", "zone: [east-a]"), [NEXT], "wrong-type"),
    "placement-on-no-pool": (
        (
            PLACEMENTS,
            "poolName: h100-full\n  deviceClassNames: [interactive-80g]\n  zone",
            "poolName: h200\n  deviceClassNames: [interactive-80g]\n  zone",
        ),
        [NEXT],
        "dangling-reference",
    ),
    "stack-of-another-cluster": (
        (PROJECT, "  clusters:\n", "  clusters:\n    - {name: west, stackName: none, destination: {name: west}}\n"),
        [],
        "dangling-reference",
    ),
    "profile-of-another-envelope": (
        (NEXT_ENVELOPE, "config.json\n", "config.json\n    measuredProfile: models/none.json\n"),
        [NEXT],
        "file-missing",
    ),
    "config-of-another-envelope": ((NEXT_ENVELOPE, "config.json", "confg.json"), [NEXT], "file-missing"),
    "class-that-only-the-platform-renders": (
        (
            POOL,
            "  tolerations:\n",
            "    - {name: by-uuid, tier: batch, driver: gpu.nvidia.com, attributes: {uuid: [x]}}\n  tolerations:\n",
        ),
        [PLATFORM],
        "class-identity",
    ),
    "envelope-twice": ({"specs/copy.yaml": read_small_fleet()[ENVELOPE].decode()}, [CHAT], "duplicate-name"),
    "pool-twice": ({"specs/copy.yaml": read_small_fleet()[POOL].decode()}, [PLATFORM, CHAT, NEXT], "duplicate-name"),
    "stack-twice": ({"specs/copy.yaml": read_small_fleet()[STACK].decode()}, [PLATFORM, CHAT, NEXT], "duplicate-name"),
    "another-stack-twice": (
        {
            "specs/copy.yaml": 2
            * (read_small_fleet()[STACK].decode().replace("name: kubernetes-1-36", "name: other") + "---\n")
        },
        [],
        "duplicate-name",
    ),
    "placement-twice": (
        {"specs/copy.yaml": read_small_fleet()[PLACEMENTS].decode().split("---")[0]},
        [CHAT],
        "duplicate-name",
    ),
    "cluster-twice": (
        (
            PROJECT,
            "    - name: east\n",
            "    - {name: east, stackName: kubernetes-1-36, destination: {name: east}}\n    - name: east\n",
        ),
        [PLATFORM, CHAT, NEXT],
        "duplicate-name",
    ),
}


@pytest.mark.parametrize(("change", "stopped", "code"), BROKEN.values(), ids=BROKEN)
def test_what_stops_a_unit(
    change: dict[str, str] | tuple[str, str, str], stopped: list[tuple[str, str]], code: str
) -> None:
    files, before = read_small_fleet(), read_small_fleet()
    if isinstance(change, dict):
        files |= {path: text.encode() for path, text in change.items()}
    else:
        files = edit(files, change[0], change[1:])
    for unit in (PLATFORM, CHAT, NEXT):
        if unit in stopped:
            with pytest.raises(SpecError) as caught:
                load_unit(files, *unit)
            assert code in {finding.code for finding in caught.value.findings}
        else:
            assert load_unit(files, *unit) == load_unit(before, *unit)
    with pytest.raises(SpecError) as caught:
        load_closures(files)
    assert code in {finding.code for finding in caught.value.findings}


NO_UNIT = {"unknown-name": ("east", "chat"), "other-cluster": ("west", "chat-70b-next"), "base": ("east", "base")}


@pytest.mark.parametrize(("cluster", "unit"), NO_UNIT.values(), ids=NO_UNIT)
def test_no_such_unit(cluster: str, unit: str) -> None:
    files = large_fleet()
    assert build_closure(parse_unit_specs(list_specs(files), cluster, unit), cluster, unit, files, FACTS) is None


def test_a_placement_whose_pool_is_not_there_is_told_as_such() -> None:
    files = edit(read_small_fleet(), PLACEMENTS, ("poolName: h100-full", "poolName: h200"))
    with pytest.raises(SpecError) as caught:
        load_unit(files, "east", "chat-70b")
    (finding,) = caught.value.findings
    assert (str(finding.place), finding.what) == (
        "specs/placements.yaml:8:13",
        'placement "chat-70b" is on the pool "h200", which doesn\'t exist',
    )


def test_no_such_cluster() -> None:
    files = list_specs(read_small_fleet())
    for find in (
        lambda: find_cluster(parse_project(files), "est"),
        lambda: parse_unit_specs(files, "est", "chat-70b"),
        lambda: parse_platform_specs(files, "est"),
    ):
        with pytest.raises(SpecError) as caught:
            find()
        assert str(caught.value) == 'poolwright.yaml:11:5: the project has no cluster "est" [cluster-unknown]'


def test_files_that_are_read_but_not_parsed() -> None:
    """A unit's cost is a search: a broken file that doesn't hold its names isn't even decoded."""
    files = read_small_fleet()
    noise = {f"specs/noise/{n}.yaml": b"\xff kind: Placement\n[" for n in range(3)}
    assert load_unit({**files, **noise}, "east", "chat-70b") == load_unit(files, "east", "chat-70b")


SPELLINGS = {
    "kind-on-the-next-line": ("kind: Pool", "kind:\n  Pool"),
    "kind-with-a-tag": ("kind: Pool", "kind: !!str Pool"),
    "kind-quoted": ("kind: Pool", "'kind': \"Pool\""),
    "kind-escaped": ("kind: Pool", 'kind: "\\x50ool"'),
    "cluster-escaped": ("clusterName: east", 'clusterName: "e\\x61st"'),
    "cluster-on-the-next-line": ("clusterName: east", "clusterName:\n    east"),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_unit_finds_its_specs_however_they_are_spelled(name: str) -> None:
    """A pool that isn't found would leave its classes out of the platform unit, and Argo CD would delete them."""
    files = edit(read_small_fleet(), POOL, SPELLINGS[name])
    for unit in ("platform", "chat-70b"):
        assert load_unit(files, "east", unit) in load_closures(files)


def test_a_unit_finds_its_placement_however_its_pool_is_spelled() -> None:
    files = edit(read_small_fleet(), PLACEMENTS, ("poolName: h100-full", 'poolName: "h100\\x2dfull"'))
    assert load_unit(files, "east", "chat-70b") == load_unit(read_small_fleet(), "east", "chat-70b")


def test_a_name_that_no_file_can_hold_is_no_unit() -> None:
    """As a command line passes on what isn't UTF-8."""
    files = read_small_fleet()
    assert build_closure(parse_unit_specs(list_specs(files), "east", "\udcff"), "east", "\udcff", files, FACTS) is None
