"""The patch between a base object and a finished one: a table, and real Kustomize as the judge."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from folders import write_files
from poolwright.objects.kubernetes import Object
from poolwright.trees.factor import build_patch
from poolwright.trees.yaml_text import render_object, render_objects
from real_kustomize import build_for_real

HEAD = {"apiVersion": "apps/v1", "kind": "Deployment"}
NAME = {"name": "a", "namespace": "n"}


def deployment(pod: Object, **fields: Any) -> Object:
    """A Deployment with this pod spec."""
    return {**HEAD, "metadata": NAME, "spec": {"template": {"spec": pod}, **fields}}


def container(**fields: Any) -> Object:
    """A pod spec with one container."""
    return {"containers": [{"name": "engine", "image": "vllm", "args": ["--a"], **fields}]}


def patch(pod: Object) -> Object:
    """The patch that changes only the pod spec."""
    return {**HEAD, "metadata": NAME, "spec": {"template": {"spec": pod}}}


SIDECAR = {"name": "sidecar", "image": "busybox"}
PATCHES: dict[str, tuple[Object, Object, Object]] = {
    "equal-objects-need-none": (deployment(container()), deployment(container()), {}),
    "what-is-added": (
        deployment(container()),
        deployment({**container(), "nodeSelector": {"zone": "a"}}, replicas=3),
        {**HEAD, "metadata": NAME, "spec": {"replicas": 3, "template": {"spec": {"nodeSelector": {"zone": "a"}}}}},
    ),
    "only-what-differs-in-a-map": (
        {"kind": "Service", "apiVersion": "v1", "metadata": {**NAME, "labels": {"x": "1", "y": "1"}}},
        {"kind": "Service", "apiVersion": "v1", "metadata": {**NAME, "labels": {"x": "1", "y": "2", "z": "3"}}},
        {"kind": "Service", "apiVersion": "v1", "metadata": {**NAME, "labels": {"y": "2", "z": "3"}}},
    ),
    "a-new-name-stands-in-the-patch": (
        {"kind": "Service", "apiVersion": "v1", "metadata": NAME},
        {"kind": "Service", "apiVersion": "v1", "metadata": {**NAME, "name": "b"}},
        {"kind": "Service", "apiVersion": "v1", "metadata": {**NAME, "name": "b"}},
    ),
    "a-container-by-name": (
        deployment(container()),
        deployment(container(tty=True)),
        patch({"containers": [{"name": "engine", "tty": True}]}),
    ),
    "images-are-left-to-the-overlay": (deployment(container()), deployment(container(image="x:1")), {}),
    "an-image-that-the-base-lacks-is-a-change": (
        deployment({"containers": [{"name": "engine"}]}),
        deployment({"containers": [{"name": "engine", "image": "vllm"}]}),
        patch({"containers": [{"name": "engine", "image": "vllm"}]}),
    ),
    "a-new-container-first": (
        deployment(container()),
        deployment({"containers": [SIDECAR, *container()["containers"]]}),
        patch({"containers": [SIDECAR]}),
    ),
    "a-plain-list-as-a-whole": (
        deployment(container()),
        deployment(container(args=["--a", "--b"])),
        patch({"containers": [{"name": "engine", "args": ["--a", "--b"]}]}),
    ),
    "a-list-the-base-lacks-as-a-whole": (
        deployment(container()),
        deployment(container(env=[{"name": "B"}, {"name": "A"}])),
        patch({"containers": [{"name": "engine", "env": [{"name": "B"}, {"name": "A"}]}]}),
    ),
    # `env` is a keyed list of a container; a label of that name is a text like any other.
    "a-label-named-like-a-keyed-list": (
        {**HEAD, "metadata": {**NAME, "labels": {"env": "a", "containers": "x", "volumes": "v"}}},
        {**HEAD, "metadata": {**NAME, "labels": {"env": "b", "containers": "y", "volumes": "v"}}},
        {**HEAD, "metadata": {**NAME, "labels": {"env": "b", "containers": "y"}}},
    ),
    # Only a container's `image` is set by the overlay.
    "an-image-of-a-volume-is-a-change": (
        deployment({**container(), "volumes": [{"name": "w", "image": {"reference": "a"}}]}),
        deployment({**container(), "volumes": [{"name": "w", "image": {"reference": "b"}}]}),
        patch({"volumes": [{"name": "w", "image": {"reference": "b"}}]}),
    ),
}


@pytest.mark.parametrize("name", PATCHES)
def test_patch(name: str) -> None:
    base, finished, expected = PATCHES[name]
    before = copy.deepcopy((base, finished))
    assert build_patch(base, finished) == expected
    assert (base, finished) == before


REFUSED: dict[str, tuple[Object, Object, str]] = {
    "a-list-that-kustomize-merges-by-two-keys": (
        deployment(container(ports=[{"containerPort": 1}])),
        deployment(container(ports=[{"containerPort": 2}])),
        "/spec/template/spec/containers/engine/ports: Kustomize merges this list, and no decision changes it",
    ),
    "a-field-taken-away": (
        deployment(container(tty=True)),
        deployment(container()),
        "/spec/template/spec/containers/engine/tty: a decision takes away what the base has",
    ),
    "a-map-taken-away": (
        deployment(container(), strategy={"type": "Recreate"}),
        deployment(container()),
        "/spec/strategy: a decision takes away what the base has",
    ),
    "a-container-taken-away": (
        deployment({"containers": [SIDECAR, *container()["containers"]]}),
        deployment(container()),
        "/spec/template/spec/containers: Kustomize would build the order ['sidecar', 'engine']",
    ),
    "a-new-container-behind": (
        deployment(container()),
        deployment({"containers": [*container()["containers"], SIDECAR]}),
        "/spec/template/spec/containers: Kustomize would build the order ['sidecar', 'engine']",
    ),
    "another-order-of-containers": (
        deployment({"containers": [SIDECAR, *container()["containers"]]}),
        deployment({"containers": [*container()["containers"], SIDECAR]}),
        "/spec/template/spec/containers: Kustomize would build the order ['sidecar', 'engine']",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_patch_cannot_make_is_refused(name: str) -> None:
    base, finished, message = REFUSED[name]
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        build_patch(base, finished)


# --- real Kustomize ---

TEXTS = ("a", "b", "1", "true", "a b: c", "é")
NAMES = ("a", "b", "c", "env", "image", "containers")
Make = Callable[[Random], Any]


def one_of(*values: Any) -> Make:
    return lambda rng: rng.choice(values)


def list_of(item: Make) -> Make:
    return lambda rng: [item(rng) for _ in range(rng.randrange(3))]


def keyed_by(key: str, *values: Any, **fields: Make) -> Make:
    """A list of items with different keys."""
    make = some(0.3, **fields)
    return lambda rng: [{key: value, **make(rng)} for value in rng.sample(values or NAMES, rng.randrange(4))]


def some(share: float, **fields: Make) -> Make:
    """A map with this share of the fields."""
    return lambda rng: {name: make(rng) for name, make in fields.items() if rng.random() < share}


text = one_of(*TEXTS)
number = one_of(0, 1, 2)
texts = some(0.3, **dict.fromkeys(NAMES, text))


def labels(rng: Random) -> dict[str, str]:
    """Never without any: Kustomize drops empty annotations from every object, patched or not."""
    return {"always": "there", **texts(rng)}


containers = keyed_by(
    "name",
    image=one_of("vllm"),
    args=list_of(text),
    env=keyed_by("name", value=text),
    ports=keyed_by("containerPort", 1, 2, 3, name=text, protocol=text),
    resources=some(0.5, limits=texts, claims=keyed_by("name")),
    volumeMounts=keyed_by("mountPath", name=text, readOnly=one_of(True, False)),
    tty=one_of(True, False),
)
pods = some(
    0.4,
    containers=containers,
    initContainers=containers,
    volumes=keyed_by("name", emptyDir=some(0.5, medium=text)),
    tolerations=list_of(some(0.5, key=text, operator=text)),
    nodeSelector=texts,
    resourceClaims=keyed_by("name", resourceClaimTemplateName=text),
    imagePullSecrets=keyed_by("name"),
    hostAliases=keyed_by("ip", hostnames=list_of(text)),
    topologySpreadConstraints=keyed_by("topologyKey", maxSkew=number),
    terminationGracePeriodSeconds=number,
)
KINDS: dict[tuple[str, str], Make] = {
    ("apps/v1", "Deployment"): some(
        0.9,
        metadata=some(0.8, labels=labels, annotations=labels),
        spec=some(
            0.8,
            replicas=number,
            strategy=some(0.8, type=text, rollingUpdate=some(0.5, maxSurge=number)),
            template=some(0.9, metadata=some(0.5, labels=labels), spec=pods),
        ),
    ),
    ("v1", "Service"): some(
        0.9,
        metadata=some(0.8, labels=labels),
        spec=some(0.8, selector=texts, ports=keyed_by("port", 1, 2, 3, name=text, protocol=text)),
    ),
    ("v1", "ConfigMap"): some(0.9, metadata=some(0.8, labels=labels), data=labels),
}
KEYED = {"containers": "name", "volumes": "name", "env": "name", "volumeMounts": "mountPath"}


def build_pair(rng: Random, name: str) -> tuple[Object, Object]:
    """A base, and the same with some of another one's values: most such pairs have a patch."""
    (api, kind), make = rng.choice([*KINDS.items(), *list(KINDS.items())[:1] * 3])
    base, other = make(rng), make(rng)
    finished = copy.deepcopy(base)
    _mix(rng, finished, other)
    return tuple(
        {
            **made,
            "apiVersion": api,
            "kind": kind,
            "metadata": {**made.get("metadata", {}), "name": name, "namespace": "n"},
        }
        for made in (base, finished)
    )


