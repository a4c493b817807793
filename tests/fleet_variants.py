"""The small fleet in other forms, each with a rule of its own to keep, and the folders that show it."""

from __future__ import annotations

from fleet import ENVELOPE, NEXT_ENVELOPE, PLACEMENTS, POOL, PROJECT, STACK, Files, edit, read_small_fleet

IMAGE = "registry.example.com/serving/vllm-openai:v0.33.0"
SHA = "sha256:" + "5" * 64
_RESOURCES = """\
    resources:
      requests: {cpu: "16", memory: 128Gi}
      limits: {memory: 128Gi}
"""
_TOLERATIONS = """\
  tolerations:
    - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
"""
# Two clusters; two pools on one of them; classes of two drivers; namespaces, tolerations and images in plenty.
_LARGE_POOL = b"""\
apiVersion: poolwright.dev/v1alpha1
kind: Pool
metadata: {name: mixed, version: 0.3.0-rc.1}
spec:
  clusterName: west
  lane: experiment
  owner: Team.Research_1
  deviceClasses:
    - {name: whole, tier: interactive, driver: gpu.nvidia.com, attributes: {type: [gpu], productName: [B, A]}}
    - name: slices
      tier: batch
      driver: gpu.nvidia.com
      attributes: {type: [mig], profile: [1g.10gb, 2g.20gb], example.com/fast: [true]}
      capacity: {memory: {below: 20Gi}, multiprocessors: {min: 16}}
    - {name: other-vendor, tier: interactive, driver: gpu.example.com}
  tolerations:
    - {key: nvidia.com/gpu}
    - {key: example.com/lane, value: experiment, effect: NoExecute}
    - {key: b, operator: Exists}
    - {key: a, operator: Equal, value: "1", effect: PreferNoSchedule}
  namespaces: [{name: research}, {name: chat}, {name: 0-team}]
---
apiVersion: poolwright.dev/v1alpha1
kind: Pool
metadata: {name: second, version: 1.0.0}
spec:
  clusterName: west
  lane: baseline
  owner: platform-gpu
  deviceClasses: [{name: second-class, tier: interactive, driver: gpu.nvidia.com, attributes: {type: [gpu]}}]
  namespaces: [{name: chat}]
---
apiVersion: poolwright.dev/v1alpha1
kind: Stack
metadata: {name: next}
spec:
  kubernetes: {version: "1.37.0, 1.37.2"}
  draDrivers:
    - {name: dra-driver-nvidia-gpu, version: 0.5.0, install: external}
    - {name: another-driver, version: 1.0.0, install: external, driverNames: [gpu.example.com]}
  servingImages:
    - {name: vllm, engine: vllm, version: 0.33.0, image: vllm}
    - {name: patched, engine: vllm, version: 0.33.0, image: "registry.example.com:5000/serving/patched/vllm:1e3"}
"""
_LARGE_UNITS = b"""\
apiVersion: poolwright.dev/v1alpha1
kind: Envelope
metadata: {name: embed, version: 1.0.0-rc.1+build-}
spec:
  owner: team-chat
  namespace: 0-team
  computeClass: any
  replicaBehavior: stable
  model:
    name: "example.com/\xc3\xa9: {embed} 'x' \\"y\\" # 100%, with words enough to fold a line of eighty characters"
    digest: sha256:96226d68118a519aa109ca4b90aeb897ea96cfa397ef2c5ba732925938d5b253
    source: {persistentVolumeClaim: {claimName: models.of-team, path: a/b_c@1+2}}
    configPath: models/llama-3.3-70b-fp8/config.json
  load: {contextTokens: 512, batch: {maxSequences: 1, maxTokens: 1}}
  startup: {timeout: 1500ms}
  engine: {type: vllm, imageName: patched, deviceMemoryPercent: 5, resources: {requests: {cpu: 500m}}}
---
apiVersion: poolwright.dev/v1alpha1
kind: Placement
metadata: {name: embed-with-a-name-of-forty-characters-xx}
spec:
  envelope: {name: embed, version: 1.0.0-rc.1+build-}
  poolName: mixed
  deviceClassNames: [other-vendor]
  zone: West_1.a
  minReplicas: 10000
  surge: 1000
  lane: experiment
---
apiVersion: poolwright.dev/v1alpha1
kind: Placement
metadata: {name: chat-70b}
spec:
  envelope: {name: chat-70b, version: 2.3.0}
  poolName: second
  deviceClassNames: [second-class]
  minReplicas: 2
  surge: 0
"""

