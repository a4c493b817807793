"""Programs that a test needs and a machine may lack."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

REASON = "needs what isn't on this machine: "  # what conftest.py counts by
OTHER_NAMES = {
    "chromium": ("chromium-browser", "google-chrome", "chrome"),
    "lua": ("lua5.4", "lua5.3", "luajit"),
    "node": ("nodejs",),
}
# What Go says where it may not or can't fetch a module, or is older than one wants.
_NO_MODULES = ("GOPROXY=off", ': Get "http', ": reading http", "requires go >=")


def needs(program: str) -> str:
    """The path of a program; without it the test that asks is skipped, or the module if that asks.

    With $POOLWRIGHT_REQUIRE, a comma list of programs, the absence of one listed fails what asks for it instead.
    """
    for name in (program, *OTHER_NAMES.get(program, ())):
        path = shutil.which(name)
        if path is not None:
            return path
    if program in _required():
        pytest.fail(f"POOLWRIGHT_REQUIRE lists {program}, and it isn't on PATH", pytrace=False)
    pytest.skip(f"{REASON}{program}", allow_module_level=True)


def needs_go_program(source: Path, program: Path, *flags: str) -> Path:
    """A Go program built from a folder; without Go, or the modules it needs, the test that asks is skipped.

    flags: more of `go build`'s, for a folder that can be built in several ways.

    Modules are fetched only where $POOLWRIGHT_REQUIRE lists go: nothing else needs a network.
    """
    settings = {"GOFLAGS": "-mod=readonly -buildvcs=false", "GOTOOLCHAIN": "local"}
    if "go" not in _required():
        settings["GOPROXY"] = "off"
    command = (needs("go"), "build", *flags, "-o", program, ".")
    built = subprocess.run(
        command, cwd=source, env={**os.environ, **settings}, capture_output=True, text=True, check=False
    )
    if built.returncode != 0 and any(words in built.stderr for words in _NO_MODULES):
        pytest.skip(f"{REASON}Go modules of tests/oracle/{source.name}")
    assert built.returncode == 0, built.stderr
    return program


def _required() -> list[str]:
    return [name.strip() for name in os.environ.get("POOLWRIGHT_REQUIRE", "").split(",")]
