"""The sidecar's component on a repo-server, and that all that says the same of the sidecar does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet import FLEET, PROJECT, ROOT, edit, read_fleet, render_tree
from folders import read_files, write_files
from kubernetes_schemas import MINORS, check_object
from poolwright.trust.allow import find_allowed
from poolwright.trust.policy import Allowed, TrustPolicy, parse_trust
from real_kustomize import build_for_real, why_refused

ARGOCD = ROOT / "pipelines" / "argocd"
SIDECAR = ARGOCD / "sidecar"
TRUST = (ARGOCD / "trust.yaml").read_text(encoding="utf-8")
# Argo CD's own, with what a sidecar has to do with: its volumes, its user and the program that is copied for it.
REPO_SERVER = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: argocd-repo-server
  labels: {app.kubernetes.io/name: argocd-repo-server}
spec:
  selector: {matchLabels: {app.kubernetes.io/name: argocd-repo-server}}
  template:
    metadata:
      labels: {app.kubernetes.io/name: argocd-repo-server}
    spec:
      serviceAccountName: argocd-repo-server
      containers:
      - name: argocd-repo-server
        image: argocd
        args: [/usr/local/bin/argocd-repo-server]
        ports: [{containerPort: 8081}, {containerPort: 8084}]
        volumeMounts:
        - {name: tmp, mountPath: /tmp}
        - {name: plugins, mountPath: /home/argocd/cmp-server/plugins}
      initContainers:
      - name: copyutil
        image: argocd
        command: [sh, -c]
        args:
        - /bin/cp /usr/local/bin/argocd /var/run/argocd/argocd &&
          /bin/ln -sf /var/run/argocd/argocd /var/run/argocd/argocd-cmp-server
        volumeMounts:
        - {name: var-files, mountPath: /var/run/argocd}
      volumes:
      - {name: tmp, emptyDir: {}}
      - {name: var-files, emptyDir: {}}
      - {name: plugins, emptyDir: {}}
"""
DIGEST = "sha256:" + "0" * 64
KUSTOMIZATION = f"""\
namespace: argocd
resources: [repo-server.yaml, poolwright/network-policy.yaml]
components: [poolwright/sidecar]
images:
- {{name: poolwright, newName: registry.example.com/platform/poolwright, digest: "{DIGEST}"}}
configMapGenerator:
- {{name: poolwright-trust, files: [trust.yaml]}}
"""


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def build(folder: Path, trust: str = TRUST) -> dict[str, Any]:
    """What real Kustomize makes of an installation with the component, by kind; each kind is there once."""
    own = {"kustomization.yaml": KUSTOMIZATION, "repo-server.yaml": REPO_SERVER, "trust.yaml": trust}
    files = {f"argocd/{name}": text.encode() for name, text in own.items()}
    files |= {f"argocd/poolwright/{name}": data for name, data in read_files(ARGOCD).items()}
    objects = list(yaml.safe_load_all(build_for_real(write_files(folder, files), "argocd")))
    by_kind = {one["kind"]: one for one in objects}
    assert len(by_kind) == len(objects)
    return by_kind


def patch() -> Any:
    """The pod that the component merges in."""
    return read(SIDECAR / "repo-server.yaml")["spec"]["template"]


def test_the_component_adds_a_container_and_changes_nothing_else(tmp_path: Path) -> None:
    objects = build(tmp_path)
    before, added = yaml.safe_load(REPO_SERVER), patch()
    pod = before["spec"]["template"]
    (container,) = added["spec"]["containers"]
    name = objects["ConfigMap"]["metadata"]["name"]
    assert re.fullmatch("poolwright-trust-[a-z0-9]{10}", name)
    tmp, trust = added["spec"]["volumes"]
    pod["metadata"]["annotations"] = {"kubectl.kubernetes.io/default-container": "argocd-repo-server"}
    pod["spec"] |= {
        "automountServiceAccountToken": False,
        "containers": [
            {**container, "image": f"registry.example.com/platform/poolwright@{DIGEST}"},
            *pod["spec"]["containers"],
        ],
        "volumes": [tmp, {**trust, "configMap": {"name": name}}, *pod["spec"]["volumes"]],
    }
    before["metadata"]["namespace"] = "argocd"
    assert objects["Deployment"] == before
    assert objects["ConfigMap"]["data"] == {"trust.yaml": TRUST}
    assert sorted(objects) == ["ConfigMap", "Deployment", "NetworkPolicy"]
    assert [problem for one in objects.values() for minor in MINORS for problem in check_object(one, minor)] == []


def test_a_changed_trust_file_restarts_the_pods(tmp_path: Path) -> None:
    """It is read anew by each call, but a mounted file changes minutes later, and nobody sees when."""
    names = [
        build(tmp_path / str(number), text)["Deployment"]["spec"]["template"]["spec"]["volumes"][1]["configMap"]["name"]
        for number, text in enumerate((TRUST, TRUST.replace("lab-alpha", "lab")))
    ]
    assert len(set(names)) == 2


def test_without_a_repo_server_there_is_an_error(tmp_path: Path) -> None:
    files = {f"argocd/sidecar/{name}": data for name, data in read_files(SIDECAR).items()}
    files["argocd/kustomization.yaml"] = b"components: [sidecar]\n"
    why = why_refused(write_files(tmp_path, files), "argocd")
    assert re.search(r"no resource matches strategic merge patch \W+Deployment.v1.apps/argocd-repo-server\b", why)


