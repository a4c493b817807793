"""Other valid texts for every scalar field that the example fleet writes: what tests edit its lines to."""

from __future__ import annotations

from typing import Final

_NAME: Final = ("another", "other")
_QUANTITY: Final = ("1234Mi", "1235Mi")

# By kind and field, positions in lists left out. Several where one change may be rounded or clamped away.
OTHER_VALUES: Final[dict[str, tuple[str, ...]]] = {
    "Project.metadata.name": _NAME,
    "Project.spec.clusters.name": _NAME,
    "Project.spec.clusters.stackName": _NAME,
    "Project.spec.clusters.inventory": ("inventory/another.yaml",),
    "Stack.metadata.name": _NAME,
    "Stack.spec.kubernetes.version": ("1.37.x", "1.36.1", "1.99.x"),
    "Stack.spec.servingImages.name": _NAME,
    "Stack.spec.servingImages.image": ("registry.example.com/another:1", "registry.example.com/another:2"),
    "Pool.metadata.name": _NAME,
    "Pool.metadata.version": ("9.8.7",),
    "Pool.spec.clusterName": _NAME,
    "Pool.spec.lane": ("experiment",),
    "Pool.spec.owner": _NAME,
    "Pool.spec.deviceClasses.name": _NAME,
    "Pool.spec.deviceClasses.tier": ("batch",),
    "Pool.spec.deviceClasses.driver": ("gpu.example.com",),
    "Pool.spec.deviceClasses.attributes.type": ("mig",),
    "Pool.spec.deviceClasses.attributes.architecture": ("Blackwell",),
    "Pool.spec.deviceClasses.capacity.memory.min": ("78Gi",),
    "Pool.spec.deviceClasses.capacity.memory.below": ("91Gi",),
    "Pool.spec.deviceClasses.selectors.cel.expression": ('device.driver == "gpu.nvidia.com"',),
    "Pool.spec.tolerations.key": ("example.com/taint",),
    "Pool.spec.tolerations.operator": ("Equal",),
    "Pool.spec.tolerations.effect": ("NoExecute",),
    "Pool.spec.namespaces.name": _NAME,
    "Envelope.metadata.name": _NAME,
    "Envelope.metadata.version": ("9.8.7",),
    "Envelope.spec.owner": _NAME,
    "Envelope.spec.namespace": _NAME,
    "Envelope.spec.computeClass": ("any", "bf16", "fp4"),
    "Envelope.spec.model.name": _NAME,
    "Envelope.spec.model.digest": ("sha256:" + "1" * 64,),
    "Envelope.spec.model.source.persistentVolumeClaim.claimName": _NAME,
    "Envelope.spec.model.source.persistentVolumeClaim.path": _NAME,
    "Envelope.spec.model.configPath": ("models/another.json",),
    "Envelope.spec.precision.compute": ("float16",),
    "Envelope.spec.precision.kvCache": ("float16",),
    "Envelope.spec.load.contextTokens": ("4096",),
    "Envelope.spec.load.batch.maxSequences": ("65",),
    "Envelope.spec.load.batch.maxTokens": ("8193",),
    "Envelope.spec.topology.tensorParallel": ("8",),
    "Envelope.spec.startup.timeout": ("50h", "1s"),
    "Envelope.spec.engine.type": ("another",),
    "Envelope.spec.engine.deviceMemoryPercent": ("50",),
    "Envelope.spec.engine.resources.requests.cpu": ("17",),
    "Envelope.spec.engine.resources.requests.memory": _QUANTITY,
    "Envelope.spec.engine.resources.limits.memory": ("200Gi", "300Gi"),  # not below the request
    "Placement.metadata.name": _NAME,
    "Placement.spec.envelope.name": _NAME,
    "Placement.spec.envelope.version": ("2.4.0", "9.8.7"),
    "Placement.spec.poolName": _NAME,
    "Placement.spec.deviceClassNames": _NAME,
    "Placement.spec.zone": ("east-b",),
    "Placement.spec.minReplicas": ("2",),
    "Placement.spec.surge": ("0", "1", "2"),
}

# Fields whose one valid text says how the rest is read: there is nothing to follow from them.
FIXED: Final = ("apiVersion", "kind")
