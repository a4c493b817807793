"""`generate --argocd` as Argo CD runs it: what it prints, for whom, and from what little it is sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from plugin_call import (
    SERVED,
    TRUST,
    Call,
    build_environment,
    call,
    committed_fleet,
    plugin_fleet,
    run_plugin,
    unit_parameters,
)

from fleet import ENVELOPE, SMALL_FLEET, Files, edit
from folders import read_files, write_files
from run_poolwright import Ran, run

PLUGIN = plugin_fleet()
COMMITTED = committed_fleet()


@pytest.fixture(scope="module")
def chat() -> str:
    """What is rendered of east/chat-70b."""
    ran = run("generate", "--cluster=east", "--unit=chat-70b", folder=SMALL_FLEET)
    assert (ran.code, ran.stderr) == (0, "")
    return ran.stdout


UNIT_PATH = "overlays/east/chat-70b"
IN_FOLDER = {f"fleets/prod/{path}": data for path, data in COMMITTED.items()}
ANSWERED: dict[str, tuple[Call, Files]] = {
    "by-parameters": (Call(), PLUGIN),
    "by-parameters-with-fields-that-are-null": (
        Call(parameters=unit_parameters("east", "chat-70b").replace("}", ', "array": null, "map": null}')),
        PLUGIN,
    ),
    "by-its-path-without-a-plugin-section": (Call(parameters=None, path=UNIT_PATH), COMMITTED),
    "by-its-path-null": (Call(parameters="null", path=UNIT_PATH), COMMITTED),
    "by-its-path-no-parameters": (Call(parameters="[]", path=UNIT_PATH), COMMITTED),
    "by-its-path-an-empty-variable": (Call(parameters="", path=UNIT_PATH), COMMITTED),
    "by-its-path-cleared-in-the-form": (Call(parameters=unit_parameters("", ""), path=UNIT_PATH), COMMITTED),
    "by-both-that-agree": (Call(path=UNIT_PATH), COMMITTED),
    "by-a-path-as-people-write-them": (Call(parameters=None, path=f"./{UNIT_PATH}/"), COMMITTED),
    "a-project-that-isnt-the-root": (Call(path="fleets/prod"), IN_FOLDER),
    "a-folder-in-a-project": (Call(path="fleets/prod/specs"), IN_FOLDER),
    "by-the-path-in-a-project-that-isnt-the-root": (Call(parameters=None, path=f"fleets/prod/{UNIT_PATH}"), IN_FOLDER),
    # Argo CD sends the common ancestor of manifest-generate-paths.
    "only-the-project-was-sent": (
        Call(parameters=None, path=f"fleets/prod/{UNIT_PATH}", sent="fleets/prod/"),
        IN_FOLDER,
    ),
    "an-empty-git-folder": (Call(), {**PLUGIN, ".git/x": b""}),
    "nothing-known-of-the-cluster": (Call(kube_version="", served=()), PLUGIN),
    # None of these is read: PARAM_* are lossy, users' variables have a prefix, and a name proves nothing.
    "what-else-is-set": (
        Call(
            more={
                "PARAM_CLUSTER": "lab",
                "PARAM_UNIT": "platform",
                "ARGOCD_ENV_POOLWRIGHT_TRUST": "/tmp/mine",
                "ARGOCD_APP_NAME": "../platform",
                "ARGOCD_GRPC_MAX_SIZE_MB": "many",
                "LANG": "C",
                "TZ": "Asia/Tokyo",
            }
        ),
        PLUGIN,
    ),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_it_prints_the_unit(name: str, chat: str, tmp_path: Path) -> None:
    asked, files = ANSWERED[name]
    assert call(asked, files, tmp_path) == Ran(0, chat, "")
    # What one call leaves is there for nobody: nothing was written.
    sent = {path.removeprefix(asked.sent): data for path, data in files.items() if path.startswith(asked.sent)}
    assert read_files(tmp_path / "sent") == sent
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sent", "trust.yaml"]


@pytest.mark.parametrize("namespace", ["chat", "poolwright"])
def test_a_platform_may_go_to_any_namespace_that_it_makes(namespace: str, tmp_path: Path) -> None:
    ran = call(Call(parameters=unit_parameters("east", "platform"), namespace=namespace), PLUGIN, tmp_path)
    assert (ran.code, ran.stderr) == (0, "")
    kinds = {(one["kind"], one["metadata"].get("namespace")) for one in yaml.safe_load_all(ran.stdout)}
    assert {("Namespace", None), ("DeviceClass", None), ("ConfigMap", "poolwright")} < kinds


def test_every_object_says_its_namespace_itself(tmp_path: Path) -> None:
    """Argo CD would put those that don't into the destination's; and each has what it takes to be one."""
    for unit in ("chat-70b", "platform"):
        ran = call(Call(parameters=unit_parameters("east", unit)), PLUGIN, tmp_path / unit)
        for one in yaml.safe_load_all(ran.stdout):
            assert one["apiVersion"]
            assert one["metadata"]["name"]
            cluster_scoped = one["kind"] in (
                *("Namespace", "DeviceClass", "PriorityClass"),
                *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
            )
            assert ("namespace" not in one["metadata"]) == cluster_scoped, one["kind"]
            assert "argocd.argoproj.io/tracking-id" not in one["metadata"].get("annotations", {})


def test_another_kubernetes_is_warned_of_and_stops_nothing(chat: str, tmp_path: Path) -> None:
    """While a cluster is upgraded the two differ, and a rollback must not wait for that."""
    warning = "poolwright: warning: cluster east runs Kubernetes v1.37.1, and its stack pins 1.36; correct the stack\n"
    assert call(Call(kube_version="v1.37.1"), PLUGIN, tmp_path) == Ran(0, chat, warning)


def test_a_kind_that_is_installed_may_come_later(chat: str, tmp_path: Path) -> None:
    """Only what is Kubernetes' own can't be served in another minute."""
    served = (*SERVED, "monitoring.coreos.com/v1alpha1", "inference.networking.k8s.io/v1alpha2")
    assert call(Call(served=served), PLUGIN, tmp_path) == Ran(0, chat, "")


def test_the_same_bytes_from_another_folder_and_with_stripped_modes(chat: str, tmp_path: Path) -> None:
    first = call(Call(), PLUGIN, tmp_path / "one")
    root = write_files(tmp_path / "two" / "deeper" / "sent", PLUGIN)
    for path in root.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    environment = build_environment(Call(), tmp_path / "one" / "trust.yaml")
    assert first == run_plugin(root, environment, ("generate", "--argocd")) == Ran(0, chat, "")


def test_a_trust_file_may_be_a_link_as_a_config_map_is(chat: str, tmp_path: Path) -> None:
    write_files(tmp_path, {"sidecar/..2026/trust.yaml": TRUST.encode()})
    (tmp_path / "sidecar/..data").symlink_to("..2026")
    (tmp_path / "sidecar/trust.yaml").symlink_to("..data/trust.yaml")
    more = {"POOLWRIGHT_TRUST": str(tmp_path / "sidecar/trust.yaml")}
    assert call(Call(trust=None, more=more), PLUGIN, tmp_path / "call") == Ran(0, chat, "")


def test_what_readers_of_yaml_differ_about_is_quoted(tmp_path: Path) -> None:
    """By value nothing changes: that is what Kustomize prints, and Go reads as the same text."""
    files = edit(PLUGIN, ENVELOPE, ("owner: team-chat", "owner: 2024-02-30"))
    bare = run("generate", "--cluster=east", "--unit=chat-70b", folder=write_files(tmp_path / "bare", files)).stdout
    assert "    poolwright.dev/owner: 2024-02-30\n" in bare
    quoted = bare.replace(": 2024-02-30\n", ': "2024-02-30"\n')
    assert call(Call(), files, tmp_path / "call") == Ran(0, quoted, "")
    for one in yaml.load_all(quoted, yaml.CSafeLoader):
        assert json.loads(json.dumps(one)) == one  # no date, and nothing else that JSON hasn't