_OTHER_DRIVER = "    - {name: another-driver, version: 1.0.0, install: external, driverNames: [gpu.example.com]}\n"
# On the small fleet's cluster, out of order: a namespace that its pool has too, and names on both sides of it.
_SECOND_POOL = b"""\
apiVersion: poolwright.dev/v1alpha1
kind: Pool
metadata: {name: second, version: 3.2.1}
spec:
  clusterName: east
  lane: experiment
  owner: team-second
  deviceClasses:
    - {name: z-class, tier: batch, driver: gpu.nvidia.com, attributes: {type: [mig]}}
    - {name: a-class, tier: interactive, driver: gpu.example.com, capacity: {memory: {min: 10Gi}}}
  namespaces: [{name: zeta}, {name: chat}, {name: batch}]
"""


def add_vendor(files: Files) -> Files:
    """The small fleet's cluster with another vendor's driver."""
    return edit(files, STACK, ("install: external}\n", "install: external}\n" + _OTHER_DRIVER))


def image_of(image: str) -> Files:
    """The small fleet with another serving image."""
    return edit(read_small_fleet(), STACK, (IMAGE, image))


def large_fleet() -> Files:
    """The small fleet with a second cluster, and on it two pools, several classes and namespaces, and two units."""
    files = edit(
        read_small_fleet(),
        PROJECT,
        ("  clusters:\n", "  clusters:\n    - {name: west, stackName: next, destination: {name: west}}\n"),
    )
    return {**files, "specs/west/pools.yaml": _LARGE_POOL, "specs/west/units.yml": _LARGE_UNITS}


def shared_fleet() -> Files:
    """The small fleet with a second pool on its cluster that shares a namespace, and more of what lists can hold."""
    files = edit(
        read_small_fleet(),
        POOL,
        ("    - {key: nvidia.com/gpu,", "    - {key: z, effect: NoExecute}\n    - {key: nvidia.com/gpu,"),
        ("        type: [gpu]", "        type: [gpu]\n        productName: [B, A]"),
        ("    - name: chat\n", "    - name: chat\n    - name: another-namespace\n"),
    )
    files = add_vendor(edit(files, PLACEMENTS, ("  surge: 1\n", "  surge: 5\n")))
    return {**files, "specs/second-pool.yaml": _SECOND_POOL}


# Files, and the folders below overlays/ that the rule shows in.
VARIANTS: dict[str, tuple[Files, tuple[str, ...]]] = {
    "as-committed": (
        read_small_fleet(),
        (
            "base/chat-70b/2.3.0",
            "base/chat-70b/2.4.0",
            "east/chat-70b",
            "east/chat-70b-next",
            "east/platform",
            "east/argocd",
        ),
    ),
    "unit-renamed-and-in-a-zone": (
        edit(
            read_small_fleet(),
            PLACEMENTS,
            ("  name: chat-70b\nspec:", "  name: serve-a\nspec:"),
            ("  surge: 1\n", "  surge: 1\n  zone: east-b\n"),
        ),
        ("east/serve-a",),
    ),
    # The patch says nothing of tolerations, and none of another unit are inherited.
    "no-tolerations": (edit(read_small_fleet(), POOL, (_TOLERATIONS, "")), ("east/chat-70b", "east/platform")),
    "image-with-digest": (image_of(f"registry.example.com/vllm@{SHA}"), ("east/chat-70b",)),
    "image-with-tag-and-digest": (image_of(f"registry.example.com/vllm:v0.33.0@{SHA}"), ("east/chat-70b-next",)),
    "image-of-a-registry-with-port": (image_of("registry.example.com:5000/a/vllm"), ("east/chat-70b",)),
    "image-with-port-tag-and-digest": (image_of(f"localhost:5000/vllm:latest@{SHA}"), ("east/chat-70b",)),
    # YAML would read 1e3 as a number: the tag must stay a text, for Kustomize too.
    "image-with-a-tag-like-a-number": (image_of("vllm:1e3"), ("east/chat-70b",)),
    "image-that-is-called-like-the-base's": (image_of("vllm"), ("east/chat-70b",)),
    "compute-class-any": (
        edit(read_small_fleet(), ENVELOPE, ("computeClass: fp8 ", "computeClass: any ")),
        ("east/chat-70b",),
    ),
    "no-resources": (
        edit(read_small_fleet(), NEXT_ENVELOPE, (_RESOURCES, "")),
        ("base/chat-70b/2.4.0", "east/chat-70b-next"),
    ),
    "several-classes-and-namespaces": (
        large_fleet(),
        (
            "base/embed/1.0.0-rc.1+build-",
            "west/platform",
            "west/argocd",
            "west/chat-70b",
            "west/embed-with-a-name-of-forty-characters-xx",
        ),
    ),
}
