"""The alerts of a unit: what clients were promised, replicas that don't serve, and a price that was wrong."""

from __future__ import annotations

from typing import Final

from poolwright.catalog.closure import UnitClosure
from poolwright.objects.about import build_about_metadata
from poolwright.objects.claim import POD_CLAIM, build_claims
from poolwright.objects.kubernetes import Object
from poolwright.objects.series import CLAIM_SERIES, CLUSTER_LABEL, ENGINE_SERIES, UNIT_LABEL
from poolwright.specs.duration import render_duration
from poolwright.specs.envelope import LatencyObjective
from poolwright.specs.pool import Tier

# Who is told: somebody at once, or somebody in working hours.
_SEVERITY: Final[dict[Tier, str]] = {"interactive": "page", "batch": "ticket"}
_OUTAGE_MS: Final = 300_000  # an interactive unit with several replicas is never without one on purpose
_FULL: Final = "0.95"  # of the KV cache: the next long request preempts another


def build_alerts(closure: UnitClosure) -> Object:
    """The unit's PrometheusRule. The engine is one of ENGINE_SERIES.

    Every alert says in one sentence what is wrong (`summary`) and what to run (`run`); its labels say whose it is: the
    envelope's owner, who knows the model, and the pool's, who knows the devices.
    """
    slo = closure.envelope.spec.slo
    rules = [
        _build_unit_down(closure),
        _build_pod_waiting(closure),
        *_build_latency(
            closure, "TimeToFirstToken", "timeToFirstToken", "time to first token", slo.time_to_first_token
        ),
        *_build_latency(
            closure, "InterTokenLatency", "interTokenLatency", "time between tokens", slo.inter_token_latency
        ),
        _build_preemptions(closure),
        _build_cache_full(closure),
    ]
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": build_about_metadata(closure),
        "spec": {"groups": [{"name": f"poolwright-{closure.unit}", "rules": rules}]},
    }


def _build_unit_down(closure: UnitClosure) -> Object:
    """No engine of the unit answers a scrape. A first start isn't told: rules are applied after the workload serves."""
    start_ms = closure.envelope.spec.startup.timeout.milliseconds
    always_one = closure.tier == "interactive" and closure.placement.min_replicas > 1
    wait = render_duration(min(_OUTAGE_MS, start_ms) if always_one else start_ms)
    return _build_rule(
        closure,
        alert="UnitDown",
        expr=f"absent({_select(closure, 'running')})",
        wait=wait,
        summary=f"No replica of {_name(closure)} has reported for {wait}.",
    )


def _build_pod_waiting(closure: UnitClosure) -> Object:
    """A pod that has its claim's name and no engine that answers: it waits for devices, or can't start.

    The series of claims is the one that shows pods before they run. It also shows pods that ended and were kept.
    """
    wait = closure.envelope.spec.startup.timeout
    (claim,) = build_claims(closure)
    expr = (
        f"group by (namespace, pod) ({CLAIM_SERIES}{{{_claim_matchers(closure)}}})"
        f" unless on (namespace, pod) {_select(closure, 'running')}"
    )
    return _build_rule(
        closure,
        alert="PodWaiting",
        expr=expr,
        wait=wait,
        summary=f"Pod {{{{ $labels.pod }}}} of {_name(closure)} has a claim and has not served for {wait}.",
        explain=f"/{claim['kind']}/{claim['metadata']['name']}",
    )


def _claim_matchers(closure: UnitClosure) -> str:
    """Which claims are the unit's: of any version of its template, or the named one without its other consumers."""
    spec, unit = closure.envelope.spec, closure.unit
    matchers = [f'namespace="{spec.namespace}"']
    if spec.claim.pattern == "named":
        matchers += [f'resourceclaim_name="{spec.claim.name}"', f'pod=~"{unit}-.+"']
        others = sorted(c.name for c in spec.claim.consumers if c.name.startswith(f"{unit}-"))
        if others:
            matchers.append(f'pod!~"(?:{"|".join(map(_literal, others))})(?:-.+)?"')
    else:
        matchers.append(f'resourceclaim_template_name=~"{unit}-{POD_CLAIM}-[0-9a-f]{{10}}"')
    if spec.topology.nodes > 1:
        matchers.append(f'pod=~"{unit}-[0-9]+"')  # leaders: the others never answer a scrape
    return ",".join(matchers)


def _literal(name: str) -> str:
    """A DNS name as a regular expression in a PromQL text, where a backslash is doubled."""
    return name.replace(".", r"\\.")


def _build_latency(
    closure: UnitClosure, alert: str, measure: str, what: str, promised: LatencyObjective | None
) -> list[Object]:
    if promised is None:
        return []
    buckets = f"sum by (le) (rate({_select(closure, measure)}[5m]))"
    return [
        _build_rule(
            closure,
            alert=alert,
            expr=f"histogram_quantile(0.95, {buckets}) > {_seconds(promised.p95.milliseconds)}",
            wait="10m",
            summary=f"The 95th percentile of {what} of {_name(closure)} is {{{{ $value | humanizeDuration }}}}, "
            f"above the promised {promised.p95}.",
            explain=f"/PrometheusRule/{closure.unit}",
        )
    ]


def _build_preemptions(closure: UnitClosure) -> Object:
    """A batch that was admitted didn't fit: the envelope's load needs more KV cache than the replica has."""
    return _build_rule(
        closure,
        alert="Preemptions",
        expr=f"sum by (namespace, pod) (rate({_select(closure, 'preemptions')}[5m])) > 0",
        wait="15m",
        summary=f"Pod {{{{ $labels.pod }}}} of {_name(closure)} keeps preempting requests: it was priced too low.",
        severity="ticket",
    )


def _build_cache_full(closure: UnitClosure) -> Object:
    return _build_rule(
        closure,
        alert="CacheFull",
        expr=f"max by (namespace, pod) ({_select(closure, 'kvUsage')}) > {_FULL}",
        wait="15m",
        summary=f"The KV cache of pod {{{{ $labels.pod }}}} of {_name(closure)} is "
        "{{ $value | humanizePercentage }} full.",
        severity="ticket",
    )


def _build_rule(
    closure: UnitClosure,
    *,
    alert: str,
    expr: str,
    wait: str,
    summary: str,
    severity: str | None = None,
    explain: str = "",
) -> Object:
    """One rule; severity: the tier's unless given; explain: which object of the unit tells more, all by default."""
    return {
        "alert": f"Poolwright{alert}",
        "expr": expr,
        "for": str(wait),
        "labels": {
            "cluster": closure.on.cluster,
            "namespace": closure.envelope.spec.namespace,
            "owner": closure.envelope.spec.owner,
            "pool_owner": closure.pool.owner,
            "severity": severity or _SEVERITY[closure.tier],
            "unit": closure.unit,
        },
        "annotations": {"summary": summary, "run": f"poolwright explain {closure.on.cluster}/{closure.unit}{explain}"},
    }


def _name(closure: UnitClosure) -> str:
    return f"{closure.unit} on {closure.on.cluster}"


def _select(closure: UnitClosure, measure: str) -> str:
    """The unit's series of a measure."""
    name = ENGINE_SERIES[closure.envelope.spec.engine.type][measure]
    return f'{name}{{{CLUSTER_LABEL}="{closure.on.cluster}",{UNIT_LABEL}="{closure.unit}"}}'


def _seconds(duration_ms: int) -> str:
    """Milliseconds as seconds, exact: 1.5 for 1500."""
    whole, rest = divmod(duration_ms, 1000)
    return f"{whole}.{rest:03}".rstrip("0") if rest else str(whole)
