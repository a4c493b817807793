"""What a folder may refer to: nothing that is fetched, that runs, or that lies outside the tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from poolwright.kustomize.build import BuildOutput, build
from poolwright.kustomize.find import Kustomize, find_kustomize
from poolwright.kustomize.references import check_references

CONFIG_MAP = "apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  name: x\n"

ALLOWED = {
    "files-and-folders": "resources: [x.yaml, ../base]\ncomponents: [../part]\n",
    "addresses-in-values": (
        "resources: [x.yaml]\n"
        "commonAnnotations: {home: 'https://example.com'}\n"
        "configMapGenerator: [{name: made, literals: ['URL=https://example.com/?ref=1'], files: [k=x.yaml]}]\n"
        "patches: [{target: {kind: ConfigMap}, patch: '- {op: add, path: /data/u, value: \"http://a\"}'}]\n"
    ),
    "what-is-merely-wrong": "resources: [no-such-file.yaml]\npatches: [{path: ../../elsewhere.yaml}]\n",
    "a-circle": "resources: [../on]\n",
    "nothing": "resources:\n",
}
FETCHED = [
    "http://example.com/x.yaml",
    "HTTPS://example.com/x.yaml",
    " https://example.com/x.yaml",
    "https://github.com/org/repo//base?ref=v1",
    "git@github.com:org/repo.git",
    "git@example.com:org/repo",
    "ssh://git@example.com/org/repo",
    "git::https://example.com/org/repo",
    "file:///etc/repo",
    "github.com/org/repo",
    "GitHub.com/org/repo/base",
    "gh:org/repo",
    "example.com:org/repo",
    "../base?ref=v1",
    "base//part",
]
FILE_FIELDS = {
    "patches": "patches: [{{path: {0}}}]",
    "patches-in-capitals": "Patches: [{{PATH: {0}}}]",
    "json-patches": "patchesJson6902: [{{target: {{kind: X}}, path: {0}}}]",
    "merge-patches": "patchesStrategicMerge: [{0}]",
    "replacements": "replacements: [{{path: {0}}}]",
    "configurations": "configurations: [{0}]",
    "crds": "crds: [{0}]",
    "openapi": "openapi: {{path: {0}}}",
    "a-generator's-file": "configMapGenerator: [{{name: x, files: [{0}]}}]",
    "a-generator's-file-with-a-name": "configMapGenerator: [{{name: x, files: ['k={0}']}}]",
    "a-generator's-variables": "secretGenerator: [{{name: x, envs: [{0}]}}]",
    "a-generator's-one-file-of-variables": "secretGenerator: [{{name: x, env: {0}}}]",
}
UNREAD = {
    "two-documents": "resources: []\n---\nresources: [http://example.com]\n",
    "a-list": "[resources]",
    "no-yaml": "resources: [",
    "encoded": "resources: [!!binary aHR0cDovL2V4YW1wbGUuY29t]\n",
    "an-ordered-mapping": "resources: !!omap [http://example.com]\n",
    "merged": "<<: {resources: [http://example.com]}\n",
    "too-large": "# " + "x" * (1 << 20) + "\nresources: []\n",
    "not-text": "resources: [\x00]\n",
}
RUNS = [
    "generators",
    "transformers",
    "validators",
    "helmCharts",
    "helmGlobals",
    "helmChartInflationGenerator",
    "unknown",
]


def write_tree(root: Path, text: str, name: str = "kustomization.yaml") -> Path:
    """A tree whose folder `on` has this kustomization."""
    files = {
        "on/x.yaml": CONFIG_MAP,
        f"on/{name}": text,
        "base/kustomization.yml": "resources: [y.yaml]\n",
        "base/y.yaml": CONFIG_MAP.replace("name: x", "name: y"),
        "part/Kustomization": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamespace: here\n",
    }
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    return root


def why(root: Path) -> str:
    refused = check_references(root, "on")
    return "" if refused is None else refused.reason


@pytest.mark.parametrize("text", ALLOWED.values(), ids=ALLOWED)
def test_allows(tmp_path: Path, text: str) -> None:
    assert why(write_tree(tmp_path, text)) == ""


@pytest.mark.parametrize("field", ["resources", "components", "bases", "RESOURCES"])
@pytest.mark.parametrize("reference", FETCHED)
def test_refuses_a_folder_that_is_fetched(tmp_path: Path, field: str, reference: str) -> None:
    reason = why(write_tree(tmp_path, f"{field}: ['{reference}']\n"))
    assert reason == f"on/kustomization.yaml: `{field.lower()}` refers to {reference}, which would be fetched"


@pytest.mark.parametrize("field", FILE_FIELDS.values(), ids=FILE_FIELDS)
def test_refuses_a_file_that_is_fetched(tmp_path: Path, field: str) -> None:
    reason = why(write_tree(tmp_path, field.format("https://example.com/x.yaml") + "\n"))
    assert reason.startswith("on/kustomization.yaml: `")
    assert reason.endswith("https://example.com/x.yaml, which would be fetched")
    assert why(write_tree(tmp_path, field.format("x.yaml") + "\n")) == ""


@pytest.mark.parametrize("text", UNREAD.values(), ids=UNREAD)
def test_refuses_what_may_be_read_in_two_ways(tmp_path: Path, text: str) -> None:
    assert why(write_tree(tmp_path, text)) == "on/kustomization.yaml isn't a plain YAML mapping"


@pytest.mark.parametrize("field", RUNS)
def test_refuses_what_runs_and_what_it_does_not_know(tmp_path: Path, field: str) -> None:
    reason = why(write_tree(tmp_path, f"resources: [x.yaml]\n{field}: [x.yaml]\n"))
    assert reason == f"on/kustomization.yaml: `{field.lower()}` isn't a field that Poolwright lets Kustomize act on"


@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
def test_every_name_of_the_file_counts(tmp_path: Path, name: str) -> None:
    reason = why(write_tree(tmp_path, "resources: [http://example.com]\n", name))
    assert reason == f"on/{name}: `resources` refers to http://example.com, which would be fetched"


@pytest.mark.parametrize("name", ["base/kustomization.yml", "part/Kustomization"])
def test_every_folder_reached_counts(tmp_path: Path, name: str) -> None:
    write_tree(tmp_path, "resources: [../base]\ncomponents: [../part]\n")
    (tmp_path / name).write_text("resources: [http://example.com]\n")
    assert why(tmp_path) == f"{name}: `resources` refers to http://example.com, which would be fetched"


def test_a_path_that_is_no_text(tmp_path: Path) -> None:
    reason = why(write_tree(tmp_path, "resources: [2024-01-01]\n"))
    assert reason == "on/kustomization.yaml: `resources` needs a path"


def test_a_folder_outside_by_dots(tmp_path: Path) -> None:
    write_tree(tmp_path, CONFIG_MAP)
    write_tree(tmp_path / "tree", "resources: [../../base]\n")
    assert why(tmp_path / "tree") == "../base is outside the tree"
    refused = check_references(tmp_path / "tree", "../base")
    assert refused is not None
    assert refused.reason == "../base is outside the tree"


def test_a_folder_outside_by_a_link(tmp_path: Path) -> None:
    write_tree(tmp_path, CONFIG_MAP)
    tree = write_tree(tmp_path / "tree", "resources: [linked]\n")
    (tree / "on/linked").symlink_to(tmp_path / "base")
    assert why(tree) == "../base is outside the tree"


def test_dots_after_a_link_start_where_it_leads(tmp_path: Path) -> None:
    """As Kustomize takes them: seen from the link, `../base` would be the harmless one."""
    tree = write_tree(tmp_path, "")
    (tree / "deep/er").mkdir(parents=True)
    (tree / "deep/er/kustomization.yaml").write_text("resources: [../base]\n")
    (tree / "deep/base").mkdir()
    (tree / "deep/base/kustomization.yaml").write_text("resources: [http://example.com]\n")
    (tree / "on/kustomization.yaml").unlink()
    (tree / "on/x.yaml").unlink()
    (tree / "on").rmdir()
    (tree / "on").symlink_to("deep/er")
    assert why(tree) == "deep/base/kustomization.yaml: `resources` refers to http://example.com, which would be fetched"


def test_kustomize_itself_builds_what_is_allowed(tmp_path: Path) -> None:
    kustomize = find_kustomize(None, {})
    assert isinstance(kustomize, Kustomize)
    for name in ("files-and-folders", "addresses-in-values"):
        built = build(kustomize, write_tree(tmp_path, ALLOWED[name]), "on")
        assert isinstance(built, BuildOutput), built
