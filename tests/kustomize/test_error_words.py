"""What is left of Kustomize's errors: the reason, and nothing of what the files hold. By real Kustomize."""

from __future__ import annotations

from pathlib import Path

import pytest

from folders import write_files
from poolwright.kustomize.build import build
from poolwright.kustomize.find import Kustomize, KustomizeError, find_kustomize
from poolwright.kustomize.said import shorten_error

SECRET = "hunter2"  # stands in files, and never in words
COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
OBJECT = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: b}}\ndata: {{x: {SECRET}}}\n"
# What the component says, its file x.yaml, and what is said of it.
ERRORS: dict[str, tuple[str, str, str]] = {
    "an-object-twice": (
        "resources: [x.yaml]\n",
        f"{OBJECT}---\n{OBJECT}",
        "x.yaml: may not add resource with an already registered id: ConfigMap.v1.[noGrp]/a.b",
    ),
    "no-object": ("resources: [x.yaml]\n", f"x: {SECRET}\n", "x.yaml: missing Resource metadata"),
    "a-value-that-json-has-not": (
        "resources: [x.yaml]\n",
        f"{OBJECT}binaryData: {{x: .inf}}\n",
        "an object: json: unsupported value: +Inf",
    ),
    "a-patch-that-is-none": (
        f"patches: [{{patch: '{SECRET}: ['}}]\n",
        "",
        "on/part: PatchTransformer: unable to parse SM or JSON patch",
    ),
    "a-patch-that-fits-nothing": (
        f"patches: [{{target: {{kind: ConfigMap}}, patch: '- {{op: add, path: /no/x, value: {SECRET}}}'}}]\n",
        "",
        'on/part: add operation does not apply: doc is missing path: "/no/x": missing value',
    ),
    "a-literal-that-is-none": (
        f"configMapGenerator: [{{name: c, literals: [{SECRET}]}}]\n",
        "",
        "on/part: loading KV pairs: invalid literal source, expected key=value",
    ),
    "in-a-folder-of-its-own": (
        "resources: [more]\n",
        "",
        "x.yaml: evalsymlink failure on 'on/part/more/x.yaml' : lstat on/part/more/x.yaml: no such file or directory",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_the_reason_without_what_files_hold(name: str, tmp_path: Path) -> None:
    component, file, said = ERRORS[name]
    texts = {
        "kustomization.yaml": "resources: [own.yaml]\ncomponents: [part]\n",
        "own.yaml": OBJECT.replace("name: a", "name: own"),
        "part/kustomization.yaml": COMPONENT + component,
        "part/x.yaml": file,
        "part/more/kustomization.yaml": "resources: [x.yaml]\n",
    }
    tree = write_files(tmp_path, {f"on/{path}": text.encode() for path, text in texts.items()})
    kustomize = find_kustomize(None, {})
    assert isinstance(kustomize, Kustomize)
    assert build(kustomize, tree, "on") == KustomizeError(reason=f"on: {said}")


def test_one_that_is_too_long_is_not_looked_through() -> None:
    text = "map[string]interface {}{" * 100_000
    said = "an error of 2,400,000 characters: build it with Kustomize to read them"
    assert shorten_error(text) == said


def test_what_is_not_known_stays_as_it_is() -> None:
    assert shorten_error("accumulating what nobody knows: 'a'") == "accumulating what nobody knows: 'a'"
