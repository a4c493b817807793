"""`poolwright release`: one packet of a commit wherever it is made, and none of what isn't whole."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import jsonschema_rs
import msgspec
import pytest

from fleet import FLEET, PLACEMENTS, PROJECT, ROOT, SMALL_FLEET, edit
from folders import read_files, write_files
from golden import Golden
from made_repository import commit, git, look
from poolwright.attestations.tar import read_tar
from poolwright.changes.report import Report
from poolwright.cli.schema import _schema
from poolwright.files.disk import TEMP_NAME, Disk
from poolwright.packet.index import PacketIndex, name_packet, parse_index
from poolwright.pages.document import parse_report
from poolwright.pages.html import render_page
from real_kustomize import build_for_real
from release_project import make_releasable, read_releasable, release
from run_poolwright import Ran, run, start

MORE = edit(read_releasable(), PLACEMENTS, ("minReplicas: 1", "minReplicas: 3"))


def read_index(folder: Path, name: str = "r1") -> PacketIndex:
    return parse_index((folder / "releases" / name / "packet.json").read_bytes())


def test_what_is_printed(golden: Golden, tmp_path: Path) -> None:
    folder = make_releasable(tmp_path / "r")
    ran = release("r1", folder=folder)
    assert (ran.code, ran.stderr) == (0, "")
    said = ran.stdout.replace(name_packet((folder / "releases/r1/packet.json").read_bytes()), "sha256:DIGEST")
    files = {"stdout.txt": said.encode(), "CHANGELOG.md": (folder / "releases/r1/CHANGELOG.md").read_bytes()}
    golden.compare(ROOT / "tests/golden/release-command/first", files)


def test_one_digest_wherever_and_by_whomever(tmp_path: Path) -> None:
    """Two clones on two paths, in two time zones and locales, by two users with other masks and orders of hashes."""
    made = make_releasable(tmp_path / "r", "fleet/")
    git(tmp_path, "clone", "--quiet", str(tmp_path / "r"), "a very long name of a folder")
    there = tmp_path / "a very long name of a folder" / "fleet"
    plain = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, sources()))}
    first = start("release", "r1", "--as-of", "2026-11-30", folder=made, environment={**plain, "TZ": "UTC"})
    other = {"TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8", "HOME": "/", "USER": "x", "PYTHONHASHSEED": "7"}
    mask = os.umask(0o077)
    try:
        second = start("release", "r1", "--as-of", "2026-11-30", folder=there, environment={**plain, **other})
    finally:
        os.umask(mask)
    assert (first.code, second.code) == (0, 0), (first, second)
    assert first.stdout == second.stdout
    assert read_files(made / "releases") == read_files(there / "releases")


def sources() -> list[Path]:
    return [ROOT / name for name in ("render", "overlays", "releases", "pipelines")]


def test_every_file_is_named_and_every_document_is_valid(tmp_path: Path) -> None:
    folder = make_releasable(tmp_path / "r")
    assert release("r1", folder=folder).code == 0
    files, index = read_files(folder / "releases/r1"), read_index(folder)
    assert sorted(files) == sorted([*(one.path for one in index.files), "packet.json", "SHA256SUMS"])
    kinds = {path: json.loads(data)["kind"] for path, data in files.items() if path.endswith(".json")}
    assert kinds == {
        "changes.json": "ChangeReport",
        "ledger.json": "PacketLedger",
        "matrix.json": "RehearsalMatrix",
        "packet.json": "Packet",
        "prices.json": "PacketPrices",
        "receipts/east.json": "Receipts",
        "report.json": "FleetReport",
        "thresholds.json": "PacketThresholds",
        "verdicts.json": "FitPlan",
    }
    for path, kind in kinds.items():
        jsonschema_rs.validator_for(_schema(kind)).validate(json.loads(files[path]))
    assert [(one.role, bool(one.why)) for one in index.absent] == [
        *(("dashboards", True), ("drills", True), ("evidence", True), ("lineage", True))
    ]


def test_the_page_follows_from_its_data_alone(tmp_path: Path) -> None:
    folder = make_releasable(tmp_path / "r")
    assert release("r1", folder=folder).code == 0
    files, index = read_files(folder / "releases/r1"), read_index(folder)
    report = parse_report(files["report.json"])
    assert render_page(report) == files["report.html"]
    assert (report.subject, report.title, report.after.name) == ("release", "release r1", "r1")
    assert (report.after.commit, report.as_of, report.waivers) == (
        *(index.source.git_commit, index.as_of, index.waivers),
    )
    assert report.changes == msgspec.json.decode(files["changes.json"], type=Report)
    receipts = json.loads(files["receipts/east.json"])
    (cluster,) = report.after.clusters
    assert list(cluster.slots.receipt) == [one["id"] for one in receipts["receipts"]]
    losses = [(one.id, one.sentence) for one in cluster.loss_classes if one.thing != "family"]
    assert losses == [(one["id"], one["sentence"]) for one in receipts["lossClasses"]]


def test_kustomize_and_generate_give_the_objects_of_the_packet(tmp_path: Path) -> None:
    folder = make_releasable(tmp_path / "r")
    assert release("r1", folder=folder).code == 0
    for unit in ("platform", "chat-70b", "chat-70b-next", "argocd"):
        own = folder / "releases/r1/manifests/east" / unit
        objects = (own / "objects.yaml").read_bytes()
        assert build_for_real(folder, str(own.relative_to(folder))) == objects
        if unit != "argocd":
            ran = run("generate", "--cluster", "east", "--unit", unit, folder=folder)
            assert ran.stdout.encode() == objects


def test_the_next_one_names_the_one_before_and_what_changed(golden: Golden, tmp_path: Path) -> None:
    folder = make_releasable(tmp_path / "r")
    assert release("r1", folder=folder).code == 0
    commit(folder, {}, "release r1")
    first = name_packet((folder / "releases/r1/packet.json").read_bytes())
    commit(folder, edit(read_releasable(), PLACEMENTS, ("surge: 1", "surge: 0")), "no surge")
    ran = release("r2", folder=folder)
    assert ran.code == 0, ran
    index = read_index(folder, "r2")
    assert (index.sequence, index.previous and (index.previous.name, index.previous.digest)) == (2, ("r1", first))
    said = (folder / "releases/r2/CHANGELOG.md").read_text()
    # A digest of a packet, and of a commit with one in it, is new with every touch to the page.
    said = said.replace(first, "sha256:DIGEST").replace(index.source.git_commit, "COMMIT")
    golden.compare(ROOT / "tests/golden/release-command/second", {"CHANGELOG.md": said.encode()})


def test_a_waiver_of_the_packet_says_who_answers_for_it_until_when(tmp_path: Path) -> None:
    folder = make_releasable(tmp_path / "r")
    assert release("r1", folder=folder).code == 0
    (waiver,) = read_index(folder).waivers
    assert (waiver.rule, waiver.file, waiver.owner, waiver.expires, waiver.reason) == (
        *("rehearsal-missing", "poolwright.yaml", "platform", "2026-12-31", "The example has no test cluster yet."),
    )


def test_the_day_of_the_commit_is_the_day_that_it_is_judged_on(tmp_path: Path) -> None:
    folder = make_releasable(tmp_path / "r")
    assert run("release", "r1", folder=folder).code == 0
    assert read_index(folder).as_of == "2026-01-02"


def test_the_same_again_is_the_same(tmp_path: Path) -> None:
    folder = make_releasable(tmp_path / "r")
    assert release("r1", folder=folder).code == 0
    write_files(folder / "releases/r1", {"attestations/a.dsse.json": b"{}"})
    before = look(folder / "releases")
    ran = release("r1", folder=folder)
    assert ran.code == 0
    assert ran.stdout.splitlines()[-2].startswith("releases/r1 is there already, and the same: sha256:")
    assert look(folder / "releases") == before


def test_what_a_killed_one_left_is_no_change_and_is_cleared_away(tmp_path: Path) -> None:
    folder = make_releasable(tmp_path / "r")
    write_files(folder, {f"releases/{TEMP_NAME}/manifests/east/chat-70b/objects.yaml": b"half of"})
    ran = release("r1", folder=folder)
    assert (ran.code, ran.stderr) == (0, "")
    assert sorted(path.name for path in (folder / "releases").iterdir()) == ["r1"]
    assert "manifests/east/chat-70b/objects.yaml" in read_files(folder / "releases/r1")


def test_two_do_not_write_at_once(tmp_path: Path) -> None:
    folder = make_releasable(tmp_path / "r")
    write_files(folder, {f"releases/{TEMP_NAME}/CHANGELOG.md": b"half of"})
    before = look(folder)
    with Disk(str(folder / "releases")).lock():
        ran = release("r1", folder=folder)
    assert ran.code == 2
    assert "another poolwright" in ran.stderr
    assert look(folder) == before


def test_the_tar_holds_the_folder(tmp_path: Path) -> None:
    folder = make_releasable(tmp_path / "r")
    assert release("r1", "--tar", str(tmp_path / "r1.tar"), folder=folder).code == 0
    assert read_tar((tmp_path / "r1.tar").read_bytes()) == read_files(folder / "releases/r1")


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    folder = make_releasable(tmp_path / "r")
    before = look(folder)
    ran = release("r1", "--dry-run", folder=folder)
    assert ran.code == 0
    assert ran.stdout.splitlines()[-1].startswith("would write releases/r1: 20 files, sha256:")
    assert look(folder) == before


def test_a_dry_run_refuses_what_would_be_refused(tmp_path: Path) -> None:
    folder = make_releasable(tmp_path / "r")
    leave_another_there(folder)
    ran = release("r1", "--dry-run", folder=folder)
    assert ran.code == 2
    assert "differs from what the commit gives  [release-taken]" in ran.stderr


def test_folders_and_files_are_readable_by_all(tmp_path: Path) -> None:
    folder = make_releasable(tmp_path / "r")
    assert release("r1", folder=folder).code == 0
    modes = {stat.S_IMODE(path.stat().st_mode) & 0o055 for path in (folder / "releases").rglob("*") if path.is_dir()}
    assert modes == {0o055}


# --- what isn't released: what is done to the repository, exit code, and what is said of it ---


def leave(folder: Path) -> None:
    pass


def edit_a_spec(folder: Path) -> None:
    write_files(folder, {PLACEMENTS: MORE[PLACEMENTS]})


def add_a_file(folder: Path) -> None:
    write_files(folder, {"specs/new.yaml": b""})


def remove_a_file(folder: Path) -> None:
    (folder / "models/llama-3.3-70b-fp8/config.json").unlink()


def put_a_link_in_place(folder: Path) -> None:
    (folder / PLACEMENTS).rename(folder / "p")
    (folder / PLACEMENTS).symlink_to(folder / "p")
    git(folder, "add", "p")


def ask_for_too_much(folder: Path) -> None:
    commit(folder, MORE, "more")


def ask_for_more_than_there_is(folder: Path) -> None:
    alone = read_releasable()[PLACEMENTS].partition(b"---\n")[0].replace(b"minReplicas: 1", b"minReplicas: 5")
    commit(folder, {PLACEMENTS: alone}, "five, and there is room for four")


def let_the_waiver_expire(folder: Path) -> None:
    commit(folder, edit(read_releasable(), PROJECT, ("2026-12-31", "2026-11-29")), "expired")


def take_the_lock_away(folder: Path) -> None:
    git(folder, "rm", "--quiet", "poolwright.lock")
    commit(folder, {}, "no lock")


def break_a_spec(folder: Path) -> None:
    commit(folder, {PLACEMENTS: b"kind: [\n"}, "broken")


def release_and_commit(folder: Path) -> None:
    assert release("r1", folder=folder).code == 0
    commit(folder, {}, "released")


def leave_another_there(folder: Path) -> None:
    write_files(folder, {"releases/r1/packet.json": b"{}"})


def break_the_one_before(folder: Path) -> None:
    commit(folder, {"releases/r0/packet.json": b"{}"}, "another's")


def name_evidence_with_a_space(folder: Path) -> None:
    files = read_files(FLEET / "rehearsals")
    commit(folder, {f"rehearsals/a b/{path}": data for path, data in files.items()}, "records")


def rename_the_one_before(folder: Path) -> None:
    release_and_commit(folder)
    git(folder, "mv", "releases/r1", "releases/r0")
    commit(folder, {}, "by another name")


def cut_the_history(folder: Path) -> None:
    release_and_commit(folder)
    git(folder, "mv", "releases/r1", "releases/r0")
    index = json.loads((folder / "releases/r0/packet.json").read_bytes())
    index |= {"name": "r0", "source": {**index["source"], "gitCommit": "c0ffee" + "0" * 34}}
    data = json.dumps(index, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    commit(folder, {"releases/r0/packet.json": data}, "of a commit that isn't here")


REFUSED: dict[str, tuple[Callable[[Path], None], int, tuple[str, ...]]] = {
    "an-edited-spec": (edit_a_spec, 2, ("1 path of the project differs from the commit: specs/placements.yaml",)),
    "an-uncommitted-file": (add_a_file, 2, ("1 path of the project differs from the commit: specs/new.yaml",)),
    "a-missing-file": (remove_a_file, 2, ("models/llama-3.3-70b-fp8/config.json",)),
    "a-link-in-place-of-a-file": (put_a_link_in_place, 2, ("p, specs/placements.yaml", "[release-dirty]")),
    "verdicts-that-say-no": (
        ask_for_too_much,
        1,
        ("[release-short]", "[verdict-short]", "[pool-crowded]", "not released: 3 findings"),
    ),
    "more-than-there-is": (
        ask_for_more_than_there_is,
        1,
        ("is unsatisfied, at most 4 of 6 replicas can have devices",),
    ),
    "an-expired-waiver": (let_the_waiver_expire, 1, ("[rehearsal-missing]", "[waiver-expired]")),
    "no-lock": (take_the_lock_away, 1, ("the project has no poolwright.lock  [release-unpinned]",)),
    "a-spec-that-cannot-be-read": (break_a_spec, 2, ("specs/placements.yaml:",)),
    "a-name-that-is-taken": (release_and_commit, 2, ('there is a release "r1" in the commit  [release-taken]',)),
    "another-packet-in-its-place": (leave_another_there, 2, ("differs from what the commit gives  [release-taken]",)),
    "evidence-with-a-space": (name_evidence_with_a_space, 2, ("[release-path]",)),
    "a-broken-one-before": (break_the_one_before, 2, ("releases/r0: packet.json is no Packet of", "[release-before]")),
    "a-renamed-one-before": (
        rename_the_one_before,
        2,
        ('releases/r0 has the packet of release "r1"  [release-before]',),
    ),
    "a-history-that-is-cut": (
        cut_the_history,
        2,
        ("there is no commit c0ffee", "[release-base]", "git fetch --unshallow"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_released(name: str, golden: Golden, tmp_path: Path) -> None:
    spoil, code, said = REFUSED[name]
    folder = make_releasable(tmp_path / "r")
    spoil(folder)
    before = look(folder)
    ran = release("r1", folder=folder)
    printed = ran.stdout + ran.stderr
    assert ran.code == code, printed
    assert [one for one in said if one not in printed] == [], printed
    assert look(folder) == before
    golden.compare(ROOT / "tests/golden/release-command" / name, {"said.txt": printed.encode()})


@pytest.mark.parametrize("name", ["R1", "../x", "a/b", "-a", "", "a..b", "a.", "x" * 64])
def test_names_that_no_release_has(name: str, tmp_path: Path) -> None:
    folder = make_releasable(tmp_path / "r")
    ran = run("release", "--as-of", "2026-11-30", "--", name, folder=folder)
    must = "1 to 63 of a-z, 0-9, '-' and '.', with a letter or digit at both ends and no two '.' together"
    assert ran == Ran(2, "", f'poolwright: NAME: "{name}" must be {must}\n')
    assert list(folder.glob("releases")) == []


def test_no_repository(tmp_path: Path) -> None:
    ran = release("r1", folder=write_files(tmp_path / "p", read_releasable()))
    assert ran.code == 2
    assert "no Git repository holds" in ran.stderr


def test_the_fleet_that_this_rests_on_owes_more_before_it_is_made_releasable(tmp_path: Path) -> None:
    folder = make_releasable(tmp_path / "r")
    commit(folder, read_files(SMALL_FLEET), "as it was")
    assert release("r1", folder=folder).code == 1
