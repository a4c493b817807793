"""A build by real Kustomize, and what stops one: its own errors, an empty result, and limits."""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from poolwright.kustomize.build import BuildOutput, build
from poolwright.kustomize.find import Kustomize, KustomizeError, find_kustomize
from poolwright.kustomize.process import Limits

CONFIG_MAP = "apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  name: x\n"
PATCH = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: nobody}\nspec: {replicas: 2}\n"
FOLDERS = {
    "base/kustomization.yaml": "resources: [x.yaml]\n",
    "base/x.yaml": CONFIG_MAP,
    "on/a/kustomization.yaml": "resources: [../../base]\nnamespace: here\n",
    "old/kustomization.yaml": "resources: [../base]\ncommonLabels: {a: b}\n",
    "no-target/kustomization.yaml": "resources: [../base]\ncommonLabels: {a: b}\npatches: [{path: p.yaml}]\n",
    "no-target/p.yaml": PATCH,
    "no-file/kustomization.yaml": "resources: [nothing.yaml]\n",
    "no-objects/kustomization.yaml": "resources: []\nnamespace: here\n",
    "fetches/kustomization.yaml": "resources: [../more]\n",
    "more/kustomization.yaml": "resources: [https://example.com/x.yaml]\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    for name, text in FOLDERS.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture(scope="module")
def kustomize() -> Kustomize:
    found = find_kustomize(None, {})
    assert isinstance(found, Kustomize)
    return found


OLD = (
    "# Warning: 'commonLabels' is deprecated. Please use 'labels' instead. Run 'kustomize edit fix' to update your "
    "Kustomization automatically."
)
BUILDS = {
    "a-folder-on-another": (
        "on/a",
        BuildOutput(objects=f"{CONFIG_MAP}  namespace: here\n".encode(), warnings=()),
    ),
    "a-warning-is-no-error": (
        "old",
        BuildOutput(
            objects=CONFIG_MAP.replace("metadata:\n", "metadata:\n  labels:\n    a: b\n").encode(),
            warnings=(OLD,),
        ),
    ),
    "a-patch-without-its-target": (
        "no-target",
        KustomizeError(
            reason='no-target: no resource matches strategic merge patch "Deployment.v1.apps/nobody.[noNs]": no '
            "matches for Id Deployment.v1.apps/nobody.[noNs]; failed to find unique target for patch "
            "Deployment.v1.apps/nobody.[noNs]",
            warnings=(OLD,),
        ),
    ),
    # The tree's own place on this machine is left out.
    "a-file-that-is-not-there": (
        "no-file",
        KustomizeError(
            reason="no-file: nothing.yaml: evalsymlink failure on 'no-file/nothing.yaml' : lstat no-file/nothing.yaml: "
            "no such file or directory"
        ),
    ),
    "no-folder": (
        "nowhere",
        KustomizeError(
            reason="nowhere: must build at directory: not a valid directory: evalsymlink failure on './nowhere' "
            ": lstat nowhere: no such file or directory"
        ),
    ),
    "no-objects": (
        "no-objects",
        KustomizeError(
            reason="no-objects: Kustomize built no objects",
            fix="give its kustomization.yaml resources, or remove the folder",
        ),
    ),
    "what-would-be-fetched": (
        "fetches",
        KustomizeError(
            reason="more/kustomization.yaml: `resources` refers to https://example.com/x.yaml, which would be fetched",
            fix="copy what is there into the tree, and refer to the copy by a relative path",
        ),
    ),
}


@pytest.mark.parametrize(("folder", "expected"), BUILDS.values(), ids=BUILDS)
def test_build(kustomize: Kustomize, tree: Path, folder: str, expected: BuildOutput | KustomizeError) -> None:
    assert build(kustomize, tree, folder) == expected


def test_threads_may_build_at_once(kustomize: Kustomize, tree: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        built = list(pool.map(lambda _: build(kustomize, tree, "on/a"), range(12)))
    assert built == [BUILDS["a-folder-on-another"][1]] * 12


# --- programs in Kustomize's place ---


def write_fake(folder: Path, python: str) -> Kustomize:
    program = folder / "kustomize"
    program.write_text(f"#!{sys.executable} -IS\nimport os, sys, time\n{python}\n")
    program.chmod(0o755)
    return Kustomize(argv=(str(program), "build"), version="v0", source="given")


def test_sees_no_variable_input_or_home(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    fake = write_fake(
        tmp_path,
        "import json\n"
        "environ = dict(os.environ)\n"
        "environ.pop('LC_CTYPE', None)  # Python sets it itself\n"
        "said = dict(environ=environ, home=os.listdir(environ['HOME']), tmp=os.listdir(environ['TMPDIR']))\n"
        "said |= dict(argv=sys.argv[1:], cwd=os.getcwd(), stdin=sys.stdin.read(), fds=os.listdir('/proc/self/fd'))\n"
        "open(environ['HOME'] + '/left', 'w')\n"
        "json.dump(said, sys.stdout)\n",
    )
    typed, keyboard = os.pipe()
    os.write(keyboard, b"typed")
    os.close(keyboard)
    ours = os.dup(0)
    os.dup2(typed, 0)
    os.set_inheritable(typed, True)
    try:
        built = build(fake, tree, "base")
    finally:
        os.dup2(ours, 0)
        os.close(ours)
        os.close(typed)
    assert isinstance(built, BuildOutput), built
    said = json.loads(built.objects)
    home, temporary = said["environ"].pop("HOME"), said["environ"].pop("TMPDIR")
    fds = said.pop("fds")
    assert said == {
        "environ": {"KUBERC": "off"},
        "home": [],
        "tmp": [],
        "argv": ["build", "./base"],
        "cwd": str(tree.resolve()),
        "stdin": "",
    }
    assert len(fds) == 4  # three, and the one that lists them
    assert not Path(home).exists()
    assert not Path(temporary).exists()


LIMITS = Limits(time_s=60, cpu_s=1, memory_bytes=200 << 20, output_bytes=1 << 20)
LIMITED = {
    "time": (
        "time.sleep(60)",
        Limits(time_s=0.5),
        KustomizeError(reason="base: Kustomize took more than 0.5 s"),
    ),
    "what-it-started-ends-with-it": (
        "pid = os.fork()\nif pid: print(pid, file=sys.stderr, flush=True)\ntime.sleep(60)",
        Limits(time_s=0.5),
        None,
    ),
    "what-it-leaves-running-ends-too": (
        "pid = os.fork()\nif pid: sys.exit(f'Warning: {pid}\\nError: done')\ntime.sleep(60)",
        LIMITS,
        None,
    ),
    "cpu": ("while True: pass", LIMITS, KustomizeError(reason="base: Kustomize took more than 1 s of CPU time")),
    "output": (
        "try:\n  while True: os.write(1, b'x' * 65536)\nexcept OSError: os._exit(1)",
        LIMITS,
        KustomizeError(reason="base: Kustomize took more than the output allowed"),
    ),
    # A truncated output with exit code 0 would delete what is missing.
    "output-that-the-program-did-not-miss": (
        "try:\n  while True: os.write(1, b'x' * 65536)\nexcept OSError: os._exit(0)",
        LIMITS,
        KustomizeError(reason="base: Kustomize took more than the output allowed"),
    ),
    "memory": (
        "try: bytearray(300 << 20)\nexcept MemoryError: sys.exit('Error: no memory')",
        LIMITS,
        KustomizeError(reason="base: no memory"),
    ),
    # What Go's runtime printed, once, of a resource that doubles itself ten times.
    "memory-that-its-collector-misses": (
        "sys.exit('SIGSEGV: segmentation violation\\nPC=0x43783d m=3 sigcode=1 addr=0x0\\n\\n'"
        "'goroutine 0 gp=0x1093db73ef00 m=3 mp=0x1093db797008 [idle]:\\nruntime.(*spanQueue).tryDrain(0x800?)\\n')",
        LIMITS,
        KustomizeError(reason="base: Kustomize took more than 200 MiB of memory"),
    ),
    "another-crash": (
        "sys.exit('SIGSEGV: segmentation violation\\nPC=0x4 m=3\\n\\ngoroutine 7 [running]:\\nmain.main()\\n')",
        LIMITS,
        KustomizeError(reason="base: SIGSEGV: segmentation violation PC=0x4 m=3 goroutine 7 [running]: main.main()"),
    ),
    "a-signal": ("os.kill(os.getpid(), 9)", LIMITS, KustomizeError(reason="base: Kustomize was ended by signal 9")),
    "no-words": ("sys.exit(3)", LIMITS, KustomizeError(reason="base: Kustomize ended with exit code 3")),
    "blank-output": (
        "print()",
        LIMITS,
        KustomizeError(
            reason="base: Kustomize built no objects",
            fix="give its kustomization.yaml resources, or remove the folder",
        ),
    ),
    "control-characters-are-escaped": (
        "sys.exit('Warning: w\\nError: \\x1b[31mred\\n  second line')",
        LIMITS,
        KustomizeError(reason="base: \\x1b[31mred second line", warnings=("Warning: w",)),
    ),
}


@pytest.mark.parametrize(("python", "limits", "expected"), LIMITED.values(), ids=LIMITED)
def test_limits(tree: Path, tmp_path: Path, python: str, limits: Limits, expected: KustomizeError | None) -> None:
    start = time.monotonic()
    built = build(write_fake(tmp_path, python), tree, "base", limits=limits)
    assert time.monotonic() - start < 60  # far below what the programs would take, also on a busy machine
    if expected is None:
        assert isinstance(built, KustomizeError)
        wait_for_end(int(built.warnings[0].removeprefix("Warning: ")))
    else:
        assert built == expected


def wait_for_end(pid: int) -> None:
    """Return once a process is gone, or a zombie that nobody has collected yet."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return
        if state == "Z":
            return
        time.sleep(0.02)
    pytest.fail(f"process {pid} still runs")


def test_a_program_that_is_gone(tree: Path) -> None:
    gone = Kustomize(argv=("/no/such/kustomize", "build"), version="v5.8.1", source="given")
    expected = KustomizeError(reason="/no/such/kustomize can't be run: No such file or directory")
    assert build(gone, tree, "base") == expected


# As kubectl v1.32.4 (Kustomize v5.5.0) logs what ends it, shortened.
LOGGED = {
    "quotes": (
        """E1130 06:26:41.880401    8156 run.go:72] "command failed" err="accumulating \\"a\\": cannot be absolute\"""",
        'base: accumulating "a": cannot be absolute',
    ),
    "a-new-line": (
        """E1130 06:23:13.342952    1300 run.go:72] "command failed" err="Found multiple kustomization files\\n\"""",
        "base: Found multiple kustomization files",
    ),
}


@pytest.mark.parametrize(("logged", "reason"), LOGGED.values(), ids=LOGGED)
def test_an_error_that_kubectl_logs(tree: Path, tmp_path: Path, logged: str, reason: str) -> None:
    """Without the time and the process number: a finding is the same on every run."""
    fake = write_fake(tmp_path, f"sys.stderr.write({logged!r})\nsys.exit(1)")
    assert build(fake, tree, "base") == KustomizeError(reason=reason)
