"""An Application rendered by small plugins, as Argo CD would: cases 49 and 50, deadlines, and what is left behind."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from folders import write_files
from poolwright.argocd.runner.answer import Answer, list_lines, list_pruned
from poolwright.argocd.runner.application import Application, PluginSource
from poolwright.argocd.runner.environment import Build
from poolwright.argocd.runner.plugin import Discovery, Plugin
from poolwright.argocd.runner.run import Request, run_application

OBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
JSON = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}'
APP = Application(name="app", path="apps/a", types=("plugin",), plugin=PluginSource(name="p"))
UI = "Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = "
FAILED = UI + 'Unknown desc = CMP processing failed for application "app": '
IN_CMP = FAILED + "error generating manifests in cmp: rpc error: code = Unknown desc = error generating manifests: "


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))


def shell(script: str, **others: object) -> Plugin:
    return replace(Plugin(name="p", generate=("sh", "-c", script)), **others)  # type: ignore[arg-type]


def request(folder: Path, *plugins: Plugin, application: Application = APP, **others: object) -> Request:
    root = write_files(folder / "repo", {"apps/a/values.yaml": b"", "base/b.yaml": b""})
    sidecar = {"PATH": os.environ["PATH"], "HOME": "/", "ARGOCD_APP_NAME": "the sidecar's"}
    made = Request(root=str(root), application=application, plugins=plugins, build=Build(revision="1"), sidecar=sidecar)
    return replace(made, **others)  # type: ignore[arg-type]


def run(folder: Path, *plugins: Plugin, application: Application = APP, **others: object) -> Answer:
    """Run, and see that nothing is left."""
    answer = run_application(request(folder, *plugins, application=application, **others))
    assert list((folder / "tmp").iterdir()) == []
    return answer


ENDS = {
    "objects": (f"echo '{JSON}'", "accepted", "", ""),
    "noise-on-stderr": (f"echo INFO >&2; echo '{JSON}'", "accepted", "", ""),
    "a-line-of-a-log": (
        f"echo 'INFO: rendering: x'; echo '{JSON}'",
        "failed",
        "",
        IN_CMP + "failed to unmarshal manifest: error converting YAML to JSON: yaml: line 1: "
        "mapping values are not allowed in this context",
    ),
    "no-object": (
        "echo 'image: v1'",
        "refused",
        "",
        FAILED + "failed to convert CMP manifests to unstructured objects: failed to unmarshal manifest: error "
        "unmarshaling JSON: while decoding JSON: Object 'Kind' is missing in '{\"image\":\"v1\"}'",
    ),
    "no-name": ('echo \'{"apiVersion": "v1", "kind": "A"}\'', "refused", "a A has no metadata.name", ""),
    # The rows of case 50.
    "swallowed": ("(exit 3) | cat", "empty", "exit 0 and no object in 0 bytes", ""),
    "pipefail": (
        "set -o pipefail; (exit 3) | cat",
        "failed",
        "",
        IN_CMP + '`bash -c "set -o pipefail; (exit 3) | cat"` failed exit status 3',
    ),
    "empty-on-purpose": (":", "empty", "exit 0 and no object in 0 bytes", ""),
    "only-comments": ("echo '# nothing'", "empty", "exit 0 and no object in 10 bytes", ""),
    "half": (
        f"echo '{JSON}'; echo 'no such pool' >&2; exit 4",
        "failed",
        "",
        IN_CMP
        + f"`sh -c \"echo '{JSON}'; echo 'no such pool' >&2; exit 4\"` failed exit status 4: no such pool".replace(
            '"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}',
            '\\"apiVersion\\":\\"v1\\",\\"kind\\":\\"ConfigMap\\",\\"metadata\\":{\\"name\\":\\"a\\"}',
        ),
    ),
    "a-signal": ("kill -TERM $$", "failed", "", IN_CMP + '`sh -c "kill -TERM $$"` failed signal: terminated'),
}


@pytest.mark.parametrize("name", ENDS)
def test_how_a_run_ends(name: str, tmp_path: Path) -> None:
    script, verdict, reason, message = ENDS[name]
    plugin = shell(script)
    if name == "pipefail":
        plugin = replace(plugin, generate=("bash", "-c", script))
    answer = run(tmp_path, plugin)
    assert (answer.verdict, answer.reason, answer.message) == (verdict, reason, message)
    assert answer.objects == ((OBJECT,) if verdict == "accepted" else answer.objects)


def test_an_empty_success_says_what_goes(tmp_path: Path) -> None:
    answer = run(tmp_path, shell("(exit 3) | cat"))
    live = [{**OBJECT, "metadata": {"name": f"o{n:02}", "namespace": "n"}} for n in range(14)]
    names = ", ".join(f"ConfigMap n/o{n:02}" for n in range(14))
    assert list_lines(answer, list_pruned(answer, live))[2:] == [
        "verdict   EMPTY",
        "reason    exit 0 and no object in 0 bytes",
        f"prune     Argo CD would prune 14 objects: {names}",
    ]
    assert list_lines(answer, None)[-1] == "prune     Argo CD would prune everything that the application has"


def test_empty_may_be_meant(tmp_path: Path) -> None:
    answer = run(tmp_path, shell(":"), application=replace(APP, may_be_empty=True))
    assert (answer.verdict, answer.objects) == ("accepted", ())


def test_another_version_of_an_object_is_the_same_object(tmp_path: Path) -> None:
    answer = run(tmp_path, shell(f"echo '{JSON.replace('v1', 'a/v1')}'"))
    before = [{**OBJECT, "apiVersion": "a/v1beta1"}, {**OBJECT, "apiVersion": "b/v1"}]
    assert list_pruned(answer, before) == ("ConfigMap a",)
    assert list_pruned(answer, before[:1]) == ()


def test_a_refusal_prunes_nothing(tmp_path: Path) -> None:
    assert list_pruned(run(tmp_path, shell("exit 2")), [OBJECT]) == ()


NOT_STARTED = {
    "not-on-path": (("no-such-program",), 'exec: "no-such-program": executable file not found in $PATH'),
    # Modes are stripped: a script of the repository can't be run by its name.
    "a-script-without-its-mode": (("./run.sh",), "fork/exec ./run.sh: permission denied"),
    "no-such-file": (("./gone.sh",), "fork/exec ./gone.sh: no such file or directory"),
}


@pytest.mark.parametrize("name", NOT_STARTED)
def test_what_does_not_start(name: str, tmp_path: Path) -> None:
    command, said = NOT_STARTED[name]
    write_files(tmp_path / "repo", {"apps/a/run.sh": b"#!/bin/sh\n"})
    (tmp_path / "repo/apps/a/run.sh").chmod(0o755)
    answer = run(tmp_path, Plugin(name="p", generate=command))
    assert answer.message == IN_CMP + said


def test_a_script_runs_where_modes_are_kept(tmp_path: Path) -> None:
    write_files(tmp_path / "repo", {"apps/a/run.sh": f"#!/bin/sh\necho '{JSON}'\n".encode()})
    (tmp_path / "repo/apps/a/run.sh").chmod(0o755)
    assert run(tmp_path, Plugin(name="p", generate=("./run.sh",), is_mode_kept=True)).verdict == "accepted"


def test_where_it_runs_and_what_it_sees(tmp_path: Path) -> None:
    report = tmp_path / "seen"
    look = 'pwd; ls -A . ../..; echo "$ARGOCD_APP_NAME $HOME $POOLWRIGHT_X"; readlink /proc/self/fd/0'
    script = f"{{ {look}; }} >{report}; cat"
    os.environ["POOLWRIGHT_X"] = "of the caller"
    try:
        assert run(tmp_path, shell(script)).verdict == "empty"
    finally:
        del os.environ["POOLWRIGHT_X"]
    folder, *rest = report.read_text().splitlines()
    assert folder.startswith(f"{tmp_path}/tmp/poolwright-cmp-")
    assert folder.endswith("/apps/a")
    assert folder.split("/")[-4] == "_cmp_server"
    assert rest == [".:", "values.yaml", "", "../..:", "apps", "base", "app / ", "/dev/null"]


def test_init_runs_before_and_its_stdout_is_dropped(tmp_path: Path) -> None:
    plugin = shell("cat made", init=("sh", "-c", f"echo noise; echo '{JSON}' >made"))
    assert run(tmp_path, plugin).objects == (OBJECT,)
    failing = run(tmp_path, replace(plugin, init=("false",)))
    assert failing.message == IN_CMP + "`false` failed exit status 1"


def test_no_shell_reads_the_words(tmp_path: Path) -> None:
    said = run(tmp_path, Plugin(name="p", generate=("ls", "$HOME", "a b", ""))).message
    assert said.startswith(IN_CMP + '`ls $HOME "a b" ""` failed exit status 2: ls: cannot access \'$HOME\'')


def test_discovery_runs_in_the_application_folder(tmp_path: Path) -> None:
    """Case 54: what stands at the top doesn't count."""
    write_files(tmp_path / "repo", {"gpu-pool.yaml": b"", "pools/h100/gpu-pool.yaml": b""})
    found = shell(f"echo '{JSON}'", discovery=Discovery(command=("find", ".", "-name", "gpu-pool.yaml")))
    by_name = replace(found, discovery=Discovery(file_name="gpu-pool.yaml"))
    none = replace(APP, types=(), plugin=None)
    for plugin in (found, by_name):
        assert run(tmp_path, plugin, application=replace(none, path="pools/h100")).verdict == "accepted"
        assert run(tmp_path, plugin, application=none).verdict == "no-plugin"


