"""A project of one cluster for tests about devices: what of it isn't under test is as short as can be."""

from __future__ import annotations

from poolwright.specs.parse import Spec, Specs, parse_specs
from poolwright.specs.pool import Pool
from poolwright.specs.stack import Stack

PROJECT = """\
apiVersion: poolwright.dev/v1alpha1
kind: Project
metadata: {name: fleet}
spec:
  argocd: {repoURL: https://git.example.com/fleet.git}
  clusters:
    - {name: east, stackName: stack, destination: {name: east}}
    - {name: west, stackName: stack, destination: {name: west}}
"""
STACK = """\
apiVersion: poolwright.dev/v1alpha1
kind: Stack
metadata: {name: stack}
spec:
  kubernetes: {version: 1.36.x}
  draDrivers:
    - {name: dra-driver-nvidia-gpu, version: 0.5.0, install: chart, settings: {computeDomains: disabled}}
    - {name: nics, version: 1.0.0, install: external, driverNames: [nic.example.com]}
  gpuDriver: {version: 580.173.02, install: host}
  servingImages: [{name: vllm, engine: vllm, version: 0.33.0, image: "registry.example.com/vllm:1"}]
"""
POOL = """\
apiVersion: poolwright.dev/v1alpha1
kind: Pool
metadata: {name: pool, version: 1.0.0}
spec:
  clusterName: east
  lane: baseline
  owner: platform
  plannedNodes:
    - {name: h100, count: 2, hardwareModel: h100-sxm5-80gb, devicesPerNode: 8, zone: east-a}
  deviceClasses:
    - name: class
      tier: interactive
      driver: gpu.nvidia.com
      attributes: {type: [gpu]}
  namespaces: [{name: chat}]
"""
NODES = "    - {name: h100, count: 2, hardwareModel: h100-sxm5-80gb, devicesPerNode: 8, zone: east-a}\n"
CLASS = "      attributes: {type: [gpu]}\n"
PLACEMENT = """\
apiVersion: poolwright.dev/v1alpha1
kind: Placement
metadata: {name: chat}
spec: {envelope: {name: chat, version: 1.0.0}, poolName: pool, deviceClassNames: [class], minReplicas: 1, zone: east-a}
"""

Change = tuple[str, str]


def read_project(*changes: Change, more: str = "") -> Specs:
    """The project with texts replaced, each of which must stand in it, and with another pool or placement."""
    text = {
        "specs/pool.yaml": POOL,
        "specs/stack.yaml": STACK,
        "poolwright.yaml": PROJECT,
        "specs/place.yaml": PLACEMENT,
    }
    for old, new in changes:
        assert any(old in part for part in text.values()), old
        text = {file: part.replace(old, new) for file, part in text.items()}
    if more:
        text["specs/more.yaml"] = more
    return parse_specs({file: part.encode() for file, part in text.items()})


def plan_nodes(entry: str, *changes: Change) -> tuple[Spec[Pool], Spec[Stack]]:
    """The pool with this entry as its only planned one, and its stack."""
    specs = read_project((NODES, f"    - {entry}\n"), *changes)
    return specs.pools[0], specs.stacks[0]
