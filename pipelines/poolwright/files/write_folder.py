"""Rendered folders on disk: what stands there, and how they become what is wanted.

A writer may be stopped at any moment, by anything: every file is whole at all times, old or new, and the next writer
finishes the work, whatever it is then asked to write. The order of the steps is what makes that true; see
`_write_folder`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from poolwright.files.disk import Disk, DiskError, Listing
from poolwright.specs.finding import Finding
from poolwright.specs.place import Place
from poolwright.trees.folder import (
    JOURNAL_NAME,
    MANIFEST_NAME,
    Folder,
    is_own_name,
    is_tree_path,
    list_clashes,
    list_parents,
)
from poolwright.trees.manifest import (
    FolderState,
    Record,
    check_complete,
    check_folder,
    parse_record,
    render_journal,
)

_MAX_RECORD_BYTES = 4 << 20  # a manifest of 25,000 files; what is cut off there can't be parsed
_MANY = 16  # folders to write; fewer are written one after the other, in the order of their paths
_WRITERS = 32  # folders at a time

OpenDisk = Callable[[str], Disk]


class FolderResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one folder, or would."""

    path: str
    before: FolderState
    written: tuple[str, ...] = ()  # below the folder, sorted, the manifest last
    removed: tuple[str, ...] = ()  # likewise
    problems: tuple[Finding, ...] = ()


