"""A checked CEL expression as values: what the official checker made of a selector's text.

Macros stand here as the checker expands them (`macros.py` reads them back), names are resolved, and every call knows
its candidate overloads, so the tree can be printed, searched and evaluated without the checker.
Two trees are equal when they say the same: ids and places in the text don't count, nor does how a chain of `&&` or
`||` was bracketed, which no evaluation can tell apart.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Literal

import msgspec

ConstKind = Literal["null", "bool", "int", "uint", "double", "string", "bytes"]


class Node(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What every node has besides its meaning."""

    id: int = 0  # unique in its expression
    offset: int = 0  # in code points; of a call or selection, where its operator stands

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        meaning = _get_meaning(type(self))
        return bool(meaning(self) == meaning(other))

    def __hash__(self) -> int:
        return hash(_get_meaning(type(self))(self))


@cache
def _get_meaning(kind: type[Node]) -> Callable[[object], object]:
    """Gives what a node of this kind says: its fields but for those that every node has."""
    return attrgetter(*(name for name in kind.__struct_fields__ if name not in Node.__struct_fields__))


class Const(Node, frozen=True, kw_only=True):
    """A literal. The kind is part of the value: `1`, `1u` and `1.0` are three different constants."""

    kind: ConstKind
    value: bool | int | float | str | bytes | None


class Ident(Node, frozen=True, kw_only=True):
    """A variable or a type, by its whole name: `device.attributes`, a comprehension's variable, `int`.

    A leading dot is kept only where it matters: `.int` is the global `int` where a variable of that name hides it.
    """

    name: str


class Select(Node, frozen=True, kw_only=True):
    """`operand.field`, or `has(operand.field)`. The fields of `device` are no selections but names, see Ident."""

    operand: Expr
    field: str
    test_only: bool = False  # has(): is the field there?


class Call(Node, frozen=True, kw_only=True):
    """A function or an operator under CEL's own name for it: `size`, `_==_`, `!_`, `_[_]`, `_?._`, `@in`, `_?_:_`.

    `_&&_` and `_||_` take two or more arguments, none of them the same operator again.
    """

    function: str
    target: Expr | None = None  # of `target.function(args)`
    args: tuple[Expr, ...] = ()
    overloads: tuple[str, ...] = ()  # the candidates the checker left, to be told apart by the arguments at run time


class ListExpr(Node, frozen=True, kw_only=True):
    """`[a, ?b]`."""

    elements: tuple[Expr, ...] = ()
    optional: tuple[int, ...] = ()  # indices of the elements written with `?`, ascending


class MapEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a map literal."""

    key: Expr
    value: Expr
    optional: bool = False  # written `?key: value`


class MapExpr(Node, frozen=True, kw_only=True):
    """`{a: b, ?c: d}`, in the order written."""

    entries: tuple[MapEntry, ...] = ()


class Comprehension(Node, frozen=True, kw_only=True):
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


class CelExpression(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """An expression that Kubernetes would compile: a selector or a derived attribute. Equal for equal meaning."""

    root: Expr
    result: Literal["bool", "dyn"]  # dyn: known to be a bool only when evaluated, or of a derived attribute
    text: str  # as written; offsets count in it

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CelExpression):
            return NotImplemented
        return (self.root, self.result) == (other.root, other.result)

    def __hash__(self) -> int:
        return hash((self.root, self.result))


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
