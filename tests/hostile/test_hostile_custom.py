"""Hostile components in custom/: real Kustomize runs only on what refers to nothing elsewhere and starts nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_case import CLUSTER, HARMLESS, JUDGED, UNIT, UNREADABLE, Case, judge, put
from hostile_run import Installed, World

from needs import needs

needs("kubectl") if not any(os.access(Path(p, "kustomize"), os.X_OK) for p in os.get_exec_path()) else None

FOLDER = f"custom/{CLUSTER}/{UNIT}"
KUSTOMIZATION = f"{FOLDER}/kustomization.yaml"
HEAD = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: my-models}\n"


def component(text: str, files: dict[str, bytes | str] | None = None) -> Callable[[World], None]:
    """A repository with a component for its unit."""
    return lambda world: put(
        world, {KUSTOMIZATION: HEAD + text, **{f"{FOLDER}/{name}": data for name, data in (files or {}).items()}}
    )


def instead(name: str, make: Callable[[Path, World], object]) -> Callable[[World], None]:
    """A repository with a component in which something is no file, or that is none itself."""

    def build(world: World) -> None:
        put(world, {KUSTOMIZATION: HEAD} if name.startswith(FOLDER + "/") else {})
        path = world.repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        make(path, world)

    return build


def to_outside(path: Path, world: World) -> None:
    path.symlink_to(world.outside)


def to_secret(path: Path, world: World) -> None:
    path.symlink_to(world.secret)


def to_pipe(path: Path, _: World) -> None:
    os.mkfifo(path)


def to_sparse(path: Path, _: World) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)


def plugin(field: str) -> Callable[[World], None]:
    """A component with a generator, transformer or validator that is a program of the repository."""
    config = (
        "apiVersion: evil.example.com/v1\nkind: Plugin\nmetadata:\n  name: a\n"
        "  annotations: {config.kubernetes.io/function: 'exec: {path: ./plugin.sh}'}\n"
    )

    def build(world: World) -> None:
        component(f"{field}: [plugin.yaml]\n", {"plugin.yaml": config, "plugin.sh": world.script()})(world)
        (world.repository / FOLDER / "plugin.sh").chmod(0o755)

    return build


CASES: dict[str, Case] = {
    # What would be fetched.
    "resource-by-https": Case(
        component("resources: ['https://example.com/a.yaml']\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml: "
            "`resources` refers to https://example.com/a.yaml, which would be fetched  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "resource-by-git-ssh": Case(
        component("resources: ['git@example.com:a/b.git']\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml: "
            "`resources` refers to git@example.com:a/b.git, which would be fetched  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "resource-with-a-ref": Case(
        component("resources: ['example.com/a/b?ref=main']\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml: "
            "`resources` refers to example.com/a/b?ref=main, which would be fetched  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "resource-at-github": Case(
        component("resources: [github.com/a/b]\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml: "
            "`resources` refers to github.com/a/b, which would be fetched  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "resource-by-file-url": Case(
        component("resources: ['file:///etc']\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml: "
            "`resources` refers to file:///etc, which would be fetched  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "component-by-https": Case(
        component("components: ['https://example.com/a']\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml: "
            "`components` refers to https://example.com/a, which would be fetched  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "patch-by-https": Case(
        component("patches: [{path: 'https://example.com/a.yaml'}]\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml: "
            "`patches` refers to https://example.com/a.yaml, which would be fetched  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "config-map-file-by-https": Case(
        component("configMapGenerator: [{name: a, files: ['a=https://example.com/a']}]\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml: "
            "`configmapgenerator` refers to a=https://example.com/a, which would be fetched  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "schema-by-https": Case(
        component("openapi: {path: 'https://example.com/a.json'}\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml: "
            "`openapi` refers to https://example.com/a.json, which would be fetched  [custom-build]"
        ),
        codes=JUDGED,
    ),
    # What lies elsewhere.
    "resource-outside": Case(
        component("resources: [../../../../outside]\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: ../../../../outside is "
            "outside the tree  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "resource-file-outside": Case(
        component("resources: [../../../../outside/secret.yaml]\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: "
            "../../../../outside/secret.yaml is outside the tree  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "resource-absolute": Case(
        component("resources: [/etc/passwd]\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: overlays/my-cluster/my-model: "
            "/etc/passwd: security; file '/etc/passwd' is not in or below 'custom/my-cluster/my-model'  "
            "[custom-build]"
        ),
        codes=JUDGED,
    ),
    "resource-of-another-unit": Case(
        component("resources: [../other]\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: ../other is outside the "
            "tree  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "config-map-file-outside": Case(
        component("configMapGenerator: [{name: a, files: [a=../../../../outside/secret.yaml]}]\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: overlays/my-cluster/my-model: "
            "custom/my-cluster/my-model: loading KV pairs: file sources: [a=../../../../outside/secret.yaml]: ..."
        ),
        codes=JUDGED,
    ),
    "config-map-file-absolute": Case(
        component("configMapGenerator: [{name: a, files: [/etc/passwd]}]\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: overlays/my-cluster/my-model: "
            "custom/my-cluster/my-model: loading KV pairs: file sources: [/etc/passwd]: security; file "
            "'/etc/passwd' is not in or below 'custom/my-cluster/my-model'  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "secret-env-outside": Case(
        component("secretGenerator: [{name: a, envs: [/etc/passwd]}]\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: overlays/my-cluster/my-model: "
            "custom/my-cluster/my-model: loading KV pairs: env source files: [/etc/passwd]: security; file "
            "'/etc/passwd' is not in or below 'custom/my-cluster/my-model'  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "a-file-is-a-link": Case(
        instead(f"{FOLDER}/a.yaml", to_secret),
        says=(
            "custom/my-cluster/my-model/a.yaml: custom/my-cluster/my-model/a.yaml can't be read: it is a link  "
            "[file-unreadable]"
        ),
        codes=UNREADABLE,
    ),
    "a-folder-is-a-link": Case(
        instead(f"{FOLDER}/a", to_outside),
        says=(
            "custom/my-cluster/my-model/a: custom/my-cluster/my-model/a can't be read: it is a link  [file-unreadable]"
        ),
        codes=UNREADABLE,
    ),
    "kustomization-is-a-link": Case(
        instead(f"{FOLDER}/kustomization.yml", to_secret),
        says=(
            "custom/my-cluster/my-model/kustomization.yml: custom/my-cluster/my-model/kustomization.yml can't be "
            "read: it is a link  [file-unreadable]"
        ),
        codes=UNREADABLE,
    ),
    "the-component-is-a-link": Case(
        instead(FOLDER, to_outside),
        says="custom/my-cluster/my-model: custom/my-cluster/my-model is a link  [custom-build]",
    ),
    "its-cluster-folder-is-a-link": Case(instead(f"custom/{CLUSTER}", to_outside), codes=HARMLESS),
    "custom-is-a-link": Case(instead("custom", to_outside), codes=HARMLESS),
    "custom-is-a-link-to-the-root": Case(instead("custom", lambda path, _: path.symlink_to("/")), codes=HARMLESS),
    # What would run.
    "generator-that-is-a-program": Case(
        plugin("generators"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml: "
            "`generators` isn't a field that Poolwright lets Kustomize act on  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "transformer-that-is-a-program": Case(
        plugin("transformers"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml: "
            "`transformers` isn't a field that Poolwright lets Kustomize act on  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "validator-that-is-a-program": Case(
        plugin("validators"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml: "
            "`validators` isn't a field that Poolwright lets Kustomize act on  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "helm-chart": Case(
        component("helmCharts: [{name: a, repo: 'https://example.com', version: 1.0.0}]\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml: "
            "`helmcharts` isn't a field that Poolwright lets Kustomize act on  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "helm-globals": Case(
        component("helmGlobals: {chartHome: /etc}\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml: "
            "`helmglobals` isn't a field that Poolwright lets Kustomize act on  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "unknown-field": Case(
        component("hooks: [./evil.sh]\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml: "
            "`hooks` isn't a field that Poolwright lets Kustomize act on  [custom-build]"
        ),
        codes=JUDGED,
    ),
    # What is no component, or too much of one.
    "a-file-is-a-pipe": Case(
        instead(f"{FOLDER}/a.yaml", to_pipe),
        says=(
            "custom/my-cluster/my-model/a.yaml: custom/my-cluster/my-model/a.yaml can't be read: it is no regular "
            "file  [file-unreadable]"
        ),
        codes=UNREADABLE,
    ),
    "a-file-of-1-GiB": Case(
        instead(f"{FOLDER}/a.yaml", to_sparse),
        says=(
            "custom/my-cluster/my-model/a.yaml: custom/my-cluster/my-model/a.yaml can't be read: it has "
            "1,073,741,824 bytes, and 16,777,216 is the most  [file-unreadable]"
        ),
        codes=UNREADABLE,
    ),
    "1001-files": Case(
        component("", {f"{n}.txt": "" for n in range(1001)}),
        says="custom/my-cluster/my-model: custom/my-cluster/my-model has more than 1000 files  [custom-build]",
    ),
    "two-kustomizations": Case(
        component("", {"Kustomization": HEAD}),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: overlays/my-cluster/my-model: custom/my-cluster/my-model: "
            "Found multiple kustomization files under: custom/my-cluster/my-model  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "no-kustomization": Case(
        lambda world: put(world, {f"{FOLDER}/a.yaml": CONFIG_MAP}),
        says=(
            "custom/my-cluster/my-model: custom/my-cluster/my-model has no kustomization.yaml, so nothing in it "
            "has an effect  [custom-build]"
        ),
    ),
    "kustomization-with-tags": Case(
        component("resources: [!!binary aHR0cHM6Ly9leGFtcGxlLmNvbQ==]\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml isn't a "
            "plain YAML mapping  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "kustomization-with-merges": Case(
        component("x: &a {resources: [a]}\n<<: *a\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml isn't a "
            "plain YAML mapping  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "kustomization-nested-deep": Case(
        component("resources: " + "[" * 100_000),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml isn't a "
            "plain YAML mapping  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "kustomization-alias-bomb": Case(
        component(
            "a0: &a0 [a, a]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))
        ),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: custom/my-cluster/my-model: kustomization.yaml: `a0` "
            "isn't a field that Poolwright lets Kustomize act on  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "resource-alias-bomb": Case(
        component(
            "resources: [a.yaml]\n",
            {
                "a.yaml": CONFIG_MAP
                + "data:\n"
                + "  a0: &a0 [a, a]\n"
                + "".join(f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))
            },
        ),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: overlays/my-cluster/my-model: Kustomize took more than "
            "320 MiB of memory  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "resource-nested-deep": Case(
        component("resources: [a.yaml]\n", {"a.yaml": CONFIG_MAP + "data: " + "[" * 20_000}),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: overlays/my-cluster/my-model: "
            "a.yaml: MalformedYAMLyaml: line 4: exceeded max depth of 10000 in File: a.yaml  [custom-build]"
        ),
        codes=JUDGED,
    ),
    "file-name-that-moves-a-cursor": Case(
        component("", {"\x1b[2J\n.yaml": "a"}),
        says=(
            "custom/my-cluster/my-model: custom/my-cluster/my-model has a file called '\\x1b[2J\\n.yaml'  "
            "[custom-build]"
        ),
    ),
    # What a team may not decide.
    "another-image": Case(
        component("images: [{name: registry.example.com/vllm-openai, newName: evil.example.com/vllm}]\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: the component changes "
            'spec.template.spec.containers[engine].image of the unit\'s Deployment "my-model"  [custom-forbidden]'
        ),
        codes=JUDGED,
    ),
    "a-node": Case(
        component(
            "patches:\n- target: {kind: Deployment}\n  patch: |\n"
            "    - {op: add, path: /spec/template/spec/nodeName, value: a}\n"
        ),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: the component adds spec.template.spec.nodeName "
            'of the unit\'s Deployment "my-model"  [custom-forbidden]'
        ),
        codes=JUDGED,
    ),
    "name-prefix": Case(
        component("namePrefix: evil-\n"),
        says=(
            "custom/my-cluster/my-model/kustomization.yaml: the component adds the ConfigMap "
            '"evil-my-model-envelope" with the label poolwright.dev/envelope  [custom-forbidden]'
        ),
        codes=JUDGED,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_component_is_refused(name: str, world: World, installed: Installed) -> None:
    judge(CASES[name], world, installed)
