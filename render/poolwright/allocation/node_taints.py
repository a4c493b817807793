"""Taints of nodes against the tolerations of pods: whether they keep a pod from a node.

Source: k8s.io/api core/v1 Toleration.ToleratesTaint; scheduler plugins TaintToleration and NodeUnschedulable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from poolwright.allocation.claim import Toleration
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import Taint

UNSCHEDULABLE: Final = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
_HARD: Final = ("NoSchedule", "NoExecute")
_DECIMAL: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")


def find_untolerated(node: Node, tolerations: Iterable[Toleration], *, comparisons: bool = False) -> Taint | None:
    """The first taint that keeps a pod from a node; None: no taint does.

    A node that is cordoned (`spec.unschedulable`) counts as tainted, first of all. Taints of effect PreferNoSchedule
    keep no pod away.
    comparisons: whether operators Lt and Gt count: the gate TaintTolerationComparisonOperators, alpha since 1.35.
    """
    held = tuple(tolerations)
    taints = ((UNSCHEDULABLE,) if node.unschedulable else ()) + node.taints
    for taint in taints:
        if taint.effect in _HARD and not any(_tolerates(one, taint, comparisons) for one in held):
            return taint
    return None


def _tolerates(toleration: Toleration, taint: Taint, comparisons: bool) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case "Lt" | "Gt" if comparisons:
            return _compares(taint.value, toleration.operator, toleration.value)
    return False


def _compares(value: str, operator: str, bound: str) -> bool:
    if not _DECIMAL.fullmatch(value) or not _DECIMAL.fullmatch(bound):
        return False
    left, right = int(value), int(bound)
    if not all(-(2**63) <= number < 2**63 for number in (left, right)):
        return False
    return left < right if operator == "Lt" else left > right
