"""The manifest of a rendered folder, the journal of one being written, and what both prove about what stands there.

The manifest says which bytes we left. It is removed before anything else changes and written last, so a mixture of two
renders never has one. The journal is written before that, and says for each path which bytes may stand there: without
it our own half-done work would look like somebody's edits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import msgspec

from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import FieldPath, Place, render_field
from poolwright.trees.folder import (
    JOURNAL_NAME,
    MANIFEST_NAME,
    TEMP_PREFIX,
    Folder,
    is_digest,
    is_tree_path,
    is_unit_of,
    list_clashes,
)

_Wrong = tuple[FieldPath, str]  # a field of a record, and what is wrong with it

FolderKind = Literal[
    "absent",  # nothing of ours
    "current",  # exactly what is wanted
    "stale",  # whole and ours, but not what is wanted now
    "interrupted",  # a writer was stopped: a mixture, every file of which is ours
    "edited",  # somebody changed files of ours
    "foreign",  # something stands there that isn't ours
]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What one render left in a folder."""

    render_format: int
    unit: str
    closure: str
    files: Mapping[str, str]  # path below the folder -> digest of its bytes


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder's manifest and journal say. One that can't be read is None and has its findings."""

    manifest_bytes: bytes | None = None  # None: there is none
    journal_bytes: bytes | None = None
    manifest: Manifest | None = None
    journal: Mapping[str, frozenset[str]] | None = None  # path -> digests that may stand there
    findings: tuple[Finding, ...] = ()

    @property
    def paths(self) -> frozenset[str]:
        """Every path where a file of ours may stand."""
        return frozenset(self.manifest.files if self.manifest else ()) | frozenset(self.journal or ())

    @property
    def damaged(self) -> tuple[str, ...]:
        """Which of the two stand there and can't be read."""
        manifest = (MANIFEST_NAME,) if self.manifest_bytes is not None and self.manifest is None else ()
        journal = (JOURNAL_NAME,) if self.journal_bytes is not None and self.journal is None else ()
        return manifest + journal


class FolderState(msgspec.Struct, frozen=True, kw_only=True):
    """What stands in a folder, against what is wanted there. Paths are below the folder, sorted."""

    kind: FolderKind
    edited: tuple[str, ...] = ()  # ours once, with other bytes; or the manifest or journal, where it can't be read
    foreign: tuple[str, ...] = ()  # never ours; "" where the folder itself is a link, or stands behind one
    write: tuple[str, ...] = ()  # wanted, and not there with these bytes
    remove: tuple[str, ...] = ()  # ours, edited or not, and no longer wanted
    leftover: tuple[str, ...] = ()  # temporary files of a stopped writer
    manifest: bytes | None  # what is to stand there as the manifest; None: nothing is to stand there
    may_stand: Mapping[str, frozenset[str]]  # for the journal: path -> digests, those wanted and those there now
    record: Record


def build_manifest(folder: Folder) -> Manifest:
    """The manifest that a finished folder has."""
    digests = {path: "sha256:" + hashlib.sha256(data).hexdigest() for path, data in folder.files.items()}
    return Manifest(render_format=folder.render_format, unit=folder.unit, closure=folder.closure, files=digests)


def render_manifest(manifest: Manifest) -> bytes:
    """A manifest as it stands on disk: JSON, one file a line, so that a merge shows which files both sides changed."""
    return _render_json(
        {
            "renderFormat": manifest.render_format,
            "unit": manifest.unit,
            "closure": manifest.closure,
            "files": dict(sorted(manifest.files.items())),
        }
    )


def parse_manifest(data: bytes, file: str) -> Manifest:
    """Read a manifest strictly; its paths can't leave the folder.

    file:   where it stands, for the findings.
    Raises: SpecError with every problem.
    """
    value = _parse_object(data, file)
    wrong = _check_keys(value, ("renderFormat", "unit", "closure", "files"))
    render_format = value.get("renderFormat")
    if not isinstance(render_format, int) or isinstance(render_format, bool) or render_format < 1:
        wrong.append((("renderFormat",), "must be a whole number from 1"))
        render_format = 0
    manifest = Manifest(
        render_format=render_format,
        unit=_parse_text(value, "unit", is_tree_path, "must be a unit's path", wrong),
        closure=_parse_text(value, "closure", is_digest, "must be a digest", wrong),
        files=_parse_files(value, "files", is_digest, "must be a digest", wrong),
    )
    # Not so in a journal: there an old file may have stood where a folder is wanted now.
    wrong += [(("files", path), "is the folder of another path") for path in list_clashes(manifest.files)]
    if wrong:
        raise SpecError(_build_finding(file, what, field=path) for path, what in wrong)
    return manifest


