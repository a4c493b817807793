"""Ways to a node's devices past any claim."""

from __future__ import annotations

import pytest

from poolwright.objects.kubernetes import Object
from poolwright.rules.device_access import check_device_access
from poolwright.rules.placed import place_object
from poolwright.rules.pod import find_pods
from poolwright.specs.finding import render_text


def found_in(container: Object, **spec: object) -> list[str]:
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "a", **container}], **spec}}
    (found,) = find_pods(place_object(pod, "x.yaml"))
    return [finding.place.field for finding in check_device_access(found)]


@pytest.mark.parametrize(
    ("path", "is_refused"),
    {
        "/dev": True,
        "/dev/": True,
        "//dev//nvidia0": True,
        "/tmp/../dev/dri": True,
        "/": True,
        "/var": True,  # the NVIDIA runtime's folder lies in it
        "/var/run/nvidia-container-devices/0": True,
        "/dev/shm": False,
        "/dev/shm/../nvidia0": True,
        "/dev/shmem": True,
        "/device": False,
        "/data": False,
        "": False,
    }.items(),
)
def test_paths_of_the_node(path: str, is_refused: bool) -> None:
    volumes = [{"name": "v", "hostPath": {"path": path}}]
    assert found_in({}, volumes=volumes) == (["spec.volumes[0].hostPath.path"] if is_refused else [])


@pytest.mark.parametrize(
    ("name", "value", "is_refused"),
    [
        ("NVIDIA_VISIBLE_DEVICES", "all", True),
        ("NVIDIA_VISIBLE_DEVICES", "GPU-1", True),
        ("NVIDIA_VISIBLE_DEVICES", None, True),  # it comes from somewhere, and may be all
        ("NVIDIA_VISIBLE_DEVICES", "void", False),
        ("NVIDIA_VISIBLE_DEVICES", "none", False),
        ("AMD_VISIBLE_DEVICES", "0", True),
        ("CUDA_VISIBLE_DEVICES", "0", False),  # chooses among those that the claim gave
    ],
)
def test_variables_that_the_container_runtime_reads(name: str, value: str | None, is_refused: bool) -> None:
    entry = {"name": name, **({"value": value} if value is not None else {"valueFrom": {}})}
    assert found_in({"env": [entry]}) == (["spec.containers[0].env[0]"] if is_refused else [])


def test_privileged_containers_of_every_kind() -> None:
    privileged = {"securityContext": {"privileged": True}}
    assert found_in(privileged, initContainers=[{"name": "b", **privileged}]) == [
        "spec.containers[0].securityContext.privileged",
        "spec.initContainers[0].securityContext.privileged",
    ]
    assert found_in({"securityContext": {"privileged": False}}) == []


def test_the_whole_text() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "a"}]}}
    pod["spec"]["volumes"] = [{"name": "v", "hostPath": {"path": "/dev"}}]  # type: ignore[index]
    (found,) = find_pods(place_object(pod, "x.yaml"))
    assert (
        render_text(check_device_access(found))
        == """\
x.yaml: volume "v" mounts /dev of the node, with its devices  [device-access]
  at   spec.volumes[0].hostPath.path
  why  nobody allocated these devices, so others compute on them too, and their memory is counted twice (poolwright \
node contract)
  fix  remove it; devices come by claim: Envelope.spec.claim
"""
    )


def test_the_resource_that_a_device_class_is_offered_as() -> None:
    """Kubernetes makes a claim for it that no object shows; the device plugin's resource is node-contract's to find."""
    name = "deviceclass.resource.kubernetes.io/interactive-80g"
    assert found_in({"resources": {"limits": {name: 1}}}) == [f'spec.containers[0].resources.limits["{name}"]']
    assert found_in({"resources": {"limits": {"cpu": 1, "nvidia.com/gpu": 1}}}) == []
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {"containers": [{"name": "a", "resources": {"requests": {name: "2"}}}]},
    }
    (found,) = find_pods(place_object(pod, "x.yaml"))
    text = render_text(check_device_access(found))
    assert f'container "a" takes devices by the resource {name}  [device-access]' in text
    assert "the scheduler makes a claim for them that is in no spec: no quota and no verdict counts them" in text
