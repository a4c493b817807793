"""Facts of a team's own through the commands: what they accept by them, and whose source they name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fleet import FLEET, copy_fleet, edit
from own_facts import OURS, Row, take, write
from run_poolwright import Ran, run

STACK = "specs/stacks/operator-26-7.yaml"
DRIVER = {"line": "26.7", "release": None, "version": "580.200.01", **OURS}
RELEASE = {"version": "26.7.9", "line": "26.7", "released": "2026-11-18", **OURS}
CARRIES = {"release": "26.7.9", "component": "draDriver", "version": "v0.5.0", **OURS}
LINE = take("operator-lines", by={"line": "26.7"}, kubernetesMaximum="1.37")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copy_fleet(tmp_path)


def put(folder: Path, **tables: list[Row]) -> None:
    (folder / "facts").mkdir(exist_ok=True)
    for name, rows in tables.items():
        (folder / "facts" / f"{name.replace('_', '-')}.json").write_bytes(write(rows))


def change(folder: Path, *changes: tuple[str, str], path: str = STACK) -> None:
    (folder / path).write_bytes(edit({path: (folder / path).read_bytes()}, path, *changes)[path])


def list_codes(ran: Ran) -> list[str]:
    return [one["code"] for one in json.loads(ran.stdout)["findings"]]


def check(folder: Path) -> Ran:
    return run("check", "--format", "json", folder=folder)


def test_a_new_gpu_driver_is_accepted_by_the_teams_word(folder: Path) -> None:
    change(folder, ("580.173.02", "580.200.01"))
    assert "operator-gpu-driver" in list_codes(check(folder))
    put(folder, operator_gpu_drivers=[DRIVER])
    ran = check(folder)
    assert (ran.code, "operator-gpu-driver" in list_codes(ran)) == (0, False)
    pinned = run("pin", folder=folder)
    assert pinned.code == 0
    assert (
        "  supported    GPU Operator 26.7.0 with GPU driver 580.200.01   580.200.01 is listed "
        "(operator-gpu-drivers.json 26.7 580.200.01, the project's own: our rehearsal of 2026-11-20)\n"
    ) in pinned.stdout
    assert run("pin", "--check", folder=folder).code == 0


def test_a_range_resolves_to_what_the_team_lists(folder: Path) -> None:
    change(folder, ("version: 580.173.02", "version: 580.x"))
    put(folder, operator_gpu_drivers=[DRIVER])
    assert run("pin", "--upgrade", "gpuDriver", folder=folder).code == 0
    chosen = json.loads((folder / "poolwright.lock").read_bytes())["stacks"]["operator-26-7"]["gpuDriver"]
    assert chosen["version"] == "580.200.01"
    assert chosen["source"] == "operator-gpu-drivers.json: our rehearsal of 2026-11-20"


def test_a_new_release_of_the_operator_is_accepted_by_the_teams_word(folder: Path) -> None:
    change(folder, ("version: 26.7.0", "version: 26.7.9"))
    ran = check(folder)
    assert (ran.code, "operator-release-unknown" in list_codes(ran)) == (1, True)
    put(folder, operator_releases=[RELEASE], operator_components=[CARRIES])
    ran = check(folder)
    assert (ran.code, list_codes(ran).count("chart-values")) == (0, 1)  # nobody has read its chart's values
    report = json.loads(run("pin", "--format", "json", folder=folder).stdout)
    (stack,) = [one for one in report["stacks"] if one["name"] == "operator-26-7"]
    carried = {one["subject"]: one for one in stack["answers"]}["GPU Operator 26.7.9 with DRA driver 0.5.0"]
    assert (carried["answer"], carried["own"], carried["source"]) == ("supported", True, OURS["source"])
    assert report["lock"]["stacks"]["operator-26-7"]["gpuOperator"]["version"] == "26.7.9"


def test_an_overridden_maximum_is_disputed_with_both_sources(folder: Path) -> None:
    change(folder, ("1.36.x", "1.37.x"))
    put(folder, operator_lines=[LINE])
    ran = check(folder)
    assert ran.code == 0
    (found,) = [one for one in json.loads(ran.stdout)["findings"] if one["code"] == "operator-kubernetes"]
    assert found["severity"] == "warning"
    assert "platform-support.rst" in found["why"]
    assert "kubernetesMaximum 1.36" in found["why"]
    assert "kubernetesMaximum 1.37 (our rehearsal of 2026-11-20)" in found["why"]
    (line,) = [one for one in run("pin", folder=folder).stdout.splitlines() if "with Kubernetes 1.37" in one][:1]
    assert line.startswith("  disputed ")
    assert "platform-support.rst" in line
    assert "our rehearsal of 2026-11-20" in line


def test_the_tables_show_both_values_and_whose_a_row_is(folder: Path) -> None:
    put(folder, operator_lines=[LINE], operator_gpu_drivers=[DRIVER])
    lines = run("facts", "operator-lines", "--project", ".", folder=folder).stdout.splitlines()
    (place,) = [number for number, line in enumerate(lines) if line.startswith("26.7 ")]
    assert lines[0].endswith("  own")
    assert [line.startswith("26.7 ") for line in lines if line.endswith("  own")] == [False, True]
    assert lines[place + 1].startswith("    disputed: kubernetesMaximum 1.36 (NVIDIA/cloud-native-docs")
    assert lines[-1] == "source 2: our rehearsal of 2026-11-20 (2026-11-20)"
    marked = json.loads(run("facts", "operator-lines", "--project", ".", "--format", "json", folder=folder).stdout)
    assert [row.get("own") for row in marked["facts"]] == [None, None, None, True]
    listed = run("facts", "--project", ".", folder=folder).stdout.splitlines()
    counts = {line.split()[0]: line.split()[-1] for line in listed}
    assert [counts[name] for name in ("table", "operator-lines", "operator-gpu-drivers", "hardware")] == [
        "own",
        "1",
        "1",
        "0",
    ]
    assert run("facts", "operator-lines", folder=folder) == run("facts", "operator-lines", folder=FLEET)


def test_hardware_of_the_teams_own_is_priced_and_planned(folder: Path) -> None:
    own = take("hardware", by={"model": "h100-sxm5-80gb"}, model="h100-custom", memoryMi=100000, memory="100000Mi")
    put(folder, hardware=[own])
    ran = run("price", "rag-8b", "--device", "h100-custom", folder=folder)
    assert (ran.code, ran.stderr) == (0, "")
    file = run("price", "./models/llama-3.1-8b/config.json", "--device", "h100-custom", folder=folder)
    assert file.code == 0, file.stderr
    change(folder, ("hardwareModel: h100-sxm5-80gb", "hardwareModel: h100-custom"), path="specs/pools/lab-full.yaml")
    assert "hardware-unknown" not in list_codes(check(folder))
    (folder / "facts" / "hardware.json").unlink()
    assert run("price", "rag-8b", "--device", "h100-custom", folder=folder).code == 2
    assert "hardware-unknown" in list_codes(check(folder))


def test_a_bad_row_is_said_by_every_command_that_reads_a_project(folder: Path) -> None:
    put(folder, operator_gpu_drivers=[{**DRIVER, "verified": "yes"}])
    says = 'facts/operator-gpu-drivers.json:1:146: facts[0].verified is the string "yes"'
    for arguments in (
        ("check",),
        ("render", "--check"),
        ("pin", "--check"),
        ("plan",),
        ("explain", "east/chat-70b/Deployment/chat-70b"),
        ("price", "rag-8b"),
        ("facts", "--project", "."),
        ("generate", "--cluster", "east", "--unit", "chat-70b"),
    ):
        ran = run(*arguments, folder=folder)
        assert says in ran.stdout + ran.stderr, arguments
        assert ran.code == (1 if arguments == ("check",) else 2), arguments


# --- what is rendered ---


def test_facts_that_no_unit_holds_change_no_byte(folder: Path) -> None:
    put(folder, operator_lines=[LINE], operator_gpu_drivers=[DRIVER])
    assert run("render", "--check", folder=folder).code == 0
    assert run("generate", "--cluster", "east", "--unit", "platform", folder=folder).code == 0


def test_facts_that_decide_bytes_change_only_units_that_hold_them(folder: Path) -> None:
    """Native fp8 from another compute capability on: the claims of fp8 models, and no other."""
    before = {path: path.read_bytes() for path in (folder / "overlays").rglob("*") if path.is_file()}
    put(folder, compute_classes=[take("compute-classes", by={"computeClass": "fp8"}, minimum="9.0.0")])
    assert run("render", folder=folder).code == 0
    changed = {path for path, data in before.items() if path.read_bytes() != data}
    units = {path.relative_to(folder / "overlays").parts[:2] for path in changed}
    texts = {
        unit: b"".join(p.read_bytes() for p in (folder / "overlays" / Path(*unit)).rglob("*.yaml")) for unit in units
    }
    assert units
    assert [unit for unit, text in texts.items() if b"9.0.0" not in text] == []
    assert not any(unit[1] in ("platform", "argocd") for unit in units)


def test_a_value_of_a_chart_is_not_all_of_them(folder: Path) -> None:
    """Who names one value of a version says what that version has: the others are unknown then, and not guessed."""
    change(folder, ("version: 26.7.0", "version: 26.7.9"))
    value = take("helm-values", by={"chart": "gpu-operator", "key": "dcgmExporter.enabled"}, version="26.7.9")
    put(folder, operator_releases=[RELEASE], operator_components=[CARRIES], helm_values=[value])
    ran = check(folder)
    found = [one for one in json.loads(ran.stdout)["findings"] if one["code"] == "chart-values"]
    assert ran.code == 1
    assert "the chart gpu-operator isn't known to have gpuCluster, which the stack decides" in [
        one["what"] for one in found
    ]
