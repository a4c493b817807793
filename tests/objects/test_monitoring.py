"""Monitors, alerts and the dashboard: what they select, which series they speak of, and when alerts fire.

Where promtool is on PATH (Debian: package prometheus), every expression is parsed and the alerts are run over made-up
series by Prometheus itself.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from crd_schemas import object_errors
from fleet import FACTS, FLEET, Files, edit, load_closures, load_placement, read_fleet
from needs import needs
from poolwright.catalog.closure import PlatformClosure, UnitClosure
from poolwright.cli.explain import run_explain
from poolwright.objects.dashboard import build_dashboard
from poolwright.objects.kubernetes import Object
from poolwright.objects.monitoring import build_monitoring
from poolwright.objects.series import CLAIM_SERIES, ENGINE_SERIES, METRICS_PATH
from poolwright.objects.unit import build_objects
from poolwright.specs.duration import parse_duration, render_duration

FILES = read_fleet()
EAST = "specs/placements/east.yaml"
CHAT = "specs/envelopes/chat-70b/2.3.0.yaml"
REWRITE = "specs/envelopes/rewrite-0b6/1.0.0.yaml"
CLOSURES = load_closures(FILES)
UNITS = {f"{c.on.cluster}/{c.unit}": c for c in CLOSURES if isinstance(c, UnitClosure)}
PLATFORMS = {c.on.cluster: c for c in CLOSURES if isinstance(c, PlatformClosure)}
CHAT_SERIES = '{poolwright_dev_cluster="east",poolwright_dev_unit="chat-70b"}'


def monitor_of(closure: UnitClosure) -> Object:
    return build_monitoring(closure)[0]


def rules_of(closure: UnitClosure) -> list[Object]:
    (group,) = build_monitoring(closure)[1]["spec"]["groups"]
    rules: list[Object] = group["rules"]
    return rules


def rule_of(files: Files, unit: str, alert: str) -> Object:
    (rule,) = (rule for rule in rules_of(load_placement(files, "east", unit)) if rule["alert"] == f"Poolwright{alert}")
    return rule


def dashboard_of(cluster: str) -> Any:
    (text,) = build_dashboard(PLATFORMS[cluster].on)["data"].values()
    return json.loads(text)


def list_dashboard_queries(cluster: str) -> list[str]:
    targets = (target for panel in dashboard_of(cluster)["panels"] for target in panel.get("targets", ()))
    return [target["expr"] for target in targets]


# ---- the monitor


@pytest.mark.parametrize("closure", UNITS.values(), ids=UNITS)
def test_objects_are_valid_and_called_like_the_unit(closure: UnitClosure) -> None:
    objects = build_monitoring(closure)
    assert [document["kind"] for document in objects] == ["PodMonitor", "PrometheusRule"]
    assert {(d["metadata"]["name"], d["metadata"]["namespace"]) for d in objects} == {
        (closure.unit, closure.envelope.spec.namespace)
    }
    assert [error for document in objects for error in object_errors(document, closure.on.kubernetes)] == []


def test_a_monitor_in_full() -> None:
    assert monitor_of(UNITS["east/chat-70b"])["spec"] == {
        "selector": {"matchLabels": {"poolwright.dev/unit": "chat-70b"}},
        "podTargetLabels": [
            "poolwright.dev/envelope",
            "poolwright.dev/envelope-version",
            "poolwright.dev/pool",
            "poolwright.dev/router-pool",
            "poolwright.dev/tier",
            "poolwright.dev/unit",
        ],
        "podMetricsEndpoints": [
            {
                "port": "http",
                "path": "/metrics",
                "relabelings": [
                    {"action": "replace", "targetLabel": "poolwright_dev_cluster", "replacement": "east"},
                    {
                        "action": "replace",
                        "sourceLabels": ["__meta_kubernetes_namespace"],
                        "targetLabel": "namespace",
                    },
                    {"action": "replace", "sourceLabels": ["__meta_kubernetes_pod_name"], "targetLabel": "pod"},
                ],
            }
        ],
    }


@pytest.mark.parametrize("closure", UNITS.values(), ids=UNITS)
def test_the_pods_it_selects_have_its_port_and_the_labels_it_carries(closure: UnitClosure) -> None:
    spec = monitor_of(closure)["spec"]
    workloads = [d for d in build_objects(closure) if d["kind"] in ("Deployment", "LeaderWorkerSet")]
    (workload,) = workloads
    if workload["kind"] == "LeaderWorkerSet":
        groups = workload["spec"]["leaderWorkerTemplate"]
        pod = groups["leaderTemplate"]
        # The controller's own label tells leaders from the others, which have no such port.
        given = {"leaderworkerset.sigs.k8s.io/worker-index": "0"}
        others = groups["workerTemplate"]["spec"]["containers"]
        assert "http" not in {port.get("name") for container in others for port in container.get("ports", ())}
    else:
        pod, given = workload["spec"]["template"], {}
    labels = {**pod["metadata"]["labels"], **given}
    assert spec["selector"]["matchLabels"].items() <= labels.items()
    assert given.items() <= spec["selector"]["matchLabels"].items()
    assert set(spec["podTargetLabels"]) <= set(labels)
    ports = {port.get("name") for container in pod["spec"]["containers"] for port in container.get("ports", ())}
    assert {endpoint["port"] for endpoint in spec["podMetricsEndpoints"]} <= ports


def test_an_engine_that_nobody_knows_has_neither_monitor_nor_alerts() -> None:
    image = '    - {name: own, engine: custom, version: "1", image: example.com/own:1}\n'
    files = edit(FILES, "specs/stacks/operator-26-7.yaml", ("  servingImages:\n", f"  servingImages:\n{image}"))
    own = edit(
        files,
        "specs/envelopes/summarise-20b/0.9.0.yaml",
        ("    type: vllm\n", "    type: custom\n    imageName: own\n"),
    )
    assert build_monitoring(load_placement(own, "east", "summarise-20b")) == ()


# ---- series


@pytest.mark.parametrize(
    ("engine", "measure", "series"),
    [pytest.param(e, m, name, id=f"{e}-{m}") for e, names in ENGINE_SERIES.items() for m, name in names.items()],
)
def test_an_engine_s_series_is_the_one_of_the_measure(engine: str, measure: str, series: str) -> None:
    fact = FACTS.metric(engine, measure)
    assert fact is not None
    assert series == fact.series[0]


def test_all_engines_have_the_same_measures_and_the_path_of_the_facts() -> None:
    assert {tuple(names) for names in ENGINE_SERIES.values()} == {tuple(ENGINE_SERIES["vllm"])}
    assert {fact.metrics_path for fact in FACTS.engines} == {METRICS_PATH}
    assert {fact.engine for fact in FACTS.engines} == set(ENGINE_SERIES)


KNOWN = {series for fact in FACTS.metrics for series in fact.series}
_TEXT = r'"(?:\\.|[^"\\])*"'
_WORDS = {
    *("by", "on", "group_left", "group_right", "ignoring", "without", "and", "or", "unless", "bool", "offset"),
    *("sum", "max", "min", "avg", "count", "group", "rate", "increase", "absent", "histogram_quantile"),
    *("label_replace", "label_values", "vector", "query_result"),
}


def list_series(query: str) -> set[str]:
    """The names of series in a PromQL query: what is left of it without labels, functions, numbers and durations."""
    named = {name for names in re.findall(r'__name__=~"([^"]*)"', query) for name in names.split("|")}
    bare = re.sub(_TEXT, " ", query)
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]", " ", bare)
    bare = re.sub(r"\b(by|on|ignoring|without|group_left|group_right) ?\([^)]*\)", " ", bare)
    bare = re.sub(r", [a-z_]+\)$", " ", bare) if bare.startswith("label_values") else bare
    return named | (set(re.findall(r"[a-zA-Z_:][a-zA-Z0-9_:]*", bare)) - _WORDS)


def test_series_are_found_in_queries() -> None:
    query = 'sum by (le, x) (rate(a:b_bucket{c="d} e",f=~"{g}"}[5m])) > 0.5 or label_replace(h, "i", "$1", "j", "(.*)")'
    assert list_series(query) == {"a:b_bucket", "h"}
    assert list_series('label_values({__name__=~"a|b:c",d="e"}, f)') == {"a", "b:c"}


def test_alerts_use_only_known_series() -> None:
    used = {series for closure in UNITS.values() for rule in rules_of(closure) for series in list_series(rule["expr"])}
    assert used <= KNOWN
    assert CLAIM_SERIES in used


def test_the_dashboard_uses_every_known_series_and_no_other() -> None:
    queries = [*list_dashboard_queries("east"), *(v["query"]["query"] for v in _variables("east"))]
    used = {series for query in queries for series in list_series(query)}
    # Of a histogram the buckets say all that is shown.
    shown = {fact.series[0] for fact in FACTS.metrics}
    assert (used - shown, shown - used) == (set(), set())


def _variables(cluster: str) -> list[Any]:
    return [v for v in dashboard_of(cluster)["templating"]["list"] if v["type"] == "query"]


# ---- alerts


def test_alerts_in_full() -> None:
    labels = {
        "cluster": "east",
        "namespace": "chat",
        "owner": "team-chat",
        "pool_owner": "platform-gpu",
        "unit": "chat-70b",
    }
    (template,) = (d for d in build_objects(UNITS["east/chat-70b"]) if d["kind"] == "ResourceClaimTemplate")
    claim_object = f"/ResourceClaimTemplate/{template['metadata']['name']}"
    explained = {
        "PoolwrightPodWaiting": claim_object,
        "PoolwrightTimeToFirstToken": "/PrometheusRule/chat-70b",
        "PoolwrightInterTokenLatency": "/PrometheusRule/chat-70b",
    }
    rows = (
        (
            "PoolwrightUnitDown",
            f"absent(vllm:num_requests_running{CHAT_SERIES})",
            "5m",
            "page",
            "No replica of chat-70b on east has reported for 5m.",
        ),
        (
            "PoolwrightPodWaiting",
            "group by (namespace, pod) (kube_pod_resourceclaim_info"
            '{namespace="chat",resourceclaim_template_name=~"chat-70b-devices-[0-9a-f]{10}"})'
            f" unless on (namespace, pod) vllm:num_requests_running{CHAT_SERIES}",
            "15m",
            "page",
            "Pod {{ $labels.pod }} of chat-70b on east has a claim and has not served for 15m.",
        ),
        (
            "PoolwrightTimeToFirstToken",
            f"histogram_quantile(0.95, sum by (le) (rate(vllm:time_to_first_token_seconds_bucket{CHAT_SERIES}[5m])))"
            " > 1.5",
            "10m",
            "page",
            "The 95th percentile of time to first token of chat-70b on east is {{ $value | humanizeDuration }}, above"
            " the promised 1s500ms.",
        ),
        (
            "PoolwrightInterTokenLatency",
            f"histogram_quantile(0.95, sum by (le) (rate(vllm:inter_token_latency_seconds_bucket{CHAT_SERIES}[5m])))"
            " > 0.06",
            "10m",
            "page",
            "The 95th percentile of time between tokens of chat-70b on east is {{ $value | humanizeDuration }}, above"
            " the promised 60ms.",
        ),
        (
            "PoolwrightPreemptions",
            f"sum by (namespace, pod) (rate(vllm:num_preemptions_total{CHAT_SERIES}[5m])) > 0",
            "15m",
            "ticket",
            "Pod {{ $labels.pod }} of chat-70b on east keeps preempting requests: it was priced too low.",
        ),
        (
            "PoolwrightCacheFull",
            f"max by (namespace, pod) (vllm:kv_cache_usage_perc{CHAT_SERIES}) > 0.95",
            "15m",
            "ticket",
            "The KV cache of pod {{ $labels.pod }} of chat-70b on east is {{ $value | humanizePercentage }} full.",
        ),
    )
    assert rules_of(UNITS["east/chat-70b"]) == [
        {
            "alert": alert,
            "expr": expr,
            "for": wait,
            "labels": {**labels, "severity": severity},
            "annotations": {"summary": summary, "run": f"poolwright explain east/chat-70b{explained.get(alert, '')}"},
        }
        for alert, expr, wait, severity, summary in rows
    ]


# The promise as it is written, and the bound in seconds.
BOUNDS = {
    "seconds": ("2s", "2"),
    "milliseconds": ("60ms", "0.06"),
    "a-tenth": ("1s100ms", "1.1"),
    "three-digits": ("1001ms", "1.001"),
    "minutes": ("1m", "60"),
    "nothing": ("0s", "0"),
}


@pytest.mark.parametrize(("promise", "bound"), BOUNDS.values(), ids=BOUNDS)
def test_bounds_are_exact(promise: str, bound: str) -> None:
    files = edit(FILES, CHAT, ("timeToFirstToken: {p95: 1500ms}", f"timeToFirstToken: {{p95: {promise}}}"))
    rule = rule_of(files, "chat-70b", "TimeToFirstToken")
    assert rule["expr"].rpartition(" > ")[2] == bound


def test_only_what_was_promised_is_alerted_on() -> None:
    names = {name: [rule["alert"].removeprefix("Poolwright") for rule in rules_of(c)] for name, c in UNITS.items()}
    always = ["UnitDown", "PodWaiting", "Preemptions", "CacheFull"]
    assert names["east/guard-1b7"] == [*always[:2], "TimeToFirstToken", *always[2:]]
    assert names["east/rag-8b"] == always


# How long a unit may be down: by tier, replicas and the time it takes to start.
DOWN: dict[str, tuple[Files, str, str, str]] = {
    "several-interactive-replicas": (FILES, "chat-70b", "5m", "page"),
    "several-that-start-sooner": (edit(FILES, CHAT, ("timeout: 15m", "timeout: 90s")), "chat-70b", "1m30s", "page"),
    "one-interactive-replica": (FILES, "reason-671b", "45m", "page"),
    "batch": (FILES, "summarise-20b", "15m", "ticket"),
}


@pytest.mark.parametrize(("files", "unit", "wait", "severity"), DOWN.values(), ids=DOWN)
def test_when_a_unit_is_down(files: Files, unit: str, wait: str, severity: str) -> None:
    down, waiting = rule_of(files, unit, "UnitDown"), rule_of(files, unit, "PodWaiting")
    start = load_placement(files, "east", unit).envelope.spec.startup.timeout
    assert (down["for"], down["labels"]["severity"]) == (wait, severity)
    assert (waiting["for"], waiting["labels"]["severity"]) == (start, severity)


@pytest.mark.parametrize("closure", UNITS.values(), ids=UNITS)
def test_durations_are_in_their_one_text(closure: UnitClosure) -> None:
    waits = [rule["for"] for rule in rules_of(closure)]
    assert waits == [render_duration(parse_duration(wait)) for wait in waits]
    assert {type(wait) for wait in waits} == {str}


@pytest.mark.parametrize("name", UNITS)
def test_what_an_alert_says_to_run_is_about_objects_of_the_unit(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runs = {rule["alert"]: rule["annotations"]["run"] for rule in rules_of(UNITS[name])}
    subjects = {alert: run.removeprefix("poolwright explain ") for alert, run in runs.items()}
    assert run_explain(name, str(FLEET)) == 0
    assert set(subjects.values()) - {name} <= set(capsys.readouterr().out.splitlines())
    assert "/ResourceClaim" in subjects["PoolwrightPodWaiting"]


def test_what_an_alert_on_a_latency_says_to_run_tells_where_the_promise_stands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    subject = rule_of(FILES, "chat-70b", "TimeToFirstToken")["annotations"]["run"].removeprefix("poolwright explain ")
    assert run_explain(f"{subject}#/spec/groups/0/rules/2/expr", str(FLEET)) == 0
    assert f"{CHAT}:26:29  spec.slo.timeToFirstToken.p95" in capsys.readouterr().out


# ---- alerts, run by Prometheus


def promtool(folder: Path, *args: str) -> str:
    """What promtool prints, which must succeed."""
    tool = needs("promtool")
    done = subprocess.run([tool, *args], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write_rules(folder: Path, units: Sequence[UnitClosure]) -> None:
    groups = [group for closure in units for group in build_monitoring(closure)[1]["spec"]["groups"]]
    for group in groups:
        group["name"] = f"{group['name']} {group['rules'][0]['labels']['cluster']}"  # a file's groups have own names
    (folder / "rules.yaml").write_text(yaml.safe_dump({"groups": groups}))


def test_prometheus_takes_every_rule(tmp_path: Path) -> None:
    write_rules(tmp_path, list(UNITS.values()))
    count = sum(len(rules_of(closure)) for closure in UNITS.values())
    assert f"{count} rules found" in promtool(tmp_path, "check", "rules", "rules.yaml")


def test_prometheus_takes_every_query_of_the_dashboard(tmp_path: Path) -> None:
    queries = [with_values(query, "east", ".+", ".+") for query in list_dashboard_queries("east")]
    rules = [{"record": f"query:{number}", "expr": query} for number, query in enumerate(queries)]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    assert f"{len(queries)} rules found" in promtool(tmp_path, "check", "rules", "rules.yaml")


def with_values(query: str, cluster: str, namespace: str, unit: str) -> str:
    for name, value in (("cluster", cluster), ("namespace", namespace), ("unit", unit), ("__rate_interval", "5m")):
        query = query.replace(f"${name}", value)
    return query


def engine(
    pod: str, values: str, unit: str = "chat-70b", name: str = "vllm:num_requests_running", more: str = ""
) -> Object:
    namespace = {"chat-70b": "chat", "reason-671b": "reasoning", "rewrite-0b6": "search"}[unit]
    labels = f'namespace="{namespace}",pod="{pod}",poolwright_dev_cluster="east",poolwright_dev_unit="{unit}"{more}'
    return {"series": f"{name}{{{labels}}}", "values": values}


def claim(pod: str, namespace: str, claim_name: str, template: str = "", values: str = "1x200") -> Object:
    labels = f'namespace="{namespace}",pod="{pod}",resourceclaim_name="{claim_name}"'
    if template:
        labels += f',resourceclaim_template_name="{template}"'
    return {"series": f"{CLAIM_SERIES}{{{labels}}}", "values": values}


def buckets(name: str, pods: Sequence[str], below: str, at: str) -> list[Object]:
    """A histogram that grows by 100 requests a minute, all of them between the bounds `below` and `at` seconds."""
    return [
        engine(pod, values, name=f"vllm:{name}_seconds_bucket", more=f',le="{bound}"')
        for pod in pods
        for bound, values in ((below, "0x200"), (at, "0+100x200"), ("+Inf", "0+100x200"))
    ]


TEMPLATE = "chat-70b-devices-0123456789"
HEALTHY = [engine("chat-70b-a", "1x200"), engine("chat-70b-b", "1x200"), claim("chat-70b-a", "chat", "a", TEMPLATE)]
# The series, the alert, the minute it is asked at, and the pods it fires for (None: for the unit).
FIRES: dict[str, tuple[list[Object], str, str, int, list[str | None]]] = {
    "no-replica-for-six-minutes": ([engine("chat-70b-a", "1x10 _x200")], "chat-70b", "UnitDown", 22, [None]),
    "none-yet-for-five": ([engine("chat-70b-a", "1x10 _x200")], "chat-70b", "UnitDown", 14, []),
    "one-of-two-replicas": (
        [engine("chat-70b-a", "1x200"), engine("chat-70b-b", "1x10 _x200")],
        "chat-70b",
        "UnitDown",
        60,
        [],
    ),
    "another-unit-serves": (
        [engine("chat-70b-a", "1x200", unit="rewrite-0b6")],
        "chat-70b",
        "UnitDown",
        60,
        [None],
    ),
    "all-pods-serve": (HEALTHY, "chat-70b", "PodWaiting", 60, []),
    "a-pod-waits": (
        [*HEALTHY, claim("chat-70b-c", "chat", "c", TEMPLATE)],
        "chat-70b",
        "PodWaiting",
        16,
        ["chat-70b-c"],
    ),
    "a-pod-waits-not-yet-too-long": (
        [*HEALTHY, claim("chat-70b-c", "chat", "c", TEMPLATE)],
        "chat-70b",
        "PodWaiting",
        14,
        [],
    ),
    "a-pod-of-an-older-template-waits": (
        [*HEALTHY, claim("chat-70b-c", "chat", "c", "chat-70b-devices-abcdefabcd")],
        "chat-70b",
        "PodWaiting",
        16,
        ["chat-70b-c"],
    ),
    "a-pod-of-a-unit-with-a-longer-name-waits": (
        [*HEALTHY, claim("chat-70b-devices-c", "chat", "c", "chat-70b-devices-devices-abcdefabcd")],
        "chat-70b",
        "PodWaiting",
        60,
        [],
    ),
    "a-pod-of-another-namespace-waits": (
        [*HEALTHY, claim("chat-70b-c", "other", "c", TEMPLATE)],
        "chat-70b",
        "PodWaiting",
        60,
        [],
    ),
    # Of a group only the leader is scraped: a worker that runs doesn't wait, and one that waits keeps its leader.
    "a-leader-waits-with-its-worker": (
        [
            engine("reason-671b-0", "1x200", unit="reason-671b", name="sglang:num_running_reqs"),
            *(
                claim(f"reason-671b-{pod}", "reasoning", pod, "reason-671b-devices-0123456789")
                for pod in ("0", "0-1", "1", "1-1")
            ),
        ],
        "reason-671b",
        "PodWaiting",
        60,
        ["reason-671b-1"],
    ),
    "another-consumer-of-a-named-claim-never-serves": (
        [
            engine("rewrite-0b6-a", "1x200", unit="rewrite-0b6"),
            *(claim(pod, "search", "rewrite-gpu") for pod in ("rewrite-0b6-a", "rewrite-0b6-b", "rewrite-eval-1-x")),
        ],
        "rewrite-0b6",
        "PodWaiting",
        60,
        ["rewrite-0b6-b"],
    ),
    "first-tokens-late": (
        buckets("time_to_first_token", ["chat-70b-a", "chat-70b-b"], "2", "3"),
        "chat-70b",
        "TimeToFirstToken",
        60,
        [None],
    ),
    "first-tokens-in-time": (
        buckets("time_to_first_token", ["chat-70b-a"], "0.5", "1.5"),
        "chat-70b",
        "TimeToFirstToken",
        60,
        [],
    ),
    "no-requests-no-latency": (
        [engine("a", "5x200", name="vllm:time_to_first_token_seconds_bucket", more=',le="+Inf"')],
        "chat-70b",
        "TimeToFirstToken",
        60,
        [],
    ),
    "tokens-late": (buckets("inter_token_latency", ["a"], "0.06", "0.08"), "chat-70b", "InterTokenLatency", 60, [None]),
    "one-replica-preempts": (
        [engine(pod, values, name="vllm:num_preemptions_total") for pod, values in (("a", "0+1x200"), ("b", "7x200"))],
        "chat-70b",
        "Preemptions",
        60,
        ["a"],
    ),
    "preempted-once": (
        [engine("a", "0x20 1x200", name="vllm:num_preemptions_total")],
        "chat-70b",
        "Preemptions",
        60,
        [],
    ),
    "one-cache-full": (
        [
            engine(pod, values, name="vllm:kv_cache_usage_perc")
            for pod, values in (("a", "0.96x200"), ("b", "0.95x200"))
        ],
        "chat-70b",
        "CacheFull",
        60,
        ["a"],
    ),
}


@pytest.mark.parametrize(("series", "unit", "alert", "minute", "pods"), FIRES.values(), ids=FIRES)
def test_when_alerts_fire(
    series: list[Object], unit: str, alert: str, minute: int, pods: list[str | None], tmp_path: Path
) -> None:
    closure = UNITS[f"east/{unit}"]
    (rule,) = (rule for rule in rules_of(closure) if rule["alert"] == f"Poolwright{alert}")
    write_rules(tmp_path, [closure])
    query = f'count by (alertname, unit, pod) (ALERTS{{alertname="{rule["alert"]}",alertstate="firing"}})'
    of_pods = ["" if pod is None else f'pod="{pod}",' for pod in pods]
    samples = [{"labels": f'{{alertname="{rule["alert"]}",{of_pod}unit="{unit}"}}', "value": 1} for of_pod in of_pods]
    run_unit_test(tmp_path, series, [(query, minute, samples)], rules=True)


def run_unit_test(
    folder: Path, series: list[Object], expected: Sequence[tuple[str, int, list[Object]]], *, rules: bool
) -> None:
    test = {
        "interval": "1m",
        "input_series": series,
        "promql_expr_test": [
            {"expr": query, "eval_time": f"{minute}m", "exp_samples": samples} for query, minute, samples in expected
        ],
    }
    content = {"rule_files": ["rules.yaml"] if rules else [], "evaluation_interval": "1m", "tests": [test]}
    (folder / "test.yaml").write_text(yaml.safe_dump(content))
    promtool(folder, "test", "rules", "test.yaml")


# ---- the dashboard


@pytest.mark.parametrize("cluster", PLATFORMS)
def test_each_cluster_has_one_configmap_with_it(cluster: str) -> None:
    objects = build_objects(PLATFORMS[cluster])
    (document,) = (d for d in objects if d["kind"] == "ConfigMap")
    namespaces = {d["metadata"]["name"] for d in objects if d["kind"] == "Namespace"}
    assert object_errors(document, PLATFORMS[cluster].on.kubernetes) == []
    assert document["metadata"] == {
        "name": "poolwright-dashboard",
        "namespace": "poolwright",
        "labels": {
            "app.kubernetes.io/managed-by": "poolwright",
            "app.kubernetes.io/part-of": "inference-fleet",
            "grafana_dashboard": "1",
        },
        "annotations": {"argocd.argoproj.io/sync-wave": "0"},
    }
    assert document["metadata"]["namespace"] in namespaces
    assert {name: len(text) < 200_000 for name, text in document["data"].items()} == {
        f"poolwright-{cluster}.json": True
    }


def test_its_frame() -> None:
    board = dashboard_of("east")
    rows = [panel["title"] for panel in board["panels"] if panel["type"] == "row"]
    assert rows == ["Load and KV", "Latency against SLO", "Claims and devices"]
    assert [variable["name"] for variable in board["templating"]["list"]] == [
        "datasource",
        "cluster",
        "namespace",
        "unit",
    ]
    assert [panel["id"] for panel in board["panels"]] == list(range(1, len(board["panels"]) + 1))
    assert board["id"] is None  # Grafana gives its own number
    assert len({dashboard_of(cluster)["uid"] for cluster in PLATFORMS}) == len(PLATFORMS)
    assert re.fullmatch("poolwright-[0-9a-f]{10}", board["uid"])


def test_each_panel_asks_a_question_and_each_question_is_asked_once() -> None:
    titles = [panel["title"] for panel in dashboard_of("east")["panels"] if panel["type"] != "row"]
    assert len(set(titles)) == len(titles)
    assert [title for title in titles if "?" not in title] == []


def test_no_panel_covers_another() -> None:
    cells: list[tuple[int, int]] = []
    for panel in dashboard_of("east")["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        cells += [(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])]
    assert len(set(cells)) == len(cells)


def test_a_series_of_an_engine_is_always_of_the_chosen_cluster() -> None:
    for query in list_dashboard_queries("east"):
        if query == panel_query("Which pods have a claim and don't serve?"):
            continue  # of every cluster in the source
        for name, labels in re.findall(r"\b((?:vllm|sglang):\w+)\{([^}]*)\}", query):
            assert 'poolwright_dev_cluster="$cluster"' in labels, (name, query)
        assert re.findall(r"\b(?:vllm|sglang):\w+(?![\w{])", query) == []


def device(name: str, claim_name: str, namespace: str, values: str) -> Object:
    labels = (
        f'UUID="GPU-{name}",dra_claim_name="{claim_name}",dra_claim_namespace="{namespace}",dra_device_name="{name}"'
    )
    return {"series": f"DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{labels}}}", "values": values}


def panel_query(title: str) -> str:
    (panel,) = (panel for panel in dashboard_of("east")["panels"] if panel["title"] == title)
    query: str = panel["targets"][0]["expr"]
    return query


JOINED = [
    engine("chat-70b-a", "3x200"),
    engine("rewrite-0b6-a", "0x200", unit="rewrite-0b6"),
    claim("chat-70b-a", "chat", "a-x", TEMPLATE),
    claim("chat-70b-w", "chat", "w-x", TEMPLATE),  # waits
    claim("rewrite-0b6-a", "search", "rewrite-gpu"),
    claim("rewrite-eval-1", "search", "rewrite-gpu"),  # shares the claim
    claim("stranger", "chat", "s-x", "stranger-0123456789"),
    device("gpu-0", "a-x", "chat", "0.5x200"),
    device("gpu-1", "a-x", "chat", "0.25x200"),
    device("gpu-2", "rewrite-gpu", "search", "1x200"),
    device("gpu-3", "s-x", "chat", "1x200"),
    device("gpu-4", "", "", "1x200"),  # nobody's
    device("gpu-5", "a-x", "search", "1x200"),  # a claim of that name elsewhere
]


def busy(name: str, claim_name: str, namespace: str, unit: str, value: float) -> Object:
    labels = (
        f'UUID="GPU-{name}",dra_claim_name="{claim_name}",dra_claim_namespace="{namespace}",dra_device_name="{name}"'
        f',poolwright_dev_unit="{unit}"'
    )
    return {"labels": f"{{{labels}}}", "value": value}


def paired(pod: str, namespace: str, unit: str, claim_name: str, template: str = "") -> Object:
    labels = f'namespace="{namespace}",pod="{pod}",poolwright_dev_unit="{unit}",resourceclaim_name="{claim_name}"'
    if template:
        labels += f',resourceclaim_template_name="{template}"'
    return {"labels": f"{{{labels}}}", "value": 1}


# What the panel shows for the chosen units.
SHOWN: dict[str, tuple[str, str, list[Object]]] = {
    "devices-of-all-units": (
        "Is the device busy?",
        ".+",
        [
            busy("gpu-0", "a-x", "chat", "chat-70b", 0.5),
            busy("gpu-1", "a-x", "chat", "chat-70b", 0.25),
            busy("gpu-2", "rewrite-gpu", "search", "rewrite-0b6", 1),
        ],
    ),
    "devices-of-a-unit-with-a-shared-claim": (
        "Is the device busy?",
        "rewrite-0b6",
        [busy("gpu-2", "rewrite-gpu", "search", "rewrite-0b6", 1)],
    ),
    "claims-of-a-unit-waiting-pods-too": (
        "Which claim does each pod have?",
        "chat-70b",
        [
            paired("chat-70b-a", "chat", "chat-70b", "a-x", TEMPLATE),
            paired("chat-70b-w", "chat", "chat-70b", "w-x", TEMPLATE),
        ],
    ),
    "claims-of-several-units": (
        "Which claim does each pod have?",
        "(chat-70b|rewrite-0b6)",
        [
            paired("chat-70b-a", "chat", "chat-70b", "a-x", TEMPLATE),
            paired("chat-70b-w", "chat", "chat-70b", "w-x", TEMPLATE),
            paired("rewrite-0b6-a", "search", "rewrite-0b6", "rewrite-gpu"),
        ],
    ),
    "pods-that-don't-serve": (
        "Which pods have a claim and don't serve?",
        ".+",
        [{"labels": '{namespace="chat",pod="chat-70b-w",resourceclaim_name="w-x"}', "value": 1}],
    ),
}


@pytest.mark.parametrize("store", ["one-cluster", "many-clusters"])
@pytest.mark.parametrize(("title", "unit", "samples"), SHOWN.values(), ids=SHOWN)
def test_claims_and_devices_are_joined(
    title: str, unit: str, samples: list[Object], store: str, tmp_path: Path
) -> None:
    """In a store of many clusters every series has a label `cluster`, and another one has the same names."""
    series, expected = JOINED, samples
    if store == "many-clusters":
        others = [
            {**row, "series": row["series"].replace('poolwright_dev_cluster="east"', 'poolwright_dev_cluster="lab"')}
            for row in JOINED
        ]
        series = [*stored("prod-east", JOINED), *stored("lab", others)]
        expected = stored("prod-east", samples, "labels")
        if "don't serve" in title:
            # Of every cluster: nothing but the label says where a pod is that never served.
            expected += stored("lab", samples, "labels")
        elif "claim does" in title:
            expected = samples
    run_unit_test(tmp_path, series, [(with_values(panel_query(title), "east", ".+", unit), 30, expected)], rules=False)


def stored(cluster: str, rows: Sequence[Object], field: str = "series") -> list[Object]:
    return [{**row, field: row[field].replace("{", f'{{cluster="{cluster}",', 1)} for row in rows]
