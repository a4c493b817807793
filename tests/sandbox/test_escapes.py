"""Templates that try to get out, or never to end: each is refused in one line, in bounded time, and nothing happens."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from poolwright.sandbox import child
from poolwright.sandbox.run import Limits, render_template
from poolwright.specs.finding import SpecError, render_text

VARIABLES = {"envelope": {"name": "chat"}, "labels": {"a": "b"}, "volumes": [{"name": "models"}]}
UNSAFE = "the template reaches for what it may not: access to attribute '{}' of '{}' object is unsafe  [template-error]"
ABSENT = "the template uses what isn't there: {}  [template-error]"
CANNOT = "the template can't be rendered: {}  [template-error]"
MEMORY = "the template needs more memory than a template may have  [template-limit]"
OUTPUT = "the template prints more than a template may  [template-limit]"
DEPTH = "the template is nested too deep, or calls itself without end  [template-limit]"
TIME = "the template takes more than 1 s of CPU time  [template-limit]"

# By what is tried: the template, the line that is named (0: none can be), and what is said.
ESCAPES: dict[str, tuple[str, int, str]] = {
    # Python's own objects, by the ways that sandboxes were left before.
    "classes-of-a-text": ("{{ ''.__class__.__mro__[1].__subclasses__() }}", 1, UNSAFE.format("__class__", "str")),
    "classes-of-a-variable": ("\n{{ envelope.__class__.__base__ }}", 2, UNSAFE.format("__class__", "dict")),
    "order-of-classes": ("{{ dict.mro() }}", 1, UNSAFE.format("mro", "type")),
    "globals-of-cycler": ("{{ cycler.__init__.__globals__.os }}", 1, UNSAFE.format("__init__", "StrictUndefined")),
    "globals-of-joiner": ("{{ joiner.__init__.__globals__.os }}", 1, UNSAFE.format("__init__", "StrictUndefined")),
    "globals-of-namespace": ("{{ namespace.__init__.__globals__.os }}", 1, UNSAFE.format("__init__", "type")),
    "globals-of-lipsum": (
        "{{ lipsum.__globals__['os'].popen('id').read() }}",
        1,
        ABSENT.format("'lipsum' is undefined"),
    ),
    "globals-of-self": ("{{ self.__init__.__globals__ }}", 1, UNSAFE.format("__init__", "TemplateReference")),
    "context-of-self": (
        "{{ self._TemplateReference__context.environment }}",
        1,
        UNSAFE.format("_TemplateReference__context", "TemplateReference"),
    ),
    "code-of-a-macro": ("{% macro m() %}{% endmacro %}\n{{ m._func.__code__ }}", 2, UNSAFE.format("_func", "Macro")),
    "format-of-a-text": ("{{ '{0.__class__.__mro__}'.format(envelope) }}", 1, UNSAFE.format("__class__", "dict")),
    "format-map-of-a-text": ("{{ '{a.__class__}'.format_map({'a': 1}) }}", 1, UNSAFE.format("__class__", "int")),
    "format-kept-for-later": (
        "{% set f = '{0.__class__}'.format %}\n{{ f(envelope) }}",
        2,
        UNSAFE.format("__class__", "dict"),
    ),
    "filter-attr": ("{{ envelope | attr('__class__') }}", 1, CANNOT.format("No filter named 'attr'")),
    "attribute-of-map": (
        "{{ [1] | map(attribute='__class__') | list | to_json }}",
        1,
        UNSAFE.format("__class__", "int"),
    ),
    "attribute-of-sort": ("{{ [1, 2] | sort(attribute='__class__') | to_json }}", 1, UNSAFE.format("__class__", "int")),
    "attribute-by-index": ("{{ envelope['__class__'] }}", 1, UNSAFE.format("__class__", "dict")),
    "change-a-list": ("{{ volumes.append(1) }}", 1, UNSAFE.format("append", "list")),
    "change-a-map": ("{{ labels.update(a='c') }}", 1, UNSAFE.format("update", "dict")),
    "chance": ("{{ [1, 2] | random }}", 1, CANNOT.format("No filter named 'random'")),
    # Other files.
    "include": ("\n{% include '/etc/passwd' %}", 2, CANNOT.format("include: there are no other templates")),
    "include-if-there": (
        "{% include ['/etc/passwd'] ignore missing %}",
        1,
        CANNOT.format("include: there are no other templates"),
    ),
    "import": ("{% import 'os' as os %}", 1, CANNOT.format("import: there are no other templates")),
    "import-from": ("{% from 'os' import x %}", 1, CANNOT.format("fromimport: there are no other templates")),
    "extends": ("{% extends '../../x' %}", 1, CANNOT.format("extends: there are no other templates")),
    # Without end.
    "endless-loop": (
        "{% for a in range(99999) %}{% for b in range(99999) %}{% set c = a %}{% endfor %}{% endfor %}",
        0,
        TIME,
    ),
    "endless-number": ("{{ 10 ** (10 ** 10) }}", 0, TIME),
    "endless-recursion": ("{% macro f(x) %}{{ f(x) }}{% endmacro %}\n{{ f(1) }}", 1, DEPTH),
    "deep-brackets": ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", 0, DEPTH),
    "deep-blocks": ("{% if 1 %}" * 300 + "{% endif %}" * 300, 0, DEPTH),
    "memory-of-a-text": ("{{ ('a' * 10**9) | length }}", 1, MEMORY),
    "memory-of-a-list": ("\n{{ ([0] * 10**9) | length }}", 2, MEMORY),
    "memory-of-a-format": ("{{ ('%1000000000d' % 1) | length }}", 1, MEMORY),
    "long-range": (
        "\n\n{{ range(10**9) | length }}",
        3,
        CANNOT.format("OverflowError: Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000)"),
    ),
    "output-of-a-loop": ("\n{% for a in range(99999) %}{{ labels.a * 30 }}{% endfor %}", 2, OUTPUT),
    "output-of-a-text": ("{{ 'a' * 3000000 }}", 1, OUTPUT),
}


@pytest.mark.parametrize("name", ESCAPES)
def test_nothing_gets_out(name: str) -> None:
    template, line, said = ESCAPES[name]
    start = time.monotonic()
    with pytest.raises(SpecError) as refused:
        render_template(template.encode(), "t.j2", VARIABLES, environ={}, limits=Limits(cpu_s=1))
    assert time.monotonic() - start < 10  # of which at most 1 s is the template's
    (finding,) = refused.value.findings
    place = f"t.j2:{line}:1" if line else "t.j2"
    assert render_text([finding]).splitlines()[0] == f"{place}: {said}"


def test_the_child_can_open_nothing_when_the_template_is_read() -> None:
    """The limits are in force whatever a template found: they are the second wall."""
    program = f"""
import os, runpy, socket, sys
sys.argv = ["child.py", "2", "{256 << 20}", "{1 << 20}", *sys.path]
runpy.run_path({str(Path(child.__file__))!r}, run_name="__main__")
sys.stdout.flush()
print()
for attempt in (lambda: open("/etc/passwd"), lambda: os.listdir("."), os.pipe, socket.socket):
    try:
        attempt()
    except OSError as error:
        print(error.strerror)
    else:
        print("it could")
"""
    request = b'{"template": "{{ 1 }}", "variables": {}}'
    ran = subprocess.run([sys.executable, "-c", program], input=request, capture_output=True, check=True, timeout=20)
    assert ran.stderr == b""
    assert ran.stdout.decode().splitlines() == ['{"text": "1", "lines": [1]}', *["Too many open files"] * 4]
