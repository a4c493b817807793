"""The cluster's dashboard: what Grafana shows of load, latency, claims and devices, as one ConfigMap.

Each panel answers one question, which is its title. Grafana fills in the variables: $cluster, $namespace, $unit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from poolwright.catalog.closure import ClusterClosure
from poolwright.objects.claim import POD_CLAIM
from poolwright.objects.kubernetes import MANAGED_BY, PART_OF, SYNC_WAVE, WORKLOAD_WAVE, Object
from poolwright.objects.series import CLAIM_SERIES, CLUSTER_LABEL, UNIT_LABEL
from poolwright.specs.digest import digest_value, short_hex

DASHBOARD_NAMESPACE: Final = "poolwright"  # the platform's own: what a team may edit tells nobody else anything
_SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
_COLUMNS: Final = 24  # of Grafana's grid

# A unit's series of an engine; those of every engine of the cluster say which clusters of the source are meant.
_UNIT: Final = f'{{{CLUSTER_LABEL}="$cluster",namespace=~"$namespace",{UNIT_LABEL}=~"$unit"}}'
_NAMES: Final = "vllm:num_requests_running|sglang:num_running_reqs"
_ENGINES: Final = f"(vllm:num_requests_running{_UNIT} or sglang:num_running_reqs{_UNIT})"
_HERE: Final = (
    f'and on (cluster) (vllm:num_requests_running{{{CLUSTER_LABEL}="$cluster"}}'
    f' or sglang:num_running_reqs{{{CLUSTER_LABEL}="$cluster"}})'
)
_BY_POD: Final = f"{UNIT_LABEL}, namespace, pod"
_POD: Final = f"{{{{{UNIT_LABEL}}}}} {{{{pod}}}}"
_DEVICE: Final = f"{{{{{UNIT_LABEL}}}}} {{{{dra_pool_name}}}}/{{{{dra_device_name}}}}"

# Claims of the chosen units: those of templates by the template's name, which holds the unit's and is there before a
# pod serves and on pods that never do; named ones by the pods that serve.
_FROM_TEMPLATE: Final = f'resourceclaim_template_name=~"(?:$unit)-{POD_CLAIM}-[0-9a-f]{{10}}"'
_CLAIMS: Final = (
    f'label_replace({CLAIM_SERIES}{{namespace=~"$namespace",{_FROM_TEMPLATE}}},'
    f' "{UNIT_LABEL}", "$1", "resourceclaim_template_name", "(.+)-{POD_CLAIM}-[0-9a-f]{{10}}")'
    f' or {CLAIM_SERIES}{{namespace=~"$namespace",resourceclaim_template_name=""}}'
    f" * on (cluster, namespace, pod) group_left ({UNIT_LABEL})"
    f" group by (cluster, namespace, pod, {UNIT_LABEL}) {_ENGINES}"
)
# The same by claim, whatever number of pods shares one, with labels called as the device exporter calls them.
_CLAIM_KEY: Final = "cluster, dra_claim_namespace, dra_claim_name"
_BY_CLAIM: Final = (
    f"group by ({_CLAIM_KEY}, {UNIT_LABEL}) (label_replace(label_replace(({_CLAIMS}) {_HERE},"
    ' "dra_claim_namespace", "$1", "namespace", "(.*)"), "dra_claim_name", "$1", "resourceclaim_name", "(.*)"))'
)


def build_dashboard(on: ClusterClosure) -> Object:
    """The ConfigMap that Grafana's sidecar takes the dashboard from, in DASHBOARD_NAMESPACE."""
    # Grafana tells dashboards apart by uid, of at most 40 characters.
    uid = f"poolwright-{short_hex(digest_value([on.project, on.cluster]), 10)}"
    dashboard = {
        "uid": uid,
        "id": None,
        "title": f"Poolwright: {on.cluster}",
        "tags": ["poolwright", on.project],
        "schemaVersion": 39,
        "editable": False,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "utc",
        "templating": {"list": _build_variables(on.cluster)},
        "panels": _place(
            (("Load and KV", _load()), ("Latency against SLO", _latency()), ("Claims and devices", _devices()))
        ),
    }
    text = msgspec.json.format(msgspec.json.encode(dashboard, order="sorted"), indent=1).decode()
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "poolwright-dashboard",
            "namespace": DASHBOARD_NAMESPACE,
            "labels": {**MANAGED_BY, PART_OF: on.project, "grafana_dashboard": "1"},
            "annotations": {SYNC_WAVE: WORKLOAD_WAVE},
        },
        "data": {f"poolwright-{on.cluster}.json": text + "\n"},
    }


