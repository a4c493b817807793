"""What Kubernetes refuses in a selector beside what the type checker refuses.

Upstream compiles in three steps: parse and check, validate the tree, build a program. The last two look at literals:
lists and maps of mixed types, patterns, dates, durations, conversions and format strings that can only fail.

Source: cel-go v0.29 cel/validator.go, interpreter/decorators.go, ext/formatting.go; k8s.io/apiserver/pkg/cel/library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from poolwright.catalog.cel.constants import CONVERSIONS, check_format, fold_constant, fold_conversion, is_no_key
from poolwright.catalog.cel.environment import check_pattern
from poolwright.catalog.cel.errors import HAS_FIELD, CelProblem, build_problem
from poolwright.catalog.cel.expression import Call, Const, Expr, Ident, ListExpr, MapExpr, find_children
from poolwright.catalog.cel.wire import Decoded, render_type

_Found = tuple[int, str]  # offset and message


def check_tree(decoded: Decoded, text: str) -> tuple[CelProblem, ...]:
    """Every problem of a tree that passed the type checker, in no particular order.

    text: the expression as the checker read it, for places.
    """
    walk = _Walk({node_id: render_type(data) for node_id, data in decoded.types.items()}, text)
    found = [(offset, "a message can't be built in a selector here") for offset in decoded.messages]
    found += walk.check(decoded.root, in_format=False)
    return tuple(build_problem(text, offset, message) for offset, message in found)


class _Walk:
    def __init__(self, types: dict[int, str], text: str) -> None:
        self.types = types  # of nodes, by id
        self.text = text

    def check(self, expr: Expr, *, in_format: bool) -> Iterator[_Found]:
        """The problems of a node and all below; a list within a format's arguments may be mixed."""
        match expr:
            case Const(kind="double", value=value) if value in (float("inf"), float("-inf")):
                yield expr.offset, "the number is too large for a double"
            case Ident(name=name) if re.match(r"\.?device\.", name) and self.text[expr.offset] != ".":
                # The checker makes device.driver of has(device.driver); all that is left of has() is its place.
                yield expr.offset, HAS_FIELD.format(name.removeprefix("."))
            case ListExpr() if not in_format:
                yield from self._check_same("elements of a list", expr.elements, expr.optional)
            case MapExpr() if not in_format:
                optional = tuple(at for at, entry in enumerate(expr.entries) if entry.optional)
                yield from self._check_same("keys of a map", tuple(entry.key for entry in expr.entries), ())
                yield from self._check_same("values of a map", tuple(entry.value for entry in expr.entries), optional)
            case Call():
                in_format = in_format or expr.function == "format"
                yield from self._check_call(expr)
        for child in find_children(expr):
            yield from self.check(child, in_format=in_format)

    def _check_same(self, what: str, parts: tuple[Expr, ...], optional: tuple[int, ...]) -> Iterator[_Found]:
        """Upstream compares with the first part, and exactly: even a dyn beside a string is a mixture."""
        types = [self.types[part.id] for part in parts]
        for at in optional:
            types[at] = types[at].removeprefix("optional_type(").removesuffix(")")
        for part, found in zip(parts, types, strict=True):
            if found != types[0]:
                yield part.offset, f"the {what} must be of one type, and {found} stands beside {types[0]}"
                return

    def _check_call(self, call: Call) -> Iterator[_Found]:
        args = call.args if call.target is None else (call.target, *call.args)
        match call.function, args:
            case (("matches" | "find" | "findAll"), (_, pattern, *_)):
                known = fold_constant(pattern)
                complaint = check_pattern(known.value) if known and isinstance(known.value, str) else None
                if complaint:
                    yield pattern.offset, f"the pattern is no regular expression of RE2: {complaint}"
            case (("_[_]" | "_[?_]"), (_, key)) if is_no_key(key):
                yield key.offset, "this can be neither an index nor a key"
            case "format", (Const(kind="string", value=str(text)), ListExpr() as values):
                complaint = check_format(text, values, self.types)
                if complaint:
                    yield call.offset, complaint
            case "flatten", (target,) if not re.match(r"dyn$|list\((?:dyn\)$|list\()", self.types[target.id]):
                # The library declares it for every list, upstream for lists of lists.
                yield call.offset, f"flatten() can't be applied to ({self.types[target.id]})"
            case name, (_,) if name in CONVERSIONS and call.target is None:
                try:
                    fold_conversion(call)
                except ValueError as error:
                    yield call.offset, f"{name}() can only fail: {error}"
