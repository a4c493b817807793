"""Units with a component of their team's own or a workload template, by the commands that people run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fleet import Files, read_fleet
from folders import read_files, write_files
from real_kustomize import build_for_real
from run_poolwright import run, start

FLEET = read_fleet()
COMPONENT = "custom/east/rewrite-0b6/kustomization.yaml"
TEMPLATE = "templates/queue-worker.yaml.j2"
CUSTOM_UNIT = ("generate", "--cluster", "east", "--unit", "rewrite-0b6")
TEMPLATE_UNIT = ("generate", "--cluster", "east", "--unit", "summarise-20b")
BAD_COMPONENT: Files = {**FLEET, COMPONENT: FLEET[COMPONENT] + b"namePrefix: my-\n"}
REMOVED = 'the component removes or renames the unit\'s Deployment "rewrite-0b6"'


def test_generate_prints_what_real_kustomize_builds(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", FLEET)
    assert run("render", "--cluster=east", f"--out={tmp_path / 'out'}", folder=project).code == 0
    for arguments in (CUSTOM_UNIT, TEMPLATE_UNIT):
        ran = run(*arguments, folder=project)
        assert (ran.code, ran.stderr) == (0, "")
        assert ran.stdout.encode() == build_for_real(tmp_path / "out", f"overlays/east/{arguments[-1]}")


def test_render_verifies_and_writes_no_component_of_the_project(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", FLEET)
    ran = run("render", "--cluster=east", "--verify", folder=project)
    assert ran.code == 0, ran.stdout + ran.stderr
    assert "1 CronJob, 1 Deployment" in ran.stdout
    assert "with custom/east/rewrite-0b6\n" in ran.stdout
    after = read_files(project)
    assert {path: data for path, data in after.items() if not path.startswith("overlays/")} == FLEET
    kustomization = after["overlays/east/rewrite-0b6/kustomization.yaml"].decode()
    assert kustomization.partition("\ncomponents:\n")[2].startswith("- decisions\n- ../../../custom/east/rewrite-0b6\n")
    manifest = after["overlays/east/rewrite-0b6/poolwright-manifest.json"]
    assert b"rewrite-eval" not in manifest
    # The committed folder is of this component, so another one makes it stale.
    (project / "custom/east/rewrite-0b6/rewrite-eval.yaml").write_bytes(
        FLEET["custom/east/rewrite-0b6/rewrite-eval.yaml"].replace(b"30 2", b"30 3")
    )
    ran = run(*CUSTOM_UNIT, folder=project)
    assert (ran.code, ran.stdout) == (2, "")
    assert "overlays/east/rewrite-0b6: the committed folder isn't what the specs give  [tree-stale]" in ran.stderr


def test_a_tree_elsewhere_has_a_copy_that_follows_the_component(tmp_path: Path) -> None:
    project, out = write_files(tmp_path / "project", FLEET), tmp_path / "out"
    arguments = ("render", "--cluster=east", f"--out={out}")
    assert run(*arguments, folder=project).code == 0
    copied = {path for path in read_files(out) if path.startswith("custom/")}
    assert copied == {
        f"custom/east/rewrite-0b6/{name}"
        for name in ("kustomization.yaml", "poolwright-manifest.json", "rewrite-eval.yaml")
    }
    for name in ("kustomization.yaml", "rewrite-eval.yaml"):
        (project / "custom/east/rewrite-0b6" / name).unlink()
    (project / "custom/east/rewrite-0b6").rmdir()
    assert run(*arguments, "--check", folder=project).code == 1
    assert run(*arguments, folder=project).code == 0
    assert not any(path.startswith("custom/") for path in read_files(out))
    assert run(*arguments, "--check", folder=project).code == 0


def test_a_forbidden_component_fails_check_verify_and_generate(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", BAD_COMPONENT)
    checked = run("check", folder=project)
    assert checked.code == 1
    assert f"{COMPONENT}: {REMOVED}  [custom-forbidden]" in checked.stdout
    generated = run(*CUSTOM_UNIT, folder=project)
    assert (generated.code, generated.stdout) == (2, "")
    assert re.fullmatch(
        rf"poolwright: east/rewrite-0b6 refused: {COMPONENT}: .* \(and \d+ more\); fix: .+",
        generated.stderr.splitlines()[-1],
    )
    verified = run("render", "--cluster=east", f"--out={tmp_path / 'out'}", "--verify", folder=project)
    assert verified.code == 1
    assert "forbidden  overlays/east/rewrite-0b6: " in verified.stdout
    # One team's component stops no other team's sync.
    assert run(*TEMPLATE_UNIT, folder=project).code == 0


def test_without_kustomize(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = write_files(tmp_path / "project", BAD_COMPONENT)
    monkeypatch.setenv("POOLWRIGHT_KUSTOMIZE", "/nonexistent")
    checked = run("check", folder=project)
    assert (checked.code, checked.stdout.count("[custom-unchecked]")) == (0, 1)
    assert run(*CUSTOM_UNIT, folder=project).code == 2
    assert run(*TEMPLATE_UNIT, folder=project).code == 0


def test_a_component_of_no_unit_is_a_warning(tmp_path: Path) -> None:
    project = write_files(tmp_path, {**FLEET, "custom/east/gone/kustomization.yaml": FLEET[COMPONENT]})
    checked = run("check", folder=project)
    assert checked.code == 0
    assert "custom/east/gone: warning: custom/east/gone belongs to no unit  [custom-unused]" in checked.stdout


def test_a_wrong_template_stops_its_own_unit(tmp_path: Path) -> None:
    project = write_files(tmp_path, {**FLEET, TEMPLATE: FLEET[TEMPLATE] + b"\n{{ nothing }}\n"})
    line = FLEET[TEMPLATE].count(b"\n") + 2
    said = f"{TEMPLATE}:{line}:1: the template uses what isn't there: 'nothing' is undefined"
    assert f"{said}  [template-error]" in run("check", folder=project).stdout
    refused = run(*TEMPLATE_UNIT, folder=project)
    assert (refused.code, refused.stdout) == (2, "")
    last = refused.stderr.splitlines()[-1]
    assert last.startswith(f"poolwright: east/summarise-20b refused: {said}; fix: ")
    assert run("generate", "--cluster", "east", "--unit", "chat-70b", folder=project).code == 0


def test_templates_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = write_files(tmp_path, FLEET)
    monkeypatch.setenv("POOLWRIGHT_TEMPLATES", "off")
    refused = run(*TEMPLATE_UNIT, folder=project)
    assert (refused.code, refused.stdout) == (2, "")
    assert "[templates-off]" in refused.stderr
    assert run(*CUSTOM_UNIT, folder=project).code == 0


def test_explain_names_the_template_for_what_it_adds(tmp_path: Path) -> None:
    project = write_files(tmp_path, FLEET)
    envelope = "specs/envelopes/summarise-20b/0.9.0.yaml"
    line = FLEET[envelope].decode().splitlines().index(f"    template: {TEMPLATE}") + 1
    ran = run(
        "explain", "east/summarise-20b/Deployment/summarise-20b#/spec/template/spec/containers/1/name", folder=project
    )
    assert ran.stdout.splitlines()[1].strip() == f"{envelope}:{line}:15  spec.engine.template"


def test_units_without_either_start_no_program(tmp_path: Path) -> None:
    """`generate` of a plain unit loads neither Jinja2 nor what starts processes."""
    project = write_files(tmp_path, FLEET)
    ran = start("generate", "--cluster=east", "--unit=chat-70b", folder=project, python=("-X", "importtime"))
    assert ran.code == 0
    loaded = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines()}
    assert "poolwright.cli.complete" in loaded
    assert not loaded & {"jinja2", "subprocess", "poolwright.sandbox.run", "poolwright.kustomize.build", "pathlib"}
