"""What the schedulers before Kubernetes 1.37 don't compile."""

from __future__ import annotations

from poolwright.catalog.cel import CelExpression


def check_release(expression: CelExpression, release: int, *, has_lists: bool) -> str:
    """What is wrong with a selector in a release before 1.37; empty if nothing is."""
    raise NotImplementedError((expression, release, has_lists))
