"""What templates can use, where their mistakes are named, and a child process that can't be trusted."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any
from unittest.mock import patch

import pytest

from poolwright.sandbox import child, run
from poolwright.sandbox.run import MAX_TEMPLATE_BYTES, Limits, Rendered, render_template
from poolwright.specs.finding import SpecError, render_text

VARIABLES: Mapping[str, object] = {
    "envelope": {"name": "chat", "namespace": "models"},
    "labels": {"b": "2", "a": "1"},
    "volumes": [{"name": "models", "size": 3}, {"name": "shm", "size": 1}],
    "on": True,
}


def render(template: str, **limits: Any) -> Rendered:
    return render_template(template.encode(), "t.j2", VARIABLES, environ={}, limits=Limits(**limits))


def refuse(template: bytes, environ: Mapping[str, str] | None = None) -> str:
    """The whole text of the one finding."""
    with pytest.raises(SpecError) as refused:
        render_template(template, "t.j2", VARIABLES, environ=environ or {})
    (finding,) = refused.value.findings
    return render_text([finding])


# A use of every filter that there is: any that would load or open something could do neither in the child.
FILTERS = {
    "abs": ("{{ -1 | abs }}", "1"),
    "batch": ("{{ [1, 2, 3] | batch(2) | list | to_json }}", "[[1, 2], [3]]"),
    "capitalize": ("{{ 'ab' | capitalize }}", "Ab"),
    "count": ("{{ volumes | count }}", "2"),
    "d": ("{{ nothing | d('x') }}", "x"),
    "default": ("{{ envelope.nothing | default('x') }}", "x"),
    "dictsort": ("{{ labels | dictsort | to_json }}", '[["a", "1"], ["b", "2"]]'),
    "first": ("{{ volumes | first | to_json }}", '{"name": "models", "size": 3}'),
    "float": ("{{ '1.5' | float }}", "1.5"),
    "groupby": ("{{ volumes | groupby('size') | map('first') | list | to_json }}", "[1, 3]"),
    "indent": ("{{ 'a\nb' | indent(2) }}", "a\n  b"),
    "int": ("{{ '7' | int + 1 }}", "8"),
    "items": ("{{ labels | items | list | to_json }}", '[["a", "1"], ["b", "2"]]'),
    "join": ("{{ ['a', 'b'] | join(',') }}", "a,b"),
    "last": ("{{ [1, 2] | last }}", "2"),
    "length": ("{{ volumes | length }}", "2"),
    "list": ("{{ 'ab' | list | to_json }}", '["a", "b"]'),
    "lower": ("{{ 'AB' | lower }}", "ab"),
    "map": ("{{ volumes | map(attribute='name') | to_json }}", '["models", "shm"]'),
    "max": ("{{ [1, 3, 2] | max }}", "3"),
    "min": ("{{ [2, 1] | min }}", "1"),
    "reject": ("{{ [1, 2] | reject('odd') | list | to_json }}", "[2]"),
    "rejectattr": ("{{ volumes | rejectattr('size', 'eq', 3) | map(attribute='name') | first }}", "shm"),
    "replace": ("{{ 'a-b' | replace('-', '_') }}", "a_b"),
    "reverse": ("{{ 'ab' | reverse }}", "ba"),
    "round": ("{{ 1.6 | round | int }}", "2"),
    "select": ("{{ [1, 2] | select('odd') | list | to_json }}", "[1]"),
    "selectattr": ("{{ volumes | selectattr('name', 'equalto', 'shm') | map(attribute='size') | first }}", "1"),
    "slice": ("{{ [1, 2, 3] | slice(2) | list | to_json }}", "[[1, 2], [3]]"),
    "sort": ("{{ volumes | sort(attribute='size') | map(attribute='name') | join(' ') }}", "shm models"),
    "string": ("{{ 1 | string }}", "1"),
    "sum": ("{{ volumes | sum(attribute='size') }}", "4"),
    "title": ("{{ 'ab cd' | title }}", "Ab Cd"),
    "to_json": ("{{ {'b': [true, none], 'a': 'ä\"'} | to_json }}", '{"a": "ä\\"", "b": [true, null]}'),
    "trim": ("{{ ' a ' | trim }}", "a"),
    "truncate": ("{{ 'abcdefghijkl' | truncate(5, true) }}", "ab..."),
    "unique": ("{{ [1, 1, 2] | unique | list | to_json }}", "[1, 2]"),
    "upper": ("{{ 'ab' | upper }}", "AB"),
    "wordcount": ("{{ 'a b' | wordcount }}", "2"),
}


def test_every_filter_is_shown() -> None:
    assert set(FILTERS) == {*child.FILTERS, "to_json"}


def test_filters_in_the_child() -> None:
    names = sorted(FILTERS)
    # One template for all: each costs a process otherwise.
    rendered = render("\x1f".join(FILTERS[name][0] for name in names))
    assert dict(zip(names, rendered.text.split("\x1f"), strict=True)) == {name: FILTERS[name][1] for name in names}


def test_globals() -> None:
    text = (
        "{{ dict(labels, c='3') | to_json }} {% for i in range(3) %}{{ i }}{% endfor %}"
        "{% set n = namespace(x=1) %}{% set n.x = 2 %} {{ n.x }}"
    )
    assert render(text).text == '{"a": "1", "b": "2", "c": "3"} 012 2'
    assert set(child.GLOBALS) == {"dict", "namespace", "range"}


def test_lines_are_those_of_the_template() -> None:
    template = """\
{# a comment
   of two lines #}
name: {{ envelope.name }}
{% for volume in volumes -%}
- {{ volume.name }}
  size: {{ volume.size }}
{% endfor %}
{% macro pair(x) %}left: {{ x }}
right: {{ x }}{% endmacro -%}
{{ pair(1) }}
end: 1
"""
    rendered = render(template)
    assert [*zip(rendered.lines, rendered.text.split("\n"), strict=True)] == [
        (2, ""),
        (3, "name: chat"),
        (5, "- models"),
        (6, "  size: 3"),
        (5, "- shm"),
        (6, "  size: 1"),
        (7, ""),
        (8, "left: 1"),
        (9, "right: 1"),
        (11, "end: 1"),
        (12, ""),
    ]


def test_a_template_that_counts_its_own_text_has_no_lines() -> None:
    assert render("{% set x %}a\nb{% endset %}{{ x | length }}\n") == Rendered(text="3\n", lines=())


MISTAKES = {
    "an-undefined-name": (
        b"a: 1\nb: {{ nothing }}\n",
        """\
t.j2:2:1: the template uses what isn't there: 'nothing' is undefined  [template-error]
  why  a workload is rendered as a whole or not at all (poolwright template sandbox)
  fix  use what there is: envelope, labels, on, volumes; of a part that may be missing, `default`
""",
    ),
    "an-undefined-entry-in-to-json": (
        b"\n\n{{ envelope.nothing | to_json }}",
        """\
t.j2:3:1: the template uses what isn't there: 'dict object' has no attribute 'nothing'  [template-error]
  why  a workload is rendered as a whole or not at all (poolwright template sandbox)
  fix  use what there is: envelope, labels, on, volumes; of a part that may be missing, `default`
""",
    ),
    "a-tag-without-an-end": (
        b"a\n{% for x in volumes %}\n",
        """\
t.j2:2:1: the template can't be rendered: Unexpected end of template. Jinja was looking for the following tags: \
'endfor' or 'else'. The innermost block that needs to be closed is 'for'  [template-error]
  why  a workload is rendered as a whole or not at all (poolwright template sandbox)
  fix  mend the template's syntax
""",
    ),
    "a-list-printed-as-python-does": (
        b"\nvolumes: {{ volumes }}\n",
        """\
t.j2:2:1: the template can't be rendered: ValueError: a list can't be printed as it is: write it with to_json  \
[template-error]
  why  a workload is rendered as a whole or not at all (poolwright template sandbox)
  fix  mend the expression
""",
    ),
    # YAML reads True and True, but None as a text.
    "a-boolean-printed-as-python-does": (
        b"{{ on }}",
        """\
t.j2:1:1: the template can't be rendered: ValueError: a bool can't be printed as it is: write it with to_json  \
[template-error]
  why  a workload is rendered as a whole or not at all (poolwright template sandbox)
  fix  mend the expression
""",
    ),
    # It is another one in each run.
    "an-address-in-memory": (
        b"a\nb: {{ 'x' ~ labels.items }}",
        """\
t.j2:2:1: the template can't be rendered: what is printed here has no text of its own, only an address in memory  \
[template-error]
  why  a workload is rendered as a whole or not at all (poolwright template sandbox)
  fix  mend the expression
""",
    ),
    "no-utf-8": (
        b"a\nb\xff",
        """\
t.j2:2:1: the template can't be rendered: this is no UTF-8  [template-error]
  why  a workload is rendered as a whole or not at all (poolwright template sandbox)
  fix  mend the expression
""",
    ),
    "too-large": (
        b"x" * (MAX_TEMPLATE_BYTES + 1),
        """\
t.j2: the template has 262,145 bytes  [template-limit]
  why  a template is read up to 262,144 bytes, so that rendering is bounded in time and memory \
(poolwright template sandbox)
  fix  shorten it; a workload is a few hundred lines
""",
    ),
    "a-message-that-would-move-the-cursor": (
        b"{{ envelope['\\x1b[2J\\n\\nx'] }}",
        """\
t.j2:1:1: the template uses what isn't there: 'dict object' has no attribute '\\x1b[2J\\n\\nx'  [template-error]
  why  a workload is rendered as a whole or not at all (poolwright template sandbox)
  fix  use what there is: envelope, labels, on, volumes; of a part that may be missing, `default`
""",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named_at_their_line(name: str) -> None:
    template, said = MISTAKES[name]
    assert refuse(template) == said


def test_templates_can_be_switched_off() -> None:
    assert refuse(b"{{ 1 }}", {"POOLWRIGHT_TEMPLATES": "off"}).splitlines()[0] == (
        "t.j2: templates are switched off here (POOLWRIGHT_TEMPLATES=off), and the envelope's workload is one  "
        "[templates-off]"
    )
    assert render_template(b"{{ 1 }}", "t.j2", {}, environ={"POOLWRIGHT_TEMPLATES": "on"}).text == "1"


# Programs in the child's place: whatever it does, there is one answer.
CHILDREN = {
    "ends-without-an-answer": ("pass", "ended the process that rendered it, by exit code 0"),
    "ends-with-an-error": ("raise SystemExit(3)", "ended the process that rendered it, by exit code 3"),
    "ends-by-a-signal": ("import os; os.kill(os.getpid(), 11)", "ended the process that rendered it, by signal 11"),
    "is-killed": ("import os; os.kill(os.getpid(), 9)", "ended the process that rendered it, by signal 9"),
    "answers-something-else": ("print('[1]')", "ended the process that rendered it, by exit code 0"),
    "answers-with-other-types": (
        'print(\'{"text": 1, "lines": []}\')',
        "ended the process that rendered it, by exit code 0",
    ),
    "answers-and-fails": (
        'print(\'{"text": "a", "lines": []}\'); raise SystemExit(1)',
        "ended the process that rendered it, by exit code 1",
    ),
    "never-answers": ("import time; time.sleep(60)", "takes more than 0.5 s"),
    "answers-and-stays": (
        'import os, time; print(\'{"text": "a", "lines": []}\', flush=True); os.close(1); time.sleep(60)',
        "takes more than 0.5 s",
    ),
    "never-stops-talking": ("while True: print('a' * 65536)", "prints more than a template may"),
}


@pytest.mark.parametrize("name", CHILDREN)
def test_a_child_that_cannot_be_trusted(name: str) -> None:
    program, said = CHILDREN[name]
    # Not by import: Python's own would read the request from stdin.
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.stdin.buffer.read(); {program}"]
    if program.startswith("while"):
        command[-1] = program
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
        started.append(real(*arguments, **options))  # type: ignore[call-overload]
        return started[-1]

    real = subprocess.Popen
    with (
        patch.object(run, "_command", lambda _: command),
        patch.object(subprocess, "Popen", start),
        pytest.raises(SpecError) as refused,
    ):
        render("{{ 1 }}", time_s=0.5 if "0.5" in said else 10, output_bytes=1 << 16)
    (finding,) = refused.value.findings
    assert (finding.code, finding.what) == ("template-limit", f"the template {said}")
    assert [process.returncode is not None for process in started] == [True]  # none is left


def test_the_child_has_no_environment_and_an_empty_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "s3cr3t")
    program = (
        "import json, os, sys; sys.stdin.buffer.read();"
        "print(json.dumps({'text': json.dumps([sorted(os.environ), os.listdir('.'), sys.path]), 'lines': []}))"
    )
    command = [*run._command(Limits())[:3], "-c", program]
    with patch.object(run, "_command", lambda _: command):
        environment, folder, path = json.loads(render("").text)
    assert (set(environment) - {"LC_CTYPE"}, folder) == (set(), [])  # that one Python sets itself
    assert not any("site-packages" in entry or "poolwright" in entry for entry in path)
