"""The topology statement: where it stands, what it is asked, and what its script says of trees like the kernel's."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from poolwright.objects.topology_script import SCRIPT
from unit_objects import FLEET, envelope, expand, objects_of, pods, workload

SHELLS = [
    pytest.param(command, id=" ".join(command))
    for command in (["sh"], ["dash"], ["bash", "--posix"], ["busybox", "sh"])
    if shutil.which(command[0])
]
GPU_0, GPU_1 = "0000:1b:00.0", "0000:3d:00.0"
NIC_0, NIC_1 = "0000:1c:00.0", "0000:3e:00.1"
ROOT_0, ROOT_1 = "pci0000:16", "pci0000:38"


class Node:
    """A container's view of /dev, /proc and /sys: the claimed devices' nodes, and the whole host's /sys."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "sys/bus/pci/devices").mkdir(parents=True)

    def add_device(self, address: str, root: str, numa: str | None) -> Path:
        """A PCI device behind a bridge of a root; numa None: the kernel has no such file."""
        folder = self.root / f"sys/devices/{root}/0000:00:01.0/{address}"
        folder.mkdir(parents=True)
        if numa is not None:
            (folder / "numa_node").write_text(f"{numa}\n")
        (self.root / "sys/bus/pci/devices" / address).symlink_to(folder)
        return folder

    def add_gpu(self, address: str, root: str, numa: str | None = "0", *, minor: int, claimed: bool = True) -> None:
        self.add_device(address, root, numa)
        information = self.root / f"proc/driver/nvidia/gpus/{address}/information"
        information.parent.mkdir(parents=True)
        information.write_text(f"Model: \t\t NVIDIA H100\nIRQ:   \t\t 64\nDevice Minor: \t {minor}\n")
        if claimed:
            self.touch(f"dev/nvidia{minor}")
            self.touch("dev/nvidiactl")

    def add_nic(self, address: str, root: str, numa: str | None = "0", *, number: int, claimed: bool = True) -> None:
        folder = self.add_device(address, root, numa)
        link = self.root / f"sys/class/infiniband_verbs/uverbs{number}/device"
        link.parent.mkdir(parents=True)
        link.symlink_to(folder)
        if claimed:
            self.touch(f"dev/infiniband/uverbs{number}")

    def add_interface(self, address: str, name: str) -> None:
        link = self.root / f"sys/class/net/{name}/device"
        link.parent.mkdir(parents=True)
        link.symlink_to((self.root / "sys/bus/pci/devices" / address).resolve())

    def touch(self, path: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).touch()


def two_gpus(node: Node, root: str = ROOT_0, numa: str | None = "0") -> None:
    node.add_gpu(GPU_0, ROOT_0, minor=0)
    node.add_gpu(GPU_1, root, numa, minor=3)


def same_root(node: Node) -> None:
    two_gpus(node)


def different_root(node: Node) -> None:
    two_gpus(node, ROOT_1)


def numa_mismatch(node: Node) -> None:
    two_gpus(node, ROOT_0, "1")


def unknown_numa(node: Node) -> None:
    """One node only: the kernel says -1 of all."""
    node.add_gpu(GPU_0, ROOT_0, "-1", minor=0)
    node.add_gpu(GPU_1, ROOT_0, "-1", minor=1)


def no_numa_file(node: Node) -> None:
    two_gpus(node, ROOT_0, None)


def nothing_claimed(node: Node) -> None:
    node.add_gpu(GPU_0, ROOT_0, minor=0, claimed=False)


def another_container_has_the_far_one(node: Node) -> None:
    """All of /sys and /proc is visible: what isn't claimed must not count."""
    node.add_gpu(GPU_0, ROOT_0, minor=0)
    node.add_gpu(GPU_1, ROOT_1, minor=1, claimed=False)


def without_proc(node: Node) -> None:
    same_root(node)
    shutil.rmtree(node.root / "proc")


def unknown_device(node: Node) -> None:
    same_root(node)
    (node.root / "sys/bus/pci/devices" / GPU_1).unlink()


def not_on_pci(node: Node) -> None:
    same_root(node)
    link = node.root / "sys/bus/pci/devices" / GPU_0
    link.unlink()
    (node.root / f"sys/devices/platform/{GPU_0}").mkdir(parents=True)
    link.symlink_to(node.root / f"sys/devices/platform/{GPU_0}")


def below_a_platform_device(node: Node) -> None:
    """Arm servers have their PCI roots below another device."""
    node.add_gpu(GPU_0, "platform/NVDA0001:00/pci0009:00", minor=0)
    node.add_gpu(GPU_1, "platform/NVDA0001:00/pci0009:00", minor=1)


