"""The part of an Argo CD Application that decides what a plugin is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from poolwright.specs.document import Document, Plain
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import FieldPath

PATHS_ANNOTATION: Final = "argocd.argoproj.io/manifest-generate-paths"
_TYPES: Final = ("directory", "helm", "kustomize", "plugin")


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSource:
    """`source.plugin`, as the repo-server hands it on."""

    name: str = ""
    env: tuple[tuple[str, str], ...] = ()
    parameters: tuple[Mapping[str, object], ...] | None = None  # None: not given, which is sent as `null`


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """One Application, and the one of its sources that is rendered."""

    name: str
    namespace: str = ""  # of its destination
    project: str = ""
    repo_url: str = ""
    path: str = ""
    target_revision: str = ""
    types: tuple[str, ...] = ()  # those of `_TYPES` that the source names
    plugin: PluginSource | None = None
    generate_paths: str = ""  # the annotation, as it stands
    may_be_empty: bool = False  # syncPolicy.automated.allowEmpty
    source_number: int = 1
    source_count: int = 1


def is_application(document: Document) -> bool:
    """Whether a document of a file is one."""
    value = document.value
    return isinstance(value, dict) and value.get("kind") == "Application" and "spec" in value


def parse_application(document: Document) -> Application:
    """An Application; of several sources the one with a plugin.

    Raises: SpecError with the first field that Argo CD couldn't read, or if the sources don't decide.
    """
    reader = _Reader(document)
    spec = reader.mapping((), "spec")
    paths: list[FieldPath] = [("spec", "source")] if "source" in spec else []
    if not paths:
        paths = [("spec", "sources", index) for index, _ in enumerate(reader.sequence(("spec",), "sources"))]
    chosen = paths if len(paths) == 1 else [path for path in paths if "plugin" in reader.mapping(path[:-1], path[-1])]
    if len(chosen) != 1:
        what = "several sources, and not exactly one has a plugin" if paths else "it has no source"
        raise _refuse(document, ("spec",), what)
    at = chosen[0]
    automated = reader.mapping(("spec", "syncPolicy"), "automated")
    application = Application(
        name=reader.text(("metadata",), "name"),
        namespace=reader.text(("spec", "destination"), "namespace"),
        project=reader.text(("spec",), "project"),
        repo_url=reader.text(at, "repoURL"),
        path=reader.text(at, "path"),
        target_revision=reader.text(at, "targetRevision"),
        generate_paths=reader.text(("metadata", "annotations"), PATHS_ANNOTATION),
        may_be_empty=automated.get("allowEmpty") is True,
        source_number=paths.index(at) + 1,
        source_count=len(paths),
    )
    if not application.name:
        raise _refuse(document, ("metadata",), "metadata.name is empty")
    return _add_types(application, reader, at)


def override_source(application: Application, patch: Document) -> Application:
    """The Application with a `.argocd-source.yaml` of its folder merged in: who writes the repository sets it too.

    Repository, path and revision stay.
    """
    at = ("source",)
    merged = merge_patch(_plain_source(application), patch.value)
    document = msgspec.structs.replace(patch, value={"source": merged})
    return _add_types(application, _Reader(document), at)


def merge_patch(target: Plain, patch: Plain) -> Plain:
    """A JSON merge patch applied (RFC 7386)."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def _plain_source(application: Application) -> Plain:
    source: dict[str, Plain] = {name: {} for name in application.types if name != "plugin"}
    if application.plugin is not None:
        plugin: dict[str, Plain] = {"name": application.plugin.name}
        plugin["env"] = [{"name": name, "value": value} for name, value in application.plugin.env]
        if application.plugin.parameters is not None:
            plugin["parameters"] = [dict(one) for one in application.plugin.parameters]  # type: ignore[arg-type]
        source["plugin"] = plugin
    return source


def _add_types(application: Application, reader: _Reader, at: FieldPath) -> Application:
    source = reader.mapping(at[:-1], at[-1])
    types = tuple(name for name in _TYPES if isinstance(source.get(name), dict))
    if len(types) > 1:
        raise _refuse(reader.document, at, f"multiple application sources defined: {', '.join(types)}")
    plugin = None
    if "plugin" in types:
        where = (*at, "plugin")
        plugin = PluginSource(
            name=reader.text(where, "name"),
            env=tuple(
                (reader.text((*where, "env", index), "name"), reader.text((*where, "env", index), "value"))
                for index, _ in enumerate(reader.sequence(where, "env"))
            ),
            parameters=_read_parameters(reader, where),
        )
    return replace(application, types=types, plugin=plugin)


def _read_parameters(reader: _Reader, at: FieldPath) -> tuple[Mapping[str, object], ...] | None:
    if reader.mapping(at[:-1], at[-1]).get("parameters") is None:
        return None
    found = []
    for index, _ in enumerate(reader.sequence(at, "parameters")):
        where = (*at, "parameters", index)
        given = reader.mapping(where[:-1], index)
        parameter: dict[str, object] = {"name": reader.text(where, "name")}
        if given.get("string") is not None:
            parameter["string"] = reader.text(where, "string")
        if given.get("map") is not None:
            names = reader.mapping(where, "map")
            parameter["map"] = {name: reader.text((*where, "map"), name) for name in names}
        if given.get("array") is not None:
            items = reader.sequence(where, "array")
            parameter["array"] = [reader.text((*where, "array"), index) for index, _ in enumerate(items)]
        found.append(parameter)
    return tuple(found)


class _Reader:
    """Fields of a document by type; what isn't there is empty, and what is of another type is refused."""

    def __init__(self, document: Document) -> None:
        self.document = document

    def mapping(self, above: FieldPath, name: str | int) -> dict[str, Plain]:
        value = self._find((*above, name))
        if not isinstance(value, dict | None):
            raise _refuse(self.document, (*above, name), f"{name} isn't a mapping")
        return value or {}

    def sequence(self, above: FieldPath, name: str | int) -> list[Plain]:
        value = self._find((*above, name))
        if not isinstance(value, list | None):
            raise _refuse(self.document, (*above, name), f"{name} isn't a list")
        return value or []

    def text(self, above: FieldPath, name: str | int) -> str:
        value = self._find((*above, name))
        if not isinstance(value, str | None):
            raise _refuse(self.document, (*above, name), f"{name} isn't a string")
        return value or ""

    def _find(self, path: FieldPath) -> Plain:
        value = self.document.value
        for step in path:
            if isinstance(step, str) and isinstance(value, dict):
                value = value.get(step)
            elif isinstance(step, int) and isinstance(value, list):
                value = value[step]
            else:
                return None
        return value


def _refuse(document: Document, path: FieldPath, what: str) -> SpecError:
    return SpecError(
        [
            Finding(
                code="cmp-application-invalid",
                severity="error",
                place=document.place(path),
                what=what,
                why="Argo CD couldn't say from it what to render",
                rule="argoproj.io/v1alpha1",
                fix="give an Application that Argo CD accepts, with one source that a plugin renders",
            )
        ]
    )