def _load() -> list[Object]:
    return [
        _graph(
            "Is the KV cache the limit?",
            "percentunit",
            (f"max by ({_BY_POD}) (vllm:kv_cache_usage_perc{_UNIT})", _POD),
            (f"max by ({_BY_POD}) (sglang:token_usage{_UNIT})", _POD),
        ),
        _graph(
            "Which part of an SGLang cache is the limit?",
            "percentunit",
            (f"max by ({_BY_POD}) (sglang:full_token_usage{_UNIT})", f"{_POD} full"),
            (f"max by ({_BY_POD}) (sglang:swa_token_usage{_UNIT})", f"{_POD} sliding window"),
            (f"max by ({_BY_POD}) (sglang:mamba_usage{_UNIT})", f"{_POD} state"),
        ),
        _graph(
            "How many tokens does an SGLang cache hold?",
            "short",
            (f"sum by ({_BY_POD}) (sglang:kv_used_tokens{_UNIT})", f"{_POD} used"),
            (f"sum by ({_BY_POD}) (sglang:kv_available_tokens{_UNIT})", f"{_POD} available"),
        ),
        _table(
            "Did vLLM get the KV cache that was planned?",
            f"group by ({_BY_POD}, engine, num_gpu_blocks, kv_cache_size_tokens, gpu_memory_utilization)"
            f" (vllm:cache_config_info{_UNIT})",
        ),
        _graph(
            "Was the price wrong? Requests preempted",
            "reqps",
            (f"sum by ({_BY_POD}) (rate(vllm:num_preemptions_total{_UNIT}[$__rate_interval]))", _POD),
            (f"sum by ({_BY_POD}) (rate(sglang:num_retracted_requests_total{_UNIT}[$__rate_interval]))", _POD),
        ),
        _graph(
            "How many requests run?",
            "short",
            (f"sum by ({_BY_POD}) (vllm:num_requests_running{_UNIT})", _POD),
            (f"sum by ({_BY_POD}) (sglang:num_running_reqs{_UNIT})", _POD),
        ),
        _graph(
            "How many requests wait?",
            "short",
            (f"sum by ({_BY_POD}) (vllm:num_requests_waiting{_UNIT})", _POD),
            (f"sum by ({_BY_POD}) (sglang:num_queue_reqs{_UNIT})", _POD),
        ),
        _graph(
            "Why do they wait, and why are they refused?",
            "short",
            (
                f"sum by ({UNIT_LABEL}, reason) (vllm:num_requests_waiting_by_reason{_UNIT})",
                f"{{{{{UNIT_LABEL}}}}} waiting: {{{{reason}}}}",
            ),
            (
                f"sum by ({UNIT_LABEL}, reason) (rate(vllm:admission_rejections_total{_UNIT}[$__rate_interval]))",
                f"{{{{{UNIT_LABEL}}}}} refused a second: {{{{reason}}}}",
            ),
        ),
        _quantiles("How long do they wait?", "vllm:request_queue_time_seconds", "sglang:queue_time_seconds"),
        _graph(
            "How many tokens are made a second?",
            "short",
            (
                f"sum by ({UNIT_LABEL}) (rate(vllm:generation_tokens_total{_UNIT}[$__rate_interval]))",
                _of_unit("answer"),
            ),
            (
                f"sum by ({UNIT_LABEL}) (rate(sglang:generation_tokens_total{_UNIT}[$__rate_interval]))",
                _of_unit("answer"),
            ),
            (f"sum by ({UNIT_LABEL}) (sglang:gen_throughput{_UNIT})", _of_unit("answer, as SGLang says")),
            (f"sum by ({UNIT_LABEL}) (rate(vllm:prompt_tokens_total{_UNIT}[$__rate_interval]))", _of_unit("prompt")),
            (f"sum by ({UNIT_LABEL}) (rate(sglang:prompt_tokens_total{_UNIT}[$__rate_interval]))", _of_unit("prompt")),
        ),
        _graph(
            "How much of the prompts is reused?",
            "percentunit",
            (_share("vllm:prefix_cache_hits_total", "vllm:prefix_cache_queries_total"), _of_unit("own cache")),
            (
                _share("vllm:external_prefix_cache_hits_total", "vllm:external_prefix_cache_queries_total"),
                _of_unit("external cache"),
            ),
            (f"avg by ({UNIT_LABEL}) (sglang:cache_hit_rate{_UNIT})", _of_unit("own cache")),
            (
                f"sum by ({UNIT_LABEL}) (sglang:hicache_host_used_tokens{_UNIT})"
                f" / sum by ({UNIT_LABEL}) (sglang:hicache_host_total_tokens{_UNIT})",
                _of_unit("host cache full"),
            ),
        ),
        _table(
            "Which adapters run and wait?",
            f"group by ({_BY_POD}, max_lora, running_lora_adapters, waiting_lora_adapters)"
            f" (vllm:lora_requests_info{_UNIT})",
        ),
        _graph(
            "Are the adapter slots full?",
            "percentunit",
            (f"max by ({_BY_POD}) (sglang:lora_pool_utilization{_UNIT})", _POD),
        ),
        _graph(
            "Does a replica sleep?",
            "short",
            (f"max by ({_BY_POD}, sleep_state) (vllm:engine_sleep_state{_UNIT})", f"{_POD} {{{{sleep_state}}}}"),
        ),
        _graph(
            "How long did the weights take to load?",
            "s",
            (f"max by ({_BY_POD}) (sglang:weight_load_duration_seconds{_UNIT})", _POD),
        ),
    ]


