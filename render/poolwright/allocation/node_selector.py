"""Node selectors of the core API: which nodes they select, and what is wrong with those that can't be read.

Source: k8s.io/component-helpers scheduling/corev1/nodeaffinity, k8s.io/apimachinery pkg/labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from poolwright.catalog.inventory import Node
from poolwright.specs.document import Plain

NAME_FIELD: Final = "metadata.name"  # the one field of a node that can be selected by
_NAME: Final = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
_KEY: Final = re.compile(rf"(?:(?P<prefix>[a-z0-9.-]{{1,253}})/)?{_NAME}")
_PREFIX: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*")
_VALUE: Final = re.compile(rf"(?:{_NAME})?")
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,40}")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


class NodeSelectorError(Exception):
    """A selector can't be read, so what it selects isn't known. Says every reason."""


def matches_node_selector(selector: Mapping[str, Plain], node: Node) -> bool:
    """Whether a selector selects a node: one of its terms does, with all of its requirements.

    selector: a v1 NodeSelector. A term without requirements selects nothing, and so does a selector without terms.
              Of a node that isn't known, no term selects it that asks for labels, or for their absence.
    Raises:   NodeSelectorError if any part can't be read, even where another term selects the node.
    """
    problems = list_selector_problems(selector)
    if problems:
        raise NodeSelectorError("; ".join(problems))
    return any(_matches_term(term, node) for term in _terms(selector))


def find_named_node(selector: Mapping[str, Plain] | None) -> str | None:
    """The one node that a selector selects by name and nothing else; None: it isn't such a selector."""
    match (selector or {}).get("nodeSelectorTerms"):
        case [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [str(name)]}]}]:
            return name
    return None


def is_undecided(selector: Mapping[str, Plain] | None, node: Node, labels: Mapping[str, str] | None = None) -> bool:
    """Whether it isn't known if a selector, and a pod's `nodeSelector`, select a node, because its labels aren't."""
    if node.is_known:
        return False
    terms = [term for term in _terms(selector) if not _term_problems(term, "")] if selector is not None else []
    found = [_decide_term(term, node) for term in terms]
    if selector is not None and not any(one is None or one for one in found):
        return False
    return bool(labels) or (selector is not None and True not in found)


def list_named_nodes(selector: Mapping[str, Plain] | None) -> Iterator[str]:
    """The nodes that terms of a selector name."""
    for term in _terms(selector) if selector is not None else ():
        if isinstance(term, dict) and not _term_problems(term, ""):
            yield from (values[0] for _, operator, values in _requirements(term, "matchFields") if operator == "In")


def asks_labels(selector: Mapping[str, Plain] | None) -> bool:
    """Whether labels of nodes decide on what a selector selects."""
    terms = (selector or {}).get("nodeSelectorTerms")
    listed = terms if isinstance(terms, list) else []
    return any(isinstance(one, dict) and one.get("matchExpressions") for one in listed)


def matches_affinity(node_selector: Mapping[str, str], affinity: Mapping[str, Plain] | None, node: Node) -> bool:
    """Whether a pod may run on a node by its `nodeSelector` and its required node affinity.

    affinity: `requiredDuringSchedulingIgnoredDuringExecution`, a v1 NodeSelector; None: the pod has none.
    Raises:   NodeSelectorError if terms can't be read and none of the others selects the node.
    """
    if any(node.labels.get(key) != value for key, value in node_selector.items()):
        return False
    if affinity is None:
        return True
    problems = []
    for index, term in enumerate(_terms(affinity)):
        wrong = _term_problems(term, f"nodeSelectorTerms[{index}]")
        problems += wrong
        if not wrong and _matches_term(term, node):
            return True
    if problems:
        raise NodeSelectorError("; ".join(problems))
    return False


def list_selector_problems(selector: Mapping[str, Plain]) -> tuple[str, ...]:
    """What can't be read of a selector, by term and requirement; none: it can be matched."""
    terms = selector.get("nodeSelectorTerms")
    if terms is not None and not isinstance(terms, list):
        return ("nodeSelectorTerms is not a list",)
    return tuple(
        problem
        for index, term in enumerate(_terms(selector))
        for problem in _term_problems(term, f"nodeSelectorTerms[{index}]")
    )


