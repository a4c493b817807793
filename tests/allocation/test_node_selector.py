"""Which nodes a node selector selects, and what is said of one that can't be read."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from poolwright.allocation.node_selector import (
    NodeSelectorError,
    list_selector_problems,
    matches_affinity,
    matches_node_selector,
)
from poolwright.catalog.inventory import Node

NODE = Node(name="a", labels={"zone": "east", "gpus": "8", "example.com/empty": ""})


def term(*expressions: tuple[str, str, list[str]], fields: tuple[tuple[str, str, list[str]], ...] = ()) -> Any:
    def requirements(entries: tuple[tuple[str, str, list[str]], ...]) -> list[dict[str, object]]:
        return [{"key": key, "operator": operator, "values": values} for key, operator, values in entries]

    named = {"matchExpressions": requirements(expressions), "matchFields": requirements(fields)}
    return {kind: listed for kind, listed in named.items() if listed}


MATCHES = {
    "in": ([term(("zone", "In", ["west", "east"]))], True),
    "in-another": ([term(("zone", "In", ["west"]))], False),
    "in-without-the-label": ([term(("rack", "In", ["a"]))], False),
    "not-in": ([term(("zone", "NotIn", ["west"]))], True),
    # A node without the label isn't in any of the values.
    "not-in-without-the-label": ([term(("rack", "NotIn", ["a"]))], True),
    "not-in-its-own": ([term(("zone", "NotIn", ["east"]))], False),
    "exists": ([term(("example.com/empty", "Exists", []))], True),
    "does-not-exist": ([term(("zone", "DoesNotExist", []))], False),
    "greater": ([term(("gpus", "Gt", ["7"]))], True),
    "greater-than-itself": ([term(("gpus", "Gt", ["8"]))], False),
    "less": ([term(("gpus", "Lt", ["9"]))], True),
    # A label that is no number is neither greater nor less, and no error.
    "greater-than-a-word": ([term(("zone", "Gt", ["1"]))], False),
    "less-without-the-label": ([term(("rack", "Lt", ["1"]))], False),
    "all-requirements-of-a-term": ([term(("zone", "In", ["east"]), ("rack", "Exists", []))], False),
    "any-of-the-terms": ([term(("rack", "Exists", [])), term(("zone", "Exists", []))], True),
    "by-name": ([term(fields=(("metadata.name", "In", ["a"]),))], True),
    "by-another-name": ([term(fields=(("metadata.name", "In", ["b"]),))], False),
    "not-by-name": ([term(fields=(("metadata.name", "NotIn", ["a"]),))], False),
    "another-field-is-empty": ([term(fields=(("metadata.uid", "NotIn", ["a"]),))], True),
    "name-and-label": ([term(("rack", "Exists", []), fields=(("metadata.name", "In", ["a"]),))], False),
    "empty-term": ([{}], False),
    "null-term": ([None], False),
    "empty-term-beside-one": ([{}, term(("zone", "Exists", []))], True),
    "no-terms": ([], False),
}


@pytest.mark.parametrize(("terms", "matches"), MATCHES.values(), ids=MATCHES)
def test_which_nodes_match(terms: list[Any], matches: bool) -> None:
    selector = {"nodeSelectorTerms": terms}
    before = copy.deepcopy(selector)
    assert matches_node_selector(selector, NODE) is matches
    assert matches_affinity({}, selector, NODE) is matches
    assert selector == before


PROBLEMS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "terms-that-are-a-map": ({"nodeSelectorTerms": {}}, ("nodeSelectorTerms is not a list",)),
    "term-that-is-a-word": ({"nodeSelectorTerms": ["a"]}, ("nodeSelectorTerms[0] is not a map",)),
    "requirements-that-are-a-map": (
        {"nodeSelectorTerms": [{"matchExpressions": {}}]},
        ("nodeSelectorTerms[0].matchExpressions is not a list",),
    ),
    "requirement-that-is-a-word": (
        {"nodeSelectorTerms": [{"matchFields": ["a"]}]},
        ("nodeSelectorTerms[0].matchFields[0] is not a map",),
    ),
    "no-operator": (
        {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a"}]}]},
        ("nodeSelectorTerms[0].matchExpressions[0] has no key or no operator",),
    ),
    "values-that-are-numbers": (
        {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In", "values": [1]}]}]},
        ("nodeSelectorTerms[0].matchExpressions[0].values is not a list of strings",),
    ),
    "unknown-operator": (
        {"nodeSelectorTerms": [term(("a", "in", ["b"]))]},
        ('nodeSelectorTerms[0].matchExpressions[0].operator is "in"; known: In, NotIn, Exists, DoesNotExist, Gt, Lt',),
    ),
    "in-of-nothing": (
        {"nodeSelectorTerms": [term(("a", "In", []))]},
        ("nodeSelectorTerms[0].matchExpressions[0].values is empty, and In takes at least one",),
    ),
    "exists-with-a-value": (
        {"nodeSelectorTerms": [term(("a", "Exists", ["b"]))]},
        ("nodeSelectorTerms[0].matchExpressions[0].values isn't empty, and Exists takes none",),
    ),
    "greater-than-a-word": (
        {"nodeSelectorTerms": [term(("a", "Gt", ["b"]))]},
        ("nodeSelectorTerms[0].matchExpressions[0].values must be one whole number for Gt",),
    ),
    "beyond-64-bits": (
        {"nodeSelectorTerms": [term(("a", "Lt", ["9223372036854775808"]))]},
        ("nodeSelectorTerms[0].matchExpressions[0].values must be one whole number for Lt",),
    ),
    "key-and-value-that-no-label-has": (
        {"nodeSelectorTerms": [term(("a b", "In", ["c d", "x" * 64]))]},
        (
            'nodeSelectorTerms[0].matchExpressions[0].key "a b" is no label name',
            'nodeSelectorTerms[0].matchExpressions[0].values has "c d", which is no label value',
            f'nodeSelectorTerms[0].matchExpressions[0].values has "{"x" * 64}", which is no label value',
        ),
    ),
    "field-with-two-values": (
        {"nodeSelectorTerms": [term(fields=(("metadata.name", "In", ["a", "b"]),))]},
        ("nodeSelectorTerms[0].matchFields[0].values has 2 entries, and In of a field takes one",),
    ),
    "field-that-exists": (
        {"nodeSelectorTerms": [term(fields=(("metadata.name", "Exists", []),))]},
        ('nodeSelectorTerms[0].matchFields[0].operator is "Exists"; known for fields: In, NotIn',),
    ),
}


@pytest.mark.parametrize(("selector", "problems"), PROBLEMS.values(), ids=PROBLEMS)
def test_selectors_that_cannot_be_read(selector: dict[str, Any], problems: tuple[str, ...]) -> None:
    assert list_selector_problems(selector) == problems
    with pytest.raises(NodeSelectorError) as caught:
        matches_node_selector(selector, NODE)
    assert str(caught.value) == "; ".join(problems)


def test_a_pods_affinity_fails_only_if_no_other_term_selects_the_node() -> None:
    bad, good, other = (term(entry) for entry in (("a", "in", []), ("zone", "Exists", []), ("rack", "Exists", [])))
    assert matches_affinity({}, {"nodeSelectorTerms": [bad, good]}, NODE)
    with pytest.raises(NodeSelectorError):
        matches_affinity({}, {"nodeSelectorTerms": [bad, other]}, NODE)
    with pytest.raises(NodeSelectorError):
        matches_node_selector({"nodeSelectorTerms": [good, bad]}, NODE)


def test_a_pods_node_selector_is_asked_first() -> None:
    assert matches_affinity({"zone": "east"}, None, NODE)
    assert not matches_affinity({"zone": "east", "rack": "a"}, None, NODE)
    assert not matches_affinity({"zone": "west"}, {"nodeSelectorTerms": [term(("a", "in", []))]}, NODE)
    assert not matches_affinity({"zone": "east"}, {"nodeSelectorTerms": []}, NODE)
