"""Reads the checker's answer: a `cel.expr.CheckedExpr` in the protobuf wire format.

Field numbers are those of cel-spec's `syntax.proto` and `checked.proto`. A reader of this size keeps the protobuf
package, its generated code and their import time out.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import msgspec

from poolwright.catalog.cel.expression import (
    Call,
    Comprehension,
    Const,
    ConstKind,
    Expr,
    Ident,
    ListExpr,
    MapEntry,
    MapExpr,
    Select,
    find_children,
)

_CONST_KINDS: tuple[ConstKind, ...] = ("null", "bool", "int", "uint", "double", "string", "bytes")  # fields 1 to 7
_PRIMITIVES = {1: "bool", 2: "int", 3: "uint", 4: "double", 5: "string", 6: "bytes"}
_WELL_KNOWN = {1: "any", 2: "timestamp", 3: "duration"}
_CHAINS = ("_&&_", "_||_")


class Decoded(msgspec.Struct, frozen=True, kw_only=True):
    """A tree and what the checker knows about its nodes."""

    root: Expr
    types: dict[int, bytes]  # by node id, each a `cel.expr.Type`; equal bytes are equal types
    messages: tuple[int, ...]  # offsets of message literals, which have no node here; their places hold a null


def decode_checked(data: bytes) -> Decoded:
    """A tree from the bytes of `cel_expr_python.cel.Expression.serialize()`, checked or only parsed.

    Raises: ValueError where the bytes aren't what the library's versions known here write.
    """
    url, body = b"", b""
    for number, value in _fields(data):
        if number == 1:
            url = _bytes(value)
        elif number == 2:
            body = _bytes(value)
    kind = url.rpartition(b"/")[2]
    if kind not in (b"cel.expr.CheckedExpr", b"cel.expr.ParsedExpr"):
        raise ValueError(f"not a CEL expression: {kind!r}")
    reader = _Reader(body, checked=kind == b"cel.expr.CheckedExpr")
    root = reader.read(reader.root, frozenset())
    return Decoded(root=root, types=reader.types, messages=tuple(reader.messages))


def render_type(data: bytes) -> str:
    """A type as CEL's own messages spell it: `map(string, dyn)`."""
    for number, value in _fields(data):
        match number:
            case 3:
                return _PRIMITIVES[_int(value)]
            case 5:
                return _WELL_KNOWN[_int(value)]
            case 4:
                return f"wrapper({_PRIMITIVES[_int(value)]})"
            case 6 | 7:
                name = "list" if number == 6 else "map"
                return _render_generic(name, [_bytes(part) for _, part in _fields(_bytes(value))])
            case 11:
                return _render_generic("type", [_bytes(value)])
            case 9 | 10:
                return _bytes(value).decode()
            case 14:
                (_, name_bytes), *parts = _fields(_bytes(value))
                return _render_generic(_bytes(name_bytes).decode(), [_bytes(part) for _, part in parts])
            case _:
                return {1: "dyn", 2: "null", 12: "error"}[number]
    return "dyn"


def _render_generic(name: str, parts: list[bytes]) -> str:
    return f"{name}({', '.join(render_type(part) for part in parts)})" if parts else name


