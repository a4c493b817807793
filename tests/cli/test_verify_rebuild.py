"""`poolwright verify` with its rebuild: a signed packet is the one that its commit gives, or what differs is named."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from fleet import PROJECT, ROOT, STACK, edit
from folders import read_files, write_files
from golden import Golden
from made_packet import ALICE, make_trust, sign_index
from made_repository import commit, git, look
from poolwright.packet.index import PacketIndex, Previous, name_packet, parse_index
from poolwright.packet.parts import PacketPart, Sealed, seal
from release_project import make_releasable, read_releasable, release
from run_poolwright import Ran, run

NOBODY = "  waivers:\n"


def verify(packet: str, *options: str, folder: Path) -> Ran:
    (folder.parent / "trust.yaml").write_text(make_trust(ALICE))
    return run("verify", packet, "--trust", "../trust.yaml", *options, folder=folder)


def put(folder: Path, sealed: Sealed, name: str = "r1") -> None:
    """A packet in place of another one, signed by somebody who is trusted."""
    for path in read_files(folder / "releases" / name):
        (folder / "releases" / name / path).unlink()
    signed = {f"attestations/{key}": data for key, data in sign_index(sealed.index, ALICE).items()}
    write_files(folder / "releases" / name, {**sealed.files, **signed})


def reseal(folder: Path, files: dict[str, bytes], name: str = "r1", **changes: object) -> Sealed:
    """The packet with other files, and with an index that says so."""
    there = read_files(folder / "releases" / name)
    index = parse_index(there["packet.json"])
    there |= files
    parts = [
        PacketPart(path=one.path, role=one.role, data=there[one.path], cluster=one.cluster, unit=one.unit)
        for one in index.files
    ]
    return seal(msgspec.structs.replace(index, **changes), parts)


def read_index(folder: Path, name: str = "r1") -> PacketIndex:
    return parse_index((folder / "releases" / name / "packet.json").read_bytes())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with a release that is signed."""
    made = make_releasable(tmp_path / "r")
    assert release("r1", folder=made).code == 0
    put(made, reseal(made, {}))
    return made


def test_the_same(folder: Path) -> None:
    before = look(folder)
    ran = verify("releases/r1", folder=folder)
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1] == "verified: 1 of 1 signatures, 18 files; rebuilt from its commit, and the same"
    assert look(folder) == before


def test_what_is_absent_and_what_is_waived_is_said(folder: Path) -> None:
    ran = verify("releases/r1", "--no-rebuild", folder=folder)
    assert ran.stdout.splitlines()[3:-1] == [
        "not in it: dashboards: a dashboard is an object of each platform unit, under manifests/",
        "not in it: drills: this version of Poolwright makes none",
        "not in it: evidence: no record and no ledger names a file of the project as evidence",
        "not in it: lineage: this version of Poolwright makes none",
        "waived until 2026-12-31 by platform: poolwright.yaml: 1 combination is in use, and nothing of 4 steps is "
        "rehearsed [rehearsal-missing]: The example has no test cluster yet.",
    ]


def test_the_commit_counts_and_not_what_is_checked_out(folder: Path) -> None:
    commit(folder, edit(read_releasable(), STACK, ("v0.33.0", "v0.34.0")), "moved on")
    write_files(folder, {"specs/broken.yaml": b"{"})
    assert verify("releases/r1", folder=folder).code == 0


def test_from_elsewhere_with_a_clone(folder: Path, tmp_path: Path) -> None:
    assert release("r1", "--tar", str(tmp_path / "r1.tar"), folder=folder).code == 0
    git(tmp_path, "clone", "--quiet", str(folder), "clone")
    write_files(tmp_path / "r1.tar.attestations", read_files(folder / "releases/r1/attestations"))
    ran = verify("../r1.tar", folder=tmp_path / "clone")
    assert (ran.code, ran.stderr) == (0, "")
    elsewhere = write_files(tmp_path / "empty", {})
    elsewhere.mkdir(exist_ok=True)
    assert verify("../r1.tar", "--project", "../clone", folder=elsewhere).code == 0
    assert verify("../r1.tar", folder=elsewhere).code == 2
    assert verify("../r1.tar", "--no-rebuild", folder=elsewhere).code == 0