def test_what_the_sidecar_may_do() -> None:
    (container,) = patch()["spec"]["containers"]
    assert container["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 999,
        "runAsGroup": 999,
        "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]} == {
        "var-files": "/var/run/argocd",
        "plugins": "/home/argocd/cmp-server/plugins",
        "cmp-tmp": "/tmp",  # never repo-server's own
        "poolwright-trust": "/etc/poolwright",
    }
    assert [one for one in container["env"] if one["name"] == "POOLWRIGHT_TEMPLATES"] == [
        {"name": "POOLWRIGHT_TEMPLATES", "value": "off"}
    ]


def test_the_memory_is_what_its_formula_gives() -> None:
    (container,) = patch()["spec"]["containers"]
    text = (SIDECAR / "repo-server.yaml").read_text(encoding="utf-8")
    found = re.search(r"Memory: ([\d.]+) x \((\d+) x \((\d+) \+ (\d+)\) \+ (\d+) x (\d+) \+ (\d+)\) = (\d+) MiB", text)
    assert found is not None
    headroom, at_once, call, kustomize, waiting, wait, server, total = map(float, found.groups())
    assert {"name": "POOLWRIGHT_AT_ONCE", "value": f"{at_once:.0f}"} in container["env"]
    assert total == int(headroom * (at_once * (call + kustomize) + waiting * wait + server))
    assert total <= int(container["resources"]["limits"]["memory"].removesuffix("Mi")) < 1.05 * total


def test_the_helm_values_say_the_same() -> None:
    values, pod = read(ARGOCD / "values.yaml"), patch()["spec"]
    (ours,), (theirs,) = pod["containers"], values["repoServer"]["extraContainers"]
    assert theirs == {**ours, "image": f"registry.example.com/platform/poolwright@{DIGEST}"}
    assert values["repoServer"]["volumes"] == pod["volumes"]
    assert values["repoServer"]["automountServiceAccountToken"] is pod["automountServiceAccountToken"]
    (trust,) = values["extraObjects"]
    assert (trust["kind"], trust["metadata"]["name"]) == ("ConfigMap", pod["volumes"][1]["configMap"]["name"])
    assert trust["data"] == {"trust.yaml": TRUST}


def test_the_network_policy_lets_through_what_repo_server_needs() -> None:
    spec = read(ARGOCD / "network-policy.yaml")["spec"]
    assert spec["podSelector"] == {"matchLabels": yaml.safe_load(REPO_SERVER)["spec"]["selector"]["matchLabels"]}
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert [list_allowed(rule, "from") for rule in spec["ingress"]] == [
        (
            [
                f"argocd-{name}"
                for name in (
                    "server",
                    "application-controller",
                    "applicationset-controller",
                    "notifications-controller",
                )
            ],
            ["TCP 8081"],
        ),
        (["any namespace"], ["TCP 8084"]),
    ]
    assert [list_allowed(rule, "to") for rule in spec["egress"]] == [
        (["kube-dns in kube-system"], ["UDP 53", "TCP 53"]),
        (["argocd-redis", "argocd-redis-ha-haproxy"], ["TCP 6379", "TCP 26379"]),
        (
            ["0.0.0.0/0 but 169.254.0.0/16, 127.0.0.0/8", "::/0 but fe80::/10, fd00:ec2::254/128"],
            ["TCP 443", "TCP 22"],
        ),
    ]


def list_allowed(rule: dict[str, Any], side: str) -> tuple[list[str], list[str]]:
    """A rule's peers and ports, in words."""
    return [name_peer(peer) for peer in rule[side]], [f"{port['protocol']} {port['port']}" for port in rule["ports"]]


def name_peer(peer: dict[str, Any]) -> str:
    if "ipBlock" in peer:
        return f"{peer['ipBlock']['cidr']} but {', '.join(peer['ipBlock']['except'])}"
    labels = {**peer.get("podSelector", {}).get("matchLabels", {})}
    (name,) = labels.values() or ["any"]
    namespace = peer.get("namespaceSelector")
    if namespace is None:
        return name
    return f"{name} in {namespace['matchLabels']['kubernetes.io/metadata.name']}" if namespace else f"{name} namespace"


@pytest.mark.parametrize(
    ("name", "rendered"),
    [("committed", "lab/argocd/lab-chat-70b.yaml"), ("plugin", "lab-alpha/argocd/lab-alpha-guard-1b7.yaml")],
)
def test_an_application_is_as_it_is_rendered(name: str, rendered: str) -> None:
    assert read(ARGOCD / "applications" / f"{name}.yaml") == read(FLEET / "overlays" / rendered)


def test_an_application_that_is_delivered_from_a_release_is_as_it_is_rendered() -> None:
    """The example has none, for it has no release; with one in its Project this is what is written."""
    files = edit(read_fleet(), PROJECT, ("delivery: plugin", "delivery: packet\n      release: 2026-11-30"))
    tree = render_tree(files)
    assert read(ARGOCD / "applications" / "packet.yaml") == yaml.safe_load(
        tree["overlays/lab-alpha/argocd/lab-alpha-guard-1b7.yaml"]
    )


def test_the_example_of_a_trust_file_allows_the_example() -> None:
    application = read(ARGOCD / "applications" / "plugin.yaml")["spec"]
    parameters = {one["name"]: one["string"] for one in application["source"]["plugin"]["parameters"]}
    policy = parse_trust(TRUST.encode(), "trust.yaml")
    allowed = Allowed(
        argocd_project=application["project"],
        clusters=(parameters["cluster"],),
        units=("*",),
        deliveries=("plugin",),
    )
    assert policy == TrustPolicy(api_version="poolwright.dev/v1alpha1", kind="TrustPolicy", allow=(allowed,))
    for unit in (parameters["unit"], "platform"):
        assert find_allowed(policy, "", application["project"], parameters["cluster"], unit) == (allowed,)