def other_vendor(node: Node) -> None:
    for number, root in ((128, ROOT_0), (129, ROOT_1)):
        address = f"0000:{number:x}:00.0"
        folder = node.add_device(address, root, "0")
        link = node.root / f"sys/class/drm/renderD{number}/device"
        link.parent.mkdir(parents=True)
        link.symlink_to(folder)
        node.touch(f"dev/dri/renderD{number}")


def paired(node: Node) -> None:
    two_gpus(node, ROOT_1)
    node.add_nic(NIC_0, ROOT_0, number=2)
    node.add_nic(NIC_1, ROOT_1, number=5)


def cards_on_one_root(node: Node) -> None:
    two_gpus(node, ROOT_1)
    node.add_nic(NIC_0, ROOT_0, number=0)
    node.add_nic("0000:1c:00.1", ROOT_0, number=1)


def near_card_not_claimed(node: Node) -> None:
    node.add_gpu(GPU_0, ROOT_0, minor=0)
    node.add_nic(NIC_0, ROOT_0, number=0, claimed=False)
    node.add_nic(NIC_1, ROOT_1, number=1)


def no_card(node: Node) -> None:
    node.add_gpu(GPU_0, ROOT_0, minor=0)


def moved_interface(node: Node) -> None:
    """A driver without RDMA moves the interface into the pod; `lo` and `eth0` have no device."""
    node.add_gpu(GPU_0, ROOT_0, minor=0)
    node.add_device(NIC_0, ROOT_0, "0")
    node.add_interface(NIC_0, "net1")
    (node.root / "sys/class/net/lo").mkdir()


def card_seen_twice(node: Node) -> None:
    """One card as an RDMA device and as an interface is one card."""
    two_gpus(node)
    node.add_nic(NIC_0, ROOT_0, number=0)
    node.add_interface(NIC_0, "net1")


def pairs_by_numa(node: Node) -> None:
    node.add_gpu(GPU_0, ROOT_0, "0", minor=0)
    node.add_nic(NIC_1, ROOT_1, "0", number=0)