# --- signed, and not what the commit gives ---


def change_a_manifest(folder: Path) -> None:
    path = "manifests/east/chat-70b/objects.yaml"
    data = (folder / "releases/r1" / path).read_bytes()
    put(folder, reseal(folder, {path: data.replace(b"replicas: 1", b"replicas: 2")}))


def change_a_receipt(folder: Path) -> None:
    data = (folder / "releases/r1/receipts/east.json").read_bytes()
    put(
        folder,
        reseal(folder, {"receipts/east.json": data.replace(b'"interchangeable": 8', b'"interchangeable": 9', 1)}),
    )


def say_another_tool(folder: Path) -> None:
    tool = read_index(folder).tool
    put(folder, reseal(folder, {}, tool=msgspec.structs.replace(tool, poolwright="0.0.1")))


def say_another_input(folder: Path) -> None:
    first, *others = read_index(folder).inputs
    changed = msgspec.structs.replace(first, sha256="sha256:" + "0" * 64)
    put(folder, reseal(folder, {}, inputs=(changed, *others)))


def say_another_sequence(folder: Path) -> None:
    before = Previous(name="r0", digest="sha256:" + "1" * 64)
    put(folder, reseal(folder, {}, sequence=7, previous=before))


def say_another_day(folder: Path) -> None:
    put(folder, reseal(folder, {}, as_of="2027-01-01"))


def say_a_commit_that_owes(folder: Path) -> None:
    owes = commit(folder, {PROJECT: read_releasable()[PROJECT].partition(NOBODY.encode())[0]}, "nobody answers for it")
    source = msgspec.structs.replace(read_index(folder).source, git_commit=owes)
    put(folder, reseal(folder, {}, source=source))


DIFFERS: dict[str, Callable[[Path], None]] = {
    "a-manifest": change_a_manifest,
    "a-receipt": change_a_receipt,
    "another-tool": say_another_tool,
    "another-input": say_another_input,
    "another-sequence": say_another_sequence,
    "another-day": say_another_day,
    "a-commit-that-owes": say_a_commit_that_owes,
}


@pytest.mark.parametrize("name", DIFFERS)
def test_what_its_commit_does_not_give(name: str, golden: Golden, folder: Path) -> None:
    made = name_packet((folder / "releases/r1/packet.json").read_bytes())
    DIFFERS[name](folder)
    ran = verify("releases/r1", folder=folder)
    assert (ran.code, ran.stderr) == (1, "")
    assert verify("releases/r1", "--no-rebuild", folder=folder).code == 0
    # Digests of a whole packet, and of a commit with one in it, are new with every touch to the page.
    said = ran.stdout.replace(made[7:19], "DIGEST").replace(read_index(folder).source.git_commit[:12], "COMMIT")
    said = re.sub("COMMIT[0-9a-f]{28}", "COMMIT", said)
    golden.compare(ROOT / "tests/golden/verify-rebuild" / name, {"stdout.txt": said.encode()})


# --- no answer ---


def say_no_commit(folder: Path) -> None:
    source = msgspec.structs.replace(read_index(folder).source, git_commit="c0ffee" + "0" * 34)
    put(folder, reseal(folder, {}, source=source))


def say_another_folder(folder: Path) -> None:
    source = msgspec.structs.replace(read_index(folder).source, project_path="fleet")
    put(folder, reseal(folder, {}, source=source))


UNKNOWN: dict[str, Callable[[Path], None]] = {
    "no-commit": say_no_commit,
    "another-folder-of-the-repository": say_another_folder,
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_cannot_be_made_again(name: str, golden: Golden, folder: Path) -> None:
    UNKNOWN[name](folder)
    ran = verify("releases/r1", folder=folder)
    assert (ran.code, ran.stdout) == (2, "")
    golden.compare(ROOT / "tests/golden/verify-rebuild" / name, {"stderr.txt": ran.stderr.encode()})


def test_no_clone_and_nothing_to_make_again_from(folder: Path) -> None:
    ran = verify("releases/r1", "--no-rebuild", "--project", ".", folder=folder)
    assert ran.code == 2
    assert "--project is for the rebuild, and --no-rebuild asks for none" in ran.stderr
