"""Which fields differ: one line for each, with the keys of lists in its path."""

from __future__ import annotations

import copy
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from poolwright.changes.objects.exact import MAX_SHOWN, exact_json
from poolwright.changes.objects.fields import list_field_changes
from poolwright.changes.objects.item_keys import UNORDERED
from poolwright.changes.report import FieldChange
from unit_objects import FLEET, objects_of, workload

WORKLOAD = workload(objects_of(FLEET, "chat-70b"))
POD = "spec.template.spec"
ENGINE = f"{POD}.containers[name=engine]"


def say(change: FieldChange) -> str:
    """A change on a line: its path, what became of it, and the values that are shown."""
    values = [text for text in (change.before, change.after) if text is not None]
    return " ".join((change.path, change.change, *(["hidden"] if change.is_hidden else []), *values))


def lines(before: Any, after: Any, *, every_order: bool = False) -> list[str]:
    return [say(change) for change in list_field_changes(before, after, every_order=every_order)]


def edited(edit: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    after = copy.deepcopy(WORKLOAD)
    edit(after)
    return after


def pod_of(obj: dict[str, Any]) -> Any:
    return obj["spec"]["template"]["spec"]


def engine_of(obj: dict[str, Any]) -> Any:
    return pod_of(obj)["containers"][0]


def swap(items: list[Any], one: int, other: int) -> None:
    items[one], items[other] = items[other], items[one]


# A change of the example's Deployment, and what is said of it.
OF_A_WORKLOAD = {
    "nothing": (lambda obj: None, []),
    "one-variable-in-front-is-one-line-and-no-cascade": (
        lambda obj: engine_of(obj)["env"].insert(0, {"name": "NEW", "value": "1"}),
        [f'{ENGINE}.env[name=NEW] added {{"name":"NEW","value":"1"}}'],
    ),
    "a-variable-changes-by-its-name": (
        lambda obj: engine_of(obj)["env"][1].update(value="west"),
        [f'{ENGINE}.env[name=POOLWRIGHT_CLUSTER].value changed "east" "west"'],
    ),
    "a-flag-changes-by-its-name": (
        lambda obj: engine_of(obj)["args"].__setitem__(5, "--max-model-len=32768"),
        [f'{ENGINE}.args[--max-model-len] changed "16384" "32768"'],
    ),
    "a-flag-without-a-value-is-added": (
        lambda obj: engine_of(obj)["args"].insert(2, "--enable-prefix-caching"),
        [f'{ENGINE}.args[--enable-prefix-caching] added "--enable-prefix-caching"'],
    ),
    "a-word-among-flags-goes-by-its-position": (
        lambda obj: engine_of(obj)["args"].__setitem__(0, "/models/other"),
        [f'{ENGINE}.args[0] changed "/models/llama-3.3-70b-fp8" "/models/other"'],
    ),
    "another-spelling-of-a-flag-is-a-change-of-words": (
        lambda obj: engine_of(obj)["args"].__setitem__(slice(5, 6), ["--max-model-len", "16384"]),
        [f'{ENGINE}.args[--max-model-len] changed "--max-model-len=16384" ["--max-model-len","16384"]'],
    ),
    "a-port-by-number-and-protocol-which-is-tcp-where-none-is-written": (
        lambda obj: engine_of(obj)["ports"][0].pop("protocol"),
        [f'{ENGINE}.ports[containerPort=8000,protocol=TCP].protocol removed "TCP"'],
    ),
    "a-mount-by-its-path": (
        lambda obj: engine_of(obj)["volumeMounts"][0].pop("readOnly"),
        [f"{ENGINE}.volumeMounts[mountPath=/models].readOnly removed true"],
    ),
    "a-sidecar-is-one-line": (
        lambda obj: pod_of(obj)["containers"].append({"name": "log", "image": "log:1"}),
        [f'{POD}.containers[name=log] added {{"image":"log:1","name":"log"}}'],
    ),
    "tolerations-by-key-and-effect": (
        lambda obj: pod_of(obj)["tolerations"].insert(0, {"key": "spot", "operator": "Exists"}),
        [f'{POD}.tolerations[key=spot] added {{"key":"spot","operator":"Exists"}}'],
    ),
    "claims-of-a-pod-by-name": (
        lambda obj: pod_of(obj)["resourceClaims"][0].update(resourceClaimTemplateName="other"),
        [f'{POD}.resourceClaims[name=devices].resourceClaimTemplateName changed "chat-70b-devices-894a295b3d" "other"'],
    ),
    "odd-keys-are-quoted": (
        lambda obj: obj["metadata"]["labels"].update({"a.b/c": "1"}),
        ['metadata.labels["a.b/c"] added "1"'],
    ),
    "types-count": (
        lambda obj: obj["spec"].update(replicas=2.0),
        ["spec.replicas changed 2 2.0"],
    ),
    "the-api-version": (
        lambda obj: obj.update(apiVersion="apps/v1beta2"),
        ['apiVersion changed "apps/v1" "apps/v1beta2"'],
    ),
}


@pytest.mark.parametrize(("edit", "said"), OF_A_WORKLOAD.values(), ids=OF_A_WORKLOAD)
def test_a_workload_before_and_after(edit: Callable[[dict[str, Any]], object], said: list[str]) -> None:
    before = copy.deepcopy(WORKLOAD)
    assert lines(before, edited(edit)) == said
    assert before == WORKLOAD


# Two texts of a part of an object; every key of a list, orders, and types.
OF_A_PART = {
    "order-of-variables": (
        "env: [{name: A}, {name: B}, {name: C}]",
        "env: [{name: C}, {name: A}, {name: B}]",
        ['env (order) changed ["name=A","name=B","name=C"] ["name=C","name=A","name=B"]'],
    ),
    "order-of-arguments": (
        "args: [serve, --a=1, --b=2]",
        "args: [--b=2, serve, --a=1]",
        ['args (order) changed ["serve","--a","--b"] ["--b","serve","--a"]'],
    ),
    "order-of-alternatives": (
        "firstAvailable: [{name: big}, {name: small}]",
        "firstAvailable: [{name: small}, {name: big}]",
        ['firstAvailable (order) changed ["name=big","name=small"] ["name=small","name=big"]'],
    ),
    "what-is-new-in-between-moves-nothing": (
        "env: [{name: A}, {name: B}]",
        "env: [{name: N}, {name: A}, {name: M}, {name: B}]",
        ['env[name=M] added {"name":"M"}', 'env[name=N] added {"name":"N"}'],
    ),
    "order-of-tolerations-means-nothing": (
        "tolerations: [{key: a}, {key: b, effect: NoSchedule}, {key: a, value: x}]",
        "tolerations: [{key: a, value: x}, {key: b, effect: NoSchedule}, {key: a}]",
        [],
    ),
    "order-of-taints-means-nothing": ("taints: [{key: a}, {key: b}]", "taints: [{key: b}, {key: a}]", []),
    "order-of-constraints-means-nothing": (
        "constraints: [{matchAttribute: a/b}, {distinctAttribute: c/d}]",
        "constraints: [{distinctAttribute: c/d}, {matchAttribute: a/b}]",
        [],
    ),
    "order-of-a-class's-selectors-means-nothing-and-each-is-told-by-its-text": (
        "selectors: [{cel: {expression: a == 1}}, {cel: {expression: b == 2}}]",
        "selectors: [{cel: {expression: b == 2}}, {cel: {expression: a == 3}}]",
        [
            'selectors[0] changed {"cel":{"expression":"a == 1"}} {"cel":{"expression":"a == 3"}}',
        ],
    ),
    "a-clause-more-in-a-selector": (
        "selectors: [{cel: {expression: a == 1}}, {cel: {expression: b == 2}}]",
        "selectors: [{cel: {expression: a == 1}}, {cel: {expression: b == 2 && c}}]",
        ['selectors[1].cel.expression changed "b == 2" "b == 2 && c"'],
    ),
    "a-selector-more": (
        "selectors: [{cel: {expression: a == 1}}]",
        "selectors: [{cel: {expression: b == 2}}, {cel: {expression: a == 1}}]",
        ['selectors[0] added {"cel":{"expression":"b == 2"}}'],
    ),
    "requests-and-subrequests-by-name": (
        "requests: [{name: gpu, firstAvailable: [{name: a, count: 1}, {name: b}]}]",
        "requests: [{name: gpu, firstAvailable: [{name: b}, {name: a, count: 2}]}]",
        [
            "requests[name=gpu].firstAvailable[name=a].count changed 1 2",
            'requests[name=gpu].firstAvailable (order) changed ["name=a","name=b"] ["name=b","name=a"]',
        ],
    ),
    "a-service's-ports": (
        "ports: [{port: 80}, {port: 443}]",
        "ports: [{port: 443, targetPort: 1}, {port: 80}]",
        ["ports[port=443,protocol=TCP].targetPort added 1"],
    ),
    "conditions-by-type": (
        "conditions: [{type: Ready, status: 'True'}]",
        "conditions: [{type: Ready, status: 'False'}]",
        ['conditions[type=Ready].status changed "True" "False"'],
    ),
    "alerts-by-their-names-in-groups-by-theirs": (
        "groups: [{name: g, rules: [{alert: A, for: 5m}, {alert: B}]}]",
        "groups: [{name: g, rules: [{alert: A, for: 9m}, {alert: B}]}]",
        ['groups[name=g].rules[alert=A].for changed "5m" "9m"'],
    ),
    "owners-by-uid": (
        "ownerReferences: [{uid: u, name: a}]",
        "ownerReferences: [{uid: u, name: b}]",
        ['ownerReferences[uid=u].name changed "a" "b"'],
    ),
    "owners-by-name-where-one-has-no-uid": (
        "ownerReferences: [{uid: u, kind: K, name: a}]",
        "ownerReferences: [{kind: K, name: a}]",
        ['ownerReferences[kind=K,name=a].uid removed "u"'],
    ),
    # Kubernetes takes the last of two; which is which is told by number.
    "two-variables-of-one-name": (
        "env: [{name: A, value: x}, {name: A, value: y}]",
        "env: [{name: A, value: x}, {name: A, value: z}]",
        ['env[name=A#2].value changed "y" "z"'],
    ),
    "items-without-a-key-by-what-they-hold": (
        "command: [a, b, c]",
        "command: [a, x, c]",
        ['command[1] changed "b" "x"'],
    ),
    "an-item-without-a-key-in-front": (
        "relabelings: [{action: keep}, {action: drop}]",
        "relabelings: [{action: replace}, {action: keep}, {action: drop}]",
        ['relabelings[0] added {"action":"replace"}'],
    ),
    "one-item-without-a-name": (
        "volumes: [{name: a}, {name: b}]",
        "volumes: [{name: a}, {emptyDir: {}}]",
        ["volumes[1].emptyDir added {}", 'volumes[1].name removed "b"'],
    ),
    "the-last-item-goes": ("env: [{name: A}]", "env: []", ['env[name=A] removed {"name":"A"}']),
    "true-is-not-1-nor-a-text": (
        "{a: true, b: 1, c: '1', d: 1.0}",
        "{a: 1, b: '1', c: 1.0, d: 1}",
        ["a changed true 1", 'b changed 1 "1"', 'c changed "1" 1.0', "d changed 1.0 1"],
    ),
    "null-is-a-value-and-a-list-is-no-map": (
        "{e: null, f: []}",
        "{f: {}}",
        ["e removed null", "f changed [] {}"],
    ),
    "a-map-becomes-a-text": ("a: {b: 1}", "a: x", ['a changed {"b":1} "x"']),
    "keys-with-underscores-count": (
        "{__a: 1, a: {__b: 1, x: 1, y: 1}}",
        "{__a: 2, a: {__b: 2}}",
        ["__a changed 1 2", "a.__b changed 1 2", "a.x removed 1", "a.y removed 1"],
    ),
    "lines-that-share-nothing": ("a: 'x\n\n\n'", "b: 'x\n\n\n'", [r'a removed "x\n\n"', r'b added "x\n\n"']),
}


@pytest.mark.parametrize(("before", "after", "said"), OF_A_PART.values(), ids=OF_A_PART)
def test_a_part_before_and_after(before: str, after: str, said: list[str]) -> None:
    assert lines(yaml.safe_load(before), yaml.safe_load(after)) == said


def test_every_order_counts_for_who_compares_bytes() -> None:
    before, after = ({"tolerations": [{"key": key} for key in keys]} for keys in ("ab", "ba"))
    assert lines(before, after, every_order=True) == ['tolerations (order) changed ["key=a","key=b"] ["key=b","key=a"]']


def test_long_values_are_shown_from_where_they_part_and_say_what_is_left_out() -> None:
    before, after = {"a": "x" * 1000 + "1" + "y" * 500}, {"a": "x" * 1000 + "2" + "y" * 500}
    shown = "x" * 60, "y" * (MAX_SHOWN - 61)
    assert lines(before, after) == [
        f"a changed (941 characters left out) ...{shown[0]}1{shown[1]}... (162 characters left out) "
        f"(941 characters left out) ...{shown[0]}2{shown[1]}... (162 characters left out)"
    ]
    assert lines({}, {"a": "x" * 500}) == [f'a added "{"x" * 399}... (102 characters left out)']


def test_a_lone_surrogate_and_a_control_character_get_into_a_report() -> None:
    (change,) = list_field_changes({"a": "\ud800\x1b"}, {"a": "b", "\ud800\x1b": 1})[:1]
    assert change.before == r'"\ud800\u001b"'
    assert [say(one) for one in list_field_changes({}, {"\ud800\x1b": 1})] == [r'["\ud800\x1b"] added 1']


# Parts of objects with lists of every kind, at random.
NAMES = st.sampled_from(("a", "b", "c", "x.y/z", "--f", "-1"))
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(0, 2), st.just(1.0), st.sampled_from(("", "1", "a", "b")))
ITEMS = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("name", "key", "effect", "mountPath", "uid", "type"), st.sampled_from(("a", "b", "c"))),
        "containerPort": st.integers(0, 2),
        "value": SCALARS,
    },
)
WORDS = st.lists(st.sampled_from(("serve", "--a", "--a=1", "--b=2", "-c", "1", "--b", "2")), max_size=5)
LISTS = ("containers", "env", "tolerations", "taints", "volumes", "volumeMounts", "ports", "firstAvailable", "odd")
OBJECTS = st.recursive(
    st.one_of(
        SCALARS,
        st.fixed_dictionaries({}, optional={name: st.lists(ITEMS, max_size=4) for name in LISTS}),
        st.fixed_dictionaries({}, optional={"args": WORDS, "command": WORDS}),
    ),
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(NAMES, below, max_size=3)),
    max_leaves=8,
).map(lambda value: {"spec": value})