def _mix(rng: Random, mine: Object, other: Object) -> None:
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(mine.get(key), dict) and rng.random() < 0.9:
            _mix(rng, mine[key], value)
        elif key in KEYED and isinstance(value, list) and value and mine.get(key):
            if rng.random() < 0.8:
                _mix(rng, rng.choice(mine[key]), {k: v for k, v in value[0].items() if k != KEYED[key]})
            elif rng.random() < 0.5:
                mine[key] = [*(item for item in value if item not in mine[key]), *mine[key]]
            else:
                mine[key] = value
        elif rng.random() < (0.05 if key in mine and isinstance(value, dict | list) else 0.4):
            mine[key] = value


# Without shrinking: it would run Kustomize hundreds of times, and the failure names the pairs that went wrong.
@settings(max_examples=8, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.integers(0, 10**9))
def test_real_kustomize_makes_the_finished_object_of_base_and_patch(seed: int) -> None:
    tried = []
    for base, finished in (build_pair(Random(seed + number), f"case-{number}") for number in range(60)):
        try:
            tried.append((base, finished, build_patch(base, finished)))
        except ValueError:
            continue
    built = _apply([base for base, _, _ in tried], [made for _, _, made in tried if made]).split(b"---\n")
    wrong = [(*case, text.decode()) for case, text in zip(tried, built, strict=True) if text != render_object(case[1])]
    assert not wrong, wrong[0]


def test_most_random_pairs_have_a_patch() -> None:
    """Else the test above would show little: it passes over pairs that are refused."""
    counts: Counter[str] = Counter()
    for seed in range(1000):
        try:
            counts["patch" if build_patch(*build_pair(Random(seed), "a")) else "none"] += 1
        except ValueError as error:
            counts[str(error).partition(": ")[2][:20]] += 1
    assert counts["patch"] > 600
    assert len(counts) == 5, counts  # and each of the three refusals is among them


def _apply(bases: list[Object], patches: list[Object]) -> bytes:
    kustomization = {"resources": ["bases.yaml"], "components": ["decisions"], "sortOptions": {"order": "fifo"}}
    component = {
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "patches": [{"path": f"{number}.yaml"} for number in range(len(patches))],
    }
    with TemporaryDirectory() as folder:
        tree = write_files(
            Path(folder),
            {
                "top/kustomization.yaml": render_object(kustomization),
                "top/bases.yaml": render_objects(bases),
                "top/decisions/kustomization.yaml": render_object(component),
                **{f"top/decisions/{number}.yaml": render_object(made) for number, made in enumerate(patches)},
            },
        )
        return build_for_real(tree, "top")