def _terms(selector: Mapping[str, Plain]) -> Sequence[Plain]:
    terms = selector.get("nodeSelectorTerms")
    return terms if isinstance(terms, list) else ()


def _term_problems(term: Plain, path: str) -> list[str]:
    if not isinstance(term, dict):
        return [] if term is None else [f"{path} is not a map"]
    problems = []
    for kind in ("matchExpressions", "matchFields"):
        listed = term.get(kind)
        if listed is not None and not isinstance(listed, list):
            problems.append(f"{path}.{kind} is not a list")
            continue
        for index, requirement in enumerate(listed or ()):
            problems += _requirement_problems(requirement, kind, f"{path}.{kind}[{index}]")
    return problems


def _requirement_problems(requirement: Plain, kind: str, path: str) -> list[str]:
    if not isinstance(requirement, dict):
        return [f"{path} is not a map"]
    key, operator, values = (requirement.get(name) for name in ("key", "operator", "values"))
    values = [] if values is None else values
    if not isinstance(key, str) or not isinstance(operator, str):
        return [f"{path} has no key or no operator"]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        return [f"{path}.values is not a list of strings"]
    texts = [str(value) for value in values]
    if kind == "matchFields":
        return _field_problems(operator, texts, path)
    problems = _count_problems(operator, texts, path)
    if not _is_label_key(key):
        problems.append(f'{path}.key "{key}" is no label name')
    return problems + [f'{path}.values has "{text}", which is no label value' for text in texts if not _is_value(text)]


def _field_problems(operator: str, values: Sequence[str], path: str) -> list[str]:
    if operator not in ("In", "NotIn"):
        return [f'{path}.operator is "{operator}"; known for fields: In, NotIn']
    return [] if len(values) == 1 else [f"{path}.values has {len(values)} entries, and {operator} of a field takes one"]


def _count_problems(operator: str, values: Sequence[str], path: str) -> list[str]:
    match operator:
        case "In" | "NotIn":
            return [] if values else [f"{path}.values is empty, and {operator} takes at least one"]
        case "Exists" | "DoesNotExist":
            return [f"{path}.values isn't empty, and {operator} takes none"] if values else []
        case "Gt" | "Lt":
            if len(values) == 1 and _number(values[0]) is not None:
                return []
            return [f"{path}.values must be one whole number for {operator}"]
    return [f'{path}.operator is "{operator}"; known: In, NotIn, Exists, DoesNotExist, Gt, Lt']


def _matches_term(term: Plain, node: Node) -> bool:
    """The term has no problems. What isn't known doesn't match."""
    return _decide_term(term, node) is True


def _decide_term(term: Plain, node: Node) -> bool | None:
    """Whether a term without problems selects a node; None: its labels decide, and aren't known."""
    if not isinstance(term, dict):
        return False
    by_label, by_field = (_requirements(term, kind) for kind in ("matchExpressions", "matchFields"))
    if not by_label and not by_field:
        return False
    is_named = all(
        ((node.name if key == NAME_FIELD else "") == values[0]) == (operator == "In")
        for key, operator, values in by_field
    )
    if not is_named or not by_label:
        return is_named
    return all(_matches_label(*entry, node.labels) for entry in by_label) if node.is_known else None


def _requirements(term: dict[str, Plain], kind: str) -> list[tuple[str, str, list[str]]]:
    listed = term.get(kind)
    found = []
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict):
            values = entry.get("values")
            texts = [str(value) for value in values] if isinstance(values, list) else []
            found.append((str(entry.get("key")), str(entry.get("operator")), texts))
    return found


def _matches_label(key: str, operator: str, values: Sequence[str], labels: Mapping[str, str]) -> bool:
    value = labels.get(key)
    match operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    number, bound = None if value is None else _number(value), _number(values[0])
    if number is None or bound is None:
        return False
    return number > bound if operator == "Gt" else number < bound


def _number(text: str) -> int | None:
    """A 64-bit number; None: it is none."""
    number = int(text) if _WHOLE.fullmatch(text) else None
    return number if number is not None and _SMALLEST <= number <= _LARGEST else None


def _is_label_key(key: str) -> bool:
    match = _KEY.fullmatch(key)
    return match is not None and (match["prefix"] is None or _PREFIX.fullmatch(match["prefix"]) is not None)


def _is_value(text: str) -> bool:
    return _VALUE.fullmatch(text) is not None
