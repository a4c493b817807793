"""What the schedulers before Kubernetes 1.37 don't compile.

Established by compiling with k8s.io/dynamic-resource-allocation v0.34.13, v0.35.10 and v0.36.6: where attributes can't
be lists, one is a value of type `any`, which can't be walked and is the only result beside bool. includes() came with
1.36, whatever its gate says. Every other function is in all of them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from poolwright.catalog.cel import Call, CelExpression, Expr
from poolwright.catalog.cel.environment import VARIABLES, declare_environment
from poolwright.catalog.cel.errors import parse_report
from poolwright.catalog.cel.expression import find_children
from poolwright.catalog.cel.parse import rename_exists_one
from poolwright.catalog.cel.wire import decode_checked, render_type

_FIRST_INCLUDES = 36


def check_opaque_attributes(expression: CelExpression, release: int) -> str:
    """What a scheduler to which attributes are opaque has against a selector; empty if nothing.

    release: 34 for 1.34.
    """
    if release < _FIRST_INCLUDES and _calls_includes(expression.root):
        return "compilation failed: includes() needs Kubernetes 1.36"
    try:
        checked = _build_environment().compile(rename_exists_one(expression.text))
    except RuntimeError as error:
        problems = parse_report(str(error))
        if not problems:
            raise
        said = "; ".join(f"line {one.line}, column {one.column}: {one.message}" for one in problems)
        return f"compilation failed: {said} (before 1.37, attributes are lists only with DRAListTypeAttributes in 1.36)"
    decoded = decode_checked(checked.serialize())
    result = render_type(decoded.types[decoded.root.id])
    if result not in ("bool", "any"):
        return f"compilation failed: must evaluate to bool or an attribute, not {result}"
    return ""


@cache
def _build_environment() -> Any:
    attributes = {"device.attributes": "map<string,map<string,any>>"}
    return declare_environment({**VARIABLES, **attributes})


def _calls_includes(expr: Expr) -> bool:
    if isinstance(expr, Call) and expr.function == "includes":
        return True
    return any(map(_calls_includes, find_children(expr)))
