"""The series that monitors, alerts and the dashboard speak of, as Prometheus stores them.

They are a part of the rendered bytes and so stand here and not in the facts; a test holds every name against the facts.
"""

from __future__ import annotations

from typing import Final

from poolwright.objects.kubernetes import ENVELOPE, ENVELOPE_VERSION, POOL, TIER, UNIT
from poolwright.objects.routing import ROUTER_POOL

METRICS_PATH: Final = "/metrics"  # of every engine below, on the port that serves

# Of each engine by measure, the facts' names of both; a histogram's buckets.
ENGINE_SERIES: Final[dict[str, dict[str, str]]] = {
    "vllm": {
        "running": "vllm:num_requests_running",
        "kvUsage": "vllm:kv_cache_usage_perc",
        "preemptions": "vllm:num_preemptions_total",
        "timeToFirstToken": "vllm:time_to_first_token_seconds_bucket",
        "interTokenLatency": "vllm:inter_token_latency_seconds_bucket",
    },
    "sglang": {
        "running": "sglang:num_running_reqs",
        "kvUsage": "sglang:token_usage",
        "preemptions": "sglang:num_retracted_requests_total",
        "timeToFirstToken": "sglang:time_to_first_token_seconds_bucket",
        "interTokenLatency": "sglang:inter_token_latency_seconds_bucket",
    },
}
CLAIM_SERIES: Final = "kube_pod_resourceclaim_info"

# Labels of pods that their engine's series get, and what they are called there: as `podTargetLabels` calls them.
JOIN_LABELS: Final = (ENVELOPE, ENVELOPE_VERSION, POOL, ROUTER_POOL, TIER, UNIT)
# The cluster's name, under a name of its own: `cluster` is what a store of many clusters calls it, on all series or
# on none, so that joins on (cluster, namespace, pod) hold in both.
CLUSTER_LABEL: Final = "poolwright_dev_cluster"


def label_name(pod_label: str) -> str:
    """What a pod's label is called as a label of a series: `poolwright_dev_unit` for `poolwright.dev/unit`."""
    return "".join(character if character.isalnum() else "_" for character in pod_label)


UNIT_LABEL: Final = label_name(UNIT)
