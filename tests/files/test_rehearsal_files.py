"""Records on disk: what is read below rehearsals/, and that no link is followed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from folders import write_files
from poolwright.files import project
from poolwright.files.project import read_rehearsals
from poolwright.specs.finding import SpecError, render_text


def say(root: Path) -> str:
    with pytest.raises(SpecError) as caught:
        read_rehearsals(str(root))
    return render_text(caught.value.findings)


UNREADABLE = """\
  why  specs and the files they name are regular files inside the project, and nothing is rendered without them \
(poolwright project layout)
  fix  put a readable regular file there
"""


def test_every_yaml_file_below_the_folder_and_nothing_else(tmp_path: Path) -> None:
    kept = {"rehearsals/a/b/c.yml": b"1", "rehearsals/b.yaml": b"2"}
    others = {"rehearsals/notes.md": b"", "rehearsals/.hidden.yaml": b"", "specs/a.yaml": b"", "evidence/a.yaml": b""}
    assert read_rehearsals(str(write_files(tmp_path, kept | others))) == kept


def test_without_the_folder_there_are_no_records(tmp_path: Path) -> None:
    assert read_rehearsals(str(tmp_path)) == {}


def test_a_linked_record_is_refused(tmp_path: Path) -> None:
    write_files(tmp_path, {"elsewhere.yaml": b"", "rehearsals/a.yaml": b""})
    (tmp_path / "rehearsals" / "b.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    assert say(tmp_path) == (
        f"rehearsals/b.yaml: rehearsals/b.yaml can't be read: it is a link  [file-unreadable]\n{UNREADABLE}"
    )


def test_a_linked_folder_is_refused(tmp_path: Path) -> None:
    write_files(tmp_path, {"elsewhere/a.yaml": b""})
    (tmp_path / "rehearsals").symlink_to(tmp_path / "elsewhere")
    assert say(tmp_path) == f"rehearsals: rehearsals can't be read: it is a link  [file-unreadable]\n{UNREADABLE}"


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    write_files(tmp_path, {"rehearsals/a.yaml": b""})
    os.mkfifo(tmp_path / "rehearsals" / "b.yaml")
    assert say(tmp_path) == (
        f"rehearsals/b.yaml: rehearsals/b.yaml can't be read: it is no regular file  [file-unreadable]\n{UNREADABLE}"
    )


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, {"rehearsals/a.yaml": b"", "rehearsals/b.yaml": b""})
    monkeypatch.setattr(project, "MAX_SPEC_ENTRIES", 1)
    assert say(tmp_path) == (
        "rehearsals: rehearsals/ holds more than 1 files and folders  [project-too-large]\n"
        "  why  what is read is bounded, so that no repository can exhaust memory or time (poolwright project layout)\n"
        "  fix  keep what isn't a spec outside rehearsals/, or split the project\n"
    )


def test_a_huge_record_is_refused(tmp_path: Path) -> None:
    write_files(tmp_path, {"rehearsals/a.yaml": b"#" * ((1 << 20) + 1)})
    assert say(tmp_path).startswith(
        "rehearsals/a.yaml: rehearsals/a.yaml can't be read: it has 1,048,577 bytes, and 1,048,576 is the most"
    )
