"""A project read from a disk that whoever wrote the repository arranged."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from folders import write_files
from poolwright.files import project
from poolwright.files.project import find_project, read_file, read_named_files, read_specs
from poolwright.specs.document import MAX_SPEC_BYTES
from poolwright.specs.finding import SpecError, render_text

FILES = {"poolwright.yaml": b"a", "specs/b.yaml": b"b", "specs/c/d.yml": b"d", "specs/c.d.yaml": b"c"}
UNREADABLE = """\
  why  specs and the files they name are regular files inside the project, and nothing is rendered without them \
(poolwright project layout)
  fix  put a readable regular file there
"""
TOO_LARGE = """\
  why  what is read is bounded, so that no repository can exhaust memory or time (poolwright project layout)
  fix  keep what isn't a spec outside specs/, or split the project
"""


def say(read: Callable[[], object]) -> str:
    """What is said of a refusal."""
    with pytest.raises(SpecError) as error:
        read()
    return render_text(error.value.findings)


def test_what_is_read(tmp_path: Path) -> None:
    more = {
        ".git/x.yaml": b"",
        "specs/.hidden.yaml": b"",
        "specs/.d/x.yaml": b"",
        "specs/README.md": b"",
        "x.yaml": b"",
    }
    assert list(read_specs(str(write_files(tmp_path, FILES | more))).items()) == sorted(FILES.items())


def test_a_project_without_specs(tmp_path: Path) -> None:
    write_files(tmp_path, {"poolwright.yaml": b"a"})
    assert read_specs(str(tmp_path)) == {"poolwright.yaml": b"a"}


def test_the_project_itself_may_be_reached_over_a_link(tmp_path: Path) -> None:
    write_files(tmp_path / "real", FILES)
    (tmp_path / "link").symlink_to("real")
    assert read_specs(str(tmp_path / "link")) == FILES


# --- links and other things that are no file ---


def linked_specs(root: Path) -> None:
    (root / "specs").rename(root / "elsewhere")
    (root / "specs").symlink_to("elsewhere")


def specs_that_are_a_file(root: Path) -> None:
    (root / "specs").rename(root / "elsewhere")
    (root / "specs").touch()


def linked_folder(root: Path) -> None:
    (root / "specs/c").rename(root / "elsewhere")
    (root / "specs/c").symlink_to("../elsewhere")


def linked_file(root: Path) -> None:
    (root / "specs/e.yaml").symlink_to("b.yaml")


def dangling_link(root: Path) -> None:
    (root / "specs/e").symlink_to("nowhere")


def circle(root: Path) -> None:
    (root / "specs/e").symlink_to("e")


def pipe(root: Path) -> None:
    os.mkfifo(root / "specs/e.yaml")


def folder_with_a_file_name(root: Path) -> None:
    (root / "poolwright.yaml").unlink()
    (root / "poolwright.yaml").mkdir()


def nothing_but_specs(root: Path) -> None:
    (root / "poolwright.yaml").unlink()


def too_large(root: Path) -> None:
    (root / "specs/e.yaml").write_bytes(b"#" * (MAX_SPEC_BYTES + 1))


REFUSED = {
    linked_specs: "specs: specs can't be read: it is a link",
    specs_that_are_a_file: "specs: specs can't be read: it is no folder",
    linked_folder: "specs/c: specs/c can't be read: it is a link",
    linked_file: "specs/e.yaml: specs/e.yaml can't be read: it is a link",
    dangling_link: "specs/e: specs/e can't be read: it is a link",
    circle: "specs/e: specs/e can't be read: it is a link",
    pipe: "specs/e.yaml: specs/e.yaml can't be read: it is no regular file",
    folder_with_a_file_name: "poolwright.yaml: poolwright.yaml can't be read: it is no regular file",
    nothing_but_specs: "poolwright.yaml: poolwright.yaml can't be read: it isn't there",
    too_large: "specs/e.yaml: specs/e.yaml can't be read: it has 1,048,577 bytes, and 1,048,576 is the most",
}


@pytest.mark.parametrize("happen", REFUSED)
def test_what_is_refused(happen: Callable[[Path], None], tmp_path: Path) -> None:
    happen(write_files(tmp_path, FILES))
    assert say(lambda: read_specs(str(tmp_path))) == f"{REFUSED[happen]}  [file-unreadable]\n{UNREADABLE}"


def test_everything_that_is_refused_is_said(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    linked_file(tmp_path)
    linked_folder(tmp_path)
    nothing_but_specs(tmp_path)
    said = say(lambda: read_specs(str(tmp_path)))
    assert [line.split(":")[0] for line in said.splitlines() if not line.startswith(" ")] == [
        "poolwright.yaml",
        "specs/c",
        "specs/e.yaml",
    ]


def test_a_named_file_behind_a_link(tmp_path: Path) -> None:
    """Not even whether it exists is told."""
    write_files(tmp_path, {"outside/config.json": b"{}", "in/models/config.json": b"{}"})
    (tmp_path / "in/linked").symlink_to("../outside")
    root = str(tmp_path / "in")
    assert read_named_files(root, ["models/config.json", "models/none.json"]) == {"models/config.json": b"{}"}
    for path in ("linked/config.json", "linked/none.json"):
        said = f"{path}: {path} can't be read: linked is a link  [file-unreadable]\n{UNREADABLE}"
        assert say(lambda path=path: read_named_files(root, [path])) == said
        assert say(lambda path=path: read_file(root, path, max_bytes=9)) == said


def test_a_named_file_below_a_file(tmp_path: Path) -> None:
    write_files(tmp_path, {"models": b""})
    said = say(lambda: read_named_files(str(tmp_path), ["models/config.json"]))
    assert said.startswith("models/config.json: models/config.json can't be read: models is no folder  [")


# --- too much ---


def nest(root: Path, depth: int) -> None:
    """A folder in a folder and so on, longer than any path that the system takes."""
    at = os.open(root / "specs", os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d" * 200, dir_fd=at)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(os.open("deep.yaml", os.O_CREAT | os.O_WRONLY, dir_fd=at))
    os.close(at)


def test_the_deepest_folder_that_is_read(tmp_path: Path) -> None:
    nest(write_files(tmp_path, FILES), 64)
    assert read_specs(str(tmp_path)) == FILES | {f"specs/{('d' * 200 + '/') * 64}deep.yaml": b""}


@pytest.mark.parametrize("depth", [65, 300])
def test_folders_in_one_another_are_bounded(depth: int, tmp_path: Path) -> None:
    nest(write_files(tmp_path, FILES), depth)
    expected = f"specs: specs/ holds more than 64 folders in one another  [project-too-large]\n{TOO_LARGE}"
    assert say(lambda: read_specs(str(tmp_path))) == expected


def test_files_and_folders_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert project.MAX_SPEC_ENTRIES == 50_000
    write_files(tmp_path, FILES)  # three files and a folder below specs/
    monkeypatch.setattr(project, "MAX_SPEC_ENTRIES", 4)
    assert read_specs(str(tmp_path)) == FILES
    monkeypatch.setattr(project, "MAX_SPEC_ENTRIES", 3)
    expected = f"specs: specs/ holds more than 3 files and folders  [project-too-large]\n{TOO_LARGE}"
    assert say(lambda: read_specs(str(tmp_path))) == expected


def test_bytes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert project.MAX_SPECS_BYTES == 128 << 20
    write_files(tmp_path, FILES)
    monkeypatch.setattr(project, "MAX_SPECS_BYTES", 4)
    assert read_specs(str(tmp_path)) == FILES
    monkeypatch.setattr(project, "MAX_SPECS_BYTES", 2)
    expected = f"specs: the spec files have more than 2 bytes together  [project-too-large]\n{TOO_LARGE}"
    assert say(lambda: read_specs(str(tmp_path))) == expected


# --- names ---

HOSTILE = {
    "newline": (b"a\n::error::b.yaml", "a\\n::error::b.yaml"),
    "escape-sequence": (b"a\x1b[2Jb.yaml", "a\\x1b[2Jb.yaml"),
    "not-utf-8": (b"a\xffb.yaml", "a\\udcffb.yaml"),
    "right-to-left": ("a\u202eb.yaml".encode(), "a\\u202eb.yaml"),
}


@pytest.mark.parametrize(("name", "shown"), HOSTILE.values(), ids=HOSTILE)
def test_a_name_stays_on_its_line(name: bytes, shown: str, tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    path = tmp_path / "specs" / os.fsdecode(name)
    path.write_bytes(b"x")
    assert read_specs(str(tmp_path))[f"specs/{path.name}"] == b"x"
    path.unlink()
    path.symlink_to("nowhere")
    expected = f"specs/{shown}: specs/{shown} can't be read: it is a link  [file-unreadable]\n{UNREADABLE}"
    assert say(lambda: read_specs(str(tmp_path))) == expected


# --- where the project is ---


def test_a_project_is_looked_for_upwards(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    assert [find_project(str(tmp_path / at)) for at in ("", "specs", "specs/c")] == [str(tmp_path)] * 3


def test_a_start_that_is_not_there_is_no_place_to_look_from(tmp_path: Path) -> None:
    """A slip in --project must not find the project around it."""
    write_files(tmp_path, FILES)
    start = str(tmp_path / "spec")
    assert say(lambda: find_project(start)).startswith(
        f"poolwright.yaml: there is no folder {start}  [project-missing]"
    )