def bare(value: Any, name: str = "") -> Any:
    """A value without the order that means nothing."""
    if isinstance(value, dict):
        return {key: bare(part, key) for key, part in value.items()}
    if isinstance(value, list):
        items = [bare(item) for item in value]
        return sorted(items, key=exact_json) if name in UNORDERED else items
    return value


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    """Two values, near ones as often as any: the second may be the first with its lists shuffled."""
    one = draw(OBJECTS)
    if draw(st.booleans()):
        return one, draw(OBJECTS)
    return one, shuffled(one, draw)


def shuffled(value: Any, draw: st.DrawFn) -> Any:
    if isinstance(value, dict):
        return {key: shuffled(part, draw) for key, part in value.items()}
    if isinstance(value, list):
        return draw(st.permutations([shuffled(item, draw) for item in value]))
    return value


@given(pairs())
@settings(max_examples=400, deadline=None)
def test_empty_if_and_only_if_both_mean_the_same(pair: tuple[Any, Any]) -> None:
    one, other = pair
    assert (list_field_changes(one, other) == ()) == (exact_json(bare(one)) == exact_json(bare(other)))
    assert (list_field_changes(one, other, every_order=True) == ()) == (exact_json(one) == exact_json(other))


STEP = re.compile(r'(?:^|\.)(?P<key>[\w-]+)|\["(?P<odd>[^"]*)"\]|\[(?P<item>[^\]]+)\]| \((?P<order>order)\)$')


