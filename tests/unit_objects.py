"""Parts of a unit's finished objects, for tests that look at one of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fleet import Files, load_placement, read_fleet
from poolwright.objects.kubernetes import Object
from poolwright.objects.unit import build_objects, build_unit


def change(files: Files, path: str, *changes: tuple[str, str]) -> dict[str, bytes]:
    """The files with one place of one of them replaced, for each change; the old text must stand there exactly once."""
    text = files[path].decode()
    for old, new in changes:
        assert text.count(old) == 1, f"{path} has {text.count(old)} x {old!r}"
        text = text.replace(old, new)
    return {**files, path: text.encode()}


# Without the team's own workload, which a child process renders: its tests are others.
FLEET = change(
    read_fleet(),
    "specs/envelopes/summarise-20b/0.9.0.yaml",
    ("    template: templates/queue-worker.yaml.j2\n", ""),
)


def envelope(unit: str, version: str, *changes: tuple[str, str], files: Files = FLEET) -> dict[str, bytes]:
    """The example with an envelope version changed."""
    return change(files, f"specs/envelopes/{unit}/{version}.yaml", *changes)


def objects_of(files: Files, unit: str, cluster: str = "east") -> tuple[Object, ...]:
    """The finished objects of a placement's unit."""
    return build_objects(load_placement(files, cluster, unit))


def one(objects: Sequence[Object], kind: str) -> Object:
    """The one object of a kind."""
    (found,) = (document for document in objects if document["kind"] == kind)
    return found


def workload(objects: Sequence[Object]) -> Object:
    """The unit's Deployment or LeaderWorkerSet."""
    (found,) = (document for document in objects if document["kind"] in ("Deployment", "LeaderWorkerSet"))
    return found


def pods(document: Object) -> dict[str, Any]:
    """The pod templates of a workload, by the role of their pods."""
    if document["kind"] == "Deployment":
        return {"single": document["spec"]["template"]}
    group = document["spec"]["leaderWorkerTemplate"]
    return {"leader": group["leaderTemplate"], "worker": group["workerTemplate"]}


def base_pods(files: Files, unit: str, cluster: str = "east") -> dict[str, Any]:
    """The same of a unit's base, where nothing is decided."""
    return pods(workload(build_unit(load_placement(files, cluster, unit)).base))


def engine(pod: Object) -> Object:
    """The engine's container of a pod template."""
    found: Object
    (found,) = (container for container in pod["spec"]["containers"] if container["name"] == "engine")
    return found


def expand(text: str, variables: Mapping[str, str]) -> str:
    """A container's argument or variable as the kubelet fills it in: unknown variables stay, `$$` is a dollar sign.

    Source: k8s.io/kubernetes third_party/forked/golang/expansion.
    """
    return re.sub(
        r"\$\$|\$\(([^)]*)\)",
        lambda match: "$" if match[0] == "$$" else variables.get(match[1], match[0]),
        text,
    )


def environment(container: Mapping[str, Any], filled: Mapping[str, str]) -> dict[str, str]:
    """A container's environment as it starts: a value sees the variables in front of it, and no other.

    filled: what the kubelet fills in, by the path of the pod's field, or by SECRET/KEY.
    """
    variables: dict[str, str] = {}
    for entry in container["env"]:
        source = entry.get("valueFrom", {})
        if "fieldRef" in source:
            variables[entry["name"]] = filled[source["fieldRef"]["fieldPath"]]
        elif "secretKeyRef" in source:
            variables[entry["name"]] = filled[f"{source['secretKeyRef']['name']}/{source['secretKeyRef']['key']}"]
        else:
            variables[entry["name"]] = expand(entry.get("value", ""), variables)
    return variables
