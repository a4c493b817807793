"""A project on disk: where it is, its spec files, and the files that specs name. Nothing here is run or followed."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from itertools import groupby
from typing import Final

from poolwright.files.import_path import HOW, check_loaded
from poolwright.specs.document import MAX_SPEC_BYTES
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.lock import LOCK_FILE, Lock, LockFile, parse_lock
from poolwright.specs.parse import PROJECT_FILE
from poolwright.specs.place import Place

SPEC_FOLDER: Final = "specs"
REHEARSAL_FOLDER: Final = "rehearsals"
MAX_SPEC_ENTRIES: Final = 50_000  # files and folders below specs/ or rehearsals/, whatever their names
MAX_SPEC_DEPTH: Final = 64  # folders in one another below these
MAX_SPEC_VALUES: Final = 100_000  # of a file, counted as `check_values` does
MAX_SPECS_BYTES: Final = 128 << 20  # all spec files together
MAX_NAMED_BYTES: Final = 16 << 20  # a file that a spec names
MAX_ALL_NAMED_BYTES: Final = 64 << 20  # all of them together
MAX_LOCK_BYTES: Final = 16 << 20
MAX_INVENTORY_BYTES: Final = 64 << 20
MAX_EVIDENCE_BYTES: Final = 64 << 20  # a snapshot of a cluster
MAX_INVENTORY_VALUES: Final = 1 << 20  # lines and separators; 10,000 devices take some half a million
_RULE: Final = "poolwright project layout"
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Not blocking: opening a named pipe would otherwise wait for its other end.
_FILE: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


def find_project(start: str) -> str:
    """The nearest folder at or above start that has a poolwright.yaml.

    Raises: SpecError if there is none up to the root, or no start to look from, or if what would read it was loaded
            from a project.
    """
    if reason := check_loaded():
        raise SpecError([_reached(reason)])
    try:
        folder = os.path.abspath(start)  # noqa: PTH100 (pathlib takes longer to import than a unit to render)
    except OSError as error:
        raise SpecError([_no_working_folder(error)]) from None
    if not os.path.lexists(folder):
        raise SpecError([_no_project(f"there is no folder {start}")])
    while not os.path.lexists(os.path.join(folder, PROJECT_FILE)):  # noqa: PTH118
        parent = os.path.dirname(folder)  # noqa: PTH120
        if parent == folder:
            raise SpecError([_no_project(f"no {PROJECT_FILE} in {start} or in any folder above it")])
        folder = parent
    return folder


def read_specs(root: str) -> dict[str, bytes]:
    """Every spec file by its path from root, sorted: poolwright.yaml and all .yaml and .yml files below specs/.

    Names that start with a dot are passed over. What is read is bounded, in number, depth and bytes.
    Raises: SpecError if a file or folder can't be read, is a link or neither of the two, or if there is too much.
    """
    problems: list[Finding] = []
    return _read_yaml(root, (PROJECT_FILE, *sorted(_list_yaml(root, SPEC_FOLDER, problems))), SPEC_FOLDER, problems)


def read_rehearsals(root: str) -> dict[str, bytes]:
    """All .yaml and .yml files below rehearsals/, as read_specs reads those below specs/; none: there is no folder."""
    problems: list[Finding] = []
    return _read_yaml(root, sorted(_list_yaml(root, REHEARSAL_FOLDER, problems)), REHEARSAL_FOLDER, problems)


def read_manifests(root: str) -> dict[str, bytes]:
    """All .yaml and .yml files below a folder that is no project, as read_specs reads specs."""
    problems: list[Finding] = []
    return _read_yaml(root, sorted(_list_yaml(root, "", problems)), "", problems)


def _read_yaml(root: str, paths: Iterable[str], top: str, problems: list[Finding]) -> dict[str, bytes]:
    """The files at these paths, whose order keeps those of a folder together."""
    files: dict[str, bytes] = {}
    left = MAX_SPECS_BYTES
    for folder, within in groupby(paths, lambda path: path.rpartition("/")[0]):
        try:
            at = _open_below(root, folder, _FOLDER)  # once for all its files: opening it takes longer than reading one
        except OSError as error:
            problems += [_unreadable(path, _reason(error, path)) for path in within]
            continue
        try:
            for path in within:
                files[path] = _read_spec(at, path, problems)
                left -= len(files[path])
                if left < 0:
                    what = f"the spec files have more than {MAX_SPECS_BYTES:,} bytes together"
                    raise SpecError([*problems, _too_large(what, top)])
        finally:
            os.close(at)
    if problems:
        raise SpecError(problems)
    return files


def _read_spec(folder: int, path: str, problems: list[Finding]) -> bytes:
    """A spec file's bytes, its folder open; none, with a problem, if it can't be read or holds too much."""
    try:
        text = _read_open(_open_at(folder, path.rpartition("/")[2], _FILE), path, MAX_SPEC_BYTES)
        if len(text) > MAX_SPEC_VALUES:  # a shorter one can't hold more
            check_values(text, path, most=MAX_SPEC_VALUES)
    except OSError as error:
        problems.append(_unreadable(path, _reason(error, path)))
        return b""
    except SpecError as error:
        problems += error.findings
        return b""
    return text


def check_values(text: bytes, path: str, *, most: int) -> None:
    """Refuse YAML that would take long to read, and much memory: some 10 us and a kilobyte for each value.

    Counts lines and separators: no value but the first stands without one of its own, or a colon, in front of it.
    Raises: SpecError with that finding.
    """
    count = sum(map(text.count, (b"\n", b",", b"[", b"{", b"- ")))
    if count > most:
        raise SpecError([_too_dense(path, count, most)])


def read_lock(root: str) -> Lock | None:
    """The project's lock; None: there is none.

    Raises: SpecError if it can't be read, or a newer release wrote it.
    """
    found = read_lock_file(root)
    return None if found is None else found.value


def read_lock_file(root: str) -> LockFile | None:
    """The same with its text."""
    text = read_named_files(root, [LOCK_FILE], max_bytes=MAX_LOCK_BYTES).get(LOCK_FILE)
    return None if text is None else parse_lock(text)


def read_named_files(root: str, paths: Iterable[str], *, max_bytes: int = MAX_NAMED_BYTES) -> dict[str, bytes]:
    """The files that specs name, by path; one that isn't there is left out, and the spec that names it says so.

    Raises: SpecError if one is there but can't be read.
    """
    files = {}
    left = max(max_bytes, MAX_ALL_NAMED_BYTES)
    for path in sorted(set(paths)):
        try:
            files[path] = _read(root, path, max_bytes)
            left -= len(files[path])
            if left < 0:
                what = f"the files that specs name have more than {MAX_ALL_NAMED_BYTES:,} bytes"
                raise SpecError([_too_large(what, SPEC_FOLDER)])
        except FileNotFoundError:
            continue
        except OSError as error:
            raise SpecError([_unreadable(path, _reason(error, path))]) from None
    return files


def find_files(root: str, paths: Iterable[str]) -> frozenset[str]:
    """Those of the paths that are regular files of the project; as everywhere, no link is followed."""
    found = set()
    for path in sorted(set(paths)):
        try:
            descriptor = _open_below(root, path, _FILE)
        except OSError:
            continue
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                found.add(path)
        finally:
            os.close(descriptor)
    return frozenset(found)


def read_file(root: str, path: str, *, max_bytes: int) -> bytes:
    """The bytes of a regular file of the project.

    No link is followed, at the end or on the way: a repository can't make us read what isn't in it.
    Raises: SpecError if it isn't there, is no regular file, is larger than max_bytes, or can't be read.
    """
    try:
        return _read(root, path, max_bytes)
    except OSError as error:
        raise SpecError([_unreadable(path, _reason(error, path))]) from None


def open_folder(root: str, path: str) -> int | None:
    """A folder of the project, open; None: there is none.

    Raises: SpecError if a link or something else stands there, or it can't be read.
    """
    try:
        return _open_below(root, path, _FOLDER)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SpecError([_unreadable(path, _reason(error, path))]) from None


def _read(root: str, path: str, max_bytes: int) -> bytes:
    return _read_open(_open_below(root, path, _FILE), path, max_bytes)


def _read_open(descriptor: int, path: str, max_bytes: int) -> bytes:
    """The bytes of an open file, which is closed; path is what findings call it."""
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise SpecError([_unreadable(path, "it is no regular file")])
        if status.st_size > max_bytes:
            raise SpecError([_unreadable(path, f"it has {status.st_size:,} bytes, and {max_bytes:,} is the most")])
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(max_bytes)
    finally:
        os.close(descriptor)


def _open_below(root: str, path: str, flags: int) -> int:
    """A file or folder opened; each folder on the way is opened by itself, so that none of them can be a link.

    Raises: OSError whose filename is the part of the path that was refused.
    """
    names = path.split("/") if path else []
    if not {"", ".", ".."}.isdisjoint(names):
        raise OSError(errno.EPERM, "it isn't a path below the project", path)
    at = os.open(root, _FOLDER)
    for index, name in enumerate(names):
        last = index == len(names) - 1
        try:
            below = _open_at(at, name, flags if last else _FOLDER)
        except OSError as error:
            raise OSError(error.errno, error.strerror, "/".join(names[: index + 1])) from None
        finally:
            os.close(at)
        at = below
    return at


def _open_at(folder: int, name: str, flags: int) -> int:
    """What stands under a name in an open folder, opened unless it is a link."""
    try:
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=folder)
    except OSError as error:
        raise OSError(errno.ELOOP if _is_link(name, folder) else error.errno, error.strerror, name) from None


def _is_link(name: str, folder: int) -> bool:
    """Systems differ in what they say of a link that isn't followed: here it is looked at."""
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _list_yaml(root: str, top: str, problems: list[Finding]) -> list[str]:
    """Paths of the YAML files below one of its folders, in no order; what can't be listed is added to the problems.

    Raises: SpecError if there is too much to list.
    """
    found: list[str] = []
    pending, count = [top], 0
    while pending:
        below = pending.pop()
        if below.count("/") > MAX_SPEC_DEPTH:
            what = f"{top}/ holds more than {MAX_SPEC_DEPTH} folders in one another"
            raise SpecError([*problems, _too_large(what, top)])
        try:
            folder = _open_below(root, below, _FOLDER)
        except FileNotFoundError:
            continue
        except OSError as error:
            problems.append(_unreadable(below, _reason(error, below)))
            continue
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    count += 1
                    if count > MAX_SPEC_ENTRIES:
                        what = f"{top}/ holds more than {MAX_SPEC_ENTRIES:,} files and folders"
                        raise SpecError([*problems, _too_large(what, top)])
                    _sort_entry(entry, below, found, pending, problems)
        except OSError as error:
            problems.append(_unreadable(below, _reason(error, below)))
        finally:
            os.close(folder)
    return found


