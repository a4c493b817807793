"""A ConfigManagementPlugin file, read as argocd-cmp-server reads it: what it doesn't know it passes over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from poolwright.specs.document import Plain, parse_documents
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place

KIND: Final = "ConfigManagementPlugin"
_RULE: Final = "Argo CD, config management plugins"


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What makes a plugin match; of several the first in this order is asked, and the others aren't."""

    file_name: str = ""
    glob: str = ""
    command: tuple[str, ...] = ()

    @property
    def is_configured(self) -> bool:
        """Whether there is any."""
        return bool(self.file_name or self.glob or self.command)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """One sidecar's plugin. A command is its words and then its arguments; no shell reads them."""

    name: str
    version: str = ""
    generate: tuple[str, ...]
    init: tuple[str, ...] = ()
    discovery: Discovery = Discovery()
    is_mode_kept: bool = False
    dynamic_parameters: tuple[str, ...] = ()
    static_parameters: tuple[Mapping[str, Plain], ...] = ()  # as the file has them

    @property
    def socket_name(self) -> str:
        """What an Application has to call it."""
        return f"{self.name}-{self.version}" if self.version else self.name


# What pipelines/argocd/plugin.yaml says, for whoever installed only the package; a test compares the two.
BUILT_IN: Final = Plugin(
    name="poolwright",
    generate=("poolwright", "generate", "--argocd"),
    dynamic_parameters=("poolwright", "cmp", "announce-parameters"),
)


def parse_plugin(text: bytes, file: str) -> Plugin:
    """The plugin that a file describes.

    file:   the name that findings carry.
    Raises: SpecError where argocd-cmp-server wouldn't start, or for a field that it couldn't read.
    """
    documents = parse_documents(text, file)
    value = documents[0].value if documents else None
    root = value if isinstance(value, dict) else {}
    metadata, spec = _mapping(root, "metadata"), _mapping(root, "spec")
    discover, parameters = _mapping(spec, "discover"), _mapping(spec, "parameters")
    find = _mapping(discover, "find")
    try:
        plugin = Plugin(
            name=_text(metadata, "name"),
            version=_text(spec, "version"),
            generate=_command(_mapping(spec, "generate")),
            init=_command(_mapping(spec, "init")),
            discovery=Discovery(
                file_name=_text(discover, "fileName"), glob=_text(find, "glob"), command=_command(find)
            ),
            is_mode_kept=_get(spec, "preserveFileMode") is True,
            dynamic_parameters=_command(_mapping(parameters, "dynamic")),
            static_parameters=tuple(one for one in _list(parameters, "static") if isinstance(one, dict)),
        )
    except _KindError as error:
        raise _refuse(file, f"{error} is of another type than Argo CD reads") from None
    if not plugin.name:
        raise _refuse(file, "metadata.name is empty")
    if _get(root, "kind") != KIND:
        raise _refuse(file, f"kind isn't {KIND}")
    if not _mapping(spec, "generate") or not _words(_mapping(spec, "generate"), "command"):
        raise _refuse(file, "spec.generate.command is empty")
    return plugin


class _KindError(Exception):
    """A value of another type; says which."""


def _get(mapping: dict[str, Plain], name: str) -> Plain:
    """A value by its name; without one of exactly that name, by one that differs in case, as Go reads JSON."""
    if name in mapping:
        return mapping[name]
    return next((value for key, value in mapping.items() if key.lower() == name.lower()), None)


def _mapping(mapping: dict[str, Plain], name: str) -> dict[str, Plain]:
    value = _get(mapping, name)
    return value if isinstance(value, dict) else {}


def _text(mapping: dict[str, Plain], name: str) -> str:
    value = _get(mapping, name)
    if isinstance(value, list | dict):
        raise _KindError(name)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _command(mapping: dict[str, Plain]) -> tuple[str, ...]:
    """The words of `command` and `args`; none without `command`, whatever `args` says."""
    words = _words(mapping, "command")
    return (*words, *_words(mapping, "args")) if words else ()


def _words(mapping: dict[str, Plain], name: str) -> tuple[str, ...]:
    return tuple(_text({"": word}, "") for word in _list(mapping, name))


def _list(mapping: dict[str, Plain], name: str) -> list[Plain]:
    value = _get(mapping, name)
    if not isinstance(value, list | None):
        raise _KindError(name)
    return value or []


def _refuse(file: str, what: str) -> SpecError:
    return SpecError(
        [
            Finding(
                code="cmp-plugin-invalid",
                severity="error",
                place=Place(file),
                what=what,
                why="argocd-cmp-server doesn't start with it, so no application finds the plugin",
                rule=_RULE,
                fix=f"start from pipelines/argocd/plugin.yaml: kind {KIND}, a metadata.name, a spec.generate.command",
            )
        ]
    )