def _latency() -> list[Object]:
    families = {
        "How long until the first token?": "time_to_first_token_seconds",
        "How long between two tokens?": "inter_token_latency_seconds",
        "How long does a token of an answer take?": "request_time_per_output_token_seconds",
        "How long does a request take?": "e2e_request_latency_seconds",
    }
    return [
        {
            # What was promised is in each unit's alert, so a broken promise is one that fires.
            "type": "alertlist",
            "title": "Which promises are broken?",
            "options": {
                "alertInstanceLabelFilter": '{cluster="$cluster", namespace=~"$namespace", unit=~"$unit"}',
                "alertName": "Poolwright",
                "datasource": "${datasource}",
                "maxItems": 50,
                "stateFilter": {"error": True, "firing": True, "noData": False, "normal": False, "pending": True},
            },
        },
        *(_quantiles(question, f"vllm:{family}", f"sglang:{family}") for question, family in families.items()),
    ]


def _devices() -> list[Object]:
    device = "dra_driver_name, dra_pool_name, dra_device_name, dra_mig_profile, dra_mig_device_uuid, UUID"
    return [
        _table(
            "Which claim does each pod have?",
            f"group by ({_BY_POD}, claim_name, resourceclaim_name, resourceclaim_template_name) (({_CLAIMS}) {_HERE})",
        ),
        _table(
            "Which device serves each claim?",
            f"group by ({UNIT_LABEL}, dra_claim_namespace, dra_claim_name, {device}) ({_join('DCGM_FI_DEV_FB_USED')})",
        ),
        _table(
            "Which pods have a claim and don't serve?",
            # Of every cluster in the source: while nothing serves, only the store's own label could tell them apart.
            f'group by (cluster, namespace, pod, resourceclaim_name) ({CLAIM_SERIES}{{namespace=~"$namespace",'
            f"{_FROM_TEMPLATE}}}) unless on (cluster, namespace, pod)"
            " (vllm:num_requests_running or sglang:num_running_reqs)",
        ),
        _graph("Is the device busy?", "percentunit", (_join("DCGM_FI_PROF_GR_ENGINE_ACTIVE"), _DEVICE)),
        _graph("Is its memory busy?", "percentunit", (_join("DCGM_FI_PROF_DRAM_ACTIVE"), _DEVICE)),
        _graph("Is a whole device in use? None on partitions", "percent", (_join("DCGM_FI_DEV_GPU_UTIL"), _DEVICE)),
        _graph(
            "How is device memory divided? Says nothing of load",
            "decmbytes",
            (_join("DCGM_FI_DEV_FB_USED"), f"{_DEVICE} used"),
            (_join("DCGM_FI_DEV_FB_FREE"), f"{_DEVICE} free"),
            (_join("DCGM_FI_DEV_FB_RESERVED"), f"{_DEVICE} reserved"),
        ),
        _graph("Did a device fail? Last XID", "none", (_join("DCGM_FI_DEV_XID_ERRORS"), _DEVICE)),
        _graph("How much power does it draw?", "watt", (_join("DCGM_FI_DEV_POWER_USAGE"), _DEVICE)),
        _graph(
            "How many claims and devices are prepared?",
            "short",
            (f"sum by (driver_name) (dra_resource_claims_in_use {_HERE})", "claims of {{driver_name}}"),
            (f"sum by (node, device_type) (nvidia_dra_prepared_devices {_HERE})", "{{node}} {{device_type}}"),
        ),
        _graph(
            "Does preparing fail?",
            "ops",
            (_driver("nvidia_dra_requests_total", "driver, operation"), "{{operation}}"),
            (_driver("nvidia_dra_node_prepare_errors_total", "driver, error_type"), "prepare: {{error_type}}"),
            (_driver("nvidia_dra_node_unprepare_errors_total", "driver, error_type"), "unprepare: {{error_type}}"),
        ),
        _graph(
            "Does preparing take long?",
            "s",
            (
                f"histogram_quantile(0.95, {_driver('nvidia_dra_request_duration_seconds_bucket', 'le, operation')})",
                "{{operation}} p95",
            ),
        ),
        _graph(
            "Is preparing stuck? Calls in flight",
            "short",
            (f"sum by (driver, operation) (nvidia_dra_requests_inflight {_HERE})", "{{operation}}"),
        ),
    ]


