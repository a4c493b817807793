"""What `generate` loads without compiling its patterns does what it does when they are compiled."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# Every pattern of these libraries that can be reached from outside, by what it is for. `ask` answers with what is said.
QUESTIONS = """\
import datetime, re, sys, textwrap
if "lazily" in sys.argv:
    from poolwright.cli.lazy_patterns import load_libraries
    load_libraries()
import json, msgspec, yaml, yaml.reader
from typing import Annotated

def ask(question):
    try:
        return repr(question())
    except Exception as error:
        return f"{type(error).__name__}: {error}"

TEXT = '''
a: [yes, 1_000, 0x1F, 0b11, 1:30, 1.5e3, .inf, ~, 2026-11-30, 2026-11-30 10:00:00.5 +01:00]
b: {<<: {c: 1}, d: !!binary aGk=, e: "\\\\u00e9", f: 'g', h: |
  block
}
'''
PLAIN = TEXT.replace('''h: |
  block
''', "h: i")
VALUE = {"k": ["yes", "1_000", "2026-11-30", 1.5, None, True, datetime.date(2026, 11, 30), b"hi", "a: b", "caf\\u00e9"]}
PATTERN = Annotated[str, msgspec.Meta(pattern="^[a-z]+$")]
answers = {
    "yaml-1.1": ask(lambda: yaml.load(PLAIN, Loader=yaml.SafeLoader)),
    "yaml-1.1-by-c": ask(lambda: yaml.load(PLAIN, Loader=yaml.CSafeLoader)),
    "yaml-full": ask(lambda: yaml.load(PLAIN, Loader=yaml.FullLoader)),
    "yaml-syntax": ask(lambda: yaml.load(TEXT, Loader=yaml.SafeLoader)),
    "yaml-unprintable": ask(lambda: yaml.load("a: \\x01", Loader=yaml.SafeLoader)),
    "yaml-beyond-16-bits": ask(lambda: yaml.load("a: \\U0001f600", Loader=yaml.SafeLoader)),
    "yaml-events": ask(lambda: [type(event).__name__ for event in yaml.parse(PLAIN)]),
    "yaml-dumped": ask(lambda: yaml.dump(VALUE, Dumper=yaml.SafeDumper)),
    "yaml-dumped-by-c": ask(lambda: yaml.dump(VALUE, Dumper=yaml.CSafeDumper)),
    "field": ask(lambda: msgspec.convert("abc", PATTERN)),
    "field-refused": ask(lambda: msgspec.convert("A", PATTERN)),
    "field-shown": ask(lambda: msgspec.json.schema(PATTERN)),
    "wrapped": ask(lambda: textwrap.wrap("one-two three, four -- five. six", 9)),
    "dedented": ask(lambda: textwrap.dedent("  a\\n    b\\n")),
    "re-itself": ask(lambda: type(re.compile("a"))),
}
print(json.dumps(answers))
"""


def ask(*arguments: str) -> dict[str, str]:
    """The answers of a process of its own."""
    argv = [sys.executable, "-c", QUESTIONS, *arguments]
    answers: dict[str, str] = json.loads(subprocess.run(argv, capture_output=True, check=True).stdout)
    return answers


def test_libraries_answer_as_with_compiled_patterns() -> None:
    compiled = ask()
    assert ask("lazily") == compiled
    assert compiled["yaml-1.1"].startswith("{'a': [True, 1000, 31, 3, 90, ")
    assert compiled["yaml-unprintable"].startswith("ReaderError: ")  # the questions reach what they are about
    assert compiled["field-refused"] == "ValidationError: Expected `str` matching regex '^[a-z]+$'"


def run_python(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout


def test_pattern_of_pyyamls_reader_is_not_compiled_by_reading_specs() -> None:
    script = """\
from poolwright.cli.lazy_patterns import LazyPattern, load_libraries
load_libraries()
from poolwright.specs.document import parse_documents
import yaml
parse_documents(b"a: [1, true, b]", "x.yaml")
pattern = yaml.reader.Reader.NON_PRINTABLE
print(type(pattern) is LazyPattern, pattern._compiled)
"""
    assert run_python(script) == "True None\n"


def test_compile_is_what_it_was_when_a_library_is_missing() -> None:
    script = """\
import re, sys
from poolwright.cli.lazy_patterns import load_libraries
before = re.compile
sys.modules["yaml"] = None
try:
    load_libraries()
except ImportError as error:
    print(error.name, re.compile is before)
"""
    assert run_python(script) == "yaml True\n"


@pytest.mark.parametrize("ask_for", ["pattern.search('abc').group()", "pattern.pattern", "pattern.flags"])
def test_lazy_pattern_is_compiled_once(ask_for: str) -> None:
    script = f"""\
import re
import poolwright.cli.lazy_patterns as lazy
calls = []
compile_now = lazy._COMPILE
lazy._COMPILE = lambda *given: calls.append(given) or compile_now(*given)
pattern = lazy.LazyPattern("B", re.IGNORECASE)
first, second = {ask_for}, {ask_for}
print(first == second == {ask_for.replace("pattern.", "re.compile('B', re.I).", 1)}, len(calls))
"""
    assert run_python(script) == "True 1\n"
