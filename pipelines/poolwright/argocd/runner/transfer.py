"""A repository on its way to the plugin: packed by the repo-server, unpacked by argocd-cmp-server."""

from __future__ import annotations

import gzip
import os
import re
import stat
import tarfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import file_digest
from typing import IO, Any

from poolwright.argocd.runner.go_glob import compile_match

_LEVEL = 6  # of gzip, as Go's


class TransferError(Exception):
    """The repository isn't sent, or isn't taken; the text is Argo CD's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """What was packed."""

    files: int
    folders: int
    links: int
    size_bytes: int  # of the regular files
    digest: str  # of the archive


def check_links(root: str, left_out: Sequence[str] = ()) -> None:
    """Refuse a repository with a link that is absolute or leaves it on its way; `.git` isn't looked at.

    left_out: paths that aren't there for Argo CD.
    Raises:   TransferError. Links that lead nowhere, or around in a circle, pass.
    """
    skipped = frozenset((".git", *left_out))
    for path, status in _walk(root, lambda path: path in skipped):
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(os.path.join(root, path))
            at = os.path.dirname(path)
            is_inside = not os.path.isabs(target)
            for name in target.split("/") if is_inside else ():
                at = os.path.normpath(os.path.join(at, name))
                is_inside = is_inside and at.split("/")[0] != ".."
            if not is_inside:
                raise TransferError(f"repository contains out-of-bounds symlinks. file: {path}")


def pack(root: str, archive: Any, *, excluded: Sequence[str] = (), left_out: Sequence[str] = ()) -> Packed:
    """Write a gzipped tar of a folder: regular files, folders and links, nothing else, in the order of their names.

    archive:  a file to write to, and to read back.
    excluded: patterns of plugin-tar-exclude, each matched with the whole path; a folder that matches goes with all in
              it.
    left_out: paths that aren't there for Argo CD.
    Raises:   TransferError for a bad pattern, or if no regular file is left; OSError for a file that can't be read.
    """
    matches = _compile(excluded)
    missing = frozenset(left_out)
    files = folders = links = size = 0
    with (
        gzip.GzipFile(fileobj=archive, mode="wb", compresslevel=_LEVEL, mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path, status in _walk(root, lambda path: path in missing or any(one.fullmatch(path) for one in matches)):
            entry = tarfile.TarInfo(path)
            entry.mode, entry.mtime = stat.S_IMODE(status.st_mode), int(status.st_mtime)
            full = os.path.join(root, path)
            if stat.S_ISDIR(status.st_mode):
                entry.type = tarfile.DIRTYPE
                folders += 1
                tar.addfile(entry)
            elif stat.S_ISLNK(status.st_mode):
                entry.type, entry.linkname = tarfile.SYMTYPE, os.readlink(full)
                links += 1
                tar.addfile(entry)
            elif stat.S_ISREG(status.st_mode):
                with open(full, "rb") as file:
                    entry.size = os.fstat(file.fileno()).st_size
                    tar.addfile(entry, file)
                files += 1
                size += entry.size
    if not files:
        raise TransferError(f"no files to send({root})")
    archive.seek(0)
    digest = file_digest(archive, "sha256").hexdigest()
    archive.seek(0)
    return Packed(files=files, folders=folders, links=links, size_bytes=size, digest=f"sha256:{digest}")


def unpack(archive: IO[bytes], folder: str, *, is_mode_kept: bool) -> None:
    """Unpack into an empty folder: files 0644 and folders 0755 unless modes are kept, links made relative.

    Raises: TransferError for an entry or a link that leaves the folder.
    """
    with tarfile.open(fileobj=archive, mode="r:gz") as tar:
        for entry in tar:
            target = os.path.normpath(os.path.join(folder, entry.name))
            if not target.startswith(f"{folder}/"):
                if entry.name in (".", "./"):
                    continue
                raise TransferError(f"illegal filepath in archive: {target}")
            if entry.isdir():
                os.makedirs(target, entry.mode if is_mode_kept else 0o755, exist_ok=True)
            elif entry.issym():
                _make_link(folder, target, entry.linkname)
            elif entry.isreg():
                os.makedirs(os.path.dirname(target), exist_ok=True)
                mode = entry.mode if is_mode_kept else 0o644
                source = tar.extractfile(entry)
                with os.fdopen(os.open(target, os.O_RDWR | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
                    while source and (piece := source.read(1 << 20)):
                        file.write(piece)


def _make_link(folder: str, target: str, leads_to: str) -> None:
    place = os.path.normpath(f"{os.path.dirname(target)}/{leads_to}")  # an absolute one ends up inside, too
    try:
        real = os.path.realpath(place, strict=True)
    except FileNotFoundError:
        real = place
    except OSError as error:
        raise TransferError(f"error checking symlink realpath: {error.strerror}: {leads_to}") from None
    if not real.startswith(f"{folder}/"):
        raise TransferError(f"illegal filepath in symlink: {place}")
    os.symlink(os.path.relpath(real, os.path.dirname(target)), target)


def secure_join(root: str, path: str) -> str:
    """A path below root, each link on the way taken as if root were the whole disk."""
    current, rest, left = "", path, 255
    while rest:
        name, _, rest = rest.partition("/")
        following = os.path.normpath(f"/{current}/{name}").replace("//", "/")
        full = root + following
        if following != "/" and os.path.islink(full):
            left -= 1
            if left < 0:
                raise TransferError(f"SecureJoin {root}/{path}: too many levels of symbolic links")
            leads_to = os.readlink(full)
            rest = f"{leads_to}/{rest}"
            if os.path.isabs(leads_to):
                current = ""
        else:
            current = following.strip("/")
    return os.path.join(root, current) if current else root


def _compile(patterns: Sequence[str]) -> list[re.Pattern[str]]:
    found = []
    for pattern in patterns:
        try:
            found.append(compile_match(pattern))
        except ValueError as error:
            where = "error compressing repo files: error creating app tgz file: error verifying exclusion pattern"
            raise TransferError(f'{where} "{pattern}": {error}') from None
    return found


def _walk(root: str, is_skipped: Callable[[str], bool]) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below a folder, names in byte order, a folder before what is in it; links aren't followed."""
    pending = sorted(os.listdir(root), key=os.fsencode, reverse=True)
    while pending:
        path = pending.pop()
        if is_skipped(path):
            continue
        status = os.lstat(os.path.join(root, path))
        yield path, status
        if stat.S_ISDIR(status.st_mode):
            names = sorted(os.listdir(os.path.join(root, path)), key=os.fsencode, reverse=True)
            pending += [f"{path}/{name}" for name in names]