class _Job(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    wanted: Folder | None
    state: FolderState
    listing: Listing | None


def write_folders(
    root: str,
    folders: Sequence[Folder],
    removed: Sequence[str],
    *,
    disk: OpenDisk = Disk,
    discard_edits: bool = False,
) -> tuple[FolderResult, ...]:
    """Make each folder hold exactly what is wanted; one that is current isn't touched.

    root:          an existing folder; locked meanwhile.
    removed:       folders that should not be; files of ours in them are removed.
    discard_edits: overwrite and remove edited files as well. Foreign ones are never touched.
    Returns:       one result per folder, by path. A folder with edited or foreign files is left wholly alone and has
                   its problems; the others are written. Every folder is looked at before the first one is written.
    Raises:        DiskError if another poolwright is writing below root, or the disk says no; some folders are written
                   then (of a few those before that one), and the next call finishes the rest.
                   ValueError if folders repeat or stand in one another.
    Cost:          reads each file of ours once; per changed file one write, sync and rename. Of many folders several
                   are written at a time, for nearly all of it is waiting for the disk, which syncs many at once.
    """
    tree = disk(root)
    with disk_errors("."), tree.lock():
        jobs = _read_jobs(tree, folders, removed)
        # A folder that goes may take the one above with it, where another one is on its way: so those go last.
        settled = _settle_all(tree, [job for job in jobs if job.wanted], discard_edits=discard_edits)
        settled += [_settle(tree, job, discard_edits=discard_edits) for job in jobs if not job.wanted]
    return tuple(sorted(settled, key=lambda result: result.path))


def check_folders(
    root: str, folders: Sequence[Folder], removed: Sequence[str], *, disk: OpenDisk = Disk
) -> tuple[FolderResult, ...]:
    """What `write_folders` would do, with a problem for each folder that isn't as it should be.

    Writes nothing and takes no lock: a folder that somebody is writing meanwhile is mostly seen as interrupted.
    Raises as `write_folders` does, but for the lock.
    """
    jobs = _read_jobs(disk(root), folders, removed)
    results = (_preview(job, discard_edits=False) for job in jobs)
    return tuple(
        FolderResult(
            path=result.path,
            before=result.before,
            written=result.written,
            removed=result.removed,
            problems=result.problems or _check_result(result, job.wanted),
        )
        for job, result in zip(jobs, results, strict=True)
    )


def read_folder_state(root: str, path: str, *, disk: OpenDisk = Disk) -> FolderState:
    """Whether the folder at `path` is whole and unedited by its own manifest: `current`, and `record.manifest` is it.

    Raises: DiskError if it can't be read.
    Cost:   reads and hashes each of its files once.
    """
    with disk_errors(path):
        disk_files, record, _ = _read_folder(disk(root), path, None)
    return check_complete(disk_files, record, path=path)


def read_folder_paths(root: str, top: str, *, disk: OpenDisk = Disk) -> tuple[str, ...]:
    """Every folder below `top` that a writer began or finished, by path: those no longer wanted are to be removed.

    Of two that stand in one another the outer one. Raises DiskError if it can't be read.
    """
    with disk_errors(top):
        listing = disk(root).list_folder(top)
    names = (path.rpartition("/") for path in (listing.files if listing else ()))
    found = {folder for folder, _, name in names if folder and is_own_name(name)}
    return tuple(f"{top}/{path}" for path in sorted(found) if found.isdisjoint(list_parents([path])))


def _read_jobs(tree: Disk, folders: Sequence[Folder], removed: Sequence[str]) -> list[_Job]:
    wanted: dict[str, Folder | None] = dict.fromkeys(removed)
    wanted |= {folder.path: folder for folder in folders}
    if len(wanted) < len(folders) + len(removed):
        raise ValueError("a folder is given twice")
    if wrong := [path for path in wanted if not is_tree_path(path)] or list_clashes(wanted):
        raise ValueError(f"{wrong[0]!r} is no folder to write, or holds another one")
    jobs = []
    for path, folder in sorted(wanted.items()):
        with disk_errors(path):
            disk_files, record, listing = _read_folder(tree, path, folder)
        state = check_folder(disk_files, record, folder, path=path)
        jobs.append(_Job(path=path, wanted=folder, state=state, listing=listing))
    return jobs


def _read_folder(tree: Disk, path: str, wanted: Folder | None) -> tuple[dict[str, str | None], Record, Listing | None]:
    """What stands in a folder, as `check_folder` takes it. Only what can be ours is read."""
    listing = tree.list_folder(path)
    if listing is None:
        return {}, Record(), None

    def read_record(name: str) -> bytes | None:
        return tree.read(f"{path}/{name}", max_bytes=_MAX_RECORD_BYTES) if name in listing.files else None

    record = parse_record(read_record(MANIFEST_NAME), read_record(JOURNAL_NAME), path=path)
    ours = record.paths.union(wanted.files if wanted else ())
    disk_files: dict[str, str | None] = dict.fromkeys(listing.others)
    for file in listing.files:
        if file not in (MANIFEST_NAME, JOURNAL_NAME):
            disk_files[file] = tree.read_digest(f"{path}/{file}") if file in ours else None
    return disk_files, record, listing


def _preview(job: _Job, *, discard_edits: bool) -> FolderResult:
    """What writing this folder will have done."""
    state = job.state
    if state.kind == "foreign" or (state.kind == "edited" and not discard_edits):
        return FolderResult(path=job.path, before=state, problems=_list_problems(job.path, state))
    written, removed = state.write, state.remove
    if state.manifest is None and state.record.manifest_bytes is not None:
        removed += (MANIFEST_NAME,)
    if state.manifest is not None and (written or removed or state.record.manifest_bytes != state.manifest):
        written += (MANIFEST_NAME,)
    return FolderResult(path=job.path, before=state, written=written, removed=removed)


def _settle_all(tree: Disk, jobs: Sequence[_Job], *, discard_edits: bool) -> list[FolderResult]:
    """Several folders at a time, where there are many to write: none has a file of another, or makes one go."""
    if sum(job.state.kind != "current" for job in jobs) < _MANY:
        return [_settle(tree, job, discard_edits=discard_edits) for job in jobs]
    from concurrent.futures import ThreadPoolExecutor  # here: `generate` imports this module, and writes nothing

    with ThreadPoolExecutor(_WRITERS) as writers:
        # An error ends the loop: what hasn't begun by then never does, and what has is waited for.
        return list(writers.map(lambda job: _settle(tree, job, discard_edits=discard_edits), jobs))


def _settle(tree: Disk, job: _Job, *, discard_edits: bool) -> FolderResult:
    result = _preview(job, discard_edits=discard_edits)
    nowhere = job.wanted is None and job.listing is None
    if not result.problems and job.state.kind != "current" and not nowhere:
        with disk_errors(job.path):
            _write_folder(tree, job)
    return result


def _write_folder(tree: Disk, job: _Job) -> None:
    """Turn what stands in a folder into what is wanted.

    Journal, then the manifest's removal, then the files, then the new manifest, then the journal's removal; each is on
    the disk before the next one that would be wrong without it. Where no file changes there is no mixture to tell from
    edits: no journal is written, and the manifest is replaced in one step.
    """
    path, state, record = job.path, job.state, job.state.record
    changes = bool(state.write or state.remove)
    for file in state.leftover:
        tree.remove(f"{path}/{file}")
    if changes:
        if job.listing is None:
            _make_folders(tree, path)
        _write_file(tree, f"{path}/{JOURNAL_NAME}", render_journal(state.may_stand))
        tree.sync_folder(path)
    if record.manifest_bytes is not None and (changes or state.manifest is None):
        tree.remove(f"{path}/{MANIFEST_NAME}")
    for folder in _write_files(tree, job):
        tree.sync_folder(f"{path}/{folder}")
    tree.sync_folder(path)
    if state.manifest is not None and (changes or record.manifest_bytes != state.manifest):
        _write_file(tree, f"{path}/{MANIFEST_NAME}", state.manifest)
        tree.sync_folder(path)
    if changes or record.journal_bytes is not None:
        tree.remove(f"{path}/{JOURNAL_NAME}")
    if state.manifest is None:
        _remove_folders(tree, path)


def _write_files(tree: Disk, job: _Job) -> list[str]:
    """Remove, then write: an old file may stand where a folder is wanted now, or the other way round.

    Returns: every folder below this one that is there and has, had or may have had files of ours: those to sync, be it
             for what a stopped writer renamed in them.
    """
    path, files = job.path, job.wanted.files if job.wanted else {}
    there = set(job.listing.folders if job.listing else ())
    needed, ours = list_parents(files), list_parents(job.state.may_stand)
    for file in job.state.remove:
        tree.remove(f"{path}/{file}")
    # What a file is wanted in the place of holds no file, or that one would have been foreign and stopped us.
    replaced = {folder for folder in there if not files.keys().isdisjoint({folder, *list_parents([folder])})}
    for folder in sorted((there & ours - needed) | replaced, reverse=True):  # the inner ones first
        if tree.remove_folder(f"{path}/{folder}"):
            there.remove(folder)
    for folder in sorted(needed - there):
        if tree.make_folder(f"{path}/{folder}"):
            there.add(folder)
    for file in job.state.write:
        _write_file(tree, f"{path}/{file}", files[file])
    return sorted(there & ours)


def _write_file(tree: Disk, path: str, data: bytes) -> None:
    tree.rename(tree.write_temp(path, data), path)


def _make_folders(tree: Disk, path: str) -> None:
    for folder in sorted({path} | list_parents([path])):
        if tree.make_folder(folder):
            tree.sync_folder(folder.rpartition("/")[0])


def _remove_folders(tree: Disk, path: str) -> None:
    """Remove this folder and those above it, below the root, as far as they are empty."""
    while path and tree.remove_folder(path):
        path = path.rpartition("/")[0]


def _list_problems(path: str, state: FolderState) -> tuple[Finding, ...]:
    """Why this folder is left alone: one finding for each file."""
    found = list(state.record.findings)
    for file in state.edited:
        if file not in state.record.damaged:
            found.append(_build_edited(path, file))
    found += (_build_foreign(path, file, state.record) for file in state.foreign)
    return tuple(sorted(found, key=lambda finding: finding.sort_key))


def _build_edited(path: str, file: str) -> Finding:
    return Finding(
        code="folder-edited",
        severity="error",
        place=Place(f"{path}/{file}"),
        what="this rendered file was changed by hand",
        why="rendering would lose the change, so the whole folder is left as it is",
        rule="poolwright's tree on disk",
        fix="restore the file and change the specs, or lose the change with `poolwright render --discard-edits`",
    )


def _build_foreign(path: str, file: str, record: Record) -> Finding:
    what, fix = "poolwright didn't write this file", "move it out of overlays/, or delete it"
    if not file:
        what, fix = "a link or a file stands where this folder has to be", "delete it: below overlays/ are only folders"
    elif file == MANIFEST_NAME and record.manifest is not None:
        what, fix = f'this folder is a copy of "{record.manifest.unit}"', "delete the folder, or move it elsewhere"
    return Finding(
        code="folder-foreign",
        severity="error",
        place=Place(f"{path}/{file}" if file else path),
        what=what,
        why="a rendered folder holds what its manifest lists and nothing else; a file not in it is never touched",
        rule="poolwright's tree on disk",
        fix=fix,
    )


def _check_result(result: FolderResult, wanted: Folder | None) -> tuple[Finding, ...]:
    """The finding that says a folder isn't as it should be; none where it is."""
    kind = result.before.kind
    if kind == "current" or (kind == "absent" and wanted is None):
        return ()
    count = len({*result.written, *result.removed})
    what = f"this folder isn't what the specs give; files to write or remove: {count}"
    if kind == "interrupted":
        what = "a render of this folder was stopped before its end"
    elif wanted is None:
        what = "nothing in the specs gives this folder any more"
    elif kind == "absent":
        what = "this folder isn't rendered"
    return (
        Finding(
            code=f"folder-{kind}",
            severity="error",
            place=Place(result.path),
            what=what,
            why="Argo CD would apply something other than what the specs say",
            fix="run `poolwright render` and commit what it writes",
        ),
    )


@contextmanager
def disk_errors(path: str) -> Iterator[None]:
    """Turn what the disk says into one finding at this path."""
    try:
        yield
    except OSError as error:
        finding = Finding(
            code="disk-error",
            severity="error",
            place=Place(path),
            what=f"the disk refuses: {error.strerror or error}",
            why="a folder can't be judged or finished like that; what was begun is finished by the next render",
            fix="mend that (space, permissions, a read-only mount), then run this again",
        )
        raise DiskError(finding) from error
