"""The JSON patch between a base and a finished object of a kind that Kustomize can't merge: a table, and Kustomize."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fleet import load_closures, load_placement
from folders import write_files
from poolwright.catalog.closure import BaseClosure
from poolwright.objects.kubernetes import Object
from poolwright.objects.unit import build_objects
from poolwright.trees.json_patch import build_json_patch
from poolwright.trees.tree import build_folder
from poolwright.trees.yaml_text import render_list, render_object, render_objects
from real_kustomize import build_for_real, why_refused
from unit_objects import FLEET, change, envelope

HEAD = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet"}
ENGINE = {"name": "engine", "image": "sglang", "args": ["--a"], "env": [{"name": "B", "value": "b"}]}
SIDECAR = {"name": "sidecar", "image": "busybox"}
AT = "/spec/leaderWorkerTemplate/leaderTemplate/spec"


def group(pod: Object, **fields: Any) -> Object:
    """A LeaderWorkerSet whose leader has this pod spec."""
    leader = {"metadata": {"labels": {"a": "1"}}, "spec": pod}
    return {
        **HEAD,
        "metadata": {"name": "a", "namespace": "n"},
        "spec": {"leaderWorkerTemplate": {"leaderTemplate": leader}, **fields},
    }


def containers(*items: Object) -> Object:
    return {"containers": list(items)}


TEST_ENGINE = {"op": "test", "path": f"{AT}/containers/0/name", "value": "engine"}
PATCHES: dict[str, tuple[Object, Object, list[Object]]] = {
    "equal-objects-need-none": (group(containers(ENGINE)), group(containers(ENGINE)), []),
    "what-is-added-as-a-whole": (
        group(containers(ENGINE)),
        group({**containers(ENGINE), "nodeSelector": {"zone": "a"}}, replicas=3),
        [
            {"op": "add", "path": f"{AT}/nodeSelector", "value": {"zone": "a"}},
            {"op": "add", "path": "/spec/replicas", "value": 3},
        ],
    ),
    "what-is-changed": (
        group(containers(ENGINE), replicas=1),
        group(containers(ENGINE), replicas=2),
        [{"op": "replace", "path": "/spec/replicas", "value": 2}],
    ),
    "names-of-labels-are-escaped": (
        {**HEAD, "metadata": {"name": "a", "labels": {"x.dev/a~b": "1"}}},
        {**HEAD, "metadata": {"name": "b", "labels": {"x.dev/a~b": "2"}}},
        [
            {"op": "replace", "path": "/metadata/labels/x.dev~1a~0b", "value": "2"},
            {"op": "replace", "path": "/metadata/name", "value": "b"},
        ],
    ),
    "within-a-container-that-is-tested": (
        group(containers(SIDECAR, ENGINE)),
        group(containers(SIDECAR, {**ENGINE, "args": ["--b", "--c"]})),
        [
            {**TEST_ENGINE, "path": f"{AT}/containers/1/name"},
            {"op": "replace", "path": f"{AT}/containers/1/args", "value": ["--b", "--c"]},
        ],
    ),
    # Items come in front one by one, so the last of them is the first to be added.
    "items-in-front": (
        group(containers(ENGINE)),
        group(containers({**ENGINE, "env": [{"name": "Z", "value": "z"}, {"name": "A"}, *ENGINE["env"]]})),
        [
            TEST_ENGINE,
            {"op": "test", "path": f"{AT}/containers/0/env/0/name", "value": "B"},
            {"op": "add", "path": f"{AT}/containers/0/env/0", "value": {"name": "A"}},
            {"op": "add", "path": f"{AT}/containers/0/env/0", "value": {"name": "Z", "value": "z"}},
        ],
    ),
    "a-changed-item-behind-new-ones": (
        group(containers(ENGINE)),
        group(containers({**ENGINE, "env": [{"name": "A"}, {"name": "B", "value": "c"}]})),
        [
            TEST_ENGINE,
            {"op": "test", "path": f"{AT}/containers/0/env/0/name", "value": "B"},
            {"op": "replace", "path": f"{AT}/containers/0/env/0/value", "value": "c"},
            {"op": "test", "path": f"{AT}/containers/0/env/0/name", "value": "B"},
            {"op": "add", "path": f"{AT}/containers/0/env/0", "value": {"name": "A"}},
        ],
    ),
    "another-order-as-a-whole": (
        group(containers(SIDECAR, ENGINE)),
        group(containers(ENGINE, SIDECAR)),
        [{"op": "replace", "path": f"{AT}/containers", "value": [ENGINE, SIDECAR]}],
    ),
    "an-item-behind-as-a-whole": (
        group(containers(ENGINE)),
        group(containers(ENGINE, SIDECAR)),
        [{"op": "replace", "path": f"{AT}/containers", "value": [ENGINE, SIDECAR]}],
    ),
    "an-item-gone-as-a-whole": (
        group(containers(SIDECAR, ENGINE)),
        group(containers(ENGINE)),
        [{"op": "replace", "path": f"{AT}/containers", "value": [ENGINE]}],
    ),
    "the-first-of-an-empty-list": (
        group(containers({**ENGINE, "env": []})),
        group(containers(ENGINE)),
        [TEST_ENGINE, {"op": "replace", "path": f"{AT}/containers/0/env", "value": ENGINE["env"]}],
    ),
    "a-list-without-names-as-a-whole": (
        group({"tolerations": [{"key": "a"}]}),
        group({"tolerations": [{"key": "b"}, {"key": "a"}]}),
        [{"op": "replace", "path": f"{AT}/tolerations", "value": [{"key": "b"}, {"key": "a"}]}],
    ),
    # `env` may be the name of anything else.
    "a-list-of-texts-named-like-one-with-names": (
        group({"env": ["a"]}),
        group({"env": ["b", "a"]}),
        [{"op": "replace", "path": f"{AT}/env", "value": ["b", "a"]}],
    ),
    "images-are-left-to-the-overlay": (
        group({**containers(ENGINE), "initContainers": [{**SIDECAR, "image": "sglang"}]}),
        group(
            {
                **containers({**ENGINE, "image": "registry.example.com/sglang:1"}),
                "initContainers": [{**SIDECAR, "image": "registry.example.com/sglang:1"}],
            }
        ),
        [],
    ),
}


@pytest.mark.parametrize("name", PATCHES)
def test_patch(name: str) -> None:
    base, finished, expected = PATCHES[name]
    before = copy.deepcopy((base, finished))
    assert build_json_patch(base, finished) == expected
    assert (base, finished) == before


REFUSED = {
    "a-field-taken-away": (
        group(containers({**ENGINE, "tty": True})),
        group(containers(ENGINE)),
        f"{AT}/containers/0/tty: a decision takes away what the base has",
    ),
    "a-map-taken-away": (
        group({"securityContext": {}}),
        group({}),
        f"{AT}/securityContext: a decision takes away what the base has",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_decision_does_is_refused(name: str) -> None:
    base, finished, message = REFUSED[name]
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        build_json_patch(base, finished)


# --- real Kustomize ---

REASON_PLACED = "metadata: {name: reason-671b}\nspec:\n"
STATED = "  claim: {constraints: [{matchAttribute: resource.kubernetes.io/pcieRoot}]}\n"
SIDECARS = "  sidecars: [{name: a, image: registry.example.com/sglang}, {name: z, image: registry.example.com/z}]\n"
GROUPS: dict[str, Mapping[str, bytes]] = {
    "as-committed": FLEET,
    "renamed": change(
        FLEET, "specs/placements/east.yaml", (REASON_PLACED, REASON_PLACED.replace("reason-671b", "serve-a"))
    ),
    "with-sidecars-and-a-statement": envelope(
        "reason-671b", "0.4.0", ("  engine:\n", STATED + SIDECARS + "  engine:\n")
    ),
    "on-vllm": envelope("reason-671b", "0.4.0", ("    type: sglang\n", "    type: vllm\n")),
    # The overlay's own arguments and probes.
    "of-another-engine-version": change(
        FLEET, "specs/stacks/operator-26-7.yaml", ("      version: 0.5.23\n", "      version: 0.5.3\n")
    ),
    "an-image-with-port-and-digest": change(
        FLEET,
        "specs/stacks/operator-26-7.yaml",
        ("registry.example.com/serving/sglang:v0.5.23", f"localhost:5000/sglang:1e3@sha256:{'5' * 64}"),
    ),
}


@pytest.mark.parametrize("variant", GROUPS)
def test_real_kustomize_builds_the_finished_group(variant: str, tmp_path: Path) -> None:
    files = GROUPS[variant]
    unit = load_placement(files, "east", "serve-a" if variant == "renamed" else "reason-671b")
    base = next(c for c in load_closures(files) if isinstance(c, BaseClosure) and c.envelope == unit.envelope)
    for folder in map(build_folder, (base, unit)):
        write_files(tmp_path / folder.path, folder.files)
    assert build_for_real(tmp_path, f"overlays/{unit.on.cluster}/{unit.unit}") == render_objects(build_objects(unit))


def test_a_base_that_isn_t_what_the_patch_was_made_for_is_no_build(tmp_path: Path) -> None:
    """Without the test in front, a patch by position would change another container, and nobody would be told."""
    finished = group(containers({**ENGINE, "tty": True}))
    operations = build_json_patch(group(containers(ENGINE)), finished)
    write_files(tmp_path, tree(group(containers(SIDECAR, ENGINE)), operations))
    assert "testing value" in why_refused(tmp_path, "top")


NAMES = ("a", "b", "c", "env", "x.dev/a~b")
TEXTS = ("a", "1", "true", "a b: c", "é", "~1/~0")


def make_pod(rng: Random) -> Object:
    def some(**fields: Any) -> Object:
        return {name: value for name, value in fields.items() if rng.random() < 0.7}

    def named(make: Any) -> list[Object]:
        return [{"name": name, **make()} for name in rng.sample(NAMES, rng.randrange(4))]

    def make_container() -> Object:
        return some(
            image="sglang",
            args=[rng.choice(TEXTS) for _ in range(rng.randrange(3))],
            env=named(lambda: some(value=rng.choice(TEXTS))),
            resources={"claims": named(dict)},
            tty=rng.choice((True, False)),
        )

    return some(
        containers=named(make_container),
        initContainers=named(make_container),
        volumes=named(lambda: some(emptyDir={"medium": rng.choice(TEXTS)})),
        tolerations=[some(key=rng.choice(TEXTS)) for _ in range(rng.randrange(3))],
        nodeSelector={rng.choice(NAMES): rng.choice(TEXTS)},
    )


def make_pair(seed: int) -> tuple[Object, Object]:
    """A base, and the same after a few decisions of random kinds."""
    rng = Random(seed)
    base = group(make_pod(rng), replicas=1)
    finished = copy.deepcopy(base)
    pod, other = finished["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["spec"], make_pod(rng)
    for key, value in other.items():
        mine = pod.get(key)
        if not isinstance(mine, list) or not mine or "name" not in mine[0]:
            pod[key] = {**mine, **value} if isinstance(mine, dict) else value
        elif rng.random() < 0.5:
            names = {item["name"] for item in mine}
            pod[key] = [*(item for item in value if item["name"] not in names), *mine]
        elif rng.random() < 0.8:
            changed = rng.choice(mine)
            changed |= {k: v for k, v in (value or [{}])[0].items() if k not in ("name", "image")}
        else:
            pod[key] = value
    return base, finished


def tree(base: Object, operations: list[Object]) -> dict[str, bytes]:
    """A folder `top` that builds the base with the operations applied, as a unit's does."""
    entry = {"path": "patch.yaml", "target": {"kind": base["kind"], "name": base["metadata"]["name"]}}
    component = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "patches": [entry]}
    return {
        "top/kustomization.yaml": render_object({"resources": ["base.yaml"], "components": ["decisions"]}),
        "top/base.yaml": render_object(base),
        "top/decisions/kustomization.yaml": render_object(component),
        "top/decisions/patch.yaml": render_list(operations),
    }


# Without shrinking, as in test_factor.
@settings(max_examples=25, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.integers(0, 10**9))
def test_real_kustomize_makes_the_finished_object_of_base_and_patch(seed: int) -> None:
    base, finished = make_pair(seed)
    try:
        operations = build_json_patch(base, finished)
    except ValueError:
        return
    if operations:
        with TemporaryDirectory() as folder:
            write_files(Path(folder), tree(base, operations))
            assert build_for_real(Path(folder), "top") == render_object(finished)


def test_most_random_pairs_have_a_patch() -> None:
    """Else the test above would show little: it passes over pairs that have none."""
    counts: Counter[str] = Counter()
    for seed in range(500):
        try:
            operations = build_json_patch(*make_pair(seed))
        except ValueError:
            counts["refused"] += 1
        else:
            counts.update({operation["op"] for operation in operations} or {"equal"})
    assert counts["test"] > 200
    assert counts["add"] > 200
    assert counts["replace"] > 200
    assert counts["refused"] < 50
