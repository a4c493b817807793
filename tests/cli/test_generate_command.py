"""`poolwright generate`: objects on stdout, or nothing and the reason on stderr with exit code 2."""

from __future__ import annotations

import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from unittest.mock import patch

import pytest

from fleet import (
    CONFIG,
    ENVELOPE,
    PLACEMENTS,
    POOL,
    PROJECT,
    SMALL_FLEET,
    Files,
    copy_small_fleet,
    edit,
    read_small_fleet,
)
from folders import write_files
from poolwright.cli.commands import cli
from poolwright.cli.generate import OPTIONS
from poolwright.files.disk import Disk
from real_kustomize import build_for_real
from run_poolwright import Ran, run, start

UNIT = ("--cluster", "east", "--unit", "chat-70b")
WHY_STALE = "  why  it is what reviewers saw, and it isn't what the specs give now (poolwright tree on disk)\n"


@pytest.mark.parametrize("unit", ["chat-70b", "chat-70b-next", "platform"])
def test_the_bytes_are_those_of_real_kustomize(unit: str, tmp_path: Path) -> None:
    project = copy_small_fleet(tmp_path)
    built = build_for_real(project, f"overlays/east/{unit}").decode()
    assert run("generate", "--cluster", "east", "--unit", unit, folder=project) == Ran(0, built, "")
    # Where nothing is committed the specs alone are enough.
    assert run("generate", f"--unit={unit}", "--cluster=east", folder=SMALL_FLEET / "specs") == Ran(0, built, "")


def test_a_tree_that_is_not_committed_is_none_to_compare_with(tmp_path: Path) -> None:
    ran = run("generate", *UNIT, folder=SMALL_FLEET)
    assert ran.code == 0
    assert ran == run("generate", *UNIT, folder=copy_small_fleet(tmp_path))


def test_other_units_may_be_wrong(tmp_path: Path) -> None:
    """A mistake of one team stops no other team's sync."""
    broken = edit(read_small_fleet(), PLACEMENTS, ("version: 2.4.0", "version: 9.9.9"))
    project = write_files(tmp_path, {**broken, "specs/broken.yaml": b"kind: Envelope\nmetadata: {name: x"})
    assert run("generate", *UNIT, folder=project) == run("generate", *UNIT, folder=SMALL_FLEET)


