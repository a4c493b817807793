"""A missing program skips a test in one line, is listed at the end, and fails the test where it is required."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from needs import needs, needs_go_program

SUITE = """
from needs import needs

def test_one(): needs("no-such-program")
def test_two(): needs("no-such-program")
def test_three(): needs("neither-this")
def test_four(): assert needs("sh").endswith("/sh")
"""
MODULE = "from needs import needs\nneeds('no-such-program')\ndef test_never(): assert False\n"

# required, workers -> exit code, what the run says
RUNS = {
    "skips-and-lists": (
        ("", "0"),
        (0, ["neither-this: 1 test skipped", "no-such-program: 3 tests skipped", "1 passed, 4 skipped"]),
    ),
    "skips-and-lists-in-two-processes": (
        ("", "2"),
        (0, ["neither-this: 1 test skipped", "no-such-program: 3 tests skipped", "1 passed, 4 skipped"]),
    ),
    "fails-where-required": (
        ("go, no-such-program", "0"),
        (1, ["neither-this: 1 test skipped", "2 failed, 1 passed, 1 skipped, 1 error"]),
    ),
}


@pytest.mark.parametrize(("given", "expected"), RUNS.values(), ids=RUNS)
def test_a_missing_program(tmp_path: Path, given: tuple[str, str], expected: tuple[int, list[str]]) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "test_module.py").write_text(MODULE)
    required, workers = given
    options = ("-p", "conftest", "-p", "no:cacheprovider", "-n", workers, "-rsfE", "--continue-on-collection-errors")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-c", os.devnull, "--rootdir", ".", "."],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent), "POOLWRIGHT_REQUIRE": required},
        capture_output=True,
        text=True,
        check=False,
    )
    code, lines = expected
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert [line for line in lines if line not in ran.stdout] == [], ran.stdout
    skipped = [line.split(": ", 1)[1] for line in ran.stdout.splitlines() if line.startswith("SKIPPED")]
    assert "needs what isn't on this machine: neither-this" in skipped
    assert ("POOLWRIGHT_REQUIRE lists no-such-program, and it isn't on PATH" in ran.stdout) == (code == 1)


def test_other_names_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "lua5.4"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert needs("lua") == str(program)


NO_MODULES = "needs what isn't on this machine: Go modules of tests/oracle/asked"
# what Go says before it fails -> how the test that asks for the program ends
GO_SAYS = {
    "modules-that-may-not-be-fetched": ("k8s.io/x@v1: module lookup disabled by GOPROXY=off", NO_MODULES),
    "no-network": ('k8s.io/x@v1: Get "https://a/x.zip": dial tcp: lookup a: no such host', NO_MODULES),
    "a-proxy-that-refuses": ("k8s.io/x@v1: reading https://a/x.zip: 403 Forbidden", NO_MODULES),
    "an-older-go": ("go: go.mod requires go >= 1.26.0 (running go 1.19.8)", NO_MODULES),
    "what-does-not-compile": ("./main.go:1:1: syntax error", "AssertionError: ./main.go:1:1: syntax error"),
}


@pytest.mark.parametrize(("says", "expected"), GO_SAYS.values(), ids=GO_SAYS)
def test_go_without_the_modules(says: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write_go(tmp_path, f"echo '{says}' >&2; exit 1")
    (tmp_path / "asked").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises((pytest.skip.Exception, AssertionError)) as ended:
        needs_go_program(tmp_path / "asked", tmp_path / "program")
    assert expected in f"{ended.typename}: {ended.value}"


@pytest.mark.parametrize(("required", "proxy"), [("", "off"), ("lua", "off"), ("lua, go", "https://a")])
def test_modules_are_fetched_where_go_is_required(
    required: str, proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write_go(tmp_path, 'echo "$GOPROXY $*" > "$3"')
    for name, value in {"PATH": str(tmp_path), "GOPROXY": "https://a", "POOLWRIGHT_REQUIRE": required}.items():
        monkeypatch.setenv(name, value)
    program = needs_go_program(tmp_path, tmp_path / "program")
    assert program.read_text() == f"{proxy} build -o {program} .\n"


def test_a_folder_is_built_with_more_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write_go(tmp_path, 'echo "$*" > "$5"')
    monkeypatch.setenv("PATH", str(tmp_path))
    program = needs_go_program(tmp_path, tmp_path / "program", "-modfile=old.mod", "-tags=old")
    assert program.read_text() == f"build -modfile=old.mod -tags=old -o {program} .\n"


def _write_go(folder: Path, script: str) -> None:
    (folder / "go").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "go").chmod(0o755)
