"""What a device selector takes for granted and what it makes sure of, read from its checked tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import msgspec

from poolwright.catalog.cel import Call, CelExpression, Const, Expr, Ident, ListExpr, Select
from poolwright.rules.devices import list_types

_MAPS = {"device.attributes": "attribute", "device.capacity": "capacity"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """An attribute or capacity of a device, read by constant names."""

    kind: str  # attribute | capacity
    domain: str
    name: str

    @property
    def cel(self) -> str:
        """How CEL reads it."""
        group = "attributes" if self.kind == "attribute" else "capacity"
        return f'device.{group}["{self.domain}"].{self.name}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What is known of every device on which a selector's answer counts."""

    driver: str = ""  # empty: any
    types: frozenset[str] = frozenset()  # its `type` is one of these; empty: nothing is known
    published: frozenset[Value] = frozenset()  # checked to be there
    is_assumed: bool = False  # the class isn't at hand: of its driver nothing is known, rather than that it is any


def narrow(context: Context, expression: CelExpression) -> Context:
    """The context in which the expression holds.

    It is also the context in which its parts count: CEL's `&&` is false where one side is, even if the other fails.
    """
    for part in _conjuncts(expression.root):
        context = _narrow(context, part)
    return context


def find_value(expr: Expr) -> Value | None:
    """The attribute or capacity that an expression is, also as an optional with a default."""
    match expr:
        case Select(
            operand=Call(function="_[_]", target=None, args=(Ident(name=group), Const(value=str(domain)))), field=name
        ):
            pass
        case Call(
            function="_[_]" | "_?._" | "_[?_]",
            target=None,
            args=(
                Call(function="_[_]", target=None, args=(Ident(name=group), Const(value=str(domain)))),
                Const(value=str(name)),
            ),
        ):
            pass
        case Call(function="orValue", target=target, args=(_,)) if target is not None:
            return find_value(target)
        case _:
            return None
    kind = _MAPS.get(group.removeprefix("."))
    return Value(kind=kind, domain=domain, name=name) if kind else None


def _conjuncts(expr: Expr) -> Iterator[Expr]:
    match expr:
        case Call(function="_&&_", target=None, args=args):
            for part in args:
                yield from _conjuncts(part)
        case _:
            yield expr


def _narrow(context: Context, part: Expr) -> Context:
    match part:
        case Call(function="_==_", target=None, args=(one, other)):
            left, right = (other, one) if isinstance(one, Const) else (one, other)
            if isinstance(right, Const) and isinstance(right.value, str):
                return _narrow_by_value(context, left, frozenset({right.value}))
        case Call(function="@in", target=None, args=(left, ListExpr(elements=elements))):
            texts = frozenset(e.value for e in elements if isinstance(e, Const) and isinstance(e.value, str))
            return _narrow_by_value(context, left, texts) if len(texts) == len(elements) else context
        case Call(
            function="@in",
            target=None,
            args=(Const(value=str(name)), Call(function="_[_]", args=(Ident(name=group), Const(value=str(domain))))),
        ) if group in _MAPS:
            return _publish(context, Value(kind=_MAPS[group], domain=domain, name=name))
        case Select(test_only=True):
            value = find_value(msgspec.structs.replace(part, test_only=False))
            return _publish(context, value) if value else context
    return context


def _narrow_by_value(context: Context, left: Expr, texts: frozenset[str]) -> Context:
    """What is known where the left side is one of these texts."""
    if isinstance(left, Ident) and left.name.removeprefix(".") == "device.driver":
        if len(texts) != 1:
            return context
        (driver,) = texts
        # The type may have been asked for first: `&&` has no order.
        types = context.types & list_types(driver) or list_types(driver)
        return replace(context, driver=driver, types=types, is_assumed=False)
    value = find_value(left)
    if value and (value.kind, value.name) == ("attribute", "type") and texts & list_types(value.domain):
        return replace(context, types=texts & list_types(value.domain))
    return context


def _publish(context: Context, value: Value) -> Context:
    return replace(context, published=context.published | {value})
