"""Ways to a node's devices past any claim: what a workload has by them nobody allocated, prices or counts."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Final

from poolwright.rules.placed import Field
from poolwright.rules.pod import Pod
from poolwright.specs.finding import Finding

# Container runtimes hand out the devices that these name. Source: NVIDIA and AMD container toolkits.
_ASKING: Final = frozenset(("AMD_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"))
_NONE: Final = ("", "none", "void")
# Folders of device nodes, and the one whose mounts the NVIDIA runtime reads as a list of devices.
_FOLDERS: Final = ("/dev", "/var/run/nvidia-container-devices", "/run/nvidia-container-devices")
# A device class offered like this gets the pod a claim that no object shows (KEP-5004).
_IMPLICIT: Final = "deviceclass.resource.kubernetes.io/"
_UNALLOCATED: Final = "nobody allocated these devices, so others compute on them too, and their memory is counted twice"
_SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108 (memory, no device)


def check_device_access(pod: Pod) -> Iterator[Finding]:
    """Privileged containers, resources and variables that get devices, and volumes with device nodes.

    For workloads only: the node's own software is privileged for a reason.
    """
    for container in pod.containers:
        privileged = container.field.get("securityContext", "privileged")
        if privileged.value is True:
            yield _access(privileged, f'container "{container.name}" is privileged, and has every device of its node')
        for name, amount in container.resources():
            if name.startswith(_IMPLICIT):
                yield _access(
                    amount,
                    f'container "{container.name}" takes devices by the resource {name}',
                    "the scheduler makes a claim for them that is in no spec: no quota and no verdict counts them",
                )
        for entry in container.field.get("env").list_items():
            if entry.get("name").text in _ASKING and entry.get("value").value not in _NONE:
                what = (
                    f'container "{container.name}" asks the container runtime for devices by {entry.get("name").text}'
                )
                yield _access(entry, what)
    for volume in pod.spec.get("volumes").list_items():
        path = volume.get("hostPath", "path")
        if path.text and _has_devices(path.text):
            what = f'volume "{volume.get("name").text}" mounts {path.text} of the node, with its devices'
            yield _access(path, what)


def _has_devices(path: str) -> bool:
    """Whether a folder of the node holds, or lies in, one with devices."""
    at = posixpath.normpath("/" + path.lstrip("/")).rstrip("/") + "/"
    if at.startswith(_SHARED_MEMORY + "/"):
        return False
    return any(at.startswith(folder + "/") or f"{folder}/".startswith(at) for folder in _FOLDERS)


def _access(field: Field, what: str, why: str = _UNALLOCATED) -> Finding:
    return Finding(
        code="device-access",
        severity="error",
        place=field.place,
        what=what,
        why=why,
        rule="poolwright node contract",
        fix="remove it; devices come by claim: Envelope.spec.claim",
    )
