"""`poolwright diff` of what can't be compared: one clear message, exit code 2, nothing on stdout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from diff_project import BASE, MORE, RENAMED, make

from fleet import PROJECT, ROOT
from folders import write_files
from golden import Golden
from made_repository import commit, git, make_repository
from run_poolwright import run

TEXTS = ROOT / "tests/golden/diff-refusals"
Given = tuple[Path, tuple[str, ...]]


def unknown(folder: Path) -> Given:
    return make(folder), ("moer",)


def unknown_head(folder: Path) -> Given:
    return make(folder), ("main", "moer")


def ambiguous(folder: Path) -> Given:
    git(make(folder), "tag", "more", "main")
    return folder, ("more",)


def a_dash(folder: Path) -> Given:
    return make(folder), ("--", "--exec=x")


def a_range(folder: Path) -> Given:
    return make(folder), ("main..more",)


def a_range_of_three_dots(folder: Path) -> Given:
    return make(folder), ("origin/main...HEAD",)


def an_open_range(folder: Path) -> Given:
    return make(folder), ("main..",)


def a_tree(folder: Path) -> Given:
    return make(folder), ("main:specs",)


def a_search(folder: Path) -> Given:
    return make(folder), (":/nothing",)


def nothing(folder: Path) -> Given:
    """As where a variable of CI is empty."""
    return make(folder), ("main", "")


def control_characters(folder: Path) -> Given:
    return make(folder), ("main\n::error::x\x1b[2J",)


def very_long(folder: Path) -> Given:
    return make(folder), ("x" * 900,)


def far_too_long(folder: Path) -> Given:
    return make(folder), ("x" * 5000,)


def a_folder_and_a_branch(folder: Path) -> Given:
    git(make(folder), "branch", "specs")
    return folder, ("specs",)


def a_folder_that_isn_t_there(folder: Path) -> Given:
    return make(folder), ("./gone",)


def a_file(folder: Path) -> Given:
    return make(folder), (f"{folder}/poolwright.yaml",)


def a_long_folder(folder: Path) -> Given:
    return make(folder), ("./" + "x" * 5000,)


def no_repository(folder: Path) -> Given:
    return write_files(folder, BASE), ("main",)


def no_commit_yet(folder: Path) -> Given:
    write_files(make_repository(folder), BASE)
    return folder, ("main",)


def no_project_folder(folder: Path) -> Given:
    return make(folder), ("main", "--project", "gone")


def a_head_without_project(folder: Path) -> Given:
    git(make(folder), "rm", "--quiet", "poolwright.yaml")
    commit(folder, {}, "gone")
    return folder, ("main", "HEAD")


def a_head_without_the_folder(folder: Path) -> Given:
    git(make(folder, "fleet/"), "rm", "--quiet", "-r", "fleet")
    commit(folder, {"x": b""}, "gone")
    git(folder, "checkout", "--quiet", "main")
    return folder, ("--project", "fleet", "main", "more")


def a_folder_without_project(folder: Path) -> Given:
    return make(folder), ("main", "./specs")


def a_bare_repository_has_no_files(folder: Path) -> Given:
    git(make(folder / "r").parent, "clone", "--quiet", "--bare", "r", "r.git")
    return folder, ("--project", "r.git", "main")


def a_file_where_the_folder_stood(folder: Path) -> Given:
    commit(make_repository(folder), {"fleet": b"x"}, "one")
    (folder / "fleet").unlink()
    write_files(folder / "fleet", BASE)
    return folder, ("--project", "fleet", "HEAD")


def shallow(folder: Path) -> Given:
    git(make(folder / "r").parent, "clone", "--quiet", "--depth=1", f"file://{folder}/r", "clone")
    return folder / "clone", ("HEAD~1",)


def shallow_on_the_way(folder: Path) -> Given:
    git(make(folder / "r").parent, "clone", "--quiet", "--depth=1", "--no-single-branch", f"file://{folder}/r", "clone")
    return folder / "clone", ("origin/main", "--each-commit")


def partial(folder: Path) -> Given:
    git(make(folder / "r"), "config", "uploadpack.allowFilter", "true")
    words = ("clone", "--quiet", "--filter=blob:none", "--no-checkout", f"file://{folder}/r", "clone")
    git(folder, *words)
    return folder / "clone", ("HEAD~1", "HEAD")


def a_base_with_broken_specs(folder: Path) -> Given:
    commit(make(folder), RENAMED, "broken")
    write_files(folder, BASE)
    return folder, ("HEAD",)


def a_head_with_broken_specs(folder: Path) -> Given:
    write_files(make(folder), {PROJECT: b"a: ["})
    commit(folder, {}, "broken")
    return folder, ("main", "HEAD")


def broken_specs_on_disk(folder: Path) -> Given:
    return write_files(make(folder), {PROJECT: b"a: ["}), ("main",)


def a_folder_with_broken_specs(folder: Path) -> Given:
    write_files(folder / "a", BASE)
    write_files(folder / "b", {**MORE, PROJECT: b"a: ["})
    return folder, ("a", "./b/")


def a_link_for_a_spec(folder: Path) -> Given:
    (make(folder) / "specs/link.yaml").symlink_to("/etc/passwd")
    commit(folder, {}, "link")
    return folder, ("main", "HEAD")


def history_of_a_folder(folder: Path) -> Given:
    write_files(make(folder) / "out", BASE)
    return folder, ("./out", "more", "--merge-base")


def the_way_to_a_folder(folder: Path) -> Given:
    return make(folder), ("main", ".", "--each-commit")


def unrelated(folder: Path) -> Given:
    git(make(folder), "checkout", "--quiet", "--orphan", "other")
    commit(folder, BASE, "other")
    return folder, ("main", "other", "--merge-base")


def too_many_commits(folder: Path) -> Given:
    made = git(make(folder), "rev-parse", "more")
    tree = git(folder, "rev-parse", "more^{tree}")
    for _ in range(200):
        made = git(folder, "commit-tree", tree, "-p", made, "-m", "x")
    git(folder, "update-ref", "refs/heads/long", made)
    return folder, ("main", "long", "--each-commit")


def a_project_below_the_folder(folder: Path) -> Given:
    """At the top of a repository that has its project in a folder: no specs are compared as if they were manifests."""
    return make(folder, "fleet/"), ("main",)


REFUSALS: tuple[Callable[[Path], Given], ...] = (
    *(unknown, unknown_head, ambiguous, a_dash, a_range, a_range_of_three_dots, an_open_range, a_tree, a_search),
    *(nothing, control_characters, very_long, far_too_long, a_folder_and_a_branch, a_folder_that_isn_t_there, a_file),
    *(a_long_folder, no_repository, no_commit_yet, no_project_folder, a_head_without_project),
    *(a_head_without_the_folder, a_folder_without_project, a_bare_repository_has_no_files),
    *(a_file_where_the_folder_stood, shallow, shallow_on_the_way, partial, a_base_with_broken_specs),
    *(a_head_with_broken_specs, broken_specs_on_disk, a_folder_with_broken_specs, a_link_for_a_spec),
    *(history_of_a_folder, the_way_to_a_folder, unrelated, too_many_commits, a_project_below_the_folder),
)


@pytest.mark.parametrize("make_sides", REFUSALS)
def test_what_can_t_be_compared(make_sides: Callable[[Path], Given], golden: Golden, tmp_path: Path) -> None:
    folder, arguments = make_sides(tmp_path / "r")
    ran = run("diff", *arguments, folder=folder)
    assert (ran.code, ran.stdout) == (2, "")
    said = ran.stderr.replace(str(tmp_path / "r"), "TMP")
    golden.compare(TEXTS / make_sides.__name__, {"stderr.txt": said.encode()})


def test_every_text_has_its_case() -> None:
    assert sorted(path.name for path in TEXTS.iterdir()) == sorted(one.__name__ for one in REFUSALS)
