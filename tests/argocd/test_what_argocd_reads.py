"""plugin.yaml and Applications as Argo CD reads them."""

from __future__ import annotations

import pytest

from poolwright.argocd.runner.application import Application, PluginSource, override_source, parse_application
from poolwright.argocd.runner.plugin import Discovery, Plugin, parse_plugin
from poolwright.specs.document import Document, parse_documents
from poolwright.specs.finding import SpecError, render_text

FULL = b"""\
apiVersion: whatever/v9
kind: ConfigManagementPlugin
metadata: {name: full, labels: {a: b}}
spec:
  version: v1.0
  lockRepo: true
  init: {command: [sh, -c], args: ["true"]}
  Generate: {command: [cat], args: [a.yaml]}
  discover:
    fileName: a.yaml
    find: {glob: "**/a.yaml", command: [find], args: [.]}
  preserveFileMode: true
"""
PLUGINS = {
    "everything-and-what-it-does-not-know": (
        FULL,
        Plugin(
            name="full",
            version="v1.0",
            init=("sh", "-c", "true"),
            generate=("cat", "a.yaml"),
            discovery=Discovery(file_name="a.yaml", glob="**/a.yaml", command=("find", ".")),
            is_mode_kept=True,
        ),
    ),
    "the-least": (
        b"kind: ConfigManagementPlugin\nmetadata: {name: a}\nspec: {generate: {command: [b]}}",
        Plugin(name="a", generate=("b",)),
    ),
    "arguments-without-a-command-are-none": (
        b"kind: ConfigManagementPlugin\nmetadata: {name: a}\nspec: {generate: {command: [b]}, init: {args: [c]}}",
        Plugin(name="a", generate=("b",)),
    ),
}


@pytest.mark.parametrize("name", PLUGINS)
def test_a_plugin(name: str) -> None:
    text, plugin = PLUGINS[name]
    assert parse_plugin(text, "plugin.yaml") == plugin


WHY = """\
  why  argocd-cmp-server doesn't start with it, so no application finds the plugin (Argo CD, config management plugins)
  fix  start from pipelines/argocd/plugin.yaml: kind ConfigManagementPlugin, a metadata.name, a spec.generate.command
"""
BAD_PLUGINS = {
    "without-a-name": (b"kind: ConfigManagementPlugin\nspec: {generate: {command: [b]}}", "metadata.name is empty"),
    "of-another-kind": (b"kind: Plugin\nmetadata: {name: a}", "kind isn't ConfigManagementPlugin"),
    "without-a-command": (
        b"kind: ConfigManagementPlugin\nmetadata: {name: a}\nspec: {generate: {args: [b]}}",
        "spec.generate.command is empty",
    ),
    "a-command-that-is-a-text": (
        b"kind: ConfigManagementPlugin\nmetadata: {name: a}\nspec: {generate: {command: b}}",
        "command is of another type than Argo CD reads",
    ),
    "empty": (b"", "metadata.name is empty"),
}


@pytest.mark.parametrize("name", BAD_PLUGINS)
def test_a_plugin_that_does_not_start(name: str) -> None:
    text, what = BAD_PLUGINS[name]
    with pytest.raises(SpecError) as refused:
        parse_plugin(text, "plugin.yaml")
    assert render_text(refused.value.findings) == f"plugin.yaml: {what}  [cmp-plugin-invalid]\n{WHY}"


def read(text: str) -> Document:
    (document,) = parse_documents(text.encode(), "app.yaml")
    return document