def exists(value: Any, path: str) -> bool:
    """Whether a path leads to something in a value, read from its text alone."""
    found = [value]
    at = 0
    while at < len(path):
        step = STEP.match(path, at)
        assert step, path[at:]
        at = step.end()
        if step["order"]:
            continue
        key = step["key"] or step["odd"]
        if key is not None or step["odd"] == "":
            found = [one[key or ""] for one in found if isinstance(one, dict) and (key or "") in one]
        else:
            found = [item for one in found if isinstance(one, list) for item in items_of(one, step["item"])]
    return bool(found)


def items_of(items: list[Any], label: str) -> list[Any]:
    label = re.sub(r"#[0-9]+$", "", label)
    if label.isdigit():
        return items[int(label) : int(label) + 1]
    if label.startswith("-"):
        return [items[at : at + 2] for at, item in enumerate(items) if str(item).partition("=")[0] == label]
    wanted = dict(part.split("=") for part in label.split(",")) if label != "none" else {}
    defaults = {"protocol": "TCP"}
    return [
        item
        for item in items
        if isinstance(item, dict) and all(str(item.get(key, defaults.get(key))) == text for key, text in wanted.items())
    ]


@given(pairs())
@settings(max_examples=400, deadline=None)
def test_every_path_is_on_one_side_and_no_path_is_told_twice(pair: tuple[Any, Any]) -> None:
    changes = list_field_changes(*pair)
    assert [one.path for one in changes if not any(exists(side, one.path) for side in pair)] == []
    assert len({one.path for one in changes}) == len(changes)


def test_deepdiff_is_imported_when_something_differs_and_not_before() -> None:
    """Its import takes longer than the rest of a comparison."""
    code = (
        "import sys; from poolwright.changes.objects.fields import list_field_changes as f\n"
        "import poolwright.changes.objects.hazards\n"
        "before = 'deepdiff' in sys.modules; f({'a': [1]}, {'a': [1]}); equal = 'deepdiff' in sys.modules\n"
        "f({'a': 1}, {'a': 2}); print(before, equal, 'deepdiff' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False False True\n"
