"""Hostile workload templates: none reaches anything but its variables, none runs for long."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_case import UNREADABLE, Case, edited, judge, put
from hostile_run import Installed, World

TEMPLATE = "templates/workload.yaml.j2"
ENVELOPE = edited("specs/envelope.yaml", ("engine: {type: vllm}", f"engine: {{type: vllm, template: {TEMPLATE}}}"))


def template(text: bytes | str) -> Callable[[World], None]:
    """A repository whose envelope has this template."""
    return lambda world: put(world, {**ENVELOPE, TEMPLATE: text})


def instead(make: Callable[[Path, World], object]) -> Callable[[World], None]:
    """A repository whose envelope names a template that is something else."""

    def build(world: World) -> None:
        put(world, ENVELOPE)
        (world.repository / "templates").mkdir()
        make(world.repository / TEMPLATE, world)

    return build


def to_sparse(path: Path, _: World) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)


LOOP = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
CASES: dict[str, Case] = {
    # Without end, or without measure.
    "endless-loop": Case(
        template(LOOP),
        says="templates/workload.yaml.j2: the template takes more than 2 s of CPU time  [template-limit]",
    ),
    "endless-recursion": Case(
        template("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template is nested too deep, or calls itself without end  "
            "[template-limit]"
        ),
    ),
    "endless-power": Case(
        template("{{ 9 ** 9 ** 9 ** 9 }}"),
        says="templates/workload.yaml.j2:1:1: a number of 696 characters  [yaml-number]",
    ),
    "memory-by-repetition": Case(
        template("{{ ('a' * 999999999) | length }}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template needs more memory than a template may have  [template-limit]"
        ),
    ),
    "memory-by-doubling": Case(
        template("{% set n = namespace(x='a') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template needs more memory than a template may have  [template-limit]"
        ),
    ),
    "memory-by-format": Case(
        template("{{ '%999999999d' % 1 }}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template needs more memory than a template may have  [template-limit]"
        ),
    ),
    "output-without-end": Case(
        template("{% for a in range(99999) %}{% for b in range(99) %}aaaaaaaaaa{% endfor %}{% endfor %}"),
        says="templates/workload.yaml.j2:1:1: the template prints more than a template may  [template-limit]",
    ),
    "range-too-long": Case(
        template("{% for a in range(10 ** 12) %}{% endfor %}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template can't be rendered: OverflowError: Range too big. The "
            "sandbox blocks ranges larger than MAX_RANGE (100000)  [template-error]"
        ),
    ),
    "template-of-1-GiB": Case(
        instead(to_sparse),
        says=(
            "templates/workload.yaml.j2: templates/workload.yaml.j2 can't be read: it has 1,073,741,824 bytes, and "
            "16,777,216 is the most  [file-unreadable]"
        ),
        codes=UNREADABLE,
    ),
    "nested-expressions": Case(
        template("{{ " + "(" * 20_000 + "1" + ")" * 20_000 + " }}"),
        says=(
            "templates/workload.yaml.j2: the template is nested too deep, or calls itself without end  [template-limit]"
        ),
    ),
    # Out of the sandbox.
    "class-of-a-text": Case(
        template("{{ ''.__class__.__mro__[1].__subclasses__() }}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template reaches for what it may not: access to attribute "
            "'__class__' of 'str' object is unsafe  [template-error]"
        ),
    ),
    "class-by-the-attr-filter": Case(
        template("{{ '' | attr('__class__') }}"),
        says="templates/workload.yaml.j2:1:1: the template can't be rendered: No filter named 'attr'  [template-error]",
    ),
    "class-by-map": Case(
        template("{{ [''] | map(attribute='__class__') | list }}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template can't be rendered: ValueError: a list can't be printed "
            "as it is: write it with to_json  [template-error]"
        ),
    ),
    "class-by-format": Case(
        template("{{ '{0.__class__}'.format(1) }}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template reaches for what it may not: access to attribute "
            "'__class__' of 'int' object is unsafe  [template-error]"
        ),
    ),
    "class-by-format-map": Case(
        template("{{ '{a.__class__}'.format_map({'a': 1}) }}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template reaches for what it may not: access to attribute "
            "'__class__' of 'int' object is unsafe  [template-error]"
        ),
    ),
    "globals-of-a-function": Case(
        template("{{ range.__init__.__globals__ }}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template reaches for what it may not: access to attribute "
            "'__init__' of 'function' object is unsafe  [template-error]"
        ),
    ),
    "globals-of-cycler": Case(
        template("{{ cycler.__init__.__globals__.os.system('touch x') }}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template reaches for what it may not: access to attribute "
            "'__init__' of 'StrictUndefined' object is unsafe  [template-error]"
        ),
    ),
    "globals-of-lipsum": Case(
        template("{{ lipsum.__globals__ }}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template uses what isn't there: 'lipsum' is undefined  "
            "[template-error]"
        ),
    ),
    "the-template-itself": Case(
        template("{{ self.__init__ }}{{ self._TemplateReference__context }}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template reaches for what it may not: access to attribute "
            "'__init__' of 'TemplateReference' object is unsafe  [template-error]"
        ),
    ),
    "frame-of-a-generator": Case(
        template("{% set g = [1] | map('string') %}{{ g.gi_frame.f_back.f_globals }}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template reaches for what it may not: access to attribute "
            "'gi_frame' of 'generator' object is unsafe  [template-error]"
        ),
    ),
    "change-of-a-variable": Case(
        template("{{ labels.update({'a': 'b'}) }}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template reaches for what it may not: access to attribute "
            "'update' of 'dict' object is unsafe  [template-error]"
        ),
    ),
    "include-of-a-file": Case(
        template("{% include '../../outside/secret.yaml' %}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template can't be rendered: include: there are no other templates "
            " [template-error]"
        ),
    ),
    "import-of-a-file": Case(
        template("{% import '/etc/passwd' as p %}{{ p }}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template can't be rendered: import: there are no other templates  "
            "[template-error]"
        ),
    ),
    "extends-a-file": Case(
        template("{% extends '/etc/passwd' %}"),
        says=(
            "templates/workload.yaml.j2:1:1: the template can't be rendered: extends: there are no other templates "
            " [template-error]"
        ),
    ),
    # No template at all.
    "not-utf-8": Case(
        template(b"\xff\xfe"),
        says="templates/workload.yaml.j2:1:1: the template can't be rendered: this is no UTF-8  [template-error]",
    ),
    "template-is-a-link": Case(
        instead(lambda path, world: path.symlink_to(world.secret)),
        says="templates/workload.yaml.j2: templates/workload.yaml.j2 can't be read: it is a link  [file-unreadable]",
        codes=UNREADABLE,
    ),
    "template-is-a-pipe": Case(
        instead(lambda path, _: os.mkfifo(path)),
        says=(
            "templates/workload.yaml.j2: templates/workload.yaml.j2 can't be read: it is no regular file  "
            "[file-unreadable]"
        ),
        codes=UNREADABLE,
    ),
    "prints-nothing": Case(
        template(""), says="templates/workload.yaml.j2: the template gives no object  [template-result]"
    ),
    "prints-an-alias-bomb": Case(
        template("a: &a [1]\nb: [*a, *a]\n"),
        says="templates/workload.yaml.j2:2:1: the alias *a repeats a value from elsewhere  [yaml-alias]",
    ),
    "prints-another-kind": Case(
        template("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"),
        says="templates/workload.yaml.j2:2:1: the template gives a Secret of v1  [template-result]",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_template_is_refused(name: str, world: World, installed: Installed) -> None:
    judge(CASES[name], world, installed)
