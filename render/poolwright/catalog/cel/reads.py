"""Which attributes and capacities of a device a selector looks at."""

from __future__ import annotations

from typing import Literal

import msgspec

from poolwright.catalog.cel.expression import (
    Call,
    CelExpression,
    Comprehension,
    Const,
    Expr,
    Ident,
    Select,
    find_children,
)

ReadKind = Literal["attribute", "capacity", "driver", "allowMultipleAllocations"]

_MAPS: dict[str, ReadKind] = {"device.attributes": "attribute", "device.capacity": "capacity"}
_VALUES: dict[str, ReadKind] = {
    "device.driver": "driver",
    "device.allowMultipleAllocations": "allowMultipleAllocations",
}


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """One thing of a device that a selector looks at.

    Of an attribute or capacity, a domain or name of None stands for any: a computed key, an iteration, the whole map.
    `driver` and `allowMultipleAllocations` have neither.
    """

    kind: ReadKind
    domain: str | None = None  # as written: the driver's own domain is spelled out in CEL
    name: str | None = None
    guarded: bool = False  # by has(), `in` or an optional form, so that a missing one is no error


def find_reads(expression: CelExpression) -> tuple[Read, ...]:
    """Every read, once, sorted by kind, domain, name (any first) and guarded (unguarded first).

    Nothing is left out: where a map of the device goes somewhere this can't follow, the read is of any name in it. So
    a selector's answer can change only with what is listed. Something read both ways is listed both ways.
    """
    walk = _Walk()
    walk.escape(walk.visit(expression.root, {}))
    return tuple(sorted(walk.reads, key=_sort_key))


def _sort_key(read: Read) -> tuple[object, ...]:
    return (read.kind, read.domain is not None, read.domain or "", read.name is not None, read.name or "", read.guarded)


class _Map(msgspec.Struct, frozen=True, kw_only=True):
    """A value that may be one of the device's maps: all domains of a kind, or the names of one domain."""

    kind: ReadKind
    inner: bool = False
    domain: str | None = None  # of an inner map; None: any
    guarded: bool = False  # held as an optional


_Maps = frozenset[_Map]  # what an expression's value may be; empty: nothing of the device but what was noted already
_NOTHING: _Maps = frozenset()


class _Walk:
    """Follows the device's maps through an expression and notes what is looked up in them."""

    def __init__(self) -> None:
        self.reads: set[Read] = set()

    def visit(self, expr: Expr, variables: dict[str, _Maps]) -> _Maps:
        """Which maps of the device the value may be; reads are noted on the way."""
        match expr:
            case Ident(name=name):
                return self._visit_name(name, variables)
            case Select():
                maps = self.visit(expr.operand, variables)
                return self._test(maps, expr.field) if expr.test_only else self._look_up(maps, expr.field)
            case Call():
                return self._visit_call(expr, variables)
            case Comprehension(iter_var="#unused"):
                bound = self.visit(expr.accu_init, variables)
                return self.visit(expr.result, {**variables, expr.accu_var: bound})
            case Comprehension():
                return self._visit_fold(expr, variables)
            case _:
                for child in find_children(expr):
                    self.escape(self.visit(child, variables))
                return _NOTHING

    def escape(self, maps: _Maps) -> None:
        """The value goes where it isn't followed, so anything in it may be read."""
        for found in maps:
            self.reads.add(Read(kind=found.kind, domain=found.domain, guarded=found.guarded))

    def _visit_name(self, name: str, variables: dict[str, _Maps]) -> _Maps:
        if name in variables:
            return variables[name]
        plain = name.removeprefix(".")
        if plain in _VALUES:
            self.reads.add(Read(kind=_VALUES[plain]))
        return frozenset({_Map(kind=_MAPS[plain])}) if plain in _MAPS else _NOTHING

    def _visit_call(self, call: Call, variables: dict[str, _Maps]) -> _Maps:
        match call.function, call.target, call.args:
            case ("_[_]" | "_[?_]" | "_?._") as function, None, (operand, key):
                maps = self.visit(operand, variables)
                return self._look_up(maps, self._visit_key(key, variables), guarded=function != "_[_]")
            case "@in", None, (key, operand):
                maps = self.visit(operand, variables)
                return self._test(maps, self._visit_key(key, variables))
            case "_?_:_", None, (condition, yes, no):
                self.escape(self.visit(condition, variables))
                return self.visit(yes, variables) | self.visit(no, variables)
            case (("or" | "orValue"), target, (other,)) if target is not None:
                return _held(self.visit(target, variables), call.function == "or") | self.visit(other, variables)
            case "value", target, () if target is not None:
                return _held(self.visit(target, variables), False)
            case "dyn", None, (value,):
                return self.visit(value, variables)
        for child in find_children(call):
            self.escape(self.visit(child, variables))
        return _NOTHING

    def _visit_fold(self, expr: Comprehension, variables: dict[str, _Maps]) -> _Maps:
        for child in (expr.iter_range, expr.accu_init):
            self.escape(self.visit(child, variables))
        names = (expr.accu_var, expr.iter_var, *([expr.iter_var2] if expr.iter_var2 else []))
        within = {**variables, **dict.fromkeys(names, _NOTHING)}
        for child in (expr.condition, expr.step, expr.result):
            self.escape(self.visit(child, within))
        return _NOTHING

    def _visit_key(self, key: Expr, variables: dict[str, _Maps]) -> str | None:
        """The key where it is a constant string, None where it is computed."""
        if isinstance(key, Const) and isinstance(key.value, str):
            return key.value
        self.escape(self.visit(key, variables))
        return None

    def _look_up(self, maps: _Maps, key: str | None, *, guarded: bool = False) -> _Maps:
        """Note the names read by this key, and give the inner maps that it finds."""
        found = set()
        for held in maps:
            safe = guarded or held.guarded
            if held.inner:
                self.reads.add(Read(kind=held.kind, domain=held.domain, name=key, guarded=safe))
            else:
                found.add(_Map(kind=held.kind, inner=True, domain=key, guarded=safe))
        return frozenset(found)

    def _test(self, maps: _Maps, key: str | None) -> _Maps:
        """Note that the key's presence is asked for. A domain is present if it has any name."""
        self.escape(self._look_up(maps, key, guarded=True))
        return _NOTHING


def _held(maps: _Maps, guarded: bool) -> _Maps:
    return frozenset(msgspec.structs.replace(found, guarded=guarded) for found in maps)
