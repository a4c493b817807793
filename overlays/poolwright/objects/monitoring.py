"""What watches a unit: how its engines are scraped, and the alerts on what they say."""

from __future__ import annotations

from poolwright.catalog.closure import UnitClosure
from poolwright.objects.about import build_about_metadata
from poolwright.objects.alerts import build_alerts
from poolwright.objects.engine import PORT_NAME
from poolwright.objects.kubernetes import UNIT, Object
from poolwright.objects.leader_worker_set import LEADER_ONLY
from poolwright.objects.series import CLUSTER_LABEL, ENGINE_SERIES, JOIN_LABELS, METRICS_PATH


def build_monitoring(closure: UnitClosure) -> tuple[Object, ...]:
    """PodMonitor and PrometheusRule; nothing for an engine whose series nobody knows."""
    if closure.envelope.spec.engine.type not in ENGINE_SERIES:
        return ()
    return _build_monitor(closure), build_alerts(closure)


def _build_monitor(closure: UnitClosure) -> Object:
    grouped = closure.envelope.spec.topology.nodes > 1  # then the leader answers for all: no other has the port
    relabelings = [
        {"action": "replace", "targetLabel": CLUSTER_LABEL, "replacement": closure.on.cluster},
        # What claims are joined by. Most agents add the two by themselves; here they are counted on.
        {"action": "replace", "sourceLabels": ["__meta_kubernetes_namespace"], "targetLabel": "namespace"},
        {"action": "replace", "sourceLabels": ["__meta_kubernetes_pod_name"], "targetLabel": "pod"},
    ]
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PodMonitor",
        "metadata": build_about_metadata(closure),
        "spec": {
            "selector": {"matchLabels": {UNIT: closure.unit, **(LEADER_ONLY if grouped else {})}},
            "podTargetLabels": list(JOIN_LABELS),
            "podMetricsEndpoints": [{"port": PORT_NAME, "path": METRICS_PATH, "relabelings": relabelings}],
        },
    }