def render_journal(may_stand: Mapping[str, frozenset[str]]) -> bytes:
    """The journal of a folder about to be written: for each path the digests that may stand there until it is done."""
    return _render_json({"mayStand": {path: sorted(digests) for path, digests in sorted(may_stand.items())}})


def parse_journal(data: bytes, file: str) -> dict[str, frozenset[str]]:
    """Read a journal as strictly as a manifest. Raises SpecError with every problem."""
    value = _parse_object(data, file)
    wrong = _check_keys(value, ("mayStand",))
    entries = _parse_files(value, "mayStand", _is_digest_list, "must be a list of digests", wrong)
    if wrong:
        raise SpecError(_build_finding(file, what, field=path) for path, what in wrong)
    return {path: frozenset(digests) for path, digests in entries.items()}


def parse_record(manifest_bytes: bytes | None, journal_bytes: bytes | None, *, path: str) -> Record:
    """What the manifest and the journal of the folder at `path` say; None for one that isn't there. Never raises."""
    findings: list[Finding] = []
    manifest, journal = None, None
    if manifest_bytes is not None:
        try:
            manifest = parse_manifest(manifest_bytes, f"{path}/{MANIFEST_NAME}")
        except SpecError as error:
            findings += error.findings
    if journal_bytes is not None:
        try:
            journal = parse_journal(journal_bytes, f"{path}/{JOURNAL_NAME}")
        except SpecError as error:
            findings += error.findings
    return Record(
        manifest_bytes=manifest_bytes,
        journal_bytes=journal_bytes,
        manifest=manifest,
        journal=journal,
        findings=tuple(findings),
    )


def check_folder(disk: Mapping[str, str | None], record: Record, wanted: Folder | None, *, path: str) -> FolderState:
    """What stands in the folder at `path`, against what is wanted there.

    disk:   every file below the folder but manifest and journal -> its digest. None: no regular file, or its digest
            can't matter, being at a path that neither `record` nor `wanted` names. "" is the folder itself, given
            (as None) only where a link or a file stands in its place or above it.
    wanted: None where the folder should not be: what it was rendered from is gone.
    """
    if wanted is None:
        return _check_against(disk, record, {}, None, path)
    manifest = build_manifest(wanted)
    return _check_against(disk, record, manifest.files, render_manifest(manifest), path)


def check_complete(disk: Mapping[str, str | None], record: Record, *, path: str) -> FolderState:
    """Whether the folder is whole and nobody's hand was in it (`current`), judged by its own manifest alone.

    disk and path as for `check_folder`. Says nothing about the specs: a current folder may be an old one.
    """
    files = record.manifest.files if record.manifest else {}
    return _check_against(disk, record, files, record.manifest_bytes, path)


def _check_against(
    disk: Mapping[str, str | None], record: Record, files: Mapping[str, str], manifest: bytes | None, path: str
) -> FolderState:
    may_stand = _merge_digests(record, files)
    # Where the manifest is damaged (by a merge, mostly) the wanted paths are still the ones that it listed: a file
    # there is an edited one, that --discard-edits may overwrite, and not a stranger's.
    ours = record.paths | (frozenset(files) if record.damaged else frozenset())
    edited, foreign, remove, leftover = list(record.damaged), _list_copied(record, path), [], []
    for place in sorted(disk):
        digest = disk[place]
        if place.rpartition("/")[2].startswith(TEMP_PREFIX):
            leftover.append(place)
            continue
        if digest is None or (place not in ours and digest not in may_stand.get(place, ())):
            foreign.append(place)
            continue
        if digest not in may_stand.get(place, ()):
            edited.append(place)
            may_stand[place] = may_stand.get(place, frozenset()) | {digest}
        if place not in files:
            remove.append(place)
    write = tuple(place for place in sorted(files) if disk.get(place) != files[place])
    kind = _choose_kind(record, edited, foreign, leftover, anything=len(disk) > 0)
    if kind == "stale" and not write and not remove and record.manifest_bytes == manifest:
        kind = "current"
    return FolderState(
        kind=kind,
        edited=tuple(sorted(edited)),
        foreign=tuple(sorted(foreign)),
        write=write,
        remove=tuple(remove),
        leftover=tuple(leftover),
        manifest=manifest,
        may_stand=may_stand,
        record=record,
    )


