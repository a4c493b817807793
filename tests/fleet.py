"""The example fleet and a small one for tests: their files in memory, edits, and what they load and render to."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

import yaml

from folders import read_files, write_files
from poolwright.admission.claimed import bound_claim
from poolwright.catalog.closure import Closure, EnvelopeClosure, PlatformClosure, UnitClosure
from poolwright.catalog.facts import Facts
from poolwright.catalog.units import build_closure, build_closures
from poolwright.cli.complete import complete_closures, render_workload
from poolwright.files.facts import read_facts
from poolwright.objects.kubernetes import Object
from poolwright.specs.canonical import canonical_json
from poolwright.specs.digest import Digest, digest_folder
from poolwright.specs.document import Document, iterate_nodes, parse_documents
from poolwright.specs.model import plain_spec
from poolwright.specs.parse import parse_specs
from poolwright.specs.place import FieldPath
from poolwright.specs.unit_specs import parse_platform_specs, parse_unit_specs
from poolwright.trees.folder import MANIFEST_NAME
from poolwright.trees.manifest import build_manifest, render_manifest
from poolwright.trees.tree import build_folder

ROOT = Path(__file__).parent.parent
FLEET = ROOT / "examples" / "fleet"
SMALL_FLEET = Path(__file__).parent / "small_fleet"  # one cluster, one pool, one model in two versions
# Files of the small one.
PROJECT = "poolwright.yaml"
STACK = "specs/stack.yaml"
POOL = "specs/pool.yaml"
ENVELOPE = "specs/envelopes/chat-70b/2.3.0.yaml"
NEXT_ENVELOPE = "specs/envelopes/chat-70b/2.4.0.yaml"
PLACEMENTS = "specs/placements.yaml"
CONFIG = "models/llama-3.3-70b-fp8/config.json"
FACTS = read_facts()

Files = Mapping[str, bytes]  # by path from the project


def read_fleet() -> dict[str, bytes]:
    """Every file of the example but the rendered tree."""
    return {path: data for path, data in read_files(FLEET).items() if not path.startswith("overlays/")}


def read_small_fleet() -> dict[str, bytes]:
    """Every file of the small one."""
    return read_files(SMALL_FLEET)


def copy_small_fleet(folder: Path) -> Path:
    """A copy of the small one as `folder`/fleet, rendered."""
    return write_files(folder / "fleet", {**read_small_fleet(), **render_small_tree()})


@cache
def render_small_tree() -> Mapping[str, bytes]:
    """What `render` writes for the small one; rendered once."""
    return render_tree(read_small_fleet())


def copy_fleet(folder: Path) -> Path:
    """A copy of the whole example, its rendered tree too, as `folder`/fleet."""
    return Path(shutil.copytree(FLEET, folder / "fleet"))


def edit(files: Files, path: str, *changes: tuple[str, str]) -> dict[str, bytes]:
    """The files with texts of one replaced; each must stand there, and every occurrence counts."""
    text = files[path].decode()
    for old, new in changes:
        assert old in text, f"{path} has no {old!r}"
        text = text.replace(old, new)
    return {**files, path: text.encode()}


def is_spec(path: str) -> bool:
    """Whether a file is read as specs."""
    return path == PROJECT or (path.startswith("specs/") and path.endswith((".yaml", ".yml")))


def list_specs(files: Files) -> dict[str, bytes]:
    """The files that hold specs."""
    return {path: data for path, data in files.items() if is_spec(path)}


def list_rehearsals(files: Files) -> dict[str, bytes]:
    """The files that hold records."""
    return {path: data for path, data in files.items() if path.startswith("rehearsals/") and path.endswith(".yaml")}


def load_closures(files: Files) -> tuple[Closure, ...]:
    """Every closure of the project, as `check` and `render` load it."""
    return _complete(build_closures(parse_specs(list_specs(files)), files, FACTS), files)


def load_unit(files: Files, cluster: str, unit: str, facts: Facts = FACTS) -> UnitClosure | PlatformClosure:
    """One unit's closure, as `generate` loads it: specs of other units aren't looked at.

    Raises: SpecError, or LookupError if the cluster has no such unit.
    """
    specs = list_specs(files)
    found = parse_platform_specs(specs, cluster) if unit == "platform" else parse_unit_specs(specs, cluster, unit)
    closure = build_closure(found, cluster, unit, files, facts)
    if closure is None:
        raise LookupError(f"no unit {cluster}/{unit}")
    (closure,) = _complete((closure,), files)
    return closure


C = TypeVar("C", bound=Closure)
_workloads: dict[bytes, Object] = {}  # by template and envelope: a child process renders each of them once


def _complete(closures: tuple[C, ...], files: Files) -> tuple[C, ...]:
    return complete_closures(
        (bound_claim(closure, files, FACTS) for closure in closures),
        lambda envelope: render_once(envelope, files),
        lambda unit: custom_digest(files, unit),
    )


def render_once(envelope: EnvelopeClosure, files: Files) -> Object:
    """What the envelope's template gives; of one that gave it before the same again."""
    assert envelope.spec.engine.template is not None
    key = canonical_json([plain_spec(envelope), files[envelope.spec.engine.template].decode("utf-8", "replace")])
    if key not in _workloads:
        _workloads[key] = render_workload(envelope, files)
    return _workloads[key]


