"""Which plugin renders an Application: the one that it names, or the first whose discovery matches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from poolwright.argocd.runner.application import Application
from poolwright.argocd.runner.environment import Purpose
from poolwright.argocd.runner.plugin import Plugin

# Whether a plugin's discovery matches the application's folder, or why that can't be told.
Match = Callable[[Plugin, Purpose], bool | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoPlugin:
    """Nothing renders it by plugin."""

    error: str = ""  # Argo CD's words; empty: it renders the source in another way
    hint: str = ""  # ours


def choose_plugin(application: Application, plugins: Sequence[Plugin], match: Match) -> Plugin | NoPlugin:
    """The plugin that Argo CD would take.

    plugins: those whose sidecars run beside the repo-server, in any order.
    """
    ordered = sorted(plugins, key=lambda one: f"{one.socket_name}.sock")
    if application.plugin is None:
        if application.types:
            return NoPlugin(hint=f"its source says `{application.types[0]}`, so no plugin is asked")
        return _probe(ordered, match)
    name = application.plugin.name
    if name:
        return _choose_named(name, ordered, match)
    return _choose_first(ordered, match, "discover")


def _probe(plugins: Sequence[Plugin], match: Match) -> Plugin | NoPlugin:
    """A source that says nothing: asked once to learn its type, and once more to render it."""
    if isinstance(_choose_first(plugins, match, "probe"), NoPlugin):
        return NoPlugin(hint="its source names no plugin, and no plugin's discovery matches its folder")
    return _choose_first(plugins, match, "discover")


def _choose_first(plugins: Sequence[Plugin], match: Match, purpose: Purpose) -> Plugin | NoPlugin:
    last = ""
    for plugin in plugins:
        if not plugin.discovery.is_configured:
            continue  # only an Application that names it gets it
        matched = match(plugin, purpose)
        if matched is True:
            return plugin
        last = matched if isinstance(matched, str) else ""
    words = "could not find plugin supporting the given repository"
    return NoPlugin(error=f"{words}: {last}" if last else words)


def _choose_named(name: str, plugins: Sequence[Plugin], match: Match) -> Plugin | NoPlugin:
    words = f'could not find cmp-server plugin with name "{name}" supporting the given repository'
    plugin = next((one for one in plugins if one.socket_name == name), None)
    if plugin is None:
        alike = [one.socket_name for one in plugins if name in (one.name, f"{one.name}-{one.version}", one.version)]
        known = ", ".join(one.socket_name for one in plugins) or "none"
        hint = f"the name is {alike[0]}" if alike else f"there is no such plugin; there is: {known}"
        return NoPlugin(error=words, hint=hint)
    if not plugin.discovery.is_configured:
        return plugin
    matched = match(plugin, "discover")
    if matched is True:
        return plugin
    if isinstance(matched, str):
        return NoPlugin(error=f"{words}: {matched}")
    return NoPlugin(error=words, hint="the plugin is there, and its discovery doesn't match the application's folder")