DISCOVERIES = {
    # Exit code 0 and something printed: a chatty tool matches everywhere, a failing one nowhere.
    "prints": (("echo", "x"), "accepted"),
    "prints-a-blank-line": (("echo",), "failed"),
    "prints-nothing": (("true",), "failed"),
    "prints-and-fails": (("sh", "-c", "echo x; exit 1"), "failed"),
}


@pytest.mark.parametrize("name", DISCOVERIES)
def test_discovery_by_command(name: str, tmp_path: Path) -> None:
    command, verdict = DISCOVERIES[name]
    plugin = shell(f"echo '{JSON}'", discovery=Discovery(command=command))
    assert run(tmp_path, plugin).verdict == verdict


PATHS = {
    "": ".",
    ".": "apps/a",
    "/apps": "apps",
    ".;/base": ".",
    "..": "apps",
    "/apps/a/deep": "apps/a",  # never below the application
    "../../..": ".",
}


@pytest.mark.parametrize("annotation", PATHS)
def test_the_sent_root_is_what_the_paths_have_in_common(annotation: str, tmp_path: Path) -> None:
    application = replace(APP, generate_paths=annotation)
    assert find_work(tmp_path, application, is_narrowed=True) == os.path.relpath("apps/a", PATHS[annotation])
    assert find_work(tmp_path, application, is_narrowed=False) == "apps/a"