def _join(series: str) -> str:
    """A device's series with the unit whose claim it was allocated to."""
    return f"{series} * on ({_CLAIM_KEY}) group_left ({UNIT_LABEL}) {_BY_CLAIM}"


def _driver(series: str, labels: str) -> str:
    return f"sum by ({labels}) (rate({series}[$__rate_interval]) {_HERE})"


def _share(part: str, whole: str) -> str:
    rates = (f"sum by ({UNIT_LABEL}) (rate({name}{_UNIT}[$__rate_interval]))" for name in (part, whole))
    return " / ".join(rates)


def _of_unit(what: str) -> str:
    return f"{{{{{UNIT_LABEL}}}}} {what}"


def _quantiles(question: str, *histograms: str) -> Object:
    """The median and the 95th percentile, which is what is promised."""
    return _graph(
        question,
        "s",
        *(
            (
                f"histogram_quantile({quantile}, sum by (le, {UNIT_LABEL})"
                f" (rate({histogram}_bucket{_UNIT}[$__rate_interval])))",
                _of_unit(name),
            )
            for histogram in histograms
            for quantile, name in (("0.95", "p95"), ("0.5", "median"))
        ),
    )


def _graph(question: str, unit: str, *targets: tuple[str, str]) -> Object:
    return {
        "type": "timeseries",
        "title": question,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": [
            {
                "datasource": _SOURCE,
                "expr": expr,
                "legendFormat": legend,
                "range": True,
                "refId": chr(ord("A") + number),
            }
            for number, (expr, legend) in enumerate(targets)
        ],
    }


def _table(question: str, expr: str) -> Object:
    target = {"datasource": _SOURCE, "expr": expr, "format": "table", "instant": True, "range": False, "refId": "A"}
    hidden = {"excludeByName": {"Time": True, "Value": True}}
    return {
        "type": "table",
        "title": question,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {}, "overrides": []},
        "targets": [target],
        "transformations": [{"id": "organize", "options": hidden}],
    }


def _place(rows: Iterable[tuple[str, list[Object]]]) -> list[Object]:
    """Rows of panels on the grid, three beside each other, a table as wide as the grid; numbered in their order."""
    placed: list[Object] = []
    y = 0

    def place(panel: Object, x: int, width: int, height: int) -> None:
        placed.append({**panel, "id": len(placed) + 1, "gridPos": {"x": x, "y": y, "w": width, "h": height}})

    for title, panels in rows:
        place({"type": "row", "title": title, "collapsed": False, "panels": []}, 0, _COLUMNS, 1)
        y += 1
        x = 0
        for panel in panels:
            width = _COLUMNS if panel["type"] == "table" else _COLUMNS // 3
            if x + width > _COLUMNS:
                x, y = 0, y + 8
            place(panel, x, width, 8)
            x += width
        y += 8
    return placed


def _build_variables(cluster: str) -> list[Object]:
    here = f'{{__name__=~"{_NAMES}",{CLUSTER_LABEL}="$cluster"}}'
    there = f'{{__name__=~"{_NAMES}",{CLUSTER_LABEL}="$cluster",namespace=~"$namespace"}}'
    chosen = {"text": cluster, "value": cluster}
    return [
        {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "hide": 0},
        _variable("cluster", f'label_values({{__name__=~"{_NAMES}"}}, {CLUSTER_LABEL})', current=chosen),
        _variable("namespace", f"label_values({here}, namespace)", includeAll=True, multi=True, allValue=".+"),
        _variable("unit", f"label_values({there}, {UNIT_LABEL})", includeAll=True, multi=True, allValue=".+"),
    ]


def _variable(name: str, query: str, **more: object) -> Object:
    return {
        "name": name,
        "label": name.capitalize(),
        "type": "query",
        "datasource": _SOURCE,
        "definition": query,
        "query": {"query": query, "refId": f"variable-{name}"},
        "refresh": 2,  # whenever the time range changes: units come and go
        "sort": 1,
        **more,
    }
