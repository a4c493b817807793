"""A unit built by real Kustomize with its team's own component, in a tree of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from poolwright.catalog.closure import BaseClosure, UnitClosure
from poolwright.files.custom import Custom
from poolwright.kustomize.build import BuildOutput, build
from poolwright.kustomize.find import Kustomize, KustomizeError, explain_room
from poolwright.kustomize.process import Limits
from poolwright.kustomize.references import check_references
from poolwright.kustomize.room import Room, RoomError
from poolwright.trees.tree import build_folder

# What a team wrote may be meant to take long or much. A unit with a component takes 0.2 s and 90 MiB.
_LIMITS = Limits(time_s=15, cpu_s=8, memory_bytes=320 << 20)


def build_custom(kustomize: Kustomize, closure: UnitClosure, custom: Custom) -> BuildOutput | KustomizeError:
    """What Kustomize builds of the unit with the component, or why it doesn't.

    closure: of the unit, with the component's digest.
    Refuses: what `build` does, and a component that refers to anything outside its own folder: the unit follows from
             its closure alone.
    Cost:    a start of the program.
    """
    try:
        return _build_in_room(kustomize, closure, custom)
    except RoomError as error:
        return explain_room(error)


def build_alone(kustomize: Kustomize, closure: UnitClosure) -> BuildOutput | KustomizeError:
    """What Kustomize builds of the unit as if it had no component."""
    with Room() as room:
        folder = _write_unit(Path(room.folder), msgspec.structs.replace(closure, custom=None))
        return build(kustomize, Path(room.folder), folder)


def _build_in_room(kustomize: Kustomize, closure: UnitClosure, custom: Custom) -> BuildOutput | KustomizeError:
    with Room() as room:
        tree = Path(room.folder)
        folder = _write_unit(tree, closure)
        _write(tree / custom.path, custom.files)
        refused = check_references(tree / custom.path, ".")
        if refused is not None:
            return KustomizeError(reason=f"{custom.path}: {refused.reason}", fix=refused.fix)
        return build(kustomize, tree, folder, limits=_LIMITS)


def _write_unit(tree: Path, closure: UnitClosure) -> str:
    """Write the unit's folder and its base; the folder's path."""
    base = BaseClosure(render_format=closure.render_format, envelope=closure.envelope)
    folder = build_folder(closure)
    for rendered in (build_folder(base), folder):
        _write(tree / rendered.path, rendered.files)
    return folder.path


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
