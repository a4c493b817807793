"""Which application gets which plugin: case 54, and what else a name can be."""

from __future__ import annotations

import pytest

from poolwright.argocd.runner.application import Application, PluginSource
from poolwright.argocd.runner.choose import NoPlugin, choose_plugin
from poolwright.argocd.runner.environment import Purpose
from poolwright.argocd.runner.plugin import Discovery, Plugin

GENERATE = ("cat",)
RENDER = Plugin(name="gpu-render", version="v1", generate=GENERATE, discovery=Discovery(file_name="gpu-pool.yaml"))
ANY = Plugin(name="gpu-render-any", generate=GENERATE, discovery=Discovery(command=("find",)))
NAMED = Plugin(name="named-only", version="v2", generate=GENERATE)
PLUGINS = (NAMED, ANY, RENDER)  # their sockets' names decide, not this order
NOT_FOUND = 'could not find cmp-server plugin with name "{}" supporting the given repository'
ELSEWHERE = "its source names no plugin, and no plugin's discovery matches its folder"


def app(plugin: PluginSource | None = None, *types: str) -> Application:
    return Application(name="app", plugin=plugin, types=types)


FOUND = {
    "pool": (app(), {"gpu-render-v1", "gpu-render-any"}, ANY),  # "gpu-render-any.sock" < "gpu-render-v1.sock"
    "pool-and-only-the-other-matches": (app(), {"gpu-render-v1"}, RENDER),
    "web": (app(), set(), NoPlugin(hint=ELSEWHERE)),
    "by-name": (app(PluginSource(name="named-only-v2")), set(), NAMED),
    "bad-name": (
        app(PluginSource(name="gpu-render")),
        {"gpu-render-v1"},
        NoPlugin(error=NOT_FOUND.format("gpu-render"), hint="the name is gpu-render-v1"),
    ),
    "named-no-match": (
        app(PluginSource(name="gpu-render-v1")),
        set(),
        NoPlugin(
            error=NOT_FOUND.format("gpu-render-v1"),
            hint="the plugin is there, and its discovery doesn't match the application's folder",
        ),
    ),
    "named-with-a-match": (app(PluginSource(name="gpu-render-v1")), {"gpu-render-v1"}, RENDER),
    "unknown-name": (
        app(PluginSource(name="helmfile")),
        set(),
        NoPlugin(
            error=NOT_FOUND.format("helmfile"),
            hint="there is no such plugin; there is: gpu-render-any, gpu-render-v1, named-only-v2",
        ),
    ),
    "a-plugin-without-a-name": (app(PluginSource()), {"gpu-render-v1"}, RENDER),
    # One without discovery has to be named.
    "a-plugin-without-a-name-and-no-match": (
        app(PluginSource()),
        set(),
        NoPlugin(error="could not find plugin supporting the given repository"),
    ),
    "another-type": (
        app(None, "directory"),
        {"gpu-render-v1"},
        NoPlugin(hint="its source says `directory`, so no plugin is asked"),
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_plugin_is_chosen(name: str) -> None:
    application, matching, chosen = FOUND[name]
    assert choose_plugin(application, PLUGINS, lambda plugin, _: plugin.socket_name in matching) == chosen


ASKED: dict[str, tuple[Application, list[tuple[str, Purpose]]]] = {
    "a-name-asks-one": (app(PluginSource(name="gpu-render-v1")), [("gpu-render-v1", "discover")]),
    "a-name-without-discovery-asks-nobody": (app(PluginSource(name="named-only-v2")), []),
    "no-name-asks-until-one-matches": (
        app(PluginSource()),
        [("gpu-render-any", "discover"), ("gpu-render-v1", "discover")],
    ),
    # Each question is a transfer of the repository: to learn what the source is, and again to render it.
    "no-section-asks-twice": (
        app(),
        [
            *(("gpu-render-any", "probe"), ("gpu-render-v1", "probe")),
            *(("gpu-render-any", "discover"), ("gpu-render-v1", "discover")),
        ],
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_who_is_asked(name: str) -> None:
    application, expected = ASKED[name]
    asked: list[tuple[str, Purpose]] = []

    def match(plugin: Plugin, purpose: Purpose) -> bool:
        asked.append((plugin.socket_name, purpose))
        return plugin is RENDER

    choose_plugin(application, PLUGINS, match)
    assert asked == expected


def test_why_discovery_failed_is_said() -> None:
    chosen = choose_plugin(app(PluginSource(name="gpu-render-v1")), PLUGINS, lambda *_: "rpc error")
    assert chosen == NoPlugin(error=NOT_FOUND.format("gpu-render-v1") + ": rpc error")
    chosen = choose_plugin(app(PluginSource()), PLUGINS, lambda *_: "rpc error")
    assert chosen == NoPlugin(error="could not find plugin supporting the given repository: rpc error")
