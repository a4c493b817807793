"""CEL device selectors as text: parsed and type-checked, printed in one form, and searched for what they read."""

from poolwright.catalog.cel.errors import CelError, CelProblem
from poolwright.catalog.cel.expression import (
    Call,
    CelExpression,
    Comprehension,
    Const,
    Expr,
    Ident,
    ListExpr,
    MapEntry,
    MapExpr,
    Select,
)
from poolwright.catalog.cel.parse import MAX_BYTES, parse_cel, parse_derived_cel
from poolwright.catalog.cel.print import render_cel
from poolwright.catalog.cel.reads import Read, ReadKind, find_reads

__all__ = [
    "MAX_BYTES",
    "Call",
    "CelError",
    "CelExpression",
    "CelProblem",
    "Comprehension",
    "Const",
    "Expr",
    "Ident",
    "ListExpr",
    "MapEntry",
    "MapExpr",
    "Read",
    "ReadKind",
    "Select",
    "find_reads",
    "parse_cel",
    "parse_derived_cel",
    "render_cel",
]