def find_work(folder: Path, application: Application, *, is_narrowed: bool) -> str:
    """Where the plugin ran, from the folder that was made for the request."""
    answer = run(folder, shell("pwd >&2; exit 1"), application=application, is_narrowed=is_narrowed)
    below = answer.stderr.decode().strip().partition("/_cmp_server/")[2]
    return below.partition("/")[2] or "."


BAD_PATHS = {
    "/apps": "/apps: app path is absolute",
    "gone": "gone: app path does not exist",
    "../other": "../other: app path outside root",
    "base/b.yaml": "base/b.yaml: app path is not a directory",
    "loop": "stat loop: too many levels of symbolic links",
    "dangling": "dangling: app path does not exist",
}


@pytest.mark.parametrize("path", BAD_PATHS)
def test_a_path_that_is_no_folder_of_the_repository(path: str, tmp_path: Path) -> None:
    for name, target in (("loop", "loop"), ("dangling", "nowhere")):
        (tmp_path / "repo").mkdir(exist_ok=True)
        (tmp_path / "repo" / name).symlink_to(target)
    answer = run(tmp_path, shell(":"), application=replace(APP, path=path))
    assert answer.message == f"{UI}Unknown desc = {BAD_PATHS[path]}"


def test_more_than_a_message_takes(tmp_path: Path) -> None:
    answer = run(tmp_path, shell(f"echo '{JSON}'"), max_message_bytes=63)
    where = 'CMP processing failed for application "app": error generating manifests in cmp'
    said = "trying to send message larger than max (64 vs. 63)"
    assert answer.message == (
        f"{UI}ResourceExhausted desc = {where}: rpc error: code = ResourceExhausted desc = {said}"
    )
    assert run(tmp_path, shell(f"echo '{JSON}'"), max_message_bytes=64).verdict == "accepted"


# --- the deadline ---


def test_what_takes_too_long_is_killed_without_grace(tmp_path: Path) -> None:
    """The trap shows that no SIGTERM came first: the direct child gets SIGKILL."""
    started = time.monotonic()
    answer = run(tmp_path, shell("trap 'echo cleaned >&2' TERM; while :; do sleep 0.05; done"), timeout_s=0.6)
    assert time.monotonic() - started < 4
    assert "cleaned" not in answer.stderr.decode()
    assert answer.message.endswith("failed signal: killed")


def test_a_grandchild_gets_sigterm_and_then_sigkill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poolwright.argocd.runner.command.GRACE_S", 0.5)
    seen = tmp_path / "seen"
    stubborn = f"trap 'echo term >>{seen}' TERM; echo $$ >{tmp_path}/pid; while :; do sleep 0.05; done"
    answer = run(
        tmp_path,
        Plugin(name="p", generate=("bash", "-c", f'bash -c "{stubborn.replace("$", chr(92) + "$")}"; :')),
        timeout_s=0.8,
    )
    # It keeps stdout open, so that the caller's own deadline passes first.
    assert answer.message == (
        f'{UI}DeadlineExceeded desc = CMP processing failed for application "app": error generating manifests in cmp: '
        "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
    )
    assert seen.read_text().startswith("term\n")
    pid = int((tmp_path / "pid").read_text())
    wait_until_gone(pid)


def test_what_is_left_running_in_the_background_ends(tmp_path: Path) -> None:
    script = f"sleep 300 >/dev/null 2>&1 & echo $! >{tmp_path}/pid; echo '{JSON}'"
    started = time.monotonic()
    assert run(tmp_path, shell(script)).verdict == "accepted"
    assert time.monotonic() - started < 4
    wait_until_gone(int((tmp_path / "pid").read_text()))


def wait_until_gone(pid: int) -> None:
    ends = time.monotonic() + 5
    while time.monotonic() < ends:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return  # nobody's to reap here
        except (ProcessLookupError, FileNotFoundError):
            return
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    pytest.fail(f"{pid} is still there")


def test_an_override_of_the_repository_counts(tmp_path: Path) -> None:
    override = b"plugin: {env: [{name: X, value: $ARGOCD_APP_NAME}]}"
    write_files(tmp_path / "repo", {"apps/a/.argocd-source-app.yaml": override})
    assert run(tmp_path, shell("echo $ARGOCD_ENV_X >&2; exit 1")).stderr == b"app\n"
