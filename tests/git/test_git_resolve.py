"""Which commit a revision means, and what is said where it means none."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pytest

from folders import write_files
from made_repository import commit, git, make_repository, opened, say, store_blob
from poolwright.git.commit import Commit, parse_commit

REVISION = "  why  each side of a comparison is exactly one commit (poolwright reading of revisions)\n"
SHALLOW = """\
  why  a shallow clone has only the newest commits, and nothing is fetched here (poolwright reading of revisions)
"""
DEEPEN = """fetch the history: `fetch-depth: 0` of actions/checkout, `GIT_DEPTH: 0` in GitLab CI, \
`git fetch --unshallow` by hand
"""
NAME_ONE = "  fix  name a branch, a tag or a commit\n"


def make(folder: Path) -> Path:
    make_repository(folder)
    commit(folder, {"poolwright.yaml": b"a\n"}, "one")
    git(folder, "tag", "--annotate", "v1", "--message", "tag")
    git(folder, "branch", "release-1.0")
    commit(folder, {"poolwright.yaml": b"b\n"}, "two\n\nmore")
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    return folder


MEANT = {
    "HEAD": "two",
    "main": "two",
    "refs/heads/main": "two",
    "HEAD~1": "one",
    "main^": "one",
    "v1": "one",
    "v1^{commit}": "one",
    "release-1.0": "one",
    "origin/main": "one",
    "main@{0}": "two",
    "@": "two",
    "HEAD^{/one}": "one",
    "WHOLE": "two",
    "SHORT": "two",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tests that only ask."""
    folder = make(tmp_path_factory.mktemp("made") / "r")
    tag = f"object {store_blob(folder, b'a')}\ntype blob\ntag t\ntagger a <a> 0 +0000\n\n"
    made = git(folder, "hash-object", "-t", "tag", "-w", "--stdin", stdin=tag.encode())
    git(folder, "update-ref", "refs/blob-tag", made)
    return folder


@pytest.mark.parametrize("revision", MEANT)
def test_a_revision_means_what_it_means_to_git(revision: str, made: Path) -> None:
    head = git(made, "rev-parse", "HEAD")
    found = opened(made).resolve(revision.replace("WHOLE", head).replace("SHORT", head[:7]))
    assert found == Commit(
        id=git(made, "rev-parse", "HEAD" if MEANT[revision] == "two" else "HEAD~1"),
        subject=MEANT[revision],
        day=dt.date(2026, 1, 2),
    )


def unknown(what: str, near: str = "main, release-1.0, origin/main, v1") -> str:
    return f".: {what}  [git-revision]\n{REVISION}  fix  name one that is here ({near})\n"


UNKNOWN = {
    "mian": unknown("there is no commit mian", "main"),
    "release-1.1~3": unknown("there is no commit release-1.1~3", "release-1.0"),
    "nothing-like-it": unknown("there is no commit nothing-like-it"),
    "HEAD~7": unknown("there is no commit HEAD~7"),
    "0123456789": unknown("there is no commit 0123456789"),
    "main..v1": unknown("there is no commit main..v1", "main"),
    "^main": unknown("there is no commit ^main"),
    "--all": unknown("there is no commit --all"),
    "--batch-all-objects": unknown("there is no commit --batch-all-objects"),
    "-h": unknown("there is no commit -h"),
    "main poolwright": unknown("there is no commit main poolwright"),
    "refs/blob-tag": f".: refs/blob-tag is a tag of what is no commit  [git-revision]\n{REVISION}{NAME_ONE}",
    "HEAD:": f".: HEAD: is a tree, not a commit  [git-revision]\n{REVISION}{NAME_ONE}",
    "HEAD:poolwright.yaml": f".: HEAD:poolwright.yaml is a blob, not a commit  [git-revision]\n{REVISION}{NAME_ONE}",
    "": f".: '' can't be a revision  [git-revision]\n{REVISION}{NAME_ONE}",
    # git would look for our ^{commit} in messages as well, and the branch with the newest wins.
    ":/state": f".: :/state looks for words in messages of commits, from every branch  [git-revision]\n{REVISION}"
    "  fix  write HEAD^{/state}, or name a branch, a tag or a commit\n",
    "main\nHEAD": f".: 'main\\nHEAD' can't be a revision  [git-revision]\n{REVISION}{NAME_ONE}",
    "main\0": f".: 'main\\x00' can't be a revision  [git-revision]\n{REVISION}{NAME_ONE}",
    "m" * 1001: f".: '{'m' * 200}...' can't be a revision  [git-revision]\n{REVISION}{NAME_ONE}",
}


