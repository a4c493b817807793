"""The child process: one Jinja2 template rendered, with nothing at hand but its variables.

Run as a program, by `run.py`: `python -I -S -B child.py CPU_S MEMORY_BYTES OUTPUT_BYTES FOLDER...`, where the folders
hold jinja2 and markupsafe. Of poolwright it imports nothing. Limits are in force before the template is read, and no
file, socket or process can be opened from then on.

stdin:  {"template": text, "variables": {...}} as JSON.
stdout: {"text": rendered text, "lines": the template's line for each of its lines}, or {"problem": {kind, line,
        message}}: of its kind `syntax`, `undefined`, `unsafe`, `value`, `memory`, `output` or `depth`; line 0: unknown.
"""

from __future__ import annotations

import codecs
import json
import re
import resource
import sys
from collections.abc import Iterator
from typing import Any

# What turns values into values, the same way each time, without looking at anything but its arguments.
FILTERS = frozenset(
    (
        *("abs", "batch", "capitalize", "count", "d", "default", "dictsort", "first", "float", "groupby", "indent"),
        *("int", "items", "join", "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr"),
        *("replace", "reverse", "round", "select", "selectattr", "slice", "sort", "string", "sum", "title", "trim"),
        *("truncate", "unique", "upper", "wordcount"),
    )
)
GLOBALS = ("dict", "namespace", "range")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # how Python prints what has no text of its own
_MARK = re.compile("\x02([0-9]+)\x03")  # control characters: no YAML text that is read may hold them


def main(cpu_s: int, memory_bytes: int, output_bytes: int, folders: list[str]) -> None:
    """Answer the one request on stdin."""
    _limit(cpu_s, memory_bytes)
    sys.path += folders
    request = json.loads(sys.stdin.buffer.read())
    # All that could be loaded later, for nothing can be then.
    import jinja2.debug
    import jinja2.sandbox  # noqa: F401

    codecs.lookup("unicode_escape")  # reads the texts in expressions
    for what in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
        resource.setrlimit(what, (0, 0))
    try:
        answer = _answer(request["template"], request["variables"], output_bytes)
    except MemoryError:
        answer = _problem("memory", 0, "")
    sys.stdout.buffer.write(json.dumps(answer).encode())


def _limit(cpu_s: int, memory_bytes: int) -> None:
    for what, most in (
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # At the soft limit of CPU time comes the signal that says so; at the hard one SIGKILL, which doesn't.
        resource.setrlimit(what, (limit, hard if what == resource.RLIMIT_CPU else limit))


def _answer(template: str, variables: dict[str, Any], output_bytes: int) -> dict[str, Any]:
    from jinja2 import TemplateSyntaxError, UndefinedError
    from jinja2.exceptions import SecurityError

    try:
        text = _render(template, variables, output_bytes)
        lines = _list_lines(template, variables, output_bytes, text)
    except _OutputError as error:
        return _problem("output", error.line, "")
    except TemplateSyntaxError as error:
        return _problem("syntax", error.lineno, error.message or "")
    except UndefinedError as error:
        return _problem("undefined", _line(error), error.message or "")
    except SecurityError as error:
        return _problem("unsafe", _line(error), error.message or "")
    except RecursionError as error:
        return _problem("depth", _line(error), "")
    except MemoryError as error:
        return _problem("memory", _line(error), "")
    except Exception as error:  # whatever a template makes happen is the template's problem
        return _problem("value", _line(error), f"{type(error).__name__}: {error}")
    if address := _ADDRESS.search(text):  # it differs from run to run, and so would what is rendered
        number = text.count("\n", 0, address.start())
        line = lines[number] if number < len(lines) else 0
        return _problem("value", line, "what is printed here has no text of its own, only an address in memory")
    return {"text": text, "lines": lines}


def _problem(kind: str, line: int, message: str) -> dict[str, Any]:
    said = _ADDRESS.sub("", " ".join(message.split())).rstrip(".")[:300]
    return {"problem": {"kind": kind, "line": line, "message": said}}


class _OutputError(Exception):
    """The template prints more than is allowed."""

    def __init__(self, line: int) -> None:
        self.line = line


def _render(template: str, variables: dict[str, Any], output_bytes: int, *, is_marked: bool = False) -> str:
    """The rendered text; a marked one says before each text of the template, and in it after each break, its line."""
    from jinja2 import Template, TemplateSyntaxError, nodes

    environment = _build_environment()
    tree = environment.parse(template)
    for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
        raise TemplateSyntaxError(f"{type(node).__name__.lower()}: there are no other templates", node.lineno)
    if is_marked:
        for data in tree.find_all(nodes.TemplateData):
            data.data = _mark(data.data, data.lineno)
    compiled = Template.from_code(environment, environment.compile(tree), environment.make_globals(None))
    pieces, size = [], 0
    generator: Any = compiled.generate(variables)
    for piece in generator:
        size += len(piece.encode("utf-8", "surrogatepass"))
        if size > output_bytes * (1 + is_marked):
            raise _OutputError(compiled.get_corresponding_lineno(generator.gi_yieldfrom.gi_frame.f_lineno))
        pieces.append(piece)
    return "".join(pieces)


def _build_environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, finalize=_print_value, autoescape=False, keep_trailing_newline=True, cache_size=0
    )
    environment.filters = {name: environment.filters[name] for name in FILTERS} | {"to_json": _write_json}
    environment.globals = {name: environment.globals[name] for name in GLOBALS}
    return environment


def _print_value(value: Any) -> Any:
    """Texts and numbers stand as they are; how Python prints anything else isn't how YAML reads it."""
    from jinja2 import Undefined

    if isinstance(value, str | int | float | Undefined) and not isinstance(value, bool):
        return value
    raise ValueError(f"a {type(value).__name__} can't be printed as it is: write it with to_json")


def _write_json(value: Any) -> str:
    """A value as JSON on one line, which is YAML too."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=_write_other)


def _write_other(value: Any) -> Any:
    from jinja2 import Undefined

    if isinstance(value, Undefined):
        return str(value)  # raises, and says what isn't there
    if isinstance(value, Iterator):
        return list(value)
    raise ValueError(f"a {type(value).__name__} has no form in JSON")


def _line(error: BaseException) -> int:
    """The template's line that an error was raised in: jinja2 puts it in the traceback in place of its own code's."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _mark(text: str, line: int) -> str:
    parts = text.split("\n")
    return "\n".join(f"\x02{line + number}\x03{part}" for number, part in enumerate(parts))


def _list_lines(template: str, variables: dict[str, Any], output_bytes: int, text: str) -> list[int]:
    """For each line of the rendered text the template's line that it starts on; empty where that can't be told."""
    marked = _render(template, variables, output_bytes, is_marked=True)
    if _MARK.sub("", marked) != text:  # the template looks at its own text
        return []
    lines, last = [], 1
    for row in marked.split("\n"):
        start = re.match("(?:\x02[0-9]+\x03)+", row)
        if start:
            last = int(_MARK.findall(start[0])[-1])
        lines.append(last)
    return lines


if __name__ == "__main__":
    cpu, memory, output = map(int, sys.argv[1:4])
    main(cpu, memory, output, sys.argv[4:])
