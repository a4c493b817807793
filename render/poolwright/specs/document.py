"""YAML text to plain values, read as YAML 1.2 means it, with the place of every value at hand.

PyYAML's C parser does the reading; what differs from its defaults is here: only the JSON-like types of the 1.2 core
schema (`yes`, `1e3_` and dates are strings), no aliases, no tags of other types, no repeated keys, no keys but strings,
and not even in a comment a character that reads differently than it looks. An alias is refused because expansion has
no bound and because a value that stands in two places has no one place to report.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

import msgspec
import yaml

from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import FieldPath, Place, render_field

MAX_SPEC_BYTES = 1 << 20
MAX_DEPTH = 64
MAX_PROBLEMS = 100  # of a file: it is mended in rounds then, and what is printed stays readable
MAX_NUMBER = 400  # characters; Python takes quadratic time to read a number, and refuses very long ones

Plain = dict[str, "Plain"] | list["Plain"] | str | int | float | bool | None

_YAML_RULE = "YAML 1.2.2"
_CORE = "tag:yaml.org,2002:"
# C0 without tab and line feed, DEL, C1, byte order mark, line and paragraph separators, bidirectional overrides, half
# surrogate pairs, and the two code points of the basic plane that are no characters.
_REFUSED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """One YAML document of a file: its plain value, and its nodes to find places in."""

    file: str
    value: Plain
    root: yaml.Node

    def place(self, path: FieldPath = ()) -> Place:
        """Where the value at path stands; for a path that isn't there, where its nearest parent stands."""
        node, found = self.root, 0
        for step in path:
            child = _child(node, step)
            if child is None:
                break
            node, found = child, found + 1
        return _place(self.file, node.start_mark, path if found == len(path) else path[:found])

    def scalar_text(self, path: FieldPath) -> str:
        """The text of the scalar at path as it is written, without quotes; empty where no scalar stands."""
        node: yaml.Node | None = self.root
        for step in path:
            node = _child(node, step) if node else None
        return node.value if isinstance(node, yaml.ScalarNode) else ""

    def key_place(self, path: FieldPath) -> Place:
        """Where the key stands that path ends in; for a list item or the root, itself."""
        node = self.root
        for step in path[:-1]:
            node = _child(node, step) or node
        if isinstance(node, yaml.MappingNode) and path:
            for key, _ in node.value:
                if key.value == path[-1]:
                    return _place(self.file, key.start_mark, path)
        return self.place(path)


def parse_documents(text: bytes, file: str, *, max_bytes: int = MAX_SPEC_BYTES) -> tuple[Document, ...]:
    """Every non-empty document of a YAML (or JSON) file, in order.

    file:   the name that findings carry.
    Raises: SpecError with the problems of the file, at most MAX_PROBLEMS, or with the first syntax error.
    Cost:   linear in the text.
    """
    if len(text) > max_bytes:
        raise SpecError([_too_large(file, len(text), max_bytes)])
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        column = error.start - (text.rfind(b"\n", 0, error.start) + 1) + 1
        raise SpecError([_encoding(Place(file, line, column), text[error.start])]) from None
    _check_text(decoded, file)
    try:
        roots = list(yaml.compose_all(decoded, Loader=_Loader))
    except yaml.MarkedYAMLError as error:
        raise SpecError([_syntax(file, error, decoded)]) from None
    except yaml.reader.ReaderError as error:
        raise SpecError([_character(_position(file, decoded, error.position), error.character)]) from None
    reader = _Reader(file)
    try:
        documents = tuple(Document(file=file, value=reader.plain(root, (), 0), root=root) for root in roots if root)
    except _EnoughError:
        raise SpecError(reader.problems) from None
    if reader.has_alias:
        reader.problems += islice(_find_aliases(decoded, file), MAX_PROBLEMS)
    if reader.problems:
        raise SpecError(reader.problems)
    return tuple(d for d in documents if d.value is not None)


def _check_text(text: str, file: str) -> None:
    """Refuse the first character that no spec may hold, wherever it stands; a byte order mark in front may."""
    for match in _REFUSED.finditer(text):
        is_break = match[0] == "\r" and text.startswith("\n", match.end())
        if not is_break and (match[0] != "\ufeff" or match.start()):
            raise SpecError([_character(_position(file, text, match.start()), match[0])])


def _find_aliases(text: str, file: str) -> Iterator[Finding]:
    """A node doesn't say that an alias stands for it, so the text is read once more, for its events."""
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            mark = event.start_mark
            place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
            yield _alias(place, event.anchor or "")


