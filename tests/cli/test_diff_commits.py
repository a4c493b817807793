"""`poolwright diff --each-commit` and `--merge-base`: the way between the two sides."""

from __future__ import annotations

from pathlib import Path

from diff_project import BASE, BOTH_WORSE, FOLLOWED, MORE, RENAMED, Said, make, read, say

from fleet import PROJECT
from folders import write_files
from made_repository import commit, git, make_repository

DANGLING = 'pool "h100-full" has no device class "interactive-80g" [dangling-reference]'


def judge(*arguments: str, folder: Path) -> list[tuple[str, bool, tuple[str, ...]]]:
    """Each commit between: its subject, whether it is safe, and what is wrong with it."""
    report = read(*arguments, "--each-commit", folder=folder)[1]
    return [(one.subject, one.is_safe, one.problems) for one in report.commits]


def test_a_commit_that_can_t_be_read_between_two_that_can(tmp_path: Path) -> None:
    """A class is renamed in one commit, and what names it in the next."""
    folder = make_repository(tmp_path / "r")
    for files, message in ((BASE, "first"), (RENAMED, "rename"), (FOLLOWED, "follow")):
        commit(folder, files, message)
    problems = tuple(f"specs/placements.yaml:{line}:22: {DANGLING}" for line in (9, 21))
    expected = ("rename", False, tuple(f"{git(folder, 'rev-parse', 'HEAD~1')[:12]}:{one}" for one in problems))
    assert judge("HEAD~2", "HEAD", folder=folder) == [expected]
    assert judge("HEAD~2", folder=folder) == [expected, ("follow", True, ())]
    assert "commit-unsafe" in say("HEAD~2", "HEAD", "--each-commit", folder=folder).codes
    assert "commit-unsafe" not in say("HEAD~2", "HEAD", folder=folder).codes


def test_a_commit_that_can_be_read_and_is_worse(tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    commit(folder, BASE, "back")
    ((subject, is_safe, problems),) = judge("main", "HEAD", folder=folder)
    assert (subject, is_safe) == ("more", False)
    assert [one.rpartition(" [")[2] for one in problems] == ["shortfall-grew]", "fit-worse]"]
    assert say("main", "HEAD", "--each-commit", folder=folder) == Said(1, "main", "HEAD", (), ("commit-unsafe",))


def test_what_was_wrong_on_the_base_is_no_commit_s_fault(tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    commit(folder, {"README.md": b"x\n"}, "readme")
    commit(folder, {"README.md": b"y\n"}, "again")
    assert judge("more~2", "more", folder=folder) == [("readme", True, ())]


def test_commits_that_a_merge_brings_in_are_judged_too(tmp_path: Path) -> None:
    """And the merge itself, and commits without any change."""
    folder = make(tmp_path / "r")
    git(folder, "checkout", "--quiet", "-b", "side", "main")
    commit(folder, RENAMED, "rename")
    commit(folder, FOLLOWED, "follow")
    git(folder, "checkout", "--quiet", "main")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "empty")
    git(folder, "merge", "--quiet", "--no-ff", "--message", "merge", "side")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "after")
    base = git(folder, "rev-parse", "main~3")
    assert {subject: safe for subject, safe, _ in judge(base, "main", folder=folder)} == {
        "empty": True,
        "rename": False,
        "follow": True,
        "merge": True,
    }


def test_nothing_lies_between(tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    assert judge("main", "more", folder=folder) == []
    assert judge("more", "main", folder=folder) == []
    assert judge("main", "main", folder=folder) == []


def test_a_project_that_comes_in_on_the_way(tmp_path: Path) -> None:
    """Before it is there nothing is synced."""
    folder = make_repository(tmp_path / "r")
    for files, message in (({"README.md": b"1"}, "first"), ({"README.md": b"2"}, "second"), (BASE, "project")):
        commit(folder, files, message)
    commit(folder, {"README.md": b"3"}, "third")
    short = 'placement "chat-70b-next" at minReplicas: some order leaves it with 0 of 1 replica [verdict-short]'
    assert judge("HEAD~3", "HEAD", folder=folder) == [("second", True, ()), ("project", False, (short,))]


def test_a_project_that_goes_for_one_commit(tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    git(folder, "rm", "--quiet", PROJECT)
    gone = commit(folder, {}, "gone")[:12]
    commit(folder, MORE, "back")
    problem = f"{gone}:poolwright.yaml: this side has no poolwright.yaml, and the other has [project-missing]"
    assert judge("more~2", "more", folder=folder) == [("gone", False, (problem,))]


def test_where_two_branches_parted(tmp_path: Path) -> None:
    """What has gone on on main meanwhile isn't this branch's change."""
    folder = make(tmp_path / "r")
    git(folder, "checkout", "--quiet", "main")
    commit(folder, {**FOLLOWED, PROJECT: BASE[PROJECT]}, "meanwhile")
    assert say("main", "more", "--merge-base", folder=folder).workloads == BOTH_WORSE
    report = read("main", "more", "--merge-base", folder=folder)[1]
    assert (report.base.name, report.base.commit) == ("main", git(folder, "rev-parse", "main~1"))
    assert report.classes == ()
    assert read("main", "more", folder=folder)[1].classes != ()
    git(folder, "checkout", "--quiet", "more")
    write_files(folder, BASE)
    assert say("main", "--merge-base", folder=folder) == Said(0, "main", "the working folder")
    assert judge("main", "--merge-base", folder=folder)[0][:2] == ("more", False)
