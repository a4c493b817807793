"""Why CEL gave no answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from poolwright.catalog.cel import CelError


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectorProblem:
    """Why a selector gave no answer. Upstream that ends the pod's scheduling attempt: it isn't a `false`."""

    kind: Literal["compile", "runtime"]
    message: str  # one clause in upstream's meaning
    hint: str = ""  # how to mend it; empty where nothing is known


def build_compile_problem(error: CelError) -> SelectorProblem:
    """What is said of a text that isn't CEL, or not the CEL of selectors."""
    said = "; ".join(f"line {one.line}, column {one.column}: {one.message}" for one in error.problems)
    return SelectorProblem(kind="compile", message=f"compilation failed: {said}")
