"""A checked CEL expression as values: what the official checker made of a selector's text.

Macros stand here as the checker expands them (`macros.py` reads them back), names are resolved, and every call knows
its candidate overloads, so the tree can be printed, searched and evaluated without the checker.
Two trees are equal when they say the same: ids and places in the text don't count, nor does how a chain of `&&` or
`||` was bracketed, which no evaluation can tell apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

ConstKind = Literal["null", "bool", "int", "uint", "double", "string", "bytes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What every node has besides its meaning."""

    id: int = field(default=0, compare=False)  # unique in its expression
    offset: int = field(default=0, compare=False)  # in code points; of a call or selection, where its operator stands


@dataclass(frozen=True, slots=True, kw_only=True)
class Const(Node):
    """A literal. The kind is part of the value: `1`, `1u` and `1.0` are three different constants."""

    kind: ConstKind
    value: bool | int | float | str | bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ident(Node):
    """A variable or a type, by its whole name: `device.attributes`, a comprehension's variable, `int`.

    A leading dot is kept only where it matters: `.int` is the global `int` where a variable of that name hides it.
    """

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Select(Node):
    """`operand.field`, or `has(operand.field)`. The fields of `device` are no selections but names, see Ident."""

    operand: Expr
    field: str
    test_only: bool = False  # has(): is the field there?


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Node):
    """A function or an operator under CEL's own name for it: `size`, `_==_`, `!_`, `_[_]`, `_?._`, `@in`, `_?_:_`.

    `_&&_` and `_||_` take two or more arguments, none of them the same operator again.
    """

    function: str
    target: Expr | None = None  # of `target.function(args)`
    args: tuple[Expr, ...] = ()
    overloads: tuple[str, ...] = ()  # the candidates the checker left, to be told apart by the arguments at run time


@dataclass(frozen=True, slots=True, kw_only=True)
class ListExpr(Node):
    """`[a, ?b]`."""

    elements: tuple[Expr, ...] = ()
    optional: tuple[int, ...] = ()  # indices of the elements written with `?`, ascending


@dataclass(frozen=True, slots=True, kw_only=True)
class MapEntry:
    """One entry of a map literal."""

    key: Expr
    value: Expr
    optional: bool = False  # written `?key: value`


@dataclass(frozen=True, slots=True, kw_only=True)
class MapExpr(Node):
    """`{a: b, ?c: d}`, in the order written."""

    entries: tuple[MapEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Comprehension(Node):
    """An expanded macro: fold `step` over `iter_range` while `condition` holds, then give `result`.

    `condition` and `step` see both kinds of variables, `result` only the accumulator, the other two neither.
    `cel.bind` is a fold over an empty list: its variable is the accumulator and its value the initial one.
    """

    iter_var: str
    iter_var2: str | None  # set: iter_var is the index or key, iter_var2 the value
    iter_range: Expr
    accu_var: str
    accu_init: Expr
    condition: Expr
    step: Expr
    result: Expr


Expr = Const | Ident | Select | Call | ListExpr | MapExpr | Comprehension


@dataclass(frozen=True, slots=True, kw_only=True)
class CelExpression:
    """An expression that Kubernetes would compile: a selector or a derived attribute. Equal for equal meaning."""

    root: Expr
    result: Literal["bool", "dyn"]  # dyn: known to be a bool only when evaluated, or of a derived attribute
    text: str = field(compare=False)  # as written; offsets count in it


def find_children(expr: Expr) -> tuple[Expr, ...]:
    """The direct parts of a node, in the order of its fields (a call's target before its arguments)."""
    match expr:
        case Select():
            return (expr.operand,)
        case Call():
            return expr.args if expr.target is None else (expr.target, *expr.args)
        case ListExpr():
            return expr.elements
        case MapExpr():
            return tuple(part for entry in expr.entries for part in (entry.key, entry.value))
        case Comprehension():
            return (expr.iter_range, expr.accu_init, expr.condition, expr.step, expr.result)
        case _:
            return ()
