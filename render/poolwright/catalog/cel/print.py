"""The one normal form of a CEL expression.

Claims are named after their rendered bytes, so this text decides when models restart: it follows from the tree alone,
and parsing it gives the same tree again.
"""

from __future__ import annotations

import re

from poolwright.catalog.cel.expression import (
    Call,
    CelExpression,
    Comprehension,
    Const,
    Expr,
    Ident,
    ListExpr,
    MapExpr,
    Select,
)
from poolwright.catalog.cel.macros import Macro, read_macro

# How tightly each kind of expression binds; an operand that binds less tightly than its place asks for is bracketed.
_TERNARY, _OR, _AND, _RELATION, _SUM, _PRODUCT, _UNARY, _MEMBER = range(1, 9)
_BINARY = {
    "_||_": ("||", _OR),
    "_&&_": ("&&", _AND),
    **{f"_{sign}_": (sign, _RELATION) for sign in ("<", "<=", ">", ">=", "==", "!=")},
    "@in": ("in", _RELATION),
    **{f"_{sign}_": (sign, _SUM) for sign in ("+", "-")},
    **{f"_{sign}_": (sign, _PRODUCT) for sign in ("*", "/", "%")},
}
_UNARY_SIGNS = {"!_": "!", "-_": "-"}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_FIELD = r"(?!(?:in|true|false|null)\Z)[A-Za-z_][A-Za-z0-9_]*"


def render_cel(expression: CelExpression) -> str:
    """The expression on one line: as few brackets as its tree needs, single spaces, double quotes, macros as macros.

    Operands, keys and the choice between `a.b` and `a["b"]` stay as written. Text outside printable ASCII is escaped,
    so that what reviewers see is what is compared.
    """
    return _render(expression.root)


def _render(expr: Expr, needed: int = _TERNARY) -> str:
    """The node for a place that holds whatever binds at least as tightly as `needed`."""
    text, binding = _render_node(expr)
    return f"({text})" if binding < needed else text


def _render_node(expr: Expr) -> tuple[str, int]:
    macro = read_macro(expr)
    if macro is not None:
        return _render_macro(macro), _MEMBER
    match expr:
        case Const():
            return _render_const(expr)
        case Ident():
            return expr.name, _MEMBER
        case Select():
            text = f"{_render(expr.operand, _MEMBER)}.{_render_field(expr.field)}"
            return (f"has({text})" if expr.test_only else text), _MEMBER
        case Call():
            return _render_call(expr)
        case ListExpr():
            marks = ["?" if at in expr.optional else "" for at in range(len(expr.elements))]
            return f"[{', '.join(m + _render(e) for m, e in zip(marks, expr.elements, strict=True))}]", _MEMBER
        case MapExpr():
            entries = (f"{'?' if e.optional else ''}{_render(e.key)}: {_render(e.value)}" for e in expr.entries)
            return f"{{{', '.join(entries)}}}", _MEMBER
        case Comprehension():
            raise ValueError(f"no macro makes this comprehension: {expr}")


def _render_macro(macro: Macro) -> str:
    target = "" if macro.target is None else f"{_render(macro.target, _MEMBER)}."
    return f"{target}{macro.function}({_render_all(macro.args)})"


def _render_call(call: Call) -> tuple[str, int]:
    if call.target is not None:
        return f"{_render(call.target, _MEMBER)}.{call.function}({_render_all(call.args)})", _MEMBER
    if call.function in _BINARY:
        return _render_binary(call)
    match call.function, call.args:
        case ("!_" | "-_") as function, (operand,):
            text = _render(operand, _MEMBER)
            # A minus before digits would be read as part of the number.
            bracketed = function == "-_" and text[0].isdigit()
            return f"{_UNARY_SIGNS[function]}{f'({text})' if bracketed else text}", _UNARY
        case "_?_:_", (condition, yes, no):
            return f"{_render(condition, _OR)} ? {_render(yes, _OR)} : {_render(no)}", _TERNARY
        case "_[_]", (operand, key):
            return f"{_render(operand, _MEMBER)}[{_render(key)}]", _MEMBER
        case "_[?_]", (operand, key):
            return f"{_render(operand, _MEMBER)}[?{_render(key)}]", _MEMBER
        case "_?._", (operand, Const(value=str(field))):
            return f"{_render(operand, _MEMBER)}.?{_render_field(field)}", _MEMBER
        case function, args:
            return f"{function}({_render_all(args)})", _MEMBER


def _render_binary(call: Call) -> tuple[str, int]:
    """Operators of one level read from left to right, so only a right operand of the same level is bracketed."""
    sign, binding = _BINARY[call.function]
    first, *others = call.args
    return f" {sign} ".join((_render(first, binding), *(_render(other, binding + 1) for other in others))), binding


def _render_all(args: tuple[Expr, ...]) -> str:
    return ", ".join(_render(arg) for arg in args)


def _render_field(name: str) -> str:
    return name if re.fullmatch(_FIELD, name) else f"`{name}`"


def _render_const(const: Const) -> tuple[str, int]:
    match const.value:
        case str(text):
            return f'"{"".join(map(_escape, text))}"', _MEMBER
        case bytes(data):
            return f'b"{"".join(_escape_byte(byte) for byte in data)}"', _MEMBER
        case float(number):
            # Python's shortest digits that read back equal, without the exponent's padding: 1e-7, not 1e-07.
            text = re.sub(r"e([+-]?)0*", lambda found: f"e{found[1].strip('+')}", repr(number))
        case None:
            text = "null"
        case value:
            text = str(value).lower() + ("u" if const.kind == "uint" else "")
    return text, _UNARY if text.startswith("-") else _MEMBER


def _escape(char: str) -> str:
    if " " <= char <= "~":
        return _ESCAPES.get(char, char)
    return _ESCAPES.get(char) or (f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}")


def _escape_byte(byte: int) -> str:
    return _ESCAPES.get(chr(byte), chr(byte)) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}"
