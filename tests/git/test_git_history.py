"""The way from one commit to another, and where it isn't here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from made_repository import commit, git, make_repository, opened, say
from poolwright.git.repository import Repository

RANGE = "  why  commits between two are those that lead from one to the other (poolwright reading of revisions)\n"
SHALLOW = """\
  why  a shallow clone has only the newest commits, and nothing is fetched here (poolwright reading of revisions)
  fix  fetch the history: `fetch-depth: 0` of actions/checkout, `GIT_DEPTH: 0` in GitLab CI, \
`git fetch --unshallow` by hand
"""


def make(folder: Path) -> Path:
    """main: 1 - 2 - 3; side, from 1: s - t, with 2 merged in as m, then u."""
    make_repository(folder)
    commit(folder, {"1": b""}, "1")
    git(folder, "checkout", "--quiet", "-b", "side")
    commit(folder, {"s": b""}, "s")
    commit(folder, {"t": b""}, "t")
    git(folder, "checkout", "--quiet", "main")
    commit(folder, {"2": b""}, "2")
    git(folder, "checkout", "--quiet", "side")
    git(folder, "merge", "--quiet", "--no-ff", "--message", "m", "main")
    commit(folder, {"u": b""}, "u")
    git(folder, "checkout", "--quiet", "main")
    commit(folder, {"3": b""}, "3")
    git(folder, "checkout", "--quiet", "--orphan", "alone")
    commit(folder, {"a": b""}, "a")
    git(folder, "checkout", "--quiet", "main")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("made") / "r")


def subjects(repository: Repository, base: str, head: str, **options: bool | int) -> list[str]:
    found = repository.list_commits(repository.resolve(base), repository.resolve(head), **options)  # type: ignore[arg-type]
    return [one.subject for one in found]


BETWEEN = {
    "to-itself": (("main", "main"), {}, []),
    "back": (("main", "main~2"), {}, []),
    "straight": (("main~2", "main"), {}, ["2", "3"]),
    "a-parent-before-its-children": (("main~2", "side"), {}, ["s", "t", "2", "m", "u"]),
    "what-the-base-has-is-left-out": (("main", "side"), {}, ["s", "t", "m", "u"]),
    "of-the-branch-alone": (("main~2", "side"), {"is_first_parent": True}, ["s", "t", "m", "u"]),
    "nothing-in-common": (("main", "alone"), {}, ["a"]),
    "as-many-as-may-be": (("main~2", "main"), {"most": 2}, ["2", "3"]),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_the_commits_between(name: str, made: Path) -> None:
    (base, head), options, expected = BETWEEN[name]
    assert subjects(opened(made), base, head, **options) == expected


def test_too_many_commits_between(made: Path) -> None:
    repository = opened(made)
    base, head = repository.resolve("main~2"), repository.resolve("main")
    assert say(repository.list_commits, base, head, most=1) == (
        f".: more than 1 commits lead from {base.id[:12]} to {head.id[:12]}  [git-range]\n{RANGE}"
        "  fix  compare the two ends alone, or in several steps\n"
    )


BASES = {("main", "side"): "2", ("side", "main"): "2", ("main", "main~2"): "1", ("side", "side"): "u"}


@pytest.mark.parametrize("pair", BASES, ids="-".join)
def test_the_nearest_common_ancestor(pair: tuple[str, str], made: Path) -> None:
    repository = opened(made)
    assert repository.find_merge_base(*map(repository.resolve, pair)).subject == BASES[pair]


def test_no_common_ancestor(made: Path) -> None:
    repository = opened(made)
    one, other = repository.resolve("main"), repository.resolve("alone")
    assert say(repository.find_merge_base, one, other) == (
        f".: {one.id[:12]} and {other.id[:12]} have no common ancestor  [git-range]\n{RANGE}"
        "  fix  compare the two commits themselves\n"
    )


# --- in shallow clones ---


def clone(made: Path, into: Path, depth: int) -> Repository:
    git(into, "clone", "--quiet", "--no-single-branch", f"--depth={depth}", made.as_uri(), "clone")
    return opened(into / "clone")


def test_a_way_that_is_here_as_a_whole(made: Path, tmp_path: Path) -> None:
    """main has 2 and 3, and the clone begins at 2, which is the base."""
    repository = clone(made, tmp_path, 2)
    assert repository.is_shallow
    assert subjects(repository, "origin/main~1", "origin/main") == ["3"]
    two, three = repository.resolve("origin/main~1"), repository.resolve("origin/main")
    assert repository.find_merge_base(three, two) == two


def test_a_way_that_leaves_a_shallow_clone(made: Path, tmp_path: Path) -> None:
    """Without a word of it, the commits that aren't here would pass for looked at."""
    repository = clone(made, tmp_path, 1)
    main, side = repository.resolve("origin/main"), repository.resolve("origin/side")
    assert say(repository.list_commits, main, side) == (
        f".: the way from {main.id[:12]} to {side.id[:12]} leaves this shallow clone  [git-shallow]\n{SHALLOW}"
    )
    assert say(repository.find_merge_base, main, side) == (
        f".: {main.id[:12]} and {side.id[:12]} have no common ancestor in this shallow clone  [git-shallow]\n{SHALLOW}"
    )


def test_an_ancestor_that_may_not_be_the_nearest(made: Path, tmp_path: Path) -> None:
    """Of side, u and m are here, with m's parents 2 and t; between t and main there may be more."""
    repository = clone(made, tmp_path, 3)
    main, side = repository.resolve("origin/main"), repository.resolve("origin/side")
    assert say(repository.find_merge_base, main, side) == (
        f".: {main.id[:12]} and {side.id[:12]} have no common ancestor that is sure to be the nearest in this shallow "
        f"clone  [git-shallow]\n{SHALLOW}"
    )


def lose_a_parent(folder: Path) -> None:
    lost = git(folder, "rev-parse", "main~1")
    (folder / ".git/objects" / lost[:2] / lost[2:]).unlink()


def damage_a_parent(folder: Path) -> None:
    damaged = git(folder, "rev-parse", "main~1")
    path = folder / ".git/objects" / damaged[:2] / damaged[2:]
    path.chmod(0o644)
    path.write_bytes(b"damaged")


@pytest.mark.parametrize("happen", [lose_a_parent, damage_a_parent])
def test_history_that_can_t_be_followed(happen: Callable[[Path], None], tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    repository = opened(folder)
    main, first = repository.resolve("main"), repository.resolve("main~2")
    happen(folder)
    said = say(repository.list_commits, first, main)
    assert said.startswith(".: git can't follow the history: ")
    assert said.endswith("""  [git-object]
  why  a revision is read as a whole or not at all (poolwright reading of revisions)
  fix  clone again without --filter, for nothing is fetched here; `git fsck` says what is damaged
""")
