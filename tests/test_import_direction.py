"""One direction: every import in the source is of its own room or one to its left, and only pipelines/ is impure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet import ROOT

SOURCE_ROOTS = ("render", "overlays", "releases", "pipelines")
# Each room and what it may import beside itself. The root of the package is nobody's.
ROOMS: dict[str, tuple[str, ...]] = {
    "specs": (),
    "catalog": ("specs",),
    "allocation": ("specs", "catalog"),
    "admission": ("specs", "catalog"),
    "plan": ("specs", "catalog", "allocation", "admission"),
    "objects": ("specs", "catalog", "admission"),
    "rules": ("specs", "catalog", "objects"),
    "trees": ("specs", "catalog", "objects", "rules"),
    "templates": ("specs", "catalog", "objects", "rules", "trees"),
    "pins": ("specs", "catalog", "admission"),
    "upgrades": ("specs", "catalog", "plan", "pins"),
    "snapshots": ("specs", "catalog", "allocation"),
    "matrix": ("specs", "catalog", "allocation", "plan", "snapshots"),
    "changes": (
        *("specs", "catalog", "allocation", "admission", "plan", "objects", "rules", "trees"),
        *("pins", "snapshots", "matrix"),
    ),
    "receipts": (
        *("specs", "catalog", "allocation", "admission", "plan", "objects"),
        *("pins", "snapshots", "changes"),
    ),
    "comments": ("specs", "plan", "changes"),
    "packet": ("specs", "catalog", "admission", "plan", "changes", "comments"),
    "pages": (
        *("specs", "catalog", "allocation", "admission", "plan", "objects"),
        *("pins", "matrix", "changes", "receipts", "comments", "packet"),
    ),
    "trust": ("specs",),
    "attestations": ("specs", "trust", "packet"),
    "files": ("specs", "catalog", "trees"),
    "git": ("specs",),
    "review": ("specs", "comments"),
    "packets": ("specs", "trust", "packet", "attestations", "files"),
    "kustomize": ("specs", "catalog", "trees", "files"),
    "sandbox": ("specs",),
    "registry": ("specs", "pins"),
    "argocd": ("specs", "catalog", "trust", "files"),
    "cli": (
        *("specs", "catalog", "allocation", "admission", "plan", "objects", "rules", "trees", "templates"),
        *("pins", "upgrades", "snapshots", "matrix", "changes", "receipts", "comments", "packet", "pages"),
        *("trust", "attestations", "files", "packets", "kustomize", "git", "review", "sandbox", "registry", "argocd"),
    ),
}
ROOT_OF = {
    **dict.fromkeys(("specs", "catalog", "allocation", "admission", "plan"), "render"),
    **dict.fromkeys(("objects", "rules", "trees", "templates"), "overlays"),
    **dict.fromkeys(("pins", "upgrades", "snapshots", "matrix", "changes", "receipts"), "releases"),
    **dict.fromkeys(("comments", "packet", "pages", "trust", "attestations"), "releases"),
    **dict.fromkeys(
        ("files", "packets", "kustomize", "git", "review", "sandbox", "registry", "argocd", "cli"), "pipelines"
    ),
}
# Modules that reach files, programs, the network, the clock, chance, the environment or another thread.
IMPURE = frozenset(
    (
        *("asyncio", "builtins", "concurrent", "ctypes", "fcntl", "fileinput", "getpass", "glob", "http", "importlib"),
        *("inspect", "locale", "logging", "mmap", "multiprocessing", "os", "pathlib", "pkgutil", "platform", "random"),
        *("resource", "secrets", "select", "shutil", "signal", "site", "socket", "sqlite3", "ssl", "subprocess", "sys"),
        *("tempfile", "threading", "time", "urllib.request", "urllib3", "uuid", "warnings", "zoneinfo"),
    )
)
NETWORK = ("asyncio", "http.", "socket", "ssl", "urllib.request", "urllib3")
# Each room that reaches the network, and who may ask it: without these commands nothing is sent anywhere.
ASKED_BY = {
    "registry": {"pipelines/poolwright/cli/pin.py"},
    "review": {f"pipelines/poolwright/cli/{name}.py" for name in ("comment", "comment_target", "comment_words")},
}
IMPURE_CALLS = frozenset(("print", "open", "input", "exec", "eval", "compile", "__import__", "globals"))
IMPURE_METHODS = frozenset(("now", "today", "utcnow", "read_text", "read_bytes", "write_text", "write_bytes"))

FILES = {
    path.relative_to(ROOT).as_posix(): path for root in SOURCE_ROOTS for path in sorted((ROOT / root).rglob("*.py"))
}
PURE = [name for name in FILES if not name.startswith("pipelines/")]


@pytest.mark.parametrize("name", FILES)
def test_imports_go_left(name: str) -> None:
    room = _room(name)
    wrong = [
        f"line {line}: {module}"
        for line, module in _imports(FILES[name])
        if module.split(".")[0] == "poolwright"
        and room is not None
        and module.split(".")[1] not in (room, *ROOMS[room])
    ]
    assert wrong == []


@pytest.mark.parametrize("name", FILES)
def test_imports_are_absolute(name: str) -> None:
    relative = [
        node.lineno for node in ast.walk(_parse(FILES[name])) if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


@pytest.mark.parametrize("name", PURE)
def test_what_is_left_of_pipelines_is_pure(name: str) -> None:
    impure = [f"line {line}: {what}" for line, what in _impure(FILES[name])]
    assert impure == []


def test_every_room_is_known_and_in_its_root() -> None:
    rooms = {name.split("/")[2]: name.split("/")[0] for name in FILES if name.count("/") > 2}
    assert rooms == ROOT_OF
    assert set(ROOMS) == set(ROOT_OF)


def test_arrows_point_one_way() -> None:
    """No room imports one that imports it, over however many others."""
    done: set[str] = set()
    for room, left in ROOMS.items():
        assert set(left) <= done, room
        done.add(room)


def test_two_rooms_reach_the_network_and_one_command_asks_each() -> None:
    reaches = {name for name in FILES if any(module.startswith(NETWORK) for _, module in _imports(FILES[name]))}
    assert {_room(name) for name in reaches} == set(ASKED_BY)
    for room, askers in ASKED_BY.items():
        asks = {
            name
            for name in FILES
            if any(module.startswith(f"poolwright.{room}") for _, module in _imports(FILES[name]))
        }
        assert {name for name in asks if _room(name) != room} == askers


def test_the_commands_that_ask_are_loaded_by_nothing_else() -> None:
    """But for the command line, when they are called."""
    asking = {
        name.removeprefix("pipelines/").removesuffix(".py").replace("/", ".")
        for name in set().union(*ASKED_BY.values())
    }
    loads = {
        name
        for name in FILES
        if any(module.startswith(tuple(asking)) for _, module in _imports(FILES[name]))
        and name.removeprefix("pipelines/").removesuffix(".py").replace("/", ".") not in asking
    }
    assert loads == {f"pipelines/poolwright/cli/{name}_commands.py" for name in ("release", "review")}


def test_the_package_is_a_namespace() -> None:
    """With an __init__.py in one root, Python would find the rooms of that root alone."""
    assert [root for root in SOURCE_ROOTS if (ROOT / root / "poolwright" / "__init__.py").exists()] == []
    missing = [f"{ROOT_OF[room]}/poolwright/{room}/{file}" for room in ROOMS for file in ("__init__.py", "py.typed")]
    assert [name for name in missing if not (ROOT / name).exists()] == []


SAMPLE = """\
from . import a
import poolwright.cli.main
import os.path
def f():
    from datetime import datetime
    print(datetime.now(), open("x"))
    import urllib.request
    import urllib.parse
"""


def test_the_walk_sees_what_it_looks_for(tmp_path: Path) -> None:
    path = tmp_path / "sample.py"
    path.write_text(SAMPLE)
    assert (1, "poolwright.cli.main") not in list(_imports(path))
    assert (2, "poolwright.cli.main") in list(_imports(path))
    assert list(_impure(path)) == [(3, "os.path"), (6, ".now"), (6, "open"), (6, "print"), (7, "urllib.request")]


def _room(name: str) -> str | None:
    """The room of a source file; None for what stands in the package's root, which only starts the program."""
    parts = name.split("/")
    return parts[2] if len(parts) > 3 else None


def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of each module that is imported, or that something is imported from."""
    for node in ast.walk(_parse(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from poolwright import cli` names a room too.
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def _impure(path: Path) -> list[tuple[int, str]]:
    found = [
        (line, module)
        for line, module in _imports(path)
        if any(module == impure or module.startswith(f"{impure}.") for impure in IMPURE)
    ]
    for node in ast.walk(_parse(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS:
            found.append((node.lineno, node.func.id))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in IMPURE_METHODS:
            found.append((node.lineno, f".{node.func.attr}"))
    return sorted(found)
