"""The earlier lock that `pin --plan --from` names: a file of any folder, which `poolwright pin` doesn't write."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from poolwright.files.project import MAX_LOCK_BYTES, read_file
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.lock import Lock, parse_lock
from poolwright.specs.place import Place
from poolwright.specs.version import parse_version

_RESTORE: Final = "name a lock that poolwright wrote: git show main:poolwright.lock > old.lock"


def read_earlier(path: str) -> Lock:
    """The lock of a file that somebody names.

    Raises: SpecError that names the file as it was given, if it is no lock or a version in it is none.
    """
    folder, name = os.path.split(path)
    try:
        lock = parse_lock(read_file(folder or ".", name, max_bytes=MAX_LOCK_BYTES)).value
    except SpecError as error:
        raise SpecError([_name_file(one, path) for one in error.findings]) from None
    if problems := [_refuse_version(path, *one) for one in _list_versions(lock) if not _is_version(one[1])]:
        raise SpecError(problems)
    return lock


def _name_file(finding: Finding, path: str) -> Finding:
    """A finding with the file as it was given, and without a remedy that mends only the project's own lock."""
    named = replace(finding, place=replace(finding.place, file=path))
    if finding.code == "file-unreadable":
        what = path + finding.what.removeprefix(os.path.split(path)[1])
        return replace(named, what=what, why="an upgrade plan starts from it", rule="", fix=_RESTORE)
    return replace(named, fix=_RESTORE) if "poolwright pin" in finding.fix else named


def _list_versions(lock: Lock) -> Iterator[tuple[str, str]]:
    """Versions with the field that each stands in."""
    for name, stack in lock.stacks.items():
        parts = {
            "kubernetes": stack.kubernetes,
            "gpuOperator": stack.gpu_operator,
            "gpuDriver": stack.gpu_driver,
            "containerRuntime": stack.container_runtime,
            "containerToolkit": stack.container_toolkit,
        }
        parts |= {f"draDrivers.{driver}": choice for driver, choice in stack.dra_drivers.items()}
        yield from ((f"stacks.{name}.{part}.version", one.version) for part, one in parts.items() if one)


def _is_version(text: str) -> bool:
    try:
        parse_version(text)
    except ValueError:
        return False
    return True


def _refuse_version(path: str, field: str, text: str) -> Finding:
    return Finding(
        code="lock-unreadable",
        severity="error",
        place=Place(path, field=field),
        what=f'"{text[:60]}" is no exact version',
        why="steps are put in the order of versions",
        rule="poolwright.dev/v1alpha1",
        fix=_RESTORE,
    )
