"""Which objects come, go and change, which are one and the same, and which pods restart."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest
import yaml

from poolwright.changes.objects.changed import list_object_changes
from poolwright.changes.objects.pairs import Pair, UnitObject, is_same, pair_objects
from poolwright.changes.objects.restarts import list_restarts
from poolwright.changes.report import ObjectChange, Restart


def read(text: str) -> tuple[UnitObject, ...]:
    """Objects of a unit each; `unit` stands beside apiVersion, and is no part of the object."""
    values = [value for value in yaml.safe_load_all(text) if value is not None]
    return tuple(UnitObject(unit=value.pop("unit", "u"), value=value) for value in values)


def documents(*texts: str) -> str:
    return "\n---\n".join(texts)


def say(one: ObjectChange) -> str:
    """An object's change on a line, with what is told of its fields."""
    title = f"{one.cluster}/{one.unit} {one.change} {one.api_version} {one.kind} {one.namespace}/{one.name}"
    fields = [f"{field.path} {field.before} -> {field.after}" for field in one.fields]
    return "; ".join((title, *fields))


def config_map(name: str, data: str, unit: str = "u") -> str:
    metadata = f"{{name: {name}, namespace: n}}"
    return f"{{apiVersion: v1, kind: ConfigMap, metadata: {metadata}, data: {{a: {data}}}, unit: {unit}}}"


def template(name: str, count: int) -> str:
    return f"""
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: {name}, namespace: n}}
spec: {{spec: {{devices: {{requests: [{{name: gpu, exactly: {{deviceClassName: c, count: {count}}}}}]}}}}}}
"""


CASES = {
    "nothing": (config_map("a", "x"), config_map("a", "x"), []),
    "one-of-each-sorted-by-unit-and-name": (
        documents(config_map("a", "x", "z"), config_map("c", "x", "b")),
        documents(config_map("c", "y", "b"), config_map("d", "y", "a")),
        [
            "c/a added v1 ConfigMap n/d",
            'c/b changed v1 ConfigMap n/c; data.a "x" -> "y"',
            "c/z removed v1 ConfigMap n/a",
        ],
    ),
    "another-unit-and-nothing-else": (
        config_map("a", "x", "one"),
        config_map("a", "x", "two"),
        ['c/two changed v1 ConfigMap n/a; (unit) "one" -> "two"'],
    ),
    "another-unit-and-another-value": (
        config_map("a", "x", "one"),
        config_map("a", "y", "two"),
        ['c/two changed v1 ConfigMap n/a; (unit) "one" -> "two"; data.a "x" -> "y"'],
    ),
    "one-object-of-two-units": (
        documents(config_map("a", "x", "one"), config_map("a", "x", "two")),
        documents(config_map("a", "y", "two"), config_map("a", "x", "one")),
        ['c/two changed v1 ConfigMap n/a; data.a "x" -> "y"'],
    ),
    "another-version-of-an-api": (
        "{apiVersion: apps/v1beta2, kind: Deployment, metadata: {name: a}}",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}",
        ['c/u changed apps/v1 Deployment /a; apiVersion "apps/v1beta2" -> "apps/v1"'],
    ),
    "another-group-is-another-object": (
        "{apiVersion: extensions/v1, kind: Deployment, metadata: {name: a}}",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}",
        ["c/u added apps/v1 Deployment /a", "c/u removed extensions/v1 Deployment /a"],
    ),
    "another-namespace-is-another-object": (
        "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: x}}",
        "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: y}}",
        ["c/u removed v1 Secret x/a", "c/u added v1 Secret y/a"],
    ),
    "a-claim-template-under-a-new-hash-is-one-that-changed": (
        template("chat-devices-0123456789", 1),
        template("chat-devices-abcdef0123", 2),
        [
            "c/u changed resource.k8s.io/v1 ResourceClaimTemplate n/chat-devices-abcdef0123; "
            'metadata.name "chat-devices-0123456789" -> "chat-devices-abcdef0123"; '
            "spec.spec.devices.requests[name=gpu].exactly.count 1 -> 2"
        ],
    ),
    "two-units-of-like-names-are-two": (
        documents(template("a-devices-0123456789", 1), template("a-devices-devices-0123456789", 1)),
        documents(template("a-devices-abcdef0123", 2), template("a-devices-devices-abcdef0123", 2)),
        [
            f"c/u changed resource.k8s.io/v1 ResourceClaimTemplate n/{name}-abcdef0123; "
            f'metadata.name "{name}-0123456789" -> "{name}-abcdef0123"; '
            "spec.spec.devices.requests[name=gpu].exactly.count 1 -> 2"
            for name in ("a-devices", "a-devices-devices")
        ],
    ),
    "which-of-two-it-was-nobody-knows": (
        template("chat-devices-0123456789", 1),
        documents(template("chat-devices-abcdef0123", 2), template("chat-devices-bbcdef0123", 3)),
        [
            "c/u removed resource.k8s.io/v1 ResourceClaimTemplate n/chat-devices-0123456789",
            "c/u added resource.k8s.io/v1 ResourceClaimTemplate n/chat-devices-abcdef0123",
            "c/u added resource.k8s.io/v1 ResourceClaimTemplate n/chat-devices-bbcdef0123",
        ],
    ),
    "kustomize-s-hash-of-a-config-map": (
        config_map("a-6ct58987ht", "x"),
        config_map("a-6d2tbd9m9t", "y"),
        ['c/u changed v1 ConfigMap n/a-6d2tbd9m9t; data.a "x" -> "y"; metadata.name "a-6ct58987ht" -> "a-6d2tbd9m9t"'],
    ),
    "an-order-that-means-nothing": (
        "{apiVersion: v1, kind: Node, metadata: {name: a}, spec: {taints: [{key: a}, {key: b}]}}",
        "{apiVersion: v1, kind: Node, metadata: {name: a}, spec: {taints: [{key: b}, {key: a}]}}",
        [],
    ),
}


