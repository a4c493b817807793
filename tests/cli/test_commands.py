"""The command line as a whole: help, examples, the small commands, and what stdout's reader may do."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema_rs
import pytest

from fleet import FLEET, ROOT, copy_fleet
from folders import read_files, write_files
from made_packet import ALICE, NAME, make_signed, make_trust
from poolwright.cli.commands import cli
from poolwright.cli.schema import REPORTS
from poolwright.files.starter import read_starter
from poolwright.specs.schema import KINDS, build_schema
from real_kustomize import build_for_real
from run_poolwright import Ran, run, start

# --- help ---


@pytest.mark.parametrize("command", cli.commands)
def test_help_ends_with_an_example_that_works(command: str, tmp_path: Path) -> None:
    """From the root of a checkout: here a copy of what the examples name, because some of them write."""
    ran = run(command, "--help", folder=ROOT)
    assert (ran.code, ran.stderr) == (0, "")
    *_, heading, example = ran.stdout.splitlines()
    assert heading == "Example:"
    program, *arguments = shlex.split(example)
    assert program == "poolwright"
    assert arguments[0] == command
    copy_fleet(tmp_path / "examples")
    for name in ("pending-pod.yaml", "report.json"):
        shutil.copy(ROOT / "examples" / name, tmp_path / "examples")
    if command in ("diff", "release"):
        commit_all(tmp_path)
    if command == "verify":
        write_files(tmp_path / "releases" / NAME, make_signed(ALICE))
        (tmp_path / "trust.yaml").write_text(make_trust(ALICE))
    ended = start(*arguments, folder=tmp_path)
    # The pod of `allocate` stays Pending, and the example says why.
    assert (ended.code, ended.stderr) == (1 if command == "allocate" else 0, "")
    assert ended.stdout


def commit_all(folder: Path) -> None:
    """Everything in a folder as the first commit of its branch main."""
    settings = dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "a@example.com")
    settings |= {"GIT_AUTHOR_NAME": "a", "GIT_COMMITTER_NAME": "a", "GIT_CONFIG_GLOBAL": os.devnull}
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "first")):
        subprocess.run(["git", *words], cwd=folder, check=True, env={**os.environ, **settings})


def test_help_lists_every_command() -> None:
    ran = run("--help", folder=ROOT)
    assert (ran.code, ran.stderr) == (0, "")
    for name in cli.commands:
        assert f"\n  {name} " in ran.stdout
    assert ran.stdout.endswith("Exit codes: 0 yes, 1 no (findings, differences), 2 could not answer.\n")
    assert run("-h", folder=ROOT) == ran


WRONG_USE: dict[tuple[str, ...], str] = {
    ("rendr",): "No such command 'rendr'.",
    ("render", "more"): "Got unexpected extra argument (more)",
    ("check", "--format", "xml"): "Invalid value for '--format': 'xml' is not one of 'text', 'json', 'markdown', "
    "'github', 'sarif'.",
    ("schema", "all"): "`all` needs --out DIR",
    ("schema", "Nope"): "Invalid value for '{all|Project|Stack|Pool|Envelope|Placement|FeatureLedger|Rehearsal|Lock|"
    "FindingList|AllocationList|FitPlan|FitReplay|PriceList|PinReport|RehearsalMatrix|Snapshot|UpgradePlan|"
    "ChangeReport|TrustPolicy|Receipts|ReceiptComparison|FleetReport|Packet|PacketLedger|PacketPrices|"
    "PacketThresholds}': 'Nope' is not one of 'all', 'Project', 'Stack', 'Pool', 'Envelope', 'Placement', "
    "'FeatureLedger', 'Rehearsal', 'Lock', 'FindingList', 'AllocationList', 'FitPlan', 'FitReplay', 'PriceList', "
    "'PinReport', 'RehearsalMatrix', 'Snapshot', 'UpgradePlan', 'ChangeReport', 'TrustPolicy', 'Receipts', "
    "'ReceiptComparison', 'FleetReport', 'Packet', 'PacketLedger', 'PacketPrices', 'PacketThresholds'.",
    ("allocate",): "Missing argument 'FILE...'.",
    ("explain",): "Missing argument 'SUBJECT'.",
    ("price",): "Missing argument 'ENVELOPE|CONFIG.JSON'.",
}


@pytest.mark.parametrize("arguments", WRONG_USE, ids=" ".join)
def test_wrong_use_is_no_answer(arguments: tuple[str, ...]) -> None:
    ran = run(*arguments, folder=ROOT)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("Usage: poolwright ")
    assert f"\nError: {WRONG_USE[arguments]}" in ran.stderr


# --- version and schema ---


def test_version() -> None:
    said = "poolwright 0.1.0 (render format 1, Kubernetes 1.34 to 1.37)\n"
    assert run("version", folder=ROOT) == Ran(0, said, "")


@pytest.mark.parametrize("kind", [*KINDS, *REPORTS])
def test_schema(kind: str, tmp_path: Path) -> None:
    ran = run("schema", kind, folder=tmp_path)
    assert (ran.code, ran.stderr) == (0, "")
    schema = json.loads(ran.stdout)
    jsonschema_rs.meta.validate(schema)
    assert kind in REPORTS or schema == json.loads(json.dumps(build_schema(kind)))


def test_all_schemas_as_files(tmp_path: Path) -> None:
    said = "".join(f"schemas/v1/{kind.lower()}.json\n" for kind in (*KINDS, *REPORTS))
    assert run("schema", "all", "--out", "schemas/v1", folder=tmp_path) == Ran(0, said, "")
    assert read_files(tmp_path / "schemas/v1") == {
        f"{kind.lower()}.json": run("schema", kind, folder=tmp_path).stdout.encode() for kind in (*KINDS, *REPORTS)
    }


# --- init ---


def test_a_new_repository_works_at_once(tmp_path: Path) -> None:
    wrote = "".join(f"wrote my-fleet/{path}\n" for path in read_starter())
    said = f"{wrote}next: cd my-fleet && poolwright check && poolwright render\n"
    assert run("init", "my-fleet", folder=tmp_path) == Ran(0, said, "")
    project = tmp_path / "my-fleet"
    assert read_files(project) == read_starter()
    ok = "ok: 1 cluster, 1 stack, 1 pool, 1 envelope version, 1 placement\n"
    assert run("check", folder=project) == Ran(0, ok, "")
    assert run("render", folder=project).code == 0
    for unit in ("platform", "my-model"):
        built = build_for_real(project, f"overlays/my-cluster/{unit}").decode()
        assert run("generate", "--cluster=my-cluster", f"--unit={unit}", folder=project) == Ran(0, built, "")


def test_init_is_for_an_empty_folder_too(tmp_path: Path) -> None:
    assert run("init", folder=tmp_path).code == 0
    assert read_files(tmp_path) == read_starter()


@pytest.mark.parametrize("kind", ["file", "dangling-link"])
def test_init_overwrites_nothing(kind: str, tmp_path: Path) -> None:
    there = tmp_path / "poolwright.yaml"
    if kind == "file":
        there.write_text("mine")
    else:
        there.symlink_to("nowhere")
    said = (
        "poolwright.yaml: poolwright.yaml exists already  [init-exists]\n"
        "  why  init writes a new repository and overwrites nothing (poolwright init)\n"
        "  fix  name an empty folder: poolwright init DIR\n"
    )
    assert run("init", folder=tmp_path) == Ran(2, "", said)
    assert [path.name for path in tmp_path.iterdir()] == ["poolwright.yaml"]


# --- the process ---


LONG = {
    "explain": ("explain", "east/chat-70b/Deployment/chat-70b"),
    "generate": ("generate", "--cluster=east", "--unit=chat-70b"),
    "schema": ("schema", "Envelope"),
    "help": ("--help",),
    "diff": ("diff", "../../tests/small_fleet", "../../tests/small_fleet/specs/.."),
}


@pytest.mark.parametrize("name", LONG)
def test_a_reader_that_leaves_is_no_reason_to_complain(name: str) -> None:
    """As in `poolwright ... | head -1`."""
    read, write = os.pipe()
    os.close(read)
    command = (sys.executable, "-P", "-m", "poolwright", *LONG[name])
    try:
        ended = subprocess.run(command, cwd=FLEET, stdout=write, stderr=subprocess.PIPE, check=False, timeout=60)
    finally:
        os.close(write)
    assert (ended.returncode, ended.stderr) == (2, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux's device that is always full")
@pytest.mark.parametrize("name", LONG)
def test_a_full_disk_is_said(name: str) -> None:
    with Path("/dev/full").open("wb") as full:
        command = (sys.executable, "-P", "-m", "poolwright", *LONG[name])
        ended = subprocess.run(command, cwd=FLEET, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60)
    assert (ended.returncode, ended.stderr) == (2, b"poolwright: stdout: No space left on device\n")


def start_in_shell(command: str, folder: Path) -> Ran:
    """Run `poolwright ...` as written on a shell's command line, redirections too."""
    script = f'poolwright() {{ "{sys.executable}" -P -m poolwright "$@"; }}; {command}'
    ended = subprocess.run(
        ["/bin/sh", "-c", script], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    return Ran(ended.returncode, ended.stdout, ended.stderr)


AS_OF = "--as-of 2026-11-30"  # the example has a waiver, which ends
OK = """\
specs/placements/lab-alpha.yaml:8:22: warning: envelope guard-1b7@1.0.0 has no price on class h200-share-alpha: \
several pods share a device, and an engine takes its share of all of it  [price-unsupported]
  at   spec.deviceClassNames[0]
  why  the price of one rank on the smallest device of the class (poolwright.dev/v1alpha1)
  fix  place it on a class whose devices are one pod's alone
specs/stacks/operator-26-7.yaml:5:9: warning: no rehearsal of the step recovery of \
matrix[h100-sxm5-80gb/partition/perPod/vllm] of stack "operator-26-7"  [rehearsal-missing]
  at   matrix[h100-sxm5-80gb/partition/perPod/vllm].recovery
  why  east/guard-1b7, east/summarise-20b run on it, and whether that works nobody has tried: it is rendered and not \
promoted (poolwright.dev/v1alpha1)
  fix  carry it out on kubernetes 1.36.2, gpuOperator 26.7.0, draDrivers.dra-driver-nvidia-gpu 0.5.0, \
draDrivers.nic-dra-driver 1.4.0, gpuDriver 580.173.02, containerRuntime.containerd 2.2.1, containerToolkit 1.20.0, cdi \
true, hardware.model h100-sxm5-80gb, hardware.mode partition, claimPattern perPod, servingImage.vllm 0.33.0, and add \
the record under rehearsals/
  but  waived until 2027-02-28 by platform-gpu: The lab's partitioned node was needed elsewhere before its loss could \
be tried, and is back in February.
ok: 3 clusters, 2 stacks, 4 pools, 9 envelope versions, 11 placements, 1 waiver used as of 2026-11-30
"""
CLOSED = "poolwright: stdout: it is closed\n"
STREAMS: dict[str, Ran] = {
    "poolwright check >&-": Ran(2, "", CLOSED),
    "poolwright check --format json >&-": Ran(2, "", CLOSED),
    "poolwright generate --cluster=east --unit=chat-70b >&-": Ran(2, "", CLOSED),
    "poolwright version >&-": Ran(2, "", CLOSED),
    "poolwright --help >&-": Ran(2, "", CLOSED),
    "poolwright render --check >&-": Ran(2, "", CLOSED),
    "poolwright version <&- >&-": Ran(2, "", CLOSED),
    "poolwright version <&- >&- 2>&-": Ran(2, "", ""),
    # What stderr is told is lost; the answer isn't.
    "poolwright diff . . >&-": Ran(2, "", CLOSED),
    "poolwright diff . --live - . <&-": Ran(
        2,
        "",
        "stdin: the file can't be read: Bad file descriptor  [file-unreadable]\n"
        "  why  objects are judged together, so none is judged without the others (poolwright check)\n"
        "  fix  name files that hold manifests, or - for standard input\n",
    ),
    f"poolwright check {AS_OF} 2>&-": Ran(0, OK, ""),
    f"poolwright check {AS_OF} <&- 2>&-": Ran(0, OK, ""),
    "poolwright generate --cluster=east --unit=none 2>&-": Ran(2, "", ""),
    "poolwright explain nothing 2>&-": Ran(2, "", ""),
    "poolwright rendr 2>&-": Ran(2, "", ""),
    "poolwright check --objects - <&-": Ran(
        2,
        "stdin: the file can't be read: Bad file descriptor  [file-unreadable]\n"
        "  why  objects are judged together, so none is judged without the others (poolwright check)\n"
        "  fix  name files that hold manifests, or - for standard input\n",
        "",
    ),
}
if Path("/dev/full").exists():
    STREAMS |= {
        f"poolwright check {AS_OF} 2>/dev/full": Ran(0, OK, ""),
        "poolwright explain nothing 2>/dev/full": Ran(2, "", ""),
        "poolwright version >/dev/full 2>/dev/full": Ran(2, "", ""),
    }


@pytest.mark.parametrize("command", STREAMS)
def test_closed_and_full_streams(command: str) -> None:
    assert start_in_shell(command, FLEET) == STREAMS[command]


GONE = "mkdir gone; cd gone; rmdir ../gone; "
NO_FOLDER = (
    "poolwright.yaml: the folder that this runs in doesn't exist any more  [project-missing]\n"
    "  why  a project is looked for from there upwards (poolwright project layout)\n"
    "  fix  change to a folder that exists, or pass an absolute path as --project DIR\n"
)
NOT_THERE = "poolwright: the folder that this runs in doesn't exist any more\n"
DELETED: dict[str, Ran] = {
    "check": Ran(2, NO_FOLDER, ""),
    "render": Ran(2, "", NO_FOLDER),
    "init": Ran(2, "", NOT_THERE),
    "init x": Ran(2, "", NOT_THERE),
    "schema all --out x": Ran(2, "", NOT_THERE),
    f"check --project {FLEET} {AS_OF}": Ran(0, OK, ""),
    "version": Ran(0, "poolwright 0.1.0 (render format 1, Kubernetes 1.34 to 1.37)\n", ""),
}


@pytest.mark.parametrize("command", DELETED, ids=lambda command: command.replace(str(FLEET), "FLEET"))
def test_a_folder_that_was_deleted(command: str, tmp_path: Path) -> None:
    assert start_in_shell(f"{GONE}poolwright {command}", tmp_path) == DELETED[command]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux's device that is always full")
def test_a_full_disk_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "pool.json").symlink_to("/dev/full")
    said = "poolwright: ./pool.json: No space left on device\n"
    assert run("schema", "Pool", "--out", ".", folder=tmp_path) == Ran(2, "", said)


