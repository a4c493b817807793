"""The contract on objects that were rendered and not read."""

from poolwright.rules.node_contract import check_node_contract
from poolwright.rules.placed import place_object
from poolwright.specs.finding import render_text

POD = {"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "2"}}}], "nodeSelector": {"a": "b"}}


def test_findings_name_the_file_and_the_field() -> None:
    value = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": {"spec": POD}}}
    assert render_text(check_node_contract([place_object(value, "overlays/east/chat")])) == (
        'overlays/east/chat: the pod has a nodeSelector on the node label "a"  [node-contract]\n'
        "  at   spec.template.spec.nodeSelector.a\n"
        "  why  the claim says what is needed; a label beside it ties the workload to nodes that can be replaced"
        " (poolwright node contract)\n"
        "  fix  remove it and select devices by class; of node labels only topology.kubernetes.io/zone is allowed\n"
        'overlays/east/chat: container "c" asks for nvidia.com/gpu: 2 and not by claim  [node-contract]\n'
        '  at   spec.template.spec.containers[0].resources.limits["nvidia.com/gpu"]\n'
        "  why  the device plugin and DRA don't know of each other, and a count says nothing about the device"
        " (poolwright node contract)\n"
        "  fix  use a ResourceClaimTemplate and name it in resources.claims\n"
    )


def test_what_describes_pods_makes_none() -> None:
    value = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": POD}
    assert check_node_contract([place_object(value, "f")]) == []