HEAD = "kind: Application\nmetadata: {name: a}\n"
APPLICATIONS = {
    "everything": (
        """\
kind: Application
metadata:
  name: a
  annotations: {argocd.argoproj.io/manifest-generate-paths: ".;/base"}
spec:
  project: p
  destination: {namespace: n, name: lab}
  syncPolicy: {automated: {prune: true, allowEmpty: true}}
  source:
    repoURL: https://git.example.com/r.git
    path: apps/a
    targetRevision: main
    plugin:
      name: poolwright
      env: [{name: X, value: "1"}]
      parameters:
      - {name: s, string: ""}
      - {name: m, map: {k: v}}
      - {name: l, array: []}
""",
        Application(
            name="a",
            namespace="n",
            project="p",
            repo_url="https://git.example.com/r.git",
            path="apps/a",
            target_revision="main",
            types=("plugin",),
            plugin=PluginSource(
                name="poolwright",
                env=(("X", "1"),),
                parameters=({"name": "s", "string": ""}, {"name": "m", "map": {"k": "v"}}, {"name": "l", "array": []}),
            ),
            generate_paths=".;/base",
            may_be_empty=True,
        ),
    ),
    "no-plugin": (HEAD + "spec: {source: {path: x}}", Application(name="a", path="x")),
    "an-empty-section": (
        HEAD + "spec: {source: {plugin: {}}}",
        Application(name="a", types=("plugin",), plugin=PluginSource()),
    ),
    "of-several-the-one-with-a-plugin": (
        HEAD + "spec: {sources: [{chart: c}, {path: x, plugin: {}}]}",
        Application(name="a", path="x", types=("plugin",), plugin=PluginSource(), source_number=2, source_count=2),
    ),
}


@pytest.mark.parametrize("name", APPLICATIONS)
def test_an_application(name: str) -> None:
    text, application = APPLICATIONS[name]
    assert parse_application(read(text)) == application


BAD_APPLICATIONS = {
    "without-a-source": (HEAD + "spec: {}", "app.yaml:3:7: it has no source"),
    "several-with-a-plugin": (
        HEAD + "spec: {sources: [{plugin: {}}, {plugin: {}}]}",
        "app.yaml:3:7: several sources, and not exactly one has a plugin",
    ),
    "without-a-name": ("kind: Application\nspec: {source: {}}", "app.yaml:1:1: metadata.name is empty"),
    "two-types": (
        HEAD + "spec: {source: {plugin: {}, directory: {}}}",
        "app.yaml:3:16: multiple application sources defined: directory, plugin",
    ),
    "a-number-for-a-text": (
        HEAD + "spec: {source: {plugin: {parameters: [{name: n, string: 1}]}}}",
        "app.yaml:3:57: string isn't a string",
    ),
}


@pytest.mark.parametrize("name", BAD_APPLICATIONS)
def test_an_application_that_cannot_be_read(name: str) -> None:
    text, what = BAD_APPLICATIONS[name]
    with pytest.raises(SpecError) as refused:
        parse_application(read(text))
    (finding,) = refused.value.findings
    assert f"{finding.place}: {finding.what}" == what


OVERRIDES = {
    "a-list-is-replaced": (
        "plugin: {parameters: [{name: unit, string: b}]}",
        PluginSource(name="poolwright", parameters=({"name": "unit", "string": "b"},)),
    ),
    "null-removes": ("plugin: {parameters: null}", PluginSource(name="poolwright")),
    "a-variable-is-added": (
        "plugin: {env: [{name: X, value: y}]}",
        PluginSource(name="poolwright", env=(("X", "y"),), parameters=({"name": "unit", "string": "a"},)),
    ),
    "the-name-too": ("plugin: {name: other, parameters: []}", PluginSource(name="other", parameters=())),
    "not-the-path": (
        "path: elsewhere",
        PluginSource(name="poolwright", parameters=({"name": "unit", "string": "a"},)),
    ),
}


@pytest.mark.parametrize("name", OVERRIDES)
def test_a_file_of_the_repository_overrides_the_source(name: str) -> None:
    text, plugin = OVERRIDES[name]
    source = "spec: {source: {path: x, plugin: {name: poolwright, parameters: [{name: unit, string: a}]}}}"
    application = override_source(parse_application(read(HEAD + source)), read(text))
    assert application == Application(name="a", path="x", types=("plugin",), plugin=plugin)
