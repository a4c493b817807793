"""Which taints of a node keep a pod away."""

from __future__ import annotations

import pytest

from poolwright.allocation.claim import Toleration
from poolwright.allocation.node_taints import UNSCHEDULABLE, find_untolerated
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import Taint

GPU = Taint(key="gpu", value="yes", effect="NoSchedule")
SLOW = Taint(key="slow", effect="PreferNoSchedule")
OUT = Taint(key="out", effect="NoExecute")
SLO = Taint(key="slo", value="90", effect="NoSchedule")

CASES: dict[str, tuple[tuple[Taint, ...], tuple[Toleration, ...], Taint | None]] = {
    "no-taint": ((), (), None),
    "not-tolerated": ((GPU,), (), GPU),
    "preferred-keeps-nobody-away": ((SLOW,), (), None),
    "no-execute-keeps-away-too": ((SLOW, OUT), (), OUT),
    "the-first-of-several": ((GPU, OUT), (), GPU),
    "the-first-that-is-not-tolerated": ((GPU, OUT), (Toleration(key="gpu", operator="Exists"),), OUT),
    "equal": ((GPU,), (Toleration(key="gpu", value="yes"),), None),
    "equal-to-another-value": ((GPU,), (Toleration(key="gpu", value="no"),), GPU),
    "an-empty-operator-is-equal": ((GPU,), (Toleration(key="gpu", operator="", value="yes"),), None),
    "another-effect": ((GPU,), (Toleration(key="gpu", value="yes", effect="NoExecute"),), GPU),
    "everything": ((GPU, OUT, SLO), (Toleration(operator="Exists"),), None),
    "every-key-with-an-effect": ((GPU, OUT), (Toleration(operator="Exists", effect="NoSchedule"),), OUT),
    "unknown-operator": ((GPU,), (Toleration(key="gpu", operator="Near", value="yes"),), GPU),
    "comparison-without-its-gate": ((SLO,), (Toleration(key="slo", operator="Gt", value="80"),), SLO),
}


@pytest.mark.parametrize(("taints", "tolerations", "found"), CASES.values(), ids=CASES)
def test_taints(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...], found: Taint | None) -> None:
    assert find_untolerated(Node(name="a", taints=taints), tolerations) == found


COMPARISONS = {
    "greater": ("Gt", "80", True),
    "not-greater": ("Gt", "90", False),
    "less": ("Lt", "95", True),
    "not-a-number": ("Lt", "high", False),
    "zeros-in-front": ("Lt", "095", False),
    "beyond-64-bits": ("Lt", "9223372036854775808", False),
}


@pytest.mark.parametrize(("operator", "bound", "tolerated"), COMPARISONS.values(), ids=COMPARISONS)
def test_comparisons_with_their_gate(operator: str, bound: str, tolerated: bool) -> None:
    held = (Toleration(key="slo", operator=operator, value=bound),)
    assert (find_untolerated(Node(name="a", taints=(SLO,)), held, comparisons=True) is None) is tolerated


def test_a_cordoned_node_is_tainted_first() -> None:
    node = Node(name="a", taints=(GPU,), unschedulable=True)
    assert find_untolerated(node, ()) == UNSCHEDULABLE
    assert find_untolerated(node, (Toleration(key=UNSCHEDULABLE.key, operator="Exists"),)) == GPU
