"""`poolwright diff`: the two sides, in every way that they can be named."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from diff_project import ALL_NEW, BASE, BOTH_WORSE, MORE, Said, make, read, say

from fleet import ROOT, render_small_tree
from folders import write_files
from golden import Golden
from made_repository import commit, git, make_repository
from run_poolwright import run

WORSE = ("shortfall-grew", "fit-worse", "fit-worse", "verdict-short")
NEW = ("verdict-short", "fit-worse", "base-missing")
HERE = "the working folder"
THIRD = b"""\
apiVersion: poolwright.dev/v1alpha1
kind: Placement
metadata: {name: third}
spec:
  envelope: {name: chat-70b, version: 2.3.0}
  poolName: h100-full
  deviceClassNames: [interactive-80g]
  minReplicas: 1
  surge: 0
"""
WITH_THIRD = ("chat/third none -> 1/1",)


def test_what_is_printed(golden: Golden, tmp_path: Path) -> None:
    ran = run("diff", "main", "more", folder=make(tmp_path / "r"))
    assert (ran.code, ran.stderr) == (1, "")
    golden.compare(ROOT / "tests/golden/diff-command", {"worse.txt": ran.stdout.encode()})


# --- where the sides come from: a folder to run in, arguments, what is said ---

Given = tuple[Path, tuple[str, ...]]


def two_revisions(folder: Path) -> Given:
    return make(folder), ("main", "more")


def short_and_relative_revisions(folder: Path) -> Given:
    return make(folder), (git(folder, "rev-parse", "--short", "main"), "main~0^{commit}")


def backwards(folder: Path) -> Given:
    return make(folder), ("more", "main")


def what_is_checked_out(folder: Path) -> Given:
    return make(folder), ("main",)


def what_is_checked_out_from_within(folder: Path) -> Given:
    return make(folder) / "specs/envelopes", ("main",)


def edits_without_a_commit(folder: Path) -> Given:
    git(make(folder), "checkout", "--quiet", "main")
    write_files(folder, MORE)
    return folder, ("HEAD",)


def a_file_that_git_doesn_t_know(folder: Path) -> Given:
    git(make(folder), "checkout", "--quiet", "main")
    write_files(folder, {"specs/third.yaml": THIRD})
    return folder, ("HEAD",)


def a_file_that_git_ignores(folder: Path) -> Given:
    """It is read by every command, so it counts."""
    git(make(folder), "checkout", "--quiet", "main")
    write_files(folder, {"specs/third.yaml": THIRD, ".gitignore": b"specs/third.yaml\n"})
    return folder, ("HEAD",)


def a_removed_file(folder: Path) -> Given:
    write_files(make(folder), {"specs/third.yaml": THIRD})
    commit(folder, BASE, "third")
    (folder / "specs/third.yaml").unlink()
    return folder, ("HEAD",)


def what_is_only_in_the_index(folder: Path) -> Given:
    """It isn't on disk, and isn't committed."""
    git(make(folder), "checkout", "--quiet", "main")
    write_files(folder, MORE)
    git(folder, "add", "--all")
    write_files(folder, BASE)
    return folder, ("HEAD",)


def a_folder_in_a_repository(folder: Path) -> Given:
    return make(folder, "clusters/gpu/") / "clusters/gpu", ("main", "more")


def a_folder_in_a_repository_by_name(folder: Path) -> Given:
    return make(folder, "gpu/"), ("--project", "gpu", "main")


def from_elsewhere(folder: Path) -> Given:
    make(folder / "r")
    (folder / "elsewhere").mkdir()
    return folder / "elsewhere", ("--project", "../r", "main")


def two_folders(folder: Path) -> Given:
    write_files(folder / "a", BASE)
    write_files(folder / "b", MORE)
    return folder, ("./a", "./b")


def two_folders_by_plain_names(folder: Path) -> Given:
    """No repository holds them, so they are no revisions."""
    return two_folders(folder)[0], ("a", "b/")


def two_folders_that_are_absolute(folder: Path) -> Given:
    two_folders(folder / "there")
    return folder, (f"{folder}/there/a", f"{folder}/there/b")


def a_folder_and_where_it_runs(folder: Path) -> Given:
    two_folders(folder)
    return folder / "b", ("../a",)


def dots(folder: Path) -> Given:
    two_folders(folder)
    return folder / "b", ("../a", ".")


def a_folder_and_a_revision(folder: Path) -> Given:
    write_files(make(folder) / "out/a", BASE)
    return folder, ("./out/a", "more")


def a_folder_over_a_link(folder: Path) -> Given:
    """Who names it may follow it; below it no link is followed."""
    two_folders(folder)
    (folder / "link").symlink_to("b")
    return folder, ("a", "./link")


def a_bare_repository(folder: Path) -> Given:
    git(make(folder / "r").parent, "clone", "--quiet", "--bare", "r", "r.git")
    return folder, ("--project", "r.git", "main", "more")


def a_linked_working_tree(folder: Path) -> Given:
    git(make(folder / "r"), "worktree", "add", "--quiet", "../linked", "main")
    write_files(folder / "linked", MORE)
    return folder / "linked", ("HEAD",)


def a_tag_and_a_branch_in_full(folder: Path) -> Given:
    git(make(folder), "tag", "--annotate", "--message=one", "more", "main")
    return folder, ("refs/tags/more", "refs/heads/more")


def a_branch_that_begins_with_a_dash(folder: Path) -> Given:
    git(make(folder), "update-ref", "refs/heads/-x", "main")
    return folder, ("--", "-x", "more")


def a_rendered_tree_beside_it(folder: Path) -> Given:
    """Its base is rendered, the head isn't: `render --check` says so, and here it isn't looked at."""
    write_files(make_repository(folder), {**BASE, **render_small_tree()})
    commit(folder, BASE, "rendered")
    return folder, ("HEAD",)


def a_project_that_is_new(folder: Path) -> Given:
    commit(make_repository(folder), {"README.md": b"x\n"}, "first")
    commit(folder, BASE, "second")
    return folder, ("HEAD~1", "HEAD")


def a_project_whose_folder_is_new(folder: Path) -> Given:
    commit(make_repository(folder), {"README.md": b"x\n"}, "first")
    commit(folder, {f"fleet/{path}": data for path, data in BASE.items()}, "second")
    return folder / "fleet", ("HEAD~1",)


def a_project_that_isn_t_committed_yet(folder: Path) -> Given:
    commit(make_repository(folder), {"README.md": b"x\n"}, "first")
    return write_files(folder, BASE), ("HEAD",)


def turn(row: str) -> str:
    """The same workload the other way."""
    name, old, _, new = re.fullmatch(r"(\S+) (.*) (->) (.*)", row).groups()  # type: ignore[union-attr]
    return f"{name} {new} -> {old}"


SIDES: dict[Callable[[Path], Given], Said] = {
    two_revisions: Said(1, "main", "more", BOTH_WORSE, WORSE),
    short_and_relative_revisions: Said(0, "ID", "main~0^{commit}"),
    backwards: Said(0, "more", "main", tuple(map(turn, BOTH_WORSE))),
    what_is_checked_out: Said(1, "main", HERE, BOTH_WORSE, WORSE),
    what_is_checked_out_from_within: Said(1, "main", HERE, BOTH_WORSE, WORSE),
    edits_without_a_commit: Said(1, "HEAD", HERE, BOTH_WORSE, WORSE),
    a_file_that_git_doesn_t_know: Said(0, "HEAD", HERE, WITH_THIRD),
    a_file_that_git_ignores: Said(0, "HEAD", HERE, WITH_THIRD),
    a_removed_file: Said(0, "HEAD", HERE, tuple(map(turn, WITH_THIRD)), ("workload-gone",)),
    what_is_only_in_the_index: Said(0, "HEAD", HERE),
    a_folder_in_a_repository: Said(1, "main", "more", BOTH_WORSE, WORSE),
    a_folder_in_a_repository_by_name: Said(1, "main", HERE, BOTH_WORSE, WORSE),
    from_elsewhere: Said(1, "main", HERE, BOTH_WORSE, WORSE),
    two_folders: Said(1, "./a", "./b", BOTH_WORSE, WORSE),
    two_folders_by_plain_names: Said(1, "a", "b/", BOTH_WORSE, WORSE),
    two_folders_that_are_absolute: Said(1, "TMP/there/a", "TMP/there/b", BOTH_WORSE, WORSE),
    a_folder_and_where_it_runs: Said(1, "../a", HERE, BOTH_WORSE, WORSE),
    dots: Said(1, "../a", ".", BOTH_WORSE, WORSE),
    a_folder_and_a_revision: Said(1, "./out/a", "more", BOTH_WORSE, WORSE),
    a_folder_over_a_link: Said(1, "a", "./link", BOTH_WORSE, WORSE),
    a_bare_repository: Said(1, "main", "more", BOTH_WORSE, WORSE),
    a_linked_working_tree: Said(1, "HEAD", HERE, BOTH_WORSE, WORSE),
    a_tag_and_a_branch_in_full: Said(1, "refs/tags/more", "refs/heads/more", BOTH_WORSE, WORSE),
    a_branch_that_begins_with_a_dash: Said(1, "-x", "more", BOTH_WORSE, WORSE),
    a_rendered_tree_beside_it: Said(0, "HEAD", HERE),
    a_project_that_is_new: Said(1, "HEAD~1", "HEAD", ALL_NEW, NEW),
    a_project_whose_folder_is_new: Said(1, "HEAD~1", HERE, ALL_NEW, NEW),
    a_project_that_isn_t_committed_yet: Said(1, "HEAD", HERE, ALL_NEW, NEW),
}


@pytest.mark.parametrize("make_sides", SIDES)
def test_the_two_sides(make_sides: Callable[[Path], Given], tmp_path: Path) -> None:
    folder, arguments = make_sides(tmp_path)
    said = say(*arguments, folder=folder)
    if make_sides is short_and_relative_revisions:
        said = said._replace(base=said.base.replace(arguments[0], "ID"))
    said = said._replace(base=said.base.replace(str(tmp_path), "TMP"), head=said.head.replace(str(tmp_path), "TMP"))
    assert said == SIDES[make_sides]


def test_sides_have_the_commits_that_they_are_at(tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    report = read("main", "more", folder=folder)[1]
    assert [one.commit for one in (report.base, report.head)] == git(folder, "rev-parse", "main", "more").split()
    report = read("main", folder=folder)[1]
    assert [one.commit for one in (report.base, report.head)] == [git(folder, "rev-parse", "main"), None]


def test_one_commit_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`diff HEAD HEAD`, and revisions whose files are the same, whatever stands in what is rendered of them."""
    folder = make(tmp_path / "r")
    read_folders = []
    from poolwright.cli import sides

    load = sides.load_for_plan
    monkeypatch.setattr(sides, "load_for_plan", lambda folder: read_folders.append(folder) or load(folder))
    commit(folder, {"overlays/x.yaml": b"x\n"}, "rendered")
    assert say("HEAD~1", "HEAD", folder=folder) == Said(0, "HEAD~1", "HEAD")
    assert len(read_folders) == 1
