"""The codes of findings: each one that the sources give is explained, and no other."""

from __future__ import annotations

import ast
import fnmatch
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from fleet import ROOT
from poolwright.specs.codes import CODES

SOURCES = [
    path for folder in ("render", "overlays", "releases", "pipelines") for path in sorted((ROOT / folder).rglob("*.py"))
]
PURE = [path for path in SOURCES if "pipelines" not in path.relative_to(ROOT).parts]
CASES = [path for path in sorted((ROOT / "tests").rglob("*")) if path.suffix in (".py", ".txt", ".yaml")]


def list_codes(path: Path) -> Iterator[str]:
    """Every text that may be a finding's code, with `*` for what isn't known before it runs."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    # Functions of the file that are given a code, and where among their arguments.
    takes_code = {
        node.name: [argument.arg for argument in node.args.args].index("code")
        for node in nodes
        if isinstance(node, ast.FunctionDef) and "code" in (argument.arg for argument in node.args.args)
    }
    for node in nodes:
        if isinstance(node, ast.keyword) and node.arg == "code":
            yield from _texts(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in takes_code:
            yield from _texts(node.args[takes_code[node.func.id]])


def _texts(value: ast.expr) -> Iterator[str]:
    match value:
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*_texts(body), *_texts(orelse))
        case ast.JoinedStr(values=parts):
            yield "".join(part.value if isinstance(part, ast.Constant) else "*" for part in parts)


def test_every_code_that_the_sources_give_is_explained_and_no_other() -> None:
    given = {code for path in SOURCES for code in list_codes(path)}
    unexplained = [code for code in sorted(given) if not fnmatch.filter(CODES, code)]
    never_given = [code for code in CODES if not any(fnmatch.fnmatchcase(code, pattern) for pattern in given)]
    assert (unexplained, never_given) == ([], [])


def test_every_code_of_a_bad_spec_has_a_case_with_its_whole_text() -> None:
    given = {code for path in PURE for code in list_codes(path)}
    texts = "".join(path.read_text("utf-8") for path in CASES)
    # That one is about an argument of a command, not about a spec.
    wanted = sorted({full for code in given - {"cluster-unknown"} for full in fnmatch.filter(CODES, code)})
    # The code ends a text's first line; what comes next is the place or the reason, perhaps in a literal of its own.
    whole = set(re.findall(r"\[([a-z-]+)\](?:\\n)?[\"']?\s+f?[\"']?\s*(?:at|why)  ", texts))
    assert [code for code in wanted if code not in whole] == []


def test_there_are_sixty_bad_specs_with_whole_texts() -> None:
    cases = [
        name for path in (ROOT / "tests/specs").glob("bad/*.yaml") for name in yaml.safe_load(path.read_text("utf-8"))
    ]
    assert len(cases) == len(set(cases)) >= 60


def test_codes_are_sorted_and_kebab_case_and_their_explanations_are_sentences() -> None:
    assert list(CODES) == sorted(CODES)
    for code, text in CODES.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code), code
        assert re.fullmatch(r"[A-Z`].*\.", text), code