REFUSED: dict[str, tuple[Files, tuple[str, ...], str]] = {
    "an-unknown-unit": (
        read_small_fleet(),
        ("--cluster", "east", "--unit", "chat"),
        """\
poolwright.yaml: cluster "east" has no unit "chat"  [unit-unknown]
  why  a unit is a placement on one of the cluster's pools, or `platform` (poolwright.dev/v1alpha1)
  fix  name one of: chat-70b, chat-70b-next, platform
poolwright: east/chat refused: poolwright.yaml: cluster "east" has no unit "chat"; fix: name one of: chat-70b, \
chat-70b-next, platform
""",
    ),
    "an-unknown-cluster": (
        read_small_fleet(),
        ("--cluster", "west", "--unit", "platform"),
        """\
poolwright.yaml:11:5: the project has no cluster "west"  [cluster-unknown]
  at   spec.clusters
  why  poolwright.yaml names every cluster that is rendered for (poolwright.dev/v1alpha1)
  fix  name one of: east
poolwright: west/platform refused: poolwright.yaml:11:5: the project has no cluster "west"; fix: name one of: east
""",
    ),
    # All is said, and the last line, which Argo CD shows, says how much more there is.
    "two-things-wrong": (
        edit(edit(read_small_fleet(), ENVELOPE, ("fp8  ", "fp6  ")), ENVELOPE, ("maxTokens: 8192", "maxTokens: 0")),
        UNIT,
        """\
specs/envelopes/chat-70b/2.3.0.yaml:10:17: spec.computeClass is "fp6"  [unknown-value]
  at   spec.computeClass
  why  it must be one of: any, bf16, fp4, fp8 (poolwright.dev/v1alpha1)
  fix  did you mean "fp8"?
specs/envelopes/chat-70b/2.3.0.yaml:22:42: spec.load.batch.maxTokens is 0  [out-of-range]
  at   spec.load.batch.maxTokens
  why  it must be at least 1 (poolwright.dev/v1alpha1)
  fix  write 1 or more
poolwright: east/chat-70b refused: specs/envelopes/chat-70b/2.3.0.yaml:10:17: spec.computeClass is "fp6" \
(and 1 more); fix: did you mean "fp8"?
""",
    ),
    # The known names are those of the whole project, though the unit's own specs alone are read at first.
    "a-dangling-reference": (
        edit(read_small_fleet(), PLACEMENTS, ("poolName: h100-full", "poolName: h100")),
        UNIT,
        """\
specs/placements.yaml:8:13: placement "chat-70b" is on the pool "h100", which doesn't exist  [dangling-reference]
  at   spec.poolName
  why  nothing is rendered from a reference that leads nowhere (poolwright.dev/v1alpha1)
  fix  did you mean "h100-full"? name a pool that exists: h100-full
poolwright: east/chat-70b refused: specs/placements.yaml:8:13: placement "chat-70b" is on the pool "h100", \
which doesn't exist; fix: did you mean "h100-full"? name a pool that exists: h100-full
""",
    ),
    # On the largest device that the class lets through.
    "an-engine-that-cannot-start": (
        edit(
            read_small_fleet(),
            ENVELOPE,
            ("precision: {compute", "precision: {weights: bfloat16, compute"),
            ("tensorParallel: 4", "tensorParallel: 1"),
        ),
        UNIT,
        """\
specs/placements.yaml:9:22: envelope chat-70b@2.3.0 won't start on class interactive-80g: one request needs 136.42 GiB \
per device with what the engine takes before it, and of the largest device of the class it may take 82.80 GiB  \
[price-refused]
  at   spec.deviceClassNames[0]
  why  what can't start would restart for as long as it holds its devices (poolwright.dev/v1alpha1)
  fix  see what would fit: poolwright check, or poolwright price
poolwright: east/chat-70b refused: specs/placements.yaml:9:22: envelope chat-70b@2.3.0 won't start on class \
interactive-80g: one request needs 136.42 GiB per device with what the engine takes before it, and of the largest \
device of ...; fix: see what would fit: poolwright check, or poolwright price
""",
    ),
    # Without it there is no telling what the claim must ask for, and one that asks for nothing may be wrong.
    "a-config-that-cannot-be-read": (
        edit(read_small_fleet(), CONFIG, ('"architectures"', "architectures")),
        UNIT,
        """\
models/llama-3.3-70b-fp8/config.json: it isn't JSON: Expecting property name enclosed in double quotes: line 2 column \
3 (char 4)  [model-unreadable]
  why  envelope chat-70b@2.3.0 names it, and its price follows from it (poolwright.dev/v1alpha1)
  fix  take the model's own config.json, or what an engine printed
poolwright: east/chat-70b refused: models/llama-3.3-70b-fp8/config.json: it isn't JSON: Expecting property name \
enclosed in double quotes: line 2 column 3 (char 4); fix: take the model's own config.json, or what an engine printed
""",
    ),
    "no-project": (
        {},
        UNIT,
        """\
poolwright.yaml: no poolwright.yaml in . or in any folder above it  [project-missing]
  why  that file is the root of a project: it names the clusters (poolwright project layout)
  fix  run inside a project, pass --project DIR, or make one with `poolwright init`
poolwright: east/chat-70b refused: poolwright.yaml: no poolwright.yaml in . or in any folder above it; fix: run inside \
a project, pass --project DIR, or make one with `poolwright init`
""",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_prints_no_object(name: str, tmp_path: Path) -> None:
    files, options, said = REFUSED[name]
    assert run("generate", *options, folder=write_files(tmp_path, files)) == Ran(2, "", said)


def rendered_from_other_specs(project: Path) -> None:
    write_files(
        project, edit(read_small_fleet(), PLACEMENTS, ("minReplicas: 1\n  surge: 1", "minReplicas: 2\n  surge: 1"))
    )


def half_written(project: Path) -> None:
    rename = Disk.rename

    def stop(disk: Disk, temp: str, path: str) -> None:
        if path.endswith("/deployment.yaml"):
            raise KeyboardInterrupt
        rename(disk, temp, path)

    rendered_from_other_specs(project)
    with patch.object(Disk, "rename", stop):
        assert run("render", folder=project) == Ran(2, "", "")


def edited(project: Path) -> None:
    (project / "overlays/east/chat-70b/decisions/deployment.yaml").write_text("kind: Mine\n")


def added_to(project: Path) -> None:
    (project / "overlays/east/chat-70b/mine.yaml").write_text("kind: Mine\n")


def edited_base(project: Path) -> None:
    (project / "overlays/base/chat-70b/2.3.0/deployment.yaml").write_text("kind: Mine\n")


def base_gone(project: Path) -> None:
    rmtree(project / "overlays/base/chat-70b/2.3.0")


def edited_with_its_manifest(project: Path) -> None:
    """Another number of replicas, and the manifest made to agree with it."""
    folder = project / "overlays/east/chat-70b"
    file, manifest = folder / "decisions/deployment.yaml", folder / "poolwright-manifest.json"
    before = file.read_bytes()
    file.write_bytes(before.replace(b"replicas: 1", b"replicas: 9"))
    texts = [sha256(data).hexdigest() for data in (before, file.read_bytes())]
    manifest.write_text(manifest.read_text().replace(texts[0], texts[1]))


RENDER = "run `poolwright render` and commit what it writes"
REMOVE = "remove what isn't ours, and commit"
DISCARD = "restore the files, or run `poolwright render --discard-edits`, and commit"
UNIT_FOLDER, BASE_FOLDER = "overlays/east/chat-70b", "overlays/base/chat-70b/2.3.0"
STALE = {
    rendered_from_other_specs: (UNIT_FOLDER, "isn't what the specs give", RENDER),
    half_written: (UNIT_FOLDER, "was left half-written", RENDER),
    edited: (UNIT_FOLDER, "was edited by hand (decisions/deployment.yaml)", DISCARD),
    edited_with_its_manifest: (UNIT_FOLDER, "isn't what the specs give", RENDER),
    added_to: (
        UNIT_FOLDER,
        "holds files that poolwright didn't write (mine.yaml)",
        "remove what isn't ours, and commit",
    ),
    edited_base: (BASE_FOLDER, "was edited by hand (deployment.yaml)", DISCARD),
    base_gone: (BASE_FOLDER, "isn't there", RENDER),
}


@pytest.mark.parametrize("happen", STALE, ids=lambda happen: happen.__name__)
def test_what_nobody_reviewed_is_not_emitted(happen: Callable[[Path], None], tmp_path: Path) -> None:
    project = copy_small_fleet(tmp_path)
    happen(project)
    folder, state, fix = STALE[happen]
    what = f"the committed folder {state}"
    said = f"{folder}: {what}  [tree-stale]\n{WHY_STALE}  fix  {fix}\n"
    refusal = f"poolwright: east/chat-70b refused: {folder}: {what}; fix: {fix}\n"
    assert run("generate", *UNIT, folder=project) == Ran(2, "", said + refusal)
    assert run("generate", "--cluster=east", "--unit=platform", folder=project).code == 0


def test_the_last_line_is_short_and_on_one_line(tmp_path: Path) -> None:
    name = "x" * 4000 + "\\n\\e[2J"
    project = write_files(
        tmp_path, edit(read_small_fleet(), PLACEMENTS, ("poolName: h100-full", f'poolName: "{name}"'))
    )
    ran = run("generate", *UNIT, folder=project)
    assert (ran.code, ran.stdout) == (2, "")
    assert "\x1b" not in ran.stderr
    last = ran.stderr.splitlines()[-1]
    assert last.startswith("poolwright: east/chat-70b refused: specs/placements.yaml:8:13: ")
    assert len(last.encode()) < 300


BAD_OPTIONS = {
    (): "--cluster and --unit missing",
    ("--cluster", "east"): "--unit missing",
    ("--unit", "a", "--cluster="): "--cluster missing",
    (*UNIT, "more"): 'unexpected argument "more"',
    (*UNIT, "--format", "json"): "option --format not recognized",
    (*UNIT, "-u", "a"): "option -u not recognized",
    ("--cluster", "east", "--unit"): "option --unit requires argument",
}


@pytest.mark.parametrize("options", BAD_OPTIONS, ids=" ".join)
def test_options_that_make_no_sense(options: tuple[str, ...]) -> None:
    said = f"poolwright generate: {BAD_OPTIONS[options]}; see `poolwright generate --help`\n"
    assert run("generate", *options, folder=SMALL_FLEET) == Ran(2, "", said)


def test_its_options_are_those_that_its_help_lists() -> None:
    options = cli.commands["generate"].params
    assert tuple(option.name for option in options) == (*OPTIONS, "argocd")
    help_text = run("generate", *UNIT, "--help", folder=SMALL_FLEET).stdout
    assert all(f"--{name} " in help_text for name in OPTIONS)
    assert " ".join(help_text.split()).count("--cluster and --unit are required, but with --argocd") == 1


# What takes longer to load than a unit to render, or starts programs, or that only other commands need.
# (msgspec loads decimal: that has to be. dataclasses: docs/decisions/0037.)
HEAVY = (
    *("click", "jsonschema_rs", "cel_expr_python", "jinja2", "hypothesis", "kubernetes_validate"),
    *("argparse", "subprocess", "pathlib", "tempfile", "fractions", "difflib", "concurrent"),
    *("importlib.metadata", "poolwright.specs.schema", "poolwright.specs.shape", "poolwright.specs.report"),
    *("poolwright.kustomize", "poolwright.cli.commands", "poolwright.cli.load", "poolwright.catalog.inventory"),
    *("poolwright.allocation", "poolwright.plan", "json", "dataclasses"),
    *("poolwright.admission.admit", "poolwright.admission.mends", "poolwright.admission.report"),
)
MODULES = (
    "import runpy, sys\n"
    "sys.argv = ['poolwright', 'generate', '--cluster=east', '--unit=' + sys.argv[1]]\n"
    "try:\n    runpy.run_module('poolwright', run_name='__main__')\n"
    "except SystemExit as stop:\n    assert stop.code == 0\n"
    "print(*sorted(sys.modules), file=sys.stderr)\n"
)


@pytest.mark.parametrize(("unit", "has_cel"), [("chat-70b", True), ("platform", True), ("plain", False)])
def test_it_loads_nothing_heavy(unit: str, has_cel: bool, tmp_path: Path) -> None:
    """Only a raw selector of the unit's own class needs the CEL parser."""
    project = write_files(tmp_path, PLAIN)
    loaded = set(_list_modules(unit, project)) - set(_list_modules("", tmp_path, code="import sys"))
    heavy = {name for name in loaded for heavy in HEAVY if name == heavy or name.startswith(f"{heavy}.")}
    assert heavy == ({name for name in loaded if name.split(".")[0] == "cel_expr_python"} if has_cel else set())
    assert ("cel_expr_python" in loaded) == has_cel


PLAIN = {
    **edit(
        edit(
            read_small_fleet(),
            POOL,
            (
                "  deviceClasses:\n",
                "  deviceClasses:\n"
                "    - {name: plain, tier: interactive, driver: gpu.nvidia.com, attributes: {type: [gpu]}}\n",
            ),
        ),
        PROJECT,
        ("      inventory: inventory/east.yaml ", "      # "),
    ),
    "specs/plain.yaml": b"""\
apiVersion: poolwright.dev/v1alpha1
kind: Placement
metadata: {name: plain}
spec:
  envelope: {name: chat-70b, version: 2.3.0}
  poolName: h100-full
  deviceClassNames: [plain]
  minReplicas: 1
  surge: 0
""",
}


def _list_modules(unit: str, folder: Path, code: str = MODULES) -> list[str]:
    import subprocess

    # -S would leave out the paths that the package is found by; what `site` loads is taken off by the caller.
    script = code if code == MODULES else f"{code}\nprint(*sorted(sys.modules), file=sys.stderr)"
    ended = subprocess.run(
        [sys.executable, "-P", "-c", script, unit], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stderr.split()


def test_the_real_command_is_the_same() -> None:
    assert start("generate", *UNIT, folder=SMALL_FLEET) == run("generate", *UNIT, folder=SMALL_FLEET)
    assert start("generate", folder=SMALL_FLEET) == run("generate", folder=SMALL_FLEET)
