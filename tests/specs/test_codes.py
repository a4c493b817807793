"""The codes of findings: each one that the sources give is explained, and no other."""

from __future__ import annotations

import ast
import fnmatch
import re
from collections.abc import Iterator
from pathlib import Path

from fleet import ROOT
from poolwright.specs.codes import CODES

SOURCES = [path for folder in ("render", "overlays", "pipelines") for path in sorted((ROOT / folder).rglob("*.py"))]


def list_codes(path: Path) -> Iterator[str]:
    """Every text that may be a finding's code, with `*` for what isn't known before it runs."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.keyword) and node.arg == "code":
            yield from _texts(node.value)


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
    sources = [*(ROOT / "render/poolwright/specs").glob("*.py"), ROOT / "render/poolwright/catalog/rules.py"]
    given = {code for path in sources for code in list_codes(path)}
    folder = ROOT / "tests/specs"
    texts = "".join(path.read_text("utf-8") for path in (*folder.glob("bad/*.yaml"), folder / "test_bad_specs.py"))
    # That one is about an argument of a command, not about a spec.
    assert [code for code in sorted(given - {"cluster-unknown"}) if f"[{code}]" not in texts] == []


def test_codes_are_sorted_and_kebab_case_and_their_explanations_are_sentences() -> None:
    assert list(CODES) == sorted(CODES)
    for code, text in CODES.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code), code
        assert re.fullmatch(r"[A-Z`].*\.", text), code