def _sort_entry(
    entry: os.DirEntry[str], below: str, found: list[str], pending: list[str], problems: list[Finding]
) -> None:
    """Put an entry of a folder where it belongs: a file to read, a folder to list, a problem, or nowhere."""
    path = f"{below}/{entry.name}" if below else entry.name
    if entry.name.startswith("."):
        return
    if entry.is_symlink():
        problems.append(_unreadable(path, "it is a link"))
    elif entry.is_dir(follow_symlinks=False):
        pending.append(path)
    elif entry.name.endswith((".yaml", ".yml")):
        found.append(path)


def _reason(error: OSError, path: str) -> str:
    it = error.filename if error.filename and error.filename != path else "it"
    if isinstance(error, FileNotFoundError):
        return f"{it} isn't there"
    if error.errno == errno.ELOOP:
        return f"{it} is a link"
    if isinstance(error, NotADirectoryError):
        return f"{it} is no folder"
    return (error.strerror or "it can't be read").lower()


def _unreadable(path: str, reason: str) -> Finding:
    return Finding(
        code="file-unreadable",
        severity="error",
        place=Place(path),
        what=f"{path} can't be read: {reason}",
        why="specs and the files they name are regular files inside the project, and nothing is rendered without them",
        rule=_RULE,
        fix="put a readable regular file there",
    )


