"""What makes a row of each table the only one: a second row with the same values of these fields is about the same."""

from __future__ import annotations

from typing import Final

from poolwright.catalog.facts import Fact

KEYS: Final[dict[str, tuple[str, ...]]] = {  # fields as the code calls them
    "kubernetes": ("minor",),
    "kubernetes-gates": ("minor", "name"),
    "served-apis": ("api_version", "kind", "minors"),
    "nvidia-gates": ("name",),
    "nvidia-gate-releases": ("name", "release"),
    "nvidia-gate-rules": ("gate", "setting", "word", "relation", "other_gate"),
    "nvidia-gate-needs": ("name", "kubernetes_gate"),
    "hardware": ("model",),
    "mig-profiles": ("model", "name"),
    "compute-classes": ("driver", "compute_class"),
    "device-types": ("id",),
    "device-attributes": ("driver", "device_type", "domain", "name"),
    "device-capacities": ("driver", "device_type", "name"),
    "operator-lines": ("line",),
    "operator-releases": ("version",),
    "operator-components": ("release", "component"),
    "operator-gpu-drivers": ("line", "release", "version"),
    "driver-releases": ("version",),
    "driver-minimums": ("part", "use", "install"),
    "driver-settings": ("install", "setting", "word"),
    "helm-values": ("chart", "version", "key"),
    "releases": ("component", "version"),
    "chart-crds": ("chart", "crd"),
    "known-traps": ("trap",),
    "engines": ("engine", "version"),
    "engine-arguments": ("engine", "quantity", "version"),
    "engine-memory": ("engine", "version"),
    "metrics": ("emitter", "name"),
}

Key = tuple[object, ...]


def row_key(table: str, fact: Fact) -> Key:
    """The values of a row's key fields."""
    return tuple(getattr(fact, field) for field in KEYS[table])


def say_key(key: Key) -> str:
    """A key in words: `26.7 580.173.02`; what isn't said is left out."""
    parts = (part for part in key if part is not None)
    return " ".join(", ".join(map(str, part)) if isinstance(part, tuple) else str(part) for part in parts)