def custom_digest(files: Files, unit: str) -> Digest | None:
    """The digest of the component that a unit's team has in custom/."""
    top = f"custom/{unit}/"
    own = {path.removeprefix(top): data for path, data in files.items() if path.startswith(top)}
    return digest_folder(own) if own else None


def load_placement(files: Files, cluster: str, unit: str) -> UnitClosure:
    """The closure of a placement's unit."""
    closure = load_unit(files, cluster, unit)
    assert isinstance(closure, UnitClosure)
    return closure


def render_tree(files: Files) -> dict[str, bytes]:
    """What `render` writes for the project, manifests included, by path from the project."""
    tree: dict[str, bytes] = {}
    for closure in load_closures(files):
        folder = build_folder(closure)
        tree |= {f"{folder.path}/{name}": data for name, data in folder.files.items()}
        tree[f"{folder.path}/{MANIFEST_NAME}"] = render_manifest(build_manifest(folder))
    return tree


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value that stands in a spec file."""

    file: str
    kind: str
    path: FieldPath
    text: str  # without quotes
    start: int  # characters from the start of the file
    end: int

    @property
    def field(self) -> str:
        """The field with its kind, list positions left out: `Pool.spec.deviceClasses.name`."""
        return ".".join((self.kind, *(step for step in self.path if isinstance(step, str))))


def list_scalars(files: Files) -> Iterator[Scalar]:
    """Every scalar value of every spec, in order of file and place."""
    for file, data in list_specs(files).items():
        lines = data.decode().splitlines(keepends=True)
        starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
        for document in parse_documents(data, file):
            yield from _scalars_of(document, starts)


def _scalars_of(document: Document, starts: list[int]) -> Iterator[Scalar]:
    for path, node in iterate_nodes(document.root):
        if isinstance(node, yaml.ScalarNode):
            start, end = (starts[mark.line] + mark.column for mark in (node.start_mark, node.end_mark))
            yield Scalar(document.file, document.scalar_text(("kind",)), path, node.value, start, end)


def write_scalars(files: Files, changes: Mapping[Scalar, str]) -> dict[str, bytes]:
    """The files with only these values' texts replaced; in double quotes, unless the new one is a number or true."""
    texts = {scalar.file: files[scalar.file].decode() for scalar in changes}
    for scalar in sorted(changes, key=lambda scalar: scalar.start, reverse=True):
        text, new = texts[scalar.file], changes[scalar]
        written = (
            new
            if new.isdecimal() or new in ("true", "false")
            else '"' + new.replace("\\", "\\\\").replace('"', '\\"') + '"'
        )
        # A block text ends where the next line's first word stands.
        tail = "" if "\n" not in text[scalar.start : scalar.end] else "\n" + " " * _indent(text, scalar.end)
        texts[scalar.file] = text[: scalar.start] + written + tail + text[scalar.end :]
    return {**files, **{file: text.encode() for file, text in texts.items()}}


def _indent(text: str, at: int) -> int:
    return at - (text.rfind("\n", 0, at) + 1)