HOSTILE = {"newline": "a\nb", "escape-sequence": "a\x1b[2Jb", "not-utf-8": "a\udcffb"}
SHOWN = {"newline": "a\\nb", "escape-sequence": "a\\x1b[2Jb", "not-utf-8": "a\\udcffb"}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_on_their_line(name: str, tmp_path: Path) -> None:
    """Names of folders and of what is asked for, on every output that shows them."""
    text, shown = HOSTILE[name], SHOWN[name]
    assert start("schema", "Pool", "--out", text, folder=tmp_path) == Ran(0, f"{shown}/pool.json\n", "")
    ran = start("init", text, folder=tmp_path)
    wrote = "".join(f"wrote {shown}/{path}\n" for path in read_starter())
    assert ran == Ran(0, f"{wrote}next: cd {shown} && poolwright check && poolwright render\n", "")
    assert read_files(tmp_path / text).keys() == {*read_starter(), "pool.json"}
    for arguments in (
        ("check", "--project", f"{text}.none"),
        ("render", "--cluster", text),
        ("render", "--check", "--cluster", text),
        ("explain", text),
        ("generate", "--cluster", text, "--unit", text),
        ("generate", "--cluster", "my-cluster", "--unit", text),
        (text,),
        ("check", "--format", text),
    ):
        ran = start(*arguments, folder=tmp_path / text)
        said = ran.stdout + ran.stderr
        assert ran.code == 2, arguments
        assert shown in said, arguments
        assert all(line.isprintable() for line in said.split("\n")), arguments


def test_the_installed_program_is_the_module() -> None:
    program = shutil.which("poolwright", path=str(Path(sys.executable).parent))
    assert program is not None
    ended = subprocess.run([program, "version"], capture_output=True, text=True, check=True, timeout=60)
    assert ended.stdout == start("version", folder=ROOT).stdout
