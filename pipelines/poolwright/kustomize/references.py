"""What a kustomization refers to, read before Kustomize reads it: nothing may be fetched, run, or lie elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from poolwright.kustomize.find import KustomizeError
from poolwright.specs.finding import escape_controls


def check_references(tree: Path, folder: str) -> KustomizeError | None:
    """The first reason not to build a folder: one it refers to through others counts too.

    tree:    what may be referred to.
    folder:  relative to tree, with forward slashes.
    Refuses: URLs and Git repositories, in every field that Kustomize loads something from; folders outside the tree,
             by `..` or by a link; fields that run programs (generators, transformers, validators, Helm charts) and
             those it doesn't know; a file that can't be read the one way.
    Leaves:  to Kustomize what is merely wrong. A file outside its folder is one such: it refuses that by itself.
    """
    root = os.path.realpath(tree)
    waiting, seen = [f"{root}/{folder}"], set[str]()
    while waiting:
        # Kustomize joins a reference to its folder's real place, as text, and then follows links.
        at = os.path.realpath(os.path.normpath(waiting.pop()))
        name = os.path.relpath(at, root)
        if name == ".." or name.startswith("../"):
            return KustomizeError(reason=f"{_show(name)} is outside the tree", fix="copy what is there into the tree")
        if at in seen:
            continue
        seen.add(at)
        for file_name in _FILE_NAMES:
            references = _read_folders(Path(at, file_name), os.path.normpath(f"{name}/{file_name}"))
            if isinstance(references, KustomizeError):
                return references
            waiting += (f"{at}/{reference}" for reference in references)
    return None


_FILE_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_FILE_BYTES = 1 << 20

# Every field of a kustomization that may be there, in lower case: Kustomize takes any.
_FOLDERS = frozenset({"resources", "bases", "components"})
# The keys of a field's items under which file names stand; the item itself where there are none.
_FILES: Mapping[str, tuple[str, ...]] = {
    "configmapgenerator": ("files", "envs", "env"),
    "configurations": (),
    "crds": (),
    "openapi": ("path",),
    "patches": ("path",),
    "patchesjson6902": ("path",),
    "patchesstrategicmerge": (),
    "replacements": ("path",),
    "secretgenerator": ("files", "envs", "env"),
}
_VALUES = frozenset(
    {"apiversion", "buildmetadata", "commonannotations", "commonlabels", "generatoroptions", "images", "kind", "labels"}
    | {"metadata", "nameprefix", "namespace", "namesuffix", "replicas", "sortoptions", "vars"}
)


class _Loader(yaml.CSafeLoader):
    """Refuses what Kustomize would read in another way: `!!binary` (it takes the text encoded there) and merges."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Leave a merge as it stands: nothing can be made of its key, so it is an error."""


def _refuse(_: _Loader, node: yaml.Node) -> None:
    raise yaml.constructor.ConstructorError(None, None, "binary", node.start_mark)


_Loader.add_constructor("tag:yaml.org,2002:binary", _refuse)


def _read_folders(file: Path, shown: str) -> list[str] | KustomizeError:
    """The folders that a kustomization builds on; none if there is no such file."""
    if not file.is_file():
        return []
    with file.open("rb") as opened:
        text = opened.read(_FILE_BYTES + 1)
    try:
        document = yaml.load(text, Loader=_Loader) if len(text) <= _FILE_BYTES else None  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError):
        document = None
    if not isinstance(document, Mapping):
        fix = "write it as one, of at most 1 MiB, without tags and merges"
        return KustomizeError(reason=f"{_show(shown)} isn't a plain YAML mapping", fix=fix)
    return _check_fields(document, shown) or [
        text
        for field, value in _lower_keys(document)
        if field in _FOLDERS
        for text in _list_items(value)
        if isinstance(text, str)
    ]


def _check_fields(document: Mapping[object, object], shown: str) -> KustomizeError | None:
    for field, value in _lower_keys(document):
        if field in _VALUES:
            continue
        if field not in _FOLDERS and field not in _FILES:
            return KustomizeError(
                reason=f"{_show(shown)}: `{_show(field)}` isn't a field that Poolwright lets Kustomize act on",
                fix="remove it, or write out what it makes as resources",
            )
        is_remote = _is_repository if field in _FOLDERS else _is_url
        for text in _list_loaded(field, value):
            if not isinstance(text, str):
                return KustomizeError(reason=f"{_show(shown)}: `{field}` needs a path", fix="write it as a text")
            if is_remote(text):
                return KustomizeError(
                    reason=f"{_show(shown)}: `{field}` refers to {_show(text)}, which would be fetched",
                    fix="copy what is there into the tree, and refer to the copy by a relative path",
                )
    return None


def _list_loaded(field: str, value: object) -> Iterator[object]:
    for item in _list_items(value):
        if not _FILES.get(field):
            yield item
        elif isinstance(item, Mapping):
            for key, texts in _lower_keys(item):
                if key in _FILES[field]:
                    yield from _list_items(texts)


def _list_items(value: object) -> Iterator[object]:
    if isinstance(value, list):
        yield from value
    elif value is not None:
        yield value


def _lower_keys(mapping: Mapping[object, object]) -> Iterator[tuple[str, object]]:
    return ((str(key).lower(), value) for key, value in mapping.items())


def _is_url(text: str) -> bool:
    """True for what Kustomize fetches in place of a file. A generator's file may have a name in front: `key=path`."""
    return any(part.strip().lower().startswith(("http:", "https:")) for part in (text, text.rpartition("=")[2]))


def _is_repository(text: str) -> bool:
    """True for what any Kustomize might take for a Git repository or URL. A folder's path needs none of these."""
    return any(mark in text for mark in (":", "@", "?", "//")) or text.strip().lower().startswith("github.com")


def _show(text: str) -> str:
    return escape_controls(text)[:200]
