"""Reports whose every text is somebody's who wants to be more than text."""

from __future__ import annotations

import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

from poolwright.changes.report import Report

PIECES = (
    *(
        "@octocat",
        "@acme/team",
        "@all",
        "#12",
        "!34",
        "&5",
        "~bug",
        '~"a b"',
        "%v1",
        "$9",
        "GH-7",
        "acme/x#1",
        "^alert#1",
    ),
    *("www.evil.example", "http://evil.example/a", "https://evil.example", "a@evil.example", "ftp://evil.example"),
    *("4a7291fff960d8d4f0e525304f2161817db42c59", "deadbeef", "1234567", "OPS-12", ":tada:", "$x^2$", "$`x`$", "$$"),
    *(
        "<script>alert(1)</script>",
        "<img src=http://evil.example/i onerror=x>",
        "<b>",
        "</code>",
        "</details>",
        "</summary>",
    ),
    *("<details open>", "<!-- poolwright-comment/v1 project=a page=1/1 report=sha256:", "<!--", "-->", "<a href=x>"),
    *("&#64;octocat", "&lt;b&gt;", "&amp;", "`", "``", "```", "~~~", "````\n", "`" * 40, "|", "\\|", "\\", "||"),
    *("\n/close\n", "/close", "/label ~x", "\n- [ ] a", "[ ]", "[x](http://evil.example)", "![i](http://evil.example)"),
    *(
        "[a]: http://evil.example",
        "[[wiki]]",
        "[^1]",
        "\n# h",
        "# h",
        "---",
        "\n---\n",
        "===",
        "\n> q",
        "* a",
        "1. a",
        "1) a",
    ),
    *(
        "```mermaid\ngraph",
        "\n```geojson\n",
        "**b**",
        "_i_",
        "~~s~~",
        "{+a+}",
        "{{7*7}}",
        "{% raw %}",
        "@dependabot rebase",
    ),
    *(
        "\u202e",
        "\u2066",
        "\u200b",
        "\ufeff",
        "\x00",
        "\x1b[2J",
        "\x9b",
        "\u2028",
        "\U000e0041",
        "\ufe0f",
        "\u3164",
        "\r\n",
    ),
    *(
        "\t",
        " ",
        "  ",
        "Größe",
        "名前",
        "🦀",
        "word",
        "h100-full",
        "80.5",
        "e\u0301",
        "שלום",
        "x" * 90,
        '"',
        "'",
        "=",
        "(",
        ")",
    ),
)
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).flatmap(
    lambda pieces: st.sampled_from(("", " ")).map(lambda between: between.join(pieces))
)


def hostile_reports(*, most: int = 2) -> st.SearchStrategy[Report]:
    """Reports with at most so many rows of each kind."""
    return st.deferred(lambda: _build(Report, most))


def list_texts(value: object) -> list[str]:
    """Every text of a report that isn't one of its own words, nor a value that it says is hidden."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, tuple):
        return [text for item in value for text in list_texts(item)]
    if isinstance(value, msgspec.Struct):
        hints = get_type_hints(type(value), include_extras=True)
        return [
            text
            for name in value.__struct_fields__
            if not _is_word(hints[name]) and not (getattr(value, "is_hidden", False) and name != "path")
            for text in list_texts(getattr(value, name))
        ]
    return []


def _is_word(hint: Any) -> bool:
    hint = _plain(hint)
    if get_origin(hint) in (Union, types.UnionType):
        return all(_is_word(one) for one in get_args(hint))
    return get_origin(hint) is Literal


def _build(struct: type[msgspec.Struct], most: int) -> st.SearchStrategy[Any]:
    hints = get_type_hints(struct, include_extras=True)
    return st.builds(struct, **{name: _strategy(hints[name], most) for name in struct.__struct_fields__})


def _plain(hint: Any) -> Any:
    while get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    return hint


def _strategy(hint: Any, most: int) -> st.SearchStrategy[Any]:
    hint = _plain(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, types.UnionType):
        return st.one_of(*(st.none() if one is type(None) else _strategy(one, most) for one in arguments))
    if origin is tuple:
        return st.lists(_strategy(arguments[0], most), max_size=most).map(tuple)
    plain = {str: TEXTS, int: st.integers(0, 9_999_999), bool: st.booleans()}
    return plain[hint] if hint in plain else _build(hint, most)