def _choose_kind(
    record: Record, edited: list[str], foreign: list[str], leftover: list[str], *, anything: bool
) -> FolderKind:
    if foreign:
        return "foreign"
    if edited:
        return "edited"
    if record.journal_bytes is not None or leftover:
        return "interrupted"
    if record.manifest_bytes is None:
        return "interrupted" if anything else "absent"
    return "stale"


def _merge_digests(record: Record, files: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Every path's digests that are ours: the last render's, those of renders stopped since, and the wanted one."""
    merged = dict(record.journal or {})
    for digests in (record.manifest.files if record.manifest else {}, files):
        for path, digest in digests.items():
            merged[path] = merged.get(path, frozenset()) | {digest}
    return merged


def _list_copied(record: Record, path: str) -> list[str]:
    """The manifest, where it is another unit's: somebody copied that unit's folder here, so nothing in it is ours."""
    return [MANIFEST_NAME] if record.manifest and not is_unit_of(record.manifest.unit, path) else []


def _render_json(value: object) -> bytes:
    import json  # not at the top: `generate` starts without it where no folder is read

    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _parse_object(data: bytes, file: str) -> dict[str, object]:
    import json  # as above

    def build_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
        value = dict(pairs)
        if len(value) != len(pairs):
            raise SpecError([_build_finding(file, "repeats a key")])
        return value

    try:
        value = json.loads(data.decode(), object_pairs_hook=build_object)
    except json.JSONDecodeError as error:
        finding = _build_finding(file, f"isn't JSON: {error.msg}", line=error.lineno, column=error.colno)
        raise SpecError([finding]) from error
    except UnicodeDecodeError as error:
        raise SpecError([_build_finding(file, "isn't UTF-8")]) from error
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, 100,000 brackets
        raise SpecError([_build_finding(file, "is beyond what this reader takes")]) from error
    if not isinstance(value, dict):
        raise SpecError([_build_finding(file, "must be an object")])
    return value


def _check_keys(value: Mapping[str, object], keys: Iterable[str]) -> list[_Wrong]:
    return [((key,), "is no field of it") for key in value if key not in keys]


def _parse_text(
    value: Mapping[str, object], key: str, is_right: Callable[[str], bool], must: str, wrong: list[_Wrong]
) -> str:
    text = value.get(key)
    if isinstance(text, str) and is_right(text):
        return text
    wrong.append(((key,), must))
    return ""


def _parse_files(
    value: Mapping[str, object], key: str, is_right: Callable[[object], bool], must: str, wrong: list[_Wrong]
) -> dict[str, Any]:
    """The field that maps paths to something; what is wrong with it is added to `wrong`."""
    files = value.get(key)
    if not isinstance(files, dict) or not files:
        wrong.append(((key,), "must map at least one path to what stands there"))
        return {}
    for path, entry in files.items():
        if not is_tree_path(path):
            wrong.append(((key, path), "is no path below the folder"))
        elif not is_right(entry):
            wrong.append(((key, path), must))
    return files


def _is_digest_list(value: object) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(is_digest(entry) for entry in value)


def _build_finding(file: str, what: str, *, line: int = 0, column: int = 0, field: FieldPath = ()) -> Finding:
    subject = render_field(field) or "it"
    return Finding(
        code="folder-record",
        severity="error",
        place=Place(file, line, column, render_field(field)),
        what=f"this record of a rendered folder can't be used: {subject} {what}",
        why="it says which files poolwright wrote; without it none of them can be told from somebody's work",
        rule="poolwright's tree on disk",
        fix="restore it from Git, or delete the folder (it holds nothing but rendered files), and render again",
    )