class _Loader(yaml.CSafeLoader):
    """The C parser with the implicit types of YAML 1.2's core schema and no others."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 (PyYAML's own class field)


_IMPLICIT = {
    "null": (r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    "bool": (r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    "int": (r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", list("-+0123456789")),
    "float": (
        r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
        list("-+0123456789."),
    ),
}
for _tag, (_pattern, _first) in _IMPLICIT.items():
    _Loader.add_implicit_resolver(f"{_CORE}{_tag}", re.compile(_pattern), _first)


class _EnoughError(Exception):
    """More problems than are of use."""


class _Reader:
    """Nodes to plain values, gathering every problem on the way."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Finding] = []
        self.has_alias = False
        self._seen: set[int] = set()

    def plain(self, node: yaml.Node, path: FieldPath, depth: int) -> Plain:
        """The node's value; problems are noted and the place filled with None."""
        if len(self.problems) >= MAX_PROBLEMS:
            raise _EnoughError
        if self._is_alias(node):
            return None
        if depth > MAX_DEPTH:
            self.problems.append(_depth(_place(self.file, node.start_mark, path)))
            return None
        kind = node.tag.removeprefix(_CORE)
        if isinstance(node, yaml.MappingNode) and kind == "map":
            return self._mapping(node, path, depth)
        if isinstance(node, yaml.SequenceNode) and kind == "seq":
            return [self.plain(item, (*path, index), depth + 1) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode) and kind in _SCALARS:
            return self._scalar(node, kind, path)
        self.problems.append(_tagged(_place(self.file, node.start_mark, path), node.tag))
        return None

    def _is_alias(self, node: yaml.Node) -> bool:
        """Whether the node was met before: then what stands here is an alias of it."""
        is_alias = id(node) in self._seen
        self._seen.add(id(node))
        self.has_alias = self.has_alias or is_alias
        return is_alias

    def _mapping(self, node: yaml.MappingNode, path: FieldPath, depth: int) -> Plain:
        mapping: dict[str, Plain] = {}
        first: dict[str, yaml.Mark] = {}
        for key, value in node.value:
            if len(self.problems) >= MAX_PROBLEMS:
                raise _EnoughError
            if self._is_alias(key):
                continue
            if not isinstance(key, yaml.ScalarNode) or key.tag != f"{_CORE}str":
                self.problems.append(_key(_place(self.file, key.start_mark, path), key))
                continue
            name = key.value
            if name in mapping:
                self.problems.append(
                    _repeated(_place(self.file, key.start_mark, (*path, name)), name, first[name].line + 1)
                )
                continue
            self._check_characters(key, (*path, name))
            first[name] = key.start_mark
            mapping[name] = self.plain(value, (*path, name), depth + 1)
        return mapping

    def _scalar(self, node: yaml.ScalarNode, kind: str, path: FieldPath) -> Plain:
        text: str = node.value
        if kind == "str":
            self._check_characters(node, path)
            return text
        place = _place(self.file, node.start_mark, path)
        if len(text) > MAX_NUMBER:
            self.problems.append(_long_number(place, len(text)))
        elif not re.match(_IMPLICIT[kind][0], text):  # an explicit tag that doesn't hold, such as `!!int x`
            self.problems.append(_tagged(place, node.tag))
        else:
            return _SCALARS[kind](text)
        return None

    def _check_characters(self, node: yaml.ScalarNode, path: FieldPath) -> None:
        if not node.value.isprintable() and (match := _REFUSED.search(node.value)):
            self.problems.append(_character(_place(self.file, node.start_mark, path), ord(match[0])))


_SCALARS: dict[str, Callable[[str], Plain]] = {
    "str": str,
    "int": lambda text: int(text, 0) if text[:2] in ("0o", "0x") else int(text, 10),
    "float": lambda text: float(text.lower().replace(".inf", "inf").replace(".nan", "nan")),
    "bool": lambda text: text.lower() == "true",
    "null": lambda _: None,
}


