"""`poolwright check --objects`: what it prints, where, and the exit code."""

import io
import json
from pathlib import Path

import click
import pytest

from poolwright.cli.check_objects import run_check_objects
from poolwright.cli.commands import cli

FLAT = b"""\
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaimTemplate
metadata: {name: single-gpu}
spec: {spec: {devices: {requests: [{name: gpu, deviceClassName: gpu.nvidia.com}]}}}
"""
WORKLOAD = b"""\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  resourceClaims: [{name: gpu, resourceClaimTemplateName: single-gpu}]
  containers: [{name: c, image: "example.com/c:1.0.0", resources: {claims: [{name: gpu}]}}]
"""
TWICE = b"""\
kind: ConfigMap
apiVersion: v1
metadata:
  labels:
    part: controller
    part: controller
"""
SECRET = b"apiVersion: v1\nkind: Secret\ndata: {a: aHVudGVyMg==}\n"
REPEATED = (
    'twice.yaml:6:5: the key "part" stands a second time; line 5 has it already  [yaml-duplicate-key]\n'
    "  at   metadata.labels.part\n"
    "  why  readers disagree on which of the two counts: some keep the last without a word, others refuse"
    " (YAML 1.2.2)\n"
    "  fix  keep one of the two\n"
)
WARNING = (
    "secret.yaml:3:1: warning: Secret holds 1 value in plain text or base64  [secret-inline]\n"
    "  at   data\n"
    "  why  whoever can read the repository or the rendered objects can read the secret, now and in its history"
    " (poolwright safety design)\n"
    "  fix  keep it in a secret store and let an operator put it into the cluster; change it if it was ever committed\n"
)
OLD_API = (
    'flat.yaml:1:13: ResourceClaimTemplate "single-gpu" is of resource.k8s.io/v1beta1, which Kubernetes 1.34 doesn\'t'
    " serve by default  [api-not-served]\n"
    "  at   apiVersion\n"
    "  why  the API server refuses the object unless that version was switched on"
    " (Kubernetes API versions of resource.k8s.io)\n"
    "  fix  write apiVersion: resource.k8s.io/v1; the fields of each request then stand under `exactly`; if the cluster"
    " serves it, say --api-versions resource.k8s.io/v1beta1\n"
)
SWITCHED_ON = (
    'flat.yaml:1:13: warning: ResourceClaimTemplate "single-gpu" is of resource.k8s.io/v1beta1, and Kubernetes 1.34 has'
    " resource.k8s.io/v1  [api-not-served]\n"
    "  at   apiVersion\n"
    "  why  a version that isn't stable is switched on by hand, and a later release drops it"
    " (Kubernetes API versions of resource.k8s.io)\n"
    "  fix  write apiVersion: resource.k8s.io/v1; the fields of each request then stand under `exactly`\n"
)
GONE = (
    "gone.yaml: the file can't be read: No such file or directory  [file-unreadable]\n"
    "  why  objects are judged together, so none is judged without the others (poolwright check)\n"
    "  fix  name files that hold manifests, or - for standard input\n"
)
EMPTY = (
    "empty.yaml: there is no object in it  [objects-empty]\n"
    "  why  whatever was to print objects most likely failed, and nothing would look like nothing wrong"
    " (poolwright check)\n"
    "  fix  see what the command before the pipe said, or leave the file out\n"
)
FILES = {"flat.yaml": FLAT, "pod.yaml": WORKLOAD, "twice.yaml": TWICE, "secret.yaml": SECRET, "empty.yaml": b"# none\n"}

# Files and --kubernetes -> exit code, stdout.
CASES = {
    "files-are-one-set": (["flat.yaml", "pod.yaml"], "1.32", 0, "ok: 2 objects, Kubernetes 1.32\n"),
    "a-file-named-twice-is-read-once": (["flat.yaml", "flat.yaml"], "1.32", 0, "ok: 1 object, Kubernetes 1.32\n"),
    "warnings-are-no-no": (["secret.yaml"], None, 0, WARNING + "ok: 1 object, Kubernetes 1.37\n"),
    "errors-are-a-no": (["flat.yaml"], "v1.34.2-gke.100", 1, OLD_API),
    "a-repeated-key-is-no-answer": (["twice.yaml", "pod.yaml"], None, 2, REPEATED),
    "every-unreadable-file-is-named": (["gone.yaml", "empty.yaml", "twice.yaml"], None, 2, EMPTY + GONE + REPEATED),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_bytes(text)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("files", "kubernetes", "code", "out"), CASES.values(), ids=CASES)
