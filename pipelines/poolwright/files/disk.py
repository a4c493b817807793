"""The few file operations that reading and writing rendered folders takes, none of which can leave the tree."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import msgspec

from poolwright.specs.finding import Finding
from poolwright.specs.place import Place
from poolwright.trees.folder import TEMP_PREFIX

TEMP_NAME = TEMP_PREFIX + "next"  # one at a time in a folder, and only the holder of the lock writes
_MAX_DIGESTED_BYTES = 64 << 20  # no file of ours comes near; a sparse one can be of any length
_MODE = 0o666  # the umask takes from it what this user's new files don't have


class DiskError(Exception):
    """The disk said no, or another poolwright holds it: no answer can be given. Carries one finding."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        super().__init__(f"{finding.place}: {finding.what} [{finding.code}]")


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """What stands below a folder, at any depth; paths from it, sorted."""

    files: tuple[str, ...] = ()  # regular ones
    others: tuple[str, ...] = ()  # links, sockets and so on; "" where the folder itself is one or stands behind one
    folders: tuple[str, ...] = ()


class Disk:
    """A tree of files. Paths are relative to its root, with forward slashes; "" is the root.

    The root may be reached over links; below it none is followed, neither to read nor to write: each folder on the way
    is opened by itself, so that a link put there meanwhile is refused as well. Raises OSError as `os` does.
    """

    def __init__(self, root: str) -> None:
        self.root = root

    # What reads.

    def list_folder(self, path: str) -> Listing | None:
        """Everything below a folder; None where there is no such folder."""
        try:
            os.close(self._open_folder(path))
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP):  # systems differ in what they say of a link
                return Listing(others=("",))
            raise
        files: list[str] = []
        others: list[str] = []
        folders: list[str] = []
        pending = [""]
        while pending:
            below = pending.pop()
            for place, entry in self._scan(path, below):
                if entry.is_dir(follow_symlinks=False):
                    folders.append(place)
                    pending.append(place)
                else:
                    (files if entry.is_file(follow_symlinks=False) else others).append(place)
        return Listing(files=tuple(sorted(files)), others=tuple(sorted(others)), folders=tuple(sorted(folders)))

    def read(self, path: str, *, max_bytes: int) -> bytes:
        """A regular file's bytes, of a longer one the first `max_bytes`."""
        return b"".join(self._read_chunks(path, max_bytes))

    def read_digest(self, path: str) -> str:
        """The digest of a regular file's bytes; of one far longer than any of ours, that of its start."""
        import hashlib  # not at the top: listing and writing need none

        digest = hashlib.sha256()
        for chunk in self._read_chunks(path, _MAX_DIGESTED_BYTES):
            digest.update(chunk)
        return "sha256:" + digest.hexdigest()

    # What writes. Tests stop a writer before or within each of these.

    def make_folder(self, path: str) -> bool:
        """Make one folder; False where something of that name is there already."""
        with self._parent(path) as (parent, name):
            try:
                os.mkdir(name, dir_fd=parent)
            except FileExistsError:
                return False
        return True

    def write_temp(self, path: str, data: bytes) -> str:
        """Write a new file beside `path`, down to the disk; its path. It is gone again if that fails."""
        with self._parent(path) as (parent, _):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            file = os.open(TEMP_NAME, flags, _MODE, dir_fd=parent)
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(file, rest) :]
                os.fsync(file)
            except BaseException:
                with suppress(OSError):
                    os.unlink(TEMP_NAME, dir_fd=parent)
                raise
            finally:
                os.close(file)
        return path[: path.rfind("/") + 1] + TEMP_NAME

    def rename(self, temp: str, path: str) -> None:
        """Put a file in the place of another one (or of a link: where that points isn't touched) in one step."""
        with self._parent(path) as (parent, name):
            os.rename(temp[temp.rfind("/") + 1 :], name, src_dir_fd=parent, dst_dir_fd=parent)

    def remove(self, path: str) -> None:
        """Remove one file."""
        with self._parent(path) as (parent, name):
            os.unlink(name, dir_fd=parent)

    def remove_folder(self, path: str) -> bool:
        """Remove a folder if it is empty; False where it isn't, or isn't there."""
        try:
            with self._parent(path) as (parent, name):
                os.rmdir(name, dir_fd=parent)
        except FileNotFoundError:
            return False
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):  # POSIX allows either
                return False
            raise
        return True

    def sync_folder(self, path: str) -> None:
        """Make what was renamed, made and removed in a folder outlast a power cut."""
        folder = self._open_folder(path)
        try:
            os.fsync(folder)
        except OSError as error:
            if error.errno != errno.EINVAL:  # a network file system that syncs no folders: nothing more can be done
                raise
        finally:
            os.close(folder)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other writers out of this tree; DiskError at once if one is in it. The lock ends with the process.

        It is on the root folder itself: no lock file that could be left behind. It sees no writer on another machine.
        """
        import fcntl  # only writers need it

        folder = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise DiskError(_LOCKED) from error
            yield
        finally:
            os.close(folder)

    # How it stays inside.

    def _open_folder(self, path: str) -> int:
        names = _split(path) if path else []
        folder = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        for name in names:
            try:
                below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            finally:
                os.close(folder)
            folder = below
        return folder

    @contextmanager
    def _parent(self, path: str) -> Iterator[tuple[int, str]]:
        *parents, name = _split(path)
        folder = self._open_folder("/".join(parents))
        try:
            yield folder, name
        finally:
            os.close(folder)

    def _scan(self, path: str, below: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
        folder = self._open_folder("/".join(part for part in (path, below) if part))
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    yield f"{below}/{entry.name}" if below else entry.name, entry
        finally:
            os.close(folder)

    def _read_chunks(self, path: str, max_bytes: int | None = None) -> Iterator[bytes]:
        import stat  # `os` has loaded it

        with self._parent(path) as (parent, name):
            # O_NONBLOCK: a pipe put there meanwhile must not keep us waiting for its other end.
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "not a regular file", path)
            # As much as there seems to be, and a byte to see its end: a large buffer takes longer to get than to fill.
            step = min(status.st_size + 1, 1 << 20)
            left = max_bytes
            while chunk := os.read(file, step if left is None else min(left, step)):
                yield chunk
                left = None if left is None else left - len(chunk)
        finally:
            os.close(file)


def _split(path: str) -> list[str]:
    names = path.split("/")
    if any(name in ("", ".", "..") for name in names):
        raise ValueError(f"{path!r} leaves the tree")
    return names


_LOCKED = Finding(
    code="tree-locked",
    severity="error",
    place=Place("."),
    what="another poolwright is writing this tree",
    why="two writers at once would leave a mixture of both",
    fix="wait until it is done, then run this again",
)