def iterate_nodes(node: yaml.Node, path: FieldPath = ()) -> Iterator[tuple[FieldPath, yaml.Node]]:
    """Every node below and including node, with its path, in document order."""
    yield path, node
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from iterate_nodes(value, (*path, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from iterate_nodes(item, (*path, index))


def _child(node: yaml.Node, step: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode) and isinstance(step, str):
        return next((value for key, value in node.value if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        child: yaml.Node = node.value[step]
        return child
    return None


def _place(file: str, mark: yaml.Mark, path: FieldPath) -> Place:
    return Place(file, mark.line + 1, mark.column + 1, render_field(path))


def _position(file: str, text: str, index: int) -> Place:
    before = text[:index]
    return Place(file, before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1)


def _too_large(file: str, size: int, limit: int) -> Finding:
    return Finding(
        code="file-too-large",
        severity="error",
        place=Place(file),
        what=f"the file has {size:,} bytes",
        why=f"a file of this kind is read up to {limit:,} bytes, so that reading is bounded in time and memory",
        rule="poolwright limit",
        fix="split it into several files; any file layout will do",
    )


def _encoding(place: Place, byte: int) -> Finding:
    return Finding(
        code="yaml-encoding",
        severity="error",
        place=place,
        what=f"byte 0x{byte:02x} is not UTF-8",
        why="specs are UTF-8 text, so that every tool reads the same characters",
        rule="poolwright spec format",
        fix="save the file as UTF-8",
    )


def _syntax(file: str, error: yaml.MarkedYAMLError, text: str) -> Finding:
    mark, start = error.problem_mark or error.context_mark, error.context_mark
    lines = text.split("\n")
    found = lines[mark.line][mark.column : mark.column + 1] if mark and mark.line < len(lines) else ""
    problem, context = str(error.problem), str(error.context or "")
    what = f"{problem}, {context}" if context else problem
    fix = "mend the syntax here or on a line above: often an indent, a missing bracket, or a colon in plain text"
    if found == "\t" or "tab character" in problem:
        what, fix = "a tab stands where only spaces may, in the indent", "indent with spaces"
    elif problem == "found character that cannot start any token":
        what, fix = f"no value can start with {found}", "quote the value"
    elif problem == "mapping values are not allowed in this context":
        what, fix = "this colon can't stand here", "quote a text that holds a colon and a space, or mend the indent"
    elif problem == "found undefined alias":
        what, fix = "what starts with * is an alias, and nothing is anchored under its name", "quote the value"
    elif context == "while scanning a quoted scalar" and start:
        mark, what, fix = start, "the quoted text that starts here doesn't end", "close the quote"
    return Finding(
        code="yaml-syntax",
        severity="error",
        place=Place(file, mark.line + 1, mark.column + 1) if mark else Place(file),
        what=f"this is not YAML: {what}",
        why="nothing of a file is used unless all of it can be read",
        rule=_YAML_RULE,
        fix=fix,
    )


def _character(place: Place, character: int | str) -> Finding:
    import unicodedata  # here: nothing but this message needs the names

    code = character if isinstance(character, int) else ord(character)
    name = unicodedata.name(chr(code), "")
    return Finding(
        code="yaml-character",
        severity="error",
        place=place,
        what=f"the text holds the character U+{code:04X}" + (f" ({name.lower()})" if name else ""),
        why="control, line-separating and direction-changing characters read differently than they look",
        rule="poolwright spec format",
        fix="remove the character",
    )


def _alias(place: Place, anchor: str) -> Finding:
    return Finding(
        code="yaml-alias",
        severity="error",
        place=place,
        what=f"the alias *{anchor} repeats a value from elsewhere",
        why="an alias can expand without bound, and a value in two places has no one place to report",
        rule="poolwright spec format",
        fix=f"write out the value that &{anchor} stands at",
    )


def _depth(place: Place) -> Finding:
    return Finding(
        code="yaml-depth",
        severity="error",
        place=place,
        what=f"the value is nested more than {MAX_DEPTH} levels deep",
        why="no spec needs that depth, and reading is bounded in time and memory",
        rule="poolwright limit",
        fix="flatten the value",
    )


def _long_number(place: Place, length: int) -> Finding:
    return Finding(
        code="yaml-number",
        severity="error",
        place=place,
        what=f"a number of {length:,} characters",
        why=f"numbers are read up to {MAX_NUMBER} characters, so that reading is bounded in time",
        rule="poolwright limit",
        fix="shorten it, or quote it if it is text",
    )


def _tagged(place: Place, tag: str) -> Finding:
    return Finding(
        code="yaml-tag",
        severity="error",
        place=place,
        what=f"the YAML tag {_short_tag(tag)} can't stand here",
        why="specs hold maps, lists, strings, integers, booleans and null, and nothing that a tag would build",
        rule="poolwright spec format",
        fix="remove the tag",
    )


def _short_tag(tag: str) -> str:
    return "!!" + tag.removeprefix(_CORE) if tag.startswith(_CORE) else tag


def _key(place: Place, key: yaml.Node) -> Finding:
    shown = key.value if isinstance(key, yaml.ScalarNode) else ""
    return Finding(
        code="yaml-key",
        severity="error",
        place=place,
        what=f"the key {shown} is not a string"
        if isinstance(key, yaml.ScalarNode)
        else "a list or map stands as a key",
        why="field names are strings; YAML reads a plain number, true, false or null as another type",
        rule=_YAML_RULE,
        fix=f'quote it: "{shown}"' if isinstance(key, yaml.ScalarNode) else "write a field name",
    )


def _repeated(place: Place, name: str, first_line: int) -> Finding:
    return Finding(
        code="yaml-duplicate-key",
        severity="error",
        place=place,
        what=f'the key "{name}" stands a second time; line {first_line} has it already',
        why="readers disagree on which of the two counts: some keep the last without a word, others refuse",
        rule=_YAML_RULE,
        fix="keep one of the two",
    )