def test_check_objects(
    files: list[str], kubernetes: str | None, code: int, out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_check_objects(files, "text", kubernetes=kubernetes) == code
    assert capsys.readouterr() == (out, "")


def test_standard_input_is_a_file(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TWICE)))
    assert run_check_objects(["-"], "text") == 2
    assert capsys.readouterr().out == REPEATED.replace("twice.yaml", "stdin")


@pytest.mark.parametrize("version", ["1.31", "9", "x", ""])
def test_an_unknown_kubernetes_is_refused(version: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_check_objects(["flat.yaml"], "text", kubernetes=version) == 2
    says = f"poolwright: Kubernetes {version!r} is not known; name a version of 1.32 to 1.37\n"
    assert capsys.readouterr() == ("", says)


SLICED = b"""\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: sliced}
spec:
  devices:
    requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]
    config:
      - opaque:
          driver: gpu.nvidia.com
          parameters: {apiVersion: resource.nvidia.com/v1beta1, kind: GpuConfig, sharing: {strategy: TimeSlicing}}
"""
DRIVER_GATES = {
    "not-known": (None, 0),
    "none": ("none", 1),
    "another": ("MPSSupport", 1),
    "the-one-that-it-needs": ("MPSSupport, TimeSlicingSettings", 0),
    "misspelled": ("TimeSlicing", 2),
}


@pytest.mark.parametrize(("gates", "code"), DRIVER_GATES.values(), ids=DRIVER_GATES)
def test_gates_of_the_driver(gates: str | None, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    Path("sliced.yaml").write_bytes(SLICED)
    assert run_check_objects(["sliced.yaml"], "text", driver_gates=gates) == code
    out, err = capsys.readouterr()
    assert ("TimeSlicing needs the driver's gate TimeSlicingSettings, which is off" in out) == (code == 1)
    assert err.startswith("poolwright: the driver has no gate TimeSlicing; name some of " if code == 2 else "")


def test_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    shown = {}
    for report in ("json", "markdown", "github", "sarif"):
        assert run_check_objects(["secret.yaml"], report) == 0
        shown[report] = capsys.readouterr().out
    (listed,) = json.loads(shown["json"])["findings"]
    assert (listed["file"], listed["line"], listed["column"]) == ("secret.yaml", 3, 1)
    assert shown["markdown"].startswith("**Poolwright found 1 warning.**\n")
    assert shown["github"].startswith("::warning file=secret.yaml,line=3,col=1,title=secret-inline::")
    assert json.loads(shown["sarif"])["runs"][0]["results"][0]["ruleId"] == "secret-inline"
    assert not [text for text in shown.values() if "hunter2" in text or "aHVudGVyMg" in text]


# Arguments -> what the command line says of them; the rest of the usage is click's.
USAGE = {
    "objects-without-files": (["--objects"], "--objects needs files, or - for standard input"),
    "a-day-with-objects": (
        ["--objects", "--as-of", "2026-11-30", "flat.yaml"],
        "--as-of is for rehearsals, which --objects doesn't read",
    ),
    "files-without-objects": (["flat.yaml"], "FILE, --kubernetes, --api-versions and --driver-gates go with --objects"),
    "gates-without-objects": (
        ["--driver-gates", "none"],
        "FILE, --kubernetes, --api-versions and --driver-gates go with --objects",
    ),
    "version-without-objects": (
        ["--kubernetes", "1.34"],
        "FILE, --kubernetes, --api-versions and --driver-gates go with --objects",
    ),
}


@pytest.mark.parametrize(("arguments", "says"), USAGE.values(), ids=USAGE)
def test_usage(arguments: list[str], says: str) -> None:
    with pytest.raises(click.UsageError) as stop:
        cli.main(["check", *arguments], standalone_mode=False)
    assert stop.value.message == says


def test_the_command_line_hands_everything_on(capsys: pytest.CaptureFixture[str]) -> None:
    served = ["--api-versions", "resource.k8s.io/v1beta1", "--kubernetes", "1.34"]
    assert cli.main(["check", "--objects", *served, "flat.yaml"], standalone_mode=False) == 0
    assert capsys.readouterr().out == SWITCHED_ON + "ok: 1 object, Kubernetes 1.34\n"