PCI, NUMA = "same:pcieRoot", "same:numaNode"
NIC = "each:pcieRoot:1"
NO_CARD = "no network card is visible: neither /dev/infiniband/uverbs* nor an interface"
NOTHING = "no accelerator is visible: neither /dev/nvidia* nor /dev/dri/renderD*"
TREES = {
    "same-root": (same_root, [PCI], ""),
    "same-root-and-numa": (same_root, [PCI, NUMA], ""),
    "different-root": (different_root, [PCI], f"pcieRoot differs: {GPU_0} has {ROOT_0}, {GPU_1} has {ROOT_1}"),
    "different-root-that-nobody-asked-about": (different_root, [NUMA], ""),
    "numa-mismatch": (numa_mismatch, [PCI, NUMA], f"numaNode differs: {GPU_0} has 0, {GPU_1} has 1"),
    "one-numa-node": (unknown_numa, [NUMA], ""),
    "numa-unreadable": (no_numa_file, [NUMA], f"/sys/devices/{ROOT_0}/0000:00:01.0/{GPU_1}/numa_node can't be read"),
    "no-devices": (nothing_claimed, [PCI], NOTHING),
    "what-isn't-claimed-doesn't-count": (another_container_has_the_far_one, [PCI], ""),
    "no-word-of-the-driver": (without_proc, [PCI], "the driver doesn't say which PCI device /dev/nvidia0 is"),
    "device-unreadable": (unknown_device, [PCI], f"/sys/bus/pci/devices/{GPU_1} can't be read"),
    "not-on-pci": (not_on_pci, [PCI], f"{GPU_0} is on no PCI root"),
    "root-below-a-platform-device": (below_a_platform_device, [PCI], ""),
    "another-vendor's-accelerators": (
        other_vendor,
        [PCI],
        f"pcieRoot differs: 0000:80:00.0 has {ROOT_0}, 0000:81:00.0 has {ROOT_1}",
    ),
    "each-with-its-card": (paired, [NIC], ""),
    "each-with-its-card-but-apart": (
        paired,
        [PCI, NIC],
        f"pcieRoot differs: {GPU_0} has {ROOT_0}, {GPU_1} has {ROOT_1}",
    ),
    "both-cards-with-one": (
        cards_on_one_root,
        [NIC],
        f"pcieRoot differs: {ROOT_1} of {GPU_1} has 0 network cards where 1 are claimed",
    ),
    "two-cards-each": (
        paired,
        ["each:pcieRoot:2"],
        f"pcieRoot differs: {ROOT_0} of {GPU_0} has 1 network cards where 2 are claimed",
    ),
    "the-near-card-is-another's": (
        near_card_not_claimed,
        [NIC],
        f"pcieRoot differs: {ROOT_0} of {GPU_0} has 0 network cards where 1 are claimed",
    ),
    "no-card": (no_card, [NIC], NO_CARD),
    "interface-in-the-pod": (moved_interface, [NIC], ""),
    "one-card-for-two": (
        card_seen_twice,
        [NIC],
        f"pcieRoot differs: {ROOT_0} of {GPU_0} has 1 network cards where 2 are claimed",
    ),
    "card-by-numa": (pairs_by_numa, ["each:numaNode:1"], ""),
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", TREES)
def test_script(name: str, shell: list[str], tmp_path: Path) -> None:
    make, statements, wrong = TREES[name]
    make(Node(tmp_path))
    run = run_script(shell, tmp_path, statements)
    if wrong:
        assert (run.returncode, run.stdout) == (1, "")
        assert run.stderr.replace(str(tmp_path), "") == f"topology: {wrong}\n"
    else:
        assert (run.returncode, run.stderr) == (0, "")
        assert run.stdout == f"topology: as claimed: {' '.join(statements)}\n"


def run_script(shell: list[str], root: Path, statements: list[str]) -> subprocess.CompletedProcess[str]:
    """The script as the container runs it; without any command, for an image may have none."""
    return subprocess.run(
        [
            shutil.which(shell[0]) or shell[0],
            *shell[1:],
            "-c",
            expand(SCRIPT, {"HOSTNAME": "pod"}),
            "topology",
            *statements,
        ],
        env={"PATH": "/nonexistent", "POOLWRIGHT_ROOT": str(root)},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


def test_kubernetes_leaves_the_script_as_it_is() -> None:
    assert expand(SCRIPT, {"PATH": "/bin", "LWS_GROUP_SIZE": "2"}) == SCRIPT


EXTRA = "    extraRequests:\n      - name: nic\n        deviceClassName: rdma-nic\n        perDevice: 1\n"
PCIE_ROOT = "        matchAttribute: resource.kubernetes.io/pcieRoot\n"


def prefill(new: str) -> Mapping[str, bytes]:
    """prefill-8b with another claim."""
    return envelope("prefill-8b", "0.1.0", (EXTRA + PCIE_ROOT, new))


STATEMENTS = {
    "card-beside-each": (FLEET, ["each:pcieRoot:1"]),
    "no-attribute-no-statement": (prefill(EXTRA), None),
    "cards-of-a-pod-aren't-paired": (prefill(EXTRA.replace("perDevice: 1", "count: 1")), None),
    "accelerators-together": (
        prefill(EXTRA + PCIE_ROOT + "    constraints: [{matchAttribute: resource.kubernetes.io/numaNode}]\n"),
        ["same:numaNode", "each:pcieRoot:1"],
    ),
    "in-one-order": (
        prefill(
            "    constraints:\n"
            "      - {matchAttribute: resource.kubernetes.io/numaNode}\n"
            "      - {matchAttribute: resource.kubernetes.io/pcieRoot}\n"
        ),
        ["same:pcieRoot", "same:numaNode"],
    ),
    # Only /sys is looked at, and it doesn't show this.
    "what-the-kernel-doesn't-know": (
        prefill("    constraints: [{matchAttribute: gpu.nvidia.com/productName}]\n"),
        None,
    ),
    "cards-add-up": (
        prefill(
            EXTRA
            + PCIE_ROOT
            + (EXTRA + PCIE_ROOT).replace("    extraRequests:\n", "").replace("name: nic\n", "name: more\n")
        ),
        ["each:pcieRoot:2"],
    ),
}


@pytest.mark.parametrize(("files", "statements"), STATEMENTS.values(), ids=STATEMENTS)
def test_where_it_stands(files: Mapping[str, bytes], statements: list[str] | None) -> None:
    pod = pods(workload(objects_of(files, "prefill-8b")))["single"]["spec"]
    expected = {
        "name": "topology",
        "image": "registry.example.com/serving/vllm-openai:v0.33.0",
        "command": ["sh", "-c"],
        "args": [SCRIPT, "topology", *(statements or ())],
        "resources": {"claims": [{"name": "devices"}]},
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    assert pod.get("initContainers") == ([expected] if statements else None)


def test_every_pod_of_a_group_makes_it() -> None:
    files = envelope(
        "reason-671b",
        "0.4.0",
        ("  engine:\n", "  claim: {constraints: [{matchAttribute: resource.kubernetes.io/pcieRoot}]}\n  engine:\n"),
    )
    made = {
        role: pod["spec"]["initContainers"] for role, pod in pods(workload(objects_of(files, "reason-671b"))).items()
    }
    assert list(made) == ["leader", "worker"]
    assert made["leader"] == made["worker"]
    assert made["leader"][0]["args"][1:] == ["topology", "same:pcieRoot"]
    assert made["leader"][0]["image"] == "registry.example.com/serving/sglang:v0.5.23"


def test_without_constraints_there_is_none() -> None:
    for unit in ("chat-70b", "rag-8b", "reason-671b"):
        for pod in pods(workload(objects_of(FLEET, unit))).values():
            assert "initContainers" not in pod["spec"]
