"""What users add to Argo CD's ConfigMap: up to date, read by Argo CD as it stands, and for each kind that needs it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from health_scripts import KINDS, WRITER, read_script

from crd_schemas import read_index, read_schema
from fleet import ROOT, load_closures
from kubernetes_schemas import read_definitions
from poolwright.catalog.argocd_closure import ArgocdClosure
from poolwright.catalog.charts import Chart
from poolwright.objects.helm import list_custom_resources
from poolwright.objects.kubernetes import Object
from poolwright.objects.unit import build_objects
from unit_objects import FLEET

FOLDER = ROOT / "pipelines" / "argocd"
CONFIG_MAP = yaml.safe_load((FOLDER / "argocd-cm.yaml").read_text(encoding="utf-8"))
HEALTH = "resource.customizations.health."
IGNORED_UPDATES = "resource.customizations.ignoreResourceUpdates.resource.k8s.io_ResourceClaim"

# Argo CD's own checks: of these kinds it says more than nothing, and goes on doing so.
OF_ARGO_CD = {"Deployment", "HTTPRoute", "PodDisruptionBudget", "Service"}
# It has a phase, which tells Active from being deleted. Argo CD says the latter of anything itself.
SAYS_NOTHING = {"Namespace"}

RENDERED: list[Object] = [
    document
    for closure in load_closures(FLEET)
    if not isinstance(closure, ArgocdClosure)
    for document in build_objects(closure)
]
# A chart that makes all the custom resources that any switch of a stack makes it make.
ALL_SWITCHES = Chart(
    chart="gpu-operator",
    repo_url="https://example.com",
    version="0.0.0",
    namespace="gpu-operator",
    values={
        "clusterPolicy": {"deployCR": True},
        "gpuCluster": {"deployCR": True},
        "driver": {"nvidiaDriverCRD": {"enabled": True}},
    },
)


def test_file_is_up_to_date() -> None:
    assert (FOLDER / "argocd-cm.yaml").read_text(encoding="utf-8") == WRITER.render_config_map(), "run `make docs`"


def test_argo_cd_reads_each_script_as_it_stands() -> None:
    data = CONFIG_MAP.pop("data")
    assert CONFIG_MAP == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-cm"}}
    assert data == {
        IGNORED_UPDATES: "jsonPointers:\n- /metadata/finalizers\n- /status\n",
        **{f"{HEALTH}{kind}": read_script(kind) for kind in KINDS},
    }
    # What a key of a ConfigMap may be; Argo CD splits it at the first three dots, and group and kind at the one "_".
    assert [key for key in data if not re.fullmatch(r"[-._a-zA-Z0-9]{1,253}", key) or key.count("_") > 1] == []
    # No library beyond what scripts have anyway is asked for.
    assert [key for key in data if "useOpenLibs" in key] == []
    assert sum(map(len, data.values())) < 100_000  # of the 1 MiB that the whole ConfigMap may have


def test_every_kind_with_a_status_has_a_script_or_a_check_of_argo_cd() -> None:
    rendered = {(document["apiVersion"], document["kind"]) for document in RENDERED}
    wanted = {
        "_".join((*version.split("/")[:-1], kind))
        for version, kind in rendered
        if kind not in OF_ARGO_CD | SAYS_NOTHING and has_status(version, kind)
    }
    # What the operator's chart makes, by the switches of a stack.
    wanted |= {f"{group}_{kind}" for group, kind in list_custom_resources(ALL_SWITCHES)}
    assert set(KINDS) == wanted


def has_status(version: str, kind: str) -> bool:
    """Whether a kind has a status; custom resources that are rendered all have."""
    if (version, kind) in read_index():
        return True
    names = read_definitions("1.37", [f"{version} {kind}"])
    (own,) = (name for name in names if name.endswith(f".{kind}"))
    return "status" in names[own]["properties"]


def test_exclusions_are_slices_alone() -> None:
    """A kind that is excluded is neither shown nor applied, so none that is rendered may be."""
    excluded = yaml.safe_load((FOLDER / "argocd-cm-exclusions.yaml").read_text(encoding="utf-8"))
    assert excluded == [{"apiGroups": ["resource.k8s.io"], "kinds": ["ResourceSlice"], "clusters": ["*"]}]
    assert "ResourceSlice" not in {document["kind"] for document in RENDERED}
    assert "resource.exclusions" not in (FOLDER / "argocd-cm.yaml").read_text(encoding="utf-8")


# --- nothing needs ignoreDifferences -------------------------------------------------------------------------------

# Lists of Kubernetes' own kinds in which the API server fills in a field, and what is rendered in each item.
DEFAULTED = {"requests": "exactly.allocationMode", "tolerations": "operator", "resourceRules": "scope"}


@pytest.mark.parametrize("name", DEFAULTED)
def test_defaults_within_lists_are_written(name: str) -> None:
    """A list is compared as a whole: an item that the API server completes would differ for ever."""
    *above, field = DEFAULTED[name].split(".")
    items = [
        item for document in RENDERED for found in find(document, name) for item in found if isinstance(item, dict)
    ]
    # Of a request that names alternatives each is complete.
    items += [way for item in items for way in item.get("firstAvailable", ())]
    items = [item[above[0]] if above and above[0] in item else item for item in items if "firstAvailable" not in item]
    assert items != []
    assert [item for item in items if field not in item] == []


def find(node: Any, name: str) -> list[Any]:
    """Every list under a name, anywhere."""
    below = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    own = [node[name]] if isinstance(node, dict) and isinstance(node.get(name), list) else []
    return own + [found for value in below for found in find(value, name)]


def test_defaults_within_lists_of_custom_resources_are_written() -> None:
    custom = [document for document in RENDERED if (document["apiVersion"], document["kind"]) in read_index()]
    assert len({document["kind"] for document in custom}) == 6
    missing = {
        (document["kind"], place)
        for document in custom
        for place in list_missing(document, read_schema(document["apiVersion"], document["kind"]), "", in_list=False)
    }
    assert missing == set()


def list_missing(value: Any, schema: Any, place: str, *, in_list: bool) -> Iterator[str]:
    """Fields below a list that have a default and don't stand there."""
    if isinstance(value, list):
        for item in value:
            yield from list_missing(item, schema.get("items", {}), f"{place}[]", in_list=True)
    elif isinstance(value, dict):
        for name, below in schema.get("properties", {}).items():
            if name in value:
                yield from list_missing(value[name], below, f"{place}.{name}", in_list=in_list)
            elif in_list and "default" in below:
                yield f"{place}.{name}"