@pytest.mark.parametrize("revision", UNKNOWN, ids=lambda text: ascii(text[:30]))
def test_a_revision_that_means_no_commit(revision: str, made: Path) -> None:
    assert say(opened(made).resolve, revision) == UNKNOWN[revision]


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    assert say(opened(make_repository(tmp_path / "r")).resolve, "HEAD") == (
        f".: there is no commit HEAD  [git-revision]\n{REVISION}  fix  commit something first: there is no branch yet\n"
    )


# --- what means several ---

IN_FULL = "  fix  write one in full, as refs/heads/NAME, refs/tags/NAME or the whole commit id\n"


def branch_and_tag(folder: Path) -> str:
    git(folder, "tag", "main", "HEAD~1")
    return "main"


def tag_without_warning(folder: Path) -> str:
    """Whoever may push tags would choose what is compared with, and a setting would keep git quiet about it."""
    git(folder, "config", "core.warnAmbiguousRefs", "false")
    return branch_and_tag(folder)


def branch_like_an_id(folder: Path) -> str:
    name = git(folder, "rev-parse", "HEAD")[:7]
    git(folder, "branch", name, "HEAD~1")
    return name


@pytest.mark.parametrize("happen", [branch_and_tag, tag_without_warning, branch_like_an_id])
def test_a_name_of_several(happen: Callable[[Path], str], tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    name = happen(folder)
    assert say(opened(folder).resolve, name) == (
        f".: {name} is the name of several: a branch, a tag, or the start of an id  [git-revision]\n{REVISION}{IN_FULL}"
    )
    assert opened(folder).resolve(f"refs/heads/{name}").id == git(folder, "rev-parse", f"refs/heads/{name}")


def test_the_start_of_several_ids(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    tree = git(folder, "mktree")
    texts = {f"t/{n}": f"tree {tree}\nauthor a <a> {n} +0000\ncommitter a <a> {n} +0000\n\n" for n in range(700)}
    paths = "".join(f"{write_files(tmp_path, {path: text.encode()}) / path}\n" for path, text in texts.items())
    starts: dict[str, list[str]] = {}
    for kind in ("commit", "blob"):
        for one in git(folder, "hash-object", "-t", kind, "-w", "--stdin-paths", stdin=paths.encode()).split():
            starts.setdefault(one[:4], []).append(f"{kind} {one}")
    commits = {start: sorted(one[7:] for one in found if one.startswith("commit")) for start, found in starts.items()}
    start, several = next((start, ids) for start, ids in commits.items() if len(ids) == len(starts[start]) == 2)
    assert say(opened(folder).resolve, start) == (
        f".: {start} is the start of several ids: {', '.join(several)}  [git-revision]\n{REVISION}"
        "  fix  write more of the id\n"
    )
    # A commit is meant where only one of them is one.
    start, (one,) = next((start, ids) for start, ids in commits.items() if len(ids) == 1 < len(starts[start]))
    assert opened(folder).resolve(start).id == one


# --- where history is missing ---


def clone(folder: Path, *options: str) -> Path:
    git(folder.parent, "clone", "--quiet", *options, folder.as_uri(), "clone")
    return folder.parent / "clone"


SHALLOW_CASES = {
    "HEAD~1": f"""\
.: there is no commit HEAD~1 in this shallow clone  [git-shallow]
{SHALLOW}  fix  name one that is here (main, origin/HEAD, origin/main), or {DEEPEN}""",
    "v1": f"""\
.: there is no commit v1 in this shallow clone  [git-shallow]
{SHALLOW}  fix  name one that is here (main, origin/HEAD, origin/main), or {DEEPEN}""",
}


@pytest.mark.parametrize("revision", SHALLOW_CASES)
def test_what_a_shallow_clone_doesn_t_have(revision: str, tmp_path: Path) -> None:
    repository = opened(clone(make(tmp_path / "r"), "--depth=1"))
    assert repository.resolve("HEAD").subject == "two"
    assert say(repository.resolve, revision) == SHALLOW_CASES[revision]


def test_a_shallow_clone_without_branches(tmp_path: Path) -> None:
    """As a job of CI has it: a commit by its id, and nothing else."""
    folder = clone(make(tmp_path / "r"), "--depth=1")
    git(folder, "checkout", "--quiet", "--detach")
    for name in git(folder, "for-each-ref", "--format=%(refname)").split():
        git(folder, "update-ref", "--no-deref", "-d", name)
    assert say(opened(folder).resolve, "main") == (
        f".: there is no commit main in this shallow clone  [git-shallow]\n{SHALLOW}  fix  {DEEPEN}"
    )


def test_a_commit_that_is_damaged(tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    head = git(folder, "rev-parse", "HEAD")
    path = folder / ".git/objects" / head[:2] / head[2:]
    path.chmod(0o644)
    path.write_bytes(b"\x78\x01" + path.read_bytes()[2:-8])
    said = say(opened(folder).resolve, "HEAD")
    assert said.startswith(".: git can't read HEAD^{commit}: ")
    assert said.endswith("""  [git-object]
  why  a revision is read as a whole or not at all (poolwright reading of revisions)
  fix  clone again without --filter, for nothing is fetched here; `git fsck` says what is damaged
""")


# --- what a commit says of itself ---

SUBJECTS = {
    "long": (b"tree T\n\n" + b"x" * 600, "x" * 500),
    "empty": (b"tree T\n\n", ""),
    "only-headers": (b"tree T\nauthor a <a> 0 +0000\n", ""),
    "after-empty-lines": (b"tree T\n\n\n \n first \nsecond", "first"),
    "not-utf-8": (b"tree T\n\n\xff!", "\N{REPLACEMENT CHARACTER}!"),
    "another-encoding": (b"tree T\nencoding latin-1\n\n\xe9", "\N{LATIN SMALL LETTER E WITH ACUTE}"),
    "no-encoding": (b"tree T\nencoding planted\n\na", "a"),
    # Python knows it, and it gives no text.
    "no-encoding-of-text": (b"tree T\nencoding hex\n\na", "a"),
    "encoding-in-the-message": (b"tree T\n\n\xc3\xa9\nencoding latin-1\n\n", "\N{LATIN SMALL LETTER E WITH ACUTE}"),
}


DAYS: dict[str, tuple[bytes, dt.date | None]] = {
    "of-utc-and-not-of-where-the-committer-is": (b"committer C <c> 1767225599 +1400", dt.date(2025, 12, 31)),
    "of-the-committer": (b"author A <a> 0 +0000\ncommitter C <c> 1767225600 -1200", dt.date(2026, 1, 1)),
    "before-1970": (b"committer C <c> -1 +0000", dt.date(1969, 12, 31)),
    "without-a-zone": (b"committer C <c> 86400", dt.date(1970, 1, 2)),
    "no-number": (b"committer C <c> today +0000", None),
    "a-year-that-no-calendar-has": (b"committer C <c> 999999999999999 +0000", None),
    "none": (b"author A <a> 0 +0000", None),
}


@pytest.mark.parametrize("name", DAYS)
def test_the_day_of_a_commit(name: str) -> None:
    line, day = DAYS[name]
    assert parse_commit("0" * 40, b"tree T\n" + line + b"\n\nsubject\n").day == day


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_subject_of_a_commit(name: str, tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    data, subject = SUBJECTS[name]
    text = data.replace(b"T", git(folder, "rev-parse", "HEAD^{tree}").encode(), 1)
    made = git(folder, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=text)
    assert opened(folder).resolve(made) == Commit(id=made, subject=subject)