@pytest.mark.parametrize(("before", "after", "said"), CASES.values(), ids=CASES)
def test_objects_before_and_after(before: str, after: str, said: list[str]) -> None:
    one, other = read(before), read(after)
    kept = copy.deepcopy((one, other))
    assert [say(change) for change in list_object_changes("c", pair_objects(one, other))] == said
    assert (one, other) == kept


def test_no_field_of_what_comes_or_goes_is_told() -> None:
    (come,) = list_object_changes("c", pair_objects((), read(config_map("a", "x"))))
    assert come.fields == ()


def test_an_object_that_is_the_same_value_is_not_looked_into() -> None:
    class Untouchable(dict[str, Any]):
        def items(self) -> Any:
            raise AssertionError("looked into")

    value = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "a"}, "spec": Untouchable()}
    one, other = (UnitObject(unit="u", value=value) for _ in range(2))
    assert pair_objects([one], [other]) == (Pair(before=one, after=other, is_equal=True),)


def test_values_are_the_same_in_their_types_too() -> None:
    values: Sequence[Any] = (1, True, 1.0, "1", None, [1], {"a": 1}, {"a": 1.0}, {"b": 1}, [], {})
    assert [(a, b) for a in values for b in values if is_same(copy.deepcopy(a), b) != (a is b)] == []


# Restarts: a workload's spec before and after, and fields of the template that differ; None: no restart.
ROLLING: dict[str, tuple[str, str, str, tuple[str, ...] | None, int]] = {
    "image": (
        "apps/v1 Deployment",
        "{replicas: 3, template: {a: 1}}",
        "{replicas: 9, template: {a: 2}}",
        ("spec.template.a",),
        3,
    ),
    "replicas-alone": (
        "apps/v1 Deployment",
        "{replicas: 3, template: {a: 1}}",
        "{replicas: 4, template: {a: 1}}",
        None,
        0,
    ),
    "one-replica-where-none-is-written": (
        "apps/v1 StatefulSet",
        "{template: {a: 1}}",
        "{template: {a: 2}}",
        ("spec.template.a",),
        1,
    ),
    "nodes-decide-for-a-daemon-set": (
        "apps/v1 DaemonSet",
        "{template: {a: 1}}",
        "{template: {a: 2}}",
        ("spec.template.a",),
        0,
    ),
    "labels-of-the-template": (
        "apps/v1 Deployment",
        "{template: {metadata: {labels: {a: x}}}}",
        "{template: {metadata: {labels: {a: y}}}}",
        ("spec.template.metadata.labels.a",),
        1,
    ),
    # The Deployment's controller compares lists as they are written.
    "an-order-that-means-nothing-to-pods": (
        "apps/v1 Deployment",
        "{template: {tolerations: [{key: a}, {key: b}]}}",
        "{template: {tolerations: [{key: b}, {key: a}]}}",
        ("spec.template.tolerations (order)",),
        1,
    ),
    "a-group-s-leader-and-size": (
        "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet",
        "{replicas: 2, leaderWorkerTemplate: {size: 2, leaderTemplate: {a: 1}, workerTemplate: {a: 1}}}",
        "{replicas: 2, leaderWorkerTemplate: {size: 4, leaderTemplate: {a: 2}, workerTemplate: {a: 1}}}",
        ("spec.leaderWorkerTemplate.leaderTemplate.a", "spec.leaderWorkerTemplate.size"),
        2,
    ),
    "a-group-s-recovery": (
        "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet",
        "{leaderWorkerTemplate: {maxGroupRestarts: 1}}",
        "{leaderWorkerTemplate: {maxGroupRestarts: 2}}",
        None,
        0,
    ),
    "another-selector-is-a-hazard": (
        "apps/v1 Deployment",
        "{selector: {a: x}, template: {a: 1}}",
        "{selector: {a: y}, template: {a: 2}}",
        None,
        0,
    ),
    "paused": ("apps/v1 Deployment", "{template: {a: 1}}", "{paused: true, template: {a: 2}}", None, 0),
    "on-delete": (
        "apps/v1 DaemonSet",
        "{template: {a: 1}}",
        "{updateStrategy: {type: OnDelete}, template: {a: 2}}",
        None,
        0,
    ),
    "a-job": ("batch/v1 Job", "{template: {a: 1}}", "{template: {a: 2}}", None, 0),
}


@pytest.mark.parametrize(("kind", "before", "after", "fields", "replicas"), ROLLING.values(), ids=ROLLING)
def test_pods_that_are_replaced(
    kind: str, before: str, after: str, fields: tuple[str, ...] | None, replicas: int
) -> None:
    api_version, _, name = kind.partition(" ")
    top = {"apiVersion": api_version, "kind": name, "metadata": {"name": "w", "namespace": "n"}}
    sides = [[UnitObject(unit="u", value={**top, "spec": yaml.safe_load(spec)})] for spec in (before, after)]
    wanted = Restart(cluster="c", unit="u", kind=name, name="n/w", replicas=replicas, fields=fields or ())
    assert list_restarts("c", pair_objects(*sides)) == (() if fields is None else (wanted,))


def test_a_workload_that_comes_or_goes_restarts_nothing() -> None:
    one = read("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {a: 1}}}")
    assert list_restarts("c", pair_objects(one, ())) == list_restarts("c", pair_objects((), one)) == ()
