"""The manifest and journal of a rendered folder, and what they prove about what stands there."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from poolwright.specs.finding import SpecError, render_text
from poolwright.trees.folder import JOURNAL_NAME, MANIFEST_NAME, Folder, is_tree_path
from poolwright.trees.manifest import (
    FolderState,
    Manifest,
    Record,
    build_manifest,
    check_complete,
    check_folder,
    parse_journal,
    parse_manifest,
    parse_record,
    render_journal,
    render_manifest,
)

PATH = "overlays/east/chat-70b"
CLOSURE = "sha256:" + "c" * 64
A, B, C, X = (
    "sha256:" + hashlib.sha256(text).hexdigest() for text in (b"a\n", b"b\n", b"c\n", b"somebody's\n")
)  # what our files hold in these tests, and what somebody made of one


def build_folder(files: Mapping[str, bytes], *, closure: str = CLOSURE) -> Folder:
    return Folder(path=PATH, files=files, unit="east/chat-70b", closure=closure, render_format=1)


NEW = build_folder({"kustomization.yaml": b"b\n", "decisions/pins.yaml": b"c\n"})
NEW_DISK = {"kustomization.yaml": B, "decisions/pins.yaml": C}
OLD = build_folder({"kustomization.yaml": b"a\n", "service.yaml": b"a\n"}, closure="sha256:" + "d" * 64)
OLD_DISK = {"kustomization.yaml": A, "service.yaml": A}

NEW_TEXT = f"""\
{{
  "renderFormat": 1,
  "unit": "east/chat-70b",
  "closure": "{CLOSURE}",
  "files": {{
    "decisions/pins.yaml": "{C}",
    "kustomization.yaml": "{B}"
  }}
}}
"""
NEW_MANIFEST = NEW_TEXT.encode()
OLD_MANIFEST = render_manifest(build_manifest(OLD))
JOURNAL_TEXT = f"""\
{{
  "mayStand": {{
    "decisions/pins.yaml": [
      "{C}"
    ],
    "kustomization.yaml": [
      "{B}",
      "{A}"
    ],
    "service.yaml": [
      "{A}"
    ]
  }}
}}
"""
JOURNAL = JOURNAL_TEXT.encode()  # of the step from OLD to NEW
MAY_STAND = {
    "decisions/pins.yaml": frozenset({C}),
    "kustomization.yaml": frozenset({A, B}),
    "service.yaml": frozenset({A}),
}


def test_manifest_lists_files_by_path_one_a_line_with_the_digest_of_their_bytes() -> None:
    manifest = build_manifest(NEW)
    assert manifest == Manifest(render_format=1, unit="east/chat-70b", closure=CLOSURE, files=NEW_DISK)
    assert render_manifest(manifest).decode() == NEW_TEXT
    assert parse_manifest(NEW_MANIFEST, "m.json") == manifest


def test_journal_lists_for_each_path_the_digests_that_may_stand_there() -> None:
    assert render_journal(MAY_STAND).decode() == JOURNAL_TEXT
    assert parse_journal(JOURNAL, "j.json") == MAY_STAND


def swap(old: str, new: str, text: str = NEW_TEXT) -> bytes:
    assert text.count(old) == 1
    return text.replace(old, new).encode()


UNREADABLE = {
    "not-json": (b"{\n<<<<<<< HEAD\n}", ("2:1: it isn't JSON: Expecting property name enclosed in double quotes",)),
    "cut-off": (NEW_MANIFEST[:40], ("3:11: it isn't JSON: Unterminated string starting at",)),
    "empty": (b"", ("1:1: it isn't JSON: Expecting value",)),
    "not-utf-8": (b'{"unit": "\xff"}', ("it isn't UTF-8",)),
    "not-an-object": (b"[]", ("it must be an object",)),
    "nested-too-deep": (b"[" * 200_000, ("it is beyond what this reader takes",)),
    "number-too-long": (b"9" * 5000, ("it is beyond what this reader takes",)),
    "key-repeated": (swap('"renderFormat": 1', '"renderFormat": 1, "renderFormat": 1'), ("it repeats a key",)),
    "path-repeated": (swap('"files": {', f'"files": {{ "kustomization.yaml": "{B}",'), ("it repeats a key",)),
    "key-unknown": (swap('"unit"', '"time": 1, "unit"'), ("time is no field of it",)),
    "every-field-missing": (
        b"{}",
        (
            "closure must be a digest",
            "files must map at least one path to what stands there",
            "renderFormat must be a whole number from 1",
            "unit must be a unit's path",
        ),
    ),
    "format-true-is-no-number": (swap("1,", "true,"), ("renderFormat must be a whole number from 1",)),
    "format-from-1": (swap("1,", "0,"), ("renderFormat must be a whole number from 1",)),
    "unit-leaves": (swap('"east/chat-70b"', '"../chat-70b"'), ("unit must be a unit's path",)),
    "closure-in-capitals": (swap(CLOSURE, CLOSURE.replace("c" * 64, "C" * 64)), ("closure must be a digest",)),
    "closure-one-short": (swap(CLOSURE, CLOSURE[:-1]), ("closure must be a digest",)),
    "closure-without-algorithm": (swap(CLOSURE, CLOSURE[7:]), ("closure must be a digest",)),
    "no-files": (
        b'{"renderFormat": 1, "unit": "a", "closure": "%s", "files": {}}' % CLOSURE.encode(),
        ("files must map at least one path to what stands there",),
    ),
    "file-digest-wrong-type": (
        swap(f'"{B}"', "7"),
        ('files["kustomization.yaml"] must be a digest',),
    ),
    "file-outside": (swap("decisions/pins", "../pins"), ('files["../pins.yaml"] is no path below the folder',)),
    "file-absolute": (swap("decisions/pins", "/etc/pins"), ('files["/etc/pins.yaml"] is no path below the folder',)),
    "file-is-the-manifest": (
        swap("decisions/pins.yaml", MANIFEST_NAME),
        ('files["poolwright-manifest.json"] is no path below the folder',),
    ),
    "file-is-a-folder-too": (
        swap("decisions/pins.yaml", "kustomization.yaml/x"),
        ('files["kustomization.yaml"] is the folder of another path',),
    ),
}


@pytest.mark.parametrize(("data", "problems"), UNREADABLE.values(), ids=UNREADABLE)
def test_manifest_refuses_rubbish_with_every_problem(data: bytes, problems: tuple[str, ...]) -> None:
    with pytest.raises(SpecError) as caught:
        parse_manifest(data, "m.json")
    said = "this record of a rendered folder can't be used: "
    found = tuple(
        (f"{f.place.line}:{f.place.column}: " if f.place.line else "") + f.what.removeprefix(said)
        for f in caught.value.findings
    )
    assert found == problems
    assert all(f.what.startswith(said) and f.place.file == "m.json" for f in caught.value.findings)


def test_manifest_refusal_reads_whole() -> None:
    with pytest.raises(SpecError) as caught:
        parse_manifest(swap("decisions/pins", "../pins"), f"{PATH}/{MANIFEST_NAME}")
    assert render_text(caught.value.findings) == (
        "overlays/east/chat-70b/poolwright-manifest.json: this record of a rendered folder can't be used:"
        ' files["../pins.yaml"] is no path below the folder  [folder-record]\n'
        '  at   files["../pins.yaml"]\n'
        "  why  it says which files poolwright wrote; without it none of them can be told from somebody's work"
        " (poolwright's tree on disk)\n"
        "  fix  restore it from Git, or delete the folder (it holds nothing but rendered files), and render again\n"
    )


UNREADABLE_JOURNAL = {
    "key-unknown": (swap('"mayStand"', '"may"', JOURNAL_TEXT), 2),
    "digest-no-list": (b'{"mayStand": {"a": "%s"}}' % A.encode(), 1),
    "digest-list-empty": (b'{"mayStand": {"a": []}}', 1),
    "digest-wrong": (b'{"mayStand": {"a": ["x"], "b": [1]}}', 2),
    "path-outside": (b'{"mayStand": {"a/../../b": ["%s"]}}' % A.encode(), 1),
}


@pytest.mark.parametrize(("data", "problems"), UNREADABLE_JOURNAL.values(), ids=UNREADABLE_JOURNAL)
def test_journal_is_as_strict(data: bytes, problems: int) -> None:
    with pytest.raises(SpecError) as caught:
        parse_journal(data, "j.json")
    assert len(caught.value.findings) == problems


# --- what stands there -------------------------------------------------------------------------------------------

Lists = Mapping[str, tuple[str, ...]]


def pick(state: FolderState) -> tuple[str, dict[str, tuple[str, ...]]]:
    lists = {name: getattr(state, name) for name in ("edited", "foreign", "write", "remove", "leftover")}
    return state.kind, {name: paths for name, paths in lists.items() if paths}


ALL = ("decisions/pins.yaml", "kustomization.yaml")
STEP = {"write": ALL, "remove": ("service.yaml",)}  # from OLD to NEW
STATES: dict[str, tuple[Mapping[str, str | None], bytes | None, bytes | None, Folder | None, str, Lists]] = {
    # disk, manifest, journal, wanted -> kind, lists
    "nothing-there": ({}, None, None, NEW, "absent", {"write": ALL}),
    "nothing-there-nothing-wanted": ({}, None, None, None, "absent", {}),
    "whole-and-wanted": (NEW_DISK, NEW_MANIFEST, None, NEW, "current", {}),
    "whole-not-wanted": (OLD_DISK, OLD_MANIFEST, None, NEW, "stale", STEP),
    "whole-to-vanish": (
        OLD_DISK,
        OLD_MANIFEST,
        None,
        None,
        "stale",
        {"remove": ("kustomization.yaml", "service.yaml")},
    ),
    # The closure changed and no byte of a file.
    "only-the-manifest-differs": (
        NEW_DISK,
        render_manifest(build_manifest(build_folder(NEW.files, closure="sha256:" + "e" * 64))),
        None,
        NEW,
        "stale",
        {},
    ),
    "manifest-reformatted": (NEW_DISK, NEW_MANIFEST.replace(b"\n", b"\r\n"), None, NEW, "stale", {}),
    # Restoring it loses nobody's work.
    "file-deleted": ({"kustomization.yaml": B}, NEW_MANIFEST, None, NEW, "stale", {"write": ALL[:1]}),
    "every-file-deleted": ({}, NEW_MANIFEST, None, NEW, "stale", {"write": ALL}),
    # Somebody already put there what we would: a merge of two branches, say.
    "changed-to-what-is-wanted": (
        {"kustomization.yaml": B, "service.yaml": A},
        OLD_MANIFEST,
        None,
        NEW,
        "stale",
        {"write": ALL[:1], "remove": ("service.yaml",)},
    ),
    # Interrupted, in the order of the writer's steps.
    "journal-being-written": (
        OLD_DISK | {".poolwright-tmp-next": None},
        OLD_MANIFEST,
        None,
        NEW,
        "interrupted",
        STEP | {"leftover": (".poolwright-tmp-next",)},
    ),
    "journal-written": (OLD_DISK, OLD_MANIFEST, JOURNAL, NEW, "interrupted", STEP),
    "manifest-removed": (OLD_DISK, None, JOURNAL, NEW, "interrupted", STEP),
    "half-way": (
        {"kustomization.yaml": A, "decisions/pins.yaml": C, "decisions/.poolwright-tmp-next": None},
        None,
        JOURNAL,
        NEW,
        "interrupted",
        {"write": ALL[1:], "leftover": ("decisions/.poolwright-tmp-next",)},
    ),
    "files-written": (NEW_DISK, None, JOURNAL, NEW, "interrupted", {}),
    "manifest-written": (NEW_DISK, NEW_MANIFEST, JOURNAL, NEW, "interrupted", {}),
    "half-way-and-now-unwanted": (
        {"kustomization.yaml": A, "decisions/pins.yaml": C},
        None,
        JOURNAL,
        None,
        "interrupted",
        {"remove": ALL},
    ),
    "half-way-and-wanted-otherwise": (
        {"kustomization.yaml": A, "decisions/pins.yaml": C},
        None,
        JOURNAL,
        build_folder({"service.yaml": b"c\n"}),
        "interrupted",
        {"write": ("service.yaml",), "remove": ALL},
    ),
    "no-record-but-wanted-bytes": ({"kustomization.yaml": B}, None, None, NEW, "interrupted", {"write": ALL[:1]}),
    # Edited.
    "file-edited": (
        OLD_DISK | {"service.yaml": X},
        OLD_MANIFEST,
        None,
        NEW,
        "edited",
        STEP | {"edited": ("service.yaml",)},
    ),
    "wanted-file-edited": (
        NEW_DISK | {"kustomization.yaml": X},
        NEW_MANIFEST,
        None,
        NEW,
        "edited",
        {"edited": ALL[1:], "write": ALL[1:]},
    ),
    "edited-to-vanish": (
        NEW_DISK | {"kustomization.yaml": X},
        NEW_MANIFEST,
        None,
        None,
        "edited",
        {"edited": ALL[1:], "remove": ALL},
    ),
    "edited-after-an-interruption": (
        {"kustomization.yaml": X, "service.yaml": A},
        None,
        JOURNAL,
        NEW,
        "edited",
        STEP | {"edited": ("kustomization.yaml",)},
    ),
    # C is ours, but not at this path.
    "bytes-of-another-file-of-ours": (
        OLD_DISK | {"service.yaml": C},
        OLD_MANIFEST,
        None,
        NEW,
        "edited",
        STEP | {"edited": ("service.yaml",)},
    ),
    # Git left its marks in the manifest: what stands at wanted paths was ours.
    "manifest-unreadable": (
        NEW_DISK | {"kustomization.yaml": X},
        b"<<<<<<<",
        None,
        NEW,
        "edited",
        {"edited": ("kustomization.yaml", MANIFEST_NAME), "write": ALL[1:]},
    ),
    "journal-unreadable": (NEW_DISK, NEW_MANIFEST, b"{}", NEW, "edited", {"edited": (JOURNAL_NAME,)}),
    # Foreign.
    "file-beside-ours": (
        NEW_DISK | {"notes.txt": None},
        NEW_MANIFEST,
        None,
        NEW,
        "foreign",
        {"foreign": ("notes.txt",)},
    ),
    "file-beside-ours-after-an-interruption": (
        NEW_DISK | {"notes.txt": None},
        None,
        JOURNAL,
        NEW,
        "foreign",
        {"foreign": ("notes.txt",)},
    ),
    "file-beside-ours-to-vanish": (
        NEW_DISK | {"notes.txt": None},
        NEW_MANIFEST,
        None,
        None,
        "foreign",
        {"foreign": ("notes.txt",), "remove": ALL},
    ),
    "other-bytes-where-we-would-write": (
        {"kustomization.yaml": X},
        None,
        None,
        NEW,
        "foreign",
        {"foreign": ("kustomization.yaml",), "write": ALL},
    ),
    "other-bytes-where-a-new-file-goes": (
        OLD_DISK | {"decisions/pins.yaml": X},
        OLD_MANIFEST,
        None,
        NEW,
        "foreign",
        STEP | {"foreign": ("decisions/pins.yaml",)},
    ),
    "unreadable-manifest-proves-nothing-elsewhere": (
        NEW_DISK | {"notes.txt": None},
        b"",
        None,
        NEW,
        "foreign",
        {"edited": (MANIFEST_NAME,), "foreign": ("notes.txt",)},
    ),
    "link-in-the-place-of-ours": (
        NEW_DISK | {"kustomization.yaml": None},
        NEW_MANIFEST,
        None,
        NEW,
        "foreign",
        {"foreign": ("kustomization.yaml",), "write": ALL[1:]},
    ),
    "link-in-the-place-of-our-folder": (
        {"kustomization.yaml": B, "decisions": None},
        NEW_MANIFEST,
        None,
        NEW,
        "foreign",
        {"foreign": ("decisions",), "write": ALL[:1]},
    ),
    "link-in-the-place-of-the-manifest": (
        NEW_DISK | {MANIFEST_NAME: None},
        None,
        None,
        NEW,
        "foreign",
        {"foreign": (MANIFEST_NAME,)},
    ),
    "link-in-the-place-of-the-folder": ({"": None}, None, None, NEW, "foreign", {"foreign": ("",), "write": ALL}),
    "edited-and-foreign-are-both-listed": (
        NEW_DISK | {"kustomization.yaml": X, "z": None, "b": None},
        NEW_MANIFEST,
        None,
        NEW,
        "foreign",
        {"edited": ALL[1:], "foreign": ("b", "z"), "write": ALL[1:]},
    ),
    "our-own-file-name-one-folder-too-deep": (
        NEW_DISK | {f"decisions/{MANIFEST_NAME}": None},
        NEW_MANIFEST,
        None,
        NEW,
        "foreign",
        {"foreign": (f"decisions/{MANIFEST_NAME}",)},
    ),
    # `cp -r` of another unit's folder: nothing in it was written here.
    "copy-of-another-unit": (
        NEW_DISK,
        NEW_MANIFEST.replace(b"east/chat-70b", b"west/chat-70b"),
        None,
        None,
        "foreign",
        {"foreign": (MANIFEST_NAME,), "remove": ALL},
    ),
}


@pytest.mark.parametrize(("disk", "manifest", "journal", "wanted", "kind", "lists"), STATES.values(), ids=STATES)
def test_folder_state(
    disk: Mapping[str, str | None],
    manifest: bytes | None,
    journal: bytes | None,
    wanted: Folder | None,
    kind: str,
    lists: Lists,
) -> None:
    before = dict(disk)
    record = parse_record(manifest, journal, path=PATH)
    state = check_folder(disk, record, wanted, path=PATH)
    assert pick(state) == (kind, lists)
    assert (state.record, disk) == (record, before)
    assert state.manifest == (render_manifest(build_manifest(wanted)) if wanted else None)


def test_journal_of_a_step_holds_old_new_and_edited_digests_and_those_of_earlier_journals() -> None:
    step = check_folder(OLD_DISK, parse_record(OLD_MANIFEST, None, path=PATH), NEW, path=PATH)
    assert step.may_stand == MAY_STAND
    # Stopped, and then somebody edits one file, and another tree is wanted.
    record = parse_record(None, JOURNAL, path=PATH)
    wanted = build_folder({"service.yaml": b"c\n"})
    again = check_folder({"kustomization.yaml": X}, record, wanted, path=PATH)
    assert again.may_stand == {
        "decisions/pins.yaml": frozenset({C}),
        "kustomization.yaml": frozenset({A, B, X}),
        "service.yaml": frozenset({A, C}),
    }


def test_record_has_the_findings_of_both() -> None:
    record = parse_record(b"", b"[]", path=PATH)
    assert record == Record(manifest_bytes=b"", journal_bytes=b"[]", findings=record.findings)
    assert [str(finding.place) for finding in record.findings] == [
        f"{PATH}/{MANIFEST_NAME}:1:1",
        f"{PATH}/{JOURNAL_NAME}",
    ]
    assert (record.damaged, record.paths) == ((MANIFEST_NAME, JOURNAL_NAME), frozenset())


COMPLETE: dict[str, tuple[Mapping[str, str | None], bytes | None, bytes | None, str, Lists]] = {
    "whole": (OLD_DISK, OLD_MANIFEST, None, "current", {}),
    "file-missing": ({"service.yaml": A}, OLD_MANIFEST, None, "stale", {"write": ("kustomization.yaml",)}),
    "file-edited": (
        OLD_DISK | {"service.yaml": X},
        OLD_MANIFEST,
        None,
        "edited",
        {"edited": ("service.yaml",), "write": ("service.yaml",)},
    ),
    "file-too-many": (OLD_DISK | {"x": None}, OLD_MANIFEST, None, "foreign", {"foreign": ("x",)}),
    "being-written": (OLD_DISK, OLD_MANIFEST, JOURNAL, "interrupted", {}),
    "half-written": (
        {"kustomization.yaml": A, "decisions/pins.yaml": C},
        None,
        JOURNAL,
        "interrupted",
        {"remove": ALL},
    ),
    "no-manifest": (OLD_DISK, None, None, "foreign", {"foreign": ("kustomization.yaml", "service.yaml")}),
    "not-there": ({}, None, None, "absent", {}),
    "copy-of-another-unit": (
        NEW_DISK,
        NEW_MANIFEST.replace(b"east/chat-70b", b"west/chat-70b"),
        None,
        "foreign",
        {"foreign": (MANIFEST_NAME,)},
    ),
}


@pytest.mark.parametrize(("disk", "manifest", "journal", "kind", "lists"), COMPLETE.values(), ids=COMPLETE)
def test_folder_is_whole_by_its_own_manifest(
    disk: Mapping[str, str | None], manifest: bytes | None, journal: bytes | None, kind: str, lists: Lists
) -> None:
    record = parse_record(manifest, journal, path=PATH)
    assert pick(check_complete(disk, record, path=PATH)) == (kind, lists)


# --- folders as values -------------------------------------------------------------------------------------------

TREE_PATHS = {
    "plain": ("objects.yaml", True),
    "below": ("decisions/pins.yaml", True),
    "hidden": (".keep", True),
    "spaces-and-accents": ("a b/é.yaml", True),
    "empty": ("", False),
    "absolute": ("/etc/passwd", False),
    "parent": ("../x", False),
    "parent-within": ("a/../x", False),
    "here": ("./x", False),
    "twice-a-slash": ("a//b", False),
    "ends-in-a-slash": ("a/", False),
    "backslash": ("a\\b", False),
    "newline": ("a\nb", False),
    "nul": ("a\0b", False),
    "lone-surrogate": ("a\udc80", False),
    "direction-mark": ("a\u202eb", False),
    "manifest": (MANIFEST_NAME, False),
    "manifest-below": (f"a/{MANIFEST_NAME}", False),
    "journal": (JOURNAL_NAME, False),
    "file-on-its-way": (".poolwright-tmp-1", False),
    "folder-like-a-file-on-its-way": (".poolwright-tmp-1/a", False),
}


@pytest.mark.parametrize(("path", "answer"), TREE_PATHS.values(), ids=TREE_PATHS)
def test_tree_paths(path: str, answer: bool) -> None:
    assert is_tree_path(path) is answer


REFUSED_FOLDERS: dict[str, tuple[dict[str, object], str]] = {
    "no-files": ({"files": {}}, "'overlays/east/chat-70b' would be empty"),
    "file-outside": ({"files": {"../a": b""}}, "'../a' is no path to write to"),
    "folder-outside": ({"path": "/overlays"}, "'/overlays' is no path to write to"),
    "file-and-folder": (
        {"files": {"a/b": b"", "a": b""}},
        "'overlays/east/chat-70b' would need 'a' as a file and as a folder",
    ),
    "unit-elsewhere": ({"unit": "t/chat-70b"}, "'overlays/east/chat-70b' is no folder of unit 't/chat-70b'"),
    "closure-no-digest": ({"closure": "sha256:1"}, "'sha256:1' is no digest"),
}


@pytest.mark.parametrize(("change", "message"), REFUSED_FOLDERS.values(), ids=REFUSED_FOLDERS)
def test_folder_that_could_leave_its_place_is_a_bug(change: dict[str, object], message: str) -> None:
    right = build_folder({"a": b""})
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        replace(right, **change)