class _Reader:
    """One expression's side tables, and the walk that builds its nodes."""

    def __init__(self, body: bytes, *, checked: bool) -> None:
        self.root, info = b"", b""
        self.types: dict[int, bytes] = {}
        self.overloads: dict[int, tuple[str, ...]] = {}
        self.messages: list[int] = []
        for number, value in _fields(body):
            # ParsedExpr: 2 expr, 3 source_info. CheckedExpr: 2 references, 3 types, 4 expr, 5 source_info.
            match number + (0 if checked else 2):
                case 2:
                    key, reference = _entry(_bytes(value))
                    self.overloads[key] = tuple(_bytes(v).decode() for n, v in _fields(reference) if n == 3)
                case 3:
                    key, self.types[key] = _entry(_bytes(value))
                case 4:
                    self.root = _bytes(value)
                case 5:
                    info = _bytes(value)
        self.offsets: dict[int, int] = {}
        for number, value in _fields(info):
            if number == 4:
                key, offset = 0, 0
                for part, item in _fields(_bytes(value)):
                    key, offset = (_int(item), offset) if part == 1 else (key, _int(item))
                self.offsets[key] = offset

    def read(self, data: bytes, bound: frozenset[str]) -> Expr:
        """The node in these bytes, where `bound` are the variables of the comprehensions around it."""
        node_id, number, body = 0, 0, b""
        for part, value in _fields(data):
            if part == 2:
                node_id = _int(value)
            else:
                number, body = part, _bytes(value)
        offset = self.offsets.get(node_id, 0)
        match number:
            case 3:
                return _read_const(body, node_id, offset)
            case 4:
                return Ident(id=node_id, offset=offset, name=_plain_name(_text(body, 1), bound))
            case 5:
                return self._read_select(body, bound, node_id, offset)
            case 6:
                return self._read_call(body, bound, node_id, offset)
            case 7:
                return self._read_list(body, bound, node_id, offset)
            case 8:
                return self._read_struct(body, bound, node_id, offset)
            case 9:
                return self._read_comprehension(body, bound, node_id, offset)
            case _:
                raise ValueError(f"unknown kind of CEL node: {number}")

    def _read_select(self, body: bytes, bound: frozenset[str], node_id: int, offset: int) -> Expr:
        operand, field, test_only = b"", "", False
        for number, value in _fields(body):
            match number:
                case 1:
                    operand = _bytes(value)
                case 2:
                    field = _bytes(value).decode()
                case 3:
                    test_only = bool(value)
        return Select(id=node_id, offset=offset, operand=self.read(operand, bound), field=field, test_only=test_only)

    def _read_call(self, body: bytes, bound: frozenset[str], node_id: int, offset: int) -> Expr:
        target: Expr | None = None
        function = ""
        args: list[Expr] = []
        for number, value in _fields(body):
            match number:
                case 1:
                    target = self.read(_bytes(value), bound)
                case 2:
                    function = _bytes(value).decode().removeprefix(".")  # no variable can hide a function
                case 3:
                    arg = self.read(_bytes(value), bound)
                    chained = isinstance(arg, Call) and arg.function == function and function in _CHAINS
                    args += find_children(arg) if chained else (arg,)
        overloads = self.overloads.get(node_id, ())
        return Call(id=node_id, offset=offset, function=function, target=target, args=tuple(args), overloads=overloads)

    def _read_list(self, body: bytes, bound: frozenset[str], node_id: int, offset: int) -> Expr:
        elements: list[Expr] = []
        optional: list[int] = []
        for number, value in _fields(body):
            if number == 1:
                elements.append(self.read(_bytes(value), bound))
            else:
                optional += _packed(_bytes(value))
        return ListExpr(id=node_id, offset=offset, elements=tuple(elements), optional=tuple(optional))

    def _read_struct(self, body: bytes, bound: frozenset[str], node_id: int, offset: int) -> Expr:
        entries: list[MapEntry] = []
        for number, value in _fields(body):
            if number == 1 and value:
                self.messages.append(offset)
                return Const(id=node_id, offset=offset, kind="null", value=None)
            parts = dict(_fields(_bytes(value)))
            key, item = self.read(_bytes(parts[3]), bound), self.read(_bytes(parts[4]), bound)
            entries.append(MapEntry(key=key, value=item, optional=bool(parts.get(5))))
        return MapExpr(id=node_id, offset=offset, entries=tuple(entries))

    def _read_comprehension(self, body: bytes, bound: frozenset[str], node_id: int, offset: int) -> Expr:
        parts = {number: _bytes(value) for number, value in _fields(body)}
        iter_var, accu_var = parts[1].decode(), parts[3].decode()
        iter_var2 = parts[8].decode() if 8 in parts else None
        with_accu = bound | {accu_var}
        within = with_accu | {iter_var} | ({iter_var2} if iter_var2 else set())
        return Comprehension(
            id=node_id,
            offset=offset,
            iter_var=iter_var,
            iter_var2=iter_var2,
            iter_range=self.read(parts[2], bound),
            accu_var=accu_var,
            accu_init=self.read(parts[4], bound),
            condition=self.read(parts[5], within),
            step=self.read(parts[6], within),
            result=self.read(parts[7], with_accu),
        )


def _plain_name(name: str, bound: frozenset[str]) -> str:
    """The name without a leading dot that says nothing, because no variable here hides the global."""
    plain = name.removeprefix(".")
    return name if plain.partition(".")[0] in bound else plain


def _read_const(body: bytes, node_id: int, offset: int) -> Const:
    for number, raw in _fields(body):
        kind = _CONST_KINDS[number - 1]
        value: bool | int | float | str | bytes | None
        match kind:
            case "null":
                value = None
            case "bool":
                value = bool(raw)
            case "int":
                value = _int(raw) - (1 << 64 if _int(raw) >= 1 << 63 else 0)
            case "uint":
                value = _int(raw)
            case "double":
                (value,) = struct.unpack("<d", _bytes(raw))
            case "string":
                value = _bytes(raw).decode()
            case "bytes":
                value = _bytes(raw)
        return Const(id=node_id, offset=offset, kind=kind, value=value)
    raise ValueError("a CEL constant without a value")


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Each field's number and value: a varint as an int, the rest as bytes."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        match tag & 7:
            case 0:
                value, at = _varint(data, at)
                yield tag >> 3, value
            case 1:
                yield tag >> 3, data[at : at + 8]
                at += 8
            case 2:
                size, at = _varint(data, at)
                yield tag >> 3, data[at : at + size]
                at += size
            case _:
                raise ValueError(f"unknown wire type in field {tag >> 3}")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    at += 1
    value, shift = byte & 127, 7
    while byte > 127:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
    return value, at


def _entry(data: bytes) -> tuple[int, bytes]:
    """An entry of a `map<int64, message>`."""
    parts = dict(_fields(data))
    return _int(parts.get(1, 0)), _bytes(parts.get(2, b""))


def _packed(data: bytes) -> list[int]:
    values, at = [], 0
    while at < len(data):
        value, at = _varint(data, at)
        values.append(value)
    return values


def _text(data: bytes, wanted: int) -> str:
    return next((_bytes(value).decode() for number, value in _fields(data) if number == wanted), "")


def _int(value: int | bytes) -> int:
    if not isinstance(value, int):
        raise ValueError("a number was expected here")
    return value


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("bytes were expected here")
    return value