def _too_large(what: str, top: str) -> Finding:
    return Finding(
        code="project-too-large",
        severity="error",
        place=Place(top),
        what=what,
        why="what is read is bounded, so that no repository can exhaust memory or time",
        rule=_RULE,
        fix=f"keep what isn't a spec outside {top}/, or split the project",
    )


def _too_dense(path: str, count: int, most: int) -> Finding:
    return Finding(
        code="file-too-large",
        severity="error",
        place=Place(path),
        what=f"the file has {count:,} lines and separators",
        why=f"a file of this kind is read up to {most:,}, so that reading is bounded in time and memory",
        rule="poolwright limit",
        fix="split a spec file in several; of a cluster capture only nodes and ResourceSlices",
    )


def _reached(reason: str) -> Finding:
    return Finding(
        code="import-path",
        severity="error",
        place=Place(PROJECT_FILE),
        what=reason,
        why="a project's files are read and never run, and Python runs what it loads",
        rule="poolwright trust in repositories",
        fix=HOW,
    )


def _no_project(what: str) -> Finding:
    return Finding(
        code="project-missing",
        severity="error",
        place=Place(PROJECT_FILE),
        what=what,
        why="that file is the root of a project: it names the clusters",
        rule=_RULE,
        fix="run inside a project, pass --project DIR, or make one with `poolwright init`",
    )


def _no_working_folder(error: OSError) -> Finding:
    what = "doesn't exist any more" if isinstance(error, FileNotFoundError) else f"can't be told: {error.strerror}"
    return Finding(
        code="project-missing",
        severity="error",
        place=Place(PROJECT_FILE),
        what=f"the folder that this runs in {what}",
        why="a project is looked for from there upwards",
        rule=_RULE,
        fix="change to a folder that exists, or pass an absolute path as --project DIR",
    )
