"""Kubernetes' own allocator of a minor, built from tests/oracle/allocator and asked about cases."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from random_draw import Json

from needs import needs_go_program

ORACLE: Final = Path(__file__).parents[1] / "oracle" / "allocator"
NEWEST: Final = "1.37"
MODULE: Final = "k8s.io/dynamic-resource-allocation"
# So that a coverage build counts; the program itself is in it because only then are the counts written at all.
COVERED: Final = f"-coverpkg=poolwright.dev/tests/oracle/allocator,{MODULE}/structured/..."


def build_upstream(minor: str, folder: Path, *, count_coverage: bool = False) -> Path:
    """The program for a minor, built into a folder; who asks is skipped where Go or its modules are missing.

    Go keeps what it compiled, so that a second build takes a second or two.
    """
    flags = () if minor == NEWEST else (f"-modfile={_module_file(minor).name}", f"-tags=dra{_digits(minor)}")
    covers = ("-cover", COVERED) if count_coverage else ()
    return needs_go_program(ORACLE, folder / f"allocator-{minor}", *flags, *covers)


def ask_upstream(program: Path, cases: Iterable[Json], *options: str, coverage: Path | None = None) -> Iterator[Json]:
    """An answer per case, in their order; main.go says what is in it.

    options:  -repeat=5 and -timeout=3s, as main.go has them.
    coverage: a folder for what a build with `count_coverage` counts.
    """
    environment = {**os.environ, "GOCOVERDIR": str(coverage)} if coverage else None
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    ran = subprocess.run([program, *options], input=lines, check=False, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    return map(json.loads, ran.stdout.splitlines())


def read_module_version(minor: str) -> str:
    """The release of the allocator's module that a minor is built with, as v0.37.2."""
    lines = (ORACLE / _module_file(minor)).read_text().splitlines()
    return next(line.split()[1] for line in lines if line.strip().startswith(f"{MODULE} "))


def _module_file(minor: str) -> Path:
    return Path("go.mod" if minor == NEWEST else f"v{_digits(minor)}.mod")


def _digits(minor: str) -> str:
    return minor.replace(".", "")
