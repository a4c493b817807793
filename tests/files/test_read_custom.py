"""Teams' own components read from disk: regular files inside the folder, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from poolwright.files.custom import Custom, find_unused, read_custom, read_customs
from poolwright.specs.digest import digest_folder
from poolwright.specs.finding import SpecError, render_text

KUSTOMIZATION = b"kind: Component\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """custom/east/chat, with a component of two files."""
    unit = tmp_path / "custom" / "east" / "chat"
    (unit / "more").mkdir(parents=True)
    (unit / "kustomization.yaml").write_bytes(KUSTOMIZATION)
    (unit / "more" / "a.yaml").write_bytes(b"a")
    return unit


def test_a_component_is_its_files(tmp_path: Path, folder: Path) -> None:
    files = {"kustomization.yaml": KUSTOMIZATION, "more/a.yaml": b"a"}
    custom = Custom(path="custom/east/chat", files=files, digest=digest_folder(files))
    assert read_custom(str(tmp_path), "east/chat") == custom
    assert read_customs(str(tmp_path), ["east/none", "east/chat"]) == {"east/chat": custom}
    assert read_custom(str(tmp_path), "east/none") is None


def link(target: str) -> Callable[[Path], None]:
    return lambda unit: (unit / "x.yaml").symlink_to(target)


def replace_by_link(unit: Path) -> None:
    unit.rename(unit.parent / "elsewhere")
    unit.symlink_to("elsewhere")


def replace_cluster_by_link(unit: Path) -> None:
    unit.parent.rename(unit.parent.parent / "elsewhere")
    unit.parent.symlink_to("elsewhere")


def replace_by_file(unit: Path) -> None:
    unit.rename(unit.parent / "elsewhere")
    unit.write_bytes(b"x")


def many_files(unit: Path) -> None:
    for number in range(1000):
        (unit / f"{number}.yaml").touch()


def large_files(unit: Path) -> None:
    for name in ("a", "b"):
        with (unit / name).open("wb") as file:
            file.truncate(9 << 20)


HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "a-link-inside": (
        link("kustomization.yaml"),
        "custom/east/chat/x.yaml can't be read: it is a link  [file-unreadable]",
    ),
    "a-link-outside": (
        link("../../../secret"),
        "custom/east/chat/x.yaml can't be read: it is a link  [file-unreadable]",
    ),
    "an-absolute-link": (link("/etc/passwd"), "custom/east/chat/x.yaml can't be read: it is a link  [file-unreadable]"),
    "a-link-to-a-folder": (link("more"), "custom/east/chat/x.yaml can't be read: it is a link  [file-unreadable]"),
    "a-pipe": (
        lambda unit: os.mkfifo(unit / "x.yaml"),
        "custom/east/chat/x.yaml can't be read: it is no regular file  [file-unreadable]",
    ),
    "a-link-in-its-place": (replace_by_link, "custom/east/chat is a link  [custom-build]"),
    "a-link-in-the-cluster-s-place": (replace_cluster_by_link, "custom/east is a link  [custom-build]"),
    "a-file-in-its-place": (replace_by_file, "custom/east/chat is no folder  [custom-build]"),
    "a-name-that-breaks-lines": (
        lambda unit: (unit / "a\nb").touch(),
        "custom/east/chat has a file called 'a\\nb'  [custom-build]",
    ),
    # The copy that `render --out` writes has one of its own.
    "a-manifest": (
        lambda unit: (unit / "poolwright-manifest.json").touch(),
        "custom/east/chat has a file called 'poolwright-manifest.json'  [custom-build]",
    ),
    "no-kustomization": (
        lambda unit: (unit / "kustomization.yaml").rename(unit / "kustomization.yml"),
        "custom/east/chat has no kustomization.yaml, so nothing in it has an effect  [custom-build]",
    ),
    "too-many-files": (many_files, "custom/east/chat has more than 1000 files  [custom-build]"),
    "too-much": (large_files, "custom/east/chat/b can't be read: it has 9,437,184 bytes, and 7,340,032 is the most"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_folders(name: str, tmp_path: Path, folder: Path) -> None:
    change, said = HOSTILE[name]
    change(folder)
    with pytest.raises(SpecError) as refused:
        read_custom(str(tmp_path), "east/chat")
    (finding,) = refused.value.findings
    headline = render_text([finding]).splitlines()[0]
    assert said in headline


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path, folder: Path) -> None:
    (folder.parent / "other").mkdir()
    link("kustomization.yaml")(folder)
    with pytest.raises(SpecError) as refused:
        read_customs(str(tmp_path), ["east/chat", "east/other"])
    assert [str(finding.place) for finding in refused.value.findings] == [
        "custom/east/chat/x.yaml",
        "custom/east/other",
    ]


def test_folders_of_no_unit(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "custom" / "README.md").touch()
    (tmp_path / "custom" / ".git" / "x").mkdir(parents=True)
    (tmp_path / "custom" / "west" / "gone").mkdir(parents=True)
    assert find_unused(str(tmp_path), {"east/chat", "west/gone"}) == []
    assert find_unused(str(tmp_path / "custom"), set()) == []
    (finding,) = find_unused(str(tmp_path), {"east/chat"})
    assert (
        render_text([finding])
        == """\
custom/west/gone: warning: custom/west/gone belongs to no unit  [custom-unused]
  why  nothing in it has an effect, which nobody sees (poolwright custom components)
  fix  call it custom/CLUSTER/PLACEMENT, or remove it
"""
    )
